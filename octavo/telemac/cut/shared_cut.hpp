#pragma once
#include <cstdint>
#include <vector>

#include "octavo/telemac/cut/shared_mesh.hpp"

/// Cutting a mesh that ranks share.
namespace octavo::telemac {

/// Collective.
SharedDual share_dual(const SharedJob& job, const Block& block);

/// The parts of a block's elements: from the given cut, else by the job's method. The methods hilbert and inertial cut
/// as one process does; metis and scotch cut in one process, of several the method scotch calls `scotch`. If a method
/// leaves parts empty, they are filled, and a note says so. Collective.
partition::PartVector cut_block(const SharedJob& job, Block& block, const GraphCut& scotch,
                                std::vector<std::string>& notes);

}  // namespace octavo::telemac
