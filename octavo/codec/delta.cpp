#include <algorithm>
#include <bit>

#include "octavo/codec/bit_stream.hpp"
#include "octavo/codec/flat.hpp"

namespace octavo::codec {

namespace {

constexpr std::size_t group_size = 8;

template <class T>
using Bits = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;

}  // namespace

template <class T>
void encode_delta(std::span<const T> values, Bytes& payload) {
  BitWriter bits(payload);
  Bits<T> before = 0;
  for (std::size_t i = 0; i < values.size(); i += group_size) {
    const std::size_t n = std::min(group_size, values.size() - i);
    Bits<T> residual[group_size], all = 0;
    for (std::size_t k = 0; k < n; ++k) {
      const auto now = std::bit_cast<Bits<T>>(values[i + k]);
      residual[k] = now ^ before;
      all |= residual[k];
      before = now;
    }
    const auto length = static_cast<unsigned>(bit_length(all));
    bits.put(length, 7);
    for (std::size_t k = 0; k < n; ++k) bits.put(residual[k], length);
  }
  bits.finish();
}

template <class T>
void decode_delta(Reader& in, std::span<T> out) {
  BitReader bits(in);
  Bits<T> before = 0;
  for (std::size_t i = 0; i < out.size(); i += group_size) {
    const auto length = static_cast<unsigned>(bits.get(7));
    if (length > 8 * sizeof(T)) in.fail("a residual is longer than its value");
    for (std::size_t k = i; k < std::min(i + group_size, out.size()); ++k) {
      before ^= static_cast<Bits<T>>(bits.get(length));
      out[k] = std::bit_cast<T>(before);
    }
  }
}

template void encode_delta(std::span<const double>, Bytes&);
template void encode_delta(std::span<const float>, Bytes&);
template void decode_delta(Reader&, std::span<double>);
template void decode_delta(Reader&, std::span<float>);

}  // namespace octavo::codec
