#include <p4est_to_p8est.h>
#include <p8est_bits.h>
#include <p8est_communication.h>
#include <p8est_extended.h>
#include <p8est_ghost.h>
#include <p8est_io.h>

#include "apps/blocks/forest.inc"

namespace octavo::blocks {

const ForestFunctions octrees{plant, restore, fell, leaves, adapt, deal, transfer, make_ghosts, exchange, owner};

}  // namespace octavo::blocks
