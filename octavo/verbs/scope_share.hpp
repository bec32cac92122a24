#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "octavo/base/ranks.hpp"
#include "octavo/mesh/dataset.hpp"
#include "octavo/step/shared.hpp"
#include "octavo/verbs/scope.hpp"

namespace octavo::verbs {

/// How ranks share the parts of a scope: rank r takes parts r, r + ranks, r + 2 ranks ..., or a contiguous range.
enum class Sharing { in_turn, in_ranges };

/// A rank's share of the selection that a verb reads (scope.hpp).
struct ScopeShare {
  std::size_t parts = 0;    ///< of all ranks
  std::int64_t bytes = 0;   ///< of all ranks
  std::string text;         ///< as in Scope
  std::vector<int> listed;  ///< all parts, ascending; empty on a rank that has not opened the step
  mesh::Dataset mine;       ///< this rank's parts alone
};
/// Collective.
ScopeShare share_scope(const step::SharedStep& step, const std::optional<mesh::Region>& region,
                       std::optional<int> max_level, const base::Ranks& ranks, Sharing sharing);
/// The same for another choice of the region's parts. Ranks that have not opened the step do not ask.
ScopeShare share_scope(const step::SharedStep& step, const std::optional<mesh::Region>& region,
                       const std::function<Scope(const mesh::Dataset&)>& choose, const base::Ranks& ranks,
                       Sharing sharing);

}  // namespace octavo::verbs
