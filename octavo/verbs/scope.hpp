#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "octavo/mesh/dataset.hpp"

namespace octavo::verbs {

/// The selection of a step that a verb reads.
struct Scope {
  std::vector<int> parts;  ///< ascending
  std::int64_t bytes = 0;  ///< that reading them takes, at most
  std::string text;        ///< region and level for people; empty: everything
};

/// The parts that touch the region, all where there is none. From headers alone.
Scope scope_of(const mesh::Dataset& dataset, const std::optional<mesh::Region>& region, std::optional<int> max_level);

/// The number of threads to use, at least one and at most those asked for (0: all cores). Each must find memory for the
/// largest part, and as much again to work on it.
int threads_within_memory(const mesh::Dataset& dataset, int threads);

}  // namespace octavo::verbs
