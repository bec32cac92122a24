#pragma once
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "octavo/base/byte_order.hpp"
#include "octavo/base/error.hpp"
#include "octavo/file/posix.hpp"

/// Fortran unformatted sequential files. Each record stands between two markers that hold its length. gfortran splits
/// records longer than 2147483639 bytes into subrecords: a negative leading marker says that another subrecord follows,
/// a negative trailing one that another came before (gfortran manual, "File format of unformatted sequential files").
namespace octavo::file {

struct RecordFormat {
  std::size_t marker = 4;                   ///< size of a marker: 4 or 8 [bytes]
  std::endian order = std::endian::little;  ///< byte order of markers and values
  bool operator==(const RecordFormat&) const = default;
};

/// The position of a record's payload.
struct Record {
  std::uint64_t number = 0;  ///< number in the file, from 1
  std::uint64_t offset = 0;  ///< offset of the payload's first byte [file bytes]
  std::uint64_t bytes = 0;   ///< size of the payload
  std::uint64_t piece = 0;   ///< payload of each subrecord but the last; equals `bytes` if not split
};

/// Walks through a file's records in order, then reads payloads in any order. It checks both markers of each record
/// against each other and against the file's size (but see skip()), so a damaged file cannot make it allocate more than
/// the file holds. It keeps one window of the file in memory, never the whole file.
///
/// Errors are Error(corrupt) with expected and found sizes, at "FILE, record N, byte B".
class RecordReader {
 public:
  /// Finds the format from the first records. Throws Error(corrupt) if no format fits them.
  explicit RecordReader(const std::filesystem::path& path, std::size_t window = std::size_t{1} << 20);

  const std::filesystem::path& path() const noexcept { return file_.path(); }
  RecordFormat format() const noexcept { return format_; }
  bool foreign_order() const noexcept { return format_.order != std::endian::native; }
  std::uint64_t file_size() const noexcept { return size_; }
  /// File offset of the next record's marker, and the number of records walked.
  std::uint64_t position() const noexcept { return position_; }
  std::uint64_t records() const noexcept { return records_; }
  bool at_end() const noexcept { return position_ == size_; }
  /// Throws Error(corrupt) unless all records were walked.
  void require_end() const;

  /// Walks past the next record. Errors name it by `what`.
  Record next(std::string_view what);
  /// The same, but throws Error(corrupt) unless the payload has `expected_bytes` bytes.
  Record next(std::uint64_t expected_bytes, std::string_view what);
  /// Walks past `count` records of that size. If they are long together, it checks the first marker and the last alone
  /// and reads nothing between them. If these do not fit, it walks to find the record that is wrong.
  void skip(std::size_t count, std::uint64_t expected_bytes, std::string_view what);
  /// The payload size of the next record [bytes], without walking past it.
  std::uint64_t peek(std::string_view what);
  /// Reads `bytes` from the next record on into the window, if they fit. It pays before a run of records most of which
  /// are read, and of records so short that a jump over them would read a page anyway.
  void prefetch(std::uint64_t bytes);
  bool window_holds(std::uint64_t bytes) const noexcept { return bytes <= window_limit_; }

  /// Reads bytes [first, first + out.size()) of the payload, in the file's byte order.
  void read_bytes(const Record& record, std::uint64_t first, std::span<std::byte> out);
  /// Reads values [first, first + out.size()) of the payload, in native byte order.
  template <class T>
  void read(const Record& record, std::uint64_t first, std::span<T> out) {
    read_bytes(record, first * sizeof(T), std::as_writable_bytes(out));
    if (foreign_order()) base::swap_bytes(std::as_writable_bytes(out), sizeof(T));
  }

