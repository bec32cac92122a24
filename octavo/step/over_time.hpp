#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>

#include "octavo/mesh/dataset.hpp"
#include "octavo/store/store.hpp"

/// Combines all steps of a file into one, for meshes of triangles that do not change.
namespace octavo::step {

struct OverTime {
  enum class Kind : std::uint8_t {
    maximum,
    minimum,
    mean,
    arrival,  ///< the time of the first step whose value is above `above` [code time]; NaN where none is
  };
  Kind kind = Kind::maximum;
  double above = 0;
};
/// "max", "min", "mean", or "arrival:T" with the threshold T (0 if it is left out); Error(usage) otherwise.
OverTime over_time_named(std::string_view name);

/// The last step at the path, in which each value is the largest, smallest or mean value of its point over all steps,
/// or the time at which it arrives: integer fields then are left as they are. NaN are skipped. For a store, the steps
/// are those of `flow` (nothing: the flow that open() takes). Reading needs memory for one field of one step beside the
/// result. Throws Error(unsupported) for meshes of cells and for meshes that change from step to step, Error(usage) if
/// the store has no step of the flow.
mesh::Dataset over_time(const std::filesystem::path& path, const OverTime& how, std::optional<store::Flow> flow = {});

}  // namespace octavo::step
