#include <fcntl.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <fstream>
#include <functional>
#include <iterator>
#include <set>
#include <thread>

#include "octavo/base/error.hpp"
#include "octavo/engine/write/writer.hpp"
#include "octavo/file/lustre.hpp"
#include "octavo/file/page_cache.hpp"
#include "octavo/file/posix.hpp"
#include "octavo/store/read/scan.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/is_long.hpp"
#include "tests/support/mpi_run.hpp"

namespace octavo::engine {
namespace {

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

Mode background_if_possible() { return testing::single_threaded() ? Mode::sync : Mode::background; }

void put(Writer& writer, const Domain& domain) {
  writer.put_attribute("note", std::string("made by a test"));
  writer.put_mesh(domain.tree);
  writer.put_field("density", view_of(domain.density), "g/cm^3");
  writer.put_field("flag", view_of(domain.flag));
  for (std::size_t axis = 0; axis < 3; ++axis)
    writer.put_particles("stars", std::string("position_") + "xyz"[axis], view_of(domain.position[axis]));
  writer.put_particles("stars", "id", view_of(domain.id));
}

void write_step(Writer& writer, Flow flow, std::int64_t step, std::uint64_t seed = 1) {
  Domain domain = make_domain(seed, rank(), size(), step);
  writer.begin_step(flow, step, 0.5 * static_cast<double>(step));
  put(writer, domain);
  writer.end_step();
}

// This rank's part of a step is what it put.
void expect_step(const std::filesystem::path& store, Flow flow, std::int64_t step, std::uint64_t seed = 1) {
  const Domain domain = make_domain(seed, rank(), size(), step);
  const mesh::Dataset dataset = store::open_step(store, flow, step);
  ASSERT_EQ(dataset.num_parts, size());
  EXPECT_EQ(dataset.header.time, 0.5 * static_cast<double>(step));
  EXPECT_EQ(std::get<std::string>(dataset.header.attributes.at("note")), "made by a test");
  mesh::Request request;
  request.particles = true;
  const mesh::Part part = dataset.read(rank(), request);
  EXPECT_EQ(std::get<mesh::Octree>(part.mesh), domain.tree);
  EXPECT_EQ(part.fields[0].info.unit, "g/cm^3");
  EXPECT_TRUE(std::ranges::equal(part.fields[0].as<double>(), domain.density));
  EXPECT_TRUE(std::ranges::equal(part.fields[1].as<std::int32_t>(), domain.flag));
  ASSERT_EQ(part.particles.size(), 1u);
  ASSERT_EQ(part.particles[0].count, static_cast<std::int64_t>(domain.id.size()));
  EXPECT_TRUE(std::ranges::equal(part.particles[0].attributes[3].as<std::int64_t>(), domain.id));
}

void expect_sound(const std::filesystem::path& store, int steps) {
  if (rank() == 0) {
    const store::Report report = store::verify(store, 1);
    EXPECT_EQ(report.steps, steps);
    for (const store::Finding& finding : report.findings) ADD_FAILURE() << finding.where << ": " << finding.what;
  }
  barrier();
}

std::size_t files_in(const std::filesystem::path& directory) {
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) files += entry.is_regular_file() ? 1U : 0U;
  return files;
}

// ------------------------------------------------------------------ what is written

struct Way {
  Mode mode;
  int contributors_per_file;
  bool lend;
};

TEST(WriterMpi, options_mode_contributors_per_file_and_lend_do_not_change_what_is_stored) {
  const std::vector<Way> ways{{Mode::sync, 1, false},       {Mode::sync, 2, false},       {Mode::sync, 0, false},
                              {Mode::background, 1, false}, {Mode::background, 2, false}, {Mode::background, 0, false},
                              {Mode::background, 1, true},  {Mode::background, 3, true}};
  for (const Way& way : ways) {
    if (way.mode != Mode::sync && testing::single_threaded()) continue;
    SCOPED_TRACE(std::string(name_of(way.mode)) + " " + std::to_string(way.contributors_per_file));
    const testing::SharedDirectory directory;
    Options options;
    options.mode = way.mode;
    options.contributors_per_file = way.contributors_per_file;
    options.lend = way.lend;
    Writer writer(everyone(), directory.path() / "run.octavo", make_domain(1, 0, 1).header, options);
    for (std::int64_t step : {10, 20, 30}) {
      // The arrays live as long as the option demands: until end_step(), lent ones until begin_step().
      Domain domain = make_domain(1, rank(), size(), step);
      writer.begin_step(step == 20 ? Flow::checkpoint : Flow::analysis, step, 0.5 * static_cast<double>(step));
      put(writer, domain);
      writer.end_step();
      if (!way.lend) std::fill(domain.density.begin(), domain.density.end(), -1.0);
      if (way.lend) writer.wait();
    }
    writer.close();
    const auto store = directory.path() / "run.octavo";
    for (std::int64_t step : {10, 30}) expect_step(store, Flow::analysis, step);
    expect_step(store, Flow::checkpoint, 20);
    expect_sound(store, 3);
    const int per_file = way.contributors_per_file == 0 ? size() : way.contributors_per_file;
    // Two analysis steps are in the same files.
    EXPECT_EQ(files_in(store / "analysis"), static_cast<std::size_t>((size() + per_file - 1) / per_file));
    const WriteStatistics sum = total(writer.statistics(), everyone());
    EXPECT_EQ(sum.steps, 3 * size());
    EXPECT_EQ(sum.failed, 0);
    EXPECT_GT(sum.bytes_stored, 0u);
    EXPECT_EQ(sum.bytes_staged, way.mode == Mode::background && !way.lend ? sum.bytes_put : 0u);
  }
}

TEST(WriterMpi, lent_arrays_are_the_applications_again_after_begin_step) {
  if (testing::single_threaded()) GTEST_SKIP() << "needs MPI_THREAD_FUNNELED";
  const testing::SharedDirectory directory;
  Options options;
  options.lend = true;
  Writer writer(everyone(), directory.path(), make_domain(1, 0, 1).header, options);
  Domain domain = make_domain(1, rank(), size(), 1);
  writer.begin_step(Flow::checkpoint, 1, 0.5);
  put(writer, domain);
  writer.end_step();
  writer.begin_step(Flow::checkpoint, 2, 1.0);
  domain.density = make_domain(1, rank(), size(), 2).density;
  domain.flag = make_domain(1, rank(), size(), 2).flag;
  put(writer, domain);
  writer.end_step();
  writer.close();
  expect_step(directory.path(), Flow::checkpoint, 1);
  expect_step(directory.path(), Flow::checkpoint, 2);
}

TEST(WriterMpi, options_ranks_per_node_and_writers_per_node_say_how_many_files) {
  const testing::SharedDirectory directory;
  Options options;
  options.mode = background_if_possible();
  options.ranks_per_node = 2;
  options.writers_per_node = 1;
  Writer writer(everyone(), directory.path(), make_domain(1, 0, 1).header, options);
  write_step(writer, Flow::analysis, 1);
  writer.close();
  expect_step(directory.path(), Flow::analysis, 1);
  EXPECT_EQ(files_in(directory.path() / "analysis"), static_cast<std::size_t>((size() + 1) / 2));
}

TEST(WriterMpi, ranks_without_a_part_take_part) {
  const testing::SharedDirectory directory;
  Options options;
  options.mode = background_if_possible();
  options.contributors_per_file = 2;
  Writer writer(everyone(), directory.path(), make_domain(1, 0, 1).header, options);
  const Domain domain = make_domain(1, rank(), size(), 1);
  writer.begin_step(Flow::checkpoint, 1, 0);
  if (rank() % 2 == 0) put(writer, domain);
  writer.put_attribute("note", std::string("made by a test"));
  writer.end_step();
  writer.close();
  if (rank() == 0) {
    EXPECT_EQ(store::open_step(directory.path()).num_parts, (size() + 1) / 2);
  }
  expect_sound(directory.path(), 1);
}

TEST(WriterMpi, codecs_are_chosen_by_flow_and_field) {
  const testing::SharedDirectory directory;
  Options options;
  options.mode = background_if_possible();
  set_option(options, "checkpoint.codec", "raw");
  set_option(options, "analysis.codec", "point:1e-3");
  set_option(options, "analysis.single_precision", "true");
  set_option(options, "analysis.field_codec.flag", "lossless");
  Writer writer(everyone(), directory.path(), make_domain(1, 0, 1).header, options);
  write_step(writer, Flow::checkpoint, 1);
  write_step(writer, Flow::analysis, 1);
  writer.close();
  expect_step(directory.path(), Flow::checkpoint, 1);
  for (const auto& stream : store::list_streams(directory.path(), Flow::checkpoint, 1))
    if (stream.field == "density") {
      EXPECT_THAT(stream.codec, HasSubstr("raw"));
    }
  const mesh::Part part = store::open_step(directory.path(), Flow::analysis).read(rank(), {});
  const Domain domain = make_domain(1, rank(), size(), 1);
  ASSERT_EQ(part.fields[0].info.type, mesh::ScalarType::float32);
  const auto values = part.fields[0].as<float>();
  for (std::size_t i = 0; i < values.size(); ++i)
    ASSERT_NEAR(static_cast<double>(values[i]), domain.density[i], 1.001e-3 * domain.density[i]);
}

std::string text_in(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(WriterMpi, of_a_step_larger_than_option_staging_bytes_only_the_end_is_copied_and_the_log_says_so) {
  if (testing::single_threaded()) GTEST_SKIP() << "needs MPI_THREAD_FUNNELED";
  for (const char* codec : {"raw", "lossless"})
    for (const std::int64_t bytes : {0, 100, 1000}) {
      SCOPED_TRACE(codec + std::to_string(bytes));
      const testing::SharedDirectory directory;
      Options options;
      options.staging_bytes = bytes;
      options.contributors_per_file = 2;
      options.log = (directory.path() / "log").string();
      set_option(options, "checkpoint.codec", codec);
      Writer writer(everyone(), directory.path() / "run.octavo", make_domain(1, 0, 1).header, options);
      for (std::int64_t step : {1, 2}) write_step(writer, Flow::checkpoint, step);
      const WriteStatistics mine = writer.statistics();
      EXPECT_LE(mine.bytes_staged, static_cast<std::uint64_t>(2 * bytes));
      if (bytes == 1000) {
        EXPECT_GT(mine.bytes_staged, 0u);
      }
      EXPECT_EQ(mine.waits_for_staging, 2);
      writer.close();
      for (std::int64_t step : {1, 2}) expect_step(directory.path() / "run.octavo", Flow::checkpoint, step);
      expect_sound(directory.path() / "run.octavo", 2);
      if (rank() == 0) {
        EXPECT_THAT(text_in(options.log), HasSubstr("larger than staging: "));
      }
    }
}

// The store is as slow as the test says: while it is, end_step() of a large step has returned.
TEST(WriterMpi, end_step_of_a_step_larger_than_staging_does_not_wait_for_the_commit) {
  if (testing::single_threaded()) GTEST_SKIP() << "needs MPI_THREAD_FUNNELED";
  const testing::SharedDirectory directory;
  Options options;
  options.staging_bytes = 1000;
  set_option(options, "checkpoint.codec", "raw");
  Writer writer(everyone(), directory.path() / "run.octavo", make_domain(1, 0, 1).header, options);
  std::atomic<bool> returned = false, in_time = false;
  file::set_observer([&](const file::Event& event) {
    if (event.operation == file::Operation::sync && event.path.filename().string().rfind("data", 0) == 0 &&
        event.path.string().find("checkpoint") != std::string::npos && std::filesystem::file_size(event.path) > 14000)
      for (int i = 0; i < 150000 && !(in_time = returned.load()); ++i)
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    return file::Verdict{};
  });
  write_step(writer, Flow::checkpoint, 1);
  returned = true;
  EXPECT_EQ(writer.statistics().waits_for_staging, 1);
  writer.close();
  file::set_observer({});
  EXPECT_TRUE(in_time);
  expect_step(directory.path() / "run.octavo", Flow::checkpoint, 1);
}

TEST(WriterMpi, option_mode_auto_decides_alike_on_all_ranks_once_the_first_step_is_written_and_the_log_says_why) {
  if (testing::single_threaded()) GTEST_SKIP() << "needs MPI_THREAD_FUNNELED";
  const testing::SharedDirectory directory;
  Options options;
  options.mode = Mode::automatic;
  options.log = (directory.path() / "log").string();
  Writer writer(everyone(), directory.path() / "run.octavo", make_domain(1, 0, 1).header, options);
  for (std::int64_t step = 0; step < 4; ++step) {
    // On busy cores the third step is the one that decides, after one with effort fast.
    if (step != 2) {
      EXPECT_EQ(writer.mode_of(Flow::analysis) == Mode::automatic, step <= 1);
    }
    write_step(writer, Flow::analysis, step);
    writer.wait();
  }
  writer.close();
  expect_same_everywhere(std::string(name_of(writer.mode_of(Flow::analysis))));
  EXPECT_EQ(writer.mode_of(Flow::checkpoint), Mode::automatic);
  expect_sound(directory.path() / "run.octavo", 4);
  if (rank() == 0) {
    const std::string log = text_in(options.log);
    EXPECT_THAT(log, HasSubstr("analysis step 0, time 0: "));
    EXPECT_THAT(log, HasSubstr("analysis steps from here on: " + std::string(name_of(writer.mode_of(Flow::analysis)))));
    EXPECT_LT(log.find("of work, background"), log.find("from here on"));
  }
}

// Each write of a data file takes as long as the copy of many such steps.
TEST(WriterMpi, option_mode_auto_takes_the_background_for_a_slow_store_from_the_first_step_on) {
  if (size() > 2 && !testing::is_long()) GTEST_SKIP() << "long";
  if (testing::single_threaded()) GTEST_SKIP() << "needs MPI_THREAD_FUNNELED";
  const testing::SharedDirectory directory;
  Options options;
  options.mode = Mode::automatic;
  options.log = (directory.path() / "log").string();
  set_option(options, "checkpoint.codec", "raw");
  Writer writer(everyone(), directory.path() / "run.octavo", make_domain(1, 0, 1).header, options);
  file::set_observer([](const file::Event& event) {
    if (event.operation == file::Operation::write && event.path.filename() != "log")
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    return file::Verdict{};
  });
  for (std::int64_t step = 0; step < 4; ++step) write_step(writer, Flow::checkpoint, step);
  writer.wait();
  write_step(writer, Flow::checkpoint, 4);
  writer.close();
  file::set_observer({});
  EXPECT_EQ(writer.mode_of(Flow::checkpoint), Mode::background);
  if (rank() == 0) {
    EXPECT_THAT(text_in(options.log), ::testing::Not(HasSubstr("of work, sync")));
  }
}

// Random digits behind the same exponent: encoding them takes far longer than it saves a store in memory.
std::vector<double> hard_values() {
  std::vector<double> values(std::size_t{1} << 14);
  std::uint64_t state = 1;
  for (double& value : values) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    value = 1 + static_cast<double>(state >> 20) * 0x1p-44;
  }
  return values;
}

// Writes three steps, each once the one before is durable, with no time for the computation in between. Returns the
// codecs of `mass` in each.
std::array<std::set<std::string>, 3> codecs_of_steps(const Options& options, const std::filesystem::path& store,
                                                     const std::vector<double>& mass) {
  const Domain domain = make_domain(1, rank(), size(), 0);
  Writer writer(everyone(), store, make_domain(1, 0, 1).header, options);
  for (std::int64_t step = 0; step < 3; ++step) {
    writer.begin_step(Flow::checkpoint, step, 0);
    writer.put_mesh(domain.tree);
    writer.put_particles("dust", "mass", view_of(mass));
    writer.end_step();
    writer.wait();
  }
  writer.close();
  std::array<std::set<std::string>, 3> codecs;
  for (std::int64_t step = 0; step < 3; ++step) {
    mesh::Request request;
    request.particles = true;
    const mesh::Part part = store::open_step(store, Flow::checkpoint, step).read(rank(), request);
    EXPECT_TRUE(std::ranges::equal(part.particles.at(0).attributes.at(0).as<double>(), mass)) << step;
    for (const auto& stream : store::list_streams(store, Flow::checkpoint, step))
      if (stream.field.find("mass") != std::string::npos) codecs[static_cast<std::size_t>(step)].insert(stream.codec);
  }
  barrier();
  return codecs;
}

// The same for a codec that is not named, in the background, and for `auto` in sync mode.
TEST(WriterMpi, option_checkpoint_codec_auto_stores_values_as_they_are_if_the_codec_is_slower_than_the_store) {
  if (size() > 2 && !testing::is_long()) GTEST_SKIP() << "long";
  const std::vector<double> mass = hard_values();
  for (const Mode mode : {Mode::sync, Mode::background})
    for (const bool slow : {true, false}) {
      if (mode != Mode::sync && testing::single_threaded()) continue;
      SCOPED_TRACE(std::string(name_of(mode)) + (slow ? ", slow store" : ", fast store"));
      const testing::SharedDirectory directory;
      Options options;
      options.sync_policy = SyncPolicy::none;
      options.log = (directory.path() / "log").string();
      if (mode == Mode::sync) {
        options.mode = mode;
        set_option(options, "checkpoint.codec", "auto");
      }
      // A store that takes its time in proportion to the bytes.
      file::set_observer([slow](const file::Event& event) {
        if (slow && event.operation == file::Operation::write)
          std::this_thread::sleep_for(std::chrono::microseconds(3 * event.size));
        return file::Verdict{};
      });
      const auto [first, second, third] = codecs_of_steps(options, directory.path() / "run.octavo", mass);
      file::set_observer({});
      EXPECT_FALSE(first.contains("raw")) << "the step that is measured";
      EXPECT_EQ(second.contains("raw"), !slow);
      EXPECT_EQ(third.contains("raw"), !slow);
      if (rank() == 0) {
        const std::string log = text_in(options.log), by = std::string(name_of(mode));
        EXPECT_EQ(
            log.find("checkpoint steps until one is measured: " + by + ", encoded with effort fast: ") != log.npos,
            slow);
        EXPECT_THAT(log, HasSubstr("checkpoint steps from here on: " + by + (slow ? ", encoded" : ", as they are: ")));
      }
      barrier();
    }
}

// Bytes of all data files of the store that the page cache has, and their bytes.
std::array<std::uint64_t, 2> cached_and_all(const std::filesystem::path& store) {
  std::array<std::uint64_t, 2> bytes{};
  for (const auto& entry : std::filesystem::recursive_directory_iterator(store))
    if (entry.path().filename().string().rfind("data.", 0) == 0) {
      bytes[0] += file::cached_bytes(file::open_read(entry.path()));
      bytes[1] += entry.file_size();
    }
  return bytes;
}

// Whether the kernel takes a synced file's pages away when it is asked. A file system in memory keeps them.
bool pages_can_be_dropped() {
  const testing::SharedDirectory directory;
  if (rank() == 0) std::ofstream(directory.path() / "data.000") << std::string(1 << 20, 'x');
  barrier();
  const int descriptor = ::open((directory.path() / "data.000").c_str(), O_RDWR);
  ::fsync(descriptor);
  ::posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED);
  ::close(descriptor);
  barrier();
  const auto [cached, all] = cached_and_all(directory.path());
  return cached < all;
}

