#include "octavo/telemac/cut/cut_steps.hpp"

#include <cstring>

#include "octavo/base/at.hpp"
#include "octavo/base/byte_order.hpp"
#include "octavo/base/error.hpp"
#include "octavo/formats/serafin/write.hpp"

namespace octavo::telemac {
namespace {

using base::at;

/// Values of `points`, each `width` bytes, appended to `to`.
template <std::size_t width>
void gather(std::span<const std::byte> values, std::span<const std::int32_t> points, std::byte* to) {
  for (std::size_t i = 0; i < points.size(); ++i)
    std::memcpy(to + i * width, values.data() + at(points[i]) * width, width);
}

/// One variable of a step.
struct VariableRecord {
  std::vector<std::byte> record;  ///< with its length words
  std::size_t width;
  explicit VariableRecord(const serafin::SerafinHeader& header)
      : record(header.real_bytes * at(header.points) + 8), width(header.real_bytes) {}
  void read(const serafin::SerafinSeries& series, std::int64_t step, std::size_t variable) {
    serafin::read_record(series, step, variable, record);
  }
  /// The values of one plane's points.
  void gather_plane(std::span<const std::int32_t> points, std::size_t plane, std::size_t plane_points,
                    std::byte* to) const {
    const auto values = std::span(record).subspan(4 + plane * plane_points * width, plane_points * width);
    width == 8 ? gather<8>(values, points, to) : gather<4>(values, points, to);
  }
};

void append_time(std::vector<std::byte>& bytes, const serafin::SerafinHeader& header, double time) {
  bytes.resize(header.real_bytes + 8);
  const std::uint64_t begin = serafin::time_at(serafin::offsets_of(header), 0) - 4;
  serafin::write_time(
      [&](std::uint64_t offset, std::span<const std::byte> some) {
        std::memcpy(bytes.data() + (offset - begin), some.data(), some.size());
      },
      header, 0, time);
}

void append_record(std::vector<std::byte>& bytes, const VariableRecord& values, const serafin::SerafinHeader& whole,
                   std::span<const std::int32_t> points) {
  const auto planes = at(serafin::planes(whole)), plane_points = at(serafin::plane_points(whole));
  const std::size_t payload = planes * points.size() * values.width, begin = bytes.size();
  bytes.resize(begin + payload + 8);
  for (const std::size_t where : {begin, begin + 4 + payload})
    base::store(bytes.data() + where, static_cast<std::int32_t>(payload), whole.order);
  for (std::size_t plane = 0; plane < planes; ++plane)
    values.gather_plane(points, plane, plane_points, bytes.data() + begin + 4 + plane * points.size() * values.width);
}

}  // namespace

std::uint64_t piece_bytes(const serafin::SerafinHeader& header, std::int64_t steps) {
  const serafin::RecordOffsets offsets = serafin::offsets_of(header);
  return offsets.steps + static_cast<std::uint64_t>(steps) * offsets.step_bytes;
}

PiecePlace place_piece(const serafin::SerafinSeries& series, const serafin::SerafinHeader& like, PieceWriter& writer,
                       const Piece& piece) {
  const serafin::SerafinHeader header = piece_header(like, piece);
  PiecePlace place = writer.next(piece_bytes(header, series.steps), 0);
  place.header = header;
  writer.put(place, 0, encode_piece(header, piece, serafin::plane_points(series.header)));
  return place;
}

void cut_steps(const serafin::SerafinSeries& series, PieceWriter& writer, const std::vector<PiecePlace>& places,
               const ItemLists& points, const base::Progress& progress) {
  VariableRecord values(series.header);
  std::vector<std::byte> bytes;
  const std::size_t variables = series.header.variables.size();
  const auto done = [&](std::int64_t step, std::size_t v) {
    return step * static_cast<std::int64_t>(series.offsets.step_bytes) +
           static_cast<std::int64_t>(v * values.record.size());
  };
  for (std::int64_t step = 0; step < series.steps; ++step) {
    const double time = serafin::read_time(series, step);
    for (std::size_t v = 0; v < std::max<std::size_t>(variables, 1); ++v) {
      if (progress && !progress(done(step, v), done(series.steps, 0)))
        throw base::Error(base::Kind::interrupted, "stopped while steps were cut");
      if (v < variables) values.read(series, step, v);
      for (std::size_t part = 0; part < places.size(); ++part) {
        const PiecePlace& place = places[part];
        const serafin::RecordOffsets offsets = serafin::offsets_of(place.header);
        bytes.clear();
        if (v == 0) append_time(bytes, place.header, time);
        if (v < variables) append_record(bytes, values, series.header, points.of(static_cast<std::int32_t>(part)));
        // Records begin with a length word, 4 bytes before their values.
        const std::uint64_t offset =
            v == 0 ? serafin::time_at(offsets, step) - 4 : serafin::values_at(place.header, offsets, step, v) - 4;
        writer.put(place, offset, bytes);
      }
    }
  }
}

}  // namespace octavo::telemac
