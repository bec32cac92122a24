#pragma once
#include <filesystem>

#include "octavo/jobs/partition.hpp"

namespace octavo::jobs {

/// Throws Error(usage), which names both, where a file or store that partitioning would make is the mesh, the boundary,
/// a further input or a side file, also by way of a link. To be asked before anything is written, with the number of
/// parts known. Lists the folder of the prefix.
void require_inputs_stay(const std::filesystem::path& mesh, const std::filesystem::path& prefix,
                         const PartitionOptions& options);

}  // namespace octavo::jobs
