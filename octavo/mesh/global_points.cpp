#include "octavo/mesh/global_points.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "octavo/base/error.hpp"

namespace octavo::mesh {

using base::Error;
using base::Kind;

void check_global_points(std::span<const std::int64_t> numbers, std::size_t points) {
  if (numbers.empty()) return;
  if (numbers.size() != points)
    throw Error(Kind::corrupt, "global point numbers: expected none or " + std::to_string(points) + ", found " +
                                   std::to_string(numbers.size()));
  std::vector<std::int64_t> sorted(numbers.begin(), numbers.end());
  std::sort(sorted.begin(), sorted.end());
  if (sorted.front() < 0)
    throw Error(Kind::corrupt, "global point numbers: expected 0 or more, found " + std::to_string(sorted.front()));
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  if (twice != sorted.end())
    throw Error(Kind::corrupt, "global point number " + std::to_string(*twice) + " is given to two points");
}

}  // namespace octavo::mesh
