#include "octavo/store/read/triangles.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <mutex>
#include <utility>

#include "octavo/base/checksum.hpp"
#include "octavo/base/error.hpp"
#include "octavo/mesh/triangles/point_curve.hpp"
#include "octavo/mesh/triangles/point_neighbours.hpp"
#include "octavo/store/read/mesh_arrays.hpp"

namespace octavo::store {
namespace {

using base::Error;
using base::Kind;
using mesh::ScalarType;
namespace fs = std::filesystem;

// ------------------------------------------------------------------ order

/// The points in the order of the curve; points in the same cell of the curve are in the order of their numbers.
std::vector<std::uint32_t> curve_order(const mesh::Unstructured& mesh) {
  const mesh::PlaneBox box = mesh::box_of(mesh.x, mesh.y);
  std::vector<std::pair<std::uint64_t, std::uint32_t>> keys;
  for (std::size_t i = 0; i < mesh.x.size(); ++i)
    keys.emplace_back(mesh::point_key(box, mesh.x[i], mesh.y[i]), static_cast<std::uint32_t>(i));
  std::sort(keys.begin(), keys.end());
  std::vector<std::uint32_t> order;
  for (const auto& [key, point] : keys) order.push_back(point);
  return order;
}

/// Reorders the values of all planes, each of the size of T. In each plane out[k] = in[order[k]], or the inverse.
template <class T>
void reorder(const mesh::Field& from, const std::vector<std::uint32_t>& order, bool back, mesh::Field& to) {
  const std::span in(reinterpret_cast<const T*>(from.bytes.data()), from.size());
  T* out = reinterpret_cast<T*>(to.bytes.data());
  const std::size_t points = order.size();
  for (std::size_t begin = 0; begin + points <= in.size() && points > 0; begin += points)
    for (std::size_t k = 0; k < points; ++k) {
      if (back)
        out[begin + order[k]] = in[begin + k];
      else
        out[begin + k] = in[begin + order[k]];
    }
}

mesh::Field reordered(const mesh::Field& field, const std::vector<std::uint32_t>& order, bool back) {
  if (order.empty() || field.size() % order.size() != 0)
    throw Error(Kind::corrupt, "expected a whole number of values for each of " + std::to_string(order.size()) +
                                   " points, found " + std::to_string(field.size()))
        .at("field " + field.info.name);
  mesh::Field out = mesh::make_field(field.info, field.size());
  switch (mesh::size_of(field.info.type)) {
    case 8: reorder<std::uint64_t>(field, order, back, out); break;
    case 4: reorder<std::uint32_t>(field, order, back, out); break;
    case 2: reorder<std::uint16_t>(field, order, back, out); break;
    default: reorder<std::uint8_t>(field, order, back, out);
  }
  return out;
}

/// Fields of integers have a value for each plane.
bool is_number(const MeshArray& array) {
  return array.of == MeshSet::points && array.info.name != "x" && array.info.name != "y";
}

std::size_t planes_of(const MeshArray& array) {
  return is_number(array) ? static_cast<std::size_t>(array.info.components) : 1;
}

// Undoes triangle_steps().
std::vector<std::int64_t> connectivity_of(std::span<const std::int32_t> steps) {
  std::vector<std::int64_t> points;
  points.reserve(steps.size());
  for (std::size_t i = 0; i < steps.size(); ++i) points.push_back(i % 3 == 0 ? steps[i] : steps[i] + points[i - i % 3]);
  return points;
}

// ------------------------------------------------------------------ reading

StoredMesh own_mesh(const OpenedStep& step) {
  const std::vector<StoredTriangles> parts = read_arrays(step);
  try {
    StoredMesh stored = mesh_of(*step.triangles, step.mesh, parts);
    mesh::validate(stored.mesh);
    return stored;
  } catch (Error& error) {
    throw error.at(step.segments[step.parts.at(0).segment].path.string());
  }
}

// Reads the mesh from the step that holds it: this one, or the one that it names as origin.
StoredMesh find_mesh(const TriangleMesh& mesh, const std::function<StoredMesh()>& own, const fs::path& store,
                     Flow flow) {
  if (!mesh.origin) return own();
  StoredMesh other = own_mesh(open_origin(*mesh.origin, store, flow));
  check_origin(*mesh.origin, mesh_checksum(other.mesh));
  return other;
}

// Joins the fields of all parts, plane after plane.
std::vector<mesh::Field> whole_fields(const OpenedStep& step, const std::vector<std::string>& names,
                                      const NeighbourSource& neighbours) {
  mesh::Request request;
  request.fields = names;
  request.mesh = false;
  const auto points = static_cast<std::size_t>(step.triangles->points);
  const auto planes = static_cast<std::size_t>(step.triangles->planes);
  std::vector<mesh::Field> whole;
  std::size_t first = 0;
  for (std::size_t p = 0; p < step.parts.size(); ++p) {
    const StoredTriangles part = read_stored(step, p, request, neighbours);
    const auto places = static_cast<std::size_t>(part.share.places);
    for (std::size_t f = 0; f < part.fields.size(); ++f) {
      const mesh::Field& field = part.fields[f];
      const std::size_t size = mesh::size_of(field.info.type);
      if (p == 0) whole.push_back(mesh::make_field(field.info, points * planes));
      for (std::size_t plane = 0; plane < planes; ++plane)
        std::copy_n(field.bytes.data() + plane * places * size, places * size,
                    whole[f].bytes.data() + (plane * points + first) * size);
    }
    first += places;
  }
  return whole;
}

/// Made once, at the first call, even if several threads call.
struct LazyNeighbours {
  std::mutex mutex;
  std::optional<mesh::PointNeighbours> neighbours;
};

NeighbourSource when_asked(std::function<mesh::PointNeighbours()> make) {
  return [asked = std::make_shared<LazyNeighbours>(), make = std::move(make)] {
    const std::lock_guard lock(asked->mutex);
    if (!asked->neighbours) asked->neighbours = make();
    return codec::Neighbours{asked->neighbours->order, asked->neighbours->near};
  };
}

// `header` also has the fields that are stored with the mesh.
mesh::Part read_whole(const OpenedStep& step, const mesh::Header& header, const mesh::Request& request,
                      const fs::path& store) {
  // The mesh first: fields are stored along its curve.
  StoredMesh stored = find_mesh(
      *step.triangles, [&] { return own_mesh(step); }, store, step.flow);
  const std::vector<std::uint32_t> order = curve_order(stored.mesh);
  const NeighbourSource neighbours = when_asked([&] { return mesh::neighbours_along(stored.mesh, order); });
  const auto chosen = mesh::select_fields(header, request.fields);
  std::vector<std::string> along_curve;
  for (const std::size_t f : chosen)
    if (f < step.header.fields.size()) along_curve.push_back(header.fields[f].name);
  const std::vector<mesh::Field> fields = whole_fields(step, along_curve, neighbours);
  mesh::Part out;
  for (std::size_t next = 0; const std::size_t f : chosen)
    out.fields.push_back(f < step.header.fields.size() ? reordered(fields[next++], order, true)
                                                       : std::move(stored.numbers[f - step.header.fields.size()]));
  out.mesh = std::move(stored.mesh);
  return out;
}

}  // namespace

MeshArray mesh_array(MeshSet of, std::string name, mesh::ScalarType type, int components, std::string unit) {
  const bool in_cells = of == MeshSet::triangles || of == MeshSet::cells;
  const mesh::Centring centring = in_cells ? mesh::Centring::cell : mesh::Centring::node;
  return {of, {std::move(name), std::move(unit), type, centring, components, 0}};
}

std::vector<mesh::FieldInfo> number_fields(const std::vector<MeshArray>& arrays) {
  std::vector<mesh::FieldInfo> fields;
  for (const MeshArray& array : arrays)
    if (is_number(array)) {
      fields.push_back(array.info);
      fields.back().components = 1;
    }
  return fields;
}

StoredMesh mesh_of(const TriangleMesh& whole, const std::vector<MeshArray>& arrays,
                   std::span<const StoredTriangles> parts) {
  StoredMesh out;
  out.mesh.planes = whole.planes;
  std::vector<mesh::Field> boundary;
  for (std::size_t a = 0; a < arrays.size(); ++a) {
    const MeshArray& array = arrays[a];
    const std::string name = name_of(array);
    mesh::Field values = joined(parts, a, array, planes_of(array));
    if (name == "points/x") {
      out.mesh.x = doubles_of(values);
    } else if (name == "points/y") {
      out.mesh.y = doubles_of(values);
    } else if (name == "triangles/connectivity") {
      out.mesh.connectivity = connectivity_of(values.as<std::int32_t>());
      check_points(out.mesh.connectivity, whole.points, array);
    } else if (name == "triangles/part" && array.info.type == ScalarType::int32 && array.info.components == 1) {
      const auto part_of = values.as<std::int32_t>();
      out.part_of.assign(part_of.begin(), part_of.end());
    } else if (is_number(array)) {
      values.info.components = 1;
      out.numbers.push_back(std::move(values));
    } else if (array.of == MeshSet::boundary && !values.bytes.empty()) {
      boundary.push_back(std::move(values));
    }
  }
  if (!boundary.empty()) out.boundary = boundary_of(boundary, whole.points);
  return out;
}

bool is_integer(const mesh::FieldInfo& info) { return mesh::is_integer(info.type); }

bool fit_float32(std::span<const double> values) {
  return std::all_of(values.begin(), values.end(), [](double x) {
    const double back = static_cast<double>(static_cast<float>(x));
    // Bits are compared, because -0.0 equals 0.0 and no NaN equals itself.
    return std::memcmp(&x, &back, sizeof x) == 0;
  });
}

// The first point of a triangle as it is, the others as distances from it. Points of a triangle have numbers near each
// other, so the distances are small.
std::vector<std::int32_t> triangle_steps(std::span<const std::int64_t> connectivity) {
  std::vector<std::int32_t> out(connectivity.size());
  for (std::size_t i = 0; i < out.size(); ++i)
    out[i] = static_cast<std::int32_t>(i % 3 == 0 ? connectivity[i] : connectivity[i] - connectivity[i - i % 3]);
  return out;
}

std::int64_t mesh_checksum(const mesh::Unstructured& mesh) {
  base::RunningChecksum sum;
  const auto planes = static_cast<std::int64_t>(mesh.planes);
  sum.add(std::as_bytes(std::span(mesh.x)));
  sum.add(std::as_bytes(std::span(mesh.y)));
  sum.add(std::as_bytes(std::span(mesh.connectivity)));
  sum.add(std::as_bytes(std::span(&planes, 1)));
  return static_cast<std::int64_t>(sum.value());
}

void check_origin(const MeshOrigin& origin, std::int64_t checksum) {
  if (checksum != origin.checksum)
    throw Error(Kind::corrupt,
                "the mesh of step " + std::to_string(origin.step) + " is not the one that this step was written with");
}

StoredTriangles fold(const mesh::Part& part, const EncodeOptions& options, std::optional<MeshOrigin> origin) {
  const auto& mesh = std::get<mesh::Unstructured>(part.mesh);
  const std::size_t points = mesh.x.size(), triangles = mesh.connectivity.size() / 3;
  if (points == 0 || std::max(points, triangles) > static_cast<std::size_t>(most_points))
    throw Error(Kind::unsupported, "a store holds meshes of 1 to " + std::to_string(most_points) +
                                       " points a plane, and as many triangles, found " + std::to_string(points) +
                                       " points, " + std::to_string(triangles) + " triangles");
  StoredTriangles out;
  out.index = part.index;
  out.mesh = {static_cast<std::int64_t>(points), static_cast<std::int64_t>(triangles), mesh.planes, origin};
  out.share.places = points;
  out.opaque = part.opaque;
  const std::vector<std::uint32_t> order = curve_order(mesh);
  for (const mesh::Field& field : part.fields)
    if (!is_integer(field.info)) {
      out.fields.push_back(reordered(field, order, false));
      out.fields.back().info.centring = mesh::Centring::node;
    }
  if (origin) return out;
  out.share.points = points;
  out.share.triangles = triangles;
  add_coordinates(out, "x", mesh.x);
  add_coordinates(out, "y", mesh.y);
  for (const mesh::Field& field : part.fields)
    if (is_integer(field.info))
      add_values(out, mesh_array(MeshSet::points, field.info.name, field.info.type, mesh.planes, field.info.unit),
                 field.bytes);
  add_values<std::int32_t>(out, mesh_array(MeshSet::triangles, "connectivity", ScalarType::int32, 3),
                           triangle_steps(mesh.connectivity));
  if (!options.part_of.empty())
    add_values(out, mesh_array(MeshSet::triangles, "part", ScalarType::int32, 1), options.part_of);
  if (options.boundary == nullptr) return out;
  const BoundaryArrays& boundary = *options.boundary;
  out.share.boundary = boundary.point.size();
  const auto line_array = [](const char* name, ScalarType type, int components) {
    return mesh_array(MeshSet::boundary, name, type, components);
  };
  add_values<std::int32_t>(out, line_array("point", ScalarType::int32, 1), boundary.point);
  add_values<std::int32_t>(out, line_array("codes", ScalarType::int32, 4), boundary.codes);
  add_values<double>(out, line_array("values", ScalarType::float64, 7), boundary.values);
  add_values<std::int32_t>(out, line_array("colour", ScalarType::int32, 1), boundary.colour);
  return out;
}

PartView view_of(const StoredTriangles& part) {
  PartView view;
  view.index = part.index;
  view.triangles = part.mesh;
  view.share = part.share;
  const auto values_of = [](const mesh::FieldInfo& info, std::span<const std::byte> bytes) {
    Values values;
    values.info = info;
    values.size = bytes.size() / mesh::size_of(info.type);
    values.data = bytes.data();
    return values;
  };
  for (std::size_t a = 0; a < part.arrays.size(); ++a)
    view.mesh.push_back({part.arrays[a].of, values_of(part.arrays[a].info, part.values[a])});
  for (const mesh::Field& field : part.fields) view.fields.push_back(values_of(field.info, field.bytes));
  for (const auto& [name, bytes] : part.opaque) view.opaque.push_back({name, bytes});
  return view;
}

StoredMesh stored_mesh(const fs::path& store, Flow flow, std::int64_t step) {
  const OpenedStep opened = open_numbered(store, flow, step);
  if (!opened.triangles || opened.triangles->of_solids())
    throw Error(Kind::usage, "the step is not of triangles").at(store.string());
  return find_mesh(
      *opened.triangles, [&] { return own_mesh(opened); }, store, flow);
}

NeighbourSource neighbours_of(std::function<mesh::Unstructured()> make) {
  return when_asked([make = std::move(make)] {
    const mesh::Unstructured mesh = make();
    return mesh::neighbours_along(mesh, curve_order(mesh));
  });
}

NeighbourSource neighbours_of(const mesh::Unstructured& mesh) {
  return when_asked([&mesh] { return mesh::neighbours_along(mesh, curve_order(mesh)); });
}

NeighbourSource neighbours_of_step(const TriangleMesh& mesh, std::function<StoredMesh()> own, const fs::path& store,
                                   Flow flow) {
  return neighbours_of([mesh, own = std::move(own), store, flow] {
    mesh::Unstructured found = find_mesh(mesh, own, store, flow).mesh;
    mesh::validate(found);
    return found;
  });
}

void set_triangles(mesh::Dataset& dataset, const std::shared_ptr<const OpenedStep>& step, const fs::path& store) {
  const TriangleMesh& mesh = *step->triangles;
  dataset.unstructured = true;
  dataset.num_parts = 1;
  const std::int64_t elements = mesh.triangles * std::max(1, mesh.planes - 1);
  dataset.levels = {{0, elements, elements}};
  // Whole numbers at points are stored with the mesh.
  const std::vector<MeshArray> arrays = mesh.origin ? open_origin(*mesh.origin, store, step->flow).mesh : step->mesh;
  for (const mesh::FieldInfo& field : number_fields(arrays)) dataset.header.fields.push_back(field);
  dataset.parts_touching = [](const mesh::Region&) { return std::vector<int>{0}; };
  dataset.part_bytes = [bytes = raw_bytes_of(*step)](int) { return bytes; };
  dataset.read = [step, header = dataset.header, store](int part, const mesh::Request& request) {
    if (part != 0) throw Error(Kind::usage, "there is no part " + std::to_string(part) + " of 1");
    return read_whole(*step, header, request, store);
  };
}

}  // namespace octavo::store
