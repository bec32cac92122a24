#include "octavo/verbs/cuts/slice.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>

#include "octavo/analysis/slice.hpp"
#include "octavo/base/error.hpp"
#include "octavo/base/rank_exchange.hpp"
#include "octavo/step/fields.hpp"
#include "octavo/verbs/place.hpp"
#include "octavo/verbs/scope.hpp"
#include "octavo/verbs/scope_share.hpp"
#include "octavo/verbs/solids/solid_pictures.hpp"
#include "octavo/verbs/sum_image.hpp"

namespace octavo::verbs {
namespace {

using base::Error;
using base::Kind;

analysis::Orientation axes_of_slice(const SliceOptions& options) {
  if (const auto* normal = std::get_if<mesh::Point3>(&options.normal))
    return analysis::make_orientation(*normal, options.up);
  const int axis = std::get<int>(options.normal);
  if (axis < 0 || axis > 2)
    throw Error(Kind::usage, "normal of a slice: expected 0, 1 or 2, found " + std::to_string(axis));
  const analysis::Orientation axes = analysis::along_axis(axis);
  return options.up ? analysis::make_orientation(axes.towards, options.up) : axes;
}

void check_sliceable(const step::SharedStep& step, const analysis::Orientation& axes) {
  if (step.unstructured && !mesh::holds_solids(step.header))
    throw Error(Kind::unsupported, "a mesh of triangles has no slice")
        .at(step.path)
        .hint("octavo map shows it from above");
  if (step.header.dim == 1)
    throw Error(Kind::unsupported, "1-D data has no slice").at(step.path).hint("octavo line lists its cells");
  if (step.header.dim == 2 && axes != analysis::along_axis(2))
    throw Error(Kind::unsupported, "2-D data can be cut across z only, not across " + analysis::name_of(axes.towards))
        .at(step.path)
        .hint("octavo line lists the cells on a line");
}

/// More pieces where there are more parts, so that few parts that are far from the plane are read.
int fineness_of(const mesh::Dataset& dataset) {
  return dataset.num_parts == 1 ? 0 : dataset.num_parts <= 64 ? 3 : dataset.num_parts <= 4096 ? 4 : 5;
}

/// A plane that meets no cell of the selection, of all ranks. `cells`: those that this rank drew. Cells on which the
/// condition does not hold were drawn as NaN. Collective.
void refuse_empty(const step::SharedStep& step, const SliceOptions& options, const Map& image, std::int64_t cells) {
  const auto shown =
      std::count_if(image.values.begin(), image.values.end(), [](double value) { return !std::isnan(value); });
  const auto all = base::sum(options.ranks, std::vector<std::int64_t>{cells, shown});
  if (all[0] == 0 || (!options.where.empty() && all[1] == 0))
    throw Error(Kind::usage, "no cell of the selection is at the plane" +
                                 (image.selection.empty() ? std::string() : ": " + image.selection))
        .at(step.path);
}

}  // namespace

Map slice(const step::SharedStep& step, const SliceOptions& options) {
  const analysis::Orientation axes = axes_of_slice(options);
  check_sliceable(step, axes);
  step::Definitions definitions = options.definitions;
  const std::string shown = step::define_where(step, options.field, options.where, "nan", definitions);
  const std::vector<std::string> names{shown, options.field};
  const mesh::Header header = step::with_fields(step, names, definitions).header;
  mesh::Request request;
  request.fields = {shown};
  request.max_level = options.max_level.value_or(std::numeric_limits<int>::max());
  mesh::select_fields(header, request.fields);  // unknown names are refused before anything is read
  StatsOptions selection{.region = options.region, .max_level = options.max_level};
  selection.threads = options.threads;
  selection.ranks = options.ranks;
  selection.where = options.where;
  selection.definitions = options.definitions;
  const mesh::Point3 at = find_place(step, options.at, selection);
  const analysis::AnyView view = analysis::view_of_plane(header, axes, at, options.region, options.pixels);
  const analysis::SlicePlane plane = analysis::make_slice(header, view);

  Map result = detail::describe_field(header, options.field);
  detail::describe_view(result, view);
  result.kind = "slice";
  result.flat = header.dim < 3;
  const auto near_plane = [&](const mesh::Dataset& dataset) {
    const auto boxes = analysis::boxes_of_plane(header, view, fineness_of(dataset));
    return scope_of(dataset, options.region, options.max_level,
                    parts_in_any(dataset, boxes, options.region, options.max_level));
  };
  ScopeShare scope = share_scope(step, options.region, near_plane, options.ranks, Sharing::in_turn);
  const mesh::Dataset mine = step::with_fields(std::move(scope.mine), names, definitions, step);
  result.parts = std::move(scope.listed);
  result.bytes_read = scope.bytes;
  result.selection = with_condition(scope.text, options.where);

  std::atomic<std::int64_t> cells = 0;
  std::function<Drawing(std::size_t)> read = [&](std::size_t i) {
    const auto cut = std::make_shared<const analysis::PlaneCut>(
        analysis::cut_part(mine.read(static_cast<int>(i), request), header, plane, shown, request.max_level));
    cells += std::ssize(cut->cells);
    const std::size_t pixels = (cut->last[0] - cut->first[0]) * (cut->last[1] - cut->first[1]);
    return Drawing{{cut->first[1], cut->last[1]}, pixels * sizeof(double), [cut, &plane](analysis::RowRange rows) {
                     return analysis::draw_cut(plane, *cut, rows);
                   }};
  };
  analysis::Frame frame;
  frame.pixels = view.pixels;
  frame.kind = analysis::Projection::maximum;  // each pixel is drawn once
  if (mesh::holds_solids(header))
    read = [&](std::size_t i) {
      return drawing_of_all(view.pixels, frame.kind,
                            detail::solid_plane(mine, static_cast<int>(i), shown, view, cells));
    };
  const Workers workers{threads_within_memory(mine, options.threads), options.ranks, options.progress};
  analysis::ImageRows image = sum_image(scope.parts, workers, frame, read);
  result.rows = image.rows;
  result.values = analysis::finish(frame.kind, std::move(image));
  refuse_empty(step, options, result, cells);
  return result;
}

}  // namespace octavo::verbs
