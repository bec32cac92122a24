#pragma once
#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "octavo/engine/tiers/safety.hpp"
#include "octavo/store/store.hpp"

namespace octavo::engine {

/// The files of a step on the local disks.
struct StepCopies {
  store::Flow flow = store::Flow::checkpoint;
  std::int64_t step = 0;
  store::Attempt attempt{};
  std::uint64_t order = 0;  ///< of the step in its flow
  int segments = 1;         ///< of the step
  /// By Safety: `local` counts the segments that are committed on a disk, the schemes those whose group has its parity
  /// files on all members. A level is complete if this is `segments`. Nothing: no file of this level is there; for
  /// Safety::store always.
  std::array<std::optional<int>, num_safeties> there{};
};

/// The steps of a store on the local disks below a staging directory that this process sees, by flow and order. Reads
/// heads and footers. `notes` describe damaged parity files, which count as missing. One process; calls no MPI.
std::vector<StepCopies> list_copies(const std::filesystem::path& staging_directory, const std::filesystem::path& store,
                                    std::vector<std::string>& notes);

}  // namespace octavo::engine
