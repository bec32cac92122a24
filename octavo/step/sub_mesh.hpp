#pragma once
#include "octavo/formats/row/series.hpp"
#include "octavo/mesh/triangles/polygon.hpp"

namespace octavo::step {

/// The triangles (of prisms: all layers) whose middle lies in the polygon, with their points in the order of the whole
/// mesh, and IPOBO found anew. A point at which the new boundary would meet itself keeps the largest fan of triangles
/// around it; the others are left out, with a note, until each point of the boundary has one line through it, as
/// TELEMAC wants. Memory: both meshes, and a variable of one step. Throws Error(usage) if nothing is left.
formats::Series cut_out(const formats::Series& series, const mesh::Polygon& polygon, std::vector<std::string>& notes);

}  // namespace octavo::step
