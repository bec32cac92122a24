#include "octavo/file/fortran_record.hpp"

#include <array>
#include <cstring>
#include <limits>

/// Records of Fortran's unformatted sequential files, as gfortran writes them: a marker with the length before and
/// after the bytes. Longer records are split into subrecords: the marker in front is negative if another one follows,
/// the one behind if another one went before. The width of the markers and their byte order are guessed from the first
/// records.
namespace octavo::file {
namespace {

using base::Error;
using base::Kind;

// A jump to a far marker reads a page, because the markers around it are probably needed next.
constexpr std::size_t jump_bytes = 4096;
// Walking over fewer bytes costs no more than a jump, which reads a page behind them.
constexpr std::uint64_t worth_a_jump = 4 * jump_bytes;
// One record can be ambiguous: "4 0 4" is a record with 4-byte markers or the start of one with 8-byte markers.
constexpr int records_to_probe = 8;
constexpr std::size_t writer_buffer = std::size_t{1} << 20;

Error corrupt_at(const std::filesystem::path& path, std::uint64_t record, std::uint64_t byte, std::string message) {
  return Error(Kind::corrupt, std::move(message))
      .at(path.string() + ", record " + std::to_string(record) + ", byte " + std::to_string(byte));
}

std::string text(std::string_view what) { return std::string(what); }

/// Whether a marker is that of a record of `bytes` bytes in one piece.
bool marks(const std::byte* at, RecordFormat format, std::uint64_t bytes) {
  if (format.marker == 8)
    return bytes <= std::numeric_limits<std::int64_t>::max() && base::load<std::uint64_t>(at, format.order) == bytes;
  return bytes <= std::numeric_limits<std::int32_t>::max() && base::load<std::uint32_t>(at, format.order) == bytes;
}

}  // namespace

// ------------------------------------------------------------------------------------------------------------ reader

RecordReader::RecordReader(const std::filesystem::path& path, std::size_t window)
    : file_(open_read(path)), size_(size(file_)), window_limit_(std::max(window, jump_bytes)) {
  if (size_ == 0) throw Error(Kind::corrupt, "the file is empty").at(path.string());
  int best = 0;
  RecordFormat found;
  for (const std::size_t width : {std::size_t{4}, std::size_t{8}})
    for (const std::endian order : {std::endian::little, std::endian::big})
      if (const int count = count_consistent({width, order}); count > best) {
        best = count;
        found = {width, order};
      }
  if (best == 0)
    throw Error(Kind::corrupt,
                "not a Fortran unformatted sequential file, or cut in its first record: no marker width "
                "and byte order fit its first bytes")
        .at(path.string() + ", record 1, byte 0");
  format_ = found;
}

// How many of the first records have markers that agree in this format.
int RecordReader::count_consistent(RecordFormat format) {
  format_ = format;
  int count = 0;
  try {
    while (count < records_to_probe && !at_end()) {
      next("record");
      ++count;
    }
  } catch (const Error& error) {
    if (error.kind() != Kind::corrupt) throw;
  }
  position_ = 0;
  records_ = 0;
  return count;
}

void RecordReader::require_end() const {
  if (!at_end())
    throw error("the file goes on after its last record: expected " + std::to_string(position_) + " bytes, found " +
                std::to_string(size_));
}

Record RecordReader::next(std::string_view what) {
  const std::size_t width = format_.marker;
  Record record{records_ + 1, position_ + width, 0, 0};
  std::uint64_t at = position_;
  for (bool more = true, first = true; more; first = false) {
    const Marker head = marker(at, what);
    const std::uint64_t room = size_ - at - width;  // marker() has checked that this is not negative
    if (head.bytes > room || room - head.bytes < width)
      throw error(text(what) + ": the file ends within the record: its marker says " + std::to_string(head.bytes) +
                  " bytes, the file has " + std::to_string(room) + " left");
    const Marker tail = marker(at + width + head.bytes, what);
    if (tail.bytes != head.bytes || tail.negative == first)
      throw error(text(what) + ": the record's markers differ: " + std::to_string(head.bytes) + " bytes before, " +
                  std::to_string(tail.bytes) + " after");
    if (first) record.piece = head.bytes;
    more = head.negative;
    if (more ? head.bytes != record.piece || head.bytes == 0 : head.bytes > record.piece)
      throw error(text(what) + ": subrecords of " + std::to_string(record.piece) + " and " +
                  std::to_string(head.bytes) + " bytes in one record");
    record.bytes += head.bytes;
    at += 2 * width + head.bytes;
  }
  position_ = at;
  ++records_;
  return record;
}

Record RecordReader::next(std::uint64_t expected_bytes, std::string_view what) {
  const std::uint64_t before = position_, behind = format_.marker + expected_bytes, whole = behind + format_.marker;
  // Files of many domains have a million records of some bytes: these are in the window, and as expected.
  if (expected_bytes <= window_bytes_ && before >= window_offset_ && before + whole <= window_offset_ + window_bytes_) {
    const std::byte* const at = window_.get() + (before - window_offset_);
    if (marks(at, format_, expected_bytes) && marks(at + behind, format_, expected_bytes)) {
      position_ += whole;
      return {++records_, before + format_.marker, expected_bytes, expected_bytes};
    }
  }
  const Record record = next(what);
  if (record.bytes == expected_bytes) return record;
  position_ = before;
  --records_;
  throw size_error(record.bytes, expected_bytes, what);
}

void RecordReader::skip(std::size_t count, std::uint64_t expected_bytes, std::string_view what) {
  const std::uint64_t width = format_.marker, whole = expected_bytes + 2 * width, left = size_ - position_;
  if (count * whole >= worth_a_jump && whole <= left && count <= left / whole) {
    // The first and the last marker vouch for those between: equal records lie at equal distances.
    const Marker first = marker(position_, what), last = marker(position_ + count * whole - width, what);
    if (first.bytes == expected_bytes && !first.negative && last.bytes == expected_bytes && !last.negative) {
      position_ += count * whole;
      records_ += count;
      return;
    }
  }
  for (std::size_t i = 0; i < count; ++i) next(expected_bytes, what);
}

std::uint64_t RecordReader::peek(std::string_view what) {
  const std::uint64_t position = position_, records = records_;
  const Record record = next(what);
  position_ = position;
  records_ = records;
  return record.bytes;
}

void RecordReader::prefetch(std::uint64_t bytes) {
  const std::uint64_t wanted = std::min(bytes, size_ - position_);
  if (!window_holds(wanted) || wanted == 0) return;
  if (position_ >= window_offset_ && position_ + wanted <= window_offset_ + window_bytes_) return;
  fill(position_, static_cast<std::size_t>(std::min<std::uint64_t>(wanted + jump_bytes, window_limit_)));
}

void RecordReader::read_bytes(const Record& record, std::uint64_t first, std::span<std::byte> out) {
  if (first > record.bytes || out.size() > record.bytes - first)
    throw error(record, "expected at least " + std::to_string(first + out.size()) + " bytes, found " +
                            std::to_string(record.bytes));
  while (!out.empty()) {
    const std::uint64_t piece = first / record.piece;
    const std::uint64_t left = (piece + 1) * record.piece - first;
    const auto now = static_cast<std::size_t>(std::min<std::uint64_t>(left, out.size()));
    const std::uint64_t at = record.offset + first + piece * 2 * format_.marker;
    if (at >= window_offset_ && at + now <= window_offset_ + window_bytes_)
      std::copy_n(window_.get() + (at - window_offset_), now, out.data());
    else
      pread_all(file_, at, out.first(now));
    first += now;
    out = out.subspan(now);
  }
}

std::vector<double> RecordReader::reals(std::uint64_t count, std::string_view what) {
  if (count > 0 && peek(what) == count * sizeof(float)) {
    const auto singles = array<float>(count, what);
    return {singles.begin(), singles.end()};
  }
  return array<double>(count, what);
}

std::vector<std::int64_t> RecordReader::integers(std::uint64_t count, std::string_view what) {
  if (count > 0 && peek(what) == count * sizeof(std::int32_t)) {
    const auto narrow = array<std::int32_t>(count, what);
    return {narrow.begin(), narrow.end()};
  }
  return array<std::int64_t>(count, what);
}

Error RecordReader::error(std::string message) const {
  return corrupt_at(path(), records_ + 1, position_, std::move(message));
}

Error RecordReader::error(const Record& record, std::string message) const {
  return corrupt_at(path(), record.number, record.offset, std::move(message));
}

Error RecordReader::size_error(std::uint64_t found, std::uint64_t expected, std::string_view what) const {
  return error(text(what) + ": expected a record of " + std::to_string(expected) + " bytes, found " +
               std::to_string(found));
}

std::uint64_t RecordReader::checked_bytes(std::uint64_t count, std::size_t width, std::string_view what) const {
  if (count > size_ / width)
    throw error(text(what) + ": expected " + std::to_string(count) + " values of " + std::to_string(width) +
                " bytes, but the whole file has " + std::to_string(size_) + " bytes");
  return count * width;
}

RecordReader::Marker RecordReader::marker(std::uint64_t offset, std::string_view what) {
  const std::byte* at = view(offset, format_.marker, what);
  const std::int64_t value = format_.marker == 4 ? std::int64_t{base::load<std::int32_t>(at, format_.order)}
                                                 : base::load<std::int64_t>(at, format_.order);
  if (value >= 0) return {static_cast<std::uint64_t>(value), false};
  // Only files with 4-byte markers have subrecords.
  if (format_.marker == 8) throw error(text(what) + ": a negative record marker, " + std::to_string(value));
  return {static_cast<std::uint64_t>(-value), true};
}

const std::byte* RecordReader::view(std::uint64_t offset, std::size_t bytes, std::string_view what) {
  if (offset > size_ || size_ - offset < bytes)
    throw error(text(what) + ": the file ends before the record: expected " + std::to_string(offset + bytes) +
                " bytes or more, found " + std::to_string(size_));
  const std::uint64_t window_end = window_offset_ + window_bytes_;
  if (offset < window_offset_ || offset + bytes > window_end) {
    // If we walk on past the window's edge, we read more and more at once. If we jump past it (over records that nobody
    // wants), we read only a page.
    const bool walking_on = offset >= window_offset_ && offset <= window_end && window_bytes_ > 0;
    fill(offset, walking_on ? std::clamp(4 * window_bytes_, jump_bytes, window_limit_) : jump_bytes);
  }
  return window_.get() + (offset - window_offset_);
}

void RecordReader::fill(std::uint64_t offset, std::size_t bytes) {
  const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(bytes, size_ - offset));
  const std::uint64_t end = window_offset_ + window_bytes_;
  // The part of the window that we walk on from is not read again.
  const std::size_t kept = offset >= window_offset_ && offset < end
                               ? std::min(wanted, static_cast<std::size_t>(end - offset))
                               : std::size_t{0};
  const auto from = static_cast<std::size_t>(kept > 0 ? offset - window_offset_ : 0);
  window_bytes_ = 0;  // stays 0 if the read fails
  if (window_size_ < wanted) {
    // Zeros in all of it would cost more than reading the few pages that a header takes.
    window_size_ = static_cast<std::size_t>(std::min<std::uint64_t>(window_limit_, size_));
    auto larger = std::make_unique_for_overwrite<std::byte[]>(window_size_);
    std::copy_n(window_.get() + from, kept, larger.get());
    window_ = std::move(larger);
  } else if (kept > 0) {
    std::memmove(window_.get(), window_.get() + from, kept);
  }
  pread_all(file_, offset + kept, std::span(window_.get() + kept, wanted - kept));
  window_offset_ = offset;
  window_bytes_ = wanted;
}

