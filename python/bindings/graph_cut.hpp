#pragma once
#include "octavo/telemac/cut/shared_cut.hpp"

namespace octavo::bindings {

/// A GraphCut on its way from the module that has MPI to the one that cuts: not a callable of Python's.
struct BoundGraphCut {
  telemac::GraphCut cut;
};

}  // namespace octavo::bindings
