#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <unordered_map>
#include <utility>

#include "counted.hpp"
#include "fibers.hpp"
#include "simulated.hpp"

/// The functions of MPI that the engine calls. In simulate() they serve virtual ranks, else the library's own function
/// of the same arguments does (PMPI_...). Collective calls wait for all ranks, which the standard allows.
namespace octavo::simulated {
namespace {

using Bytes = std::vector<char>;

// A communicator: the ranks of the machine in it, ascending; empty: all.
struct Group {
  std::vector<int> members;
  std::shared_ptr<struct Meeting> meeting;  // the collective call that some of its ranks have made
};

// A collective call under way. Those who have met keep it until each has taken its result.
struct Meeting {
  int arrived = 0;
  Bytes data;
  std::vector<std::pair<std::size_t, std::size_t>> pieces;  // by rank, where each rank gives another piece
  std::vector<int> waiting;
  std::vector<std::int64_t> numbers;  // split: communicators
};

// On which way a message comes to its receiver.
struct Way {
  int comm = 0, sender = 0, tag = 0;
  bool operator==(const Way&) const = default;
};

struct Receive {
  void* to = nullptr;
  std::size_t bytes = 0;
  Way from;
};

// Messages to a rank that it has not received yet, the oldest first, and the way on which it waits for one. They are
// few at a time.
struct Letter {
  Way way;
  Bytes bytes;
};
struct Inbox {
  std::vector<Letter> letters;
  std::optional<Way> waits_for;
};

struct World {
  Machine machine;
  Fibers fibers;
  std::vector<Group> groups{{}};
  std::vector<Activity> activities;
  std::vector<Inbox> inboxes;  // by rank
  std::size_t probed = 0;      // size of the message that was probed last
  std::unordered_map<std::int64_t, Receive> receives;
  std::vector<std::size_t> types;
  std::vector<std::size_t> free_types;
  std::vector<MPI_User_function*> operations;
  std::vector<std::size_t> free_operations;
  std::int64_t next_request = 0;
};

thread_local World* world = nullptr;  // threads of the engine have none, and make no call of MPI
Activity* recorded = nullptr;         // by record()

[[noreturn]] void fail(const std::string& what) { throw std::logic_error("simulated MPI: " + what); }

// Handles of our own are numbers far from those of the library.
constexpr std::intptr_t first_handle = 1 << 20;
template <class Handle>
Handle handle_of(std::int64_t number) {
  return (Handle)(first_handle + number);  // a pointer or an integer
}
template <class Handle>
std::int64_t number_of(Handle handle) {
  return (std::intptr_t)handle - first_handle;
}

int me() { return world->fibers.current(); }
int id_of(MPI_Comm comm) { return comm == MPI_COMM_WORLD ? 0 : static_cast<int>(number_of(comm)); }
Group& group_of(MPI_Comm comm) { return world->groups.at(static_cast<std::size_t>(id_of(comm))); }
int size_in(const Group& group) {
  return group.members.empty() ? world->machine.ranks : static_cast<int>(group.members.size());
}
int rank_of(const Group& group) {
  if (group.members.empty()) return me();
  return static_cast<int>(std::lower_bound(group.members.begin(), group.members.end(), me()) - group.members.begin());
}
int world_rank(const Group& group, int rank) {
  return group.members.empty() ? rank : group.members[static_cast<std::size_t>(rank)];
}

// ------------------------------------------------------------------ types and operations

enum class Number : std::uint8_t { bytes, int32, int64, uint32, uint64, float32, float64 };

Number kind_of(MPI_Datatype type) {
  if (type == MPI_INT || type == MPI_INT32_T) return Number::int32;
  if (type == MPI_INT64_T) return Number::int64;
  if (type == MPI_UINT32_T) return Number::uint32;
  if (type == MPI_UINT64_T || type == MPI_UNSIGNED_LONG_LONG) return Number::uint64;
  if (type == MPI_FLOAT) return Number::float32;
  if (type == MPI_DOUBLE) return Number::float64;
  return Number::bytes;
}

std::size_t bytes_of(MPI_Datatype type) {
  switch (kind_of(type)) {
    case Number::int32:
    case Number::uint32:
    case Number::float32: return 4;
    case Number::int64:
    case Number::uint64:
    case Number::float64: return 8;
    case Number::bytes: break;
  }
  if (type == MPI_BYTE || type == MPI_CHAR) return 1;
  if (world == nullptr) {
    int size = 0;
    PMPI_Type_size(type, &size);
    return static_cast<std::size_t>(size);
  }
  return world->types.at(static_cast<std::size_t>(number_of(type)));
}
std::size_t bytes_of(int count, MPI_Datatype type) { return static_cast<std::size_t>(count) * bytes_of(type); }

template <class T>
void combine_as(const char* in, char* to, std::size_t bytes, MPI_Op op) {
  for (std::size_t at = 0; at < bytes; at += sizeof(T)) {
    T a{}, b{};
    std::memcpy(&a, to + at, sizeof a);
    std::memcpy(&b, in + at, sizeof b);
    const T both = op == MPI_MAX ? std::max(a, b) : op == MPI_MIN ? std::min(a, b) : static_cast<T>(a + b);
    std::memcpy(to + at, &both, sizeof both);
  }
}

void combine(const char* in, char* to, int count, MPI_Datatype type, MPI_Op op) {
  const std::size_t bytes = bytes_of(count, type);
  if (op != MPI_MAX && op != MPI_MIN && op != MPI_SUM) {
    std::vector<char> copy(in, in + bytes);
    world->operations.at(static_cast<std::size_t>(number_of(op)))(copy.data(), to, &count, &type);
    return;
  }
  switch (kind_of(type)) {
    case Number::int32: return combine_as<std::int32_t>(in, to, bytes, op);
    case Number::int64: return combine_as<std::int64_t>(in, to, bytes, op);
    case Number::uint32: return combine_as<std::uint32_t>(in, to, bytes, op);
    case Number::uint64: return combine_as<std::uint64_t>(in, to, bytes, op);
    case Number::float32: return combine_as<float>(in, to, bytes, op);
    case Number::float64: return combine_as<double>(in, to, bytes, op);
    case Number::bytes: fail("a reduction of bytes");
  }
}

// ------------------------------------------------------------------ the record

bool keeps_calls(int rank) { return rank <= 1 || rank + 1 == world->machine.ranks; }

void note(Activity& activity, bool keeps, Call call, int rank, bool is_library) {
  (is_library ? activity.library : activity.traffic) += cost_of(call, rank);
  if (keeps) activity.calls.push_back(std::move(call));
}

// A collective call, which this rank is about to make.
void note(const char* name, MPI_Comm comm, std::size_t bytes, int root = 0) {
  const bool is_library = std::strcmp(name, "split") == 0 || std::strcmp(name, "dup") == 0;
  int ranks = 1, rank = 0;
  if (world != nullptr) {
    const Uncounted own;
    ranks = size_in(group_of(comm));
    rank = (rank_of(group_of(comm)) - root + ranks) % ranks;
    note(world->activities[static_cast<std::size_t>(me())], keeps_calls(me()),
         {name, ranks, static_cast<std::int64_t>(bytes)}, rank, is_library);
  } else if (recorded != nullptr) {
    PMPI_Comm_size(comm, &ranks);
    PMPI_Comm_rank(comm, &rank);
    note(*recorded, true, {name, ranks, static_cast<std::int64_t>(bytes)}, (rank - root + ranks) % ranks, is_library);
  }
}

void note_message(const char* name, std::size_t bytes) {
  const Uncounted own;
  const Call call{name, 2, static_cast<std::int64_t>(bytes)};
  if (world != nullptr)
    note(world->activities[static_cast<std::size_t>(me())], keeps_calls(me()), call, 0, false);
  else if (recorded != nullptr)
    note(*recorded, true, call, 0, false);
}

// ------------------------------------------------------------------ meeting

// All ranks of the communicator come together: each gives something, the last ends the call, each takes its result.
// `give` and `end` work on the meeting's own memory.
template <class Give, class End, class Take>
void meet(MPI_Comm comm, Give&& give, End&& end, Take&& take) {
  std::shared_ptr<Meeting> meeting;
  const int rank = rank_of(group_of(comm)), size = size_in(group_of(comm));
  bool last = false;
  {
    const Uncounted own;
    Group& group = group_of(comm);
    if (!group.meeting) group.meeting = std::make_shared<Meeting>();
    meeting = group.meeting;
    give(*meeting, rank, size);
    last = ++meeting->arrived == size;
    if (last) {
      group.meeting.reset();
      end(*meeting, size);
      for (const int other : meeting->waiting) world->fibers.wake(other);
    } else {
      meeting->waiting.push_back(me());
    }
  }
  if (!last) world->fibers.wait();
  const Uncounted own;
  take(*meeting, rank, size);
  meeting.reset();
}

const auto nothing = [](Meeting&, int, int) {};
const auto no_end = [](Meeting&, int) {};

void put(Meeting& meeting, std::size_t at, const void* from, std::size_t bytes) {
  if (meeting.data.size() < at + bytes) meeting.data.resize(at + bytes);
  if (bytes > 0) std::memcpy(meeting.data.data() + at, from, bytes);
}

// Pieces of any size.
void put_piece(Meeting& meeting, int rank, int size, const void* from, std::size_t bytes) {
  meeting.pieces.resize(static_cast<std::size_t>(size));
  const std::size_t at = meeting.data.size();
  meeting.pieces[static_cast<std::size_t>(rank)] = {at, bytes};
  put(meeting, at, from, bytes);
}
void take_piece(const Meeting& meeting, int rank, void* to) {
  const auto [at, bytes] = meeting.pieces[static_cast<std::size_t>(rank)];
  if (bytes > 0) std::memcpy(to, meeting.data.data() + at, bytes);
}

void allreduce(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  const void* mine = in == MPI_IN_PLACE ? out : in;
  const std::size_t bytes = bytes_of(count, type);
  meet(
      comm,
      [&](Meeting& meeting, int, int) {
        if (meeting.arrived == 0)
          put(meeting, 0, mine, bytes);
        else
          combine(static_cast<const char*>(mine), meeting.data.data(), count, type, op);
      },
      no_end, [&](Meeting& meeting, int, int) { std::memcpy(out, meeting.data.data(), bytes); });
}

// The new communicators of a split: their numbers by rank. Ranks of a color are in the order of their keys.
void end_split(Meeting& meeting, const Group& group, int size) {
  std::map<int, std::vector<std::pair<int, int>>> colors;
  for (int rank = 0; rank < size; ++rank) {
    std::array<int, 2> given{};
    std::memcpy(given.data(), meeting.data.data() + static_cast<std::size_t>(rank) * sizeof given, sizeof given);
    if (given[0] != MPI_UNDEFINED) colors[given[0]].emplace_back(given[1], rank);
  }
  meeting.numbers.assign(static_cast<std::size_t>(size), -1);
  std::vector<Group> made;
  for (auto& [color, ranks] : colors) {
    std::stable_sort(ranks.begin(), ranks.end());
    Group part;
    for (const auto& [key, rank] : ranks) {
      part.members.push_back(world_rank(group, rank));
      meeting.numbers[static_cast<std::size_t>(rank)] = static_cast<std::int64_t>(world->groups.size() + made.size());
    }
    if (part.members.size() == static_cast<std::size_t>(world->machine.ranks)) part.members.clear();
    if (!std::is_sorted(part.members.begin(), part.members.end())) fail("a communicator in another order");
    made.push_back(std::move(part));
  }
  for (Group& part : made) world->groups.push_back(std::move(part));
}

int split(MPI_Comm comm, int color, int key, MPI_Comm* made) {
  const std::array<int, 2> given{color, key};
  const int id = id_of(comm);
  meet(
      comm,
      [&](Meeting& meeting, int rank, int) {
        put(meeting, static_cast<std::size_t>(rank) * sizeof given, given.data(), sizeof given);
      },
      [&](Meeting& meeting, int size) {
        const Group whole{world->groups[static_cast<std::size_t>(id)].members, {}};
        end_split(meeting, whole, size);
      },
      [&](Meeting& meeting, int rank, int) {
        const std::int64_t number = meeting.numbers[static_cast<std::size_t>(rank)];
        *made = number < 0 ? MPI_COMM_NULL : handle_of<MPI_Comm>(number);
      });
  return MPI_SUCCESS;
}

// ------------------------------------------------------------------ messages

void send(const void* values, std::size_t bytes, int to, int tag, MPI_Comm comm) {
  const Uncounted own;
  const int receiver = world_rank(group_of(comm), to);
  Inbox& inbox = world->inboxes[static_cast<std::size_t>(receiver)];
  const auto* begin = static_cast<const char*>(values);
  const Way way{id_of(comm), me(), tag};
  inbox.letters.push_back({way, Bytes(begin, begin + bytes)});
  if (inbox.waits_for != way) return;
  inbox.waits_for.reset();
  world->fibers.wake(receiver);
}

// Waits for the first message that comes on this way. It stays in the inbox.
std::vector<Letter>::iterator wait_for(const Way& way) {
  Inbox& inbox = world->inboxes[static_cast<std::size_t>(me())];
  for (;;) {
    const auto found =
        std::find_if(inbox.letters.begin(), inbox.letters.end(), [&](const Letter& one) { return one.way == way; });
    if (found != inbox.letters.end()) return found;
    inbox.waits_for = way;
    world->fibers.wait();
  }
}

void receive(const Receive& wanted) {
  const auto found = wait_for(wanted.from);
  const Uncounted own;
  if (found->bytes.size() > wanted.bytes) fail("a message is longer than its receiver expects");
  if (!found->bytes.empty()) std::memcpy(wanted.to, found->bytes.data(), found->bytes.size());
  world->inboxes[static_cast<std::size_t>(me())].letters.erase(found);
}

}  // namespace

bool is_virtual_rank() { return world != nullptr && me() >= 0; }

bool pass_turn() {
  if (!is_virtual_rank()) return false;
  world->fibers.pass();
  return true;
}

void uncounted(const std::function<void()>& work) {
  const Uncounted own;
  work();
}

std::vector<Activity> simulate(const Machine& machine, const std::function<void(int rank)>& program,
                               const std::function<void(int rank)>& switched) {
  if (machine.ranks < 1 || machine.ranks_per_host < 1) throw std::invalid_argument("a machine without ranks");
  World mine;
  mine.machine = machine;
  mine.activities.resize(static_cast<std::size_t>(machine.ranks));
  mine.inboxes.resize(static_cast<std::size_t>(machine.ranks));
  mine.fibers.switched = switched;
  world = &mine;
  try {
    mine.fibers.run(machine.ranks, program);
  } catch (...) {
    world = nullptr;
    throw;
  }
  world = nullptr;
  for (std::size_t rank = 0; rank < mine.activities.size(); ++rank) {
    mine.activities[rank].heap = mine.fibers.memory[rank].most;
    mine.activities[rank].stack = mine.fibers.memory[rank].stack;
  }
  return std::move(mine.activities);
}

Activity record(const std::function<void()>& program) {
  Activity activity;
  recorded = &activity;
  try {
    program();
  } catch (...) {
    recorded = nullptr;
    throw;
  }
  recorded = nullptr;
  return activity;
}

}  // namespace octavo::simulated

