#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "octavo/mesh/dataset.hpp"
#include "octavo/store/store.hpp"

namespace octavo::step {

/// Chooses a step of a store, or of a file of many steps, numbered from 0. Without a choice it is the newest step of a
/// store's analysis flow, else of its checkpoint flow; or the last step of a file.
struct StepChoice {
  std::optional<store::Flow> flow;
  std::optional<std::int64_t> step;
};

/// Opens a step of a store or an output of any known format; reads headers or footers only.
/// Throws Error(usage) if `choice` names a step of an output that has only one.
mesh::Dataset open(const std::filesystem::path& path, const StepChoice& choice = {});

/// The step of this number, from 0, of a file of many whose format is known (Dataset::format): it is not looked for
/// again.
mesh::Dataset open_known(const std::string& format, const std::filesystem::path& path, std::int64_t step);

/// The step that Dataset::describe() of another process tells of; `format` is its Dataset::format. Opens no file.
mesh::Dataset understand(const std::string& format, const std::string& description);

/// The steps at a path: those of a store, or the one that a native output is.
std::vector<store::StepInfo> steps(const std::filesystem::path& path);

/// The steps of one flow of a store (by default the flow that open() takes), or all steps of a file. Throws
/// Error(usage) for a flow without a step in a store, and for any flow of a file, which has none.
std::vector<store::StepInfo> steps_of_flow(const std::filesystem::path& path, std::optional<store::Flow> flow);

/// The number that a step gets in a store: the native output's own number, if it has one (RAMSES output_00080: 80).
std::optional<std::int64_t> step_number(const mesh::Dataset& dataset);

}  // namespace octavo::step
