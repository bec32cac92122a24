#pragma once
#include <cstdint>
#include <string>

#include "octavo/codec/codec.hpp"

namespace octavo::verbs {

/// A bound as a user states it. `range_relative` is relative to max - min of the whole field of the step, so its
/// absolute bound is known only after a first pass over the input.
struct Accuracy {
  enum class Kind : std::uint8_t { lossless, absolute, range_relative, pointwise_relative } kind = Kind::lossless;
  double value = 0;
  bool operator==(const Accuracy&) const = default;
};

/// Reads "lossless", "abs:E", "range:E" or "point:E". Throws Error(usage) for anything else, and unless E is finite
/// and above 0.
Accuracy parse_accuracy(const std::string& text);

/// The shortest text that parse_accuracy() reads as this bound.
std::string to_string(const Accuracy& accuracy);

/// The bound for the codec. `range` is max - min of the field, needed for range_relative only. If it is 0 or not
/// finite, a range-relative bound has no meaning, and the field stays lossless.
codec::Bound bound_of(const Accuracy& accuracy, double range);

}  // namespace octavo::verbs
