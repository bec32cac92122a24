#include "octavo/store/read/triangles.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <mutex>
#include <numeric>
#include <utility>

#include "octavo/base/checksum.hpp"
#include "octavo/base/error.hpp"
#include "octavo/mesh/triangles/point_curve.hpp"
#include "octavo/mesh/triangles/point_neighbours.hpp"
#include "octavo/store/triangle_boundary.hpp"

namespace octavo::store {
namespace {

using base::Error;
using base::Kind;
using mesh::ScalarType;

// ------------------------------------------------------------------ order

/// Points along the curve; those of one cell by number.
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

/// Values of all planes, of the size of T: out[k] = in[order[k]] in each; or the other way round.
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

// ------------------------------------------------------------------ arrays

mesh::Field coordinates(const std::string& name, const std::vector<double>& values) {
  if (!fit_float32(values)) return mesh::attribute_of(name, values);
  return mesh::attribute_of(name, std::vector<float>(values.begin(), values.end()));
}

const mesh::Field& attribute(const mesh::Part& part, const char* species, const std::string& name) {
  for (const mesh::Particles& particles : part.particles)
    if (particles.species == species)
      for (const mesh::Field& field : particles.attributes)
        if (field.info.name == name) return field;
  throw Error(Kind::corrupt, std::string("a mesh of triangles lacks ") + species + "/" + name);
}

std::vector<double> doubles(const mesh::Field& field) {
  return mesh::visit_values(field, [](auto values) { return std::vector<double>(values.begin(), values.end()); });
}

template <class T>
const T* find(const mesh::Header& header, const char* name) {
  const auto found = header.attributes.find(name);
  return found == header.attributes.end() ? nullptr : std::get_if<T>(&found->second);
}

int planes_of(const mesh::Header& header) { return static_cast<int>(*find<std::int64_t>(header, "planes")); }

// ------------------------------------------------------------------ reading

/// How a step is read as it is stored.
struct Folded {
  FoldedRead read;
  int parts = 1;
};

/// An attribute of all parts: one after another, in each plane.
mesh::Field joined(const std::vector<mesh::Part>& parts, const std::string& species, const mesh::FieldInfo& info) {
  const bool of_planes = species == points_species;
  const std::size_t planes = of_planes ? static_cast<std::size_t>(info.components) : 1;
  mesh::Field whole{info, {}};
  for (std::size_t plane = 0; plane < planes; ++plane)
    for (const mesh::Part& part : parts) {
      const mesh::Field& field = attribute(part, species.c_str(), info.name);
      if (field.info != info) throw Error(Kind::corrupt, "parts disagree about it").at("attribute " + info.name);
      const std::size_t bytes = field.bytes.size() / planes;
      const auto begin = field.bytes.begin() + static_cast<std::ptrdiff_t>(plane * bytes);
      whole.bytes.insert(whole.bytes.end(), begin, begin + static_cast<std::ptrdiff_t>(bytes));
    }
  return whole;
}

/// The two species, of all parts.
mesh::Part whole_mesh(const Folded& step) {
  mesh::Request only;
  only.fields = std::vector<std::string>{};
  only.particles = true;
  std::vector<mesh::Part> parts;
  for (int p = 0; p < step.parts; ++p) parts.push_back(step.read(p, only, {}));
  return join_meshes(std::move(parts));
}

/// For what needs no neighbours to be read: a mesh.
Folded folded(const mesh::Dataset& dataset) {
  return {[read = dataset.read](int part, const mesh::Request& request, const NeighbourSource&) {
            return read(part, request);
          },
          dataset.num_parts};
}

/// The step that has the mesh: this one, or the one it names.
mesh::Part part_with_mesh(const Folded& here, const mesh::Header& header, const std::filesystem::path& store,
                          Flow flow) {
  const auto* step = find<std::int64_t>(header, mesh_step_attribute);
  if (step == nullptr) return whole_mesh(here);
  return whole_mesh(folded(open_folded(store, flow, *step)));
}

/// Fields of all parts, along the curve in each plane: each part has as long a stretch of it.
mesh::Part whole_fields(const Folded& step, const mesh::Request& request, std::size_t points, std::size_t planes,
                        const NeighbourSource& neighbours) {
  mesh::Part whole;
  const std::size_t stretch = stretch_of(points, step.parts);
  for (int p = 0; p < step.parts; ++p) {
    mesh::Part part = step.read(p, request, neighbours);
    for (std::size_t f = 0; f < part.fields.size(); ++f) {
      const mesh::Field& field = part.fields[f];
      const std::size_t size = mesh::size_of(field.info.type), first = static_cast<std::size_t>(p) * stretch;
      if (field.size() != stretch * planes)
        throw Error(Kind::corrupt,
                    "expected " + std::to_string(stretch * planes) + " values, found " + std::to_string(field.size()))
            .at("field " + field.info.name)
            .at("part " + std::to_string(p));
      if (p == 0) whole.fields.push_back(mesh::make_field(field.info, points * planes));
      for (std::size_t plane = 0; plane < planes && first < points; ++plane)
        std::copy_n(field.bytes.data() + plane * stretch * size, std::min(stretch, points - first) * size,
                    whole.fields[f].bytes.data() + (plane * points + first) * size);
    }
  }
  return whole;
}

void check_mesh(const mesh::Unstructured& mesh, const mesh::Header& header) {
  const auto* expected = find<std::int64_t>(header, mesh_checksum_attribute);
  if (expected != nullptr && *expected != mesh_checksum(mesh))
    throw Error(Kind::corrupt, "the mesh of step " + std::to_string(*find<std::int64_t>(header, mesh_step_attribute)) +
                                   " is not the one that this step was written with");
}

mesh::Unstructured checked_mesh(const mesh::Part& whole, const mesh::Header& header) {
  mesh::Unstructured mesh = mesh_of(whole, planes_of(header));
  mesh::validate(mesh);
  check_mesh(mesh, header);
  return mesh;
}

/// Made once, when it is first asked for; once is enough also where several threads ask.
struct Asked {
  std::mutex mutex;
  std::optional<mesh::PointNeighbours> neighbours;
};

NeighbourSource when_asked(std::function<mesh::PointNeighbours()> make) {
  return [asked = std::make_shared<Asked>(), make = std::move(make)] {
    const std::lock_guard lock(asked->mutex);
    if (!asked->neighbours) asked->neighbours = make();
    return codec::Neighbours{asked->neighbours->order, asked->neighbours->near};
  };
}

mesh::Part unfold_part(const Folded& step, const mesh::Part& whole, const mesh::Header& header,
                       const mesh::Request& request) {
  mesh::Part out;
  mesh::Unstructured mesh = checked_mesh(whole, header);
  mesh::Request stored;
  stored.fields.emplace();
  for (const std::size_t f : mesh::select_fields(header, request.fields))
    if (!is_integer(header.fields[f])) stored.fields->push_back(header.fields[f].name);
  const std::vector<std::uint32_t> order = curve_order(mesh);
  const NeighbourSource neighbours = when_asked([&] { return mesh::neighbours_along(mesh, order); });
  const mesh::Part folded =
      whole_fields(step, stored, mesh.x.size(), static_cast<std::size_t>(mesh.planes), neighbours);
  for (const std::size_t f : mesh::select_fields(header, request.fields)) {
    const mesh::FieldInfo& info = header.fields[f];
    if (is_integer(info)) {
      out.fields.push_back(attribute(whole, points_species, info.name));
      out.fields.back().info = info;
      if (out.fields.back().size() != mesh.x.size() * static_cast<std::size_t>(mesh.planes))
        throw Error(Kind::corrupt,
                    "expected a value for each point of all planes, found " + std::to_string(out.fields.back().size()))
            .at("field " + info.name);
    }
    for (const mesh::Field& field : folded.fields)
      if (field.info.name == info.name) {
        out.fields.push_back(reordered(field, order, true));
        out.fields.back().info = info;
      }
  }
  out.mesh = std::move(mesh);
  return out;
}

}  // namespace

bool has_triangles(const mesh::Header& header) {
  return find<std::int64_t>(header, "triangles") != nullptr && find<std::int64_t>(header, "planes") != nullptr;
}

mesh::Part join_meshes(std::vector<mesh::Part> parts) {
  if (parts.size() == 1) return std::move(parts[0]);
  mesh::Part whole;
  for (const mesh::Particles& species : parts.at(0).particles) {
    mesh::Particles all{species.species, 0, {}};
    for (const mesh::Part& part : parts)
      for (const mesh::Particles& other : part.particles)
        if (other.species == species.species) all.count += other.count;
    for (const mesh::Field& field : species.attributes)
      all.attributes.push_back(joined(parts, species.species, field.info));
    whole.particles.push_back(std::move(all));
  }
  return whole;
}

mesh::Unstructured mesh_of(const mesh::Part& part, int planes) {
  mesh::Unstructured mesh;
  mesh.planes = planes;
  mesh.x = doubles(attribute(part, points_species, "x"));
  mesh.y = doubles(attribute(part, points_species, "y"));
  const mesh::Field& steps = attribute(part, triangles_species, "points");
  if (steps.info.type != ScalarType::int32 || steps.info.components != 3)
    throw Error(Kind::corrupt, "the triangles' points: expected three int32 each");
  for (const std::int32_t step : steps.as<std::int32_t>()) {
    const std::size_t i = mesh.connectivity.size();
    mesh.connectivity.push_back(i % 3 == 0 ? step : step + mesh.connectivity[i - i % 3]);
  }
  return mesh;
}

bool is_integer(const mesh::FieldInfo& info) { return mesh::is_integer(info.type); }

bool fit_float32(std::span<const double> values) {
  return std::all_of(values.begin(), values.end(), [](double x) {
    const double back = static_cast<double>(static_cast<float>(x));
    return std::memcmp(&x, &back, sizeof x) == 0;
  });
}

std::vector<std::int32_t> triangle_steps(std::span<const std::int64_t> connectivity) {
  std::vector<std::int32_t> out(connectivity.size());
  for (std::size_t i = 0; i < out.size(); ++i)
    out[i] = static_cast<std::int32_t>(i % 3 == 0 ? connectivity[i] : connectivity[i] - connectivity[i - i % 3]);
  return out;
}

mesh::Octree one_cell(int planes, bool owned) {
  mesh::Octree cell;
  cell.dim = planes > 1 ? 3 : 2;
  cell.refined = {base::BitArray(1)};
  cell.owned = {base::BitArray(1)};
  if (owned) cell.owned[0].set(0);
  return cell;
}

std::vector<mesh::FieldInfo> fields_beside(const std::vector<mesh::SpeciesInfo>& species) {
  std::vector<mesh::FieldInfo> fields;
  for (const mesh::SpeciesInfo& info : species)
    if (info.name == points_species)
      for (mesh::FieldInfo field : info.attributes)
        if (field.name != "x" && field.name != "y") {
          field.centring = mesh::Centring::node;
          field.components = 1;
          fields.push_back(field);
        }
  return fields;
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

mesh::Part fold(const mesh::Part& part, bool with_mesh) {
  const auto& mesh = std::get<mesh::Unstructured>(part.mesh);
  if (mesh.x.size() >= most_triangle_points || mesh.x.empty())
    throw Error(Kind::unsupported, "a store holds meshes of 1 to " + std::to_string(most_triangle_points - 1) +
                                       " points a plane, found " + std::to_string(mesh.x.size()));
  mesh::Part out;
  out.index = part.index;
  out.mesh = one_cell(mesh.planes, true);
  out.opaque = part.opaque;
  mesh::Particles points{points_species, static_cast<std::int64_t>(mesh.x.size()), {}};
  points.attributes = {coordinates("x", mesh.x), coordinates("y", mesh.y)};
  const std::vector<std::uint32_t> order = curve_order(mesh);
  for (const mesh::Field& field : part.fields) {
    if (is_integer(field.info)) {
      points.attributes.push_back(field);
      points.attributes.back().info.centring = mesh::Centring::particle;
      points.attributes.back().info.components = mesh.planes;
      continue;
    }
    out.fields.push_back(reordered(field, order, false));
  }
  if (!with_mesh) return out;
  const auto triangles = static_cast<std::int64_t>(mesh.connectivity.size() / 3);
  out.particles = {
      std::move(points),
      {triangles_species, triangles, {mesh::attribute_of("points", triangle_steps(mesh.connectivity), 3)}}};
  for (const mesh::Particles& particles : part.particles)
    if (particles.species == triangles_species) {
      auto& attributes = out.particles.back().attributes;
      attributes.insert(attributes.end(), particles.attributes.begin(), particles.attributes.end());
    }
  for (const mesh::Particles& particles : part.particles)
    if (particles.species == boundary_species) out.particles.push_back(particles);
  return out;
}

mesh::Part stored_mesh(const std::filesystem::path& store, Flow flow, std::int64_t step) {
  const mesh::Dataset dataset = open_folded(store, flow, step);
  return part_with_mesh(folded(dataset), dataset.header, store, flow);
}

mesh::Particles cut_of(std::span<const std::int32_t> part_of) {
  const std::vector<std::int32_t> values(part_of.begin(), part_of.end());
  return {triangles_species, static_cast<std::int64_t>(values.size()), {mesh::attribute_of(part_attribute, values)}};
}

std::vector<std::int32_t> read_cut(const mesh::Part& part) {
  for (const mesh::Particles& particles : part.particles)
    if (particles.species == triangles_species)
      for (const mesh::Field& field : particles.attributes)
        if (field.info.name == part_attribute && field.info.type == ScalarType::int32) {
          const auto values = field.as<std::int32_t>();
          return {values.begin(), values.end()};
        }
  return {};
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

NeighbourSource neighbours_of_step(const mesh::Header& header, std::function<mesh::Part()> own,
                                   const std::filesystem::path& store, Flow flow) {
  if (!has_triangles(header)) return {};
  return neighbours_of([header, own = std::move(own), store, flow] {
    const FoldedRead read = [&](int, const mesh::Request&, const NeighbourSource&) { return own(); };
    return checked_mesh(part_with_mesh({read, 1}, header, store, flow), header);
  });
}

void unfold(mesh::Dataset& dataset, const FoldedRead& read, const std::filesystem::path& store, Flow flow) {
  if (!has_triangles(dataset.header)) return;
  dataset.unstructured = true;
  std::vector<mesh::SpeciesInfo> species = dataset.species;
  if (const auto* step = find<std::int64_t>(dataset.header, mesh_step_attribute)) {
    const mesh::Dataset other = open_folded(store, flow, *step);
    species = other.species;
  }
  for (mesh::FieldInfo& field : dataset.header.fields) field.centring = mesh::Centring::node;
  for (const mesh::FieldInfo& field : fields_beside(species)) dataset.header.fields.push_back(field);
  dataset.species.clear();
  const std::int64_t layers = std::max(1, planes_of(dataset.header) - 1);
  const std::int64_t elements = *find<std::int64_t>(dataset.header, "triangles") * layers;
  dataset.levels = {{0, elements, elements}};
  const Folded here{read, dataset.num_parts};
  dataset.parts_touching = [](const mesh::Region&) { return std::vector<int>{0}; };
  dataset.part_bytes = [bytes = dataset.part_bytes, parts = here.parts](int) {
    std::int64_t sum = 0;
    for (int p = 0; p < parts; ++p) sum += bytes(p);
    return sum;
  };
  dataset.num_parts = 1;
  dataset.read = [here, header = dataset.header, store, flow](int part, const mesh::Request& request) {
    if (part != 0) throw Error(Kind::usage, "there is no part " + std::to_string(part) + " of 1");
    return unfold_part(here, part_with_mesh(here, header, store, flow), header, request);
  };
}

}  // namespace octavo::store
