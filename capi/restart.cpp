#include <algorithm>
#include <cstring>
#include <utility>

#include "capi/arguments.hpp"
#include "capi/objects.hpp"
#include "octavo/engine/restart/failed_restarts.hpp"
#include "octavo/mesh/boxes.hpp"
#include "octavo/mesh/tree/prune.hpp"
#include "octavo/ranks/communicator.hpp"

namespace {

using namespace octavo;
using namespace octavo::capi;

// The error for a call that expects another kind of mesh than the share has.
Error other_mesh(const octavo_restart& restart) {
  const mesh::Mesh& mesh = restart.value.part.mesh;
  const char* has = std::holds_alternative<mesh::Patches>(mesh) ? "is boxes: octavo_restart_boxes has them"
                    : std::holds_alternative<mesh::Unstructured>(mesh)
                        ? "is triangles: octavo_restart_triangles has them"
                        : "is a tree: octavo_restart_mesh has it";
  return Error(Kind::usage, std::string("the share ") + has);
}

const mesh::Octree& tree_of(const octavo_restart& restart) {
  const auto* tree = std::get_if<mesh::Octree>(&restart.value.part.mesh);
  if (tree == nullptr) throw other_mesh(restart);
  return *tree;
}

const mesh::Patches& patches_of(const octavo_restart& restart) {
  const auto* patches = std::get_if<mesh::Patches>(&restart.value.part.mesh);
  if (patches == nullptr) throw other_mesh(restart);
  return *patches;
}

engine::RestartOptions options_of(const octavo_restart_options& from) {
  engine::RestartOptions options =
      engine::restart_options(engine::read_options({}, from.options == nullptr ? "" : from.options));
  options.flow = flow_of(from.flow);
  if (from.step >= 0) options.step = from.step;
  if (from.fields != nullptr) options.fields = texts_from(from.fields, from.num_fields);
  options.particles = from.particles != 0;
  options.refine = from.refine;
  if (std::any_of(from.block, from.block + 3, [](std::int64_t cells) { return cells != 0; })) {
    options.block.emplace();
    std::copy_n(from.block, 3, options.block->begin());
  }
  options.fill = from.fill != 0;
  options.fill_by = from.constant != 0 ? mesh::FillBy::constant : mesh::FillBy::linear;
  if (from.boxes != 0) options.as = engine::MeshKind::patches;
  options.max_box = from.max_box;
  if (from.points != nullptr) options.points = array_from(from.points, from.num_points);
  return options;
}

// float32 may be asked for as float64: what was put so comes back so from a store written with single_precision.
void copy_values(const mesh::Field& field, int type, void* values, std::int64_t count) {
  const auto expected = static_cast<std::int64_t>(field.size());
  const bool wider = type_of(type) == mesh::ScalarType::float64 && field.info.type == mesh::ScalarType::float32;
  if ((type_of(type) != field.info.type && !wider) || count != expected)
    throw Error(Kind::usage, "expected " + std::to_string(expected) + " values of type " +
                                 std::string(mesh::name_of(field.info.type)) + ", asked for " + std::to_string(count) +
                                 " of type " + std::string(mesh::name_of(type_of(type))))
        .at("field " + field.info.name);
  if (field.bytes.empty()) return;
  if (wider) {
    const auto from = field.as<float>();
    std::copy(from.begin(), from.end(), &checked(static_cast<double*>(values), "values"));
  } else {
    std::memcpy(&checked(static_cast<std::byte*>(values), "values"), field.bytes.data(), field.bytes.size());
  }
}

const mesh::Field& find(const std::vector<mesh::Field>& fields, const char* name) {
  checked(name, "name");
  for (const mesh::Field& field : fields)
    if (field.info.name == name) return field;
  throw Error(Kind::usage, "there is no field " + std::string(name));
}

const mesh::Attribute* attribute_of(const octavo_restart* restart, const char* name) {
  const auto& attributes = checked(restart, "restart").value.header.attributes;
  const auto found = attributes.find(&checked(name, "name"));
  return found == attributes.end() ? nullptr : &found->second;
}

// An array, or a number as an array of one.
template <class T>
void get_array(const octavo_restart* restart, const char* name, T* values, std::int64_t count) {
  const mesh::Attribute* attribute = attribute_of(restart, name);
  std::span<const T> found;
  if (attribute != nullptr && std::holds_alternative<T>(*attribute))
    found = std::span(&std::get<T>(*attribute), 1);
  else if (attribute != nullptr && std::holds_alternative<std::vector<T>>(*attribute))
    found = std::get<std::vector<T>>(*attribute);
  else
    throw Error(Kind::usage, "there are no such numbers").at("attribute " + std::string(name));
  if (count != static_cast<std::int64_t>(found.size()))
    throw Error(Kind::usage, "expected " + std::to_string(found.size()) + " values, asked for " + std::to_string(count))
        .at("attribute " + std::string(name));
  if (count > 0) std::copy(found.begin(), found.end(), &checked(values, "values"));
}

template <std::size_t n>
void cut_text(const std::string& from, char (&to)[n]) {
  std::snprintf(to, n, "%s", from.c_str());
}

template <class T>
void get_attribute(const octavo_restart* restart, const char* name, T* value) {
  const auto& attributes = checked(restart, "restart").value.header.attributes;
  const auto found = attributes.find(&checked(name, "name"));
  if (found == attributes.end() || !std::holds_alternative<T>(found->second))
    throw Error(Kind::usage, "there is no such number").at("attribute " + std::string(name));
  checked(value, "value") = std::get<T>(found->second);
}

}  // namespace

