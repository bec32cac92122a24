#include "octavo/formats/flash/flash.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <iterator>
#include <limits>
#include <numeric>

#include "octavo/base/error.hpp"
#include "octavo/formats/flash/lists.hpp"
#include "octavo/mesh/clip.hpp"
#include "octavo/mesh/tree/merge.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/flash_fixture.hpp"
#include "tests/support/temporary_folder.hpp"

namespace octavo::formats::flash {
namespace {

using base::Error;
using base::Kind;
using octavo::testing::error_of;
using ::testing::HasSubstr;
namespace fs = std::filesystem;

#ifndef OCTAVO_HAVE_HDF5

TEST(Flash, without_hdf5_the_format_is_unsupported_and_says_so) {
  const fs::path path = fs::temp_directory_path() / ("octavo_flash_" + std::to_string(::getpid()));
  std::ofstream(path, std::ios::binary) << "\x89HDF\r\n\x1a\n";
  EXPECT_TRUE(recognise(path));
  const Error error = error_of([&] { open_flash(path); });
  fs::remove(path);
  EXPECT_EQ(error.kind(), Kind::unsupported);
  EXPECT_THAT(error.what(), HasSubstr("HDF5"));
}

#else

using octavo::testing::flash_file;
using octavo::testing::flash_value;
using octavo::testing::FlashFile;
using octavo::testing::FlashSet;
using octavo::testing::FlashSpec;
using octavo::testing::write_fixture;

class Flash : public ::testing::Test {
 protected:
  fs::path put(const FlashFile& file, const std::string& name = "run_hdf5_chk_0007") const {
    write_fixture(dir_ / name, file);
    return dir_ / name;
  }
  octavo::testing::TemporaryFolder folder_;
  fs::path dir_ = folder_.path();
};

FlashSpec spec_of(int dim) {
  FlashSpec spec;
  spec.dim = dim;
  spec.block = {4, dim > 1 ? 6 : 1, dim > 2 ? 2 : 1};
  return spec;
}

/// Every data set of a file as it lies there, read by nothing of ours.
std::map<std::string, std::pair<std::vector<hsize_t>, std::vector<char> > > raw_sets(const fs::path& path) {
  std::map<std::string, std::pair<std::vector<hsize_t>, std::vector<char> > > sets;
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  hsize_t count = 0;
  H5Gget_num_objs(file, &count);
  for (hsize_t i = 0; i < count; ++i) {
    std::array<char, 256> name{};
    H5Gget_objname_by_idx(file, i, name.data(), name.size());
    const hid_t set = H5Dopen2(file, name.data(), H5P_DEFAULT), type = H5Dget_type(set), space = H5Dget_space(set);
    std::vector<hsize_t> shape(static_cast<std::size_t>(H5Sget_simple_extent_ndims(space)));
    H5Sget_simple_extent_dims(space, shape.data(), nullptr);
    std::vector<char> bytes(static_cast<std::size_t>(H5Sget_simple_extent_npoints(space)) * H5Tget_size(type));
    if (!bytes.empty()) H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes.data());
    sets[name.data()] = {shape, bytes};
    H5Sclose(space);
    H5Tclose(type);
    H5Dclose(set);
  }
  H5Fclose(file);
  return sets;
}

void expect_same_sets(const fs::path& a, const fs::path& b, const std::vector<std::string>& except = {}) {
  const auto left = raw_sets(a), right = raw_sets(b);
  for (const auto& [name, set] : left) {
    if (std::find(except.begin(), except.end(), name) != except.end()) continue;
    ASSERT_TRUE(right.count(name) > 0) << name;
    EXPECT_EQ(set.first, right.at(name).first) << name;
    EXPECT_TRUE(set.second == right.at(name).second) << name << " differs";
  }
}

/// Calls f(position of the cell's centre, its size, index in a field) for every cell of every owned block.
template <class F>
void for_each_owned_cell(const mesh::Header& header, const mesh::Octree& tree, F&& f) {
  std::vector<mesh::Coordinate> at = mesh::root_coordinates(tree);
  std::size_t cell = 0;
  for (int level = 0; level < mesh::num_levels(tree); ++level) {
    if (level > 0) at = mesh::child_coordinates(tree, level - 1, at);
    for (std::size_t i = 0; i < at.size(); ++i, ++cell) {
      if (!tree.owned[static_cast<std::size_t>(level)][i]) continue;
      std::size_t index = cell * mesh::block_size(tree);
      for (std::int64_t k = 0; k < tree.block[2]; ++k)
        for (std::int64_t j = 0; j < tree.block[1]; ++j)
          for (std::int64_t b = 0; b < tree.block[0]; ++b, ++index) {
            const std::array<std::int64_t, 3> in{b, j, k};
            mesh::Point3 x{}, size{};
            for (std::size_t axis = 0; axis < static_cast<std::size_t>(tree.dim); ++axis) {
              const double block = (header.hi[axis] - header.lo[axis]) / static_cast<double>(header.roots[axis]) /
                                   static_cast<double>(1 << level);
              size[axis] = block / static_cast<double>(tree.block[axis]);
              x[axis] = header.lo[axis] + at[i][axis] * block + (static_cast<double>(in[axis]) + 0.5) * size[axis];
            }
            f(x, size, index);
          }
    }
  }
}

class FlashDim : public Flash, public ::testing::WithParamInterface<int> {};
INSTANTIATE_TEST_SUITE_P(Dim, FlashDim, ::testing::Values(1, 2, 3));

TEST_P(FlashDim, every_cell_has_the_value_of_its_place_however_many_parts) {
  const FlashSpec spec = spec_of(GetParam());
  const fs::path path = put(flash_file(spec));
  const std::size_t blocks = octavo::testing::flash_boxes(spec).size();
  for (std::int64_t a_part : {0, 1, 3}) {
    const mesh::Dataset dataset = open_flash(path, {a_part});
    EXPECT_EQ(dataset.format, "flash");
    EXPECT_EQ(dataset.header.block, (mesh::Index3{spec.block[0], spec.block[1], spec.block[2]}));
    EXPECT_EQ(dataset.header.level_origin, 1);
    EXPECT_DOUBLE_EQ(dataset.header.time, 0.25);
    EXPECT_TRUE(dataset.notes.empty());
    std::size_t cells = 0;
    for (int p = 0; p < dataset.num_parts; ++p) {
      const mesh::Part part = dataset.read(p, {});
      const mesh::Octree& tree = mesh::octree_of(part);
      EXPECT_NO_THROW(mesh::validate(tree));
      ASSERT_EQ(part.fields.size(), 2u);
      EXPECT_EQ(part.fields[1].info.name, "h1");
      for_each_owned_cell(dataset.header, tree, [&](const mesh::Point3& x, const mesh::Point3&, std::size_t index) {
        ++cells;
        ASSERT_DOUBLE_EQ(part.fields[0].as<double>()[index], flash_value("dens", x[0], x[1], x[2]));
        ASSERT_DOUBLE_EQ(part.fields[1].as<double>()[index], flash_value("h1", x[0], x[1], x[2]));
      });
    }
    EXPECT_EQ(cells, blocks * static_cast<std::size_t>(spec.block[0] * spec.block[1] * spec.block[2]));
  }
}

TEST_P(FlashDim, parts_merge_to_the_tree_that_one_part_is) {
  const fs::path path = put(flash_file(spec_of(GetParam())));
  const mesh::Dataset whole = open_flash(path), cut = open_flash(path, {2});
  ASSERT_EQ(whole.num_parts, 1);
  ASSERT_GT(cut.num_parts, 2);
  std::vector<mesh::Part> parts;
  for (int p = 0; p < cut.num_parts; ++p) parts.push_back(cut.read(p, {}));
  const mesh::Part merged = mesh::merge(parts), one = whole.read(0, {});
  EXPECT_EQ(mesh::octree_of(merged), mesh::octree_of(one));
  EXPECT_EQ(merged.fields, one.fields);
}

/// Data sets that FLASH does not know: of no shape of its own, with a row a block, and of integers on cells.
void add_others(FlashFile& file, const FlashSpec& spec) {
  const std::uint64_t blocks = file.sets["refine level"].shape[0];
  const auto counted = [](std::uint64_t count) {
    std::vector<std::int32_t> values(count);
    std::iota(values.begin(), values.end(), -3);
    return values;
  };
  const std::vector<std::uint64_t> cells{blocks, static_cast<std::uint64_t>(spec.block[2]),
                                         static_cast<std::uint64_t>(spec.block[1]),
                                         static_cast<std::uint64_t>(spec.block[0])};
  file.sets["a table"] = octavo::testing::flash_set('d', {2, 2}, std::vector<double>{1, -0.0, NAN, 1e300});
  file.sets["words"] = octavo::testing::flash_texts(7, {"one", "seventh"});
  file.sets["two a block"] = octavo::testing::flash_set('i', {blocks, 2}, counted(2 * blocks));
  file.sets["mask"] = octavo::testing::flash_set('i', cells, counted(cells[0] * cells[1] * cells[2] * cells[3]));
}

TEST_P(FlashDim, what_is_written_has_the_same_data_sets) {
  for (bool single : {false, true})
    for (bool periodic : {false, true}) {
      FlashSpec spec = spec_of(GetParam());
      spec.single = single;
      spec.faces = !single;
      if (periodic) {
        spec.periodic = {true, true, true};
        spec.refine = [](const auto& box) {
          return box.level < 2 || (box.level == 2 && box.lo[0] == 0 && box.lo[1] == 0);
        };
      }
      FlashFile file = flash_file(spec);
      add_others(file, spec);
      const fs::path path = put(file), out = dir_ / "out_hdf5_chk_0007";
      for (std::int64_t a_part : {0, 3}) {
        const FlashReport report = write_flash(open_flash(path, {a_part}), out);
        EXPECT_EQ(report.outside, 0);
        // Lists that were too short for FLASH are completed. "sim info" was missing.
        expect_same_sets(path, out,
                         {"integer scalars", "integer runtime parameters", "real scalars", "logical scalars",
                          "string runtime parameters"});
        fs::remove(out);
      }
    }
}

TEST_P(FlashDim, a_step_without_flash_attributes_is_written_and_read_back) {
  FlashSpec spec = spec_of(GetParam());
  spec.faces = true;
  const fs::path path = put(flash_file(spec)), out = dir_ / "out";
  mesh::Dataset dataset = open_flash(path, {4});
  dataset.header.attributes.clear();
  write_flash(dataset, out);
  const mesh::Dataset back = open_flash(out);
  EXPECT_TRUE(back.notes.empty());
  EXPECT_EQ(back.levels, dataset.levels);
  EXPECT_EQ(back.header.lo, dataset.header.lo);
  EXPECT_EQ(back.header.hi, dataset.header.hi);
  const mesh::Part a = open_flash(path).read(0, {{}, 99, true}), b = back.read(0, {{}, 99, true});
  EXPECT_EQ(mesh::octree_of(a), mesh::octree_of(b));
  for (const mesh::Field& field : a.fields) EXPECT_THAT(b.fields, ::testing::Contains(field)) << field.info.name;
  ASSERT_EQ(b.particles.size(), 1u);
  EXPECT_EQ(b.particles[0].attributes[1], a.particles[0].attributes[1]);
}

// As Flash-X' IO_getPrevScalar asks for them: it ends a restart without.
TEST_F(Flash, a_step_of_another_code_gets_all_lists_that_a_restart_reads) {
  const fs::path path = put(flash_file(FlashSpec{})), out = dir_ / "out", same = dir_ / "same";
  mesh::Dataset dataset = open_flash(path);
  dataset.header.attributes["sim info/build date"] = std::string("a day");
  set_value(dataset.header.attributes, "logical runtime parameters", "restart", std::int64_t{1});
  write_flash(dataset, same);
  const auto kept = open_flash(same).header.attributes;
  dataset.header.attributes.clear();
  write_flash(dataset, out);
  const auto made = open_flash(out).header.attributes;
  EXPECT_EQ(std::get<std::int64_t>(made.at("logical runtime parameters/restart")), 0);
  for (const char* name : {"dt", "dtold", "dtnew", "dtsts", "redshift", "redshiftold", "time", "nextcheckpointtime",
                           "nextcheckpointz", "nextplotfiletime", "nextplotfilez"})
    EXPECT_TRUE(made.contains(std::string("real scalars/") + name)) << name;
  for (const char* name : {"nstep", "nbegin", "checkpointfilenumber", "plotfilenumber", "forcedplotfilenumber",
                           "iprocs", "jprocs", "kprocs", "globalnumparticles", "globalnumblocks"})
    EXPECT_TRUE(made.contains(std::string("integer scalars/") + name)) << name;
  // A file that FLASH wrote gets no additions.
  EXPECT_FALSE(kept.contains("real scalars/nextplotfilez"));
}

TEST_P(FlashDim, face_variables_are_the_two_faces_of_each_cell) {
  FlashSpec spec = spec_of(GetParam());
  spec.faces = true;
  const mesh::Dataset dataset = open_flash(put(flash_file(spec)), {3});
  ASSERT_EQ(dataset.header.fields.size(), 2u + 2u * static_cast<std::size_t>(spec.dim));
  const std::string name = spec.dim == 1 ? "fcx2" : spec.dim == 2 ? "fcy2" : "fcz2";
  const auto axis = static_cast<std::size_t>(spec.dim - 1);
  for (int p = 0; p < dataset.num_parts; ++p) {
    const mesh::Part part = dataset.read(p, {{{name + "_left", name + "_right"}}, 99, false});
    ASSERT_EQ(part.fields.size(), 2u);
    EXPECT_EQ(part.fields[0].info.centring, static_cast<mesh::Centring>(spec.dim));
    for_each_owned_cell(dataset.header, mesh::octree_of(part),
                        [&](mesh::Point3 x, const mesh::Point3& size, std::size_t index) {
                          x[axis] -= 0.5 * size[axis];
                          ASSERT_DOUBLE_EQ(part.fields[0].as<double>()[index], flash_value(name, x[0], x[1], x[2]));
                          x[axis] += size[axis];
                          ASSERT_DOUBLE_EQ(part.fields[1].as<double>()[index], flash_value(name, x[0], x[1], x[2]));
                        });
  }
}

TEST_F(Flash, levels_below_the_one_asked_for_are_not_read) {
  const mesh::Dataset dataset = open_flash(put(flash_file(spec_of(2))), {3});
  ASSERT_EQ(dataset.levels.size(), 4u);
  EXPECT_EQ(dataset.levels.front(), (mesh::LevelCount{1, 2, 1}));
  EXPECT_EQ(dataset.levels.back(), (mesh::LevelCount{4, 4, 4}));
  std::size_t leaves = 0;
  for (int p = 0; p < dataset.num_parts; ++p) {
    const mesh::Part part = dataset.read(p, {{}, 2, false});
    const mesh::Octree& tree = mesh::octree_of(part);
    EXPECT_LE(mesh::num_levels(tree), 2);
    for (int level = 0; level < mesh::num_levels(tree); ++level) leaves += mesh::num_owned_leaves(tree, level);
  }
  EXPECT_EQ(leaves, 5u);  // one root and four blocks of level 2
}

TEST_F(Flash, lists_and_particles_are_there_by_name) {
  const mesh::Dataset dataset = open_flash(put(flash_file(spec_of(2))), {4});
  const auto& attributes = dataset.header.attributes;
  EXPECT_EQ(integer(attributes, "integer scalars/nstep"), 7);
  EXPECT_EQ(integer(attributes, "logical scalars/double_precision"), 1);
  EXPECT_EQ(real(attributes, "real scalars/dt"), 1e-3);
  EXPECT_EQ(text(attributes, "string scalars/geometry"), "cartesian");
  ASSERT_EQ(dataset.species.size(), 1u);
  EXPECT_EQ(dataset.species[0].attributes[1].name, "position_x");
  std::int64_t rows = 0;
  std::vector<double> tags;
  for (int p = 0; p < dataset.num_parts; ++p)
    for (const mesh::Particles& particles : dataset.read(p, {std::vector<std::string>{}, 99, true}).particles) {
      rows += particles.count;
      for (double tag : particles.attributes[5].as<double>()) tags.push_back(tag);
    }
  EXPECT_EQ(rows, dataset.species[0].count);
  std::vector<double> expected(tags.size());
  std::iota(expected.begin(), expected.end(), 1.0);
  EXPECT_EQ(tags, expected);
}

TEST_F(Flash, only_parts_that_touch_a_region_are_named) {
  const mesh::Dataset dataset = open_flash(put(flash_file(spec_of(2))), {1});
  const auto parts = dataset.parts_touching(mesh::Box{{0.9, 0.4, 0}, {0.95, 0.45, 1}});
  ASSERT_EQ(parts.size(), 1u);
  EXPECT_EQ(parts[0], dataset.num_parts - 1);  // the second root block
}

// ---------------------------------------------------------------------------------------------- AMReX's manner

/// New row r holds what old row order[r] held.
void move_rows(FlashFile& file, const std::vector<std::size_t>& order) {
  for (auto& [name, set] : file.sets) {
    if (set.shape[0] != order.size() || name == "tracer particles") continue;
    const std::size_t row = set.bytes.size() / order.size();
    const auto old = set.bytes;
    for (std::size_t r = 0; r < order.size(); ++r)
      std::copy_n(old.begin() + static_cast<std::ptrdiff_t>(order[r] * row), row,
                  set.bytes.begin() + static_cast<std::ptrdiff_t>(r * row));
  }
}

/// Particles move with their blocks.
void level_order(FlashFile& file, std::size_t blocks) {
  const std::int32_t* level = file.sets["refine level"].as<std::int32_t>();
  std::vector<std::size_t> order(blocks);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return level[a] < level[b]; });
  const std::int32_t* counts = file.sets["localnp"].as<std::int32_t>();
  std::vector<std::size_t> first{0};
  for (std::size_t i = 0; i < blocks; ++i) first.push_back(first.back() + static_cast<std::size_t>(counts[i]));
  FlashSet& rows = file.sets["tracer particles"];
  const std::size_t width = rows.bytes.size() / rows.shape[0];
  std::vector<unsigned char> moved;
  for (std::size_t block : order)
    moved.insert(moved.end(), rows.bytes.begin() + static_cast<std::ptrdiff_t>(first[block] * width),
                 rows.bytes.begin() + static_cast<std::ptrdiff_t>(first[block + 1] * width));
  rows.bytes = std::move(moved);
  move_rows(file, order);
}

