#pragma once
/// Selections, projections, statistics and comparison of one part; each gives a partial result that adds up.
/// It may touch mesh and base.
/// It never reads a file, never knows a format, and never adds the results of several parts: that is the caller's.

#include "octavo/analysis/camera.hpp"
#include "octavo/analysis/compare.hpp"
#include "octavo/analysis/histogram.hpp"
#include "octavo/analysis/line.hpp"
#include "octavo/analysis/project.hpp"
#include "octavo/analysis/select.hpp"
#include "octavo/analysis/slice.hpp"
#include "octavo/analysis/statistics.hpp"
#include "octavo/analysis/triangles.hpp"
