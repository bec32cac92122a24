#include "octavo/engine/tiers/parity_lane.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "octavo/base/checksum.hpp"
#include "octavo/base/current_error.hpp"
#include "octavo/base/error.hpp"
#include "octavo/base/rank_exchange.hpp"
#include "octavo/codec/erasure.hpp"
#include "octavo/engine/tiers/parity_file.hpp"
#include "octavo/file/posix.hpp"
#include "octavo/ranks/communicator.hpp"

/// Nodes of a group protect each other's files, as RAID does: each member cuts its file into chunks, keeps the parity
/// of the other members' chunks, and sends its own chunks once for each row of parity. Values go from socket to socket
/// in blocks, so memory is a few blocks, whatever the files' sizes. The ranks meet once, through MPI; later exchanges
/// run on a thread and call no MPI.
namespace octavo::engine {

/// Where a member of a lane can be met.
struct MeetingPlace {
  int lane = 0;
  int rank = 0;
  store::Attempt token{};
  std::vector<Address> addresses;
};
// Found by base::packed.
template <class Way>
void both(Way& way, MeetingPlace& place) {
  both(way, place.lane, place.rank, place.token, place.addresses);
}

namespace {

using base::Error;
using base::Kind;
using Places = std::vector<MeetingPlace>;

// ------------------------------------------------------------------ meeting

// The ranks of one node; and the first ranks of all nodes, or of one group: none on other ranks.
struct Nodes {
  ranks::OwnComm node, firsts, group;
};

int sum_of(MPI_Comm comm, int mine) {
  int sum = 0;
  MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, comm);
  return sum;
}

// Collective. Forms the groups of a scheme. All ranks of a node learn its place.
NodePlace form_groups(MPI_Comm comm, Nodes& nodes, const Scheme& scheme) {
  NodePlace place;
  ranks::agree(comm, [&] {
    if (nodes.firsts.get() == MPI_COMM_NULL) return;
    place = place_of_node(scheme, ranks::rank_in(nodes.firsts.get()), ranks::size_of(nodes.firsts.get()));
    if (place.members > codec::most_erasure_blocks)
      throw Error(Kind::usage, "groups of " + std::to_string(place.members) + " nodes, at most " +
                                   std::to_string(codec::most_erasure_blocks) + " can be")
          .at("option group_size");
  });
  if (nodes.firsts.get() != MPI_COMM_NULL) nodes.group = ranks::split(nodes.firsts.get(), place.group, place.member);
  MPI_Bcast(&place, sizeof place, MPI_BYTE, 0, nodes.node.get());
  return place;
}

// The rank of the node that is in a lane: lanes beyond the node's files go round its ranks with files.
std::vector<int> lanes_of(int file, int files, int lanes) {
  std::vector<int> mine;
  for (int lane = file; file >= 0 && lane < lanes; lane += files) mine.push_back(lane);
  return mine;
}

// Collective over the node. Sends each rank the places of all members of its lanes, lane after lane.
Places share_places(const Nodes& nodes, const Places& mine, const std::vector<int>& lanes) {
  const auto node = ranks::ranks_of(nodes.node.get());
  Places of_node = base::gather(node, mine);
  std::vector<std::string> to(static_cast<std::size_t>(node.size));
  const auto wanted = node.all_gather(base::packed(lanes));
  if (node.rank == 0) {
    std::sort(of_node.begin(), of_node.end(), [](const auto& a, const auto& b) { return a.lane < b.lane; });
    const Places of_group = base::gather(ranks::ranks_of(nodes.group.get()), of_node);
    std::map<int, Places> by_lane;
    for (const MeetingPlace& place : of_group) by_lane[place.lane].push_back(place);
    for (std::size_t r = 0; r < to.size(); ++r) {
      Places some;
      for (const int lane : base::unpacked<std::vector<int>>(wanted[r]))
        some.insert(some.end(), by_lane[lane].begin(), by_lane[lane].end());
      to[r] = base::packed(some);
    }
  }
  return base::unpacked<Places>(node.all_to_all(to)[0]);
}

// Members with higher numbers call those with lower ones. Member 0 calls nobody and answers at once, so the calls end
// in the order of members. `places`: of the members, by number.
std::vector<Socket> meet(const Socket& listening, std::span<const MeetingPlace> places, int member,
                         std::chrono::milliseconds most) {
  std::vector<Socket> peers(places.size());
  for (int m = 0; m < member; ++m) {
    const MeetingPlace& place = places[static_cast<std::size_t>(m)];
    peers[static_cast<std::size_t>(m)] = connect_to(place.addresses, {place.token, member}, most);
  }
  auto called = accept_all(listening, member + 1, static_cast<int>(places.size()),
                           places[static_cast<std::size_t>(member)].token, most);
  for (std::size_t m = static_cast<std::size_t>(member) + 1; m < peers.size(); ++m) peers[m] = std::move(called[m]);
  for (std::size_t m = 0; m < peers.size(); ++m) peers[m].peer = places[m].rank;
  return peers;
}

void open_scheme(MPI_Comm comm, Nodes& nodes, const Scheme& scheme, int file, int files, std::chrono::milliseconds most,
                 std::vector<ParityLane>& out) {
  const NodePlace place = form_groups(comm, nodes, scheme);
  int most_files = files;
  if (nodes.group.get() != MPI_COMM_NULL) MPI_Allreduce(&files, &most_files, 1, MPI_INT, MPI_MAX, nodes.group.get());
  MPI_Bcast(&most_files, 1, MPI_INT, 0, nodes.node.get());
  const std::vector<int> lanes = lanes_of(file, files, most_files);
  std::vector<Socket> listening;
  Places mine;
  ranks::agree(comm, [&] {
    for (const int lane : lanes) {
      MeetingPlace here{lane, ranks::rank_in(comm), store::random_attempt(), {}};
      listening.push_back(listen_on_network(place.members, here.addresses));
      mine.push_back(std::move(here));
    }
  });
  const Places members = share_places(nodes, mine, lanes);
  ranks::agree(comm, [&] {
    const auto n = static_cast<std::size_t>(place.members);
    for (std::size_t i = 0; i < lanes.size(); ++i)
      out.push_back({scheme, place.group, lanes[i], place.member, lanes[i] == file,
                     meet(listening[i], std::span(members).subspan(i * n, n), place.member, most)});
  });
}

// ------------------------------------------------------------------ exchange

// A member tells the others this before the exchange; `ok` once more after it. In between a member that fails goes on
// with bytes that nobody may use: the others wait for its blocks, and the second round makes all drop the result.
struct LaneOffer {
  std::int64_t order = 0;
  ProtectedFile file;
  bool ok = true;
};

std::vector<LaneOffer> exchange_offers(const ParityLane& lane, const LaneOffer& mine) {
  std::vector<LaneOffer> all(lane.peers.size(), mine);
  for (std::size_t m = 0; m < all.size(); ++m)
    if (lane.peers[m].get() >= 0) send_all(lane.peers[m], std::as_bytes(std::span(&mine, 1)));
  for (std::size_t m = 0; m < all.size(); ++m)
    if (lane.peers[m].get() >= 0) receive_all(lane.peers[m], std::as_writable_bytes(std::span(&all[m], 1)));
  return all;
}

bool all_ok(const std::vector<LaneOffer>& offers) {
  return std::all_of(offers.begin(), offers.end(), [](const LaneOffer& offer) { return offer.ok; });
}

std::uint64_t checksum_of(const file::File& file, std::uint64_t size) {
  base::RunningChecksum sum;
  std::vector<std::byte> block(static_cast<std::size_t>(std::min(parity_block, size)));
  for (std::uint64_t at = 0; at < size; at += parity_block) {
    const auto some = std::span(block).first(static_cast<std::size_t>(std::min(parity_block, size - at)));
    file::pread_all(file, at, some);
    sum.add(some);
  }
  return sum.value();
}

struct ParityExchange {
  const ParityLane& lane;
  const ParityHeader& header;
  const file::File& data;  // closed: no bytes
  Pace& pace;
  std::optional<Error>& failure;
  std::vector<std::byte> out, in;
  std::vector<std::vector<std::byte>> sums;  // by row

