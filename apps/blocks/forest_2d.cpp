#include <p4est_bits.h>
#include <p4est_communication.h>
#include <p4est_extended.h>
#include <p4est_ghost.h>
#include <p4est_io.h>

#include "apps/blocks/forest.inc"

namespace octavo::blocks {

const ForestFunctions quadtrees{plant, restore, fell, leaves, adapt, deal, transfer, make_ghosts, exchange, owner};

const ForestFunctions& forest_functions(int dim) { return dim == 2 ? quadtrees : octrees; }

}  // namespace octavo::blocks
