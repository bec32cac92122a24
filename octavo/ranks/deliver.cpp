#include "octavo/ranks/deliver.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "octavo/base/pack.hpp"
#include "octavo/ranks/communicator.hpp"
#include "octavo/ranks/halves.hpp"

namespace octavo::ranks {
namespace {

struct Addressed {
  int first = 0, last = 0, from = 0;  // for the ranks [first, last]
  std::string bytes;
};

template <class Way>
void both(Way& way, Addressed& parcel) {
  using base::both;
  both(way, parcel.first, parcel.last, parcel.from, parcel.bytes);
}

}  // namespace

std::vector<Parcel> deliver(MPI_Comm comm, std::vector<Parcel> parcels) {
  const int rank = rank_in(comm);
  std::vector<Addressed> held;
  for (Parcel& parcel : parcels)
    held.push_back({parcel.rank, parcel.rank + parcel.more, rank, std::move(parcel.bytes)});
  parcels = {};
  const std::vector<Halves> path = halves_of(rank, size_of(comm));
  // A parcel for the ranks [first, last] goes on in each half that has some of them, and is copied where both have.
  held = by_halves(
      comm, std::move(held),
      [&](const Addressed& parcel, std::size_t depth) { return parcel.first < path[depth].middle; },
      [&](const Addressed& parcel, std::size_t depth) { return parcel.last >= path[depth].middle; });
  std::stable_sort(held.begin(), held.end(), [](const Addressed& a, const Addressed& b) { return a.from < b.from; });
  std::vector<Parcel> mine;
  for (Addressed& parcel : held) mine.push_back({parcel.from, std::move(parcel.bytes), 0});
  return mine;
}

std::vector<Parcel> deliver_straight(MPI_Comm comm, std::vector<Parcel> parcels) {
  constexpr int tag = 13;
  std::vector<Parcel> sizes, in;
  for (const Parcel& parcel : parcels) sizes.push_back({parcel.rank, base::packed(parcel.bytes.size()), 0});
  sizes = deliver(comm, std::move(sizes));
  agree(comm, [&] {  // a rank without memory would leave the others waiting
    for (const Parcel& size : sizes)
      in.push_back({size.rank, std::string(base::unpacked<std::size_t>(size.bytes), '\0'), 0});
  });
  std::vector<MPI_Request> requests;
  for (Parcel& parcel : in) receive_pieces(comm, parcel.rank, tag, parcel.bytes, requests);
  for (const Parcel& parcel : parcels) send_pieces(comm, parcel.rank, tag, parcel.bytes, requests);
  MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
  return in;
}

}  // namespace octavo::ranks
