#pragma once
#include <cstdint>
#include <functional>
#include <vector>

#include "octavo/telemac/cut/shared_mesh.hpp"

/// Cutting a mesh that ranks share.
namespace octavo::telemac {

/// This rank's share of the graph of elements that share an edge.
struct SharedDual {
  std::int64_t first = 0;             ///< of its elements
  std::vector<std::int32_t> behind;   ///< shape (elements, 3): what lies behind their sides, -1: nothing
  std::vector<std::int32_t> strange;  ///< elements of others among those, ascending
};

/// Cuts such a graph into parts; gives those of a rank's elements. Collective.
using GraphCut = std::function<partition::PartVector(const SharedDual&, std::int32_t parts)>;

/// Collective.
SharedDual share_dual(const SharedJob& job, const Block& block);

/// The parts of a block's elements: from the given cut, else by the job's method. The methods hilbert and inertial cut
/// as one process does; the method scotch calls `scotch`. If a method leaves parts empty, they are filled, and a note
/// says so. Collective.
partition::PartVector cut_block(const SharedJob& job, const Block& block, const GraphCut& scotch,
                                std::vector<std::string>& notes);

}  // namespace octavo::telemac
