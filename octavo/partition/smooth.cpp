#include <algorithm>
#include <numeric>

#include "octavo/base/at.hpp"
#include "octavo/partition/graph.hpp"

namespace octavo::partition {
namespace {

using base::at;

/// The number of elements of each part, and its limits.
struct ElementCounts {
  std::vector<std::int64_t>& of_part;
  std::int64_t least = 0, most = 0;
};

ElementCounts limits_of(std::vector<std::int64_t>& sizes) {
  const std::int64_t even =
      std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0}) / static_cast<std::int64_t>(sizes.size());
  return {sizes, even - 3 * even / 100, even + 3 * even / 100 + 1};
}

/// The part to which an element would move, and how many cut edges that saves.
struct Move {
  std::int32_t part = -1;
  std::int64_t gain = 0;
};

Move best_move(const CutElement& element, const ElementCounts& sizes) {
  const auto edges_to = [&](std::int32_t part) {
    std::int64_t edges = 0;
    for (std::size_t side = 0; side < 3; ++side) edges += element.behind[side] >= 0 && element.parts[side] == part;
    return edges;
  };
  const std::int64_t own = edges_to(element.part);
  Move best;
  for (std::size_t side = 0; side < 3; ++side) {
    const std::int32_t part = element.parts[side];
    if (element.behind[side] < 0 || part == element.part) continue;
    const std::int64_t gain = edges_to(part) - own;
    const bool smaller = best.part >= 0 && gain == best.gain && sizes.of_part[at(part)] < sizes.of_part[at(best.part)];
    if (best.part < 0 || gain > best.gain || smaller) best = {part, gain};
  }
  return best;
}

bool worth_it(const Move& move, std::int32_t own, const ElementCounts& sizes) {
  if (move.part < 0) return false;
  const std::int64_t from = sizes.of_part[at(own)], to = sizes.of_part[at(move.part)];
  // A move that cuts as many edges but improves the balance lets elements drift to where a later move gains. A part
  // that is too large gives elements away at any price.
  if (move.gain <= 0) return to + 1 < from && (move.gain == 0 || from > sizes.most);
  return to < sizes.most && from > sizes.least;
}

/// The position in `cut` of the element behind each side of each element; -1 if it is not in `cut`.
std::vector<std::int32_t> places_of_others(const std::vector<CutElement>& cut) {
  std::vector<std::int32_t> places;
  places.reserve(3 * cut.size());
  for (const CutElement& element : cut)
    for (const std::int32_t other : element.behind) {
      const auto found = std::lower_bound(cut.begin(), cut.end(), other,
                                          [](const CutElement& e, std::int32_t number) { return e.element < number; });
      const bool is_there = other >= 0 && found != cut.end() && found->element == other;
      places.push_back(is_there ? static_cast<std::int32_t>(found - cut.begin()) : -1);
    }
  return places;
}

void tell_others(std::vector<CutElement>& cut, const std::vector<std::int32_t>& places, std::size_t moved) {
  for (std::size_t side = 0; side < 3; ++side) {
    const std::int32_t place = places[3 * moved + side];
    if (place < 0) continue;
    CutElement& other = cut[at(place)];
    for (std::size_t back = 0; back < 3; ++back)
      if (other.behind[back] == cut[moved].element) other.parts[back] = cut[moved].part;
  }
}

std::int64_t sweep(std::vector<CutElement>& cut, const std::vector<std::int32_t>& places, bool backwards,
                   const ElementCounts& sizes) {
  std::int64_t moved = 0;
  for (std::size_t k = 0; k < cut.size(); ++k) {
    const std::size_t i = backwards ? cut.size() - 1 - k : k;
    CutElement& element = cut[i];
    const Move move = best_move(element, sizes);
    if (!worth_it(move, element.part, sizes)) continue;
    --sizes.of_part[at(element.part)];
    ++sizes.of_part[at(move.part)];
    element.part = move.part;
    tell_others(cut, places, i);
    ++moved;
  }
  return moved;
}

}  // namespace

std::int64_t smooth(std::vector<CutElement>& cut, std::vector<std::int64_t>& sizes) {
  constexpr int sweeps = 6;
  const ElementCounts limits = limits_of(sizes);
  const std::vector<std::int32_t> places = places_of_others(cut);
  std::int64_t moved = 0;
  for (int s = 0; s < sweeps; ++s) {
    const std::int64_t now = sweep(cut, places, s % 2 != 0, limits);
    moved += now;
    if (now == 0) break;
  }
  return moved;
}

void smooth_in_turns(std::vector<std::int64_t>& sizes, const std::function<std::vector<CutElement>()>& find,
                     const std::function<void(const std::vector<CutElement>&)>& apply) {
  constexpr int turns = 6;
  for (int turn = 0; turn < turns; ++turn) {
    std::vector<CutElement> cut = find();
    const std::int64_t moved = smooth(cut, sizes);
    apply(cut);
    if (50 * moved < static_cast<std::int64_t>(cut.size())) return;
  }
}

}  // namespace octavo::partition
