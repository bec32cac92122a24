#pragma once
#include <array>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>

#include "octavo/analysis/histogram.hpp"
#include "octavo/base/progress.hpp"
#include "octavo/base/ranks.hpp"
#include "octavo/step/shared.hpp"
#include "octavo/verbs/map.hpp"
#include "octavo/verbs/scope_share.hpp"

/// Maps and histograms of particles. Files of cells are not read for them.
namespace octavo::verbs {

/// The particles to use, and the attributes to take: of a map the horizontal and the vertical position are the
/// samples' axes, and a value to be shown is a field.
struct ParticleSource {
  /// Those of a part, whose particles in the region were read. Called on any thread.
  std::function<analysis::Samples(mesh::Part)> samples;
  /// Else the caller has them: `samples` is called once, with an empty part, and nothing is read.
  bool in_parts = true;
};

/// A part with its particles, those in the region; no cells.
mesh::Part read_particles(const mesh::Dataset& dataset, int part, const std::optional<mesh::Region>& region);

/// The parts that a source is read of: those that touch the region. Collective.
ScopeShare share_particles(const step::SharedStep& step, const ParticleSource& source,
                           const std::optional<mesh::Region>& region, const base::Ranks& ranks, Sharing sharing);

/// The samples of this rank's i-th part.
analysis::Samples read_samples(const ParticleSource& source, const mesh::Dataset& mine,
                               const std::optional<mesh::Region>& region, std::size_t i);

/// A window of the samples' axes, whatever directions those are [code length].
struct ParticleWindow {
  std::array<double, 2> lo{}, hi{};
};

struct ParticleMapOptions {
  ParticleSource source{};
  std::string field{}, label{}, unit{}, weight{};  ///< as the image names them
  bool mean = false;  ///< of the samples' field by their weights; else the sum of the weights over a pixel's area
  int axis = 2;       ///< line of sight
  std::optional<mesh::Region> region{};
  std::optional<ParticleWindow> window{};  ///< instead of the axis: what the image shows
  std::size_t pixels = 1024;               ///< along the longer side of the image
  int threads = 0;                         ///< 0: all cores
  base::Ranks ranks{};
  base::Progress progress{};  ///< in parts
};

/// An image of the frame that a map of cells has (analysis::make_frame), or of a window. A particle on a side between
/// pixels is in the upper one, on the domain's upper side in the last; where the frame passes a periodic side, it is
/// seen beyond it. A mean is NaN where there is no particle, a sum 0. Memory: a part's particles a thread, this rank's
/// rows and some tiles (sum_image). Pixels have the same bits for any number of threads and ranks. Collective. Throws
/// Error(usage) for an axis that the data cannot be seen along, and, without a window, where no particle is selected.
Map particle_map(const step::SharedStep& step, const ParticleMapOptions& options);

}  // namespace octavo::verbs
