#pragma once
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace octavo::base {

/// The processes that share a job. Rooms other than ranks/ and engine/ know of MPI only this: their rank, the number of
/// ranks, and two exchanges. A default-constructed value is one process.
struct Ranks {
  int rank = 0;
  int size = 1;
  /// Collective. Gives every rank the strings of all ranks, by rank. Empty means one process.
  std::function<std::vector<std::string>(const std::string&)> all_gather;
  /// Collective. Sends string r to rank r; returns the received strings, by sender. May be empty if nobody needs it.
  std::function<std::vector<std::string>(std::vector<std::string>)> all_to_all{};
};

/// Collective. The text of every rank, by rank.
std::vector<std::string> all_gather(const Ranks& ranks, const std::string& mine);

/// Collective. Sends `to[r]` to rank r; returns the received strings, by sender.
std::vector<std::string> all_to_all(const Ranks& ranks, std::vector<std::string> to);

/// Collective. Runs `work` on each rank; if it throws anywhere, every rank throws the error of the lowest such rank.
void agree(const Ranks& ranks, const std::function<void()>& work);

}  // namespace octavo::base
