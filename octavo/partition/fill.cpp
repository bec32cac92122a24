#include <algorithm>
#include <map>
#include <queue>

#include "octavo/partition/axis.hpp"
#include "octavo/partition/cut.hpp"

namespace octavo::partition {

std::vector<Halving> plan_halvings(std::span<const std::int64_t> sizes) {
  using Sized = std::pair<std::int64_t, std::int32_t>;  // elements, minus the part: the lowest of equals is first
  std::priority_queue<Sized> largest;
  std::vector<std::int32_t> empty;
  for (std::size_t part = 0; part < sizes.size(); ++part)
    if (sizes[part] == 0)
      empty.push_back(static_cast<std::int32_t>(part));
    else
      largest.emplace(sizes[part], -static_cast<std::int32_t>(part));
  std::vector<Halving> halvings;
  for (const std::int32_t part : empty) {
    if (largest.empty() || largest.top().first < 2) break;  // fewer elements than parts
    const auto [size, from] = largest.top();
    largest.pop();
    halvings.push_back({-from, part, size / 2});
    largest.emplace(size - size / 2, from);
    largest.emplace(size / 2, -part);
  }
  return halvings;
}

void halve_parts(std::span<const Halving> halvings, std::span<PlacedElement> elements) {
  std::map<std::int32_t, std::vector<PlacedElement*>> of;
  for (PlacedElement& element : elements) of[element.part].push_back(&element);
  for (const auto& [from, to, count] : halvings) {
    std::vector<PlacedElement*>& all = of[from];
    std::vector<PlacedElement> places;
    for (const PlacedElement* element : all) places.push_back(*element);
    const auto [dx, dy] = principal_axis(std::span<const PlacedElement>(places));
    // Ties go by number: the halves do not depend on the order of `elements`.
    std::sort(all.begin(), all.end(), [dx = dx, dy = dy](const PlacedElement* a, const PlacedElement* b) {
      const float u = a->x * dx + a->y * dy, v = b->x * dx + b->y * dy;
      return u != v ? u < v : a->element < b->element;
    });
    const auto half = all.end() - static_cast<std::ptrdiff_t>(count);
    for (auto moved = half; moved != all.end(); ++moved) (*moved)->part = to;
    of[to].assign(half, all.end());
    all.erase(half, all.end());
  }
}

}  // namespace octavo::partition
