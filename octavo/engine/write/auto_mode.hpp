#pragma once
#include <mpi.h>

#include <cstdint>
#include <optional>
#include <string>

#include "octavo/engine/options.hpp"

namespace octavo::engine {

/// The cost of a flow's first step on the slowest rank. The step is copied and written in the background, and encoded.
struct WriteCost {
  double copying = 0;      ///< [s] of end_step(): into staging
  double encoding = 0;     ///< [s] of a core
  double writing = 0;      ///< [s] from encoded bytes to the disk
  double writing_cpu = 0;  ///< [s] of a core: `writing` without its waits
  double ratio = 1;        ///< bytes put for each byte stored
  double idle = 0;         ///< [s] of cores that no rank used until the next step, for each rank
};

/// How the later steps are written.
struct Choice {
  Mode mode = Mode::background;
  bool encodes = true;  ///< false: values are stored as they are
};
/// Background writing costs the copy and, where cores are not idle as long, the thread's core seconds; writing in
/// end_step() costs all of it. Takes the mode that costs less, sync if both cost the same. If `may_store_raw`, values
/// are encoded in the background if idle cores do it or the store is slower than the codec, in end_step() only if the
/// store is slower. `fixed`: the mode is given. Pure.
Choice cheapest(const WriteCost& cost, bool may_store_raw, const std::optional<Mode>& fixed = {});
/// "background: a step of 64 MB takes 0.010 s to copy, 0.100 s to encode (2.7 to 1), 0.250 s to write; cores are idle"
std::string to_text(const Choice& choice, const WriteCost& cost, std::uint64_t bytes);

/// Totals of a process so far.
struct Spent {
  double application = 0;  ///< [s] outside of calls of the writer
  double cpu = 0;          ///< [s] of all its threads
};

/// Core seconds of all threads of this process so far.
double cpu_of_process() noexcept;

/// Decides for one flow from its first step, which is written in the background.
class AutoMode {
 public:
  /// Until the decision: background.
  Choice choice() const noexcept { return choice_.value_or(Choice{}); }
  bool decided() const noexcept { return choice_.has_value(); }
  bool must_decide() const noexcept { return measured_ && !choice_; }
  /// The first step has been handed over; the totals of that moment.
  void handed_over(const Spent& now) noexcept;
  /// Another step of the flow begins; the totals of that moment.
  void begins(const Spent& now) noexcept;
  /// All ranks have written the first step. The cost is this rank's, without `ratio` and `idle`.
  void written(const WriteCost& cost, std::uint64_t bytes_put, std::uint64_t bytes_stored) noexcept;
  /// Collective. `cores`: those that this process's thread may use. Returns the reason, on rank 0.
  std::string decide(MPI_Comm comm, int cores, bool may_store_raw, const std::optional<Mode>& fixed);

 private:
  bool measured_ = false;
  int intervals_ = 0;  // between steps
  std::optional<Spent> begin_;
  Spent until_;
  WriteCost cost_;
  std::uint64_t bytes_put_ = 0, bytes_stored_ = 0;
  std::optional<Choice> choice_;
};

}  // namespace octavo::engine
