#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <set>

#include "octavo/base/error.hpp"
#include "octavo/engine/restart/triangle_neighbours.hpp"
#include "octavo/telemac/cut/partition.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/triangle_runs.hpp"

namespace octavo::engine {
namespace {

using testing::everyone;
using testing::rank;
using testing::SerafinFixture;
using testing::size;

/// For every triangle of the mesh the rank that has it, and its number there.
std::vector<std::array<std::int32_t, 2>> owners_of(const Restart& from, std::size_t triangles) {
  std::vector<std::int32_t> owner(triangles, -1), local(triangles, -1);
  for (std::size_t e = 0; e < from.global_element.size(); ++e) {
    owner[static_cast<std::size_t>(from.global_element[e])] = rank();
    local[static_cast<std::size_t>(from.global_element[e])] = static_cast<std::int32_t>(e);
  }
  for (auto* list : {&owner, &local})
    MPI_Allreduce(MPI_IN_PLACE, list->data(), static_cast<int>(triangles), MPI_INT32_T, MPI_MAX, everyone());
  std::vector<std::array<std::int32_t, 2>> both;
  for (std::size_t e = 0; e < triangles; ++e) both.push_back({owner[e], local[e]});
  return both;
}

/// Found by looking at every triangle of the whole mesh.
void expect_shared(const SerafinFixture& f, const Restart& from, const TriangleNeighbours& found) {
  const auto& mesh = std::get<mesh::Unstructured>(from.part.mesh);
  const auto owners = owners_of(from, f.mesh.connectivity.size() / 3);
  std::map<std::int64_t, std::set<std::int32_t>> ranks_of_point;
  for (std::size_t i = 0; i < f.mesh.connectivity.size(); ++i)
    ranks_of_point[f.mesh.connectivity[i]].insert(owners[i / 3][0]);
  std::map<std::int64_t, std::set<std::int32_t>> expected, told;
  for (auto& [point, ranks] : ranks_of_point)
    if (ranks.erase(rank()) == 1 && !ranks.empty()) expected[point] = ranks;
  ASSERT_EQ(found.first.size(), found.shared.size() + 1);
  for (std::size_t i = 0; i < found.shared.size(); ++i)
    told[mesh.global_point.at(static_cast<std::size_t>(found.shared[i]))] = {found.ranks.begin() + found.first[i],
                                                                             found.ranks.begin() + found.first[i + 1]};
  EXPECT_EQ(told, expected);
  EXPECT_EQ(told.size(), found.shared.size());
}

void expect_halo(const SerafinFixture& f, const Restart& from, const TriangleNeighbours& found) {
  const auto& nodes = f.mesh.connectivity;
  const auto owners = owners_of(from, nodes.size() / 3);
  std::map<std::pair<std::int64_t, std::int64_t>, std::size_t> triangle_of;  // by directed edge
  const auto edge = [&](std::size_t e, std::size_t k) {
    return std::pair(nodes[3 * e + k], nodes[3 * e + (k + 1) % 3]);
  };
  for (std::size_t e = 0; e < nodes.size() / 3; ++e)
    for (std::size_t k = 0; k < 3; ++k) triangle_of[edge(e, k)] = e;
  std::size_t expected = 0;
  for (std::size_t e = 0; e < from.global_element.size(); ++e) {
    TriangleNeighbours::Halo halo{static_cast<std::int32_t>(e), {-1, -1, -1}, {-1, -1, -1}};
    for (std::size_t k = 0; k < 3; ++k) {
      const auto [a, b] = edge(static_cast<std::size_t>(from.global_element[e]), k);
      if (const auto behind = triangle_of.find({b, a}); behind != triangle_of.end())
        halo.rank[k] = owners[behind->second][0], halo.behind[k] = owners[behind->second][1];
    }
    if (std::all_of(halo.rank.begin(), halo.rank.end(), [](std::int32_t r) { return r < 0 || r == rank(); })) continue;
    ASSERT_LT(expected, found.halo.size());
    EXPECT_EQ(found.halo[expected].triangle, halo.triangle);
    EXPECT_EQ(found.halo[expected].rank, halo.rank);
    EXPECT_EQ(found.halo[expected].behind, halo.behind);
    ++expected;
  }
  EXPECT_EQ(found.halo.size(), expected);
}

/// `line`: the whole boundary, in order. The mesh is one piece, so that its lines are closed.
void expect_boundary(const SerafinFixture& f, const Restart& from, const TriangleNeighbours& found,
                     const std::vector<std::int32_t>& line) {
  const auto& mesh = std::get<mesh::Unstructured>(from.part.mesh);
  const auto owners = owners_of(from, f.mesh.connectivity.size() / 3);
  std::map<std::pair<std::int64_t, std::int64_t>, std::int32_t> rank_of_edge;
  std::set<std::int64_t> mine;
  for (std::size_t i = 0; i < f.mesh.connectivity.size(); ++i) {
    rank_of_edge[{f.mesh.connectivity[i], f.mesh.connectivity[i % 3 == 2 ? i - 2 : i + 1]}] = owners[i / 3][0];
    if (owners[i / 3][0] == rank()) mine.insert(f.mesh.connectivity[i]);
  }
  std::size_t expected = 0;
  for (std::size_t k = 0; k < line.size(); ++k) {
    if (mine.count(line[k]) == 0) continue;
    ASSERT_LT(expected, found.boundary.size());
    const TriangleNeighbours::Boundary& point = found.boundary[expected++];
    EXPECT_EQ(mesh.global_point.at(static_cast<std::size_t>(point.point)), line[k]);
    EXPECT_EQ(point.place, static_cast<std::int32_t>(k));
    EXPECT_EQ(point.codes, (std::array<std::int32_t, 4>{2, 2, 2, 2}));
    EXPECT_EQ(point.colour, static_cast<std::int32_t>(k + 1));
    const std::int64_t next = line[(k + 1) % line.size()], previous = line[(k + line.size() - 1) % line.size()];
    EXPECT_EQ(point.next, rank_of_edge.at({line[k], next}) == rank() ? -1 : next);
    EXPECT_EQ(point.previous, rank_of_edge.at({previous, line[k]}) == rank() ? -1 : previous);
  }
  EXPECT_EQ(found.boundary.size(), expected);
}

TEST(TrianglesMpi, neighbours_and_boundary_are_those_of_the_whole_mesh_whatever_the_cut) {
  for (const std::int32_t more : {0, 1, 2}) {  // as it was cut; equal shares; without a boundary
    const testing::SharedDirectory shared;
    SerafinFixture f;
    f.mesh = testing::random_triangles(4, 9, 8);
    const std::vector<std::int32_t> line = testing::boundary_of(f.mesh);
    if (rank() == 0) {
      testing::put_file(shared.path() / "geo.slf", serafin_bytes(f));
      testing::put_file(shared.path() / "geo.cli", testing::boundary_text(line));
      telemac::PartitionOptions options;
      options.parts = size() + more % 2;
      options.method = partition::CutMethod::hilbert;
      options.layout = telemac::PieceLayout::octavo;
      if (more < 2) options.boundary = shared.path() / "geo.cli";
      telemac::partition_mesh(shared.path() / "geo.slf", shared.path() / "T2D", options);
    }
    testing::barrier();
    RestartOptions without;
    without.particles = more == 0;  // the boundary is the mesh's
    const Restart from = restart(everyone(), shared.path() / "T2DGEO.octavo", without).value();
    const TriangleNeighbours found = find_neighbours(everyone(), from);
    expect_shared(f, from, found);
    expect_halo(f, from, found);
    expect_boundary(f, from, found, more < 2 ? line : std::vector<std::int32_t>{});
    RestartOptions by_points;
    by_points.points = {0};
    const Restart points = restart(everyone(), shared.path() / "T2DGEO.octavo", by_points).value();
    EXPECT_EQ(testing::error_of([&] { find_neighbours(everyone(), points); }).kind(), base::Kind::usage);
  }
}

}  // namespace
}  // namespace octavo::engine
