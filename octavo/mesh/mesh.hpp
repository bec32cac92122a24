#pragma once
/// The data model: octrees, patches, triangles, particles and fields as plain arrays, and pure functions on them.
/// It may touch the arrays that it is given, and base.
/// It never reads or writes a file, and never knows which code or format a mesh comes from.

#include "octavo/mesh/dataset.hpp"
#include "octavo/mesh/field.hpp"
#include "octavo/mesh/octree.hpp"
#include "octavo/mesh/particles.hpp"
#include "octavo/mesh/patches.hpp"
#include "octavo/mesh/patches/octree_to_patches.hpp"
#include "octavo/mesh/patches/patches_to_octree.hpp"
#include "octavo/mesh/region.hpp"
#include "octavo/mesh/sides.hpp"
#include "octavo/mesh/solids.hpp"
#include "octavo/mesh/tree/curve.hpp"
#include "octavo/mesh/tree/merge.hpp"
#include "octavo/mesh/tree/prune.hpp"
#include "octavo/mesh/tree/refine.hpp"
#include "octavo/mesh/tree/regrid.hpp"
#include "octavo/mesh/tree/split.hpp"
#include "octavo/mesh/unstructured.hpp"
