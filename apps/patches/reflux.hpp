#pragma once
#include <vector>

#include "apps/patches/copy_plan.hpp"
#include "apps/patches/hierarchy.hpp"

namespace octavo::patches {

/// Fluxes through the faces between a level and the coarser one below it. All levels take the same step, so the
/// flux that a coarse cell beside finer ones lost through a face is replaced by the mean of the fine fluxes:
///
///     registers.take_fine(slot, axis, fluxes)     of each box of the finer level, whenever it has been advanced
///     registers.take_coarse(slot, axis, fluxes)   of each box of the coarser level
///     correct(comm, shape, registers, coarse)     collective: then mass is conserved to rounding
///
/// Fluxes of an axis stand as the box's values do, ghosts included; each is that through the cell's lower face.
struct FluxRegisters {
  struct Coarse {
    std::size_t slot = 0;  ///< which box of this rank
    std::size_t axis = 0;
    double sign = 1;  ///< +1 for lower faces of the cells, -1 for upper ones
    IndexBox cells;   ///< the cells beside
    IndexBox faces;   ///< their faces, by the position of the cell above
  };
  std::vector<Coarse> sides;  ///< by axis, then lower and upper faces, so that sums do not depend on the boxes
  std::vector<std::vector<std::size_t>> sides_of;  ///< of each box of this rank
  std::vector<Values> lost;                        ///< of each: the coarse flux
  std::vector<Values> means;  ///< of each box of the finer level, axis and side: fluxes of coarse faces
  CopyPlan copy;              ///< from means to what is corrected

  void take_fine(std::size_t slot, std::size_t axis, int dim, const Values& box, const double* fluxes);
  void take_coarse(std::size_t slot, std::size_t axis, const Values& box, const double* fluxes);
};

/// The mean of the fine faces on coarse face `at` across an axis; `faces` stand as the box's values do.
double mean_of_faces(const double* faces, const Values& box, const Index3& at, std::size_t axis, int dim);

/// Collective. Between `level` (at least 1) and the one below it.
FluxRegisters plan_reflux(const Hierarchy& mesh, int level);

/// Collective. Corrects the cells of `coarse`, values of level `level - 1`, for a step of `dt`.
void correct(const Hierarchy& mesh, int level, double dt, const FluxRegisters& registers, std::vector<Values>& coarse);

}  // namespace octavo::patches
