#include "octavo/codec/boxes.hpp"

#include <algorithm>
#include <cmath>

#include "octavo/codec/boxes/encode.hpp"
#include "octavo/codec/frequent.hpp"

namespace octavo::codec {

namespace {

/// A chunk to be encoded with a bound. Spans are of the same size.
template <class T>
struct BoxedChunk {
  std::span<const T> values;
  std::span<const double> given;          ///< the same
  std::span<const std::uint8_t> counted;  ///< 1: its error counts
};

template <class T>
std::vector<std::uint8_t> counted_of(const Context<T>& context, std::size_t count) {
  std::vector<std::uint8_t> counted(count, 1);
  for (std::size_t cell = 0; cell < context.counted.size(); ++cell)
    std::fill_n(counted.begin() + static_cast<std::ptrdiff_t>(cell * context.width), context.width,
                context.counted[cell]);
  return counted;
}

/// How far values must be moved, by sign, so that the errors of those that count cancel: absolute or in log2.
template <class T>
std::array<double, 2> needed_moves(const BoxedChunk<T>& chunk, std::span<const double> coded, BoundKind kind) {
  std::array<double, 2> given{}, found{}, count{};
  for (std::size_t i = 0; i < coded.size(); ++i) {
    const double x = chunk.given[i], y = coded[i];
    if (!is_known(y) || chunk.counted[i] == 0) continue;
    const std::size_t n = kind == BoundKind::pointwise_relative && y < 0 ? 1 : 0;
    // The mean of x may be large beside the errors, and absolute errors are summed for themselves.
    given[n] += kind == BoundKind::absolute ? x - y : x;
    found[n] += y;
    count[n] += 1;
  }
  std::array<double, 2> moves{};
  for (std::size_t n = 0; n < 2; ++n)
    if (count[n] > 0) moves[n] = kind == BoundKind::absolute ? given[n] / count[n] : log2_of(given[n] / found[n]);
  if (kind == BoundKind::absolute) moves[1] = moves[0];
  return moves;
}

/// The multiple of 2^-32 steps that is next to the move, as a phase.
double phase_of(double move, double step) {
  const double parts = std::floor(std::abs(move) / step * 0x1p32 + 0.5) * 0x1p-32;
  return move < 0 && parts > 0 ? 1.0 - parts : parts;
}

void set_phases(BoxHead& head, const std::array<double, 2>& moves, double step) {
  for (std::size_t n = 0; n < 2; ++n) head.lattice.phase[n] = phase_of(moves[n], step);
}

/// The errors of values that count, of one sign, as they are decoded: positive if magnitudes (absolute bound: values)
/// grow.
struct ErrorSum {
  double sum = 0, squares = 0;
  /// A quarter of a standard error, so that the sums of many chunks cannot add up to much.
  bool cancels() const { return std::abs(sum) <= 0.25 * std::sqrt(squares); }
};

/// Those of both signs if values are moved by the phases of the head's lattice. Rounding to float32 is in them.
template <class T>
std::array<ErrorSum, 2> error_sums(const BoxedChunk<T>& chunk, std::span<const double> coded, const BoxHead& head) {
  const Residuals<T> residuals(head);
  std::array<ErrorSum, 2> sums{};
  for (std::size_t i = 0; i < coded.size(); ++i) {
    const double y = coded[i];
    if (!is_known(y) || chunk.counted[i] == 0) continue;
    const double error = static_cast<double>(residuals.finish(y)) - chunk.given[i];
    ErrorSum& sum = sums[residuals.pointwise() && y < 0 ? 1 : 0];
    sum.sum += &sum == &sums[1] ? -error : error;
    sum.squares += error * error;
  }
  return sums;
}

/// Moves that make the errors of decoded values cancel, by bisection: decoded values grow with the move. Rounding to
/// float32 can take many values back to where they were. If no move in reach suffices, gives an estimate out of reach.
template <class T>
std::array<double, 2> refined_moves(const BoxedChunk<T>& chunk, std::span<const double> coded, double slack,
                                    BoxHead head, double step) {
  std::array<double, 2> lo{-slack, -slack}, hi{slack, slack}, moves{};
  std::array<ErrorSum, 2> sums{};
  for (int round = 0; round < 24; ++round) {
    for (std::size_t n = 0; n < 2; ++n) moves[n] = 0.5 * (lo[n] + hi[n]);
    if (head.bound.kind == BoundKind::absolute) moves[1] = moves[0];
    set_phases(head, moves, step);
    sums = error_sums(chunk, coded, head);
    if (sums[0].cancels() && sums[1].cancels()) return moves;
    for (std::size_t n = 0; n < 2; ++n) {
      if (sums[n].sum >= 0 || sums[n].cancels()) hi[n] = moves[n];
      if (sums[n].sum <= 0 || sums[n].cancels()) lo[n] = moves[n];
    }
  }
  for (std::size_t n = 0; n < 2; ++n)
    if (!sums[n].cancels()) moves[n] = 2 * slack;
  return moves;
}

/// The moves after which errors cancel; if none in reach does that, some that are out of reach.
template <class T>
std::array<double, 2> find_moves(const BoxedChunk<T>& chunk, const BoxEncoder<T>& encoder, BoxHead head, double step) {
  const auto moves = needed_moves(chunk, encoder.coded(), head.bound.kind);
  if (!(std::max(std::abs(moves[0]), std::abs(moves[1])) < encoder.slack())) return moves;
  set_phases(head, moves, step);
  const auto sums = error_sums(chunk, encoder.coded(), head);
  if (sums[0].cancels() && sums[1].cancels()) return moves;
  return refined_moves(chunk, encoder.coded(), encoder.slack(), head, step);
}

/// The decoded values; false if one of them breaks the bound.
template <class T>
bool decode_coded(const BoxedChunk<T>& chunk, std::span<const double> coded, const BoxHead& head,
                  std::span<T> decoded) {
  const Residuals<T> residuals(head);
  bool within = true;
  for (std::size_t i = 0; i < coded.size(); ++i) {
    const bool plain = is_known(coded[i]);
    decoded[i] = plain ? residuals.finish(coded[i]) : chunk.values[i];
    within = within && (!plain || residuals.within(chunk.given[i], static_cast<double>(decoded[i])));
  }
  return within;
}

/// Encodes with a bound. Steps are narrower than the bound allows by as much as values must move for errors to cancel.
template <class T>
bool encode_bounded(const BoxedChunk<T>& chunk, const BoxGrid& grid, std::size_t limit, BoxHead& head,
                    std::span<T> decoded, Bytes& blocks) {
  // In 2^-16 of the step: a 64th, and three quarters.
  constexpr unsigned usual = 1024, most = 49152;
  head.lattice.narrow = usual;
  for (int attempt = 0; attempt < 3; ++attempt) {
    blocks.clear();
    BoxEncoder<T> encoder(chunk.values, chunk.given, grid, head);
    if (!encoder.encode(limit, blocks)) return false;
    const double step = Residuals<T>(head).step;
    const auto moves = find_moves(chunk, encoder, head, step);
    const double largest = std::max(std::abs(moves[0]), std::abs(moves[1]));
    if (largest < encoder.slack()) {
      set_phases(head, moves, step);
      return decode_coded(chunk, encoder.coded(), head, decoded);
    }
    const double wanted = 1.5 * head.lattice.narrow * largest / encoder.slack() + usual;
    if (!std::isfinite(wanted)) return false;
    head.lattice.narrow = static_cast<unsigned>(std::min(wanted, double{most}));
  }
  return false;
}

/// Encodes with this head, whose weights are fitted first.
template <class T>
bool encode_with_head(const BoxedChunk<T>& chunk, const BoxGrid& grid, std::size_t limit, BoxHead& head,
                      std::span<T> decoded, Bytes& payload) {
  fit_weights(grid, state_of(chunk.given, grid, head), grid.boxes.at.size() >= 64 ? 4 : 1, head);
  Bytes blocks;
  if (head.bound.kind == BoundKind::lossless) {
    if (!BoxEncoder<T>(chunk.values, chunk.given, grid, head).encode(limit, blocks)) return false;
    std::copy(chunk.values.begin(), chunk.values.end(), decoded.begin());
  } else if (!encode_bounded(chunk, grid, limit, head, decoded, blocks)) {
    return false;
  }
  put_box_head(payload, head, scalar_of<T>);
  put_bytes(payload, blocks);
  return payload.size() < limit;
}

}  // namespace

template <class T>
bool encode_boxes(std::span<const T> values, const Context<T>& context, const Bound& bound, Effort effort,
                  std::size_t limit, std::span<T> decoded, Bytes& payload) {
  const bool lossless = bound.kind == BoundKind::lossless;
  const bool pointwise = bound.kind == BoundKind::pointwise_relative;
  if (!lossless && (bound.value < (pointwise ? 0x1p-39 : 0x1p-1000) || bound.value > 0x1p1000)) return false;
  std::vector<std::uint8_t> counted;
  if (!lossless) counted = counted_of(context, values.size());
  // A value that fills much of a chunk has to come back exactly: the grid has a cell for it.
  if (!lossless && !most_frequent(values, counted).empty()) return false;
  BoxGrid& grid = grid_of(context.boxes, values.size());
  const auto& shape = context.boxes.shape;
  const std::int64_t longest = grid.map.longest() * *std::max_element(shape.begin(), shape.end());
  BoxHead head;
  head.bound = bound;
  head.signs = pointwise && std::any_of(values.begin(), values.end(), [](T x) { return x < 0; });
  head.strides = static_cast<unsigned>(std::clamp(bit_length(static_cast<std::uint64_t>(longest - 1)), 1, 6));
  head.weight.resize(head.strides * weights_a_stride);
  grid.prepare(head.strides);
  const std::vector<double> given(values.begin(), values.end());
  const BoxedChunk<T> chunk{values, given, counted};
  // Where values fall steeply, errors grow in interpolated values and not in interpolated logarithms.
  bool tries_values = true, tries_logarithms = pointwise;
  if (pointwise && effort != Effort::max) {
    const double bits = estimate_bits(values, grid, head);
    head.logarithms = true;
    const double bits_of_logarithms = estimate_bits(values, grid, head);
    head.logarithms = false;
    tries_values = bits <= 1.05 * bits_of_logarithms;
    tries_logarithms = bits_of_logarithms <= 1.05 * bits;
  }
  const bool found = tries_values && encode_with_head(chunk, grid, limit, head, decoded, payload);
  // With parents we try logarithms only if plain values fitted, or were not tried.
  const bool lost = effort != Effort::max && tries_values && !found && !context.parents.empty();
  if (!tries_logarithms || lost) return found;
  head.logarithms = true;
  std::vector<T> of_logarithms(values.size());
  Bytes other;
  const std::size_t least = found ? payload.size() : limit;
  if (!encode_with_head(chunk, grid, least, head, std::span<T>(of_logarithms), other)) return found;
  payload = std::move(other);
  std::copy(of_logarithms.begin(), of_logarithms.end(), decoded.begin());
  return true;
}

template bool encode_boxes(std::span<const double>, const Context<double>&, const Bound&, Effort, std::size_t,
                           std::span<double>, Bytes&);
template bool encode_boxes(std::span<const float>, const Context<float>&, const Bound&, Effort, std::size_t,
                           std::span<float>, Bytes&);

}  // namespace octavo::codec