void strip_as_amrex(FlashFile& file) {
  FlashSet& gid = file.sets["gid"];
  std::fill_n(gid.as<std::int32_t>(), gid.bytes.size() / 4, -1);
  FlashSet& type = file.sets["node type"];
  for (std::size_t i = 0; i < type.bytes.size() / 4; ++i)
    if (type.as<std::int32_t>()[i] == 3) type.as<std::int32_t>()[i] = 2;
  for (const char* name : {"which child", "bflags", "gsurr_blks"}) file.sets.erase(name);
}

TEST_P(FlashDim, files_as_amrex_builds_write_them_become_full_morton_ones) {
  const FlashSpec spec = spec_of(GetParam());
  FlashFile file = flash_file(spec);
  add_others(file, spec);
  const fs::path original = put(file, "original");
  level_order(file, octavo::testing::flash_boxes(spec).size());
  strip_as_amrex(file);
  // The remaining order is by processor; each has one block.
  FlashSet& processor = file.sets["processor number"];
  std::fill_n(processor.as<std::int32_t>(), processor.bytes.size() / 4, 0);
  const fs::path stripped = put(file), out = dir_ / "out";
  const mesh::Dataset dataset = open_flash(stripped, {2});
  ASSERT_EQ(dataset.notes.size(), 1u);
  EXPECT_THAT(dataset.notes[0], HasSubstr("gid is unset"));
  write_flash(dataset, out);
  expect_same_sets(original, out,
                   {"integer scalars", "integer runtime parameters", "real scalars", "logical scalars",
                    "string runtime parameters", "processor number", "tracer particles"});
  // Only the processor of each particle and its number there differ.
  const auto a = open_flash(original).read(0, {{}, 99, true}), b = open_flash(out).read(0, {{}, 99, true});
  for (std::size_t column : {1u, 2u, 3u, 5u})
    EXPECT_EQ(a.particles[0].attributes[column], b.particles[0].attributes[column]);
}

