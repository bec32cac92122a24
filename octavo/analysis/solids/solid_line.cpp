#include "octavo/analysis/solids/solid_line.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "octavo/analysis/region_on_line.hpp"
#include "octavo/mesh/solids/tetrahedra.hpp"

namespace octavo::analysis {
namespace {

using mesh::Point3;

constexpr double shortest_chord = 1e-12;  // of the line; shorter ones are rounding errors

/// The piece of a line in a tetrahedron, in shares of the line's length.
struct SolidPiece {
  double entry = 0, exit = 1;
  std::size_t cell = 0;
  std::array<std::int64_t, 4> points{};
  std::array<double, 4> middle{};  ///< shares of the points at the piece's middle
};

class LineThroughSolids {
 public:
  LineThroughSolids(const mesh::Solids& mesh, const Line& line) : mesh_(mesh), line_(line) {}

  /// Whether the line passes the box around a cell.
  bool is_near(std::span<const std::int64_t> points) const {
    double entry = 0, exit = 1;
    for (std::size_t a = 0; a < 3; ++a) {
      const std::vector<double>& places = a == 0 ? mesh_.x : a == 1 ? mesh_.y : mesh_.z;
      double lo = places[static_cast<std::size_t>(points[0])], hi = lo;
      for (const std::int64_t point : points) {
        lo = std::min(lo, places[static_cast<std::size_t>(point)]);
        hi = std::max(hi, places[static_cast<std::size_t>(point)]);
      }
      const double from = line_.from[a], way = line_.to[a] - from, margin = 1e-10 * (hi - lo);
      if (way == 0) {
        if (from < lo - margin || from > hi + margin) return false;
        continue;
      }
      const double one = (lo - margin - from) / way, other = (hi + margin - from) / way;
      entry = std::max(entry, std::min(one, other));
      exit = std::min(exit, std::max(one, other));
    }
    return entry <= exit;
  }

  /// The piece of the line in a tetrahedron, sides and edges included, each computed by itself.
  std::optional<SolidPiece> piece_in(std::size_t cell, const std::array<std::int64_t, 4>& points) const {
    SolidPiece piece{0, 1, cell, points, {}};
    const auto from = shares_in(mesh_, points, line_.from), to = shares_in(mesh_, points, line_.to);
    if (!from || !to) return {};
    for (std::size_t k = 0; k < 4; ++k) {
      const double begin = (*from)[k], slope = (*to)[k] - begin;
      const double rounding = 1e-13 * (1 + std::fabs(begin) + std::fabs((*to)[k]));
      if (std::fabs(slope) <= rounding) {
        if (begin < -rounding) return {};
        continue;  // beside this side, or along it
      }
      const double at = -begin / slope;
      (slope > 0 ? piece.entry : piece.exit) = slope > 0 ? std::max(piece.entry, at) : std::min(piece.exit, at);
    }
    if (!(piece.exit - piece.entry > shortest_chord)) return {};
    return piece;
  }

  /// With the shares of its points at the middle of what is left of it.
  SolidPiece within(SolidPiece piece, const Share& wanted) const {
    piece.entry = std::max(piece.entry, wanted[0]);
    piece.exit = std::min(piece.exit, wanted[1]);
    const double at = 0.5 * (piece.entry + piece.exit);
    Point3 place{};
    for (std::size_t a = 0; a < 3; ++a) place[a] = line_.from[a] + at * (line_.to[a] - line_.from[a]);
    piece.middle = *shares_in(mesh_, piece.points, place);
    return piece;
  }

 private:
  const mesh::Solids& mesh_;
  const Line& line_;
};

std::vector<SolidPiece> pieces_of(const mesh::Solids& mesh, const Line& line) {
  const LineThroughSolids through(mesh, line);
  std::vector<SolidPiece> pieces;
  std::size_t first = 0;
  for (std::size_t cell = 0; cell < mesh.corners.size(); first += mesh.corners[cell], ++cell) {
    const auto points = std::span(mesh.connectivity).subspan(first, mesh.corners[cell]);
    if (!through.is_near(points)) continue;
    mesh::for_each_tetrahedron(mesh, points, [&](std::int64_t a, std::int64_t b, std::int64_t c, std::int64_t d) {
      const auto piece = through.piece_in(cell, {a, b, c, d});
      if (!piece) return;
      for (const Share& wanted : line.in_region)
        if (const SolidPiece left = through.within(*piece, wanted); left.entry < left.exit) pieces.push_back(left);
    });
  }
  std::stable_sort(pieces.begin(), pieces.end(),
                   [](const SolidPiece& a, const SolidPiece& b) { return a.entry < b.entry; });
  return pieces;
}

/// Where a piece that goes from entry to exit begins, behind those that reach as far as `reached`; nothing if no more
/// than a rounding error of it is left.
std::optional<double> settled_entry(double entry, double exit, double reached, double rounding) {
  const double begin = entry <= reached + rounding ? reached : entry;
  if (!(exit - begin > rounding)) return {};
  return begin;
}

double mean_value(const SolidValues& field, const SolidPiece& piece) {
  std::array<double, 4> at{};
  for (std::size_t k = 0; k < 4; ++k) at[k] = field(piece.cell, piece.points[k]);
  if (at[0] == at[1] && at[1] == at[2] && at[2] == at[3]) return at[0];
  double sum = 0;
  for (std::size_t k = 0; k < 4; ++k)
    if (piece.middle[k] != 0) sum += piece.middle[k] * at[k];
  return sum;
}

}  // namespace

Chords chords_of(const mesh::Solids& mesh, std::span<const SolidValues> fields, const Line& line) {
  Chords out;
  std::vector<double> sums(fields.size(), 0);
  std::optional<std::size_t> cell;  // of the last chord
  double reached = 0;
  const auto finish_chord = [&] {
    const double length = out.chords.empty() ? 0 : out.chords.back().exit - out.chords.back().entry;
    for (double& sum : sums) out.values.push_back(sum / length);
  };
  for (const SolidPiece& piece : pieces_of(mesh, line)) {
    const double before = reached;
    const auto entry = settled_entry(piece.entry, piece.exit, reached, shortest_chord);
    if (!entry) continue;
    reached = piece.exit;
    if (cell == piece.cell && *entry == before) {
      out.chords.back().exit = piece.exit;
    } else {
      if (cell) finish_chord();
      sums.assign(fields.size(), 0);
      out.chords.push_back({*entry, piece.exit, 0});
      cell = piece.cell;
    }
    for (std::size_t f = 0; f < fields.size(); ++f) sums[f] += (piece.exit - *entry) * mean_value(fields[f], piece);
  }
  if (cell) finish_chord();
  for (Chord& chord : out.chords) {
    chord.entry *= line.length;
    chord.exit *= line.length;
  }
  return out;
}

void settle_chords(const Line& line, Chords& chords) {
  const std::size_t count = chords.chords.size(), fields = count == 0 ? 0 : chords.values.size() / count;
  Chords kept;
  double reached = 0;
  for (std::size_t c = 0; c < count; ++c) {
    Chord chord = chords.chords[c];
    const auto entry = settled_entry(chord.entry, chord.exit, reached, shortest_chord * line.length);
    if (!entry) continue;
    chord.entry = *entry;
    reached = chord.exit;
    kept.chords.push_back(chord);
    const auto from = chords.values.begin() + static_cast<std::ptrdiff_t>(c * fields);
    kept.values.insert(kept.values.end(), from, from + static_cast<std::ptrdiff_t>(fields));
  }
  chords = std::move(kept);
}

}  // namespace octavo::analysis
