#pragma once
#include <array>
#include <chrono>
#include <deque>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "octavo/engine/targets/target_row.hpp"
#include "octavo/engine/write/auto_mode.hpp"
#include "octavo/engine/write/background.hpp"
#include "octavo/engine/write/store_steps.hpp"
#include "octavo/engine/write/writer.hpp"
#include "octavo/ranks/communicator.hpp"

/// The inside of a Writer. writer.cpp has the calls that put a step together, contract.cpp those that end it and report
/// errors, flight.cpp the way of a step in between.
namespace octavo::engine {

/// Says that the store's file system has no direct I/O.
std::string direct_io_note(const std::filesystem::path& store);

/// A step that waits to be sealed.
struct Flight {
  std::int64_t number = 0;
  StepWork work;
};

struct Writer::State {
  using Clock = std::chrono::steady_clock;

  State(MPI_Comm parent, const mesh::Header& common, const Target& target);

  ranks::OwnComm comm;
  int rank = 0;
  mesh::Header header;
  StepsBy steps_by;
  Options options;                    // for targets other than a store: those options that they have
  std::unique_ptr<StoreSteps> store;  // none: another target
  TargetRow target;
  std::optional<Staging> staging;
  std::deque<Flight> flights;            // only for targets other than a store
  std::optional<Background> background;  // must be destroyed before the memory that it writes from

  // The step that is put together.
  std::shared_ptr<StepJob> job;            // between begin_step and end_step
  std::optional<base::Error> begin_error;  // of a failed begin_step that no successful one has followed
  std::optional<base::Error> put_error;    // the first thing that went wrong in a put
  std::string last_begun;                  // step, as errors name it

  // Steps on their way.
  std::int64_t next_number = 0;
  std::array<AutoMode, 2> automatic;
  double in_application = 0;        // [s] outside of calls, when the latest step began
  std::deque<Submitted> submitted;  // not known to be durable or to have failed
  std::deque<std::pair<std::int64_t, base::Error>>
      failures;                     // on this rank, of steps that other ranks may still be writing
  std::vector<base::Error> untold;  // one for each failed step that was not thrown yet, the same on all ranks
  std::int64_t finished = 0;        // steps that this rank is done with, including failed ones
  std::int64_t synced = 0;          // of those: on disk, if sync_policy is wait

  // Steps that are over.
  std::int64_t durable_steps = 0;
  std::array<std::optional<store::StepId>, 2> durable;
  WriteStatistics statistics;
  bool closed = false;
  bool logs = false;  // the same on all ranks
  bool refusal_told = false;
  const Clock::time_point opened = Clock::now();
  const file::Counts counts_before = file::counts();
  std::array<std::optional<double>, 2> asked_time;
  std::array<Clock::time_point, 2> last_step{opened, opened};

  // writer.cpp
  void open(const Target& to);
  void begin(StepsBy by, const store::SegmentPlan& plan, const std::filesystem::path& path, double time);
  void put(const std::string& what, const std::function<void()>& work);
  void keep_error(const std::function<void()>& work);
  template <class Put, class... Arguments>
  void give(const std::string& what, const Put& target_put, Arguments&&... arguments);
  WriteStatistics statistics_now();
  void write_statistics();

  // contract.cpp
  Agreement agree(bool with_step);
  Agreement own_report(bool with_step);
  void check_same(bool with_step, const Agreement& all);
  void take_failure(std::deque<std::pair<std::int64_t, base::Error>>& kept, std::int64_t failed);
  void tell();
  StepWork take_step();
  void settle();
  void end_chores();
  void drain_all();
  void sync_written();

  // flight.cpp
  void hand_over(StepWork work);
  void choose_files(store::SegmentPlan& segment);
  std::optional<store::StepId> continued_by(store::Flow flow) const;
  bool chooses(store::Flow flow) const;                  // whether first steps decide how later ones are written
  std::optional<Spent> watched(store::Flow flow) const;  // none: no choice needs it
  Choice choose(store::Flow flow);
  void submit(StepWork work, Mode mode);
  void stage(StepWork& work);
  void collect();
  void advance(std::int64_t durable_up_to, std::int64_t failed);
  void land(Submitted& step);
  bool seal(const StepWork& work);
};

}  // namespace octavo::engine
