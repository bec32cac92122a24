#include "octavo/ranks/route.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "octavo/base/checksum.hpp"

namespace octavo::ranks {
namespace {

std::vector<std::string> items_of(const std::string& text) {
  std::vector<std::string> items;
  for (std::size_t at = 0; at < text.size();) {
    at = std::min(text.find_first_not_of(' ', at), text.size());
    const std::size_t end = std::min(text.find(';', at), text.size());
    if (end > at) items.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return items;
}

}  // namespace

std::int64_t hash_of(const std::string& text) {
  return static_cast<std::int64_t>(base::checksum(std::as_bytes(std::span(text))) >> 2) + 1;
}

base::Error disagreement(const std::vector<std::string>& texts, const std::string& what) {
  const std::vector<std::string> first = items_of(texts.front());
  const std::string begin = "ranks disagree about " + what;
  for (std::size_t r = 1; r < texts.size(); ++r) {
    const std::vector<std::string> other = items_of(texts[r]);
    const auto [a, b] = std::mismatch(first.begin(), first.end(), other.begin(), other.end());
    if (a == first.end() && b == other.end()) continue;
    return {base::Kind::usage, begin + ": rank 0 has " + (a == first.end() ? "no more" : *a) + ", rank " +
                                   std::to_string(r) + (b == other.end() ? " no more" : " " + *b)};
  }
  return {base::Kind::usage, begin};
}

void require_same(MPI_Comm comm, const std::string& mine, const std::string& what) {
  std::array<std::int64_t, 2> range{hash_of(mine), -hash_of(mine)};
  MPI_Allreduce(MPI_IN_PLACE, range.data(), 2, MPI_INT64_T, MPI_MAX, comm);
  if (range[0] == -range[1]) return;
  throw disagreement(ranks_of(comm).all_gather(mine), what);
}

void take_begin_error(std::optional<base::Error>& begin_error, std::optional<base::Error>& put_error) {
  if (begin_error) put_error = std::exchange(begin_error, std::nullopt);
}

void require_ended(MPI_Comm comm, const std::optional<base::Error>& put_error, bool in_step) {
  agree(comm, [&] {
    if (put_error) throw *put_error;
  });
  agree(comm, [&] {
    if (in_step) throw base::Error(base::Kind::usage, "the last step was begun and not ended: it is not written");
  });
}

}  // namespace octavo::ranks
