#include "apps/shallow/exchange.hpp"

#include <algorithm>

#include "octavo/ranks/communicator.hpp"

namespace octavo::shallow {

namespace {

std::vector<int> starts_of(const std::vector<int>& counts) {
  std::vector<int> starts(counts.size() + 1, 0);
  for (std::size_t r = 0; r < counts.size(); ++r) starts[r + 1] = starts[r] + counts[r];
  return starts;
}

}  // namespace

std::vector<std::vector<std::int32_t>> all_to_all(MPI_Comm comm, const std::vector<std::vector<std::int32_t>>& lists) {
  const std::size_t ranks = lists.size();
  std::vector<int> give(ranks), take(ranks);
  for (std::size_t r = 0; r < ranks; ++r) give[r] = static_cast<int>(lists[r].size());
  MPI_Alltoall(give.data(), 1, MPI_INT, take.data(), 1, MPI_INT, comm);
  const std::vector<int> from = starts_of(give), to = starts_of(take);
  std::vector<std::int32_t> sent, received(static_cast<std::size_t>(to.back()));
  for (const auto& list : lists) sent.insert(sent.end(), list.begin(), list.end());
  MPI_Alltoallv(sent.data(), give.data(), from.data(), MPI_INT32_T, received.data(), take.data(), to.data(),
                MPI_INT32_T, comm);
  std::vector<std::vector<std::int32_t>> out(ranks);
  for (std::size_t r = 0; r < ranks; ++r) out[r].assign(received.begin() + to[r], received.begin() + to[r + 1]);
  return out;
}

Reduce reduce_over(MPI_Comm comm) {
  Reduce reduce;
  reduce.maximum = [comm](double value) {
    MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_DOUBLE, MPI_MAX, comm);
    return value;
  };
  reduce.sum = [comm](std::span<std::int64_t> values) {
    MPI_Allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), MPI_INT64_T, MPI_SUM, comm);
  };
  return reduce;
}

void fill_ghosts(MPI_Comm comm, const Halo& halo, std::span<double> values, int width) {
  const auto wide = static_cast<std::size_t>(width);
  std::vector<MPI_Request> requests;
  std::vector<std::vector<double>> buffers(halo.peers.size());
  for (const Halo::Peer& peer : halo.peers)
    MPI_Irecv(values.data() + static_cast<std::size_t>(peer.first_ghost) * wide, peer.ghosts * width, MPI_DOUBLE,
              peer.rank, 0, comm, &requests.emplace_back());
  for (std::size_t p = 0; p < halo.peers.size(); ++p) {
    const Halo::Peer& peer = halo.peers[p];
    for (const std::int32_t point : peer.send) {
      const auto first = values.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(point) * wide);
      buffers[p].insert(buffers[p].end(), first, first + width);
    }
    MPI_Isend(buffers[p].data(), static_cast<int>(buffers[p].size()), MPI_DOUBLE, peer.rank, 0, comm,
              &requests.emplace_back());
  }
  MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
}

}  // namespace octavo::shallow
