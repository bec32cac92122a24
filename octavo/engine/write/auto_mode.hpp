#pragma once
#include <mpi.h>

#include <cstdint>
#include <optional>
#include <string>

#include "octavo/engine/options.hpp"
#include "octavo/engine/step_log.hpp"

namespace octavo::engine {

/// The cost of a step that was encoded and written, on the slowest rank.
struct EncodingCost {
  double encoding = 0;     ///< [s] of a core
  double writing = 0;      ///< [s] from encoded bytes to the disk
  double writing_cpu = 0;  ///< [s] of a core: `writing` without its waits
  double ratio = 1;        ///< bytes put for each byte stored
};

/// The seconds that a flow's first steps took on the slowest rank. These steps are copied and written in the
/// background.
struct WriteCost {
  double copying = 0;  ///< [s] of end_step(): into staging
  double idle = 0;     ///< [s] of cores that no rank used until the next step, for each rank
  EncodingCost given;
  std::optional<EncodingCost> fast{};  ///< none: no step was encoded with effort `fast`
};

/// How the later steps are written.
struct Choice {
  Mode mode = Mode::background;
  CodecChoice encoding = CodecChoice::given;
};
/// Background writing costs the copy and, where cores are not idle as long, the thread's core seconds; writing in
/// end_step() costs all of it. Takes the mode that costs less, sync if both cost the same. If `by_cost`, values are
/// encoded in the background by the first of `given` and `fast` for which cores are idle as long. Else, and in
/// end_step(), in the way that takes the least time to encode and write. `fixed`: the mode is given. Pure.
Choice cheapest(const WriteCost& cost, bool by_cost, const std::optional<Mode>& fixed = {});
/// "background, encoded: the first step, 64.0 MB, took 0.010 s to copy, 0.100 s to encode (2.70 to 1), 0.250 s to
/// write; the thread finds idle cores"
std::string to_text(const Choice& choice, const WriteCost& cost, std::uint64_t bytes);

/// Totals of a process so far.
struct Spent {
  double application = 0;  ///< [s] outside of calls of the writer
  double cpu = 0;          ///< [s] of all its threads
  double waiting = 0;      ///< [s] that its threads could have run and had no core
};

/// Those of this process; `application` is the caller's. `waiting` is of the threads that it has now (Linux counts it
/// in /proc/self/task/ID/schedstat), 0 where it is not counted or memory for the question is lacking.
Spent spent_by_process(double application) noexcept;

/// Decides for one flow from its first step, which is written in the background. If the codec is chosen by cost, and
/// the given encoding pays but takes the computation's time, a step is encoded with effort `fast` before that is
/// decided.
class AutoMode {
 public:
  /// Until the decision: background, and during the trial `fast`.
  Choice choice() const noexcept { return choice_.value_or(Choice{}); }
  bool decided() const noexcept { return choice_ && !tries_; }
  bool watches() const noexcept { return !choice_; }  ///< wants handed_over() and begins()
  bool must_decide() const noexcept { return tries_ ? fast_.known : given_.known && !choice_; }
  /// The first step has been handed over; the totals of that moment.
  void handed_over(const Spent& now) noexcept;
  /// Another step of the flow begins; the totals of that moment.
  void begins(const Spent& now) noexcept;
  /// All ranks have written a step of this encoding. The first one counts, with this rank's seconds; cost.ratio does
  /// not.
  void written(CodecChoice encoding, double copying, const EncodingCost& cost, std::uint64_t bytes_put,
               std::uint64_t bytes_stored) noexcept;
  /// Collective. `cores`: those that this process's thread may use. Returns the choice and the reason.
  std::string decide(MPI_Comm comm, int cores, bool by_cost, const std::optional<Mode>& fixed);

 private:
  // The seconds and bytes of one step on this rank.
  struct Measured {
    bool known = false;
    double copying = 0;
    EncodingCost cost;
    std::uint64_t bytes_put = 0, bytes_stored = 0;
  };

  Measured given_, fast_;
  bool tries_ = false;  // choice_ is for the trial
  int intervals_ = 0;   // between steps
  std::optional<Spent> begin_;
  Spent until_;
  WriteCost cost_;               // of the slowest rank, once something was decided
  std::uint64_t bytes_put_ = 0;  // by all ranks in the first step
  std::optional<Choice> choice_;
};

}  // namespace octavo::engine
