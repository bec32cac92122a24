#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "octavo/base/bit_array.hpp"

/// Turns numbers and bits into bytes and back, on spans (docs/codecs.md).
/// It may touch the spans that it is given, and base.
/// It never knows a mesh, a file or MPI: every function is pure, safe on any thread, and gives the same bytes on any
/// machine.
namespace octavo::codec {

/// How far a decoded value x' may be from the value x that was given.
enum class BoundKind : std::uint8_t {
  lossless = 0,            ///< the same bits, NaN payloads and -0.0 included
  absolute = 1,            ///< |x - x'| <= bound
  pointwise_relative = 2,  ///< |x - x'| <= bound * |x|; zeros and signs stay
};
struct Bound {
  BoundKind kind = BoundKind::lossless;
  double value = 0;
  bool operator==(const Bound&) const = default;
};

enum class Effort : std::uint8_t {
  fast,    ///< hardly anything is tried: for outputs that must not take long
  normal,  ///< called "default", which is a word of C++
  max,     ///< slow searches allowed
};

/// Named methods. `automatic` chooses by trial on sizes, never on speed.
enum class Method : std::uint8_t { automatic, raw, zstd, tree, delta, pcp };

struct Settings {
  Bound bound;
  Effort effort = Effort::normal;
  Method method = Method::automatic;
  bool operator==(const Settings&) const = default;
};

/// Whether an encoder with these settings looks at boxes and sides. If not, they need not be found.
inline bool looks_around(const Settings& settings) { return settings.effort != Effort::fast; }

/// Values at the points of a mesh, layer after layer, the same points in each: from which ones that come before a value
/// can be expected. Points are places in a layer, from 0. Both have one entry a point; empty: nothing is known.
struct Neighbours {
  std::span<const std::uint32_t> order;  ///< points in the order of visit, each once
  /// For each visit three points a, b, c that were visited before, so that the value is about a + b - c; if fewer
  /// are known, a three times. The entry of the first visit is not used.
  std::span<const std::array<std::uint32_t, 3>> near;
};

/// Boxes of values on a regular grid, such as the blocks of a level or its families of cells: which values stand beside
/// which. Box b holds the values [b * cells, (b + 1) * cells) * components, x fastest, the components of a cell
/// together.
struct Boxes {
  std::array<std::uint32_t, 3> shape{1, 1, 1};         ///< cells of a box along each axis
  std::span<const std::array<std::uint32_t, 3>> at{};  ///< position of each box, in boxes, all distinct; empty: unknown
};

/// The neighbours of a family of cells and of its parent along x, y, z. Along unused axes they are the parent and the
/// family themselves.
struct Sides {
  /// The cell of the level above at the parent's face that points out of the parent's own family; the parent itself
  /// where there is none.
  std::array<std::uint32_t, 3> outer;
  std::array<std::uint32_t, 3> upper;  ///< the family at the upper face; this one where there is none
};

/// Where the values of one tree level stand: value j of cell i is `values[i * width + j]`; the cells
/// [f * family, (f + 1) * family) are the children of cell `parents[f]` of the level above, whose *decoded* values are
/// `coarse` (same width). Level 0, particles and plain arrays have no parents: leave all empty.
template <class T>
struct Context {
  std::span<const T> coarse;
  std::span<const std::uint32_t> parents;
  std::size_t family = 1;
  std::size_t width = 1;
  Neighbours neighbours{};  ///< of values without parents; a whole number of layers
  /// For encoders: 1 for each cell whose errors shall cancel (the leaves, for their integral), 0 for others. Empty:
  /// all.
  std::span<const std::uint8_t> counted{};
  Boxes boxes{};  ///< beside parents or without them
  /// One a cell, beside parents: another field by which values of parents may be means of their children's, such as a
  /// density of velocities. Decoders need the same bits as the encoder had. Empty: none.
  std::span<const T> weights{};
  std::span<const Sides> sides{};  ///< one a family, beside parents; empty: unknown
};

/// Appends one self-describing chunk holding `values` to `out`, and stores in `decoded` (same size) what decoding will
/// give: bit for bit `values` where lossless. Every value of a lossy chunk has been decoded and compared; NaN,
/// infinities, zeros of either sign and whatever would break the bound are stored exactly. Throws Error(usage) for a
/// bound that is not finite and positive.
void encode(std::span<const double> values, const Context<double>& context, const Settings& settings,
            std::span<double> decoded, std::vector<std::byte>& out);
void encode(std::span<const float> values, const Context<float>& context, const Settings& settings,
            std::span<float> decoded, std::vector<std::byte>& out);

/// Decodes the chunk at the front of `in` and returns the bytes it took. `out` has the size that was encoded.
/// Throws Error(corrupt), at a byte of the chunk, for anything that is not a chunk of that many values.
std::size_t decode(std::span<const std::byte> in, const Context<double>& context, std::span<double> out);
std::size_t decode(std::span<const std::byte> in, const Context<float>& context, std::span<float> out);

/// Whether the chunk at the front of `in` was predicted from neighbours, so that its context must have them. False for
/// bytes that are no chunk.
bool needs_neighbours(std::span<const std::byte> in);
/// The same for boxes.
bool needs_boxes(std::span<const std::byte> in);
/// The same for weights.
bool needs_weights(std::span<const std::byte> in);
/// The same for sides.
bool needs_sides(std::span<const std::byte> in);

/// The same for integers of 1, 2, 4 or 8 bytes (`width`): lossless, for particle attributes and masks.
void encode_integers(std::span<const std::byte> values, std::size_t width, Effort effort, std::vector<std::byte>& out);
std::size_t decode_integers(std::span<const std::byte> in, std::size_t width, std::span<std::byte> out);

/// The head before `count` raw values of `size` bytes. Head and values, little-endian, are a chunk for decode() or
/// decode_integers().
std::vector<std::byte> raw_head(bool integers, std::size_t size, std::size_t count);

/// A stretch of a chunk whose values the caller has: these bytes, and behind them this many bytes of values.
struct ChunkPiece {
  std::vector<std::byte> head;
  std::size_t bytes = 0;
};
/// Values [first, last) of an array.
struct Range {
  std::size_t first = 0, last = 0;
};

/// A chunk of `count` values of `size` bytes whose bits are all zero except in the ranges `held`, which ascend: the
/// values of the ranges, one after another and little-endian, cut up among the pieces. It is one that decode() reads,
/// or decode_integers(), as if zstd had made it: a frame (RFC 8878) of raw blocks and, for zeros, RLE blocks, 4 bytes
/// for 128 KiB.
std::vector<ChunkPiece> sparse_chunk(bool integers, std::size_t size, std::size_t count, std::span<const Range> held);

/// The bits of a mesh: family-aligned bytes + zstd for `family` 8, 4 and 2. `out.size()` of decode says how many.
void encode_bits(const base::BitArray& bits, Effort effort, std::vector<std::byte>& out);
std::size_t decode_bits(std::span<const std::byte> in, base::BitArray& out);

/// The description of a chunk, for tables: "tree/2 point:0.002", "zstd", "raw" ... Throws as decode does.
struct ChunkInfo {
  std::string name;  ///< codec id by name
  Bound bound;
  std::size_t bytes = 0;  ///< of the chunk, header included
  std::size_t values = 0;
};
ChunkInfo inspect(std::span<const std::byte> in);

}  // namespace octavo::codec
