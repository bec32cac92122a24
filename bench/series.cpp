// One SERAFIN or MED file from all ranks of a run on triangles, several ways in the same run:
//
//     mpirun -n R octavo_bench_series MESH.slf DIRECTORY [refinements] [variables] [steps] [seconds between steps]
//     [writers]
//
// octavo in the background and inside the call; collective MPI-IO with a file view (the type of a step's own points
// made once, one write a step), blocking and not; a piece a rank, merged at the end by one process that keeps one
// variable in memory. The mesh is refined 1-to-4 in memory and cut along a Hilbert curve. Between steps a rank sleeps,
// as if it computed. Printed: seconds a rank sees of a step (median of steps, slowest rank), seconds from the first
// step until the file is whole less those slept, CPU seconds of all ranks. Nothing is synced; the SERAFIN files are
// compared. Where the build has MED: octavo's MED file both ways, and a conversion of the SERAFIN file through libmedC.
#include "octavo/formats/serafin/series.hpp"

#include <mpi.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <numeric>
#include <thread>

#include "bench/all_ranks.hpp"
#include "octavo/base/error.hpp"
#include "octavo/engine/targets/series_target.hpp"
#include "octavo/engine/write/writer.hpp"
#include "octavo/file/hdf5/hdf5.hpp"
#include "octavo/file/posix.hpp"
#include "octavo/formats/med/med.hpp"
#include "octavo/formats/serafin/write.hpp"
#include "octavo/partition/cut.hpp"
#include "octavo/ranks/communicator.hpp"
#include "octavo/ranks/world.hpp"
#include "tests/support/write_triangles.hpp"

