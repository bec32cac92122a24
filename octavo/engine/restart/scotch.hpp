#pragma once
#include <cstdint>

#include "octavo/telemac/cut/shared_cut.hpp"

namespace octavo::engine {

/// Whether this build has PT-Scotch.
bool has_scotch() noexcept;

/// Cuts the graph of elements into parts by PT-Scotch, on all ranks (MPI_COMM_WORLD), which hold consecutive shares.
/// The same numbers of ranks and parts give the same cut; another number of ranks may give another one. Sizes stay
/// within PT-Scotch's tolerance. Collective. Throws Error(unsupported) if the build lacks PT-Scotch, or if one of its
/// calls fails on any rank: ranks agree after each call. Within a call agreement is up to PT-Scotch: a rank that is
/// killed, or that fails where PT-Scotch does not ask the others, leaves them waiting, and we cannot prevent that.
partition::PartVector cut_by_scotch(const telemac::SharedDual& dual, std::int32_t parts);

}  // namespace octavo::engine
