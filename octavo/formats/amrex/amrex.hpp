#pragma once
#include <cstdint>
#include <filesystem>
#include <string>

#include "octavo/formats/amrex/output.hpp"
#include "octavo/mesh/dataset.hpp"

/// AMReX plotfiles and checkpoints as a Dataset of octree parts. For the patches as they are: output.hpp.
namespace octavo::formats::amrex {

struct DatasetOptions {
  HeaderFacts open;
  std::int64_t part_cells = 1 << 20;  ///< cells of all levels that a part holds at most (unless one root has more)
  std::int64_t max_roots = 4096;  ///< roots of the tree at most, where the domain's extents can be halved often enough
};

/// Opens an output as parts that each own a box of level-0 cells and all that is refined below it, so that memory is
/// bounded by a part: its patches and its tree (see mesh/patches_to_octree.hpp for what values refined cells have). The
/// tree's roots are the cells of level 0, or, where those are more than `max_roots`, cells that many times coarser;
/// these are nobody's, and code levels begin at 0 in any case. A ratio of 4 takes two levels of the tree, of which one
/// is none of AMReX's (mesh::is_between_levels), and a note says so; where one is neither 2 nor 4, headers are read,
/// but `read` throws Error(unsupported).
///
/// Particles belong to the part that holds the level-0 cell of their position, if that lies in the box their file lists
/// them under; else to that of the box's lower corner. Each is in one part.
mesh::Dataset open(const std::filesystem::path& path, const DatasetOptions& options);
inline mesh::Dataset open(const std::filesystem::path& path) { return open(path, {}); }
/// The output that Dataset::describe() tells of, for another process of the run: opens no file before a part is read.
mesh::Dataset understand(const std::string& description);

}  // namespace octavo::formats::amrex
