#pragma once
#include <cstdint>
#include <filesystem>
#include <vector>

#include "octavo/mesh/dataset.hpp"
#include "octavo/mesh/tree/hyper_trees.hpp"

namespace octavo::formats::vtkhdf {

/// The places in a file of a hyper tree grid where values are written later [byte of the file].
struct HyperTreeFile {
  std::vector<std::uint64_t> fields;  ///< the first value of each field; values stand in the order of RootByRoot
  std::uint64_t mask = 0;             ///< a bit a cell in the same order, the first of a byte the most significant
};

/// Lays out a VTKHDF file of type HyperTreeGrid, version 2.4, of one step: all but the values of fields and the mask.
/// `tree` has no blocks, and `order` is its RootByRoot; only the roots that it holds are in the file. Fields have one
/// value a cell, refined cells too, and the types of type_in_file(). A cell whose bit in the mask is set is hidden;
/// without `masked` there is no mask. Throws Error(usage) where the file exists.
HyperTreeFile lay_out_hyper_trees(const std::filesystem::path& path, const mesh::Header& header,
                                  const mesh::Octree& tree, const mesh::RootByRoot& order,
                                  const std::vector<mesh::FieldInfo>& fields, bool masked);

}  // namespace octavo::formats::vtkhdf
