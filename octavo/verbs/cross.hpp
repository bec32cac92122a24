#pragma once
#include <array>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "octavo/base/progress.hpp"
#include "octavo/base/ranks.hpp"
#include "octavo/mesh/dataset.hpp"
#include "octavo/mesh/tree/fill.hpp"
#include "octavo/step/translate.hpp"

namespace octavo::verbs {

struct CrossOptions {
  step::Code to = step::Code::flash;
  std::string kind;  ///< "checkpoint" or "plotfile"; empty: that of the step where it is of the same code, else FLASH's
                     ///< checkpoint and AMReX's plotfile
  std::int64_t block = 0;    ///< FLASH: cells of a block along each axis; 0: the step's, else the largest of 16, 8
                             ///< and 4 that fits
  std::int64_t max_box = 0;  ///< AMReX: cells of a box along each axis, at most; 0: the boxes that the step came
                             ///< in, else 64
  std::int64_t blocking_factor = 0;  ///< AMReX: boxes begin and end at multiples; 0: likewise, else the largest of 8,
                                     ///< 4, 2, 1 that fits
  std::string multifab;              ///< AMReX checkpoint: the MultiFab of all fields of cells; empty: those that the
                                     ///< step came in, else "state"
  std::vector<double> level_dt;      ///< AMReX checkpoint: time step of each level, or one of all; empty: the step's
  bool fill = false;                 ///< values that the step does not hold may be interpolated
  mesh::FillBy fill_by = mesh::FillBy::linear;  ///< how
  std::vector<std::string> per_mass{};  ///< more fields that are amounts per mass (mass fractions), beside those of
  ///< mesh::specific_of
  int refine = 0;  ///< levels more: the finest leaves are refined so often (finer.hpp); where the code wants neighbours
                   ///< that differ by one level, those beside them, too
  std::map<std::string, std::string> rename;       ///< fields
  std::optional<std::vector<std::string>> fields;  ///< nothing: all
  bool particles = true;
  bool single_precision = false;  ///< FLASH and RAMSES
  bool overwrite = false;
  int threads = 1;       ///< FLASH and AMReX; 0: all cores
  base::Ranks ranks{};   ///< that share the work; RAMSES: one
  int number = 1;        ///< NNNNN of a RAMSES output
  int domains = 0;       ///< of a RAMSES output; 0: as many as the step has parts
  std::string ordering;  ///< of a RAMSES output's domains: "hilbert", "planar"; empty: the step's own
  std::optional<std::array<bool, 3>> periodic;  ///< which axes are periodic; nothing: as the step says
  bool lossy_ok = false;                        ///< a code may go on from a step that was stored with a loss
  base::Progress progress;
  std::int64_t part_cells = std::int64_t{1} << 20;   ///< of a new part
  std::int64_t batch_cells = std::int64_t{1} << 22;  ///< of AMReX boxes at once
};

struct CrossReport {
  std::int64_t means = 0;  ///< cells that got the mean of finer ones
  std::int64_t fills = 0;  ///< cells that got theirs from a coarser one
  std::int64_t particles = 0;
  std::vector<std::string> notes;
};

/// Writes a step of any octree code or store as an output of another code (or of the same), to go on from. Values move
/// bit for bit; where the target needs some that the step does not hold, they are made and counted (mesh/regrid.hpp).
/// The output does not depend on the number of parts of the step. It gets its name once it is complete.
///
/// In memory are, on each rank, the whole tree, and a thread one part of the step and one variable of a new part
/// (FLASH), or all its variables and, once, those of a batch of boxes (AMReX); on the first rank the particles. For
/// RAMSES, which has no blocks to fold into, all values of the step.
///
/// Collective over the ranks. Only the first one's report tells of particles.
///
/// Throws Error(usage) if `out` exists and overwrite is not set, if a name does not fit, or if a code would go on from
/// a step that was stored with a loss; Error(unsupported) if blocks are not complete or neighbours are not balanced and
/// fill is not set.
CrossReport cross_convert(const mesh::Dataset& dataset, const std::filesystem::path& out, const CrossOptions& options);

}  // namespace octavo::verbs
