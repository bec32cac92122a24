#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "octavo/base/progress.hpp"
#include "octavo/jobs/piece_files.hpp"

namespace octavo::jobs {

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

/// Puts pieces of a result together (gretel's job), as `find_pieces` takes them, or in MED: the meshes of one file, or
/// a file a piece as TELEMAC's ranks write them. OUT.med becomes MED, whatever the pieces are, with the boundary in
/// groups where `boundary` or a `mesh` in MED tells of it; else one SERAFIN file is made with the pieces' title,
/// variables, date, coordinates and steps, values the same bits. Of points that several pieces have, the last piece's
/// values are taken, as gretel does. Steps that not all pieces have whole are left out, with a note. Elements stand as
/// in `mesh`; without one, piece after piece. Ranks on the boundary (IPOBO) are the mesh's, else the boundary file's,
/// else found from the mesh of the pieces.
///
/// Memory: 4 bytes a point and plane, plus one variable of one step, plus 12 bytes an element without `mesh`; from and
/// into MED the whole mesh.
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

}  // namespace octavo::jobs
