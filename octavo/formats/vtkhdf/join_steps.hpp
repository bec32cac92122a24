#pragma once
#include <filesystem>
#include <span>
#include <vector>

namespace octavo::formats::vtkhdf {

/// Makes one file of many steps from files of one step each, as lay_out_hyper_trees() or lay_out_cells() laid them out:
/// the same values with VTK's group Steps, which says where those of each step begin. Hyper tree grids must have the
/// same roots; a step of trees without a mask gets one that hides nothing. Memory: some megabytes, and the lists of the
/// steps. Throws Error(usage) where `out` exists, Error(unsupported) that names the file for a step of another type,
/// with other roots or fields.
void join_steps(const std::vector<std::filesystem::path>& steps, std::span<const double> times,
                const std::filesystem::path& out);

}  // namespace octavo::formats::vtkhdf
