// FLASH files and AMReX outputs written by all ranks in the background, against peers in the same run.
//
//     mpirun -n R octavo_bench_native flash DIRECTORY [blocks a rank] [variables] [steps] [seconds between steps]
//     mpirun -n R octavo_bench_native amrex DIRECTORY [edge] [dim] [MB a rank] [pairs]
//     mpirun -n R octavo_bench_native relay CHECKPOINT_IN CHECKPOINT_OUT [longest box edge]
//
// flash: blocks of 16^3 doubles; what a call of end_step() costs where the simulation computes (here: sleeps) between
// steps: in the background, the same written inside the call, and collected to one rank. bench/flash_collective.cpp
// writes the same data with parallel HDF5.
//
// amrex: 6 fields on boxes of `edge` cells, one level; pairs of a plotfile (header version 1, with minima and maxima)
// and a raw write of the same bytes, a write a box into a new file a rank; then of reading both back. Nothing is
// synced. CPU seconds are those of all ranks.
//
// relay: reads a checkpoint of a code on AmrCore by slabs of the domain and writes it again with other boxes.
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "bench/all_ranks.hpp"
#include "octavo/base/error.hpp"
#include "octavo/engine/targets/amrex_target.hpp"
#include "octavo/engine/targets/flash_target.hpp"
#include "octavo/engine/write/writer.hpp"
#include "octavo/file/posix.hpp"
#include "octavo/formats/amrex/output.hpp"
#include "octavo/mesh/boxes.hpp"
#include "octavo/mesh/patches/octree_to_patches.hpp"
#include "octavo/mesh/patches/patches_to_octree.hpp"
#include "octavo/ranks/communicator.hpp"
#include "octavo/ranks/world.hpp"

namespace {

using namespace octavo;
using bench::cpu_of_all;
using bench::largest;
namespace fs = std::filesystem;
using engine::AmrexKind;
using engine::AmrexTarget;
using engine::FlashTarget;
using engine::Writer;

int rank() { return ranks::rank_in(MPI_COMM_WORLD); }
int ranks() { return ranks::size_of(MPI_COMM_WORLD); }

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

// Wall and CPU seconds of work that all ranks begin together.
struct Cost {
  double wall = 0, cpu = 0;
};
template <class F>
Cost cost_of(F&& work) {
  const double cpu = cpu_of_all();
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  work();
  const double wall = largest(MPI_Wtime() - begin);
  return {wall, cpu_of_all() - cpu};
}

void clear(const fs::path& path) {
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank() == 0) fs::remove_all(path);
  MPI_Barrier(MPI_COMM_WORLD);
}

double argument(int argc, char** argv, int i, double otherwise) { return i < argc ? std::atof(argv[i]) : otherwise; }

// ------------------------------------------------------------------ flash

// Roots along x, each rank a stretch of them, none refined: every block is a leaf.
mesh::Octree roots_of_rank(std::int64_t blocks) {
  mesh::Octree tree;
  tree.roots = {blocks * ranks(), 1, 1};
  tree.block = {16, 16, 16};
  const auto all = static_cast<std::size_t>(tree.roots[0]);
  tree.refined = {base::BitArray(all)};
  tree.owned = {base::BitArray(all)};
  for (std::int64_t b = 0; b < blocks; ++b) tree.owned[0].set(static_cast<std::size_t>(b + blocks * rank()));
  return tree;
}

void flash_steps(const char* name, const fs::path& directory, FlashTarget target, const mesh::Octree& tree,
                 int variables, int steps, double between) {
  std::vector<std::vector<double>> values(static_cast<std::size_t>(variables));
  for (auto& field : values) field.assign(num_cells(tree) * 4096, 1.5);
  mesh::Header header;
  header.roots = tree.roots;
  header.block = tree.block;
  header.hi = {static_cast<double>(tree.roots[0]), 1, 1};
  header.level_origin = 1;
  target.options.sync = false;
  Writer writer(MPI_COMM_WORLD, header, target);
  std::vector<double> visible;
  for (int step = 0; step < steps; ++step) {
    const double before = writer.statistics().seconds_in_calls;
    writer.begin_step(directory / (std::string(name) + std::to_string(step)), step, step);
    writer.put_mesh(tree);
    for (int v = 0; v < variables; ++v) {
      engine::ArrayView view = engine::view_of(values[static_cast<std::size_t>(v)]);
      view.cells = num_cells(tree);
      view.block = tree.block;
      std::string field = "v000";
      field.replace(4 - std::to_string(v).size(), std::string::npos, std::to_string(v));
      writer.put_field(field, view);
    }
    writer.end_step();
    std::this_thread::sleep_for(std::chrono::duration<double>(between));
    writer.finished();
    visible.push_back(largest(writer.statistics().seconds_in_calls - before));
  }
  writer.close();
  const double megabytes = static_cast<double>(tree.owned[0].count()) * 4096 * 8 * variables / 1e6;
  if (rank() == 0)
    std::printf("%-11s %8.1f MB a rank, median visible %8.2f ms a step, of it in the last close %.2f ms\n", name,
                megabytes, 1e3 * median(visible), 1e3 * writer.statistics().seconds_waiting / steps);
  clear(directory);
}

