#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "octavo/base/progress.hpp"
#include "octavo/base/ranks.hpp"
#include "octavo/codec/codec.hpp"
#include "octavo/store/store.hpp"

namespace octavo::verbs {

struct RepackOptions {
  int domains = 0;                    ///< parts of each step; 0, or the number there is: parts stay as they are
  int per_file = 64;                  ///< most parts of a file; 0: all parts of a step
  std::optional<store::Flow> flow{};  ///< nothing: both
  std::vector<std::int64_t> steps{};  ///< empty: all
  codec::Effort effort = codec::Effort::normal;
  bool overwrite = false;  ///< an existing store is replaced, once the new one is complete
  int threads = 0;         ///< 0: all cores; with several ranks 1
  base::Ranks ranks{};
  base::Progress progress{};  ///< in new parts, over all steps of this rank
};

struct RepackReport {
  int steps = 0;
  int parts = 0;                   ///< written
  int parts_copied = 0;            ///< parts among these whose streams were copied without decoding
  int parts_read = 0;              ///< parts that were decoded in whole; a part decoded twice counts twice
  std::uint64_t stored_bytes = 0;  ///< of the new store
  /// Counts each lossy field of each new part that is now stored losslessly, because its codec would change values.
  int made_lossless = 0;
  std::vector<std::string> notes;  ///< steps of the store that were left out as damaged or interrupted
};

/// Writes the steps of a store to another one, with other parts, other files or both. Numbers, flows, times, headers
/// and attributes stay. If parts stay, their streams are checked against their checksums and copied. Otherwise leaves
/// are shared equally along the Hilbert curve, and particles go to the owner of their position.
///
/// Owned cells keep their values bit for bit, whatever the codec. A field that was stored with a bound is stored with
/// the same bound again if this gives the same values, else losslessly. As a rule it becomes lossless, because each of
/// its chunks had a lattice of its own.
///
/// The new store gets its name once it is complete. Memory per thread: at most two new parts and three old ones.
/// Collective over `ranks`, which share the files of each step.
///
/// Throws Error(usage) for a step that does not exist, an existing output, or a path that is no store; Error(corrupt)
/// for damage in the data it reads, and if it would replace a damaged store by its undamaged rest.
RepackReport repack(const std::filesystem::path& in, const std::filesystem::path& out, const RepackOptions& options);

}  // namespace octavo::verbs
