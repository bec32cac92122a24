#pragma once
#include <filesystem>

#include "octavo/telemac/cut/partition.hpp"

namespace octavo::telemac {

/// Whether a path that can be opened holds solids.
bool holds_solids(const std::filesystem::path& mesh);

/// Cuts a mesh of solids, in one process: PREFIX + GEO.octavo becomes a store with the mesh, the part of each cell, and
/// all steps as checkpoints. Memory: the mesh, the graph of its cells, and one step. Throws Error(unsupported) for
/// several ranks, for a layout other than PieceLayout::octavo, and for files that go with triangles; Error(usage) and
/// Error(corrupt) for a cut as partition_mesh().
PartitionReport partition_solids(const std::filesystem::path& mesh, const std::filesystem::path& prefix,
                                 const PartitionOptions& options, const base::Ranks& ranks);

}  // namespace octavo::telemac
