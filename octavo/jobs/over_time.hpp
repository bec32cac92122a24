#pragma once
#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "octavo/mesh/dataset.hpp"
#include "octavo/store/store.hpp"

/// What takes all steps of a file: of meshes of triangles, which stay the same.
namespace octavo::jobs {

enum class OverTime : std::uint8_t { maximum, minimum, mean };
/// "max", "min" or "mean"; Error(usage) otherwise.
OverTime over_time_named(std::string_view name);

/// The path's last step, of a store that of the flow (nothing: the one that open() takes), but each value is the
/// largest, smallest or mean of its point over all steps; NaN are passed over. Reading takes one field of one step in
/// memory beside the result. Throws Error(unsupported) for meshes of cells, or that change from step to step,
/// Error(usage) for a flow that is not there.
mesh::Dataset over_time(const std::filesystem::path& path, OverTime kind, std::optional<store::Flow> flow = {});

struct ProbeOptions {
  std::vector<std::array<double, 2>> places;         ///< [code length]
  std::optional<std::vector<std::string>> fields{};  ///< nothing: all
  int plane = -1;                                    ///< of 3-D meshes, from 0 at the bottom; -1: the uppermost
  std::optional<store::Flow> flow{};                 ///< of a store; nothing: the one that open() takes
};
/// Values at places, linear within their triangle.
struct ProbeSeries {
  std::vector<std::string> fields, units;
  std::vector<double> times;
  std::vector<double> values;  ///< [place][field][time]; NaN outside of the mesh
  std::vector<char> inside;    ///< [place]
};
/// Of all steps, of a store those of one flow. Of a SERAFIN file three values a place, field and step
/// are read, and the mesh once; of others a field of a step and part. A place on the border of parts is in the first of
/// them. Throws Error(unsupported) for meshes of cells, or that change from step to step.
ProbeSeries probe(const std::filesystem::path& path, const ProbeOptions& options);

}  // namespace octavo::jobs
