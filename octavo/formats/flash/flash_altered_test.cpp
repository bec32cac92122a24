#ifdef OCTAVO_HAVE_HDF5
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <hdf5.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <string>
#include <type_traits>
#include <vector>

#include "octavo/base/error.hpp"
#include "octavo/formats/flash/flash.hpp"
#include "octavo/mesh/octree.hpp"

// A real checkpoint with the alterations that FLASH's own comparison tool was tried on: each is read as what it is.
namespace octavo::formats::flash {
namespace {

using base::Error;
namespace fs = std::filesystem;

fs::path original() {
  const char* path = std::getenv("OCTAVO_DATA");
  const fs::path data = path != nullptr
                            ? fs::path(path)
                            : fs::path(__FILE__).parent_path().parent_path().parent_path().parent_path().parent_path() /
                                  "shared" / "data";
  return data / "flash" / "sedov2d_pm4_par4" / "sedov2dp_hdf5_chk_0002";
}

/// Changes all values of a data set with HDF5's own functions.
template <class T>
void alter(const fs::path& path, const char* name, const std::function<void(std::vector<T>&)>& change) {
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  const hid_t set = H5Dopen2(file, name, H5P_DEFAULT), space = H5Dget_space(set);
  const hid_t type = std::is_same_v<T, double> ? H5T_NATIVE_DOUBLE : H5T_NATIVE_INT;
  std::vector<T> values(static_cast<std::size_t>(H5Sget_simple_extent_npoints(space)));
  H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
  change(values);
  H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
  H5Sclose(space);
  H5Dclose(set);
  H5Fclose(file);
}

/// Replaces "tracer particles" by its first rows.
void cut_particles(const fs::path& path, hsize_t rows) {
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  hid_t set = H5Dopen2(file, "tracer particles", H5P_DEFAULT);
  std::vector<double> values(144 * 9);
  H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
  H5Dclose(set);
  H5Ldelete(file, "tracer particles", H5P_DEFAULT);
  const std::array<hsize_t, 2> shape{rows, 9};
  const hid_t space = H5Screate_simple(2, shape.data(), nullptr);
  set = H5Dcreate2(file, "tracer particles", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
  H5Sclose(space);
  H5Dclose(set);
  H5Fclose(file);
}

class FlashAltered : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!fs::exists(original())) GTEST_SKIP() << "no real FLASH file at " << original() << ": set OCTAVO_DATA";
    copy_ = fs::temp_directory_path() / ("octavo_flash_hdf5_chk_" + std::to_string(::getpid()));
    fs::copy_file(original(), copy_, fs::copy_options::overwrite_existing);
    fs::permissions(copy_, fs::perms::owner_write, fs::perm_options::add);
    before_ = open_flash(original()).read(0, {{}, 99, true});
  }
  void TearDown() override { fs::remove(copy_); }

  mesh::Part read() const { return open_flash(copy_).read(0, {{}, 99, true}); }
  /// Counts the values of the part's fields and particles that differ from the original ones.
  std::pair<std::size_t, std::size_t> differences(const mesh::Part& part) const {
    std::pair<std::size_t, std::size_t> count{0, 0};
    for (std::size_t f = 0; f < part.fields.size(); ++f) count.first += different(part.fields[f], before_.fields[f]);
    for (std::size_t a = 0; a < part.particles.at(0).attributes.size(); ++a)
      count.second += different(part.particles[0].attributes[a], before_.particles[0].attributes[a]);
    return count;
  }
  static std::size_t different(const mesh::Field& a, const mesh::Field& b) {
    std::size_t count = a.size() == b.size() ? 0 : 1;
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
      const double x = a.as<double>()[i], y = b.as<double>()[i];
      count += x == y ? 0 : 1;  // NaN differs
    }
    return count;
  }

  fs::path copy_;
  mesh::Part before_;
};

using Counts = std::pair<std::size_t, std::size_t>;

TEST_F(FlashAltered, single_values_and_nan_come_through) {
  alter<double>(copy_, "dens", [](auto& values) { values[15 * 64 + 3 * 8 + 4] *= 1 + 1e-10; });
  alter<double>(copy_, "pres", [](auto& values) { values[29 * 64] += 1e-3; });
  EXPECT_EQ(differences(read()), Counts(2, 0));
  alter<double>(copy_, "dens", [](auto& values) { values[15 * 64 + 3 * 8 + 4] = NAN; });
  EXPECT_EQ(differences(read()), Counts(2, 0));
}

