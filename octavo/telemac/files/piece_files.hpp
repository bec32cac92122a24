#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "octavo/file/posix.hpp"
#include "octavo/formats/serafin/layout.hpp"
#include "octavo/formats/serafin/series.hpp"
#include "octavo/step/new_file.hpp"
#include "octavo/telemac/files/piece.hpp"

/// Pieces in files, as TELEMAC names and concatenates them. PREFIX is a path and the beginning of a name: run/T2DGEO.
namespace octavo::telemac {

enum class PieceLayout : std::uint8_t {
  concat,  ///< two files, whatever the number of parts: PREFIX-CONCAT and PREFIX-INDEX
  files,   ///< one file a part: PREFIXnnnnn-iiiii, nnnnn the number of parts - 1. One part: PREFIX alone
  med,     ///< meshes of one MED file, PREFIX.med (med_pieces.hpp); texts as in concat
  octavo   ///< parts of the mesh of one store, PREFIX.octavo (store/triangles.hpp); texts as in concat
};

/// PREFIXnnnnn-iiiii.
std::filesystem::path piece_path(const std::filesystem::path& prefix, std::int32_t parts, std::int32_t part);
std::filesystem::path concat_path(const std::filesystem::path& prefix);
std::filesystem::path index_path(const std::filesystem::path& prefix);

/// The place of a piece, for writing or reading.
struct PiecePlace {
  std::filesystem::path file;
  std::uint64_t begin = 0;  ///< of the piece in the file [bytes]
  std::uint64_t bytes = 0;
  formats::serafin::SerafinHeader header;
};

/// The form of an index, which gives the places of pieces. TELEMAC uses the first for GEO, the second for CLI, the
/// third for PAR.
enum class IndexKind : std::uint8_t {
  bytes,  ///< two big-endian int64 per part: first byte, from 1, and one past the last byte
  lines,  ///< two big-endian int32 per part: first line, from 1, and one past the last line
  text    ///< one line per part with one number: first line, from 1
};

/// Plans and writes pieces of one kind. The caller first gives the sizes of all parts, then writes them in any order.
class PieceWriter {
 public:
  /// The parts that this process writes, if several processes share the pieces.
  struct Own {
    std::int32_t first = 0, last = std::numeric_limits<std::int32_t>::max();
  };
  /// With one part nothing is concatenated. The writer makes its files through `files`, which must outlive it: they
  /// replace existing ones when `files` is published. If processes share the pieces, each gives the sizes of all parts.
  /// The process that owns a file's first part makes the file; no other may write to it before.
  PieceWriter(step::NewFiles& files, std::filesystem::path prefix, std::int32_t parts, PieceLayout layout,
              IndexKind kind);
  PieceWriter(step::NewFiles& files, std::filesystem::path prefix, std::int32_t parts, PieceLayout layout,
              IndexKind kind, Own own);

  /// Plans the next part's piece of `bytes` bytes and `lines` lines, in the order of parts. Returns its place.
  PiecePlace next(std::uint64_t bytes, std::int64_t lines);
  /// Plans the next part's piece and writes its text.
  void next(std::string_view text);
  /// Writes bytes at an offset within a piece.
  void put(const PiecePlace& place, std::uint64_t offset, std::span<const std::byte> bytes);
  /// Writes the index and closes the files; reports the names that they get.
  std::vector<std::filesystem::path> finish();

 private:
  step::NewFiles* files_;
  bool concat_;
  std::filesystem::path prefix_;
  std::int32_t parts_;
  IndexKind kind_;
  Own own_;
  std::int32_t part_ = 0;
  std::uint64_t end_ = 0;
  std::int64_t lines_ = 0;
  std::string index_;
  file::File file_;
  std::vector<std::filesystem::path> made_;
};

/// The header of a geometry's pieces, as partel writes it. It keeps only the origin, the planes and the counts of
/// IPARAM, and drops a date of zeros (SET_MESH_SRF of TELEMAC's hermes).
formats::serafin::SerafinHeader geometry_header(formats::serafin::SerafinHeader header);
/// The header of a SERAFIN piece of `like`'s file: in its byte order, tagged by precision, with the piece's counts.
formats::serafin::SerafinHeader piece_header(formats::serafin::SerafinHeader like, const Piece& piece);
/// The same from the counts alone: points and elements of a plane, points on the boundary, points that other parts
/// have, too.
formats::serafin::SerafinHeader piece_header(formats::serafin::SerafinHeader like,
                                             const std::array<std::int32_t, 4>& counts);
/// Encodes all of a piece but its steps. 3-D: planes above one another, with prisms between them. A point's number
/// grows by `global_points`, the points in a plane of the whole mesh, from plane to plane.
std::vector<std::byte> encode_piece(const formats::serafin::SerafinHeader& header, const Piece& piece,
                                    std::int32_t global_points);

/// The pieces of one kind that lie in files, part after part.
struct PieceSet {
  std::vector<PiecePlace> places;
  std::vector<std::int64_t> steps;  ///< number of whole steps of each piece
};

/// Lists the files of single pieces: all PREFIXnnnnn-iiiii of one PREFIX (a whole file called PREFIX may exist, too),
/// or the given files in the order of their names. Throws as find_pieces().
std::vector<std::filesystem::path> piece_files(const std::vector<std::filesystem::path>& paths);

/// Finds the pieces that `paths` name: one PREFIX (its -CONCAT and -INDEX, else its piece_files), one -CONCAT file, or
/// files of single pieces. Throws Error(usage) if a PREFIX has both and they differ, Error(unreadable) if there are no
/// pieces, and Error(corrupt) that names the first piece that is missing, or whose variables, precision or planes are
/// not those of the first piece.
PieceSet find_pieces(const std::vector<std::filesystem::path>& paths);

/// Opens a piece for reading.
formats::serafin::SerafinSeries open_piece(const PiecePlace& place);
/// Global numbers, from 0, of a piece's points in the lowest plane. Throws Error(corrupt) unless all are in [0,
/// `most`).
std::vector<std::int32_t> read_global(const formats::serafin::SerafinSeries& piece, std::int32_t most);

}  // namespace octavo::telemac