// ------------------------------------------------------------------------------------------------------------ writer

RecordWriter::RecordWriter(const std::filesystem::path& path, RecordFormat format, std::uint64_t longest_subrecord)
    : file_(create(path)),
      format_(format),
      longest_(format.marker == 8 ? std::numeric_limits<std::uint64_t>::max() : longest_subrecord) {
  buffer_.reserve(writer_buffer);
}

void RecordWriter::begin(std::uint64_t bytes) {
  remaining_ = bytes;
  continued_ = false;
  piece_left_ = piece_bytes();
  put_marker(piece_left_, remaining_ > longest_);
}

void RecordWriter::append_bytes(std::span<const std::byte> bytes, std::size_t width) {
  if (format_.order == std::endian::native || width == 1) return append_in_file_order(bytes);
  std::array<std::byte, 4096> swapped;  // a multiple of every width
  while (!bytes.empty()) {
    const std::size_t now = std::min(bytes.size(), swapped.size());
    std::copy_n(bytes.data(), now, swapped.data());
    base::swap_bytes(std::span(swapped).first(now), width);
    append_in_file_order(std::span(swapped).first(now));
    bytes = bytes.subspan(now);
  }
}

void RecordWriter::append_in_file_order(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    if (piece_left_ == 0) start_next_subrecord();
    const auto now = static_cast<std::size_t>(std::min<std::uint64_t>(piece_left_, bytes.size()));
    put(bytes.first(now));
    bytes = bytes.subspan(now);
    piece_left_ -= now;
  }
}

