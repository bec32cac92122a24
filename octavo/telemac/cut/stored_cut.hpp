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

/// Sets the parts and the part vector of the options from a store. If they give neither a boundary file nor its lines,
/// it also sets the store's boundary. Throws Error(usage) if `store` is no store, or has no cut.
PartitionOptions with_stored_cut(const std::filesystem::path& store, PartitionOptions options);

}  // namespace octavo::telemac
