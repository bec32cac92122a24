#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "octavo/analysis/frame.hpp"
#include "octavo/mesh/dataset.hpp"

namespace octavo::verbs {

/// The selection of a step that a verb reads.
struct Scope {
  std::vector<int> parts;  ///< ascending
  std::int64_t bytes = 0;  ///< upper limit of the bytes that reading them takes
  std::string text;        ///< region and level as text; empty: everything
};

/// Throws Error(usage) for a level above the coarsest one that the step has, and for any level of a mesh that has none.
/// A level below the finest one is all levels.
void require_level(const mesh::Dataset& dataset, std::optional<int> max_level);

/// The parts that reading a region down to a level takes, as mesh::parts_of gives them. Throws as require_level.
std::vector<int> parts_of_selection(const mesh::Dataset& dataset, const std::optional<mesh::Region>& region,
                                    std::optional<int> max_level);

/// Those parts, and what reading them costs. Reads headers only. Throws as require_level.
Scope scope_of(const mesh::Dataset& dataset, const std::optional<mesh::Region>& region, std::optional<int> max_level);

/// The same of parts that were chosen already.
Scope scope_of(const mesh::Dataset& dataset, const std::optional<mesh::Region>& region, std::optional<int> max_level,
               std::vector<int> parts);

/// The parts that touch any of the boxes, and there the region, ascending. Reads headers only.
std::vector<int> parts_in_any(const mesh::Dataset& dataset, const std::vector<mesh::Box>& boxes,
                              const std::optional<mesh::Region>& region, std::optional<int> max_level);

/// The data set for a region that names domains ("domains:1,2-5"), which geometry cannot tell: parts that are read own
/// only cells whose centre is in the region, and have only particles that are. Then the region is asked as any other.
/// Returns the data set as it is if the region names none. Reading throws Error(unsupported) where shapes would cut
/// blocks, which are owned as a whole.
mesh::Dataset within_domains(const mesh::Dataset& dataset, const std::optional<mesh::Region>& region);

/// The selection's text with a condition on cells behind it.
std::string with_condition(std::string selection, const std::string& where);

/// The selection's text with how its edge takes cells behind it, if that was asked for.
std::string with_edge(std::string selection, analysis::RegionEdge edge);

/// The number of threads to use: at least one, at most `threads` (0: all cores). Each thread needs memory for the
/// largest part, and as much again to work on it.
int threads_within_memory(const mesh::Dataset& dataset, int threads);

}  // namespace octavo::verbs