using namespace octavo::simulated;

// ------------------------------------------------------------------ the program

int MPI_Initialized(int* flag) { return world != nullptr ? (*flag = 1, MPI_SUCCESS) : PMPI_Initialized(flag); }
int MPI_Finalized(int* flag) { return world != nullptr ? (*flag = 0, MPI_SUCCESS) : PMPI_Finalized(flag); }
int MPI_Query_thread(int* provided) {
  return world != nullptr ? (*provided = MPI_THREAD_FUNNELED, MPI_SUCCESS) : PMPI_Query_thread(provided);
}

// ------------------------------------------------------------------ communicators

int MPI_Comm_rank(MPI_Comm comm, int* rank) {
  return world != nullptr ? (*rank = rank_of(group_of(comm)), MPI_SUCCESS) : PMPI_Comm_rank(comm, rank);
}
int MPI_Comm_size(MPI_Comm comm, int* size) {
  return world != nullptr ? (*size = size_in(group_of(comm)), MPI_SUCCESS) : PMPI_Comm_size(comm, size);
}
int MPI_Comm_dup(MPI_Comm comm, MPI_Comm* made) {
  note("dup", comm, 4);
  if (world == nullptr) return PMPI_Comm_dup(comm, made);
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  return split(comm, 0, rank, made);
}
int MPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm* part) {
  note("split", comm, 8);
  return world != nullptr ? split(comm, color, key, part) : PMPI_Comm_split(comm, color, key, part);
}
int MPI_Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm* part) {
  note("split", comm, 8);
  if (world == nullptr) return PMPI_Comm_split_type(comm, type, key, info, part);
  return split(comm, me() / world->machine.ranks_per_host, key, part);
}
int MPI_Comm_free(MPI_Comm* comm) {
  if (world == nullptr) return PMPI_Comm_free(comm);
  *comm = MPI_COMM_NULL;  // numbers of communicators are not used again
  return MPI_SUCCESS;
}

