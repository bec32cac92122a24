#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "octavo/formats/serafin/boundary.hpp"
#include "octavo/partition/contour.hpp"
#include "octavo/telemac/files/piece.hpp"

/// The lines of a boundary file along the boundary of a mesh that is cut.
namespace octavo::telemac {

/// Conditions of a boundary file, along the mesh's boundary.
struct CutBoundary {
  std::vector<formats::serafin::BoundaryPoint> points;
  std::vector<double> x, y;  ///< of those points
  partition::Outline contour;
  std::vector<std::int32_t> liquid;
  std::vector<std::int32_t> edge_part;  ///< part of the edge from each point to the next one
};

/// Puts the lines of a boundary file in order along edges that have part numbers in place of element numbers. `from`
/// names the file, for errors. Throws Error(corrupt) if the lines' points are not those of the mesh's boundary.
CutBoundary link_boundary(std::vector<formats::serafin::BoundaryPoint> lines, std::vector<double> x,
                          std::vector<double> y, std::span<const partition::BoundaryEdge> edges,
                          const std::string& from);

/// The condition of the k-th boundary point in a part that has it, under a local number.
PieceBoundaryPoint boundary_point(const CutBoundary& boundary, std::int32_t part, std::int32_t k, std::int32_t local);

/// Adds a note if elements turn clockwise, because TELEMAC stops at them.
void note_turns(const partition::Turns& turns, std::vector<std::string>& notes);
/// Throws Error(corrupt) if some elements turn clockwise and others do not, because the boundary may then have no
/// direction. The error names the first clockwise element and the file `mesh`.
void require_one_turn(const partition::Turns& turns, const std::string& mesh);
/// Adds a note if the mesh's own numbers (IPOBO) differ from the order of the boundary file's lines; the file counts.
/// `own`: the mesh's number for the point of each line; `numbered`: how many points of the mesh have a number.
void note_own_numbers(const std::vector<std::int32_t>& own, std::int64_t numbered, const CutBoundary& boundary,
                      std::vector<std::string>& notes);

/// Gives a piece its boundary, and marks the liquid edges of its halo.
/// @pre the piece has its connectivity and its halo
void set_boundary(Piece& piece, std::vector<PieceBoundaryPoint> points);

}  // namespace octavo::telemac
