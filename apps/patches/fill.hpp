#pragma once
#include <vector>

#include "apps/patches/copy_plan.hpp"
#include "apps/patches/hierarchy.hpp"
#include "apps/patches/interpolate.hpp"

namespace octavo::patches {

/// How boxes of a level get values: copies where the level has them, else interpolation from the next coarser one.
/// Good for as long as the boxes are those that it was made for.
struct FillPlan {
  struct Made {
    std::size_t slot = 0;  ///< which of this rank's boxes
    IndexBox region;       ///< its cells that are interpolated
  };
  CopyPlan same, coarse;
  std::vector<Made> made;
  std::vector<IndexBox> under;  ///< of each: the coarse cells that it takes
  IndexBox domain;              ///< cells of the level, endless along periodic axes
  IndexBox coarse_domain;
};

/// Collective. Ghost cells of all boxes of a level.
FillPlan plan_ghosts(const Hierarchy& mesh, int level);
/// Collective. All cells of `target`, boxes of a level that is being made: from `old`, the level's boxes as they were,
/// and from the coarser level of `mesh`, which is new already.
FillPlan plan_refill(const Hierarchy& mesh, int level, const Level& target, const Level& old);

/// Collective. `same` and `target` may be one list. `coarse` is not looked at on level 0.
void fill(MPI_Comm comm, const Shape& shape, const FillPlan& plan, const std::vector<Values>& same,
          const std::vector<Values>* coarse, const Admissible& admissible, std::vector<Values>& target);

/// Collective. Coarse cells under the boxes of `level` take their means: what goes where, and doing it.
struct MeanPlan {
  CopyPlan copy;
  std::vector<IndexBox> coarse;  ///< of each fine box of this rank: the coarse cells under it
};
MeanPlan plan_means(const Hierarchy& mesh, int level);
void average_down(MPI_Comm comm, const Shape& shape, const MeanPlan& plan, const std::vector<Values>& fine,
                  std::vector<Values>& coarse);

}  // namespace octavo::patches
