#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "octavo/formats/serafin/boundary.hpp"
#include "octavo/formats/serafin/series.hpp"
#include "octavo/partition/contour.hpp"
#include "octavo/partition/cut.hpp"
#include "octavo/telemac/files/piece.hpp"

namespace octavo::telemac {

/// Lists by part, in the order that they were counted in.
struct Buckets {
  std::vector<std::int64_t> first;
  std::vector<std::int32_t> items;
  std::span<const std::int32_t> of(std::int32_t part) const {
    const auto begin = static_cast<std::size_t>(first[static_cast<std::size_t>(part)]);
    return std::span(items).subspan(begin, static_cast<std::size_t>(first[static_cast<std::size_t>(part) + 1]) - begin);
  }
};

/// The mesh of one plane, and how it is cut. About 32 bytes an element once cut.
struct CutMesh {
  std::string from;  ///< the file, for errors
  std::int32_t parts = 1;
  std::int32_t points = 0;
  std::vector<std::int32_t> connectivity;  ///< shape (elements, 3), points from 0
  std::vector<double> x, y;
  std::vector<std::int32_t> rank;  ///< on the boundary, from 1; 0 inside
  partition::PartVector part_of;
  partition::PartLists lists;
  partition::SharedPoints shared;
  std::vector<partition::HaloElement> halo;
  Buckets shared_of, halo_of;  ///< by part: positions in shared.points, in halo
};

/// Conditions of a boundary file, along the mesh's boundary.
struct CutBoundary {
  std::string from;  ///< the file that the lines are of
  std::vector<formats::serafin::BoundaryPoint> points;
  std::vector<double> x, y;  ///< of those points
  partition::Contour contour;
  std::vector<std::int32_t> liquid;
  std::vector<std::int32_t> edge_part;  ///< part of the edge from each point to the next one
  Buckets of;                           ///< by part: positions in points
};

/// Points and elements of one plane. Throws Error(corrupt) for a point that no element has.
CutMesh read_cut_mesh(const formats::serafin::Series& series);

/// The condition of the k-th boundary point in a part that has it, under a local number.
PieceBoundaryPoint boundary_point(const CutBoundary& boundary, std::int32_t part, std::int32_t k, std::int32_t local);

/// The boundary file of a mesh. Throws Error(corrupt) where its points are not those of the mesh's boundary.
CutBoundary read_cut_boundary(const std::filesystem::path& path, const CutMesh& mesh);
/// The same of lines that were read; `from` is where, for errors.
CutBoundary trace_cut_boundary(std::vector<formats::serafin::BoundaryPoint> lines, const CutMesh& mesh,
                               const std::filesystem::path& from);

/// Counts the elements that turn clockwise and counter-clockwise.
partition::Turns find_turns(const CutMesh& mesh);
/// Adds a note if elements turn clockwise, because TELEMAC stops at them.
void note_turns(const partition::Turns& turns, std::vector<std::string>& notes);
/// Throws Error(corrupt) if some elements turn clockwise and others do not, because the boundary may then have no
/// direction. The error names the first clockwise element and the file `mesh`.
void require_one_turn(const partition::Turns& turns, const std::string& mesh);
/// Throws Error(corrupt) for a boundary file without lines.
void require_lines(const CutBoundary& boundary);
/// Adds a note if the mesh's own numbers (IPOBO) differ from the order of the boundary file's lines; the file counts.
/// `own`: the mesh's number for the point of each line; `numbered`: how many points of the mesh have a number.
void note_own_numbers(const std::vector<std::int32_t>& own, std::int64_t numbered, const CutBoundary& boundary,
                      std::vector<std::string>& notes);

/// The ranks of boundary points: the order of the boundary file's lines, as in partel. Without a file they are the
/// mesh's own numbers (IPOBO), or, if these are all zero, the order along the mesh's boundary. A note says if the
/// mesh's own numbers were not taken.
std::vector<std::int32_t> find_ranks(const formats::serafin::Series& series, const CutBoundary* boundary,
                                     const CutMesh& mesh, std::vector<std::string>& notes);

/// Gives a piece its boundary, and marks the liquid edges of its halo.
/// @pre the piece has its connectivity and its halo
void set_boundary(Piece& piece, std::vector<PieceBoundaryPoint> points);

/// Fills in what follows from part_of.
void find_neighbours(CutMesh& mesh);
/// Boundary points by part.
void share_boundary(const CutMesh& mesh, CutBoundary& boundary);

/// One part's share. `local` has a zero for every point, before and after.
Piece make_piece(const CutMesh& mesh, const CutBoundary* boundary, std::int32_t part, std::vector<std::int32_t>& local);

}  // namespace octavo::telemac
