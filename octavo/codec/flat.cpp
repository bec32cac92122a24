#include "octavo/codec/flat.hpp"

namespace octavo::codec {

Bytes split_planes(std::span<const std::byte> bytes, std::size_t width) {
  const std::size_t count = bytes.size() / width;
  Bytes planes(bytes.size());
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t b = 0; b < width; ++b) planes[b * count + i] = bytes[i * width + b];
  return planes;
}

void join_planes(std::span<const std::byte> planes, std::size_t width, std::span<std::byte> bytes) {
  const std::size_t count = bytes.size() / width;
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t b = 0; b < width; ++b) bytes[i * width + b] = planes[b * count + i];
}

}  // namespace octavo::codec
