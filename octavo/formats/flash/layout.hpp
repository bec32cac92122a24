#pragma once
#include <filesystem>
#include <map>
#include <span>
#include <string>

#include "octavo/formats/flash/write_parts.hpp"

/// Writes a FLASH file in three steps, so that many processes can write it. One process lays it out with HDF5. Then any
/// process writes values to their places, in any order and without HDF5. At the end one process attaches minima and
/// maxima.
namespace octavo::formats::flash {

/// The first byte of each data set that has values. All are contiguous, row after row, little-endian.
using Offsets = std::map<std::string, std::uint64_t>;

/// Makes the file with all its data sets, lists, names and kept foreign objects (foreign.hpp), and closes it. The file
/// then has its final length. The values of variables, tree and particles are still missing. Throws Error(usage) if the
/// path exists.
Offsets lay_out(const std::filesystem::path& path, const OutputPlan& plan, std::uint64_t particles);

/// Writes the tree's data sets, and the number of particles in each block (empty: no species). Needs no HDF5.
void write_tree_values(const std::filesystem::path& path, const Offsets& offsets, const OutputPlan& plan,
                       const TreeArrays& arrays, const std::vector<std::int64_t>& per_block);

/// Smallest and largest value over leaf cells.
struct LeafRange {
  double min = 0, max = 0;
};
/// Writes the variables of this rank's share of the parts to their places, and returns their ranges over leaf cells.
/// Needs HDF5 only for reading. Each thread holds one part's tree, and one variable twice.
std::vector<LeafRange> write_variables(const std::filesystem::path& path, const Offsets& offsets,
                                       const mesh::Dataset& dataset, const OutputPlan& plan, int threads,
                                       const base::Ranks& ranks);
/// Attaches minimum and maximum of each variable of the plan.
void attach_ranges(const std::filesystem::path& path, const OutputPlan& plan, std::span<const LeafRange> ranges);

}  // namespace octavo::formats::flash
