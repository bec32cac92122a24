#pragma once
#include <cstdint>
#include <string>

#include "octavo/engine/targets/target.hpp"

namespace octavo::engine {

enum class AmrexKind : std::uint8_t { plotfile, checkpoint };

/// AMReX outputs: directories of patches, or of a tree whose cells or blocks are merged into boxes. Every rank holds
/// some 200 bytes a box of all ranks.
struct AmrexTarget {
  AmrexKind kind = AmrexKind::plotfile;
  OutputOptions options{};
  int files = 0;                                      ///< data files a level; 0: one for each GiB
  std::int64_t max_box = 64;                          ///< from a tree: longest side of a box [cells]
  std::string title = "Checkpoint file for AmrCore";  ///< checkpoint: first line of its Header
  std::string multifab = "phi";                       ///< checkpoint: name of the MultiFab of all fields
  operator FileTarget() const;
};

}  // namespace octavo::engine
