#include "octavo/engine/targets/series_share.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "octavo/base/byte_order.hpp"

namespace octavo::engine {
namespace {

namespace serafin = formats::serafin;

/// Bytes and their place in the file.
struct FileBytes {
  std::uint64_t at = 0;
  std::span<const std::byte> bytes;
};

std::array<std::byte, 4> word(const serafin::SerafinHeader& header, std::uint64_t value) {
  std::array<std::byte, 4> bytes;
  base::store(bytes.data(), static_cast<std::uint32_t>(value), header.order);
  return bytes;
}

std::uint64_t record_bytes(const serafin::SerafinHeader& header) {
  return header.real_bytes * static_cast<std::uint64_t>(header.points);
}

void add_real(const serafin::SerafinHeader& header, double value, std::vector<std::byte>& to) {
  to.resize(to.size() + header.real_bytes);
  std::byte* at = to.data() + to.size() - header.real_bytes;
  if (header.real_bytes == 8)
    base::store(at, value, header.order);
  else
    base::store(at, static_cast<float>(value), header.order);
}

/// The bytes before a step's first values: its time, and the length of the first variable.
std::vector<std::byte> opening(const serafin::SerafinHeader& header, double time) {
  std::vector<std::byte> bytes;
  const auto add = [&](std::uint64_t value) {
    const auto length = word(header, value);
    bytes.insert(bytes.end(), length.begin(), length.end());
  };
  add(header.real_bytes);
  add_real(header, time, bytes);
  add(header.real_bytes);
  add(record_bytes(header));
  return bytes;
}

/// The bytes after a variable's values: its length, and the next variable's.
std::vector<std::byte> closing(const serafin::SerafinHeader& header, bool last) {
  const auto length = word(header, record_bytes(header));
  std::vector<std::byte> bytes(length.begin(), length.end());
  if (!last) bytes.insert(bytes.end(), length.begin(), length.end());
  return bytes;
}

/// Sorts the received values of one variable by place.
template <class Word>
void place_values(const SeriesExchange& exchange, std::size_t variable, std::size_t variables,
                  const std::vector<std::byte>& came, std::vector<std::byte>& out) {
  for (const SeriesExchange::Peer& peer : exchange.from) {
    const std::byte* from = came.data() + (peer.first * variables + variable * peer.count) * sizeof(Word);
    for (std::size_t i = 0; i < peer.count; ++i)
      std::memcpy(out.data() + exchange.place[peer.first + i] * sizeof(Word), from + i * sizeof(Word), sizeof(Word));
  }
}

/// The values where they stand in the file: two stretches where the points begin again at 0.
std::vector<FileBytes> value_stretches(const SeriesPlan& plan, int writer, std::uint64_t values_at,
                                       std::span<const std::byte> bytes) {
  const PointRange needed = needed_points(plan, writer);
  const std::uint64_t width = plan.header.real_bytes;
  const auto ahead =
      static_cast<std::uint64_t>(std::min<std::int64_t>(needed.count, plan.header.points - needed.first));
  std::vector<FileBytes> stretches;
  if (ahead * width < bytes.size()) stretches.push_back({values_at, bytes.subspan(ahead * width)});
  stretches.push_back({values_at + static_cast<std::uint64_t>(needed.first) * width, bytes.first(ahead * width)});
  return stretches;
}

void write_piece(const SeriesWrite& piece, const std::vector<FileBytes>& ascending, const file::File& file) {
  std::vector<std::span<const std::byte>> parts;
  for (const FileBytes& stretch : ascending) {
    const std::uint64_t begin = std::max(piece.begin, stretch.at);
    const std::uint64_t end = std::min(piece.end, stretch.at + stretch.bytes.size());
    if (begin < end) parts.push_back(stretch.bytes.subspan(begin - stretch.at, end - begin));
  }
  file::pwrite_pieces(file, piece.begin, parts);
}

/// A variable between the records that SERAFIN has around it.
void write_record(const SeriesPlan& plan, int writer, const SeriesShare& share, std::size_t variable,
                  std::span<const std::byte> values, const file::File& file) {
  const std::uint64_t at = serafin::values_at(plan.header, plan.offsets, share.step, variable);
  const std::vector<std::byte> front = opening(plan.header, share.time),
                               back = closing(plan.header, variable + 1 == plan.header.variables.size());
  std::vector<FileBytes> stretches = value_stretches(plan, writer, at, values);
  if (variable == 0) stretches.insert(stretches.begin(), {at - front.size(), front});
  stretches.push_back({at + record_bytes(plan.header), back});
  for (SeriesWrite piece : pieces_of(plan, writer, share.step, variable)) {
    // The seal is not written here: without it readers pass over the step.
    piece.end = std::min(piece.end, step_end(plan, share.step) - seal_bytes);
    write_piece(piece, stretches, file);
  }
}

}  // namespace

std::uint64_t step_end(const SeriesPlan& plan, std::int64_t step) {
  return plan.offsets.steps + static_cast<std::uint64_t>(step + 1) * plan.offsets.step_bytes;
}

void write_seal(const SeriesPlan& plan, const file::File& file, std::int64_t step) {
  file::pwrite_all(file, step_end(plan, step) - seal_bytes, word(plan.header, record_bytes(plan.header)));
}

void write_share(const SeriesPlan& plan, const SeriesExchange& exchange, const SeriesShare& share,
                 const file::File& file) {
  const std::size_t variables = plan.header.variables.size(), width = plan.header.real_bytes;
  std::vector<std::byte> values(static_cast<std::size_t>(needed_points(plan, exchange.writer).count) * width);
  for (std::size_t v = 0; v < variables; ++v) {
    if (width == 8)
      place_values<std::uint64_t>(exchange, v, variables, share.values, values);
    else
      place_values<std::uint32_t>(exchange, v, variables, share.values, values);
    if (share.places.empty()) {
      write_record(plan, exchange.writer, share, v, values, file);
      continue;
    }
    const std::uint64_t at = share.places[v];
    for (const SeriesWrite& piece : pieces_at(plan, exchange.writer, at))
      write_piece(piece, value_stretches(plan, exchange.writer, at, values), file);
  }
}

template <class T>
void encode_values(const serafin::SerafinHeader& header, std::span<const T> from,
                   std::span<const std::uint32_t> indices, std::byte* out) {
  const bool swap = header.order != std::endian::native;
  const auto each = [&](auto as, auto reverse) {
    for (const std::uint32_t i : indices) {
      const auto value = static_cast<decltype(as)>(from[i]);
      const auto bits = reverse(value);
      std::memcpy(out, &bits, sizeof(bits));
      out += sizeof(bits);
    }
  };
  if (header.real_bytes == 8)
    each(double{}, [&](double value) {
      const auto bits = std::bit_cast<std::uint64_t>(value);
      return swap ? __builtin_bswap64(bits) : bits;
    });
  else
    each(float{}, [&](float value) {
      const auto bits = std::bit_cast<std::uint32_t>(value);
      return swap ? __builtin_bswap32(bits) : bits;
    });
}

template void encode_values(const serafin::SerafinHeader&, std::span<const double>, std::span<const std::uint32_t>,
                            std::byte*);
template void encode_values(const serafin::SerafinHeader&, std::span<const float>, std::span<const std::uint32_t>,
                            std::byte*);

}  // namespace octavo::engine
