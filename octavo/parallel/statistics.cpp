#include "octavo/parallel/statistics.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

namespace octavo::parallel {

double Statistics::seconds_hidden() const {
  return std::max(0.0, seconds_working - seconds_waiting - seconds_waiting_for_staging);
}

Statistics total(const Statistics& mine, MPI_Comm comm) {
  std::array<double, 5> seconds{mine.seconds_in_calls, mine.seconds_copying, mine.seconds_waiting_for_staging,
                                mine.seconds_waiting, mine.seconds_working};
  std::array<std::int64_t, 5> counts{mine.steps, mine.failed, static_cast<std::int64_t>(mine.bytes_put),
                                     static_cast<std::int64_t>(mine.bytes_staged),
                                     static_cast<std::int64_t>(mine.bytes_stored)};
  MPI_Allreduce(MPI_IN_PLACE, seconds.data(), static_cast<int>(seconds.size()), MPI_DOUBLE, MPI_SUM, comm);
  MPI_Allreduce(MPI_IN_PLACE, counts.data(), static_cast<int>(counts.size()), MPI_INT64_T, MPI_SUM, comm);
  Statistics all;
  all.steps = counts[0];
  all.failed = counts[1];
  all.bytes_put = static_cast<std::uint64_t>(counts[2]);
  all.bytes_staged = static_cast<std::uint64_t>(counts[3]);
  all.bytes_stored = static_cast<std::uint64_t>(counts[4]);
  all.seconds_in_calls = seconds[0];
  all.seconds_copying = seconds[1];
  all.seconds_waiting_for_staging = seconds[2];
  all.seconds_waiting = seconds[3];
  all.seconds_working = seconds[4];
  return all;
}

std::string to_json(const Statistics& s) {
  std::array<char, 640> text{};
  std::snprintf(text.data(), text.size(),
                "{\"steps\": %lld, \"failed\": %lld, \"bytes_put\": %llu, \"bytes_staged\": %llu, "
                "\"bytes_stored\": %llu, \"seconds_in_calls\": %.6f, \"seconds_copying\": %.6f, "
                "\"seconds_waiting_for_staging\": %.6f, \"seconds_waiting\": %.6f, \"seconds_working\": %.6f, "
                "\"seconds_hidden\": %.6f}",
                static_cast<long long>(s.steps), static_cast<long long>(s.failed),
                static_cast<unsigned long long>(s.bytes_put), static_cast<unsigned long long>(s.bytes_staged),
                static_cast<unsigned long long>(s.bytes_stored), s.seconds_in_calls, s.seconds_copying,
                s.seconds_waiting_for_staging, s.seconds_waiting, s.seconds_working, s.seconds_hidden());
  return text.data();
}

}  // namespace octavo::parallel
