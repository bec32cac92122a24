#include "octavo/base/bit_array.hpp"

#include <limits>
#include <stdexcept>

namespace octavo::base {

std::vector<std::uint32_t> set_positions(const BitArray& bits) {
  if (bits.size() > std::numeric_limits<std::uint32_t>::max()) throw std::length_error("bit array longer than 2^32");
  std::vector<std::uint32_t> positions;
  positions.reserve(bits.count());
  bits.for_each_set([&](std::size_t i) { positions.push_back(static_cast<std::uint32_t>(i)); });
  return positions;
}

}  // namespace octavo::base
