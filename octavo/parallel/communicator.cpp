#include "octavo/parallel/communicator.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <limits>
#include <new>
#include <numeric>
#include <thread>
#include <utility>

#include "octavo/base/error.hpp"

namespace octavo::parallel {
namespace {

/// Collective. Gets memory that an exchange needs: where one rank has it not, all throw, before any waits for it.
void make_room(MPI_Comm comm, const std::function<void()>& work) {
  std::int64_t short_of = 0;
  try {
    work();
  } catch (const std::bad_alloc&) {
    short_of = 1;
  }
  largest_of_all(comm, {&short_of, 1});
  if (short_of != 0) throw base::Error(base::Kind::no_space, "out of memory on a rank, for what ranks exchange");
}

std::vector<std::string> gather(MPI_Comm comm, const std::string& mine) {
  std::vector<unsigned long long> lengths(static_cast<std::size_t>(size_of(comm)));
  const unsigned long long length = mine.size();
  MPI_Allgather(&length, 1, MPI_UNSIGNED_LONG_LONG, lengths.data(), 1, MPI_UNSIGNED_LONG_LONG, comm);
  if (std::accumulate(lengths.begin(), lengths.end(), 0ull) > std::numeric_limits<int>::max())
    throw base::Error(base::Kind::unsupported, "ranks exchange more than 2 GiB at once");
  std::vector<int> counts(lengths.begin(), lengths.end());
  std::vector<int> offsets(counts.size(), 0);
  std::partial_sum(counts.begin(), counts.end() - 1, offsets.begin() + 1);
  std::string all;
  const auto total = static_cast<std::size_t>(offsets.back()) + static_cast<std::size_t>(counts.back());
  if (total < std::size_t{1} << 20)
    all.resize(total);
  else
    make_room(comm, [&] { all.resize(total); });
  MPI_Allgatherv(mine.data(), static_cast<int>(length), MPI_BYTE, all.data(), counts.data(), offsets.data(), MPI_BYTE,
                 comm);
  std::vector<std::string> by_rank;
  for (std::size_t r = 0; r < counts.size(); ++r)
    by_rank.push_back(all.substr(static_cast<std::size_t>(offsets[r]), static_cast<std::size_t>(counts[r])));
  return by_rank;
}

/// Strings of any length, a piece of at most 1 GiB a message.
std::vector<std::string> to_all(MPI_Comm comm, const std::vector<std::string>& to) {
  std::vector<unsigned long long> sent(to.size()), received(to.size());
  std::transform(to.begin(), to.end(), sent.begin(), [](const std::string& s) { return s.size(); });
  MPI_Alltoall(sent.data(), 1, MPI_UNSIGNED_LONG_LONG, received.data(), 1, MPI_UNSIGNED_LONG_LONG, comm);
  constexpr std::size_t most = std::size_t{1} << 30;
  constexpr int tag = 7;
  std::vector<std::string> from(to.size());
  std::vector<MPI_Request> requests;
  make_room(comm, [&] {
    for (std::size_t r = 0; r < to.size(); ++r) from[r].resize(received[r]);
  });
  for (std::size_t r = 0; r < to.size(); ++r) {
    for (std::size_t i = 0; i < from[r].size(); i += most)
      MPI_Irecv(from[r].data() + i, static_cast<int>(std::min(most, from[r].size() - i)), MPI_BYTE, static_cast<int>(r),
                tag, comm, &requests.emplace_back());
  }
  for (std::size_t r = 0; r < to.size(); ++r)
    for (std::size_t i = 0; i < to[r].size(); i += most)
      MPI_Isend(to[r].data() + i, static_cast<int>(std::min(most, to[r].size() - i)), MPI_BYTE, static_cast<int>(r),
                tag, comm, &requests.emplace_back());
  MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
  return from;
}

}  // namespace

int rank_in(MPI_Comm comm) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  return rank;
}

int size_of(MPI_Comm comm) {
  int size = 1;
  MPI_Comm_size(comm, &size);
  return size;
}

base::Ranks ranks_of(MPI_Comm comm) {
  base::Ranks ranks;
  ranks.rank = rank_in(comm);
  ranks.size = size_of(comm);
  ranks.all_gather = [comm](const std::string& mine) { return gather(comm, mine); };
  ranks.all_to_all = [comm](const std::vector<std::string>& to) { return to_all(comm, to); };
  return ranks;
}

void agree(MPI_Comm comm, const std::function<void()>& work) {
  std::exception_ptr mine;
  try {
    work();
  } catch (...) {
    mine = std::current_exception();
  }
  std::int64_t failed = mine ? 1 : 0;
  largest_of_all(comm, {&failed, 1});
  if (failed == 0) return;
  base::agree(ranks_of(comm), [&] {
    if (mine) std::rethrow_exception(mine);
  });
}

void largest_of_all(MPI_Comm comm, std::span<std::int64_t> numbers) {
  using Clock = std::chrono::steady_clock;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Iallreduce(MPI_IN_PLACE, numbers.data(), static_cast<int>(numbers.size()), MPI_INT64_T, MPI_MAX, comm, &request);
  const auto patience = Clock::now() + std::chrono::microseconds(200);
  for (int done = 0; MPI_Test(&request, &done, MPI_STATUS_IGNORE), done == 0;)
    if (Clock::now() > patience) std::this_thread::sleep_for(std::chrono::microseconds(50));
}

std::vector<int> hosts_of_ranks(MPI_Comm comm, int ranks_per_node) {
  const int rank = rank_in(comm);
  MPI_Comm shared = MPI_COMM_NULL;
  MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &shared);
  OwnComm host(shared);
  if (ranks_per_node > 0) host = split(host.get(), rank_in(host.get()) / ranks_per_node, rank);
  int lowest = rank;
  MPI_Bcast(&lowest, 1, MPI_INT, 0, host.get());
  std::vector<int> hosts(static_cast<std::size_t>(size_of(comm)));
  MPI_Allgather(&lowest, 1, MPI_INT, hosts.data(), 1, MPI_INT, comm);
  return hosts;
}

OwnComm::~OwnComm() {
  if (comm_ == MPI_COMM_NULL) return;
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (finalized == 0) MPI_Comm_free(&comm_);
}
OwnComm::OwnComm(OwnComm&& other) noexcept : comm_(std::exchange(other.comm_, MPI_COMM_NULL)) {}
OwnComm& OwnComm::operator=(OwnComm&& other) noexcept {
  std::swap(comm_, other.comm_);
  return *this;
}

OwnComm duplicate(MPI_Comm comm) {
  MPI_Comm copy = MPI_COMM_NULL;
  MPI_Comm_dup(comm, &copy);
  return OwnComm(copy);
}

OwnComm split(MPI_Comm comm, int color, int key) {
  MPI_Comm part = MPI_COMM_NULL;
  MPI_Comm_split(comm, color, key, &part);
  return OwnComm(part);
}

}  // namespace octavo::parallel
