// What the engine costs above plain writes of the same bytes, raw fields, in one interleaved run:
//
//     mpirun -n 2 octavo_bench_engine DIRECTORY [MB a rank] [repetitions]
//
// Ratios are medians of pairs: raw pwrite of a file a rank, over the engine's end_step(), of the slowest rank.
#include <fcntl.h>
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "octavo/base/error.hpp"
#include "octavo/parallel/communicator.hpp"
#include "octavo/parallel/world.hpp"
#include "octavo/parallel/writer.hpp"

namespace {

using namespace octavo;
namespace fs = std::filesystem;

struct Data {
  mesh::Header header;
  mesh::Octree tree;
  std::vector<std::vector<double>> fields;
};

// Blocks of 16^3 values: the mesh costs nothing beside them.
Data make_data(double megabytes, int rank) {
  Data data;
  const auto cells = static_cast<std::int64_t>(megabytes * 1e6 / 5 / 8 / 4096);
  data.tree.block = {16, 16, 16};
  data.tree.roots = {std::max<std::int64_t>(1, cells), 1, 1};
  const auto n = static_cast<std::size_t>(data.tree.roots[0]);
  data.tree.refined = {base::BitArray(n)};
  data.tree.owned = {base::BitArray(n, true)};
  data.header.roots = data.tree.roots;
  data.header.block = data.tree.block;
  data.header.hi = {static_cast<double>(n), 1, 1};
  for (int f = 0; f < 5; ++f) data.fields.emplace_back(n * 4096, rank + f);
  return data;
}

double slowest(double seconds) {
  MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return seconds;
}

// By hand: every rank one file, or its range of one that is preallocated and kept.
double plain(const fs::path& path, const Data& data, bool shared, bool sync, int rank) {
  const std::size_t bytes = data.fields[0].size() * sizeof(double) * data.fields.size();
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT, 0666);
  auto at = static_cast<off_t>(shared ? static_cast<std::size_t>(rank) * bytes : 0);
  for (const auto& field : data.fields) {
    if (::pwrite(file, field.data(), field.size() * 8, at) < 0) std::perror("pwrite");
    at += static_cast<off_t>(field.size() * 8);
  }
  if (sync && ::fdatasync(file) != 0) std::perror("fdatasync");
  ::close(file);
  return slowest(MPI_Wtime() - begin);
}

double engine(const fs::path& store, const Data& data, const parallel::Options& options, int steps) {
  parallel::Writer writer(MPI_COMM_WORLD, store, data.header, options);
  double seconds = 0;
  for (int step = 0; step < steps; ++step) {
    writer.begin_step(store::Flow::checkpoint, step, step);
    writer.put_mesh(data.tree);
    for (std::size_t f = 0; f < data.fields.size(); ++f) {
      auto view = parallel::view_of(data.fields[f]);
      view.block = data.tree.block;
      view.cells /= 4096;
      writer.put_field("f" + std::to_string(f), view);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    writer.end_step();
    seconds = slowest(MPI_Wtime() - begin);
    if (options.mode == parallel::Mode::background) writer.wait();
  }
  writer.close();
  return seconds;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

struct Way {
  const char* name;
  int per_file;
  bool checksums, sync, recycle, background;
};

void run(const fs::path& directory, double megabytes, int repetitions) {
  const int rank = parallel::rank_in(MPI_COMM_WORLD);
  const Data data = make_data(megabytes, rank);
  const Way ways[] = {{"file a rank, no checksum", 1, false, false, false, false},
                      {"file a rank, checksum", 1, true, false, false, false},
                      {"file a node, no checksum", 0, false, false, false, false},
                      {"file a node, checksum", 0, true, false, false, false},
                      {"synced, recycled, file a node", 0, true, true, true, false},
                      {"end_step, background, no checksum", 1, false, false, false, true},
                      {"end_step, background, checksum", 1, true, false, false, true}};
  const fs::path mine = directory / ("plain." + std::to_string(rank)), shared = directory / "plain.shared";
  for (const Way& way : ways) {
    std::vector<double> ratios, times;
    for (int repetition = 0; repetition < repetitions; ++repetition) {
      parallel::Options options;
      options.mode = way.background ? parallel::Mode::background : parallel::Mode::sync;
      options.staging_bytes = static_cast<std::int64_t>(megabytes * 1.1e6);
      options.checkpoint.codec.method = codec::Method::raw;
      options.contributors_per_file = way.per_file;
      options.checksums = way.checksums;
      options.sync_policy = way.sync ? parallel::SyncPolicy::step : parallel::SyncPolicy::none;
      options.recycle = way.recycle;
      options.keep_last = way.recycle ? 1 : 0;
      double by_hand = 0;
      if (way.background) {
        MPI_Barrier(MPI_COMM_WORLD);
        std::vector<std::vector<double>> copy = data.fields;
        const double begin = MPI_Wtime();
        for (std::size_t f = 0; f < copy.size(); ++f)
          std::memcpy(copy[f].data(), data.fields[f].data(), copy[f].size() * 8);
        by_hand = slowest(MPI_Wtime() - begin);
      } else if (way.sync) {
        plain(shared, data, true, true, rank);
        by_hand = plain(shared, data, true, true, rank);
      } else {
        ::unlink(mine.c_str());
        by_hand = plain(mine, data, false, false, rank);
      }
      // The first step makes the store; recycled, the third is the first that is written over another.
      const double seconds = engine(directory / "run.octavo", data, options, way.recycle ? 3 : 2);
      ratios.push_back(by_hand / seconds);
      times.push_back(seconds);
      MPI_Barrier(MPI_COMM_WORLD);
      if (rank == 0) fs::remove_all(directory / "run.octavo");
      MPI_Barrier(MPI_COMM_WORLD);
    }
    if (rank == 0)
      std::printf("%-36s %6.0f ms  by hand / engine %.2f\n", way.name, 1000 * median(times), median(ratios));
  }
  ::unlink(mine.c_str());
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) ::unlink(shared.c_str());
}

}  // namespace

int main(int argc, char** argv) {
  octavo::parallel::world();
  if (argc < 2) {
    std::fprintf(stderr, "usage: octavo_bench_engine DIRECTORY [MB a rank] [repetitions]\n");
    return 2;
  }
  fs::create_directories(argv[1]);
  run(argv[1], argc > 2 ? std::atof(argv[2]) : 128, argc > 3 ? std::atoi(argv[3]) : 15);
  return 0;
}
