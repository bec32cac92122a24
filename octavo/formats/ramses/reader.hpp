#pragma once
#include <filesystem>

#include "octavo/mesh/dataset.hpp"

namespace octavo::formats::ramses {

/// Whether the path is an output directory (it has an info_NNNNN.txt) or a file in one.
bool recognise(const std::filesystem::path& path);

/// Opens an output: text files and the headers of domain 1's files. Part d is domain d + 1; level index 0 holds the
/// cells of RAMSES level 1. Reading a part opens the files of its domain that the request needs: an amr file unless no
/// field is asked for (`fields` empty, the mesh then is an empty Octree), hydro, grav or rt where one of its variables
/// is asked for, part where particles are. Trees are pruned before values are read; levels below the request are not
/// read.
mesh::Dataset open(const std::filesystem::path& path);

}  // namespace octavo::formats::ramses
