#include <algorithm>
#include <cstring>
#include <utility>

#include "capi/objects.hpp"
#include "octavo/engine/restart/code_files.hpp"
#include "octavo/engine/restart/failed_restarts.hpp"
#include "octavo/mesh/boxes.hpp"
#include "octavo/mesh/tree/prune.hpp"
#include "octavo/ranks/communicator.hpp"
#include "octavo/step/open.hpp"
#include "octavo/step/read_box.hpp"

namespace {

using namespace octavo;
using namespace octavo::capi;

template <class Mesh>
const Mesh& mesh_of(const octavo_restart* restart) {
  const mesh::Mesh& mesh = checked(restart, "restart").value.part.mesh;
  if (const auto* found = std::get_if<Mesh>(&mesh)) return *found;
  const char* has = std::holds_alternative<mesh::Patches>(mesh) ? "boxes: octavo_restart_get_boxes has them"
                    : std::holds_alternative<mesh::Unstructured>(mesh)
                        ? "triangles: octavo_restart_get_triangles has them"
                        : "a tree: octavo_restart_get_tree has it";
  throw Error(Kind::usage, std::string("the share is ") + has);
}

engine::RestartOptions options_of(const octavo_restart_options& from) {
  engine::RestartOptions options =
      engine::restart_options(engine::read_options({}, from.options == nullptr ? "" : from.options));
  options.flow = flow_of(from.flow);
  if (from.step >= 0) options.step = from.step;
  if (from.fields != nullptr) options.fields = texts_from(from.fields, from.num_fields);
  options.particles = from.particles != 0;
  options.keep_parts = from.keep_parts != 0;
  options.refine = from.refine;
  if (std::any_of(from.block, from.block + 3, [](std::int64_t cells) { return cells != 0; })) {
    options.block.emplace();
    std::copy_n(from.block, 3, options.block->begin());
  }
  options.fill = from.fill != 0;
  options.fill_by = from.constant != 0 ? mesh::FillBy::constant : mesh::FillBy::linear;
  if (from.per_mass != nullptr) options.per_mass = texts_from(from.per_mass, from.num_per_mass);
  if (from.boxes != 0) options.as = engine::MeshKind::patches;
  options.max_box = from.max_box;
  options.opaque = from.opaque != 0;
  if (from.points != nullptr) options.points = array_from(from.points, from.num_points);
  return options;
}

mesh::Field& find(std::vector<mesh::Field>& fields, const char* name, const char* what) {
  checked(name, what);
  for (mesh::Field& field : fields)
    if (field.info.name == name) return field;
  throw Error(Kind::usage, "there is no field " + std::string(name));
}

// The description of an array that is filled, complete.
octavo_array complete_array(const octavo_array* array) {
  const octavo_array to = complete(array, octavo_array_packed(OCTAVO_FLOAT64, nullptr, 0), "array");
  require_host(to.space);
  return to;
}

// The same for arrays in a row, each as long as its caller's version of the struct.
std::vector<octavo_array> complete_arrays(const octavo_array* arrays, std::size_t count) {
  std::vector<octavo_array> all;
  const auto* next = reinterpret_cast<const std::byte*>(arrays);
  for (std::size_t i = 0; i < count; ++i) {
    all.push_back(complete_array(reinterpret_cast<const octavo_array*>(next)));
    next += arrays->size;
  }
  return all;
}

const mesh::Attribute* value_of(const octavo_restart* restart, const char* name) {
  const auto& attributes = checked(restart, "restart").value.header.attributes;
  const auto found = attributes.find(&checked(name, "name"));
  return found == attributes.end() ? nullptr : &found->second;
}

// The attribute as an array; a number or a text is an array of one. Nothing if the attribute has another type.
template <class T>
std::optional<std::span<const T>> values_of(const mesh::Attribute* attribute) {
  if (attribute == nullptr) return {};
  if (const T* one = std::get_if<T>(attribute)) return std::span(one, 1);
  if (const auto* all = std::get_if<std::vector<T>>(attribute)) return std::span<const T>(*all);
  return {};
}

template <class T, class To, class Convert>
void get_values(const mesh::Attribute* attribute, To* values, std::int64_t count, Convert&& convert) {
  const auto found = values_of<T>(attribute);
  if (!found) throw Error(Kind::usage, "there are no values of this type");
  if (count != std::ssize(*found))
    throw Error(Kind::usage,
                "expected " + std::to_string(found->size()) + " values, asked for " + std::to_string(count));
  if (count > 0) std::transform(found->begin(), found->end(), &checked(values, "values"), convert);
}

void get_attribute(const mesh::Attribute* attribute, octavo_type type, void* values, std::int64_t count) {
  const auto same = [](auto value) { return value; };
  const auto text = [](const std::string& value) { return value.c_str(); };
  if (type == OCTAVO_INT64) return get_values<std::int64_t>(attribute, static_cast<std::int64_t*>(values), count, same);
  if (type == OCTAVO_FLOAT64) return get_values<double>(attribute, static_cast<double*>(values), count, same);
  if (type == OCTAVO_TEXT) return get_values<std::string>(attribute, static_cast<const char**>(values), count, text);
  throw Error(Kind::usage, "type: expected OCTAVO_INT64, OCTAVO_FLOAT64 or OCTAVO_TEXT, found " + std::to_string(type));
}

// Sets the members of the info that depend on the kind of mesh.
void describe(const mesh::Octree& tree, octavo_restart_info& info) {
  info.mesh = OCTAVO_MESH_TREE;
  info.levels = num_levels(tree);
  info.cells = static_cast<std::int64_t>(num_cells(tree));
  info.values = static_cast<std::int64_t>(num_cells(tree) * block_size(tree));
}
void describe(const mesh::Patches& patches, octavo_restart_info& info) {
  info.mesh = OCTAVO_MESH_BOXES;
  info.levels = static_cast<int>(patches.boxes.size());
  for (const auto& level : patches.boxes) {
    info.boxes += std::ssize(level);
    for (const mesh::IndexBox& box : level) info.values += num_cells(box, patches.dim);
  }
}
[[noreturn]] void describe(const mesh::Solids&, octavo_restart_info&) {
  throw Error(Kind::unsupported, "a restart has no mesh of solids");
}
void describe(const mesh::Unstructured& triangles, octavo_restart_info& info) {
  info.mesh = OCTAVO_MESH_TRIANGLES;
  info.values = std::ssize(triangles.x) * triangles.planes;
}

// Calls look(field, species, particles) for each field, then for each attribute of all species.
template <class Look>
void for_each_field(const mesh::Part& part, Look&& look) {
  for (const mesh::Field& field : part.fields) look(field, "", std::int64_t{0});
  for (const mesh::Particles& particles : part.particles)
    for (const mesh::Field& attribute : particles.attributes)
      look(attribute, particles.species.c_str(), particles.count);
}

template <class T>
const T* data_or_null(const std::vector<T>& values) {
  return values.empty() ? nullptr : values.data();
}

// Calls copy(field). A restart that gives values once frees them then.
template <class Copy>
void give(octavo_restart& restart, mesh::Field& field, Copy&& copy) {
  if (restart.given.contains(&field))
    throw Error(Kind::usage, field.info.name + " was given already, and its memory is free")
        .hint("with `once` 0 the restart keeps its values");
  copy(field);
  if (!restart.once) return;
  std::vector<std::byte>().swap(field.bytes);
  restart.given.insert(&field);
}

void copy_field(const mesh::Part& part, const mesh::Field& field, const octavo_array& to) {
  if (const auto* patches = std::get_if<mesh::Patches>(&part.mesh))
    return copy_values(field, views_of(to, patches->dim, {1, 1, 1}, sizes_of(*patches)));
  const auto* tree = std::get_if<mesh::Octree>(&part.mesh);
  FieldViews views = tree != nullptr ? views_of(to, tree->dim, tree->block, {}) : view_of_places(to);
  std::vector<std::uint32_t> order;
  if (to.order != nullptr) {
    order = order_from(to.order, to.cells);
    std::get<engine::ArrayView>(views).order = order;
  }
  copy_values(field, views);
}

}  // namespace

