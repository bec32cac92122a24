#pragma once
#include <cstdint>
#include <span>

#include "octavo/base/ranks.hpp"
#include "octavo/formats/serafin/series.hpp"

/// Checks whether two files have the same mesh. Equal counts do not prove it.
namespace octavo::telemac {

/// Throws Error(corrupt) unless `found` has the points of `mesh` at the same places, and triangles of the same points
/// in any order. The error names the first element or point that differs. In meshes with planes it compares the lowest
/// plane. same_place() compares places. Memory: 2^16 elements or points. Collective: each rank checks its share.
void require_same_mesh(const base::Ranks& ranks, const formats::serafin::SerafinSeries& mesh,
                       const formats::serafin::SerafinSeries& found);

/// A checksum of triangles that depends neither on their order nor on their first corners.
std::uint64_t marks_of(std::span<const std::int32_t> triangles);

/// Whether coordinates in two files mean the same place: they are equal in the precision of either file, with or
/// without the files' origins (IPARAM(3), (4)).
bool same_place(double a, double b, int axis, const formats::serafin::SerafinHeader& of_a,
                const formats::serafin::SerafinHeader& of_b);

/// Throws Error(corrupt) that names the point, from 0, if it is at another place in `found`.
void require_same_place(std::int64_t point, double expected, double there, int axis,
                        const formats::serafin::SerafinSeries& mesh, const formats::serafin::SerafinSeries& found);

}  // namespace octavo::telemac
