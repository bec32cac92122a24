#include "octavo/store/read/triangles.hpp"

#include <gmock/gmock.h>

#include <stdexcept>

#include "octavo/base/error.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/rewrite_segment.hpp"
#include "tests/support/store_fixture.hpp"
#include "tests/support/triangle_halves.hpp"

// Steps of triangles as any writer might have written them. A step that does not fit is damaged, with the file and the
// stream named; kinds and names that we do not know are unsupported.
namespace octavo::store {
namespace {

namespace fs = std::filesystem;
using base::Error;
using base::Kind;
using ::testing::AllOf;
using ::testing::HasSubstr;

const BoundaryArrays boundary{{0, 1, 2, 3, 7, 11, 10, 9, 8, 4},
                              std::vector<std::int32_t>(40, 2),
                              std::vector<double>(70, 0.5),
                              {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}};

/// 4 x 3 points, each square of two triangles, in two planes; a field, and one of integers.
mesh::Part squares() {
  mesh::Unstructured mesh;
  mesh.planes = 2;
  for (std::int64_t i = 0; i < 12; ++i) {
    mesh.x.push_back(static_cast<double>(i % 4) + 0.1 * static_cast<double>(i / 4));
    mesh.y.push_back(static_cast<double>(i / 4));
    if (i % 4 < 3 && i / 4 < 2) mesh.connectivity.insert(mesh.connectivity.end(), {i, i + 1, i + 5, i, i + 5, i + 4});
  }
  mesh::Part part;
  part.fields.push_back(mesh::make_field({"depth", "m", mesh::ScalarType::float64, mesh::Centring::node, 1, 0}, 24));
  part.fields.push_back(mesh::make_field({"IPOBO", "", mesh::ScalarType::int32, mesh::Centring::node, 1, 0}, 24));
  for (std::size_t i = 0; i < 24; ++i) {
    part.fields[0].as<double>()[i] = 2.0 + 0.25 * static_cast<double>(i * i % 7);
    part.fields[1].as<std::int32_t>()[i] = static_cast<std::int32_t>(i);
  }
  part.mesh = std::move(mesh);
  return part;
}

using Change = std::function<void(StoredTriangles&)>;

/// A store of step 1, in as many parts as asked for (1 or 2), of which the last is changed before it is encoded.
struct Stored {
  testing::TemporaryDirectory dir;
  fs::path store = dir / "s";
  mesh::Part whole = squares();
  std::vector<std::int32_t> part_of = std::vector<std::int32_t>(12, 1);

