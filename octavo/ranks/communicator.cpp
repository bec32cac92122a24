#include "octavo/ranks/communicator.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <limits>
#include <new>
#include <numeric>
#include <thread>
#include <utility>

#include "octavo/base/error.hpp"
#include "octavo/base/error_text.hpp"

namespace octavo::ranks {
namespace {

// Waits for a request, but leaves the core to other threads after 0.2 ms: see largest_of_all().
void wait_patiently(MPI_Request request) {
  using Clock = std::chrono::steady_clock;
  const auto patience = Clock::now() + std::chrono::microseconds(200);
  for (int done = 0; MPI_Test(&request, &done, MPI_STATUS_IGNORE), done == 0;)
    if (Clock::now() > patience) std::this_thread::sleep_for(std::chrono::microseconds(50));
}

// MPI's own operations treat all numbers alike; this one takes the maximum of some and the sum of others. MPI may split
// a reduction between elements, so one element holds all numbers of a rank: first how many numbers are maxima, then
// these, then those to be summed.
void reduce_largest_and_sum(void* in, void* in_and_out, int* count, MPI_Datatype* type) {
  int bytes = 0;
  MPI_Type_size(*type, &bytes);
  const auto numbers = static_cast<std::size_t>(bytes) / sizeof(std::int64_t);
  const auto* from = static_cast<const std::int64_t*>(in);
  auto* to = static_cast<std::int64_t*>(in_and_out);
  for (int element = 0; element < *count; ++element, from += numbers, to += numbers) {
    const auto largest = static_cast<std::size_t>(from[0]);
    for (std::size_t i = 1; i <= largest; ++i) to[i] = std::max(to[i], from[i]);
    for (std::size_t i = largest + 1; i < numbers; ++i) to[i] += from[i];
  }
}

/// Collective. Allocates memory for an exchange. If one rank has too little, all ranks throw before any of them waits
/// for it.
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
  // Below a megabyte the reduction in make_room() would cost more than the exchange. We take the risk that a rank lacks
  // even that.
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

/// Exchanges strings of any length in messages of at most 1 GiB.
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

void require_mpi() {
  int initialized = 0, finalized = 0;
  MPI_Initialized(&initialized);
  MPI_Finalized(&finalized);
  if (initialized == 0) throw base::Error(base::Kind::usage, "MPI has not been initialised").hint("MPI_Init first");
  if (finalized != 0)
    throw base::Error(base::Kind::usage, "MPI has been finalised").hint("close what is open before MPI_Finalize");
}

std::string from_rank(MPI_Comm comm, int rank, std::string text) {
  unsigned long long size = text.size();
  MPI_Bcast(&size, 1, MPI_UNSIGNED_LONG_LONG, rank, comm);
  text.resize(static_cast<std::size_t>(size));
  constexpr unsigned long long piece = 1ull << 30;
  for (unsigned long long at = 0; at < size; at += piece)
    MPI_Bcast(text.data() + at, static_cast<int>(std::min(piece, size - at)), MPI_CHAR, rank, comm);
  return text;
}

std::string from_first(MPI_Comm comm, std::string text) { return from_rank(comm, 0, std::move(text)); }

int lowest_where(MPI_Comm comm, bool holds) {
  const int size = size_of(comm);
  std::int64_t above = holds ? size - rank_in(comm) : 0;  // the lowest rank has the most ranks from it on
  largest_of_all(comm, {&above, 1});
  return size - static_cast<int>(above);
}

namespace {

// MPI counts bytes in an int.
constexpr std::int64_t most_at_once = std::numeric_limits<int>::max();

base::Error too_long() { return {base::Kind::unsupported, "ranks exchange more than 2 GiB at once"}; }

// The most that an int holds stands for a longer text: then the sum of all is too long, too.
int length_of(const std::string& text) {
  return static_cast<int>(std::min(std::ssize(text), static_cast<std::ptrdiff_t>(most_at_once)));
}

// The place of each text among all.
std::vector<int> offsets_of(const std::vector<int>& lengths) {
  if (std::accumulate(lengths.begin(), lengths.end(), std::int64_t{0}) >= most_at_once) throw too_long();
  std::vector<int> offsets(lengths.size(), 0);
  if (!lengths.empty()) std::partial_sum(lengths.begin(), lengths.end() - 1, offsets.begin() + 1);
  return offsets;
}

}  // namespace

std::vector<std::string> gather_to_first(MPI_Comm comm, const std::string& mine) {
  const bool first = rank_in(comm) == 0;
  std::vector<int> lengths(first ? static_cast<std::size_t>(size_of(comm)) : 0), offsets;
  const int length = length_of(mine);
  MPI_Gather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, 0, comm);
  std::string all;
  agree(comm, [&] {
    offsets = offsets_of(lengths);
    all.resize(std::accumulate(lengths.begin(), lengths.end(), std::size_t{0}));
  });
  MPI_Gatherv(mine.data(), length, MPI_BYTE, all.data(), lengths.data(), offsets.data(), MPI_BYTE, 0, comm);
  std::vector<std::string> texts;
  for (std::size_t r = 0; r < lengths.size(); ++r)
    texts.push_back(all.substr(static_cast<std::size_t>(offsets[r]), static_cast<std::size_t>(lengths[r])));
  return texts;
}

std::string scatter_from_first(MPI_Comm comm, const std::vector<std::string>& by_rank) {
  std::vector<int> lengths, offsets, ones, places;
  std::string all;
  agree(comm, [&] {
    if (rank_in(comm) != 0) return;
    for (const std::string& text : by_rank) {
      places.push_back(static_cast<int>(lengths.size()));
      lengths.push_back(length_of(text));
      if (std::ssize(all) + std::ssize(text) >= most_at_once) throw too_long();
      all += text;
    }
    ones.assign(lengths.size(), 1);
    offsets = offsets_of(lengths);
  });
  int length = 0;
  MPI_Scatterv(lengths.data(), ones.data(), places.data(), MPI_INT, &length, 1, MPI_INT, 0, comm);
  std::string mine(static_cast<std::size_t>(length), '\0');
  MPI_Scatterv(all.data(), lengths.data(), offsets.data(), MPI_BYTE, mine.data(), length, MPI_BYTE, 0, comm);
  return mine;
}

std::string deal_from_first(MPI_Comm comm, const std::function<std::string(int rank)>& text_of) {
  constexpr unsigned long long piece = 1ull << 30;
  constexpr int tag = 8;
  const bool first = rank_in(comm) == 0;
  std::string mine, failure;
  const auto make = [&](int rank) {
    std::string text;
    // After a failure the other ranks get empty texts: they wait for a message each.
    if (failure.empty()) failure = base::error_text_of([&] { text = text_of(rank); });
    return text;
  };
  for (int rank = 1; first && rank < size_of(comm); ++rank) {
    const std::string text = make(rank);
    const unsigned long long size = text.size();
    MPI_Send(&size, 1, MPI_UNSIGNED_LONG_LONG, rank, tag, comm);
    for (unsigned long long at = 0; at < size; at += piece)
      MPI_Send(text.data() + at, static_cast<int>(std::min(piece, size - at)), MPI_BYTE, rank, tag, comm);
  }
  if (first) {
    mine = make(0);
  } else {
    unsigned long long size = 0;
    MPI_Recv(&size, 1, MPI_UNSIGNED_LONG_LONG, 0, tag, comm, MPI_STATUS_IGNORE);
    mine.resize(static_cast<std::size_t>(size));
    for (unsigned long long at = 0; at < size; at += piece)
      MPI_Recv(mine.data() + at, static_cast<int>(std::min(piece, size - at)), MPI_BYTE, 0, tag, comm,
               MPI_STATUS_IGNORE);
  }
  agree(comm, [&] {
    if (!failure.empty()) base::throw_error_text(failure, -1);
  });
  return mine;
}

int rank_in(MPI_Comm comm) {
  require_mpi();
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  return rank;
}

int size_of(MPI_Comm comm) {
  require_mpi();
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
  ranks.from_rank = [comm](int rank, const std::string& mine) { return from_rank(comm, rank, mine); };
  ranks.lowest_where = [comm](bool holds) { return lowest_where(comm, holds); };
  ranks.deal = [comm](const std::function<std::string(int)>& text_of) { return deal_from_first(comm, text_of); };
  return ranks;
}

// If no rank has failed, this costs one small reduction. Else the lowest rank that has failed broadcasts its error, and
// all throw the same.
void agree(MPI_Comm comm, const std::function<void()>& work) {
  require_mpi();
  std::string mine = base::error_text_of(work);
  const int size = size_of(comm), failed = lowest_where(comm, !mine.empty());
  if (failed == size) return;
  base::throw_error_text(from_rank(comm, failed, std::move(mine)), size > 1 ? failed : -1);
}

void largest_of_all(MPI_Comm comm, std::span<std::int64_t> numbers) {
  require_mpi();
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Iallreduce(MPI_IN_PLACE, numbers.data(), static_cast<int>(numbers.size()), MPI_INT64_T, MPI_MAX, comm, &request);
  wait_patiently(request);
}

void largest_and_sum_of_all(MPI_Comm comm, std::span<std::int64_t> numbers, std::span<std::int64_t> sums) {
  require_mpi();
  std::vector<std::int64_t> all{static_cast<std::int64_t>(numbers.size())};
  all.insert(all.end(), numbers.begin(), numbers.end());
  all.insert(all.end(), sums.begin(), sums.end());
  MPI_Op op = MPI_OP_NULL;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Op_create(&reduce_largest_and_sum, 1, &op);
  MPI_Type_contiguous(static_cast<int>(all.size()), MPI_INT64_T, &type);
  MPI_Type_commit(&type);
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Iallreduce(MPI_IN_PLACE, all.data(), 1, type, op, comm, &request);
  wait_patiently(request);
  MPI_Type_free(&type);
  MPI_Op_free(&op);
  std::copy_n(all.begin() + 1, numbers.size(), numbers.begin());
  std::copy_n(all.begin() + 1 + std::ssize(numbers), sums.size(), sums.begin());
}

OwnComm ranks_of_host(MPI_Comm comm, int ranks_per_node) {
  const int rank = rank_in(comm);
  MPI_Comm shared = MPI_COMM_NULL;
  MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &shared);
  OwnComm host(shared);
  if (ranks_per_node > 0) host = split(host.get(), rank_in(host.get()) / ranks_per_node, rank);
  return host;
}

