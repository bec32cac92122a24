#include "octavo/analysis/flow/streamlines.hpp"

#include <algorithm>
#include <cmath>

namespace octavo::analysis {
namespace {

using Pair = std::array<double, 2>;

struct HalfEdge {
  std::int64_t low = 0, high = 0, place = 0;
};

/// Twice the area on the left of a -> b, seen from c.
double left_of(const Pair& a, const Pair& b, const Pair& c) {
  return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
}

Pair along(const Pair& from, double step, const Pair& velocity) {
  return {from[0] + step * velocity[0], from[1] + step * velocity[1]};
}

/// A particle's view of the flow: it remembers the triangle it was in.
class Carrier {
 public:
  Carrier(const mesh::Unstructured& mesh, std::span<const std::int64_t> beyond, const FlowBetween& flow)
      : mesh_(mesh), beyond_(beyond), flow_(flow) {}

  /// The triangle around a place, walked to from another one; nothing if the border is between, or the place is none.
  std::optional<std::int64_t> walk(std::int64_t triangle, const Pair& place) const {
    if (!std::isfinite(place[0]) || !std::isfinite(place[1])) return {};
    // A walk that goes round in circles, in folded meshes, ends.
    for (std::size_t moves = 0; moves < 1 + beyond_.size() / 3; ++moves) {
      const auto shares = shares_at(triangle, place);
      if (!shares) return {};
      std::size_t worst = 0;
      for (std::size_t k = 1; k < 3; ++k)
        if ((*shares)[k] < (*shares)[worst]) worst = k;
      if ((*shares)[worst] >= -1e-12) return triangle;
      // Edge k begins at corner k: the edge across from a corner is that of the next one.
      const std::int64_t next = beyond_[3 * static_cast<std::size_t>(triangle) + (worst + 1) % 3];
      if (next < 0) return {};
      triangle = next;
    }
    return {};
  }

  Pair velocity(std::int64_t triangle, const Pair& place, double time) const {
    const auto shares = shares_at(triangle, place).value_or(std::array<double, 3>{1, 0, 0});
    const double span = flow_.to - flow_.from, late = span != 0 ? (time - flow_.from) / span : 0;
    Pair out{};
    for (std::size_t axis = 0; axis < 2; ++axis)
      for (std::size_t k = 0; k < 3; ++k) {
        const auto point = static_cast<std::size_t>(mesh_.connectivity[3 * static_cast<std::size_t>(triangle) + k]);
        const double begin = flow_.begin[axis][point];
        out[axis] += shares[k] * (begin + late * (flow_.end[axis][point] - begin));
      }
    return out;
  }

  /// The square root of its area.
  double size(std::int64_t triangle) const {
    const auto corner = corners(triangle);
    return std::sqrt(std::fabs(left_of(corner[0], corner[1], corner[2])) / 2);
  }

 private:
  std::array<Pair, 3> corners(std::int64_t triangle) const {
    std::array<Pair, 3> out{};
    for (std::size_t k = 0; k < 3; ++k) {
      const auto point = static_cast<std::size_t>(mesh_.connectivity[3 * static_cast<std::size_t>(triangle) + k]);
      out[k] = {mesh_.x[point], mesh_.y[point]};
    }
    return out;
  }
  /// Nothing of a triangle without an area.
  std::optional<std::array<double, 3>> shares_at(std::int64_t triangle, const Pair& place) const {
    const auto corner = corners(triangle);
    const double area = left_of(corner[0], corner[1], corner[2]);
    if (area == 0) return {};
    return std::array<double, 3>{left_of(corner[1], corner[2], place) / area,
                                 left_of(corner[2], corner[0], place) / area,
                                 left_of(corner[0], corner[1], place) / area};
  }