// ------------------------------------------------------------------ collective calls

int MPI_Barrier(MPI_Comm comm) {
  note("barrier", comm, 0);
  if (world == nullptr) return PMPI_Barrier(comm);
  meet(comm, nothing, no_end, nothing);
  return MPI_SUCCESS;
}
int MPI_Bcast(void* values, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  const std::size_t bytes = bytes_of(count, type);
  note("bcast", comm, bytes, root);
  if (world == nullptr) return PMPI_Bcast(values, count, type, root, comm);
  meet(
      comm, [&](Meeting& meeting, int rank, int) { rank == root ? put(meeting, 0, values, bytes) : void(); }, no_end,
      [&](Meeting& meeting, int, int) {
        if (meeting.data.size() != bytes) fail("a broadcast of other lengths");
        if (bytes > 0) std::memcpy(values, meeting.data.data(), bytes);
      });
  return MPI_SUCCESS;
}
int MPI_Allreduce(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  note("allreduce", comm, bytes_of(count, type));
  if (world == nullptr) return PMPI_Allreduce(in, out, count, type, op, comm);
  allreduce(in, out, count, type, op, comm);
  return MPI_SUCCESS;
}
int MPI_Iallreduce(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                   MPI_Request* request) {
  note("allreduce", comm, bytes_of(count, type));
  if (world == nullptr) return PMPI_Iallreduce(in, out, count, type, op, comm, request);
  allreduce(in, out, count, type, op, comm);
  *request = MPI_REQUEST_NULL;
  return MPI_SUCCESS;
}
int MPI_Reduce(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm) {
  const std::size_t bytes = bytes_of(count, type);
  note("reduce", comm, bytes, root);
  if (world == nullptr) return PMPI_Reduce(in, out, count, type, op, root, comm);
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  Bytes all;
  uncounted([&] { all.resize(bytes); });
  if (in == MPI_IN_PLACE) std::memcpy(all.data(), out, bytes);
  allreduce(in == MPI_IN_PLACE ? MPI_IN_PLACE : in, all.data(), count, type, op, comm);
  if (rank == root) std::memcpy(out, all.data(), bytes);
  uncounted([&] { all = Bytes(); });
  return MPI_SUCCESS;
}
int MPI_Exscan(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  const std::size_t bytes = bytes_of(count, type);
  note("exscan", comm, bytes);
  if (world == nullptr) return PMPI_Exscan(in, out, count, type, op, comm);
  meet(
      comm,
      [&](Meeting& meeting, int rank, int) {
        put(meeting, static_cast<std::size_t>(rank) * bytes, in == MPI_IN_PLACE ? out : in, bytes);
      },
      [&](Meeting& meeting, int size) {  // each place then holds the sum up to its rank
        for (int rank = 1; rank < size; ++rank) {
          char* const here = meeting.data.data() + static_cast<std::size_t>(rank) * bytes;
          combine(here - bytes, here, count, type, op);
        }
      },
      [&](Meeting& meeting, int rank, int) {
        if (rank > 0) std::memcpy(out, meeting.data.data() + static_cast<std::size_t>(rank - 1) * bytes, bytes);
      });
  return MPI_SUCCESS;
}
int MPI_Gather(const void* in, int in_count, MPI_Datatype in_type, void* out, int count, MPI_Datatype type, int root,
               MPI_Comm comm) {
  const std::size_t bytes = bytes_of(in_count, in_type);
  note("gather", comm, bytes, root);
  if (world == nullptr) return PMPI_Gather(in, in_count, in_type, out, count, type, root, comm);
  meet(
      comm, [&](Meeting& meeting, int rank, int) { put(meeting, static_cast<std::size_t>(rank) * bytes, in, bytes); },
      no_end,
      [&](Meeting& meeting, int rank, int) {
        if (rank == root) std::memcpy(out, meeting.data.data(), meeting.data.size());
      });
  return MPI_SUCCESS;
}
int MPI_Gatherv(const void* in, int in_count, MPI_Datatype in_type, void* out, const int* counts, const int* offsets,
                MPI_Datatype type, int root, MPI_Comm comm) {
  note("gather", comm, bytes_of(in_count, in_type), root);
  if (world == nullptr) return PMPI_Gatherv(in, in_count, in_type, out, counts, offsets, type, root, comm);
  meet(
      comm,
      [&](Meeting& meeting, int rank, int size) { put_piece(meeting, rank, size, in, bytes_of(in_count, in_type)); },
      no_end,
      [&](Meeting& meeting, int rank, int size) {
        for (int r = 0; rank == root && r < size; ++r)
          take_piece(meeting, r, static_cast<char*>(out) + bytes_of(offsets[r], type));
      });
  return MPI_SUCCESS;
}
int MPI_Scatterv(const void* in, const int* counts, const int* offsets, MPI_Datatype in_type, void* out, int count,
                 MPI_Datatype type, int root, MPI_Comm comm) {
  note("scatter", comm, bytes_of(count, type), root);
  if (world == nullptr) return PMPI_Scatterv(in, counts, offsets, in_type, out, count, type, root, comm);
  meet(
      comm,
      [&](Meeting& meeting, int rank, int size) {
        if (rank != root) return;
        meeting.pieces.resize(static_cast<std::size_t>(size));
        for (int r = 0; r < size; ++r) {
          const std::size_t bytes = bytes_of(counts[r], in_type), at = meeting.data.size();
          meeting.pieces[static_cast<std::size_t>(r)] = {at, bytes};
          put(meeting, at, static_cast<const char*>(in) + bytes_of(offsets[r], in_type), bytes);
        }
      },
      no_end, [&](Meeting& meeting, int rank, int) { take_piece(meeting, rank, out); });
  return MPI_SUCCESS;
}
int MPI_Allgather(const void* in, int in_count, MPI_Datatype in_type, void* out, int count, MPI_Datatype type,
                  MPI_Comm comm) {
  const std::size_t bytes = bytes_of(count, type);
  note("allgather", comm, bytes);
  if (world == nullptr) return PMPI_Allgather(in, in_count, in_type, out, count, type, comm);
  meet(
      comm, [&](Meeting& meeting, int rank, int) { put(meeting, static_cast<std::size_t>(rank) * bytes, in, bytes); },
      no_end, [&](Meeting& meeting, int, int) { std::memcpy(out, meeting.data.data(), meeting.data.size()); });
  return MPI_SUCCESS;
}
int MPI_Allgatherv(const void* in, int in_count, MPI_Datatype in_type, void* out, const int* counts, const int* offsets,
                   MPI_Datatype type, MPI_Comm comm) {
  int size = 1;
  MPI_Comm_size(comm, &size);
  std::int64_t all = 0;
  for (int r = 0; r < size; ++r) all += counts[r];
  note("allgather", comm, static_cast<std::size_t>(all) * bytes_of(type) / static_cast<std::size_t>(size));
  if (world == nullptr) return PMPI_Allgatherv(in, in_count, in_type, out, counts, offsets, type, comm);
  meet(
      comm, [&](Meeting& meeting, int rank, int) { put_piece(meeting, rank, size, in, bytes_of(in_count, in_type)); },
      no_end,
      [&](Meeting& meeting, int, int) {
        for (int r = 0; r < size; ++r) take_piece(meeting, r, static_cast<char*>(out) + bytes_of(offsets[r], type));
      });
  return MPI_SUCCESS;
}
int MPI_Alltoall(const void* in, int in_count, MPI_Datatype in_type, void* out, int count, MPI_Datatype type,
                 MPI_Comm comm) {
  const std::size_t bytes = bytes_of(count, type);
  note("alltoall", comm, bytes);
  if (world == nullptr) return PMPI_Alltoall(in, in_count, in_type, out, count, type, comm);
  meet(
      comm,
      [&](Meeting& meeting, int rank, int size) {
        const std::size_t row = bytes * static_cast<std::size_t>(size);
        put(meeting, static_cast<std::size_t>(rank) * row, in, row);
      },
      no_end,
      [&](Meeting& meeting, int rank, int size) {
        for (std::size_t r = 0; r < static_cast<std::size_t>(size); ++r)
          std::memcpy(
              static_cast<char*>(out) + r * bytes,
              meeting.data.data() + (r * static_cast<std::size_t>(size) + static_cast<std::size_t>(rank)) * bytes,
              bytes);
      });
  return MPI_SUCCESS;
}

