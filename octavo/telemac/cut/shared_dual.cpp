#include <algorithm>
#include <tuple>

#include "octavo/base/at.hpp"
#include "octavo/partition/graph.hpp"
#include "octavo/telemac/cut/shared_cut.hpp"

namespace octavo::telemac {
namespace {

using base::at;

/// A side whose other element is not in its block.
struct OpenSide {
  std::int32_t low, high, element, side;
  bool operator<(const OpenSide& other) const {
    return std::tie(low, high, element) < std::tie(other.low, other.high, other.element);
  }
  bool same(const OpenSide& other) const { return low == other.low && high == other.high; }
};

struct Answer {
  std::int32_t element, side, other;
};

/// The block's triangles by their points' places in the block.
std::vector<std::int32_t> compact(const ElementBlock& block) {
  std::vector<std::int32_t> corners;
  corners.reserve(block.triangles.size());
  for (const std::int32_t point : block.triangles)
    corners.push_back(static_cast<std::int32_t>(block.places.set.of(point)));
  return corners;
}

/// Sides with nothing behind them in the block, for those who own their lower points.
std::vector<std::vector<OpenSide>> open_sides(const SharedJob& job, const ElementBlock& block,
                                              const std::vector<std::int32_t>& behind) {
  std::vector<std::vector<OpenSide>> to(job.size());
  for (std::size_t i = 0; i < behind.size(); ++i) {
    if (behind[i] >= 0) continue;
    const auto [low, high] = std::minmax(block.triangles[i], block.triangles[i % 3 == 2 ? i - 2 : i + 1]);
    const auto element = static_cast<std::int32_t>(block.first + static_cast<std::int64_t>(i / 3));
    to[job.owner_of_point(low)].push_back({low, high, element, static_cast<std::int32_t>(i % 3)});
  }
  return to;
}

std::vector<Answer> pair(const SharedJob& job, std::vector<OpenSide> sides) {
  std::sort(sides.begin(), sides.end());
  std::vector<std::vector<Answer>> answers(job.size());
  for (std::size_t i = 0; i + 1 < sides.size(); ++i) {
    const OpenSide &a = sides[i], &b = sides[i + 1];
    if (!a.same(b)) continue;
    answers[job.owner_of_element(a.element)].push_back({a.element, a.side, b.element});
    answers[job.owner_of_element(b.element)].push_back({b.element, b.side, a.element});
    ++i;
  }
  return base::exchange(job.ranks, std::move(answers));
}

}  // namespace

SharedDual share_dual(const SharedJob& job, const ElementBlock& block) {
  SharedDual dual;
  dual.first = block.first;
  dual.behind =
      block.places.set.is_whole()
          ? partition::find_behind(block.triangles, job.points)
          : partition::find_behind(compact(block), static_cast<std::int32_t>(block.places.set.points().size()));
  auto to = open_sides(job, block, dual.behind);
  for (std::int32_t& behind : dual.behind)
    if (behind >= 0) behind += static_cast<std::int32_t>(block.first);
  for (const Answer& answer : pair(job, base::exchange(job.ranks, std::move(to)))) {
    dual.behind[at(3 * (answer.element - block.first) + answer.side)] = answer.other;
    dual.strange.push_back(answer.other);
  }
  std::sort(dual.strange.begin(), dual.strange.end());
  dual.strange.erase(std::unique(dual.strange.begin(), dual.strange.end()), dual.strange.end());
  return dual;
}

}  // namespace octavo::telemac
