#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <map>
#include <thread>

#include "octavo/base/error.hpp"
#include "octavo/engine/restart/restart.hpp"
#include "octavo/engine/write/writer.hpp"
#include "octavo/store/read/scan.hpp"
#include "tests/support/crash_disk.hpp"
#include "tests/support/is_long.hpp"
#include "tests/support/mpi_run.hpp"
#include "tests/support/triangle_runs.hpp"

// Every rank of an engine records what it asks of the file system and when. A crash of the whole machine leaves what
// was asked before a moment; ranks that are slow leave less of their own. All of it is rebuilt, and must hold every
// step that any rank had been told to be durable. OCTAVO_LONG tries more.
namespace octavo::engine {
namespace {

namespace fs = std::filesystem;
using store::Flow;
using testing::Done;
using testing::everyone;
using testing::Fate;
using testing::is_long;
using testing::rank;
using testing::size;

std::int64_t now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// ------------------------------------------------------------------ what is recorded

struct Record {
  Done done;
  std::int64_t time = 0;   // of this machine: the same clock for all ranks
  std::int64_t step = 0;   // the step that the operation belongs to; 0: none
  std::int64_t known = 0;  // the newest step that this rank had been told to be durable
  int rank = 0;
};

// The newest durable step was known to a rank from this time on, or the step's place was given away.
struct Told {
  std::int64_t step = 0, time = 0;
};

struct Log {
  std::vector<Record> records;  // by time
  std::vector<Told> durable;    // by time
  std::map<std::int64_t, std::int64_t> given_away;
};

template <class T>
void append(std::string& text, const T& value) {
  text.append(reinterpret_cast<const char*>(&value), sizeof value);
}
void append(std::string& text, const std::string& value) {
  append(text, value.size());
  text += value;
}
template <class T>
T take(std::string_view& text) {
  T value{};
  std::memcpy(&value, text.data(), sizeof value);
  text.remove_prefix(sizeof value);
  return value;
}
std::string take_text(std::string_view& text) {
  const auto length = take<std::size_t>(text);
  std::string value(text.substr(0, length));
  text.remove_prefix(length);
  return value;
}

std::string packed(const Record& record) {
  std::string text;
  append(text, record.done.operation);
  append(text, record.done.path);
  append(text, record.done.target);
  append(text, record.done.offset);
  append(text, record.done.size);
  append(text, record.done.bytes);
  append(text, record.time);
  append(text, record.step);
  append(text, record.known);
  return text;
}

Record record_of(std::string_view& text, int rank) {
  Record record;
  record.rank = rank;
  record.done.operation = take<file::Operation>(text);
  record.done.path = take_text(text);
  record.done.target = take_text(text);
  record.done.offset = take<std::uint64_t>(text);
  record.done.size = take<std::uint64_t>(text);
  record.done.bytes = take_text(text);
  record.time = take<std::int64_t>(text);
  record.step = take<std::int64_t>(text);
  record.known = take<std::int64_t>(text);
  return record;
}

// The step that a mark promises; 1 if these bytes name none, since the first step leaves the mark.
std::int64_t newest_in_mark(const std::string& bytes) {
  const std::string words = "newest step ";
  const std::size_t at = bytes.find(words);
  return at == std::string::npos ? 1 : std::stoll(bytes.substr(at + words.size()));
}

// Records of this rank.
struct Recorder {
  std::vector<Record> records;
  std::vector<Told> told, given_away;
  std::atomic<std::int64_t> step = 0, known = 0;
  std::int64_t implied = 0;  // the observer's

  int keep_last = 0;
  Safety safety = Safety::local;  // of the steps that count as known

