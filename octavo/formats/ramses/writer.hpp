#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "octavo/base/progress.hpp"
#include "octavo/file/fortran_record.hpp"
#include "octavo/mesh/dataset.hpp"

namespace octavo::formats::ramses {

struct WriteOptions {
  int domains = 0;                ///< 0: as many as the step has parts, and their bounds where it has those
  int number = 1;                 ///< NNNNN in the file names; the directory has any name
  bool single_precision = false;  ///< reals of 4 bytes, as an NPRE=4 build has them; also where the step came so
  /// Byte order, and bytes a marker; nothing: those of the input.
  std::optional<file::RecordFormat> format = {};
  int group_size = 0;         ///< domains a group_GGGGG folder (IOGROUPSIZEREP); 0: as in the input
  std::string ordering = {};  ///< "hilbert", "planar"; empty: as in the input, whose bisection is kept, too
  /// Makes several domains at a time, because neighbours need the same parts. Together they take at most this many
  /// bytes, but at least one is made.
  std::int64_t memory = std::int64_t{256} << 20;
  base::Progress progress = {};  ///< in parts read and domains written
};

/// Writes a step of cell octrees as a RAMSES output that RAMSES restarts from. Which octs a domain's file holds, own,
/// ghost and wall, is what RAMSES itself keeps (nexpand_bound = 1), with all its tables: linked lists, father,
/// neighbours, cpu_map, flags, bound keys. New bounds give the domains equal numbers of leaves along RAMSES' Hilbert
/// curve (a load balance of RAMSES also weighs particles and levels). Particles go to the domain of the leaf they are
/// in. Numbers are kept, and so is the input's layout: precision, 16-byte keys, byte order, group folders, ngridmax
/// (where it suffices), walls, texts (namelist, compilation, sinks).
///
/// The attributes hydro_variables, grav_variables and rt_variables (as the reader sets them) give the file of a field.
/// Without them its name does: potential and force_* go to grav, all others to hydro. Their order is RAMSES' own
/// (variables.hpp).
///
/// An axis that is not periodic has walls. The walls of a RAMSES step are kept, with the values in them. For other
/// steps walls are made, numbered -x +x -y +y -z +z, and namelist.txt describes them. The attribute bound_type, six of
/// RAMSES' numbers in this order, says which of them reflect.
///
/// Memory: `memory` or one output domain, one part of the step, the step's coarse levels (no more octs than a mean part
/// has), and tables by level. Every tree is read two or three times to begin with, then twice, once with its values,
/// for each set of domains it is near to.
///
/// As many domains as the step had keep their random seeds; other numbers of domains get new ones. Not written: cooling
/// tables (RAMSES computes them).
///
/// `directory` must not exist. Throws Error(usage) for more domains than octs; Error(unsupported) for another kind of
/// mesh, for blocks, for variables that RAMSES needs and the step lacks, for the ordering "angular" and for another
/// number of domains of a bisection; Error(corrupt) where parts do not make up a whole tree or particles lie outside of
/// the leaves of their part. Returns what a user should know. Not collective.
std::vector<std::string> write(const mesh::Dataset& dataset, const std::filesystem::path& directory,
                               const WriteOptions& options);

}  // namespace octavo::formats::ramses
