#pragma once
/// The work of TELEMAC's partel and gretel: cuts meshes and results into pieces (cut/, files/) and merges them.
/// It may touch verbs, step and the rooms below them.
/// It never calls MPI: ranks come as base::Ranks, and PT-Scotch as a function of the caller.

#include "octavo/telemac/cut/partition.hpp"
#include "octavo/telemac/files/piece_files.hpp"
#include "octavo/telemac/merge/merge_pieces.hpp"