mesh::Field& octavo::capi::field_of(octavo_restart* restart, const char* name) {
  return find(checked(restart, "restart").value.part.fields, name, "name");
}

mesh::Field& octavo::capi::attribute_of(octavo_restart* restart, const char* species, const char* attribute) {
  checked(species, "species");
  for (mesh::Particles& particles : checked(restart, "restart").value.part.particles)
    if (particles.species == species) return find(particles.attributes, attribute, "attribute");
  throw Error(Kind::usage, "there is no species " + std::string(species));
}

int octavo_restart_open(MPI_Comm comm, const char* path, const octavo_restart_options* options,
                        octavo_restart** restart, octavo_error* error) {
  return guard(error, [&] {
    engine::RestartOptions chosen;
    ranks::agree(comm, [&] {
      checked(restart, "restart") = nullptr;
      checked(path, "path");
      const octavo_restart_options defaults = octavo_restart_options_default();
      chosen = options_of(options == nullptr ? defaults : complete(options, defaults, "options"));
    });
    auto found = engine::restart(comm, path, chosen);
    if (!found) return;
    const octavo_restart_options defaults = octavo_restart_options_default();
    const octavo_restart_options wanted = options == nullptr ? defaults : complete(options, defaults, "options");
    ranks::agree(comm, [&] {
      if (wanted.held_roots == 0 && std::holds_alternative<mesh::Octree>(found->part.mesh))
        mesh::hold_all_roots(found->part);
    });
    *restart = new octavo_restart{std::move(*found), {}, {}};
    (*restart)->once = wanted.once != 0;
    (*restart)->domain = described((*restart)->value.header);
    for (const std::string& note : (*restart)->value.notes) (*restart)->notes.push_back(note.c_str());
  });
}

