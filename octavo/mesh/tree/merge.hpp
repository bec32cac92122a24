#pragma once
#include <span>

#include "octavo/mesh/dataset.hpp"

namespace octavo::mesh {

/// The part's tree; Error(unsupported) for another kind of mesh.
const Octree& octree_of(const Part& part);
/// Throws Error(usage) unless there are parts and all have the same dim, roots and block.
void check_same_roots(std::span<const Part> parts);

/// One part of the same domain: its tree has every cell (roots, too) that any of `parts` has and refines what
/// any of them refines; what any owns is owned. Values of a cell are those of the part that owns it, else of the first
/// that has it. Particles of one species are put one after another, by part. The index is that of the first part.
///
/// Throws Error(usage) where `parts` is empty or they differ in dim, roots, block, fields or attributes of a species,
/// or a field's size does not fit its tree; Error(unsupported) for another kind of mesh; Error(corrupt) where one part
/// owns as a leaf what another refines: they are not of one step.
Part merge(std::span<const Part> parts);
/// Only the tree of merge(), without memory for the places of its cells. Fields and particles are not looked at.
Octree merge_trees(std::span<const Part> parts);

/// One part of a step, or all of them: their trees, without values and particles.
Part read_tree(const Dataset& dataset, int part);
std::vector<Part> read_trees(const Dataset& dataset);

/// The tree of all parts. Error(unsupported) where a level from index `first` on is not whole. With `first` above 0
/// there may be holes in the domain, where the tree holds no root. Memory: bits, and none for roots that no part holds.
Octree whole_tree(const Dataset& dataset, int first);
/// The same from trees that were read.
Octree whole_tree(const Dataset& dataset, std::span<const Part> trees, int first);

}  // namespace octavo::mesh
