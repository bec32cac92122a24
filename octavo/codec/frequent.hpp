#pragma once
#include <cstdint>
#include <span>
#include <vector>

/// Inside the codec room, for encoders: values that occur again and again.
namespace octavo::codec {

/// The values (by their bits) that more than a tenth of `values` has, or of those that are `counted` (one byte each):
/// of either the most frequent, all of them where several are equally frequent. The first is the most frequent of all.
template <class T>
std::vector<T> most_frequent(std::span<const T> values, std::span<const std::uint8_t> counted);

}  // namespace octavo::codec
