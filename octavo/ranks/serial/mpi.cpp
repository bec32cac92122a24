#include "mpi.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>

struct octavo_serial_info {
  std::map<std::string, std::string> values;
};

struct octavo_serial_receive {
  void* values;
  std::size_t bytes;
  int tag;
  MPI_Comm comm;
};

namespace {

// Its bytes follow it. Made by malloc: a library of MPI does not fail where a program's own memory does.
struct Message {
  Message* next;
  std::size_t bytes;
  int tag;
  MPI_Comm comm;
};

Message* sent = nullptr;  // and not received yet, the oldest first
bool is_over = false;
int thread_level = MPI_THREAD_FUNNELED;

[[noreturn]] void end(const char* reason) {
  std::fprintf(stderr, "octavo, built without MPI: %s\n", reason);
  std::exit(2);
}

// Here a datatype is the size of its values in bytes.
std::size_t bytes_of(int count, MPI_Datatype type) {
  return static_cast<std::size_t>(count) * static_cast<std::size_t>(type);
}

int copy(const void* in, void* out, std::size_t bytes) {
  if (in != MPI_IN_PLACE && out != MPI_IN_PLACE && bytes > 0) std::memmove(out, in, bytes);
  return MPI_SUCCESS;
}

const void* at(const void* values, int offset, MPI_Datatype type) {
  return values == MPI_IN_PLACE ? values : static_cast<const char*>(values) + bytes_of(offset, type);
}
void* at(void* values, int offset, MPI_Datatype type) { return static_cast<char*>(values) + bytes_of(offset, type); }

// The place of the first message of this tag, in the order of sending.
Message** find(int tag, MPI_Comm comm) {
  Message** place = &sent;
  while (*place != nullptr && ((*place)->tag != tag || (*place)->comm != comm)) place = &(*place)->next;
  // A process that receives from itself before it sends would wait for ever under MPI.
  if (*place == nullptr) end("waits for a message of another rank, and there is none");
  return place;
}

void note(MPI_Status* status, int tag, std::size_t bytes) {
  if (status != MPI_STATUS_IGNORE) *status = {0, tag, MPI_SUCCESS, static_cast<int>(bytes)};
}

void receive(const octavo_serial_receive& wanted, MPI_Status* status) {
  Message** place = find(wanted.tag, wanted.comm);
  Message* message = *place;
  if (message->bytes > wanted.bytes) end("a message is longer than its receiver expects");
  copy(message + 1, wanted.values, message->bytes);
  note(status, wanted.tag, message->bytes);
  *place = message->next;
  std::free(message);
}

void complete(MPI_Request* request, MPI_Status* status) {
  if (*request == MPI_REQUEST_NULL) return;
  receive(**request, status);
  std::free(*request);
  *request = MPI_REQUEST_NULL;
}

}  // namespace

// ------------------------------------------------------------------ the program

int MPI_Init(int* count, char*** arguments) {
  int provided = 0;
  return MPI_Init_thread(count, arguments, MPI_THREAD_SINGLE, &provided);
}
int MPI_Init_thread(int*, char***, int wanted, int* provided) {
  thread_level = *provided = wanted < MPI_THREAD_FUNNELED ? wanted : MPI_THREAD_FUNNELED;
  return MPI_SUCCESS;
}
int MPI_Query_thread(int* provided) { return *provided = thread_level, MPI_SUCCESS; }
int MPI_Initialized(int* flag) { return *flag = 1, MPI_SUCCESS; }
int MPI_Finalized(int* flag) { return *flag = is_over ? 1 : 0, MPI_SUCCESS; }
int MPI_Finalize() { return is_over = true, MPI_SUCCESS; }
int MPI_Abort(MPI_Comm, int code) { std::_Exit(code); }
int MPI_Get_library_version(char* version, int* length) {
  *length = std::snprintf(version, MPI_MAX_LIBRARY_VERSION_STRING, "no MPI: a build of Octavo for one process");
  return MPI_SUCCESS;
}
double MPI_Wtime() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// ------------------------------------------------------------------ communicators

