/* The part of MPI that Octavo uses, for a program of one process: a build without MPI takes this header in place of a
 * library's. Calls do what the MPI standard (version 3.1) asks of a communicator of one rank. MPI counts as started from
 * the beginning, so a program need not call MPI_Init. A datatype is its size in bytes. A receive that nothing was sent
 * for ends the program, because it would wait for ever. Not thread-safe: one thread calls MPI. */
#ifndef OCTAVO_SERIAL_MPI_H
#define OCTAVO_SERIAL_MPI_H

#ifdef __cplusplus
#include <cstddef>
#include <cstdint>
extern "C" {
#else
#include <stddef.h>
#include <stdint.h>
#endif

typedef int MPI_Comm;
typedef int MPI_Fint;
typedef int MPI_Datatype;
typedef int MPI_Op;
typedef struct octavo_serial_info* MPI_Info;
typedef struct octavo_serial_receive* MPI_Request;
typedef struct {
  int MPI_SOURCE, MPI_TAG, MPI_ERROR, bytes;
} MPI_Status;
typedef void MPI_User_function(void* in, void* in_and_out, int* count, MPI_Datatype* type);

enum { MPI_SUCCESS = 0, MPI_UNDEFINED = -32766, MPI_COMM_TYPE_SHARED = 1 };
enum { MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED, MPI_THREAD_MULTIPLE };
enum { MPI_MAX_INFO_KEY = 36, MPI_MAX_INFO_VAL = 256, MPI_MAX_LIBRARY_VERSION_STRING = 64 };

#define MPI_COMM_NULL ((MPI_Comm)0)
#define MPI_COMM_WORLD ((MPI_Comm)1)
#define MPI_COMM_SELF ((MPI_Comm)2)
#define MPI_INFO_NULL ((MPI_Info)0)
#define MPI_REQUEST_NULL ((MPI_Request)0)
#define MPI_STATUS_IGNORE ((MPI_Status*)0)
#define MPI_STATUSES_IGNORE ((MPI_Status*)0)
#define MPI_IN_PLACE ((void*)-1)

#define MPI_DATATYPE_NULL ((MPI_Datatype)0)
#define MPI_BYTE ((MPI_Datatype)1)
#define MPI_CHAR ((MPI_Datatype)1)
#define MPI_INT ((MPI_Datatype)sizeof(int))
#define MPI_INT32_T ((MPI_Datatype)4)
#define MPI_UINT32_T ((MPI_Datatype)4)
#define MPI_INT64_T ((MPI_Datatype)8)
#define MPI_UINT64_T ((MPI_Datatype)8)
#define MPI_UNSIGNED_LONG_LONG ((MPI_Datatype)sizeof(unsigned long long))
#define MPI_FLOAT ((MPI_Datatype)sizeof(float))
#define MPI_DOUBLE ((MPI_Datatype)sizeof(double))

/* Reductions of one rank's values are these values. */
#define MPI_OP_NULL ((MPI_Op)0)
#define MPI_MAX ((MPI_Op)1)
#define MPI_MIN ((MPI_Op)2)
#define MPI_SUM ((MPI_Op)3)

/* Names of their own for the linker, beside a program's MPI. */
#define MPI_Abort octavo_serial_abort
#define MPI_Allgather octavo_serial_allgather
#define MPI_Allgatherv octavo_serial_allgatherv
#define MPI_Allreduce octavo_serial_allreduce
#define MPI_Alltoall octavo_serial_alltoall
#define MPI_Alltoallv octavo_serial_alltoallv
#define MPI_Barrier octavo_serial_barrier
#define MPI_Bcast octavo_serial_bcast
#define MPI_Comm_c2f octavo_serial_comm_c2f
#define MPI_Comm_dup octavo_serial_comm_dup
#define MPI_Comm_f2c octavo_serial_comm_f2c
#define MPI_Comm_free octavo_serial_comm_free
#define MPI_Comm_rank octavo_serial_comm_rank
#define MPI_Comm_size octavo_serial_comm_size
#define MPI_Comm_split octavo_serial_comm_split
#define MPI_Comm_split_type octavo_serial_comm_split_type
#define MPI_Exscan octavo_serial_exscan
#define MPI_Finalize octavo_serial_finalize
#define MPI_Finalized octavo_serial_finalized
#define MPI_Gather octavo_serial_gather
#define MPI_Gatherv octavo_serial_gatherv
#define MPI_Get_count octavo_serial_get_count
#define MPI_Get_library_version octavo_serial_get_library_version
#define MPI_Iallreduce octavo_serial_iallreduce
#define MPI_Info_create octavo_serial_info_create
#define MPI_Info_free octavo_serial_info_free
#define MPI_Info_get octavo_serial_info_get
#define MPI_Info_set octavo_serial_info_set
#define MPI_Init octavo_serial_init
#define MPI_Init_thread octavo_serial_init_thread
#define MPI_Initialized octavo_serial_initialized
#define MPI_Irecv octavo_serial_irecv
#define MPI_Isend octavo_serial_isend
#define MPI_Op_create octavo_serial_op_create
#define MPI_Op_free octavo_serial_op_free
#define MPI_Probe octavo_serial_probe
#define MPI_Query_thread octavo_serial_query_thread
#define MPI_Recv octavo_serial_recv
#define MPI_Reduce octavo_serial_reduce
#define MPI_Scatterv octavo_serial_scatterv
#define MPI_Send octavo_serial_send
#define MPI_Test octavo_serial_test
#define MPI_Type_commit octavo_serial_type_commit
#define MPI_Type_contiguous octavo_serial_type_contiguous
#define MPI_Type_free octavo_serial_type_free
#define MPI_Type_size octavo_serial_type_size
#define MPI_Waitall octavo_serial_waitall
#define MPI_Wtime octavo_serial_wtime

/* ---- the program */
int MPI_Init(int* count, char*** arguments);
int MPI_Init_thread(int* count, char*** arguments, int wanted, int* provided);
int MPI_Query_thread(int* provided);
int MPI_Initialized(int* flag);
int MPI_Finalized(int* flag);
int MPI_Finalize(void);
int MPI_Abort(MPI_Comm comm, int code);
int MPI_Get_library_version(char* version, int* length);
double MPI_Wtime(void);

/* ---- communicators */
int MPI_Comm_rank(MPI_Comm comm, int* rank);
int MPI_Comm_size(MPI_Comm comm, int* size);
int MPI_Comm_dup(MPI_Comm comm, MPI_Comm* copy);
int MPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm* part);
int MPI_Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm* part);
int MPI_Comm_free(MPI_Comm* comm);
MPI_Comm MPI_Comm_f2c(MPI_Fint comm);
MPI_Fint MPI_Comm_c2f(MPI_Comm comm);

