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
  int domains = 0;                    ///< parts of each step; 0, or as many as there are: parts stay as they are
  int per_file = 64;                  ///< parts of a file, at most; 0: all of a step
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
  int parts_copied = 0;            ///< of those: their streams were not decoded
  int parts_read = 0;              ///< decoded in whole, those that were needed again counted again
  std::uint64_t stored_bytes = 0;  ///< of the new store
  /// Lossy fields, of so many new parts, that their codec does not give back bit for bit: stored losslessly.
  int made_lossless = 0;
  std::vector<std::string> notes;  ///< steps of the store that could not be taken, damaged or interrupted
};

/// Writes the steps of a store to another, with other parts, other files or both; numbers, flows, times, headers and
/// attributes stay. Where parts stay, their streams are copied as they are, checked against their checksums. Where they
/// do not, leaves are shared equally along the Hilbert curve, and particles go to the owner of their position.
///
/// The values of owned cells stay the same bits, whatever the codec: a field that was stored with a bound is stored
/// with that bound again where this gives the same values, else losslessly: as a rule, since each of its chunks had a
/// lattice of its own.
///
/// The new store has its name only once it is complete. Memory, a thread: at most twice a new part, three times an old
/// one. Collective over `ranks`, which share the files of each step.
///
/// Throws Error(usage) for a step that is not there, an existing output, or no store; Error(corrupt) for damage in what
/// is read, and where a damaged store would be replaced by what is left of it.
RepackReport repack(const std::filesystem::path& in, const std::filesystem::path& out, const RepackOptions& options);

}  // namespace octavo::verbs
