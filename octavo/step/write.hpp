#pragma once
#include <filesystem>

#include "octavo/formats/formats.hpp"

/// The one way to write other formats. Each row of their table (formats.hpp) states as data which names, fields and
/// mesh the format takes. The functions here bring the step into that form and pass it to the format's writer.
namespace octavo::step {

/// Writes a step of any octree code or store as an output of the format `request.to`. Values are copied bit for bit. If
/// the format needs values that the step does not hold, they are made and counted (mesh/tree/regrid.hpp). The output
/// does not depend on the number of parts of the step. It gets its name once it is complete.
///
/// Memory: each rank holds the whole tree. For FLASH each thread holds one part of the step and one variable of a new
/// part; for AMReX one part of the step, all variables of a new part, and once those of a batch of boxes. The first
/// rank holds the particles. A RAMSES output made of another code's step needs memory for all its values, because octs
/// have no blocks to fold into.
///
/// Collective over the ranks. Only the first rank's report counts particles.
///
/// Throws Error(usage) if `out` exists and overwrite is not set, if a name does not fit, or if a code would go on from
/// a step that was stored with a loss. Throws Error(unsupported) if the format holds another kind of mesh, or if fill
/// is not set and blocks are not complete or neighbours are not balanced.
formats::WriteReport write(const mesh::Dataset& step, const std::filesystem::path& out,
                           const formats::WriteRequest& request);

/// Writes all steps on a mesh of triangles as one file. IPOBO is `series.boundary`, else the field of that name, else
/// it is derived from the mesh, with a note. Memory: the mesh and one variable of one step. Not collective. Throws the
/// same errors.
formats::WriteReport write(formats::Series series, const std::filesystem::path& out,
                           const formats::WriteRequest& request);

}  // namespace octavo::step
