#include "octavo/base/bit_array.hpp"

#include <limits>
#include <numeric>
#include <stdexcept>

namespace octavo::base {

std::vector<std::uint32_t> set_positions(const BitArray& bits) {
  if (bits.size() > std::numeric_limits<std::uint32_t>::max()) throw std::length_error("bit array longer than 2^32");
  std::vector<std::uint32_t> positions(bits.count());
  std::uint32_t* next = positions.data();
  for (std::size_t w = 0; w < bits.words().size(); ++w) {
    const std::uint64_t word = bits.words()[w];
    const auto first = static_cast<std::uint32_t>(w << 6);
    // Levels that are refined everywhere give whole words of ones. We fill these in without looking at single bits.
    if (word == ~std::uint64_t{0}) {
      std::iota(next, next + 64, first);
      next += 64;
    } else {
      for (std::uint64_t rest = word; rest != 0; rest &= rest - 1)
        *next++ = first + static_cast<std::uint32_t>(std::countr_zero(rest));
    }
  }
  return positions;
}

}  // namespace octavo::base
