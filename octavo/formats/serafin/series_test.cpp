#include "octavo/formats/serafin/series.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "octavo/base/byte_order.hpp"
#include "octavo/base/error.hpp"
#include "octavo/formats/serafin/write.hpp"
#include "tests/support/serafin_fixture.hpp"
#include "tests/support/temporary_folder.hpp"

namespace octavo::formats::serafin {
namespace {

using base::Error;
using base::Kind;
using octavo::testing::SerafinFixture;
using octavo::testing::TemporaryFolder;
using ::testing::HasSubstr;

/// All kinds of file there are.
std::vector<SerafinFixture> all_kinds() {
  std::vector<SerafinFixture> kinds;
  for (std::uint32_t k = 0; k < 16; ++k) {
    SerafinFixture f;
    f.mesh = octavo::testing::random_triangles(k, 5, 4, k % 3 == 0);
    f.big_endian = (k & 1) == 0;
    f.doubles = (k & 2) != 0;
    f.planes = (k & 4) != 0 ? 3 : 1;
    f.date = (k & 8) != 0;
    f.variables = static_cast<int>(k % 4);
    f.steps = static_cast<int>(k % 5);
    f.tag = k % 2 == 0 ? "SERAPHIN" : "\xE9\xFF  \n 12";
    f.numbers = {3, 1, 2};
    kinds.push_back(f);
  }
  return kinds;
}

Put into(const file::File& file) {
  return [&file](std::uint64_t offset, std::span<const std::byte> bytes) { file::pwrite_all(file, offset, bytes); };
}

template <class T>
void write_in_shuffled_ranges(std::size_t count, std::uint32_t seed, T&& write) {
  std::mt19937 random(seed);
  std::vector<std::pair<std::size_t, std::size_t>> ranges;
  for (std::size_t i = 0; i < count;) {
    const std::size_t n = std::min<std::size_t>(count - i, 1 + random() % 9);
    ranges.emplace_back(i, n);
    i += n;
  }
  std::shuffle(ranges.begin(), ranges.end(), random);
  for (const auto& [first, n] : ranges) write(first, n);
}

TEST(Serafin, reads_what_stands_in_a_file_of_any_kind) {
  const TemporaryFolder folder;
  for (const SerafinFixture& f : all_kinds()) {
    octavo::testing::put_file(folder / "a.slf", serafin_bytes(f));
    EXPECT_TRUE(looks_like_series(folder / "a.slf"));
    const SerafinSeries series = open_series(folder / "a.slf");
    EXPECT_EQ(series.header.order, f.big_endian ? std::endian::big : std::endian::little);
    EXPECT_EQ(series.header.real_bytes, f.doubles ? 8U : 4U);
    EXPECT_EQ(planes(series.header), f.planes);
    EXPECT_EQ(series.header.date.has_value(), f.date);
    EXPECT_EQ(series.steps, f.steps);
    EXPECT_EQ(series.trailing_bytes, 0U);
    const mesh::Unstructured mesh = read_mesh(series);
    EXPECT_EQ(mesh.x, f.mesh.x);
    EXPECT_EQ(mesh.y, f.mesh.y);
    EXPECT_TRUE(std::equal(mesh.connectivity.begin(), mesh.connectivity.end(), f.mesh.connectivity.begin(),
                           f.mesh.connectivity.end()));
    std::vector<double> values(static_cast<std::size_t>(series.header.points));
    for (int step = 0; step < f.steps; ++step) {
      EXPECT_EQ(read_time(series, step), 1.5 * step);
      for (int v = 0; v < f.variables; ++v) {
        read_values(series, step, find_variable(series.header, "VARIABLE " + std::to_string(v)), 0, values);
        for (std::size_t i = 0; i < values.size(); ++i)
          ASSERT_EQ(values[i], octavo::testing::serafin_value(step, v, i));
      }
    }
  }
}

TEST(Serafin, written_in_any_ranges_and_order_the_file_is_the_same_bytes) {
  const TemporaryFolder folder;
  std::uint32_t seed = 0;
  for (const SerafinFixture& f : all_kinds()) {
    const std::string expected = serafin_bytes(f);
    octavo::testing::put_file(folder / "a.slf", expected);
    const SerafinSeries series = open_series(folder / "a.slf");
    const SerafinHeader& header = series.header;
    std::filesystem::remove(folder / "b.slf");
    const file::File file = file::create(folder / "b.slf");
    const Put put = into(file);
    write_header(put, header);
    std::vector<std::int32_t> connectivity(static_cast<std::size_t>(header.elements * header.nodes));
    std::vector<std::int32_t> numbers(static_cast<std::size_t>(header.points));
    read_connectivity(series, 0, connectivity);
    read_numbers(series, 0, numbers);
    write_in_shuffled_ranges(connectivity.size(), ++seed, [&](std::size_t i, std::size_t n) {
      write_connectivity(put, header, static_cast<std::int64_t>(i), std::span(connectivity).subspan(i, n));
    });
    write_in_shuffled_ranges(numbers.size(), ++seed, [&](std::size_t i, std::size_t n) {
      write_numbers(put, header, static_cast<std::int64_t>(i), std::span(numbers).subspan(i, n));
    });
    std::vector<double> values(numbers.size());
    for (const int axis : {1, 0}) {
      read_coordinates(series, axis, 0, values);
      write_in_shuffled_ranges(values.size(), ++seed, [&](std::size_t i, std::size_t n) {
        write_coordinates(put, header, axis, static_cast<std::int64_t>(i), std::span(values).subspan(i, n));
      });
    }
    for (std::int64_t step = series.steps - 1; step >= 0; --step) {
      write_time(put, header, step, read_time(series, step));
      for (std::size_t v = 0; v < header.variables.size(); ++v) {
        read_values(series, step, v, 0, values);
        write_in_shuffled_ranges(values.size(), ++seed, [&](std::size_t i, std::size_t n) {
          write_values(put, header, step, v, static_cast<std::int64_t>(i), std::span(values).subspan(i, n));
        });
      }
    }
    EXPECT_TRUE(octavo::testing::bytes_of_file(folder / "b.slf") == expected);
  }
}

TEST(Serafin, a_torn_last_step_and_trailing_bytes_leave_the_whole_steps) {
  const TemporaryFolder folder;
  SerafinFixture f;
  f.mesh = octavo::testing::random_triangles(1, 3, 3);
  const std::string whole = serafin_bytes(f);
  octavo::testing::put_file(folder / "newline.slf", whole + "\n");
  const SerafinSeries newline = open_series(folder / "newline.slf");
  EXPECT_EQ(newline.steps, 3);
  EXPECT_EQ(newline.trailing_bytes, 1U);
  for (std::size_t cut = 1; cut <= newline.offsets.step_bytes; cut += 37) {
    octavo::testing::put_file(folder / "torn.slf", whole.substr(0, whole.size() - cut));
    const SerafinSeries torn = open_series(folder / "torn.slf");
    EXPECT_EQ(torn.steps, 2);
    EXPECT_EQ(torn.trailing_bytes, newline.offsets.step_bytes - cut);
    EXPECT_THROW(read_time(torn, 2), Error);
  }
}

TEST(Serafin, a_header_cut_anywhere_or_with_any_wrong_length_is_named) {
  const TemporaryFolder folder;
  SerafinFixture f;
  f.mesh = octavo::testing::random_triangles(1, 2, 2);
  f.steps = 0;
  f.date = true;
  const std::string whole = serafin_bytes(f);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    octavo::testing::put_file(folder / "cut.slf", whole.substr(0, size));
    EXPECT_THROW(open_series(folder / "cut.slf"), Error) << size;
  }
  octavo::testing::put_file(folder / "a.slf", whole);
  const RecordOffsets offsets = open_series(folder / "a.slf").offsets;
  for (const std::uint64_t record : {std::uint64_t{88}, offsets.iparam, offsets.sizes, offsets.connectivity,
                                     offsets.numbers, offsets.x, offsets.y}) {
    std::string wrong = whole;
    wrong[record + 2] = static_cast<char>(wrong[record + 2] + 1);
    octavo::testing::put_file(folder / "wrong.slf", wrong);
    try {
      open_series(folder / "wrong.slf");
      ADD_FAILURE() << "record at " << record;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), Kind::corrupt);
      EXPECT_THAT(error.what(), HasSubstr("wrong.slf, byte"));
      EXPECT_THAT(error.what(), HasSubstr("expected"));
    }
  }
}

