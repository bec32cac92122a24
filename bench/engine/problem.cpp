#include "problem.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "octavo/base/error.hpp"

namespace octavo::bench {
namespace {

using base::BitArray;

// Three factors of `values`, as equal as a greedy choice makes them.
mesh::Index3 block_of(std::int64_t values) {
  const auto factor = [](std::int64_t n, double root) {
    auto best =
        std::max<std::int64_t>(1, static_cast<std::int64_t>(std::llround(std::pow(static_cast<double>(n), root))));
    while (n % best != 0) --best;
    return best;
  };
  const std::int64_t z = factor(values, 1.0 / 3), y = factor(values / z, 0.5);
  return {values / z / y, y, z};
}

// Below its own root a rank refines breadth first, as long as a family of eight still fits.
mesh::Octree make_tree(std::size_t cells, mesh::Index3 block, int rank, int ranks) {
  const auto roots = static_cast<std::size_t>(ranks), own = static_cast<std::size_t>(rank);
  mesh::Octree tree;
  tree.roots = {ranks, 1, 1};
  tree.block = block;
  tree.refined = {BitArray(roots)};
  tree.owned = {BitArray(roots)};
  tree.owned[0].set(own);
  std::size_t left = cells > roots ? (cells - roots) / 8 : 0;
  std::size_t candidates = 1, first = own;
  while (left > 0) {
    const std::size_t refined = std::min(left, candidates);
    for (std::size_t k = 0; k < refined; ++k) tree.refined.back().set(first + k);
    left -= refined;
    candidates = 8 * refined;
    first = 0;
    tree.refined.emplace_back(candidates);
    tree.owned.emplace_back(candidates, true);
  }
  return tree;
}

// Bits that look random, from a counter (splitmix64).
double noise(std::uint64_t i) {
  i = (i + 0x9e3779b97f4a7c15) * 0xbf58476d1ce4e5b9;
  i = (i ^ (i >> 27)) * 0x94d049bb133111eb;
  return static_cast<double>((i ^ (i >> 31)) >> 11) * 0x1p-53 - 0.5;
}

double value_at(const mesh::Point3& x, int field) {
  const double f = 1 + field;
  return 1 + 0.4 * std::sin(6.283 * x[0] + f) * std::cos(9.425 * x[1] - f) + 0.3 * std::sin(12.566 * x[2] * x[0] + f);
}

void fill(Problem& problem, int rank) {
  const std::size_t block = block_size(problem.tree);
  auto coordinates = root_coordinates(problem.tree);
  std::size_t cell = 0;
  for (int level = 0; level < num_levels(problem.tree); ++level) {
    const double size = std::ldexp(1.0, -level);
    for (const mesh::Coordinate& at : coordinates) {
      const mesh::Point3 centre{(at[0] + 0.5) * size, (at[1] + 0.5) * size, (at[2] + 0.5) * size};
      for (std::size_t f = 0; f < problem.fields.size(); ++f) {
        const double smooth = value_at(centre, static_cast<int>(f));
        const std::uint64_t seed = (static_cast<std::uint64_t>(rank) << 48) + (f << 40) + cell * block;
        for (std::size_t i = 0; i < block; ++i)
          problem.fields[f][cell * block + i] =
              smooth * (1 + 1e-4 * static_cast<double>(i) / static_cast<double>(block) + 1e-6 * noise(seed + i));
      }
      ++cell;
    }
    if (level + 1 < num_levels(problem.tree)) coordinates = child_coordinates(problem.tree, level, coordinates);
  }
}

}  // namespace

Problem make_problem(const Shape& shape, int rank, int ranks) {
  using base::Error;
  using base::Kind;
  if (shape.fields < 1 || shape.blocks < 0) throw Error(Kind::usage, "expected at least one field, and blocks >= 0");
  if (shape.blocks > 0 && (shape.block_bytes < 8 || shape.block_bytes % 8 != 0))
    throw Error(Kind::usage, "bytes of a block: expected a multiple of 8, found " + std::to_string(shape.block_bytes));
  const auto block =
      shape.blocks > 0 ? block_of(static_cast<std::int64_t>(shape.block_bytes / 8)) : mesh::Index3{1, 1, 1};
  const std::uint64_t cells = shape.blocks > 0 ? static_cast<std::uint64_t>(shape.blocks)
                                               : shape.bytes_per_rank / 8 / static_cast<std::uint64_t>(shape.fields);
  if (cells == 0) throw Error(Kind::usage, "the bytes of a rank hold no value of each field");
  Problem problem;
  problem.tree = make_tree(static_cast<std::size_t>(cells), block, rank, ranks);
  problem.blocks = num_cells(problem.tree);
  problem.header.code = "octavo bench";
  problem.header.roots = problem.tree.roots;
  problem.header.block = block;
  problem.header.hi = {static_cast<double>(ranks), 1, 1};
  problem.fields.assign(static_cast<std::size_t>(shape.fields),
                        std::vector<double>(problem.blocks * block_size(problem.tree)));
  fill(problem, rank);
  return problem;
}

std::size_t values_of_field(const Problem& problem) { return problem.fields.front().size(); }

std::uint64_t bytes_of(const Problem& problem) { return 8 * problem.fields.size() * values_of_field(problem); }

}  // namespace octavo::bench
