#include "octavo/formats/amrex/row.hpp"

#include <algorithm>
#include <array>

#include "octavo/base/error.hpp"
#include "octavo/base/threads.hpp"
#include "octavo/formats/amrex/amrex.hpp"
#include "octavo/formats/amrex/write_dataset.hpp"
#include "octavo/formats/row/options.hpp"
#include "octavo/mesh/tree/merge.hpp"
#include "octavo/mesh/tree/regrid.hpp"

namespace octavo::formats::amrex {
namespace {

using base::Error;
using base::Kind;

constexpr std::array<Word, 6> field_words{{{"x_velocity", "velocity_x"},
                                           {"y_velocity", "velocity_y"},
                                           {"z_velocity", "velocity_z"},
                                           {"magx", "B_x"},
                                           {"magy", "B_y"},
                                           {"magz", "B_z"}}};
/// Words of Castro and Nyx (xmom is no velocity), MAESTROeX, PeleLM, IAMR.
constexpr std::array<Word, 14> also_words{{{"Density", "density"},
                                           {"rho", "density"},
                                           {"Temp", "temperature"},
                                           {"temp", "temperature"},
                                           {"tfromp", "temperature"},
                                           {"T", "temperature"},
                                           {"pres", "pressure"},
                                           {"Pressure", "pressure"},
                                           {"avg_pressure", "pressure"},
                                           {"velx", "velocity_x"},
                                           {"vely", "velocity_y"},
                                           {"velz", "velocity_z"},
                                           {"phiGrav", "potential"},
                                           {"phi_grav", "potential"}}};
constexpr std::array<std::string_view, 2> reserved{"id", "cpu"};
constexpr std::array<std::string_view, 2> kinds{"plotfile", "checkpoint"};
constexpr std::array<std::string_view, 4> target_options{"files", "max_box", "title", "multifab"};
constexpr std::array<OutputKind, 2> outputs{
    {{"amrex_plotfile", "an AMReX plotfile", std::span(target_options).first(2)},
     {"amrex_checkpoint", "an AMReX checkpoint", target_options}}};

struct AmrexOptions {
  std::int64_t max_box = 0;          ///< cells of a box along each axis, at most; 0: the step's boxes, else 64
  std::int64_t blocking_factor = 0;  ///< boxes begin and end at multiples [cells]; 0: likewise, else the largest of 8,
                                     ///< 4, 2, 1 that fits
  std::string multifab{};            ///< checkpoint: the MultiFab of all fields of cells; empty: those that the step
                                     ///< came in, else "state"
  std::vector<double> level_dt{};    ///< checkpoint: time step of each level, or one of all; empty: the step's
  std::int64_t batch_cells = std::int64_t{1} << 22;  ///< of the boxes in memory at once
};

std::vector<NamedOption> named(AmrexOptions& options) {
  return {{"max_box", &options.max_box, "longest side of a box [cells] (default: the input's boxes, else 64)"},
          {"blocking_factor", &options.blocking_factor,
           "boxes begin and end at multiples of this (default: the input's boxes, else the largest up to 8 that fits)"},
          {"multifab", &options.multifab,
           "checkpoint: name of the MultiFab that holds the fields of cells (default: the input's, else state)"},
          {"dt", &options.level_dt,
           "checkpoint: time step [code time], one for all levels or one per level (default: the input's)"},
          {"batch_cells", &options.batch_cells}};
}

void set_step(mesh::Header& header, std::int64_t step) { header.attributes["step"] = step; }

/// "checkpoint", or another word for a plotfile. Throws Error(usage) for a kind that is not AMReX's, and for options of
/// another kind.
std::string checked_kind(const WriteRequest& request, const AmrexOptions& options) {
  const std::string kind = request.kind.empty() ? text_attribute(request.source, "amrex/kind") : request.kind;
  if (!kind.empty() && kind != "plotfile" && kind != "checkpoint")
    throw Error(Kind::usage, "an AMReX output is a plotfile or a checkpoint, not \"" + kind + "\"");
  if (kind != "checkpoint" && !(options.multifab.empty() && options.level_dt.empty()))
    throw Error(Kind::usage, "--multifab and --dt are of checkpoints").hint("--kind checkpoint");
  return kind;
}

/// The time steps of a checkpoint: those asked for, else the step's own if it is of another code.
std::vector<double> time_steps(const WriteRequest& request, const AmrexOptions& options, int first) {
  if (!options.level_dt.empty() || request.same_words) return options.level_dt;
  if (const auto dt = attribute<std::vector<double>>(request.source, "level_dt")) return *dt;
  if (const auto dt = attribute<double>(request.source, "real scalars/dt"); dt && *dt > 0) return {*dt};
  const auto dt = attribute<std::vector<double>>(request.source, "dtnew");
  if (!dt || dt->size() <= static_cast<std::size_t>(first)) return {};
  std::vector<double> of_levels(dt->begin() + first, dt->end());
  of_levels.erase(std::find_if(of_levels.begin(), of_levels.end(), [](double t) { return !(t > 0); }), of_levels.end());
  return of_levels;
}

LayoutOptions layout_of(const mesh::Dataset& step, const WriteRequest& request, const AmrexOptions& options) {
  LayoutOptions layout;
  layout.keep_boxes = options.max_box == 0 && options.blocking_factor == 0;
  layout.blocking_factor = options.blocking_factor;
  const std::int64_t each = std::max<std::int64_t>(1, options.blocking_factor);
  layout.max_box = options.max_box != 0 ? options.max_box : std::max(each, layout.max_box / each * each);
  layout.first = step.header.unfolded;
  // Levels of cells without a leaf are left out.
  if (!request.same_words && step.header.block == mesh::Index3{1, 1, 1})
    layout.first = std::max(layout.first, mesh::coarsest_leaf(mesh::whole_tree(step, step.header.unfolded)));
  return layout;
}

std::string misfit(const mesh::FieldInfo& field, const std::string&, const WriteRequest& request) {
  const AmrexOptions options = options_of(request, &named);
  const bool checkpoint = checked_kind(request, options) == "checkpoint";
  if (!mesh::is_integer(field.type) && (checkpoint || field.centring == mesh::Centring::cell)) return {};
  return checkpoint
             ? "AMReX holds reals only"
             : "plotfiles hold values of cells only, and reals (--kind checkpoint holds those of faces and nodes)";
}

/// The step's own mesh, but with `fill` blocks are completed where the blocking factor does not fit the cells.
WantedMesh wanted_mesh(const mesh::Dataset& step, const WriteRequest& request) {
  const AmrexOptions options = options_of(request, &named);
  WantedMesh wanted;
  wanted.carry = checked_kind(request, options) == "checkpoint";
  if (!request.fill || options.blocking_factor == 0) return wanted;
  const LayoutOptions layout = layout_of(step, request, options);
  try {
    plan_layout(step.header, mesh::whole_tree(step, step.header.unfolded), layout);
    return wanted;
  } catch (const Error& error) {
    if (error.kind() != Kind::unsupported) throw;
  }
  mesh::Index3 block{1, 1, 1};
  std::fill_n(block.begin(), step.header.dim, options.blocking_factor);
  wanted.blocks = {block};
  wanted.root = layout.first;
  wanted.forget_levels = true;
  return wanted;
}

/// As write_dataset(). A step that came from AMReX keeps its boxes unless the caller asks for others.
void write(const Series& steps, const std::filesystem::path& path, const WriteRequest& request, WriteReport& report) {
  const mesh::Dataset& step = steps.first;
  const AmrexOptions options = options_of(request, &named);
  DatasetWriteOptions how;
  const std::string kind = checked_kind(request, options);
  how.batch_cells = options.batch_cells;
  how.threads = base::thread_count(request.threads);
  how.ranks = request.ranks;
  how.checkpoint = kind == "checkpoint";
  base::agree(request.ranks, [&] { how.layout = layout_of(step, request, options); });
  if (how.layout.first > step.header.unfolded)
    report.notes.push_back("level " + std::to_string(mesh::code_level(step.header, how.layout.first)) +
                           " of the step is the coarsest one written");
  if (how.checkpoint) {
    if (request.same_words && text_attribute(request.source, "amrex/kind") == kind)
      how.title = text_attribute(request.source, "version");
    how.multifab = options.multifab;
    how.level_dt = time_steps(request, options, request.shift + how.layout.first);
  }
  if (!write_dataset(step, path, how).kept_boxes && request.same_words)
    report.notes.emplace_back("the boxes are new ones");
}

void forget_layout(mesh::Header& header, std::vector<std::string>&) { header.attributes.erase("patches/boxes"); }

std::string carried_note(const mesh::Header& header) {
  const std::string why = text_attribute(header, "amrex/not kept");
  return why.empty() ? "" : "a checkpoint of its code can not be made of the store: " + why;
}

bool goes_on(const WriteRequest& request) {
  return (request.kind.empty() ? text_attribute(request.source, "amrex/kind") : request.kind) == "checkpoint";
}

}  // namespace

const Words words{.code = "AMReX",
                  .fields = field_words,
                  .also = also_words,
                  .reserved = reserved,
                  .keeps_source = true,
                  .set_step = &set_step};

constinit const Format row{
    .name = "amrex",
    .title = "AMReX",
    .recognise = &recognise,
    .open = &open_one<&open>,
    .understand = &understand,
    .outputs = outputs,
    .kinds = kinds,
    .options = [] { return option_infos(&named); },
    .write = &write,
    .words = &words,
    .misfit = &misfit,
    .wanted_mesh = &wanted_mesh,
    .goes_on = &goes_on,
    .forget_layout = &forget_layout,
    .carried_note = &carried_note,
};

}  // namespace octavo::formats::amrex
