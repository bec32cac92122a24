#pragma once
#include <optional>
#include <string>

#include "octavo/verbs/stats.hpp"

namespace octavo::verbs {

/// A point that words name [code length]: "0.5,0.5,0.5" in fractions of the box length, as many numbers as axes;
/// "center" of the region, else of the domain; "max:FIELD" or "min:FIELD", the middle of the cell of the
/// selection with that extreme, for which all of the selection is read. Axes that the data lack are 0.5. Every rank
/// gets it, or the same error. Collective. Throws Error(usage) for other words, for numbers that are not finite and for
/// an unknown field.
mesh::Point3 find_place(const step::SharedStep& step, const std::string& words, const StatsOptions& selection);

}  // namespace octavo::verbs