octavo_restart_options octavo_restart_options_default(void) {
  octavo_restart_options options = {};
  options.flow = OCTAVO_CHECKPOINT;
  options.step = -1;
  options.particles = 1;
  options.max_box = engine::RestartOptions().max_box;
  return options;
}

int octavo_restart_open(MPI_Comm comm, const char* store, int flow, int64_t step, octavo_restart** restart,
                        octavo_error* error) {
  return octavo_restart_open_with(comm, store, nullptr, flow, step, restart, error);
}

int octavo_restart_open_with(MPI_Comm comm, const char* store, const char* options, int flow, int64_t step,
                             octavo_restart** restart, octavo_error* error) {
  octavo_restart_options chosen = octavo_restart_options_default();
  chosen.options = options;
  chosen.flow = flow;
  chosen.step = step;
  return octavo_restart_open_as(comm, store, &chosen, restart, error);
}

int octavo_restart_open_as(MPI_Comm comm, const char* path, const octavo_restart_options* options,
                           octavo_restart** restart, octavo_error* error) {
  return guard(error, [&] {
    engine::RestartOptions chosen;
    ranks::agree(comm, [&] {
      checked(restart, "restart") = nullptr;
      checked(path, "path");
      chosen = options_of(checked(options, "options"));
    });
    auto found = engine::restart(comm, path, chosen);
    if (!found) return;
    // The caller's level 0 has all roots.
    ranks::agree(comm, [&] {
      if (std::holds_alternative<mesh::Octree>(found->part.mesh)) mesh::hold_all_roots(found->part);
    });
    *restart = new octavo_restart{std::move(*found), chosen.flow};
  });
}

int octavo_restart_failed(MPI_Comm comm, const char* store, const octavo_restart* restart, octavo_error* error) {
  return guard(error, [&] {
    ranks::agree(comm, [&] {
      checked(store, "store");
      checked(restart, "restart");
    });
    engine::restart_failed(comm, store, restart->value.id, restart->flow);
  });
}

int octavo_forget_failed_restarts(const char* store, octavo_error* error) {
  return guard(error, [&] { engine::forget_failed_restarts(&checked(store, "store")); });
}

