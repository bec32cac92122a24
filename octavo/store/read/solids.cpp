#include "octavo/store/read/solids.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "octavo/base/checksum.hpp"
#include "octavo/base/error.hpp"
#include "octavo/store/read/mesh_arrays.hpp"
#include "octavo/store/read/triangles.hpp"

namespace octavo::store {
namespace {

using base::Error;
using base::Kind;
using mesh::ScalarType;

// The first point of a cell as it is, the others less that one: they have numbers near each other.
std::vector<std::int32_t> corner_steps(const mesh::Solids& mesh) {
  std::vector<std::int32_t> steps;
  steps.reserve(mesh.connectivity.size());
  std::size_t first = 0;
  for (const std::uint8_t corners : mesh.corners) {
    for (std::size_t k = 0; k < corners; ++k)
      steps.push_back(
          static_cast<std::int32_t>(mesh.connectivity[first + k] - (k == 0 ? 0 : mesh.connectivity[first])));
    first += corners;
  }
  return steps;
}

// Throws unless the cells are solids, and have as many corners as there are entries.
void check_corners(std::span<const std::uint8_t> corners, std::size_t entries) {
  std::size_t sum = 0;
  for (std::size_t c = 0; c < corners.size(); ++c) {
    if (corners[c] < 4 || corners[c] > 8 || corners[c] == 7)
      throw Error(Kind::corrupt, "corners of cell " + std::to_string(c) + ": expected 4, 5, 6 or 8, found " +
                                     std::to_string(corners[c]))
          .at("mesh cells/corners");
    sum += corners[c];
  }
  if (sum != entries)
    throw Error(Kind::corrupt, "the cells have " + std::to_string(sum) + " corners, expected " +
                                   std::to_string(entries) + ", those of mesh corners/point")
        .at("mesh cells/corners");
}

// Undoes corner_steps().
std::vector<std::int64_t> points_of_steps(std::span<const std::int32_t> steps, std::span<const std::uint8_t> corners) {
  std::vector<std::int64_t> points;
  points.reserve(steps.size());
  for (const std::uint8_t count : corners) {
    const std::size_t first = points.size();
    for (std::size_t k = 0; k < count; ++k) points.push_back(steps[points.size()] + (k == 0 ? 0 : points[first]));
  }
  return points;
}

void check_shapes(const TriangleMesh& whole, const mesh::Solids& mesh) {
  const std::vector<std::int64_t> found = mesh::count_solids(mesh);
  if (!std::equal(found.begin(), found.end(), whole.shapes.begin()))
    throw Error(Kind::corrupt, "found " + mesh::describe_solids(found) + ", expected " +
                                   mesh::describe_solids({whole.shapes.begin(), whole.shapes.end()}) +
                                   ", which the table counts")
        .at("mesh cells/corners");
}

/// A mesh, and the part of each cell, if it was cut.
struct StoredSolids {
  mesh::Solids mesh;
  std::vector<std::int32_t> part_of;
};

bool is_cut(const MeshArray& array) {
  return name_of(array) == "cells/part" && array.info.type == ScalarType::int32 && array.info.components == 1;
}

std::vector<std::int32_t> parts_of_cells(const std::vector<MeshArray>& arrays, std::span<const StoredTriangles> parts) {
  for (std::size_t a = 0; a < arrays.size(); ++a) {
    if (!is_cut(arrays[a])) continue;
    const mesh::Field values = joined(parts, a, arrays[a]);
    return {values.as<std::int32_t>().begin(), values.as<std::int32_t>().end()};
  }
  return {};
}

StoredSolids own_solids(const OpenedStep& step) {
  if (!step.triangles || !step.triangles->of_solids())
    throw Error(Kind::corrupt, "the step has no mesh of solids, though another step takes it from there")
        .at(to_string(step.flow) + " step " + std::to_string(step.step));
  const std::vector<StoredTriangles> parts = read_arrays(step);
  try {
    mesh::Solids mesh = solids_of(*step.triangles, step.mesh, parts);
    check_shapes(*step.triangles, mesh);
    mesh::validate(mesh);
    return {std::move(mesh), parts_of_cells(step.mesh, parts)};
  } catch (Error& error) {
    throw error.at(step.segments[step.parts.at(0).segment].path.string());
  }
}

StoredSolids find_solids(const OpenedStep& step, const std::filesystem::path& store) {
  const auto& origin = step.triangles->origin;
  if (!origin) return own_solids(step);
  StoredSolids other = own_solids(open_origin(*origin, store, step.flow));
  check_origin(*origin, solids_checksum(other.mesh));
  return other;
}

/// The fields of all parts, one part after another.
std::vector<mesh::Field> joined_fields(const OpenedStep& step, const std::vector<std::string>& names) {
  mesh::Request values;
  values.fields = names;
  values.mesh = false;
  std::vector<mesh::Field> out;
  for (std::size_t p = 0; p < step.parts.size(); ++p) {
    StoredTriangles part = read_stored(step, p, values);
    if (p == 0) out = std::move(part.fields);
    for (std::size_t f = 0; f < out.size() && p > 0; ++f)
      out[f].bytes.insert(out[f].bytes.end(), part.fields[f].bytes.begin(), part.fields[f].bytes.end());
  }
  return out;
}

std::string free_name(const mesh::Header& header) {
  std::string name = cut_field;
  const auto& fields = header.fields;
  while (std::any_of(fields.begin(), fields.end(), [&](const auto& info) { return info.name == name; })) name += '_';
  return name;
}

// `header` also has the field with the part of each cell, if the mesh was cut: the last one.
mesh::Part read_solids(const OpenedStep& step, const mesh::Header& header, const mesh::Request& request,
                       const std::filesystem::path& store) {
  std::vector<std::string> names;
  bool wants_cut = false;
  for (const std::size_t f : mesh::select_fields(header, request.fields))
    if (f < step.header.fields.size())
      names.push_back(header.fields[f].name);
    else
      wants_cut = true;
  mesh::Part out;
  out.fields = joined_fields(step, names);
  StoredSolids stored;
  if (request.mesh || wants_cut) stored = find_solids(step, store);
  if (wants_cut) {
    out.fields.push_back(mesh::make_field(header.fields.back(), stored.part_of.size()));
    std::copy(stored.part_of.begin(), stored.part_of.end(), out.fields.back().as<std::int32_t>().begin());
  }
  out.mesh = std::move(stored.mesh);
  return out;
}

}  // namespace

StoredTriangles fold_solids(const mesh::Part& part, const EncodeOptions& options, std::optional<MeshOrigin> origin) {
  const auto& mesh = std::get<mesh::Solids>(part.mesh);
  const std::size_t points = mesh.x.size(), cells = mesh.corners.size();
  if (points == 0 || cells == 0 || std::max(points, cells) > static_cast<std::size_t>(most_points))
    throw Error(Kind::unsupported, "a store holds meshes of 1 to " + std::to_string(most_points) +
                                       " points, and as many cells, found " + std::to_string(points) + " points, " +
                                       std::to_string(cells) + " cells");
  StoredTriangles out;
  out.index = part.index;
  out.mesh = {static_cast<std::int64_t>(points), static_cast<std::int64_t>(cells), 1, origin};
  const std::vector<std::int64_t> shapes = mesh::count_solids(mesh);
  std::copy(shapes.begin(), shapes.end(), out.mesh.shapes.begin());
  out.share.places = points;
  out.share.cell_places = cells;
  out.fields = part.fields;
  out.opaque = part.opaque;
  if (origin) return out;
  out.share.points = points;
  out.share.triangles = cells;
  out.share.corners = mesh.connectivity.size();
  add_coordinates(out, "x", mesh.x);
  add_coordinates(out, "y", mesh.y);
  add_coordinates(out, "z", mesh.z);
  add_values<std::uint8_t>(out, mesh_array(MeshSet::cells, "corners", ScalarType::uint8, 1), mesh.corners);
  add_values<std::int32_t>(out, mesh_array(MeshSet::corners, "point", ScalarType::int32, 1), corner_steps(mesh));
  if (!options.part_of.empty())
    add_values(out, mesh_array(MeshSet::cells, "part", ScalarType::int32, 1), options.part_of);
  return out;
}

mesh::Solids solids_of(const TriangleMesh& whole, const std::vector<MeshArray>& arrays,
                       std::span<const StoredTriangles> parts) {
  mesh::Solids out;
  std::vector<std::int32_t> steps;
  const MeshArray* corners = nullptr;
  for (std::size_t a = 0; a < arrays.size(); ++a) {
    const std::string name = name_of(arrays[a]);
    const mesh::Field values = joined(parts, a, arrays[a]);
    if (name == "points/x") out.x = doubles_of(values);
    if (name == "points/y") out.y = doubles_of(values);
    if (name == "points/z") out.z = doubles_of(values);
    if (name == "cells/corners") out.corners.assign(values.as<std::uint8_t>().begin(), values.as<std::uint8_t>().end());
    if (name != "corners/point") continue;
    steps.assign(values.as<std::int32_t>().begin(), values.as<std::int32_t>().end());
    corners = &arrays[a];
  }
  check_corners(out.corners, steps.size());
  out.connectivity = points_of_steps(steps, out.corners);
  if (corners != nullptr) check_points(out.connectivity, whole.points, *corners);
  return out;
}

void check_solids(const StoredTriangles& part) {
  if (part.mesh.origin) return;
  mesh::Solids mesh = solids_of(part.mesh, part.arrays, {&part, 1});
  if (part.share.triangles == static_cast<std::uint64_t>(part.mesh.triangles)) check_shapes(part.mesh, mesh);
  // Its cells may be of points that another part has.
  mesh.corners.clear();
  mesh.connectivity.clear();
  mesh::validate(mesh);
}

std::int64_t solids_checksum(const mesh::Solids& mesh) {
  base::RunningChecksum sum;
  for (const std::vector<double>* axis : {&mesh.x, &mesh.y, &mesh.z}) sum.add(std::as_bytes(std::span(*axis)));
  sum.add(std::as_bytes(std::span(mesh.corners)));
  sum.add(std::as_bytes(std::span(mesh.connectivity)));
  return static_cast<std::int64_t>(sum.value());
}

void set_solids(mesh::Dataset& dataset, const std::shared_ptr<const OpenedStep>& step,
                const std::filesystem::path& store) {
  dataset.unstructured = true;
  dataset.num_parts = 1;
  dataset.levels = {{0, step->triangles->triangles, step->triangles->triangles}};
  dataset.parts_touching = [](const mesh::Region&) { return std::vector<int>{0}; };
  dataset.part_bytes = [bytes = raw_bytes_of(*step)](int) { return bytes; };
  const auto& origin = step->triangles->origin;
  const std::vector<MeshArray> arrays = origin ? open_origin(*origin, store, step->flow).mesh : step->mesh;
  if (std::any_of(arrays.begin(), arrays.end(), is_cut))
    dataset.header.fields.push_back({free_name(dataset.header), "", ScalarType::int32, mesh::Centring::cell, 1, 0});
  dataset.read = [step, header = dataset.header, store](int part, const mesh::Request& request) {
    if (part != 0) throw Error(Kind::usage, "there is no part " + std::to_string(part) + " of 1");
    return read_solids(*step, header, request, store);
  };
}

}  // namespace octavo::store