TEST_F(Flash, rows_in_level_order_with_ids_in_morton_order_are_taken_in_morton_order) {
  const FlashSpec spec = spec_of(3);
  FlashFile file = flash_file(spec);
  const fs::path original = put(file, "original");
  level_order(file, octavo::testing::flash_boxes(spec).size());
  const mesh::Dataset dataset = open_flash(put(file));
  ASSERT_EQ(dataset.notes.size(), 1u);
  EXPECT_THAT(dataset.notes[0], HasSubstr("not in Morton order"));
  const mesh::Part a = open_flash(original).read(0, {{}, 99, true}), b = dataset.read(0, {{}, 99, true});
  EXPECT_EQ(a.fields, b.fields);
  EXPECT_EQ(a.particles, b.particles);
}

// ---------------------------------------------------------------------------------------------- damage

struct Damage {
  const char* name;
  std::function<void(FlashFile&)> make;
  const char* set;       ///< named in the error
  const char* expected;  ///< a piece of the message
};

void set_int(FlashFile& file, const char* set, std::size_t at, std::int32_t value) {
  file.sets[set].as<std::int32_t>()[at] = value;
}
void set_real(FlashFile& file, const char* set, std::size_t at, double value) {
  file.sets[set].as<double>()[at] = value;
}

/// Leaves the row out everywhere.
void drop_row(FlashFile& file, std::size_t row) {
  const std::uint64_t blocks = file.sets["refine level"].shape[0];
  for (auto& [name, set] : file.sets) {
    if (set.shape[0] != blocks || name == "tracer particles") continue;
    const auto width = static_cast<std::ptrdiff_t>(set.bytes.size() / blocks);
    const auto at = set.bytes.begin() + static_cast<std::ptrdiff_t>(row) * width;
    set.bytes.erase(at, at + width);
    --set.shape[0];
  }
  file.lists.integers["integer scalars"]["globalnumblocks"] = static_cast<std::int32_t>(blocks - 1);
}