std::vector<int> hosts_of_ranks(MPI_Comm comm, int ranks_per_node) {
  const OwnComm host = ranks_of_host(comm, ranks_per_node);
  int lowest = rank_in(comm);
  MPI_Bcast(&lowest, 1, MPI_INT, 0, host.get());
  std::vector<int> hosts(static_cast<std::size_t>(size_of(comm)));
  MPI_Allgather(&lowest, 1, MPI_INT, hosts.data(), 1, MPI_INT, comm);
  return hosts;
}

OwnComm::~OwnComm() {
  if (comm_ == MPI_COMM_NULL) return;
  int finalized = 0;
  MPI_Finalized(&finalized);
  // Programs may keep a writer until after MPI_Finalize; then there is nothing left to free.
  if (finalized == 0) MPI_Comm_free(&comm_);
}
OwnComm::OwnComm(OwnComm&& other) noexcept : comm_(std::exchange(other.comm_, MPI_COMM_NULL)) {}
OwnComm& OwnComm::operator=(OwnComm&& other) noexcept {
  std::swap(comm_, other.comm_);
  return *this;
}

OwnComm duplicate(MPI_Comm comm) {
  require_mpi();
  MPI_Comm copy = MPI_COMM_NULL;
  MPI_Comm_dup(comm, &copy);
  return OwnComm(copy);
}

OwnComm split(MPI_Comm comm, int color, int key) {
  require_mpi();
  MPI_Comm part = MPI_COMM_NULL;
  MPI_Comm_split(comm, color, key, &part);
  return OwnComm(part);
}

}  // namespace octavo::ranks
