#pragma once
#include <cstdint>
#include <filesystem>
#include <string>

#include "octavo/partition/cut.hpp"

/// A cut in a file: the part of each element, from 0, in the mesh's order of elements. Text with blanks or ends of
/// lines between the numbers (as gpmetis and mpmetis write it), or NumPy's .npy with one axis of integers.
namespace octavo::jobs {

struct CutSize {
  std::int64_t elements = 0;
  std::int32_t parts = 0;  ///< the highest number and one
};
/// Reads the file through. Throws Error(corrupt) for an entry that is no integer from 0 to 2147483645.
CutSize measure_cut(const std::filesystem::path& path);

/// Parts of the elements [first, last). A .npy is read where they stand, a text from its beginning. Errors as
/// above, and for a file that ends before.
partition::PartVector read_cut(const std::filesystem::path& path, std::int64_t first, std::int64_t last);

/// What a file of that name has for elements that begin at `first`, of so many: lines; as NAME.npy integers of 4 bytes,
/// with the head where `first` is 0. One after the other they are the file.
std::string encode_cut(const std::filesystem::path& name, std::span<const std::int32_t> part_of, std::int64_t first,
                       std::int64_t elements);

}  // namespace octavo::jobs
