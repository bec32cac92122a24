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

// Above 0, because 0 stands for no text (Agreement::step), and small enough to be negated in a reduction.
std::int64_t hash_of(const std::string& text) {
  return static_cast<std::int64_t>(base::checksum(std::as_bytes(std::span(text))) >> 2) + 1;
}

std::optional<base::Error> disagreement(MPI_Comm comm, const std::string& mine, const std::string& what) {
  const int size = size_of(comm), first = lowest_where(comm, !mine.empty());
  if (first == size) return {};
  const std::string expected = from_rank(comm, first, mine);
  const int other = lowest_where(comm, !mine.empty() && mine != expected);
  if (other == size) return {};
  const auto one = items_of(expected), two = items_of(from_rank(comm, other, mine));
  const auto [a, b] = std::mismatch(one.begin(), one.end(), two.begin(), two.end());
  const auto named = [](int rank) { return "rank " + std::to_string(rank); };
  return base::Error(base::Kind::usage, "ranks disagree about " + what + ": " + named(first) + " has " +
                                            (a == one.end() ? "no more" : *a) + ", " + named(other) + " " +
                                            (b == two.end() ? "no more" : *b));
}

void require_same(MPI_Comm comm, const std::string& mine, const std::string& what) {
  // The largest of the hashes and of their negatives: one reduction shows whether all are equal. Texts travel only if
  // not.
  std::array<std::int64_t, 2> range{hash_of(mine), -hash_of(mine)};
  MPI_Allreduce(MPI_IN_PLACE, range.data(), 2, MPI_INT64_T, MPI_MAX, comm);
  if (range[0] == -range[1]) return;
  throw disagreement(comm, mine, what).value_or(base::Error(base::Kind::usage, "ranks disagree about " + what));
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