void flash(int argc, char** argv) {
  const auto blocks = static_cast<std::int64_t>(argument(argc, argv, 3, 128));
  const int variables = static_cast<int>(argument(argc, argv, 4, 10));
  const int steps = static_cast<int>(argument(argc, argv, 5, 7));
  const double between = argument(argc, argv, 6, 1);
  const fs::path directory = argv[2];
  const mesh::Octree tree = roots_of_rank(blocks);
  FlashTarget target;
  for (const char* name : {"background", "sync", "collect"}) {
    if (rank() == 0) fs::create_directories(directory);
    MPI_Barrier(MPI_COMM_WORLD);
    target.options.mode = name == std::string("background") ? engine::Mode::background : engine::Mode::sync;
    target.collect = name == std::string("collect");
    flash_steps(name, directory, target, tree, variables, steps, between);
  }
}

// ------------------------------------------------------------------ amrex

constexpr int fields = 6;

// Boxes of one level, edge^dim cells each, in a row of rows; a rank has a stretch of them.
mesh::Patches boxes_of_rank(std::int64_t edge, int dim, std::int64_t count) {
  mesh::Patches patches;
  patches.dim = dim;
  const std::int64_t all = count * ranks(), nx = 16, ny = (all + nx - 1) / nx;
  const std::int64_t nz = dim == 3 ? edge : 1;
  patches.domain = {{{0, 0, 0}, {nx * edge, ny * edge, nz}}};
  patches.boxes.resize(1);
  for (std::int64_t b = count * rank(); b < count * (rank() + 1); ++b) {
    const std::int64_t x = b % nx * edge, y = b / nx * edge;
    patches.boxes[0].push_back({{x, y, 0}, {x + edge, y + edge, nz}});
  }
  return patches;
}

void write_raw(const fs::path& directory, const std::vector<std::vector<double>>& values, std::size_t box) {
  file::File file = file::create(directory / ("raw" + std::to_string(rank())));
  std::uint64_t at = 0;
  // The boxes of a real code have their components one after another; so here a box is one piece of memory.
  for (std::size_t b = 0; b * box < values[0].size(); ++b) {
    const auto& from = values[b % fields];
    const std::size_t begin = b * box * fields % (from.size() - box * fields + 1);
    const auto bytes = std::as_bytes(std::span(from)).subspan(begin * 8, box * fields * 8);
    file::pwrite_all(file, at, bytes);
    at += bytes.size();
  }
  file.close();
}

void read_raw(const fs::path& directory, std::size_t bytes, std::size_t box) {
  const file::File file = file::open_read(directory / ("raw" + std::to_string(rank())));
  std::vector<std::byte> all(bytes);
  for (std::size_t at = 0; at < bytes; at += box) file::pread_all(file, at, std::span(all).subspan(at, box));
}

void amrex(int argc, char** argv) {
  const auto edge = static_cast<std::int64_t>(argument(argc, argv, 3, 32));
  const int dim = static_cast<int>(argument(argc, argv, 4, 3));
  const double megabytes = argument(argc, argv, 5, 64);
  const int pairs = static_cast<int>(argument(argc, argv, 6, 15));
  const fs::path directory = argv[2];
  const std::int64_t cells = dim == 3 ? edge * edge * edge : edge * edge;
  // Whole rows of 16 boxes: level 0 of a plotfile covers its domain.
  const auto count =
      16 * std::max<std::int64_t>(1, static_cast<std::int64_t>(megabytes * 1e6) / (cells * 8 * fields * 16));
  const mesh::Patches patches = boxes_of_rank(edge, dim, count);
  std::vector<std::vector<double>> values(fields);
  for (std::size_t f = 0; f < fields; ++f)
    for (std::int64_t i = 0; i < cells * count; ++i) values[f].push_back(static_cast<double>(i * 7 % 1000) + 0.25);
  mesh::Header header;
  header.dim = dim;
  const AmrexTarget target{.options = {.mode = engine::Mode::sync, .sync = false, .checksums = false}};
  Writer writer(MPI_COMM_WORLD, header, target);
  const auto write = [&] {
    writer.begin_step(directory / "plt", 0, 0);
    writer.put_mesh(patches);
    for (std::size_t f = 0; f < fields; ++f) writer.put_field("field" + std::to_string(f), engine::view_of(values[f]));
    writer.end_step();
  };
  const auto box = static_cast<std::size_t>(cells);
  const std::size_t bytes = box * fields * 8 * static_cast<std::size_t>(count);
  const auto read = [&] {
    const auto output = formats::amrex::open_output(directory / "plt");
    formats::amrex::PatchRequest request;
    request.region = patches.domain[0];
    const std::int64_t rows = request.region->hi[1] / edge;
    request.region->lo[1] = rows * rank() / ranks() * edge;
    request.region->hi[1] = rows * (rank() + 1) / ranks() * edge;
    return formats::amrex::read_patches(output, request).fields.size();
  };
  std::vector<double> wall, cpu, read_wall, read_cpu;
  for (int pair = 0; pair < pairs; ++pair) {
    clear(directory);
    if (rank() == 0) fs::create_directories(directory);
    // Who writes first pays for pages that the machine must find: in turn.
    Cost raw, mine;
    if (pair % 2 == 0) raw = cost_of([&] { write_raw(directory, values, box); });
    mine = cost_of(write);
    if (pair % 2 == 1) raw = cost_of([&] { write_raw(directory, values, box); });
    wall.push_back(mine.wall / raw.wall);
    cpu.push_back(mine.cpu / raw.cpu);
    const Cost raw_read = cost_of([&] { read_raw(directory, bytes, box * fields * 8); });
    const Cost my_read = cost_of(read);
    read_wall.push_back(my_read.wall / raw_read.wall);
    read_cpu.push_back(my_read.cpu / raw_read.cpu);
  }
  clear(directory);
  if (rank() == 0)
    std::printf(
        "%lld^%d boxes, %lld a rank, %.0f MB a rank, median of %d pairs: plotfile / raw write %.2f (CPU %.2f), "
        "read %.2f (CPU %.2f)\n",
        static_cast<long long>(edge), dim, static_cast<long long>(count), static_cast<double>(bytes) / 1e6, pairs,
        median(wall), median(cpu), median(read_wall), median(read_cpu));
}

