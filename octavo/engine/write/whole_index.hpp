#pragma once
#include <mpi.h>

#include <filesystem>

namespace octavo::engine {

/// Collective; called when a writer is opened. Adds the lines that the indexes lack of steps that the marks list: of a
/// run that was killed before it wrote them, of a store without index, of steps that came from local disks. Rank 0
/// reads one head a step, and only where a line is missing; all ranks read the other footers of these steps, equal
/// numbers of files each. Lines of steps that the mark does not list go. An index that cannot be written stays as it
/// is: it is never the truth.
void complete_indexes(MPI_Comm comm, const std::filesystem::path& store);

}  // namespace octavo::engine
