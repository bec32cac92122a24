#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "octavo/step/fields.hpp"

namespace octavo::verbs {

struct PlanOptions {
  std::optional<std::vector<std::string>> fields{};  ///< stored, or other names and formulas; nothing: all
  std::optional<mesh::Region> region{};
  std::optional<int> max_level{};
  std::string where{};
  step::Definitions definitions{};
  bool particles = false;
  int threads = 0;  ///< 0: all cores
};

/// Upper limits of what reading a selection takes, from headers alone.
struct Plan {
  std::vector<int> parts;
  int of = 0;                ///< parts of the step
  std::int64_t leaves = -1;  ///< in these parts; -1: not known
  std::int64_t bytes = 0;    ///< from files, without headers
  std::int64_t memory = 0;   ///< of the parts that are in memory at a time, and of the work on them
  std::string selection;     ///< as text; empty: everything
};

/// Throws Error(usage) for an unknown field.
Plan plan(const mesh::Dataset& dataset, const PlanOptions& options);

}  // namespace octavo::verbs
