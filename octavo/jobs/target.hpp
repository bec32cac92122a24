#pragma once
#include <cstdint>
#include <filesystem>
#include <vector>

#include "octavo/mesh/dataset.hpp"
#include "octavo/store/store.hpp"

namespace octavo::jobs {

/// Where new steps are written: `out` itself, or, where a store is to be replaced, a sibling that takes its place at
/// the end. Throws Error(usage) where `out` exists and neither overwrite nor append is set, where that flow holds
/// one of the steps already, and where it is something other than a store.
std::filesystem::path prepare_target(const std::filesystem::path& out, const std::vector<std::int64_t>& steps,
                                     bool overwrite, bool append, store::Flow flow = store::Flow::analysis);

/// The same for a native output, which is always written to a sibling first: a half output never bears the name. With
/// overwrite, what is replaced must be an output that Octavo can open.
std::filesystem::path prepare_native_target(const std::filesystem::path& out, bool overwrite);

/// Throws Error(usage) where the step's values are not those of its simulation: for an output that a code goes on from.
/// With lossy_ok `notes` says so instead.
void require_exact_values(const mesh::Dataset& dataset, bool lossy_ok, std::vector<std::string>& notes);

/// Puts a finished sibling in the place of the store that was there.
void finish_target(const std::filesystem::path& target, const std::filesystem::path& out);

/// Removes what a failed run began: a sibling, or a store that was not there before and holds no complete step.
void discard_target(const std::filesystem::path& target, const std::filesystem::path& out, bool existed) noexcept;

}  // namespace octavo::jobs
