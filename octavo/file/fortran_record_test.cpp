#include "octavo/file/fortran_record.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <numeric>
#include <string>

#include "tests/support/error_of.hpp"
#include "tests/support/temporary_folder.hpp"

namespace octavo::file {
namespace {

using base::Error;
using base::Kind;
using octavo::testing::error_of;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
namespace fs = std::filesystem;

class FortranRecord : public ::testing::Test {
 protected:
  void write(const std::string& bytes) { std::ofstream(path_, std::ios::binary | std::ios::trunc) << bytes; }
  std::string read() {
    const File file = open_read(path_);
    std::string bytes(static_cast<std::size_t>(size(file)), '\0');
    pread_all(file, 0, std::as_writable_bytes(std::span(bytes)));
    return bytes;
  }
  octavo::testing::TemporaryFolder folder_;
  fs::path path_ = folder_ / "records";
};

// Builds a little-endian 4-byte marker by hand.
std::string mark(std::int32_t bytes) { return {reinterpret_cast<const char*>(&bytes), 4}; }
std::string record(const std::string& payload) {
  const auto n = static_cast<std::int32_t>(payload.size());
  return mark(n) + payload + mark(n);
}

TEST_F(FortranRecord, records_of_every_format_read_back) {
  std::vector<double> doubles(1000);
  std::iota(doubles.begin(), doubles.end(), 0.5);
  for (const std::size_t marker : {4U, 8U})
    for (const std::endian order : {std::endian::little, std::endian::big})
      for (const std::uint64_t longest : {std::uint64_t{13}, RecordWriter::gfortran_subrecord}) {
        fs::remove(path_);
        RecordWriter writer(path_, {marker, order}, longest);
        writer.write(std::int32_t{42});
        writer.write(doubles);
        writer.write(std::vector<std::int8_t>{});
        writer.write(std::string_view("hilbert"));
        writer.close();
        EXPECT_EQ(writer.bytes_written(), fs::file_size(path_));
        RecordReader reader(path_);
        EXPECT_EQ(reader.format(), (RecordFormat{marker, order}));
        EXPECT_EQ(reader.scalar<std::int32_t>("n"), 42);
        EXPECT_EQ(reader.reals(1000, "reals"), doubles);
        EXPECT_EQ(reader.next("empty").bytes, 0U);
        EXPECT_THAT(reader.array<char>("text"), ElementsAre('h', 'i', 'l', 'b', 'e', 'r', 't'));
        EXPECT_NO_THROW(reader.require_end());
      }
}

TEST_F(FortranRecord, the_bytes_of_a_subrecord_are_those_that_gfortran_writes) {
  RecordWriter writer(path_, {}, 4);
  writer.write(std::string_view("abcdefghij"));
  writer.close();
  EXPECT_EQ(read(), mark(-4) + "abcd" + mark(4) + mark(-4) + "efgh" + mark(-4) + mark(2) + "ij" + mark(-2));
}

TEST_F(FortranRecord, a_record_that_just_fits_is_not_split) {
  RecordWriter writer(path_, {}, 4);
  writer.write(std::string_view("abcd"));
  writer.close();
  EXPECT_EQ(read(), record("abcd"));
}

TEST_F(FortranRecord, ranges_of_a_split_record_are_found_over_its_seams) {
  RecordWriter writer(path_, {}, 7);
  std::string text(100, ' ');
  std::iota(text.begin(), text.end(), ' ');
  writer.write(std::string_view(text));
  writer.close();
  RecordReader reader(path_);
  const Record all = reader.next("text");
  EXPECT_EQ(all.bytes, 100U);
  for (std::size_t first = 0; first < 100; first += 3)
    for (const std::size_t count : {0U, 1U, 7U, 8U, 30U}) {
      if (first + count > 100) continue;
      std::string part(count, '?');
      reader.read(all, first, std::span<char>(part));
      EXPECT_EQ(part, text.substr(first, count));
    }
}

TEST_F(FortranRecord, payloads_are_read_in_any_order_after_the_walk) {
  RecordWriter writer(path_);
  for (int i = 0; i < 50; ++i) writer.write(std::vector<std::int32_t>(1000, i));
  writer.close();
  RecordReader reader(path_, 4096);  // the window holds about one record
  std::vector<Record> records;
  while (!reader.at_end()) records.push_back(reader.next(4000, "values"));
  ASSERT_EQ(records.size(), 50U);
  for (std::size_t i = 50; i-- > 0;) {
    std::vector<std::int32_t> values(3);
    reader.read(records[i], 500, std::span(values));
    EXPECT_THAT(values, ::testing::Each(static_cast<std::int32_t>(i)));
  }
}

TEST_F(FortranRecord, another_size_than_expected_is_corrupt_and_says_which) {
  write(record("abcd") + record("abcdefgh"));
  RecordReader reader(path_);
  reader.next("first");
  const Error error = error_of([&] { reader.array<double>(2, "boxlen"); });
  EXPECT_EQ(error.kind(), Kind::corrupt);
  EXPECT_THAT(error.what(), HasSubstr("boxlen: expected a record of 16 bytes, found 8"));
  EXPECT_THAT(error.what(), HasSubstr("records, record 2, byte 12"));
  EXPECT_EQ(error_of([&] { reader.array<std::int32_t>(std::uint64_t{1} << 62, "numbl"); }).kind(), Kind::corrupt);
  EXPECT_NO_THROW(reader.scalar<double>("the record is still the next one"));
}

TEST_F(FortranRecord, every_prefix_of_a_file_is_truncated_never_accepted) {
  const std::string whole =
      record("abcd") + record(std::string(40, 'x')) + mark(-2) + "ab" + mark(2) + mark(1) + "c" + mark(-1);
  const std::size_t complete[] = {12, 60, whole.size()};
  for (std::size_t bytes = 0; bytes <= whole.size(); ++bytes) {
    write(whole.substr(0, bytes));
    const auto walk = [&] {
      RecordReader reader(path_);
      while (!reader.at_end()) reader.next("record");
    };
    if (std::find(std::begin(complete), std::end(complete), bytes) != std::end(complete))
      EXPECT_NO_THROW(walk()) << bytes;
    else
      EXPECT_EQ(error_of(walk).kind(), Kind::corrupt) << bytes;
  }
}

TEST_F(FortranRecord, markers_that_differ_or_point_past_the_file_are_corrupt) {
  for (const std::string& second :
       {mark(4) + "abcd" + mark(5), mark(4) + "abcd" + mark(-4), mark(-4) + "abcd" + mark(4),
        mark(INT32_MAX) + "abcd" + mark(INT32_MAX), mark(INT32_MIN) + "abcd" + mark(4),
        mark(-2) + "ab" + mark(2) + mark(3) + "cde" + mark(-3), mark(0) + mark(-0x7fffffff),
        mark(-0x7fffffff) + mark(0)}) {
    write(record("abcd") + record("abcd") + second);
    RecordReader reader(path_);
    reader.skip(2, 4, "good");
    EXPECT_EQ(error_of([&] { reader.next("bad"); }).kind(), Kind::corrupt);
  }
}

TEST_F(FortranRecord, what_is_no_file_of_records_is_corrupt) {
  for (const std::string& bytes :
       {std::string(), std::string("x"), std::string("# version:  1\n"), std::string(3, '\0')}) {
    write(bytes);
    EXPECT_EQ(error_of([&] { RecordReader reader(path_); }).kind(), Kind::corrupt);
  }
  EXPECT_EQ(error_of([&] { RecordReader reader(folder_.path()); }).kind(), Kind::unreadable);
}

TEST_F(FortranRecord, bytes_after_the_last_record_are_corrupt) {
  write(record("abcd") + record("abcd"));
  RecordReader reader(path_);
  reader.next("first");
  EXPECT_THAT(error_of([&] { reader.require_end(); }).what(), HasSubstr("expected 12 bytes, found 24"));
}

TEST_F(FortranRecord, skipping_long_records_reads_little_of_them) {
  RecordWriter writer(path_);
  for (int i = 0; i < 8; ++i) writer.write(std::vector<double>(1 << 18));  // 2 MiB each
  writer.close();
  std::uint64_t bytes = 0;
  set_observer([&](const Event& event) {
    if (event.operation == Operation::read) bytes += event.size;
    return Verdict{};
  });
  RecordReader reader(path_);
  while (!reader.at_end()) reader.next("values");
  set_observer({});
  EXPECT_LT(bytes, std::uint64_t{8} << 18);  // an eighth of the file
}

TEST_F(FortranRecord, records_skipped_together_are_not_read_and_their_ends_are_checked) {
  const auto written = [&](std::size_t wrong) {
    fs::remove(path_);
    RecordWriter writer(path_);
    for (std::size_t i = 0; i < 12; ++i) writer.write(std::vector<std::int32_t>(i == wrong ? 4099 : 4096));
    writer.write(std::int32_t{7});
    writer.close();
  };
  written(99);
  std::uint64_t bytes = 0;
  RecordReader reader(path_);
  set_observer([&](const Event& event) {
    if (event.operation == Operation::read) bytes += event.size;
    return Verdict{};
  });
  reader.skip(12, 4 * 4096, "unwanted");
  EXPECT_EQ(reader.scalar<std::int32_t>("behind them"), 7);
  set_observer({});
  EXPECT_EQ(reader.records(), 13U);
  EXPECT_LT(bytes, std::uint64_t{12} * 4096);  // a sixteenth of them, and pages around markers
  for (const std::size_t wrong : {0U, 5U, 11U}) {
    written(wrong);
    RecordReader damaged(path_);
    EXPECT_THAT(error_of([&] { damaged.skip(12, 4 * 4096, "unwanted"); }).what(),
                HasSubstr("unwanted: expected a record of 16384 bytes, found 16396"));
  }
}

TEST_F(FortranRecord, a_writer_refuses_a_wrong_number_of_bytes_and_an_existing_file) {
  RecordWriter writer(path_);
  const std::vector<std::int32_t> two{1, 2};
  writer.begin(4);
  EXPECT_EQ(error_of([&] { writer.append(std::span<const std::int32_t>(two)); }).kind(), Kind::usage);
  writer.begin(12);
  writer.append(std::span<const std::int32_t>(two));
  EXPECT_EQ(error_of([&] { writer.end(); }).kind(), Kind::usage);
  EXPECT_EQ(error_of([&] { RecordWriter again(path_); }).kind(), Kind::usage);
}

}  // namespace
}  // namespace octavo::file
