/* The kernel that packs arrays in device memory. This text is compiled three times: NVRTC makes octavo/engine/device/
 * pack_kernel_ptx.cpp of it (scripts/pack-kernel), the tests' stand-in for a device runs it as C++, and cuda.cpp takes
 * the structure. So it keeps to what CUDA C and C++ share, and includes nothing. */
#ifndef OCTAVO_ENGINE_DEVICE_PACK_KERNEL_H
#define OCTAVO_ENGINE_DEVICE_PACK_KERNEL_H

/* Values at regular distances, and where they go, one after the other. All addresses are the device's. */
struct octavo_pack_job {
  const unsigned char* from; /* the first value */
  unsigned char* to;         /* [count[0] * ... * count[4]] values, the first axis fastest */
  const unsigned* places;    /* [count[4]] of slices along the last axis; null: 0, 1, 2 ... */
  long long pitch[5];        /* [bytes] between values along each axis; may be negative */
  unsigned count[5];         /* their product is below 2^31 */
  unsigned size;             /* [bytes] of a value: 1, 2, 4 or 8; `from`, `to` and pitches are multiples */
};

#ifdef OCTAVO_DEVICE_CODE /* else a host compiler that wants the structure */

/* Slices whose place is 0xffffffff are filled with zeros. The grid's second axis counts jobs, its first one values. */
extern "C" __global__ void octavo_pack(const octavo_pack_job* jobs, unsigned num_jobs) {
  for (unsigned j = blockIdx.y; j < num_jobs; j += gridDim.y) {
    const octavo_pack_job job = jobs[j];
    const unsigned slice = job.count[0] * job.count[1] * job.count[2] * job.count[3];
    const unsigned values = slice * job.count[4], step = gridDim.x * blockDim.x;
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < values; i += step) {
      unsigned left = i / slice, inside = i - left * slice;
      const unsigned place = job.places ? job.places[left] : left;
      long long at = place * job.pitch[4];
      for (int axis = 0; axis < 4; ++axis) {
        left = inside / job.count[axis];
        at += (inside - left * job.count[axis]) * job.pitch[axis];
        inside = left;
      }
      const bool nowhere = job.places && place == 0xffffffffu;
      const unsigned char* from = job.from + at;
      if (job.size == 8)
        ((unsigned long long*)job.to)[i] = nowhere ? 0 : *(const unsigned long long*)from;
      else if (job.size == 4)
        ((unsigned*)job.to)[i] = nowhere ? 0 : *(const unsigned*)from;
      else if (job.size == 2)
        ((unsigned short*)job.to)[i] = nowhere ? 0 : *(const unsigned short*)from;
      else
        job.to[i] = nowhere ? 0 : *from;
    }
  }
}

#endif
#endif
