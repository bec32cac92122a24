#include "octavo/mesh/boxes.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>
#include <span>

#include "octavo/base/error.hpp"
#include "octavo/base/rank_exchange.hpp"
#include "octavo/formats/vtkhdf/field_type.hpp"
#include "octavo/formats/vtkhdf/overlapping_amr.hpp"
#include "octavo/mesh/patches/octree_to_patches.hpp"
#include "octavo/mesh/tree/merge.hpp"
#include "octavo/step/target.hpp"
#include "octavo/verbs/export/export_job.hpp"

namespace octavo::verbs {
namespace {

using base::Error;
using base::Kind;
using detail::ExportJob;
using formats::vtkhdf::AmrFile;
using formats::vtkhdf::AmrLevel;

/// The exported share of a part. `tree` owns the cells of all boxes; `shown` has a bit for each of its values.
struct ChosenCells {
  mesh::Octree tree;
  base::BitArray shown;
  std::int64_t selected = 0;
};

/// Shows the selected cells and the refined cells above them. Boxes get whole families of these, as far as the part
/// owns them: a coarse cell is then covered by fine boxes, or not at all.
ChosenCells chosen_cells(const mesh::Part& part, const ExportJob& job) {
  ChosenCells out{mesh::octree_of(part), detail::selected_values(part, job), 0};
  out.selected = static_cast<std::int64_t>(out.shown.count());
  mesh::Octree& tree = out.tree;
  const std::size_t block = mesh::block_size(tree), family = mesh::family_size(tree);
  const auto offsets = mesh::level_offsets(tree);
  if (!job.selection.region && job.selection.where.empty())  // also refined cells of which others own what is below
    for (std::size_t level = 0; level < tree.owned.size(); ++level)
      tree.owned[level].for_each_set([&](std::size_t i) {
        for (std::size_t v = (offsets[level] + i) * block; v < (offsets[level] + i + 1) * block; ++v) out.shown.set(v);
      });
  std::vector<bool> below;  // whether something is shown in the k-th family of the level below
  for (std::size_t level = tree.refined.size(); level-- > 0;) {
    const std::size_t cells = tree.refined[level].size();
    std::size_t k = 0;
    tree.refined[level].for_each_set([&](std::size_t i) {
      const std::size_t first = (offsets[level] + i) * block;
      if (k < below.size() && below[k++])
        for (std::size_t v = first; v < first + block; ++v) out.shown.set(v);
    });
    const std::size_t together = level == 0 ? 1 : family;
    below.assign(cells / together, false);
    for (std::size_t f = 0; f < below.size(); ++f) {
      const std::size_t first = (offsets[level] + f * together) * block, end = first + together * block;
      below[f] = out.shown.find(true, first) < end;
      for (std::size_t i = f * together; !below[f] && i < (f + 1) * together; ++i) tree.owned[level].set(i, false);
    }
  }
  return out;
}

int coarsest_owned_leaf(const mesh::Octree& tree) {
  for (int level = 0; level < mesh::num_levels(tree); ++level)
    if (mesh::num_owned_leaves(tree, level) != 0) return level;
  return std::numeric_limits<int>::max();
}

/// A part's boxes, of levels that are counted from the coarsest one with a leaf.
mesh::TreePatches boxes_of(const ChosenCells& chosen, int coarsest) {
  mesh::PatchOptions options;
  options.unfolded = coarsest;
  return mesh::plan_patches(chosen.tree, options);
}

struct LeveledBox {
  std::int64_t level = 0;
  mesh::IndexBox box;
};

/// The boxes of all parts, and where each of this rank's parts begins on each level [cells].
struct BoxPlan {
  int coarsest = 0;  ///< tree level index of the first level
  std::vector<AmrLevel> levels;
  std::vector<std::vector<std::uint64_t>> first;
  std::int64_t selected = 0;
};

BoxPlan plan_boxes(const ExportJob& job) {
  const base::Ranks& ranks = job.workers.ranks;
  const auto chosen = [&](std::size_t i) {
    return chosen_cells(job.mine.read(static_cast<int>(i), job.condition), job);
  };
  std::vector<std::int64_t> facts{std::numeric_limits<int>::max(), 0};  // the coarsest leaf, selected cells
  detail::for_each_part(
      job,
      [&](std::size_t i) {
        const ChosenCells part = chosen(i);
        return std::pair(part.selected == 0 ? std::numeric_limits<int>::max() : coarsest_owned_leaf(part.tree),
                         part.selected);
      },
      [&](std::size_t, const std::pair<int, std::int64_t>& part) {
        facts[0] = std::min<std::int64_t>(facts[0], part.first);
        facts[1] += part.second;
      });
  BoxPlan plan;
  plan.selected = base::sum(ranks, std::vector<std::int64_t>{facts[1]})[0];
  if (plan.selected == 0) throw detail::nothing_selected(job, "cell is");
  for (const std::int64_t coarsest : base::gather(ranks, std::vector<std::int64_t>{facts[0]}))
    facts[0] = std::min(facts[0], coarsest);
  plan.coarsest = static_cast<int>(facts[0]);
  std::vector<LeveledBox> own;
  std::vector<std::size_t> boxes_of_part;
  detail::for_each_part(
      job, [&](std::size_t i) { return boxes_of(chosen(i), plan.coarsest).patches.boxes; },
      [&](std::size_t, const std::vector<std::vector<mesh::IndexBox>>& boxes) {
        for (std::size_t level = 0; level < boxes.size(); ++level)
          for (const mesh::IndexBox& box : boxes[level]) own.push_back({static_cast<std::int64_t>(level), box});
        boxes_of_part.push_back(own.size());
      });
  const std::vector<std::int64_t> counts = base::gather(ranks, std::vector<std::int64_t>{std::ssize(own)});
  const auto before =
      static_cast<std::size_t>(std::accumulate(counts.begin(), counts.begin() + ranks.rank, std::int64_t{0}));
  std::vector<std::uint64_t> cells;
  std::size_t number = 0, part = 0;
  const auto begin_parts = [&] {
    while (part < boxes_of_part.size() && number >= before &&
           number - before == (part == 0 ? 0 : boxes_of_part[part - 1])) {
      plan.first.push_back(cells);
      ++part;
    }
  };
  for (const LeveledBox& some : base::gather(ranks, own)) {
    begin_parts();
    ++number;
    const auto level = static_cast<std::size_t>(some.level);
    while (plan.levels.size() <= level) {
      plan.levels.push_back({mesh::cell_size(job.header, plan.coarsest + static_cast<int>(plan.levels.size())), {}});
      cells.push_back(0);
    }
    plan.levels[level].boxes.push_back(some.box);
    cells[level] += static_cast<std::uint64_t>(mesh::num_cells(some.box, 3));
  }
  begin_parts();
  return plan;
}

/// The field in the file's type; NaN, or 0 among integers, where a cell is not shown.
mesh::Field shown_values(const mesh::Part& part, const mesh::FieldInfo& info, const base::BitArray& shown) {
  mesh::Field field = formats::vtkhdf::as_in_file(analysis::cell_field(part, info.name), info.type);
  const auto hide = [&](auto values, auto hidden) {
    for (std::size_t i = shown.find(false, 0); i < values.size(); i = shown.find(false, i + 1)) values[i] = hidden;
  };
  switch (info.type) {
    case mesh::ScalarType::float64: hide(field.as<double>(), std::numeric_limits<double>::quiet_NaN()); break;
    case mesh::ScalarType::float32: hide(field.as<float>(), std::numeric_limits<float>::quiet_NaN()); break;
    case mesh::ScalarType::int32: hide(field.as<std::int32_t>(), 0); break;
    case mesh::ScalarType::uint8: hide(field.as<std::uint8_t>(), std::uint8_t{0}); break;
    default: hide(field.as<std::int64_t>(), 0);
  }
  return field;
}

void write_part_boxes(const mesh::Part& part, const ExportJob& job, const BoxPlan& plan,
                      const std::vector<std::uint64_t>& first, const file::File& file, const AmrFile& places) {
  const ChosenCells chosen = chosen_cells(part, job);
  const mesh::TreePatches boxes = boxes_of(chosen, plan.coarsest);
  for (std::size_t f = 0; f < job.fields.size(); ++f) {
    const std::size_t width = mesh::size_of(job.fields[f].type);
    const mesh::Field field = shown_values(part, job.fields[f], chosen.shown);
    const std::vector<std::byte> values = mesh::values_on(boxes, field.bytes, width);
    std::span<const std::byte> left(values);
    for (std::size_t level = 0; level < boxes.patches.boxes.size(); ++level) {
      std::uint64_t cells = 0;
      for (const mesh::IndexBox& box : boxes.patches.boxes[level])
        cells += static_cast<std::uint64_t>(mesh::num_cells(box, 3));
      if (cells == 0) continue;
      const std::uint64_t at = level < first.size() ? first[level] : 0;
      file::pwrite_all(file, places.fields[level][f] + at * width, left.first(cells * width));
      left = left.subspan(cells * width);
    }
  }
}

}  // namespace

ExportReport export_boxes(const step::SharedStep& step, const std::filesystem::path& out,
                          const ExportOptions& options) {
  if (step.header.dim != 3)
    throw Error(Kind::unsupported, "VTK draws overlapping boxes right in 3-D only")
        .at(step.path)
        .hint("--as htg holds any dimension");
  ExportJob job = detail::begin_export(step, options);
  const BoxPlan plan = plan_boxes(job);
  step::write_beside(
      options.ranks, [&] { return step::prepare_native_target(out, options.overwrite); },
      [&](const std::filesystem::path& path) {
        AmrFile places;
        base::agree(options.ranks, [&] {
          if (options.ranks.rank == 0)
            places = formats::vtkhdf::lay_out_boxes(path, job.header, plan.levels, job.fields);
        });
        places.fields = base::from_first(options.ranks, places.fields);
        file::File file;
        base::agree(options.ranks, [&] { file = file::open_write(path); });
        detail::for_each_part(
            job,
            [&](std::size_t i) {
              write_part_boxes(job.mine.read(static_cast<int>(i), job.values), job, plan, plan.first[i], file, places);
              return true;
            },
            [](std::size_t, bool) {});
        if (options.ranks.rank == 0) job.report.bytes = static_cast<std::int64_t>(file::size(file));
      });
  for (const AmrLevel& level : plan.levels)
    for (const mesh::IndexBox& box : level.boxes) job.report.cells += mesh::num_cells(box, 3);
  job.report.leaves = plan.selected;
  return job.report;
}

}  // namespace octavo::verbs