  // Bytes of this member's file, zeros after its end.
  void read(int stripe, std::uint64_t at, std::span<std::byte> block) {
    const auto n = lane.members();
    std::fill(block.begin(), block.end(), std::byte{});
    const std::uint64_t from = static_cast<std::uint64_t>(chunk_of(lane.member, stripe, n)) * header.chunk + at;
    const std::uint64_t size = header.members[static_cast<std::size_t>(lane.member)].bytes;
    if (from >= size) return;
    base::unless_failed(failure, [&] {
      file::pread_all(data, from,
                      block.first(static_cast<std::size_t>(std::min<std::uint64_t>(block.size(), size - from))));
    });
  }

  // One block of each row of this member. At each distance around the ring, every member sends to one and receives from
  // one other; whether a row takes part depends on the distance alone, so the members stay in step.
  void block_of_rows(std::uint64_t at, std::size_t size) {
    const int n = lane.members(), rows = header.rows, me = lane.member;
    for (auto& sum : sums) sum.assign(size, std::byte{});
    const auto sent = std::span(out).first(size), received = std::span(in).first(size);
    for (int distance = 1; distance < n; ++distance) {
      const int to = (me + distance) % n, from = (me - distance + n) % n;
      for (int row = 0; row < rows; ++row) {
        if (!is_data(from, stripe_of(me, row, n), rows, n)) continue;
        read(stripe_of(to, row, n), at, sent);
        send_and_receive(lane.peers[static_cast<std::size_t>(to)], sent, lane.peers[static_cast<std::size_t>(from)],
                         received);
        codec::add_product(sums[static_cast<std::size_t>(row)], codec::erasure_factor(row, from), received);
        pace.spend(size);
      }
    }
  }
};

}  // namespace

