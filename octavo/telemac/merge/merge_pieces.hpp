#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "octavo/base/progress.hpp"
#include "octavo/telemac/files/piece_files.hpp"

namespace octavo::telemac {

struct MergeOptions {
  /// The whole geometry, SERAFIN (or, where something is MED, any format): its order of elements and its boundary.
  std::optional<std::filesystem::path> mesh;
  std::optional<std::filesystem::path> boundary;  ///< .cli, for ranks on the boundary where the mesh has none
  bool overwrite = false;
  base::Progress progress;  ///< in bytes written
};

struct MergeReport {
  std::int64_t parts = 0, elements = 0, points = 0, steps = 0;
  std::int64_t bytes = 0;
  std::vector<std::string> notes;
};

/// Puts the pieces of a result together (gretel's job). Pieces are found as by `find_pieces`, or are MED: the meshes of
/// one file, or a file for each piece as TELEMAC's ranks write them. If `out` ends in .med, it becomes a MED file,
/// with the boundary in groups if `boundary` or a `mesh` in MED gives it. Otherwise it becomes one SERAFIN file with
/// the pieces' title, variables, date, coordinates and steps, values bit for bit. A point in several pieces gets the
/// last piece's values, as with gretel. Steps that some piece does not have whole are left out, with a note. Elements
/// have the order of `mesh`; without one they stand piece after piece. Ranks on the boundary (IPOBO) come from the
/// mesh, else from the boundary file, else from the outline of the merged mesh.
///
/// Memory: 4 bytes for each point and plane, plus one variable of one step, plus 12 bytes for each element if there is
/// no `mesh`. From and into MED the whole mesh is in memory.
/// Throws Error(corrupt) where pieces are missing or of different cuts or runs (a point in no piece, at two places, or
/// out of range; other times) or of another mesh than `mesh`, Error(usage) where `out` exists, or is an input.
MergeReport merge_pieces(const std::vector<std::filesystem::path>& pieces, const std::filesystem::path& out,
                         const MergeOptions& options);

struct SplitOptions {
  PieceLayout layout = PieceLayout::concat;
  base::Progress progress;  ///< in bytes of steps cut
  bool overwrite = false;   ///< also files that are no pieces; pieces are replaced always
};

struct SplitReport {
  std::int64_t parts = 0, points = 0, steps = 0;
  std::vector<std::filesystem::path> files;
};

/// Cuts a result by the cut of pieces that are there (parres' job): PREFIX + suffixes. The result may have planes where
/// the pieces have none. Throws Error(corrupt) where the pieces are not of the result's mesh, Error(usage)
/// where the new ones would replace an input, or what is no piece. They get their names when all are whole.
SplitReport split_by_pieces(const std::filesystem::path& result, const std::vector<std::filesystem::path>& pieces,
                            const std::filesystem::path& prefix, const SplitOptions& options);

}  // namespace octavo::telemac
