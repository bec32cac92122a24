#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "octavo/step/triangle_series.hpp"
#include "octavo/telemac/files/piece_files.hpp"
#include "octavo/telemac/merge/merge_pieces.hpp"

/// Opens the pieces of a result, in any format, as one series on the whole mesh. For merging from or into MED.
namespace octavo::telemac {

/// A piece whose steps can be opened.
struct SeriesPiece {
  std::string where;  ///< for errors
  std::vector<double> times;
  /// Opens a step by its number, from 0; nothing: the last step, or the mesh alone. Its mesh has global numbers.
  std::function<mesh::Dataset(std::optional<std::int64_t> step)> open;
};

/// The meshes of one MED file, as octavo partition --layout med writes them.
std::vector<SeriesPiece> pieces_of_med(const std::filesystem::path& path);
/// MED files of one mesh each, as TELEMAC's ranks write them.
std::vector<SeriesPiece> pieces_of_med_files(const std::vector<std::filesystem::path>& paths);
std::vector<SeriesPiece> pieces_of_serafin(const PieceSet& set);

/// The whole series. A point in several pieces gets the last piece's values. `options` give the order of elements and
/// the boundary, as for merge_pieces; it throws the same errors. Holds the mesh; reads values when they are asked for,
/// one field of one step of all pieces.
formats::Series series_of_pieces(std::vector<SeriesPiece> pieces, const MergeOptions& options,
                                 std::vector<std::string>& notes);

}  // namespace octavo::telemac
