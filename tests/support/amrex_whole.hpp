#pragma once
#include <algorithm>
#include <numeric>

#include "octavo/file/posix.hpp"
#include "octavo/formats/amrex/step_file.hpp"
#include "octavo/formats/amrex/writer.hpp"
#include "octavo/mesh/boxes.hpp"

/// AMReX outputs of one part that is in memory, written and read at once: for tests.
namespace octavo::formats::amrex {

/// All values of a MultiFab as they are in the file, of cells, faces or nodes, ghost cells included: one field a
/// component, named "name" or "name_0" ..., box after box. Boxes are those of `stored_box`.
struct MultiFabValues {
  std::vector<mesh::IndexBox> boxes;
  std::vector<mesh::Field> fields;
};
inline MultiFabValues read_multifab(const MultiFab& multifab) {
  MultiFabValues out;
  std::vector<Take> takes;
  std::size_t values = 0;
  for (std::size_t i = 0; i < multifab.places.size(); ++i) {
    out.boxes.push_back(stored_box(multifab, i));
    takes.push_back({i, out.boxes.back(), values});
    values += static_cast<std::size_t>(mesh::num_cells(out.boxes.back(), multifab.boxes.dim));
  }
  std::vector<int> components(static_cast<std::size_t>(multifab.components));
  std::iota(components.begin(), components.end(), 0);
  std::vector<std::span<std::byte>> targets;
  const std::string name = multifab.prefix.filename().string();
  for (int c : components) {
    mesh::FieldInfo info{.name = components.size() == 1 ? name : name + "_" + std::to_string(c), .unit = ""};
    info.type = multifab.format.type;
    info.centring = centring_of(multifab.boxes);
    info.ghost = static_cast<int>(*std::max_element(multifab.ghost.begin(), multifab.ghost.end()));
    out.fields.push_back(mesh::make_field(std::move(info), values));
  }
  for (mesh::Field& field : out.fields) targets.emplace_back(field.bytes);
  read_cells(multifab, std::move(takes), components, multifab.format.type, targets);
  return out;
}

/// All of a MultiFab: data files, then the header.
inline void write_multifab(const std::filesystem::path& prefix, const MultiFabShape& shape,
                           std::span<const ComponentValues> components, const WriteOptions& options = {}) {
  const MultiFabPlan plan = plan_multifab(shape, options.files);
  MinMax min_max;
  write_boxes(prefix, plan, components, 0, plan.places.size(), min_max, options);
  write_text(prefix.parent_path() / (prefix.filename().string() + "_H"),
             header_text(prefix, plan, table_rows(min_max.minima, shape.components),
                         table_rows(min_max.maxima, shape.components)),
             options.sync);
}

namespace whole {

inline void check_part(const mesh::Header& header, const mesh::Part& part) {
  const auto* patches = std::get_if<mesh::Patches>(&part.mesh);
  if (patches == nullptr) throw base::Error(base::Kind::usage, "AMReX outputs are written from patches");
  mesh::validate(*patches);
  if (patches->dim != header.dim) throw base::Error(base::Kind::usage, "header and patches differ in dimension");
  std::size_t values = 0;
  for (const auto& boxes : patches->boxes)
    for (const mesh::IndexBox& box : boxes) values += static_cast<std::size_t>(mesh::num_cells(box, patches->dim));
  for (const mesh::Field& field : part.fields) {
    const std::string where = "field " + field.info.name;
    check_info(field.info);
    if (field.info.centring != mesh::Centring::cell || field.info.ghost != 0 || field.size() != values)
      throw base::Error(base::Kind::usage, "values of a field: expected " + std::to_string(values) +
                                               ", one a cell, found " + std::to_string(field.size()))
          .at(where);
  }
}

/// One MultiFab a level, from some of the part's fields.
inline void write_levels(const std::filesystem::path& path, const std::string& name, const mesh::Part& part,
                         const std::vector<std::size_t>& fields, const WriteOptions& options) {
  const auto& patches = std::get<mesh::Patches>(part.mesh);
  MultiFabShape shape;
  shape.components = static_cast<int>(fields.size());
  shape.type = mesh::ScalarType::float32;
  for (std::size_t field : fields)
    if (part.fields[field].info.type == mesh::ScalarType::float64) shape.type = mesh::ScalarType::float64;
  std::size_t first = 0;
  for (std::size_t level = 0; level < patches.boxes.size(); ++level) {
    shape.boxes = {patches.boxes[level], {0, 0, 0}, patches.dim};
    std::size_t values = 0;
    for (const mesh::IndexBox& box : patches.boxes[level])
      values += static_cast<std::size_t>(mesh::num_cells(box, patches.dim));
    std::vector<ComponentValues> components;
    for (std::size_t field : fields) {
      const mesh::Field& from = part.fields[field];
      const std::size_t width = mesh::size_of(from.info.type);
      components.push_back({from.info.type, std::span(from.bytes).subspan(first * width, values * width)});
    }
    make_directories(path / level_name(level), options.sync);
    write_multifab(path / level_name(level) / name, shape, components, options);
    first += values;
  }
}

inline std::vector<std::string> names_of(const mesh::Part& part) {
  std::vector<std::string> names;
  for (const mesh::Field& field : part.fields) names.push_back(field.info.name);
  return names;
}

}  // namespace whole

/// Writes a plotfile: as `NAME.partial`, renamed when all is there. Fields are cell-centred, box after box, without
/// ghost cells; float32 where all are. Particles go to the finest box that holds their position, those outside the
/// domain to the nearest. Steps and coordinate system are the header's attributes of those names. Throws Error(usage)
/// where `path` exists or a field does not fit, Error(unsupported) for fields that are not floating-point.
inline void write_plotfile(const std::filesystem::path& path, const mesh::Header& header, const mesh::Part& part,
                           const WriteOptions& options = {}) {
  whole::check_part(header, part);
  if (part.fields.empty()) throw base::Error(base::Kind::usage, "a plotfile needs a field").at(path.string());
  const auto& patches = std::get<mesh::Patches>(part.mesh);
  std::vector<std::size_t> all(part.fields.size());
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
  whole::write_levels(begin_output(path, options.sync), "Cell", part, all, options);
  finish_output(path, plotfile_header(header, whole::names_of(part), patches), false, header, part, options);
}

/// Which fields of a part one MultiFab of a checkpoint holds.
struct NamedFields {
  std::string name;
  std::vector<std::size_t> fields;
};
/// Writes a checkpoint of a code on AmrCore in the widespread form: title, finest level, steps, time steps, times,
/// boxes. Beside it stands a file of facts that codes take from their inputs (step_file.hpp). MultiFabs have the given
/// names; particles have their whole identity (version 2.1). Otherwise as write_plotfile. The time steps are the
/// header's attribute "level_dt"; Error(usage) if there is none.
inline void write_checkpoint(const std::filesystem::path& path, const std::string& title, const mesh::Header& header,
                             const mesh::Part& part, std::span<const NamedFields> multifabs,
                             const WriteOptions& options = {}) {
  whole::check_part(header, part);
  const auto& patches = std::get<mesh::Patches>(part.mesh);
  const std::string text = checkpoint_header(title, header, patches);
  for (const NamedFields& multifab : multifabs)
    for (std::size_t field : multifab.fields)
      if (field >= part.fields.size())
        throw base::Error(base::Kind::usage, "no field number " + std::to_string(field)).at(multifab.name);
  const std::filesystem::path partial = begin_output(path, options.sync);
  for (const NamedFields& multifab : multifabs)
    whole::write_levels(partial, multifab.name, part, multifab.fields, options);
  std::vector<NamedComponents> names;
  for (const NamedFields& multifab : multifabs) {
    names.push_back({multifab.name, {}});
    for (std::size_t field : multifab.fields) names.back().names.push_back(part.fields[field].info.name);
  }
  write_component_names(partial, names, options.sync);
  write_step_file(partial, header, patches, options.sync);
  finish_output(path, text, true, header, part, options);
}

}  // namespace octavo::formats::amrex
