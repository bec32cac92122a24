#include "capi/octavo.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>
#include <new>

#include "capi/arguments.hpp"
#include "capi/objects.hpp"
#include "octavo/base/error.hpp"
#include "octavo/parallel/communicator.hpp"
#include "octavo/parallel/failed_restarts.hpp"

namespace octavo::capi {

store::Flow flow_of(int flow) {
  if (flow != OCTAVO_CHECKPOINT && flow != OCTAVO_ANALYSIS)
    throw Error(Kind::usage, "flow: expected 0 or 1, found " + std::to_string(flow));
  return flow == OCTAVO_CHECKPOINT ? store::Flow::checkpoint : store::Flow::analysis;
}

void open_restart(MPI_Comm comm, const char* store, const char* options, int flow, std::int64_t step,
                  const std::function<std::optional<std::vector<std::int64_t>>()>& points, octavo_restart** restart) {
  parallel::RestartOptions chosen;
  parallel::agree(comm, [&] {
    checked(restart, "restart") = nullptr;
    checked(store, "store");
    chosen = parallel::restart_options(parallel::read_options({}, options == nullptr ? "" : options));
    chosen.flow = flow_of(flow);
    chosen.points = points();
  });
  if (step >= 0) chosen.step = step;
  auto found = parallel::restart(comm, store, chosen);
  if (found) *restart = new octavo_restart{std::move(*found), chosen.flow};
}

}  // namespace octavo::capi