const std::vector<Damage>& damages() {
  static const std::vector<Damage> all{
      {"missing_set", [](FlashFile& f) { f.sets.erase("coordinates"); }, "coordinates", "missing"},
      {"missing_variable", [](FlashFile& f) { f.sets.erase("dens"); }, "dens", "missing"},
      {"no_nxb", [](FlashFile& f) { f.lists.integers["integer scalars"].erase("nxb"); }, "integer scalars", "\"nxb\""},
      {"wrong_nxb", [](FlashFile& f) { f.lists.integers["integer scalars"]["nxb"] = 5; }, "dens", "(14, 1, 6, 5)"},
      {"nonsense_nxb", [](FlashFile& f) { f.lists.integers["integer scalars"]["nyb"] = -4; }, "integer scalars",
       "found -4"},
      {"four_dimensions", [](FlashFile& f) { f.lists.integers["integer scalars"]["dimensionality"] = 4; },
       "integer scalars", "found 4"},
      {"block_count", [](FlashFile& f) { f.lists.integers["integer scalars"]["globalnumblocks"] = 15; }, "refine level",
       "globalnumblocks = 15 blocks, found 14"},
      {"short_gid",
       [](FlashFile& f) {
         f.sets["gid"].shape = {9, 14};
       },
       "gid", "(14, 9)"},
      {"real_gid",
       [](FlashFile& f) {
         f.sets["gid"] = octavo::testing::flash_set('d', {14, 9}, std::vector<double>(126));
       },
       "gid", "of integers"},
      {"wrong_neighbour", [](FlashFile& f) { set_int(f, "gid", 9 + 1, 3); }, "gid", "block 2, entry 2: expected"},
      {"wrong_parent", [](FlashFile& f) { set_int(f, "gid", 9 + 4, 2); }, "gid", "expected 1, found 2"},
      {"boundary_inside", [](FlashFile& f) { set_int(f, "gid", 9 + 1, -32); }, "gid", "found -32"},
      {"unknown_boundary", [](FlashFile& f) { set_int(f, "gid", 0, -7); }, "gid", "found -7"},
      {"wrong_child", [](FlashFile& f) { set_int(f, "which child", 1, 2); }, "which child", "expected 1, found 2"},
      {"wrong_type", [](FlashFile& f) { set_int(f, "node type", 0, 1); }, "node type", "block 1"},
      {"wrong_around", [](FlashFile& f) { set_int(f, "gsurr_blks", 9, 1); }, "gsurr_blks", "block 1"},
      {"level_0", [](FlashFile& f) { set_int(f, "refine level", 3, 0); }, "refine level", "level of 1 to 31"},
      {"level_below_all", [](FlashFile& f) { set_int(f, "refine level", 3, std::numeric_limits<std::int32_t>::min()); },
       "refine level", "found -2147483648"},
      {"level_off", [](FlashFile& f) { set_int(f, "refine level", 3, 3); }, "", "block 4"},
      {"box_moved", [](FlashFile& f) { set_real(f, "bounding box", 6 * 3, 0.07); }, "", "block 4"},
      {"box_nan", [](FlashFile& f) { set_real(f, "bounding box", 6 * 3 + 1, NAN); }, "", "block 4"},
      {"box_infinite", [](FlashFile& f) { set_real(f, "bounding box", 1, INFINITY); }, "bounding box", "level 1"},
      {"centre_moved", [](FlashFile& f) { set_real(f, "coordinates", 3 * 3, 0.5); }, "coordinates", "block 4"},
      {"size_wrong", [](FlashFile& f) { set_real(f, "block size", 3 * 3, 0.5); }, "block size", "block 4"},
      {"two_at_one_place",
       [](FlashFile& f) {
         for (const char* name : {"bounding box", "coordinates", "block size"}) {
           FlashSet& set = f.sets[name];
           const std::size_t row = set.bytes.size() / 14;
           std::copy_n(set.bytes.begin() + static_cast<std::ptrdiff_t>(3 * row), row,
                       set.bytes.begin() + static_cast<std::ptrdiff_t>(4 * row));
         }
       },
       "", "two blocks at one place"},
      {"child_missing", [](FlashFile& f) { drop_row(f, 12); }, "", "3 of its 4 children"},
      {"name_twice",
       [](FlashFile& f) {
         f.sets["unknown names"] = octavo::testing::flash_texts(4, {"dens", "dens"});
       },
       "unknown names", "twice"},
      {"names_are_numbers", [](FlashFile& f) { f.sets["unknown names"] = f.sets["localnp"]; }, "unknown names",
       "expected texts"},
  };
  return all;
}

