#include "octavo/store/read/solids.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>
#include <stdexcept>

#include "octavo/base/error.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/rewrite_segment.hpp"
#include "tests/support/solids_fixture.hpp"
#include "tests/support/store_fixture.hpp"
#include "tests/support/triangle_halves.hpp"

// Steps of solids as any writer might have written them. A step that does not fit is damaged, with the file and the
// array named.
namespace octavo::store {
namespace {

namespace fs = std::filesystem;
using base::Kind;
using ::testing::AllOf;
using ::testing::HasSubstr;

mesh::Part cube() {
  mesh::Part part;
  mesh::Solids mesh = testing::box_of_solids(2, 0);
  part.fields.push_back(
      mesh::make_field({"head", "m", mesh::ScalarType::float64, mesh::Centring::node, 1, 0}, mesh.x.size()));
  part.fields.push_back(
      mesh::make_field({"rock", "", mesh::ScalarType::int64, mesh::Centring::cell, 1, 0}, mesh.corners.size()));
  for (std::size_t i = 0; i < mesh.x.size(); ++i)
    part.fields[0].as<double>()[i] = mesh.x[i] - 3 * mesh.y[i] + mesh.z[i];
  for (std::size_t i = 0; i < mesh.corners.size(); ++i)
    part.fields[1].as<std::int64_t>()[i] = std::int64_t{1} << (i % 60);
  part.fields[0].as<double>()[3] = std::numeric_limits<double>::quiet_NaN();
  part.fields[0].as<double>()[4] = -0.0;
  part.mesh = std::move(mesh);
  return part;
}

using Change = std::function<void(StoredTriangles&)>;

/// A store of step 1, in as many parts as asked for (1 or 2), of which the last is changed before it is encoded.
struct StoredCube {
  testing::TemporaryDirectory dir;
  fs::path store = dir / "s";
  mesh::Part whole = cube();
  std::vector<std::int32_t> part_of{};

