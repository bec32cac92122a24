#pragma once
#include <deque>
#include <filesystem>
#include <string>
#include <vector>

#include "octavo/base/ranks.hpp"
#include "octavo/telemac/cut/partition.hpp"

namespace octavo::telemac {

/// A file as SERAFIN: itself, or one that is made for the time being by rank 0. Collective, but for the destructor.
class AsSerafin {
 public:
  /// A MED or VTKHDF file, or a store, becomes the SERAFIN file STEM.slf, or STEM-1.slf ... where others have that
  /// name.
  AsSerafin(const base::Ranks& ranks, const std::filesystem::path& given, const std::string& stem,
            std::vector<std::string>& notes);
  const std::filesystem::path& path() const { return path_; }

 private:
  /// Gone with this, also where making it fails.
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

/// The mesh and the further inputs of a partition as SERAFIN, as long as this lives. Collective, as above.
struct InputsAsSerafin {
  InputsAsSerafin(const base::Ranks& ranks, const std::filesystem::path& mesh, const std::filesystem::path& prefix,
                  const PartitionOptions& given);
  std::deque<AsSerafin> made;
  std::filesystem::path mesh;
  PartitionOptions options;
  std::vector<std::string> notes;
};

}  // namespace octavo::telemac
