#pragma once
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace octavo::base {

/// The processes that share a job. Rooms other than ranks/ and engine/ know of MPI only this: their rank, the number of
/// ranks, and a few exchanges. A default-constructed value is one process.
struct Ranks {
  int rank = 0;
  int size = 1;
  /// Collective. Gives every rank the strings of all ranks, by rank. Empty means one process.
  std::function<std::vector<std::string>(const std::string&)> all_gather;
  /// Collective. Sends string r to rank r; returns the received strings, by sender. May be empty if nobody needs it.
  std::function<std::vector<std::string>(std::vector<std::string>)> all_to_all{};
  // The next three may be empty: then all_gather does their work, and each rank holds something of every rank.
  /// Collective. Gives every rank the string of one of them.
  std::function<std::string(int rank, const std::string& mine)> from_rank{};
  /// Collective. The lowest rank where it holds; `size` if it holds nowhere.
  std::function<int(bool holds)> lowest_where{};
  /// Collective. Rank 0 makes text_of(r) for each rank r and sends it before it makes the next. Returns this rank's
  /// text. Rank 0's error is thrown on all ranks.
  std::function<std::string(const std::function<std::string(int rank)>& text_of)> deal{};
};

/// Collective. The text of every rank, by rank.
std::vector<std::string> all_gather(const Ranks& ranks, const std::string& mine);

/// Collective. Sends `to[r]` to rank r; returns the received strings, by sender.
std::vector<std::string> all_to_all(const Ranks& ranks, std::vector<std::string> to);

/// Collective. The text of one rank, on all ranks.
std::string from_rank(const Ranks& ranks, int rank, const std::string& mine);

/// Collective. Rank 0 gives text_of(r) to each rank r, one after another. Returns this rank's. Throws rank 0's error on
/// all ranks.
std::string deal(const Ranks& ranks, const std::function<std::string(int rank)>& text_of);

/// Collective. Runs `work` on each rank; if it throws anywhere, every rank throws the error of the lowest such rank.
void agree(const Ranks& ranks, const std::function<void()>& work);

}  // namespace octavo::base
