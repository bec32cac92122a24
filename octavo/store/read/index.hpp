#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "octavo/store/read/scan.hpp"

/// The index of a flow (docs/format.md, "Index") has the footer of segment 0 of each of its steps, and sums over the
/// other segments. The subfiles are the truth: an index that is missing, old or damaged does no harm.
namespace octavo::store {

/// A complete step.
struct IndexedStep {
  std::string file;               ///< of segment 0, in the store: "checkpoint/000/000/000000040/data.000"
  Extent at{};                    ///< the footer's place in it
  std::vector<std::byte> footer;  ///< its bytes
  StepTotals totals{};
  bool operator==(const IndexedStep&) const = default;
};

struct Index {
  bool is_whole = false;  ///< it exists, and each of its lines is in order
  std::vector<IndexedStep> steps{};
};

/// The path of a flow's index.
std::filesystem::path index_path(const std::filesystem::path& store, Flow flow);
/// The correct index of a store scanned with Trust::nothing, sorted by order.
std::vector<IndexedStep> index_of(const Scan& scan, Flow flow);
/// The lines that are in order.
Index read_index(const std::filesystem::path& store, Flow flow);
/// Adds a line through a handle that stays open between lines. It is opened first if it is closed or its file is gone.
/// No sync: a torn line is passed over.
void append_index(file::File& open, const std::filesystem::path& store, Flow flow, const IndexedStep& step);
/// Replaces the index by one of these steps; without steps, removes it.
void write_index(const std::filesystem::path& store, Flow flow, const std::vector<IndexedStep>& steps);
/// Takes out the lines of steps that the mark does not list, in place, through the handle of append_index().
void shorten_index(file::File& open, const std::filesystem::path& store, Flow flow, const DurableMark& mark);
/// The steps of an index that the mark lists, each once.
std::vector<IndexedStep> listed_by(const DurableMark& mark, std::vector<IndexedStep> steps);
/// Rebuilds the indexes of both flows from the subfiles, and removes the index of a flow without steps. Throws what
/// scan_store() throws.
void rebuild_indexes(const std::filesystem::path& store);

}  // namespace octavo::store
