#pragma once
#include <cstdint>
#include <span>

#include "octavo/base/ranks.hpp"
#include "octavo/formats/serafin/series.hpp"

/// Whether what lies in two files is on one mesh, which equal counts do not say.
namespace octavo::telemac {

/// Throws Error(corrupt), which names the first element or point that differs, unless `found` has the points of `mesh`
/// at the same places, and triangles of the same points in any order; of meshes with planes the lowest one counts.
/// Places agree as same_place() says. In memory: 2^16 elements or points. Collective: each rank looks at its share.
void require_same_mesh(const base::Ranks& ranks, const formats::serafin::Series& mesh,
                       const formats::serafin::Series& found);

/// A number that triangles of the same points have in common, whatever their order and first corner: a sum over them.
std::uint64_t marks_of(std::span<const std::int32_t> triangles);

/// Whether coordinates in two files are of one place: the same in the precision that either is in, with the files'
/// origins (IPARAM(3), (4)) or without.
bool same_place(double a, double b, int axis, const formats::serafin::Header& of_a,
                const formats::serafin::Header& of_b);

/// Throws Error(corrupt) that names the point, from 0, where it is elsewhere in `found`.
void require_same_place(std::int64_t point, double expected, double there, int axis,
                        const formats::serafin::Series& mesh, const formats::serafin::Series& found);

}  // namespace octavo::telemac
