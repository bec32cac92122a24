#pragma once
#include <deque>
#include <filesystem>
#include <string>
#include <vector>

#include "octavo/base/ranks.hpp"
#include "octavo/telemac/cut/partition.hpp"

namespace octavo::telemac {

/// A SERAFIN version of a file: the file itself, or a temporary one that rank 0 makes. Collective, but for the
/// destructor.
class AsSerafin {
 public:
  /// Makes a SERAFIN file of a MED or VTKHDF file or a store: STEM.slf, or STEM-1.slf ... if that name is taken.
  AsSerafin(const base::Ranks& ranks, const std::filesystem::path& given, const std::string& stem,
            std::vector<std::string>& notes);
  const std::filesystem::path& path() const { return path_; }

 private:
  /// Removes the temporary file in its destructor, also if making the file fails.
  struct Made {
    std::filesystem::path path{};
    Made() = default;
    ~Made();
    Made(const Made&) = delete;
    Made& operator=(const Made&) = delete;
  };
  std::filesystem::path path_;
  Made made_;
};

/// The mesh and the further inputs of a partition as SERAFIN files; temporary ones live as long as this. Collective.
struct InputsAsSerafin {
  InputsAsSerafin(const base::Ranks& ranks, const std::filesystem::path& mesh, const std::filesystem::path& prefix,
                  const PartitionOptions& given);
  std::deque<AsSerafin> made;
  std::filesystem::path mesh;
  PartitionOptions options;
  std::vector<std::string> notes;
};

}  // namespace octavo::telemac
