#include "apps/patches/copy_plan.hpp"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "octavo/ranks/communicator.hpp"

namespace octavo::patches {
namespace {

constexpr int width = sizeof(Piece);
static_assert(std::is_trivially_copyable_v<Piece>);

std::vector<int> offsets_of(const std::vector<int>& counts) {
  std::vector<int> offsets(counts.size(), 0);
  for (std::size_t i = 1; i < counts.size(); ++i) offsets[i] = offsets[i - 1] + counts[i - 1];
  return offsets;
}

std::vector<CopyPlan::Peer> peers_of(const std::vector<Piece>& pieces, const std::vector<int>& counts, int me) {
  std::vector<CopyPlan::Peer> peers;
  std::size_t first = 0;
  for (std::size_t rank = 0; rank < counts.size(); ++rank) {
    const std::size_t count = static_cast<std::size_t>(counts[rank]) / sizeof(Piece);
    const auto begin = pieces.begin() + static_cast<std::ptrdiff_t>(first);
    first += count;
    if (count == 0 || static_cast<int>(rank) == me) continue;
    CopyPlan::Peer& peer = peers.emplace_back();
    peer.rank = static_cast<int>(rank);
    peer.pieces.assign(begin, begin + static_cast<std::ptrdiff_t>(count));
    for (const Piece& piece : peer.pieces) peer.cells += static_cast<std::size_t>(num_cells(piece.region, 3));
  }
  return peers;
}

// Calls f(first value, length) for each row of a region, variable after variable.
template <class V, class F>
void for_each_row_of(V& values, const IndexBox& region, F&& f) {
  for (int v = 0; v < values.variables; ++v) {
    auto* data = values.of(v);
    mesh::for_each_row(
        region, [&](const Index3& at, std::int64_t n) { f(data + values.offset(at), static_cast<std::size_t>(n)); });
  }
}

void copy_piece(const Piece& piece, const Values& from, Values& to) {
  for (int v = 0; v < from.variables; ++v) {
    const double* source = from.of(v);
    double* target = to.of(v);
    mesh::for_each_row(piece.region, [&](const Index3& at, std::int64_t n) {
      const Index3 there{at[0] + piece.shift[0], at[1] + piece.shift[1], at[2] + piece.shift[2]};
      std::memcpy(target + to.offset(there), source + from.offset(at), static_cast<std::size_t>(n) * sizeof(double));
    });
  }
}

std::vector<double> pack(const CopyPlan::Peer& peer, const std::vector<Values>& from) {
  std::vector<double> out;
  for (const Piece& piece : peer.pieces)
    for_each_row_of(from[static_cast<std::size_t>(piece.from)], piece.region,
                    [&](const double* row, std::size_t n) { out.insert(out.end(), row, row + n); });
  return out;
}

void unpack(const CopyPlan::Peer& peer, const std::vector<double>& in, std::vector<Values>& to) {
  const double* next = in.data();
  for (const Piece& piece : peer.pieces)
    for_each_row_of(to[static_cast<std::size_t>(piece.to)], shifted(piece.region, piece.shift),
                    [&](double* row, std::size_t n) {
                      std::copy_n(next, n, row);
                      next += n;
                    });
}

}  // namespace

CopyPlan plan_copy(MPI_Comm comm, const std::vector<Wanted>& wanted) {
  const int me = ranks::rank_in(comm);
  const auto ranks = static_cast<std::size_t>(ranks::size_of(comm));
  std::vector<std::vector<Piece>> by_rank(ranks);
  for (const Wanted& want : wanted) by_rank[static_cast<std::size_t>(want.rank)].push_back(want.piece);
  std::vector<Piece> asked;
  std::vector<int> asked_bytes, given_bytes(ranks);
  for (const auto& pieces : by_rank) {
    asked.insert(asked.end(), pieces.begin(), pieces.end());
    asked_bytes.push_back(static_cast<int>(pieces.size()) * width);
  }
  MPI_Alltoall(asked_bytes.data(), 1, MPI_INT, given_bytes.data(), 1, MPI_INT, comm);
  const auto asked_at = offsets_of(asked_bytes), given_at = offsets_of(given_bytes);
  std::vector<Piece> given(static_cast<std::size_t>(given_at.back() + given_bytes.back()) / sizeof(Piece));
  MPI_Alltoallv(asked.data(), asked_bytes.data(), asked_at.data(), MPI_BYTE, given.data(), given_bytes.data(),
                given_at.data(), MPI_BYTE, comm);
  CopyPlan plan;
  plan.local = std::move(by_rank[static_cast<std::size_t>(me)]);
  plan.receive = peers_of(asked, asked_bytes, me);
  plan.send = peers_of(given, given_bytes, me);
  return plan;
}

void copy(MPI_Comm comm, const CopyPlan& plan, const std::vector<Values>& from, std::vector<Values>& to) {
  constexpr int tag = 2;
  std::vector<MPI_Request> requests;
  std::vector<std::vector<double>> received, sent;
  for (const CopyPlan::Peer& peer : plan.receive) {
    const int variables = to[static_cast<std::size_t>(peer.pieces[0].to)].variables;
    received.emplace_back(peer.cells * static_cast<std::size_t>(variables));
    MPI_Irecv(received.back().data(), static_cast<int>(received.back().size()), MPI_DOUBLE, peer.rank, tag, comm,
              &requests.emplace_back());
  }
  for (const CopyPlan::Peer& peer : plan.send) {
    sent.push_back(pack(peer, from));
    MPI_Isend(sent.back().data(), static_cast<int>(sent.back().size()), MPI_DOUBLE, peer.rank, tag, comm,
              &requests.emplace_back());
  }
  for (const Piece& piece : plan.local)
    copy_piece(piece, from[static_cast<std::size_t>(piece.from)], to[static_cast<std::size_t>(piece.to)]);
  MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
  for (std::size_t i = 0; i < plan.receive.size(); ++i) unpack(plan.receive[i], received[i], to);
}

}  // namespace octavo::patches
