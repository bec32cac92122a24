#include <gmock/gmock.h>

#include <cerrno>
#include <fstream>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "octavo/base/error.hpp"
#include "octavo/engine/hints.hpp"
#include "octavo/engine/restart/failed_restarts.hpp"
#include "octavo/engine/restart/restart.hpp"
#include "octavo/engine/write/writer.hpp"
#include "octavo/file/posix.hpp"
#include "octavo/store/durable.hpp"
#include "octavo/store/layout.hpp"
#include "octavo/store/read/index.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/mpi_run.hpp"

// The tier of local disks, remembered starts, and what a user is told.
namespace octavo::engine {
namespace {

namespace fs = std::filesystem;
using base::Error;
using store::Flow;
using testing::barrier;
using testing::Domain;
using testing::everyone;
using testing::expect_same_everywhere;
using ::testing::HasSubstr;
using testing::make_domain;
using testing::message_of;
using testing::rank;
using testing::size;

mesh::Header header() { return make_domain(1, 0, 1).header; }

void write_on_tiers(Writer& writer, Flow flow, std::int64_t step) {
  const Domain domain = make_domain(1, rank(), size(), step);
  writer.begin_step(flow, step, 0.5 * static_cast<double>(step));
  writer.put_mesh(domain.tree);
  writer.put_field("density", view_of(domain.density), "g/cm^3");
  writer.put_field("flag", view_of(domain.flag));
  writer.end_step();
}

void expect_on_tiers(const fs::path& store, Flow flow, std::int64_t step) {
  const Domain domain = make_domain(1, rank(), size(), step);
  const mesh::Part part = store::open_step(store, flow, step).read(rank(), {});
  EXPECT_EQ(std::get<mesh::Octree>(part.mesh), domain.tree);
  EXPECT_TRUE(std::ranges::equal(part.fields[0].as<double>(), domain.density));
}

std::size_t local_segments(const fs::path& disk) {
  std::size_t count = 0;
  std::error_code ignored;
  for (fs::recursive_directory_iterator it(disk, ignored), end; it != end; it.increment(ignored))
    count += it->path().filename().string().starts_with("data.") ? 1U : 0U;
  return count;
}

// A directory of this test, with a store and a disk that hosts of two ranks each have.
struct Place {
  testing::SharedDirectory directory;
  fs::path store = directory.path() / "run.octavo";
  fs::path disk = directory.path() / "disk";
  Options options;
  RestartOptions restart;
  Place() {
    options.staging_directory = disk;
    options.ranks_per_node = 2;
    options.contributors_per_file = 2;
    restart = restart_options(options);
  }
};

// The store's file system refuses writes while this lives: a drain that has not come through yet, or never will.
struct StoreFails {
  explicit StoreFails(const fs::path& store) {
    file::set_observer([name = store.string() + "/"](const file::Event& event) {
      const bool changes = event.operation == file::Operation::write || event.operation == file::Operation::create ||
                           event.operation == file::Operation::make_directory;
      return event.path.string().starts_with(name) && changes ? file::Verdict{EIO, 0} : file::Verdict{};
    });
  }
  ~StoreFails() { file::set_observer({}); }
  StoreFails(const StoreFails&) = delete;
  StoreFails& operator=(const StoreFails&) = delete;
};

// A run of which `drained` came into the store, and `kept` onto local disks only.
void run_that_dies(const Place& place, const std::vector<std::int64_t>& drained,
                   const std::vector<std::int64_t>& kept) {
  Options options = place.options;
  for (bool fails : {false, true}) {
    std::optional<StoreFails> refusing;
    Writer writer(everyone(), place.store, header(), options);
    if (fails) refusing.emplace(place.store);
    for (std::int64_t step : fails ? kept : drained) write_on_tiers(writer, Flow::checkpoint, step);
    const std::string message = message_of([&] { writer.close(); });
    EXPECT_EQ(message == "no error", !fails || kept.empty()) << message;
  }
  barrier();
}

// ------------------------------------------------------------------ local disks

TEST(TiersMpi, option_staging_directory_takes_steps_first_and_close_drains_them) {
  for (Mode mode : {Mode::background, Mode::sync}) {
    Place place;
    place.options.mode = mode;
    Writer writer(everyone(), place.store, header(), place.options);
    for (std::int64_t step = 1; step <= 5; ++step) {
      write_on_tiers(writer, Flow::checkpoint, step);
      write_on_tiers(writer, Flow::analysis, 10 * step);
    }
    writer.wait();
    EXPECT_EQ(writer.newest_durable(Flow::checkpoint)->step, 5);
    // The backlog is bounded on every host.
    EXPECT_LE(local_segments(place.disk), 3u * static_cast<std::size_t>((size() + 1) / 2));
    writer.close();
    EXPECT_EQ(writer.newest_drained(Flow::checkpoint)->step, 5);
    EXPECT_EQ(writer.newest_drained(Flow::analysis)->step, 50);
    barrier();
    EXPECT_EQ(local_segments(place.disk), 0u);
    for (std::int64_t step = 1; step <= 5; ++step) {
      expect_on_tiers(place.store, Flow::checkpoint, step);
      expect_on_tiers(place.store, Flow::analysis, 10 * step);
    }
    if (rank() == 0) {
      const store::Report report = store::verify(place.store, 1);
      EXPECT_EQ(report.steps, 10);
      for (const store::Finding& finding : report.findings) ADD_FAILURE() << finding.where << ": " << finding.what;
    }
    const WriteStatistics sum = writer.total_statistics();
    EXPECT_EQ(sum.drained, 10 * ((size() + 1) / 2));
    EXPECT_GT(sum.bytes_drained, 0u);
    EXPECT_GT(sum.bytes_written, sum.bytes_drained);
  }
}

TEST(TiersMpi, a_failed_drain_is_thrown_on_all_ranks_and_the_step_stays_on_the_local_disk) {
  Place place;
  Writer writer(everyone(), place.store, header(), place.options);
  write_on_tiers(writer, Flow::checkpoint, 1);
  std::string message;
  {
    std::optional<StoreFails> refusing;
    do writer.wait();  // the first step is in the store: it shall not fail
    while (!writer.newest_drained(Flow::checkpoint));
    refusing.emplace(place.store);
    write_on_tiers(writer, Flow::checkpoint, 2);
    message = message_of([&] { writer.close(); });
  }
  EXPECT_THAT(message, HasSubstr("Input/output error"));
  expect_same_everywhere(message);
  EXPECT_EQ(writer.newest_durable(Flow::checkpoint)->step, 2);
  EXPECT_NE(writer.newest_drained(Flow::checkpoint).value_or(store::StepId{}).step, 2);
  EXPECT_GT(local_segments(place.disk), 0u);
}

TEST(TiersMpi, a_restart_takes_the_newest_step_of_any_tier) {
  const Place place;
  run_that_dies(place, {5}, {6, 7});
  const auto from = restart(everyone(), place.store, place.restart);
  ASSERT_TRUE(from);
  EXPECT_EQ(from->id.step, 7);
  EXPECT_TRUE(from->from_local_disks);
  EXPECT_TRUE(std::ranges::equal(from->part.fields[0].as<double>(), make_domain(1, rank(), size(), 7).density));
  // The continued run drains what it finds, and supersedes only the steps that it should.
  Writer writer(everyone(), place.store, header(), place.options, from->id);
  for (std::int64_t step : {5, 6, 7}) expect_on_tiers(place.store, Flow::checkpoint, step);
  barrier();
  EXPECT_EQ(local_segments(place.disk), 0u);
  write_on_tiers(writer, Flow::checkpoint, 8);
  writer.close();
  barrier();
  EXPECT_EQ(store::list_steps(place.store).size(), 4u);
}

// Makes the store's subfiles useless, and counts how often this rank opens one while this lives.
struct StoreIsUnreadable {
  int opened = 0;
  explicit StoreIsUnreadable(const fs::path& store) {
    barrier();
    if (rank() == 0)
      for (const auto& entry : fs::recursive_directory_iterator(store))
        if (entry.path().filename().string().starts_with("data."))
          std::ofstream(entry.path(), std::ios::binary) << std::string(fs::file_size(entry.path()), 'x');
    barrier();
    file::set_observer([this, name = store.string() + "/"](const file::Event& event) {
      const bool is_subfile = event.path.filename().string().starts_with("data.");
      if (event.path.string().starts_with(name) && is_subfile && event.operation == file::Operation::open) ++opened;
      return file::Verdict{};
    });
  }
  ~StoreIsUnreadable() { file::set_observer({}); }
  StoreIsUnreadable(const StoreIsUnreadable&) = delete;
  StoreIsUnreadable& operator=(const StoreIsUnreadable&) = delete;
};

TEST(TiersMpi, a_restart_reads_each_part_on_its_own_node_if_the_store_cannot_be_read) {
  Place place;
  run_that_dies(place, {5}, {6});
  const StoreIsUnreadable unreadable(place.store);
  for (const bool opaque : {false, true}) {
    place.restart.opaque = opaque;
    const auto from = restart(everyone(), place.store, place.restart);
    ASSERT_TRUE(from);
    EXPECT_EQ(from->id.step, 6);
    EXPECT_TRUE(from->from_local_disks);
    EXPECT_TRUE(from->notes.empty());
    EXPECT_TRUE(std::ranges::equal(from->part.fields[0].as<double>(), make_domain(1, rank(), size(), 6).density));
  }
  // Rank 0 looks for newer steps, in the index alone.
  EXPECT_EQ(unreadable.opened, 0);
  // Equal shares need the parts of other nodes: these come through the store.
  place.restart.keep_parts = false;
  const auto shared = restart(everyone(), place.store, place.restart);
  EXPECT_EQ(shared->id.step, 6);
  EXPECT_FALSE(shared->from_local_disks);
}

// Operations of this process on the subfiles of a store.
std::int64_t count_in(const fs::path& store, file::Operation operation, const std::function<void()>& work) {
  std::int64_t count = 0;
  file::set_observer([&, within = store.string() + "/"](const file::Event& event) {
    const bool inside =
        event.path.string().starts_with(within) && store::is_subfile_name(event.path.filename().string());
    count += inside && event.operation == operation ? 1 : 0;
    return file::Verdict{};
  });
  work();
  file::set_observer({});
  return count;
}

TEST(TiersMpi, drained_steps_are_in_the_index_and_a_start_from_the_nodes_opens_no_file_of_the_store) {
  const Place place;
  run_that_dies(place, {4, 5, 6}, {7});
  if (rank() == 0) {
    const store::Index index = store::read_index(place.store, Flow::checkpoint);
    EXPECT_TRUE(index.is_whole);
    EXPECT_EQ(index.steps.size(), 3u);
    EXPECT_EQ(index.steps, store::index_of(store::scan_store(place.store, store::Trust::nothing), Flow::checkpoint));
    // One sector says that a file is still the one of the index.
    const auto list = [&] { EXPECT_EQ(store::list_steps(place.store).size(), 3u); };
    EXPECT_EQ(count_in(place.store, file::Operation::read, list), 3);
  }
  barrier();
  std::optional<Restart> from;
  const auto start = [&] { from = restart(everyone(), place.store, place.restart); };
  EXPECT_EQ(count_in(place.store, file::Operation::open, start), 0);
  ASSERT_TRUE(from && from->from_local_disks);
  EXPECT_EQ(from->id.step, 7);
  barrier();
}

TEST(TiersMpi, steps_that_a_later_start_drains_are_in_mark_and_index_too) {
  const Place place;
  run_that_dies(place, {4, 5}, {6, 7});
  {
    Writer writer(everyone(), place.store, header(), place.options);
    barrier();
    if (rank() == 0) {
      const store::Index index = store::read_index(place.store, Flow::checkpoint);
      EXPECT_TRUE(index.is_whole);
      EXPECT_EQ(index.steps, store::index_of(store::scan_store(place.store), Flow::checkpoint));
      EXPECT_EQ(index.steps.size(), 4u);
      const auto list = [&] { EXPECT_EQ(store::list_steps(place.store).size(), 4u); };
      EXPECT_EQ(count_in(place.store, file::Operation::read, list), 4);
    }
    barrier();
    writer.close();
  }
  // A drained step counts as durable: if it goes, it is lost.
  if (rank() == 0) {
    fs::remove_all(store::directory_of(place.store, Flow::checkpoint, 7));
    const store::Scan scan = store::scan_store(place.store);
    ASSERT_EQ(scan.damage.size(), 1u);
    EXPECT_EQ(scan.damage[0].kind, store::FindingKind::lost);
  }
  barrier();
}

TEST(TiersMpi, a_local_step_is_not_taken_from_the_nodes_if_the_store_has_a_newer_one_that_nobody_has_marked) {
  const Place place;
  run_that_dies(place, {5}, {6, 9});
  {
    Writer writer(everyone(), place.store, header(), {}, restart(everyone(), place.store)->id);
    write_on_tiers(writer, Flow::checkpoint, 6);
    writer.close();
  }
  barrier();
  if (rank() == 0)
    for (const fs::path& name : {store::durable_mark(place.store, Flow::checkpoint), place.store / "checkpoint.index"})
      fs::remove(name);
  barrier();
  const auto from = restart(everyone(), place.store, place.restart);
  EXPECT_EQ(from->id.step, 6);
  EXPECT_FALSE(from->from_local_disks);
}

TEST(TiersMpi, a_step_of_which_a_node_is_missing_gives_way_to_an_older_one_and_is_not_lost) {
  if (size() < 3) GTEST_SKIP() << "needs two hosts";
  const Place place;
  run_that_dies(place, {5}, {6});
  // The disk of the second host goes away, and comes back.
  fs::path root;
  for (const auto& entry : fs::directory_iterator(fs::directory_iterator(place.disk)->path()))
    if (entry.path().string().ends_with(".1")) root = entry.path();
  ASSERT_FALSE(root.empty());
  barrier();
  if (rank() == 0) fs::rename(root, place.directory.path() / "away");
  barrier();
  auto from = restart(everyone(), place.store, place.restart);
  EXPECT_EQ(from->id.step, 5);
  ASSERT_FALSE(from->notes.empty());
  EXPECT_THAT(from->notes[0], HasSubstr("checkpoint step 6"));
  expect_same_everywhere(from->notes[0]);
  barrier();
  if (rank() == 0) fs::rename(place.directory.path() / "away", root);
  barrier();
  from = restart(everyone(), place.store, place.restart);
  EXPECT_EQ(from->id.step, 6);
  EXPECT_TRUE(from->from_local_disks);
}

TEST(TiersMpi, what_was_abandoned_on_a_local_disk_does_not_come_back_as_newest) {
  const Place place;
  run_that_dies(place, {5}, {6, 9});
  // A run that does not know of the local disks continues from step 5.
  Options plain;
  const auto from = restart(everyone(), place.store);
  EXPECT_EQ(from->id.step, 5);
  {
    Writer writer(everyone(), place.store, header(), plain, from->id);
    write_on_tiers(writer, Flow::checkpoint, 6);
    writer.close();
  }
  barrier();
  EXPECT_EQ(restart(everyone(), place.store, place.restart)->id.step, 6);
  EXPECT_GT(local_segments(place.disk), 0u);
  // Once a newer checkpoint is in the store, the space is given back.
  Writer writer(everyone(), place.store, header(), place.options, from->id);
  write_on_tiers(writer, Flow::checkpoint, 7);
  writer.close();
  barrier();
  EXPECT_EQ(local_segments(place.disk), 0u);
  EXPECT_EQ(restart(everyone(), place.store, place.restart)->id.step, 7);
}

TEST(TiersMpi, damage_on_a_local_disk_is_noted_and_the_older_step_taken) {
  const Place place;
  run_that_dies(place, {5}, {6});
  if (rank() == 0) {
    bool done = false;
    for (const auto& entry : fs::recursive_directory_iterator(place.disk))
      if (!done && entry.path().filename().string().starts_with("data.")) {
        std::fstream file(entry.path(), std::ios::in | std::ios::out | std::ios::binary);
        file.seekg(store::head_size);
        const int byte = file.get();
        file.seekp(store::head_size);
        file.put(static_cast<char>(byte ^ 1));
        done = true;
      }
    EXPECT_TRUE(done);
  }
  barrier();
  const auto from = restart(everyone(), place.store, place.restart);
  EXPECT_EQ(from->id.step, 5);
  EXPECT_FALSE(from->from_local_disks);
  ASSERT_FALSE(from->notes.empty());
  EXPECT_THAT(from->notes[0], HasSubstr("could not be drained"));
  EXPECT_THAT(from->notes[1], HasSubstr("passed over on the local disks"));
  expect_same_everywhere(from->notes[0]);
}

TEST(TiersMpi, option_keep_last_counts_what_is_in_the_store) {
  Place place;
  place.options.keep_last = 1;
  Writer writer(everyone(), place.store, header(), place.options);
  for (std::int64_t step : {1, 2, 3}) write_on_tiers(writer, Flow::checkpoint, step);
  writer.close();
  barrier();
  ASSERT_EQ(store::list_steps(place.store).size(), 1u);
  expect_on_tiers(place.store, Flow::checkpoint, 3);
}

// ------------------------------------------------------------------ starts that failed

void write_checkpoints(const fs::path& store, const std::vector<std::int64_t>& steps) {
  Writer writer(everyone(), store, header());
  for (std::int64_t step : steps) write_on_tiers(writer, Flow::checkpoint, step);
  writer.close();
  barrier();
}

TEST(TiersMpi, option_remember_failed_restarts_takes_an_older_step_after_each_start_that_led_to_none) {
  const testing::SharedDirectory directory;
  write_checkpoints(directory.path(), {1, 2, 3});
  Options options;
  options.remember_failed_restarts = true;
  const RestartOptions remembering = restart_options(options);
  EXPECT_EQ(restart(everyone(), directory.path())->id.step, 3);
  // Three runs end between restart() and their first step, as if they were killed there.
  EXPECT_EQ(restart(everyone(), directory.path(), remembering)->id.step, 3);
  EXPECT_EQ(restart(everyone(), directory.path(), remembering)->id.step, 2);
  const auto last = restart(everyone(), directory.path(), remembering);
  EXPECT_EQ(last->id.step, 1);
  EXPECT_THAT(last->notes[0], HasSubstr("left out: a run has started from checkpoint step"));
  expect_same_everywhere(last->notes[0]);
  const std::string message = message_of([&] { restart(everyone(), directory.path(), remembering); });
  EXPECT_THAT(message, HasSubstr("remembered as failed"));
  expect_same_everywhere(message);
  // A step is found if it is asked for by number; nothing was lost.
  RestartOptions by_number = remembering;
  by_number.step = 3;
  EXPECT_EQ(restart(everyone(), directory.path(), by_number)->id.step, 3);
  EXPECT_EQ(restart(everyone(), directory.path())->id.step, 3);
  barrier();
  if (rank() == 0) {
    EXPECT_EQ(forget_failed_restarts(directory.path()), 3);
  }
  barrier();
  EXPECT_EQ(restart(everyone(), directory.path(), remembering)->id.step, 3);
}

TEST(TiersMpi, a_start_that_led_to_a_step_is_forgotten) {
  const testing::SharedDirectory directory;
  write_checkpoints(directory.path(), {1, 2});
  RestartOptions remembering;
  remembering.remember_failed = true;
  const auto from = restart(everyone(), directory.path(), remembering);
  {
    Writer writer(everyone(), directory.path(), header(), {}, from->id);
    write_on_tiers(writer, Flow::analysis, 3);
    writer.close();
  }
  barrier();
  EXPECT_EQ(restart(everyone(), directory.path(), remembering)->id.step, 2);
}

TEST(TiersMpi, a_run_that_ends_in_order_without_a_step_did_not_fail_unless_it_says_so) {
  const testing::SharedDirectory directory;
  write_checkpoints(directory.path(), {1, 2});
  RestartOptions remembering;
  remembering.remember_failed = true;
  for (bool says_so : {false, true}) {
    const auto from = restart(everyone(), directory.path(), remembering);
    EXPECT_EQ(from->id.step, 2);
    Writer writer(everyone(), directory.path(), header(), {}, from->id);
    if (says_so) restart_failed(everyone(), directory.path(), from->id);
    writer.close();
    barrier();
  }
  EXPECT_EQ(restart(everyone(), directory.path(), remembering)->id.step, 1);
}

TEST(TiersMpi, restart_failed_tells_the_next_start_to_take_an_older_step) {
  const testing::SharedDirectory directory;
  write_checkpoints(directory.path(), {1, 2});
  RestartOptions remembering;
  remembering.remember_failed = true;
  const auto from = restart(everyone(), directory.path());
  restart_failed(everyone(), directory.path(), from->id);
  EXPECT_EQ(restart(everyone(), directory.path(), remembering)->id.step, 1);
  // A field that no step has is an error of the caller, not of a step.
  barrier();
  if (rank() == 0) forget_failed_restarts(directory.path());
  barrier();
  RestartOptions nonsense = remembering;
  nonsense.fields = std::vector<std::string>{"no such field"};
  message_of([&] { restart(everyone(), directory.path(), nonsense); });
  EXPECT_EQ(restart(everyone(), directory.path(), remembering)->id.step, 2);
}

// ------------------------------------------------------------------ two flows

TEST(TiersMpi, options_checkpoint_every_and_analysis_fields_give_each_flow_its_own_cadence_fields_and_codec) {
  const testing::SharedDirectory directory;
  Options options;
  set_option(options, "checkpoint.every", "4");
  set_option(options, "analysis.every", "1.0t");
  set_option(options, "analysis.fields", "density");
  set_option(options, "checkpoint.codec", "lossless");
  set_option(options, "analysis.codec", "point:2e-3");
  set_option(options, "analysis.single_precision", "true");
  Writer writer(everyone(), directory.path(), header(), options);
  for (std::int64_t step = 1; step <= 8; ++step)
    for (Flow flow : {Flow::checkpoint, Flow::analysis})
      if (writer.due(flow, step, 0.5 * static_cast<double>(step))) write_on_tiers(writer, flow, step);
  writer.close();
  barrier();
  std::map<Flow, std::vector<std::int64_t>> steps;
  for (const store::StepInfo& info : store::list_steps(directory.path())) steps[info.flow].push_back(info.step);
  EXPECT_EQ(steps[Flow::checkpoint], (std::vector<std::int64_t>{4, 8}));
  EXPECT_EQ(steps[Flow::analysis], (std::vector<std::int64_t>{2, 4, 6, 8}));
  expect_on_tiers(directory.path(), Flow::checkpoint, 8);
  const mesh::Part part = store::open_step(directory.path(), Flow::analysis, 8).read(rank(), {});
  ASSERT_EQ(part.fields.size(), 1u);
  ASSERT_EQ(part.fields[0].info.type, mesh::ScalarType::float32);
  const Domain domain = make_domain(1, rank(), size(), 8);
  const auto values = part.fields[0].as<float>();
  for (std::size_t i = 0; i < values.size(); ++i)
    ASSERT_NEAR(static_cast<double>(values[i]), domain.density[i], 2.001e-3 * std::abs(domain.density[i]));
  EXPECT_EQ(store::open_step(directory.path(), Flow::checkpoint, 8).header.fields.size(), 2u);
}

TEST(TiersMpi, options_analysis_append_and_checkpoint_fields_give_steps_of_their_own_and_fewer_fields) {
  const testing::SharedDirectory directory;
  Options options;
  set_option(options, "analysis.append", "off");
  set_option(options, "checkpoint.fields", "density");
  Writer writer(everyone(), directory.path(), header(), options);
  for (std::int64_t step = 1; step <= 2; ++step)
    for (Flow flow : {Flow::checkpoint, Flow::analysis}) write_on_tiers(writer, flow, step);
  writer.close();
  barrier();
  std::set<std::string> folders;
  for (const auto& entry : fs::recursive_directory_iterator(directory.path() / "analysis"))
    if (entry.is_regular_file()) folders.insert(entry.path().parent_path().filename());
  EXPECT_EQ(folders.size(), 2u);
  for (std::int64_t step = 1; step <= 2; ++step) expect_on_tiers(directory.path(), Flow::analysis, step);
  const mesh::Header read = store::open_step(directory.path(), Flow::checkpoint, 2).header;
  ASSERT_EQ(read.fields.size(), 1u);
  EXPECT_EQ(read.fields[0].name, "density");
}

TEST(TiersMpi, wall_time_is_decided_by_rank_0_for_all) {
  const testing::SharedDirectory directory;
  Options options;
  options.checkpoint_every.seconds = rank() == 0 ? 1e6 : 1e-9;
  Writer writer(everyone(), directory.path(), header(), options);
  EXPECT_FALSE(writer.due(Flow::checkpoint, 1, 0));
  EXPECT_TRUE(writer.due(Flow::analysis, 1, 0));
  writer.close();
}

// ------------------------------------------------------------------ what a user is told

std::string text_of(const fs::path& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(TiersMpi, options_statistics_and_log_write_json_at_close_and_a_line_a_step) {
  const testing::SharedDirectory directory;
  Options options;
  options.statistics = directory.path() / "run.json";
  options.log = directory.path() / "run.log";
  Writer writer(everyone(), directory.path() / "run.octavo", header(), options);
  write_on_tiers(writer, Flow::checkpoint, 1);
  write_on_tiers(writer, Flow::analysis, 2);
  writer.close();
  barrier();
  const WriteStatistics sum = writer.total_statistics();
  const auto json = nlohmann::json::parse(text_of(options.statistics));
  EXPECT_EQ(json["ranks"], size());
  ASSERT_EQ(json["by_rank"].size(), static_cast<std::size_t>(size()));
  EXPECT_EQ(json["total"]["steps"], 2 * size());
  EXPECT_EQ(json["total"]["bytes_put"], sum.bytes_put);
  EXPECT_EQ(json["by_rank"][static_cast<std::size_t>(rank())]["bytes_put"], writer.statistics().bytes_put);
  EXPECT_GT(json["total"]["writes"], 0);
  EXPECT_GE(json["total"]["bytes_written"], json["total"]["bytes_stored"]);
  EXPECT_GT(json["total"]["syncs"], 0);
  EXPECT_GT(json["total"]["largest_step"], 0);
  EXPECT_EQ(nlohmann::json::parse(to_json(sum))["steps"], 2 * size());
  const std::string log = text_of(options.log);
  EXPECT_THAT(log, HasSubstr("checkpoint step 1, time 0.5: "));
  EXPECT_THAT(log, HasSubstr("analysis step 2, time 1: "));
  EXPECT_EQ(std::count(log.begin(), log.end(), '\n'), 2);
}

TEST(TiersMpi, option_log_names_a_step_that_is_lost) {
  const testing::SharedDirectory directory;
  Options options;
  options.log = directory.path() / "run.log";
  Writer writer(everyone(), directory.path() / "run.octavo", header(), options);
  {
    const StoreFails refusing(directory.path() / "run.octavo");
    message_of([&] {
      write_on_tiers(writer, Flow::checkpoint, 1);
      writer.wait();
    });
  }
  write_on_tiers(writer, Flow::checkpoint, 2);
  writer.close();
  barrier();
  const std::string log = text_of(options.log);
  EXPECT_THAT(log, HasSubstr("checkpoint step 1, time 0.5: lost\n"));
  EXPECT_THAT(log, HasSubstr("checkpoint step 2, time 1: "));
}

TEST(TiersMpi, a_log_or_statistics_that_cannot_be_written_is_told_to_all) {
  const testing::SharedDirectory directory;
  Options options;
  options.log = directory.path() / "none" / "run.log";
  std::string message = message_of([&] { Writer(everyone(), directory.path() / "a", header(), options); });
  EXPECT_THAT(message, HasSubstr("cannot open the log"));
  expect_same_everywhere(message);
  options.log.clear();
  options.statistics = directory.path() / "none" / "run.json";
  message = message_of([&] { Writer(everyone(), directory.path() / "a", header(), options); });
  EXPECT_THAT(message, HasSubstr("cannot write the statistics"));
  expect_same_everywhere(message);
  options.statistics = directory.path() / "run.json";
  Writer(everyone(), directory.path() / "a", header(), options).close();
  EXPECT_FALSE(std::filesystem::exists(directory.path() / "run.json.partial"));
}

TEST(TiersMpi, a_staging_directory_that_cannot_be_made_is_told_to_all_when_the_writer_is_opened) {
  const testing::SharedDirectory directory;
  if (rank() == 0) std::ofstream(directory.path() / "file") << "no directory";
  barrier();
  Options options;
  options.staging_directory = directory.path() / "file" / "local";
  const std::string message = message_of([&] { Writer(everyone(), directory.path() / "a", header(), options); });
  EXPECT_THAT(message, HasSubstr("cannot make the directory"));
  EXPECT_THAT(message, HasSubstr("staging_directory, " + (directory.path() / "file").string()));
  expect_same_everywhere(message);
}

TEST(TiersMpi, option_mpi_io_hint_is_passed_to_mpi_io) {
  const testing::SharedDirectory directory;
  Options options;
  EXPECT_EQ(info_of(options), MPI_INFO_NULL);
  set_option(options, "mpi_io_hint.cb_nodes", "1");
  set_option(options, "mpi_io_hint.romio_cb_write", "disable");
  MPI_Info info = info_of(options);
  std::array<char, MPI_MAX_INFO_VAL + 1> value{};
  int found = 0;
  MPI_Info_get(info, "romio_cb_write", MPI_MAX_INFO_VAL, value.data(), &found);
  EXPECT_EQ(found, 1);
  EXPECT_STREQ(value.data(), "disable");
#ifndef OCTAVO_SERIAL_MPI_H  // which has no files
  MPI_File file = MPI_FILE_NULL;
  const std::string path = directory.path() / "file";
  ASSERT_EQ(MPI_File_open(everyone(), path.c_str(), MPI_MODE_CREATE | MPI_MODE_RDWR, info, &file), MPI_SUCCESS);
  MPI_File_close(&file);
#endif
  MPI_Info_free(&info);
  options.mpi_io_hints = {{std::string(1000, 'x'), "1"}};
  EXPECT_THAT(message_of([&] { info_of(options); }), HasSubstr("MPI takes no such hint"));
}

}  // namespace
}  // namespace octavo::engine
