#pragma once
#include <deque>
#include <filesystem>
#include <string>
#include <vector>

#include "octavo/base/ranks.hpp"
#include "octavo/jobs/partition.hpp"

namespace octavo::jobs {

/// A file as SERAFIN: itself, or one that is made for the time being by rank 0. Collective, but for the destructor.
class AsSerafin {
 public:
  /// A MED or VTKHDF file, or a store, becomes the SERAFIN file `to`.
  AsSerafin(const base::Ranks& ranks, const std::filesystem::path& given, const std::filesystem::path& to,
            std::vector<std::string>& notes);
  ~AsSerafin();
  AsSerafin(const AsSerafin&) = delete;
  AsSerafin& operator=(const AsSerafin&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  bool is_made_ = false;
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

}  // namespace octavo::jobs
