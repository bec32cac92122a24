#pragma once
/// Turns one step into another (open, regrid, reshape, recut, over time) and writes a step as an output of another
/// format. It may touch formats, store, partition and the rooms below them. It never prints, never knows a verb's
/// options, and never calls MPI.

#include "octavo/step/new_file.hpp"
#include "octavo/step/open.hpp"
#include "octavo/step/over_time.hpp"
#include "octavo/step/read_box.hpp"
#include "octavo/step/recut.hpp"
#include "octavo/step/regrid.hpp"
#include "octavo/step/reshape.hpp"
#include "octavo/step/shared.hpp"
#include "octavo/step/target.hpp"
#include "octavo/step/write.hpp"
