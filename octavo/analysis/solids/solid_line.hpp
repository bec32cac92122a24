#pragma once
#include <span>

#include "octavo/analysis/line.hpp"
#include "octavo/analysis/solids/solid_values.hpp"

/// A line through solids.
namespace octavo::analysis {

/// The chords of a line through the cells, ascending by entry, settled. A chord's value is the mean over it, so that
/// value times chord is the integral of the function that is linear in tetrahedra. Solids have no levels: 0.
Chords chords_of(const mesh::Solids& mesh, std::span<const SolidValues> fields, const Line& line);

/// Settles chords that ascend by entry: what lies along a side or an edge of cells is in one of them alone, a
/// chord begins at the exit of the one before if they are apart by a rounding error, and chords shorter than that are
/// left out.
void settle_chords(const Line& line, Chords& chords);

}  // namespace octavo::analysis
