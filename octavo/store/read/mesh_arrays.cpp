#include "octavo/store/read/mesh_arrays.hpp"

#include "octavo/base/error.hpp"
#include "octavo/store/read/triangles.hpp"

namespace octavo::store {

using base::Error;
using base::Kind;

void add_values(StoredTriangles& part, MeshArray array, std::vector<std::byte> values) {
  part.arrays.push_back(std::move(array));
  part.values.push_back(std::move(values));
}

void add_coordinates(StoredTriangles& part, const std::string& name, const std::vector<double>& values) {
  if (!fit_float32(values))
    return add_values<double>(part, mesh_array(MeshSet::points, name, mesh::ScalarType::float64, 1), values);
  add_values<float>(part, mesh_array(MeshSet::points, name, mesh::ScalarType::float32, 1),
                    std::vector<float>(values.begin(), values.end()));
}

mesh::Field joined(std::span<const StoredTriangles> parts, std::size_t array, const MeshArray& described,
                   std::size_t planes) {
  mesh::Field whole{described.info, {}};
  for (std::size_t plane = 0; plane < planes; ++plane)
    for (const StoredTriangles& part : parts) {
      const std::vector<std::byte>& values = part.values.at(array);
      const auto size = static_cast<std::ptrdiff_t>(values.size() / planes);
      const auto begin = values.begin() + static_cast<std::ptrdiff_t>(plane) * size;
      whole.bytes.insert(whole.bytes.end(), begin, begin + size);
    }
  return whole;
}

std::vector<double> doubles_of(const mesh::Field& field) {
  return mesh::visit_values(field, [](auto values) { return std::vector<double>(values.begin(), values.end()); });
}

void check_points(std::span<const std::int64_t> found, std::int64_t points, const MeshArray& array) {
  for (std::size_t i = 0; i < found.size(); ++i)
    if (found[i] < 0 || found[i] >= points)
      throw Error(Kind::corrupt, "point of entry " + std::to_string(i) + ": expected 0 to " +
                                     std::to_string(points - 1) + ", found " + std::to_string(found[i]))
          .at("mesh " + name_of(array));
}

StoredTriangles read_stored(const OpenedStep& step, std::size_t part, const mesh::Request& request,
                            const NeighbourSource& neighbours) {
  const PartPlace& place = step.parts[part];
  const OpenedSegment& segment = step.segments[place.segment];
  const file::File file = file::open_read(segment.path);
  try {
    PartSource source = source_of(file);
    source.neighbours = neighbours;
    return decode_triangles(segment.table, place.row, request, source);
  } catch (Error& error) {
    throw error.at(segment.path.string());
  }
}

std::vector<StoredTriangles> read_arrays(const OpenedStep& step) {
  if (!step.triangles || step.triangles->origin)
    throw Error(Kind::corrupt, "the step has no mesh of triangles or solids, though another step takes it from there")
        .at(to_string(step.flow) + " step " + std::to_string(step.step));
  mesh::Request only;
  only.fields.emplace();
  std::vector<StoredTriangles> parts;
  for (std::size_t p = 0; p < step.parts.size(); ++p) parts.push_back(read_stored(step, p, only));
  return parts;
}

OpenedStep open_origin(const MeshOrigin& origin, const std::filesystem::path& store, Flow flow) try {
  return open_numbered(store, flow, origin.step);
} catch (Error& error) {
  if (error.kind() != Kind::usage) throw;
  throw Error(Kind::corrupt, "the mesh is stored with step " + std::to_string(origin.step) + ", which is not there")
      .at(store.string());
}

std::int64_t raw_bytes_of(const OpenedStep& step) {
  std::uint64_t bytes = 0;
  for (const OpenedSegment& segment : step.segments)
    for (const StreamRow& stream : segment.table.streams) bytes += stream.raw_bytes;
  return static_cast<std::int64_t>(bytes);
}

}  // namespace octavo::store