int octavo_restart_failed(MPI_Comm comm, const char* store, const octavo_restart* restart, octavo_error* error) {
  return guard(error, [&] {
    ranks::agree(comm, [&] {
      checked(store, "store");
      checked(restart, "restart");
    });
    engine::restart_failed(comm, store, restart->value.id, restart->value.flow);
  });
}

int octavo_restart_write(MPI_Comm comm, const char* store, octavo_restart* restart, const char* format,
                         const char* path, octavo_error* error) {
  return guard(error, [&] {
    ranks::agree(comm, [&] {
      checked(store, "store"), checked(format, "format"), checked(path, "path"), checked(restart, "restart");
    });
    if (auto remove = engine::write_files(comm, store, restart->value, format, path))
      restart->remove_files = std::move(remove);
  });
}

int octavo_forget_failed_restarts(const char* store, octavo_error* error) {
  return guard(error, [&] { engine::forget_failed_restarts(&checked(store, "store")); });
}

int octavo_list_steps(const char* store, octavo_flow flow, int64_t capacity, int64_t* steps, double* times,
                      int64_t* count, octavo_error* error) {
  return guard(error, [&] {
    checked(count, "count");
    std::int64_t found = 0;
    for (const store::StepInfo& info : store::list_steps(&checked(store, "store"))) {
      if (info.flow != flow_of(flow)) continue;
      if (found < capacity && steps != nullptr) steps[found] = info.step;
      if (found < capacity && times != nullptr) times[found] = info.time;
      ++found;
    }
    *count = found;
  });
}