// ------------------------------------------------------------------ messages

int MPI_Send(const void* values, int count, MPI_Datatype type, int rank, int tag, MPI_Comm comm) {
  note_message("send", bytes_of(count, type));
  if (world == nullptr) return PMPI_Send(values, count, type, rank, tag, comm);
  send(values, bytes_of(count, type), rank, tag, comm);
  return MPI_SUCCESS;
}
int MPI_Isend(const void* values, int count, MPI_Datatype type, int rank, int tag, MPI_Comm comm,
              MPI_Request* request) {
  note_message("send", bytes_of(count, type));
  if (world == nullptr) return PMPI_Isend(values, count, type, rank, tag, comm, request);
  send(values, bytes_of(count, type), rank, tag, comm);
  *request = MPI_REQUEST_NULL;
  return MPI_SUCCESS;
}
int MPI_Recv(void* values, int count, MPI_Datatype type, int rank, int tag, MPI_Comm comm, MPI_Status* status) {
  note_message("receive", bytes_of(count, type));
  if (world == nullptr) return PMPI_Recv(values, count, type, rank, tag, comm, status);
  receive({values, bytes_of(count, type), {id_of(comm), world_rank(group_of(comm), rank), tag}});
  return MPI_SUCCESS;
}
int MPI_Probe(int rank, int tag, MPI_Comm comm, MPI_Status* status) {
  if (world == nullptr) return PMPI_Probe(rank, tag, comm, status);
  world->probed = wait_for({id_of(comm), world_rank(group_of(comm), rank), tag})->bytes.size();
  return MPI_SUCCESS;
}
// Counts the message that was probed last: no other rank has its turn between the two calls.
int MPI_Get_count(const MPI_Status* status, MPI_Datatype type, int* count) {
  if (world == nullptr) return PMPI_Get_count(status, type, count);
  *count = static_cast<int>(world->probed / bytes_of(type));
  return MPI_SUCCESS;
}
int MPI_Irecv(void* values, int count, MPI_Datatype type, int rank, int tag, MPI_Comm comm, MPI_Request* request) {
  note_message("receive", bytes_of(count, type));
  if (world == nullptr) return PMPI_Irecv(values, count, type, rank, tag, comm, request);
  const Uncounted own;
  world->receives[world->next_request] = {
      values, bytes_of(count, type), {id_of(comm), world_rank(group_of(comm), rank), tag}};
  *request = handle_of<MPI_Request>(world->next_request++);
  return MPI_SUCCESS;
}
int MPI_Waitall(int count, MPI_Request* requests, MPI_Status* statuses) {
  if (world == nullptr) return PMPI_Waitall(count, requests, statuses);
  for (int i = 0; i < count; ++i) {
    if (requests[i] == MPI_REQUEST_NULL) continue;
    Receive wanted;
    uncounted([&] { wanted = world->receives.extract(number_of(requests[i])).mapped(); });
    receive(wanted);
    requests[i] = MPI_REQUEST_NULL;
  }
  return MPI_SUCCESS;
}
int MPI_Test(MPI_Request* request, int* done, MPI_Status* status) {
  if (world == nullptr) return PMPI_Test(request, done, status);
  *done = 1;
  return MPI_Waitall(1, request, MPI_STATUSES_IGNORE);
}

