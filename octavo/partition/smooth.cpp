#include <algorithm>

#include "octavo/partition/cut.hpp"

namespace octavo::partition {
namespace {

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

struct Sizes {
  std::vector<std::int64_t> of_part;
  std::int64_t least = 0, most = 0;
};

Sizes sizes_of(const PartVector& part_of, std::int32_t parts) {
  Sizes sizes{std::vector<std::int64_t>(at(parts), 0)};
  for (const std::int32_t part : part_of) ++sizes.of_part[at(part)];
  const std::int64_t even = static_cast<std::int64_t>(part_of.size()) / parts;
  sizes.least = even - even / 100;
  sizes.most = even + even / 100 + 1;
  return sizes;
}

/// Where an element would go, and how many edges fewer are cut then.
struct Move {
  std::int32_t part = -1;
  int gain = 0;
};

Move best_move(const HaloElement& element, const PartVector& part_of, const Sizes& sizes) {
  const std::int32_t own = part_of[at(element.element)];
  const auto edges_to = [&](std::int32_t part) {
    return static_cast<int>(std::count_if(element.behind.begin(), element.behind.end(), [&](std::int32_t other) {
      return other >= 0 && part_of[at(other)] == part;
    }));
  };
  Move best;
  for (const std::int32_t other : element.behind) {
    if (other < 0 || part_of[at(other)] == own) continue;
    const std::int32_t part = part_of[at(other)];
    const int gain = edges_to(part) - edges_to(own);
    const bool smaller = best.part >= 0 && gain == best.gain && sizes.of_part[at(part)] < sizes.of_part[at(best.part)];
    if (best.part < 0 || gain > best.gain || smaller) best = {part, gain};
  }
  return best;
}

bool worth_it(const Move& move, std::int32_t own, const Sizes& sizes) {
  if (move.part < 0) return false;
  const std::int64_t from = sizes.of_part[at(own)], to = sizes.of_part[at(move.part)];
  // As many edges, but better balance: elements drift to where a later move gains.
  if (move.gain == 0) return to + 1 < from;
  return move.gain > 0 && to < sizes.most && from > sizes.least;
}

std::int64_t sweep(std::span<const HaloElement> halo, bool backwards, PartVector& part_of, Sizes& sizes) {
  std::int64_t moved = 0;
  for (std::size_t i = 0; i < halo.size(); ++i) {
    const HaloElement& element = halo[backwards ? halo.size() - 1 - i : i];
    std::int32_t& own = part_of[at(element.element)];
    const Move move = best_move(element, part_of, sizes);
    if (!worth_it(move, own, sizes)) continue;
    --sizes.of_part[at(own)];
    ++sizes.of_part[at(move.part)];
    own = move.part;
    ++moved;
  }
  return moved;
}

}  // namespace

void smooth_cuts(Connectivity connectivity, std::int32_t points, std::int32_t parts, PartVector& part_of) {
  constexpr int rounds = 4, sweeps = 6;
  Sizes sizes = sizes_of(part_of, parts);
  for (int round = 0; round < rounds; ++round) {
    const std::vector<HaloElement> halo = find_halo(connectivity, part_of, find_shared(connectivity, points, part_of));
    std::int64_t moved = 0;
    for (int s = 0; s < sweeps; ++s) {
      const std::int64_t now = sweep(halo, s % 2 != 0, part_of, sizes);
      moved += now;
      if (now == 0) break;
    }
    if (50 * moved < static_cast<std::int64_t>(halo.size())) return;
  }
}

}  // namespace octavo::partition
