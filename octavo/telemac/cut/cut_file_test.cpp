#include "octavo/telemac/cut/cut_file.hpp"

#include <gmock/gmock.h>

#include "tests/support/error_of.hpp"
#include "tests/support/serafin_fixture.hpp"
#include "tests/support/temporary_folder.hpp"

namespace octavo::telemac {
namespace {

using octavo::testing::put_file;
using octavo::testing::TemporaryFolder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// A .npy as NumPy writes it.
std::string npy(const std::string& type, const std::string& shape, const std::string& values, char version = 1) {
  std::string dict = "{'descr': '" + type + "', 'fortran_order': False, 'shape': " + shape + ", }";
  dict.append(117 - dict.size(), ' ');
  dict += '\n';
  std::string head = "\x93NUMPY";
  head += version;
  head += '\0';
  head += static_cast<char>(dict.size());
  head.append(version == 1 ? 1 : 3, '\0');
  return head + dict + values;
}

TEST(CutFile, integers_of_any_width_and_order_are_read) {
  using namespace std::string_literals;
  const TemporaryFolder folder;
  const auto read = [&](const std::string& bytes) {
    put_file(folder / "cut", bytes);
    const CutSize size = measure_cut(folder / "cut");
    EXPECT_EQ(size.elements, 3);
    EXPECT_EQ(size.parts, 3);
    EXPECT_THAT(read_cut(folder / "cut", 1, 3), ElementsAre(0, 1));
    return read_cut(folder / "cut", 0, 3);
  };
  EXPECT_THAT(read("2\n0\n1\n"), ElementsAre(2, 0, 1));
  EXPECT_THAT(read(" 2 0\r\n\t1"), ElementsAre(2, 0, 1));
  EXPECT_THAT(read(npy("|u1", "(3,)", "\2\0\1"s)), ElementsAre(2, 0, 1));
  EXPECT_THAT(read(npy("<i2", "(3,)", "\2\0\0\0\1\0"s)), ElementsAre(2, 0, 1));
  EXPECT_THAT(read(npy(">i4", "(3,)", "\0\0\0\2\0\0\0\0\0\0\0\1"s, 2)), ElementsAre(2, 0, 1));
  EXPECT_THAT(read(npy("<u8", "(3,)", "\2\0\0\0\0\0\0\0"s + std::string(8, '\0') + "\1"s + std::string(7, '\0'), 3)),
              ElementsAre(2, 0, 1));
}

TEST(CutFile, what_is_no_cut_is_named) {
  using namespace std::string_literals;
  const TemporaryFolder folder;
  const auto message = [&](const std::string& bytes) {
    put_file(folder / "cut", bytes);
    return octavo::testing::message_of([&] { measure_cut(folder / "cut"); });
  };
  EXPECT_THAT(message("0 1 2.5"), HasSubstr("element 3: expected a part from 0, found 2.5"));
  EXPECT_THAT(message("0 99999999999"), HasSubstr("element 2"));
  EXPECT_THAT(message("0 99999999999999999999999"), HasSubstr("element 2"));
  EXPECT_THAT(message(std::string(1000, 'x')), HasSubstr("found other bytes"));
  EXPECT_THAT(message(std::string((1 << 20) + 5, '7')), HasSubstr("part number"));
  EXPECT_THAT(message(npy("<f4", "(3,)", std::string(12, '\0'))), HasSubstr("NumPy's type '<f4'"));
  EXPECT_THAT(message(npy("<i4", "(3, 1)", std::string(12, '\0'))), HasSubstr("the shape (3,1)"));
  EXPECT_THAT(message(npy("<i4", "()", "")), HasSubstr("the shape ()"));
  EXPECT_THAT(message(npy("<i4", "(4,)", std::string(12, '\0'))), HasSubstr("expected 4 part numbers"));
  EXPECT_THAT(message(npy("<i1", "(1,)", "\xff"s)), HasSubstr("found -1"));
  EXPECT_THAT(message("\x93NUMPY\1"s), HasSubstr("a NumPy file"));
  EXPECT_THAT(message("\x93NUMPY\1\0\xff\xff more"s), HasSubstr("header"));
  put_file(folder / "cut", "0 1 2");
  EXPECT_THAT(octavo::testing::message_of([&] { read_cut(folder / "cut", 2, 5); }),
              HasSubstr("expected 5 part numbers"));
}

TEST(CutFile, ranges_one_after_the_other_are_the_file) {
  const TemporaryFolder folder;
  const partition::PartVector cut{3, 0, 2, 1, 1, 0};
  for (const char* name : {"cut.txt", "cut.npy"}) {
    const std::string whole = encode_cut(name, cut, 0, 6);
    EXPECT_EQ(encode_cut(name, std::span(cut).first(2), 0, 6) + encode_cut(name, std::span(cut).subspan(2), 2, 6),
              whole);
    put_file(folder / name, whole);
    EXPECT_EQ(read_cut(folder / name, 0, 6), cut);
    EXPECT_EQ(measure_cut(folder / name).parts, 4);
  }
}

}  // namespace
}  // namespace octavo::telemac
