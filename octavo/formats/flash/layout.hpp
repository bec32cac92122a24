#pragma once
#include <filesystem>
#include <map>
#include <span>
#include <string>

#include "octavo/formats/flash/write_parts.hpp"

/// A FLASH file in three steps, so that many processes can write one: one process lays it out with HDF5; values are
/// written to their places without it, by anyone, in any order; one process attaches what is known only then.
namespace octavo::formats::flash {

/// The first byte of each data set that has values. All are contiguous, row after row, little-endian.
using Offsets = std::map<std::string, std::uint64_t>;

/// Makes the file with all its data sets, lists, names and kept foreign objects (foreign.hpp), and closes it: from then
/// on it has its whole length. The values of variables, tree and particles are still missing. Throws Error(usage) if
/// the path exists.
Offsets lay_out(const std::filesystem::path& path, const OutputPlan& plan, std::uint64_t particles);

/// Writes what describes the tree, and the particles of each block (none: no species). Needs no HDF5.
void write_tree_values(const std::filesystem::path& path, const Offsets& offsets, const OutputPlan& plan,
                       const TreeArrays& arrays, const std::vector<std::int64_t>& per_block);

/// Smallest and largest value over leaf cells.
struct Range {
  double min = 0, max = 0;
};
/// Writes the variables of this rank's share of the parts to their places, and returns their ranges over leaf cells.
/// Needs no HDF5 (but for reading). In memory are, a thread, one part's tree and one variable, twice.
std::vector<Range> write_variables(const std::filesystem::path& path, const Offsets& offsets,
                                   const mesh::Dataset& dataset, const OutputPlan& plan, int threads,
                                   const base::Ranks& ranks);
/// Attaches minimum and maximum of each variable of the plan.
void attach_ranges(const std::filesystem::path& path, const OutputPlan& plan, std::span<const Range> ranges);

}  // namespace octavo::formats::flash
