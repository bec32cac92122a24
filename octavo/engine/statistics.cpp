#include "octavo/engine/statistics.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <type_traits>

#include "octavo/ranks/communicator.hpp"

namespace octavo::engine {
namespace {

// Calls f(name, member) for each member that is summed over ranks. total() sends the numbers in this order, and the
// report prints them in it.
template <class F>
void for_each_sum(F&& f) {
  f("steps", &WriteStatistics::steps);
  f("failed", &WriteStatistics::failed);
  f("bytes_put", &WriteStatistics::bytes_put);
  f("bytes_staged", &WriteStatistics::bytes_staged);
  f("bytes_stored", &WriteStatistics::bytes_stored);
  f("bytes_drained", &WriteStatistics::bytes_drained);
  f("bytes_of_parity", &WriteStatistics::bytes_of_parity);
  f("drained", &WriteStatistics::drained);
  f("waits_for_staging", &WriteStatistics::waits_for_staging);
  f("writes", &WriteStatistics::writes);
  f("bytes_written", &WriteStatistics::bytes_written);
  f("syncs", &WriteStatistics::syncs);
  f("seconds_in_calls", &WriteStatistics::seconds_in_calls);
  f("seconds_copying", &WriteStatistics::seconds_copying);
  f("seconds_waiting_for_staging", &WriteStatistics::seconds_waiting_for_staging);
  f("seconds_waiting", &WriteStatistics::seconds_waiting);
  f("seconds_working", &WriteStatistics::seconds_working);
  f("seconds_draining", &WriteStatistics::seconds_draining);
  f("seconds_protecting", &WriteStatistics::seconds_protecting);
  f("seconds_waiting_for_drain", &WriteStatistics::seconds_waiting_for_drain);
}

void add(WriteStatistics& sum, const WriteStatistics& other) {
  for_each_sum([&](const char*, auto member) { sum.*member += other.*member; });
  sum.largest_step = std::max(sum.largest_step, other.largest_step);
}

std::string json_of(double seconds) {
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), "%.6f", seconds);
  return text.data();
}
template <class T>
requires std::is_integral_v<T> std::string json_of(T count) { return std::to_string(count); }

}  // namespace

double WriteStatistics::seconds_hidden() const {
  return std::max(0.0, seconds_working - seconds_waiting - seconds_waiting_for_staging);
}

WriteStatistics total(const WriteStatistics& mine, MPI_Comm comm) {
  ranks::require_mpi();
  std::vector<double> seconds;
  std::vector<std::uint64_t> counts;
  for_each_sum([&](const char*, auto member) {
    if constexpr (std::is_floating_point_v<std::remove_reference_t<decltype(mine.*member)>>)
      seconds.push_back(mine.*member);
    else
      counts.push_back(static_cast<std::uint64_t>(mine.*member));
  });
  MPI_Allreduce(MPI_IN_PLACE, seconds.data(), static_cast<int>(seconds.size()), MPI_DOUBLE, MPI_SUM, comm);
  MPI_Allreduce(MPI_IN_PLACE, counts.data(), static_cast<int>(counts.size()), MPI_UINT64_T, MPI_SUM, comm);
  WriteStatistics all;
  std::size_t next_second = 0, next_count = 0;
  for_each_sum([&](const char*, auto member) {
    using T = std::remove_reference_t<decltype(all.*member)>;
    if constexpr (std::is_floating_point_v<T>)
      all.*member = seconds[next_second++];
    else
      all.*member = static_cast<T>(counts[next_count++]);
  });
  MPI_Allreduce(&mine.largest_step, &all.largest_step, 1, MPI_UINT64_T, MPI_MAX, comm);
  return all;
}

std::vector<WriteStatistics> gather(const WriteStatistics& mine, MPI_Comm comm) {
  static_assert(std::is_trivially_copyable_v<WriteStatistics>);
  std::vector<WriteStatistics> all(ranks::rank_in(comm) == 0 ? static_cast<std::size_t>(ranks::size_of(comm)) : 0);
  MPI_Gather(&mine, sizeof mine, MPI_BYTE, all.data(), sizeof mine, MPI_BYTE, 0, comm);
  return all;
}

std::string to_json(const WriteStatistics& s) {
  std::string text = "{";
  for_each_sum(
      [&](const char* name, auto member) { text += "\"" + std::string(name) + "\": " + json_of(s.*member) + ", "; });
  return text + "\"largest_step\": " + json_of(s.largest_step) +
         ", \"seconds_hidden\": " + json_of(s.seconds_hidden()) + "}";
}

std::string report_json(const std::vector<WriteStatistics>& by_rank) {
  WriteStatistics sum;
  for (const WriteStatistics& one : by_rank) add(sum, one);
  const auto slowest = std::max_element(by_rank.begin(), by_rank.end(), [](const auto& a, const auto& b) {
    return a.seconds_in_calls < b.seconds_in_calls;
  });
  std::string text = "{\"ranks\": " + std::to_string(by_rank.size()) + ",\n \"total\": " + to_json(sum);
  if (slowest != by_rank.end())
    text += ",\n \"slowest_rank\": {\"rank\": " + std::to_string(slowest - by_rank.begin()) +
            ", \"statistics\": " + to_json(*slowest) + "}";
  text += ",\n \"by_rank\": [";
  for (std::size_t r = 0; r < by_rank.size(); ++r) text += (r == 0 ? "\n  " : ",\n  ") + to_json(by_rank[r]);
  return text + "]}\n";
}

}  // namespace octavo::engine
