#pragma once
#include <string>
#include <vector>

#include "octavo/mesh/dataset.hpp"
#include "octavo/mesh/tree/fill.hpp"

namespace octavo::step {

/// Another mesh for a step, before it is written.
struct Reshape {
  int refine = 0;          ///< number of finer levels to add (finer())
  std::int64_t block = 0;  ///< cells of a block along each axis; 1: single cells; 0: as they are
  bool fill = false;       ///< `block`: values that the step does not hold may be made
  mesh::FillBy fill_by = mesh::FillBy::linear;
  std::vector<std::string> per_mass{};  ///< more specific quantities, beside those of mesh::specific_of
};

/// The mesh and values of `tree` with the header attributes and particles of `words`. All particles are in the first
/// part.
mesh::Dataset with_words(const mesh::Dataset& tree, const mesh::Dataset& words);

/// Returns the step itself if `how` asks for no change. Throws as finer() and regrid() do.
mesh::Dataset reshape(const mesh::Dataset& dataset, const Reshape& how);

}  // namespace octavo::step
