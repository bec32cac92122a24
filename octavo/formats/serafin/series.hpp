#pragma once
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <vector>

#include "octavo/file/posix.hpp"
#include "octavo/formats/serafin/layout.hpp"
#include "octavo/mesh/unstructured.hpp"

namespace octavo::formats::serafin {

/// A SERAFIN file, or one piece of a concatenated one: header read, all else by position. Reading is thread-safe.
struct SerafinSeries {
  std::shared_ptr<const file::File> file;
  std::uint64_t begin = 0;  ///< of the piece in the file [bytes]
  std::uint64_t bytes = 0;  ///< of the piece
  SerafinHeader header;
  RecordOffsets offsets;             ///< positions from `begin`
  std::int64_t steps = 0;            ///< number of whole steps
  std::uint64_t trailing_bytes = 0;  ///< after the last whole step: a newline, or a step cut short
};

/// Whether the file begins with a title record of 80 characters and a sane count of variables, in either byte order.
bool looks_like_series(const std::filesystem::path& path);

/// Reads and checks the header: record lengths, and counts against the file's size. The precision is that of the record
/// of x, whatever the tag says. Throws Error(corrupt) with file, byte, expected and found; Error(unreadable).
SerafinSeries open_series(const std::filesystem::path& path);
/// The piece [begin, begin + bytes) of a concatenated file.
SerafinSeries open_series(std::shared_ptr<const file::File> file, std::uint64_t begin, std::uint64_t bytes);

/// Connectivity as in the file (from 1, element after element), elements [first, first + out.size() / nodes).
/// Throws Error(corrupt) for a number that is no point.
void read_connectivity(const SerafinSeries& series, std::int64_t first, std::span<std::int32_t> out);
/// IPOBO of a whole mesh, or the global numbers of a piece (KNOLG): points [first, first + out.size()).
void read_numbers(const SerafinSeries& series, std::int64_t first, std::span<std::int32_t> out);
/// Coordinates of points [first, first + out.size()), axis 0 or 1 [m]. The origin in IPARAM(3), (4) is not added.
/// Throws Error(corrupt) for a coordinate that is NaN or not below 1e30 in magnitude.
void read_coordinates(const SerafinSeries& series, int axis, std::int64_t first, std::span<double> out);

/// The time of a step [s]. Throws Error(usage) if there is no such step.
double read_time(const SerafinSeries& series, std::int64_t step);
std::vector<double> read_times(const SerafinSeries& series);
/// Values of points [first, first + out.size()) of a variable at a step; floats are widened.
void read_values(const SerafinSeries& series, std::int64_t step, std::size_t variable, std::int64_t first,
                 std::span<double> out);
/// The same values as the file has them, real_bytes each, in native byte order.
void read_raw_values(const SerafinSeries& series, std::int64_t step, std::size_t variable, std::int64_t first,
                     std::span<std::byte> out);

/// The position of a variable by name. Throws Error(usage) that names near matches if there is none.
std::size_t find_variable(const SerafinHeader& header, std::string_view name);

/// Values of all points of a variable at a step, with the length words before and behind them, byte for byte as in the
/// file. `out` is real_bytes * points + 8 long.
void read_record(const SerafinSeries& series, std::int64_t step, std::size_t variable, std::span<std::byte> out);

/// Triangles of the lowest plane: shape (plane_elements, 3), points from 0. Errors as read_mesh.
std::vector<std::int32_t> read_triangles(const SerafinSeries& series);
/// Those of [first, first + count).
std::vector<std::int32_t> read_triangles(const SerafinSeries& series, std::int64_t first, std::int64_t count);

/// The mesh of one plane, points from 0. `global` says that the numbers are a piece's global ones. Throws
/// Error(unsupported) for quadrangles, Error(corrupt) where prisms are not planes of the same triangles over the same
/// places: all of them are read, a batch at a time.
mesh::Unstructured read_mesh(const SerafinSeries& series, bool global = false);

}  // namespace octavo::formats::serafin
