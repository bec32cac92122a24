#pragma once
// For verbs/export alone.
#include <string>
#include <vector>

#include "octavo/analysis/select.hpp"
#include "octavo/base/bit_array.hpp"
#include "octavo/verbs/export/export.hpp"
#include "octavo/verbs/scope_share.hpp"
#include "octavo/verbs/workers.hpp"

namespace octavo::verbs::detail {

/// What exports of all kinds begin with: this rank's parts of the selection, with the fields that are wanted.
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

}  // namespace octavo::verbs::detail
