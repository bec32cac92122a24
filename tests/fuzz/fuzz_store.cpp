#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <limits>

#include "octavo/base/byte_order.hpp"
#include "octavo/base/checksum.hpp"
#include "octavo/base/error.hpp"
#include "octavo/file/posix.hpp"
#include "octavo/store/read/opened.hpp"
#include "octavo/store/read/solids.hpp"
#include "octavo/store/read/triangles.hpp"
#include "tests/support/solids_fixture.hpp"
#include "tests/support/triangle_halves.hpp"

// Input: a byte of flags, then either edits of a sound subfile, four bytes each, or (flag 2) a subfile itself. With
// flag 1 all checksums are corrected afterwards, so that edits get past them: records name their footers,
// footers their tables, tables their streams. With flag 4 the sound one has triangles, in two parts; with flag 8
// too in one, of values that follow from their neighbours.
namespace {

using namespace octavo;
using namespace octavo::store;
using Bytes = std::vector<std::byte>;
namespace fs = std::filesystem;

constexpr std::int64_t most_memory = 32 << 20;

// ------------------------------------------------------------------ checksums put right

std::span<std::byte> range(Bytes& file, const Extent& extent) {
  if (extent.offset > file.size() || extent.length > file.size() - extent.offset) return {};
  return std::span(file).subspan(extent.offset, extent.length);
}

void seal_sector(std::span<std::byte> sector) { base::store(sector.data() + 504, base::checksum(sector.first(504))); }

// Corrects the stored checksums of a table and writes the table again, if its length stays the same.
void repair_table(Bytes& file, Footer& footer) {
  const auto place = range(file, footer.table);
  try {
    Table table = parse_table(place, footer);
    for (StreamRow& stream : table.streams)
      stream.stored_checksum = base::checksum(range(file, {stream.offset, stream.stored_bytes, 0}));
    const Bytes bytes = to_bytes(table);
    if (bytes.size() == place.size()) std::copy(bytes.begin(), bytes.end(), place.begin());
  } catch (const base::Error&) {
  }
  footer.table.checksum = base::checksum(place);
}

void repair_footer(Bytes& file, Extent& at) {
  const auto place = range(file, at);
  try {
    Footer footer = parse_footer(place, at);
    for (Link& link : footer.previous) link.footer.checksum = base::checksum(range(file, link.footer));
    repair_table(file, footer);
    const Bytes bytes = to_bytes(footer);
    if (bytes.size() == place.size()) std::copy(bytes.begin(), bytes.end(), place.begin());
  } catch (const base::Error&) {
  }
  at.checksum = base::checksum(place);
}

void repair(Bytes& file) {
  if (file.size() < head_size) return;
  seal_sector(std::span(file).first(sector_size));
  std::vector<std::pair<std::uint64_t, std::size_t>> order;
  for (std::size_t place : {std::size_t{0}, std::size_t{1}})
    order.emplace_back(base::load<std::uint64_t>(file.data() + record_place(place) + 8), place);
  std::sort(order.begin(), order.end());  // older first: newer footers name older ones
  for (const auto& [sequence, place] : order) {
    const auto sector = std::span(file).subspan(record_place(place), sector_size);
    if (all_zero(sector)) continue;
    Extent at{base::load<std::uint64_t>(sector.data() + 40), base::load<std::uint64_t>(sector.data() + 48), 0};
    repair_footer(file, at);
    base::store(sector.data() + 56, at.checksum);
    seal_sector(sector);
  }
}

// ------------------------------------------------------------------ reading

void read_all(const fs::path& store) {
  for (const StepInfo& info : list_steps(store)) {
    try {
      const mesh::Dataset dataset = open_step(store, info.flow, info.step);
      list_streams(store, info.flow, info.step);
      dataset.parts_touching(mesh::Box{});
      for (int part = 0; part < dataset.num_parts; ++part) {
        if (dataset.part_bytes(part) > most_memory) continue;
        mesh::Request request;
        request.max_level = dataset.header.level_origin + 1;
        dataset.read(part, request);
        dataset.read(part, {{}, std::numeric_limits<int>::max(), true});
      }
    } catch (const base::Error&) {
    }
  }
}

bool is_small(const fs::path& store) {
  for (const StepInfo& info : list_steps(store)) {
    const mesh::Dataset dataset = open_step(store, info.flow, info.step);
    for (int part = 0; part < dataset.num_parts; ++part)
      if (dataset.part_bytes(part) > most_memory) return false;
  }
  return true;
}

// A store for this process alone, in memory if the system has a file system for that.
struct Scratch {
  fs::path path;
  Scratch() {
    const fs::path memory = "/dev/shm";
    path =
        (fs::is_directory(memory) ? memory : fs::temp_directory_path()) / ("octavo-fuzz-" + std::to_string(::getpid()));
    fs::create_directories(path / "analysis");
  }
  ~Scratch() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
};

const fs::path& scratch() {
  static const Scratch place;
  return place.path;
}

// ------------------------------------------------------------------ a sound store to begin with

// Returns the bytes of a store's subfile and removes the store.
Bytes taken(const fs::path& store) {
  const file::File file = file::open_read(store / "analysis" / "data.000");
  Bytes bytes(file::size(file));
  file::pread_all(file, 0, bytes);
  std::error_code ignored;
  fs::remove_all(store, ignored);
  return bytes;
}

Bytes sound_subfile() {
  const fs::path store = scratch() / "seed";
  for (std::int64_t number : {1, 2}) {
    mesh::Header header;
    header.dim = 2;
    header.roots = {5, 3, 1};
    header.fields = {{"density", "g", mesh::ScalarType::float64, mesh::Centring::cell, 1, 0},
                     {"mask", "", mesh::ScalarType::int8, mesh::Centring::cell, 1, 0}};
    header.attributes = {{"a", 1.5}, {"b", std::vector<std::int64_t>{1, 2}}};
    mesh::Octree tree;
    tree.dim = 2;
    tree.roots = header.roots;
    hold(tree, {{3, 4}, {7, 9}});
    tree.refined = {base::BitArray(3), base::BitArray(4), base::BitArray(4)};
    tree.refined[0].set(1);
    tree.refined[1].set(2);
    tree.owned = {base::BitArray(3, true), base::BitArray(4, true), base::BitArray(4, true)};
    mesh::Part part;
    for (const mesh::FieldInfo& info : header.fields) part.fields.push_back(mesh::make_field(info, 11));
    for (std::size_t i = 0; i < 11; ++i) part.fields[0].as<double>()[i] = 1.0 + 0.1 * static_cast<double>(i * i);
    mesh::Particles stars{
        "stars", 3, {mesh::make_field({"id", "", mesh::ScalarType::int64, mesh::Centring::particle, 1, 0}, 3)}};
    part.mesh = tree;
    part.particles = {stars};
    SegmentPlan plan;
    plan.store = store;
    plan.step = number;
    SegmentWriter writer(plan, header);
    writer.add(encode(part, header, {}));
    writer.commit();
  }
  return taken(store);
}

// ------------------------------------------------------------------ the same of triangles, as two ranks write them

// A mesh of side x side points, two triangles a square, one value a point.
mesh::Part square_of_triangles(std::int64_t side) {
  const auto points = static_cast<std::size_t>(side * side);
  mesh::Unstructured mesh;
  for (std::int64_t i = 0; i < side * side; ++i) {
    mesh.x.push_back(static_cast<double>(i % side));
    mesh.y.push_back(static_cast<double>(i / side));
    if (i % side + 1 < side && i / side + 1 < side)
      mesh.connectivity.insert(mesh.connectivity.end(), {i, i + 1, i + side + 1, i, i + side + 1, i + side});
  }
  mesh::Part part;
  part.fields.push_back(
      mesh::make_field({"depth", "m", mesh::ScalarType::float64, mesh::Centring::node, 1, 0}, points));
  for (std::size_t i = 0; i < points; ++i) part.fields[0].as<double>()[i] = 2.0 + 0.25 * static_cast<double>(i);
  part.fields.push_back(mesh::make_field({"IPOBO", "", mesh::ScalarType::int32, mesh::Centring::node, 1, 0}, points));
  part.mesh = mesh;
  return part;
}

Bytes sound_triangles(bool halves) {
  const fs::path store = scratch() / "seed";
  const mesh::Part square = square_of_triangles(halves ? 3 : 12);
  const auto& mesh = std::get<mesh::Unstructured>(square.mesh);
  const std::vector<std::int32_t> part_of(mesh.connectivity.size() / 3, 1);
  const BoundaryArrays boundary{{0, 1}, std::vector<std::int32_t>(8, 2), std::vector<double>(14, 0.5), {1, 2}};
  EncodeOptions cut;
  cut.part_of = part_of;
  cut.boundary = &boundary;
  for (std::int64_t number : {1, 2}) {  // the second takes the mesh of the first
    mesh::Header header;
    header.dim = 2;
    if (number == 2) {
      header.attributes[mesh_step_attribute] = std::int64_t{1};
      header.attributes[mesh_checksum_attribute] = mesh_checksum(mesh);
    }
    const StoredTriangles whole = fold(square, cut, origin_in(header));
    SegmentPlan plan;
    plan.store = store;
    plan.step = number;
    SegmentWriter writer(plan, header);
    EncodeOptions tree = cut;
    tree.codec.method = codec::Method::tree;
    if (!halves) writer.add(encode(square, header, tree));
    for (int half = 0; halves && half < 2; ++half) {
      const StoredTriangles part = octavo::testing::half_of(whole, half);
      writer.add(encode(view_of(part), header, {}));
    }
    writer.commit();
  }
  return taken(store);
}

// A cube of solids, in halves; the second step takes the mesh of the first.
Bytes sound_solids() {
  const fs::path store = scratch() / "seed";
  mesh::Part part;
  part.mesh = octavo::testing::box_of_solids(2, 0);
  const auto& mesh = std::get<mesh::Solids>(part.mesh);
  part.fields.push_back(
      mesh::make_field({"head", "m", mesh::ScalarType::float64, mesh::Centring::node, 1, 0}, mesh.x.size()));
  part.fields.push_back(
      mesh::make_field({"rock", "", mesh::ScalarType::int32, mesh::Centring::cell, 1, 0}, mesh.corners.size()));
  for (std::size_t i = 0; i < mesh.x.size(); ++i) part.fields[0].as<double>()[i] = mesh.x[i] - mesh.z[i];
  for (std::int64_t number : {1, 2}) {
    mesh::Header header;
    if (number == 2) {
      header.attributes[mesh_step_attribute] = std::int64_t{1};
      header.attributes[mesh_checksum_attribute] = solids_checksum(mesh);
    }
    const StoredTriangles whole = fold_solids(part, {}, origin_in(header));
    SegmentPlan plan;
    plan.store = store;
    plan.step = number;
    SegmentWriter writer(plan, header);
    for (int half = 0; half < 2; ++half) {
      const StoredTriangles stored = octavo::testing::half_of_solids(whole, half);
      writer.add(encode(view_of(stored), header, {}));
    }
    writer.commit();
  }
  return taken(store);
}

// An edit: where (two bytes, modulo the size), what, and a value for it.
void edit(Bytes& file, const std::uint8_t* what) {
  const std::size_t at = static_cast<std::size_t>(what[0] * 256 + what[1]) % file.size();
  const auto value = static_cast<std::byte>(what[3]);
  const auto place = file.begin() + static_cast<std::ptrdiff_t>(at);
  switch (what[2] % 5) {
    case 0: *place = value; break;
    case 1: *place ^= value; break;
    case 2: file.insert(place, value); break;
    case 3: file.erase(place, place + std::min<std::ptrdiff_t>(what[3] % 16, file.end() - place)); break;
    default: file.resize(std::max<std::size_t>(1, file.size() - what[3] % 64)); break;
  }
}

Bytes subfile_of(const std::uint8_t* data, std::size_t size) {
  static const Bytes sound = sound_subfile(), triangles = sound_triangles(true), predicted = sound_triangles(false),
                     solids = sound_solids();
  Bytes file = (data[0] & 16) != 0 ? solids : (data[0] & 4) == 0 ? sound : (data[0] & 8) == 0 ? triangles : predicted;
  if ((data[0] & 2) != 0) {
    file.resize(size - 1);
    std::transform(data + 1, data + size, file.begin(), [](std::uint8_t b) { return static_cast<std::byte>(b); });
  } else {
    for (std::size_t i = 1; i + 4 <= size && !file.empty(); i += 4) edit(file, data + i);
  }
  if ((data[0] & 1) != 0) repair(file);
  return file;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 1) return 0;
  const Bytes bytes = subfile_of(data, size);
  const fs::path path = scratch() / "analysis" / "data.000";
  {
    const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC, 0600);
    const file::File file(descriptor, path);
    file::pwrite_all(file, 0, bytes);
  }
  try {
    recognise(scratch());
    read_all(scratch());
    if (is_small(scratch())) verify(scratch(), 1);
  } catch (const base::Error&) {
  }
  return 0;
}
