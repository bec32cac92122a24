#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "octavo/mesh/dataset.hpp"
#include "octavo/store/store.hpp"

namespace octavo::step {

/// Which step of a store, or of a file of many, numbered from 0. Nothing given: the newest of the analysis flow, else
/// of the checkpoint flow; the last of a file.
struct StepChoice {
  std::optional<store::Flow> flow;
  std::optional<std::int64_t> step;
};

/// Opens a step of a store or an output of any known format; reads headers or footers only.
/// Throws Error(usage) where a step is asked of something that has only one.
mesh::Dataset open(const std::filesystem::path& path, const StepChoice& choice = {});

/// The steps at a path: those of a store, or the one that a native output is.
std::vector<store::StepInfo> steps(const std::filesystem::path& path);

/// The steps of one flow of a store (by default the flow that open() takes), or all steps of a file. Throws
/// Error(usage) for a flow without a step in a store, and for any flow of a file, which has none.
std::vector<store::StepInfo> steps_of_flow(const std::filesystem::path& path, std::optional<store::Flow> flow);

/// The number a step gets in a store: the native output's own (RAMSES output_00080: 80), where it has one.
std::optional<std::int64_t> step_number(const mesh::Dataset& dataset);

}  // namespace octavo::step
