#pragma once
#include "octavo/base/progress.hpp"
#include "octavo/base/ranks.hpp"

namespace octavo::verbs {

/// The threads and ranks that share the work.
struct Workers {
  int threads = 0;  ///< 0: all cores
  base::Ranks ranks;
  base::Progress progress;  ///< in parts of this rank
};

}  // namespace octavo::verbs