void RecordWriter::start_next_subrecord() {
  if (remaining_ <= longest_)
    throw Error(Kind::usage, "more bytes than the record was begun with").at(file_.path().string());
  put_marker(longest_, continued_);
  remaining_ -= longest_;
  continued_ = true;
  piece_left_ = piece_bytes();
  put_marker(piece_left_, remaining_ > longest_);
}

void RecordWriter::end() {
  if (piece_left_ != 0 || remaining_ > longest_)
    throw Error(Kind::usage, "fewer bytes than the record was begun with").at(file_.path().string());
  put_marker(remaining_, continued_);
  remaining_ = 0;
}

void RecordWriter::close() {
  flush();
  file_.close();
}

void RecordWriter::put(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    if (buffer_.size() == writer_buffer) flush();
    const std::size_t start = buffer_.size();
    const std::size_t now = std::min(bytes.size(), writer_buffer - start);
    buffer_.insert(buffer_.end(), bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(now));
    bytes = bytes.subspan(now);
  }
}

void RecordWriter::put_marker(std::uint64_t bytes, bool negative) {
  std::array<std::byte, 8> raw{};
  const std::int64_t value = negative ? -static_cast<std::int64_t>(bytes) : static_cast<std::int64_t>(bytes);
  if (format_.marker == 4)
    base::store(raw.data(), static_cast<std::int32_t>(value), format_.order);
  else
    base::store(raw.data(), value, format_.order);
  put(std::span(raw).first(format_.marker));
}

void RecordWriter::flush() {
  pwrite_all(file_, flushed_, buffer_);
  flushed_ += buffer_.size();
  buffer_.clear();
}

}  // namespace octavo::file
