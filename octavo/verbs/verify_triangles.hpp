#pragma once
#include <filesystem>

#include "octavo/base/progress.hpp"
#include "octavo/base/ranks.hpp"
#include "octavo/mesh/dataset.hpp"
#include "octavo/store/store.hpp"

namespace octavo::verbs {

/// Checks every step of a file of many: the lengths around each record, that times increase, that values are numbers,
/// and all planes of the mesh. Damage that makes reading wrong becomes a finding. Oddities that leave the file usable
/// become notes: points at the place of another, points of no element, elements that occur twice, have no area or run
/// clockwise, boundary numbers (IPOBO) that do not fit the boundary's points, a last step cut short; of solids, points
/// of no cell, and cells without a volume or with a negative one. Memory: the mesh, and one step.
///
/// Collective over `ranks`, which share the steps; rank 0 reads the times and the mesh. All return the report of one
/// process. `last` is the last step.
store::Report verify_series(const std::filesystem::path& path, const mesh::Dataset& last,
                            const base::Progress& progress, const base::Ranks& ranks = {});

}  // namespace octavo::verbs
