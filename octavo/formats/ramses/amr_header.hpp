#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "octavo/file/fortran_record.hpp"
#include "octavo/mesh/octree.hpp"
#include "octavo/mesh/region.hpp"

namespace octavo::formats::ramses {

/// The records of an amr file before its tree. Arrays over lists run over the ncpu domains, then the nboundary walls.
struct AmrHeader {
  int ncpu = 0, ndim = 0;
  mesh::Index3 coarse{1, 1, 1};  ///< coarse cells, those of the walls included
  int nlevelmax = 0;
  std::int64_t ngridmax = 0;
  int nboundary = 0;
  std::int64_t ngrid_current = 0;
  double boxlen = 0;                        ///< extent of the real coarse cells along x [code length]
  std::vector<std::int64_t> output_counts;  ///< noutput, iout, ifout
  std::vector<double> tout, aout;
  double time = 0;
  std::vector<double> dtold, dtnew;  ///< one per level
  std::vector<std::int64_t> steps;   ///< nstep, nstep_coarse
  std::vector<double> start;         ///< einit, mass_tot_0, rho_tot
  std::vector<double> cosmology;     ///< omega_m, omega_l, omega_k, omega_b, h0, aexp_ini, boxlen_ini
  std::vector<double> expansion;     ///< aexp, hexp, aexp_old, epot_tot_int, epot_tot_old
  double mass_sph = 0;
  std::vector<std::int32_t> numbl;               ///< octs, list fastest, then level: (ncpu + nboundary) x nlevelmax
  std::vector<std::int64_t> total_octs;          ///< of all domains, one per level
  std::string ordering;                          ///< trimmed
  std::vector<double> bound_key, bound_key_low;  ///< ncpu * overload + 1; low: what 16-byte keys have past a double
  std::vector<double> bisection_wall;            ///< bisection only: walls,
  std::vector<std::int64_t> bisection_next, bisection_indx;  ///< the tree of walls,
  std::vector<double> cpubox_min, cpubox_max;                ///< and per domain its box: ncpu x ndim, domain fastest
  std::vector<std::int32_t> coarse_son, coarse_flag, coarse_cpu;  ///< one per coarse cell, x fastest
  int real_bytes = 8;                                             ///< 8, or 4 when built with NPRE=4
};

/// Reads and checks the header. Afterwards the reader stands at the first tree record. Error(corrupt) where a record
/// does not have the size that the ones before it ask for, or a count is out of range.
AmrHeader read_amr_header(file::RecordReader& reader);

inline int num_lists(const AmrHeader& header) { return header.ncpu + header.nboundary; }
/// Octs of a list at a level index from 0 in this file.
inline std::uint32_t num_octs(const AmrHeader& header, int level, int list) {
  const auto at =
      static_cast<std::size_t>(level) * static_cast<std::size_t>(num_lists(header)) + static_cast<std::size_t>(list);
  return static_cast<std::uint32_t>(header.numbl[at]);
}

/// Which coarse cells are not walls: a box of them. The offset is not stored in the file: real cells have a cpu_map of
/// 1 or more. Error(corrupt) where they do not fill a box.
struct RealCells {
  mesh::Index3 first{0, 0, 0};
  mesh::Index3 count{1, 1, 1};
};
RealCells find_real_cells(const AmrHeader& header);

/// Error(corrupt), "files of different outputs", unless the two headers can belong to one output.
void require_same_output(const AmrHeader& expected, const AmrHeader& found, const file::RecordReader& reader);

}  // namespace octavo::formats::ramses