TEST(WriterMpi, option_drop_pages_takes_written_steps_out_of_the_page_cache) {
  if (!pages_can_be_dropped()) GTEST_SKIP() << "files stand in memory here";
  const Domain domain = make_domain(1, rank(), size(), 1);
  const std::vector<double> dust(100'000, 1.5);
  for (const SyncPolicy policy : {SyncPolicy::step, SyncPolicy::wait}) {
    std::array<std::uint64_t, 2> with{}, without{};
    for (const bool drop : {false, true}) {
      const testing::SharedDirectory directory;
      Options options;
      options.mode = background_if_possible();
      options.sync_policy = policy;
      options.contributors_per_file = 0;
      options.drop_pages = drop;
      set_option(options, "checkpoint.codec", "raw");
      Writer writer(everyone(), directory.path() / "run.octavo", make_domain(1, 0, 1).header, options);
      for (std::int64_t step : {1, 2, 3}) {
        writer.begin_step(Flow::checkpoint, step, 0.5 * static_cast<double>(step));
        put(writer, domain);
        writer.put_particles("dust", "mass", view_of(dust));
        writer.end_step();
      }
      writer.close();
      barrier();
      (drop ? with : without) = cached_and_all(directory.path() / "run.octavo");
      barrier();  // the next line reads the files
      expect_sound(directory.path() / "run.octavo", 3);
    }
    if (without[0] < without[1]) GTEST_SKIP() << "this machine takes pages away by itself";
    EXPECT_LT(with[0], with[1] / 4);
  }
}

TEST(WriterMpi, option_direct_io_that_the_file_system_refuses_is_one_line_of_the_log_and_the_bytes_are_the_same) {
  const testing::SharedDirectory directory;
  Options options;
  options.mode = background_if_possible();
  options.direct_io = true;
  options.log = (directory.path() / "log").string();
  file::set_observer([](const file::Event& event) {
    return file::Verdict{event.operation == file::Operation::open_direct ? EINVAL : 0, 0};
  });
  Writer writer(everyone(), directory.path() / "run.octavo", make_domain(1, 0, 1).header, options);
  for (std::int64_t step : {1, 2, 3}) write_step(writer, Flow::checkpoint, step);
  writer.close();
  file::set_observer({});
  for (std::int64_t step : {1, 2, 3}) expect_step(directory.path() / "run.octavo", Flow::checkpoint, step);
  if (rank() == 0) {
    const std::string log = text_in(options.log);
    const auto at = log.find("direct_io: the file system of");
    ASSERT_NE(at, std::string::npos) << log;
    EXPECT_EQ(log.find("direct_io", at + 9), std::string::npos) << log;
  }
}

TEST(WriterMpi, option_mpi_io_hint_stripes_a_store_on_lustre_and_hints_for_other_files_are_named) {
  const testing::SharedDirectory directory;
  Options options;
  options.mode = background_if_possible();
  set_option(options, "mpi_io_hints", "striping_factor=4; striping_unit=1048576; cb_nodes=8; romio_cb_read=enable");
  std::vector<std::byte> asked;
  file::set_lustre_calls({[](int) { return 0x0BD00BD0; },
                          [&](int, unsigned long, const void* argument) {
                            const auto* bytes = static_cast<const std::byte*>(argument);
                            asked.assign(bytes, bytes + 32);
                            return 0;
                          }});
  {
    Writer writer(everyone(), directory.path() / "run.octavo", make_domain(1, 0, 1).header, options);
    write_step(writer, Flow::checkpoint, 1);
    writer.close();
    const std::vector<std::string> notes = writer.notes();
    if (rank() == 0) {
      const auto expected = file::lov_user_md({4, 1048576, -1});
      EXPECT_TRUE(std::ranges::equal(asked, expected));
      EXPECT_THAT(notes, ::testing::Contains(HasSubstr("mpi_io_hint.cb_nodes: a store is not written through MPI-IO")));
      EXPECT_THAT(notes, ::testing::Contains(HasSubstr("mpi_io_hint.romio_cb_read")));
      EXPECT_THAT(notes, ::testing::Not(::testing::Contains(HasSubstr("striping"))));
    }
  }
  file::set_lustre_calls({});
  expect_step(directory.path() / "run.octavo", Flow::checkpoint, 1);
  Writer elsewhere(everyone(), directory.path() / "other.octavo", make_domain(1, 0, 1).header, options);
  if (rank() == 0) {
    EXPECT_THAT(elsewhere.notes(), ::testing::Contains(HasSubstr("is not on Lustre")));
  }
  elsewhere.close();
  set_option(options, "mpi_io_hint.striping_factor", "many");
  const std::string message =
      message_of([&] { Writer(everyone(), directory.path() / "third.octavo", make_domain(1, 0, 1).header, options); });
  EXPECT_THAT(message, HasSubstr("option mpi_io_hint.striping_factor"));
  EXPECT_THAT(message, HasSubstr("found 'many'"));
  expect_same_everywhere(message);
}

TEST(WriterMpi, option_keep_last_removes_older_checkpoints_once_newer_ones_are_durable) {
  const testing::SharedDirectory directory;
  Options options;
  options.mode = background_if_possible();
  options.keep_last = 2;
  options.recycle = false;
  Writer writer(everyone(), directory.path(), make_domain(1, 0, 1).header, options);
  for (std::int64_t step = 1; step <= 5; ++step) {
    write_step(writer, Flow::checkpoint, step);
    writer.wait();
    EXPECT_EQ(writer.newest_durable(Flow::checkpoint)->step, step);
  }
  write_step(writer, Flow::analysis, 5);
  writer.close();
  barrier();
  const auto steps = store::list_steps(directory.path());
  ASSERT_EQ(steps.size(), 3u);
  EXPECT_EQ(steps[0].step, 4);
  EXPECT_EQ(steps[1].step, 5);
  expect_step(directory.path(), Flow::checkpoint, 4);
  expect_sound(directory.path(), 3);
}

TEST(WriterMpi, a_resumed_run_supersedes_what_the_abandoned_one_wrote_later) {
  const testing::SharedDirectory directory;
  Options options;
  options.mode = background_if_possible();
  const auto header = make_domain(1, 0, 1).header;
  store::StepId from;
  {
    Writer writer(everyone(), directory.path(), header, options);
    for (std::int64_t step : {1, 2, 3}) {
      write_step(writer, Flow::checkpoint, step);
      writer.wait();
      if (step == 1) from = *writer.newest_durable(Flow::checkpoint);
    }
    writer.close();
  }
  options.contributors_per_file = 0;
  Writer writer(everyone(), directory.path(), header, options, from);
  write_step(writer, Flow::checkpoint, 2, 9);
  writer.close();
  barrier();
  const auto steps = store::list_steps(directory.path());
  ASSERT_EQ(steps.size(), 2u);
  EXPECT_EQ(steps[1].step, 2);
  expect_step(directory.path(), Flow::checkpoint, 2, 9);
}

// ------------------------------------------------------------------ what goes wrong

TEST(WriterMpi, an_error_in_a_put_of_one_rank_is_thrown_by_end_step_on_all_and_the_writer_goes_on) {
  const testing::SharedDirectory directory;
  Options options;
  options.mode = background_if_possible();
  Writer writer(everyone(), directory.path(), make_domain(1, 0, 1).header, options);
  const Domain domain = make_domain(1, rank(), size(), 1);
  writer.begin_step(Flow::checkpoint, 1, 0.5);
  put(writer, domain);
  if (rank() == size() - 1) writer.put_field("density", view_of(domain.density));
  const std::string message = message_of([&] { writer.end_step(); });
  EXPECT_THAT(message, HasSubstr("the field was put before"));
  EXPECT_THAT(message, HasSubstr("field density"));
  expect_same_everywhere(message);
  write_step(writer, Flow::checkpoint, 1);
  writer.close();
  expect_step(directory.path(), Flow::checkpoint, 1);
}

TEST(WriterMpi, ranks_that_disagree_get_an_error_on_all) {
  if (size() == 1) GTEST_SKIP() << "one rank agrees with itself";
  const testing::SharedDirectory directory;
  Options options;
  options.mode = background_if_possible();
  Writer writer(everyone(), directory.path(), make_domain(1, 0, 1).header, options);
  const Domain domain = make_domain(1, rank(), size(), 1);
  writer.begin_step(Flow::checkpoint, 1, 0.5);
  put(writer, domain);
  if (rank() == 1) writer.put_field("extra", view_of(domain.density));
  std::string message = message_of([&] { writer.end_step(); });
  EXPECT_THAT(message, HasSubstr("ranks disagree about the step checkpoint step 1: rank 0 has"));
  EXPECT_THAT(message, HasSubstr("rank 1 extra"));
  expect_same_everywhere(message);
  writer.begin_step(Flow::checkpoint, rank() == 0 ? 7 : 8, 0.5);
  message = message_of([&] { writer.end_step(); });
  EXPECT_THAT(message, HasSubstr("ranks disagree about the step"));
  expect_same_everywhere(message);
  // A rank that calls wait() inside a step, while the others end it.
  writer.begin_step(Flow::checkpoint, 9, 0.5);
  put(writer, domain);
  message = message_of([&] { rank() == 1 ? writer.wait() : writer.end_step(); });
  EXPECT_THAT(message, HasSubstr("rank 0 has checkpoint step 9"));
  EXPECT_THAT(message, HasSubstr("rank 1 no step (it has called"));
  expect_same_everywhere(message);
  writer.close();
  EXPECT_FALSE(std::filesystem::exists(directory.path() / "checkpoint"));
}

// The header stands once in a step: with another on some rank, files would contradict each other.
TEST(WriterMpi, ranks_with_another_time_attribute_or_name_get_an_error_on_all) {
  if (size() == 1) GTEST_SKIP() << "one rank agrees with itself";
  const testing::SharedDirectory directory;
  Options options;
  options.mode = background_if_possible();
  Writer writer(everyone(), directory.path(), make_domain(1, 0, 1).header, options);
  const Domain domain = make_domain(1, rank(), size(), 1);
  const bool odd = rank() == size() - 1;
  const auto told = [&](double time, const mesh::Attribute& dt, const char* field) {
    writer.begin_step(Flow::checkpoint, 1, time);
    put(writer, domain);
    writer.put_attribute("dt", dt);
    if (*field == 0) writer.put_field(field, view_of(domain.density));
    std::string message = message_of([&] { writer.end_step(); });
    expect_same_everywhere(message);
    return message;
  };
  EXPECT_THAT(told(odd ? std::nextafter(0.5, 1) : 0.5, 0.1, "x"), HasSubstr("rank 0 has time = 0.5, rank"));
  EXPECT_THAT(told(0.5, odd ? 5.0 : 0.1, "x"), HasSubstr("rank 0 has attribute dt = 0.1, rank"));
  EXPECT_THAT(told(0.5, odd ? mesh::Attribute(std::int64_t{1}) : mesh::Attribute(1.0), "x"),
              HasSubstr("dt = 1.0, rank"));
  EXPECT_THAT(told(0.5, odd ? std::vector<double>{1, 3} : std::vector<double>{1, 2}, "x"), HasSubstr("[1.0, 2.0]"));
  EXPECT_THAT(told(std::nan(""), 0.1, "x"), HasSubstr("expected a finite time, found nan"));
  EXPECT_THAT(told(0.5, 0.1, ""), HasSubstr("the name of a field is empty"));
  EXPECT_EQ(told(0.5, 0.1, "x"), "no error");
  writer.close();
  expect_step(directory.path(), Flow::checkpoint, 1);
}

TEST(WriterMpi, ranks_that_open_it_otherwise_get_an_error_on_all) {
  if (size() == 1) GTEST_SKIP() << "one rank agrees with itself";
  const testing::SharedDirectory directory;
  const bool odd = rank() == size() - 1;
  const auto told = [&](const char* option, const char* value, const char* name = "store") {
    Options options;
    options.mode = background_if_possible();
    if (odd && *option != 0) set_option(options, option, value);
    mesh::Header header = make_domain(1, 0, 1).header;
    if (odd && *option == 0 && *value != 0) header.unit_length = 2;
    const std::string message =
        message_of([&] { Writer(everyone(), directory.path() / (odd ? name : "store"), header, options); });
    expect_same_everywhere(message);
    return message;
  };
  for (const auto& [option, value] : {std::pair("contributors_per_file", "2"),
                                      {"ranks_per_node", "1"},
                                      {"keep_last", "3"},

                                      {"checkpoint.every", "1s"},
                                      {"checkpoint.single_precision", "true"},
                                      {"analysis.field_codec.density", "raw"},
                                      {"checkpoint.append", "true"},
                                      {"direct_io", "true"},
                                      {"mpi_io_hint.a", "b"}})
    EXPECT_THAT(told(option, value), HasSubstr(std::string("ranks disagree about the writer: rank 0 has "))) << option;
  EXPECT_THAT(told("contributors_per_file", "2"), HasSubstr("contributors_per_file = 1, rank " +
                                                            std::to_string(size() - 1) + " contributors_per_file = 2"));
  EXPECT_THAT(told("", "units"), HasSubstr("units of length"));
  EXPECT_THAT(told("", "", "elsewhere"), HasSubstr("elsewhere"));
  EXPECT_EQ(told("staging_bytes", "1M"), "no error");  // a node may have less memory than others
}

struct FailingDisk {
  explicit FailingDisk(int error) {
    file::set_observer([this, error](const file::Event& event) {
      if (!failing || event.operation != file::Operation::write) return file::Verdict{};
      ++hits;
      return file::Verdict{error, 0};
    });
  }
  ~FailingDisk() { file::set_observer({}); }
  FailingDisk(const FailingDisk&) = delete;
  FailingDisk& operator=(const FailingDisk&) = delete;
  std::atomic<bool> failing = false;
  std::atomic<int> hits = 0;
};

void disk_fills_up_on_one_rank(Mode mode, int contributors_per_file, int failing) {
  const testing::SharedDirectory directory;
  FailingDisk disk(ENOSPC);
  {
    Options options;
    options.mode = mode;
    options.contributors_per_file = contributors_per_file;
    Writer writer(everyone(), directory.path(), make_domain(1, 0, 1).header, options);
    write_step(writer, Flow::checkpoint, 1);
    writer.wait();
    barrier();
    disk.failing = rank() == failing;
    const std::string message = message_of([&] {
      write_step(writer, Flow::checkpoint, 2);
      writer.wait();
    });
    disk.failing = false;
    EXPECT_THAT(message, HasSubstr("No space left"));
    EXPECT_THAT(message, HasSubstr("checkpoint step 2"));
    expect_same_everywhere(message);
    EXPECT_EQ(writer.newest_durable(Flow::checkpoint)->step, 1);
    EXPECT_EQ(total(writer.statistics(), everyone()).failed > 0, true);
    barrier();
    ASSERT_EQ(store::list_steps(directory.path()).size(), 1u);
    expect_step(directory.path(), Flow::checkpoint, 1);
    barrier();
    write_step(writer, Flow::checkpoint, 3);
    writer.close();
    EXPECT_EQ(writer.newest_durable(Flow::checkpoint)->step, 3);
    expect_step(directory.path(), Flow::checkpoint, 3);
  }
}

TEST(WriterMpi, a_full_disk_on_one_rank_is_thrown_on_all_leaves_the_checkpoint_before_and_the_run_goes_on) {
  for (int contributors : {1, 2, 4}) {
    SCOPED_TRACE(contributors);
    // We try the rank that commits, and one that only writes its own range.
    for (int failing : {(size() - 1) / contributors * contributors, size() - 1}) {
      disk_fills_up_on_one_rank(Mode::sync, contributors, failing);
      if (!testing::single_threaded()) disk_fills_up_on_one_rank(Mode::background, contributors, failing);
    }
  }
}

TEST(WriterMpi, an_error_in_the_background_is_thrown_by_the_next_collective_call) {
  if (testing::single_threaded()) GTEST_SKIP() << "needs MPI_THREAD_FUNNELED";
  const testing::SharedDirectory directory;
  FailingDisk disk(EIO);
  Writer writer(everyone(), directory.path(), make_domain(1, 0, 1).header, {});
  disk.failing = rank() == 0;
  write_step(writer, Flow::checkpoint, 1);
  // We make collective calls until one reports the failure. The last call must not be the one.
  const std::string message = message_of([&] { writer.wait(); });
  disk.failing = false;
  EXPECT_THAT(message, HasSubstr("Input/output error"));
  expect_same_everywhere(message);
  EXPECT_EQ(message_of([&] { writer.close(); }), "no error");
  EXPECT_FALSE(writer.newest_durable(Flow::checkpoint));
}

// Fails all writes of some steps, on ranks that may be made to come to it later than others.
struct BadSteps {
  explicit BadSteps(std::vector<std::string> directories) {
    file::set_observer([this, directories](const file::Event& event) {
      if (event.operation != file::Operation::write ||
          std::ranges::find(directories, event.path.parent_path().filename().string()) == directories.end())
        return file::Verdict{};
      held.wait(true);
      return file::Verdict{EIO, 0};
    });
  }
  ~BadSteps() {
    release();
    file::set_observer({});
  }
  BadSteps(const BadSteps&) = delete;
  BadSteps& operator=(const BadSteps&) = delete;
  void release() {
    held = false;
    held.notify_all();
  }
  std::atomic<bool> held = false;
};

std::size_t times(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

std::vector<std::int64_t> checkpoints_in(const std::filesystem::path& store) {
  std::vector<std::int64_t> steps;
  for (const auto& step : store::list_steps(store)) steps.push_back(step.step);
  return steps;
}

TEST(WriterMpi, a_failed_step_is_told_once_and_costs_no_other_also_where_ranks_fail_at_different_times) {
  if (testing::single_threaded()) GTEST_SKIP() << "needs MPI_THREAD_FUNNELED";
  const testing::SharedDirectory directory;
  std::string told;
  {
    Options options;
    options.contributors_per_file = 1;
    options.steps_in_flight = 8;
    BadSteps bad({"000000002", "000000004"});
    Writer writer(everyone(), directory.path(), make_domain(1, 0, 1).header, options);
    // Rank 0 fails at once. The others fail after five steps.
    bad.held = rank() > 0;
    const auto listen = [&](const std::function<void()>& call) {
      const std::string message = message_of(call);
      if (message != "no error") told += message + "\n";
    };
    for (int step = 1; step <= 7; ++step) {
      if (step == 6) bad.release();
      listen([&] { write_step(writer, Flow::checkpoint, step); });
    }
    listen([&] { writer.wait(); });
    listen([&] { writer.close(); });
    EXPECT_EQ(writer.newest_durable(Flow::checkpoint)->step, 7);
    EXPECT_EQ(writer.statistics().steps, 7u);
    EXPECT_EQ(writer.statistics().failed, 2u);
  }
  EXPECT_EQ(times(told, "checkpoint step 2"), 1u) << told;
  EXPECT_EQ(times(told, "checkpoint step 4"), 1u) << told;
  expect_same_everywhere(told);
  barrier();
  EXPECT_THAT(checkpoints_in(directory.path()), ::testing::ElementsAre(1, 3, 5, 6, 7));
  for (std::int64_t step : {1, 3, 5, 6, 7}) expect_step(directory.path(), Flow::checkpoint, step);
}

TEST(WriterMpi, end_step_takes_its_step_where_it_tells_of_an_earlier_one_but_not_where_its_own_is_wrong) {
  if (testing::single_threaded()) GTEST_SKIP() << "needs MPI_THREAD_FUNNELED";
  const testing::SharedDirectory directory;
  {
    Options options;
    options.contributors_per_file = 1;
    BadSteps bad({"000000002", "000000004"});
    Writer writer(everyone(), directory.path(), make_domain(1, 0, 1).header, options);
    write_step(writer, Flow::checkpoint, 1);
    writer.wait();
    // The next call tells of a step that all ranks have finished.
    const auto write_and_finish = [&](std::int64_t step) {
      const double before = writer.statistics().seconds_working;
      write_step(writer, Flow::checkpoint, step);
      while (writer.statistics().seconds_working == before) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      barrier();
    };
    write_and_finish(2);
    std::string message = message_of([&] { write_step(writer, Flow::checkpoint, 3); });
    EXPECT_THAT(message, HasSubstr("checkpoint step 2"));
    expect_same_everywhere(message);
    writer.wait();
    write_and_finish(4);
    const Domain domain = make_domain(1, rank(), size(), 5);
    writer.begin_step(Flow::checkpoint, 5, 0.5);
    put(writer, domain);
    if (rank() == size() - 1) writer.put_field("density", view_of(domain.density));
    message = message_of([&] { writer.end_step(); });
    EXPECT_THAT(message, ::testing::StartsWith("the field was put before"));
    EXPECT_EQ(times(message, "checkpoint step 4"), 1u) << message;
    expect_same_everywhere(message);
    write_step(writer, Flow::checkpoint, 6);
    writer.close();
  }
  barrier();
  EXPECT_THAT(checkpoints_in(directory.path()), ::testing::ElementsAre(1, 3, 6));
}

// ------------------------------------------------------------------ who owns what

// The message of end_step(), the same on all ranks.
std::string message_of_step(Writer& writer, std::int64_t step, const Domain& domain) {
  writer.begin_step(Flow::checkpoint, step, 0.5 * static_cast<double>(step));
  put(writer, domain);
  std::string message = message_of([&] { writer.end_step(); });
  expect_same_everywhere(message);
  return message;
}

// end_step() must refuse a step that verify would call damaged.
TEST(WriterMpi, cells_that_two_ranks_own_are_an_error_of_end_step_and_the_next_step_is_written) {
  const testing::SharedDirectory directory;
  Options options;
  options.mode = background_if_possible();
  Writer writer(everyone(), directory.path(), make_domain(1, 0, 1).header, options);
  write_step(writer, Flow::checkpoint, 1);
  Domain twice = make_domain(1, rank(), size(), 2);
  if (rank() == size() - 1) twice = make_domain(1, 0, 1, 2);  // the last rank owns all
  const std::string message = message_of_step(writer, 2, twice);
  if (size() == 1) {
    EXPECT_EQ(message, "no error");
  } else {
    EXPECT_THAT(message, HasSubstr("of the domain: cells are owned twice"));
    EXPECT_THAT(message, HasSubstr("checkpoint step 2"));
  }
  write_step(writer, Flow::checkpoint, 3);
  writer.close();
  barrier();
  EXPECT_EQ(checkpoints_in(directory.path()).size(), size() == 1 ? 3u : 2u);
  expect_sound(directory.path(), size() == 1 ? 3 : 2);
}

TEST(WriterMpi, options_checkpoint_whole_domain_and_analysis_whole_domain_refuse_cells_that_nobody_owns) {
  for (bool asked : {false, true}) {
    const testing::SharedDirectory directory;
    Options options;
    options.mode = background_if_possible();
    options.checkpoint_whole_domain = asked;
    Writer writer(everyone(), directory.path(), make_domain(1, 0, 1).header, options);
    EXPECT_EQ(message_of_step(writer, 1, make_domain(1, rank(), size(), 1)), "no error");
    Domain less = make_domain(1, rank(), size(), 2);
    for (std::size_t level = 0; rank() == 0 && level < less.tree.owned.size(); ++level)
      less.tree.owned[level] = base::BitArray(less.tree.owned[level].size());
    const std::string message = message_of_step(writer, 2, less);
    if (asked)
      EXPECT_THAT(message, HasSubstr("of the domain: cells are owned by no rank"));
    else
      EXPECT_EQ(message, "no error");
    writer.close();
    barrier();
    // A step that fills the domain says so, and verify checks it.
    const store::Scan scan = store::scan_store(directory.path());
    ASSERT_EQ(scan.steps.size(), asked ? 1u : 2u);
    for (const store::StepFound& step : scan.steps)
      for (const store::SegmentPlace& place : step.segments)
        EXPECT_EQ(store::committed(scan, place).footer.whole_domain, step.step == 1);
    expect_sound(directory.path(), asked ? 1 : 2);
  }
}

TEST(WriterMpi, a_header_that_no_reader_takes_is_refused_at_once_on_all) {
  const testing::SharedDirectory directory;
  mesh::Header header = make_domain(1, 0, 1).header;
  if (rank() == size() - 1) header.unfolded = 40;
  Options options;
  options.mode = Mode::sync;
  const std::string message = message_of([&] { Writer(everyone(), directory.path() / "s", header, options); });
  EXPECT_THAT(message, HasSubstr("unfolded levels: expected 0 to 32, found 40"));
  expect_same_everywhere(message);
}

TEST(WriterMpi, statistics_are_one_json_object) {
  const testing::SharedDirectory directory;
  Options options;
  options.mode = background_if_possible();
  Writer writer(everyone(), directory.path(), make_domain(1, 0, 1).header, options);
  write_step(writer, Flow::analysis, 1);
  writer.close();
  const std::string json = to_json(total(writer.statistics(), everyone()));
  EXPECT_THAT(json, HasSubstr("{\"steps\": " + std::to_string(size()) + ", \"failed\": 0, \"bytes_put\": "));
  EXPECT_EQ(json.back(), '}');
  const WriteStatistics mine = writer.statistics();
  EXPECT_GE(mine.seconds_in_calls, mine.seconds_copying + mine.seconds_waiting);
  EXPECT_GT(mine.seconds_working, 0);
}

}  // namespace
}  // namespace octavo::engine
