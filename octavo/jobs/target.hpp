#pragma once
#include <cstdint>
#include <filesystem>
#include <vector>

#include "octavo/jobs/new_file.hpp"
#include "octavo/mesh/dataset.hpp"
#include "octavo/store/store.hpp"

namespace octavo::jobs {

/// Where an output is written: beside its name, as NAME.partial, which takes the name once it is whole. Steps that are
/// appended go to the store itself, where each appears whole or not at all. While it lives, no other job writes the
/// same output.
struct Target {
  std::filesystem::path out, path;
  bool appends = false;   ///< path is out
  bool replaces = false;  ///< what bears the name is replaced at the end
  Claim claim;
};

/// Throws Error(usage) where `out` exists and neither overwrite nor append is set, where that flow holds one of the
/// steps already, where it is something other than a store, and where another job writes it. What a killed job left is
/// removed.
Target prepare_target(const std::filesystem::path& out, const std::vector<std::int64_t>& steps, bool overwrite,
                      bool append, store::Flow flow = store::Flow::analysis);

/// The same for a native output. With overwrite, what is replaced must be an output that Octavo can open.
Target prepare_native_target(const std::filesystem::path& out, bool overwrite);

/// Throws Error(usage) where the step's values are not those of its simulation: for an output that a code goes on from.
/// With lossy_ok `notes` says so instead.
void require_exact_values(const mesh::Dataset& dataset, bool lossy_ok, std::vector<std::string>& notes);

/// Syncs what was written and gives it its name.
void finish_target(const Target& target);

/// Removes what a failed job began.
void discard_target(const Target& target) noexcept;

}  // namespace octavo::jobs
