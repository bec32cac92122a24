#pragma once
#include <filesystem>

#include "octavo/base/ranks.hpp"
#include "octavo/jobs/partition.hpp"

namespace octavo::jobs {

/// partition_serafin by all ranks, which share the mesh: the same files, byte for byte, for any number of them.
/// Collective. Each holds its share of elements and points, the centres of up to 2^21 elements, the whole boundary, and
/// one variable of one step. Only Method::inertial; Error(unsupported) for others, and for sections, zones and weirs.
/// `ranks` must have all_to_all where it has several.
PartitionReport partition_by_ranks(const std::filesystem::path& mesh, const std::filesystem::path& prefix,
                                   const PartitionOptions& options, const base::Ranks& ranks);

}  // namespace octavo::jobs
