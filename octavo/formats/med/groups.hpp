#pragma once
#include <filesystem>

#include "octavo/formats/row/groups.hpp"

namespace octavo::formats::med {

/// Reads the groups of a mesh of FILE or FILE#MESH. Throws Error(corrupt) for edges of points that are not there.
MeshGroups read_groups(const std::filesystem::path& path);

}  // namespace octavo::formats::med
