#include "octavo/codec/flat.hpp"

#include <algorithm>
#include <bit>

#include "octavo/codec/bit_stream.hpp"
#include "octavo/codec/grids.hpp"

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

namespace {

constexpr std::size_t group_size = 8;

}  // namespace

template <class T>
std::vector<Number<T>> differences_of(std::span<const T> values) {
  std::vector<Number<T>> differences(values.size());
  Number<T> before = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto index = static_cast<Number<T>>(ExactGrid<T>::index_of(values[i]));
    const auto difference = static_cast<std::make_signed_t<Number<T>>>(static_cast<Number<T>>(index - before));
    differences[i] = static_cast<Number<T>>(zigzag(difference));
    before = index;
  }
  return differences;
}

template <class T>
void decode_differences(ChunkReader& in, std::span<T> out) {
  const unsigned form = in.byte();
  if (form > 1) in.fail("expected differences as numbers (0) or as planes (1), found " + std::to_string(form));
  Bytes bytes(out.size_bytes());
  zstd_decompress(in.take(in.left()), bytes, in);
  if (form == 1) {
    const Bytes planes = bytes;
    join_planes(planes, sizeof(T), bytes);
  }
  Number<T> index = 0;
  for (std::size_t i = 0; i < out.size(); ++i) {
    index += static_cast<Number<T>>(unzigzag(base::load<Number<T>>(bytes.data() + i * sizeof(T))));
    out[i] = ExactGrid<T>::value_of(static_cast<std::make_signed_t<Number<T>>>(index));
  }
}

template std::vector<std::uint64_t> differences_of(std::span<const double>);
template std::vector<std::uint32_t> differences_of(std::span<const float>);
template void decode_differences(ChunkReader&, std::span<double>);
template void decode_differences(ChunkReader&, std::span<float>);

template <class T>
void encode_delta(std::span<const T> values, Bytes& payload) {
  BitWriter bits(payload);
  Number<T> before = 0;
  for (std::size_t i = 0; i < values.size(); i += group_size) {
    const std::size_t n = std::min(group_size, values.size() - i);
    Number<T> residual[group_size], all = 0;
    for (std::size_t k = 0; k < n; ++k) {
      const auto now = std::bit_cast<Number<T>>(values[i + k]);
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
void decode_delta(ChunkReader& in, std::span<T> out) {
  BitReader bits(in);
  Number<T> before = 0;
  for (std::size_t i = 0; i < out.size(); i += group_size) {
    const auto length = static_cast<unsigned>(bits.get(7));
    if (length > 8 * sizeof(T)) in.fail("a residual is longer than its value");
    for (std::size_t k = i; k < std::min(i + group_size, out.size()); ++k) {
      before ^= static_cast<Number<T>>(bits.get(length));
      out[k] = std::bit_cast<T>(before);
    }
  }
}

template void encode_delta(std::span<const double>, Bytes&);
template void encode_delta(std::span<const float>, Bytes&);
template void decode_delta(ChunkReader&, std::span<double>);
template void decode_delta(ChunkReader&, std::span<float>);

namespace {

/// Calls f(parent's bits, first index, stride, members) for each family at each place; without parents, values come in
/// groups of eight under a parent of zero bits.
template <class T, class F>
void for_each_family(const Context<T>& context, std::size_t count, F&& f) {
  if (context.parents.empty()) {
    for (std::size_t i = 0; i < count; i += 8) f(Number<T>{0}, i, std::size_t{1}, std::min<std::size_t>(8, count - i));
    return;
  }
  const std::size_t m = context.family, w = context.width;
  for (std::size_t family = 0; family < context.parents.size(); ++family)
    for (std::size_t j = 0; j < w; ++j)
      f(std::bit_cast<Number<T>>(context.coarse[context.parents[family] * w + j]), family * m * w + j, w, m);
}

}  // namespace

template <class T>
void encode_pcp(std::span<const T> values, const Context<T>& context, Bytes& payload) {
  BitWriter bits(payload);
  for_each_family(context, values.size(), [&](Number<T> parent, std::size_t first, std::size_t stride, std::size_t m) {
    Number<T> all = 0;
    for (std::size_t k = 0; k < m; ++k) all |= std::bit_cast<Number<T>>(values[first + k * stride]) ^ parent;
    const auto zeros = static_cast<unsigned>(std::min(std::countl_zero(all), 15));
    bits.put(zeros, 4);
    for (std::size_t k = 0; k < m; ++k)
      bits.put(std::bit_cast<Number<T>>(values[first + k * stride]) ^ parent, 8 * sizeof(T) - zeros);
  });
  bits.finish();
}

template <class T>
void decode_pcp(ChunkReader& in, const Context<T>& context, std::span<T> out) {
  BitReader bits(in);
  for_each_family(context, out.size(), [&](Number<T> parent, std::size_t first, std::size_t stride, std::size_t m) {
    const auto length = static_cast<unsigned>(8 * sizeof(T) - bits.get(4));
    for (std::size_t k = 0; k < m; ++k)
      out[first + k * stride] =
          std::bit_cast<T>(static_cast<Number<T>>(parent ^ static_cast<Number<T>>(bits.get(length))));
  });
}

template void encode_pcp(std::span<const double>, const Context<double>&, Bytes&);
template void encode_pcp(std::span<const float>, const Context<float>&, Bytes&);
template void decode_pcp(ChunkReader&, const Context<double>&, std::span<double>);
template void decode_pcp(ChunkReader&, const Context<float>&, std::span<float>);

}  // namespace octavo::codec
