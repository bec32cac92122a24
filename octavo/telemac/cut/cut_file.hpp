#pragma once
#include <cstdint>
#include <filesystem>
#include <string>

#include "octavo/partition/cut.hpp"

/// A file with a cut: the part of each element, from 0, in the mesh's order of elements. It is a text of numbers
/// between blanks or line ends (as gpmetis and mpmetis write it), or NumPy's .npy with one axis of integers.
namespace octavo::telemac {

struct CutSize {
  std::int64_t elements = 0;
  std::int32_t parts = 0;  ///< the highest number and one
};
/// Reads the file through. Throws Error(corrupt) for an entry that is no integer from 0 to 2147483645.
CutSize measure_cut(const std::filesystem::path& path);

/// Reads the parts of the elements [first, last). It reads only these of a .npy, but a text from its beginning.
/// Throws Error(corrupt) as above, and for a file that ends too early.
partition::PartVector read_cut(const std::filesystem::path& path, std::int64_t first, std::int64_t last);

/// Encodes the parts of consecutive elements, from `first` on, of `elements` in all, for a file of that name. NAME.npy
/// gets integers of 4 bytes, after a head if `first` is 0; other names get lines. All pieces in order are the file.
std::string encode_cut(const std::filesystem::path& name, std::span<const std::int32_t> part_of, std::int64_t first,
                       std::int64_t elements);

}  // namespace octavo::telemac
