#pragma once
#include <filesystem>

#include "octavo/formats/formats.hpp"

/// The one way out to other formats. Each row of their table (formats.hpp) says as data which names, fields and mesh it
/// takes; the functions here make these of the step and hand it over.
namespace octavo::step {

/// Writes a step of any octree code or store as an output of the format `request.to`. Values move bit for bit; where
/// the format needs some that the step does not hold, they are made and counted (mesh/tree/regrid.hpp). The output does
/// not depend on the number of parts of the step. It gets its name once it is complete.
///
/// Memory: on each rank the whole tree; a thread one part of the step and one variable of a new part (FLASH), or all
/// its variables and, once, those of a batch of boxes (AMReX); on the first rank the particles. A RAMSES output that is
/// made of another code's step takes all its values, as octs have no blocks to fold into.
///
/// Collective over the ranks. Only the first one's report tells of particles.
///
/// Throws Error(usage) if `out` exists and overwrite is not set, if a name does not fit, or if a code would go on from
/// a step that was stored with a loss; Error(unsupported) if the format holds another kind of mesh, if blocks are not
/// complete or neighbours are not balanced and fill is not set.
formats::WriteReport write(const mesh::Dataset& step, const std::filesystem::path& out,
                           const formats::WriteRequest& request);

/// Writes all steps on a mesh of triangles as one file. IPOBO is `series.boundary`, else the field of that name, else
/// it is found from the mesh, with a note. Memory: the mesh and one variable of one step. Not collective. Errors as
/// above.
formats::WriteReport write(formats::Series series, const std::filesystem::path& out,
                           const formats::WriteRequest& request);

}  // namespace octavo::step
