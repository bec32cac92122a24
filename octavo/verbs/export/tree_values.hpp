#pragma once
// For verbs/export alone.
#include <cstdint>
#include <filesystem>
#include <vector>

#include "octavo/file/posix.hpp"
#include "octavo/formats/vtkhdf/hyper_tree_grid.hpp"
#include "octavo/mesh/tree/cell_runs.hpp"
#include "octavo/mesh/tree/tree_index.hpp"
#include "octavo/verbs/export/export_job.hpp"

namespace octavo::verbs::detail {

/// Consecutive cells of a level.
struct CellRange {
  int level = 0;
  std::uint64_t first = 0, count = 0;
};

/// Puts values of parts to their places in a file of a hyper tree grid.
class TreeValues {
 public:
  /// `tree`: of all selected cells, with the step's blocks.
  TreeValues(const ExportJob& job, mesh::Octree tree);
  TreeValues(const TreeValues&) = delete;
  TreeValues& operator=(const TreeValues&) = delete;

  /// The tree that is written: without blocks, and without owners.
  const mesh::Octree& cells() const { return cells_; }
  const mesh::RootByRoot& order() const { return order_; }

  void open(const std::filesystem::path& path, formats::vtkhdf::HyperTreeFile file);
  /// Writes NaN as every value of reals. Ranks share the values; collective.
  void hide_all() const;
  /// Writes the values of cells that the part owns: those of selected leaves and of refined cells, NaN (or 0) for other
  /// leaves. Returns the former. May be called from several threads.
  std::vector<CellRange> write(const mesh::Part& part, const base::BitArray& selected) const;
  /// Gives refined cells that are not shown the mean of the cells below that are, finest first. Then they are shown,
  /// too. Returns how many.
  std::int64_t write_means(std::vector<base::BitArray>& shown) const;
  /// Hides the leaves that are not shown.
  void write_mask(const std::vector<base::BitArray>& shown) const;

 private:
  mesh::CellRuns runs_of(const mesh::Octree& part) const;
  std::vector<CellRange> shown_by(const mesh::Octree& part, const mesh::CellRuns& runs,
                                  const base::BitArray& selected) const;
  std::vector<std::byte> gathered(const mesh::Octree& part, std::size_t level, const std::vector<mesh::CellRun>& runs,
                                  const mesh::Field& field, const base::BitArray& selected) const;
  void put(std::size_t field, int level, const CellRange& range, const std::byte* values) const;
  std::vector<std::byte> get(std::size_t field, const CellRange& range) const;
  template <class T>
  void write_means(std::size_t field, const CellRange& parents, const base::BitArray& shown_below) const;

  const ExportJob& job_;
  std::size_t block_ = 1;                ///< cells of a block
  int unfolded_ = 0;                     ///< levels that a block becomes
  std::vector<std::uint32_t> in_block_;  ///< unfolded_order()
  mesh::Octree cells_;
  mesh::TreeIndex index_;
  mesh::RootByRoot order_;
  formats::vtkhdf::HyperTreeFile places_;
  file::File file_;
};

}  // namespace octavo::verbs::detail
