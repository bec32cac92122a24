#pragma once
#include <map>
#include <string>

#include "octavo/engine/targets/target.hpp"

namespace octavo::engine {

/// FLASH files: HDF5 files of blocks, or of patches cut into the header's blocks. Rank 0 holds some 400 bytes a
/// block of all ranks.
struct FlashTarget {
  OutputOptions options{};
  bool collect = false;  ///< rank 0 writes all with HDF5 in end_step(), asking one rank after another
  bool replace = false;  ///< a file of the step's name stays until the step is complete, and is then replaced
  std::map<std::string, std::string> names{};  ///< from field names to FLASH's names, see flash::WriteOptions
  operator FileTarget() const;
};

}  // namespace octavo::engine