/* ---- collective calls */
int MPI_Barrier(MPI_Comm comm);
int MPI_Bcast(void* values, int count, MPI_Datatype type, int root, MPI_Comm comm);
int MPI_Reduce(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm);
int MPI_Allreduce(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm);
int MPI_Iallreduce(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                   MPI_Request* request);
int MPI_Exscan(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm);
int MPI_Gather(const void* in, int in_count, MPI_Datatype in_type, void* out, int count, MPI_Datatype type, int root,
               MPI_Comm comm);
int MPI_Gatherv(const void* in, int in_count, MPI_Datatype in_type, void* out, const int* counts, const int* offsets,
                MPI_Datatype type, int root, MPI_Comm comm);
int MPI_Scatterv(const void* in, const int* counts, const int* offsets, MPI_Datatype in_type, void* out, int count,
                 MPI_Datatype type, int root, MPI_Comm comm);
int MPI_Allgather(const void* in, int in_count, MPI_Datatype in_type, void* out, int count, MPI_Datatype type,
                  MPI_Comm comm);
int MPI_Allgatherv(const void* in, int in_count, MPI_Datatype in_type, void* out, const int* counts,
                   const int* offsets, MPI_Datatype type, MPI_Comm comm);
int MPI_Alltoall(const void* in, int in_count, MPI_Datatype in_type, void* out, int count, MPI_Datatype type,
                 MPI_Comm comm);
int MPI_Alltoallv(const void* in, const int* in_counts, const int* in_offsets, MPI_Datatype in_type, void* out,
                  const int* counts, const int* offsets, MPI_Datatype type, MPI_Comm comm);

/* ---- messages, all from this process to itself */
int MPI_Send(const void* values, int count, MPI_Datatype type, int rank, int tag, MPI_Comm comm);
int MPI_Recv(void* values, int count, MPI_Datatype type, int rank, int tag, MPI_Comm comm, MPI_Status* status);
int MPI_Probe(int rank, int tag, MPI_Comm comm, MPI_Status* status);
int MPI_Get_count(const MPI_Status* status, MPI_Datatype type, int* count);
int MPI_Isend(const void* values, int count, MPI_Datatype type, int rank, int tag, MPI_Comm comm,
              MPI_Request* request);
int MPI_Irecv(void* values, int count, MPI_Datatype type, int rank, int tag, MPI_Comm comm, MPI_Request* request);
int MPI_Test(MPI_Request* request, int* done, MPI_Status* status);
int MPI_Waitall(int count, MPI_Request* requests, MPI_Status* statuses);

/* ---- datatypes, operations, hints */
int MPI_Type_contiguous(int count, MPI_Datatype type, MPI_Datatype* made);
int MPI_Type_commit(MPI_Datatype* type);
int MPI_Type_free(MPI_Datatype* type);
int MPI_Type_size(MPI_Datatype type, int* size);
int MPI_Op_create(MPI_User_function* function, int commutes, MPI_Op* op);
int MPI_Op_free(MPI_Op* op);
int MPI_Info_create(MPI_Info* info);
int MPI_Info_set(MPI_Info info, const char* key, const char* value);
int MPI_Info_get(MPI_Info info, const char* key, int length, char* value, int* found);
int MPI_Info_free(MPI_Info* info);

#ifdef __cplusplus
}
#endif
#endif
