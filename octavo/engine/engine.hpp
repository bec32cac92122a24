#pragma once
/// The parallel writer and the restart: a simulation's ranks hand over steps and go on, and start again from them.
/// It may touch every room, and MPI on the thread that the simulation calls from.
/// Its background threads never call MPI or HDF5, and it never reports a step as durable before all ranks have it on
/// disk.

#include "octavo/engine/options.hpp"
#include "octavo/engine/plan.hpp"
#include "octavo/engine/restart/restart.hpp"
#include "octavo/engine/restart/triangle_neighbours.hpp"
#include "octavo/engine/statistics.hpp"
#include "octavo/engine/targets/amrex_target.hpp"
#include "octavo/engine/targets/flash_target.hpp"
#include "octavo/engine/targets/series_target.hpp"
#include "octavo/engine/write/writer.hpp"
