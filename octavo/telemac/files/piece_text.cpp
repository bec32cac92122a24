#include "octavo/telemac/files/piece_text.hpp"

#include <charconv>
#include <map>

#include "octavo/base/at.hpp"
#include "octavo/base/error.hpp"
#include "octavo/step/boundary_groups.hpp"

namespace octavo::telemac {
namespace {

using base::Error;
using base::Kind;

constexpr std::size_t most_sharers = 9;  // columns of a line: BIEF's NBMAXNSHARE less the part itself

using base::at;

/// Right-aligned in `width` columns, as Fortran's Iw.
void add_number(std::string& text, std::int64_t number, std::size_t width) {
  std::array<char, 24> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
  const auto count = static_cast<std::size_t>(end - digits.data());
  if (count < width) text.append(width - count, ' ');
  text.append(digits.data(), count);
}

void add_line(std::string& text, std::int64_t number) { text += serafin::list_directed(number) + '\n'; }

void add_boundary(std::string& text, const Piece& piece) {
  add_line(text, static_cast<std::int64_t>(piece.boundary.size()));
  for (const PieceBoundaryPoint& point : piece.boundary) {
    add_number(text, point.condition.colour, 12);
    add_number(text, point.condition.point, 12);
    add_number(text, point.segment, 12);
    text += serafin::list_directed(point.x) + serafin::list_directed(point.y);
    add_number(text, point.liquid, 12);
    text += '\n';
  }
}

Error too_many_parts(const Piece& piece, std::int32_t local, std::size_t others) {
  return Error(Kind::unsupported, "point " + std::to_string(piece.points[at(local - 1)] + 1) + " is shared by " +
                                      std::to_string(others + 1) + " parts: expected at most " +
                                      std::to_string(most_sharers + 1) + ", as many as a PAR file can say")
      .hint("take fewer parts, or another method");
}

void add_shared(std::string& text, const Piece& piece) {
  add_line(text, static_cast<std::int64_t>(piece.shared.size()));
  for (std::size_t i = 0; i < piece.shared.size(); ++i) {
    const std::size_t first = at(piece.shared_first[i]), last = at(piece.shared_first[i + 1]);
    if (last - first > most_sharers) throw too_many_parts(piece, piece.shared[i], last - first);
    add_number(text, piece.shared[i], 7);
    for (std::size_t k = 0; k < most_sharers; ++k)
      add_number(text, first + k < last ? piece.sharers[first + k] : -1, 8);
    text += '\n';
  }
}

void add_halo(std::string& text, const Piece& piece) {
  add_number(text, static_cast<std::int64_t>(piece.halo.size()), 9);
  text += '\n';
  for (const PieceHalo& halo : piece.halo) {
    add_number(text, halo.element, 9);
    for (const std::int32_t part : halo.parts) add_number(text, part, 10);
    for (const std::int32_t element : halo.elements) add_number(text, element, 10);
    text += '\n';
  }
}

}  // namespace

std::string boundary_text(const Piece& piece) {
  std::string text;
  for (const PieceBoundaryPoint& point : piece.boundary) text += serafin::boundary_line(point.condition);
  return text;
}

std::string boundary_groups_text(const Piece& piece) {
  std::map<std::string, serafin::BoundaryPoint> groups;
  for (const PieceBoundaryPoint& point : piece.boundary)
    groups.emplace(step::group_of(point.condition), point.condition);
  std::string text;
  add_line(text, static_cast<std::int64_t>(groups.size()));
  for (const auto& [name, codes] : groups) {
    for (const int code : {codes.depth, codes.u, codes.v, codes.tracer}) add_number(text, code, 12);
    text += ' ' + name + '\n';
  }
  return text;
}

std::string parallel_text(const Piece& piece) {
  std::string text;
  add_boundary(text, piece);
  add_shared(text, piece);
  add_halo(text, piece);
  return text;
}

}  // namespace octavo::telemac
