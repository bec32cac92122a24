#pragma once
#include "octavo/engine/device/pack_kernel.h"

/// Octavo's kernel on the CPU: the text that NVRTC compiles for devices, compiled as C++.

struct Extent {
  unsigned x = 1, y = 1, z = 1;
};
struct Grid {
  Extent blocks, threads;
};

/// Within the limits of all devices since compute capability 3.0.
bool is_possible(const Grid& grid);
/// Runs each thread of the grid once, the last one first: no thread may need another. Addresses are the CPU's.
void run_pack_kernel(const octavo_pack_job* jobs, unsigned num_jobs, const Grid& grid);
