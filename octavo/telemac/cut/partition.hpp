#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "octavo/base/progress.hpp"
#include "octavo/base/ranks.hpp"
#include "octavo/formats/serafin/boundary.hpp"
#include "octavo/partition/cut.hpp"
#include "octavo/telemac/files/piece_files.hpp"

namespace octavo::telemac {

struct PartitionOptions {
  /// A further input: the suffix that PREFIX gets for its pieces, and the file.
  using Named = std::pair<std::string, std::filesystem::path>;

  /// 0: the number of parts in the given cut, or in the store of the mesh.
  std::int32_t parts = 2;
  partition::CutMethod method = partition::CutMethod::metis;
  PieceLayout layout = PieceLayout::concat;
  bool any_layout = false;                        ///< the caller named none: solids get PieceLayout::octavo
  std::optional<std::filesystem::path> boundary;  ///< .cli: without it no CLI and PAR pieces are made
  std::vector<Named> also;                        ///< SERAFIN files on the same mesh, 2-D or 3-D, cut along
  std::optional<std::filesystem::path> sections, zones, weirs;  ///< become SEC, ZFI and SEU
  /// Concatenates sections, zones and weirs, too (-CONCAT and -INDEX). Otherwise they are one numbered file per part:
  /// TELEMAC (V8P4) opens these even if the other pieces are concatenated.
  bool concat_sides = false;
  /// The part of each element, from 0, in a file (cut_file.hpp) or in memory. If it is given, `method` is not used.
  std::optional<std::filesystem::path> cut{};
  std::optional<partition::PartVector> part_of;
  std::optional<std::filesystem::path> write_cut{};  ///< file for the cut; nothing: it is not written
  /// Puts elements with a point on the boundary into the first part, whatever the method says, because ARTEMIS needs
  /// that. It is set for the prefix ART, as partel does.
  bool boundary_first = false;
  /// The lines of a boundary file, in place of `boundary`; points count from 1.
  std::optional<std::vector<formats::serafin::BoundaryPoint>> conditions{};
  base::Progress progress;  ///< in bytes of steps cut
  bool overwrite = false;   ///< also files that are no pieces
};

struct PartitionReport {
  std::int32_t parts = 0;
  std::int64_t elements = 0, points = 0;
  partition::Quality quality;
  std::int64_t peak_bytes = 0;               ///< most memory that this process had so far
  std::vector<std::filesystem::path> files;  ///< written
  std::vector<std::string> notes;
};

inline bool has_boundary(const PartitionOptions& options) { return options.boundary || options.conditions; }

/// Throws Error(usage) if the pieces of two inputs would get the same name. Inputs are the mesh, the further inputs and
/// the side files.
void require_own_names(const PartitionOptions& options);

/// Reads zones and weirs of a mesh with `points` points per plane. Throws Error(corrupt) if something is wrong.
void check_sides(const PartitionOptions& options, std::int32_t points);

/// The layout of the texts of sections, zones and weirs.
PieceLayout side_layout(const PartitionOptions& options);

/// Whether pieces of this prefix are for ARTEMIS: as in partel, its name is then ART.
bool is_artemis(const std::filesystem::path& prefix);

/// Moves the elements of `connectivity` that have a point on the boundary to the first part. Returns a flag for each
/// element: it has such a point.
std::vector<bool> put_boundary_first(std::span<const std::int32_t> connectivity,
                                     const std::function<bool(std::int32_t point)>& is_on_boundary,
                                     partition::PartVector& part_of);
void note_boundary_first(std::int64_t elements, std::vector<std::string>& notes);

/// Adds a note if the method, or `boundary_first` after it, left `empty` parts without elements.
void note_filled(std::int64_t empty, const PartitionOptions& options, std::vector<std::string>& notes);

/// The most memory that this process had so far [bytes].
std::int64_t peak_memory();

/// This rank's share of the graph of elements that share an edge.
struct SharedDual {
  std::int64_t first = 0;             ///< number of this rank's first element
  std::vector<std::int32_t> behind;   ///< shape (elements, 3): the elements behind their sides; -1: none
  std::vector<std::int32_t> strange;  ///< elements in `behind` that other ranks have, ascending
};

/// Cuts such a graph into parts. Returns the part of each of this rank's elements. Collective.
using GraphCut = std::function<partition::PartVector(const SharedDual&, std::int32_t parts)>;

/// Cuts a mesh of triangles into the pieces that TELEMAC reads: PREFIX + GEO, CLI and PAR, in partel's numbering
/// (elements ascending, points by first appearance). They are byte for byte those of partel for the same part vector.
/// Steps of the mesh file are cut as well. With one part, pieces are plain files and there is no PAR. 3-D meshes are
/// cut by columns and have no PAR piece. If the mesh or a file of `also` is MED, VTKHDF or a store, rank 0 first writes
/// it as a temporary SERAFIN file beside the prefix, PREFIX + "GEO.whole.slf" ("-1.slf" ... if that is taken). Progress
/// counts the cutting only. If `parts` is 0 and the mesh is a store that was cut (PieceLayout::octavo), its cut is
/// taken, and its boundary if there is no boundary file.
///
/// Collective: ranks share the mesh. CutMethod::inertial and CutMethod::hilbert give the same files, byte for byte, for
/// any number of ranks. With several ranks, CutMethod::scotch calls `scotch`, whose cut may depend on their number;
/// CutMethod::metis and the cut of a store are Error(unsupported), and `ranks` must have all_to_all. Rank 0 writes MED
/// pieces and stores (PieceLayout::med, octavo), and then holds the whole mesh.
///
/// A mesh of solids is cut by partition_solids().
///
/// Memory: that of the partitioner; after it about 40 bytes per triangle of the rank's share, plus one variable of one
/// step. Side files are read before anything is written. If a method leaves a part without elements (METIS and Scotch
/// do if there are few elements per part), the part gets half of a larger part's elements, and a note says so. The same
/// holds for parts that `boundary_first` emptied, but they never get elements along the boundary. Pieces get their
/// names when all are whole, and then replace existing ones.
///
/// Throws
/// - Error(usage) if the folder does not exist, for names as require_own_names(), for pieces in the place of an input
///   (partition_names.hpp), and for more parts than elements (with `boundary_first`: than elements off the boundary
///   plus one);
/// - Error(corrupt) for a mesh with a point of no element or an edge of three elements, for a boundary file, a result
///   or a cut that disagrees with the mesh, and for a cut with an empty part;
/// - Error(unsupported) for a point of more than 10 parts, which a line of PAR cannot hold.
PartitionReport partition_mesh(const std::filesystem::path& mesh, const std::filesystem::path& prefix,
                               const PartitionOptions& options, const base::Ranks& ranks = {},
                               const GraphCut& scotch = {});

}  // namespace octavo::telemac
