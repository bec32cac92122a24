#include "octavo/formats/amrex/amrex.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <limits>
#include <map>
#include <random>

#include "octavo/base/error.hpp"
#include "octavo/file/posix.hpp"
#include "octavo/formats/amrex/writer.hpp"
#include "octavo/mesh/boxes.hpp"
#include "octavo/mesh/sides.hpp"
#include "tests/support/amrex_fixture.hpp"
#include "tests/support/amrex_whole.hpp"

namespace octavo::formats::amrex {
namespace {

namespace fs = std::filesystem;
using testing::AmrexFiles;
using testing::AmrexFixture;
using ::testing::HasSubstr;

class Folder {
 public:
  Folder() : path_(fs::path(::testing::TempDir()) / ("octavo_amrex_" + std::to_string(getpid()))) { clear(); }
  ~Folder() { clear(); }
  fs::path with(const AmrexFiles& files) {
    clear();
    testing::put_files(path_ / "plt00007", files);
    return path_ / "plt00007";
  }
  fs::path operator/(const std::string& name) const { return path_ / name; }
  void clear() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }

 private:
  fs::path path_;
};

void expect_values(const mesh::Part& part, const AmrexFixture& fixture) {
  const auto& patches = std::get<mesh::Patches>(part.mesh);
  ASSERT_EQ(part.fields.size(), 2U);
  std::size_t next = 0;
  for (std::size_t level = 0; level < patches.boxes.size(); ++level) {
    for (const mesh::IndexBox& box : patches.boxes[level])
      mesh::for_each_row(box, [&](const mesh::Index3& at, std::int64_t length) {
        for (std::int64_t x = at[0]; x < at[0] + length; ++x, ++next)
          for (int c = 0; c < 2; ++c) {
            const double expected =
                testing::amrex_value(level, c, {static_cast<int>(x), static_cast<int>(at[1]), static_cast<int>(at[2])});
            const mesh::Field& field = part.fields[static_cast<std::size_t>(c)];
            mesh::visit_values(field, [&](auto values) { ASSERT_EQ(static_cast<double>(values[next]), expected); });
          }
      });
  }
  EXPECT_EQ(part.fields[0].size(), next);
  EXPECT_EQ(part.fields[0].info.type, fixture.single ? mesh::ScalarType::float32 : mesh::ScalarType::float64);
}

std::vector<AmrexFixture> all_fixtures() {
  std::vector<AmrexFixture> all;
  for (int dim = 1; dim <= 3; ++dim)
    for (int version = 1; version <= 4; ++version)
      for (const bool big : {false, true})
        for (const bool single : {false, true}) {
          AmrexFixture f{.dim = dim, .ratio = single ? 4 : 2, .version = version, .big_endian = big, .single = single};
          if (version > 2) f.corner = {-3, 5, 1};
          for (int axis = dim; axis < 3; ++axis) f.corner[static_cast<std::size_t>(axis)] = 0;
          all.push_back(f);
        }
  return all;
}

TEST(amrex, every_header_version_precision_and_byte_order_reads_the_same) {
  Folder folder;
  for (const AmrexFixture& fixture : all_fixtures()) {
    SCOPED_TRACE(std::to_string(fixture.dim) + "-D, version " + std::to_string(fixture.version));
    const fs::path path = folder.with(testing::amrex_plotfile(fixture));
    ASSERT_TRUE(recognise(path));
    const AmrexOutput output = open_output(path);
    EXPECT_EQ(output.family, OutputFamily::plotfile);
    EXPECT_EQ(output.header.fields[1].name, "two words");
    EXPECT_EQ(output.header.time, 0.5);
    EXPECT_EQ(output.patches.ratio, std::vector<int>{fixture.ratio});
    expect_values(read_patches(output), fixture);
  }
}

/// Values on faces and nodes follow from where they stand: each field has those at one side of the cells.
void expect_sides(const AmrexOutput& output, const AmrexFixture& fixture) {
  const mesh::Part part = read_patches(output);
  const auto& patches = std::get<mesh::Patches>(part.mesh);
  EXPECT_EQ(part.fields.size(), 2U + 4U * static_cast<unsigned>(fixture.dim) + (2U << fixture.dim));
  for (std::size_t f = 2; f < part.fields.size(); ++f) {
    const mesh::FieldInfo& info = part.fields[f].info;
    const auto side = mesh::side_of(info, fixture.dim);
    ASSERT_TRUE(side) << info.name;
    EXPECT_EQ(info.centring == mesh::Centring::node, info.name.starts_with("Nodal_"));
    const int component = side->base.back() - '0';
    std::size_t next = 0;
    for (std::size_t level = 0; level < patches.boxes.size(); ++level)
      for (const mesh::IndexBox& box : patches.boxes[level])
        mesh::for_each_row(box, [&](const mesh::Index3& at, std::int64_t length) {
          for (std::int64_t x = at[0]; x < at[0] + length; ++x, ++next) {
            std::array<int, 3> place{static_cast<int>(x), static_cast<int>(at[1]), static_cast<int>(at[2])};
            for (std::size_t axis = 0; axis < 3; ++axis) place[axis] += static_cast<int>(side->high >> axis & 1);
            const double expected = testing::amrex_value(level, component, {place[0], place[1], place[2]});
            mesh::visit_values(part.fields[f], [&](auto values) {
              ASSERT_EQ(static_cast<double>(values[next]), expected) << info.name;
            });
          }
        });
    EXPECT_EQ(part.fields[f].size(), next);
  }
}

TEST(amrex, both_families_of_checkpoints_read_without_their_ghost_cells) {
  Folder folder;
  for (AmrexFixture fixture : all_fixtures()) {
    if (fixture.version != 1 || fixture.dim < 2) continue;
    fixture.ghost = {2, 1, fixture.dim == 3 ? 3 : 0};
    const AmrexOutput level = open_output(folder.with(testing::amrex_level_checkpoint(fixture)));
    EXPECT_EQ(level.family, OutputFamily::amr_level);
    EXPECT_EQ(level.header.periodic[0], true);
    EXPECT_EQ(level.header.periodic[1], false);
    EXPECT_EQ(level.header.hi[1], 0.5);
    EXPECT_EQ(level.header.fields[1].name, "SD_0_New_MF_1");
    EXPECT_EQ(level.patches.ratio, std::vector<int>{fixture.ratio});
    expect_values(read_patches(level), fixture);
    HeaderFacts options;
    options.ratio = {fixture.ratio};
    const AmrexOutput core = open_output(folder.with(testing::amrex_core_checkpoint(fixture)), options);
    EXPECT_EQ(core.family, OutputFamily::hand_written);
    EXPECT_EQ(core.header.time, 0.5);
    EXPECT_TRUE(core.others.empty());
    EXPECT_THAT(core.notes, ::testing::Contains(HasSubstr("ghost cells are not among")));
    PatchRequest cells;
    cells.fields = {{"State_0", "State_1"}};
    expect_values(read_patches(core, cells), fixture);
    expect_sides(core, fixture);
    const MultiFabValues nodal = read_multifab(open_multifab(folder / "plt00007/Level_1/Nodal"));
    EXPECT_EQ(nodal.fields[0].info.centring, mesh::Centring::node);
    mesh::visit_values(nodal.fields[1], [&](auto values) {
      const mesh::Index3& at = nodal.boxes[0].lo;
      EXPECT_EQ(
          static_cast<double>(values[0]),
          testing::amrex_value(1, 1, {static_cast<int>(at[0]), static_cast<int>(at[1]), static_cast<int>(at[2])}));
    });
  }
}

TEST(amrex, a_dataset_has_levels_and_leaves_in_the_codes_own_numbers) {
  Folder folder;
  AmrexFixture fixture;
  DatasetOptions options;
  options.max_roots = 2;  // unfolded twice
  const mesh::Dataset two = open(folder.with(testing::amrex_plotfile(fixture)), options);
  EXPECT_EQ(two.header.unfolded, 2);
  EXPECT_EQ(two.header.roots, (mesh::Index3{2, 1, 1}));
  EXPECT_EQ(two.levels, (std::vector<mesh::LevelCount>{{0, 32, 16}, {1, 64, 64}}));
  EXPECT_EQ(std::get<std::int64_t>(two.header.attributes.at("step")), 7);
  fixture.ratio = 4;
  const mesh::Dataset four = open(folder.with(testing::amrex_plotfile(fixture)));
  EXPECT_EQ(four.levels, (std::vector<mesh::LevelCount>{{0, 32, 16}, {1, 256, 256}}));
  EXPECT_EQ(mesh::level_index(four.header, 1), four.header.unfolded + 2);
}

TEST(amrex, a_shallower_request_ends_at_that_level_with_the_values_of_the_patches) {
  Folder folder;
  AmrexFixture fixture{.dim = 2, .ratio = 4};
  const mesh::Dataset dataset = open(folder.with(testing::amrex_plotfile(fixture)));
  mesh::Request request;
  request.fields = {"two words"};
  for (const int level : {0, 1, 2}) {
    request.max_level = level;
    const mesh::Part part = dataset.read(0, request);
    const auto& tree = std::get<mesh::Octree>(part.mesh);
    EXPECT_EQ(mesh::num_levels(tree), level == 0 ? 1 : 3);
    EXPECT_EQ(part.fields.size(), 1U);
    EXPECT_EQ(part.fields[0].as<double>()[0], 1500);
    if (level > 0) {
      // Cell (4,0) of the level between holds the mean of cells (8,0) to (9,1) of level 1.
      EXPECT_EQ(part.fields[0].as<double>()[32], 2500 + 8.5 + 8);
    }
  }
  request.max_level = -1;
  EXPECT_THROW(dataset.read(0, request), base::Error);
}

TEST(amrex, parts_touching_a_region_hold_all_cells_in_it) {
  Folder folder;
  DatasetOptions options;
  options.part_cells = 12;
  const mesh::Dataset dataset = open(folder.with(testing::amrex_plotfile({})), options);
  ASSERT_GT(dataset.num_parts, 4);
  const auto all = dataset.parts_touching(mesh::Box{{0, 0, 0}, {1, 1, 1}});
  EXPECT_EQ(static_cast<int>(all.size()), dataset.num_parts);
  const auto few = dataset.parts_touching(mesh::Box{{0.01, 0.01, 0}, {0.1, 0.1, 1}});
  ASSERT_EQ(few.size(), 1U);
  // The corner's part, and only it, owns root 0.
  for (int number = 0; number < dataset.num_parts; ++number) {
    const mesh::Part part = dataset.read(number, {});
    const auto& tree = std::get<mesh::Octree>(part.mesh);
    const auto corner = mesh::RootIndex(held_roots(tree)).find(0);
    EXPECT_EQ(corner && tree.owned[0][*corner], number == few[0]);
    EXPECT_GT(dataset.part_bytes(number), 0);
  }
}

TEST(amrex, a_ratio_of_3_can_be_read_as_patches_but_not_as_a_tree) {
  Folder folder;
  const AmrexFixture fixture{.dim = 2, .ratio = 3};
  const fs::path path = folder.with(testing::amrex_plotfile(fixture));
  expect_values(read_patches(open_output(path)), fixture);
  const mesh::Dataset dataset = open(path);
  EXPECT_EQ(dataset.levels, (std::vector<mesh::LevelCount>{{0, 32, 16}, {1, 144, 144}}));
  try {
    dataset.read(0, {});
    FAIL() << "accepted";
  } catch (const base::Error& error) {
    EXPECT_EQ(error.kind(), base::Kind::unsupported);
  }
}

TEST(amrex, identities_of_both_particle_versions_are_whole) {
  Folder folder;
  for (const bool packed : {false, true}) {
    AmrexFixture fixture;
    fixture.with_particles = true;
    fixture.packed = packed;
    fixture.first_id = packed ? 5'000'000'000 : 41;
    DatasetOptions options;
    options.part_cells = 12;
    const mesh::Dataset dataset = open(folder.with(testing::amrex_plotfile(fixture)), options);
    ASSERT_EQ(dataset.species.size(), 1U);
    EXPECT_EQ(dataset.species[0].count, 6);
    std::map<std::int64_t, std::vector<double>> found;
    mesh::Request request;
    request.particles = true;
    for (int part = 0; part < dataset.num_parts; ++part) {
      const mesh::Particles particles = dataset.read(part, request).particles.at(0);
      EXPECT_EQ(particles.attributes[3].info.name, "id");
      for (std::size_t i = 0; i < static_cast<std::size_t>(particles.count); ++i) {
        auto& row = found[particles.attributes[3].as<std::int64_t>()[i]];
        EXPECT_TRUE(row.empty()) << "twice";
        row = {particles.attributes[0].as<double>()[i], particles.attributes[2].as<double>()[i],
               static_cast<double>(particles.attributes[4].as<std::int32_t>()[i]),
               static_cast<double>(particles.attributes[5].as<std::int32_t>()[i])};
      }
    }
    EXPECT_EQ(found.size(), 6U);
    EXPECT_EQ(found.at(fixture.first_id + 4), (std::vector<double>{0.75, 2.5, 1, 10}));
  }
}

// ------------------------------------------------------------------------------------------------------------ damage

struct Damage {
  const char* what;
  std::function<void(AmrexFiles&)> act;
  base::Kind kind;
  const char* message;
};

void replace(std::string& text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  ASSERT_NE(at, std::string::npos) << from;
  text.replace(at, from.size(), to);
}

std::pair<base::Kind, std::string> refusal(const fs::path& path) {
  try {
    const mesh::Dataset dataset = open(path);
    mesh::Request request;
    request.particles = true;
    dataset.read(0, request);
  } catch (const base::Error& error) {
    return {error.kind(), error.what()};
  }
  return {base::Kind::interrupted, "accepted"};
}

TEST(amrex, every_kind_of_damage_is_refused_by_name) {
  using base::Kind;
  const std::string data = "Level_1/Cell_D_00000", head = "Level_1/Cell_H";
  const std::vector<Damage> damages{
      {"half-written data", [&](auto& f) { f[data].pop_back(); }, Kind::corrupt, "do not fit in"},
      {"no data", [&](auto& f) { f.erase(data); }, Kind::unreadable, "Cell_D_00000"},
      {"missing level", [&](auto& f) { f.erase(data), f.erase(head); }, Kind::unreadable, "Cell_H"},
      {"wrong offset", [&](auto& f) { replace(f[head], "_D_00000 0", "_D_00000 8"); }, Kind::corrupt, ""},
      {"same offset twice", [&](auto& f) { replace(f[head], "_D_00000 593", "_D_00000 0"); }, Kind::corrupt, ""},
      {"a name that leads out", [&](auto& f) { replace(f[head], "Cell_D_00000", "../Level_1/Cell_D_00000"); },
       Kind::corrupt, "leads out of the output"},
      {"an absolute name", [&](auto& f) { replace(f[head], "Cell_D_00000", "/etc/hostname"); }, Kind::corrupt,
       "leads out of the output"},
      {"a prefix that leads out", [&](auto& f) { replace(f["Header"], "Level_1/Cell", "../Level_1/Cell"); },
       Kind::corrupt, "leads out of the output"},
      {"a box more than in the header", [&](auto& f) { replace(f["Header"], "1 2 0.5", "1 1 0.5"); }, Kind::unreadable,
       ""},
      {"a place less than boxes", [&](auto& f) { replace(f[head], "\n2\nFab", "\n1\nFab"); }, Kind::corrupt,
       "places of boxes: expected 2, found 1"},
      {"huge count of boxes", [&](auto& f) { replace(f[head], "(2 0", "(2000000000 0"); }, Kind::corrupt, "a count of"},
      {"huge box", [&](auto& f) { replace(f[head], "(7,7)", "(2000000000,2000000000)"); }, Kind::corrupt, ""},
      {"huge component count", [&](auto& f) { replace(f[head], "1\n1\n2\n", "1\n1\n900000\n"); }, Kind::corrupt, ""},
      {"huge ghosts", [&](auto& f) { replace(f[head], "1\n1\n2\n0", "1\n1\n2\n65000"); }, Kind::corrupt, ""},
      {"another box in the data", [&](auto& f) { replace(f[data], "((8,0)", "((9,0)"); }, Kind::corrupt,
       "header and data disagree"},
      {"another box in the header", [&](auto& f) { replace(f[head], "((4,0) (7,7)", "((5,0) (8,7)"); }, Kind::corrupt,
       "header and data disagree"},
      {"ASCII values", [&](auto& f) { replace(f[data], "FAB (", "FAB: "); }, Kind::unsupported, "old FAB formats"},
      {"another number format", [&](auto& f) { replace(f[data], "64 11", "80 15"); }, Kind::unsupported, "80 15"},
      {"level 0 with a hole",
       [&](auto& f) {
         replace(f["Header"], "(7,3)", "(15,3)");
         replace(f["Header"], "(15,7)", "(31,7)");
       },
       Kind::corrupt, "they must cover it"},
      {"domains that do not nest", [&](auto& f) { replace(f["Header"], "(15,7)", "(16,7)"); }, Kind::corrupt,
       "do not nest"},
      {"anisotropic ratio", [&](auto& f) { replace(f["Header"], "(15,7)", "(15,15)"); }, Kind::unsupported,
       "differs between axes"},
      {"a header that ends early", [&](auto& f) { f["Header"].resize(120); }, Kind::corrupt, ""},
      {"a particle too many", [&](auto& f) { replace(f["tracer/Header"], "0 3 0", "0 4 0"); }, Kind::corrupt,
       "particles in grids"},
      {"wrong particle offset", [&](auto& f) { replace(f["tracer/Header"], "\n0 3 1", "\n0 3 9"); }, Kind::corrupt,
       "expected at 1"},
      {"half-written particles", [&](auto& f) { f["tracer/Level_0/DATA_00000"].pop_back(); }, Kind::corrupt,
       "bytes of"},
      {"bytes behind the particles", [&](auto& f) { f["tracer/Level_0/DATA_00000"] += "x"; }, Kind::corrupt,
       "belong to no grid"},
      {"no particle data", [&](auto& f) { f.erase("tracer/Level_0/DATA_00000"); }, Kind::corrupt, "DATA_00000"},
      {"another particle version", [&](auto& f) { replace(f["tracer/Header"], "Two_Dot_Zero", "Nine_Dot_One"); },
       Kind::unsupported, "Nine_Dot_One"},
  };
  Folder folder;
  AmrexFixture fixture;
  fixture.with_particles = true;
  EXPECT_EQ(refusal(folder.with(testing::amrex_plotfile(fixture))).second, "accepted");
  for (const Damage& damage : damages) {
    SCOPED_TRACE(damage.what);
    AmrexFiles files = testing::amrex_plotfile(fixture);
    damage.act(files);
    const auto [kind, text] = refusal(folder.with(files));
    EXPECT_EQ(kind, damage.kind) << text;
    EXPECT_THAT(text, HasSubstr(damage.message));
    EXPECT_THAT(text, HasSubstr("plt00007"));
  }
}

TEST(amrex, data_without_lines_of_text_must_follow_one_another_exactly) {
  Folder folder;
  for (const int version : {2, 3, 4}) {
    AmrexFixture fixture;
    fixture.version = version;
    AmrexFiles files = testing::amrex_plotfile(fixture);
    files["Level_1/Cell_D_00000"] += "12345678";
    EXPECT_THAT(refusal(folder.with(files)).second, HasSubstr("belong to none"));
  }
}

TEST(amrex, every_prefix_of_every_file_is_refused_or_reads_the_same) {
  Folder folder;
  AmrexFixture fixture;
  fixture.with_particles = true;
  const AmrexFiles whole = testing::amrex_plotfile(fixture);
  const fs::path path = folder.with(whole);
  int refused = 0;
  for (const auto& [name, bytes] : whole) {
    for (std::size_t size = 0; size < bytes.size(); size += 1 + bytes.size() / 60) {
      testing::put_files(path, {{name, bytes.substr(0, size)}});
      try {
        const AmrexOutput output = open_output(path);
        expect_values(read_patches(output), fixture);
      } catch (const base::Error&) {
        ++refused;
      }
    }
    testing::put_files(path, {{name, bytes}});
  }
  EXPECT_GT(refused, 300);
}

TEST(amrex, a_checkpoint_whose_header_has_more_levels_than_there_are_folders_is_damaged) {
  Folder folder;
  AmrexFiles files = testing::amrex_core_checkpoint({});
  std::erase_if(files, [](const auto& file) { return file.first.starts_with("Level_1"); });
  EXPECT_THAT(refusal(folder.with(files)).second, HasSubstr("the Header has boxes of 2 levels, but there are 1"));
}

// ------------------------------------------------------------------------------------------------------- how it reads

struct Reads {
  int count = 0;
  std::uint64_t bytes = 0;
};

Reads count_reads(const std::function<void()>& act) {
  Reads reads;
  file::set_observer([&](const file::Event& event) {
    if (event.operation == file::Operation::read) {
      ++reads.count;
      reads.bytes += event.size;
    }
    return file::Verdict{};
  });
  act();
  file::set_observer({});
  return reads;
}

mesh::Part many_boxes(std::int64_t side, std::int64_t box, int fields) {
  mesh::Patches patches;
  patches.dim = 3;
  patches.domain = {{{0, 0, 0}, {side, side, side}}};
  patches.boxes.resize(1);
  for (std::int64_t z = 0; z < side; z += box)
    for (std::int64_t y = 0; y < side; y += box)
      for (std::int64_t x = 0; x < side; x += box) patches.boxes[0].push_back({{x, y, z}, {x + box, y + box, z + box}});
  mesh::Part part;
  part.mesh = patches;
  for (int f = 0; f < fields; ++f) {
    part.fields.push_back(
        mesh::make_field({.name = "f" + std::to_string(f), .unit = ""}, static_cast<std::size_t>(side * side * side)));
    double next = f;
    for (double& value : part.fields.back().as<double>()) value = next += 0.5;
  }
  return part;
}

mesh::Header header_for(const mesh::Part& part) {
  mesh::Header header;
  header.dim = std::get<mesh::Patches>(part.mesh).dim;
  for (const mesh::Field& field : part.fields) header.fields.push_back(field.info);
  return header;
}

TEST(amrex, many_small_boxes_are_read_in_few_reads_and_no_byte_twice) {
  Folder folder;
  const mesh::Part part = many_boxes(64, 8, 3);  // 512 boxes, 6.3 MB
  const fs::path path = folder / "plt";
  write_plotfile(path, header_for(part), part, {.files = 2, .sync = false});
  const AmrexOutput output = open_output(path);
  const auto data = output.bytes;
  mesh::Part again;
  const Reads reads = count_reads([&] { again = read_patches(output); });
  EXPECT_EQ(again.fields, part.fields);
  EXPECT_LE(reads.count, 4);
  EXPECT_LE(reads.bytes, static_cast<std::uint64_t>(data));
}

TEST(amrex, one_component_of_large_boxes_is_read_without_the_others) {
  Folder folder;
  const mesh::Part part = many_boxes(64, 32, 4);
  const fs::path path = folder / "plt";
  write_plotfile(path, header_for(part), part, {.files = 0, .sync = false});
  const AmrexOutput output = open_output(path);
  PatchRequest request;
  request.fields = {"f2"};
  mesh::Part again;
  const Reads reads = count_reads([&] { again = read_patches(output, request); });
  EXPECT_EQ(again.fields[0], part.fields[2]);
  EXPECT_LT(reads.bytes, 64U * 64 * 64 * 8 + 8 * 600);
  // A region cuts through boxes: the same cells, fewer bytes.
  request.region = mesh::IndexBox{{3, 0, 40}, {50, 7, 47}};
  const Reads fewer = count_reads([&] { again = read_patches(output, request); });
  EXPECT_LT(fewer.bytes, reads.bytes / 4);
  std::size_t next = 0;
  for (const mesh::IndexBox& box : std::get<mesh::Patches>(again.mesh).boxes[0])
    mesh::for_each_row(box, [&](const mesh::Index3& at, std::int64_t length) {
      for (std::int64_t x = at[0]; x < at[0] + length; ++x) {
        const std::int64_t of_box = ((at[2] / 32) * 2 + at[1] / 32) * 2 + x / 32;
        const std::int64_t inside = (at[2] % 32 * 32 + at[1] % 32) * 32 + x % 32;
        ASSERT_EQ(again.fields[0].as<double>()[next++], 2 + 0.5 * static_cast<double>(of_box * 32768 + inside + 1));
      }
    });
  EXPECT_EQ(next, again.fields[0].size());
}

TEST(amrex, a_plotfile_is_written_with_few_large_writes) {
  Folder folder;
  const mesh::Part part = many_boxes(64, 8, 3);
  const file::Counts before = file::counts();
  write_plotfile(folder / "plt", header_for(part), part, {.files = 1, .sync = false});
  const file::Counts after = file::counts();
  EXPECT_LE(after.writes - before.writes, 32U);  // 512 boxes, 6.3 MB
  EXPECT_GE(after.bytes_written - before.bytes_written, std::uint64_t{64 * 64 * 64 * 3 * 8});
}

TEST(amrex, a_plotfile_that_cannot_be_finished_never_has_its_name) {
  Folder folder;
  const mesh::Part part = many_boxes(16, 8, 1);
  file::set_observer([&](const file::Event& event) {
    const bool fails = event.operation == file::Operation::write && event.path.filename() == "Header";
    return file::Verdict{.error = fails ? ENOSPC : 0, .limit = 0};
  });
  try {
    write_plotfile(folder / "plt", header_for(part), part, {.files = 1, .sync = false});
    ADD_FAILURE() << "accepted";
  } catch (const base::Error& error) {
    EXPECT_EQ(error.kind(), base::Kind::no_space);
  }
  file::set_observer({});
  EXPECT_FALSE(fs::exists(folder / "plt"));
  write_plotfile(folder / "plt", header_for(part), part, {.files = 1, .sync = true});
  EXPECT_THROW(write_plotfile(folder / "plt", header_for(part), part), base::Error);
  EXPECT_EQ(read_patches(open_output(folder / "plt")).fields, part.fields);
}

TEST(amrex, boxes_written_one_by_one_in_any_order_make_the_same_bytes) {
  Folder folder;
  const mesh::Part part = many_boxes(16, 4, 2);
  const MultiFabShape shape{.boxes = {std::get<mesh::Patches>(part.mesh).boxes[0], {0, 0, 0}, 3}, .components = 2};
  const ComponentValues values[] = {{mesh::ScalarType::float64, part.fields[0].bytes},
                                    {mesh::ScalarType::float64, part.fields[1].bytes}};
  const MultiFabPlan plan = plan_multifab(shape, 3);
  fs::create_directories(folder / "a");
  fs::create_directories(folder / "b");
  MinMax together;
  write_boxes(folder / "a/Cell", plan, values, 0, 64, together, {.files = 3, .sync = false});
  std::string minima, maxima;
  const std::size_t box_bytes = part.fields[0].bytes.size() / 64;
  for (std::size_t i = 64; i-- > 0;) {
    const ComponentValues one[] = {{values[0].type, values[0].bytes.subspan(i * box_bytes, box_bytes)},
                                   {values[1].type, values[1].bytes.subspan(i * box_bytes, box_bytes)}};
    MinMax apart;
    write_boxes(folder / "b/Cell", plan, one, i, i + 1, apart, {.files = 3, .sync = false});
    minima = table_rows(apart.minima, 2) + minima;
    maxima = table_rows(apart.maxima, 2) + maxima;
  }
  EXPECT_EQ(header_text("Cell", plan, table_rows(together.minima, 2), table_rows(together.maxima, 2)),
            header_text("Cell", plan, minima, maxima));
  for (const char* name : {"Cell_D_00000", "Cell_D_00001", "Cell_D_00002"}) {
    const auto text = [&](const char* folder_name) {
      std::ifstream in(folder / folder_name / name, std::ios::binary);
      return std::string(std::istreambuf_iterator<char>(in), {});
    };
    EXPECT_EQ(text("a"), text("b"));
    EXPECT_FALSE(text("a").empty());
  }
}

TEST(amrex, ghosted_and_nodal_values_are_written_and_read_as_they_are) {
  Folder folder;
  for (const std::int64_t nodal : {0, 1}) {
    MultiFabShape shape{.boxes = {{{{0, 0, 0}, {4 + nodal, 4, 1}}, {{4, 0, 0}, {8 + nodal, 4, 1}}}, {nodal, 0, 0}, 2},
                        .ghost = {2, 1, 0},
                        .components = 1};
    const std::size_t count = static_cast<std::size_t>((8 + nodal) * 6 * 2);
    std::vector<double> numbers(count);
    for (std::size_t i = 0; i < count; ++i) numbers[i] = static_cast<double>(i) + 0.5;
    const ComponentValues values{mesh::ScalarType::float64, std::as_bytes(std::span(numbers))};
    fs::create_directories(folder / "Level_0");
    const fs::path prefix = folder / ("Level_0/Face" + std::to_string(nodal));
    write_multifab(prefix, shape, {&values, 1}, {.files = 1, .sync = false});
    const MultiFab multifab = open_multifab(prefix);
    EXPECT_EQ(multifab.ghost, shape.ghost);
    const MultiFabValues back = read_multifab(multifab);
    EXPECT_EQ(back.fields[0].info.centring, nodal == 1 ? mesh::Centring::face_x : mesh::Centring::cell);
    EXPECT_TRUE(std::ranges::equal(back.fields[0].as<double>(), numbers));
    // The smallest value outside ghost cells: one row up, two cells in.
    EXPECT_EQ(multifab.minima[0], numbers[static_cast<std::size_t>(8 + nodal + 2)]);
  }
}

std::string printed(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.17e", value);
  return text;
}

TEST(amrex, numbers_of_tables_are_those_of_printf) {
  const auto expect_printed = [](double value) {
    std::string text;
    append_scientific(text, value);
    EXPECT_EQ(text, printed(value));
  };
  std::mt19937_64 random(1);
  for (int i = 0; i < 20000; ++i) {
    const double any = std::bit_cast<double>(random());
    if (std::isfinite(any)) expect_printed(any);
    expect_printed(std::ldexp(static_cast<double>(random() >> 11), -static_cast<int>(random() % 80)));
    expect_printed(i / 8.0);  // middles between two numbers of 18 digits are among these
    expect_printed(-0.1 * i);
  }
  for (int power = -320; power <= 308; ++power) {
    const double value = std::strtod(("1e" + std::to_string(power)).c_str(), nullptr);
    for (const double near : {value, std::nextafter(value, 0.0), -std::nextafter(value, 1e308)}) expect_printed(near);
  }
  for (const double value : {0.0, -0.0, std::numeric_limits<double>::infinity()}) expect_printed(value);
}

TEST(amrex, names_beside_a_checkpoint_must_fit_it) {
  const Folder folder;
  AmrexFixture fixture;
  AmrexFiles files = testing::amrex_core_checkpoint(fixture);
  files["component_names"] = "State density\nState two words\n";
  testing::put_files(folder / "chk", files);
  const mesh::Dataset named = open(folder / "chk");
  EXPECT_EQ(named.header.fields[0].name, "density");
  EXPECT_EQ(named.header.fields[1].name, "two words");
  EXPECT_EQ(named.header.fields[2].name, "Face0_0_left");
  for (const char* wrong : {"State density\n", "State a\nState a\n", "State a\nState b\nState c\n", "State\n"}) {
    testing::put_files(folder / "chk", {{"component_names", wrong}});
    try {
      open(folder / "chk");
      ADD_FAILURE() << wrong;
    } catch (const base::Error& error) {
      EXPECT_EQ(error.kind(), base::Kind::corrupt) << error.what();
    }
  }
}

}  // namespace
}  // namespace octavo::formats::amrex