std::vector<ParityLane> open_lanes(MPI_Comm comm, const NodeRanks& node, const std::vector<Scheme>& schemes,
                                   int& files_of_host, std::chrono::milliseconds most) {
  Nodes nodes;
  const int rank = ranks::rank_in(comm);
  nodes.node = ranks::split(comm, node.host, rank);
  nodes.firsts = ranks::split(comm, node.first_of_host ? 0 : MPI_UNDEFINED, rank);
  files_of_host = sum_of(nodes.node.get(), node.has_file ? 1 : 0);
  int before = 0;
  const int own = node.has_file ? 1 : 0;
  MPI_Exscan(&own, &before, 1, MPI_INT, MPI_SUM, nodes.node.get());
  if (ranks::rank_in(nodes.node.get()) == 0) before = 0;
  std::vector<ParityLane> lanes;
  for (const Scheme& scheme : schemes)
    open_scheme(comm, nodes, scheme, node.has_file ? before : -1, files_of_host, most, lanes);
  return lanes;
}

namespace {

LaneOffer offer_of(const ParityLane& lane, const ParityJob& job, file::File& data, std::optional<Error>& failure) {
  LaneOffer mine;
  mine.order = static_cast<std::int64_t>(job.name.order);
  if (!job.failed && lane.has_file && !job.file.empty())
    base::unless_failed(failure, [&] {
      data = file::open_read(job.file);
      const std::uint64_t size = file::size(data);
      mine.file = {job.name.segment, job.subfile, size, checksum_of(data, size)};
    });
  mine.ok = !job.failed && !failure;
  return mine;
}

ParityHeader header_of(const ParityLane& lane, const ParityJob& job, const std::vector<LaneOffer>& offers) {
  ParityHeader header;
  header.name = job.name;
  header.name.segment = lane.lane;
  header.safety = lane.scheme.safety;
  header.step = job.step;
  header.segments = job.segments;
  header.group = lane.group;
  header.member = lane.member;
  header.rows = lane.scheme.rows;
  for (const LaneOffer& offer : offers) header.members.push_back(offer.file);
  header.chunk = chunk_bytes(header.members, header.rows);
  return header;
}

// Returns the bytes of this member's parity file; 0 if the step or the exchange failed on a member.
std::uint64_t exchange_parity(ParityLane& lane, const ParityJob& job, Pace& pace, std::optional<Error>& failure) {
  file::File data;
  LaneOffer mine = offer_of(lane, job, data, failure);
  const std::vector<LaneOffer> offers = exchange_offers(lane, mine);
  for (std::size_t m = 0; m < offers.size(); ++m)
    if (offers[m].order != mine.order)
      throw Error(Kind::interrupted, "rank " + std::to_string(lane.peers[m].peer) + " is at another step");
  if (!all_ok(offers)) return 0;

  const ParityHeader header = header_of(lane, job, offers);
  const std::filesystem::path path = parity_path(job.root, header.name, header.safety);
  std::optional<ParityWriter> writer;
  base::unless_failed(failure, [&] { writer.emplace(path, header); });
  const auto largest = static_cast<std::size_t>(std::min(parity_block, header.chunk));
  ParityExchange exchange{lane, header, data, pace, failure, {}, {}, {}};
  exchange.out.resize(largest);
  exchange.in.resize(largest);
  exchange.sums.resize(static_cast<std::size_t>(header.rows));
  for (std::uint64_t at = 0; at < header.chunk; at += parity_block) {
    exchange.block_of_rows(at, static_cast<std::size_t>(std::min(parity_block, header.chunk - at)));
    base::unless_failed(failure, [&] {
      for (int row = 0; row < header.rows; ++row) writer->write(row, at, exchange.sums[static_cast<std::size_t>(row)]);
    });
  }
  std::uint64_t bytes = 0;
  base::unless_failed(failure, [&] { bytes = writer->finish(); });
  mine.ok = !failure;
  if (all_ok(exchange_offers(lane, mine))) return bytes;
  file::remove_all(path);
  return 0;
}

}  // namespace

std::uint64_t write_parity(ParityLane& lane, const ParityJob& job, Pace& pace) try {
  if (lane.broken) throw Error(Kind::interrupted, "an earlier exchange of parity has broken off");
  std::optional<Error> failure;
  // An exception from a socket leaves half a message behind it. Then the lane cannot be used again.
  lane.broken = true;
  const std::uint64_t bytes = exchange_parity(lane, job, pace, failure);
  lane.broken = false;
  if (failure) throw *failure;
  return bytes;
} catch (...) {
  // Members that wait for this one must notice that it has left.
  if (lane.broken)
    for (Socket& peer : lane.peers) peer = Socket();
  throw base::current_error().at("parity (" + std::string(name_of(lane.scheme.safety)) + ") of checkpoint step " +
                                 std::to_string(job.step));
}

}  // namespace octavo::engine