namespace {

mesh::Dataset open_step(const char* path, octavo_flow flow, std::int64_t step) {
  step::StepChoice choice;
  if (store::recognise(&checked(path, "path"))) choice.flow = flow_of(flow);
  if (step >= 0) choice.step = step;
  return step::open(path, choice);
}

template <class From, class To>
void copy_some(const From& from, std::int64_t capacity, To* to) {
  if (to == nullptr) return;
  std::copy_n(from.begin(), std::min(std::ssize(from), std::max<std::int64_t>(capacity, 0)), to);
}

void fill_points(const step::PointsInBox& found, octavo_points& to) {
  copy_some(found.point, to.capacity, to.number);
  copy_some(found.x, to.capacity, to.x);
  copy_some(found.y, to.capacity, to.y);
  copy_some(found.triangle, to.triangle_capacity, to.triangle);
  copy_some(found.connectivity, 3 * to.triangle_capacity, to.corners);
  if (!found.fields.empty() && to.values != nullptr) {
    const std::vector<double> values = mesh::to_doubles(found.fields[0]);
    const std::size_t points = found.point.size();
    for (std::size_t plane = 0; plane < static_cast<std::size_t>(found.planes); ++plane)
      copy_some(std::span(values).subspan(plane * points, points), to.capacity,
                to.values + static_cast<std::int64_t>(plane) * to.capacity);
  }
  to.points = std::ssize(found.point);
  to.triangles = std::ssize(found.triangle);
  to.planes = found.planes;
}

}  // namespace

int octavo_read_points(const char* path, const char* field, octavo_points* points, octavo_error* error) {
  return guard(error, [&] {
    octavo_points out = complete(points, octavo_points_default(), "points");
    if (out.capacity < 0 || out.triangle_capacity < 0)
      throw Error(Kind::usage, "capacity: expected at least 0, found " +
                                   std::to_string(std::min(out.capacity, out.triangle_capacity)));
    std::vector<std::string> fields;
    if (field != nullptr) fields = {field};
    fill_points(step::read_points(open_step(path, out.flow, out.step), {out.lower[0], out.lower[1]},
                                  {out.upper[0], out.upper[1]}, fields),
                out);
    fill(points, out, "points");
  });
}

int octavo_read_box(const char* path, const octavo_box* box, int64_t num_fields, const char* const* fields,
                    const octavo_array* arrays, int64_t* missing, octavo_error* error) {
  return guard(error, [&] {
    const octavo_box wanted = complete(box, octavo_box_default(), "box");
    const std::vector<std::string> names = texts_from(fields, num_fields);
    const std::vector<octavo_array> memory = complete_arrays(arrays, names.size());
    const mesh::Dataset dataset = open_step(path, wanted.flow, wanted.step);
    mesh::IndexBox cells;
    std::copy_n(wanted.lower, 3, cells.lo.begin());
    std::copy_n(wanted.upper, 3, cells.hi.begin());
    cells = mesh::flat(cells, dataset.header.dim);
    const mesh::Index3 extent{cells.hi[0] - cells.lo[0], cells.hi[1] - cells.lo[1], cells.hi[2] - cells.lo[2]};
    std::vector<step::BoxMemory> boxes;
    for (const octavo_array& array : memory) boxes.push_back(box_array(array, dataset.header.dim, extent));
    const std::vector<std::int64_t> without = step::read_box(dataset, names, wanted.level, cells, boxes);
    if (missing != nullptr) std::copy(without.begin(), without.end(), missing);
  });
}

int octavo_restart_get_info(const octavo_restart* restart, octavo_restart_info* info, octavo_error* error) {
  return guard(error, [&] {
    octavo_restart_info out = octavo_restart_info_default();
    if (restart != nullptr) {
      out.step = restart->value.id.step;
      out.time = restart->value.header.time;
      out.domain = &restart->domain;
      std::visit([&](const auto& mesh) { describe(mesh, out); }, restart->value.part.mesh);
      for_each_field(restart->value.part, [&](auto&&...) { ++out.num_fields; });
      out.num_notes = std::ssize(restart->notes);
      out.notes = data_or_null(restart->notes);
    }
    fill(info, out, "info");
  });
}