int MPI_Comm_rank(MPI_Comm, int* rank) { return *rank = 0, MPI_SUCCESS; }
int MPI_Comm_size(MPI_Comm, int* size) { return *size = 1, MPI_SUCCESS; }
int MPI_Comm_dup(MPI_Comm comm, MPI_Comm* made) { return *made = comm, MPI_SUCCESS; }
int MPI_Comm_split(MPI_Comm comm, int color, int, MPI_Comm* part) {
  *part = color == MPI_UNDEFINED ? MPI_COMM_NULL : comm;
  return MPI_SUCCESS;
}
int MPI_Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info, MPI_Comm* part) {
  return MPI_Comm_split(comm, type, key, part);
}
int MPI_Comm_free(MPI_Comm* comm) { return *comm = MPI_COMM_NULL, MPI_SUCCESS; }
MPI_Comm MPI_Comm_f2c(MPI_Fint comm) { return comm; }
MPI_Fint MPI_Comm_c2f(MPI_Comm comm) { return comm; }

// ------------------------------------------------------------------ collective calls

int MPI_Barrier(MPI_Comm) { return MPI_SUCCESS; }
int MPI_Bcast(void*, int, MPI_Datatype, int, MPI_Comm) { return MPI_SUCCESS; }
int MPI_Reduce(const void* in, void* out, int count, MPI_Datatype type, MPI_Op, int, MPI_Comm) {
  return copy(in, out, bytes_of(count, type));
}
int MPI_Allreduce(const void* in, void* out, int count, MPI_Datatype type, MPI_Op, MPI_Comm) {
  return copy(in, out, bytes_of(count, type));
}
int MPI_Iallreduce(const void* in, void* out, int count, MPI_Datatype type, MPI_Op, MPI_Comm, MPI_Request* request) {
  *request = MPI_REQUEST_NULL;
  return copy(in, out, bytes_of(count, type));
}
int MPI_Exscan(const void*, void*, int, MPI_Datatype, MPI_Op, MPI_Comm) { return MPI_SUCCESS; }
int MPI_Gather(const void* in, int in_count, MPI_Datatype in_type, void* out, int, MPI_Datatype, int, MPI_Comm) {
  return copy(in, out, bytes_of(in_count, in_type));
}
int MPI_Gatherv(const void* in, int in_count, MPI_Datatype in_type, void* out, const int*, const int* offsets,
                MPI_Datatype type, int, MPI_Comm) {
  return copy(in, at(out, *offsets, type), bytes_of(in_count, in_type));
}
int MPI_Scatterv(const void* in, const int* counts, const int* offsets, MPI_Datatype in_type, void* out, int,
                 MPI_Datatype, int, MPI_Comm) {
  return copy(at(in, *offsets, in_type), out, bytes_of(*counts, in_type));
}
int MPI_Allgather(const void* in, int in_count, MPI_Datatype in_type, void* out, int, MPI_Datatype, MPI_Comm) {
  return copy(in, out, bytes_of(in_count, in_type));
}
int MPI_Allgatherv(const void* in, int in_count, MPI_Datatype in_type, void* out, const int*, const int* offsets,
                   MPI_Datatype type, MPI_Comm) {
  return copy(in, at(out, *offsets, type), bytes_of(in_count, in_type));
}
int MPI_Alltoall(const void* in, int in_count, MPI_Datatype in_type, void* out, int, MPI_Datatype, MPI_Comm) {
  return copy(in, out, bytes_of(in_count, in_type));
}
int MPI_Alltoallv(const void* in, const int* in_counts, const int* in_offsets, MPI_Datatype in_type, void* out,
                  const int*, const int* offsets, MPI_Datatype type, MPI_Comm) {
  return copy(at(in, *in_offsets, in_type), at(out, *offsets, type), bytes_of(*in_counts, in_type));
}

// ------------------------------------------------------------------ messages

