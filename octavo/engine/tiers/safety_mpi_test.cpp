#include <dlfcn.h>
#include <gmock/gmock.h>
#include <sys/socket.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <fstream>
#include <random>
#include <set>

#include "octavo/base/error.hpp"
#include "octavo/engine/restart/restart.hpp"
#include "octavo/engine/tiers/copies.hpp"
#include "octavo/engine/tiers/parity_file.hpp"
#include "octavo/engine/tiers/parity_lane.hpp"
#include "octavo/engine/write/writer.hpp"
#include "octavo/file/posix.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/is_long.hpp"
#include "tests/support/mpi_run.hpp"

namespace {
std::atomic<bool> no_network{false};
}

// In front of the C library's: while the network is away, no node of it can be called.
extern "C" __attribute__((visibility("default"))) int connect(int socket, const sockaddr* address, socklen_t length) {
  static const auto real = reinterpret_cast<decltype(&connect)>(::dlsym(RTLD_NEXT, "connect"));
  if (!no_network || (address->sa_family != AF_INET && address->sa_family != AF_INET6))
    return real(socket, address, length);
  errno = EHOSTUNREACH;
  return -1;
}

// Checkpoints that survive the loss of nodes. A node is a directory, which vanishes.
namespace octavo::engine {
namespace {

namespace fs = std::filesystem;
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

mesh::Header whole_header() { return make_domain(1, 0, 1).header; }

void write_whole(Writer& writer, std::int64_t step, Flow flow = Flow::checkpoint) {
  const Domain domain = make_domain(1, rank(), size(), step);
  writer.begin_step(flow, step, 0.5 * static_cast<double>(step));
  writer.put_mesh(domain.tree);
  writer.put_field("density", view_of(domain.density), "g/cm^3");
  writer.put_field("flag", view_of(domain.flag));
  writer.end_step();
}

void expect_whole(const fs::path& store, std::int64_t step, const std::string& what) {
  SCOPED_TRACE(what);
  const Domain domain = make_domain(1, rank(), size(), step);
  const mesh::Part part = store::open_step(store, Flow::checkpoint, step).read(rank(), {});
  EXPECT_EQ(std::get<mesh::Octree>(part.mesh), domain.tree);
  EXPECT_TRUE(std::ranges::equal(part.fields[0].as<double>(), domain.density));
  EXPECT_TRUE(std::ranges::equal(part.fields[1].as<std::int32_t>(), domain.flag));
}

// The disks of nodes, in the order of their numbers.
std::vector<fs::path> nodes_of(const fs::path& disk) {
  std::vector<fs::path> nodes;
  for (const auto& store : fs::directory_iterator(disk))
    for (const auto& node : fs::directory_iterator(store)) nodes.push_back(node.path());
  std::sort(nodes.begin(), nodes.end());
  return nodes;
}

std::vector<fs::path> files_named(const fs::path& directory, const std::string& what) {
  std::vector<fs::path> found;
  std::error_code ignored;
  for (fs::recursive_directory_iterator it(directory, ignored), end; it != end; it.increment(ignored))
    if (it->is_regular_file() && it->path().filename().string().find(what) != std::string::npos)
      found.push_back(it->path());
  std::sort(found.begin(), found.end());
  return found;
}

// Every rank is a node. A run leaves its files, which are put back for each node that is lost.
struct NodePerRank {
  testing::SharedDirectory directory;
  fs::path here = directory.path() / "here", kept = directory.path() / "kept";
  fs::path store = here / "run.octavo", disk = here / "disk";
  Options options;
  NodePerRank() {
    options.staging_directory = disk;
    options.ranks_per_node = 1;
    options.drain_every = 1000;
    options.group_size = 3;
    options.checkpoint.codec.method = codec::Method::raw;
  }
  // As if the job were killed: nobody closes the writer.
  void run(const std::vector<std::int64_t>& steps, const std::function<void(const Writer&)>& look = {}) {
    Writer writer(everyone(), store, whole_header(), options);
    for (const std::int64_t step : steps) {
      write_whole(writer, step);
      writer.wait();
      if (look) look(writer);
    }
  }
  void keep() {
    barrier();
    if (rank() == 0) fs::rename(here, kept);
    barrier();
  }
  void put_back() {
    barrier();
    if (rank() == 0) {
      fs::remove_all(here);
      fs::copy(kept, here, fs::copy_options::recursive);
    }
    barrier();
  }
  void lose(const std::set<int>& lost) {
    if (rank() == 0) {
      const auto nodes = nodes_of(disk);
      for (const int node : lost) fs::remove_all(nodes.at(static_cast<std::size_t>(node)));
    }
    barrier();
  }
  std::optional<Restart> restart() { return engine::restart(everyone(), store, restart_options(options)); }
};

std::string text_of(const std::set<int>& nodes) {
  std::string text = "lost:";
  for (const int node : nodes) text += " " + std::to_string(node);
  return text;
}

// All sets of one node, and of two where `most` is 2. A short pass takes every third pair of many nodes.
std::vector<std::set<int>> losses(int nodes, int most) {
  std::vector<std::set<int>> all;
  int pairs = 0;
  for (int a = 0; a < nodes; ++a) {
    all.push_back({a});
    for (int b = a + 1; b < nodes && most == 2; ++b)
      if (testing::is_long() || nodes < 4 || pairs++ % 3 == 0) all.push_back({a, b});
  }
  return all;
}

void expect_survives(NodePerRank& place, Safety safety, const std::vector<std::set<int>>& losses) {
  place.run({3, 4}, [&](const Writer& writer) { EXPECT_TRUE(writer.newest_safe(Flow::checkpoint, safety)); });
  place.keep();
  for (const std::set<int>& lost : losses) {
    SCOPED_TRACE(text_of(lost));
    place.put_back();
    place.lose(lost);
    const auto from = place.restart();
    ASSERT_TRUE(from);
    EXPECT_EQ(from->id.step, 4);
    EXPECT_TRUE(std::ranges::equal(from->part.fields[0].as<double>(), make_domain(1, rank(), size(), 4).density));
    expect_whole(place.store, 4, text_of(lost));
  }
}

TEST(SafetyMpi, option_partner_every_brings_back_the_files_of_any_one_node) {
  if (size() < 2) GTEST_SKIP() << "needs two nodes";
  NodePerRank place;
  place.options.partner_every = 1;
  expect_survives(place, Safety::partner, losses(size(), 1));
}

TEST(SafetyMpi, option_xor_every_brings_back_the_files_of_any_one_node_of_a_group) {
  if (size() < 3) GTEST_SKIP() << "needs three nodes";
  NodePerRank place;
  place.options.xor_every = 1;
  expect_survives(place, Safety::xor_group, losses(size(), 1));
}

TEST(SafetyMpi, option_rs_every_brings_back_the_files_of_any_two_nodes_of_a_group) {
  if (size() < 3) GTEST_SKIP() << "needs three nodes";
  NodePerRank place;
  place.options.rs_every = 1;
  place.options.group_size = size();
  expect_survives(place, Safety::reed_solomon, losses(size(), 2));
}

// Six nodes make two groups of three: those with even numbers, and those with odd ones.
TEST(SafetyGroupsMpi, each_of_two_groups_bears_its_own_lost_nodes_at_the_same_time) {
  if (size() != 6) GTEST_SKIP() << "needs six nodes";
  {
    NodePerRank place;
    place.options.xor_every = 1;
    expect_survives(place, Safety::xor_group, {{0, 1}, {2, 5}, {3, 4}});
    place.put_back();
    place.lose({1, 2, 4});  // one too many in the first group
    EXPECT_FALSE(place.restart());
  }
  NodePerRank place;
  place.options.rs_every = 1;
  expect_survives(place, Safety::reed_solomon, {{0, 1, 2, 3}, {0, 3, 4, 5}, {1, 2, 4, 5}});
}

TEST(SafetyMpi, nodes_with_different_numbers_of_files_protect_each_other) {
  if (size() < 3) GTEST_SKIP() << "needs three ranks";
  NodePerRank place;
  place.options.ranks_per_node = size() - 1;  // all files but one on the first node
  place.options.partner_every = 1;
  expect_survives(place, Safety::partner, losses(2, 1));
}

TEST(SafetyMpi, without_protection_a_lost_node_takes_the_step_with_it) {
  if (size() < 2) GTEST_SKIP() << "needs two nodes";
  NodePerRank place;
  place.run({3}, [&](const Writer& writer) {
    EXPECT_TRUE(writer.newest_safe(Flow::checkpoint, Safety::local));
    EXPECT_FALSE(writer.newest_safe(Flow::checkpoint, Safety::partner));
    EXPECT_FALSE(writer.newest_safe(Flow::checkpoint, Safety::store));
  });
  place.keep();
  place.put_back();
  place.lose({1});
  EXPECT_FALSE(place.restart());
}

TEST(SafetyMpi, a_lost_node_comes_back_on_fewer_ranks_whatever_the_others_are_called) {
  if (size() < 3) GTEST_SKIP() << "needs three nodes";
  NodePerRank place;
  place.options.xor_every = 1;
  place.run({5});
  place.keep();
  const ranks::OwnComm fewer = ranks::split(everyone(), rank() + 1 < size() ? 0 : MPI_UNDEFINED, rank());
  for (int lost = 0; lost < size(); ++lost) {
    place.put_back();
    // The last node takes the name of the lost one.
    if (rank() == 0) {
      const auto nodes = nodes_of(place.disk);
      fs::remove_all(nodes.at(static_cast<std::size_t>(lost)));
      if (lost + 1 < size()) fs::rename(nodes.back(), nodes[static_cast<std::size_t>(lost)]);
    }
    barrier();
    if (fewer.get() != MPI_COMM_NULL) {
      const auto from = restart(fewer.get(), place.store, restart_options(place.options));
      ASSERT_TRUE(from);
      EXPECT_EQ(from->id.step, 5);
    }
    barrier();
    expect_whole(place.store, 5, "lost: " + std::to_string(lost));
  }
}

// ------------------------------------------------------------------ cadence

TEST(SafetyMpi, each_safety_has_its_own_cadence_and_the_newest_of_each_stays_on_the_node) {
  if (size() < 3) GTEST_SKIP() << "needs three nodes";
  NodePerRank place;
  place.options.partner_every = 2;
  place.options.rs_every = 3;
  place.options.drain_every = 4;
  const auto number = [](const std::optional<store::StepId>& id) { return id ? id->step : 0; };
  std::vector<std::vector<std::int64_t>> seen;
  Writer writer(everyone(), place.store, whole_header(), place.options);
  for (std::int64_t step = 1; step <= 3; ++step) {
    write_whole(writer, step);
    writer.wait();
    seen.emplace_back();
    for (const Safety safety : {Safety::local, Safety::partner, Safety::xor_group, Safety::reed_solomon, Safety::store})
      seen.back().push_back(number(writer.newest_safe(Flow::checkpoint, safety)));
  }
  EXPECT_EQ(seen, (std::vector<std::vector<std::int64_t>>{{1, 0, 0, 0, 0}, {2, 2, 2, 0, 0}, {3, 3, 3, 3, 0}}));
  for (std::int64_t step = 4; step <= 5; ++step) write_whole(writer, step);
  writer.close();
  barrier();
  // The fourth, and the last.
  std::vector<std::int64_t> stored;
  for (const store::StepInfo& info : store::list_steps(place.store)) stored.push_back(info.step);
  EXPECT_EQ(stored, (std::vector<std::int64_t>{4, 5}));
  for (const std::int64_t step : stored) expect_whole(place.store, step, "drained");
  EXPECT_EQ(number(writer.newest_safe(Flow::checkpoint, Safety::store)), 5);
  EXPECT_TRUE(store::verify(place.store, 1).findings.empty());
}

TEST(SafetyMpi, copies_on_local_disks_are_counted_level_by_level) {
  if (size() < 3) GTEST_SKIP() << "needs three nodes";
  NodePerRank place;
  place.options.partner_every = 1;
  place.options.rs_every = 2;
  place.options.group_size = size();
  place.run({1, 2});
  barrier();
  const auto expect = [&](int local, int partner, std::optional<int> rs, const std::string& what) {
    SCOPED_TRACE(what);
    std::vector<std::string> notes;
    const auto steps = list_copies(place.disk, place.store, notes);
    ASSERT_EQ(steps.size(), 1u);  // the second survives as much as the first
    EXPECT_EQ(steps[0].step, 2);
    EXPECT_EQ(steps[0].segments, size());
    const std::array<std::optional<int>, num_safeties> there{local, partner, std::nullopt, rs, std::nullopt};
    EXPECT_EQ(steps[0].there, there);
    EXPECT_TRUE(notes.empty());
  };
  expect(size(), size(), size(), "all there");
  barrier();
  const auto lose_first = [](const fs::path& below, const std::string& what) {
    if (rank() == 0) fs::remove(files_named(below, what).at(0));
    barrier();
  };
  lose_first(place.disk, ".rs");
  expect(size(), size(), 0, "a parity file is lost");
  barrier();
  lose_first(place.disk, "data.");
  expect(size() - 1, size(), 0, "a file is lost");
}

TEST(SafetyMpi, option_drain_every_leaves_only_what_is_newest_on_the_node) {
  NodePerRank place;
  place.run({1, 2, 3, 4});
  barrier();
  // Files of older steps are removed by a thread, which has ended with the writer.
  EXPECT_EQ(files_named(place.disk, "data.").size(), static_cast<std::size_t>(size()));
  barrier();
  EXPECT_EQ(place.restart()->id.step, 4);
}

TEST(SafetyMpi, analysis_steps_are_drained_whatever_happens_to_checkpoints) {
  NodePerRank place;
  Writer writer(everyone(), place.store, whole_header(), place.options);
  write_whole(writer, 1);
  write_whole(writer, 10, Flow::analysis);
  write_whole(writer, 2);
  writer.close();
  barrier();
  EXPECT_EQ(writer.newest_drained(Flow::analysis)->step, 10);
  EXPECT_EQ(writer.newest_drained(Flow::checkpoint)->step, 2);
  EXPECT_EQ(store::list_steps(place.store).size(), 2u);
}

TEST(SafetyMpi, options_drain_bandwidth_and_copy_bandwidth_hold_the_threads_back) {
  if (size() < 2) GTEST_SKIP() << "needs two nodes";
  NodePerRank place;
  place.options.drain_every = 1;
  place.options.partner_every = 1;
  place.options.drain_bandwidth = place.options.copy_bandwidth = 400 << 10;
  Writer writer(everyone(), place.store, whole_header(), place.options);
  write_whole(writer, 1);
  writer.close();
  const WriteStatistics mine = writer.statistics();
  EXPECT_GT(mine.bytes_of_parity, 0u);
  // Heads and tables are not counted: half is a bound that holds on any machine.
  EXPECT_GE(mine.seconds_draining, 0.5 * static_cast<double>(mine.bytes_stored) / (400 << 10));
  EXPECT_GE(mine.seconds_protecting, 0.5 * static_cast<double>(mine.bytes_stored) / (400 << 10));
}

// ------------------------------------------------------------------ damage and full disks

void flip_byte(const fs::path& path, std::uint64_t at) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekg(static_cast<std::streamoff>(at));
  const int byte = file.get();
  file.seekp(static_cast<std::streamoff>(at));
  file.put(static_cast<char>(byte ^ 1));
}

bool has_note(const Restart& from, const std::vector<std::string>& parts) {
  return std::any_of(from.notes.begin(), from.notes.end(), [&](const std::string& note) {
    return std::all_of(parts.begin(), parts.end(),
                       [&](const auto& part) { return note.find(part) != std::string::npos; });
  });
}

TEST(SafetyMpi, damaged_parity_is_named_with_file_and_bytes_and_the_next_scheme_is_tried) {
  if (size() < 3) GTEST_SKIP() << "needs three nodes";
  NodePerRank place;
  place.options.partner_every = 1;
  place.options.rs_every = 1;
  place.run({7});
  place.keep();
  for (const bool in_blocks : {true, false}) {
    place.put_back();
    place.lose({0});
    if (rank() == 0)
      for (const fs::path& file : files_named(place.disk, ".partner"))
        flip_byte(file, in_blocks ? 1000 : fs::file_size(file) - 40);
    barrier();
    const auto from = place.restart();
    ASSERT_TRUE(from);
    EXPECT_EQ(from->id.step, 7);
    EXPECT_TRUE(has_note(*from, {"damage: ", "checksum differs", ".partner", "bytes "}));
    expect_whole(place.store, 7, "damage");
  }
}

TEST(SafetyMpi, a_damaged_file_on_a_local_disk_is_made_again_from_its_group) {
  if (size() < 3) GTEST_SKIP() << "needs three nodes";
  NodePerRank place;
  place.options.xor_every = 1;
  place.run({7});
  place.keep();
  for (int node = 0; node < size(); ++node) {
    place.put_back();
    if (rank() == 0)
      flip_byte(files_named(nodes_of(place.disk)[static_cast<std::size_t>(node)], "data.").at(0), 3 * 4096 + 64);
    barrier();
    const auto from = place.restart();
    ASSERT_TRUE(from);
    EXPECT_TRUE(has_note(*from, {"passed over on the local disks: ", "checksum"}));
    EXPECT_TRUE(has_note(*from, {"damage: "}));
    EXPECT_FALSE(from->from_local_disks);
    expect_whole(place.store, 7, "damage on node " + std::to_string(node));
  }
}

TEST(SafetyMpi, more_lost_nodes_than_a_scheme_bears_are_told_and_nothing_wrong_comes_back) {
  if (size() < 3) GTEST_SKIP() << "needs three nodes";
  NodePerRank place;
  place.options.xor_every = 1;
  place.options.group_size = size();
  place.run({7});
  place.keep();
  place.put_back();
  place.lose({0, 1});
  EXPECT_FALSE(place.restart());
}

// The second node's disk is full when it is asked to do that for a segment, for the nth time.
void expect_detour(file::Operation operation, int nth = 0) {
  NodePerRank place;
  place.options.partner_every = 1;
  place.options.log = place.directory.path() / "run.log";
  {
    Writer writer(everyone(), place.store, whole_header(), place.options);
    if (rank() == 1)
      file::set_observer([disk = place.disk.string(), operation, left = nth](const file::Event& event) mutable {
        const std::string path = event.path.string();
        const bool meant = event.operation == operation && path.starts_with(disk) && path.find("data.") != path.npos;
        const bool full = meant && left-- <= 0;
        return file::Verdict{full ? ENOSPC : 0, 0};
      });
    std::vector<std::byte> ballast(4 << 20);  // small segments reserve no space
    std::mt19937 random(5);
    for (std::byte& byte : ballast) byte = static_cast<std::byte>(random());
    const Domain domain = make_domain(1, rank(), size(), 1);
    writer.begin_step(Flow::checkpoint, 1, 0.5);
    writer.put_mesh(domain.tree);
    writer.put_field("density", view_of(domain.density));
    writer.put_field("flag", view_of(domain.flag));
    writer.put_bytes("ballast", ballast);
    writer.end_step();
    writer.wait();
    file::set_observer({});
    EXPECT_EQ(writer.newest_safe(Flow::checkpoint, Safety::partner)->step, 1);
  }
  barrier();
  std::ifstream log(place.options.log);
  const std::string line{std::istreambuf_iterator<char>(log), {}};
  EXPECT_THAT(line, HasSubstr("1 file to the store at once (local disk full)"));
  EXPECT_EQ(files_named(nodes_of(place.disk).at(1), "data.").size(), 0u);
  place.keep();
  for (int lost = 0; lost < (testing::is_long() ? size() : 2); ++lost) {  // 1 had the full disk
    place.put_back();
    place.lose({lost});
    const auto from = place.restart();
    ASSERT_TRUE(from) << lost;
    expect_whole(place.store, 1, "lost: " + std::to_string(lost));
  }
}

TEST(SafetyMpi, a_full_local_disk_sends_a_file_to_the_store_at_once_and_the_log_says_so) {
  if (size() < 2) GTEST_SKIP() << "needs two nodes";
  expect_detour(file::Operation::create);
  expect_detour(file::Operation::preallocate);
}

// Thin disks and quotas give no space that they have promised. The head is the first write, the commit record the last.
TEST(SafetyMpi, a_local_disk_that_is_full_only_at_a_write_sends_the_whole_file_to_the_store) {
  if (size() < 2) GTEST_SKIP() << "needs two nodes";
  for (int nth = 0; nth < 5; nth += testing::is_long() ? 1 : 2) {
    SCOPED_TRACE("write " + std::to_string(nth));
    expect_detour(file::Operation::write, nth);
  }
  expect_detour(file::Operation::sync);
}

// Ranks that share a file: all write once more, whichever of them found the disk full.
TEST(SafetyMpi, a_local_disk_that_is_full_for_one_rank_sends_the_file_of_all_who_share_it_to_the_store) {
  if (size() < 2) GTEST_SKIP() << "needs ranks that share a file";
  for (const int victim : {0, size() - 1}) {
    SCOPED_TRACE("rank " + std::to_string(victim));
    const testing::SharedDirectory directory;
    const std::filesystem::path disk = directory.path() / "disk", store = directory.path() / "run.octavo";
    Options options;
    options.mode = testing::single_threaded() ? Mode::sync : Mode::background;
    options.staging_directory = disk.string();
    options.contributors_per_file = 0;
    options.log = directory.path() / "run.log";
    options.checkpoint.codec.method = codec::Method::raw;  // from the copies of the arrays
    {
      Writer writer(everyone(), store, whole_header(), options);
      if (rank() == victim)
        file::set_observer([root = disk.string(), left = victim == 0 ? 2 : 0](const file::Event& event) mutable {
          const bool meant = event.operation == file::Operation::write && event.path.string().starts_with(root) &&
                             event.path.filename().string().starts_with("data.");
          return file::Verdict{meant && left-- <= 0 ? ENOSPC : 0, 0};
        });
      write_whole(writer, 1);
      EXPECT_EQ(message_of([&] { writer.wait(); }), "no error");
      EXPECT_EQ(message_of([&] { writer.close(); }), "no error");
      file::set_observer({});
    }
    barrier();
    expect_whole(store, 1, "in the store");
    std::ifstream log(options.log);
    EXPECT_THAT(std::string(std::istreambuf_iterator<char>(log), {}), HasSubstr("to the store at once"));
    barrier();
  }
}

TEST(SafetyMpi, parity_that_cannot_be_written_is_an_error_on_all_ranks_and_the_step_is_not_called_safe) {
  if (size() < 3) GTEST_SKIP() << "needs three nodes";
  NodePerRank place;
  place.options.xor_every = 1;
  Writer writer(everyone(), place.store, whole_header(), place.options);
  write_whole(writer, 1);
  writer.wait();
  if (rank() == 1)
    file::set_observer([](const file::Event& event) {
      const bool fails = event.operation == file::Operation::write && event.path.extension() == ".xor";
      return file::Verdict{fails ? EIO : 0, 0};
    });
  write_whole(writer, 2);
  const std::string message = message_of([&] { writer.wait(); });
  file::set_observer({});
  EXPECT_THAT(message, HasSubstr("parity (xor) of checkpoint step 2"));
  EXPECT_THAT(message, HasSubstr("Input/output error"));
  expect_same_everywhere(message);
  EXPECT_EQ(writer.newest_safe(Flow::checkpoint, Safety::xor_group)->step, 1);
  EXPECT_EQ(writer.newest_durable(Flow::checkpoint)->step, 2);
  // The members are still in step.
  write_whole(writer, 3);
  writer.close();
  EXPECT_EQ(writer.newest_safe(Flow::checkpoint, Safety::xor_group)->step, 3);
}

// ------------------------------------------------------------------ what is refused

TEST(SafetyMpi, a_group_larger_than_the_run_is_refused_on_all_ranks_when_the_writer_is_opened) {
  NodePerRank place;
  place.options.rs_every = 1;
  place.options.group_size = size() + 3;
  const std::string message = message_of([&] { Writer(everyone(), place.store, whole_header(), place.options); });
  EXPECT_THAT(message, HasSubstr("groups of " + std::to_string(size() + 3) + " nodes were asked for, and the run has " +
                                 std::to_string(size())));
  EXPECT_THAT(message, HasSubstr("option rs_every"));
  expect_same_everywhere(message);
}

TEST(SafetyMpi, a_staging_directory_that_is_impossible_on_one_node_is_told_to_all_when_the_writer_is_opened) {
  if (size() < 2) GTEST_SKIP() << "needs two nodes";
  NodePerRank place;
  place.run({1});
  barrier();
  const fs::path second = nodes_of(place.disk).at(1);
  barrier();
  if (rank() == 0) {
    fs::remove_all(place.here);
    fs::create_directories(second.parent_path());
    std::ofstream(second) << "no directory";
  }
  barrier();
  const auto open = [&] { return message_of([&] { Writer(everyone(), place.store, whole_header(), place.options); }); };
  const std::string message = open();
  EXPECT_THAT(message, HasSubstr("cannot make the directory"));
  EXPECT_THAT(message, HasSubstr("staging_directory"));
  EXPECT_THAT(message, HasSubstr(second.string()));
  expect_same_everywhere(message);
  // Nor is there a restart that leaves the node out.
  const std::string again = message_of([&] { place.restart(); });
  EXPECT_THAT(again, HasSubstr(second.string()));
  expect_same_everywhere(again);
  if (rank() == 0) fs::remove(second);
  barrier();
  EXPECT_EQ(open(), "no error");
}

// The last rank cannot call the others; they wait for it in vain.
TEST(SafetyMpi, a_member_that_cannot_reach_the_others_is_told_to_all_when_the_writer_is_opened) {
  if (size() < 3) GTEST_SKIP() << "needs three nodes";
  const Scheme scheme{Safety::xor_group, 1, size(), 1};
  const auto open = [&] {
    int files = 0;
    return message_of([&] {
      open_lanes(everyone(), {rank(), true, true}, {scheme}, files, std::chrono::milliseconds(300));
    });
  };
  no_network = rank() == size() - 1;
  const std::string message = open();
  // As a run waits: a minute.
  NodePerRank place;
  place.options.xor_every = 1;
  const std::string of_writer =
      testing::is_long() ? message_of([&] { Writer(everyone(), place.store, whole_header(), place.options); }) : "";
  no_network = false;
  EXPECT_THAT(message, HasSubstr("did not meet those that share its work within 0.3 s"));
  expect_same_everywhere(message);
  EXPECT_THAT(of_writer, HasSubstr(testing::is_long() ? "did not meet those that share its work within 60 s" : ""));
  expect_same_everywhere(of_writer);
  EXPECT_EQ(open(), "no error");
}

TEST(SafetyMpi, options_that_nothing_can_come_of_are_refused) {
  NodePerRank place;
  const auto message = [&](const std::function<void(Options&)>& change) {
    Options options = place.options;
    change(options);
    return message_of([&] { check(options); });
  };
  EXPECT_THAT(message([](Options& o) { o.xor_every = 1, o.staging_directory.clear(); }),
              HasSubstr("need a staging_directory"));
  EXPECT_THAT(message([](Options& o) { o.rs_every = 1, o.group_size = 2; }),
              HasSubstr("expected 3 to 64 nodes, found 2"));
  EXPECT_THAT(message([](Options& o) { o.drain_every = 0; }), HasSubstr("drain_every is 0"));
}

}  // namespace
}  // namespace octavo::engine
