#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <string>

#include "octavo/analysis/frame.hpp"
#include "octavo/analysis/orientation.hpp"
#include "octavo/analysis/tile.hpp"
#include "octavo/mesh/dataset.hpp"

/// Pictures of solids for verbs::map and verbs::slice: a part is read, and may then be drawn several times, on any
/// thread, some rows at a time.
namespace octavo::verbs::detail {

using DrawRows = std::function<analysis::Tile(analysis::RowRange rows)>;

/// The picture along an axis that a frame is of.
analysis::AnyView view_of_frame(const analysis::Frame& frame);

/// A map, and the fields that it takes: that to be shown, and that to weigh a mean with (empty: by volume).
struct SolidColumns {
  std::string field, weight;
  analysis::Projection kind = analysis::Projection::integral;
  analysis::AnyView view;
  int threads = 1;  ///< that draw all rows of one part together
};
/// Draws the rows of one part (analysis/solids/solid_map.hpp).
DrawRows solid_columns(const mesh::Dataset& dataset, int part, const SolidColumns& columns);

/// A part, cut by the view's plane (analysis/solids/solid_slice.hpp). Adds the number of cuts to `cuts`.
DrawRows solid_plane(const mesh::Dataset& dataset, int part, const std::string& field, const analysis::AnyView& view,
                     std::atomic<std::int64_t>& cuts);

}  // namespace octavo::verbs::detail
