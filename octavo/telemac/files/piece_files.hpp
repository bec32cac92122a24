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

/// Where a piece lies, for writing or reading.
struct PiecePlace {
  std::filesystem::path file;
  std::uint64_t begin = 0;  ///< of the piece in the file [bytes]
  std::uint64_t bytes = 0;
  formats::serafin::Header header;
};

/// How an index says where pieces are. TELEMAC knows the first for GEO, the second for CLI, the third for PAR.
enum class IndexKind : std::uint8_t {
  bytes,  ///< two big-endian int64 a part: first byte, from 1, and the one behind the last
  lines,  ///< two big-endian int32 a part: first line, from 1, and the one behind the last
  text    ///< one number a part and line: first line, from 1
};

/// Plans and writes pieces of one kind: tell the sizes of all parts, then write them in any order.
class PieceWriter {
 public:
  /// Parts that a process writes, of several that share the pieces.
  struct Own {
    std::int32_t first = 0, last = std::numeric_limits<std::int32_t>::max();
  };
  /// With one part nothing is concatenated. Files are made among `files`, which is to outlive this: they replace those
  /// that are there when it is published. Where processes share the pieces, all tell the sizes of all parts; a file is
  /// made by who owns its first part, before which nobody may write to it.
  PieceWriter(step::NewFiles& files, std::filesystem::path prefix, std::int32_t parts, PieceLayout layout,
              IndexKind kind);
  PieceWriter(step::NewFiles& files, std::filesystem::path prefix, std::int32_t parts, PieceLayout layout,
              IndexKind kind, Own own);

  /// The next part's piece of so many bytes and lines; parts in order. Returns where it goes.
  PiecePlace next(std::uint64_t bytes, std::int64_t lines);
  /// The same, and its text.
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

/// The header of a geometry's pieces as partel has it: of IPARAM only the origin, the planes and the counts are kept,
/// and a date of zeros is none (SET_MESH_SRF of TELEMAC's hermes).
formats::serafin::Header geometry_header(formats::serafin::Header header);
/// The header of a SERAFIN piece of `like`'s file: in its byte order, tagged by precision, with the piece's counts.
formats::serafin::Header piece_header(formats::serafin::Header like, const Piece& piece);
/// The same by the counts alone: points and elements of a plane, points on the boundary, points of other parts too.
formats::serafin::Header piece_header(formats::serafin::Header like, const std::array<std::int32_t, 4>& counts);
/// All of a piece but its steps. 3-D: planes above one another, prisms between them; numbers of a point grow by
/// `global_points`, those of a plane of the whole mesh, from plane to plane.
std::vector<std::byte> encode_piece(const formats::serafin::Header& header, const Piece& piece,
                                    std::int32_t global_points);

/// The pieces of one kind that lie in files, part after part.
struct PieceSet {
  std::vector<PiecePlace> places;
  std::vector<std::int64_t> steps;  ///< whole ones of each
};

/// Files of single pieces: all PREFIXnnnnn-iiiii of one PREFIX, whether the whole file lies there as PREFIX or not, or
/// the files that are named, in the order of their names. Errors as below.
std::vector<std::filesystem::path> piece_files(const std::vector<std::filesystem::path>& paths);

/// Finds the pieces that PATHS name: one PREFIX (its -CONCAT and -INDEX, else its piece_files), one -CONCAT file, or
/// files of single pieces. Throws Error(usage) if a PREFIX has both and they differ, Error(unreadable) if nothing is
/// there, Error(corrupt) that names the first missing piece, or pieces of other variables, precisions or planes than
/// the first.
PieceSet find_pieces(const std::vector<std::filesystem::path>& paths);

/// Opens one for reading.
formats::serafin::Series open_piece(const PiecePlace& place);
/// Global numbers of a piece's points of the lowest plane, from 0; all in [0, `most`), else Error(corrupt).
std::vector<std::int32_t> read_global(const formats::serafin::Series& piece, std::int32_t most);

}  // namespace octavo::telemac
