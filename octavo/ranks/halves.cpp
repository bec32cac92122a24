#include "octavo/ranks/halves.hpp"

#include <cstdint>

namespace octavo::ranks {
namespace {

template <class Transfer>
void in_pieces(std::size_t size, Transfer&& transfer) {
  constexpr std::size_t most = std::size_t{1} << 30;
  for (std::size_t at = 0; at < size; at += most) transfer(at, static_cast<int>(std::min(most, size - at)));
}

}  // namespace

void receive_pieces(MPI_Comm comm, int from, int tag, std::string& text, std::vector<MPI_Request>& requests) {
  in_pieces(text.size(), [&](std::size_t at, int bytes) {
    MPI_Irecv(text.data() + at, bytes, MPI_BYTE, from, tag, comm, &requests.emplace_back());
  });
}

void send_pieces(MPI_Comm comm, int to, int tag, const std::string& text, std::vector<MPI_Request>& requests) {
  in_pieces(text.size(), [&](std::size_t at, int bytes) {
    MPI_Isend(text.data() + at, bytes, MPI_BYTE, to, tag, comm, &requests.emplace_back());
  });
}

std::vector<int> Halves::senders(int rank) const {
  if (rank >= middle && rank == last - 1 && is_odd()) return {first + (rank - middle), middle - 1};
  if (rank == middle - 1 && is_odd()) return {};
  return {receiver(rank)};
}

std::vector<Halves> halves_of(int rank, int ranks) {
  std::vector<Halves> path;
  for (int first = 0, last = ranks; last - first > 1;) {
    path.emplace_back(first, last);
    (rank < path.back().middle ? last : first) = path.back().middle;
  }
  return path;
}

std::vector<std::string> exchange(MPI_Comm comm, const std::vector<std::pair<int, std::string>>& out,
                                  const std::vector<int>& from) {
  constexpr int size_tag = 11, tag = 12;
  std::vector<std::uint64_t> out_sizes, sizes(from.size());
  for (const auto& [rank, text] : out) out_sizes.push_back(text.size());
  std::vector<MPI_Request> requests;
  for (std::size_t s = 0; s < from.size(); ++s)
    MPI_Irecv(&sizes[s], 1, MPI_UINT64_T, from[s], size_tag, comm, &requests.emplace_back());
  for (std::size_t r = 0; r < out.size(); ++r)
    MPI_Isend(&out_sizes[r], 1, MPI_UINT64_T, out[r].first, size_tag, comm, &requests.emplace_back());
  MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
  requests.clear();
  std::vector<std::string> in(from.size());
  for (std::size_t s = 0; s < from.size(); ++s) {
    in[s].resize(static_cast<std::size_t>(sizes[s]));
    receive_pieces(comm, from[s], tag, in[s], requests);
  }
  for (const auto& [rank, text] : out) send_pieces(comm, rank, tag, text, requests);
  MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
  return in;
}

}  // namespace octavo::ranks
