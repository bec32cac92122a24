#include "octavo/telemac/cut/same_mesh.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <sstream>
#include <string>
#include <vector>

#include "octavo/base/at.hpp"
#include "octavo/base/error.hpp"
#include "octavo/base/rank_exchange.hpp"

namespace octavo::telemac {
namespace {

namespace serafin = formats::serafin;
using base::Error;
using base::Kind;

constexpr std::int64_t batch = std::int64_t{1} << 16;

using base::at;

/// The finaliser of SplitMix64 (Steele, Lea and Flood 2014): every bit depends on all.
std::uint64_t mixed(std::uint64_t value) {
  value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9U;
  value = (value ^ value >> 27) * 0x94d049bb133111ebU;
  return value ^ value >> 31;
}

Error another(const std::string& what, const serafin::SerafinSeries& mesh, const serafin::SerafinSeries& found) {
  return Error(Kind::corrupt, "a file on another mesh: " + what)
      .at(found.file->path().string())
      .hint("expected is what " + mesh.file->path().string() + " has");
}

void require_counts(const serafin::SerafinSeries& mesh, const serafin::SerafinSeries& found) {
  const auto require = [&](std::int32_t expected, std::int32_t there, const char* what) {
    if (there != expected)
      throw another("expected " + std::to_string(expected) + what + ", found " + std::to_string(there), mesh, found)
          .hint("TOMAWAC's imposed spectra and the like are not on the mesh: every process reads them whole");
  };
  require(serafin::plane_points(mesh.header), serafin::plane_points(found.header), " points a plane");
  require(serafin::plane_elements(mesh.header), serafin::plane_elements(found.header), " elements a plane");
}

/// Calls f(first, count) for the batches of a rank's share.
template <class F>
void each_batch(const base::Ranks& ranks, std::int64_t total, F&& f) {
  const auto [begin, end] = base::share(total, ranks.rank, ranks.size);
  for (std::int64_t first = begin; first < end; first += batch) f(first, std::min(batch, end - first));
}

std::string text_of(const std::int32_t* corners) {
  return std::to_string(corners[0] + 1) + ", " + std::to_string(corners[1] + 1) + ", " + std::to_string(corners[2] + 1);
}

/// Throws the first place where the triangles of two files differ.
void throw_first_difference(const serafin::SerafinSeries& mesh, const serafin::SerafinSeries& found) {
  each_batch({}, serafin::plane_elements(mesh.header), [&](std::int64_t first, std::int64_t count) {
    const auto expected = serafin::read_triangles(mesh, first, count);
    const auto there = serafin::read_triangles(found, first, count);
    for (std::size_t e = 0; e < expected.size(); e += 3)
      if (marks_of(std::span(expected).subspan(e, 3)) != marks_of(std::span(there).subspan(e, 3)))
        throw another("element " + std::to_string(first + static_cast<std::int64_t>(e / 3) + 1) +
                          ": expected the points " + text_of(&expected[e]) + ", found " + text_of(&there[e]),
                      mesh, found);
  });
}

void require_same_triangles(const base::Ranks& ranks, const serafin::SerafinSeries& mesh,
                            const serafin::SerafinSeries& found) {
  std::uint64_t difference = 0;
  base::agree(ranks, [&] {
    each_batch(ranks, serafin::plane_elements(mesh.header), [&](std::int64_t first, std::int64_t count) {
      difference += marks_of(serafin::read_triangles(mesh, first, count));
      difference -= marks_of(serafin::read_triangles(found, first, count));
    });
  });
  std::uint64_t of_all = 0;
  for (const std::uint64_t one : base::gather(ranks, std::vector{difference})) of_all += one;
  if (of_all == 0) return;
  base::agree(ranks, [&] {
    if (ranks.rank == 0) throw_first_difference(mesh, found);
  });
}

void require_same_places(const base::Ranks& ranks, const serafin::SerafinSeries& mesh,
                         const serafin::SerafinSeries& found, int axis) {
  std::vector<double> expected, there;
  each_batch(ranks, serafin::plane_points(mesh.header), [&](std::int64_t first, std::int64_t count) {
    expected.resize(at(count));
    there.resize(at(count));
    serafin::read_coordinates(mesh, axis, first, expected);
    serafin::read_coordinates(found, axis, first, there);
    for (std::size_t i = 0; i < expected.size(); ++i)
      require_same_place(first + static_cast<std::int64_t>(i), expected[i], there[i], axis, mesh, found);
  });
}

bool is_single(double value) { return static_cast<double>(static_cast<float>(value)) == value; }

/// Two units in the last place of `most`: in single precision if `a` or `b` may come from it.
double unit_of(double a, double b, double most) { return most * (is_single(a) || is_single(b) ? 0x1p-22 : 0x1p-51); }

std::string digits(double value) {
  std::ostringstream text;
  text.precision(17);
  text << value;
  return text.str();
}

}  // namespace

void require_same_mesh(const base::Ranks& ranks, const serafin::SerafinSeries& mesh,
                       const serafin::SerafinSeries& found) {
  base::agree(ranks, [&] { require_counts(mesh, found); });
  require_same_triangles(ranks, mesh, found);
  base::agree(ranks, [&] {
    for (const int axis : {0, 1}) require_same_places(ranks, mesh, found, axis);
  });
}

std::uint64_t marks_of(std::span<const std::int32_t> triangles) {
  std::uint64_t sum = 0;
  for (std::size_t e = 0; e < triangles.size(); e += 3) {
    std::array corners{triangles[e], triangles[e + 1], triangles[e + 2]};
    std::sort(corners.begin(), corners.end());
    std::uint64_t mark = 0;
    for (const std::int32_t corner : corners) mark = mixed(mark + static_cast<std::uint64_t>(corner) + 1);
    sum += mark;
  }
  return sum;
}

bool same_place(double a, double b, int axis, const serafin::SerafinHeader& of_a, const serafin::SerafinHeader& of_b) {
  double most = std::max(std::abs(a), std::abs(b));
  if (std::abs(a - b) <= unit_of(a, b, most)) return true;
  const std::size_t parameter = axis == 0 ? 2 : 3;
  const double from_a = of_a.iparam[parameter], from_b = of_b.iparam[parameter];
  most = std::max({most, std::abs(from_a), std::abs(from_b)});
  return from_a != from_b && std::abs((a - b) + (from_a - from_b)) <= unit_of(a, b, most);
}

void require_same_place(std::int64_t point, double expected, double there, int axis, const serafin::SerafinSeries& mesh,
                        const serafin::SerafinSeries& found) {
  if (same_place(expected, there, axis, mesh.header, found.header)) return;
  throw another(std::string(axis == 0 ? "x" : "y") + " of point " + std::to_string(point + 1) + ": expected " +
                    digits(expected) + ", found " + digits(there),
                mesh, found);
}

}  // namespace octavo::telemac
