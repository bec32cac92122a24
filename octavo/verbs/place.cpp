#include "octavo/verbs/place.hpp"

#include <cmath>
#include <utility>
#include <variant>

#include "octavo/base/error.hpp"

namespace octavo::verbs {
namespace {

mesh::Point3 place_of_extreme(const step::SharedStep& step, const std::string& field, bool largest,
                              StatsOptions options) {
  options.fields = {field};
  options.particles = false;
  const analysis::Summary summary = stats(step, options).statistics.fields.at(0).all;
  if (summary.cells == summary.nan + summary.inf)
    throw base::Error(base::Kind::usage, "no cell of the selection has a value of " + field);
  mesh::Point3 at = largest ? summary.max.centre : summary.min.centre;
  for (auto axis = static_cast<std::size_t>(step.header.dim); axis < 3; ++axis) at[axis] = 0.5;
  return at;
}

/// The centre of a region, or the place of some numbers, in the words of regions: in fractions of the box length.
mesh::Point3 fractions_of_words(const mesh::Header& header, const std::string& words,
                                const std::optional<mesh::Region>& region) {
  const bool centre = words == "center" || words == "centre";
  if (centre && region) return mesh::centre(*region, mesh::domain_of(header));
  try {
    return mesh::parse_point(words, header.dim, mesh::domain_of(header).extent);
  } catch (const base::Error&) {
    throw base::Error(base::Kind::usage, "no place \"" + words + "\"")
        .hint(std::string("write ") +
              (header.dim == 3   ? "0.5,0.5,0.5"
               : header.dim == 2 ? "0.5,0.5"
                                 : "0.5") +
              " (fractions of the box length), center, max:FIELD or min:FIELD");
  }
}

}  // namespace

mesh::Point3 find_place(const step::SharedStep& step, const std::string& words, const StatsOptions& selection) {
  for (const bool largest : {true, false})
    if (const std::string head = largest ? "max:" : "min:"; words.starts_with(head))
      return place_of_extreme(step, words.substr(head.size()), largest, selection);
  mesh::Point3 at = fractions_of_words(step.header, words, selection.region);
  const double unit = step.header.hi[0] - step.header.lo[0];
  for (std::size_t axis = 0; axis < 3; ++axis)
    at[axis] = axis < static_cast<std::size_t>(step.header.dim) ? step.header.lo[axis] + at[axis] * unit : 0.5;
  return at;
}

}  // namespace octavo::verbs