class FlashDamage : public Flash, public ::testing::WithParamInterface<std::size_t> {};
INSTANTIATE_TEST_SUITE_P(Each, FlashDamage, ::testing::Range(std::size_t{0}, damages().size()),
                         [](const auto& param) { return damages()[param.param].name; });

TEST_P(FlashDamage, is_named_with_file_data_set_expected_and_found) {
  const Damage& damage = damages()[GetParam()];
  FlashFile file = flash_file(spec_of(2));
  ASSERT_EQ(file.sets["refine level"].shape[0], 14u);
  damage.make(file);
  const fs::path path = put(file);
  EXPECT_TRUE(recognise(path));
  const Error error = error_of([&] { open_flash(path); });
  EXPECT_EQ(error.kind(), Kind::corrupt) << error.what();
  EXPECT_THAT(error.what(), HasSubstr(path.string()));
  EXPECT_THAT(error.what(), HasSubstr(damage.set));
  EXPECT_THAT(error.what(), HasSubstr(damage.expected));
}

TEST_F(Flash, a_tree_that_is_not_2_to_1_is_refused) {
  FlashSpec spec = spec_of(2);
  spec.refine = [](const auto& box) { return box.level < 4 && box.hi[0] == 1 && box.lo[1] == 0; };
  const Error error = error_of([&] { open_flash(put(flash_file(spec))); });
  EXPECT_EQ(error.kind(), Kind::corrupt);
  EXPECT_THAT(error.what(), HasSubstr("not 2:1"));
}

