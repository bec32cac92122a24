#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

#include "octavo/base/byte_order.hpp"
#include "octavo/base/error.hpp"
#include "octavo/store/read/solids.hpp"
#include "octavo/store/read/triangles.hpp"
#include "tests/support/rewrite_segment.hpp"
#include "tests/support/solids_fixture.hpp"
#include "tests/support/store_fixture.hpp"
#include "tests/support/triangle_halves.hpp"
#include "tests/support/weigh_parents.hpp"

// tests/golden holds one small store for each kind of content and each version that was ever released, and beside it
// what it reads as. They are read by every later version and never written again; to add those that NAME has not yet:
//   OCTAVO_NEW_GOLDEN=NAME octavo_store_test --gtest_also_run_disabled_tests --gtest_filter='Golden.*new_store'
// `make golden` makes those of a version anew that no release has written yet.
namespace octavo::store {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::plan_of;
using testing::random_step;
using testing::Step;
using testing::StepOptions;
using testing::write_durable_step;

fs::path golden_directory() {
  return fs::path(__FILE__).parent_path().parent_path().parent_path() / "tests" / "golden";
}

std::string hexadecimal(const mesh::Field& field) {
  std::vector<std::byte> bytes = field.bytes;
  if constexpr (std::endian::native == std::endian::big) base::swap_bytes(bytes, mesh::size_of(field.info.type));
  std::string text;
  for (std::byte byte : bytes)
    for (unsigned shift : {4U, 0U}) text += "0123456789abcdef"[std::to_integer<unsigned>(byte) >> shift & 15U];
  return text;
}

std::vector<std::string> bit_texts(const std::vector<base::BitArray>& levels) {
  std::vector<std::string> texts;
  for (const base::BitArray& level : levels) {
    std::string text;
    for (std::size_t i = 0; i < level.size(); ++i) text += level[i] ? '1' : '0';
    texts.push_back(std::move(text));
  }
  return texts;
}

json described_triangles(const mesh::Part& part, const StoredMesh& stored) {
  const auto& mesh = std::get<mesh::Unstructured>(part.mesh);
  json out{{"x", mesh.x}, {"y", mesh.y}, {"triangles", mesh.connectivity}, {"planes", mesh.planes}};
  out["fields"] = json::object();
  for (const mesh::Field& field : part.fields) out["fields"][field.info.name] = hexadecimal(field);
  out["part"] = stored.part_of;
  const BoundaryArrays& boundary = stored.boundary;
  out["boundary"] = {
      {"point", boundary.point}, {"codes", boundary.codes}, {"values", boundary.values}, {"colour", boundary.colour}};
  return out;
}

json described_solids(const mesh::Part& part) {
  const auto& mesh = std::get<mesh::Solids>(part.mesh);
  json out{{"x", mesh.x}, {"y", mesh.y}, {"z", mesh.z}, {"corners", mesh.corners}, {"connectivity", mesh.connectivity}};
  out["fields"] = json::object();
  for (const mesh::Field& field : part.fields) out["fields"][field.info.name] = hexadecimal(field);
  return out;
}

json described(const mesh::Part& part) {
  const auto& tree = std::get<mesh::Octree>(part.mesh);
  json held = json::array();
  for (const mesh::RootInterval& interval : held_roots(tree)) held.push_back({interval.begin, interval.end});
  json out{
      {"index", part.index}, {"held", held}, {"refined", bit_texts(tree.refined)}, {"owned", bit_texts(tree.owned)}};
  out["fields"] = out["particles"] = json::object();
  for (const mesh::Field& field : part.fields) out["fields"][field.info.name] = hexadecimal(field);
  for (const mesh::Particles& species : part.particles)
    for (const mesh::Field& field : species.attributes)
      out["particles"][species.species + "/" + field.info.name] = hexadecimal(field);
  for (const auto& [name, bytes] : part.opaque) {
    const mesh::FieldInfo info{name, "", mesh::ScalarType::uint8, mesh::Centring::cell, 1, 0};
    out["opaque"][name] = hexadecimal(mesh::Field{info, bytes});
  }
  return out;
}

json described(const fs::path& store) {
  json out{{"steps", json::array()}};
  for (const StepInfo& info : list_steps(store)) {
    json parts = json::array();
    const mesh::Dataset dataset = open_step(store, info.flow, info.step);
    mesh::Request all;
    all.particles = all.opaque = true;
    for (int part = 0; part < dataset.num_parts; ++part)
      parts.push_back(mesh::holds_solids(dataset.header) ? described_solids(dataset.read(part, all))
                      : dataset.unstructured
                          ? described_triangles(dataset.read(part, all), stored_mesh(store, info.flow, info.step))
                          : described(dataset.read(part, all)));
    out["steps"].push_back(
        {{"flow", to_string(info.flow)}, {"step", info.step}, {"time", info.time}, {"parts", std::move(parts)}});
  }
  return out;
}

TEST(Golden, stores_of_every_version_read_as_when_they_were_written) {
  int stores = 0;
  for (const auto& entry : fs::directory_iterator(golden_directory())) {
    if (!fs::exists(entry.path() / "run.octavo")) continue;
    ++stores;
    std::ifstream in(entry.path() / "expected.json");
    EXPECT_EQ(described(entry.path() / "run.octavo"), json::parse(in)) << entry.path();
    for (const Finding& finding : verify(entry.path() / "run.octavo", 1).findings)
      ADD_FAILURE() << entry.path() << " " << finding.where << ": " << finding.what;
  }
  EXPECT_GT(stores, 0);
}

// ------------------------------------------------------------------ how they were made

void make_lossless(const fs::path& store) {
  StepOptions options;
  options.cells = 120;
  write_durable_step(random_step(1, options), store, plan_of(1, 1, 2));
  write_durable_step(random_step(2, options), store, plan_of(2, 2, 2));
  SegmentPlan resumed = plan_of(2, 3, 2);
  resumed.continues = StepId{1, testing::attempt_of(1)};
  write_durable_step(random_step(3, options), store, resumed);
}

void make_bounded(const fs::path& store) {
  StepOptions options;
  options.dim = 2;
  options.roots = {3, 2, 1};
  options.cells = 150;
  options.levels = 5;
  EncodeOptions point, absolute;
  point.field_codec["density"].bound = {codec::BoundKind::pointwise_relative, 2e-3};
  absolute.codec.bound = {codec::BoundKind::absolute, 1e-3};
  absolute.single_precision = true;
  write_durable_step(random_step(4, options), store, plan_of(10, 1), point);
  write_durable_step(random_step(5, options), store, plan_of(20, 2), absolute);
  const Step particles = random_step(10, options);
  EncodeOptions bounded;
  for (const mesh::Field& field : particles.parts[0].particles[0].attributes)
    bounded.field_codec[particles.parts[0].particles[0].species + "/" + field.info.name].bound = {
        codec::BoundKind::absolute, 1e-3};
  write_durable_step(particles, store, plan_of(30, 3), bounded);
}

void make_blocks(const fs::path& store) {
  StepOptions options;
  options.dim = 2;
  options.block = {4, 3, 1};
  options.roots = {2, 1, 1};
  options.cells = 30;
  options.particles = false;
  SegmentPlan plan = plan_of(40, 1);
  plan.flow = Flow::checkpoint;
  write_durable_step(random_step(6, options), store, plan);
  options.dim = 1;
  options.block = {1, 1, 1};
  options.roots = {5, 1, 1};
  write_durable_step(random_step(7, options), store, plan_of(1, 2));
}

mesh::Field bytes_field(mesh::ScalarType type, std::size_t values) {
  mesh::Field field =
      mesh::make_field({std::string(mesh::name_of(type)), "", type, mesh::Centring::cell, 1, 0}, values);
  for (std::size_t i = 0; i < field.bytes.size(); ++i)
    field.bytes[i] = static_cast<std::byte>(type == mesh::ScalarType::boolean ? i % 3 == 0 : (i * i + i) % 61);
  return field;
}

/// Raw values of all types, summed and not, opaque bytes; a slot that held another step before, subfiles in directories
/// of directories, and streams that begin anywhere.
void make_layouts(const fs::path& store) {
  StepOptions options;
  options.dim = 2;
  options.cells = 40;
  Step step = random_step(8, options);
  for (mesh::Part& part : step.parts) {
    const std::size_t cells = num_cells(std::get<mesh::Octree>(part.mesh));
    for (int type = 0; type < 12; ++type)
      part.fields.push_back(bytes_field(static_cast<mesh::ScalarType>(type), cells));
    part.opaque["state"].assign(static_cast<std::size_t>(100 + part.index), static_cast<std::byte>(part.index));
  }
  step.parts[1].opaque["seed"] = {std::byte{1}, std::byte{2}};
  for (const mesh::Field& field : step.parts[0].fields) step.header.fields.push_back(field.info);
  step.header.fields.erase(step.header.fields.begin(), step.header.fields.begin() + 3);
  EncodeOptions raw;
  raw.codec.method = codec::Method::raw;
  SegmentPlan slot = plan_of(50, 1, 2);
  slot.flow = Flow::checkpoint;
  slot.directory = "checkpoint/slot.000";
  write_durable_step(step, store, slot, raw);
  DurableMark mark = read_mark(store, Flow::checkpoint);
  drop(mark, 1);
  write_mark(store, Flow::checkpoint, mark, true);
  slot = plan_of(51, 2);
  slot.flow = Flow::checkpoint;
  slot.directory = "checkpoint/slot.000";
  slot.recycle = true;
  slot.after_order = 1;
  raw.checksums = false;
  slot.store = store;
  SegmentWriter writer(slot, step.header);
  for (const mesh::Part& part : step.parts) writer.add(encode(view_of(part), step.header, raw));
  writer.commit();
  note_durable(store, slot.flow, writer.order(), slot.step);
  SegmentPlan fanned = plan_of(1234567, 3);
  fanned.flow = Flow::checkpoint;
  write_durable_step(step, store, fanned);
  fanned.store = store;
  const fs::path path = subfile_path(fanned);
  testing::rewrite_table(path, [&](Table& table, testing::SegmentBytes& segment) {
    StreamRow& last = table.streams.back();
    segment.stream.resize(3 + last.stored_bytes);
    file::pread_all(file::open_read(path), last.offset, std::span(segment.stream).subspan(3));
    last.offset = segment.end + 3;
  });
}

// Parts that hold some of the roots each, and one that holds none.
void make_roots(const fs::path& store) {
  StepOptions options;
  options.roots = {5, 4, 3};
  options.cells = 120;
  options.parts = 5;
  options.particles = false;
  Step step = random_step(9, options);
  mesh::Part none = step.parts[0];
  none.index = 5;
  none.mesh = mesh::Octree{.dim = 3, .roots = options.roots, .block = {1, 1, 1}, .refined = {{}}, .owned = {{}}};
  for (mesh::Field& field : none.fields) field.bytes.clear();
  step.parts.push_back(std::move(none));
  write_durable_step(step, store, plan_of(3, 1, 2));
}

/// A field that weighs two others, of one value and of two.
void make_weights(const fs::path& store) {
  StepOptions options;
  options.cells = 1200;
  options.particles = false;
  Step step = random_step(10, options);
  for (mesh::Part& part : step.parts) {
    const auto& tree = std::get<mesh::Octree>(part.mesh);
    mesh::FieldInfo scalar = part.fields[0].info, vector = scalar;
    scalar.name = "scalar";
    vector.name = "vector";
    vector.components = 2;
    part.fields.resize(1);
    part.fields.push_back(testing::random_field(tree, scalar, 11));
    part.fields.push_back(testing::random_field(tree, vector, 12));
    for (const std::size_t f : {1U, 2U})
      for (double& x : part.fields[f].as<double>())
        x = static_cast<double>(std::bit_cast<std::uint64_t>(x) >> 12) / static_cast<double>(std::uint64_t{1} << 52);
    mesh::weigh_parents(tree, part.fields[0], {});
    for (const std::size_t f : {1U, 2U}) mesh::weigh_parents(tree, part.fields[f], part.fields[0].as<double>());
  }
  step.header.fields.clear();
  for (const mesh::Field& field : step.parts[0].fields) step.header.fields.push_back(field.info);
  write_durable_step(step, store, plan_of(4, 1, 2));
}

/// A tree of two roots whose cells are refined down to level 5, but for some.
mesh::Octree nearly_whole_tree() {
  mesh::Octree tree{.dim = 2, .roots = {2, 1, 1}, .block = {1, 1, 1}, .refined = {}, .owned = {}};
  for (std::size_t level = 0, cells = 2; level < 6; ++level, cells = 4 * tree.refined.back().count()) {
    base::BitArray refined(cells, level < 5);
    for (std::size_t cell = 4; cell < cells && level > 2; cell += 11) refined.set(cell, false);
    tree.refined.push_back(std::move(refined));
    tree.owned.emplace_back(cells, true);
  }
  return tree;
}

/// A wave that follows from both sides of its cells.
void make_sides(const fs::path& store) {
  StepOptions options;
  options.dim = 2;
  options.roots = {2, 1, 1};
  options.parts = 1;
  options.particles = false;
  Step step = random_step(12, options);
  step.parts[0].mesh = nearly_whole_tree();
  EncodeOptions encoding;
  encoding.codec = {{codec::BoundKind::absolute, 1e-3}, codec::Effort::normal, codec::Method::tree};
  std::size_t by_sides = 0;
  for (mesh::Part& part : step.parts) {
    const auto& tree = std::get<mesh::Octree>(part.mesh);
    part.fields = {
        mesh::make_field({"wave", "", mesh::ScalarType::float64, mesh::Centring::cell, 1, 0}, num_cells(tree))};
    const auto offsets = level_offsets(tree);
    std::vector<mesh::Coordinate> at = root_coordinates(tree);
    for (int level = 0; level < num_levels(tree); ++level) {
      if (level > 0) at = child_coordinates(tree, level - 1, at);
      for (std::size_t cell = 0; cell < at.size(); ++cell) {
        const double x = std::ldexp(at[cell][0] + 0.5, -level), y = std::ldexp(at[cell][1] + 0.5, -level);
        part.fields[0].as<double>()[offsets[static_cast<std::size_t>(level)] + cell] =
            std::sin(21 * x + 17 * y) + 0.4 * std::sin(43 * x - 39 * y);
      }
    }
    step.header.fields = {part.fields[0].info};
    for (const Stream& stream : encode(part, step.header, encoding).streams)
      for (std::span<const std::byte> left = stream.bytes; stream.kind == StreamKind::field && !left.empty();
           left = left.subspan(codec::inspect(left).bytes))
        by_sides += codec::needs_sides(left) ? 1U : 0U;
  }
  EXPECT_GT(by_sides, 0U);
  write_durable_step(step, store, plan_of(5, 1), encoding);
}

/// Two planes of 12 x 9 points, moved a little; places and values are sums of few binary digits.
mesh::Part small_triangles(int step) {
  mesh::Unstructured mesh;
  mesh.planes = 2;
  for (std::int64_t i = 0; i < 108; ++i) {
    mesh.x.push_back(static_cast<double>(i % 12) + static_cast<double>(i * i % 7) / 32);
    mesh.y.push_back(static_cast<double>(i / 12) + static_cast<double>(i * i % 5) / 32);
    if (i % 12 == 11 || i >= 96 || i == 40) continue;
    mesh.connectivity.insert(mesh.connectivity.end(), {i, i + 1, i + 13, i, i + 13, i + 12});
  }
  const auto type = [](const std::string& name) {
    return name == "single" ? mesh::ScalarType::float32 : mesh::ScalarType::float64;
  };
  mesh::Part part;
  for (const std::string name : {"exact", "single", "relative", "absolute"}) {
    part.fields.push_back(mesh::make_field({name, "m", type(name), mesh::Centring::node, 1, 0}, 216));
    for (std::size_t i = 0; i < 216; ++i) {
      const double x = mesh.x[i % 108], y = mesh.y[i % 108], z = i < 108 ? 0 : 1.5;
      const double value = i % 108 == 50 ? 0 : step + x - 2 * y + x * y / 64 + z * (1 + y / 8);
      if (name == "single")
        part.fields.back().as<float>()[i] = static_cast<float>(value);
      else
        part.fields.back().as<double>()[i] = value;
    }
  }
  part.fields.push_back(mesh::make_field({"rank", "", mesh::ScalarType::int32, mesh::Centring::node, 1, 0}, 216));
  for (std::size_t i = 0; i < 216; ++i)
    part.fields.back().as<std::int32_t>()[i] = static_cast<std::int32_t>(i * i % 50);
  part.mesh = std::move(mesh);
  return part;
}

void make_triangles(const fs::path& store) {
  const BoundaryArrays boundary{{3, 0}, {2, 2, 2, 2, 4, 5, 5, 4}, std::vector<double>(14, 0.5), {1, 2}};
  const auto triangles = std::get<mesh::Unstructured>(small_triangles(1).mesh).connectivity.size() / 3;
  const std::vector<std::int32_t> part_of(triangles, 1);
  EncodeOptions encoding;
  encoding.part_of = part_of;
  encoding.boundary = &boundary;
  encoding.codec.method = codec::Method::tree;
  encoding.field_codec["relative"] = {
      {codec::BoundKind::pointwise_relative, 1e-3}, codec::Effort::normal, codec::Method::tree};
  encoding.field_codec["absolute"] = {{codec::BoundKind::absolute, 1e-3}, codec::Effort::max, codec::Method::tree};
  for (const int step : {1, 2, 3}) {  // the second refers to the mesh of the first, the third is in two parts
    const mesh::Part part = small_triangles(step);
    const auto& mesh = std::get<mesh::Unstructured>(part.mesh);
    mesh::Header header;
    header.dim = 3;
    if (step == 2) {
      header.attributes[mesh_step_attribute] = std::int64_t{1};
      header.attributes[mesh_checksum_attribute] = mesh_checksum(mesh);
    }
    SegmentPlan plan = plan_of(step, static_cast<unsigned>(step));
    plan.store = store;
    SegmentWriter writer(plan, header);
    if (step < 3) {
      EncodedPart encoded = encode(part, header, encoding);
      for (const Stream& stream : encoded.streams)
        EXPECT_EQ(codec::needs_neighbours(stream.bytes), stream.kind == StreamKind::field) << stream.field;
      writer.add(std::move(encoded));
    } else {
      const StoredTriangles whole = fold(part, encoding, {});
      for (const int half : {0, 1}) {
        const StoredTriangles stored = testing::half_of(whole, half);
        writer.add(encode(view_of(stored), header, encoding));
      }
    }
    writer.commit();
    note_durable(store, plan.flow, writer.order(), plan.step);
  }
}

/// A field at points of each kind, and two in cells.
mesh::Part small_solids(int step) {
  mesh::Solids mesh = testing::box_of_solids(3, 0);
  for (std::size_t i = 0; i < mesh.x.size(); ++i) mesh.z[i] += static_cast<double>(i * i % 7) / 64;
  const auto made = [&](const char* name, mesh::ScalarType type, mesh::Centring centring) {
    const bool cells = centring == mesh::Centring::cell;
    mesh::Field field =
        mesh::make_field({name, "m", type, centring, 1, 0}, cells ? mesh.corners.size() : mesh.x.size());
    for (std::size_t i = 0; i < field.size(); ++i) {
      const double value = step + (cells ? static_cast<double>(i) / 8 : mesh.x[i] - 2 * mesh.y[i] + mesh.z[i]);
      if (type == mesh::ScalarType::float64) field.as<double>()[i] = value;
      if (type == mesh::ScalarType::float32) field.as<float>()[i] = static_cast<float>(value);
      if (type == mesh::ScalarType::int64) field.as<std::int64_t>()[i] = static_cast<std::int64_t>(i * i % 50);
    }
    return field;
  };
  mesh::Part part;
  part.fields.push_back(made("exact", mesh::ScalarType::float64, mesh::Centring::node));
  part.fields.push_back(made("single", mesh::ScalarType::float32, mesh::Centring::node));
  part.fields.push_back(made("relative", mesh::ScalarType::float64, mesh::Centring::cell));
  part.fields.push_back(made("material", mesh::ScalarType::int64, mesh::Centring::cell));
  part.mesh = std::move(mesh);
  return part;
}

void make_solids(const fs::path& store) {
  EncodeOptions encoding;
  encoding.field_codec["relative"] = {{codec::BoundKind::pointwise_relative, 1e-3}, codec::Effort::normal, {}};
  for (const int step : {1, 2, 3}) {  // the second refers to the mesh of the first, the third is in two parts
    const mesh::Part part = small_solids(step);
    mesh::Header header;
    header.dim = 3;
    if (step == 2) {
      header.attributes[mesh_step_attribute] = std::int64_t{1};
      header.attributes[mesh_checksum_attribute] = solids_checksum(std::get<mesh::Solids>(part.mesh));
    }
    SegmentPlan plan = plan_of(step, static_cast<unsigned>(step));
    plan.store = store;
    SegmentWriter writer(plan, header);
    const StoredTriangles whole = fold_solids(part, encoding, origin_in(header));
    for (int half = 0; half < (step == 3 ? 2 : 1); ++half) {
      const StoredTriangles stored = step == 3 ? testing::half_of_solids(whole, half) : whole;
      writer.add(encode(view_of(stored), header, encoding));
    }
    writer.commit();
    note_durable(store, plan.flow, writer.order(), plan.step);
  }
}

TEST(Golden, DISABLED_writes_a_new_store) {
  const char* name = std::getenv("OCTAVO_NEW_GOLDEN");
  ASSERT_NE(name, nullptr) << "OCTAVO_NEW_GOLDEN says what to call them";
  const std::map<std::string, void (*)(const fs::path&)> makers{
      {"lossless", make_lossless},   {"bounded", make_bounded}, {"blocks", make_blocks},
      {"triangles", make_triangles}, {"layouts", make_layouts}, {"roots", make_roots},
      {"weights", make_weights},     {"solids", make_solids},   {"sides", make_sides}};
  for (const auto& [kind, make] : makers) {
    const fs::path directory = golden_directory() / (std::string(name) + "-" + kind);
    if (fs::exists(directory)) continue;  // golden files are for ever
    make(directory / "run.octavo");
    std::ofstream(directory / "expected.json") << described(directory / "run.octavo").dump(1) << "\n";
  }
}

}  // namespace
}  // namespace octavo::store