int octavo_restart_get_field_info(const octavo_restart* restart, int64_t index, octavo_field_info* info,
                                  octavo_error* error) {
  return guard(error, [&] {
    std::int64_t next = 0;
    for_each_field(checked(restart, "restart").value.part,
                   [&](const mesh::Field& field, const char* species, std::int64_t count) {
                     if (next++ != index) return;
                     octavo_field_info out = octavo_field_info_default();
                     out.name = field.info.name.c_str();
                     out.unit = field.info.unit.c_str();
                     out.species = species;
                     out.type = static_cast<octavo_type>(field.info.type);
                     if (*species == 0) out.centring = static_cast<octavo_centring>(field.info.centring);
                     out.components = field.info.components;
                     out.count = count;
                     fill(info, out, "info");
                   });
    if (index < 0 || index >= next)
      throw Error(Kind::usage, "there is no field " + std::to_string(index) + " of " + std::to_string(next));
  });
}

int octavo_restart_get_bytes(const octavo_restart* restart, int rank, const char* name, const void** bytes,
                             int64_t* count, octavo_error* error) {
  return guard(error, [&] {
    const auto& all = checked(restart, "restart").value.opaque;
    const auto of_rank = all.find(rank);
    if (of_rank == all.end()) throw Error(Kind::usage, "there are no bytes of rank " + std::to_string(rank));
    const auto found = of_rank->second.find(&checked(name, "name"));
    if (found == of_rank->second.end())
      throw Error(Kind::usage, "rank " + std::to_string(rank) + " has put no bytes '" + name + "'");
    checked(bytes, "bytes") = found->second.data();
    checked(count, "count") = std::ssize(found->second);
  });
}

int octavo_restart_get_tree(octavo_restart* restart, octavo_tree* tree, octavo_error* error) {
  return guard(error, [&] {
    const auto& mesh = mesh_of<mesh::Octree>(restart);
    checked(tree, "tree");
    if (restart->cells_of_level.empty()) {
      const std::size_t cells = num_cells(mesh);
      restart->refined.reserve(cells);
      restart->owned.reserve(cells);
      for (std::size_t level = 0; level < mesh.refined.size(); ++level) {
        const std::size_t count = mesh.refined[level].size();
        restart->cells_of_level.push_back(static_cast<std::int64_t>(count));
        for (std::size_t i = 0; i < count; ++i) {
          restart->refined.push_back(mesh.refined[level][i] ? 1 : 0);
          restart->owned.push_back(mesh.owned[level][i] ? 1 : 0);
        }
      }
    }
    fill(tree,
         octavo_tree{sizeof(octavo_tree), num_levels(mesh), restart->cells_of_level.data(), restart->refined.data(),
                     restart->owned.data(), std::ssize(mesh.held), mesh.held.empty() ? nullptr : &mesh.held[0].begin},
         "tree");
  });
}

int octavo_restart_get_boxes(octavo_restart* restart, octavo_boxes* boxes, octavo_error* error) {
  return guard(error, [&] {
    const auto& patches = mesh_of<mesh::Patches>(restart);
    checked(boxes, "boxes");
    const auto add = [](const mesh::IndexBox& box, std::vector<std::int64_t>& to) {
      to.insert(to.end(), box.lo.begin(), box.lo.end());
      to.insert(to.end(), box.hi.begin(), box.hi.end());
    };
    if (restart->box_domain.empty())
      for (std::size_t level = 0; level < patches.boxes.size(); ++level) {
        add(patches.domain[level], restart->box_domain);
        restart->boxes_of_level.push_back(std::ssize(patches.boxes[level]));
        for (const mesh::IndexBox& box : patches.boxes[level]) add(box, restart->boxes);
      }
    fill(boxes,
         octavo_boxes{sizeof(octavo_boxes), static_cast<int>(patches.boxes.size()), restart->box_domain.data(),
                      data_or_null(patches.ratio), restart->boxes_of_level.data(), data_or_null(restart->boxes)},
         "boxes");
  });
}

