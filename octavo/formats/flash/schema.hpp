#pragma once
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "octavo/file/hdf5/hdf5.hpp"

/// FLASH-X HDF5 files: everything is a data set of the root group. N blocks (of all levels), D dimensions, arrays with
/// the slowest index first as in C:
///
///     refine level, node type, which child, processor number   int32 (N)
///     gid                                       int32 (N, 2D + 1 + 2^D): faces -x +x -y ..., parent, children
///     gsurr_blks                                int32 (N, 1 or 3, 1 or 3, 1 or 3, 2): id and node type around a block
///     coordinates, block size (N, 3), bounding box (N, 3, 2): real; the width of old files is D
///     one data set a variable                   real (N, nzb, nyb, nxb); along a face variable's axis one more
///     tracer particles                          real (P, properties), localnp int32 (N): rows a block
///
/// and lists of names and values. Sources of these facts: Flash-X's io_h5*.c, and files that it wrote.
namespace octavo::formats::flash {

enum class FileKind : std::uint8_t { checkpoint, plotfile, particles };
/// "checkpoint", "plotfile", "particles", and back (Error(corrupt)).
std::string to_string(FileKind kind);
FileKind file_kind(std::string_view name);

/// An open file and what is in it.
struct OpenedFlash {
  file::hdf5::File file;
  std::map<std::string, file::hdf5::Info> sets;
  std::vector<file::hdf5::Other> others;  ///< members of the root group that are not readable data sets
  FileKind kind = FileKind::checkpoint;
};

/// Returns whether the file has HDF5's signature and FLASH's data sets; false if it cannot be read.
bool recognise(const std::filesystem::path& path);
/// Throws Error(corrupt) if the file is HDF5 but not FLASH's, or if it lacks values of one of its own data sets.
OpenedFlash open_source(const std::filesystem::path& path);

/// Whether FLASH itself uses a data set of this name in any file: lists, tree and particles, but not variables.
bool is_own(const std::string& name);

bool has(const OpenedFlash& source, const std::string& name);
/// Throws Error(corrupt) that names the data set if it is missing; Error(unsupported) if it is a link or has its values
/// in other files, because we do not open those.
const file::hdf5::Info& set(const OpenedFlash& source, const std::string& name);
/// The same, and the data set must have this shape, with integers or reals.
const file::hdf5::Info& set(const OpenedFlash& source, const std::string& name, const std::vector<std::uint64_t>& shape,
                            file::hdf5::Class kind);

/// An error in a data set of the file.
base::Error error_in(const OpenedFlash& source, const std::string& set, std::string message);

/// trimmed() removes blanks and NULs at the end. padded() adds blanks up to a width; throws Error(usage) if the text is
/// longer.
std::string trimmed(std::string_view text);
std::string padded(std::string_view text, std::size_t width);

}  // namespace octavo::formats::flash
