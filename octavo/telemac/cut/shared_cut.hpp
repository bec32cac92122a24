#pragma once
#include <cstdint>
#include <vector>

#include "octavo/telemac/cut/shared_mesh.hpp"

/// Cutting a mesh that ranks share.
namespace octavo::telemac {

/// Collective.
SharedDual share_dual(const SharedJob& job, const ElementBlock& block);

/// The parts of a block's elements: from the given cut, else by the job's method. The methods hilbert and inertial give
/// the same cut for any number of ranks. The methods metis and scotch cut in one process; with several ranks, scotch
/// calls the function `scotch`. If a method leaves parts empty, they are filled, and a note says so. Collective.
partition::PartVector cut_block(const SharedJob& job, ElementBlock& block, const GraphCut& scotch,
                                std::vector<std::string>& notes);

}  // namespace octavo::telemac