  explicit StoredCube(int parts, const Change& change = {}) { write(parts, change, {}, 1); }
  void write(int parts, const Change& change, std::optional<MeshOrigin> origin, std::int64_t step) {
    EncodeOptions options;
    options.part_of = part_of;
    const StoredTriangles folded = fold_solids(whole, options, origin);
    SegmentPlan plan = testing::plan_of(step, static_cast<unsigned>(step));
    plan.store = store;
    SegmentWriter writer(plan, mesh::Header{});
    for (int p = 0; p < parts; ++p) {
      StoredTriangles part = parts == 1 ? folded : testing::half_of_solids(folded, p);
      if (change && p + 1 == parts) change(part);
      writer.add(encode(view_of(part), mesh::Header{}, {}));
    }
    writer.commit();
    note_durable(store, plan.flow, writer.order(), plan.step);
  }
  mesh::Part read(std::int64_t step = 1) const { return open_step(store, Flow::analysis, step).read(0, {}); }
  std::string refusal() const {
    const auto error = testing::error_of([&] { read(); });
    EXPECT_EQ(error.kind(), Kind::corrupt);
    EXPECT_THAT(error.what(), HasSubstr("data.000"));
    EXPECT_FALSE(verify(store, 1).findings.empty());
    return error.what();
  }
};

std::vector<std::byte>& array_of(StoredTriangles& part, const std::string& name) {
  for (std::size_t a = 0; a < part.arrays.size(); ++a)
    if (name_of(part.arrays[a]) == name) return part.values[a];
  throw std::out_of_range(name);
}

void expect_same(const mesh::Part& found, const mesh::Part& written) {
  EXPECT_EQ(found.mesh, written.mesh);
  ASSERT_EQ(found.fields.size(), written.fields.size());
  for (std::size_t f = 0; f < found.fields.size(); ++f) EXPECT_EQ(found.fields[f], written.fields[f]);
}

TEST(stored_solids, come_back_bit_for_bit_from_one_part_or_two) {
  for (const int parts : {1, 2}) {
    const StoredCube stored(parts);
    expect_same(stored.read(), stored.whole);
    const mesh::Dataset step = open_step(stored.store);
    EXPECT_TRUE(step.unstructured);
    EXPECT_EQ(mesh::count_solids(step.header), (std::vector<std::int64_t>{0, 12, 8, 2}));
    EXPECT_EQ(step.read(0, {.fields = {{"rock"}}, .mesh = false}).fields.at(0), stored.whole.fields[1]);
    EXPECT_TRUE(verify(stored.store, 1).findings.empty());
  }
}

TEST(stored_solids, a_cut_is_a_field_of_the_step_that_holds_it_and_of_those_that_take_its_mesh) {
  StoredCube stored(1);
  stored.part_of.assign(22, 3);
  stored.part_of[7] = 1;
  for (const int parts : {1, 2}) {
    const std::int64_t number = 10 * parts;
    stored.write(parts, {}, {}, number);
    stored.write(1, {}, MeshOrigin{number, solids_checksum(std::get<mesh::Solids>(stored.whole.mesh))}, number + 1);
    for (const std::int64_t step : {number, number + 1}) {
      const mesh::Dataset dataset = open_step(stored.store, Flow::analysis, step);
      ASSERT_EQ(dataset.header.fields.size(), 3U);
      const mesh::Field part = dataset.read(0, {.fields = {{"part"}}, .mesh = false}).fields.at(0);
      EXPECT_EQ(part.info.centring, mesh::Centring::cell);
      EXPECT_THAT(part.as<std::int32_t>(), ::testing::ElementsAreArray(stored.part_of));
      EXPECT_EQ(dataset.read(0, {.fields = {{"rock", "part"}}}).fields.size(), 2U);
      EXPECT_EQ(dataset.read(0, {.fields = {{"rock"}}}).fields.size(), 1U);
    }
  }
}

TEST(stored_solids, a_step_takes_its_mesh_from_another_and_notices_that_it_is_not_the_same) {
  StoredCube stored(1);
  const std::int64_t checksum = solids_checksum(std::get<mesh::Solids>(stored.whole.mesh));
  stored.whole.fields[0].as<double>()[0] = 7;
  stored.write(1, {}, MeshOrigin{1, checksum}, 2);
  stored.write(2, {}, MeshOrigin{1, checksum}, 3);
  stored.write(1, {}, MeshOrigin{1, checksum + 1}, 4);
  stored.write(1, {}, MeshOrigin{9, checksum}, 5);
  for (const std::int64_t step : {2, 3}) expect_same(stored.read(step), stored.whole);
  EXPECT_THAT(testing::error_of([&] { stored.read(4); }).what(), HasSubstr("mesh of step 1 is not the one"));
  EXPECT_THAT(testing::error_of([&] { stored.read(5); }).what(), HasSubstr("stored with step 9, which is not there"));
}

TEST(stored_solids, a_mesh_that_does_not_fit_is_damaged) {
  const std::vector<std::pair<Change, const char*>> changes{
      {[](auto& part) { reinterpret_cast<std::int32_t*>(array_of(part, "corners/point").data())[0] = 99; },
       "mesh corners/point"},
      {[](auto& part) { reinterpret_cast<std::int32_t*>(array_of(part, "corners/point").data())[1] = -99; },
       "expected 0 to 28, found"},
      {[](auto& part) { array_of(part, "cells/corners")[0] = std::byte{7}; }, ": expected 4, 5, 6 or 8, found 7"},
      {[](auto& part) { reinterpret_cast<float*>(array_of(part, "points/z").data())[2] = NAN; }, "finite number"},
  };
  for (const auto& [change, said] : changes)
    for (const int parts : {1, 2}) EXPECT_THAT(StoredCube(parts, change).refusal(), HasSubstr(said));
}

TEST(stored_solids, counts_that_do_not_agree_are_damaged) {
  const std::vector<std::pair<Change, const char*>> changes{
      {[](auto& part) { part.mesh.shapes[1] += 1; }, "expected values of cells 23"},
      {[](auto& part) {
         part.mesh.shapes = {0, 8, 12, 2};
       },
       "expected corners 128"},
      {[](auto& part) { part.mesh.points += 1; }, "expected values of points 30"},
      {[](auto& part) {
         part.mesh.shapes = {1, 0, 0, 0};
       },
       "cannot have"},
      {[](auto& part) {
         part.mesh.shapes = {1, 10, 9, 2};
       },
       "found 12 pyramids, 8 prisms, 2 hexahedra, expected 1 tetrahedron, 10 pyramids, 9 prisms, 2 hexahedra"},
  };
  for (const auto& [change, said] : changes) {
    const StoredCube stored(1, [&change = change](StoredTriangles& part) {
      change(part);
      part.mesh.triangles = part.mesh.shapes[0] + part.mesh.shapes[1] + part.mesh.shapes[2] + part.mesh.shapes[3];
    });
    const auto error = testing::error_of([&] { stored.read(); });
    EXPECT_THAT(error.what(), HasSubstr(said));
    try {
      EXPECT_FALSE(verify(stored.store, 1).findings.empty());
    } catch (const base::Error& damage) {  // nothing of the store could be opened
      EXPECT_EQ(damage.kind(), Kind::corrupt);
    }
  }
}

TEST(stored_solids, fields_of_vectors_and_empty_meshes_are_refused_by_the_writer) {
  mesh::Part part = cube();
  std::get<mesh::Solids>(part.mesh).corners.clear();
  std::get<mesh::Solids>(part.mesh).connectivity.clear();
  EXPECT_THAT(testing::error_of([&] { encode(part, mesh::Header{}, {}); }).what(), HasSubstr("0 cells"));
  part = cube();
  part.fields[1].info.centring = mesh::Centring::node;
  EXPECT_THAT(testing::error_of([&] { encode(part, mesh::Header{}, {}); }).what(),
              HasSubstr("expected a value at each of 29 points"));
}

}  // namespace
}  // namespace octavo::store
