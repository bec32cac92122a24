#pragma once
#include <cstdint>
#include <optional>

#include "octavo/mesh/dataset.hpp"

namespace octavo::verbs {

/// Kinds of data the generator makes.
/// - turbulence: log-normal density and three velocities with Kolmogorov's spectrum (k^-11/3 in 3-D), an off-centre
///   dense shell that moves outward, polytropic pressure; no symmetry.
/// - sedov: a point explosion in the middle, profiles fitted to the self-similar solution; mirror-symmetric.
enum class SampleKind : std::uint8_t { sedov, turbulence };

struct SampleOptions {
  SampleKind kind = SampleKind::turbulence;
  int dim = 3;
  int domains = 64;
  int level_min = 7, level_max = 9;  ///< RAMSES numbers: level l has 2^l cells along an axis
  std::uint64_t seed = 1;
  std::optional<double> noise{};  ///< relative, uniform, on each leaf value; nothing: 1e-6 for turbulence, 0 for sedov
  std::int64_t particles = 0;     ///< number in all domains together
  int threads = 0;                ///< threads that make the tree; 0: all cores. The result has the same bits for any
};

/// Generates a step as RAMSES would write it (code "RAMSES", a periodic box of one coarse cell and length 1). Each part
/// is made when it is read.
///
/// Parts are ranges of RAMSES' Hilbert curve with equal numbers of leaves. They follow RAMSES' rule: a cell belongs to
/// the part that holds the key of the centre of its *father*, so families stay whole. The tree is graded 2:1 over
/// faces, and refined where the gas is dense and at the shell. Refined cells hold the values that RAMSES restricts to
/// them: the mean density, the mean momentum divided by it, and the pressure that follows from the mean total energy
/// (gamma 1.4).
///
/// The same options give the same bits for any number of threads. Machines differ by the rounding of libm's exp, log,
/// sin and cos. Memory: the tree's bits and, for each refined cell, its conserved values, place and owners (60 bytes).
/// Throws Error(usage) for options out of range: dim 1-3, 1 <= level_min <= level_max <= 16, domains 1 to 2^24.
mesh::Dataset sample(const SampleOptions& options);

}  // namespace octavo::verbs