int octavo_restart_get_triangles(octavo_restart* restart, octavo_triangles* triangles, octavo_error* error) {
  return guard(error, [&] {
    const auto& mesh = mesh_of<mesh::Unstructured>(restart);
    fill(triangles,
         octavo_triangles{sizeof(octavo_triangles), std::ssize(mesh.x), std::ssize(mesh.connectivity) / 3, mesh.planes,
                          mesh.x.data(), mesh.y.data(), mesh.connectivity.data(), mesh.global_point.data(),
                          data_or_null(restart->value.global_element), nullptr, nullptr},
         "triangles");
  });
}

int octavo_restart_get_field(octavo_restart* restart, const char* name, const octavo_array* array,
                             octavo_error* error) {
  return guard(error, [&] {
    mesh::Field& wanted = field_of(restart, name);
    give(*restart, wanted,
         [&](const mesh::Field& field) { copy_field(restart->value.part, field, complete_array(array)); });
  });
}

int64_t octavo_restart_get_particle_count(const octavo_restart* restart, const char* species) {
  if (restart == nullptr || species == nullptr) return 0;
  for (const mesh::Particles& particles : restart->value.part.particles)
    if (particles.species == species) return particles.count;
  return 0;
}

int octavo_restart_get_particles(octavo_restart* restart, const char* species, const char* attribute,
                                 const octavo_array* array, octavo_error* error) {
  return guard(error, [&] {
    mesh::Field& wanted = attribute_of(restart, species, attribute);
    give(*restart, wanted,
         [&](const mesh::Field& values) { copy_values(values, view_of_places(complete_array(array))); });
  });
}

int64_t octavo_restart_get_attribute_count(const octavo_restart* restart, const char* name) {
  std::int64_t count = -1;
  guard(nullptr, [&] {
    const mesh::Attribute* attribute = value_of(restart, name);
    if (const auto ints = values_of<std::int64_t>(attribute)) count = std::ssize(*ints);
    if (const auto doubles = values_of<double>(attribute)) count = std::ssize(*doubles);
    if (const auto texts = values_of<std::string>(attribute)) count = std::ssize(*texts);
  });
  return count;
}

int octavo_restart_get_attribute(const octavo_restart* restart, const char* name, octavo_type type, void* values,
                                 int64_t count, octavo_error* error) {
  return guard(error, [&] {
    const mesh::Attribute* attribute = value_of(restart, name);
    try {
      get_attribute(attribute, type, values, count);
    } catch (Error& wrong) {
      throw wrong.at("attribute " + std::string(name));
    }
  });
}

int octavo_restart_get_neighbours(MPI_Comm comm, octavo_restart* restart, octavo_neighbours* neighbours,
                                  octavo_error* error) {
  return guard(error, [&] {
    ranks::agree(comm, [&] {
      checked(restart, "restart");
      fill(neighbours, octavo_neighbours_default(), "neighbours");
    });
    restart->neighbours = engine::arrays_of(engine::find_neighbours(comm, restart->value));
    const engine::NeighbourArrays& own = restart->neighbours;
    fill(neighbours,
         octavo_neighbours{sizeof(octavo_neighbours), std::ssize(own.shared), own.shared.data(), own.first.data(),
                           own.ranks.data(), std::ssize(own.halo_triangle), own.halo_triangle.data(),
                           own.behind_rank.data(), own.behind_triangle.data(), std::ssize(own.boundary_point),
                           own.boundary_point.data(), own.place.data(), own.liquid.data(), own.next.data(),
                           own.previous.data(), own.codes.data(), own.values.data(), own.colour.data()},
         "neighbours");
  });
}

void octavo_restart_free(octavo_restart** restart) {
  if (restart == nullptr || *restart == nullptr) return;
  if ((*restart)->remove_files) (*restart)->remove_files();
  delete std::exchange(*restart, nullptr);
}
