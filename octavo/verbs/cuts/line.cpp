#include "octavo/verbs/cuts/line.hpp"

#include <limits>
#include <utility>

#include "octavo/analysis/solids/solid_line.hpp"
#include "octavo/base/error.hpp"
#include "octavo/step/fields.hpp"
#include "octavo/verbs/place.hpp"
#include "octavo/verbs/scope.hpp"
#include "octavo/verbs/scope_share.hpp"
#include "octavo/verbs/solids/read_solids.hpp"
#include "octavo/verbs/sum_parts.hpp"

namespace octavo::verbs {
namespace {

using base::Error;
using base::Kind;

constexpr int most_boxes = 64;  // along a line, to find its parts

mesh::Point3 end_of_line(const step::SharedStep& step, const std::string& words, const LineOptions& options) {
  StatsOptions selection{.region = options.region, .max_level = options.max_level};
  selection.threads = options.threads;
  selection.ranks = options.ranks;
  selection.where = options.where;
  selection.definitions = options.definitions;
  return find_place(step, words, selection);
}

LineTable empty_table(const mesh::Header& header, const analysis::Line& line, const std::vector<std::string>& fields) {
  LineTable table;
  table.from = line.from;
  table.to = line.to;
  table.length = line.length;
  table.time = header.time;
  table.fields = fields;
  for (const std::string& name : fields)
    for (const mesh::FieldInfo& info : header.fields)
      if (info.name == name) table.units.push_back(info.unit);
  return table;
}

analysis::Chords chords_of_solids(const mesh::Dataset& dataset, int part, const std::vector<std::string>& fields,
                                  const analysis::Line& line) {
  const detail::SolidPart read = detail::read_solids(dataset, part, fields);
  std::vector<analysis::SolidValues> values;
  for (std::size_t f = 0; f < fields.size(); ++f) values.push_back(read.field(f));
  return analysis::chords_of(read.mesh, values, line);
}

}  // namespace

LineTable line(const step::SharedStep& step, const LineOptions& options) {
  const bool solids = mesh::holds_solids(step.header);
  if (step.unstructured && !solids)
    throw Error(Kind::unsupported, "a mesh of triangles has no cells on a line")
        .at(step.path)
        .hint("octavo probe gives values at places");
  step::Definitions definitions = options.definitions;
  std::vector<std::string> shown;
  for (const std::string& field : options.fields)
    shown.push_back(step::define_where(step, field, options.where, "nan", definitions));
  std::vector<std::string> names = shown;
  names.insert(names.end(), options.fields.begin(), options.fields.end());
  const mesh::Header header = step::with_fields(step, names, definitions).header;
  mesh::Request request;
  request.fields = shown;
  request.max_level = options.max_level.value_or(std::numeric_limits<int>::max());
  mesh::select_fields(header, request.fields);  // unknown names are refused before anything is read
  const mesh::Point3 from = end_of_line(step, options.from, options), to = end_of_line(step, options.to, options);
  const analysis::Line way = analysis::make_line(header, from, to, options.region);
  LineTable table = empty_table(header, way, options.fields);
  const auto near_line = [&](const mesh::Dataset& dataset) {
    const auto boxes = analysis::boxes_of_line(header, way, dataset.num_parts == 1 ? 1 : most_boxes);
    return scope_of(dataset, options.region, options.max_level,
                    parts_in_any(dataset, boxes, options.region, options.max_level));
  };
  ScopeShare scope = share_scope(step, options.region, near_line, options.ranks, Sharing::in_ranges);
  const mesh::Dataset mine = step::with_fields(std::move(scope.mine), names, definitions, step);
  table.parts = std::move(scope.listed);
  table.bytes_read = scope.bytes;
  table.selection = with_condition(scope.text, options.where);
  const auto work = [&](std::size_t i) {
    if (solids) return chords_of_solids(mine, static_cast<int>(i), shown, way);
    return analysis::chords_of(mine.read(static_cast<int>(i), request), header, way, shown, request.max_level);
  };
  table.chords = sum_parts(
      scope.parts, Workers{threads_within_memory(mine, options.threads), options.ranks, options.progress},
      Summation{work, [](analysis::Chords& all, analysis::Chords&& other) { analysis::add(all, std::move(other)); }});
  analysis::sort_chords(table.chords);
  if (solids) analysis::settle_chords(way, table.chords);
  if (table.chords.chords.empty())
    throw Error(Kind::usage,
                "no cell of the selection is on the line" + (scope.text.empty() ? std::string() : ": " + scope.text))
        .at(step.path);
  return table;
}

}  // namespace octavo::verbs
