#include "octavo/verbs/particles.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "octavo/base/error.hpp"
#include "octavo/base/rank_exchange.hpp"
#include "octavo/mesh/clip.hpp"
#include "octavo/verbs/sum_image.hpp"

namespace octavo::verbs {
namespace {

using analysis::Frame;
using analysis::Projection;
using base::Error;
using base::Kind;

/// The picture, and along each side of it by how much [code length] particles are moved to be seen once more.
struct Scene {
  Frame frame;
  std::array<std::vector<double>, 2> moves{{{0}, {0}}};
  std::array<double, 2> end{};  ///< the domain's upper side: its particles are in the last pixel, if that ends there
};

/// A part's particles that are in the image, with their pixels.
struct Deposit {
  std::int64_t particles = 0;
  std::vector<std::array<std::uint32_t, 2>> pixels;
  std::vector<double> weights, values;  ///< values: of a mean
  analysis::Footprint seen{};
};

/// The pixels of a place along one side of the image, moved by each of the scene's periods.
void pixels_of(const Scene& scene, std::size_t side, double place, std::vector<std::uint32_t>& out) {
  const double lo = scene.frame.lo[side], hi = scene.frame.hi[side];
  const auto pixels = static_cast<double>(scene.frame.pixels[side]);
  out.clear();
  for (const double move : scene.moves[side]) {
    const double at = std::floor((place + move - lo) / (hi - lo) * pixels);
    if (move == 0 && place == hi && place == scene.end[side])
      out.push_back(static_cast<std::uint32_t>(pixels) - 1);
    else if (at >= 0 && at < pixels)
      out.push_back(static_cast<std::uint32_t>(at));
  }
}

Deposit deposit_of(const Scene& scene, const analysis::Samples& samples) {
  Deposit out;
  const bool mean = scene.frame.kind == Projection::mean;
  std::array<std::vector<std::uint32_t>, 2> along;
  const auto add = [&](std::array<std::uint32_t, 2> at, std::size_t k) {
    for (std::size_t side = 0; side < 2; ++side) {
      const bool none = out.pixels.empty();
      out.seen.first[side] = none ? at[side] : std::min<std::size_t>(out.seen.first[side], at[side]);
      out.seen.last[side] = std::max<std::size_t>(out.seen.last[side], at[side] + 1);
    }
    out.pixels.push_back(at);
    out.weights.push_back(samples.weight.empty() ? 1 : samples.weight[k]);
    if (mean) out.values.push_back(samples.fields[0][k]);
  };
  for (std::size_t k = 0; k < samples.count; ++k) {
    for (std::size_t side = 0; side < 2; ++side) pixels_of(scene, side, samples.axes[side][k], along[side]);
    for (const std::uint32_t v : along[1])
      for (const std::uint32_t u : along[0]) add({u, v}, k);
    out.particles += along[0].empty() || along[1].empty() ? 0 : 1;
  }
  return out;
}

analysis::Tile tile_of(const Frame& frame, const Deposit& deposit, analysis::RowRange rows) {
  analysis::Tile tile;
  if (deposit.pixels.empty() || rows.first >= rows.last) return tile;
  analysis::cover(frame.kind, tile, {deposit.seen.first[0], rows.first}, {deposit.seen.last[0], rows.last});
  for (std::size_t k = 0; k < deposit.pixels.size(); ++k) {
    const auto [x, y] = deposit.pixels[k];
    if (y < rows.first || y >= rows.last) continue;
    const std::size_t at = (y - tile.first[1]) * tile.size[0] + (x - tile.first[0]);
    // 0.0 makes a sum of zeros +0: -0 is where nothing was added.
    if (frame.kind == Projection::mean) {
      tile.sum[at] += deposit.weights[k] * deposit.values[k] + 0.0;
      tile.weight[at] += deposit.weights[k] + 0.0;
    } else {
      tile.sum[at] += deposit.weights[k] + 0.0;
    }
  }
  return tile;
}

Drawing drawing_of(const Frame& frame, Deposit made) {
  const auto deposit = std::make_shared<const Deposit>(std::move(made));
  const analysis::Footprint& seen = deposit->seen;
  const std::size_t pixel = sizeof(double) * (frame.kind == Projection::mean ? 2 : 1);
  return {{seen.first[1], seen.last[1]},
          (seen.last[0] - seen.first[0]) * (seen.last[1] - seen.first[1]) * pixel,
          [deposit, &frame](analysis::RowRange rows) { return tile_of(frame, *deposit, rows); }};
}

Frame frame_of_window(const ParticleMapOptions& options) {
  Frame frame;
  frame.kind = options.mean ? Projection::mean : Projection::integral;
  frame.lo = options.window->lo;
  frame.hi = options.window->hi;
  const std::array<double, 2> sides{frame.hi[0] - frame.lo[0], frame.hi[1] - frame.lo[1]};
  if (!(sides[0] > 0) || !(sides[1] > 0)) throw Error(Kind::usage, "a window of particles without extent");
  for (std::size_t i = 0; i < 2; ++i) {
    const double wanted = static_cast<double>(options.pixels) * sides[i] / std::max(sides[0], sides[1]);
    frame.pixels[i] = std::max(std::size_t{1}, static_cast<std::size_t>(std::llround(wanted)));
  }
  return frame;
}

Scene scene_of(const mesh::Header& header, const ParticleMapOptions& options) {
  if (options.window) return {frame_of_window(options)};
  if (header.dim < 2 || (header.dim == 2 && options.axis != 2))
    throw Error(Kind::usage, "a map of particles in " + std::to_string(header.dim) + "-D along " +
                                 std::string(1, "xyz"[options.axis]))
        .hint("along z, of 2-D or 3-D data");
  Scene scene{analysis::make_frame(header, options.axis, options.mean ? Projection::mean : Projection::integral,
                                   options.region, options.pixels)};
  for (std::size_t side = 0; side < 2; ++side) {
    const int axis = scene.frame.image_axis[side];
    const auto a = static_cast<std::size_t>(axis);
    scene.end[side] = header.hi[a];
    scene.moves[side].clear();
    for (const int periods : analysis::periods_between(header, axis, scene.frame.lo[side], scene.frame.hi[side]))
      scene.moves[side].push_back(periods * (header.hi[a] - header.lo[a]));
  }
  return scene;
}

Map describe_particles(const mesh::Header& header, const ParticleMapOptions& options, const Frame& frame) {
  Map map = detail::describe_field(header, options.field);
  map.unit = options.unit;
  map.label = options.label;
  map.weight = options.weight;
  map.kind = options.mean ? "mean" : "integral";
  detail::describe_frame(map, frame);
  return map;
}

/// Sums over a pixel's area; of a mean the quotient. Pixels without particles are 0 and NaN.
std::vector<double> finish_deposit(const Frame& frame, analysis::ImageRows&& image) {
  if (frame.kind == Projection::mean) {
    for (std::size_t i = 0; i < image.sum.size(); ++i)
      if (image.weight[i] == 0) image.sum[i] = std::numeric_limits<double>::quiet_NaN();
  } else {
    const double area = (frame.hi[0] - frame.lo[0]) / static_cast<double>(frame.pixels[0]) *
                        ((frame.hi[1] - frame.lo[1]) / static_cast<double>(frame.pixels[1]));
    for (double& sum : image.sum) sum = (sum + 0.0) / area;
  }
  return analysis::finish(frame.kind, std::move(image));
}

}  // namespace

mesh::Part read_particles(const mesh::Dataset& dataset, int part, const std::optional<mesh::Region>& region) {
  mesh::Request request;
  request.fields.emplace();
  request.particles = true;
  mesh::Part read = dataset.read(part, request);
  if (region)
    for (mesh::Particles& species : read.particles) mesh::keep(species, mesh::inside(*region, dataset.header, species));
  return read;
}

ScopeShare share_particles(const step::SharedStep& step, const ParticleSource& source,
                           const std::optional<mesh::Region>& region, const base::Ranks& ranks, Sharing sharing) {
  ScopeShare scope = share_scope(step, region, std::nullopt, ranks, sharing);
  if (!source.in_parts) {
    scope.parts = 1;
    scope.bytes = 0;
    scope.listed.clear();
  }
  return scope;
}

analysis::Samples read_samples(const ParticleSource& source, const mesh::Dataset& mine,
                               const std::optional<mesh::Region>& region, std::size_t i) {
  return source.samples(source.in_parts ? read_particles(mine, static_cast<int>(i), region) : mesh::Part{});
}

Map particle_map(const step::SharedStep& step, const ParticleMapOptions& options) {
  const Scene scene = scene_of(step.header, options);
  const Frame& frame = scene.frame;
  Map result = describe_particles(step.header, options, frame);
  ScopeShare scope = share_particles(step, options.source, options.region, options.ranks, Sharing::in_turn);
  result.parts = std::move(scope.listed);
  result.bytes_read = scope.bytes;
  result.selection = scope.text;
  std::atomic<std::int64_t> seen{0};
  const Workers workers{threads_within_memory(scope.mine, options.threads), options.ranks, options.progress};
  analysis::ImageRows image = sum_image(scope.parts, workers, frame, [&](std::size_t i) {
    Deposit deposit = deposit_of(scene, read_samples(options.source, scope.mine, options.region, i));
    seen += deposit.particles;
    return drawing_of(frame, std::move(deposit));
  });
  result.particles = base::sum(options.ranks, std::vector<std::int64_t>{seen})[0];
  if (result.particles == 0 && !options.window) throw Error(Kind::usage, "no particle is selected").at(step.path);
  result.rows = image.rows;
  result.values = finish_deposit(frame, std::move(image));
  return result;
}

}  // namespace octavo::verbs
