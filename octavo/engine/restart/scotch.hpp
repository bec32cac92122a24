#pragma once
#include <cstdint>

#include "octavo/telemac/cut/shared_cut.hpp"

namespace octavo::engine {

/// Whether this build has PT-Scotch.
bool has_scotch() noexcept;

/// Cuts the graph of elements into parts by PT-Scotch, over all ranks (MPI_COMM_WORLD), whose shares follow one
/// another. The same numbers of ranks and parts give the same cut; another number of ranks may give another one. Sizes
/// stay within PT-Scotch's tolerance. Collective. Throws Error(unsupported) where the build has it not, or where a call
/// fails on any rank: ranks agree after each. Inside a call ranks agree as PT-Scotch itself does: one that is killed,
/// or that fails where PT-Scotch does not ask the others, leaves them waiting, which nothing outside of it can help.
partition::PartVector cut_by_scotch(const telemac::SharedDual& dual, std::int32_t parts);

}  // namespace octavo::engine
