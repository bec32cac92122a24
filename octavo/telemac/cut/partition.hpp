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
  /// A further input: what PREFIX gets behind it, and the file.
  using Named = std::pair<std::string, std::filesystem::path>;

  /// 0: as many parts as the given cut has, or as the store of the mesh has.
  std::int32_t parts = 2;
  partition::Method method = partition::Method::metis;
  PieceLayout layout = PieceLayout::concat;
  std::optional<std::filesystem::path> boundary;  ///< .cli: without it no CLI and PAR pieces are made
  std::vector<Named> also;                        ///< SERAFIN files on the same mesh, 2-D or 3-D, cut along
  std::optional<std::filesystem::path> sections, zones, weirs;  ///< become SEC, ZFI and SEU
  /// Sections, zones and weirs in the layout's -CONCAT and -INDEX, too; else they are numbered files, a part each: what
  /// TELEMAC opens (V8P4), with concatenated pieces as well.
  bool concat_sides = false;
  /// The part of each element, from 0, in a file (cut_file.hpp) or in memory. If it is given, `method` is not used.
  std::optional<std::filesystem::path> cut{};
  std::optional<partition::PartVector> part_of;
  std::optional<std::filesystem::path> write_cut{};  ///< file for the cut; nothing: it is not written
  /// Puts elements with a point on the boundary into the first part, whatever the method says, because ARTEMIS needs
  /// that. It is set for the prefix ART, as partel does.
  bool boundary_first = false;
  /// In place of `boundary`: its lines, points from 1.
  std::optional<std::vector<formats::serafin::BoundaryPoint>> conditions{};
  base::Progress progress;  ///< in bytes of steps cut
  bool overwrite = false;   ///< also files that are no pieces
};

struct PartitionReport {
  std::int32_t parts = 0;
  std::int64_t elements = 0, points = 0;
  partition::Quality quality;
  std::int64_t peak_bytes = 0;               ///< of this process's memory so far
  std::vector<std::filesystem::path> files;  ///< written
  std::vector<std::string> notes;
};

inline bool has_boundary(const PartitionOptions& options) { return options.boundary || options.conditions; }

/// Throws Error(usage) where two inputs would get one name, or a further one the mesh's or that of a side file.
void require_own_names(const PartitionOptions& options);

/// Reads zones and weirs, of a mesh with so many points a plane, for what is wrong with them: Error(corrupt).
void check_sides(const PartitionOptions& options, std::int32_t points);

/// In which layout the texts of sections, zones and weirs are.
PieceLayout side_layout(const PartitionOptions& options);

/// Whether pieces of this prefix are for ARTEMIS: its name is ART, as for partel.
bool is_artemis(const std::filesystem::path& prefix);

/// Moves the elements of `connectivity` that have a point on the boundary to the first part; marks them.
std::vector<bool> put_boundary_first(std::span<const std::int32_t> connectivity,
                                     const std::function<bool(std::int32_t point)>& is_on_boundary,
                                     partition::PartVector& part_of);
void note_boundary_first(std::int64_t elements, std::vector<std::string>& notes);

/// Adds a note with the number of parts that the method, and `boundary_first` after it, left empty, if any.
void note_filled(std::int64_t empty, const PartitionOptions& options, std::vector<std::string>& notes);

/// The most memory that this process has had [bytes].
std::int64_t peak_memory();

/// This rank's share of the graph of elements that share an edge.
struct SharedDual {
  std::int64_t first = 0;             ///< of its elements
  std::vector<std::int32_t> behind;   ///< shape (elements, 3): what lies behind their sides, -1: nothing
  std::vector<std::int32_t> strange;  ///< elements of others among those, ascending
};

/// Cuts such a graph into parts; gives those of a rank's elements. Collective.
using GraphCut = std::function<partition::PartVector(const SharedDual&, std::int32_t parts)>;

/// Cuts a mesh of triangles into the pieces that TELEMAC reads: PREFIX + GEO, CLI and PAR, in partel's numbering
/// (elements ascending, points by first appearance), byte for byte partel's for the same part vector. Steps of the mesh
/// file are cut as well. With one part nothing is concatenated: plain files, and no PAR. Existing pieces are replaced.
/// 3-D meshes are cut by columns and have no PAR piece. A MED or VTKHDF file or a store, also among `also`, is written
/// as a SERAFIN file beside the prefix first by rank 0, PREFIX + "GEO.whole.slf" ("-1.slf" ... where that is taken),
/// which is gone at the end. Progress is of the cutting. With no parts the mesh is a store that was cut
/// (PieceLayout::octavo): its cut is taken, and without a boundary file the boundary that it holds.
///
/// Collective: ranks share the mesh. With Method::inertial and Method::hilbert the files are those of one process, byte
/// for byte, for any number of ranks. Of several ranks Method::scotch asks `scotch`, whose cut may differ with their
/// number, and Method::metis and the cut that a store has are Error(unsupported). `ranks` must have all_to_all where it
/// has several. MED pieces and stores (PieceLayout::med, octavo) are written by rank 0, which has the whole mesh then.
///
/// Memory: the partitioner's, and after it about 40 bytes a triangle of the rank's share, plus one variable of one
/// step. Side files are read before anything is written. Parts that a method leaves without an element (METIS and
/// Scotch do where there are few elements a part) get half of a larger one's, with a note; so do those that
/// `boundary_first` took all elements from, but never of the elements along the boundary. Throws Error(usage) for a
/// folder that is not there, for names as require_own_names() and for pieces in the place of an input
/// (partition_names.hpp), for more parts than elements, or with `boundary_first` than elements off the boundary and
/// one, Error(corrupt) for a mesh with points of no element or an edge of three, or a boundary file, a result or a cut
/// that disagrees with it, or a cut with an empty part, Error(unsupported) for a point of more than 10 parts, which PAR
/// cannot say. Pieces get their names when all are whole, and replace those that are there then.
PartitionReport partition_mesh(const std::filesystem::path& mesh, const std::filesystem::path& prefix,
                               const PartitionOptions& options, const base::Ranks& ranks = {},
                               const GraphCut& scotch = {});

}  // namespace octavo::telemac
