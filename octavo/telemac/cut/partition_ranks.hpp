#pragma once
#include <filesystem>

#include "octavo/base/ranks.hpp"
#include "octavo/telemac/cut/partition.hpp"
#include "octavo/telemac/cut/shared_cut.hpp"

namespace octavo::telemac {

/// partition_mesh by all ranks, which share the mesh. Collective. With Method::inertial and Method::hilbert the files
/// are those of one process, byte for byte, for any number of ranks; Method::scotch asks `scotch`, whose cut may differ
/// with that number. Each rank holds its share of elements and points, the centres of up to 2^21 elements (inertial),
/// the elements along the cuts, the whole boundary, and one variable of one step. What is not SERAFIN is made so by
/// rank 0 first; MED pieces and stores (PieceLayout::med, octavo) are written by rank 0, which has the whole mesh then.
/// Error(unsupported) for Method::metis, for Method::scotch without one that cuts and for the cut that a store has.
/// `ranks` must have all_to_all where it has several.
PartitionReport partition_by_ranks(const std::filesystem::path& mesh, const std::filesystem::path& prefix,
                                   const PartitionOptions& options, const base::Ranks& ranks,
                                   const GraphCut& scotch = {});

}  // namespace octavo::telemac
