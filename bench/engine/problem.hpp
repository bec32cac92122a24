#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "octavo/mesh/dataset.hpp"

/// The benchmarks of the parallel engine: what each rank writes, the ways to write it, and their measurement.
namespace octavo::bench {

/// One rank's share of a step: a tree of its own below one root, and the same number of values on every rank.
struct Problem {
  mesh::Header header;
  mesh::Octree tree;
  std::vector<std::vector<double>> fields;  ///< a value on every tree cell, its block included
  std::size_t blocks = 0;                   ///< tree cells
};

struct Shape {
  std::uint64_t bytes_per_rank = 64'000'000;
  int fields = 10;
  std::int64_t blocks = 0;             ///< number of tree cells, each with a block of values; 0: cells of one value
  std::uint64_t block_bytes = 10'000;  ///< of one field
};

/// The largest tree that does not exceed the shape. Values are smooth, with a relative noise of 1e-6; those of refined
/// cells are the function at their centre. The same arguments give the same bits.
Problem make_problem(const Shape& shape, int rank, int ranks);

std::uint64_t bytes_of(const Problem& problem);
std::size_t values_of_field(const Problem& problem);

}  // namespace octavo::bench
