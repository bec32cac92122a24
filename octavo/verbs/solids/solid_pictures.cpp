#include "octavo/verbs/solids/solid_pictures.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "octavo/analysis/solids/solid_map.hpp"
#include "octavo/analysis/solids/solid_slice.hpp"
#include "octavo/base/threads.hpp"
#include "octavo/verbs/solids/read_solids.hpp"

namespace octavo::verbs::detail {
namespace {

using analysis::RowRange;
using analysis::Tile;

constexpr std::size_t cells_at_once = 1 << 14;  // that a thread draws: the order of sums depends on nothing else

/// A part that a map shows.
struct SolidsOfMap {
  SolidPart part;
  analysis::SeenSolids seen;
};

/// Some rows of a part, its cells added up in their order, on threads.
Tile draw_columns(const analysis::SeenSolids& seen, const SolidColumns& columns, RowRange rows) {
  const std::size_t width = columns.view.pixels[0], height = rows.last - rows.first, cells = seen.first.size() - 1;
  analysis::Frame band;
  band.pixels = {width, height};
  band.kind = columns.kind;
  analysis::ImageRows sums = analysis::blank_rows(band, {height});
  const int threads = height == columns.view.pixels[1] ? columns.threads : 1;  // bands are on threads of their own
  base::ordered_for((cells + cells_at_once - 1) / cells_at_once, threads,
                    [&](std::size_t i) {
                      const std::size_t first = i * cells_at_once, last = std::min(cells, first + cells_at_once);
                      return analysis::project(seen, columns.kind, first, last, rows, width);
                    },
                    [&](std::size_t, Tile tile) {
                      tile.first[1] -= std::min(tile.first[1], rows.first);
                      analysis::add(columns.kind, sums, tile);
                    });
  return {{0, rows.first}, {width, height}, std::move(sums.sum), std::move(sums.weight)};
}

}  // namespace

analysis::AnyView view_of_frame(const analysis::Frame& frame) {
  analysis::AnyView view;
  view.axes = analysis::along_axis(frame.axis);
  view.pixels = frame.pixels;
  view.lo = frame.lo;
  view.hi = frame.hi;
  for (std::size_t i = 0; i < 2; ++i) {
    const auto axis = static_cast<std::size_t>(frame.image_axis[i]);
    view.clip_lo[axis] = frame.lo[i];
    view.clip_hi[axis] = frame.hi[i];
  }
  const auto axis = static_cast<std::size_t>(frame.axis);
  view.clip_lo[axis] = frame.depth_lo;
  view.clip_hi[axis] = frame.depth_hi;
  view.within = frame.within;
  return view;
}

DrawRows solid_columns(const mesh::Dataset& dataset, int part, const SolidColumns& columns) {
  std::vector<std::string> names{columns.field};
  if (!columns.weight.empty()) names.push_back(columns.weight);
  const auto shown = std::make_shared<SolidsOfMap>();
  shown->part = read_solids(dataset, part, names, columns.view.within);
  const SolidPart& read = shown->part;
  const analysis::SolidValues weight = columns.weight.empty() ? analysis::SolidValues{} : read.field(1);
  shown->seen = analysis::see_solids(read.mesh, columns.view, read.field(0), weight, read.chosen);
  return [shown, columns](RowRange rows) { return draw_columns(shown->seen, columns, rows); };
}

DrawRows solid_plane(const mesh::Dataset& dataset, int part, const std::string& field, const analysis::AnyView& view,
                     std::atomic<std::int64_t>& cuts) {
  const SolidPart read = read_solids(dataset, part, {field});
  const auto found = std::make_shared<const std::vector<analysis::SolidSection>>(
      analysis::solid_sections(read.mesh, read.field(0), view));
  cuts += std::ssize(*found);
  return [found, view](RowRange rows) { return analysis::draw_cuts(*found, view, rows); };
}

}  // namespace octavo::verbs::detail
