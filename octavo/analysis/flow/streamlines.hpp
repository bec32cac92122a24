#pragma once
#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "octavo/mesh/unstructured.hpp"

/// Ways of particles that a flow on triangles carries. Velocities stand at points and are linear in the triangles.
namespace octavo::analysis {

/// The triangle beyond each edge, [triangle][edge], edge k going from corner k to the next one; -1: none, the border.
/// If three triangles or more share an edge, it is the border of all.
std::vector<std::int64_t> triangles_beyond(const mesh::Unstructured& mesh);

/// Velocities at a beginning and an end, linear in time between. Arrays of one plane; `end` of a steady flow are those
/// of `begin`.
struct FlowBetween {
  double from = 0, to = 0;                                ///< [code time]
  std::array<std::span<const double>, 2> begin{}, end{};  ///< along x, along y
};

enum class WayEnd : std::uint8_t {
  time,      ///< it went on for as long as was asked
  border,    ///< it reached the border of the mesh
  standing,  ///< the velocity is 0, and does not change with time; or it is no number
  length,    ///< it became as long as is allowed
  steps      ///< it took as many steps as are allowed
};

/// The way of one particle.
struct Way {
  std::vector<std::array<double, 2>> at;  ///< places, from the seed on [code length]
  std::vector<double> time;               ///< at each place [code time]
  WayEnd end = WayEnd::time;
  std::int64_t triangle = -1;  ///< around the last place
  double length = 0;           ///< of the way [code length]
  double step = 0;             ///< the next step's length to try [code time]; 0: not known
};

struct WayRules {
  double tolerance = 1e-6;                                       ///< error of a step, as a share of the triangle's size
  std::size_t most_steps = 100000;                               ///< of one way
  double most_length = std::numeric_limits<double>::infinity();  ///< [code length]; the last step may pass it
};

/// Follows a way from its last place on until `until` (before `flow.from` for one that runs backward), by Runge and
/// Kutta's method of order 3 with an estimate of order 2 (Bogacki and Shampine 1989). A step is at most as long as the
/// triangle it begins in. The border is met to within the tolerance. Returns false if the way has ended before.
bool follow(const mesh::Unstructured& mesh, std::span<const std::int64_t> beyond, const FlowBetween& flow, double until,
            const WayRules& rules, Way& way);

}  // namespace octavo::analysis
