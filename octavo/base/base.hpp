#pragma once
/// The ground of all rooms: errors, bit arrays, byte order, checksums, threads, progress, and exchange of numbers
/// between ranks.
/// It may touch memory, threads and the clock.
/// It never knows a mesh, opens a file of a simulation, or calls MPI: `Ranks` is a row of functions that a caller fills
/// in.

#include "octavo/base/bit_array.hpp"
#include "octavo/base/byte_order.hpp"
#include "octavo/base/checksum.hpp"
#include "octavo/base/equal_shares.hpp"
#include "octavo/base/error.hpp"
#include "octavo/base/memory.hpp"
#include "octavo/base/progress.hpp"
#include "octavo/base/rank_exchange.hpp"
#include "octavo/base/rank_tree.hpp"
#include "octavo/base/ranks.hpp"
#include "octavo/base/threads.hpp"