int MPI_Send(const void* values, int count, MPI_Datatype type, int, int tag, MPI_Comm comm) {
  const std::size_t bytes = bytes_of(count, type);
  auto* message = static_cast<Message*>(std::malloc(sizeof(Message) + bytes));
  if (message == nullptr) end("out of memory");
  *message = {nullptr, bytes, tag, comm};
  copy(values, message + 1, bytes);
  Message** last = &sent;
  while (*last != nullptr) last = &(*last)->next;
  *last = message;
  return MPI_SUCCESS;
}
int MPI_Recv(void* values, int count, MPI_Datatype type, int, int tag, MPI_Comm comm, MPI_Status* status) {
  receive({values, bytes_of(count, type), tag, comm}, status);
  return MPI_SUCCESS;
}
int MPI_Probe(int, int tag, MPI_Comm comm, MPI_Status* status) {
  note(status, tag, (*find(tag, comm))->bytes);
  return MPI_SUCCESS;
}
int MPI_Get_count(const MPI_Status* status, MPI_Datatype type, int* count) {
  *count = status->bytes / static_cast<int>(bytes_of(1, type));
  return MPI_SUCCESS;
}
int MPI_Isend(const void* values, int count, MPI_Datatype type, int rank, int tag, MPI_Comm comm,
              MPI_Request* request) {
  *request = MPI_REQUEST_NULL;
  return MPI_Send(values, count, type, rank, tag, comm);
}
int MPI_Irecv(void* values, int count, MPI_Datatype type, int, int tag, MPI_Comm comm, MPI_Request* request) {
  *request = static_cast<MPI_Request>(std::malloc(sizeof(octavo_serial_receive)));
  if (*request == nullptr) end("out of memory");
  **request = {values, bytes_of(count, type), tag, comm};
  return MPI_SUCCESS;
}
int MPI_Test(MPI_Request* request, int* done, MPI_Status* status) {
  complete(request, status);
  return *done = 1, MPI_SUCCESS;
}
int MPI_Waitall(int count, MPI_Request* requests, MPI_Status* statuses) {
  for (int i = 0; i < count; ++i)
    complete(requests + i, statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : statuses + i);
  return MPI_SUCCESS;
}

// ------------------------------------------------------------------ datatypes, operations, hints

int MPI_Type_contiguous(int count, MPI_Datatype type, MPI_Datatype* made) {
  *made = static_cast<MPI_Datatype>(bytes_of(count, type));
  return MPI_SUCCESS;
}
int MPI_Type_commit(MPI_Datatype*) { return MPI_SUCCESS; }
int MPI_Type_free(MPI_Datatype* type) { return *type = MPI_DATATYPE_NULL, MPI_SUCCESS; }
int MPI_Type_size(MPI_Datatype type, int* size) { return *size = type, MPI_SUCCESS; }
int MPI_Op_create(MPI_User_function*, int, MPI_Op* op) { return *op = MPI_SUM, MPI_SUCCESS; }
int MPI_Op_free(MPI_Op* op) { return *op = MPI_OP_NULL, MPI_SUCCESS; }
int MPI_Info_create(MPI_Info* info) { return *info = new octavo_serial_info, MPI_SUCCESS; }
int MPI_Info_set(MPI_Info info, const char* key, const char* value) {
  if (std::strlen(key) >= MPI_MAX_INFO_KEY || std::strlen(value) >= MPI_MAX_INFO_VAL) return 1;
  info->values[key] = value;
  return MPI_SUCCESS;
}
int MPI_Info_get(MPI_Info info, const char* key, int length, char* value, int* found) {
  const auto entry = info->values.find(key);
  *found = entry != info->values.end() ? 1 : 0;
  if (*found != 0) std::snprintf(value, static_cast<std::size_t>(length) + 1, "%s", entry->second.c_str());
  return MPI_SUCCESS;
}
int MPI_Info_free(MPI_Info* info) {
  delete *info;
  return *info = MPI_INFO_NULL, MPI_SUCCESS;
}
