#include "octavo/verbs/export/export_job.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "octavo/base/error.hpp"
#include "octavo/base/rank_exchange.hpp"
#include "octavo/formats/vtkhdf/field_type.hpp"
#include "octavo/mesh/sides.hpp"
#include "octavo/mesh/solids/refuse.hpp"
#include "octavo/mesh/tree/merge.hpp"

namespace octavo::verbs::detail {
namespace {

using base::Error;
using base::Kind;

bool has_one_value_a_cell(const mesh::FieldInfo& field) {
  return field.components == 1 && field.ghost == 0 && field.centring == mesh::Centring::cell;
}

/// The fields to write; where none are asked for, all that have a value a cell.
std::vector<mesh::FieldInfo> fields_to_export(const mesh::Header& header, const mesh::Header& stored,
                                              const ExportOptions& options, std::vector<std::string>& notes) {
  std::vector<mesh::FieldInfo> fields;
  std::string left;
  if (options.fields) {
    // In the order asked for.
    for (const std::string& name : *options.fields) {
      const bool twice =
          std::any_of(fields.begin(), fields.end(), [&](const auto& field) { return field.name == name; });
      if (!twice) fields.push_back(header.fields[mesh::select_fields(header, std::vector<std::string>{name}).front()]);
    }
  } else {
    for (const mesh::FieldInfo& field : stored.fields) {
      if (has_one_value_a_cell(field))
        fields.push_back(field);
      else
        left += (left.empty() ? "" : ", ") + field.name;
    }
  }
  for (mesh::FieldInfo& field : fields)
    field.type = formats::vtkhdf::type_in_file(field.type, options.single_precision);
  if (!left.empty()) notes.push_back("fields with other than one value at a cell's centre are left out: " + left);
  return fields;
}

}  // namespace

ExportJob begin_export(const step::SharedStep& step, const ExportOptions& options) {
  mesh::refuse_solids(step, "an export is of cells of an adaptive mesh",
                      "octavo convert IN OUT.vtkhdf writes it for ParaView; in Python .part(0) has the arrays");
  if (step.unstructured)
    throw Error(Kind::unsupported, "a mesh of triangles has no cells of an adaptive mesh")
        .at(step.path)
        .hint("octavo convert IN OUT.vtkhdf writes it for VTK");
  std::vector<std::string> made = options.fields.value_or(std::vector<std::string>{});
  made.push_back(options.where);
  ExportJob job;
  job.header = step::with_fields(step, made, options.definitions).header;
  job.report.notes = step.notes;
  job.fields = fields_to_export(job.header, step.header, options, job.report.notes);
  job.selection = {options.region, options.max_level.value_or(std::numeric_limits<int>::max()), options.where};
  job.condition.max_level = job.selection.max_level;
  job.condition.fields = std::vector<std::string>{};
  if (!options.where.empty()) job.condition.fields->push_back(options.where);
  job.values = job.condition;
  for (const mesh::FieldInfo& field : job.fields) {
    job.report.fields.push_back(field.name);
    if (field.name != options.where) job.values.fields->push_back(field.name);
  }
  job.scope = share_scope(step, options.region, options.max_level, options.ranks, Sharing::in_ranges);
  job.mine = step::with_fields(std::move(job.scope.mine), made, options.definitions, step);
  job.workers = {threads_within_memory(job.mine, options.threads), options.ranks, options.progress};
  job.report.parts = job.scope.listed;
  job.report.selection = with_condition(job.scope.text, options.where);
  return job;
}

base::BitArray selected_values(const mesh::Part& part, const ExportJob& job) {
  const mesh::Octree& tree = mesh::octree_of(part);
  base::BitArray selected(mesh::num_cells(tree) * mesh::block_size(tree));
  analysis::for_each_selected(part, job.header, job.selection, [&](const analysis::Cells& cells) {
    for (const std::size_t value : cells.values) selected.set(value);
  });
  return selected;
}

base::Error nothing_selected(const ExportJob& job, const std::string& things) {
  const std::string& text = job.report.selection;
  return Error(Kind::usage, "no " + things + " selected" + (text.empty() ? "" : ": " + text)).at(job.mine.path);
}

PartRanges number_parts(const ExportJob& job, const std::function<Counts(std::size_t)>& count) {
  std::vector<Counts> counts;
  for_each_part(job, count, [&](std::size_t, const Counts& found) { counts.push_back(found); });
  PartRanges ranges;
  const auto own = static_cast<std::int64_t>(counts.size());
  const std::vector<std::int64_t> parts = base::gather(job.workers.ranks, std::vector<std::int64_t>{own});
  const std::vector<Counts> all = base::gather(job.workers.ranks, counts);
  std::int64_t before = 0;
  for (int rank = 0; rank < job.workers.ranks.rank; ++rank) before += parts[static_cast<std::size_t>(rank)];
  for (std::int64_t i = 0; i < std::ssize(all); ++i) {
    if (i >= before && i < before + own) ranges.first.push_back(ranges.total);
    for (std::size_t k = 0; k < 2; ++k) ranges.total[k] += all[static_cast<std::size_t>(i)][k];
  }
  return ranges;
}

}  // namespace octavo::verbs::detail