// ------------------------------------------------------------------ types and operations

int MPI_Type_contiguous(int count, MPI_Datatype type, MPI_Datatype* made) {
  if (world == nullptr) return PMPI_Type_contiguous(count, type, made);
  const Uncounted own;
  const std::size_t bytes = bytes_of(count, type);
  std::size_t number = world->types.size();
  if (world->free_types.empty()) {
    world->types.push_back(bytes);
  } else {
    number = world->free_types.back();
    world->free_types.pop_back();
    world->types[number] = bytes;
  }
  *made = handle_of<MPI_Datatype>(static_cast<std::int64_t>(number));
  return MPI_SUCCESS;
}
int MPI_Type_commit(MPI_Datatype* type) { return world != nullptr ? MPI_SUCCESS : PMPI_Type_commit(type); }
int MPI_Type_free(MPI_Datatype* type) {
  if (world == nullptr) return PMPI_Type_free(type);
  const Uncounted own;
  world->free_types.push_back(static_cast<std::size_t>(number_of(*type)));
  *type = MPI_DATATYPE_NULL;
  return MPI_SUCCESS;
}
int MPI_Type_size(MPI_Datatype type, int* size) {
  if (world == nullptr) return PMPI_Type_size(type, size);
  *size = static_cast<int>(bytes_of(type));
  return MPI_SUCCESS;
}
int MPI_Op_create(MPI_User_function* function, int commutes, MPI_Op* op) {
  if (world == nullptr) return PMPI_Op_create(function, commutes, op);
  const Uncounted own;
  std::size_t number = world->operations.size();
  if (world->free_operations.empty()) {
    world->operations.push_back(function);
  } else {
    number = world->free_operations.back();
    world->free_operations.pop_back();
    world->operations[number] = function;
  }
  *op = handle_of<MPI_Op>(static_cast<std::int64_t>(number));
  return MPI_SUCCESS;
}
int MPI_Op_free(MPI_Op* op) {
  if (world == nullptr) return PMPI_Op_free(op);
  const Uncounted own;
  world->free_operations.push_back(static_cast<std::size_t>(number_of(*op)));
  *op = MPI_OP_NULL;
  return MPI_SUCCESS;
}
