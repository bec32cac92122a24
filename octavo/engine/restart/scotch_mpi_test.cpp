#include <dlfcn.h>
#include <gmock/gmock.h>
#include <mpi.h>

#include "octavo/engine/restart/scotch.hpp"
#include "octavo/ranks/world.hpp"
#include "octavo/telemac/cut/partition.hpp"
#include "octavo/telemac/merge/merge_pieces.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/mpi_run.hpp"
#include "tests/support/series_pieces.hpp"
#include "tests/support/temporary_folder.hpp"

namespace octavo::engine {
namespace {

/// The call of PT-Scotch that the last rank is told has failed: what others do meanwhile, it has done.
std::string failing;

/// In the place of PT-Scotch's own one, which is behind it.
template <class... Arguments>
int call_real(const char* name, Arguments... arguments) {
  const auto real = reinterpret_cast<int (*)(Arguments...)>(dlsym(RTLD_NEXT, name));
  if (real == nullptr) return -1;
  const int result = real(arguments...);
  return name == failing && testing::rank() + 1 == testing::size() ? 1 : result;
}

}  // namespace

extern "C" {
// NOLINTBEGIN: PT-Scotch's names
int SCOTCH_stratInit(void* strategy) { return call_real("SCOTCH_stratInit", strategy); }
int SCOTCH_dgraphInit(void* graph, MPI_Comm comm) { return call_real("SCOTCH_dgraphInit", graph, comm); }
int SCOTCH_dgraphBuild(void* graph, std::int32_t base, std::int32_t vertices, std::int32_t room, void* first,
                       void* behind, void* loads, void* labels, std::int32_t edges, std::int32_t edge_room, void* ends,
                       void* ghosts, void* weights) {
  return call_real("SCOTCH_dgraphBuild", graph, base, vertices, room, first, behind, loads, labels, edges, edge_room,
                   ends, ghosts, weights);
}
int SCOTCH_contextBindDgraph(void* context, const void* graph, void* bound) {
  return call_real("SCOTCH_contextBindDgraph", context, graph, bound);
}
int SCOTCH_dgraphPart(void* graph, std::int32_t parts, void* strategy, void* part_of) {
  return call_real("SCOTCH_dgraphPart", graph, parts, strategy, part_of);
}
// NOLINTEND
}

namespace {

namespace fs = std::filesystem;
using testing::bytes_of_file;

telemac::PartitionReport cut(const fs::path& folder, const std::string& prefix, partition::CutMethod method) {
  telemac::PartitionOptions options;
  options.parts = 7;
  options.method = method;
  options.boundary = folder / "geo.cli";
  return telemac::partition_mesh(folder / "geo.slf", folder / prefix, options, ranks::world(), cut_by_scotch);
}

TEST(ScotchMpi, ranks_cut_few_edges_and_again_the_same_ones) {
  if (!has_scotch()) GTEST_SKIP() << "no PT-Scotch in this build";
  const testing::SharedDirectory shared;
  const fs::path& folder = shared.path();
  testing::SerafinFixture f = testing::fixture(2);
  f.mesh = testing::random_triangles(2, 50, 40, true);
  f.numbers = testing::ranks_of(f.mesh);
  if (testing::rank() == 0) {
    testing::put_file(folder / "geo.slf", serafin_bytes(f));
    testing::put_file(folder / "geo.cli", testing::boundary_text(testing::boundary_of(f.mesh)));
  }
  testing::barrier();
  const telemac::PartitionReport report = cut(folder, "A", partition::CutMethod::scotch);
  const telemac::PartitionReport other = cut(folder, "H", partition::CutMethod::hilbert);
  EXPECT_LT(report.quality.cut_edges, 2 * other.quality.cut_edges);
  const double even = static_cast<double>(report.elements) / 7;
  EXPECT_GT(static_cast<double>(report.quality.fewest), 0.8 * even);
  EXPECT_LT(static_cast<double>(report.quality.most), 1.2 * even);
  cut(folder, "B", partition::CutMethod::scotch);
  if (testing::rank() == 0) {
    for (const char* kind : {"GEO-CONCAT", "CLI-CONCAT", "PAR-CONCAT"})
      EXPECT_TRUE(bytes_of_file(folder / ("A" + std::string(kind))) ==
                  bytes_of_file(folder / ("B" + std::string(kind))));
    telemac::MergeOptions options;
    options.mesh = folder / "geo.slf";
    EXPECT_EQ(telemac::merge_pieces({folder / "AGEO"}, folder / "merged.slf", options).parts, 7);
    EXPECT_EQ(fs::file_size(folder / "merged.slf"), fs::file_size(folder / "geo.slf"));
  }
  testing::barrier();
}

TEST(ScotchMpi, a_call_that_fails_on_one_rank_is_every_rank_s_error) {
  if (!has_scotch() || dlsym(RTLD_NEXT, "SCOTCH_dgraphPart") == nullptr) GTEST_SKIP() << "no shared PT-Scotch";
  const testing::SharedDirectory shared;
  const fs::path& folder = shared.path();
  testing::SerafinFixture f = testing::fixture(2);
  f.mesh = testing::random_triangles(2, 10, 8);
  f.numbers = testing::ranks_of(f.mesh);
  if (testing::rank() == 0) {
    testing::put_file(folder / "geo.slf", serafin_bytes(f));
    testing::put_file(folder / "geo.cli", testing::boundary_text(testing::boundary_of(f.mesh)));
  }
  testing::barrier();
  for (const char* name : {"stratInit", "dgraphInit", "dgraphBuild", "contextBindDgraph", "dgraphPart"}) {
    failing = "SCOTCH_" + std::string(name);
    const std::string message = testing::message_of([&] { cut(folder, "A", partition::CutMethod::scotch); });
    EXPECT_THAT(message, ::testing::HasSubstr(name));
    testing::expect_same_everywhere(message);
    EXPECT_FALSE(fs::exists(folder / "AGEO-CONCAT"));
  }
  failing.clear();
  EXPECT_EQ(cut(folder, "A", partition::CutMethod::scotch).parts, 7);
}

TEST(ScotchMpi, ranks_without_elements_cut_too) {
  if (!has_scotch()) GTEST_SKIP() << "no PT-Scotch in this build";
  const testing::SharedDirectory shared;
  testing::SerafinFixture f = testing::fixture(1);
  f.mesh = testing::random_triangles(1, 1, 1);
  f.numbers = testing::ranks_of(f.mesh);
  if (testing::rank() == 0) testing::put_file(shared.path() / "geo.slf", serafin_bytes(f));
  testing::barrier();
  telemac::PartitionOptions options;
  options.parts = 2;
  options.method = partition::CutMethod::scotch;
  const telemac::PartitionReport report =
      telemac::partition_mesh(shared.path() / "geo.slf", shared.path() / "A", options, ranks::world(), cut_by_scotch);
  EXPECT_EQ(report.elements, 2);
  EXPECT_EQ(report.quality.cut_edges, 1);
}

}  // namespace
}  // namespace octavo::engine
