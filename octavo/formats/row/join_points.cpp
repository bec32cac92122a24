#include "octavo/formats/row/join_points.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <string>

#include "octavo/base/error.hpp"

namespace octavo::formats {

JoinedPoints join_points(std::span<const double> places, std::span<const std::size_t> part_of,
                         std::span<const char> ghosts) {
  for (std::size_t i = 0; i < places.size(); ++i)
    if (!std::isfinite(places[i]))
      throw base::Error(base::Kind::corrupt, "a point without a place").at("point " + std::to_string(i / 3));
  const auto place = [&](std::size_t i) { return std::array{places[3 * i], places[3 * i + 1], places[3 * i + 2]}; };
  const auto is_ghost = [&](std::size_t i) { return !ghosts.empty() && ghosts[i] != 0; };
  std::vector<std::size_t> order(part_of.size()), first(part_of.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::iota(first.begin(), first.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return place(a) < place(b); });
  for (auto at = order.begin(); at != order.end();) {
    const auto end = std::find_if(at, order.end(), [&](std::size_t i) { return place(i) != place(*at); });
    const bool apart =
        std::adjacent_find(at, end, [&](std::size_t a, std::size_t b) { return part_of[a] == part_of[b]; }) != end;
    const auto own = std::find_if_not(at, end, is_ghost);
    for (auto one = at; one != end && !apart; ++one) first[*one] = own == end ? *at : *own;
    at = end;
  }
  JoinedPoints out;
  std::vector<std::size_t> number(part_of.size());
  for (std::size_t i = 0; i < part_of.size(); ++i)
    if (first[i] == i) {
      number[i] = out.kept.size();
      out.kept.push_back(i);
    }
  for (std::size_t i = 0; i < part_of.size(); ++i) out.number_of.push_back(number[first[i]]);
  return out;
}

}  // namespace octavo::formats