TEST_F(Flash, a_domain_with_a_hole_is_unsupported) {
  FlashSpec spec = spec_of(2);
  spec.roots = {3, 1, 1};
  spec.hi = {3, 1, 1};
  spec.refine = [](const auto&) { return false; };
  FlashFile file = flash_file(spec);
  drop_row(file, 1);
  EXPECT_EQ(error_of([&] { open_flash(put(file)); }).kind(), Kind::unsupported);
}

TEST_P(FlashDim, sides_are_periodic_where_gid_says_so_and_nothing_else_does) {
  for (const bool one_root : {false, true}) {
    FlashSpec spec = spec_of(GetParam());
    spec.periodic = {true, false, true};
    if (one_root) spec.roots = {1, 1, 1};
    spec.refine = [](const auto& box) { return box.level < 2; };
    FlashFile file = flash_file(spec);
    file.lists.texts.erase("string runtime parameters");
    const mesh::Dataset dataset = open_flash(put(file));
    for (std::size_t axis = 0; axis < static_cast<std::size_t>(spec.dim); ++axis)
      EXPECT_EQ(dataset.header.periodic[axis], spec.periodic[axis]) << axis;
    // A copy has all entries that a restart of FLASH reads.
    const fs::path out = dir_ / (one_root ? "one" : "two");
    write_flash(dataset, out);
    const auto made = open_flash(out).header.attributes;
    EXPECT_EQ(text(made, "string runtime parameters/xl_boundary_type"), "periodic");
    EXPECT_TRUE(made.contains("logical runtime parameters/restart"));
  }
}

