#include "octavo/verbs/repack.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <map>
#include <set>
#include <tuple>

#include "octavo/base/error.hpp"
#include "octavo/mesh/tree/merge.hpp"
#include "octavo/step/recut.hpp"
#include "octavo/store/store.hpp"
#include "octavo/verbs/convert.hpp"
#include "octavo/verbs/sample/sample.hpp"
#include "tests/support/store_fixture.hpp"
#include "tests/support/thread_ranks.hpp"

namespace octavo::verbs {
namespace {

namespace fs = std::filesystem;
using store::Flow;

const mesh::Dataset& with_particles() {
  static const mesh::Dataset dataset =
      sample({.domains = 5, .level_min = 3, .level_max = 5, .seed = 7, .particles = 300});
  return dataset;
}

void write_store(const fs::path& out, const std::string& accuracy, const std::vector<std::int64_t>& steps = {3}) {
  ConvertOptions options;
  options.accuracy = parse_accuracy(accuracy);
  options.per_file = 2;
  options.append = true;
  for (const std::int64_t step : steps) convert(with_particles(), step, out, options);
}

/// Bits of all fields of every owned cell, by level and place; every one once. Particles as bits, in order.
struct Content {
  std::map<std::pair<int, mesh::Coordinate>, std::string> cells;
  std::multiset<std::string> particles;
  bool operator==(const Content&) const = default;
};

void add_cells(const mesh::Part& part, Content& content) {
  const mesh::Octree& tree = octree_of(part);
  auto coordinates = root_coordinates(tree);
  std::size_t first = 0;
  for (int level = 0; level < num_levels(tree); ++level) {
    const auto l = static_cast<std::size_t>(level);
    tree.owned[l].for_each_set([&](std::size_t i) {
      std::string bits(1, tree.refined[l][i] ? 'r' : 'l');
      for (const mesh::Field& field : part.fields) {
        const std::size_t width = field.bytes.size() / num_cells(tree);
        bits.append(reinterpret_cast<const char*>(field.bytes.data()) + (first + i) * width, width);
      }
      EXPECT_TRUE(content.cells.emplace(std::pair(level, coordinates[i]), bits).second) << "a cell with two owners";
    });
    first += num_cells(tree, level);
    if (level + 1 < num_levels(tree)) coordinates = child_coordinates(tree, level, coordinates);
  }
}

void add_particles(const mesh::Particles& species, Content& content) {
  for (std::size_t i = 0; i < static_cast<std::size_t>(species.count); ++i) {
    std::string bits = species.species;
    for (const mesh::Field& field : species.attributes) {
      const std::size_t width = field.bytes.size() / static_cast<std::size_t>(species.count);
      bits.append(reinterpret_cast<const char*>(field.bytes.data()) + i * width, width);
    }
    content.particles.insert(bits);
  }
}

Content content_of(const fs::path& store, std::optional<Flow> flow = {}, std::optional<std::int64_t> step = {}) {
  const mesh::Dataset dataset = store::open_step(store, flow, step);
  Content content;
  for (int p = 0; p < dataset.num_parts; ++p) {
    mesh::Request request;
    request.particles = true;
    const mesh::Part part = dataset.read(p, request);
    add_cells(part, content);
    for (const mesh::Particles& species : part.particles) add_particles(species, content);
  }
  return content;
}

std::size_t files_of(const fs::path& store) {
  std::set<std::string> files;
  for (const store::StepInfo& step : store::list_steps(store))
    for (const store::StreamInfo& stream : store::list_streams(store, step.flow, step.step))
      files.insert(stream.file.string());
  return files.size();
}

std::vector<std::tuple<int, std::string, std::uint64_t, std::string>> streams_of(const fs::path& store) {
  std::vector<std::tuple<int, std::string, std::uint64_t, std::string>> rows;
  for (const store::StreamInfo& stream : store::list_streams(store, Flow::analysis, 3))
    rows.emplace_back(stream.part, stream.field, stream.stored_bytes, stream.codec);
  return rows;
}

void expect_clean(const fs::path& store) {
  const store::Report report = store::verify(store, 2);
  for (const store::Finding& finding : report.findings) ADD_FAILURE() << finding.where << ": " << finding.what;
}

TEST(Recut, has_the_cuts_of_plan_split_whatever_the_number_of_counters) {
  std::vector<mesh::Part> parts;
  for (int p = 0; p < with_particles().num_parts; ++p) parts.push_back(with_particles().read(p, {}));
  for (const int count : {1, 2, 3, 7, 40})
    for (const std::size_t counters : {std::size_t{1}, std::size_t{100}, std::size_t{1} << 18})
      EXPECT_EQ(step::plan_recut(with_particles(), count, {}, counters).plan, mesh::plan_split(parts, count))
          << count << " parts, " << counters << " counters";
}

TEST(Recut, has_empty_parts_where_there_are_fewer_leaves_than_parts) {
  const mesh::Dataset one = sample({.domains = 1, .level_min = 1, .level_max = 1});
  const step::Recut recut = step::plan_recut(one, 11);
  step::Recutter recutter(one, recut, 1);
  std::size_t leaves = 0;
  for (int m = 0; m < 11; ++m) {
    const mesh::Part part = recutter.part(m);
    for (int level = 0; level < num_levels(octree_of(part)); ++level)
      leaves += num_owned_leaves(octree_of(part), level);
  }
  EXPECT_EQ(leaves, 8U);
}

TEST(Recut, reads_each_old_part_once_where_parts_follow_each_other_and_one_is_kept) {
  for (const int count : {1, 3, 40}) {
    const step::Recut recut = step::plan_recut(with_particles(), count);
    step::Recutter recutter(with_particles(), recut, 1);
    for (int m = 0; m < count; ++m) recutter.part(m);
    EXPECT_LE(recutter.reads(), with_particles().num_parts + 2 * count) << "40: not once for each part and new part";
  }
}

// The same step, of which nobody knows where particles are.
mesh::Dataset without_positions(const mesh::Dataset& dataset) {
  mesh::Dataset blind = dataset;
  for (mesh::SpeciesInfo& info : blind.species)
    std::erase_if(info.attributes, [](const mesh::FieldInfo& a) { return a.name.starts_with("position_"); });
  blind.read = [read = dataset.read](int part, const mesh::Request& request) {
    mesh::Part out = read(part, request);
    for (mesh::Particles& species : out.particles)
      std::erase_if(species.attributes, [](const mesh::Field& a) { return a.info.name.starts_with("position_"); });
    return out;
  };
  return blind;
}

std::string all_particles(const std::vector<mesh::Part>& parts) {
  std::map<std::string, std::string> by_name;
  for (const mesh::Part& part : parts)
    for (const mesh::Particles& species : part.particles)
      for (const mesh::Field& field : species.attributes)
        by_name[species.species + "/" + field.info.name].append(reinterpret_cast<const char*>(field.bytes.data()),
                                                                field.bytes.size());
  std::string text;
  for (const auto& [name, bytes] : by_name) text += name + bytes;
  return text;
}

TEST(Recut, deals_particles_without_positions_out_in_equal_numbers_that_stay_in_order) {
  const mesh::Dataset blind = without_positions(with_particles());
  mesh::Request everything;
  everything.particles = true;
  std::vector<mesh::Part> before;
  for (int p = 0; p < blind.num_parts; ++p) before.push_back(blind.read(p, everything));
  ASSERT_FALSE(all_particles(before).empty());
  for (const int count : {1, 3, 8}) {
    const step::Recut recut = step::plan_recut(blind, count);
    step::Recutter recutter(blind, recut, 1);
    std::vector<mesh::Part> after;
    for (int m = 0; m < count; ++m) after.push_back(recutter.part(m));
    EXPECT_EQ(all_particles(after), all_particles(before)) << count;
    std::set<std::int64_t> counts;
    for (const mesh::Part& part : after) counts.insert(part.particles.at(0).count);
    EXPECT_LE(*counts.rbegin() - *counts.begin(), 1) << count;
  }
}

TEST(Repack, keeps_cells_values_and_particles_for_any_parts_and_files) {
  for (const std::string accuracy : {"lossless", "point:1e-3", "abs:1e-4"}) {
    const testing::TemporaryDirectory directory;
    write_store(directory / "in", accuracy);
    const Content expected = content_of(directory / "in");
    for (const int domains : {0, 1, 3, 8})
      for (const int per_file : {1, 2, 0}) {
        const fs::path out = directory / ("out_" + std::to_string(domains) + "_" + std::to_string(per_file));
        const RepackReport report = repack(directory / "in", out, {.domains = domains, .per_file = per_file});
        const int parts = domains == 0 ? 5 : domains;
        EXPECT_EQ(report.parts, parts);
        EXPECT_EQ(files_of(out), per_file == 0 ? 1U : static_cast<std::size_t>((parts + per_file - 1) / per_file));
        EXPECT_TRUE(content_of(out) == expected) << accuracy << ", " << domains << " domains, " << per_file;
        expect_clean(out);
      }
  }
}

TEST(Repack, copies_streams_where_parts_stay) {
  const testing::TemporaryDirectory directory;
  write_store(directory / "in", "point:1e-3");
  for (const int domains : {0, 5}) {
    const fs::path out = directory / std::to_string(domains);
    const RepackReport report = repack(directory / "in", out, {.domains = domains, .per_file = 3});
    EXPECT_EQ(report.parts_copied, 5);
    EXPECT_EQ(report.parts_read, 0);
    EXPECT_EQ(streams_of(out), streams_of(directory / "in"));
  }
}

// Each chunk of the input has a lattice of its own: one that holds values of several has none that gives all back.
TEST(Repack, of_values_with_a_bound_into_other_parts_is_lossless) {
  const testing::TemporaryDirectory directory;
  write_store(directory / "in", "point:1e-3");
  const RepackReport report = repack(directory / "in", directory / "out", {.domains = 3});
  EXPECT_GT(report.made_lossless, 0);
  EXPECT_TRUE(content_of(directory / "out") == content_of(directory / "in"));
}

// Two parts in one field: one with a bound, one with other values, which that bound would change.
TEST(Repack, stores_losslessly_what_a_bound_would_change) {
  const testing::TemporaryDirectory directory;
  const mesh::Dataset& dataset = with_particles();
  store::SegmentPlan plan;
  plan.store = directory / "in";
  plan.step = 3;
  store::SegmentWriter writer(plan, dataset.header);
  for (int p = 0; p < dataset.num_parts; ++p) {
    store::EncodeOptions encoding;
    if (p > 0) encoding.codec.bound = {codec::BoundKind::pointwise_relative, 0.01};
    writer.add(store::encode(dataset.read(p, {}), dataset.header, encoding));
  }
  writer.commit();
  const RepackReport report = repack(directory / "in", directory / "out", {.domains = 2});
  EXPECT_GT(report.made_lossless, 0);
  EXPECT_TRUE(content_of(directory / "out") == content_of(directory / "in"));
}

TEST(Repack, keeps_flows_numbers_times_and_headers_of_blocked_meshes_in_any_dimension) {
  for (const int dim : {1, 2, 3}) {
    const testing::TemporaryDirectory directory;
    testing::StepOptions shape;
    shape.dim = dim;
    shape.particles = dim == 1;  // they have one coordinate
    for (std::size_t a = 0; a < static_cast<std::size_t>(dim); ++a) {
      shape.roots[a] = 2 + static_cast<std::int64_t>(a);
      shape.block[a] = 2;
    }
    for (const Flow flow : {Flow::analysis, Flow::checkpoint})
      for (const unsigned number : {4U, 9U}) {
        testing::Step step = testing::random_step(number, shape);
        step.header.time = 0.5 * number;
        step.header.attributes["nstep"] = std::int64_t{number};
        store::SegmentPlan plan = testing::plan_of(number, number, 2);
        plan.flow = flow;
        testing::write_step(step, directory / "in", plan);
      }
    const RepackReport report = repack(directory / "in", directory / "out", {.domains = 4, .per_file = 3});
    EXPECT_EQ(report.steps, 4);
    const auto before = store::list_steps(directory / "in"), after = store::list_steps(directory / "out");
    ASSERT_EQ(after.size(), 4U);
    for (std::size_t s = 0; s < after.size(); ++s) {
      EXPECT_EQ(after[s].flow, before[s].flow);
      EXPECT_EQ(after[s].step, before[s].step);
      EXPECT_EQ(after[s].time, before[s].time);
      EXPECT_EQ(after[s].parts, 4);
      EXPECT_EQ(store::open_step(directory / "out", after[s].flow, after[s].step).header,
                store::open_step(directory / "in", after[s].flow, after[s].step).header);
      EXPECT_TRUE(content_of(directory / "out", after[s].flow, after[s].step) ==
                  content_of(directory / "in", after[s].flow, after[s].step));
    }
    expect_clean(directory / "out");
    repack(directory / "in", directory / "some", {.flow = Flow::checkpoint, .steps = {9}});
    ASSERT_EQ(store::list_steps(directory / "some").size(), 1U);
    EXPECT_EQ(store::list_steps(directory / "some")[0].flow, Flow::checkpoint);
  }
}

TEST(Repack, has_the_same_streams_for_any_threads_and_ranks) {
  const testing::TemporaryDirectory directory;
  write_store(directory / "in", "lossless");
  repack(directory / "in", directory / "one", {.domains = 7, .per_file = 2, .threads = 1});
  repack(directory / "in", directory / "threads", {.domains = 7, .per_file = 2, .threads = 3});
  EXPECT_EQ(streams_of(directory / "threads"), streams_of(directory / "one"));
  for (const int size : {2, 5}) {
    const fs::path out = directory / std::to_string(size);
    std::atomic<int> parts = 0;
    testing::run_ranks(size, [&](const base::Ranks& ranks) {
      parts += repack(directory / "in", out, {.domains = 7, .per_file = 2, .ranks = ranks}).parts;
    });
    EXPECT_EQ(parts, 7 * size) << "every rank knows the total";
    EXPECT_EQ(streams_of(out), streams_of(directory / "one"));
    expect_clean(out);
  }
}

TEST(Repack, in_place_replaces_the_store) {
  const testing::TemporaryDirectory directory;
  write_store(directory / "run", "lossless", {3, 4});
  const Content expected = content_of(directory / "run", {}, 3);
  EXPECT_THROW(repack(directory / "run", directory / "run", {.domains = 2}), base::Error);
  repack(directory / "run", directory / "run/", {.domains = 2, .overwrite = true});
  EXPECT_EQ(store::list_steps(directory / "run").size(), 2U);
  EXPECT_TRUE(content_of(directory / "run", {}, 3) == expected);
  EXPECT_FALSE(fs::exists(directory / "run.partial"));
}

TEST(Repack, leaves_nothing_where_it_is_interrupted_or_meets_damage) {
  const testing::TemporaryDirectory directory;
  write_store(directory / "in", "lossless");
  RepackOptions stopped{.domains = 4};
  stopped.progress = [](std::int64_t done, std::int64_t total) {
    EXPECT_EQ(total, 4);
    return done < 2;
  };
  EXPECT_THROW(repack(directory / "in", directory / "out", stopped), base::Error);
  const store::StreamInfo stream = store::list_streams(directory / "in", Flow::analysis, 3).back();
  std::fstream file(stream.file, std::ios::in | std::ios::out | std::ios::binary);
  file.seekg(static_cast<std::streamoff>(stream.offset));
  const char byte = static_cast<char>(file.get() ^ 1);
  file.seekp(static_cast<std::streamoff>(stream.offset));
  file.put(byte);
  file.close();
  for (const int domains : {0, 2}) {
    try {
      repack(directory / "in", directory / "out", {.domains = domains});
      FAIL() << "damage was taken over";
    } catch (const base::Error& error) {
      EXPECT_EQ(error.kind(), base::Kind::corrupt);
      EXPECT_NE(std::string(error.what()).find(stream.file.filename().string()), std::string::npos);
    }
    EXPECT_FALSE(fs::exists(directory / "out"));
    EXPECT_FALSE(fs::exists(directory / "out.partial"));
  }
}

TEST(Repack, says_which_request_cannot_be) {
  const testing::TemporaryDirectory directory;
  write_store(directory / "in", "lossless");
  EXPECT_THROW(repack(directory / "nothing", directory / "out", {}), base::Error);
  EXPECT_THROW(repack(directory / "in", directory / "out", {.steps = {77}}), base::Error);
  EXPECT_THROW(repack(directory / "in", directory / "out", {.flow = Flow::checkpoint}), base::Error);
  EXPECT_THROW(repack(directory / "in", directory / "out", {.domains = -1}), base::Error);
  EXPECT_FALSE(fs::exists(directory / "out"));
}

using Bytes = std::map<int, std::map<std::string, std::vector<std::byte>>>;

bool tells_lost_bytes(const std::vector<std::string>& notes) {
  return std::any_of(notes.begin(), notes.end(), [](const std::string& note) {
    return note.find("bytes of the code's own, which belong to single parts: ") != std::string::npos &&
           note.ends_with(": clock");
  });
}

TEST(Opaque, bytes_stay_with_their_parts_and_a_note_tells_where_they_cannot) {
  const testing::TemporaryDirectory dir;
  mesh::Dataset dataset = with_particles();
  dataset.read = [](int part, const mesh::Request& request) {
    mesh::Part out = with_particles().read(part, request);
    const std::vector<std::byte> bytes{static_cast<std::byte>(part)};
    if (request.opaque) out.opaque = {{"clock", bytes}, {".hint", bytes}};
    return out;
  };
  const auto bytes_in = [](const fs::path& store) { return store::read_opaque(store, Flow::analysis, 3); };
  const auto converted = [&](const char* name, const ConvertOptions& options) {
    return convert(std::vector<fs::path>{dir / "s.octavo"}, dir / name, options).notes;
  };
  convert(dataset, 3, dir / "s.octavo", {});
  const Bytes all = bytes_in(dir / "s.octavo");
  ASSERT_EQ(all.size(), 5u);
  EXPECT_EQ(all.at(3).at("clock"), std::vector<std::byte>{std::byte{3}});
  EXPECT_FALSE(tells_lost_bytes(converted("same.octavo", {})));
  EXPECT_EQ(bytes_in(dir / "same.octavo"), all);
  ConvertOptions coarse;
  coarse.max_level = 4;
  EXPECT_FALSE(tells_lost_bytes(converted("coarse.octavo", coarse)));
  Bytes without_hints = all;
  for (auto& [part, bytes] : without_hints) bytes.erase(".hint");
  EXPECT_EQ(bytes_in(dir / "coarse.octavo"), without_hints);
  ConvertOptions blocks;
  blocks.to = "flash";
  blocks.fill = true;
  EXPECT_TRUE(tells_lost_bytes(converted("flash.h5", blocks)));
  EXPECT_FALSE(tells_lost_bytes(repack(dir / "s.octavo", dir / "files.octavo", {.per_file = 1}).notes));
  EXPECT_EQ(bytes_in(dir / "files.octavo"), all);
  EXPECT_TRUE(tells_lost_bytes(repack(dir / "s.octavo", dir / "three.octavo", {.domains = 3}).notes));
  EXPECT_TRUE(bytes_in(dir / "three.octavo").empty());
}

}  // namespace
}  // namespace octavo::verbs
