#pragma once
#include <mpi.h>

#include <cstdint>
#include <filesystem>
#include <string>

#include "octavo/engine/options.hpp"

namespace octavo::engine {

/// How the values of a step are encoded.
enum class CodecChoice : std::uint8_t {
  given,  ///< as the options say
  fast,   ///< with effort `fast`
  raw     ///< stored as they are
};

/// The record of a finished step on one rank.
struct StepRecord {
  store::Flow flow = store::Flow::checkpoint;
  std::int64_t step = 0;
  double time = 0;  ///< [code time]
  Mode mode = Mode::background;
  CodecChoice encoding = CodecChoice::given;
  bool failed = false;
  std::uint64_t bytes_put = 0, bytes_stored = 0;
  std::uint64_t bytes_lent = 0;  ///< of a step larger than staging: written from the arrays, in end_step()
  std::uint64_t went_round = 0;  ///< files that went to the store at once, because the local disk was full
  double seconds_in_call = 0;    ///< [s] of end_step()
  double seconds_working = 0;    ///< [s] of encoding and writing
  double seconds_copying = 0, seconds_encoding = 0, seconds_cpu = 0;  ///< [s] of this rank; `cpu`: of the work
};

/// Bytes of all ranks and seconds of the slowest, on rank 0. Collective.
StepRecord over_ranks(const StepRecord& mine, MPI_Comm comm);
/// "checkpoint step 40, time 1.25: 12.3 MB put, 4.5 MB stored (2.7 to 1), 0.012 s in end_step, 0.310 s of work,
/// background" or "...: lost". A step larger than staging adds ", larger than staging: 8.3 MB written in end_step", a
/// full local disk ", 2 files to the store at once (local disk full)".
std::string to_text(const StepRecord& record);
/// Adds a line to the file, or writes it to the error output if `log` is "-". Ignores failure: a run is worth more than
/// its log.
void write_log(const std::string& log, const std::string& line);
/// Throws Error(unreadable) if lines cannot be added to the log.
void check_log(const std::string& log);
/// Throws Error(unreadable) if close() could not write the file of statistics. Empty path: no file, no check.
void check_statistics(const std::filesystem::path& path);

}  // namespace octavo::engine
