#include "octavo/mesh/triangles/split_triangles.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <string>

#include "octavo/base/at.hpp"
#include "octavo/base/error.hpp"

namespace octavo::mesh {
namespace {

using base::at;

/// The higher end of each edge by its lower end: sorting those of one point at a time takes no keys of both.
struct EdgeLists {
  std::vector<std::int64_t> first;   ///< by lower end
  std::vector<std::int32_t> higher;  ///< sorted and once each, after `compact`
};

EdgeLists list_edges(std::span<const std::int32_t> connectivity, std::int32_t points) {
  const auto each = [&](auto&& f) {
    for (std::size_t i = 0; i < connectivity.size(); ++i) {
      const std::int32_t a = connectivity[i], b = connectivity[i % 3 == 2 ? i - 2 : i + 1];
      f(std::min(a, b), std::max(a, b));
    }
  };
  EdgeLists lists;
  lists.first.assign(at(points) + 1, 0);
  each([&](std::int32_t low, std::int32_t) { ++lists.first[at(low) + 1]; });
  std::partial_sum(lists.first.begin(), lists.first.end(), lists.first.begin());
  lists.higher.resize(connectivity.size());
  std::vector<std::int64_t> next(lists.first.begin(), lists.first.end() - 1);
  each([&](std::int32_t low, std::int32_t high) { lists.higher[at(next[at(low)]++)] = high; });
  return lists;
}

/// Each edge once.
void compact(EdgeLists& lists) {
  std::int64_t end = 0, begin = 0;
  for (std::size_t low = 0; low + 1 < lists.first.size(); ++low) {
    const auto from = lists.higher.begin() + begin, to = lists.higher.begin() + lists.first[low + 1];
    begin = lists.first[low + 1];
    std::sort(from, to);
    lists.first[low] = end;
    const auto kept = std::unique(from, to);
    std::copy(from, kept, lists.higher.begin() + end);
    end += kept - from;
  }
  lists.first.back() = end;
  lists.higher.resize(at(end));
}

}  // namespace

SplitTriangles split_triangles(std::span<const std::int32_t> connectivity, std::int32_t points) {
  EdgeLists lists = list_edges(connectivity, points);
  compact(lists);
  if (std::int64_t{points} + static_cast<std::int64_t>(lists.higher.size()) > std::numeric_limits<std::int32_t>::max())
    throw base::Error(base::Kind::unsupported, "a mesh of " + std::to_string(points) + " points and " +
                                                   std::to_string(lists.higher.size()) +
                                                   " edges: expected together at most 2147483647");
  const auto middle = [&](std::int32_t a, std::int32_t b) {
    const auto begin = lists.higher.begin() + lists.first[at(std::min(a, b))];
    const auto end = lists.higher.begin() + lists.first[at(std::min(a, b)) + 1];
    return points + static_cast<std::int32_t>(std::lower_bound(begin, end, std::max(a, b)) - lists.higher.begin());
  };
  SplitTriangles split;
  split.connectivity.resize(4 * connectivity.size());
  for (std::size_t e = 0; e < connectivity.size(); e += 3) {
    const std::int32_t a = connectivity[e], b = connectivity[e + 1], c = connectivity[e + 2];
    const std::int32_t ab = middle(a, b), bc = middle(b, c), ca = middle(c, a);
    const std::array<std::int32_t, 12> four{a, ab, ca, ab, b, bc, ca, bc, c, ab, bc, ca};
    std::copy(four.begin(), four.end(), split.connectivity.begin() + static_cast<std::ptrdiff_t>(4 * e));
  }
  split.edges.reserve(lists.higher.size());
  for (std::int32_t low = 0; low < points; ++low)
    for (std::int64_t i = lists.first[at(low)]; i < lists.first[at(low) + 1]; ++i)
      split.edges.push_back({low, lists.higher[at(i)]});
  return split;
}

}  // namespace octavo::mesh
