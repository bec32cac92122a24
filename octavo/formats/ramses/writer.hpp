#pragma once
#include <filesystem>

#include "octavo/base/progress.hpp"
#include "octavo/file/fortran_record.hpp"
#include "octavo/mesh/dataset.hpp"

namespace octavo::formats::ramses {

struct WriteOptions {
  int number = 1;                  ///< NNNNN in the file names; the directory has any name
  bool single_precision = false;   ///< reals of 4 bytes, as an NPRE=4 build has them; also where the step came so
  file::RecordFormat format = {};  ///< byte order, and bytes a marker
  int group_size = 0;              ///< domains a group_GGGGG folder (IOGROUPSIZEREP); 0: no folders
  base::Progress progress = {};    ///< in parts
};

/// Writes a step of cell octrees as a RAMSES output with one domain a part: info and header text, descriptors, and per
/// domain amr, hydro and, where there are such fields or particles, grav, rt and part. A domain's file holds its own
/// octs and, as ghosts in the list of their owner, those that close its tree; numbering, linked lists, father,
/// neighbours (0 where the file does not hold them), cpu_map and the key table follow.
///
/// Which file a field belongs to is told by the attributes hydro_variables, grav_variables, rt_variables (as the reader
/// leaves them), else by its name: potential and force_* are grav, all others hydro. One part is in memory at a time.
///
/// Walls keep their place among the coarse cells; their boundary octs, which hold no physics, are not written.
///
/// `directory` must not exist. Throws Error(unsupported) for another kind of mesh, for blocks, and where there is no
/// table of Hilbert keys ("bound_key") that says who owns the ghosts.
void write(const mesh::Dataset& dataset, const std::filesystem::path& directory, const WriteOptions& options);

}  // namespace octavo::formats::ramses