namespace {

using namespace octavo;
using namespace octavo::capi;
using base::Error;
using base::Kind;

bool has_triangles(const octavo_restart& restart) {
  return std::holds_alternative<mesh::Unstructured>(restart.value.part.mesh);
}

const mesh::Octree& tree_of(const octavo_restart& restart) {
  if (has_triangles(restart)) throw Error(Kind::usage, "the step is of triangles: it has no tree");
  return std::get<mesh::Octree>(restart.value.part.mesh);
}

void copy_values(const mesh::Field& field, int type, void* values, std::int64_t count) {
  const auto expected = static_cast<std::int64_t>(field.size());
  if (type_of(type) != field.info.type || count != expected)
    throw Error(Kind::usage, "expected " + std::to_string(expected) + " values of type " +
                                 std::string(mesh::name_of(field.info.type)) + ", asked for " + std::to_string(count) +
                                 " of type " + std::string(mesh::name_of(type_of(type))))
        .at("field " + field.info.name);
  if (!field.bytes.empty())
    std::memcpy(&checked(static_cast<std::byte*>(values), "values"), field.bytes.data(), field.bytes.size());
}

const mesh::Field& find(const std::vector<mesh::Field>& fields, const char* name) {
  for (const mesh::Field& field : fields)
    if (field.info.name == &checked(name, "name")) return field;
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

void copy_text(const std::string& from, char* to, std::size_t size) {
  if (from.size() >= size)
    throw Error(Kind::usage,
                "the text needs " + std::to_string(from.size() + 1) + " bytes, there are " + std::to_string(size));
  std::memcpy(&checked(to, "text"), from.c_str(), from.size() + 1);
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

octavo_domain octavo_domain_default(void) { return {"", 3, {1, 1, 1}, {0, 0, 0}, {1, 1, 1}, {0, 0, 0}, 1, 1, 1}; }

int octavo_writer_open(MPI_Comm comm, const char* store, const octavo_domain* domain, const char* options,
                       const octavo_restart* from, octavo_writer** writer, octavo_error* error) {
  return guard(error, [&] {
    // NULL on one rank only is told to all, as what options say is.
    parallel::Options chosen;
    mesh::Header header;
    parallel::agree(comm, [&] {
      checked(writer, "writer") = nullptr;
      checked(store, "store");
      header = header_of(checked(domain, "domain"));
      chosen = parallel::read_options({}, options == nullptr ? "" : options);
    });
    std::optional<store::StepId> resumed;
    if (from != nullptr) resumed = from->value.id;
    *writer = new octavo_writer{parallel::Writer(comm, store, header, chosen, resumed), header.dim, header.roots};
  });
}

int octavo_writer_begin_step(octavo_writer* writer, int flow, int64_t step, double time, octavo_error* error) {
  return guard(error, [&] { checked(writer, "writer").writer.begin_step(flow_of(flow), step, time); });
}

int octavo_writer_put_int(octavo_writer* writer, const char* name, int64_t value, octavo_error* error) {
  return guard(error, [&] { checked(writer, "writer").writer.put_attribute(&checked(name, "name"), value); });
}

int octavo_writer_put_double(octavo_writer* writer, const char* name, double value, octavo_error* error) {
  return guard(error, [&] { checked(writer, "writer").writer.put_attribute(&checked(name, "name"), value); });
}

int octavo_writer_put_text(octavo_writer* writer, const char* name, const char* value, octavo_error* error) {
  return guard(error, [&] {
    checked(writer, "writer").writer.put_attribute(&checked(name, "name"), std::string(&checked(value, "value")));
  });
}

int octavo_writer_put_ints(octavo_writer* writer, const char* name, const int64_t* values, int64_t count,
                           octavo_error* error) {
  return guard(error, [&] {
    checked(writer, "writer").writer.put_attribute(&checked(name, "name"), array_from(values, count));
  });
}

int octavo_writer_put_doubles(octavo_writer* writer, const char* name, const double* values, int64_t count,
                              octavo_error* error) {
  return guard(error, [&] {
    checked(writer, "writer").writer.put_attribute(&checked(name, "name"), array_from(values, count));
  });
}

int octavo_writer_put_texts(octavo_writer* writer, const char* name, const char* const* values, int64_t count,
                            octavo_error* error) {
  return guard(error, [&] {
    checked(writer, "writer").writer.put_attribute(&checked(name, "name"), texts_from(values, count));
  });
}

int octavo_writer_due(octavo_writer* writer, int flow, int64_t step, double time, int* due, octavo_error* error) {
  return guard(error,
               [&] { checked(due, "due") = checked(writer, "writer").writer.due(flow_of(flow), step, time) ? 1 : 0; });
}

int octavo_writer_statistics(octavo_writer* writer, char* text, size_t size, octavo_error* error) {
  return guard(error, [&] {
    const parallel::Writer& of = checked(writer, "writer").writer;
    const std::string mine = to_json(of.statistics());
    copy_text("{\"rank\": " + mine + ", \"total\": " + to_json(of.total_statistics()) + "}", text, size);
  });
}

int octavo_writer_put_mesh(octavo_writer* writer, int levels, const int64_t* cells_of_level, const uint8_t* refined,
                           const uint8_t* owned, octavo_error* error) {
  return guard(error, [&] {
    const int dim = checked(writer, "writer").dim;
    writer->writer.put_mesh(tree_from(dim, writer->roots, {1, 1, 1}, levels, cells_of_level, refined, owned));
  });
}

int octavo_writer_put_field(octavo_writer* writer, const char* name, const char* unit, int type, const void* values,
                            int64_t cells, int64_t stride, int space, octavo_error* error) {
  return guard(error, [&] {
    checked(writer, "writer")
        .writer.put_field(&checked(name, "name"), view_of(type, values, cells, stride, space),
                          unit == nullptr ? "" : unit);
  });
}

int octavo_writer_put_particles(octavo_writer* writer, const char* species, const char* attribute, int type,
                                const void* values, int64_t count, int64_t stride, int space, octavo_error* error) {
  return guard(error, [&] {
    checked(writer, "writer")
        .writer.put_particles(&checked(species, "species"), &checked(attribute, "attribute"),
                              view_of(type, values, count, stride, space));
  });
}

int octavo_writer_end_step(octavo_writer* writer, octavo_error* error) {
  return guard(error, [&] { checked(writer, "writer").writer.end_step(); });
}

int octavo_writer_wait(octavo_writer* writer, octavo_error* error) {
  return guard(error, [&] { checked(writer, "writer").writer.wait(); });
}

int octavo_writer_close(octavo_writer** writer, octavo_error* error) {
  return guard(error, [&] {
    const std::unique_ptr<octavo_writer> mine(std::exchange(checked(writer, "writer"), nullptr));
    checked(mine.get(), "writer").writer.close();
  });
}

int octavo_restart_open(MPI_Comm comm, const char* store, int flow, int64_t step, octavo_restart** restart,
                        octavo_error* error) {
  return octavo_restart_open_with(comm, store, nullptr, flow, step, restart, error);
}

int octavo_restart_open_with(MPI_Comm comm, const char* store, const char* options, int flow, int64_t step,
                             octavo_restart** restart, octavo_error* error) {
  return guard(error, [&] {
    open_restart(
        comm, store, options, flow, step, [] { return std::nullopt; }, restart);
  });
}

int octavo_restart_failed(MPI_Comm comm, const char* store, const octavo_restart* restart, octavo_error* error) {
  return guard(error, [&] {
    parallel::agree(comm, [&] {
      checked(store, "store");
      checked(restart, "restart");
    });
    parallel::restart_failed(comm, store, restart->value.id, restart->flow);
  });
}

int octavo_forget_failed_restarts(const char* store, octavo_error* error) {
  return guard(error, [&] { parallel::forget_failed_restarts(&checked(store, "store")); });
}

int octavo_list_steps(const char* store, int flow, int64_t capacity, int64_t* steps, double* times, int64_t* count,
                      octavo_error* error) {
  return guard(error, [&] {
    std::int64_t found = 0;
    for (const store::StepInfo& info : store::list_steps(&checked(store, "store"))) {
      if (info.flow != flow_of(flow)) continue;
      if (found < capacity && steps != nullptr) steps[found] = info.step;
      if (found < capacity && times != nullptr) times[found] = info.time;
      ++found;
    }
    checked(count, "count") = found;
  });
}

int64_t octavo_restart_num_fields(const octavo_restart* restart) {
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

int64_t octavo_restart_step(const octavo_restart* restart) { return restart->value.id.step; }
double octavo_restart_time(const octavo_restart* restart) { return restart->value.header.time; }
const char* octavo_restart_note(const octavo_restart* restart, int64_t index) {
  const auto& notes = restart->value.notes;
  return index >= 0 && index < std::ssize(notes) ? notes[static_cast<std::size_t>(index)].c_str() : nullptr;
}
int octavo_restart_levels(const octavo_restart* restart) {
  return has_triangles(*restart) ? 0 : num_levels(tree_of(*restart));
}
int64_t octavo_restart_cells(const octavo_restart* restart) {
  if (has_triangles(*restart)) {
    const auto& mesh = std::get<mesh::Unstructured>(restart->value.part.mesh);
    return static_cast<std::int64_t>(mesh.x.size()) * mesh.planes;
  }
  return static_cast<std::int64_t>(num_cells(tree_of(*restart)));
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
  for (const mesh::Particles& particles : restart->value.part.particles)
    if (particles.species == species) return particles.count;
  return 0;
}

int octavo_restart_particles(const octavo_restart* restart, const char* species, const char* attribute, int type,
                             void* values, int64_t count, octavo_error* error) {
  return guard(error, [&] {
    for (const mesh::Particles& particles : checked(restart, "restart").value.part.particles)
      if (particles.species == &checked(species, "species"))
        return copy_values(find(particles.attributes, attribute), type, values, count);
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
