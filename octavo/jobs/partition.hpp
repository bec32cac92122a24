#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "octavo/base/progress.hpp"
#include "octavo/formats/serafin/boundary.hpp"
#include "octavo/jobs/piece_files.hpp"
#include "octavo/partition/cut.hpp"

namespace octavo::jobs {

struct PartitionOptions {
  /// A further input: what PREFIX gets behind it, and the file.
  using Named = std::pair<std::string, std::filesystem::path>;

  std::int32_t parts = 2;  ///< 0, of partition_mesh: those of the cut that the store of the mesh has
  partition::Method method = partition::Method::metis;
  PieceLayout layout = PieceLayout::concat;
  std::optional<std::filesystem::path> boundary;  ///< .cli: without it no CLI and PAR pieces are made
  std::vector<Named> also;                        ///< SERAFIN files on the same mesh, 2-D or 3-D, cut along
  std::optional<std::filesystem::path> sections, zones, weirs;  ///< become SEC, ZFI and SEU
  /// Sections, zones and weirs in the layout's -CONCAT and -INDEX, too; else they are numbered files, a part each: what
  /// TELEMAC opens (V8P4), with concatenated pieces as well.
  bool concat_sides = false;
  std::optional<partition::PartVector> part_of;  ///< part of each element; then `method` is not asked
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

/// Throws Error(usage) where two inputs would get one name, or a further one the mesh's or that of a side file.
void require_own_names(const PartitionOptions& options);

/// Reads zones and weirs, of a mesh with so many points a plane, for what is wrong with them: Error(corrupt).
void check_sides(const PartitionOptions& options, std::int32_t points);

/// In which layout the texts of sections, zones and weirs are.
PieceLayout side_layout(const PartitionOptions& options);

/// The most memory that this process has had [bytes].
std::int64_t peak_memory();

/// Cuts a SERAFIN mesh into the pieces that TELEMAC reads: PREFIX + GEO, CLI and PAR, in partel's numbering (elements
/// ascending, points by first appearance), byte for byte partel's for the same part vector. Steps of the mesh file are
/// cut as well. With one part nothing is concatenated: plain files, and no PAR. Existing pieces are replaced. 3-D
/// meshes are cut by columns and have no PAR piece.
///
/// Memory: the partitioner's, and after it about 36 bytes a triangle plus one variable of one step.
/// Side files are read before anything is written.
/// Throws Error(usage) for a folder that is not there, for names as require_own_names() and for pieces in the place of
/// an input (partition_names.hpp), Error(corrupt) for more parts than elements, for a mesh with points of no element,
/// or a boundary file or result that disagrees with it, Error(unsupported) for a cut with empty parts (METIS and Scotch
/// make such of few elements a part) and for a point of more than 10 parts, which PAR cannot say. Pieces get their
/// names when all are whole, and replace those that are there then.
PartitionReport partition_serafin(const std::filesystem::path& mesh, const std::filesystem::path& prefix,
                                  const PartitionOptions& options);

/// The same of any file of triangles (MED, VTKHDF, a store), and such among `also`: each is written as a SERAFIN file
/// beside the prefix first, PREFIX + "GEO.whole.slf" ("-1.slf" ... where that is taken), which is gone at the end.
/// Progress is of the cutting. With no parts the mesh is a store that was cut (PieceLayout::octavo): its cut is taken,
/// and without a boundary file the boundary that it holds, so that its pieces come out as they were, or would have
/// been, of the mesh file.
PartitionReport partition_mesh(const std::filesystem::path& mesh, const std::filesystem::path& prefix,
                               const PartitionOptions& options);

}  // namespace octavo::jobs