namespace {

using namespace octavo;
using bench::cpu_of_all;
using bench::largest;
namespace fs = std::filesystem;
namespace serafin = formats::serafin;

int rank() { return ranks::rank_in(MPI_COMM_WORLD); }
int ranks() { return ranks::size_of(MPI_COMM_WORLD); }

// ------------------------------------------------------------------ the mesh

struct Triangles {
  std::vector<double> x, y;
  std::vector<std::int32_t> connectivity;
};

// Points of edges behind those that are there, as refining by hand does.
Triangles refine(const Triangles& coarse) {
  Triangles fine{coarse.x, coarse.y, {}};
  std::map<std::pair<std::int32_t, std::int32_t>, std::int32_t> middles;
  const auto middle = [&](std::int32_t a, std::int32_t b) {
    const auto [place, made] = middles.try_emplace(std::minmax(a, b), static_cast<std::int32_t>(fine.x.size()));
    if (made) {
      fine.x.push_back((coarse.x[static_cast<std::size_t>(a)] + coarse.x[static_cast<std::size_t>(b)]) / 2);
      fine.y.push_back((coarse.y[static_cast<std::size_t>(a)] + coarse.y[static_cast<std::size_t>(b)]) / 2);
    }
    return place->second;
  };
  for (std::size_t e = 0; e < coarse.connectivity.size(); e += 3) {
    const std::int32_t a = coarse.connectivity[e], b = coarse.connectivity[e + 1], c = coarse.connectivity[e + 2];
    const std::int32_t ab = middle(a, b), bc = middle(b, c), ca = middle(c, a);
    for (const std::int32_t point : {a, ab, ca, ab, b, bc, ca, bc, c, ab, bc, ca}) fine.connectivity.push_back(point);
  }
  return fine;
}

Triangles read_triangles(const fs::path& path, int refinements) {
  const mesh::Unstructured whole = serafin::read_mesh(serafin::open_series(path));
  Triangles mesh{whole.x, whole.y, {whole.connectivity.begin(), whole.connectivity.end()}};
  for (int i = 0; i < refinements; ++i) mesh = refine(mesh);
  return mesh;
}

engine::SeriesMesh piece_of(const Triangles& whole) {
  const auto part_of = partition::cut_hilbert(whole.connectivity, whole.x, whole.y, ranks());
  const auto lists = partition::list_parts(part_of, ranks());
  std::vector<std::int64_t> local(whole.x.size(), -1);
  engine::SeriesMesh piece;
  for (const std::int32_t e : partition::elements_of(lists, rank())) {
    piece.global_element.push_back(e);
    for (std::size_t k = 0; k < 3; ++k) {
      const auto point = static_cast<std::size_t>(whole.connectivity[3 * static_cast<std::size_t>(e) + k]);
      if (local[point] < 0) {
        local[point] = static_cast<std::int64_t>(piece.piece.x.size());
        piece.piece.x.push_back(whole.x[point]);
        piece.piece.y.push_back(whole.y[point]);
        piece.piece.global_point.push_back(static_cast<std::int64_t>(point));
      }
      piece.piece.connectivity.push_back(local[point]);
    }
  }
  return piece;
}

// ------------------------------------------------------------------ a way to write

struct Problem {
  serafin::SerafinHeader header;
  engine::SeriesMesh mesh;
  int steps = 10;
  double between = 0.2;
  int writers = 0;
  std::size_t variables() const { return header.variables.size(); }
  std::size_t points() const { return mesh.piece.x.size(); }
};

double value_of(const Problem& problem, int step, std::size_t variable, std::size_t point) {
  return problem.mesh.piece.x[point] * 1e-3 + static_cast<double>(step) + 16.0 * static_cast<double>(variable);
}

struct Way {
  std::function<void(int step, const std::vector<std::vector<double>>& values)> write;
  std::function<void()> finish;
};

void run(const char* name, const Problem& problem, const Way& way) {
  std::vector<std::vector<double>> values(problem.variables(), std::vector<double>(problem.points()));
  std::vector<double> visible;
  MPI_Barrier(MPI_COMM_WORLD);
  const double cpu = cpu_of_all(), begin = MPI_Wtime();
  double computing = 0;
  for (int step = 0; step < problem.steps; ++step) {
    const double computes = MPI_Wtime();
    for (std::size_t v = 0; v < values.size(); ++v)
      for (std::size_t i = 0; i < values[v].size(); ++i) values[v][i] = value_of(problem, step, v, i);
    std::this_thread::sleep_for(std::chrono::duration<double>(problem.between));
    MPI_Barrier(MPI_COMM_WORLD);
    computing += MPI_Wtime() - computes;
    const double called = MPI_Wtime();
    way.write(step, values);
    visible.push_back(largest(MPI_Wtime() - called));
  }
  const double closing = MPI_Wtime();
  way.finish();
  const double end = largest(MPI_Wtime()), all = end - begin - computing, spent = cpu_of_all() - cpu;
  std::sort(visible.begin(), visible.end());
  if (rank() == 0)
    std::printf("%-24s %9.4f s a step, %8.3f s at the end, %8.3f s in all, %8.3f CPU s\n", name,
                visible[visible.size() / 2], end - closing, all, spent);
}

// ------------------------------------------------------------------ octavo

Way octavo_way(const fs::path& path, const Problem& problem, engine::Mode mode) {
  engine::SeriesOptions options;
  options.mode = mode;
  options.sync = false;
  options.writers = problem.writers;
  auto writer = std::make_shared<engine::Writer>(MPI_COMM_WORLD, mesh::Header(),
                                                 engine::SeriesTarget{path, problem.header, problem.mesh, options});
  if (rank() == 0 && mode == engine::Mode::background) std::printf("%s\n", writer->notes().front().c_str());
  return {[=](int step, const std::vector<std::vector<double>>& values) {
            writer->begin_step(step);
            for (std::size_t v = 0; v < values.size(); ++v)
              writer->put_field("VARIABLE " + std::to_string(v), engine::view_of(values[v]));
            writer->end_step();
          },
          [=] { writer->close(); }};
}

// ------------------------------------------------------------------ MPI-IO with a file view

// Points that this rank is the lowest to have, ascending: an exchange of everything, it is not timed.
std::vector<std::pair<std::int64_t, std::size_t>> owned_points(const Problem& problem, std::size_t all) {
  std::vector<int> lowest(all, ranks());
  for (const std::int64_t point : problem.mesh.piece.global_point) lowest[static_cast<std::size_t>(point)] = rank();
  MPI_Allreduce(MPI_IN_PLACE, lowest.data(), static_cast<int>(all), MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  std::vector<std::pair<std::int64_t, std::size_t>> owned;
  for (std::size_t i = 0; i < problem.points(); ++i) {
    const std::int64_t point = problem.mesh.piece.global_point[i];
    if (lowest[static_cast<std::size_t>(point)] == rank()) owned.emplace_back(point, i);
  }
  std::sort(owned.begin(), owned.end());
  return owned;
}

struct Collective {
  MPI_File file = MPI_FILE_NULL;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Request request = MPI_REQUEST_NULL;
  std::vector<std::pair<std::int64_t, std::size_t>> owned;
  std::vector<std::uint32_t> out;
};

// Lengths and the time of a step: of rank 0.
void put_frame(const Problem& problem, const serafin::RecordOffsets& offsets, MPI_File file, int step) {
  if (rank() != 0) return;
  const auto put = [&](std::uint64_t at, auto value) {
    const auto bits = __builtin_bswap32(std::bit_cast<std::uint32_t>(value));
    MPI_File_write_at(file, static_cast<MPI_Offset>(at), &bits, 4, MPI_BYTE, MPI_STATUS_IGNORE);
  };
  const auto record = static_cast<std::int32_t>(4 * problem.header.points);
  const std::uint64_t time = serafin::time_at(offsets, step);
  put(time - 4, std::int32_t{4});
  put(time, static_cast<float>(step));
  put(time + 4, std::int32_t{4});
  for (std::size_t v = 0; v < problem.variables(); ++v) {
    const std::uint64_t at = serafin::values_at(problem.header, offsets, step, v);
    put(at - 4, record);
    put(at + 4 * static_cast<std::uint64_t>(problem.header.points), record);
  }
}

Way collective_way(const fs::path& path, const Problem& problem, bool blocking) {
  engine::Writer(MPI_COMM_WORLD, {}, engine::SeriesTarget{path, problem.header, problem.mesh, {.sync = false}}).close();
  auto state = std::make_shared<Collective>();
  const serafin::RecordOffsets offsets = serafin::offsets_of(problem.header);
  state->owned = owned_points(problem, static_cast<std::size_t>(problem.header.points));
  std::vector<MPI_Aint> places;
  for (std::size_t v = 0; v < problem.variables(); ++v)
    for (const auto& [point, local] : state->owned)
      places.push_back(static_cast<MPI_Aint>(serafin::values_at(problem.header, offsets, 0, v) - offsets.steps) +
                       4 * static_cast<MPI_Aint>(point));
  state->out.resize(places.size());
  MPI_Type_create_hindexed_block(static_cast<int>(places.size()), 4, places.data(), MPI_BYTE, &state->type);
  MPI_Type_commit(&state->type);
  MPI_File_open(MPI_COMM_WORLD, path.c_str(), MPI_MODE_WRONLY, MPI_INFO_NULL, &state->file);
  return {[=, &problem](int step, const std::vector<std::vector<double>>& values) {
            MPI_Wait(&state->request, MPI_STATUS_IGNORE);
            std::size_t k = 0;
            for (const auto& field : values)
              for (const auto& [point, local] : state->owned)
                state->out[k++] = __builtin_bswap32(std::bit_cast<std::uint32_t>(static_cast<float>(field[local])));
            MPI_File_set_view(state->file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL);
            put_frame(problem, offsets, state->file, step);
            const std::uint64_t begin = offsets.steps + static_cast<std::uint64_t>(step) * offsets.step_bytes;
            MPI_File_set_view(state->file, static_cast<MPI_Offset>(begin), MPI_BYTE, state->type, "native",
                              MPI_INFO_NULL);
            const int bytes = static_cast<int>(4 * state->out.size());
            if (blocking)
              MPI_File_write_all(state->file, state->out.data(), bytes, MPI_BYTE, MPI_STATUS_IGNORE);
            else
              MPI_File_iwrite_all(state->file, state->out.data(), bytes, MPI_BYTE, &state->request);
          },
          [=] {
            MPI_Wait(&state->request, MPI_STATUS_IGNORE);
            MPI_File_close(&state->file);
            MPI_Type_free(&state->type);
          }};
}

// ------------------------------------------------------------------ a piece a rank, and merging

fs::path piece_path(const fs::path& path, int of) { return path.string() + "-" + std::to_string(of); }

// One process, one variable in memory; of points that several have, the last one's.
void merge(const fs::path& path, const Problem& problem) {
  std::vector<serafin::SerafinSeries> pieces;
  std::vector<std::vector<std::int32_t>> numbers;
  for (int r = 0; r < ranks(); ++r) {
    pieces.push_back(serafin::open_series(piece_path(path, r)));
    read_numbers(pieces.back(), 0, numbers.emplace_back(static_cast<std::size_t>(pieces.back().header.points)));
  }
  const file::File out = file::open_write(path);
  const auto put = [&](std::uint64_t at, std::span<const std::byte> bytes) { file::pwrite_all(out, at, bytes); };
  std::vector<double> whole(static_cast<std::size_t>(problem.header.points)), some;
  for (int step = 0; step < problem.steps; ++step) {
    write_time(put, problem.header, step, read_time(pieces[0], step));
    for (std::size_t v = 0; v < problem.variables(); ++v) {
      for (std::size_t p = 0; p < pieces.size(); ++p) {
        some.resize(numbers[p].size());
        read_values(pieces[p], step, v, 0, some);
        for (std::size_t i = 0; i < some.size(); ++i) whole[static_cast<std::size_t>(numbers[p][i] - 1)] = some[i];
      }
      write_values(put, problem.header, step, v, 0, whole);
    }
  }
}

Way pieces_way(const fs::path& path, const Problem& problem) {
  engine::Writer(MPI_COMM_WORLD, {}, engine::SeriesTarget{path, problem.header, problem.mesh, {.sync = false}}).close();
  auto header = std::make_shared<serafin::SerafinHeader>(problem.header);
  header->points = static_cast<std::int32_t>(problem.points());
  header->elements = static_cast<std::int32_t>(problem.mesh.global_element.size());
  auto out = std::make_shared<file::File>(file::create(piece_path(path, rank())));
  const auto put = [out](std::uint64_t at, std::span<const std::byte> bytes) { file::pwrite_all(*out, at, bytes); };
  std::vector<std::int32_t> nodes, numbers;
  for (const std::int64_t node : problem.mesh.piece.connectivity) nodes.push_back(static_cast<std::int32_t>(node + 1));
  for (const std::int64_t point : problem.mesh.piece.global_point)
    numbers.push_back(static_cast<std::int32_t>(point + 1));
  serafin::write_header(put, *header);
  write_connectivity(put, *header, 0, nodes);
  write_numbers(put, *header, 0, numbers);
  write_coordinates(put, *header, 0, 0, problem.mesh.piece.x);
  write_coordinates(put, *header, 1, 0, problem.mesh.piece.y);
  return {[=](int step, const std::vector<std::vector<double>>& values) {
            write_time(put, *header, step, step);
            for (std::size_t v = 0; v < values.size(); ++v) write_values(put, *header, step, v, 0, values[v]);
          },
          [=, &problem] {
            MPI_Barrier(MPI_COMM_WORLD);
            if (rank() == 0) merge(path, problem);
            MPI_Barrier(MPI_COMM_WORLD);
          }};
}

// ------------------------------------------------------------------ all of them

bool same_bytes(const fs::path& a, const fs::path& b) {
  const file::File first = file::open_read(a), second = file::open_read(b);
  std::vector<std::byte> x(1 << 22), y(1 << 22);
  if (file::size(first) != file::size(second)) return false;
  for (std::uint64_t at = 0; at < file::size(first); at += x.size()) {
    const std::size_t got = file::pread_some(first, at, x);
    file::pread_some(second, at, y);
    if (!std::equal(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(got), y.begin())) return false;
  }
  return true;
}

// The same MED file of a SERAFIN file that is whole, by one process through libmedC and HDF5: mesh and steps.
void convert_by_libmed(const fs::path& from, const fs::path& to) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  rusage before{}, after{};
  getrusage(RUSAGE_SELF, &before);
  ranks::agree(MPI_COMM_WORLD, [&] {
    if (rank() == 0) testing::to_med(from, to, {.single_precision = true});
  });
  getrusage(RUSAGE_SELF, &after);
  const auto seconds = [](const rusage& usage) {
    return static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           1e-6 * static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
  };
  if (rank() == 0)
    std::printf("%-24s %33s %8.3f s in all, %8.3f CPU s of this rank\n", "libmedC, one process", "",
                MPI_Wtime() - begin, seconds(after) - seconds(before));
}

double argument(int argc, char** argv, int i, double otherwise) { return i < argc ? std::atof(argv[i]) : otherwise; }

void measure(int argc, char** argv) {
  if (argc < 3) throw base::Error(base::Kind::usage, "octavo_bench_series MESH.slf DIRECTORY ...");
  const fs::path directory = argv[2];
  if (rank() == 0) fs::remove_all(directory);
  if (rank() == 0) fs::create_directories(directory);
  Problem problem;
  {
    const Triangles whole = read_triangles(argv[1], static_cast<int>(argument(argc, argv, 3, 3)));
    problem.mesh = piece_of(whole);
    problem.header.points = static_cast<std::int32_t>(whole.x.size());
    problem.header.elements = static_cast<std::int32_t>(whole.connectivity.size() / 3);
  }
  for (int v = 0; v < static_cast<int>(argument(argc, argv, 4, 5)); ++v)
    problem.header.variables.push_back(serafin::variable("VARIABLE " + std::to_string(v), "M"));
  problem.steps = static_cast<int>(argument(argc, argv, 5, 10));
  problem.between = argument(argc, argv, 6, 0.2);
  problem.writers = static_cast<int>(argument(argc, argv, 7, 0));
  if (rank() == 0)
    std::printf("%d triangles, %d points, %zu variables, %d steps of %.1f MB, %d ranks\n", problem.header.elements,
                problem.header.points, problem.variables(), problem.steps,
                1e-6 * static_cast<double>(serafin::offsets_of(problem.header).step_bytes), ranks());
  MPI_Barrier(MPI_COMM_WORLD);
  const auto in = [&](const char* name) { return directory / name; };
  run("octavo, background", problem, octavo_way(in("background.slf"), problem, engine::Mode::background));
  run("octavo, in the call", problem, octavo_way(in("sync.slf"), problem, engine::Mode::sync));
  run("MPI-IO, blocking", problem, collective_way(in("blocking.slf"), problem, true));
  run("MPI-IO, non-blocking", problem, collective_way(in("nonblocking.slf"), problem, false));
  run("pieces and merging", problem, pieces_way(in("pieces.slf"), problem));
  if (rank() == 0)
    for (const char* other : {"sync.slf", "blocking.slf", "nonblocking.slf", "pieces.slf"})
      if (!same_bytes(in("background.slf"), in(other))) std::printf("%s differs from octavo's\n", other);
  if (formats::med::available() && file::hdf5::available()) {
    run("octavo, MED, background", problem, octavo_way(in("background.med"), problem, engine::Mode::background));
    run("octavo, MED, in the call", problem, octavo_way(in("sync.med"), problem, engine::Mode::sync));
    convert_by_libmed(in("background.slf"), in("converted.med"));
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank() == 0) fs::remove_all(directory);
}

}  // namespace

int main(int argc, char** argv) {
  ranks::world();
  try {
    measure(argc, argv);
  } catch (const base::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return base::exit_code(error.kind());
  }
  return 0;
}
