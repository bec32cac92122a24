#pragma once
#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "octavo/analysis/flow/streamlines.hpp"
#include "octavo/base/progress.hpp"
#include "octavo/store/store.hpp"

/// Streamlines of one step, and ways of particles over all steps, on a mesh of triangles.
namespace octavo::verbs {

enum class WayDirection : std::uint8_t { forward, backward, both };

struct WayOptions {
  std::vector<std::array<double, 2>> seeds{};  ///< [code length]; none: `count` of them, evenly over the mesh
  int count = 100;
  std::string velocity = "velocity";  ///< its components are the fields or formulas of this name with _x and _y
  WayDirection direction = WayDirection::forward;  ///< of streamlines
  double duration = 0;  ///< of streamlines, each way [code time]; 0: until their border, or `length`
  double length = 0;    ///< of streamlines, each way, at most [code length]; 0: twice the longer side of the mesh's box
  std::optional<double> from{}, until{};  ///< of particles [code time]; nothing: the first and the last step
  int plane = -1;                         ///< of prisms, from 0 at the bottom; -1: the uppermost
  std::optional<store::Flow> flow{};      ///< stores only; nothing: the flow that open() takes
  base::Progress progress{};              ///< of particles, in steps
};

struct Ways {
  std::vector<analysis::Way> ways;  ///< one a seed, in order; backward ones end at the seed
  double time = 0;                  ///< of the step, of streamlines
  std::vector<std::string> notes;
};

/// Lines along the velocity at one step (nothing: the last), as if it did not change. Times along them begin with 0 at
/// the seed. Velocities in cells are brought to points, weighted by area; a note says so. Memory: the mesh, 48 bytes a
/// triangle, and two fields. Throws Error(usage) for a seed outside of the mesh or an unknown field, Error(unsupported)
/// for a mesh that is not of triangles.
Ways streamlines(const std::filesystem::path& path, std::optional<std::int64_t> step, const WayOptions& options);

/// The ways of particles that start at one time and are carried by velocities that are linear in time between steps.
/// Memory: the mesh, 48 bytes a triangle, and two fields of two steps. Errors as streamlines(); Error(unsupported) if
/// times do not increase or the mesh changes.
Ways pathlines(const std::filesystem::path& path, const WayOptions& options);

}  // namespace octavo::verbs
