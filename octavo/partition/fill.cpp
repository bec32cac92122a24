#include <algorithm>
#include <map>
#include <queue>

#include "octavo/partition/axis.hpp"
#include "octavo/partition/cut.hpp"

namespace octavo::partition {
namespace {

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

PlacedElement place(Connectivity connectivity, std::span<const double> x, std::span<const double> y,
                    std::size_t element, std::int32_t part) {
  double cx = 0, cy = 0;
  for (std::size_t k = 0; k < 3; ++k) {
    cx += x[at(connectivity[3 * element + k])];
    cy += y[at(connectivity[3 * element + k])];
  }
  return {static_cast<std::int32_t>(element), part, static_cast<float>(cx / 3), static_cast<float>(cy / 3)};
}

}  // namespace

std::vector<Halving> plan_halvings(std::span<const std::int64_t> sizes) {
  using Sized = std::pair<std::int64_t, std::int32_t>;  // elements, minus the part: of equal sizes the lowest first
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

std::int64_t fill_empty_parts(Connectivity connectivity, std::span<const double> x, std::span<const double> y,
                              std::int32_t parts, PartVector& part_of, const std::vector<bool>& stays) {
  const auto may_move = [&](std::size_t e) { return stays.empty() || !stays[e]; };
  std::vector<std::int64_t> sizes(at(parts), 0);
  for (std::size_t e = 0; e < part_of.size(); ++e) sizes[at(part_of[e])] += may_move(e);
  sizes[0] += std::find(stays.begin(), stays.end(), true) != stays.end();
  const std::vector<Halving> halvings = plan_halvings(sizes);
  if (halvings.empty()) return 0;
  std::vector<bool> gives(at(parts), false);
  for (const Halving& halving : halvings) gives[at(halving.from)] = true;
  std::vector<PlacedElement> elements;
  for (std::size_t e = 0; e < part_of.size(); ++e)
    if (gives[at(part_of[e])] && may_move(e)) elements.push_back(place(connectivity, x, y, e, part_of[e]));
  halve_parts(halvings, elements);
  for (const PlacedElement& element : elements) part_of[at(element.element)] = element.part;
  return std::ssize(halvings);
}

}  // namespace octavo::partition