TEST_F(Flash, damaged_particles_do_not_hide_the_mesh) {
  FlashFile file = flash_file(spec_of(2));
  set_int(file, "localnp", 13, 5);
  const mesh::Dataset dataset = open_flash(put(file));
  ASSERT_EQ(dataset.notes.size(), 1u);
  EXPECT_EQ(dataset.read(0, {}).fields.size(), 2u);
  const Error error = error_of([&] { dataset.read(0, {{}, 99, true}); });
  EXPECT_EQ(error.kind(), Kind::corrupt);
  EXPECT_THAT(error.what(), HasSubstr("localnp"));
  EXPECT_THAT(error.what(), HasSubstr("expected a sum of 22"));
}

TEST_F(Flash, a_prefix_of_a_valid_file_is_never_accepted) {
  const fs::path path = put(flash_file(spec_of(2)));
  std::ifstream in(path, std::ios::binary);
  const std::string all((std::istreambuf_iterator<char>(in)), {});
  for (std::size_t size = 0; size < all.size(); size += 509) {
    const fs::path cut = dir_ / "cut_hdf5_chk_0000";
    std::ofstream(cut, std::ios::binary).write(all.data(), static_cast<std::streamsize>(size));
    EXPECT_THROW(open_flash(cut), Error) << size;
  }
}

