#pragma once
#include <cstdint>
#include <filesystem>
#include <vector>

#include "octavo/mesh/dataset.hpp"
#include "octavo/mesh/patches.hpp"

namespace octavo::formats::vtkhdf {

/// The boxes of a level, with indices from the domain's lower corner, and the edges of its cells [code length].
struct AmrLevel {
  mesh::Point3 cell{};
  std::vector<mesh::IndexBox> boxes;
};

/// The places in a file of boxes where values are written later [byte of the file]: `fields[level][field]` is that of
/// the first value. A level's boxes follow one another, each x fastest.
struct AmrFile {
  std::vector<std::vector<std::uint64_t>> fields;
};

/// Lays out a VTKHDF file of type OverlappingAMR, version 2.2, in 3-D. It has no time: VTK reads none of one step. Each
/// level must have boxes. Fields have the types of type_in_file(). Throws Error(usage) where the file exists.
AmrFile lay_out_boxes(const std::filesystem::path& path, const mesh::Header& header,
                      const std::vector<AmrLevel>& levels, const std::vector<mesh::FieldInfo>& fields);

}  // namespace octavo::formats::vtkhdf