TEST_F(FlashAltered, values_of_parents_are_read_as_they_are) {
  std::vector<int> types;
  alter<int>(copy_, "node type", [&](auto& values) { types = values; });
  alter<double>(copy_, "dens", [&](auto& values) {
    for (std::size_t i = 0; i < values.size(); ++i)
      if (types[i / 64] != 1) values[i] = -1;
  });
  EXPECT_EQ(differences(read()), Counts(45 * 64, 0));  // 181 blocks, 136 of them leaves
}

TEST_F(FlashAltered, particles_in_another_order_or_place_or_with_another_tag_are_read) {
  alter<double>(copy_, "tracer particles", [](auto& values) {
    std::vector<double> reversed;
    for (std::size_t row = 144; row-- > 0;)
      reversed.insert(reversed.end(), values.begin() + static_cast<std::ptrdiff_t>(row * 9),
                      values.begin() + static_cast<std::ptrdiff_t>(row * 9 + 9));
    values = reversed;
  });
  const mesh::Part part = read();
  const auto tags = part.particles.at(0).attributes[5].as<double>();
  EXPECT_EQ(std::accumulate(tags.begin(), tags.end(), 0.0), 10440);
  fs::copy_file(original(), copy_, fs::copy_options::overwrite_existing);
  alter<double>(copy_, "tracer particles", [](auto& values) {
    values[5 * 9 + 1] += 1e-6;
    values[5 * 9 + 5] = 9999;
  });
  EXPECT_EQ(differences(read()), Counts(0, 2));
}

TEST_F(FlashAltered, missing_particle_rows_are_named_and_do_not_hide_the_mesh) {
  cut_particles(copy_, 140);
  const mesh::Dataset dataset = open_flash(copy_);
  ASSERT_EQ(dataset.notes.size(), 1u);
  EXPECT_THAT(dataset.notes[0], ::testing::HasSubstr("expected a sum of 140"));
  EXPECT_TRUE(dataset.read(0, {}).fields == before_.fields);
  EXPECT_THROW(read(), Error);
}

TEST_F(FlashAltered, a_mesh_moved_by_less_than_a_cell_is_read_at_its_new_place) {
  alter<double>(copy_, "coordinates", [](auto& values) {
    for (std::size_t i = 0; i < values.size(); i += 3) values[i] += 1e-9;
  });
  alter<double>(copy_, "bounding box", [](auto& values) {
    for (std::size_t i = 0; i < values.size(); i += 6) {
      values[i] += 1e-9;
      values[i + 1] += 1e-9;
    }
  });
  EXPECT_EQ(open_flash(copy_).header.lo[0], 1e-9);
  EXPECT_EQ(differences(read()), Counts(0, 0));
}

TEST_F(FlashAltered, blocks_in_level_order_are_put_in_morton_order) {
  std::vector<int> levels, counts;
  alter<int>(copy_, "refine level", [&](auto& values) { levels = values; });
  alter<int>(copy_, "localnp", [&](auto& values) { counts = values; });
  std::vector<std::size_t> order(levels.size()), first{0};
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return levels[a] < levels[b]; });
  for (int count : counts) first.push_back(first.back() + static_cast<std::size_t>(count));
  const auto move = [&](auto& values) {
    const auto old = values;
    const std::size_t width = values.size() / order.size();
    for (std::size_t row = 0; row < order.size(); ++row)
      std::copy_n(old.begin() + static_cast<std::ptrdiff_t>(order[row] * width), width,
                  values.begin() + static_cast<std::ptrdiff_t>(row * width));
  };
  for (const char* name :
       {"refine level", "node type", "which child", "processor number", "bflags", "gid", "gsurr_blks", "localnp"})
    alter<int>(copy_, name, move);
  for (const char* name : {"coordinates", "block size", "bounding box"}) alter<double>(copy_, name, move);
  for (const mesh::Field& field : before_.fields) alter<double>(copy_, field.info.name.c_str(), move);
  alter<double>(copy_, "tracer particles", [&](auto& values) {
    std::vector<double> moved;
    for (std::size_t block : order)
      moved.insert(moved.end(), values.begin() + static_cast<std::ptrdiff_t>(first[block] * 9),
                   values.begin() + static_cast<std::ptrdiff_t>(first[block + 1] * 9));
    values = moved;
  });
  const mesh::Dataset dataset = open_flash(copy_);
  ASSERT_EQ(dataset.notes.size(), 1u);
  EXPECT_THAT(dataset.notes[0], ::testing::HasSubstr("Morton order"));
  EXPECT_EQ(mesh::num_cells(std::get<mesh::Octree>(read().mesh)), 181u);
  EXPECT_EQ(differences(read()), Counts(0, 0));
}

}  // namespace
}  // namespace octavo::formats::flash
#endif
