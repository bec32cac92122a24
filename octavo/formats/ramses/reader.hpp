#pragma once
#include <filesystem>
#include <string>

#include "octavo/mesh/dataset.hpp"

namespace octavo::formats::ramses {

/// Whether the path is an output directory (it has an info_NNNNN.txt) or a file in one.
bool recognise(const std::filesystem::path& path);

/// Opens an output: text files and the headers of domain 1's files. Part d is domain d + 1; level index 0 holds the
/// cells of RAMSES level 1. Reading a part opens the files of its domain that the request needs: the amr file (unless
/// only particles are asked for: `fields` empty and `particles`; the mesh then is an empty Octree), hydro, grav or rt
/// where one of its variables is asked for, part where particles are. Trees are pruned before values are read; levels
/// below the request are not read.
///
/// parts_touching goes by the table of Hilbert keys, for leaf cells: a request whose max_level is coarser than the
/// coarsest leaves wants cells that other domains own, so read all parts for it.
mesh::Dataset open(const std::filesystem::path& path);
/// The output that Dataset::describe() tells of, for another process of the run: opens no file before a part is read.
mesh::Dataset understand(const std::string& description);

}  // namespace octavo::formats::ramses
