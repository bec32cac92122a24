#pragma once
#include <filesystem>
#include <vector>

#include "octavo/formats/serafin/boundary.hpp"
#include "octavo/store/triangle_boundary.hpp"
#include "octavo/telemac/cut/partition.hpp"

/// The cut and the boundary that a store of triangles holds beside its mesh.
namespace octavo::telemac {

store::BoundaryArrays stored_boundary(const std::vector<formats::serafin::BoundaryPoint>& lines);
/// The lines again, in their order.
std::vector<formats::serafin::BoundaryPoint> boundary_lines(const store::BoundaryArrays& boundary);

/// The options with the parts, the part vector and, where neither a boundary file nor its lines are given, the boundary
/// of a store. Throws Error(usage) where `store` is none, or has no cut.
PartitionOptions with_stored_cut(const std::filesystem::path& store, PartitionOptions options);

}  // namespace octavo::telemac
