#include "octavo/verbs/cross.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "octavo/base/error.hpp"
#include "octavo/base/threads.hpp"
#include "octavo/formats/amrex/write_dataset.hpp"
#include "octavo/formats/flash/flash.hpp"
#include "octavo/formats/flash/foreign.hpp"
#include "octavo/formats/ramses/writer.hpp"
#include "octavo/step/finer.hpp"
#include "octavo/step/regrid.hpp"
#include "octavo/step/reshape.hpp"
#include "octavo/step/target.hpp"

namespace octavo::verbs {
namespace {

namespace fs = std::filesystem;
using base::Error;
using base::Kind;
using mesh::Index3;

std::string text_attribute(const mesh::Header& header, const std::string& name) {
  const auto found = header.attributes.find(name);
  if (found == header.attributes.end()) return {};
  const auto* text = std::get_if<std::string>(&found->second);
  return text != nullptr ? *text : std::string{};
}

Index3 cube(int dim, std::int64_t side) { return {side, dim > 1 ? side : 1, dim > 2 ? side : 1}; }

bool has_blocks(const mesh::Header& header) { return header.block != Index3{1, 1, 1}; }

std::vector<Index3> cubes(int dim, std::initializer_list<std::int64_t> sides) {
  std::vector<Index3> all;
  for (const std::int64_t side : sides) all.push_back(cube(dim, side));
  return all;
}

/// The first of the blocks for which nothing has to be made; where there is none, the last error, or with fill that of
/// 8 cells along each axis, or the only one there is.
step::Regridded first_that_fits(const mesh::Dataset& dataset, step::RegridJob job, const std::vector<Index3>& blocks,
                                bool fill) {
  for (std::size_t i = 0;; ++i) try {
      job.how.block = blocks[i];
      return step::regrid(dataset, job);
    } catch (const Error& error) {
      if (error.kind() != Kind::unsupported) throw;
      if (i + 1 < blocks.size()) continue;
      if (!fill) throw;
      job.how.block = blocks.size() == 1 ? blocks[0] : cube(dataset.header.dim, 8);
      job.how.fill = true;
      return step::regrid(dataset, job);
    }
}

/// The specific fields of `words`, the step in the target's words. FLASH's energies are so in the words of any code,
/// and any code's where they become FLASH's.
mesh::Specific specific_in_words(const mesh::Dataset& dataset, const mesh::Dataset& words,
                                 const CrossOptions& options) {
  const step::Code from = step::code_of(dataset.header);
  const auto rename = [&](const std::string& name) {
    const auto asked = options.rename.find(name);
    return asked != options.rename.end() ? asked->second : step::field_name(name, from, options.to);
  };
  if (options.to != step::Code::flash)
    return mesh::renamed(mesh::specific_of(dataset.header, options.per_mass), rename);
  std::vector<std::string> more;
  for (const std::string& name : options.per_mass) more.push_back(rename(name));
  return mesh::specific_of(words.header, more);
}

void note_made(const step::Regridded& made, const mesh::Header& header, CrossReport& report) {
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

/// Makes the output beside its final name, then gives it that. Collective.
template <class Write>
void write_to(const fs::path& out, const CrossOptions& options, Write&& write) {
  const bool first = options.ranks.rank == 0;
  std::optional<step::Target> target;  // of rank 0
  base::agree(options.ranks, [&] {
    if (first) target.emplace(step::prepare_native_target(out, options.overwrite));
  });
  const fs::path path = base::all_gather(options.ranks, target ? target->path.string() : std::string())[0];
  try {
    write(path);
    base::agree(options.ranks, [&] {
      if (target) step::finish_target(*target);
    });
  } catch (...) {
    if (target) step::discard_target(*target);
    throw;
  }
}

/// Only what the options choose, in the target's words; within one code nothing else changes.
mesh::Dataset in_words(const mesh::Dataset& dataset, const CrossOptions& options, CrossReport& report) {
  const bool same = step::code_of(dataset.header) == options.to;
  for (const mesh::SpeciesInfo& species : dataset.species) report.particles += options.particles ? species.count : 0;
  if (same && options.rename.empty() && !options.fields && options.particles) return dataset;
  const bool carried = options.to == step::Code::amrex && options.kind == "checkpoint";  // beside the Header
  if (!same && !carried)
    if (const std::string left = formats::flash::foreign_names(dataset.header.attributes); !left.empty())
      report.notes.push_back("left out is what FLASH does not know of its file: " + left);
  step::TranslateOptions how;
  how.to = options.to;
  how.rename = options.rename;
  how.fields = options.fields;
  how.particles = options.particles;
  return step::translate(dataset, how, report.notes);
}

/// The options without fields that the target has no place for, if the fields were not chosen; a note names them.
template <class Fits>
CrossOptions with_fitting(const mesh::Dataset& dataset, CrossOptions options, Fits&& fits, const std::string& why,
                          CrossReport& report) {
  if (options.fields) return options;
  std::vector<std::string> kept;
  std::string left;
  for (const mesh::FieldInfo& field : dataset.header.fields)
    if (fits(field))
      kept.push_back(field.name);
    else
      left += (left.empty() ? "" : ", ") + field.name;
  if (left.empty()) return options;
  report.notes.push_back(why + ": left out are " + left);
  options.fields = std::move(kept);
  return options;
}

// -------------------------------------------------------------------------------------------------------------- FLASH

/// The step in FLASH's words and in blocks.
mesh::Dataset flash_blocks(const mesh::Dataset& dataset, const CrossOptions& asked, CrossReport& report) {
  const CrossOptions options = with_fitting(
      dataset, asked, [](const mesh::FieldInfo& field) { return field.centring != mesh::Centring::node; },
      "FLASH has no variables on nodes", report);
  const mesh::Dataset words = in_words(dataset, options, report);
  step::RegridJob job;
  // Files of FLASH differ over corners; what is completed anyway is made so that no rule of a mesh package can refuse
  // it.
  job.how.balance = options.fill ? mesh::Balance::corners : mesh::Balance::faces;
  job.how.root = dataset.header.unfolded;
  job.part_cells = options.part_cells;
  job.how.by = options.fill_by;
  job.how.specific = specific_in_words(dataset, words, options);
  // What FLASH wrote has its blocks; a particle file has a tree of one cell.
  const bool as_it_is =
      options.block == 0 && options.refine == 0 && !text_attribute(dataset.header, "flash/kind").empty();
  mesh::Dataset blocks = words;
  if (!as_it_is) {
    std::vector<Index3> sizes = cubes(words.header.dim, {16, 8, 4});
    const auto before = step::source_block(dataset.header, step::Code::flash);
    if (before) sizes.insert(sizes.begin(), *before);
    if (has_blocks(words.header)) sizes = {words.header.block};
    if (options.block != 0) sizes = cubes(words.header.dim, {options.block});
    const step::Regridded made = first_that_fits(words, job, sizes, options.fill);
    note_made(made, words.header, report);
    if (!made.same_tree) blocks = step::with_words(made.dataset, words);
    // Blocks of a checkpoint of AMReX that was made of FLASH's are FLASH's own again.
    const bool own = before && made.dataset.header.block == *before && made.plan.fills == 0 && options.refine == 0;
    if (before ? !own : !made.same_tree) {
      blocks.notes.clear();
      step::forget_layout(blocks);
      report.notes.insert(report.notes.end(), blocks.notes.begin(), blocks.notes.end());
    }
  }
  blocks.header.level_origin = 1;
  return blocks;
}

void write_flash(const mesh::Dataset& dataset, const fs::path& out, const CrossOptions& options, CrossReport& report) {
  mesh::Dataset blocks;
  base::agree(options.ranks, [&] { blocks = flash_blocks(dataset, options, report); });
  formats::flash::WriteOptions how;
  how.kind = options.kind;
  how.single_precision = options.single_precision;
  how.threads = base::thread_count(options.threads);
  how.ranks = options.ranks;
  write_to(out, options, [&](const fs::path& target) {
    const auto written = formats::flash::write_flash(blocks, target, how);
    report.notes.insert(report.notes.end(), written.notes.begin(), written.notes.end());
    if (written.outside != 0 && step::code_of(dataset.header) == options.to)
      report.notes.push_back(std::to_string(written.outside) + " particles are outside of the domain");
  });
}

// -------------------------------------------------------------------------------------------------------------- AMReX

/// The step in AMReX's words, on a tree whose blocks can be merged to boxes, and how it is written.
struct AmrexStep {
  mesh::Dataset dataset;
  formats::amrex::DatasetWriteOptions how;
};

std::string amrex_kind(const mesh::Dataset& dataset, const CrossOptions& options) {
  const std::string kind = options.kind.empty() ? text_attribute(dataset.header, "amrex/kind") : options.kind;
  if (!kind.empty() && kind != "plotfile" && kind != "checkpoint")
    throw Error(Kind::usage, "an AMReX output is a plotfile or a checkpoint, not \"" + kind + "\"");
  if (kind != "checkpoint" && !(options.multifab.empty() && options.level_dt.empty()))
    throw Error(Kind::usage, "--multifab and --dt are of checkpoints").hint("--kind checkpoint");
  return kind;
}

/// Time steps that a checkpoint of AMReX is given: as asked for, else those of the step where it is of another code.
std::vector<double> time_steps(const mesh::Header& header, const CrossOptions& options, int first) {
  if (!options.level_dt.empty() || step::code_of(header) == step::Code::amrex) return options.level_dt;
  const auto number = [&]<class T>(const char* name) -> const T* {
    const auto found = header.attributes.find(name);
    return found == header.attributes.end() ? nullptr : std::get_if<T>(&found->second);
  };
  if (const auto* dt = number.operator()<double>("real scalars/dt"); dt != nullptr && *dt > 0) return {*dt};
  const auto* dt = number.operator()<std::vector<double>>("dtnew");
  if (dt == nullptr || dt->size() <= static_cast<std::size_t>(first)) return {};
  std::vector<double> of_levels(dt->begin() + first, dt->end());
  of_levels.erase(std::find_if(of_levels.begin(), of_levels.end(), [](double t) { return !(t > 0); }), of_levels.end());
  return of_levels;
}

/// With --fill blocks are completed where a blocking factor does not fit the cells.
void complete_blocks(AmrexStep& step, const mesh::Specific& specific, const CrossOptions& options,
                     CrossReport& report) {
  formats::amrex::LayoutOptions& layout = step.how.layout;
  try {
    formats::amrex::plan_layout(step.dataset.header, step::whole_tree(step.dataset), layout);
    return;
  } catch (const Error& error) {
    if (error.kind() != Kind::unsupported) throw;
  }
  step::RegridJob job;
  job.how.root = layout.first;
  job.how.fill = true;
  job.how.by = options.fill_by;
  job.how.specific = specific;
  job.part_cells = options.part_cells;
  job.how.block = cube(step.dataset.header.dim, layout.blocking_factor);
  const step::Regridded made = step::regrid(step.dataset, job);
  note_made(made, step.dataset.header, report);
  step.dataset = step::with_words(made.dataset, step.dataset);
  forget_levels(step.dataset.header);
  layout.first = 0;
}

/// Chooses the boxes of an AMReX output. A step that came from AMReX keeps its boxes unless the caller asks for others.
AmrexStep amrex_boxes(const mesh::Dataset& dataset, const CrossOptions& asked, CrossReport& report) {
  const std::string kind = amrex_kind(dataset, asked);
  const CrossOptions options = with_fitting(
      dataset, asked,
      [&](const mesh::FieldInfo& field) {
        return !mesh::is_integer(field.type) && (kind == "checkpoint" || field.centring == mesh::Centring::cell);
      },
      kind == "checkpoint"
          ? "AMReX holds reals only"
          : "plotfiles hold values of cells only, and reals (--kind checkpoint holds those of faces and nodes)",
      report);
  const bool same = step::code_of(dataset.header) == step::Code::amrex;
  AmrexStep step{in_words(dataset, options, report), {}};
  formats::amrex::DatasetWriteOptions& how = step.how;
  how.batch_cells = options.batch_cells;
  how.threads = base::thread_count(options.threads);
  how.ranks = options.ranks;
  how.checkpoint = kind == "checkpoint";
  formats::amrex::LayoutOptions& layout = how.layout;
  layout.keep_boxes = options.max_box == 0 && options.blocking_factor == 0;
  layout.blocking_factor = options.blocking_factor;
  const std::int64_t each = std::max<std::int64_t>(1, options.blocking_factor);
  layout.max_box = options.max_box != 0 ? options.max_box : std::max(each, layout.max_box / each * each);
  layout.first = dataset.header.unfolded;
  // Levels of cells without a leaf are left out.
  if (!same && !has_blocks(dataset.header))
    layout.first = std::max(layout.first, step::coarsest_leaf(step::whole_tree(dataset)));
  if (layout.first > dataset.header.unfolded)
    report.notes.push_back("level " + std::to_string(mesh::code_level(dataset.header, layout.first)) +
                           " of the step is the coarsest one written");
  if (!how.checkpoint) return step;
  if (same && text_attribute(dataset.header, "amrex/kind") == kind)
    how.title = text_attribute(dataset.header, "version");
  how.multifab = options.multifab;
  how.level_dt = time_steps(dataset.header, options, layout.first);
  return step;
}

void write_amrex(const mesh::Dataset& dataset, const fs::path& out, const CrossOptions& options, CrossReport& report) {
  AmrexStep step;
  base::agree(options.ranks, [&] {
    step = amrex_boxes(dataset, options, report);
    if (step.how.checkpoint && dataset.carry) dataset.carry(step.dataset.header);
    if (options.fill && options.blocking_factor != 0)
      complete_blocks(step, specific_in_words(dataset, step.dataset, options), options, report);
  });
  write_to(out, options, [&](const fs::path& target) {
    const auto written = formats::amrex::write_dataset(step.dataset, target, step.how);
    if (step::code_of(dataset.header) == step::Code::amrex && !written.kept_boxes)
      report.notes.emplace_back("the boxes are new ones");
  });
}

// ------------------------------------------------------------------------------------------------------------- RAMSES

void refuse_flat_cells(const mesh::Header& header) {
  double first = 0;
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(header.dim); ++axis) {
    const double size =
        (header.hi[axis] - header.lo[axis]) / static_cast<double>(header.roots[axis] * header.block[axis]);
    if (axis == 0) first = size;
    if (std::abs(size - first) > 1e-12 * first)
      throw Error(Kind::unsupported, "RAMSES has cubic cells, and those of the step are not: " + std::to_string(first) +
                                         " along x, " + std::to_string(size) + " along " + "xyz"[axis]);
  }
}

/// The coarsest level that still has an even number of cells along each axis: octs are made of two.
int coarsest_even(const mesh::Header& header) {
  const auto even = [&](int level) {
    for (std::size_t axis = 0; axis < static_cast<std::size_t>(header.dim); ++axis) {
      const std::int64_t cells = header.roots[axis] * header.block[axis];
      if (level < 0 ? cells % (std::int64_t{2} << -level) != 0 : (cells << level) % 2 != 0) return false;
    }
    return true;
  };
  int level = header.unfolded;
  while (even(level - 1)) --level;
  return even(level) ? level : level + 1;
}

bool has_place_in_ramses(const mesh::Header& header, const mesh::FieldInfo& field, const CrossOptions& options) {
  if (field.centring == mesh::Centring::cell || step::code_of(header) == step::Code::ramses)
    return field.centring != mesh::Centring::node;
  if (field.centring == mesh::Centring::node) return false;
  step::TranslateOptions names;
  names.to = step::Code::ramses;
  names.rename = options.rename;
  return step::translated_name(header, field, names).starts_with("B_");
}

/// RAMSES' number of what FLASH has at a side of its domain; 0: it has none.
std::int64_t bound_type_of(const std::string& flash) {
  if (flash.starts_with("reflect")) return 1;
  if (flash == "outflow" || flash == "diode") return 2;
  return flash == "user" ? 3 : 0;
}

/// Sets the attribute bound_type for RAMSES' writer: its number for the boundary at each side, -x +x -y +y -z +z.
void set_bound_types(const mesh::Header& source, mesh::Header& header, CrossReport& report) {
  std::vector<std::int64_t> types(6, 0);
  std::string unknown;
  for (std::size_t side = 0; side < 2 * static_cast<std::size_t>(header.dim); ++side) {
    if (header.periodic[side / 2]) continue;
    const std::string name = std::string(1, "xyz"[side / 2]) + "lr"[side % 2] + "_boundary_type";
    types[side] = bound_type_of(text_attribute(source, "string runtime parameters/" + name));
    if (types[side] == 0) unknown += std::string(unknown.empty() ? "" : ", ") + "-+"[side % 2] + "xyz"[side / 2];
  }
  header.attributes["bound_type"] = types;
  if (!unknown.empty())
    report.notes.push_back(
        "the step does not say in RAMSES' words what stands at its sides " + unknown +
        ": bound_type 2, free outflow, is written for them (--periodic says which axes are periodic)");
}

/// The ratio of specific heats, where FLASH's runtime parameters have one.
void set_gamma(const mesh::Header& source, mesh::Header& header) {
  const auto found = source.attributes.find("real runtime parameters/gamma");
  if (found == source.attributes.end()) return;
  if (const auto* gamma = std::get_if<double>(&found->second)) header.attributes["gamma"] = *gamma;
}

void write_ramses(const mesh::Dataset& dataset, const fs::path& out, const CrossOptions& asked, CrossReport& report) {
  const CrossOptions options = with_fitting(
      dataset, asked, [&](const mesh::FieldInfo& field) { return has_place_in_ramses(dataset.header, field, asked); },
      "RAMSES has reals only, none on nodes, and none on faces but the magnetic field (--rename A=B_x,B=B_y,C=B_z says "
      "which that is)",
      report);
  formats::ramses::WriteOptions how;
  how.number = options.number;
  how.domains = options.domains;
  how.single_precision = options.single_precision;
  how.ordering = options.ordering;
  how.progress = options.progress;
  const mesh::Dataset words = in_words(dataset, options, report);
  mesh::Dataset cells = words;
  if (step::code_of(dataset.header) != step::Code::ramses) {
    refuse_flat_cells(words.header);
    step::RegridJob job;
    job.how.root = coarsest_even(words.header);
    job.how.balance = mesh::Balance::corners;
    job.how.fill = options.fill;
    job.how.by = options.fill_by;
    job.how.specific = specific_in_words(dataset, words, options);
    job.part_cells = 0;
    const step::Regridded made = step::regrid(words, job);
    note_made(made, words.header, report);
    cells = step::with_words(made.dataset, words);
    set_bound_types(dataset.header, cells.header, report);
    set_gamma(dataset.header, cells.header);
  }
  write_to(out, options, [&](const fs::path& target) {
    for (std::string& note : formats::ramses::write(cells, target, how)) report.notes.push_back(std::move(note));
  });
}

/// Not a plotfile.
bool is_to_go_on_from(const mesh::Dataset& dataset, const CrossOptions& options) {
  if (options.to == step::Code::ramses) return true;
  if (!options.kind.empty()) return options.kind == "checkpoint";
  if (options.to == step::Code::amrex) return text_attribute(dataset.header, "amrex/kind") == "checkpoint";
  return text_attribute(dataset.header, "flash/kind") != "plotfile";
}

}  // namespace

CrossReport cross_convert(const mesh::Dataset& given, const fs::path& out, const CrossOptions& asked) {
  CrossReport report;
  report.notes = given.notes;
  if (given.unstructured)
    throw Error(Kind::unsupported, "a mesh of triangles cannot be an output of a code on cells").at(given.path);
  CrossOptions options = asked;
  if (options.to == step::Code::ramses && options.ranks.size > 1)
    throw Error(Kind::usage, "a RAMSES output is written by one process").hint("run it without mpirun");
  // The first rank writes them.
  if (options.ranks.rank != 0) options.particles = false;
  mesh::Dataset dataset = given;
  if (options.periodic) dataset.header.periodic = *options.periodic;
  if (options.refine > 0) {
    base::agree(options.ranks,
                [&] { dataset = step::finer(dataset, options.refine, options.fill_by, options.per_mass); });
    options.fill = true;
    report.notes = dataset.notes;
    report.notes.push_back("the leaves of the finest level are refined " +
                           (options.refine == 1 ? "once" : std::to_string(options.refine) + " times"));
  }
  if (is_to_go_on_from(given, options)) step::require_exact_values(given, options.lossy_ok, report.notes);
  switch (options.to) {
    case step::Code::flash: write_flash(dataset, out, options, report); break;
    case step::Code::amrex: write_amrex(dataset, out, options, report); break;
    default: write_ramses(dataset, out, options, report);
  }
  if ((options.refine > 0 || report.fills != 0) && options.fill_by == mesh::FillBy::linear)
    report.notes.push_back(step::weights_note(mesh::specific_of(given.header, options.per_mass)));
  return report;
}

}  // namespace octavo::verbs
