#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "octavo/store/read/scan.hpp"

/// The index of a flow (docs/format.md, "Index") says where its steps are. The subfiles are the truth: an index that is
/// missing, old or damaged does no harm.
namespace octavo::store {

/// A complete step.
struct IndexedStep {
  std::int64_t step = 0;
  std::uint64_t order = 0;
  int segments = 1;
  std::string directory;  ///< of segment 0, in the store: "checkpoint/000000040"
  bool operator==(const IndexedStep&) const = default;
};

/// The path of a flow's index.
std::filesystem::path index_path(const std::filesystem::path& store, Flow flow);
/// The correct index of a scanned store, sorted by order.
std::vector<IndexedStep> index_of(const Scan& scan, Flow flow);
/// Nothing for an index that is missing or damaged.
std::optional<std::vector<IndexedStep>> read_index(const std::filesystem::path& store, Flow flow);
/// Rebuilds the indexes of both flows from the subfiles, and removes the index of a flow without steps. Throws what
/// scan_store() throws.
void rebuild_indexes(const std::filesystem::path& store);

}  // namespace octavo::store
