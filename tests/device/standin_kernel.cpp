// A kernel's words, as CUDA C has them; then its text.
#define OCTAVO_DEVICE_CODE
#define __global__
namespace {
struct Index {
  unsigned x, y, z;
};
thread_local Index blockIdx, threadIdx, blockDim, gridDim;
}  // namespace
#include "tests/device/standin_kernel.hpp"

#include "octavo/engine/device/pack_kernel.h"

bool is_possible(const Grid& grid) {
  const auto& [blocks, threads] = grid;
  if (blocks.x == 0 || blocks.y == 0 || blocks.z == 0 || threads.x == 0 || threads.y == 0 || threads.z == 0)
    return false;
  return blocks.x <= 0x7fffffff && blocks.y <= 65535 && blocks.z <= 65535 && threads.x <= 1024 && threads.y <= 1024 &&
         threads.z <= 64 && threads.x * threads.y * threads.z <= 1024;
}

void run_pack_kernel(const octavo_pack_job* jobs, unsigned num_jobs, const Grid& grid) {
  gridDim = {grid.blocks.x, grid.blocks.y, grid.blocks.z};
  blockDim = {grid.threads.x, grid.threads.y, grid.threads.z};
  for (blockIdx.y = gridDim.y; blockIdx.y-- > 0;)
    for (blockIdx.x = gridDim.x; blockIdx.x-- > 0;)
      for (threadIdx.x = blockDim.x; threadIdx.x-- > 0;) octavo_pack(jobs, num_jobs);
}
