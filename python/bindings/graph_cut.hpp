#pragma once
#include "octavo/jobs/shared_cut.hpp"

namespace octavo::bindings {

/// A GraphCut on its way from the module that has MPI to the one that cuts: not a callable of Python's.
struct BoundGraphCut {
  jobs::GraphCut cut;
};

}  // namespace octavo::bindings
