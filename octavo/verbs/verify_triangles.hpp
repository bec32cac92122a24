#pragma once
#include <filesystem>

#include "octavo/base/progress.hpp"
#include "octavo/store/store.hpp"

namespace octavo::verbs {

/// Every step of a file of many: lengths around each record, times that go on, values that are numbers, and the mesh,
/// all planes of it. Findings are what makes reading wrong. Notes are what is odd and can be used: points that stand
/// where another does, points of no element, elements that are there twice, have no area or run clockwise, numbers of
/// the boundary (IPOBO) that are not its points', a last step cut short. Memory: the mesh, and one step.
store::Report verify_series(const std::filesystem::path& path, const base::Progress& progress);

}  // namespace octavo::verbs
