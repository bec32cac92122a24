#pragma once
#include <bit>
#include <cstddef>
#include <span>
#include <string>

#include "octavo/formats/amrex/text.hpp"
#include "octavo/mesh/field.hpp"

namespace octavo::formats::amrex {

/// How real numbers stand in a file.
struct RealFormat {
  mesh::ScalarType type = mesh::ScalarType::float64;  ///< float64 or float32, both IEEE
  std::endian order = std::endian::little;
  bool operator==(const RealFormat&) const = default;
};

/// "((8, (64 11 52 0 1 12 0 1023)),(8, (8 7 6 5 4 3 2 1)))" and the three others of its kind. Error(unsupported) for
/// any other, well-formed format.
RealFormat read_real_format(Text& text);
std::string to_text(const RealFormat& format);

/// The line before the values of one box: "FAB " format, box with its ghost cells, number of components.
struct FabLine {
  RealFormat format;
  TypedBox box;
  std::int64_t components = 0;
  std::size_t bytes = 0;  ///< of the line, its end included
};
/// The longest line there can be, rounded up [bytes].
inline constexpr std::size_t max_fab_line = 512;

/// Reads it at the beginning of `bytes`. Error(unsupported) for the old ASCII and 8-bit formats; Error(corrupt) else;
/// `place` is where it stands, for messages.
FabLine read_fab_line(std::span<const std::byte> bytes, const std::string& place);
std::string to_text(const FabLine& line);

/// Values of `format` to native ones of `type`, float32 to float64 exactly. Throws Error(unsupported) for the other
/// way.
void decode(const RealFormat& format, const std::byte* from, std::size_t count, mesh::ScalarType type, std::byte* to);

}  // namespace octavo::formats::amrex
