#pragma once
/// Plotfiles and checkpoints.
#include <cstdlib>
#include <map>
#include <memory>
#include <utility>

#include "octavo/engine/engine.hpp"
#include "particles.hpp"

namespace octavo::amrex {

/// MultiFabs of one quantity, one a level. All fields of a step have the same boxes and ranks, but any centring.
struct Fields {
  Names names;  ///< one a component
  ax::Vector<const ax::MultiFab*> levels;
  Fields(Names component_names, ax::Vector<const ax::MultiFab*> mf)
      : names(std::move(component_names)), levels(std::move(mf)) {}
  /// The components are called `name`, or `name_0`, `name_1` ... if there are several.
  Fields(const std::string& name, ax::Vector<const ax::MultiFab*> mf) : levels(std::move(mf)) {
    const int n = levels.empty() ? 0 : levels[0]->nComp();
    for (int c = 0; c < n; ++c) names.push_back(n == 1 ? name : name + "_" + std::to_string(c));
  }
  Fields(const std::string& name, const ax::Vector<ax::MultiFab>& mf) : Fields(name, ax::GetVecOfConstPtrs(mf)) {}
};

void Wait();   ///< until all steps so far are on disk and shown
void Close();  ///< does the same and closes all outputs; amrex::Finalize() calls it

namespace within {

using Opened = std::pair<mesh::Header, std::unique_ptr<engine::Writer>>;
/// The outputs that are open: stores by name, and one writer for each of AMReX's layouts.
inline std::map<std::string, Opened>& outputs() {
  static std::map<std::string, Opened> all;
  return all;
}
/// The steps from which this run has started, by store.
inline std::map<std::string, store::StepId>& started_from() {
  static std::map<std::string, store::StepId> all;
  return all;
}
inline bool is_store(const std::string& name) { return name.ends_with(".octavo"); }
inline engine::Mode mode() {
  int level = MPI_THREAD_SINGLE;
  MPI_Query_thread(&level);
  return level < MPI_THREAD_FUNNELED ? engine::Mode::sync : engine::Mode::background;
}

/// The domain and boxes of the levels, of one rank or of all.
inline mesh::Patches patches_of(const Fields& fields, int nlevels, const ax::Vector<ax::Geometry>& geom,
                                const ax::Vector<ax::IntVect>& ratio, bool all) {
  mesh::Patches patches{AMREX_SPACEDIM, {}, {}, {}};
  for (int level = 0; level < nlevels; ++level) {
    const ax::MultiFab& mf = *fields.levels.at(level);
    patches.domain.push_back(box_of(geom.at(level).Domain()));
    if (level > 0) patches.ratio.push_back(ratio.at(level - 1)[0]);
    if (level > 0 && ratio[level - 1] != ax::IntVect(ratio[level - 1][0]))
      throw Error(Kind::unsupported, "a refinement ratio that differs between axes")
          .at("level " + std::to_string(level));
    auto& boxes = patches.boxes.emplace_back();
    if (all)
      for (int i = 0; i < mf.boxArray().size(); ++i) boxes.push_back(box_of(ax::enclosedCells(mf.boxArray()[i])));
    else
      for (const int i : mf.IndexArray()) boxes.push_back(box_of(ax::enclosedCells(mf.boxArray()[i])));
  }
  return patches;
}

inline mesh::Header header_of(const mesh::Patches& all, const ax::Geometry& geom, bool store) {
  mesh::Header header;
  header.code = "AMReX";
  header.dim = AMREX_SPACEDIM;
  for (int a = 0; a < AMREX_SPACEDIM; ++a) {
    header.lo[a] = geom.ProbLo(a), header.hi[a] = geom.ProbHi(a);
    header.periodic[a] = geom.isPeriodic(a) != 0;
  }
  if (!store) return header;
  const mesh::PatchTree tree = plan_patch_tree(all, 0, common_block(all, 16));
  header.roots = tree.roots, header.block = tree.block, header.unfolded = tree.unfolded;
  return header;
}

/// The values of a component on one side of the cells: views of the MultiFabs' own memory, one a box.
inline std::vector<engine::ArrayView> views_of(const Fields& fields, int nlevels, int component,
                                               const ax::IntVect& side) {
  std::vector<engine::ArrayView> views;
  for (int level = 0; level < nlevels; ++level)
    for (ax::MFIter mfi(*fields.levels[level]); mfi.isValid(); ++mfi) {
      const ax::FArrayBox& fab = (*fields.levels[level])[mfi];
      const ax::Box cells = ax::enclosedCells(mfi.validbox());
      engine::ArrayView& view = views.emplace_back();
      view.type = mesh::scalar_type_of<ax::Real>();
      view.cells = 1;
      view.data = fab.dataPtr(cells.smallEnd() + side, component);
      const auto length = fab.box().length3d();
      view.stride = {
          .cell = fab.box().numPts(), .x = 1, .y = length[0], .z = std::int64_t{length[0]} * length[1], .component = 0};
      for (int a = 0; a < AMREX_SPACEDIM; ++a) view.block[a] = cells.length(a);
    }
  return views;
}

inline void put_fields(engine::Writer& writer, const std::vector<Fields>& all, int nlevels) {
  for (const Fields& fields : all)
    for (int c = 0; c < fields.names.size(); ++c)
      for_each_side(fields.levels[0]->ixType(), fields.names[c],
                    [&](const std::string& name, mesh::Centring centring, const ax::IntVect& side) {
                      writer.put_field(name, views_of(fields, nlevels, c, side), "", centring);
                    });
}

inline void put_particles(engine::Writer& writer, const std::vector<Species>& all) {
  for (const Species& species : all) {
    writer.put_particles(species.values);
    writer.put_attribute("amrex/next_id/" + species.values.species, species.next_id);
  }
}

inline void put_own_boxes(engine::Writer& writer, const Fields& fields, int nlevels) {
  std::vector<Numbered> mine;
  for (int level = 0; level < nlevels; ++level)
    for (const int i : fields.levels[level]->IndexArray())
      mine.push_back(
          {level, i, ax::ParallelContext::MyProcSub(), ax::enclosedCells(fields.levels[level]->boxArray()[i])});
  writer.put_bytes(own_boxes, std::as_bytes(std::span(mine)));
}

/// Returns the open writer of an output, or opens it. A domain or boxes that do not fit the last ones need a new one.
inline engine::Writer& writer_for(const std::string& key, const mesh::Header& header, const engine::Target& target) {
  if (outputs().empty())
    ax::ExecOnFinalize([] {
      try {
        Close();
      } catch (const Error& error) {
        ax::Abort(error.what());
      }
    });
  Opened& output = outputs()[key];
  if (output.second && output.first == header) return *output.second;
  if (output.second) {
    output.second->wait();
    if (const auto newest = output.second->newest_durable(store::Flow::checkpoint)) started_from()[key] = *newest;
    output.second->close();
  }
  output = {header, std::make_unique<engine::Writer>(comm(), header, target)};
  return *output.second;
}

/// A step on its way: everything that plotfiles and checkpoints share.
struct Step {
  std::string name;
  int nlevels = 0;
  const std::vector<Fields>& fields;
  const ax::Vector<ax::Geometry>& geom;
  double time = 0;
  const ax::Vector<int>& steps;
  const ax::Vector<ax::IntVect>& ratio;
  const std::vector<Species>& species;
  const std::map<std::string, std::string>& bytes;  ///< that this rank keeps in a store beside its values, by name
};

/// Everything that can be wrong is found before a step is begun.
inline void check(const Step& step) {
  const auto least = [&](const std::string& what, ax::Long found, int wanted) {
    if (found < wanted)
      throw Error(Kind::usage, what + " of " + std::to_string(step.nlevels) + " levels: expected " +
                                   std::to_string(wanted) + " or more, found " + std::to_string(found));
  };
  least("fields", static_cast<ax::Long>(step.fields.size()), 1);
  least("levels", step.nlevels, 1);
  least("geometries", step.geom.size(), step.nlevels);
  least("ratios", step.ratio.size(), step.nlevels - 1);
  least("steps", step.steps.size(), 1);
  for (const Fields& fields : step.fields) {
    least("MultiFabs", fields.levels.size(), step.nlevels);
    least("names of components", fields.names.size(), 1);
    for (int level = 0; level < step.nlevels; ++level) try {
        const ax::MultiFab &first = *step.fields[0].levels[level], &mf = *fields.levels[level];
        centring_of(mf.ixType(), fields.names[0]);
        if (mf.nComp() != fields.names.size())
          throw Error(Kind::usage, "expected " + std::to_string(mf.nComp()) + " names of components, found " +
                                       std::to_string(fields.names.size()));
        if (mf.DistributionMap() != first.DistributionMap() ||
            ax::convert(mf.boxArray(), ax::IndexType()) != ax::convert(first.boxArray(), ax::IndexType()))
          throw Error(Kind::usage, "boxes or ranks differ from those of " + step.fields[0].names[0]);
      } catch (Error& error) {
        throw error.at("field " + fields.names[0] + ", level " + std::to_string(level));
      }
  }
}

inline engine::Writer& begin(const Step& step, const mesh::Patches& all, store::Flow flow) {
  const mesh::Header header = header_of(all, step.geom[0], is_store(step.name));
  if (is_store(step.name)) {
    engine::Options options;
    options.mode = mode();
    const auto from = started_from().find(step.name);
    engine::StoreTarget target{step.name, engine::read_options(options), {}};
    if (from != started_from().end()) target.resumed_from = from->second;
    engine::Writer& writer = writer_for(step.name, header, target);
    writer.begin_step(flow, step.steps.at(0), step.time);
    put_own_boxes(writer, step.fields[0], step.nlevels);
    return writer;
  }
  const bool checkpoint = flow == store::Flow::checkpoint;
  engine::AmrexTarget target{.kind = checkpoint ? engine::AmrexKind::checkpoint : engine::AmrexKind::plotfile};
  target.options.mode = mode();
  target.options.sync = checkpoint;  // AMReX syncs no plotfile
  if (checkpoint && (step.fields.size() != 1 || step.fields[0].names.size() != 1))
    throw Error(Kind::unsupported, "AMReX's own checkpoint takes one MultiFab of one component; a store takes any");
  if (checkpoint) target.multifab = step.fields[0].names[0];
  engine::Writer& writer = writer_for(checkpoint ? "/checkpoints/" + target.multifab : "/plotfiles", header, target);
  writer.begin_step(std::filesystem::path(step.name), step.steps.at(0), step.time);
  std::vector<std::int64_t> boxes;  // in AMReX's order
  for (std::size_t level = 0; level < all.boxes.size(); ++level)
    for (const mesh::IndexBox& box : all.boxes[level]) {
      boxes.push_back(static_cast<std::int64_t>(level));
      boxes.insert(boxes.end(), box.lo.begin(), box.lo.begin() + AMREX_SPACEDIM);
      boxes.insert(boxes.end(), box.hi.begin(), box.hi.begin() + AMREX_SPACEDIM);
    }
  writer.put_attribute("patches/boxes", std::move(boxes));
  return writer;
}

inline void write(const Step& step, store::Flow flow, const std::vector<double>& dt) {
  check(step);
  engine::Writer& writer = begin(step, patches_of(step.fields[0], step.nlevels, step.geom, step.ratio, true), flow);
  writer.put_attribute("level_steps", std::vector<std::int64_t>(step.steps.begin(), step.steps.end()));
  writer.put_attribute("amrex/ranks", std::int64_t{ax::ParallelContext::NProcsSub()});
  if (!dt.empty()) writer.put_attribute("level_dt", dt);
  writer.put_mesh(patches_of(step.fields[0], step.nlevels, step.geom, step.ratio, false));
  put_fields(writer, step.fields, step.nlevels);
  put_particles(writer, step.species);
  for (const auto& [name, bytes] : step.bytes) writer.put_bytes(name, std::as_bytes(std::span(bytes)));
  writer.end_step();
}

}  // namespace within

inline void Wait() {
  for (auto& output : within::outputs()) output.second.second->wait();
}
inline void Close() {
  for (auto& output : std::exchange(within::outputs(), {})) output.second.second->close();
}

/// In the place of amrex::Initialize(argc, argv): MPI is initialised so that outputs can be written in the background.
/// Without it, or MPI_Init_thread of the code's own, each output is written before the call returns. If the code has
/// initialised MPI itself, it also finalizes it.
inline void Initialize(int& argc, char**& argv) {
  int started = 0, ended = 0, provided = 0;
  MPI_Initialized(&started);
  MPI_Finalized(&ended);
  if (ended != 0) throw Error(Kind::usage, "octavo::amrex::Initialize after MPI_Finalize");
  if (started == 0) {
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    std::atexit([] {  // AMReX leaves this to whoever has initialised MPI
      int by_the_code = 0;
      MPI_Finalized(&by_the_code);
      if (by_the_code == 0) MPI_Finalize();
    });
  }
  ax::Initialize(argc, argv);
}

/// In the place of amrex::WriteMultiLevelPlotfile, with its arguments; with particles, in the place of their
/// WritePlotFile.
inline void WritePlotfile(const std::string& name, int nlevels, const ax::Vector<const ax::MultiFab*>& mf,
                          const Names& names, const ax::Vector<ax::Geometry>& geom, ax::Real time,
                          const ax::Vector<int>& level_steps, const ax::Vector<ax::IntVect>& ref_ratio,
                          const std::vector<Species>& particles = {}) {
  const std::vector<Fields> fields{{names, mf}};
  within::write({name, nlevels, fields, geom, time, level_steps, ref_ratio, particles, {}}, store::Flow::analysis, {});
}

/// With AMReX's optional arguments. Octavo writes AMReX's usual names; another value is an error that names it.
inline void WritePlotfile(const std::string& name, int nlevels, const ax::Vector<const ax::MultiFab*>& mf,
                          const Names& names, const ax::Vector<ax::Geometry>& geom, ax::Real time,
                          const ax::Vector<int>& level_steps, const ax::Vector<ax::IntVect>& ref_ratio,
                          const std::string& version, const std::string& level_prefix = "Level_",
                          const std::string& mf_prefix = "Cell", const Names& extra_dirs = {},
                          const std::vector<Species>& particles = {}) {
  const auto expect = [&](const std::string& what, const std::string& found, const std::string& usual) {
    if (found != usual)
      throw Error(Kind::unsupported, what + ": expected \"" + usual + "\", found \"" + found + "\"")
          .at(name)
          .hint("amrex::WriteMultiLevelPlotfile writes other names");
  };
  expect("versionName", version, "HyperCLaw-V1.1");
  expect("levelPrefix", level_prefix, "Level_");
  expect("mfPrefix", mf_prefix, "Cell");
  expect("extra_dirs", extra_dirs.empty() ? "" : extra_dirs[0], "");
  WritePlotfile(name, nlevels, mf, names, geom, time, level_steps, ref_ratio, particles);
}

/// `level_dt` and `level_steps` may list more levels than there are.
inline void WriteCheckpoint(const std::string& name, int nlevels, const std::vector<Fields>& fields,
                            const ax::Vector<ax::Geometry>& geom, ax::Real time, const ax::Vector<int>& level_steps,
                            const ax::Vector<ax::Real>& level_dt, const ax::Vector<ax::IntVect>& ref_ratio,
                            const std::vector<Species>& particles = {}) {
  within::write({name, nlevels, fields, geom, time, level_steps, ref_ratio, particles, {}}, store::Flow::checkpoint,
                {level_dt.begin(), level_dt.end()});
}

}  // namespace octavo::amrex
