/* The stand-in for CUDA's driver: what tests may do with it beyond the driver's own functions. */
#ifndef OCTAVO_TESTS_STANDIN_CUDA_H
#define OCTAVO_TESTS_STANDIN_CUDA_H
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Memory of the device, filled with 0xff. The CPU that touches it gets a signal. */
int cuMemAlloc_v2(unsigned long long* pointer, size_t bytes);
/* Memory that both can read. */
int cuMemAllocManaged(unsigned long long* pointer, size_t bytes, unsigned flags);
int cuMemFree_v2(unsigned long long pointer);
int cuMemHostAlloc(void** pointer, size_t bytes, unsigned flags);
int cuMemFreeHost(void* pointer);
/* flags 0: the default stream waits for this stream's work; 1: it does not. */
int cuStreamCreate(void** stream, unsigned flags);
int cuStreamDestroy_v2(void* stream);
int cuStreamSynchronize(void* stream);

/* Writes to device memory at once, as if a kernel had done so long ago; and reads it. Return 0, or 1 if the memory is
 * not the device's. */
int standin_poke(void* device, const void* from, size_t bytes);
int standin_peek(void* to, const void* device, size_t bytes);
/* A kernel: writes a copy of these values to device memory in the stream's turn, after a delay. */
int standin_kernel(void* stream, void* device, const void* from, size_t bytes);
/* A kernel without values that runs until standin_release(), which returns whether it still ran (20 s at most). */
void standin_hold(void* stream);
int standin_release(void);
/* Later allocations, streams and kernels on default streams are those of this device (0 to 3). */
void standin_use_device(int device);
/* Memory of a pool: it has no context of its own. */
int standin_allocate_from_pool(unsigned long long* pointer, size_t bytes);
/* A bug put in: 1: streams do not wait for events; 2: the host does not; 3: both; 0: none. */
void standin_forget(int which);
/* Microseconds that each copy and kernel takes. */
void standin_delay(int microseconds);
/* The n-th of the counted calls from now on (from 1) returns this error; 0: none does. If it is `lasting`, so does each
 * later one. Allocations and streams above are not counted when a test calls them before this. */
void standin_fail(long n, int error, int lasting);
/* Counted calls since standin_fail(). */
long standin_calls(void);
/* Bytes copied from the device and to it; pinned bytes, and bytes of the device, that the engine has now. */
size_t standin_copied(void);
size_t standin_sent(void);
size_t standin_pinned(void);
size_t standin_taken(void);
/* Modules are refused with this error, such as 222: the driver is too old for the PTX. 0: they are taken. */
void standin_refuse(int error);
/* Kernels launched by the engine. One that reads or writes memory that is not the device's loses the device. */
long standin_launches(void);
/* Primary contexts retained and not released; pinned buffers that were freed before the copies to them had ended. */
long standin_retained(void);
long standin_early_frees(void);
/* The most copies that were queued and had not ended, since the last such question. */
long standin_most_in_flight(void);

#ifdef __cplusplus
}
#endif
#endif