int octavo_list_steps(const char* store, int flow, int64_t capacity, int64_t* steps, double* times, int64_t* count,
                      octavo_error* error) {
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

// The restart is NULL if no checkpoint exists yet. Functions that return a number or a text accept that.
int64_t octavo_restart_num_fields(const octavo_restart* restart) {
  if (restart == nullptr) return 0;
  std::size_t count = restart->value.part.fields.size();
  for (const mesh::Particles& particles : restart->value.part.particles) count += particles.attributes.size();
  return static_cast<std::int64_t>(count);
}

int octavo_restart_field_info(const octavo_restart* restart, int64_t index, octavo_field_info* info,
                              octavo_error* error) {
  return guard(error, [&] {
    const mesh::Part& part = checked(restart, "restart").value.part;
    std::int64_t next = 0;
    const auto look = [&](const mesh::Field& field, const std::string& species) {
      if (next++ != index) return;
      cut_text(field.info.name, checked(info, "info").name);
      cut_text(field.info.unit, info->unit);
      cut_text(species, info->species);
      info->type = static_cast<int>(field.info.type);
      info->components = field.info.components;
    };
    for (const mesh::Field& field : part.fields) look(field, "");
    for (const mesh::Particles& particles : part.particles)
      for (const mesh::Field& attribute : particles.attributes) look(attribute, particles.species);
    if (index < 0 || index >= next)
      throw Error(Kind::usage, "there is no field " + std::to_string(index) + " of " + std::to_string(next));
  });
}

int64_t octavo_restart_step(const octavo_restart* restart) { return restart == nullptr ? -1 : restart->value.id.step; }
double octavo_restart_time(const octavo_restart* restart) {
  return restart == nullptr ? 0 : restart->value.header.time;
}
const char* octavo_restart_note(const octavo_restart* restart, int64_t index) {
  if (restart == nullptr) return nullptr;
  const auto& notes = restart->value.notes;
  return index >= 0 && index < std::ssize(notes) ? notes[static_cast<std::size_t>(index)].c_str() : nullptr;
}

int octavo_restart_domain(const octavo_restart* restart, octavo_domain* domain, int64_t block[3], octavo_error* error) {
  return guard(error, [&] {
    const mesh::Header& header = checked(restart, "restart").value.header;
    octavo_domain& out = checked(domain, "domain");
    out.code = header.code.c_str();
    out.dim = header.dim;
    std::copy_n(header.roots.begin(), 3, out.roots);
    std::copy_n(header.lo.begin(), 3, out.lo);
    std::copy_n(header.hi.begin(), 3, out.hi);
    std::copy_n(header.periodic.begin(), 3, out.periodic);
    out.unit_length = header.unit_length;
    out.unit_density = header.unit_density;
    out.unit_time = header.unit_time;
    if (block != nullptr) std::copy_n(header.block.begin(), 3, block);
  });
}

int octavo_restart_levels(const octavo_restart* restart) {
  if (restart == nullptr) return 0;
  const mesh::Mesh& mesh = restart->value.part.mesh;
  const auto* patches = std::get_if<mesh::Patches>(&mesh);
  if (patches != nullptr) return static_cast<int>(patches->boxes.size());
  const auto* tree = std::get_if<mesh::Octree>(&mesh);
  return tree == nullptr ? 0 : num_levels(*tree);
}
int64_t octavo_restart_cells(const octavo_restart* restart) {
  if (restart == nullptr) return 0;
  const auto* tree = std::get_if<mesh::Octree>(&restart->value.part.mesh);
  return tree == nullptr ? 0 : static_cast<std::int64_t>(num_cells(*tree));
}
int64_t octavo_restart_num_boxes(const octavo_restart* restart) {
  if (restart == nullptr) return 0;
  const auto* patches = std::get_if<mesh::Patches>(&restart->value.part.mesh);
  std::int64_t boxes = 0;
  if (patches != nullptr)
    for (const auto& level : patches->boxes) boxes += std::ssize(level);
  return boxes;
}
int64_t octavo_restart_values(const octavo_restart* restart) {
  if (restart == nullptr) return 0;
  const mesh::Mesh& mesh = restart->value.part.mesh;
  if (const auto* tree = std::get_if<mesh::Octree>(&mesh))
    return static_cast<std::int64_t>(num_cells(*tree) * block_size(*tree));
  if (const auto* triangles = std::get_if<mesh::Unstructured>(&mesh))
    return std::ssize(triangles->x) * triangles->planes;
  const auto& patches = std::get<mesh::Patches>(mesh);
  std::int64_t values = 0;
  for (const auto& level : patches.boxes)
    for (const mesh::IndexBox& box : level) values += num_cells(box, patches.dim);
  return values;
}

int octavo_restart_boxes(const octavo_restart* restart, int64_t* domain, int* ratio, int64_t* boxes_of_level,
                         int64_t* boxes, octavo_error* error) {
  return guard(error, [&] {
    const mesh::Patches& patches = patches_of(checked(restart, "restart"));
    checked(domain, "domain");
    checked(boxes_of_level, "boxes_of_level");
    if (octavo_restart_num_boxes(restart) > 0) checked(boxes, "boxes");
    if (!patches.ratio.empty()) checked(ratio, "ratio");
    const auto put = [](const mesh::IndexBox& box, std::int64_t*& to) {
      to = std::copy_n(box.hi.begin(), 3, std::copy_n(box.lo.begin(), 3, to));
    };
    for (std::size_t level = 0; level < patches.boxes.size(); ++level) {
      put(patches.domain[level], domain);
      boxes_of_level[level] = std::ssize(patches.boxes[level]);
      for (const mesh::IndexBox& box : patches.boxes[level]) put(box, boxes);
    }
    std::copy(patches.ratio.begin(), patches.ratio.end(), ratio);
  });
}

int octavo_restart_mesh(const octavo_restart* restart, int64_t* cells_of_level, uint8_t* refined, uint8_t* owned,
                        octavo_error* error) {
  return guard(error, [&] {
    const mesh::Octree& tree = tree_of(checked(restart, "restart"));
    checked(cells_of_level, "cells_of_level");
    checked(refined, "refined");
    checked(owned, "owned");
    for (std::size_t level = 0; level < tree.refined.size(); ++level) {
      cells_of_level[level] = static_cast<std::int64_t>(tree.refined[level].size());
      for (std::size_t i = 0; i < tree.refined[level].size(); ++i) {
        *refined++ = tree.refined[level][i] ? 1 : 0;
        *owned++ = tree.owned[level][i] ? 1 : 0;
      }
    }
  });
}

int octavo_restart_field(const octavo_restart* restart, const char* name, int type, void* values, int64_t cells,
                         octavo_error* error) {
  return guard(error,
               [&] { copy_values(find(checked(restart, "restart").value.part.fields, name), type, values, cells); });
}

int64_t octavo_restart_count(const octavo_restart* restart, const char* species) {
  if (restart == nullptr || species == nullptr) return 0;
  for (const mesh::Particles& particles : restart->value.part.particles)
    if (particles.species == species) return particles.count;
  return 0;
}

int octavo_restart_particles(const octavo_restart* restart, const char* species, const char* attribute, int type,
                             void* values, int64_t count, octavo_error* error) {
  return guard(error, [&] {
    checked(species, "species");
    for (const mesh::Particles& particles : checked(restart, "restart").value.part.particles)
      if (particles.species == species) return copy_values(find(particles.attributes, attribute), type, values, count);
    throw Error(Kind::usage, "there is no species " + std::string(species));
  });
}

int octavo_restart_get_int(const octavo_restart* restart, const char* name, int64_t* value, octavo_error* error) {
  return guard(error, [&] { get_attribute<std::int64_t>(restart, name, value); });
}

int octavo_restart_get_double(const octavo_restart* restart, const char* name, double* value, octavo_error* error) {
  return guard(error, [&] { get_attribute<double>(restart, name, value); });
}

int64_t octavo_restart_attribute_count(const octavo_restart* restart, const char* name) {
  std::int64_t count = -1;
  guard(nullptr, [&] {
    const mesh::Attribute* attribute = attribute_of(restart, name);
    if (attribute == nullptr) return;
    count = 1;
    if (const auto* ints = std::get_if<std::vector<std::int64_t>>(attribute)) count = std::ssize(*ints);
    if (const auto* doubles = std::get_if<std::vector<double>>(attribute)) count = std::ssize(*doubles);
    if (const auto* texts = std::get_if<std::vector<std::string>>(attribute)) count = std::ssize(*texts);
  });
  return count;
}

int octavo_restart_get_ints(const octavo_restart* restart, const char* name, int64_t* values, int64_t count,
                            octavo_error* error) {
  return guard(error, [&] { get_array<std::int64_t>(restart, name, values, count); });
}

int octavo_restart_get_doubles(const octavo_restart* restart, const char* name, double* values, int64_t count,
                               octavo_error* error) {
  return guard(error, [&] { get_array<double>(restart, name, values, count); });
}

int octavo_restart_get_text(const octavo_restart* restart, const char* name, int64_t index, char* text, size_t size,
                            octavo_error* error) {
  return guard(error, [&] {
    const mesh::Attribute* attribute = attribute_of(restart, name);
    if (attribute != nullptr && index == 0 && std::holds_alternative<std::string>(*attribute))
      return copy_text(std::get<std::string>(*attribute), text, size);
    if (const auto* texts = attribute == nullptr ? nullptr : std::get_if<std::vector<std::string>>(attribute))
      if (index >= 0 && index < std::ssize(*texts))
        return copy_text((*texts)[static_cast<std::size_t>(index)], text, size);
    throw Error(Kind::usage, "there is no such text").at("attribute " + std::string(name));
  });
}

void octavo_restart_free(octavo_restart** restart) {
  if (restart != nullptr) delete std::exchange(*restart, nullptr);
}
