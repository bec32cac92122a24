#pragma once
#include <cstdint>
#include <vector>

#include "octavo/store/store.hpp"

/// Fields whose coarse values are means of the fine ones by another field: a code that restricts momentum makes
/// velocities so, with density as weight. Codecs then need not store a last child (codec::Context::weights).
namespace octavo::store {

/// The field that weighs, and for each field whether it is weighed by it: none, if no field weighs others.
struct Weighing {
  std::size_t by = 0;
  std::vector<bool> weighs;
};

/// Finds them on a sample of families: nothing is taken from names. `fields`: null for those that may neither weigh nor
/// be weighed, the others with `data`; `offsets`, `parents`, `family`: of the cells, as codec contexts have them.
Weighing find_weighing(const std::vector<const Values*>& fields, const std::vector<std::size_t>& offsets,
                       const std::vector<std::vector<std::uint32_t>>& parents, std::size_t family);

}  // namespace octavo::store
