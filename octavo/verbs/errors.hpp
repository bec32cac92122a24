#pragma once
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "octavo/mesh/dataset.hpp"

/// Measures how far the values of a store are from those that it was made from.
namespace octavo::verbs {

/// Errors are stored minus given values, in the field's unit, at owned leaves or at points. Values that are not finite
/// are left out if they came back unchanged.
struct Errors {
  std::int64_t count = 0;    ///< number of errors
  double largest = 0;        ///< magnitude; infinite if a value that is not finite became another
  double largest_ratio = 0;  ///< magnitude over that of the given value; infinite if a zero became another value
  double weight = 0;         ///< sum of volumes, in units of a coarsest cell; a point counts 1
  double weighted = 0;       ///< sum of error * volume
  double weighted_squares = 0;
  double sum = 0, squares = 0;
  double products = 0;  ///< sum of error * error of the next leaf in memory, of the same part and level
  double pair_sum = 0;  ///< sum of error + next error
  std::int64_t pairs = 0;
  double weighted_magnitudes = 0;                                              ///< sum of |given value| * volume
  double lowest = std::numeric_limits<double>::infinity(), highest = -lowest;  ///< given values

  /// Weighted by volume.
  double mean() const;
  /// The standard error of the mean, if errors are independent: sqrt(sum of (volume * error)^2) / sum of volumes.
  double standard_error() const;
  /// The correlation of an error with the next (lag 1); 0 if all errors are the same.
  double autocorrelation() const;
  /// The change of the integral over the integral of the magnitudes; 0 if all values are 0.
  double drift() const;
  /// Root of the mean square over the range of the given values, without weights; 0 if no error was made, infinite if
  /// all given values are the same and some error was made.
  double normalised_rms() const;
  /// Peak signal-to-noise ratio [dB], -20 log10 of normalised_rms(): infinite if no error was made.
  double psnr() const;
};

void add(Errors& to, const Errors& more);

/// Errors of each field and of each floating-point attribute of particles ("species/attribute", all of weight 1) of one
/// part. Particles may stand in their order or along the curve (store/particle_order.hpp). Throws Error(corrupt) if
/// `found` has another mesh, other fields, or other particles: integers must be the same.
std::map<std::string, Errors> errors_of(const mesh::Part& given, const mesh::Part& found, const mesh::Header& header);

}  // namespace octavo::verbs
