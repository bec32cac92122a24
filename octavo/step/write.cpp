#include "octavo/step/write.hpp"

#include <optional>
#include <set>
#include <span>
#include <string>

#include "octavo/base/error.hpp"
#include "octavo/mesh/triangles/cells.hpp"
#include "octavo/step/boundary_groups.hpp"
#include "octavo/step/cell_values.hpp"
#include "octavo/step/finer.hpp"
#include "octavo/step/open.hpp"
#include "octavo/step/regrid.hpp"
#include "octavo/step/replaceable.hpp"
#include "octavo/step/reshape.hpp"
#include "octavo/step/target.hpp"
#include "octavo/step/translate.hpp"
#include "octavo/step/triangle_series.hpp"

namespace octavo::step {
namespace {

namespace fs = std::filesystem;
using base::Error;
using base::Kind;
using formats::Format;
using formats::WantedMesh;
using formats::WriteReport;
using formats::WriteRequest;

// -------------------------------------------------------------------------------------------------------------- types

/// The type that all formats have for values of a type of stores alone: it holds each of them exactly.
mesh::ScalarType common_type(mesh::ScalarType type) {
  if (mesh::is_half(type)) return mesh::ScalarType::float32;
  return type == mesh::ScalarType::boolean ? mesh::ScalarType::uint8 : type;
}

void change_type(mesh::Field& field) {
  if (mesh::is_half(field.info.type)) {
    const std::vector<float> values = mesh::half_values(field);
    const auto bytes = std::as_bytes(std::span(values));
    field.bytes.assign(bytes.begin(), bytes.end());
  }
  field.info.type = common_type(field.info.type);
}

/// The step with fields and particles in types that all formats have.
mesh::Dataset with_common_types(const mesh::Dataset& step) {
  mesh::Dataset out = step;
  for (mesh::FieldInfo& info : out.header.fields) info.type = common_type(info.type);
  for (mesh::SpeciesInfo& species : out.species)
    for (mesh::FieldInfo& info : species.attributes) info.type = common_type(info.type);
  out.read = [read = step.read](int part, const mesh::Request& request) {
    mesh::Part changed = read(part, request);
    for (mesh::Field& field : changed.fields) change_type(field);
    for (mesh::Particles& species : changed.particles)
      for (mesh::Field& field : species.attributes) change_type(field);
    return changed;
  };
  return out;
}

// -------------------------------------------------------------------------------------------------- fields and names

TranslateOptions names_of(const Format& format, const WriteRequest& request) {
  return {format.words, request.rename, request.fields, request.particles};
}

/// Leaves out fields that the format has no place for, if the caller did not choose them; a note names them.
void choose_fields(const mesh::Header& header, const Format& format, WriteRequest& request, WriteReport& report) {
  if (request.fields) return;
  const TranslateOptions names = names_of(format, request);
  std::vector<std::string> kept;
  std::string left, why;
  for (const mesh::FieldInfo& field : header.fields) {
    const std::string reason = format.misfit(field, translated_name(header, field, names), request);
    if (reason.empty()) {
      kept.push_back(field.name);
      continue;
    }
    why = reason;
    left += (left.empty() ? "" : ", ") + field.name;
  }
  if (left.empty()) return;
  report.notes.push_back(why + ": left out are " + left);
  request.fields = std::move(kept);
}

std::string kind_of_mesh(const mesh::Dataset& step) { return mesh::holds_solids(step.header) ? "solids" : "triangles"; }

/// Integers on points have no place in files of triangles, but for the numbers of the boundary; a note names them.
void note_integers(const formats::Series& series, const WriteRequest& request, WriteReport& report) {
  const mesh::Header& header = series.first.header;
  std::string left;
  for (const std::size_t f : mesh::select_fields(header, request.fields)) {
    const mesh::FieldInfo& field = header.fields[f];
    const bool written = std::any_of(series.variables.begin(), series.variables.end(),
                                     [&](const mesh::FieldInfo& info) { return info.name == field.name; });
    if (mesh::is_integer(field.type) && !written && field.name != "IPOBO" && field.name != "GLB")
      left += (left.empty() ? "" : ", ") + field.name;
  }
  if (!left.empty())
    report.notes.push_back("files of " + kind_of_mesh(series.first) + " hold reals only: left out are " + left);
}

/// Names of groups for a note: "inlet, wall"; empty without groups.
std::string names_of_groups(const formats::MeshGroups& groups) {
  std::set<std::string> names;
  for (const formats::GroupFamily& family : groups.families) names.insert(family.groups.begin(), family.groups.end());
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

/// Reads the groups of the step's file, if the series has none yet. A note names them if the format has none.
void take_groups(formats::Series& series, const Format& format, std::vector<std::string>& notes) {
  if (!series.groups) series.groups = groups_of_file(series.first);
  if (const std::string names = names_of_groups(*series.groups); format.read_groups == nullptr && !names.empty())
    notes.push_back("groups are left out, for which a " + std::string(format.title) + " file has no place: " + names);
}

/// The chosen fields and particles in the format's words; if these are the step's own, nothing else changes.
mesh::Dataset in_words(const mesh::Dataset& step, const Format& format, const WriteRequest& request,
                       WriteReport& report) {
  for (const mesh::SpeciesInfo& species : step.species) report.particles += request.particles ? species.count : 0;
  if (request.same_words && request.rename.empty() && !request.fields && request.particles) return step;
  const bool carried = format.words->keeps_source && format.goes_on(request);  // beside the Header
  if (!request.same_words && !carried)
    for (const Format* other : formats::table())
      if (std::string note = other->lost_note == nullptr ? "" : other->lost_note(step.header); !note.empty())
        report.notes.push_back(std::move(note));
  return translate(step, names_of(format, request), report.notes);
}

/// The specific fields of `words`, the step in the format's words. Energies are so by the source's names, unless the
/// format's own names say it.
mesh::Specific specific_in_words(const mesh::Dataset& step, const mesh::Dataset& words, const Format& format,
                                 const WriteRequest& request) {
  const Words& from = formats::words_of(step.header);
  const auto rename = [&](const std::string& name) {
    const auto asked = request.rename.find(name);
    return asked != request.rename.end() ? asked->second : formats::field_name(name, from, *format.words);
  };
  if (!format.words->energies_per_mass)
    return mesh::renamed(formats::specific_of(step.header, request.per_mass), rename);
  std::vector<std::string> more;
  for (const std::string& name : request.per_mass) more.push_back(rename(name));
  return formats::specific_of(words.header, more);
}

// --------------------------------------------------------------------------------------------------------------- mesh

/// Regrids to the first of the blocks for which no value has to be made. If there is none, `fill` lets it make values
/// for blocks of 8 cells along each axis, or for the only block of the list; without `fill` it throws the last error.
Regridded first_that_fits(const mesh::Dataset& step, RegridJob job, const std::vector<mesh::Index3>& blocks,
                          bool fill) {
  for (std::size_t i = 0;; ++i) try {
      job.how.block = blocks[i];
      return regrid(step, job);
    } catch (const Error& error) {
      if (error.kind() != Kind::unsupported) throw;
      if (i + 1 < blocks.size()) continue;
      if (!fill) throw;
      job.how.block = {1, 1, 1};
      std::fill_n(job.how.block.begin(), step.header.dim, 8);
      if (blocks.size() == 1) job.how.block = blocks[0];
      job.how.fill = true;
      return regrid(step, job);
    }
}

void note_made(const Regridded& made, const mesh::Header& header, WriteReport& report) {
  report.means += made.plan.means;
  report.fills += made.plan.fills;
  if (made.plan.means != 0)
    report.notes.push_back(std::to_string(made.plan.means) +
                           " cells of levels coarser than the step's are the means of the finer ones");
  if (made.plan.fills != 0)
    report.notes.push_back(std::to_string(made.plan.fills) + " cells of " + std::to_string(made.plan.blocks_filled) +
                           " blocks were not in the step: they are made from the coarser cell they lie in" +
                           (made.plan.fill.by == mesh::FillBy::linear ? ", with limited slopes" : ", with its value"));
  const int level = mesh::code_level(header, made.plan.shift);
  if (!made.same_tree && level > mesh::code_level(header, header.unfolded))
    report.notes.push_back("level " + std::to_string(level) + " of the step is the coarsest one written");
}

/// Attributes that list blocks hold on the same mesh, or on the one that `wanted` says they are of.
bool keeps_layout(const WantedMesh& wanted, const Regridded& made, const WriteRequest& request) {
  if (!wanted.own) return made.same_tree;
  return made.dataset.header.block == *wanted.own && made.plan.fills == 0 && request.refine == 0;
}

/// The step on the mesh that the format wants.
mesh::Dataset on_wanted_mesh(const mesh::Dataset& words, const WantedMesh& wanted, const mesh::Specific& specific,
                             WriteRequest& request, WriteReport& report) {
  mesh::Dataset out = words;
  if (wanted.carry && words.carry && request.same_words) words.carry(out.header);
  if (!wanted.blocks.empty()) {
    RegridJob job;
    job.how.root = wanted.root;
    job.how.balance = wanted.balance;
    job.how.by = request.fill_by;
    job.how.specific = specific;
    job.part_cells = wanted.one_part ? 0 : request.part_cells;
    const Regridded made = first_that_fits(out, job, wanted.blocks, request.fill);
    note_made(made, words.header, report);
    request.shift = made.plan.shift;
    if (!made.same_tree) out = with_words(made.dataset, out);
    if (wanted.forget_layout && !keeps_layout(wanted, made, request)) {
      out.notes.clear();
      forget_layout(out);
      report.notes.insert(report.notes.end(), out.notes.begin(), out.notes.end());
    }
    if (wanted.forget_levels) mesh::forget_levels(out.header);
  }
  if (wanted.level_origin) out.header.level_origin = *wanted.level_origin;
  return out;
}

/// The step as the format takes it.
mesh::Dataset prepared(const mesh::Dataset& step, const Format& format, WriteRequest& request, WriteReport& report) {
  request.same_words = &formats::words_of(step.header) == format.words;
  choose_fields(step.header, format, request, report);
  const mesh::Dataset words = in_words(step, format, request, report);
  const WantedMesh wanted = format.wanted_mesh(words, request);
  const mesh::Specific specific =
      wanted.blocks.empty() ? mesh::Specific{} : specific_in_words(step, words, format, request);
  return on_wanted_mesh(words, wanted, specific, request, report);
}

/// Makes the output beside its final name, then gives it that. Collective.
void write_output(const Format& format, const formats::Series& steps, const WriteRequest& request,
                  WriteReport& report) {
  write_beside(
      request.ranks, [&] { return prepare_native_target(request.out, request.overwrite, format.name); },
      [&](const fs::path& path) {
        format.write(steps, path, request, report);
        base::agree(request.ranks, [&] {
          if (!format.triangles && request.ranks.rank == 0) sign(path);
        });
      });
}

/// Solids have no boundary with numbers. Groups are those of the step's file, if that has any.
WriteReport write_solids(formats::Series series, const Format& format, const fs::path& out, WriteRequest request) {
  if (!format.solids)
    mesh::refuse_solids(series.first, std::string(format.title) + " files hold triangles; solids are written to " +
                                          formats::titles_of([](const Format& one) { return one.solids; }));
  if (request.boundary) mesh::refuse_solids(series.first, "a boundary file (.cli) is of triangles");
  request.out = out;
  WriteReport report = formats::report_of(series);
  report.notes = series.first.notes;
  note_integers(series, request, report);
  for (mesh::FieldInfo& info : series.variables)
    if (!format.integers && mesh::is_integer(info.type)) info.type = mesh::ScalarType::float64;
  take_groups(series, format, report.notes);
  write_output(format, series, request, report);
  report.bytes += static_cast<std::int64_t>(fs::file_size(out));  // beside further files, which the format counts
  return report;
}

}  // namespace

WriteReport write(const mesh::Dataset& given, const fs::path& out, const WriteRequest& asked) {
  const Format& format = formats::format_named(asked.to);
  const std::string title(format.title);
  if (format.triangles) throw Error(Kind::unsupported, title + " holds meshes of triangles").at(given.path);
  if (given.unstructured)
    throw Error(Kind::unsupported, "a mesh of " + kind_of_mesh(given) + " cannot be an output of a code on cells")
        .at(given.path);
  formats::require_options(asked);
  WriteRequest request = asked;
  WriteReport report;
  report.notes = given.notes;
  if (format.one_process && request.ranks.size > 1)
    throw Error(Kind::usage, "a " + title + " output is written by one process").hint("run it without mpirun");
  // The first rank writes them.
  if (request.ranks.rank != 0) request.particles = false;
  mesh::Dataset step = with_common_types(given);
  if (request.periodic) step.header.periodic = *request.periodic;
  if (request.refine > 0) {
    base::agree(request.ranks, [&] { step = finer(step, request.refine, request.fill_by, request.per_mass); });
    request.fill = true;
    report.notes = step.notes;
    report.notes.push_back("the leaves of the finest level are refined " +
                           (request.refine == 1 ? "once" : std::to_string(request.refine) + " times"));
  }
  request.source = step.header;
  request.out = out;
  request.step = step_number(given).value_or(1);
  if (format.goes_on(request)) require_exact_values(given, request.lossy_ok, report.notes);
  formats::Series steps;
  base::agree(request.ranks, [&] { steps.first = prepared(step, format, request, report); });
  write_output(format, steps, request, report);
  if ((request.refine > 0 || report.fills != 0) && request.fill_by == mesh::FillBy::linear)
    report.notes.push_back(weights_note(formats::specific_of(given.header, request.per_mass)));
  if (format.name_note != nullptr)
    if (std::string note = format.name_note(request); !note.empty()) report.notes.push_back(std::move(note));
  return report;
}

WriteReport write(formats::Series series, const fs::path& out, const WriteRequest& asked) {
  const Format& format = formats::format_named(asked.to);
  if (!format.triangles)
    throw Error(Kind::unsupported,
                "a mesh of " + kind_of_mesh(series.first) + " cannot be an output of a code on cells")
        .at(series.first.path);
  formats::require_options(asked);
  if (mesh::holds_solids(series.first.header)) return write_solids(std::move(series), format, out, asked);
  const std::string title(format.title);
  WriteRequest request = asked;
  request.out = out;
  WriteReport report = formats::report_of(series);
  note_integers(series, request, report);
  if (!format.polygons) keep_triangles(series.first.header, series.variables, report.notes);
  const bool polygons = format.polygons && !mesh::cells_by_corners(series.first.header).empty();
  if (series.boundary.empty() && !polygons) series.boundary = boundary_numbers_of(series, report.notes);
  if (request.boundary) series.groups = groups_of_boundary(*request.boundary, series.mesh, report.notes);
  take_groups(series, format, report.notes);
  write_output(format, series, request, report);
  report.bytes += static_cast<std::int64_t>(fs::file_size(out));  // beside further files, which the format counts
  return report;
}

}  // namespace octavo::step