TEST(Serafin, a_file_of_mixed_byte_orders_is_refused) {
  const TemporaryFolder folder;
  SerafinFixture f;
  f.mesh = octavo::testing::random_triangles(1, 2, 2);
  const std::string big = serafin_bytes(f);
  f.big_endian = false;
  const std::string little = serafin_bytes(f);
  octavo::testing::put_file(folder / "a.slf", big);
  const RecordOffsets offsets = open_series(folder / "a.slf").offsets;
  for (const std::uint64_t border : {std::uint64_t{88}, offsets.sizes, offsets.connectivity, offsets.x}) {
    octavo::testing::put_file(folder / "mixed.slf", big.substr(0, border) + little.substr(border));
    EXPECT_THROW(open_series(folder / "mixed.slf"), Error) << border;
  }
  octavo::testing::put_file(folder / "mixed.slf", big.substr(0, offsets.steps) + little.substr(offsets.steps));
  const SerafinSeries series = open_series(folder / "mixed.slf");
  std::vector<double> values(9);
  EXPECT_THROW(read_time(series, 0), Error);
  EXPECT_THROW(read_values(series, 0, 1, 0, values), Error);
}

TEST(Serafin, connectivity_out_of_range_names_its_element) {
  const TemporaryFolder folder;
  SerafinFixture f;
  f.mesh = octavo::testing::random_triangles(1, 2, 2);
  f.mesh.connectivity[7] = 9;  // nine points: 10 in the file
  octavo::testing::put_file(folder / "a.slf", serafin_bytes(f));
  try {
    read_mesh(open_series(folder / "a.slf"));
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), Kind::corrupt);
    EXPECT_THAT(error.what(), HasSubstr("expected points 1 to 9, found 10"));
    EXPECT_THAT(error.what(), HasSubstr("element 3"));
  }
}

