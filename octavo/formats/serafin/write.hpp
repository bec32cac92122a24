#pragma once
#include <cstdint>
#include <functional>
#include <span>

#include "octavo/formats/serafin/layout.hpp"

/// Writing by position: any range of any array of any step, in any order, from any thread or process. The
/// file is byte for byte the same once every range was given.
namespace octavo::formats::serafin {

/// Takes bytes at an offset from the beginning of the file, or of the piece.
using Put = std::function<void(std::uint64_t offset, std::span<const std::byte> bytes)>;

void write_header(const Put& put, const SerafinHeader& header);
/// Values [first, first + values.size()) of the connectivity, element after element, points from 1.
void write_connectivity(const Put& put, const SerafinHeader& header, std::int64_t first,
                        std::span<const std::int32_t> values);
/// IPOBO, or a piece's global numbers.
void write_numbers(const Put& put, const SerafinHeader& header, std::int64_t first,
                   std::span<const std::int32_t> values);
/// Coordinates along axis 0 or 1.
void write_coordinates(const Put& put, const SerafinHeader& header, int axis, std::int64_t first,
                       std::span<const double> values);
void write_time(const Put& put, const SerafinHeader& header, std::int64_t step, double time);
/// Values of points [first, first + values.size()); rounded to float where the header says 4 bytes.
void write_values(const Put& put, const SerafinHeader& header, std::int64_t step, std::size_t variable,
                  std::int64_t first, std::span<const double> values);

}  // namespace octavo::formats::serafin
