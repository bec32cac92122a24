#pragma once
#include "octavo/telemac/cut/shared_cut.hpp"

namespace octavo::bindings {

/// Carries a GraphCut from the module that has MPI to the module that cuts. Python cannot call it.
struct BoundGraphCut {
  telemac::GraphCut cut;
};

}  // namespace octavo::bindings
