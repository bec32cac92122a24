#pragma once
/// MPI for the whole library: a communicator of one's own, agreement on errors, exchanges and routes of values.
/// It may touch MPI and base.
/// It never knows a mesh or a file, and never makes a collective call that depends on whether a rank has data.

#include "octavo/ranks/communicator.hpp"
#include "octavo/ranks/route.hpp"
#include "octavo/ranks/world.hpp"
