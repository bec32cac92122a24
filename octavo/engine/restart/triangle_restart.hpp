#pragma once
#include <mpi.h>

#include <filesystem>

#include "octavo/engine/restart/restart.hpp"
#include "octavo/engine/restart/step_parts.hpp"

namespace octavo::engine {

/// Whether a step of a store is one of triangles.
bool has_triangles(const StepParts& step);

/// Collective. Reads this rank's share of a step of triangles. The parts are dealt out, one rank reads each, and values
/// go to the ranks that want the points. Needs memory for an even share of the stored data and for the wanted points.
/// Sets the header's fields, part and global_element. Throws the same on all ranks: Error(usage) for options that
/// triangles do not have, Error(corrupt).
void read_triangles(MPI_Comm comm, StepParts& step, const std::filesystem::path& store, const RestartOptions& options,
                    Restart& out);

}  // namespace octavo::engine
