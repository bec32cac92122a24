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
  /// The whole geometry, which gives the order of elements and the boundary. It is a SERAFIN file; any format if pieces
  /// or output are MED.
  std::optional<std::filesystem::path> mesh;
  std::optional<std::filesystem::path> boundary;  ///< .cli, for numbers along the boundary if the mesh has none
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
/// the pieces' title, variables, date, coordinates and steps, and the same bits of all values. A point in several
/// pieces gets the last piece's values, as with gretel. Steps that are not whole in every piece are left out, with a
/// note. Elements have the order of `mesh`; without one they come piece after piece. Numbers along the boundary (IPOBO)
/// come from the mesh, else from the boundary file, else from the outline of the merged mesh.
///
/// Memory: 4 bytes for each point and plane, plus one variable of one step, plus 12 bytes for each element if there is
/// no `mesh`. With MED, the whole mesh is in memory.
/// Throws Error(corrupt) if pieces are missing, come from different cuts or runs (a point in no piece, at two places,
/// or out of range; other times), or belong to another mesh than `mesh`. Throws Error(usage) if `out` exists or is an
/// input.
MergeReport merge_pieces(const std::vector<std::filesystem::path>& pieces, const std::filesystem::path& out,
                         const MergeOptions& options);

struct SplitOptions {
  PieceLayout layout = PieceLayout::concat;
  base::Progress progress;  ///< in bytes of steps cut
  bool overwrite = false;   ///< also files that are no pieces; pieces are always replaced
};

struct SplitReport {
  std::int64_t parts = 0, points = 0, steps = 0;
  std::vector<std::filesystem::path> files;
};

/// Cuts a result along the cut of existing pieces (parres' job) into files PREFIX + suffixes. The result may have
/// planes even if the pieces have none. The new files get their names when all are whole. Throws Error(corrupt) if the
/// pieces are not of the result's mesh, Error(usage) if the new files would replace an input or a file that is no
/// piece.
SplitReport split_by_pieces(const std::filesystem::path& result, const std::vector<std::filesystem::path>& pieces,
                            const std::filesystem::path& prefix, const SplitOptions& options);

}  // namespace octavo::telemac
