#include "octavo/partition/cut.hpp"

#include <algorithm>
#include <numeric>
#include <string>

#include "octavo/base/at.hpp"
#include "octavo/base/error.hpp"
#include "octavo/mesh/tree/curve.hpp"

namespace octavo::partition {
namespace {

using base::Error;
using base::Kind;

using base::at;

constexpr int curve_bits = 16;  // along each axis: a key has 32

std::uint32_t cell_of(double value, double lo, double scale) {
  const auto last = static_cast<double>((1 << curve_bits) - 1);
  const double cell = (value - lo) * scale;
  return cell > 0 ? static_cast<std::uint32_t>(std::min(cell, last)) : 0;
}

CurveCells::Extent extent_of(std::span<const double> values) {
  if (values.empty()) return {0, 0};
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  return {*least, *most};
}

}  // namespace

std::string_view name_of(CutMethod method) noexcept {
  switch (method) {
    case CutMethod::metis: return "metis";
    case CutMethod::scotch: return "scotch";
    case CutMethod::hilbert: return "hilbert";
    default: return "inertial";
  }
}

CutMethod method_named(std::string_view name) {
  for (const CutMethod method : {CutMethod::metis, CutMethod::scotch, CutMethod::hilbert, CutMethod::inertial})
    if (name == name_of(method)) return method;
  throw Error(Kind::usage, "no partitioning method " + std::string(name))
      .hint("there are: metis, scotch, hilbert, inertial");
}

void check_parts(std::int64_t parts, std::int64_t elements) {
  if (parts < 1 || parts > elements)
    throw Error(Kind::usage, "expected 1 to " + std::to_string(elements) + " parts (one an element), found " +
                                 std::to_string(parts));
}

CurveCells::CurveCells(Extent x, Extent y) : lo_x_(x.lo), lo_y_(y.lo) {
  const auto scale_of = [](Extent e) { return e.hi > e.lo ? static_cast<double>(1 << curve_bits) / (e.hi - e.lo) : 0; };
  scale_x_ = scale_of(x);
  scale_y_ = scale_of(y);
  // Cells must be square: if they were not, the stretches of the curve would be long and narrow and have more edges.
  if (scale_x_ > 0 && scale_y_ > 0) scale_x_ = scale_y_ = std::min(scale_x_, scale_y_);
}

CurveCells::Cell CurveCells::cell(const std::array<double, 3>& x, const std::array<double, 3>& y) const {
  const double cx = x[0] / 3 + x[1] / 3 + x[2] / 3, cy = y[0] / 3 + y[1] / 3 + y[2] / 3;
  return {cell_of(cx, lo_x_, scale_x_), cell_of(cy, lo_y_, scale_y_)};
}

std::uint32_t CurveCells::key(const Cell& cell) {
  return static_cast<std::uint32_t>(mesh::curve_key(mesh::Curve::hilbert, 2, curve_bits, {cell[0], cell[1], 0}).low);
}

PartVector cut_hilbert(Connectivity connectivity, std::span<const double> x, std::span<const double> y,
                       std::int32_t parts) {
  const auto elements = static_cast<std::int64_t>(connectivity.size() / 3);
  check_parts(parts, elements);
  const CurveCells cells(extent_of(x), extent_of(y));
  struct Keyed {
    std::uint32_t key;
    std::int32_t element;
  };
  std::vector<Keyed> order(at(elements));
  for (std::size_t e = 0; e < order.size(); ++e) {
    const std::size_t a = at(connectivity[3 * e]), b = at(connectivity[3 * e + 1]), c = at(connectivity[3 * e + 2]);
    order[e] = {CurveCells::key(cells.cell({x[a], x[b], x[c]}, {y[a], y[b], y[c]})), static_cast<std::int32_t>(e)};
  }
  std::sort(order.begin(), order.end(),
            [](const Keyed& a, const Keyed& b) { return a.key != b.key ? a.key < b.key : a.element < b.element; });
  PartVector part_of(order.size());
  for (std::int64_t p = 0; p < parts; ++p)
    for (std::int64_t i = p * elements / parts; i < (p + 1) * elements / parts; ++i)
      part_of[at(order[at(i)].element)] = static_cast<std::int32_t>(p);
  return part_of;
}

PartLists list_parts(const PartVector& part_of, std::int32_t parts) {
  PartLists lists;
  lists.first.assign(at(parts) + 1, 0);
  for (const std::int32_t part : part_of) ++lists.first[at(part) + 1];
  std::partial_sum(lists.first.begin(), lists.first.end(), lists.first.begin());
  lists.elements.resize(part_of.size());
  std::vector<std::int64_t> next(lists.first.begin(), lists.first.end() - 1);
  for (std::size_t e = 0; e < part_of.size(); ++e)
    lists.elements[at(next[at(part_of[e])]++)] = static_cast<std::int32_t>(e);
  return lists;
}

std::span<const std::int32_t> elements_of(const PartLists& lists, std::int32_t part) {
  const std::size_t begin = at(lists.first[at(part)]), end = at(lists.first[at(part) + 1]);
  return std::span(lists.elements).subspan(begin, end - begin);
}

}  // namespace octavo::partition