  explicit Recorder(int keep, Safety least) : keep_last(keep), safety(least) {
    file::set_observer([this](const file::Event& event) {
      const auto op = event.operation;
      if (op == file::Operation::read || op == file::Operation::open || op == file::Operation::open_direct ||
          op == file::Operation::lock)
        return file::Verdict{};
      // Marks and parity are slow, so that the test catches a step that is reported without them.
      if (event.path.extension() == ".durable") std::this_thread::sleep_for(std::chrono::milliseconds(5));
      if (safety != Safety::local && event.path.extension() == "." + std::string(name_of(safety)))
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
      const char* bytes = reinterpret_cast<const char*>(event.bytes.data());
      Done done{op, event.path.string(), event.target.string(), event.offset, event.size, {bytes, event.bytes.size()}};
      // An older checkpoint is removed when the newer ones are known to be complete, before the call says so.
      const bool is_directory = op == file::Operation::remove && !event.path.filename().string().starts_with("data.");
      const std::int64_t of = step_of(is_directory ? event.path / "x" : event.path);
      std::int64_t told_now = op == file::Operation::remove && keep_last > 0 ? of + keep_last : known.load();
      // The same holds for a mark, which readers believe. Later events rely on either promise.
      if (event.path.extension() == ".durable")
        told_now = std::max(told_now, safety == Safety::local ? newest_in_mark(done.bytes) : 1);
      if (op == file::Operation::remove || event.path.extension() == ".durable") implied = std::max(implied, told_now);
      told_now = std::max(told_now, implied);
      records.push_back({std::move(done), now(), of, told_now, rank()});
      return file::Verdict{};
    });
  }
  ~Recorder() { file::set_observer({}); }
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  // A step in a file of its own is named by that file. If steps share files, the test waits for each step.
  std::int64_t step_of(const fs::path& path) const {
    const std::string name = path.parent_path().filename().string();
    return name.size() == 9 && name.find_first_not_of("0123456789") == std::string::npos ? std::stoll(name)
                                                                                         : step.load();
  }
  void look(const Writer& writer) {
    const auto newest = writer.newest_safe(Flow::checkpoint, safety);
    if (!newest || newest->step == known) return;
    told.push_back({newest->step, now()});
    known = newest->step;
  }
  Log all() const;
};

// Collective. The records of all ranks.
Log Recorder::all() const {
  std::string text;
  append(text, told.size());
  for (const Told& t : told) append(text, t);
  append(text, given_away.size());
  for (const Told& t : given_away) append(text, t);
  append(text, records.size());
  for (const Record& record : records) text += packed(record);
  Log log;
  const auto texts = ranks::ranks_of(everyone()).all_gather(text);
  for (int r = 0; r < size(); ++r) {
    std::string_view rest = texts[static_cast<std::size_t>(r)];
    for (auto n = take<std::size_t>(rest); n > 0; --n) log.durable.push_back(take<Told>(rest));
    for (auto n = take<std::size_t>(rest); n > 0; --n) {
      const Told given = take<Told>(rest);
      const auto first = log.given_away.emplace(given.step, given.time).first;
      first->second = std::min(first->second, given.time);
    }
    for (auto n = take<std::size_t>(rest); n > 0; --n) log.records.push_back(record_of(rest, r));
  }
  const auto by_time = [](const auto& a, const auto& b) { return a.time < b.time; };
  std::stable_sort(log.records.begin(), log.records.end(), by_time);
  std::stable_sort(log.durable.begin(), log.durable.end(), by_time);
  return log;
}

// ------------------------------------------------------------------ runs that are recorded

constexpr std::int64_t last_step = 5;

testing::Step step_in_memory(std::int64_t step) {
  testing::StepOptions options;
  options.levels = 3;
  options.cells = 60;
  options.parts = static_cast<std::size_t>(size());
  return testing::random_step(static_cast<std::uint64_t>(step), options);
}

ArrayView view_of_field(const mesh::Field& field, std::size_t cells) {
  ArrayView view;
  view.data = field.bytes.data();
  view.type = field.info.type;
  view.cells = cells;
  view.components = field.info.components;
  return view;
}

void write_tree_step(Writer& writer, std::int64_t step) {
  const testing::Step all = step_in_memory(step);
  const mesh::Part& mine = all.parts[static_cast<std::size_t>(rank())];
  const auto& tree = std::get<mesh::Octree>(mine.mesh);
  writer.begin_step(Flow::checkpoint, step, static_cast<double>(step));
  writer.put_mesh(tree);
  for (const mesh::Field& field : mine.fields)
    writer.put_field(field.info.name, view_of_field(field, num_cells(tree)), field.info.unit);
  for (const mesh::Particles& species : mine.particles)
    for (const mesh::Field& attribute : species.attributes)
      writer.put_particles(species.species, attribute.info.name,
                           view_of_field(attribute, static_cast<std::size_t>(species.count)), attribute.info.unit);
  writer.end_step();
}

/// The data that a run writes, and a comparison with the data that comes back.
struct Written {
  mesh::Header header;
  std::function<void(Writer&, std::int64_t step)> write;
  std::function<bool(const std::vector<mesh::Part>&, std::int64_t step)> is_step;
  std::function<bool(const mesh::Part&, std::int64_t step)> is_share;  // a restart's, of this rank
};

using Steps = std::map<std::int64_t, std::vector<mesh::Part>>;

Written trees() {
  const auto steps = std::make_shared<Steps>();
  for (std::int64_t step = 1; step <= last_step; ++step) (*steps)[step] = step_in_memory(step).parts;
  return {testing::random_step(1).header, write_tree_step,
          [steps](const auto& parts, std::int64_t step) { return testing::same_parts(parts, steps->at(step)); },
          [steps](const auto& part, std::int64_t step) {
            const mesh::Part& expected = steps->at(step)[static_cast<std::size_t>(rank())];
            return part.mesh == expected.mesh && part.fields == expected.fields;
          }};
}

Written triangles() {
  const testing::SerafinFixture f = testing::fixture(2);
  const auto is_share = [f](const mesh::Part& part, std::int64_t step) {
    return testing::wrong_values(f, static_cast<int>(step), part).empty();
  };
  return {testing::triangles_header(f),
          [f](Writer& writer, std::int64_t step) {
            const int number = static_cast<int>(step);
            testing::write_triangles(writer, Flow::checkpoint, number, testing::arrays_of(f, 2, number));
          },
          [is_share](const auto& parts, std::int64_t step) { return parts.size() == 1 && is_share(parts[0], step); },
          is_share};
}

struct Scenario {
  Options options;
  bool wait_for_each = false;
  bool own_files = true;  // ranks depend on each other only through durable steps
  Safety safety = Safety::local;
  int lost_nodes = 0;  // at the moment of the crash
};

Log run(const Scenario& scenario, const Written& written, const fs::path& store) {
  Recorder recorder(scenario.options.keep_last, scenario.safety);
  Writer writer(everyone(), store, written.header, scenario.options);
  for (std::int64_t step = 1; step <= last_step; ++step) {
    recorder.step = step;
    const std::int64_t goes = step - scenario.options.keep_last - 1;
    if (scenario.options.keep_last > 0 && goes > 0) recorder.given_away.push_back({goes, now()});
    // The application computes, so that the end of this step reports the previous one.
    if (!scenario.wait_for_each) std::this_thread::sleep_for(std::chrono::milliseconds(50));
    written.write(writer, step);
    recorder.look(writer);
    if (scenario.wait_for_each) writer.wait();
    recorder.look(writer);
  }
  writer.close();
  recorder.look(writer);
  return recorder.all();
}

// ------------------------------------------------------------------ what must hold

// `promised`: the newest that anybody was told of. `gone`: steps whose place may have been taken since.
void check(const fs::path& store, std::int64_t promised, const std::vector<std::int64_t>& gone, const Written& written,
           int keep_last, const std::string& what) {
  std::vector<store::StepInfo> listed;
  try {
    listed = store::list_steps(store);
  } catch (const base::Error&) {  // no store yet
  }
  std::map<std::int64_t, int> times;
  for (const store::StepInfo& info : listed) {
    ASSERT_EQ(++times[info.step], 1) << what;
    const auto parts = testing::read_all(store::open_step(store, info.flow, info.step));
    ASSERT_TRUE(written.is_step(parts, info.step)) << what << ": step " << info.step;
  }
  const std::int64_t oldest = keep_last > 0 ? std::max<std::int64_t>(1, promised - keep_last + 1) : 1;
  for (std::int64_t step = oldest; step <= promised; ++step)
    if (std::find(gone.begin(), gone.end(), step) == gone.end()) {
      ASSERT_EQ(times[step], 1) << what << ": step " << step;
    }
  if (promised > 0) {
    ASSERT_FALSE(times.empty()) << what;
    ASSERT_GE(times.rbegin()->first, promised) << what;
  }
}

std::vector<Fate> fates_at(std::size_t moment) {
  if (is_long()) return {Fate::dropped, Fate::kept, Fate::torn, Fate::chance, Fate::chance};
  const Fate all[] = {Fate::dropped, Fate::kept, Fate::dropped, Fate::torn, Fate::dropped, Fate::chance};
  return {all[moment % 6]};
}

// Steps that were reported durable are in the mark, and none is said to be lost.
void check_mark(const fs::path& store, std::int64_t reported, const std::string& what) {
  if (!fs::exists(store)) {
    ASSERT_EQ(reported, 0) << what;
    return;
  }
  store::Scan scan;
  try {
    scan = store::scan_store(store);
  } catch (const base::Error&) {  // no store yet
    ASSERT_EQ(reported, 0) << what;
    return;
  }
  const store::DurableMark& mark = scan.marks[static_cast<std::size_t>(Flow::checkpoint)];
  ASSERT_GE(mark.newest_step.value_or(0), reported) << what;
  for (const store::StepFound& step : scan.steps)
    if (step.complete && step.step <= reported && step.order >= mark.orders.front().first) {
      ASSERT_TRUE(store::contains(mark, step.order)) << what << ": step " << step.step;
    }
  for (const store::Finding& finding : scan.damage)
    ASSERT_NE(finding.kind, store::FindingKind::lost) << what << ": " << note_of(finding);
}

struct Promise {
  std::int64_t reported = 0;  // by newest_durable()
  std::int64_t newest = 0;    // that anybody was told of, or that the writer relied on
  std::vector<std::int64_t> gone;
};

Promise promise_at(const Log& log, std::size_t moment) {
  const std::int64_t next = moment < log.records.size() ? log.records[moment].time : now();
  const std::int64_t last = moment == 0 ? 0 : log.records[moment - 1].time;
  Promise promise;
  for (const Told& told : log.durable)
    if (told.time < next) promise.newest = promise.reported = std::max(promise.newest, told.step);
  if (moment > 0) promise.newest = std::max(promise.newest, log.records[moment - 1].known);
  for (const auto& [step, time] : log.given_away)
    if (time <= last) promise.gone.push_back(step);
  return promise;
}

// Every moment of the machine's time; in a short run every second one. Ranks share the work.
void crash_of_all(const Log& log, const fs::path& from, const fs::path& scratch, const Written& written,
                  const Scenario& scenario) {
  testing::Disk disk;
  testing::Random random(42);
  for (std::size_t moment = 0; moment <= log.records.size(); ++moment) {
    if (moment > 0) testing::advance(log.records[moment - 1].done, disk);
    const std::size_t turn = moment / static_cast<std::size_t>(size());
    if (moment % static_cast<std::size_t>(size()) != static_cast<std::size_t>(rank())) continue;
    if (!is_long() && turn % 2 != 0) continue;
    const Promise promise = promise_at(log, moment);
    for (Fate fate : fates_at(turn / 2)) {
      testing::rebuild(disk, from, scratch, fate, random);
      ASSERT_NO_FATAL_FAILURE(
          check(scratch / "run.octavo", promise.newest, promise.gone, written, scenario.options.keep_last,
                "after operation " + std::to_string(moment) + ", unsynced " + testing::name_of(fate)));
      // A disk writes a sector, and so a mark, as a whole or not at all.
      if (fate != Fate::dropped && fate != Fate::kept) continue;
      ASSERT_NO_FATAL_FAILURE(
          check_mark(scratch / "run.octavo", promise.reported,
                     "mark after operation " + std::to_string(moment) + ", unsynced " + testing::name_of(fate)));
    }
  }
}

// The number of a rank's records up to the last that wrote a step up to `known`. Threads of a rank may begin a step
// while they end the one before, so that records of steps are mixed.
std::size_t records_of_steps(const std::vector<const Record*>& records, std::int64_t known) {
  std::size_t count = records.size();
  const auto writes_known = [&](const Record& record) {
    return record.step <= known && record.done.operation != file::Operation::remove;
  };
  while (count > 0 && !writes_known(*records[count - 1])) --count;
  return count;
}

// How far each rank had come: some number of its records. Where a rank had been told of a step, all had finished it.
std::vector<std::size_t> consistent_cut(const std::vector<std::vector<const Record*>>& by_rank,
                                        testing::Random& random) {
  std::vector<std::size_t> cut;
  for (const auto& records : by_rank) cut.push_back(random.below(records.size() + 1));
  for (bool changed = true; changed;) {
    changed = false;
    std::int64_t known = 0;
    for (std::size_t r = 0; r < cut.size(); ++r)
      for (std::size_t k = 0; k < cut[r]; ++k) known = std::max(known, by_rank[r][k]->known);
    for (std::size_t r = 0; r < cut.size(); ++r) {
      const std::size_t least = records_of_steps(by_rank[r], known);
      if (cut[r] >= least) continue;
      cut[r] = least;
      changed = true;
    }
  }
  return cut;
}

// Ranks that were slower or faster than they were: each stops where it likes.
void crash_of_each(const Log& log, const fs::path& from, const fs::path& scratch, const Written& written,
                   int keep_last) {
  std::vector<std::vector<const Record*>> by_rank(static_cast<std::size_t>(size()));
  for (const Record& record : log.records) by_rank[static_cast<std::size_t>(record.rank)].push_back(&record);
  testing::Random random(1000 + static_cast<std::uint64_t>(rank()));
  const int cuts = (is_long() ? 2000 : 40) / size();
  for (int i = 0; i < cuts; ++i) {
    const auto cut = consistent_cut(by_rank, random);
    Promise promise;
    std::vector<const Record*> records;
    std::string what = "ranks after operations";
    for (std::size_t r = 0; r < cut.size(); ++r) {
      what += " " + std::to_string(cut[r]);
      for (std::size_t k = 0; k < cut[r]; ++k) {
        records.push_back(by_rank[r][k]);
        promise.newest = std::max(promise.newest, by_rank[r][k]->known);
        const std::int64_t goes = by_rank[r][k]->step - keep_last - 1;
        if (keep_last > 0 && goes > 0) promise.gone.push_back(goes);
      }
    }
    std::stable_sort(records.begin(), records.end(), [](const auto* a, const auto* b) { return a->time < b->time; });
    testing::Disk disk;
    for (const Record* record : records) testing::advance(record->done, disk);
    for (Fate fate : fates_at(static_cast<std::size_t>(i))) {
      testing::rebuild(disk, from, scratch, fate, random);
      ASSERT_NO_FATAL_FAILURE(check(scratch / "run.octavo", promise.newest, promise.gone, written, keep_last,
                                    what + ", unsynced " + testing::name_of(fate)));
    }
  }
}

// The nodes go in turn: each moment finds others lost.
void lose_nodes(const fs::path& disk, int count, std::size_t moment) {
  std::vector<fs::path> nodes;
  std::error_code ignored;
  for (fs::recursive_directory_iterator it(disk, ignored), end; it != end; it.increment(ignored))
    if (it.depth() == 1) nodes.push_back(it->path());
  std::sort(nodes.begin(), nodes.end());
  for (std::size_t n = 0; n < nodes.size(); ++n)
    if ((n + moment) % nodes.size() == 0 ||
        (count == 2 && (n + moment) % nodes.size() == 1 + moment / nodes.size() % (nodes.size() - 1)))
      fs::remove_all(nodes[n]);
}

// Collective. A start from what is left takes a step that is as new as was promised, and has every bit.
void restart_after_some(const Log& log, const fs::path& root, const fs::path& scratch, const Written& written,
                        const Scenario& scenario) {
  const Options& options = scenario.options;
  testing::Random random(7);
  testing::Disk disk;
  std::size_t done = 0;
  // We take all moments of the beginning, when there may be nothing yet, and some of the rest.
  const std::size_t dense = scenario.lost_nodes > 0 ? 0 : options.staging_directory.empty() ? 12 : 30;
  const std::size_t moments = scenario.lost_nodes > 0 ? 20 : 6;
  const std::size_t stride = is_long() ? 3 : std::max<std::size_t>(1, log.records.size() / moments);
  for (std::size_t moment = 0; moment <= log.records.size(); moment += moment < dense ? 1 : stride) {
    for (; done < moment; ++done) testing::advance(log.records[done].done, disk);
    const fs::path target = options.staging_directory.empty() ? scratch : root;
    const std::vector<Fate> fates = fates_at(moment / stride);
    const Fate fate = scenario.lost_nodes > 0 ? fates[moment / stride % fates.size()] : Fate::dropped;
    if (rank() == 0) testing::rebuild(disk, root, target, fate, random);
    if (rank() == 0 && scenario.lost_nodes > 0) lose_nodes(options.staging_directory, scenario.lost_nodes, moment);
    MPI_Barrier(everyone());
    RestartOptions from = restart_options(options);
    const auto start = restart(everyone(), target / "run.octavo", from);
    const std::int64_t promised = promise_at(log, moment).newest;
    ASSERT_GE(start ? start->id.step : 0, promised) << "after operation " << moment;
    MPI_Barrier(everyone());
    if (!start) continue;
    EXPECT_TRUE(written.is_share(start->part, start->id.step)) << "after operation " << moment;
  }
}

void crash_everywhere(const Scenario& scenario, const Written& written = trees()) {
  const testing::SharedDirectory root, scratch;
  Scenario here = scenario;
  const bool staged = here.options.staging_directory == "local";
  if (staged) here.options.staging_directory = root.path() / "local";
  const Log log = run(here, written, root.path() / "run.octavo");
  ASSERT_GT(log.records.size(), 20u);
  ASSERT_EQ(log.durable.back().step, last_step);
  const fs::path mine = scratch.path() / std::to_string(rank());
  // Only a restart on all ranks finds steps that are on local disks alone.
  if (!staged) crash_of_all(log, root.path(), mine, written, here);
  if (!staged && here.own_files) crash_of_each(log, root.path(), mine, written, here.options.keep_last);
  MPI_Barrier(everyone());
  restart_after_some(log, root.path(), scratch.path() / "restart", written, here);
}

Options with(Mode mode, int contributors_per_file) {
  Options options;
  options.mode = mode;
  options.contributors_per_file = contributors_per_file;
  options.staging_bytes = 1 << 20;
  options.checkpoint.codec.method = codec::Method::raw;
  return options;
}

TEST(CrashMpi, of_one_file_a_rank_in_the_background_where_ranks_drift_apart) {
  crash_everywhere({with(Mode::background, 1)});
}

TEST(CrashMpi, of_one_file_for_all) { crash_everywhere({with(Mode::background, 0), false, false}); }

TEST(CrashMpi, of_steps_appended_to_one_file_by_each_rank_and_by_all) {
  Options options = with(Mode::sync, 1);
  options.append_checkpoint = true;
  options.checkpoint.codec.method = codec::Method::zstd;
  crash_everywhere({options, true, true});
  options.contributors_per_file = 2;
  crash_everywhere({options, true, false});
}

TEST(CrashMpi, of_slots_that_are_used_again) {
  Options options = with(Mode::background, 1);
  options.recycle = true;
  options.keep_last = 1;
  crash_everywhere({options, true, true});
  options.keep_last = 2;
  options.contributors_per_file = 0;
  crash_everywhere({options, false, false});
}

// Records by rank, each rank's by time.
std::vector<std::vector<const Record*>> records_by_rank(const Log& log) {
  std::vector<std::vector<const Record*>> out(static_cast<std::size_t>(size()));
  for (const Record& record : log.records) out[static_cast<std::size_t>(record.rank)].push_back(&record);
  return out;
}

// The number of records up to the end of the n-th slot that a rank writes, from 1.
std::size_t end_of_slot(const std::vector<const Record*>& records, std::int64_t nth) {
  fs::path slot;
  for (std::size_t k = 0; k < records.size(); ++k) {
    const fs::path here = fs::path(records[k]->done.path).parent_path();
    if (!here.filename().string().starts_with("slot.") || here == slot) continue;
    slot = here;
    if (nth-- == 0) return k;
  }
  return records.size();
}

// The number of records up to the mark that names the step as the newest.
std::size_t before_mark_of(const std::vector<const Record*>& records, std::int64_t step) {
  const auto names = [&](const Record* record) {
    return record->done.operation == file::Operation::write && fs::path(record->done.path).extension() == ".durable" &&
           newest_in_mark(record->done.bytes) == step;
  };
  return static_cast<std::size_t>(std::find_if(records.begin(), records.end(), names) - records.begin());
}

// Rank 0 has come so far, each other rank to all moments in [first, last). The step is there, and none is lost.
void crash_of_slow_first(const Log& log, std::size_t rank_0, const std::function<std::size_t(std::size_t)>& first,
                         const std::function<std::size_t(std::size_t)>& last, std::int64_t step, const fs::path& from,
                         const fs::path& scratch) {
  const auto records = records_by_rank(log);
  testing::Random random(3);
  for (std::size_t moment = 0;; ++moment) {
    bool goes_on = false;
    std::vector<const Record*> done(records[0].begin(), records[0].begin() + static_cast<std::ptrdiff_t>(rank_0));
    for (std::size_t r = 1; r < records.size(); ++r) {
      const std::size_t end = std::min(first(r) + moment, last(r));
      goes_on = goes_on || end < last(r);
      done.insert(done.end(), records[r].begin(), records[r].begin() + static_cast<std::ptrdiff_t>(end));
    }
    std::stable_sort(done.begin(), done.end(), [](const auto* a, const auto* b) { return a->time < b->time; });
    testing::Disk disk;
    for (const Record* record : done) testing::advance(record->done, disk);
    testing::rebuild(disk, from, scratch, Fate::kept, random);
    const std::string what = "step " + std::to_string(step) + ", moment " + std::to_string(moment);
    const auto listed = store::list_steps(scratch / "run.octavo");
    EXPECT_TRUE(std::ranges::any_of(listed, [&](const auto& info) { return info.step == step; })) << what;
    for (const store::StepInfo& info : listed) {
      const auto parts = testing::read_all(store::open_step(scratch / "run.octavo", info.flow, info.step));
      EXPECT_TRUE(trees().is_step(parts, info.step)) << what << ": " << info.step;
    }
    for (const store::Finding& finding : store::scan_store(scratch / "run.octavo").damage)
      ADD_FAILURE() << what << ": " << note_of(finding);
    if (!goes_on) return;
  }
}

Options with_one_slot_more() {
  Options options = with(Mode::background, 1);
  options.recycle = true;
  options.keep_last = 1;
  return options;
}

TEST(CrashMpi, a_step_whose_slot_others_overwrite_before_rank_0_has_written_the_mark_is_not_lost) {
  if (size() < 2) GTEST_SKIP() << "needs a rank that is faster than rank 0";
  const testing::SharedDirectory root, scratch;
  const Log log = run({with_one_slot_more(), false, true}, trees(), root.path() / "run.octavo");
  const auto records = records_by_rank(log);
  for (std::int64_t step = 2; rank() == 0 && step < last_step; ++step)
    ASSERT_NO_FATAL_FAILURE(crash_of_slow_first(
        log, before_mark_of(records[0], step), [&](std::size_t r) { return end_of_slot(records[r], step); },
        [&](std::size_t r) { return end_of_slot(records[r], step + 1); }, step, root.path(), scratch.path() / "x"));
  MPI_Barrier(everyone());
}

TEST(CrashMpi, a_step_of_an_abandoned_branch_whose_slot_is_used_at_once_is_not_lost) {
  if (size() < 2) GTEST_SKIP() << "needs a rank that is faster than rank 0";
  const testing::SharedDirectory root, scratch;
  const fs::path store = root.path() / "run.octavo";
  Recorder recorder(1, Safety::local);
  const auto write = [&](std::int64_t begin, std::int64_t end, const std::optional<store::StepId>& from) {
    Writer writer(everyone(), store, trees().header, with_one_slot_more(), from);
    const std::size_t opened = recorder.records.size();
    for (std::int64_t step = begin; step <= end; ++step) write_tree_step(writer, step);
    writer.close();
    return opened;
  };
  write(1, 3, {});
  const auto listed = store::list_steps(store);  // steps 2 and 3: one slot is free for the next
  ASSERT_EQ(listed.size(), 2u);
  MPI_Barrier(everyone());
  const std::size_t opened = write(3, 3, store::StepId{2, listed[0].attempt});
  const auto texts = ranks::ranks_of(everyone()).all_gather(std::to_string(opened));
  const Log log = recorder.all();
  const auto records = records_by_rank(log);
  if (rank() == 0)
    crash_of_slow_first(
        log, opened, [&](std::size_t r) { return std::stoul(texts[r]); },
        [&](std::size_t r) { return records[r].size(); }, 2, root.path(), scratch.path() / "x");
  MPI_Barrier(everyone());
}

TEST(CrashMpi, while_older_checkpoints_are_removed) {
  Options options = with(Mode::background, 1);
  options.keep_last = 1;
  options.recycle = false;
  crash_everywhere({options, true, true});
}

Options with_local_disks(Mode mode) {
  Options options = with(mode, 1);
  options.ranks_per_node = 2;
  options.staging_directory = "local";
  return options;
}

TEST(CrashMpi, with_local_disks_that_are_drained) { crash_everywhere({with_local_disks(Mode::background)}); }

// Every rank is a node. Steps that were reported safe come back although nodes go in the crash.
Scenario with_lost_nodes(Safety safety, int lost) {
  Options options = with_local_disks(Mode::background);
  options.ranks_per_node = 1;
  options.drain_every = 1000;
  options.group_size = 3;
  (safety == Safety::partner     ? options.partner_every
   : safety == Safety::xor_group ? options.xor_every
                                 : options.rs_every) = 1;
  return {options, false, false, safety, lost};
}

TEST(CrashMpi, with_a_partner_for_a_node_that_is_lost_at_any_moment) {
  if (size() < 2) GTEST_SKIP() << "needs two nodes";
  crash_everywhere(with_lost_nodes(Safety::partner, 1));
}

TEST(CrashMpi, with_xor_for_a_node_that_is_lost_at_any_moment) {
  if (size() < 3) GTEST_SKIP() << "needs three nodes";
  crash_everywhere(with_lost_nodes(Safety::xor_group, 1));
}

TEST(CrashMpi, with_reed_solomon_for_two_nodes_that_are_lost_at_any_moment) {
  if (size() < 3) GTEST_SKIP() << "needs three nodes";
  crash_everywhere(with_lost_nodes(Safety::reed_solomon, 2));
}

// Steps are on their way to the store, to a partner and to a group at once, each with a cadence of its own.
TEST(CrashMpi, with_a_node_that_is_lost_while_every_second_or_third_step_is_drained) {
  if (size() < 3) GTEST_SKIP() << "needs three nodes";
  Scenario scenario = with_lost_nodes(Safety::partner, 1);
  scenario.options.drain_every = 2;
  scenario.options.xor_every = 3;
  crash_everywhere(scenario);
  scenario = with_lost_nodes(Safety::xor_group, 1);
  scenario.options.drain_every = 3;
  scenario.options.partner_every = 2;
  crash_everywhere(scenario);
}

TEST(CrashMpi, of_triangles_in_files_of_each_rank_and_on_local_disks) {
  crash_everywhere({with(Mode::automatic, 1), false, false}, triangles());
  crash_everywhere({with_local_disks(Mode::automatic)}, triangles());
}

}  // namespace
}  // namespace octavo::engine
