#include "octavo/ranks/halves.hpp"

#include <cstdint>

namespace octavo::ranks {
namespace {

constexpr std::size_t most_bytes = std::size_t{1} << 30;  // of a message

template <class Transfer>
void in_pieces(std::size_t size, Transfer&& transfer) {
  for (std::size_t at = 0; at < size; at += most_bytes) transfer(at, static_cast<int>(std::min(most_bytes, size - at)));
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

namespace {

constexpr int tag_of_texts = 12;

// A text is sent in pieces of `most_bytes`, of which the first shorter one is the last. So the messages tell its size.
void send_text(MPI_Comm comm, int to, const std::string& text, std::vector<MPI_Request>& requests) {
  for (std::size_t at = 0, bytes = most_bytes; bytes == most_bytes; at += bytes) {
    bytes = std::min(most_bytes, text.size() - at);
    MPI_Isend(text.data() + at, static_cast<int>(bytes), MPI_BYTE, to, tag_of_texts, comm, &requests.emplace_back());
  }
}

std::string receive_text(MPI_Comm comm, int from) {
  std::string text;
  for (int bytes = static_cast<int>(most_bytes); bytes == static_cast<int>(most_bytes);) {
    MPI_Status status;
    MPI_Probe(from, tag_of_texts, comm, &status);
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    const std::size_t at = text.size();
    text.resize(at + static_cast<std::size_t>(bytes));
    MPI_Recv(text.data() + at, bytes, MPI_BYTE, from, tag_of_texts, comm, MPI_STATUS_IGNORE);
  }
  return text;
}

}  // namespace

std::vector<std::string> exchange(MPI_Comm comm, const std::vector<std::pair<int, std::string>>& out,
                                  const std::vector<int>& from) {
  std::vector<MPI_Request> requests;
  // All sends begin before the first receive, so ranks that exchange with each other do not wait in a circle.
  for (const auto& [rank, text] : out) send_text(comm, rank, text, requests);
  std::vector<std::string> in;
  for (const int rank : from) in.push_back(receive_text(comm, rank));
  MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
  return in;
}

}  // namespace octavo::ranks
