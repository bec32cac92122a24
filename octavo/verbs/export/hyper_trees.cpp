#include <algorithm>
#include <limits>
#include <utility>

#include "octavo/base/error.hpp"
#include "octavo/base/rank_exchange.hpp"
#include "octavo/formats/vtkhdf/field_type.hpp"
#include "octavo/formats/vtkhdf/hyper_tree_grid.hpp"
#include "octavo/mesh/pack.hpp"
#include "octavo/mesh/tree/cell_runs.hpp"
#include "octavo/mesh/tree/merge.hpp"
#include "octavo/step/target.hpp"
#include "octavo/verbs/export/export_job.hpp"
#include "octavo/verbs/export/tree_values.hpp"
#include "octavo/verbs/sum_parts.hpp"

namespace octavo::verbs {
namespace {

using base::Error;
using base::Kind;
using detail::ExportJob;

/// The share that one part, or several, add to the tree that is exported.
struct SelectedTree {
  mesh::Octree tree;          ///< down to the selected cells; with the step's blocks
  std::int64_t selected = 0;  ///< cells
};
template <class Way>
void both(Way& way, SelectedTree& some) {
  both(way, some.tree, some.selected);
}

SelectedTree selected_tree(const mesh::Part& part, const ExportJob& job) {
  const base::BitArray selected = detail::selected_values(part, job);
  mesh::Octree tree = mesh::octree_of(part);
  const std::size_t block = mesh::block_size(tree);
  std::size_t first = 0;
  for (base::BitArray& owned : tree.owned) {
    const std::size_t cells = owned.size();
    owned = base::BitArray(cells);
    for (std::size_t i = selected.find(true, first * block); i < (first + cells) * block;
         i = selected.find(true, (i / block + 1) * block))
      owned.set(i / block - first);
    first += cells;
  }
  return {mesh::prune_tree(tree), static_cast<std::int64_t>(selected.count())};
}

void join_trees(SelectedTree& to, SelectedTree&& from) {
  mesh::Part parts[2];
  parts[0].mesh = std::move(to.tree);
  parts[1].mesh = std::move(from.tree);
  to.tree = mesh::merge_trees(parts);
  to.selected += from.selected;
}

/// The tree of all selected cells, on every rank. Collective.
SelectedTree find_selected(const ExportJob& job) {
  SelectedTree all = sum_parts(
      job.scope.parts, job.workers,
      Summation{[&](std::size_t i) { return selected_tree(job.mine.read(static_cast<int>(i), job.condition), job); },
                join_trees});
  if (all.selected == 0) throw detail::nothing_selected(job, "cell is");
  if (!mesh::levels_in_block(all.tree)) {
    const mesh::Index3& block = all.tree.block;
    throw Error(Kind::unsupported, "a hyper tree grid holds blocks of 2^k cells along every axis, not of " +
                                       std::to_string(block[0]) + " x " + std::to_string(block[1]) + " x " +
                                       std::to_string(block[2]))
        .at(job.mine.path)
        .hint("octavo convert --block 4 cuts blocks of 12, 20 ... into such");
  }
  return all;
}

std::int64_t num_leaves(const mesh::Octree& cells) {
  std::int64_t leaves = 0;
  for (const base::BitArray& refined : cells.refined)
    leaves += static_cast<std::int64_t>(refined.size() - refined.count());
  return leaves;
}

/// Writes the values of this rank's parts, and tells which cells have got one. Collective.
void write_all_parts(const ExportJob& job, const detail::TreeValues& values, std::vector<base::BitArray>& shown) {
  detail::for_each_part(
      job,
      [&](std::size_t i) {
        const mesh::Part part = job.mine.read(static_cast<int>(i), job.values);
        return values.write(part, detail::selected_values(part, job));
      },
      [&](std::size_t, const std::vector<detail::CellRange>& written) {
        for (const detail::CellRange& range : written)
          for (std::uint64_t cell = range.first; cell < range.first + range.count; ++cell)
            shown[static_cast<std::size_t>(range.level)].set(cell);
      });
  for (base::BitArray& level : shown)
    level.words() = base::reduce(job.workers.ranks, std::move(level.words()), std::bit_or<std::uint64_t>());
}

}  // namespace

ExportReport export_hyper_trees(const step::SharedStep& step, const std::filesystem::path& out,
                                const ExportOptions& options) {
  ExportJob job = detail::begin_export(step, options);
  SelectedTree all = find_selected(job);
  detail::TreeValues values(job, std::move(all.tree));
  const mesh::Octree& cells = values.cells();
  const bool masked = num_leaves(cells) != all.selected;
  step::write_beside(
      options.ranks, [&] { return step::prepare_native_target(out, options.overwrite); },
      [&](const std::filesystem::path& path) {
        formats::vtkhdf::HyperTreeFile file;
        base::agree(options.ranks, [&] {
          if (options.ranks.rank != 0) return;
          file = formats::vtkhdf::lay_out_hyper_trees(path, job.header, cells, values.order(), job.fields, masked);
        });
        file.fields = base::from_first(options.ranks, file.fields);
        base::agree(options.ranks, [&] { values.open(path, file); });
        if (masked) values.hide_all();
        std::vector<base::BitArray> shown;
        for (const base::BitArray& level : cells.refined) shown.emplace_back(level.size());
        write_all_parts(job, values, shown);
        base::agree(options.ranks, [&] {
          if (options.ranks.rank != 0) return;
          job.report.means = values.write_means(shown);
          if (masked) values.write_mask(shown);
          job.report.bytes = static_cast<std::int64_t>(std::filesystem::file_size(path));
        });
      });
  job.report.cells = static_cast<std::int64_t>(values.order().num_cells());
  job.report.leaves = all.selected;
  return job.report;
}

}  // namespace octavo::verbs