  explicit Stored(int parts, const Change& change = {}, std::optional<MeshOrigin> origin = {}, std::int64_t step = 1) {
    write(parts, change, origin, step);
  }
  void write(int parts, const Change& change, std::optional<MeshOrigin> origin, std::int64_t step) {
    EncodeOptions options;
    options.part_of = part_of;
    options.boundary = &boundary;
    const StoredTriangles folded = fold(whole, options, origin);
    mesh::Header header;
    header.dim = 3;
    SegmentPlan plan = testing::plan_of(step, static_cast<unsigned>(step));
    plan.store = store;
    SegmentWriter writer(plan, header);
    for (int p = 0; p < parts; ++p) {
      StoredTriangles part = parts == 1 ? folded : testing::half_of(folded, p);
      if (change && p + 1 == parts) change(part);
      EncodedPart encoded = encode(view_of(part), header, {});
      writer.add(std::move(encoded));
    }
    writer.commit();
    note_durable(store, plan.flow, writer.order(), plan.step);
  }
  fs::path file() const { return store / "analysis" / "data.000"; }
};

std::vector<std::byte>& values_of(StoredTriangles& part, const std::string& name) {
  for (std::size_t a = 0; a < part.arrays.size(); ++a)
    if (name_of(part.arrays[a]) == name) return part.values[a];
  throw std::out_of_range(name);
}

void set_number(StoredTriangles& part, const std::string& name, std::size_t at, std::int32_t value) {
  reinterpret_cast<std::int32_t*>(values_of(part, name).data())[at] = value;
}

TEST(StoredTriangles, parts_come_together_again) {
  for (const int parts : {1, 2}) {
    Stored stored(parts);
    const MeshOrigin origin{1, mesh_checksum(std::get<mesh::Unstructured>(stored.whole.mesh))};
    stored.write(parts, {}, origin, 2);  // it refers to the mesh of step 1
    for (const std::int64_t step : {1, 2}) {
      const mesh::Dataset dataset = open_step(stored.store, Flow::analysis, step);
      EXPECT_EQ(dataset.num_parts, 1);
      EXPECT_EQ(dataset.levels, (std::vector<mesh::LevelCount>{{0, 12, 12}}));
      EXPECT_TRUE(dataset.species.empty());
      const mesh::Part part = dataset.read(0, {});
      EXPECT_TRUE(part.mesh == stored.whole.mesh);
      ASSERT_EQ(part.fields.size(), 2u);
      for (const std::size_t f : {0u, 1u}) {
        EXPECT_EQ(part.fields[f].info, stored.whole.fields[f].info);
        EXPECT_EQ(part.fields[f].bytes, stored.whole.fields[f].bytes);
      }
      const StoredMesh mesh = stored_mesh(stored.store, Flow::analysis, step);
      EXPECT_EQ(mesh.part_of, stored.part_of);
      EXPECT_EQ(mesh.boundary, boundary);
    }
    for (const Finding& finding : verify(stored.store, 1).findings) ADD_FAILURE() << finding.where << finding.what;
  }
}

void expect_corrupt(const Stored& stored, const std::string& what) {
  const Error error = testing::error_of([&] { open_step(stored.store, Flow::analysis, 1).read(0, {}); });
  EXPECT_EQ(error.kind(), Kind::corrupt) << error.what();
  EXPECT_THAT(error.what(), AllOf(HasSubstr(what), HasSubstr("data.000")));
  try {
    EXPECT_FALSE(verify(stored.store, 1).findings.empty()) << what;
  } catch (const Error& lost) {
    EXPECT_EQ(lost.kind(), Kind::corrupt);  // nothing is left
  }
}

TEST(StoredTriangles, points_that_are_not_there_are_damage) {
  for (const int parts : {1, 2}) {
    expect_corrupt(Stored(parts, [](auto& part) { set_number(part, "triangles/connectivity", 0, 12); }),
                   "mesh triangles/connectivity");
    expect_corrupt(Stored(parts, [](auto& part) { set_number(part, "triangles/connectivity", 1, -12); }),
                   "mesh triangles/connectivity");
    expect_corrupt(Stored(parts, [](auto& part) { set_number(part, "boundary/point", 0, 12); }), "mesh boundary/point");
  }
}

void remove_stream(Table& table, const std::string& name) {
  const auto row = std::find_if(table.streams.begin(), table.streams.end(),
                                [&](const StreamRow& stream) { return name_of(table, stream) == name; });
  const auto at = static_cast<std::size_t>(row - table.streams.begin());
  table.streams.erase(row);
  for (PartRow& part : table.parts) {
    if (part.first_stream > at) --part.first_stream;
    if (part.last_stream > at) --part.last_stream;
  }
}

MeshArray& array_of(Table& table, const std::string& name) {
  return *std::find_if(table.mesh.begin(), table.mesh.end(), [&](const auto& array) { return name_of(array) == name; });
}

TEST(StoredTriangles, tables_that_do_not_fit_are_damage) {
  using Edit = std::function<void(Table&)>;
  const std::vector<std::pair<std::string, Edit>> edits{
      {"mesh triangles/connectivity", [](Table& t) { remove_stream(t, "triangles/connectivity"); }},
      {"mesh points/y", [](Table& t) { remove_stream(t, "points/y"); }},
      {"field depth", [](Table& t) { remove_stream(t, "depth"); }},
      {"lacks points/y",
       [](Table& t) {
         array_of(t, "points/y").info.name = "yy";
         array_of(t, "points/yy").info.type = mesh::ScalarType::int64;
         array_of(t, "points/yy").info.components = 2;
       }},
      {"mesh points/x", [](Table& t) { array_of(t, "points/x").info.type = mesh::ScalarType::int64; }},
      {"mesh triangles/connectivity", [](Table& t) { array_of(t, "triangles/connectivity").info.components = 2; }},
      {"mesh points/IPOBO", [](Table& t) { array_of(t, "points/IPOBO").info.components = 3; }},
      {"two arrays", [](Table& t) { array_of(t, "boundary/codes").info.name = "values"; }},
      {"part 0", [](Table& t) { t.parts[0].share.places = 13; }},
      {"part 0", [](Table& t) { t.parts[0].share.boundary = std::uint64_t{1} << 40; }},
      {"mesh points/x", [](Table& t) { t.parts[0].share.points = 7; }},
      {"mesh triangles/connectivity", [](Table& t) { t.parts[0].share.triangles = 11; }},
      {"field depth", [](Table& t) { t.streams.back().raw_bytes += 8; }},
      {"another step's",
       [](Table& t) {
         t.triangles->origin = MeshOrigin{1, 2};
       }},
      {"points", [](Table& t) { t.triangles->points = 13; }},
      {"triangles", [](Table& t) { t.triangles->triangles = 13; }},
      {"part", [](Table& t) { t.parts[0].index = 5; }}};
  for (const auto& [what, edit] : edits) {
    const Stored stored(1);
    testing::rewrite_table(stored.file(), [&, &edit = edit](Table& table, testing::SegmentBytes&) { edit(table); });
    const Error error = testing::error_of([&] { open_step(stored.store, Flow::analysis, 1); });
    EXPECT_EQ(error.kind(), Kind::corrupt) << error.what();
    EXPECT_THAT(error.what(), HasSubstr(what));
  }
}

TEST(StoredTriangles, a_stream_of_fewer_values_is_damage) {
  for (const char* name : {"points/x", "triangles/connectivity", "depth"}) {
    const Stored stored(1);
    testing::rewrite_table(stored.file(), [&](Table& table, testing::SegmentBytes& segment) {
      for (StreamRow& stream : table.streams) {
        if (name_of(table, stream) != name) continue;
        const std::vector<double> one{1.0};
        std::vector<double> decoded(1);
        codec::encode(std::span<const double>(one), codec::Context<double>{}, {}, std::span(decoded), segment.stream);
        stream.stored_bytes = segment.stream.size();
        stream.stored_checksum = base::checksum(segment.stream);
        stream.offset = segment.end;
      }
      // Streams ascend, so later streams move to the place of this one.
      for (std::size_t s = 1; s < table.streams.size(); ++s)
        table.streams[s].offset =
            std::max(table.streams[s].offset, table.streams[s - 1].offset + table.streams[s - 1].stored_bytes);
    });
    const Error error = testing::error_of([&] { open_step(stored.store, Flow::analysis, 1).read(0, {}); });
    EXPECT_EQ(error.kind(), Kind::corrupt) << error.what();
    EXPECT_THAT(error.what(), HasSubstr("data.000"));
  }
}

TEST(StoredTriangles, a_mesh_that_is_not_there_is_damage) {
  const Stored wrong_step(1, {}, MeshOrigin{7, 1}, 1);
  EXPECT_EQ(testing::error_of([&] { open_step(wrong_step.store); }).kind(), Kind::corrupt);
  Stored stored(1);
  stored.write(1, {}, MeshOrigin{1, 42}, 2);  // another checksum
  stored.write(1, {}, MeshOrigin{2, 42}, 3);  // step 2 has none
  for (const auto& [step, what] : {std::pair(2, "is not the one"), std::pair(3, "has no mesh")}) {
    const Error error =
        testing::error_of([&, step = step] { open_step(stored.store, Flow::analysis, step).read(0, {}); });
    EXPECT_EQ(error.kind(), Kind::corrupt);
    EXPECT_THAT(error.what(), HasSubstr(what));
  }
}

TEST(StoredTriangles, names_that_are_not_known_are_unsupported) {
  const auto expect_unsupported = [](const Stored& stored) {
    const Error error = testing::error_of([&] { open_step(stored.store); });
    EXPECT_EQ(error.kind(), Kind::unsupported) << error.what();
  };
  const Stored of_others(1), on_edges(1);
  testing::replace_in_table(of_others.file(), "boundary", "frontier");
  expect_unsupported(of_others);
  testing::rewrite_table(on_edges.file(), [](Table& table, testing::SegmentBytes&) {
    table.header.fields[0].centring = mesh::Centring::cell;
  });
  expect_unsupported(on_edges);
}

TEST(StoredTriangles, parts_of_other_meshes_are_refused) {
  mesh::Header header;
  header.dim = 3;
  const testing::TemporaryDirectory dir;
  SegmentPlan plan = testing::plan_of(1, 1);
  plan.store = dir / "s";
  SegmentWriter writer(plan, header);
  const StoredTriangles whole = fold(squares(), {}, {});
  writer.add(encode(view_of(testing::half_of(whole, 0)), header, {}));
  StoredTriangles other = testing::half_of(whole, 1);
  other.mesh.planes = 1;
  other.fields.clear();
  other.arrays.pop_back();
  other.values.pop_back();
  EXPECT_THROW(writer.add(encode(view_of(other), header, {})), Error);
}

}  // namespace
}  // namespace octavo::store
