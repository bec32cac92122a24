#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "octavo/mesh/octree.hpp"
#include "octavo/verbs/sample/sample.hpp"

/// The generator's gas at a place (the physics of sample.hpp).
namespace octavo::verbs {

constexpr double sample_gamma = 1.4;

/// Unused components of velocity and momentum are 0.
struct Primitive {
  double density = 0;
  std::array<double, 3> velocity{};
  double pressure = 0;
};
struct Conserved {
  double density = 0;
  std::array<double, 3> momentum{};
  double energy = 0;  ///< thermal and kinetic
};
Conserved conserved_of(const Primitive& gas);
Primitive primitive_of(const Conserved& gas);

/// Mixes some numbers into 64 random bits. All randomness of the generator comes from here, so that no result depends
/// on an order of calls.
std::uint64_t mixed(std::uint64_t a, std::uint64_t b = 0, std::uint64_t c = 0);
/// In [0, 1).
inline double uniform(std::uint64_t bits) { return static_cast<double>(bits >> 11) * 0x1p-53; }

/// Four Gaussian random fields (log density and three velocities, of variance near 1) with the power spectrum
/// k^-(5/3 + dim - 1). Modes of wave number 1 to 16 are summed onto a periodic grid of 64 points an axis and
/// interpolated (Catmull-Rom). Each octave above repeats one tile with modes of 8 to 16 at half the scale, moved, with
/// 2^(-1/3) of the amplitude; at level l there are octaves up to a quarter of the 2^l cells, as a code resolves them.
struct Spectrum {
  using Values = std::array<double, 4>;
  int dim = 3;
  std::vector<Values> base, octave;
  std::array<std::array<double, 3>, 16> shift{};  ///< of octaves, in grid points
};
Spectrum make_spectrum(int dim, std::uint64_t seed);
Spectrum::Values evaluate(const Spectrum& spectrum, int level, const mesh::Coordinate& cell);

struct Profile {
  SampleKind kind = SampleKind::turbulence;
  int dim = 3;
  std::uint64_t seed = 1;
  double noise = 0;
  Spectrum spectrum;  ///< turbulence only
};
Profile make_profile(const SampleOptions& options);

/// The gas of a leaf: cell `cell` of RAMSES level `level`, in a box of length 1.
Primitive leaf_of(const Profile& profile, int level, const mesh::Coordinate& cell);
/// A score that is higher the more a cell needs refinement. Turbulence: density, and more at the shell; it is compared
/// with other cells of the level. Sedov: positive if the shell is within some cells.
double refinement_score(const Profile& profile, int level, const mesh::Coordinate& cell);

}  // namespace octavo::verbs
