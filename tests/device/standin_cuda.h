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
/* Microseconds that each copy and kernel takes. */
void standin_delay(int microseconds);
/* The n-th of the counted calls from now on (from 1) returns this error; 0: none does. If it is `lasting`, so does each
 * later one. Allocations and streams above are not counted when a test calls them before this. */
void standin_fail(long n, int error, int lasting);
/* Counted calls since standin_fail(). */
long standin_calls(void);
/* Bytes copied from the device, and pinned bytes that exist now. */
size_t standin_copied(void);
size_t standin_pinned(void);

#ifdef __cplusplus
}
#endif
#endif
