// Any bytes into every decoder of octavo/codec. The first bytes choose the decoder, how many values are asked for and
// where they stand; the rest is the chunk, or (high bit of the first) edits of a sound chunk, three bytes each.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "octavo/base/error.hpp"
#include "octavo/codec/codec.hpp"

namespace {

using namespace octavo;

struct Shape {
  std::size_t families, family, width;
  std::size_t count() const { return families * family * width; }
};

using Chunk = std::vector<std::byte>;

void edit(Chunk& chunk, std::span<const std::uint8_t> edits) {
  for (; edits.size() >= 3 && !chunk.empty(); edits = edits.subspan(3))
    chunk[(edits[0] + 256u * edits[1]) % chunk.size()] ^= static_cast<std::byte>(edits[2]);
}

struct Input {
  unsigned what;
  bool sound;  ///< a sound chunk, edited
  Shape shape;
  std::span<const std::uint8_t> rest;
};

Chunk as_chunk(std::span<const std::uint8_t> rest) {
  const auto bytes = std::as_bytes(rest);
  return Chunk(bytes.begin(), bytes.end());
}

codec::Settings settings_for(unsigned choice) {
  codec::Settings settings;
  if (choice == 0) settings.bound = {codec::BoundKind::pointwise_relative, 1e-3};
  if (choice == 1) settings.bound = {codec::BoundKind::absolute, 1e-3};
  if (choice == 7) settings.bound = {codec::BoundKind::pointwise_relative, 0.1};
  if (choice == 8) settings.bound = {codec::BoundKind::absolute, 0.1};
  settings.method = choice < 3   ? codec::Method::tree
                    : choice < 7 ? static_cast<codec::Method>(choice - 1)
                                 : codec::Method::automatic;
  return settings;
}

template <class T>
void decode_values(const Input& input, bool tree) {
  const Shape& shape = input.shape;
  std::vector<T> coarse(2 * shape.families * shape.width), values(shape.count());
  std::vector<std::uint32_t> parents(shape.families);
  for (std::size_t i = 0; i < coarse.size(); ++i)
    coarse[i] = static_cast<T>(i % 7) * static_cast<T>(i % 2 == 0 ? 0.75 : -0.5);
  for (std::size_t f = 0; f < parents.size(); ++f) parents[f] = static_cast<std::uint32_t>(2 * f + f % 2);
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<T>(1 + i % 5) * static_cast<T>(0.001) +
                coarse[i / (shape.family * shape.width) * 2 % coarse.size()];
  codec::Context<T> context;
  std::vector<std::uint32_t> order(parents.size());
  std::vector<std::array<std::uint32_t, 3>> near(parents.size());
  for (std::uint32_t k = 0; k < order.size(); ++k) {
    order[k] = k;
    near[k] = {k - std::min(k, 1u), k - std::min(k, 3u), k - std::min(k, 4u)};
  }
  if (!tree && shape.width < 3) context.neighbours = {order, near};
  if (tree) context = {coarse, parents, shape.family, shape.width};
  std::vector<T> weights(shape.families * shape.family);
  for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = static_cast<T>(i % 11) - static_cast<T>(i % 97 == 0);
  if (tree && shape.families % 2 == 1) context.weights = weights;
  std::vector<codec::Sides> sides(shape.families);
  const auto cells = static_cast<std::uint32_t>(coarse.size() / shape.width);
  const auto families = static_cast<std::uint32_t>(shape.families);
  for (std::uint32_t f = 0; f < families; ++f)
    sides[f] = {{parents[f], (parents[f] + 2) % cells, 5 * f % cells}, {f, (f + 1) % families, 3 * f % families}};
  if (tree && shape.families % 3 != 0) context.sides = sides;
  std::vector<std::array<std::uint32_t, 3>> at(shape.families);
  for (std::uint32_t b = 0; b < at.size(); ++b) at[b] = {b % 4, b / 4 % 4 * (1 + b % 2), b / 16};
  context.boxes = {{static_cast<std::uint32_t>(shape.family), 1, 1}, at};
  if (shape.family == 8) context.boxes.shape = {2, 2, 2};
  Chunk chunk;
  if (input.sound) {
    std::vector<T> decoded(values.size());
    codec::encode(std::span<const T>(values), context, settings_for(input.what / 4 % 9), std::span<T>(decoded), chunk);
    edit(chunk, input.rest);
  } else {
    chunk = as_chunk(input.rest);
  }
  codec::decode(chunk, context, std::span<T>(values));
}

void decode_mask(const Input& input) {
  base::BitArray bits(input.shape.count());
  for (std::size_t i = 0; i < bits.size(); ++i) bits.set(i, i * i % 7 < 2);
  Chunk chunk = as_chunk(input.rest);
  if (input.sound) {
    chunk.clear();
    codec::encode_bits(bits, codec::Effort::normal, chunk);
    edit(chunk, input.rest);
  }
  codec::decode_bits(chunk, bits);
}

void decode_numbers(const Input& input) {
  const std::size_t width = std::size_t{1} << (input.what / 8 % 4);
  std::vector<std::byte> values(width * input.shape.count());
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::byte>(i % width == 0 ? i * i : 0);
  Chunk chunk = as_chunk(input.rest);
  if (input.sound) {
    chunk.clear();
    codec::encode_integers(values, width, codec::Effort::normal, chunk);
    edit(chunk, input.rest);
  }
  codec::decode_integers(chunk, width, values);
}

void decode_any(const Input& input) {
  switch (input.what % 4) {
    case 0: return decode_values<double>(input, true);
    case 1: return decode_values<float>(input, (input.what & 64) == 0);
    case 2: return (input.what & 4) != 0 ? decode_numbers(input) : decode_mask(input);
    default: codec::inspect(as_chunk(input.rest));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 4) return 0;
  const std::array<std::size_t, 5> families{1, 2, 4, 8, 27};
  const Shape shape{1 + data[1] % 64u, families[data[2] % families.size()], 1 + data[3] % 3u};
  try {
    decode_any({data[0] & 127u, data[0] >= 128, shape, {data + 4, size - 4}});
  } catch (const base::Error&) {
  }
  return 0;
}
