#include "octavo/ranks/deliver.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <utility>

#include "octavo/base/pack.hpp"
#include "octavo/ranks/communicator.hpp"

namespace octavo::ranks {
namespace {

struct Addressed {
  int first = 0, last = 0, from = 0;  // for the ranks [first, last]
  std::string bytes;
};

template <class Way>
void both(Way& way, Addressed& parcel) {
  using base::both;
  both(way, parcel.first);
  both(way, parcel.last);
  both(way, parcel.from);
  both(way, parcel.bytes);
}

// The ranks [first, last) in two halves. The lower one may have one rank more; its last rank then sends to the last
// of the upper one, and nobody sends to it.
struct Halves {
  int first, middle, last;
  Halves(int from, int to) : first(from), middle(from + (to - from + 1) / 2), last(to) {}
  bool is_odd() const { return middle - first > last - middle; }
  int receiver(int rank) const {
    return rank < middle ? std::min(middle + (rank - first), last - 1) : first + (rank - middle);
  }
  std::vector<int> senders(int rank) const {
    if (rank >= middle && rank == last - 1 && is_odd()) return {first + (rank - middle), middle - 1};
    if (rank == middle - 1 && is_odd()) return {};
    return {receiver(rank)};
  }
};

// Messages have at most 1 GiB.
template <class Transfer>
void in_pieces(std::size_t size, Transfer&& transfer) {
  constexpr std::size_t most = std::size_t{1} << 30;
  for (std::size_t at = 0; at < size; at += most) transfer(at, static_cast<int>(std::min(most, size - at)));
}

std::vector<std::string> exchange(MPI_Comm comm, int to, const std::string& out, const std::vector<int>& senders) {
  constexpr int size_tag = 11, tag = 12;
  std::uint64_t size = out.size();
  std::vector<std::uint64_t> sizes(senders.size());
  std::vector<MPI_Request> requests;
  for (std::size_t s = 0; s < senders.size(); ++s)
    MPI_Irecv(&sizes[s], 1, MPI_UINT64_T, senders[s], size_tag, comm, &requests.emplace_back());
  MPI_Isend(&size, 1, MPI_UINT64_T, to, size_tag, comm, &requests.emplace_back());
  MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
  requests.clear();
  std::vector<std::string> in(senders.size());
  for (std::size_t s = 0; s < senders.size(); ++s) {
    in[s].resize(static_cast<std::size_t>(sizes[s]));
    in_pieces(in[s].size(), [&](std::size_t at, int bytes) {
      MPI_Irecv(in[s].data() + at, bytes, MPI_BYTE, senders[s], tag, comm, &requests.emplace_back());
    });
  }
  in_pieces(out.size(), [&](std::size_t at, int bytes) {
    MPI_Isend(out.data() + at, bytes, MPI_BYTE, to, tag, comm, &requests.emplace_back());
  });
  MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
  return in;
}

}  // namespace

std::vector<Parcel> deliver(MPI_Comm comm, std::vector<Parcel> parcels) {
  const int rank = rank_in(comm);
  std::vector<Addressed> held;
  for (Parcel& parcel : parcels)
    held.push_back({parcel.rank, parcel.rank + parcel.more, rank, std::move(parcel.bytes)});
  parcels = {};
  int first = 0, last = size_of(comm);
  while (last - first > 1) {
    const Halves halves(first, last);
    const bool is_low = rank < halves.middle;
    const auto goes = [&](const Addressed& parcel) {
      return is_low ? parcel.last >= halves.middle : parcel.first < halves.middle;
    };
    const auto stays = [&](const Addressed& parcel) {
      return is_low ? parcel.first < halves.middle : parcel.last >= halves.middle;
    };
    std::vector<Addressed> leave;
    std::copy_if(held.begin(), held.end(), std::back_inserter(leave), goes);
    std::erase_if(held, [&](const Addressed& parcel) { return !stays(parcel); });
    const std::string out = base::packed(leave);
    leave = {};
    for (const std::string& in : exchange(comm, halves.receiver(rank), out, halves.senders(rank)))
      for (Addressed& parcel : base::unpacked<std::vector<Addressed>>(in)) held.push_back(std::move(parcel));
    (is_low ? last : first) = halves.middle;
  }
  std::stable_sort(held.begin(), held.end(), [](const Addressed& a, const Addressed& b) { return a.from < b.from; });
  std::vector<Parcel> mine;
  for (Addressed& parcel : held) mine.push_back({parcel.from, std::move(parcel.bytes), 0});
  return mine;
}

}  // namespace octavo::ranks
