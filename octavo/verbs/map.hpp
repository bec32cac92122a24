#pragma once
#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "octavo/analysis/orientation.hpp"
#include "octavo/analysis/project.hpp"
#include "octavo/analysis/tile.hpp"
#include "octavo/base/progress.hpp"
#include "octavo/base/ranks.hpp"
#include "octavo/mesh/dataset.hpp"
#include "octavo/step/fields.hpp"
#include "octavo/step/shared.hpp"

namespace octavo::verbs {

struct MapOptions {
  std::string field{};
  std::string weight{};                  ///< for a mean: the field to weight with; empty: volume
  int axis = 2;                          ///< line of sight: 0, 1, 2
  std::optional<mesh::Point3> camera{};  ///< instead of an axis: the direction in which the viewer is, of any length
  std::optional<mesh::Point3> up{};      ///< with a camera: upwards in the image (default: z, or y along z)
  analysis::Projection kind = analysis::Projection::integral;
  std::optional<mesh::Region> region{};  ///< nothing: the whole domain
  analysis::RegionEdge edge = analysis::RegionEdge::usual;
  std::optional<int> max_level{};  ///< the code's own number; finer cells are never read
  std::string mask{};  ///< triangles: a pixel stays empty unless this field is above `above` (the depth, for dry land)
  double above = 0;
  double blur = 0;  ///< smooths each cell, as analysis::Frame says [edges of the cell]; 0: none
  /// A condition on cells, a formula; empty: all. Integrals count other cells as 0; they do not count in means and
  /// extremes.
  std::string where{};
  step::Definitions definitions{};  ///< field and weight may also be names and formulas of step/fields.hpp
  bool blank_too = false;           ///< a selection without a cell gives an image without a value: of a part of a step
  std::size_t pixels = 512;         ///< along the longer side of the window
  std::optional<std::array<std::size_t, 2>> shape{};  ///< pixels along both sides instead (they need not be square)
  int threads = 0;                                    ///< 0: all cores
  base::Ranks ranks{};
  base::Progress progress{};  ///< in parts
};

/// An image and its description. Each rank has some of the rows.
struct Map {
  std::size_t nx = 0, ny = 0;
  analysis::DealtRows rows{};         ///< this rank's; of one process: all
  std::vector<double> values;         ///< [rows.count()][nx], lowest row first; NaN where there is no cell
  std::array<double, 2> lo{}, hi{};   ///< window [code length], horizontal and vertical
  double depth_lo = 0, depth_hi = 0;  ///< along the line of sight [code length]
  std::array<std::string, 2> axes;    ///< names of the image's axes: "x", "y", or "(0.707, -0.707, 0)"
  std::string axis;                   ///< name of the line of sight's axis
  std::string field;
  std::string label{};          ///< of the values; empty: it follows from field, kind and weight
  std::int64_t particles = -1;  ///< of a map of particles: those in the image
  std::string kind;             ///< "integral", "mean", "max", "min", or "slice"
  std::string weight;           ///< for a mean: field name, or "volume"
  double blur = 0;              ///< of a map whose cells are smoothed [edges of a cell]
  std::string unit;             ///< in code units, path length included: "code_mass/code_length**3*code_length"
  bool flat = false;  ///< the data lack the axis: the map shows the values themselves, as there is no path to sum over
  std::string selection;  ///< region and level as text; empty: everything
  /// The axes of a slice, or of a map from a camera; other maps have none. A point x is at dot(right, x), dot(up, x) in
  /// the window.
  std::optional<analysis::Orientation> orientation{};
  double time = 0;          ///< [code time]
  std::string over_time{};  ///< "max", "min" or "mean" of all steps; empty: only the step at `time`
  double unit_length = 1, unit_density = 1, unit_time = 1;  ///< one code unit in cgs
  std::vector<int> parts;                                   ///< parts that were read, ascending; on rank 0
  std::int64_t bytes_read = 0;                              ///< upper limit, of all ranks
};

/// Projects a field along an axis (analysis::Frame has the definition). Throws Error(usage) for a selection without a
/// cell, unless `blank_too` is set. Reads only the parts that touch the region, and
/// of them the fields and levels needed, one part per thread at a time. Each rank gets some rows of the image, and
/// holds no more of it than those and some tiles (sum_image). The pixels have the same bits for any number of threads
/// and ranks. Collective. Throws Error(usage) for an unknown field, Error(unsupported) for a mesh that is neither an
/// octree nor of triangles or solids. Triangles: a pixel has the value at its middle, linear within the triangle. A
/// mesh with planes is seen from above: the integral or mean over the height, the largest or the smallest. Rank 0 reads
/// it. Smoothed cells (blur) are of integrals and means of trees along an axis: Error(usage) for an extreme or a blur
/// beyond 0 to 16, Error(unsupported) for triangles and other directions. From a camera, a pixel is the ray through its
/// centre, with exact chords through the leaves (analysis::Rays); where the camera looks along an axis and the image is
/// upright (make_orientation without `up`), it is the map along that axis, mirrored if it is seen from the other side.
/// Error(unsupported) for a camera on other than 3-D cells. Solids are exact in any direction, cameras too
/// (analysis/solids/solid_map.hpp).
Map map(const step::SharedStep& step, const MapOptions& options);

namespace detail {
/// An image of a field without pixels, window and axes: time and units are from the header.
Map describe_field(const mesh::Header& header, const std::string& field);
/// Sets window, axes and number of pixels.
void describe_view(Map& map, const analysis::AnyView& view);
/// Sets pixels, window, depth and axes.
void describe_frame(Map& map, const analysis::Frame& frame);
/// Sets kind and weight.
void describe_kind(Map& map, const MapOptions& options);
/// The fields to read: that to be shown, and that to weigh with. Throws Error(usage) for an unknown one.
mesh::Request fields_of_map(const mesh::Header& header, const MapOptions& options);
/// The parts of a map that this rank reads, with the fields that it needs.
struct MapShare {
  std::size_t parts = 0;  ///< of all ranks
  mesh::Dataset mine;
};
/// Shares the parts that the map touches out, and says in `map` which they are. Throws Error(usage) if there is none,
/// unless options.blank_too is set. Collective.
MapShare share_map(const step::SharedStep& step, const MapOptions& options, const std::vector<std::string>& names,
                   Map& map);
/// Throws Error(usage) for an image of nothing, unless options.blank_too is set. Reads again only where no pixel has a
/// value, or under a condition all are 0. Collective.
void require_cells(const step::SharedStep& step, const MapOptions& options, const Map& map);
}  // namespace detail

/// The rows first <= row < last of the image, [last - first][nx], on rank 0; nothing on other ranks. Collective.
std::vector<double> rows_of(const Map& map, const base::Ranks& ranks, analysis::RowRange rows);

/// Writes the image as a NumPy file (.npy, version 1.0) of shape (ny, nx). Each rank writes its rows into place; rank 0
/// makes the file, which must not exist. Every rank gets the same error. Collective.
void write_npy(const Map& map, const base::Ranks& ranks, const std::filesystem::path& path);

}  // namespace octavo::verbs
