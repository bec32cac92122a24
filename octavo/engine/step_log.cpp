#include "octavo/engine/step_log.hpp"

#include <array>
#include <cerrno>
#include <cstdio>
#include <fstream>
#include <iostream>

#include "octavo/base/error.hpp"

namespace octavo::engine {
namespace {

std::string bytes_text(std::uint64_t bytes) {
  constexpr std::array units{"B", "kB", "MB", "GB", "TB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; value >= 1000 && unit + 1 < units.size(); ++unit) value /= 1000;
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), unit == 0 ? "%.0f %s" : "%.1f %s", value, units[unit]);
  return text.data();
}

}  // namespace

StepRecord over_ranks(const StepRecord& mine, MPI_Comm comm) {
  StepRecord all = mine;
  const std::array<std::uint64_t, 4> counts{mine.bytes_put, mine.bytes_stored, mine.bytes_lent, mine.went_round};
  const std::array<double, 2> seconds{mine.seconds_in_call, mine.seconds_working};
  std::array<std::uint64_t, 4> sum{};
  std::array<double, 2> slowest{};
  MPI_Reduce(counts.data(), sum.data(), 4, MPI_UINT64_T, MPI_SUM, 0, comm);
  MPI_Reduce(seconds.data(), slowest.data(), 2, MPI_DOUBLE, MPI_MAX, 0, comm);
  all.bytes_put = sum[0];
  all.bytes_stored = sum[1];
  all.bytes_lent = sum[2];
  all.went_round = sum[3];
  all.seconds_in_call = slowest[0];
  all.seconds_working = slowest[1];
  return all;
}

std::string to_text(const StepRecord& record) {
  std::array<char, 160> text{};
  std::snprintf(text.data(), text.size(), "%s step %lld, time %.9g: ", store::to_string(record.flow).c_str(),
                static_cast<long long>(record.step), record.time);
  std::string line = text.data();
  if (record.failed) return line + "lost";
  const double ratio =
      record.bytes_stored == 0 ? 0 : static_cast<double>(record.bytes_put) / static_cast<double>(record.bytes_stored);
  std::snprintf(text.data(), text.size(), "%s put, %s stored (%.2f to 1), %.3f s in end_step, %.3f s of work, %s",
                bytes_text(record.bytes_put).c_str(), bytes_text(record.bytes_stored).c_str(), ratio,
                record.seconds_in_call, record.seconds_working, std::string(name_of(record.mode)).c_str());
  line += text.data();
  if (record.bytes_lent > 0) line += ", larger than staging: " + bytes_text(record.bytes_lent) + " written in end_step";
  if (record.went_round > 0)
    line += ", " + std::to_string(record.went_round) + (record.went_round == 1 ? " file" : " files") +
            " to the store at once (local disk full)";
  return line;
}

void write_log(const std::string& log, const std::string& line) {
  if (log.empty()) return;
  if (log == "-")
    std::cerr << "octavo: " + line + "\n";
  else
    std::ofstream(log, std::ios::app) << line + "\n";
}

void check_log(const std::string& log) {
  if (log.empty() || log == "-") return;
  errno = 0;
  if (!std::ofstream(log, std::ios::app)) throw base::system_error("open the log", errno).at(log);
}

void check_statistics(const std::filesystem::path& path) {
  if (path.empty()) return;
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored))
    throw base::system_error("write the statistics", EISDIR).at(path.string());
  std::filesystem::path partial = path;
  partial += ".partial";
  errno = 0;
  if (!std::ofstream(partial)) throw base::system_error("write the statistics", errno).at(path.string());
  std::filesystem::remove(partial, ignored);
}

}  // namespace octavo::engine
