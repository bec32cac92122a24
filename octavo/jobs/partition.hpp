#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "octavo/base/progress.hpp"
#include "octavo/partition/cut.hpp"

namespace octavo::jobs {

/// How pieces lie in files.
enum class PieceLayout : std::uint8_t {
  concat,  ///< two files an input, whatever the number of parts: NAME-CONCAT and NAME-INDEX
  files    ///< one file a part and input: NAMEnnnnn-iiiii, nnnnn the number of parts - 1
};

struct PartitionOptions {
  std::int32_t parts = 2;
  partition::Method method = partition::Method::metis;
  PieceLayout layout = PieceLayout::concat;
  std::optional<std::filesystem::path> boundary;  ///< .cli: without it no CLI and PAR pieces are made
  std::vector<std::filesystem::path> also;        ///< results on the same mesh, cut along
  std::optional<partition::PartVector> part_of;   ///< part of each element; then `method` is not asked
  base::Progress progress;                        ///< in bytes read and written
};

struct PartitionReport {
  std::int64_t elements = 0, points = 0;
  partition::Quality quality;
  std::vector<std::filesystem::path> files;  ///< written
  std::vector<std::string> notes;
};

/// Cuts a SERAFIN mesh into the pieces that TELEMAC reads: PREFIX + GEO, CLI and PAR, in partel's numbering (elements
/// ascending, points by first appearance), byte for byte partel's for the same part vector. Steps of the mesh file are
/// cut as well; a result of `also` becomes PREFIX + its stem. With one part nothing is concatenated: plain files.
/// Existing pieces are replaced. 3-D meshes are cut by columns and have no PAR piece.
///
/// Memory: the partitioner's, and after it about 28 bytes an element plus one variable of one step.
/// Throws Error(usage) for more parts than elements, Error(corrupt) for a boundary file that disagrees with the mesh,
/// Error(unsupported) for a point of more than 10 parts, which the PAR file cannot say.
PartitionReport partition_serafin(const std::filesystem::path& mesh, const std::filesystem::path& prefix,
                                  const PartitionOptions& options);

}  // namespace octavo::jobs
