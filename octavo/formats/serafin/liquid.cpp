#include "octavo/formats/serafin/liquid.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "octavo/base/error.hpp"

namespace octavo::formats::serafin {
namespace {

using base::Error;
using base::Kind;

constexpr int wall = 2;
constexpr std::size_t none = static_cast<std::size_t>(-1);

/// A liquid stretch: positions of its first and last point. One that closes on itself begins and ends at one.
struct LiquidStretch {
  std::size_t first, last;
};

struct BoundaryLine {
  std::span<const BoundaryPoint> boundary;
  std::span<const std::int32_t> next;
  bool solid(std::size_t k) const { return boundary[k].depth == wall; }
  std::size_t after(std::size_t k) const { return static_cast<std::size_t>(next[k]); }
};

/// The southernmost of the south-western points not seen yet, as TELEMAC looks for it from `from` on.
std::size_t south_west(const std::vector<bool>& seen, std::span<const double> x, std::span<const double> y,
                       std::size_t from) {
  double least = x[from] + y[from], most = least;
  std::size_t found = from;
  for (std::size_t k = 0; k < seen.size(); ++k) {
    if (seen[k]) continue;
    const double sum = x[k] + y[k];
    if (sum < least) {
      least = sum;
      found = k;
    }
    most = std::max(most, sum);
  }
  const double near = (most - least) * 1e-4;
  double lowest = y[found];
  for (std::size_t k = 0; k < seen.size(); ++k)
    if (!seen[k] && std::abs(least - (x[k] + y[k])) < near && y[k] < lowest) {
      found = k;
      lowest = y[k];
    }
  return found;
}

Error isolated(const BoundaryLine& line, std::size_t k, const char* what) {
  return Error(Kind::corrupt, std::string(what) + " at boundary point " + std::to_string(k + 1) + " (point " +
                                  std::to_string(line.boundary[k].point) + ")");
}

/// The liquid stretches of the line through `start`, appended in the order that they are numbered in.
void walk(const BoundaryLine& line, std::size_t start, std::vector<bool>& seen, std::vector<LiquidStretch>& liquid) {
  const bool begins_solid = line.solid(start) || line.solid(line.after(start));
  const std::size_t first_liquid = begins_solid ? none : liquid.size();
  if (!begins_solid) liquid.push_back({start, start});
  bool ends_solid = false, ends_liquid = false;
  seen[start] = true;
  for (std::size_t before = start, k = line.after(start); k != start; before = k, k = line.after(k)) {
    seen[k] = true;
    const std::size_t after = line.after(k);
    const bool was = line.solid(before), is = line.solid(k), will = line.solid(after);
    if (was && !is && will) throw isolated(line, k, "a liquid point between two walls");
    if (!was && is && !will) throw isolated(line, k, "a wall point between two liquid ones");
    if (was && !is && !will) {
      liquid.push_back({k, k});
      ends_liquid = true;
      ends_solid = false;
    } else if (!was && !is && will) {
      liquid.back().last = k;
      ends_liquid = false;
      ends_solid = true;
    } else if (!was && !is && !will) {
      ends_liquid = true;
      ends_solid = false;
      if (line.boundary[k].depth != line.boundary[after].depth || line.boundary[k].u != line.boundary[after].u) {
        liquid.back().last = k;
        liquid.push_back({after, after});
      }
    }
  }
  if (ends_solid && !begins_solid) liquid[first_liquid].first = start;
  if (!ends_liquid) return;
  if (begins_solid) {
    liquid.back().last = start;
  } else if (first_liquid + 1 != liquid.size()) {  // the last stretch runs into the first one
    liquid[first_liquid].first = liquid.back().first;
    liquid.pop_back();
  }
}

}  // namespace

std::vector<std::int32_t> number_liquid(std::span<const BoundaryPoint> boundary, std::span<const std::int32_t> next,
                                        std::span<const double> x, std::span<const double> y) {
  const BoundaryLine line{boundary, next};
  std::vector<bool> seen(boundary.size(), false);
  std::vector<LiquidStretch> liquid;
  for (auto left = seen.begin(); (left = std::find(seen.begin(), seen.end(), false)) != seen.end();)
    walk(line, south_west(seen, x, y, static_cast<std::size_t>(left - seen.begin())), seen, liquid);
  std::vector<std::int32_t> numbers(boundary.size(), 0);
  for (std::size_t n = 0; n < liquid.size(); ++n) {
    const auto number = static_cast<std::int32_t>(n + 1);
    std::size_t k = liquid[n].first;
    numbers[k] = number;
    do {
      k = line.after(k);
      numbers[k] = number;
    } while (k != liquid[n].last);
  }
  return numbers;
}

}  // namespace octavo::formats::serafin
