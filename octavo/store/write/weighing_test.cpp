// Fields that another weighs: found by their values, read with it, refused where a table says what cannot be.
#include "octavo/store/write/weighing.hpp"

#include <gtest/gtest.h>

#include <set>

#include "octavo/base/error.hpp"
#include "octavo/store/read/opened.hpp"
#include "octavo/store/read/values.hpp"
#include "tests/support/rewrite_segment.hpp"
#include "tests/support/store_fixture.hpp"
#include "tests/support/weigh_parents.hpp"

namespace octavo::store {
namespace {

using testing::plan_of;
using testing::same_parts;
using testing::Step;
using testing::TemporaryDirectory;

/// Parts with a weight, a vector and a scalar that it weighs, and a field of plain means, in this order: "u" (3
/// components), "plain", "rho", "scalar". Their names say nothing.
Step weighted_step(bool weighted = true) {
  testing::StepOptions options;
  options.cells = 6000;
  options.levels = 6;
  options.particles = false;
  Step step = testing::random_step(11, options);
  const auto info = [](const char* name, int components) {
    return mesh::FieldInfo{name, "", mesh::ScalarType::float64, mesh::Centring::cell, components, 0};
  };
  step.header.fields = {info("u", 3), info("plain", 1), info("rho", 1), info("scalar", 1)};
  testing::Random random(5);
  for (mesh::Part& part : step.parts) {
    const std::size_t cells = num_cells(std::get<mesh::Octree>(part.mesh));
    part.fields.clear();
    for (const mesh::FieldInfo& field : step.header.fields) {
      part.fields.push_back(mesh::make_field(field, cells * static_cast<std::size_t>(field.components)));
      for (double& x : part.fields.back().as<double>()) x = 2 * random.uniform() - 1;
    }
    for (double& x : part.fields[2].as<double>()) x = std::exp(3 * x);
    const auto& tree = std::get<mesh::Octree>(part.mesh);
    for (const std::size_t f : {2U, 0U, 1U, 3U}) {
      const bool by_rho = weighted && (f == 0 || f == 3);
      mesh::weigh_parents(tree, part.fields[f], by_rho ? part.fields[2].as<double>() : std::span<const double>{});
    }
  }
  return step;
}

std::size_t stored_bytes(const EncodedPart& part, const std::string& field) {
  std::size_t bytes = 0;
  for (const Stream& stream : part.streams) bytes += stream.field == field ? stream.bytes.size() : 0;
  return bytes;
}

TEST(Weighing, finds_the_field_that_weighs_whatever_its_name) {
  const Step weighted = weighted_step(), plain = weighted_step(false);
  const EncodedPart part = encode(weighted.parts[0], weighted.header, {});
  std::set<std::string> weighted_fields;
  for (const Stream& stream : part.streams)
    if (stream.weights) {
      EXPECT_EQ(*stream.weights, 2U);
      weighted_fields.insert(stream.field);
    }
  EXPECT_EQ(weighted_fields, (std::set<std::string>{"scalar", "u"}));
  const EncodedPart without = encode(plain.parts[0], plain.header, {});
  for (const Stream& stream : without.streams) EXPECT_FALSE(stream.weights) << stream.field;
}

TEST(Weighing, is_for_fields_that_are_stored_bit_for_bit) {
  const Step step = weighted_step();
  EncodeOptions options;
  options.field_codec["rho"] = {{codec::BoundKind::pointwise_relative, 1e-3}, codec::Effort::normal, {}};
  const EncodedPart bounded = encode(step.parts[0], step.header, options);
  for (const Stream& stream : bounded.streams) EXPECT_FALSE(stream.weights);
  // With weights one of eight random children is known.
  EXPECT_LT(stored_bytes(encode(step.parts[0], step.header, {}), "u"), stored_bytes(bounded, "u"));
  options = {};
  options.single_precision = true;
  for (const Stream& stream : encode(step.parts[0], step.header, options).streams) EXPECT_FALSE(stream.weights);
}

TEST(Weighing, every_choice_of_fields_and_levels_reads_the_same_values) {
  const Step step = weighted_step();
  TemporaryDirectory dir;
  write_step(step, dir / "s", plan_of(1, 1, 2));
  const mesh::Dataset dataset = open_step(dir / "s");
  EXPECT_TRUE(same_parts(testing::read_all(dataset), step.parts));
  EXPECT_TRUE(verify(dir / "s", 2).findings.empty());
  const std::vector<std::string> names{"u", "plain", "rho", "scalar"};
  for (unsigned choice = 1; choice < 16; ++choice)
    for (int level = 0; level < 6; ++level) {
      mesh::Request request;
      request.max_level = mesh::code_level(step.header, level);
      request.fields.emplace();
      for (std::size_t f = 0; f < 4; ++f)
        if ((choice >> f & 1) != 0) request.fields->push_back(names[f]);
      const mesh::Part part = dataset.read(0, request), whole = dataset.read(0, [&] {
        mesh::Request all;
        all.max_level = request.max_level;
        return all;
      }());
      ASSERT_EQ(part.fields.size(), request.fields->size());
      for (const mesh::Field& field : part.fields)
        for (const mesh::Field& expected : whole.fields)
          if (expected.info.name == field.info.name) {
            EXPECT_EQ(field.bytes, expected.bytes) << field.info.name << " on levels to " << level;
          }
    }
}

TEST(Weighing, a_plan_counts_the_field_that_weighs) {
  const Step step = weighted_step();
  TemporaryDirectory dir;
  write_step(step, dir / "s", plan_of(1, 1));
  const mesh::Dataset dataset = open_step(dir / "s");
  const auto bytes = [&](std::vector<std::string> fields) {
    mesh::Request request;
    request.fields = std::move(fields);
    return dataset.cost(0, request).bytes;
  };
  EXPECT_EQ(bytes({"scalar"}), bytes({"scalar", "rho"}));
  EXPECT_LT(bytes({"plain"}), bytes({"plain", "rho"}));
}

TEST(Weighing, values_are_streamed_and_placed) {
  const Step step = weighted_step();
  TemporaryDirectory dir;
  write_step(step, dir / "s", plan_of(1, 1));
  const Scan scan = scan_store(dir / "s");
  const OpenedSegment segment = open_segment(scan, scan.steps.at(0).segments.at(0));
  const file::File file = file::open_read(segment.path);
  for (std::size_t row = 0; row < segment.table.parts.size(); ++row) {
    std::vector<std::vector<std::byte>> streamed(4), placed(4);
    stream_part(segment.table, row, {}, source_of(file),
                [&](std::size_t field, int, std::size_t, std::span<const std::byte> values) {
                  streamed[field].insert(streamed[field].end(), values.begin(), values.end());
                });
    PartSource source = source_of(file);
    source.place = [&](const mesh::FieldInfo& field, std::size_t size) {
      for (std::size_t f = 0; f < 4; ++f)
        if (step.header.fields[f].name == field.name) {
          placed[f].resize(size);
          return std::span<std::byte>(placed[f]);
        }
      return std::span<std::byte>{};
    };
    decode_part(segment.table, row, {}, source);
    for (std::size_t f = 0; f < 4; ++f) {
      EXPECT_EQ(streamed[f], step.parts[row].fields[f].bytes) << f;
      EXPECT_EQ(placed[f], step.parts[row].fields[f].bytes) << f;
    }
  }
}

TEST(Weighing, a_table_that_says_what_cannot_be_is_corrupt) {
  const Step step = weighted_step();
  const auto outcome_of = [&](const std::function<void(StreamRow&)>& change) -> std::string {
    TemporaryDirectory dir;
    write_step(step, dir / "s", plan_of(1, 1));
    testing::rewrite_table(dir / "s" / "analysis" / "data.000", [&](Table& table, testing::SegmentBytes&) {
      for (StreamRow& row : table.streams)
        if (row.kind == StreamKind::field) change(row);
    });
    try {
      testing::read_all(open_step(dir / "s"));
    } catch (const base::Error& error) {
      return error.kind() == base::Kind::corrupt ? "corrupt" : error.what();
    }
    return "read";
  };
  const std::vector<std::function<void(StreamRow&)>> changes{
      [](StreamRow& row) { row.weights = row.index == 3 ? std::optional<std::size_t>(4) : row.weights; },  // no field
      [](StreamRow& row) { row.weights = row.index == 3 ? std::optional<std::size_t>(0) : row.weights; },  // 3 values
      [](StreamRow& row) {
        row.weights = row.index == 2 ? std::optional<std::size_t>(3) : row.weights;
      },  // in a circle
      [](StreamRow& row) { row.weights = row.index == 2 ? std::optional<std::size_t>(2) : row.weights; },  // itself
      [](StreamRow& row) { row.weights.reset(); }};  // predictions need them
  for (std::size_t c = 0; c < changes.size(); ++c) EXPECT_EQ(outcome_of(changes[c]), "corrupt") << c;
  EXPECT_EQ(outcome_of([](StreamRow&) {}), "read");
}

}  // namespace
}  // namespace octavo::store
