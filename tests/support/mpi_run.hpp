#pragma once
#include <gtest/gtest.h>
#include <mpi.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "octavo/mesh/tree/prune.hpp"
#include "octavo/ranks/communicator.hpp"
#include "octavo/ranks/world.hpp"
#include "tests/support/random_octree.hpp"

/// For tests that run on any number of ranks: cmake/mpi_tests.cmake starts them with mpirun.
namespace octavo::testing {

/// MPI_COMM_WORLD, with MPI started; with MPI_THREAD_SINGLE where OCTAVO_TEST_THREADS says "single".
inline MPI_Comm everyone() {
  static const bool started = [] {
    const char* threads = std::getenv("OCTAVO_TEST_THREADS");
    if (threads != nullptr && std::string(threads) == "single") {
      int provided = 0;
      MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SINGLE, &provided);
      std::atexit([] { MPI_Finalize(); });
    }
    ranks::world();
    return true;
  }();
  (void)started;
  return MPI_COMM_WORLD;
}

// Known from the first call on (SharedDirectory makes one), so that a writer's thread may ask without a call of MPI.
inline int rank() {
  static const int mine = ranks::rank_in(everyone());
  return mine;
}
inline int size() {
  static const int all = ranks::size_of(everyone());
  return all;
}
inline void barrier() { MPI_Barrier(everyone()); }

/// All ranks were told the same. Collective.
inline void expect_same_everywhere(const std::string& message) {
  for (const std::string& other : ranks::ranks_of(everyone()).all_gather(message)) EXPECT_EQ(other, message);
}

inline bool single_threaded() {
  int provided = 0;
  everyone();
  MPI_Query_thread(&provided);
  return provided == MPI_THREAD_SINGLE;
}

/// A directory that all ranks of a test share and that no other test has; gone with the value.
class SharedDirectory {
 public:
  SharedDirectory() {
    size();
    if (rank() == 0) {
      std::string name = (std::filesystem::path(::testing::TempDir()) / "octavo_XXXXXX").string();
      path_ = mkdtemp(name.data());
    }
    std::vector<char> text(4096, '\0');
    path_.string().copy(text.data(), text.size() - 1);
    MPI_Bcast(text.data(), static_cast<int>(text.size()), MPI_CHAR, 0, everyone());
    path_ = text.data();
  }
  ~SharedDirectory() {
    MPI_Barrier(everyone());
    if (ranks::rank_in(everyone()) == 0) std::filesystem::remove_all(path_);
    MPI_Barrier(everyone());
  }
  SharedDirectory(const SharedDirectory&) = delete;
  SharedDirectory& operator=(const SharedDirectory&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// The data of one rank of a simulation: its domain of one tree, a field that depends on the step, and particles.
struct Domain {
  mesh::Header header;
  mesh::Octree whole;
  mesh::Octree tree;
  std::vector<double> density;
  std::vector<std::int32_t> flag;
  std::vector<double> position[3];
  std::vector<std::int64_t> id;
};

inline Domain make_domain(std::uint64_t seed, int rank, int size, std::int64_t step = 0) {
  Domain domain;
  domain.whole = random_octree(seed, {.dim = 3, .roots = {2, 1, 2}, .max_levels = 5, .max_cells = 6000});
  domain.header.code = "test";
  domain.header.dim = 3;
  domain.header.roots = domain.whole.roots;
  domain.header.hi = {2, 1, 2};
  mesh::Field density = smooth_field(domain.whole, "density", seed + static_cast<std::uint64_t>(step));
  mesh::FieldInfo info;
  info.name = "flag";
  info.type = mesh::ScalarType::int32;
  const mesh::Field flag = random_field(domain.whole, info, seed * 7 + static_cast<std::uint64_t>(step));
  const mesh::Octree mine =
      random_domains(domain.whole, static_cast<std::size_t>(size))[static_cast<std::size_t>(rank)];
  mesh::Extract extract = mesh::prune(mine);
  mesh::Field kept{density.info, mesh::gather(mine, extract, density.bytes, sizeof(double))};
  const auto values = kept.as<double>();
  domain.density.assign(values.begin(), values.end());
  kept = {flag.info, mesh::gather(mine, extract, flag.bytes, sizeof(std::int32_t))};
  const auto flags = kept.as<std::int32_t>();
  domain.flag.assign(flags.begin(), flags.end());
  domain.tree = std::move(extract.tree);
  Random random(seed + 1000 * static_cast<std::uint64_t>(rank + 1));
  const std::size_t count = random.below(50);
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t axis = 0; axis < 3; ++axis)
      domain.position[axis].push_back(random.uniform() * domain.header.hi[axis]);
    domain.id.push_back(static_cast<std::int64_t>(1000 * rank) + static_cast<std::int64_t>(i));
  }
  return domain;
}

}  // namespace octavo::testing
