#include "octavo/base/byte_order.hpp"

#include <algorithm>

namespace octavo::base {

namespace {
template <class Word>
void swap_words(std::span<std::byte> bytes, Word (*reverse)(Word)) {
  for (std::size_t i = 0; i + sizeof(Word) <= bytes.size(); i += sizeof(Word)) {
    Word word;
    std::memcpy(&word, bytes.data() + i, sizeof(Word));
    word = reverse(word);
    std::memcpy(bytes.data() + i, &word, sizeof(Word));
  }
}
}  // namespace

void swap_bytes(std::span<std::byte> bytes, std::size_t width) {
  switch (width) {
    case 1: return;
    case 2: return swap_words<std::uint16_t>(bytes, [](std::uint16_t w) { return __builtin_bswap16(w); });
    case 4: return swap_words<std::uint32_t>(bytes, [](std::uint32_t w) { return __builtin_bswap32(w); });
    case 8: return swap_words<std::uint64_t>(bytes, [](std::uint64_t w) { return __builtin_bswap64(w); });
    default:
      for (std::size_t i = 0; i + width <= bytes.size(); i += width)
        std::reverse(bytes.begin() + static_cast<std::ptrdiff_t>(i),
                     bytes.begin() + static_cast<std::ptrdiff_t>(i + width));
  }
}

}  // namespace octavo::base