TEST_F(Flash, other_hdf5_files_are_not_recognised) {
  FlashFile file;
  file.sets["data"] = octavo::testing::flash_set('d', {3}, std::vector<double>{1, 2, 3});
  const fs::path path = put(file, "other.h5");
  EXPECT_FALSE(recognise(path));
  EXPECT_EQ(error_of([&] { open_flash(path); }).kind(), Kind::corrupt);
  EXPECT_FALSE(recognise(dir_));
  EXPECT_FALSE(recognise(dir_ / "nothing"));
}

// ---------------------------------------------------------------------------------------------- writing

TEST_F(Flash, minimum_and_maximum_are_those_of_leaf_cells) {
  FlashFile file = flash_file(spec_of(2));
  set_real(file, "dens", 0, -1e9);  // the first block is a parent
  const fs::path out = dir_ / "out";
  write_flash(open_flash(put(file)), out);
  const auto written = file::hdf5::open(out);
  // Leaf cells reach from the corner (level 4, cells of 1/32 x 1/48) to the far one (level 1, cells of 1/4 x 1/6).
  EXPECT_DOUBLE_EQ(file::hdf5::read_attribute(written, "dens", "minimum").value(),
                   flash_value("dens", 1.0 / 64, 1.0 / 96, 0));
  EXPECT_DOUBLE_EQ(file::hdf5::read_attribute(written, "dens", "maximum").value(),
                   flash_value("dens", 2 - 1.0 / 8, 1 - 1.0 / 12, 0));
  EXPECT_FALSE(file::hdf5::read_attribute(written, "gid", "minimum").has_value());
}

TEST_F(Flash, single_precision_is_written_when_asked_for) {
  const fs::path out = dir_ / "out_hdf5_plt_cnt_0007";
  WriteOptions options;
  options.kind = "plotfile";
  options.single_precision = true;
  write_flash(open_flash(put(flash_file(spec_of(2)))), out, options);
  const mesh::Dataset dataset = open_flash(out);
  EXPECT_EQ(dataset.header.fields[0].type, mesh::ScalarType::float32);
  EXPECT_EQ(dataset.header.attributes.at("flash/kind"), mesh::Attribute(std::string("plotfile")));
  EXPECT_EQ(dataset.header.attributes.at("flash/metadata bytes"), mesh::Attribute(std::int64_t{4}));
  EXPECT_TRUE(dataset.species.empty());
}

TEST_F(Flash, particles_outside_of_the_domain_are_counted) {
  FlashFile file = flash_file(spec_of(2));
  set_real(file, "tracer particles", 6 * 4 + 1, 2.5);
  const fs::path out = dir_ / "out";
  EXPECT_EQ(write_flash(open_flash(put(file)), out).outside, 1);
  EXPECT_EQ(open_flash(out).species[0].count, 22);
}

TEST_F(Flash, what_flash_cannot_hold_is_refused_before_anything_is_written) {
  const fs::path path = put(flash_file(spec_of(2))), out = dir_ / "out";
  mesh::Dataset dataset = open_flash(path);
  dataset.header.fields[0].name = "vorticity";
  EXPECT_EQ(error_of([&] { write_flash(dataset, out); }).kind(), Kind::usage);
  EXPECT_EQ(error_of([&] { write_flash(open_flash(path), path); }).kind(), Kind::usage);
  WriteOptions options;
  options.kind = "movie";
  EXPECT_EQ(error_of([&] { write_flash(open_flash(path), out, options); }).kind(), Kind::usage);
  EXPECT_FALSE(fs::exists(out));
  EXPECT_FALSE(fs::exists(dir_ / "out.partial"));
}

TEST_F(Flash, a_write_that_fails_leaves_nothing) {
  mesh::Dataset dataset = open_flash(put(flash_file(spec_of(2))), {3});
  const auto read = dataset.read;
  dataset.read = [read](int part, const mesh::Request& request) {
    if (part == 2 && !request.fields->empty()) throw Error(Kind::unreadable, "gone");
    return read(part, request);
  };
  const fs::path out = dir_ / "out";
  EXPECT_EQ(error_of([&] { write_flash(dataset, out); }).kind(), Kind::unreadable);
  EXPECT_FALSE(fs::exists(out));
  EXPECT_FALSE(fs::exists(dir_ / "out.partial"));
}

#endif

}  // namespace
}  // namespace octavo::formats::flash