// ------------------------------------------------------------------ relay

// A rank's slab: cells of level 0 along the last axis, at whole boxes' borders of a coarse grid of 8 cells.
mesh::IndexBox slab_of_rank(const mesh::Patches& patches) {
  mesh::IndexBox slab = patches.domain[0];
  const auto axis = static_cast<std::size_t>(patches.dim - 1);
  const std::int64_t lo = slab.lo[axis], rows = (slab.hi[axis] - lo) / 8;
  slab.lo[axis] = lo + rows * rank() / ranks() * 8;
  if (rank() + 1 < ranks()) slab.hi[axis] = lo + rows * (rank() + 1) / ranks() * 8;
  return slab;
}

void put_particles(Writer& writer, const formats::amrex::AmrexOutput& output, std::vector<mesh::Particles>& keep) {
  for (const auto& folder : output.particles) {
    std::vector<formats::amrex::GridNumber> wanted;
    std::size_t n = 0;
    for (std::size_t level = 0; level < folder.grids.size(); ++level)
      for (std::size_t grid = 0; grid < folder.grids[level].size(); ++grid)
        if (static_cast<int>(n++ % static_cast<std::size_t>(ranks())) == rank()) wanted.push_back({level, grid});
    keep.push_back(read_particles(folder, wanted, [](const auto&, const auto&) { return true; }));
    const std::string name = folder.path.filename().string();
    for (const mesh::Field& field : keep.back().attributes)
      visit_values(field, [&](auto values) {
        writer.put_particles(name, field.info.name, engine::view_of(values, field.info.components));
      });
  }
}

void relay(int argc, char** argv) {
  const auto output = formats::amrex::open_output(argv[2]);
  formats::amrex::PatchRequest request;
  request.region = slab_of_rank(output.patches);
  mesh::Part part = formats::amrex::read_patches(output, request);
  // Boxes of its own: through a tree of single cells and back.
  const auto& patches = std::get<mesh::Patches>(part.mesh);
  const mesh::PatchTree tree = plan_patch_tree(patches);
  mesh::PatchOptions cut;
  cut.ratio = patches.ratio;
  cut.levels = tree.index.back() + 1;
  cut.max_box = static_cast<std::int64_t>(argument(argc, argv, 4, 32));
  cut.corner = patches.domain[0].lo;
  const mesh::Part again = octree_to_patches(patches_to_octree(part, tree), cut);
  Writer writer(MPI_COMM_WORLD, output.header, AmrexTarget{.kind = AmrexKind::checkpoint});
  writer.begin_step(argv[3], 0, output.header.time);
  for (const auto& [name, value] : output.header.attributes) writer.put_attribute(name, value);
  writer.put_mesh(std::get<mesh::Patches>(again.mesh));
  for (const mesh::Field& field : again.fields)
    if (field.info.centring == mesh::Centring::cell)
      visit_values(field, [&](auto values) { writer.put_field(field.info.name, engine::view_of(values)); });
  std::vector<mesh::Particles> keep;
  put_particles(writer, output, keep);
  writer.end_step();
  writer.close();
  if (rank() == 0) std::printf("%s\n", argv[3]);
}

}  // namespace

int main(int argc, char** argv) {
  ranks::world();
  const std::string what = argc > 2 ? argv[1] : "";
  try {
    if (what == "flash") return flash(argc, argv), 0;
    if (what == "amrex") return amrex(argc, argv), 0;
    if (what == "relay" && argc > 3) return relay(argc, argv), 0;
  } catch (const base::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    ranks::abort(1);
  }
  std::fprintf(stderr, "octavo_bench_native flash|amrex DIRECTORY ... or relay IN OUT ...\n");
  return 2;
}
