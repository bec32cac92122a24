#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "octavo/analysis/select.hpp"

namespace octavo::analysis {

/// A straight line between two points of the data, and the stretches of it that are in a region.
struct Line {
  int dim = 3;
  mesh::Point3 from{}, to{};       ///< [code length]
  double length = 0;               ///< [code length]
  mesh::Point3 start{}, course{};  ///< in cells of level 0 from the domain's lower corner; to - from
  mesh::Point3 cells{};            ///< of level 0, of the domain
  std::array<bool, 3> periodic{};
  std::vector<std::array<double, 2>> in_region;  ///< shares of the way, ascending and apart; of no region 0 to 1
};

/// A region clips the line at its surface. Where an axis is periodic, line and region continue on the other side.
/// Throws Error(usage) for a line without length, with a coordinate that is not finite, or more than 16 times as long
/// as the domain.
Line make_line(const mesh::Header& header, const mesh::Point3& from, const mesh::Point3& to,
               const std::optional<mesh::Region>& region);

/// Boxes, in the units of regions, that hold the line: at most `pieces`.
std::vector<mesh::Box> boxes_of_line(const mesh::Header& header, const Line& line, int pieces);

/// The part of a line that lies in one leaf. A line along a side between two cells is in the one with the larger
/// coordinate. Distances are those of the leaf's sides, each computed in one way: a chord ends where the next begins,
/// to the last bit.
struct Chord {
  double entry = 0, exit = 0;  ///< distance from the line's first point [code length]
  std::int32_t level = 0;      ///< the code's own number
};

/// Chords in the order of the tree, then, once sorted, of their entry.
struct Chords {
  std::vector<Chord> chords;
  std::vector<double> values;  ///< [chord][field]

  template <class Way>
  friend void both(Way& way, Chords& chords) {
    both(way, chords.chords, chords.values);
  }
};

/// The part's chords. Looks at the cells on the line, and above them in the tree, only. See cell_field for errors.
Chords chords_of(const mesh::Part& part, const mesh::Header& header, const Line& line,
                 const std::vector<std::string>& fields, int max_level);

/// Appends another part's chords.
void add(Chords& to, Chords&& other);
/// Orders the chords along the line.
void sort_chords(Chords& chords);

}  // namespace octavo::analysis
