#include "octavo/file/hdf5/hdf5.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <fstream>
#include <map>
#include <thread>

#include "octavo/file/posix.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/temporary_folder.hpp"

#ifdef OCTAVO_HAVE_HDF5
#include <hdf5.h>
#endif

namespace octavo::file::hdf5 {
namespace {

using base::Error;
using base::Kind;
using octavo::testing::error_of;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
namespace fs = std::filesystem;

class Hdf5 : public ::testing::Test {
 protected:
  octavo::testing::TemporaryFolder folder_;
  fs::path dir_ = folder_.path(), path_ = folder_ / "a.h5";
};

TEST_F(Hdf5, the_signature_is_looked_for_and_nothing_is_thrown) {
  EXPECT_FALSE(has_signature(path_));
  EXPECT_FALSE(has_signature(dir_));
  std::ofstream(path_, std::ios::binary) << "\x89HDF\r\n\x1a";
  EXPECT_FALSE(has_signature(path_));
  std::ofstream(path_, std::ios::binary) << "\x89HDF\r\n\x1a\n";
  EXPECT_TRUE(has_signature(path_));
}

#ifndef OCTAVO_HAVE_HDF5

TEST_F(Hdf5, without_the_library_files_are_unsupported) {
  EXPECT_FALSE(available());
  EXPECT_EQ(error_of([&] { open(path_); }).kind(), Kind::unsupported);
  EXPECT_EQ(error_of([&] { create(path_); }).kind(), Kind::unsupported);
}

#else

Info only(const File& file) {
  const auto all = list(file);
  EXPECT_EQ(all.size(), 1u);
  return all.at(0);
}

/// Makes one data set with the library's own functions.
void make_raw(const fs::path& path, hid_t type, const std::vector<hsize_t>& shape, const std::vector<hsize_t>& chunk,
              hid_t memory, const void* values) {
  const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  const hid_t space = H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr);
  const hid_t plist = H5Pcreate(H5P_DATASET_CREATE);
  if (!chunk.empty()) {
    H5Pset_chunk(plist, static_cast<int>(chunk.size()), chunk.data());
    H5Pset_deflate(plist, 6);
  }
  const hid_t set = H5Dcreate2(file, "a", type, space, H5P_DEFAULT, plist, H5P_DEFAULT);
  if (values != nullptr) H5Dwrite(set, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
  H5Dclose(set);
  H5Pclose(plist);
  H5Sclose(space);
  H5Fclose(file);
}

TEST_F(Hdf5, rows_come_back_as_they_were_written) {
  File out = create(path_);
  make(out, "a", float64_type, std::vector<std::uint64_t>{3, 2});
  write_rows<double>(out, "a", 1, 2, std::vector<double>{3, 4, 5, 6});
  write_rows<double>(out, "a", 0, 1, std::vector<double>{1, 2});
  write_attribute(out, "a", "minimum", float64_type, 1);
  out.close();
  const File in = open(path_);
  const Info info = only(in);
  EXPECT_EQ(describe(info), "(3, 2) of float64");
  EXPECT_TRUE(info.offset.has_value());
  EXPECT_THAT(read_all<double>(in, info), ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_THAT(read_all<float>(in, info), ElementsAre(1, 2, 3, 4, 5, 6));
  std::array<double, 2> row{};
  read_rows<double>(in, info, 2, 1, row);
  EXPECT_THAT(row, ElementsAre(5, 6));
  EXPECT_EQ(read_attribute(in, "a", "minimum"), 1);
  EXPECT_EQ(read_attribute(in, "a", "maximum"), std::nullopt);
}

TEST_F(Hdf5, big_endian_and_compressed_values_are_converted) {
  const std::vector<std::int32_t> values{1, -2, 3, 70000};
  make_raw(path_, H5T_STD_I32BE, {4}, {}, H5T_NATIVE_INT, values.data());
  {
    const File in = open(path_);
    EXPECT_FALSE(only(in).offset.has_value());
    EXPECT_EQ(read_all<std::int32_t>(in, only(in)), values);
  }
  make_raw(path_, H5T_STD_I16BE, {4}, {2}, H5T_NATIVE_INT, values.data());
  const File in = open(path_);
  EXPECT_THAT(read_all<std::int64_t>(in, only(in)), ElementsAre(1, -2, 3, 32767));
}

TEST_F(Hdf5, a_shape_without_values_behind_it_is_refused_before_any_allocation) {
  make_raw(path_, H5T_NATIVE_DOUBLE, {hsize_t{1} << 50}, {1024}, 0, nullptr);
  const Error error = error_of([&] { list(open(path_)); });
  EXPECT_EQ(error.kind(), Kind::corrupt);
  EXPECT_THAT(error.what(), HasSubstr("not all in the file"));
  EXPECT_THAT(error.what(), HasSubstr("data set \"a\""));
}

/// Makes a data set whose values are in another file, and one that is composed of others.
void make_elsewhere(const fs::path& path, const fs::path& values) {
  const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  const hsize_t extent = 4;
  const hid_t space = H5Screate_simple(1, &extent, nullptr);
  const hid_t external = H5Pcreate(H5P_DATASET_CREATE), joined = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_external(external, values.c_str(), 0, 4 * sizeof(double));
  H5Pset_virtual(joined, space, values.c_str(), "a", space);
  H5Dclose(H5Dcreate2(file, "external", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, external, H5P_DEFAULT));
  H5Dclose(H5Dcreate2(file, "virtual", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, joined, H5P_DEFAULT));
  H5Lcreate_external(values.c_str(), "/", file, "link", H5P_DEFAULT, H5P_DEFAULT);
  H5Lcreate_soft("/external", file, "soft", H5P_DEFAULT, H5P_DEFAULT);
  H5Gclose(H5Gcreate2(file, "group", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  H5Pclose(external);
  H5Pclose(joined);
  H5Sclose(space);
  H5Fclose(file);
}

TEST_F(Hdf5, nothing_is_read_from_another_file_that_a_file_names) {
  const double values[4] = {1, 2, 3, 4};
  make_raw(dir_ / "other.h5", H5T_NATIVE_DOUBLE, {4}, {}, H5T_NATIVE_DOUBLE, values);
  make_elsewhere(path_, dir_ / "other.h5");
  const File in = open(path_);
  EXPECT_TRUE(list(in).empty());
  std::map<std::string, Other::What> others;
  for (const Other& other : contents(in).others) others[other.name] = other.what;
  EXPECT_THAT(others, ::testing::UnorderedElementsAre(::testing::Pair("external", Other::What::elsewhere),
                                                      ::testing::Pair("virtual", Other::What::elsewhere),
                                                      ::testing::Pair("link", Other::What::link),
                                                      ::testing::Pair("soft", Other::What::link),
                                                      ::testing::Pair("group", Other::What::group)));
  // It does not follow a link either if the caller gives its name.
  EXPECT_TRUE(list(in, "link").empty());
  EXPECT_EQ(read_numbers(in, "link/a", "n"), std::nullopt);
}

TEST_F(Hdf5, values_of_any_type_come_back_as_they_were_written) {
  const std::vector<std::pair<ItemType, Items> > all{
      {{Class::integer, 1}, std::vector<std::int64_t>{-128, 127, 0, 5}},
      {{Class::integer, 2, false}, std::vector<std::int64_t>{0, 65535, 1, 2}},
      {{Class::integer, 8, false}, std::vector<std::int64_t>{-1, 0, 1, 2}},  // -1: the largest unsigned number
      {float32_type, std::vector<double>{0.5, -0.0, 3, 4}},
      {float64_type, std::vector<double>{0.1, 1e300, 3, 4}},
      {{Class::text, 3}, std::vector<std::string>{"abc", "", " b ", "d"}},
      {{Class::words, 8}, std::vector<std::string>{"a long one", "", "c", "d"}}};
  File out = create(path_);
  make_group(out, "G");
  const std::array<std::uint64_t, 2> shape{2, 2};
  for (std::size_t i = 0; i < all.size(); ++i) {
    write_items(out, "G/" + std::to_string(i), all[i].first, shape, all[i].second);
    write_attribute_items(out, "G", std::to_string(i), all[i].first, shape, all[i].second);
  }
  write_attribute_items(out, "", "one", float64_type, {}, std::vector<double>{7});
  out.close();
  const File in = open(path_);
  const auto sets = list(in, "G"), attributes = list_attributes(in, "G");
  ASSERT_EQ(sets.size(), all.size());
  ASSERT_EQ(attributes.size(), all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(to_string(sets[i].type), to_string(all[i].first));
    EXPECT_THAT(sets[i].shape, ElementsAre(2, 2));
    EXPECT_EQ(read_items(in, sets[i]), all[i].second) << i;
    EXPECT_EQ(read_attribute_items(in, "G", attributes[i]), all[i].second) << i;
  }
  const auto root = list_attributes(in, "");
  ASSERT_EQ(root.size(), 1u);
  EXPECT_TRUE(root[0].shape.empty());
  EXPECT_EQ(read_attribute_items(in, "", root[0]), Items(std::vector<double>{7}));
  const Items two = std::vector<double>{1, 2};
  EXPECT_EQ(error_of([&] {
              File again = open_write(path_);
              write_items(again, "x", float64_type, shape, two);
            }).kind(),
            Kind::usage);
}

TEST_F(Hdf5, rows_that_are_not_there_and_items_that_are_no_numbers_are_named) {
  const double value = 1;
  make_raw(path_, H5T_NATIVE_DOUBLE, {1}, {}, H5T_NATIVE_DOUBLE, &value);
  const File in = open(path_);
  std::array<double, 2> two{};
  const Error error = error_of([&] { read_rows<double>(in, only(in), 0, 2, two); });
  EXPECT_THAT(error.what(), HasSubstr("expected rows up to 2, found 1"));
  EXPECT_EQ(error_of([&] { read_text(in, only(in)); }).kind(), Kind::corrupt);
}

TEST_F(Hdf5, what_is_no_hdf5_file_is_corrupt_in_the_library_s_words) {
  std::ofstream(path_) << "plain text";
  const Error error = error_of([&] { open(path_); });
  EXPECT_EQ(error.kind(), Kind::corrupt);
  EXPECT_THAT(error.what(), HasSubstr("HDF5 says"));
  EXPECT_EQ(error_of([&] { open(dir_ / "nothing"); }).kind(), Kind::unreadable);
  EXPECT_EQ(error_of([&] { create(path_); }).kind(), Kind::usage);
}

TEST_F(Hdf5, threads_read_the_same_file) {
  std::vector<std::int32_t> values(4000);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::int32_t>(i);
  make_raw(path_, H5T_NATIVE_INT, {4000}, {100}, H5T_NATIVE_INT, values.data());
  const File in = open(path_);
  const Info info = only(in);
  std::array<bool, 4> same{};
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < same.size(); ++t)
    threads.emplace_back([&, t] {
      bool all = true;
      for (int i = 0; i < 20; ++i) all = all && read_all<std::int32_t>(in, info) == values;
      same[t] = all;
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(same, ElementsAre(true, true, true, true));
}

/// Makes data sets whose values the library buffers for a while (small ones), or writes at once (`wide`).
void write_some(const fs::path& path, bool wide) {
  File out = create(path);
  make_group(out, "G");
  const std::vector<double> values(wide ? 20000 : 700, 1.5);
  for (int i = 0; i < 12; ++i) {
    const std::string name = "G/" + std::to_string(i);
    const std::array<std::uint64_t, 1> shape{2 * values.size()};
    make(out, name, float64_type, shape);
    write_rows<double>(out, name, 0, values.size(), values);
    write_rows<double>(out, name, values.size(), values.size(), values);
    write_attribute(out, name, "mean", float64_type, 1.5);
  }
  out.close();
}

/// At the end of the program the library tries again to close the objects that it could not write. If that goes wrong,
/// this test crashes.
TEST_F(Hdf5, a_disk_that_fills_up_at_any_write_is_told_and_harms_nothing) {
  for (const bool wide : {false, true}) {
    int failing = 0, seen = 0;
    do {
      seen = 0;
      set_observer([&](const Event& event) {
        const bool write = event.operation == Operation::write;
        return write && seen++ >= failing ? Verdict{ENOSPC, event.size / 2} : Verdict{};
      });
      bool whole = true;
      try {
        fs::remove(path_);
        write_some(path_, wide);
      } catch (const Error& error) {
        EXPECT_EQ(error.kind(), Kind::no_space) << failing;
        whole = false;
      }
      EXPECT_EQ(whole, seen <= failing) << failing;
    } while (seen > failing++);
    set_observer({});
    EXPECT_GT(failing, 10);
    EXPECT_EQ(list(open(path_), "G").size(), 12U);
  }
}

#endif

}  // namespace
}  // namespace octavo::file::hdf5
