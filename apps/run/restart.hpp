#pragma once
#include <span>
#include <string>

#include "apps/euler/problems.hpp"
#include "apps/euler/tracers.hpp"
#include "octavo/mesh/dataset.hpp"

namespace octavo::run {

/// Throws Error(usage) where a checkpoint is of another problem, dimension or gas, and Error(corrupt) naming variables
/// that it lacks: before anything of this run has been made from it.
void check_restart(const mesh::Header& header, const euler::Problem& problem);

/// The values of a field. Throws Error(corrupt) where the part has no such field of doubles.
std::span<const double> field_of(const mesh::Part& part, const std::string& name);
/// The species "tracers" of a part; none where it has none.
euler::Tracers tracers_of(const mesh::Part& part, int dim);

}  // namespace octavo::run
