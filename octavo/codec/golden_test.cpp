// Chunks that were written once and must be read for ever: tests/golden/codec. With OCTAVO_CODEC_SAMPLES=DIR the same
// cases are written to DIR as this build encodes them, for the independent reader (tests/reader/test_codecs.py).
//
// Samples are two files. samples.txt has a line for each: name, scalar, family, width, count of values, coarse values
// and parents, bytes of the chunk; with boxes, weights or sides also their shape and how many; then weights; then
// sides. samples.bin has, for each in turn, the chunk, the values that it decodes to, the coarse values, the parents,
// the boxes' positions (uint32), the weights and the sides (6 uint32: outer, upper), little-endian. Bits have a byte
// each.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>

#include "octavo/codec/codec.hpp"
#include "octavo/codec/test_values.hpp"

namespace octavo::codec {
namespace {

namespace fs = std::filesystem;

/// tests/golden/codec, found from this file so that tests run from any folder.
fs::path golden_folder() {
  return fs::path(__FILE__).parent_path().parent_path().parent_path() / "tests" / "golden" / "codec";
}

struct Sample {
  std::string name, scalar;
  std::size_t family = 1, width = 1, count = 0, coarse = 0, parents = 0, chunk = 0;
  std::array<std::uint32_t, 3> shape{1, 1, 1};
  std::size_t boxes = 0, weights = 0, sides = 0;
};

class Writer {
 public:
  explicit Writer(const fs::path& folder)
      : list_(folder / "samples.txt"), bytes_(folder / "samples.bin", std::ios::binary) {}
  template <class T, class U>
  void add(Sample s, const std::vector<std::byte>& chunk, const std::vector<T>& values, const std::vector<U>& coarse,
           const std::vector<std::uint32_t>& parents, const std::vector<std::array<std::uint32_t, 3>>& at = {},
           const std::vector<T>& weights = {}, const std::vector<Sides>& sides = {}) {
    list_ << s.name << ' ' << s.scalar << ' ' << s.family << ' ' << s.width << ' ' << s.count << ' ' << coarse.size()
          << ' ' << parents.size() << ' ' << chunk.size();
    if (!at.empty() || !weights.empty() || !sides.empty())
      list_ << ' ' << s.shape[0] << ' ' << s.shape[1] << ' ' << s.shape[2] << ' ' << at.size();
    if (!weights.empty() || !sides.empty()) list_ << ' ' << weights.size();
    if (!sides.empty()) list_ << ' ' << sides.size();
    list_ << '\n';
    put(chunk);
    put(values);
    put(coarse);
    put(parents);
    put(at);
    put(weights);
    put(sides);
  }
  bool good() const { return list_.good() && bytes_.good(); }