  const mesh::Unstructured& mesh_;
  std::span<const std::int64_t> beyond_;
  const FlowBetween& flow_;
};

/// A step that was tried.
struct TriedStep {
  Pair at{};
  std::int64_t triangle = -1;
  double error = 0;  ///< [code length]
};

/// Nothing if one of its places lies outside of the mesh.
std::optional<TriedStep> try_step(const Carrier& carrier, std::int64_t triangle, const Pair& from, double time,
                                  double step, const Pair& k1) {
  const Pair half = along(from, step / 2, k1);
  const auto t2 = carrier.walk(triangle, half);
  if (!t2) return {};
  const Pair k2 = carrier.velocity(*t2, half, time + step / 2);
  const Pair later = along(from, 0.75 * step, k2);
  const auto t3 = carrier.walk(*t2, later);
  if (!t3) return {};
  const Pair k3 = carrier.velocity(*t3, later, time + 0.75 * step);
  // The weights of Bogacki and Shampine. Below, the error is the difference from their rule of order 2.
  TriedStep out;
  for (std::size_t axis = 0; axis < 2; ++axis)
    out.at[axis] = from[axis] + step * (2 * k1[axis] + 3 * k2[axis] + 4 * k3[axis]) / 9;
  const auto t4 = carrier.walk(*t3, out.at);
  if (!t4) return {};
  const Pair k4 = carrier.velocity(*t4, out.at, time + step);
  Pair error{};
  for (std::size_t axis = 0; axis < 2; ++axis)
    error[axis] = step * (-5 * k1[axis] / 72 + k2[axis] / 12 + k3[axis] / 9 - k4[axis] / 8);
  out.triangle = *t4;
  out.error = std::hypot(error[0], error[1]);
  return out;
}

/// Finds the next place, at a velocity that may grow to a speed, with steps that become shorter at the border and where
/// the error is too large. Nothing: the border is nearer than the tolerance.
bool advance(const Carrier& carrier, double until, double tolerance, const Pair& velocity, double speed, Way& way) {
  const Pair from = way.at.back();
  const double time = way.time.back(), left = until - time, size = carrier.size(way.triangle);
  const double longest = std::min(std::fabs(left), size / speed);
  const double wanted = way.step > 0 ? std::min(way.step, longest) : longest;
  for (double length = wanted; length * speed > tolerance * size / 10;) {
    const double step = std::copysign(length, left);
    const auto tried = try_step(carrier, way.triangle, from, time, step, velocity);
    const double error = tried ? tried->error / (tolerance * size) : 0;
    // A step's error grows as the cube of its length. The factor 0.9 keeps most steps from being tried twice.
    const double change = error > 0 ? std::clamp(0.9 / std::cbrt(error), 0.2, 5.0) : 5.0;
    if (!tried || !(error <= 1)) {
      length *= tried ? std::min(change, 0.5) : 0.5;
      continue;
    }
    way.step = length * change;
    way.length += std::hypot(tried->at[0] - from[0], tried->at[1] - from[1]);
    way.at.push_back(tried->at);
    way.time.push_back(length >= std::fabs(left) ? until : time + step);
    way.triangle = tried->triangle;
    return true;
  }
  return false;
}

}  // namespace

std::vector<std::int64_t> triangles_beyond(const mesh::Unstructured& mesh) {
  std::vector<HalfEdge> edges(mesh.connectivity.size());
  for (std::size_t i = 0; i < edges.size(); ++i) {
    const std::size_t next = i % 3 == 2 ? i - 2 : i + 1;
    const auto [low, high] = std::minmax(mesh.connectivity[i], mesh.connectivity[next]);
    edges[i] = {low, high, static_cast<std::int64_t>(i)};
  }
  std::sort(edges.begin(), edges.end(), [](const HalfEdge& a, const HalfEdge& b) {
    return a.low != b.low ? a.low < b.low : a.high != b.high ? a.high < b.high : a.place < b.place;
  });
  std::vector<std::int64_t> beyond(edges.size(), -1);
  const auto same = [&](std::size_t a, std::size_t b) {
    return edges[a].low == edges[b].low && edges[a].high == edges[b].high;
  };
  for (std::size_t i = 0; i < edges.size();) {
    std::size_t end = i + 1;
    while (end < edges.size() && same(i, end)) ++end;
    if (end - i == 2) {
      beyond[static_cast<std::size_t>(edges[i].place)] = edges[i + 1].place / 3;
      beyond[static_cast<std::size_t>(edges[i + 1].place)] = edges[i].place / 3;
    }
    i = end;
  }
  return beyond;
}

bool follow(const mesh::Unstructured& mesh, std::span<const std::int64_t> beyond, const FlowBetween& flow, double until,
            const WayRules& rules, Way& way) {
  const Carrier carrier(mesh, beyond, flow);
  while (way.time.back() != until) {
    const Pair velocity = carrier.velocity(way.triangle, way.at.back(), way.time.back());
    const Pair later = carrier.velocity(way.triangle, way.at.back(), flow.to);
    // NaN stays: a maximum would drop it.
    const double now = std::hypot(velocity[0], velocity[1]), then = std::hypot(later[0], later[1]);
    const double speed = then > now ? then : now;
    if (speed == 0 && then == 0 && flow.to != flow.from) {  // it waits
      way.at.push_back(way.at.back());
      way.time.push_back(until);
      return true;
    }
    if (!(speed > 0) || !std::isfinite(speed) || !std::isfinite(then)) {
      way.end = WayEnd::standing;
      return false;
    }
    if (way.at.size() > rules.most_steps) {
      way.end = WayEnd::steps;
      return false;
    }
    if (way.length >= rules.most_length) {
      way.end = WayEnd::length;
      return false;
    }
    if (!advance(carrier, until, rules.tolerance, velocity, speed, way)) {
      way.end = WayEnd::border;
      return false;
    }
  }
  return true;
}

}  // namespace octavo::analysis