TEST(Serafin, an_element_with_one_point_twice_is_refused) {
  const TemporaryFolder folder;
  SerafinFixture f;
  f.mesh = octavo::testing::random_triangles(1, 2, 2);
  f.mesh.connectivity[7] = f.mesh.connectivity[6];
  octavo::testing::put_file(folder / "a.slf", serafin_bytes(f));
  EXPECT_THROW(read_mesh(open_series(folder / "a.slf")), Error);
}

TEST(Serafin, coordinates_that_are_no_place_are_refused) {
  const TemporaryFolder folder;
  for (const double wrong : {std::nan(""), HUGE_VAL, -1e31}) {
    SerafinFixture f;
    f.doubles = true;
    f.mesh = octavo::testing::random_triangles(1, 2, 2);
    f.mesh.y[4] = wrong;
    octavo::testing::put_file(folder / "a.slf", serafin_bytes(f));
    try {
      read_mesh(open_series(folder / "a.slf"));
      ADD_FAILURE() << wrong;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), Kind::corrupt);
      EXPECT_THAT(error.what(), HasSubstr("y of point 5"));
    }
  }
}

TEST(Serafin, steps_past_two_gigabytes_are_found_in_a_sparse_file) {
  const TemporaryFolder folder;
  SerafinFixture f;
  f.mesh = octavo::testing::random_triangles(1, 100, 100);
  f.steps = 0;
  octavo::testing::put_file(folder / "a.slf", serafin_bytes(f));
  SerafinSeries series = open_series(folder / "a.slf");
  constexpr std::int64_t step = 60000;  // of 80 kB: 4.9 GB
  const std::uint64_t bytes = series.offsets.steps + (step + 1) * series.offsets.step_bytes;
  ASSERT_GT(bytes, std::uint64_t{1} << 32);
  {
    const file::File file = file::open_write(folder / "a.slf");
    file::resize(file, bytes);
    std::vector<double> values(f.mesh.x.size());
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i);
    write_time(into(file), series.header, step, 12.5);
    write_values(into(file), series.header, step, 1, 0, values);
  }
  series = open_series(folder / "a.slf");
  EXPECT_EQ(series.steps, step + 1);
  EXPECT_EQ(read_time(series, step), 12.5);
  std::vector<double> some(3);
  read_values(series, step, 1, 5000, some);
  EXPECT_THAT(some, ::testing::ElementsAre(5000, 5001, 5002));
}

TEST(Serafin, a_step_longer_than_two_gigabytes_is_laid_out_in_64_bits) {
  SerafinHeader header;
  header.points = 100'000'000;
  header.elements = 100'000'000;
  header.variables.resize(10);
  const RecordOffsets offsets = offsets_of(header);
  EXPECT_EQ(offsets.step_bytes, 12U + 10 * (8 + 4 * std::uint64_t{100'000'000}));
  EXPECT_EQ(values_at(header, offsets, 3, 9),
            offsets.steps + 3 * offsets.step_bytes + 12 + 9 * (8 + 4 * std::uint64_t{100'000'000}) + 4);
}

TEST(Serafin, a_mesh_that_no_record_can_hold_is_unsupported) {
  SerafinHeader header;
  header.points = 90'000'000;
  header.elements = 178'956'971;  // one too many
  try {
    encode_header(header);
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), Kind::unsupported);
    EXPECT_THAT(error.what(), HasSubstr("connectivity"));
  }
  header.elements = 178'956'970;
  EXPECT_NO_THROW(encode_header(header));
  header.points = 536'870'912;
  EXPECT_THROW(encode_header(header), Error);
  header.points = 268'435'456;
  header.real_bytes = 8;
  EXPECT_THROW(encode_header(header), Error);
}

TEST(Serafin, names_go_to_latin_1_and_back) {
  const Variable made = variable("HAUTEUR D'EAU \xC3\xA9t\xC3\xA9", "M\xC2\xB2/S");
  EXPECT_EQ(name_of(made), "HAUTEUR D'EAU \xC3\xA9t");  // 16 characters
  EXPECT_EQ(unit_of(made), "M\xC2\xB2/S");
  Variable raw = variable("A", "M");
  raw.text[17] = '\0';
  EXPECT_EQ(unit_of(raw), "M");
}

TEST(Serafin, a_folder_a_short_file_and_text_are_no_series) {
  const TemporaryFolder folder;
  EXPECT_FALSE(looks_like_series(folder.path()));
  EXPECT_FALSE(looks_like_series(folder / "missing"));
  octavo::testing::put_file(folder / "text", std::string(500, 'x'));
  EXPECT_FALSE(looks_like_series(folder / "text"));
  octavo::testing::put_file(folder / "short", std::string("\0\0\0P", 4));
  EXPECT_FALSE(looks_like_series(folder / "short"));
}

}  // namespace
}  // namespace octavo::formats::serafin
