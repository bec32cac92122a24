#pragma once
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace octavo::base {

/// The processes that share a job. Rooms other than ranks/ and engine/ know MPI only by this: who am I, how many are
/// we, and one exchange. A default-constructed value is one process.
struct Ranks {
  int rank = 0;
  int size = 1;
  /// Collective: gives every rank the byte strings of all, by rank. Empty means one process.
  std::function<std::vector<std::string>(const std::string&)> all_gather;
  /// Collective: string r goes to rank r; gives those that came, by sender. May be empty where nobody needs it.
  std::function<std::vector<std::string>(std::vector<std::string>)> all_to_all{};
};

/// Collective. Every rank's text, by rank.
std::vector<std::string> all_gather(const Ranks& ranks, const std::string& mine);

/// Collective. `to[r]` goes to rank r; what came, by sender.
std::vector<std::string> all_to_all(const Ranks& ranks, std::vector<std::string> to);

/// Collective. Runs `work` on each rank; if it throws anywhere, every rank throws the error of the lowest such rank.
void agree(const Ranks& ranks, const std::function<void()>& work);

}  // namespace octavo::base
