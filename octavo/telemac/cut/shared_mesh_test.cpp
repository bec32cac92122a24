#include "octavo/telemac/cut/shared_mesh.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <mutex>
#include <random>
#include <set>

#include "octavo/partition/graph.hpp"
#include "octavo/telemac/cut/shared_cut.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/serafin_fixture.hpp"
#include "tests/support/thread_ranks.hpp"

namespace octavo::telemac {
namespace {

using octavo::testing::random_triangles;
using octavo::testing::Triangles;
using partition::PartVector;

std::int32_t points_of(const Triangles& mesh) { return static_cast<std::int32_t>(mesh.x.size()); }

/// A rank's job on a mesh in memory, and its block.
struct Shared {
  Shared(const base::Ranks& ranks, const Triangles& mesh, std::int32_t parts)
      : job{ranks, none, options, points_of(mesh), std::ssize(mesh.connectivity) / 3, {}} {
    options.parts = parts;
    options.method = partition::CutMethod::hilbert;
    const auto own = base::share(parts, ranks.rank, ranks.size);
    job.own = {static_cast<std::int32_t>(own[0]), static_cast<std::int32_t>(own[1])};
    const auto [first, last] = base::share(job.elements, ranks.rank, ranks.size);
    block.first = first;
    block.triangles.assign(mesh.connectivity.begin() + 3 * first, mesh.connectivity.begin() + 3 * last);
    block.places.set = PointSet(block.triangles, job.points);
    for (const std::int32_t point : block.places.set.points()) {
      block.places.x.push_back(mesh.x[static_cast<std::size_t>(point)]);
      block.places.y.push_back(mesh.y[static_cast<std::size_t>(point)]);
    }
  }
  formats::serafin::SerafinSeries none;
  PartitionOptions options;
  SharedJob job;
  ElementBlock block;
};

PartVector cut_by_curve(const Triangles& mesh, std::int32_t parts) {
  const base::Ranks alone;
  Shared shared(alone, mesh, parts);
  std::vector<std::string> notes;
  return cut_block(shared.job, shared.block, {}, notes);
}

std::int64_t cut_edges(const Triangles& mesh, const PartVector& part_of) {
  std::int64_t sides = 0;
  const auto behind = partition::find_behind(mesh.connectivity, points_of(mesh));
  for (std::size_t i = 0; i < behind.size(); ++i)
    sides += behind[i] >= 0 && part_of[static_cast<std::size_t>(behind[i])] != part_of[i / 3];
  return sides / 2;
}

TEST(SharedCut, joined_stretches_cut_fewer_edges_than_stretches_as_long_as_parts) {
  // A valley that turns back twice and is narrower than a part is long. Stretches of the curve fall into several pieces
  // there.
  Triangles mesh = random_triangles(3, 240, 8);
  for (std::size_t i = 0; i < mesh.x.size(); ++i) {
    const double turn = std::floor(mesh.x[i] / 80), along = mesh.x[i] - 80 * turn;
    const bool back = static_cast<int>(turn) % 2 != 0;
    mesh.x[i] = back ? 80 - along : along;
    mesh.y[i] = (back ? 8 - mesh.y[i] : mesh.y[i]) + 9 * turn;
  }
  constexpr std::int32_t parts = 12;
  const PartVector plain = partition::cut_hilbert(mesh.connectivity, mesh.x, mesh.y, parts);
  const PartVector joined = cut_by_curve(mesh, parts);
  EXPECT_LT(10 * cut_edges(mesh, joined), 7 * cut_edges(mesh, plain));
  const partition::PartLists lists = partition::list_parts(joined, parts);
  for (std::int32_t p = 0; p < parts; ++p) {
    EXPECT_GE(partition::elements_of(lists, p).size(), 309U);
    EXPECT_LE(partition::elements_of(lists, p).size(), 331U);
  }
}

TEST(SharedCut, any_number_of_parts_is_filled) {
  const Triangles mesh = random_triangles(5, 12, 9, true);
  const auto elements = static_cast<std::int32_t>(mesh.connectivity.size() / 3);
  for (const std::int32_t parts : {1, 2, 3, 5, 8, 13, 20, 26, 27, 60, 213, elements}) {
    const PartVector part_of = cut_by_curve(mesh, parts);
    EXPECT_EQ(std::set<std::int32_t>(part_of.begin(), part_of.end()).size(), static_cast<std::size_t>(parts));
  }
}

/// By brute force: points of several parts with those.
std::map<std::int32_t, std::set<std::int32_t>> shared_by_hand(const Triangles& mesh, const PartVector& part_of) {
  std::map<std::int32_t, std::set<std::int32_t>> parts;
  for (std::size_t i = 0; i < mesh.connectivity.size(); ++i) parts[mesh.connectivity[i]].insert(part_of[i / 3]);
  std::erase_if(parts, [](const auto& entry) { return entry.second.size() < 2; });
  return parts;
}

/// By brute force: what lies behind the edges of elements with a cut edge.
std::map<std::int32_t, std::array<std::int32_t, 3>> halo_by_hand(const Triangles& mesh, const PartVector& part_of) {
  std::map<std::pair<std::int32_t, std::int32_t>, std::int32_t> owner;
  const auto corner = [&](std::size_t e, std::size_t k) { return mesh.connectivity[3 * e + k % 3]; };
  for (std::size_t e = 0; e < part_of.size(); ++e)
    for (std::size_t k = 0; k < 3; ++k) owner[{corner(e, k), corner(e, k + 1)}] = static_cast<std::int32_t>(e);
  std::map<std::int32_t, std::array<std::int32_t, 3>> halo;
  for (std::size_t e = 0; e < part_of.size(); ++e) {
    std::array<std::int32_t, 3> behind{-1, -1, -1};
    bool is_cut = false;
    for (std::size_t k = 0; k < 3; ++k)
      if (const auto found = owner.find({corner(e, k + 1), corner(e, k)}); found != owner.end()) {
        behind[k] = found->second;
        is_cut = is_cut || part_of[static_cast<std::size_t>(behind[k])] != part_of[e];
      }
    if (is_cut) halo[static_cast<std::int32_t>(e)] = behind;
  }
  return halo;
}

/// The pieces of all ranks, in global numbers.
struct Found {
  std::map<std::int32_t, std::set<std::int32_t>> shared;
  std::map<std::int32_t, std::array<std::int32_t, 3>> halo;
  std::int64_t cut_edges = 0, shared_points = 0;
};

Found find(const Triangles& mesh, const PartVector& part_of, std::int32_t parts, int size) {
  Found found;
  std::mutex lock;
  const partition::PartLists lists = partition::list_parts(part_of, parts);
  const auto work = [&](const base::Ranks& ranks) {
    Shared shared(ranks, mesh, parts);
    const auto begin = part_of.begin() + shared.block.first;
    PartVector mine(begin, begin + std::ssize(shared.block.triangles) / 3);
    auto pieces = make_pieces(shared.job, move_elements(shared.job, shared.block, std::move(mine)));
    std::int64_t cut_edges = 0;
    pair_borders(shared.job, pieces, cut_edges);
    const std::int64_t points = share_points(shared.job, pieces);
    const std::lock_guard guard(lock);
    found.cut_edges += cut_edges;
    found.shared_points += points;
    for (const GrowingPiece& growing : pieces) {
      const Piece& piece = growing.piece;
      for (std::size_t i = 0; i < piece.shared.size(); ++i) {
        auto& of = found.shared[piece.points[static_cast<std::size_t>(piece.shared[i] - 1)]];
        of.insert(piece.part);
        of.insert(piece.sharers.begin() + piece.shared_first[i], piece.sharers.begin() + piece.shared_first[i + 1]);
      }
      const auto global = [&](std::int32_t part, std::int32_t local) {
        return local < 0 ? -1 : partition::elements_of(lists, part)[static_cast<std::size_t>(local - 1)];
      };
      for (const PieceHalo& halo : piece.halo)
        for (std::size_t side = 0; side < 3; ++side)
          found.halo[global(piece.part, halo.element)][side] = global(halo.parts[side], halo.elements[side]);
    }
  };
  size == 1 ? work({}) : octavo::testing::run_ranks(size, work);
  return found;
}

TEST(SharedMesh, shared_points_and_halo_are_those_found_by_hand) {
  std::mt19937 random(5);
  for (std::uint32_t seed = 0; seed < 12; ++seed) {
    const Triangles mesh = random_triangles(seed, 6, 5, seed % 2 == 0);
    PartVector part_of(mesh.connectivity.size() / 3);
    const auto parts = static_cast<std::int32_t>(1 + seed);
    for (auto& part : part_of) part = static_cast<std::int32_t>(random() % (1 + seed));  // as ragged as possible
    const auto shared = shared_by_hand(mesh, part_of);
    for (const int size : {1, 3}) {
      const Found found = find(mesh, part_of, parts, size);
      EXPECT_EQ(found.shared, shared);
      EXPECT_EQ(found.halo, halo_by_hand(mesh, part_of));
      EXPECT_EQ(found.cut_edges, cut_edges(mesh, part_of));
      EXPECT_EQ(found.shared_points, std::ssize(shared));
    }
  }
}

TEST(SharedMesh, an_edge_of_three_elements_is_refused_within_a_part_and_between_parts) {
  Triangles fan;
  fan.connectivity = {0, 1, 2, 1, 0, 3, 0, 1, 4};
  fan.x = fan.y = {0, 1, 2, 3, 4};
  for (const PartVector& part_of : {PartVector{0, 1, 2}, PartVector{0, 0, 0}, PartVector{0, 1, 0}})
    EXPECT_THAT(octavo::testing::message_of([&] { find(fan, part_of, 3, 1); }),
                ::testing::HasSubstr("an edge of three elements, between points 1 and 2"));
}

}  // namespace
}  // namespace octavo::telemac