  /// Reads the next record as `count` values; its size must fit.
  template <class T>
  std::vector<T> array(std::uint64_t count, std::string_view what) {
    const Record record = next(checked_bytes(count, sizeof(T), what), what);
    std::vector<T> values(static_cast<std::size_t>(count));
    read(record, 0, std::span<T>(values));
    return values;
  }
  /// Reads the next record as however many values it holds.
  template <class T>
  std::vector<T> array(std::string_view what) {
    const std::uint64_t bytes = peek(what);
    if (bytes % sizeof(T) != 0) throw size_error(bytes, bytes - bytes % sizeof(T) + sizeof(T), what);
    return array<T>(bytes / sizeof(T), what);
  }
  template <class T>
  T scalar(std::string_view what) {
    return array<T>(1, what).front();
  }
  /// Reads the next record as `count` reals of 4 or 8 bytes; the record's size decides which.
  std::vector<double> reals(std::uint64_t count, std::string_view what);
  /// Reads the next record as `count` integers of 4 or 8 bytes; the record's size decides which.
  std::vector<std::int64_t> integers(std::uint64_t count, std::string_view what);

  /// An error located at the next record.
  base::Error error(std::string message) const;
  /// An error located at this record.
  base::Error error(const Record& record, std::string message) const;

 private:
  struct Marker {
    std::uint64_t bytes = 0;
    bool negative = false;
  };
  Marker marker(std::uint64_t offset, std::string_view what);
  const std::byte* view(std::uint64_t offset, std::size_t bytes, std::string_view what);
  void fill(std::uint64_t offset, std::size_t bytes);
  int count_consistent(RecordFormat format);
  std::uint64_t checked_bytes(std::uint64_t count, std::size_t width, std::string_view what) const;
  base::Error size_error(std::uint64_t found, std::uint64_t expected, std::string_view what) const;

  File file_;
  RecordFormat format_;
  std::uint64_t size_ = 0;
  std::uint64_t position_ = 0;
  std::uint64_t records_ = 0;
  std::size_t window_limit_;
  std::unique_ptr<std::byte[]> window_;  ///< of window_size_ bytes, that no one touched before they are read
  std::size_t window_size_ = 0;
  std::uint64_t window_offset_ = 0;
  std::size_t window_bytes_ = 0;
};

/// Writes records one after another into a new file. Throws Error(usage) if something exists at the path.
class RecordWriter {
 public:
  static constexpr std::uint64_t gfortran_subrecord = 2147483639;
  explicit RecordWriter(const std::filesystem::path& path, RecordFormat format = {},
                        std::uint64_t longest_subrecord = gfortran_subrecord);

  /// Writes one record of these values, given in native byte order.
  template <class T>
  void write(std::span<const T> values) {
    begin(values.size_bytes());
    append(values);
    end();
  }
  template <class T>
  requires std::is_arithmetic_v<T>
  void write(T value) { write(std::span<const T>(&value, 1)); }
  template <class T>
  void write(const std::vector<T>& values) {
    write(std::span<const T>(values));
  }
  void write(std::string_view text) { write(std::span<const char>(text.data(), text.size())); }

  /// Begins a record of `bytes` bytes that several appends fill. end() throws Error(usage) unless they gave exactly
  /// that many.
  void begin(std::uint64_t bytes);
  template <class T>
  void append(std::span<const T> values) {
    append_bytes(std::as_bytes(values), sizeof(T));
  }
  void end();

  std::uint64_t bytes_written() const noexcept { return flushed_ + buffer_.size(); }
  /// Hands everything to the operating system and closes the file; the destructor does neither.
  void close();

 private:
  void append_bytes(std::span<const std::byte> bytes, std::size_t width);
  void append_in_file_order(std::span<const std::byte> bytes);
  void start_next_subrecord();
  void put(std::span<const std::byte> bytes);
  void put_marker(std::uint64_t bytes, bool negative);
  std::uint64_t piece_bytes() const noexcept { return std::min(remaining_, longest_); }
  void flush();

  File file_;
  RecordFormat format_;
  std::uint64_t longest_;
  std::vector<std::byte> buffer_;
  std::uint64_t flushed_ = 0;
  std::uint64_t remaining_ = 0;  ///< bytes of the record from the current subrecord's start on
  std::uint64_t piece_left_ = 0;
  bool continued_ = false;  ///< the current subrecord is not the record's first
};

}  // namespace octavo::file
