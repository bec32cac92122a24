#include "octavo/formats/serafin/write.hpp"

#include <algorithm>
#include <cstring>

#include "octavo/base/byte_order.hpp"

namespace octavo::formats::serafin {
namespace {

constexpr std::size_t piece_values = std::size_t{1} << 16;  // converted at a time

/// A record of `total` values of `width` bytes whose leading length stands at `at`.
struct RecordPlace {
  std::uint64_t at;
  std::uint64_t total;
  std::size_t width;
};

void put_length(const Put& put, const SerafinHeader& header, const RecordPlace& record, std::uint64_t at) {
  std::array<std::byte, 4> word;
  base::store(word.data(), static_cast<std::int32_t>(record.total * record.width), header.order);
  put(at, word);
}

/// A whole record in one piece, for the many small ones of pieces.
constexpr std::size_t single_put_bytes = std::size_t{1} << 23;

template <class To, class From>
void put_whole(const Put& put, const SerafinHeader& header, const RecordPlace& record, std::span<const From> values) {
  std::vector<std::byte> bytes(values.size() * sizeof(To) + 8);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const To value = static_cast<To>(values[i]);
    std::memcpy(bytes.data() + 4 + i * sizeof(To), &value, sizeof(To));
  }
  const auto payload = std::span(bytes).subspan(4, values.size() * sizeof(To));
  if (header.order != std::endian::native) base::swap_bytes(payload, sizeof(To));
  for (const std::size_t where : {std::size_t{0}, bytes.size() - 4})
    base::store(bytes.data() + where, static_cast<std::int32_t>(payload.size()), header.order);
  put(record.at, bytes);
}

/// The length words go with the first and the last value: a record is whole when its values are. A record without
/// values has both.
template <class To, class From>
void put_values(const Put& put, const SerafinHeader& header, const RecordPlace& record, std::uint64_t first,
                std::span<const From> values) {
  if (first == 0 && values.size() == record.total && record.total * record.width <= single_put_bytes)
    return put_whole<To>(put, header, record, values);
  if (first == 0) put_length(put, header, record, record.at);
  std::vector<To> some(std::min(values.size(), piece_values));
  for (std::size_t done = 0; done < values.size();) {
    const auto now = values.subspan(done, std::min(some.size(), values.size() - done));
    std::transform(now.begin(), now.end(), some.begin(), [](From value) { return static_cast<To>(value); });
    const auto bytes = std::as_writable_bytes(std::span(some).first(now.size()));
    if (header.order != std::endian::native) base::swap_bytes(bytes, sizeof(To));
    put(record.at + 4 + (first + done) * sizeof(To), bytes);
    done += now.size();
  }
  if (first + values.size() == record.total)
    put_length(put, header, record, record.at + 4 + record.total * record.width);
}

void put_reals(const Put& put, const SerafinHeader& header, std::uint64_t at, std::uint64_t total, std::uint64_t first,
               std::span<const double> values) {
  const RecordPlace record{at, total, header.real_bytes};
  if (header.real_bytes == 8)
    put_values<double>(put, header, record, first, values);
  else
    put_values<float>(put, header, record, first, values);
}

std::uint64_t points_of(const SerafinHeader& header) { return static_cast<std::uint64_t>(header.points); }

}  // namespace

void write_header(const Put& put, const SerafinHeader& header) { put(0, encode_header(header)); }

void write_connectivity(const Put& put, const SerafinHeader& header, std::int64_t first,
                        std::span<const std::int32_t> values) {
  const auto total = static_cast<std::uint64_t>(header.elements) * static_cast<std::uint64_t>(header.nodes);
  put_values<std::int32_t>(put, header, {offsets_of(header).connectivity, total, 4}, static_cast<std::uint64_t>(first),
                           values);
}

void write_numbers(const Put& put, const SerafinHeader& header, std::int64_t first,
                   std::span<const std::int32_t> values) {
  put_values<std::int32_t>(put, header, {offsets_of(header).numbers, points_of(header), 4},
                           static_cast<std::uint64_t>(first), values);
}

void write_coordinates(const Put& put, const SerafinHeader& header, int axis, std::int64_t first,
                       std::span<const double> values) {
  const RecordOffsets offsets = offsets_of(header);
  put_reals(put, header, axis == 0 ? offsets.x : offsets.y, points_of(header), static_cast<std::uint64_t>(first),
            values);
}

void write_time(const Put& put, const SerafinHeader& header, std::int64_t step, double time) {
  put_reals(put, header, time_at(offsets_of(header), step) - 4, 1, 0, {&time, 1});
}

void write_values(const Put& put, const SerafinHeader& header, std::int64_t step, std::size_t variable,
                  std::int64_t first, std::span<const double> values) {
  put_reals(put, header, values_at(header, offsets_of(header), step, variable) - 4, points_of(header),
            static_cast<std::uint64_t>(first), values);
}

}  // namespace octavo::formats::serafin
