#include <algorithm>

#include "octavo/base/at.hpp"
#include "octavo/base/release.hpp"
#include "octavo/partition/axis.hpp"
#include "octavo/partition/cut.hpp"

namespace octavo::partition {
namespace {

using base::at;

}  // namespace

std::int64_t InertialCuts::stride(std::int64_t elements, std::int32_t parts) {
  const std::int64_t wanted = std::max(std::int64_t{1} << 21, std::int64_t{64} * parts);
  return std::max<std::int64_t>(1, elements / wanted);
}

InertialCuts::InertialCuts(std::vector<float> x, std::vector<float> y, std::int32_t parts) : part_of_(x.size()) {
  check_parts(parts, static_cast<std::int64_t>(x.size()));
  std::vector<Sample> all(x.size());
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = {x[i], y[i], static_cast<std::int32_t>(i)};
  base::release(x);
  base::release(y);
  cuts_.reserve(at(parts));
  root_ = halve(all, 0, parts);
}

std::int32_t InertialCuts::halve(std::span<Sample> some, std::int32_t first_part, std::int32_t parts) {
  if (parts == 1) {
    for (const Sample& s : some) part_of_[at(s.element)] = first_part;
    return -1 - first_part;
  }
  const auto [dx, dy] = principal_axis(some);
  const auto along = [dx = dx, dy = dy](const Sample& s) { return s.x * dx + s.y * dy; };
  const std::int32_t near_parts = parts / 2;
  const std::size_t middle = at(static_cast<std::int64_t>(some.size()) * near_parts / parts);
  // We break ties by element number, so that every standard library halves alike.
  std::nth_element(some.begin(), some.begin() + static_cast<std::ptrdiff_t>(middle), some.end(),
                   [&](const Sample& a, const Sample& b) {
                     const float u = along(a), v = along(b);
                     return u != v ? u < v : a.element < b.element;
                   });
  const auto cut = static_cast<std::int32_t>(cuts_.size());
  cuts_.push_back({dx, dy, along(some[middle]), 0, 0});
  const std::int32_t near = halve(some.first(middle), first_part, near_parts);
  const std::int32_t far = halve(some.subspan(middle), first_part + near_parts, parts - near_parts);
  cuts_[at(cut)].near = near;
  cuts_[at(cut)].far = far;
  return cut;
}

std::int32_t InertialCuts::part_at(float x, float y) const {
  std::int32_t next = root_;
  while (next >= 0) {
    const Cut& cut = cuts_[at(next)];
    next = x * cut.dx + y * cut.dy < cut.limit ? cut.near : cut.far;
  }
  return -1 - next;
}

}  // namespace octavo::partition
