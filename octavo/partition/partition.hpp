#pragma once
/// Cuts cells, triangles or solids into parts (METIS, Scotch, space-filling curve, inertia) and orders boundary lines.
/// It may touch the arrays that it is given, mesh, base, and the libraries METIS and Scotch.
/// It never reads or writes a file, and never calls MPI: numbers of other ranks come through base::Ranks.

#include "octavo/partition/contour.hpp"
#include "octavo/partition/cut.hpp"
#include "octavo/partition/graph.hpp"
