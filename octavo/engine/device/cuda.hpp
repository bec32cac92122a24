#pragma once
#include <cstddef>
#include <cstdint>

/// The part of CUDA's driver API that we call, as its documentation declares it: the build needs no toolkit.
namespace octavo::engine::device::cuda {

using Result = int;  // CUresult; 0: success
using Pointer = std::uint64_t;

constexpr Result invalid_value = 1, out_of_memory = 2, invalid_context = 201, invalid_handle = 400;
constexpr int attribute_context = 1, attribute_memory_type = 2, attribute_is_managed = 8, attribute_ordinal = 9;
constexpr unsigned memory_on_host = 1;
constexpr unsigned stream_non_blocking = 1, event_disable_timing = 2, host_alloc_portable = 1;

constexpr unsigned on_host = 1, by_address = 4;  // kinds of memory: the address says which device has it
constexpr std::int64_t max_pitch = 0x7fffffff;   // [bytes] between rows of a copy

/// CUDA_MEMCPY3D: rows at a pitch, in slices of `height` rows.
struct Copy3D {
  struct Side {
    std::size_t x = 0, y = 0, z = 0, level = 0;
    unsigned memory = 0;
    void* host = nullptr;
    Pointer device = 0;
    void *array = nullptr, *reserved = nullptr;
    std::size_t pitch = 0, height = 0;
  };
  Side from, to;
  std::size_t width = 0, height = 0, depth = 0;  // [bytes], rows, slices
};

/// The functions, found by name in the library.
struct Functions {
  Result (*init)(unsigned) = nullptr;
  Result (*driver_version)(int*) = nullptr;
  Result (*device_count)(int*) = nullptr;
  Result (*error_name)(Result, const char**) = nullptr;
  Result (*error_string)(Result, const char**) = nullptr;
  Result (*pointer_attribute)(void*, int, Pointer) = nullptr;
  Result (*retain_primary)(void**, int) = nullptr;
  Result (*release_primary)(int) = nullptr;
  Result (*push)(void*) = nullptr;
  Result (*pop)(void**) = nullptr;
  Result (*stream_create)(void**, unsigned) = nullptr;
  Result (*stream_destroy)(void*) = nullptr;
  Result (*stream_synchronize)(void*) = nullptr;
  Result (*stream_context)(void*, void**) = nullptr;
  Result (*stream_wait_event)(void*, void*, unsigned) = nullptr;
  Result (*event_create)(void**, unsigned) = nullptr;
  Result (*event_destroy)(void*) = nullptr;
  Result (*event_record)(void*, void*) = nullptr;
  Result (*event_synchronize)(void*) = nullptr;
  Result (*host_alloc)(void**, std::size_t, unsigned) = nullptr;
  Result (*host_free)(void*) = nullptr;
  Result (*copy_to_host)(void*, Pointer, std::size_t, void*) = nullptr;
  Result (*copy_3d)(const Copy3D*, void*) = nullptr;
  Result (*copy_to_device)(Pointer, const void*, std::size_t, void*) = nullptr;
  Result (*device_alloc)(Pointer*, std::size_t) = nullptr;
  Result (*device_free)(Pointer) = nullptr;
  Result (*address_range)(Pointer* first, std::size_t* bytes, Pointer) = nullptr;
  Result (*module_load)(void**, const void*) = nullptr;
  Result (*module_unload)(void*) = nullptr;
  Result (*module_function)(void**, void*, const char*) = nullptr;
  Result (*launch)(void* function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                   unsigned block_y, unsigned block_z, unsigned shared_bytes, void* stream, void** parameters,
                   void** extra) = nullptr;
};
/// Those of the driver that is loaded.
extern Functions functions;
/// Throws Error(no_space) or Error(unreadable) that names the function, unless the result is 0.
void require(Result result, const char* function);
void* new_event();
/// The kernel of pack_kernel.h as PTX, which any device from compute capability 5.0 on takes. scripts/pack-kernel makes
/// it.
extern const char* const pack_kernel_ptx;

/// Calls f(name in the library, member) for each function. A member is a reference to a pointer to a function.
template <class F>
void for_each_function(Functions& table, F&& f) {
  f("cuInit", table.init);
  f("cuDriverGetVersion", table.driver_version);
  f("cuDeviceGetCount", table.device_count);
  f("cuGetErrorName", table.error_name);
  f("cuGetErrorString", table.error_string);
  f("cuPointerGetAttribute", table.pointer_attribute);
  f("cuDevicePrimaryCtxRetain", table.retain_primary);
  f("cuDevicePrimaryCtxRelease_v2", table.release_primary);
  f("cuCtxPushCurrent_v2", table.push);
  f("cuCtxPopCurrent_v2", table.pop);
  f("cuStreamCreate", table.stream_create);
  f("cuStreamDestroy_v2", table.stream_destroy);
  f("cuStreamSynchronize", table.stream_synchronize);
  f("cuStreamGetCtx", table.stream_context);
  f("cuStreamWaitEvent", table.stream_wait_event);
  f("cuEventCreate", table.event_create);
  f("cuEventDestroy_v2", table.event_destroy);
  f("cuEventRecord", table.event_record);
  f("cuEventSynchronize", table.event_synchronize);
  f("cuMemHostAlloc", table.host_alloc);
  f("cuMemFreeHost", table.host_free);
  f("cuMemcpyDtoHAsync_v2", table.copy_to_host);
  f("cuMemcpy3DAsync_v2", table.copy_3d);
  f("cuMemcpyHtoDAsync_v2", table.copy_to_device);
  f("cuMemAlloc_v2", table.device_alloc);
  f("cuMemFree_v2", table.device_free);
  f("cuMemGetAddressRange_v2", table.address_range);
  f("cuModuleLoadData", table.module_load);
  f("cuModuleUnload", table.module_unload);
  f("cuModuleGetFunction", table.module_function);
  f("cuLaunchKernel", table.launch);
}

}  // namespace octavo::engine::device::cuda
