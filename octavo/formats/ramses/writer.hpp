#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "octavo/base/progress.hpp"
#include "octavo/base/ranks.hpp"
#include "octavo/file/fortran_record.hpp"
#include "octavo/mesh/dataset.hpp"

namespace octavo::formats::ramses {

struct WriteOptions {
  int domains = 0;  ///< 0: one per part of the step, with the step's own bounds if it has them
  int number = 1;   ///< NNNNN in the file names; the directory has any name
  bool single_precision =
      false;  ///< reals of 4 bytes, as an NPRE=4 build writes them; always so if the step came with them
  /// Byte order, and bytes per record marker; nothing: those of the input.
  std::optional<file::RecordFormat> format = {};
  int group_size = 0;         ///< domains per group_GGGGG folder (IOGROUPSIZEREP); 0: as in the input
  std::string ordering = {};  ///< "hilbert", "planar"; empty: as in the input, whose bisection is kept, too
  /// Makes several domains at a time, because neighbours need the same parts. Together they take at most this many
  /// bytes, but at least one is made.
  std::int64_t memory = std::int64_t{256} << 20;
  base::Progress progress = {};  ///< in parts read and domains written
};

/// Writes a step of cell octrees as a RAMSES output that RAMSES restarts from. A domain's file holds the own, ghost and
/// wall octs that RAMSES itself keeps (nexpand_bound = 1), with all its tables: linked lists, father, neighbours,
/// cpu_map, flags, bound keys. New bounds give the domains equal numbers of leaves along RAMSES' Hilbert curve (a load
/// balance of RAMSES also weighs particles and levels). Particles go to the domain of the leaf they are in. Keeps
/// numbers, and the input's layout: precision, 16-byte keys, byte order, group folders, ngridmax (where it suffices),
/// walls, texts (namelist, compilation, sinks).
///
/// The attributes hydro_variables, grav_variables and rt_variables (as the reader sets them) give the file of a field.
/// Without them its name does: potential and force_* go to grav, all others to hydro. Their order is RAMSES' own
/// (variables.hpp).
///
/// An axis that is not periodic has walls. The walls of a RAMSES step are kept, with the values in them. For other
/// steps walls are made, numbered -x +x -y +y -z +z, and namelist.txt describes them. The attribute bound_type, six of
/// RAMSES' numbers in this order, says which of them reflect.
///
/// Memory: `memory` or one output domain, one part of the step, the step's coarse levels (no more octs than an average
/// part has), and tables by level. At first every tree is read two or three times. Then it is read twice, once with its
/// values, for each set of domains near it.
///
/// If the number of domains stays, they keep their random seeds; otherwise they get new ones. Not written: cooling
/// tables (RAMSES computes them).
///
/// `directory` must not exist. Throws Error(usage) for more domains than octs; Error(unsupported) for another kind of
/// mesh, for blocks, for variables that RAMSES needs and the step lacks, for the ordering "angular" and for another
/// number of domains of a bisection; Error(corrupt) if parts do not make up a whole tree, or if particles lie outside
/// the leaves of their part. Returns notes for the user. Not collective.
std::vector<std::string> write(const mesh::Dataset& dataset, const std::filesystem::path& directory,
                               const WriteOptions& options);

/// Writes the files of one domain of such an output, of `options.domains`, and the texts. The ranks of a run call it at
/// the same time, each for its own domain; `directory` may exist, be shared or lie on a disk of the node. Without
/// group folders, and without info and header, which RAMSES does not read once it has begun. Reads all trees, as
/// write() does. Throws the same errors.
void write_one_domain(const mesh::Dataset& dataset, const std::filesystem::path& directory, const WriteOptions& options,
                      int domain);

/// One domain's files for a restart of RAMSES itself, which removes them once it has read them.
struct DomainFiles {
  std::filesystem::path folder;  ///< holds output_NNNNN
  int number = 0;                ///< NNNNN
  int domain = 0;                ///< from 0
};

/// As Format::write_shares: rank i writes the files of domain i + 1 into a folder of its own name in `folder`, which
/// has the same name on all nodes. output_NNNNN in the current directory is then a link to the output; NNNNN is the
/// step's attribute output_number. Throws Error(unsupported) for a step of another code. Memory: one part of the step,
/// one domain, the coarse levels.
std::function<void()> write_shares(const mesh::Dataset& step, const std::filesystem::path& folder,
                                   const base::Ranks& ranks);

/// Links output_NNNNN of the current directory to the output. Replaces a link, as a killed run leaves it; throws
/// Error(usage) if something else has the name.
void link_output(const DomainFiles& files);

/// Removes the domain's files and the texts; the last domain on a node removes the folders, the first domain the link.
void remove(const DomainFiles& files) noexcept;

}  // namespace octavo::formats::ramses
