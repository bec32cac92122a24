#include "octavo/verbs/camera.hpp"

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>

#include "octavo/analysis/camera.hpp"
#include "octavo/base/error.hpp"
#include "octavo/step/fields.hpp"
#include "octavo/verbs/scope.hpp"
#include "octavo/verbs/scope_share.hpp"
#include "octavo/verbs/sum_image.hpp"
#include "octavo/verbs/triangles.hpp"

namespace octavo::verbs::detail {
namespace {

using analysis::Orientation;
using base::Error;
using base::Kind;

void check_camera(const step::SharedStep& step, const MapOptions& options) {
  if (step.unstructured && !mesh::holds_solids(step.header))
    throw Error(Kind::unsupported, "meshes of triangles are seen along z, not by a camera").at(step.path);
  if (step.header.dim < 3)
    throw Error(Kind::unsupported, "a camera is for 3-D data").at(step.path).hint("octavo map without --camera");
  if (!options.mask.empty()) throw Error(Kind::unsupported, "a mask is for meshes of triangles only").at(step.path);
}

Orientation mirrored(Orientation axes) {
  for (std::size_t a = 0; a < 3; ++a) {
    axes.right[a] = 0 - axes.right[a];  // never -0.0
    axes.towards[a] = 0 - axes.towards[a];
  }
  return axes;
}

/// The exact map along an axis that the camera sees, if it looks along one.
std::optional<Map> map_along_axis(const step::SharedStep& step, MapOptions options, const Orientation& axes) {
  for (int axis = 0; axis < 3; ++axis) {
    const Orientation front = analysis::along_axis(axis), back = mirrored(front);
    if (axes != front && axes != back) continue;
    options.axis = axis;
    options.camera.reset();
    options.up.reset();
    Map image = map(step, options);
    image.orientation = axes;
    if (axes == front) return image;
    image.axes[0] = analysis::name_of(axes.right);
    image.axis = analysis::name_of(axes.towards);
    for (auto [lo, hi] : {std::pair{&image.lo[0], &image.hi[0]}, std::pair{&image.depth_lo, &image.depth_hi}}) {
      const double before = *lo;
      *lo = 0 - *hi;
      *hi = 0 - before;
    }
    for (std::size_t row = 0; row < image.rows.count(); ++row) {
      const auto first = image.values.begin() + static_cast<std::ptrdiff_t>(row * image.nx);
      std::reverse(first, first + static_cast<std::ptrdiff_t>(image.nx));
    }
    return image;
  }
  return {};
}

Drawing drawing_of_rays(const mesh::Header& header, const analysis::Rays& rays, const MapOptions& options,
                        mesh::Part read) {
  const int max_level = options.max_level.value_or(std::numeric_limits<int>::max());
  const auto part = std::make_shared<const mesh::Part>(std::move(read));
  return drawing_within(
      rays.grid.view.pixels, options.kind, [&] { return analysis::footprint_of_rays(*part, header, rays, max_level); },
      [=, &header, &rays, &options](analysis::RowRange rows) {
        return analysis::cast(*part, header, rays, options.kind, options.field, options.weight, max_level, rows);
      });
}

}  // namespace

Map map_from_camera(const step::SharedStep& step, const MapOptions& options) {
  const Orientation axes = analysis::make_orientation(*options.camera, options.up);
  check_camera(step, options);
  if (auto image = map_along_axis(step, options, axes)) return std::move(*image);
  if (options.blur != 0)
    throw Error(Kind::unsupported, "a blur is of maps along an axis: rays pass cells as they are")
        .at(step.path)
        .hint("--axis x, y or z instead of --camera");
  const std::vector<std::string> names{options.field, options.weight};
  const mesh::Header header = step::with_fields(step, names, options.definitions).header;
  const mesh::Request request = fields_of_map(header, options);
  analysis::AnyView view = analysis::view_of_region(header, axes, options.region, options.pixels, options.edge);
  if (options.shape) view.pixels = *options.shape;
  const analysis::Rays rays = analysis::make_rays(header, view);

  Map result = describe_field(header, options.field);
  describe_view(result, view);
  describe_kind(result, options);
  if (options.kind == analysis::Projection::integral)
    result.unit += result.unit.empty() ? "code_length" : "*code_length";
  const MapShare share = share_map(step, options, names, result);
  analysis::Frame frame;
  frame.pixels = view.pixels;
  frame.kind = options.kind;
  const Workers workers{threads_within_memory(share.mine, options.threads), options.ranks, options.progress};
  std::function<Drawing(std::size_t)> read = [&](std::size_t i) {
    return drawing_of_rays(header, rays, options, share.mine.read(static_cast<int>(i), request));
  };
  if (mesh::holds_solids(step.header)) read = solid_drawing(share.mine, options, view);
  analysis::ImageRows image = sum_image(share.parts, workers, frame, read);
  result.rows = image.rows;
  result.values = analysis::finish(frame.kind, std::move(image));
  require_cells(step, options, result);
  return result;
}

}  // namespace octavo::verbs::detail