 private:
  template <class T>
  void put(const std::vector<T>& values) {
    bytes_.write(reinterpret_cast<const char*>(values.data()), static_cast<std::streamsize>(values.size() * sizeof(T)));
  }
  std::ofstream list_, bytes_;
};

template <class T>
std::vector<T> read(std::ifstream& in, std::size_t count) {
  std::vector<T> values(count);
  in.read(reinterpret_cast<char*>(values.data()), static_cast<std::streamsize>(values.size() * sizeof(T)));
  EXPECT_TRUE(in.good());
  return values;
}

std::string tidy(std::string name) {
  for (char& c : name)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  return name;
}

template <class T>
void write_floats(Writer& writer) {
  const std::pair<const char*, Settings> ways[] = {
      {"lossless", {}},
      {"max", {{}, Effort::max, Method::automatic}},
      {"fast", {{}, Effort::fast, Method::automatic}},
      {"fast_point", {{BoundKind::pointwise_relative, 2e-3}, Effort::fast, Method::tree}},
      {"fast_abs", {{BoundKind::absolute, 1e-4}, Effort::fast, Method::tree}},
      {"tree", {{}, Effort::normal, Method::tree}},
      {"zstd", {{}, Effort::normal, Method::zstd}},
      {"delta", {{}, Effort::normal, Method::delta}},
      {"pcp", {{}, Effort::normal, Method::pcp}},
      {"point", {{BoundKind::pointwise_relative, 2e-3}, Effort::normal, Method::tree}},
      {"wide", {{BoundKind::pointwise_relative, 0.4}, Effort::normal, Method::tree}},
      {"abs", {{BoundKind::absolute, 1e-4}, Effort::normal, Method::tree}},
      {"automatic_point", {{BoundKind::pointwise_relative, 2e-3}, Effort::normal, Method::automatic}},
      {"automatic_abs", {{BoundKind::absolute, 1e-4}, Effort::normal, Method::automatic}},
  };
  const std::string scalar = sizeof(T) == 8 ? "float64" : "float32";
  for (const auto& c : testing::cases<T>(0.1))
    for (const auto& [way, settings] : ways) {
      // Boxes are chosen by trial alone.
      if (c.at.empty() ? std::string(way).starts_with("automatic") : settings.method != Method::automatic) continue;
      const std::string name = scalar + "_" + tidy(c.name) + "_" + way;
      std::vector<T> decoded(c.values.size());
      std::vector<std::byte> chunk;
      encode(std::span<const T>(c.values), c.context(), settings, std::span<T>(decoded), chunk);
      Sample sample{name, scalar, c.family, c.width, decoded.size()};
      sample.shape = c.shape;
      writer.add(sample, chunk, decoded, c.coarse, c.parents, c.at);
    }
}

/// Children of whose parents the values are means by weights, in lanes and apart; the second time with a lost weight.
template <class T>
void write_weighted(Writer& writer) {
  const std::string scalar = sizeof(T) == 8 ? "float64" : "float32";
  for (const std::size_t family : {2u, 8u})
    for (const bool lost : {false, true}) {
      testing::Weighted<T> c = testing::weighted_case<T>(37, family, 1, 5);
      if (lost) c.weights[family * 3 + 1] = std::numeric_limits<T>::quiet_NaN();
      std::vector<T> decoded(c.values.size());
      std::vector<std::byte> chunk;
      encode(std::span<const T>(c.values), c.context(), {}, std::span<T>(decoded), chunk);
      EXPECT_TRUE(needs_weights(chunk));
      writer.add(
          {scalar + "_weighted_" + std::to_string(family) + (lost ? "_lost" : ""), scalar, family, 1, decoded.size()},
          chunk, decoded, c.coarse, c.parents, {}, c.weights);
    }
}

/// Children that follow from both sides: in lanes of which some are left over, with special values, with weights.
template <class T>
void write_by_sides(Writer& writer) {
  const std::pair<const char*, Settings> ways[] = {
      {"lossless", {{}, Effort::normal, Method::tree}},
      {"point", {{BoundKind::pointwise_relative, 2e-3}, Effort::normal, Method::tree}},
      {"abs", {{BoundKind::absolute, 1e-4}, Effort::normal, Method::tree}},
  };
  const std::string scalar = sizeof(T) == 8 ? "float64" : "float32";
  for (const std::uint32_t dim : {1u, 2u, 3u})
    for (const auto& [way, settings] : ways) {
      const bool lossless = settings.bound.kind == BoundKind::lossless;
      if (lossless && dim != 2) continue;  // not worth it there
      testing::Surrounded<T> c = testing::surrounded_case<T>(dim == 1   ? 90
                                                             : dim == 2 ? 9
                                                                        : 3,
                                                             dim, dim == 2 ? 2 : 1, 1e-5, dim);
      const bool weighted = dim == 3 && settings.bound.kind == BoundKind::absolute;
      if (weighted) testing::weigh(c);
      if (dim == 3) c.values[77] = c.values[151] = std::numeric_limits<T>::quiet_NaN();
      std::vector<T> decoded(c.values.size());
      std::vector<std::byte> chunk;
      encode(std::span<const T>(c.values), c.context(), settings, std::span<T>(decoded), chunk);
      EXPECT_TRUE(needs_sides(chunk)) << dim << way;
      EXPECT_EQ(needs_weights(chunk), weighted);
      writer.add({scalar + "_sides_" + std::to_string(dim) + "_" + way, scalar, c.family, c.width, decoded.size()},
                 chunk, decoded, c.coarse, c.parents, {}, c.weights, c.sides);
    }
}

/// Blocks of so many symbols that eight states code them.
void write_large(Writer& writer) {
  testing::Case<float> c = testing::tree_case<float>("3-D", 1700, 8, 1, 0, 1e-3, 21);
  ASSERT_GT(c.values.size(), 8192u);
  for (const std::size_t i : {100u, 101u, 5000u})
    c.values[i] = i == 101 ? -0.0F : std::numeric_limits<float>::quiet_NaN();
  const std::pair<const char*, Settings> ways[] = {
      {"lossless", {}},
      {"fast", {{}, Effort::fast, Method::automatic}},
      {"point", {{BoundKind::pointwise_relative, 2e-3}, Effort::normal, Method::tree}},
      {"abs", {{BoundKind::absolute, 1e-2}, Effort::normal, Method::tree}},
  };
  for (const auto& [way, settings] : ways) {
    std::vector<float> decoded(c.values.size());
    std::vector<std::byte> chunk;
    encode(std::span<const float>(c.values), c.context(), settings, std::span<float>(decoded), chunk);
    writer.add({std::string("float32_large_") + way, "float32", c.family, c.width, decoded.size()}, chunk, decoded,
               c.coarse, c.parents);
  }
}

void write_others(Writer& writer) {
  const auto finish = [&](const std::string& name, const std::string& scalar, std::size_t count,
                          const std::vector<std::byte>& chunk, const std::vector<std::byte>& values) {
    writer.add({name, scalar, 1, 1, count}, chunk, values, std::vector<std::byte>(), {});
  };
  for (std::size_t width : {1u, 2u, 4u, 8u})
    for (unsigned step : {0u, 1u, 77777u}) {
      std::vector<std::byte> values(width * 500), chunk;
      for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = static_cast<std::byte>((i / width) * step * (step > 1 ? i : 1) >> (8 * (i % width)));
      encode_integers(values, width, Effort::normal, chunk);
      finish("bytes" + std::to_string(width) + "_" + std::to_string(step), "bytes" + std::to_string(width), 500, chunk,
             values);
    }
  std::vector<std::byte> many(2 * 9003), many_chunk;
  for (std::size_t i = 0; i < many.size(); ++i)
    many[i] = static_cast<std::byte>((i / 2 * 5 + (i / 2) * (i / 2) % 7) >> (8 * (i % 2)));
  encode_integers(many, 2, Effort::normal, many_chunk);
  finish("bytes2_large", "bytes2", 9003, many_chunk, many);
  for (std::size_t period : {1u, 3u, 40u, 1000u, 100000u}) {
    base::BitArray bits(5003);
    std::vector<std::byte> values(bits.size()), chunk;
    for (std::size_t i = 0; i < bits.size(); ++i) {
      bits.set(i, (i * i / 64) % period == 0 && period < 100000);
      values[i] = static_cast<std::byte>(bits[i] ? 1 : 0);
    }
    encode_bits(bits, Effort::normal, chunk);
    finish("bits_" + std::to_string(period), "bits", bits.size(), chunk, values);
  }
}

template <class T>
void check_floats(std::ifstream& in, const Sample& s) {
  const auto chunk = read<std::byte>(in, s.chunk);
  const auto expected = read<T>(in, s.count);
  const auto coarse = read<T>(in, s.coarse);
  const auto parents = read<std::uint32_t>(in, s.parents);
  std::vector<T> values(s.count);
  const auto at = read<std::array<std::uint32_t, 3>>(in, s.boxes);
  const auto weights = read<T>(in, s.weights);
  const auto sides = read<Sides>(in, s.sides);
  const Context<T> context{coarse, parents, s.family, s.width, {}, {}, {s.shape, at}, weights, sides};
  EXPECT_EQ(decode(chunk, context, std::span<T>(values)), chunk.size());
  for (std::size_t i = 0; i < values.size(); ++i) ASSERT_TRUE(testing::same_bits(values[i], expected[i])) << i;
}

void check_bits(std::ifstream& in, const Sample& s) {
  const auto chunk = read<std::byte>(in, s.chunk);
  const auto expected = read<std::byte>(in, s.count);
  base::BitArray bits(s.count);
  EXPECT_EQ(decode_bits(chunk, bits), chunk.size());
  for (std::size_t i = 0; i < s.count; ++i) ASSERT_EQ(bits[i], expected[i] != std::byte{0});
}

void check_integers(std::ifstream& in, const Sample& s, std::size_t width) {
  const auto chunk = read<std::byte>(in, s.chunk);
  const auto expected = read<std::byte>(in, s.count * width);
  std::vector<std::byte> values(expected.size());
  EXPECT_EQ(decode_integers(chunk, width, values), chunk.size());
  EXPECT_EQ(values, expected);
}

TEST(Golden, chunks_of_every_version_are_read) {
  std::size_t count = 0;
  std::ifstream list(golden_folder() / "samples.txt"), in(golden_folder() / "samples.bin", std::ios::binary);
  ASSERT_TRUE(list.good() && in.good()) << "no samples in " << golden_folder();
  for (std::string line; std::getline(list, line); ++count) {
    SCOPED_TRACE(line);
    Sample s;
    std::istringstream(line) >> s.name >> s.scalar >> s.family >> s.width >> s.count >> s.coarse >> s.parents >>
        s.chunk >> s.shape[0] >> s.shape[1] >> s.shape[2] >> s.boxes >> s.weights >> s.sides;
    if (s.boxes == 0) s.shape = {1, 1, 1};
    if (s.scalar == "float64")
      check_floats<double>(in, s);
    else if (s.scalar == "float32")
      check_floats<float>(in, s);
    else if (s.scalar == "bits")
      check_bits(in, s);
    else
      check_integers(in, s, static_cast<std::size_t>(s.scalar.back() - '0'));
  }
  EXPECT_GT(count, 100u);
}

TEST(Golden, samples_are_written_for_the_independent_reader) {
  const char* const folder = std::getenv("OCTAVO_CODEC_SAMPLES");
  if (folder == nullptr) GTEST_SKIP() << "OCTAVO_CODEC_SAMPLES names no folder";
  fs::create_directories(folder);
  Writer writer(folder);
  write_floats<double>(writer);
  write_floats<float>(writer);
  write_weighted<double>(writer);
  write_weighted<float>(writer);
  write_by_sides<double>(writer);
  write_by_sides<float>(writer);
  write_large(writer);
  write_others(writer);
  EXPECT_TRUE(writer.good());
}

}  // namespace
}  // namespace octavo::codec
