#pragma once
// For verbs/export alone.
#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "octavo/analysis/select.hpp"
#include "octavo/base/bit_array.hpp"
#include "octavo/base/error.hpp"
#include "octavo/base/threads.hpp"
#include "octavo/verbs/export/export.hpp"
#include "octavo/verbs/scope_share.hpp"
#include "octavo/verbs/workers.hpp"

namespace octavo::verbs::detail {

/// Exports of all kinds begin with this rank's parts of the selection, with the fields that are wanted.
struct ExportJob {
  ScopeShare scope;
  mesh::Dataset mine;                   ///< this rank's parts, with computed fields
  mesh::Header header;                  ///< of the step, with computed fields
  std::vector<mesh::FieldInfo> fields;  ///< to write, in the types that they get
  analysis::Selection selection;
  mesh::Request condition, values;  ///< what tells which cells are selected; and the fields as well
  Workers workers;
  ExportReport report;  ///< fields, parts, selection and notes are set
};

/// Collective. Throws as export_hyper_trees does.
ExportJob begin_export(const step::SharedStep& step, const ExportOptions& options);

/// A bit for each value of the part that belongs to a selected cell.
base::BitArray selected_values(const mesh::Part& part, const ExportJob& job);

/// A fresh error for a selection without cells.
base::Error nothing_selected(const ExportJob& job, const std::string& things);

/// Runs work(i) for this rank's parts on the job's threads, and commit(i, its result) in order. Collective.
template <class Work, class Commit>
void for_each_part(const ExportJob& job, Work&& work, Commit&& commit) {
  base::agree(job.workers.ranks, [&] {
    const auto count = static_cast<std::size_t>(job.mine.num_parts);
    base::ordered_for(count, job.workers.threads, work, [&](std::size_t i, auto result) {
      commit(i, std::move(result));
      const auto done = static_cast<std::int64_t>(i + 1);
      if (job.workers.progress && !job.workers.progress(done, static_cast<std::int64_t>(count)))
        throw base::Error(base::Kind::interrupted, "stopped on request");
    });
  });
}

/// Cells (or particles) and points.
using Counts = std::array<std::int64_t, 2>;

/// Parts whose things are numbered one part after another, over all ranks.
struct PartRanges {
  std::vector<Counts> first;  ///< of each of this rank's parts
  Counts total{};             ///< of all ranks
};
/// Sums up `count(i)` of each of this rank's parts. Collective.
PartRanges number_parts(const ExportJob& job, const std::function<Counts(std::size_t)>& count);

}  // namespace octavo::verbs::detail
