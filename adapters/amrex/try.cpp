// The adapter beside AMReX itself, for scripts/try/amrex_adapter.py.
//     mpirun -n 3 try mode=write        three levels and two kinds of particles: plotfiles by both, a checkpoint
//     mpirun -n 2 try mode=restart      reads the checkpoint into its boxes and into others; values must not change
//     mpirun -n 2 try mode=errors       prints the error of each wrong use
//     mpirun -n 2 try mode=time         visible time of both in turn, while a loop computes between outputs
// Every value is a function of its place, so each rank can tell by itself whether it is right.
#include <AMReX_ParmParse.H>
#include <AMReX_Particles.H>
#include <AMReX_PlotFileUtil.H>
#include <AMReX_Print.H>
#include <AMReX_Utility.H>

#include <bit>
#include <chrono>
#include <cmath>
#include <ctime>
#include <fstream>
#include <functional>

#include "octavo_amrex.hpp"

using namespace amrex;
namespace oa = octavo::amrex;

namespace {

constexpr int nlevels = 3;
using Mixed = ParticleContainer<2, 1, 1, 2>;
using Arrays = ParticleContainerPureSoA<AMREX_SPACEDIM + 2, 1>;

Real value_at(int level, int component, IntVect at) {
  Real value = 1.0 + component;
  for (int a = 0; a < AMREX_SPACEDIM; ++a) value += std::sin(0.1 * at[a] + a + 3.0 * level) / (1.0 + a);
  return value;
}

struct Hierarchy {
  Vector<Geometry> geom;
  Vector<BoxArray> boxes;
  Vector<DistributionMapping> ranks;
  Vector<IntVect> ratio;
  Vector<int> steps{7, 14, 28};
  Vector<Real> dt{0.4, 0.2, 0.1};
};

// Level 0 is the domain, which does not begin at cell 0. Level 1 refines two pieces of it, level 2 a piece of the
// first.
Hierarchy make_hierarchy(int cells, int max_box) {
  Hierarchy h;
  const RealBox extent({AMREX_D_DECL(-1., 0., 2.)}, {AMREX_D_DECL(1., 2., 4.)});
  const Array<int, AMREX_SPACEDIM> periodic{AMREX_D_DECL(1, 0, 1)};
  Box domain(IntVect(0), IntVect(cells - 1));
  domain.shift(0, 8);
  const int q = cells / 4;
  const auto piece = [&](int lo, int hi) { return Box(IntVect(lo), IntVect(hi - 1)).shift(0, 8); };
  const Vector<BoxList> pieces{BoxList(domain),
                               BoxList(Vector<Box>{piece(q, 2 * q).refine(2), piece(3 * q, 4 * q).refine(2)}),
                               BoxList(piece(q, q + q / 2).refine(4))};
  for (int level = 0; level < nlevels; ++level) {
    h.geom.emplace_back(amrex::refine(domain, 1 << level), extent, CoordSys::cartesian, periodic);
    h.boxes.emplace_back(pieces[level]);
    h.boxes.back().maxSize(max_box);
    Vector<int> owners(h.boxes.back().size());  // not those that AMReX chooses
    for (int i = 0; i < owners.size(); ++i) owners[i] = (i / 3 + level) % ParallelDescriptor::NProcs();
    h.ranks.emplace_back(owners);
    if (level > 0) h.ratio.push_back(IntVect(2));
  }
  return h;
}

Vector<MultiFab> make_fields(const Hierarchy& h, IntVect type, int components, int ghosts) {
  Vector<MultiFab> all;
  for (int level = 0; level < nlevels; ++level) {
    MultiFab& mf = all.emplace_back(amrex::convert(h.boxes[level], type), h.ranks[level], components, ghosts);
    mf.setVal(-1e300);  // stays in the ghosts
    for (MFIter mfi(mf); mfi.isValid(); ++mfi)
      for (int c = 0; c < components; ++c)
        LoopOnCpu(mfi.validbox(), [&](int i, int j, int k) {
          amrex::ignore_unused(k);
          const IntVect at(AMREX_D_DECL(i, j, k));
          mf[mfi](at, c) = value_at(level, c, at);
        });
  }
  return all;
}

Long count_wrong(const MultiFab& mf, int level) {
  Long wrong = 0;
  for (MFIter mfi(mf); mfi.isValid(); ++mfi)
    for (int c = 0; c < mf.nComp(); ++c)
      LoopOnCpu(mfi.validbox(), [&](int i, int j, int k) {
        amrex::ignore_unused(k);
        const IntVect at(AMREX_D_DECL(i, j, k));
        const Real expected = value_at(level, c, at), found = mf[mfi](at, c);
        wrong += std::memcmp(&expected, &found, sizeof expected) != 0;
      });
  ParallelDescriptor::ReduceLongSum(wrong);
  return wrong;
}

// ------------------------------------------------------------------ particles

// Two in every third cell of level 0; Redistribute() then gives them to their levels.
template <class Container>
void fill(Container& container, const Hierarchy& h) {
  using Super = typename Container::SuperParticleType;
  for (MFIter mfi(h.boxes[0], h.ranks[0]); mfi.isValid(); ++mfi) {
    auto& tile = container.DefineAndReturnParticleTile(0, mfi);
    LoopOnCpu(mfi.validbox(), [&](int i, int j, int k) {
      if ((i + j + k) % 3 != 0) return;
      for (int n = 0; n < 2; ++n) {
        Super p;
        p.id() = Container::ParticleType::NextID();
        p.cpu() = ParallelDescriptor::MyProc();
        const IntVect at(AMREX_D_DECL(i, j, k));
        for (int a = 0; a < AMREX_SPACEDIM; ++a)
          p.pos(a) =
              h.geom[0].ProbLo(a) + (at[a] - h.geom[0].Domain().smallEnd(a) + 0.3 + 0.37 * n) * h.geom[0].CellSize(a);
        for (int c = 0; c < Super::NReal; ++c) p.rdata(c) = std::sqrt(p.pos(0) + 3.0) * (c + 1);
        if constexpr (Container::ParticleType::is_soa_particle)
          for (int a = 0; a < AMREX_SPACEDIM; ++a) p.rdata(a) = p.pos(a);
        for (int c = 0; c < Super::NInt; ++c) p.idata(c) = static_cast<int>(p.id() % 100003) * (c + 1) - p.cpu();
        tile.push_back(p);
        const int first = Super::NReal - Container::NStructReal;
        for (int c = 0; c < container.NumRuntimeRealComps(); ++c)
          tile.GetStructOfArrays().GetRealData(first + c).back() = std::cbrt(p.pos(1));
        for (int c = 0; c < container.NumRuntimeIntComps(); ++c)
          tile.GetStructOfArrays().GetIntData(Super::NInt - Container::NStructInt + c).back() =
              static_cast<int>(p.id() % 1009) + c;
      }
    });
  }
  container.Redistribute();
}

std::uint64_t mixed(std::uint64_t h, std::uint64_t bits) {
  h = (h ^ bits) * 0x9e3779b97f4a7c15ULL;
  return h ^ (h >> 29);
}

// All particles, whatever their order: how many, and the sum of a hash of identity, level, position and attributes.
template <class Container>
std::string digest(const Container& container) {
  Long count = 0;
  std::uint64_t sum = 0;
  for (int level = 0; level <= container.finestLevel(); ++level)
    for (const auto& entry : container.GetParticles(level)) {
      const auto data = entry.second.getConstParticleTileData();
      for (int p = 0; p < entry.second.numParticles(); ++p) {
        const auto one = data.getSuperParticle(p);
        std::uint64_t h = mixed(mixed(mixed(1, level), std::uint64_t(Long(one.id()))), std::uint64_t(int(one.cpu())));
        for (int a = 0; a < AMREX_SPACEDIM; ++a) h = mixed(h, std::bit_cast<std::uint64_t>(double(one.pos(a))));
        for (int c = 0; c < one.NReal; ++c) h = mixed(h, std::bit_cast<std::uint64_t>(double(one.rdata(c))));
        for (int c = 0; c < one.NInt; ++c) h = mixed(h, std::uint64_t(one.idata(c)));
        for (int c = 0; c < container.NumRuntimeRealComps(); ++c)
          h = mixed(h, std::bit_cast<std::uint64_t>(double(data.m_runtime_rdata[c][p])));
        for (int c = 0; c < container.NumRuntimeIntComps(); ++c)
          h = mixed(h, std::uint64_t(data.m_runtime_idata[c][p]));
        sum += h, ++count;
      }
    }
  Long total = static_cast<Long>(sum);  // sums of ranks wrap around
  ParallelDescriptor::ReduceLongSum(count);
  ParallelDescriptor::ReduceLongSum(total);
  return std::to_string(count) + " " + std::to_string(static_cast<std::uint64_t>(total));
}

struct State {
  Vector<MultiFab> cells, faces, nodes;
  Mixed mixed;
  Arrays arrays;
  explicit State(const Hierarchy& h)
      : mixed(h.geom, h.ranks, h.boxes, h.ratio), arrays(h.geom, h.ranks, h.boxes, h.ratio) {
    mixed.AddRealComp();
    mixed.AddIntComp();
    arrays.AddIntComp();
    arrays.AddIntComp();
  }
};

// ------------------------------------------------------------------ modes

void write() {
  const Hierarchy h = make_hierarchy(32, 8);
  State state(h);
  state.cells = make_fields(h, IntVect(0), 2, 2);
  state.faces = make_fields(h, IntVect::TheDimensionVector(1), 1, 1);
  state.nodes = make_fields(h, IntVect(1), 1, 0);
  fill(state.mixed, h);
  fill(state.arrays, h);
  const auto cells = GetVecOfConstPtrs(state.cells);
  const Vector<std::string> names{"density", "pressure"};
  WriteMultiLevelPlotfile("native", nlevels, cells, names, h.geom, 0.1, h.steps, h.ratio);
  state.mixed.WritePlotFile("native", "mixed");
  const std::vector<oa::Species> particles{oa::Gather("mixed", state.mixed), oa::Gather("arrays", state.arrays)};
  oa::WritePlotfile("plt", nlevels, cells, names, h.geom, 0.1, h.steps, h.ratio, {particles[0]});
  oa::WritePlotfile("plots.octavo", nlevels, cells, names, h.geom, 0.1, h.steps, h.ratio, {particles[0]});
  Hierarchy others = make_hierarchy(32, 12);  // other boxes need other blocks in the store
  others.steps = {3, 6, 12};
  oa::WriteCheckpoint("run.octavo", nlevels, {{"u", make_fields(others, IntVect(0), 2, 1)}}, others.geom, 0.05,
                      others.steps, others.dt, others.ratio);
  oa::WriteCheckpoint("run.octavo", nlevels, {{"u", state.cells}, {"flux", state.faces}, {"phi", state.nodes}}, h.geom,
                      0.1, h.steps, h.dt, h.ratio, particles);
  oa::WriteCheckpoint("chk", nlevels, {{"flux", make_fields(h, IntVect(0), 1, 0)}}, h.geom, 0.1, h.steps, h.dt,
                      h.ratio);
  Print() << "particles " << digest(state.mixed) << " " << digest(state.arrays) << " next " << particles[0].next_id
          << " " << particles[1].next_id << "\n";
}

void restore(oa::Restart& from, const Hierarchy& h, const std::string& words) {
  State state(h);
  state.cells = make_fields(h, IntVect(0), 2, 1);
  state.faces = make_fields(h, IntVect::TheDimensionVector(1), 1, 0);
  state.nodes = make_fields(h, IntVect(1), 1, 1);
  Long wrong = 0;
  for (int level = 0; level < nlevels; ++level) {
    for (MultiFab* mf : {&state.cells[level], &state.faces[level], &state.nodes[level]}) mf->setVal(0);
    from.Fill("u", level, state.cells[level]);
    from.Fill("flux", level, state.faces[level]);
    from.Fill("phi", level, state.nodes[level]);
    for (MultiFab* mf : {&state.cells[level], &state.faces[level], &state.nodes[level]})
      wrong += count_wrong(*mf, level);
  }
  from.Fill("mixed", state.mixed);
  from.Fill("arrays", state.arrays);
  Print() << words << ": wrong " << wrong << "\n";
  Print() << "particles " << digest(state.mixed) << " " << digest(state.arrays) << " next "
          << Mixed::ParticleType::NextID() << " " << Arrays::ParticleType::NextID() << "\n";
}

void restart() {
  oa::Restart from("run.octavo");
  const Hierarchy before = make_hierarchy(32, 8);
  Hierarchy same = before;
  bool kept = from.FinestLevel() == nlevels - 1 && from.Time() == 0.1;
  for (int level = 0; level < nlevels; ++level) {
    kept = kept && from.Boxes(level) == before.boxes[level] && from.Steps().at(level) == before.steps[level] &&
           from.TimeSteps().at(level) == before.dt[level];
    same.boxes[level] = from.Boxes(level);
    same.ranks[level] = from.Mapping(level);
  }
  bool kept_ranks = true;
  for (int level = 0; level < nlevels; ++level) kept_ranks = kept_ranks && from.Mapping(level) == before.ranks[level];
  oa::Restart earlier("run.octavo", 3);
  const Hierarchy others = make_hierarchy(32, 12);
  Long wrong = 0;
  for (int level = 0; level < nlevels; ++level) {
    kept = kept && earlier.Boxes(level) == others.boxes[level];
    MultiFab u(earlier.Boxes(level), earlier.Mapping(level), 2, 0);
    earlier.Fill("u", level, u);
    wrong += count_wrong(u, level);
  }
  Print() << "earlier step: wrong " << wrong << "\n";
  Print() << "boxes, time, steps " << (kept ? "kept" : "changed") << "; ranks " << (kept_ranks ? "kept" : "new")
          << "\n";
  restore(from, same, "same boxes");
  restore(from, make_hierarchy(32, 12), "other boxes");
}

void report(const std::string& words, const std::function<void()>& work) {
  try {
    work();
    Print() << words << ": no error\n";
  } catch (const octavo::base::Error& error) {
    Print() << words << ": " << error.what() << "\n";
  }
}

void errors() {
  const Hierarchy h = make_hierarchy(32, 8);
  oa::Restart from("run.octavo");
  MultiFab mf(h.boxes[2], h.ranks[2], 1, 0);
  report("no such store", [] { Print() << (oa::Restart("none.octavo") ? "found" : "first start") << "\n"; });
  report("no such field", [&] { from.Fill("absent", 2, mf); });
  MultiFab wide(BoxArray(h.boxes[2]).grow(4), h.ranks[2], 1, 0);
  report("cells that are not there", [&] { from.Fill("flux", 2, wide); });
  Arrays arrays(h.geom, h.ranks, h.boxes, h.ratio);
  report("other particles", [&] { from.Fill("mixed", arrays); });
  report("no such species", [&] { from.Fill("stars", arrays); });
  const auto edges = make_fields(h, IntVect(1) - IntVect::TheDimensionVector(0), 1, 0);
  if (AMREX_SPACEDIM == 3)
    report("edges", [&] {
      oa::WriteCheckpoint("e.octavo", nlevels, {{"e", edges}}, h.geom, 0, h.steps, h.dt, h.ratio);
    });
  const auto cells = make_fields(h, IntVect(0), 1, 0), others = make_fields(make_hierarchy(32, 16), IntVect(0), 1, 0);
  report("other boxes", [&] {
    oa::WriteCheckpoint("o.octavo", nlevels, {{"a", cells}, {"b", others}}, h.geom, 0, h.steps, h.dt, h.ratio);
  });
  report("an output that is there",
         [&] { oa::WritePlotfile("native", nlevels, GetVecOfConstPtrs(cells), {"a"}, h.geom, 0, h.steps, h.ratio); });
  report("levels", [&] {
    oa::WritePlotfile("levels", nlevels + 1, GetVecOfConstPtrs(cells), {"a"}, h.geom, 0, h.steps, h.ratio);
  });
  report("names", [&] {
    oa::WritePlotfile("names", nlevels, GetVecOfConstPtrs(cells), {"a", "b"}, h.geom, 0, h.steps, h.ratio);
  });
}

// ------------------------------------------------------------------ time

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

// Resident memory of this rank at its largest since the last call [MB].
double peak_memory() {
  std::ifstream status("/proc/self/status");
  double peak = 0;
  for (std::string line; std::getline(status, line);)
    if (line.rfind("VmHWM:", 0) == 0) peak = std::stod(line.substr(6)) / 1024;
  std::ofstream("/proc/self/clear_refs") << "5";
  return peak;
}

// Core seconds of this process, or of the calling thread.
double core_seconds(clockid_t of) {
  timespec time{};
  clock_gettime(of, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

struct Way {
  std::string name;
  std::function<void(int)> output;
  std::vector<double> visible;       // [s] of each output: the call, and the wait after the computing that follows it
  double foreground = 0, cores = 0;  // [core s] of the thread that calls, and of the process
};

// The largest of all ranks.
double most(double figure) {
  ParallelDescriptor::ReduceRealMax(figure);
  return figure;
}

// Each output is timed on the slowest rank. The work in the background has all of `compute` to end.
void take_time(Way& way, int n, const std::function<void()>& compute) {
  ParallelDescriptor::Barrier();
  const double begin = core_seconds(CLOCK_PROCESS_CPUTIME_ID);
  double visible = 0;
  const auto timed = [&](const std::function<void()>& work) {
    ParallelDescriptor::Barrier();
    const double start = now(), before = core_seconds(CLOCK_THREAD_CPUTIME_ID);
    work();
    visible += now() - start;
    way.foreground += core_seconds(CLOCK_THREAD_CPUTIME_ID) - before;
  };
  timed([&] { way.output(n); });
  const double computing = core_seconds(CLOCK_THREAD_CPUTIME_ID);
  compute();
  way.cores -= core_seconds(CLOCK_THREAD_CPUTIME_ID) - computing;
  timed([] { oa::Wait(); });
  way.cores += core_seconds(CLOCK_PROCESS_CPUTIME_ID) - begin;
  way.visible.push_back(most(visible));
}

// `ways` write the same fields in turn.
void time_outputs() {
  ParmParse pp;
  int cells = 128, components = 4, outputs = 5;
  double seconds = 2;
  pp.query("cells", cells);
  pp.query("components", components);
  pp.query("outputs", outputs);
  pp.query("seconds", seconds);
  Vector<std::string> wanted;
  if (!pp.queryarr("ways", wanted)) wanted = {"native", "plotfile", "store"};
  Hierarchy h = make_hierarchy(cells, 32);
  auto fields = make_fields(h, IntVect(0), components, 2);
  const auto mf = GetVecOfConstPtrs(fields);
  const Vector<std::string> all{"a", "b", "c", "d", "e", "f", "g", "h"};
  const Vector<std::string> names(all.begin(), all.begin() + components);
  const auto compute = [&] {
    for (const double end = now() + seconds; now() < end;)
      for (int level = 0; level < nlevels; ++level) fields[level].mult(1.0, 0, components);
  };
  const auto name = [](const std::string& head, int n) { return amrex::Concatenate(head, n); };
  h.steps = {0, 0, 0};
  std::vector<Way> ways;
  for (const std::string& way : wanted) {
    if (way == "native")
      ways.push_back({way, [&](int n) {
                        WriteMultiLevelPlotfile(name("time/native", n), nlevels, mf, names, h.geom, n, h.steps,
                                                h.ratio);
                      }});
    if (way == "plotfile")
      ways.push_back({way, [&](int n) {
                        oa::WritePlotfile(name("time/plt", n), nlevels, mf, names, h.geom, n, h.steps, h.ratio);
                      }});
    if (way == "store")
      ways.push_back({way, [&](int n) {
                        oa::WritePlotfile("time/run.octavo", nlevels, mf, names, h.geom, n, {n, n, n}, h.ratio);
                      }});
  }
  peak_memory();
  for (int n = 0; n < outputs; ++n)
    for (Way& way : ways) take_time(way, n, compute);
  oa::Close();
  const double peak = most(peak_memory());
  for (Way& way : ways) {
    std::vector<double> sorted = way.visible;
    std::sort(sorted.begin(), sorted.end());
    const double foreground = most(way.foreground), cores = most(way.cores);
    Print() << "time " << way.name << " visible " << sorted[sorted.size() / 2] << " least " << sorted.front()
            << " most " << sorted.back() << " first " << way.visible.front() << " foreground " << foreground / outputs
            << " cores " << cores / outputs << " peak " << peak << "\n";
  }
}

}  // namespace

int main(int count, char** words) {
  oa::Initialize(count, words);
  {
    std::string mode;
    ParmParse().get("mode", mode);
    if (mode == "write") write();
    if (mode == "restart") restart();
    if (mode == "errors") errors();
    if (mode == "time") time_outputs();
  }
  amrex::Finalize();
}
