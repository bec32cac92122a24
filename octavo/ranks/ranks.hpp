#pragma once
/// MPI for the whole library: communicators that free themselves, agreement on errors, exchange and routing of values.
/// It may touch MPI and base.
/// It never knows a mesh or a file, and never makes a collective call that depends on whether a rank has data.

#include "octavo/ranks/communicator.hpp"
#include "octavo/ranks/deliver.hpp"
#include "octavo/ranks/halves.hpp"
#include "octavo/ranks/key_share.hpp"
#include "octavo/ranks/route.hpp"
#include "octavo/ranks/world.hpp"
