#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <set>
#include <thread>

#include "octavo/base/error.hpp"
#include "octavo/file/posix.hpp"
#include "octavo/store/read/described.hpp"
#include "octavo/store/read/scan.hpp"
#include "octavo/store/store.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/store_fixture.hpp"

namespace octavo::store {
namespace {

using base::Error;
using base::Kind;
using testing::kind_of;
using testing::plan_of;
using testing::random_step;
using testing::read_all;
using testing::same_parts;
using testing::Step;
using testing::TemporaryDirectory;
using testing::write_step;

TEST(Read, single_precision_rounds_doubles_and_says_so) {
  Step step = random_step(4);
  EncodeOptions options;
  options.single_precision = true;
  TemporaryDirectory dir;
  write_step(step, dir / "s", plan_of(1, 1), options);
  const mesh::Dataset dataset = open_step(dir / "s");
  EXPECT_EQ(dataset.header.fields[0].type, mesh::ScalarType::float32);
  const mesh::Part part = dataset.read(0, {});
  const auto doubles = step.parts[0].fields[0].as<double>();
  const auto singles = part.fields[0].as<float>();
  ASSERT_EQ(doubles.size(), singles.size());
  for (std::size_t i = 0; i < singles.size(); ++i) EXPECT_EQ(singles[i], static_cast<float>(doubles[i]));
  step.parts[0].fields[0].as<double>()[0] = 1e300;
  EXPECT_EQ(kind_of([&] { encode(step.parts[0], step.header, options); }), Kind::usage);
}

// The rule of docs/format.md for complete steps, applied to one pair after another.
std::vector<bool> superseded_pair_by_pair(const std::vector<SegmentPlan>& history) {
  std::vector<bool> superseded(history.size());
  for (std::size_t later = 0; later < history.size(); ++later)
    for (std::size_t earlier = 0; earlier < later; ++earlier) {
      const auto& from = history[later].continues;
      if (history[earlier].step == history[later].step || (from && history[earlier].step > from->step))
        superseded[earlier] = true;
    }
  return superseded;
}

TEST(Read, a_scan_finds_the_steps_that_later_ones_supersede_in_any_history) {
  const Step step = random_step(1, {.cells = 10});
  std::mt19937 random(15);
  for (int history = 0; history < 20; ++history) {
    const TemporaryDirectory dir;
    std::vector<SegmentPlan> plans;
    for (unsigned i = 0; i < 12; ++i) {
      SegmentPlan plan = plan_of(static_cast<std::int64_t>(random() % 10), i + 1);
      if (!plans.empty() && random() % 3 == 0) {
        const SegmentPlan& from = plans[random() % plans.size()];
        plan.continues = StepId{from.step, from.attempt};
      }
      plan.sync = false;
      plan.order_before = i;
      write_step(step, dir / "s", plan);
      plans.push_back(plan);
    }
    const std::vector<bool> expected = superseded_pair_by_pair(plans);
    const Scan scan = scan_store(dir / "s");
    ASSERT_EQ(scan.steps.size(), plans.size());
    for (const StepFound& found : scan.steps)
      EXPECT_EQ(found.superseded, expected[static_cast<std::size_t>(found.order - 1)]) << history << " " << found.order;
  }
}

TEST(Read, every_value_honours_its_fields_bound) {
  const Step step = random_step(6);
  EncodeOptions options;
  options.field_codec["density"].bound = {codec::BoundKind::pointwise_relative, 1e-3};
  TemporaryDirectory dir;
  write_step(step, dir / "s", plan_of(1, 1), options);
  const auto parts = read_all(open_step(dir / "s"));
  for (std::size_t p = 0; p < parts.size(); ++p) {
    const auto before = step.parts[p].fields[0].as<double>(), after = parts[p].fields[0].as<double>();
    for (std::size_t i = 0; i < before.size(); ++i)
      EXPECT_LE(std::abs(before[i] - after[i]), 1e-3 * std::abs(before[i]));
    EXPECT_EQ(parts[p].fields[1], step.parts[p].fields[1]);
  }
  EXPECT_TRUE(verify(dir / "s", 1).findings.empty());
}

// The part that a reader gets at a level: the truncated and pruned tree with the values of the cells that stayed.
TEST(Read, a_level_limited_read_is_the_truncated_part) {
  const Step step = random_step(8, {3, {2, 1, 1}, {1, 1, 1}, 6, 4000, 3, true});
  TemporaryDirectory dir;
  write_step(step, dir / "s", plan_of(1, 1));
  const mesh::Dataset dataset = open_step(dir / "s");
  for (int level = 0; level < 8; ++level)
    for (std::size_t p = 0; p < step.parts.size(); ++p) {
      mesh::Request request;
      request.max_level = mesh::code_level(step.header, level);
      const mesh::Part part = dataset.read(static_cast<int>(p), request);
      const auto& tree = std::get<mesh::Octree>(step.parts[p].mesh);
      const auto cut = mesh::truncate(tree, std::min(level, num_levels(tree) - 1));
      const auto pruned = mesh::prune(cut.tree);
      EXPECT_EQ(std::get<mesh::Octree>(part.mesh), pruned.tree);
      for (std::size_t f = 0; f < part.fields.size(); ++f) {
        const std::size_t width =
            static_cast<std::size_t>(part.fields[f].info.components) * mesh::size_of(part.fields[f].info.type);
        EXPECT_EQ(part.fields[f].bytes,
                  mesh::gather(cut.tree, pruned, mesh::gather(tree, cut, step.parts[p].fields[f].bytes, width), width));
      }
      EXPECT_TRUE(part.particles.empty());
    }
}

TEST(Read, counts_levels_and_finds_parts_by_region) {
  const Step step = random_step(9, {3, {4, 4, 4}, {1, 1, 1}, 5, 3000, 5, true});
  TemporaryDirectory dir;
  write_step(step, dir / "s", plan_of(1, 1, 2));
  const mesh::Dataset dataset = open_step(dir / "s");
  const mesh::Domain domain = mesh::domain_of(step.header);
  std::int64_t leaves = 0, expected = 0;
  for (const mesh::LevelCount& level : dataset.levels) leaves += level.leaves;
  for (const mesh::Part& part : step.parts)
    for (int l = 0; l < num_levels(std::get<mesh::Octree>(part.mesh)); ++l)
      expected += static_cast<std::int64_t>(num_owned_leaves(std::get<mesh::Octree>(part.mesh), l));
  EXPECT_EQ(leaves, expected);
  EXPECT_EQ(dataset.levels[0].level, 1);
  testing::Random random(1);
  std::size_t left_out = 0;
  for (int trial = 0; trial < 200; ++trial) {
    const mesh::Region region = mesh::Sphere{{random.uniform(), random.uniform(), random.uniform()}, 0.02};
    const auto found = dataset.parts_touching(region);
    left_out += step.parts.size() - found.size();
    for (std::size_t p = 0; p < step.parts.size(); ++p) {
      const auto& tree = std::get<mesh::Octree>(step.parts[p].mesh);
      bool touches = false;
      auto cells = root_coordinates(tree);
      for (int l = 0; l < num_levels(tree); ++l) {
        const mesh::Point3 size = mesh::cell_size(step.header, l);
        for (std::size_t i = 0; i < cells.size(); ++i) {
          if (!tree.owned[static_cast<std::size_t>(l)][i]) continue;
          mesh::Point3 lo{}, hi{};
          for (std::size_t a = 0; a < 3; ++a) {
            lo[a] = cells[i][a] * size[a] / step.header.hi[0];
            hi[a] = lo[a] + size[a] / step.header.hi[0];
          }
          touches = touches || mesh::touches(region, domain, lo, hi);
        }
        if (l + 1 < num_levels(tree)) cells = child_coordinates(tree, l, cells);
      }
      EXPECT_TRUE(!touches || std::count(found.begin(), found.end(), static_cast<int>(p)) == 1);
    }
  }
  EXPECT_GT(left_out, 200u);
}

// Everything that reading takes from the disk, by stream.
struct Reads {
  std::vector<file::Event> events;
  int opens = 0;
  std::uint64_t bytes = 0;
  Reads() {
    file::set_observer([this](const file::Event& event) {
      if (event.operation == file::Operation::open) ++opens;
      if (event.operation == file::Operation::read) {
        bytes += event.size;
        events.push_back(event);
      }
      return file::Verdict{};
    });
  }
  ~Reads() { file::set_observer({}); }
};

TEST(Read, a_request_reads_the_streams_it_needs_and_no_other_byte) {
  // Large enough for several level groups.
  const Step step = random_step(10, {3, {8, 8, 8}, {1, 1, 1}, 7, 400000, 2, true});
  TemporaryDirectory dir;
  write_step(step, dir / "s", plan_of(1, 1, 2));
  const mesh::Dataset dataset = open_step(dir / "s");
  const auto streams = list_streams(dir / "s", Flow::analysis, 1);
  std::set<int> groups;
  for (const StreamInfo& stream : streams)
    if (stream.field == "density") groups.insert(stream.first_level);
  ASSERT_GT(groups.size(), 2u);
  for (int last : {0, 3, 5, 6}) {
    mesh::Request request;
    request.fields = std::vector<std::string>{"density"};
    request.max_level = mesh::code_level(step.header, last);
    std::set<std::pair<std::uint64_t, std::uint64_t>> expected, found;
    std::uint64_t bytes = 0;
    for (const StreamInfo& stream : streams) {
      const bool mesh_stream = stream.field.empty() || stream.field == "?";
      if (stream.part != 1 || !(mesh_stream || (stream.field == "density" && stream.first_level <= last))) continue;
      expected.insert({stream.offset, stream.stored_bytes});
      bytes += stream.stored_bytes;
    }
    Reads reads;
    dataset.read(1, request);
    for (const file::Event& event : reads.events) found.insert({event.offset, event.size});
    EXPECT_EQ(found, expected);
    EXPECT_EQ(reads.bytes, bytes);
    EXPECT_EQ(reads.opens, 1);
  }
}

TEST(Read, one_data_set_is_read_from_many_threads) {
  const Step step = random_step(11, {3, {4, 4, 4}, {1, 1, 1}, 5, 3000, 4, true});
  TemporaryDirectory dir;
  write_step(step, dir / "s", plan_of(1, 1, 2));
  const mesh::Dataset dataset = open_step(dir / "s");
  std::vector<std::thread> threads;
  std::atomic<int> right = 0;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&] {
      if (same_parts(read_all(dataset), step.parts)) ++right;
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, 8);
}

TEST(Read, parts_without_particles_and_species_of_other_segments_read_as_empty) {
  Step step = random_step(12);
  step.parts[1].particles.clear();
  TemporaryDirectory dir;
  write_step(step, dir / "s", plan_of(1, 1, 2));
  const mesh::Dataset dataset = open_step(dir / "s");
  ASSERT_EQ(dataset.species.size(), 1u);
  EXPECT_EQ(dataset.species[0].count, 37);
  const auto parts = read_all(dataset);
  ASSERT_EQ(parts[1].particles.size(), 1u);
  EXPECT_EQ(parts[1].particles[0].count, 0);
  EXPECT_EQ(parts[1].particles[0].attributes.size(), 2u);
  EXPECT_EQ(parts[0].particles, step.parts[0].particles);
}

TEST(Read, the_mesh_and_the_footers_are_small) {
  const Step step = random_step(13, {3, {4, 4, 4}, {1, 1, 1}, 7, 200000, 2, false});
  TemporaryDirectory dir;
  write_step(step, dir / "s", plan_of(1, 1));
  std::uint64_t mesh = 0, all = 0;
  for (const StreamInfo& stream : list_streams(dir / "s", Flow::analysis, 1)) {
    all += stream.stored_bytes;
    if (stream.field.empty() || stream.field == "?") mesh += stream.stored_bytes;
  }
  const auto whole = static_cast<std::uint64_t>(open_step(dir / "s").bytes);
  EXPECT_LT(whole - all, 6000u);  // table, footer and padding of some 30 streams
  // A random tree compresses worst. Real trees take a tenth.
  EXPECT_LT(mesh, whole / 20);
}

// A step with a list of so many items, such as the bounds of a code's domains. Returns the bytes of each file's table.
std::vector<std::uint64_t> tables_with_list(std::size_t items) {
  Step step = random_step(4);
  step.header.attributes["bound_key"] = std::vector<double>(items, 0.5);
  step.header.attributes["nstep"] = std::vector<std::int64_t>{3, 4};
  const TemporaryDirectory dir;
  write_step(step, dir / "s", plan_of(1, 1, static_cast<int>(step.parts.size())));
  const DescribedStep whole = open_described(dir / "s", {}, {});
  EXPECT_EQ(whole.dataset.header.attributes, step.header.attributes);
  EXPECT_EQ(understand(whole.describe({whole.dataset.num_parts - 1})).header.attributes, step.header.attributes);
  EXPECT_TRUE(same_parts(read_all(whole.dataset), step.parts));
  EXPECT_TRUE(verify(dir / "s", 1).findings.empty());
  std::vector<std::uint64_t> bytes;
  for (const Subfile& subfile : scan_store(dir / "s").subfiles)
    bytes.push_back(subfile.commits.at(0).footer.table.length);
  return bytes;
}

TEST(Read, a_list_with_an_item_for_each_part_of_a_step_is_in_one_file_alone) {
  auto few = tables_with_list(100), many = tables_with_list(100000);
  ASSERT_GT(few.size(), 1u);
  EXPECT_GE(many[0], few[0] + 99900 * sizeof(double));
  few[0] = many[0] = 0;
  EXPECT_EQ(few, many);
}

TEST(Read, verify_says_where_owned_leaves_do_not_fill_the_domain) {
  Step step = random_step(14);
  step.parts.pop_back();
  TemporaryDirectory dir;
  write_step(step, dir / "s", plan_of(1, 1));
  EXPECT_EQ(verify(dir / "s", 1).findings.size(), 1u);
  TemporaryDirectory other;
  SegmentPlan plan = plan_of(1, 1);
  plan.whole_domain = false;
  write_step(step, other / "s", plan);
  EXPECT_TRUE(verify(other / "s", 1).findings.empty());
}

TEST(Read, progress_can_stop_verify) {
  TemporaryDirectory dir;
  write_step(random_step(1), dir / "s", plan_of(1, 1));
  EXPECT_EQ(kind_of([&] { verify(dir / "s", 1, [](std::int64_t, std::int64_t) { return false; }); }),
            Kind::interrupted);
}

TEST(Read, a_description_of_some_parts_is_enough_to_read_them) {
  const Step step = random_step(7);
  TemporaryDirectory dir;
  write_step(step, dir / "s", plan_of(1, 1, 2));
  const DescribedStep whole = open_described(dir / "s", {}, {});
  const int count = whole.dataset.num_parts;
  ASSERT_GT(count, 1);
  int opens = 0;
  file::set_observer([&](const file::Event& event) {
    opens += event.operation == file::Operation::open ? 1 : 0;
    return file::Verdict{};
  });
  const mesh::Dataset none = understand(whole.describe({}));
  EXPECT_EQ(none.num_parts, 0);
  EXPECT_EQ(none.header, whole.dataset.header);
  EXPECT_EQ(none.bytes, whole.dataset.bytes);
  ASSERT_EQ(none.species.size(), whole.dataset.species.size());
  for (int part = 0; part < count; ++part) {
    const mesh::Dataset one = understand(whole.describe({part}));
    EXPECT_EQ(one.num_parts, 1);
    EXPECT_EQ(one.header, whole.dataset.header);
    EXPECT_EQ(one.part_bytes(0), whole.dataset.part_bytes(part));
    EXPECT_EQ(opens, 0);
    mesh::Request all;
    all.particles = all.opaque = true;
    EXPECT_TRUE(same_parts({one.read(0, all)}, {whole.dataset.read(part, all)}));
    EXPECT_EQ(opens, 2);
    opens = 0;
  }
  file::set_observer({});
  std::vector<int> every(static_cast<std::size_t>(count));
  for (int part = 0; part < count; ++part) every[static_cast<std::size_t>(part)] = part;
  EXPECT_EQ(understand(whole.describe(every)).levels, whole.dataset.levels);
  const std::string text = whole.describe({0});
  for (std::size_t size = 0; size < text.size(); size += 7)
    EXPECT_THROW(understand(text.substr(0, size)), Error) << size;
}

}  // namespace
}  // namespace octavo::store
