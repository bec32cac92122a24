#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <stdexcept>

#include "octavo/base/error.hpp"
#include "octavo/file/hdf5/hdf5.hpp"
#include "octavo/formats/amrex/multifab.hpp"
#include "octavo/formats/amrex/row.hpp"
#include "octavo/formats/flash/row.hpp"
#include "octavo/formats/ramses/row.hpp"
#include "octavo/mesh/boxes.hpp"
#include "octavo/mesh/tree/merge.hpp"
#include "octavo/step/finer.hpp"
#include "octavo/step/open.hpp"
#include "octavo/step/regrid.hpp"
#include "octavo/step/translate.hpp"
#include "octavo/step/write.hpp"
#include "octavo/verbs/convert.hpp"
#include "octavo/verbs/stats.hpp"
#include "octavo/verbs/verify.hpp"
#include "tests/support/amrex_fixture.hpp"
#include "tests/support/amrex_whole.hpp"
#include "tests/support/cell_map.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/peak_memory.hpp"
#include "tests/support/ramses_check.hpp"
#include "tests/support/store_fixture.hpp"
#include "tests/support/thread_ranks.hpp"

namespace octavo::verbs {
namespace {

namespace fs = std::filesystem;
using base::Error;
using base::Kind;
using formats::WriteReport;
using formats::WriteRequest;
using octavo::testing::cells_of_step;
using octavo::testing::cut;
using octavo::testing::peak_memory;
using octavo::testing::reset_peak;
using octavo::testing::same;
using octavo::testing::TemporaryDirectory;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const formats::Words &ramses_words = formats::ramses::words, &flash_words = formats::flash::words,
                     &amrex_words = formats::amrex::words;

// -------------------------------------------------------------------------------------------------------- steps to try

template <class T>
mesh::Field column(const std::string& name, const std::vector<T>& values) {
  mesh::Field field =
      mesh::make_field({name, "", mesh::scalar_type_of<T>(), mesh::Centring::particle, 1, 0}, values.size());
  std::copy(values.begin(), values.end(), field.as<T>().begin());
  return field;
}

/// Particles as AMReX has them, in no order, some with the id of another on another cpu.
mesh::Particles amrex_particles(int dim, std::int64_t count, bool shared_ids, std::uint64_t seed) {
  octavo::testing::Random random(seed);
  mesh::Particles out{.species = "tracer", .count = count, .attributes = {}};
  for (int axis = 0; axis < dim; ++axis) {
    std::vector<double> x;
    for (std::int64_t i = 0; i < count; ++i) x.push_back(random.uniform());
    out.attributes.push_back(column(std::string("position_") + "xyz"[axis], x));
  }
  std::vector<double> mass;
  std::vector<std::int64_t> id;
  std::vector<std::int32_t> cpu, kind;
  for (std::int64_t i = 0; i < count; ++i) {
    mass.push_back(random.uniform());
    cpu.push_back(static_cast<std::int32_t>(i % 3));
    id.push_back(5'000'000'000 + (shared_ids ? i / 3 : count - i));
    kind.push_back(static_cast<std::int32_t>(i % 7));
  }
  out.attributes.push_back(column("mass", mass));
  out.attributes.push_back(column("id", id));
  out.attributes.push_back(column("cpu", cpu));
  out.attributes.push_back(column("tag", kind));
  return out;
}

/// Face-balanced steps of blocks or cells.
mesh::Dataset random_step(std::uint64_t seed, int dim, std::int64_t side, const std::string& code,
                          bool particles = false) {
  mesh::Octree tree = octavo::testing::random_octree(
      seed, {.dim = dim, .roots = {2, 2, 2}, .block = {1, 1, 1}, .max_levels = 4, .refine = 0.4, .max_cells = 120});
  mesh::RegridOptions balanced;
  balanced.balance = mesh::Balance::corners;
  balanced.fill = true;
  balanced.periodic = {true, true, true};
  tree = mesh::plan_regrid(tree, balanced).tree;
  tree.block = {side, dim > 1 ? side : 1, dim > 2 ? side : 1};
  mesh::Part part;
  part.mesh = tree;
  std::vector<std::string> names = code == "FLASH" ? std::vector<std::string>{"dens", "pres", "velx", "vely", "velz"}
                                                   : std::vector<std::string>{"density", "pressure"};
  if (code == "FLASH") names.resize(2 + static_cast<std::size_t>(dim));
  for (const std::string& name : names)
    part.fields.push_back(octavo::testing::random_field(
        tree, {name, "", mesh::ScalarType::float64, mesh::Centring::cell, 1, 0}, seed + part.fields.size()));
  if (particles) part.particles.push_back(amrex_particles(dim, 40, false, seed));
  mesh::Header header;
  header.code = code;
  header.time = 0.25;
  header.hi = {1, 1, 1};
  header.periodic = {true, true, true};
  return octavo::testing::step_of(header, {part});
}

std::map<std::string, std::vector<char>> bytes_below(const fs::path& path) {
  std::map<std::string, std::vector<char>> files;
  for (const auto& entry : fs::recursive_directory_iterator(path))
    if (entry.is_regular_file())
      files[fs::relative(entry.path(), path).string()] = octavo::testing::file_bytes(entry.path());
  return files;
}

WriteRequest to(const std::string& format) {
  WriteRequest options;
  options.to = format;
  return options;
}

// -------------------------------------------------------------------------------------------------------------- AMReX

TEST(Cross, blocks_become_amrex_patches_of_the_same_values) {
  const TemporaryDirectory dir;
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    const int dim = 1 + static_cast<int>(seed % 3);
    const mesh::Dataset step = random_step(seed, dim, 8, "FLASH");
    const fs::path out = dir / ("plt" + std::to_string(seed));
    const WriteReport report = step::write(step, out, to("amrex"));
    EXPECT_EQ(report.means + report.fills, 0);
    const mesh::Dataset back = step::open(out);
    EXPECT_EQ(back.header.time, 0.25);
    EXPECT_TRUE(same(cells_of_step(back, "density").all, cells_of_step(step, "dens").all));
    EXPECT_TRUE(same(cells_of_step(back, "pressure").leaves, cells_of_step(step, "pres").leaves));
  }
}

TEST(Cross, an_amrex_output_does_not_depend_on_parts_or_batches) {
  const TemporaryDirectory dir;
  const mesh::Dataset step = random_step(4, 2, 4, "FLASH", true);
  step::write(step, dir / "one", to("amrex"));
  const auto one = bytes_below(dir / "one");
  EXPECT_GT(one.size(), 4u);
  for (const int parts : {2, 7}) {
    WriteRequest options = to("amrex");
    options.own["batch_cells"] = 500;
    options.part_cells = 300;
    const fs::path out = dir / std::to_string(parts);
    step::write(cut(step, parts), out, options);
    EXPECT_EQ(bytes_below(out), one) << parts;
  }
}

TEST(Cross, boxes_keep_to_the_blocking_factor_and_the_longest_box) {
  const TemporaryDirectory dir;
  const mesh::Dataset step = random_step(9, 2, 8, "FLASH");
  WriteRequest options = to("amrex");
  options.own["blocking_factor"] = 4;
  options.own["max_box"] = 12;
  step::write(step, dir / "plt", options);
  const mesh::Dataset back = step::open(dir / "plt");
  const auto boxes = std::get<std::vector<std::int64_t>>(back.header.attributes.at("patches/boxes"));
  for (std::size_t i = 0; i < boxes.size(); i += 5)
    for (std::size_t a = 0; a < 2; ++a) {
      EXPECT_EQ(boxes[i + 1 + a] % 4, 0);
      EXPECT_EQ(boxes[i + 3 + a] % 4, 0);
      EXPECT_LE(boxes[i + 3 + a] - boxes[i + 1 + a], 12);
    }
  options.own["max_box"] = 10;
  EXPECT_THROW(step::write(step, dir / "no", options), Error);
  EXPECT_FALSE(fs::exists(dir / "no"));
  EXPECT_FALSE(fs::exists(dir / "no.partial"));
}

TEST(Cross, amrex_by_way_of_a_store_comes_back_byte_for_byte) {
  const TemporaryDirectory dir;
  WriteRequest options = to("amrex");
  options.own["max_box"] = 16;
  step::write(random_step(2, 2, 8, "FLASH", true), dir / "plt00007", options);
  for (const store::Flow flow : {store::Flow::analysis, store::Flow::checkpoint}) {
    const fs::path run = dir / (store::to_string(flow) + ".octavo"), again = dir / (store::to_string(flow) + "_plt");
    ConvertOptions convert_options;
    convert_options.flow = flow;
    convert({dir / "plt00007"}, run, convert_options);
    EXPECT_EQ(store::list_steps(run).front().flow, flow);
    step::write(step::open(run), again, to("amrex"));
    EXPECT_EQ(bytes_below(again), bytes_below(dir / "plt00007"));
  }
}

/// A checkpoint of a code on AmrCore with faces and nodes.
fs::path core_checkpoint(const TemporaryDirectory& dir, const octavo::testing::AmrexFixture& fixture) {
  octavo::testing::put_files(dir / "chk", octavo::testing::amrex_core_checkpoint(fixture));
  return dir / "chk";
}

/// Headers and values of all MultiFabs, ghost cells too; AMReX's own table of minima and maxima and its order of data
/// may be others.
void expect_same_multifabs(const fs::path& a, const fs::path& b) {
  std::size_t found = 0;
  for (const auto& entry : fs::recursive_directory_iterator(a)) {
    const std::string name = entry.path().string();
    if (!name.ends_with("_H") || name.ends_with("Particle_H")) continue;
    ++found;
    const fs::path prefix = name.substr(0, name.size() - 2), other = b / fs::relative(prefix, a);
    const auto before = formats::amrex::open_multifab(prefix), after = formats::amrex::open_multifab(other);
    EXPECT_EQ(after.boxes.boxes, before.boxes.boxes) << other;
    EXPECT_EQ(after.boxes.nodal, before.boxes.nodal) << other;
    EXPECT_EQ(after.ghost, before.ghost) << other;
    EXPECT_EQ(formats::amrex::read_multifab(after).fields, formats::amrex::read_multifab(before).fields) << other;
  }
  EXPECT_GT(found, 1u);
}

TEST(Cross, faces_and_nodes_of_an_amrex_checkpoint_come_back_by_way_of_a_store) {
  for (const int dim : {2, 3}) {
    const TemporaryDirectory dir;
    octavo::testing::AmrexFixture fixture;
    fixture.dim = dim;
    fixture.ghost = {1, 1, 1};
    const fs::path from = core_checkpoint(dir, fixture);
    ConvertOptions keep;
    keep.flow = store::Flow::checkpoint;
    convert({from}, dir / "run.octavo", keep);
    // Two boxes a level whose values on the face between them differ by nothing.
    step::write(step::open(dir / "run.octavo", {store::Flow::checkpoint, {}}), dir / "again", to("amrex"));
    expect_same_multifabs(from, dir / "again");
    EXPECT_EQ(octavo::testing::file_bytes(dir / "again" / "Header"), octavo::testing::file_bytes(from / "Header"));
    WriteRequest small = to("amrex");
    small.own["batch_cells"] = 10;
    step::write(step::open(from), dir / "direct", small);
    EXPECT_EQ(bytes_below(dir / "direct"), bytes_below(dir / "again"));
    WriteRequest plotfile = to("amrex");
    plotfile.kind = "plotfile";
    const WriteReport report = step::write(step::open(from), dir / "plt", plotfile);
    EXPECT_THAT(report.notes, ::testing::Contains(HasSubstr("plotfiles hold values of cells only")));
    EXPECT_EQ(step::open(dir / "plt").header.fields.size(), 2u);
  }
}

TEST(Cross, a_checkpoint_that_only_its_code_knows_comes_back_as_it_was_or_not_at_all) {
  for (const bool own_header : {false, true}) {
    const TemporaryDirectory dir;
    octavo::testing::AmrexFixture fixture;
    fixture.with_particles = fixture.packed = true;
    auto files =
        own_header ? octavo::testing::amrex_core_checkpoint(fixture) : octavo::testing::amrex_level_checkpoint(fixture);
    if (own_header) files["Header"] += "and a line of its own\n";
    files["job_info"] = "a text";
    files["folder/bytes"] = std::string("\0\xff\n\0", 4);
    const fs::path from = dir / "chk";
    octavo::testing::put_files(from, files);
    convert({from}, dir / "run.octavo", {});
    for (const fs::path& source : {from, dir / "run.octavo"}) {
      step::write(step::open(source), dir / "again", to("amrex"));
      for (const char* name : {"Header", "job_info", "folder/bytes"}) {
        const auto bytes = octavo::testing::file_bytes(dir / "again" / name);
        EXPECT_EQ(std::string(bytes.begin(), bytes.end()), files[name]) << name;
      }
      expect_same_multifabs(from, dir / "again");
      EXPECT_EQ(step::open(dir / "again").header.attributes, step::open(from).header.attributes);
      fs::remove_all(dir / "again");
      std::vector<WriteRequest> others(5, to("amrex"));
      others[0].own["max_box"] = 2;
      others[1].particles = false;
      others[2].own["dt"] = std::vector<double>{0.5};
      others[3].own["multifab"] = "other";
      others[4].fields = {{step::open(source).header.fields[0].name}};
      for (const WriteRequest& other : others) try {
          step::write(step::open(source), dir / "again", other);
          ADD_FAILURE() << "written, and its code would not go on from it";
        } catch (const Error& error) {
          EXPECT_EQ(error.kind(), Kind::unsupported) << error.what();
          EXPECT_FALSE(fs::exists(dir / "again") || fs::exists(dir / "again.partial"));
        }
      WriteRequest plotfile = others[0];
      plotfile.kind = "plotfile";
      step::write(step::open(source), dir / "again", plotfile);
      fs::remove_all(dir / "again");
    }
  }
}

TEST(Cross, levels_of_ratio_4_keep_their_numbers_in_a_store) {
  const TemporaryDirectory dir;
  octavo::testing::AmrexFixture fixture;
  fixture.ratio = 4;
  octavo::testing::put_files(dir / "plt", octavo::testing::amrex_plotfile(fixture));
  convert({dir / "plt"}, dir / "run.octavo", {});
  const mesh::Dataset native = step::open(dir / "plt"), stored = step::open(dir / "run.octavo");
  EXPECT_EQ(stored.levels, native.levels);
  EXPECT_EQ(native.levels.size(), 2u);
  for (const int level : {0, 1}) {
    StatsOptions options;
    options.max_level = level;
    for (const mesh::Dataset& step : {native, stored}) {
      const auto levels = stats(step, options).statistics.levels;
      ASSERT_EQ(levels.size(), static_cast<std::size_t>(level) + 1);
      EXPECT_EQ(levels.back().level, level);
      EXPECT_EQ(levels.back().leaves, level == 0 ? 32 : 256);
    }
  }
  WriteRequest options = to("amrex");
  options.own["max_box"] = 4;
  step::write(stored, dir / "boxes", options);
  const mesh::Dataset boxes = step::open(dir / "boxes");
  EXPECT_EQ(boxes.levels, native.levels);
  EXPECT_TRUE(same(cells_of_step(boxes, "density").leaves, cells_of_step(native, "density").leaves));
}

TEST(Cross, flash_by_way_of_a_checkpoint_of_amrex_keeps_its_corners_and_lists) {
  const TemporaryDirectory dir;
  mesh::Dataset step = random_step(5, 2, 8, "FLASH", true);
  step.header.lo = {0, -1, 0};
  step.header.hi = {2, 0, 1};
  step.header.periodic = {true, false, false};
  step.header.unit_length = 3;
  step.header.attributes["real scalars"] = std::vector<std::string>{"dt"};
  step.header.attributes["real scalars/dt"] = 0.001;
  step.header.attributes["sim info/setup call"] = std::string("a text (of two words), 100%\n");
  const std::string name = "amrex/corners";
  WriteRequest options = to("amrex");
  options.kind = "checkpoint";
  step::write(step, dir / "chk", options);
  convert({dir / "chk"}, dir / "run.octavo", {});
  for (const fs::path& path : {dir / "chk", dir / "run.octavo"}) {
    const mesh::Dataset there = step::open(path);
    EXPECT_EQ(there.header.lo, step.header.lo);
    EXPECT_EQ(there.header.hi, step.header.hi);
    EXPECT_EQ(there.header.periodic, step.header.periodic);
    EXPECT_EQ(there.header.unit_length, 3);
    EXPECT_FALSE(there.header.attributes.contains(name));
    EXPECT_EQ(std::get<std::vector<double>>(there.header.attributes.at("level_dt"))[0], 0.001);
    EXPECT_EQ(formats::flash::blocks_before(there.header), step.header.block);
    step::TranslateOptions back;
    back.to = &flash_words;
    std::vector<std::string> notes;
    EXPECT_EQ(step::translate(there, back, notes).header.attributes, step.header.attributes);
  }
  // A checkpoint whose time has changed is no longer the step that it was made from.
  mesh::Dataset later = step::open(dir / "chk");
  later.header.time += 1;
  EXPECT_FALSE(formats::flash::blocks_before(later.header).has_value());
}

TEST(Cross, a_checkpoint_of_amrex_wants_a_time_step) {
  const TemporaryDirectory dir;
  const mesh::Dataset step = random_step(2, 2, 8, "FLASH");
  WriteRequest options = to("amrex");
  options.kind = "checkpoint";
  for (const std::vector<double>& dt : {std::vector<double>{}, std::vector<double>{0.0}}) try {
      options.own["dt"] = dt;
      step::write(step, dir / "chk", options);
      ADD_FAILURE() << "written without a time step";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), Kind::usage);
      EXPECT_THAT(error.what(), HasSubstr(dt.empty() ? "--dt" : "option dt: expected numbers above 0, found 0"));
      EXPECT_FALSE(fs::exists(dir / "chk") || fs::exists(dir / "chk.partial"));
    }
  options.own["dt"] = std::vector<double>{0.5, 0.25};
  options.own["multifab"] = "phi";
  step::write(step, dir / "chk", options);
  const auto levels = step::open(dir / "chk").levels.size();
  const auto dt = std::get<std::vector<double>>(step::open(dir / "chk").header.attributes.at("level_dt"));
  ASSERT_EQ(dt.size(), levels);
  for (std::size_t level = 0; level < levels; ++level) EXPECT_EQ(dt[level], std::ldexp(0.5, -static_cast<int>(level)));
  EXPECT_TRUE(fs::exists(dir / "chk" / "Level_0" / "phi_H"));
  options.kind = "plotfile";
  EXPECT_THROW(step::write(step, dir / "plt", options), Error);
}

TEST(Cross, faces_of_amrex_become_flash_face_variables_and_come_back) {
  const TemporaryDirectory dir;
  octavo::testing::AmrexFixture fixture;
  fixture.dim = 2;
  const fs::path from = core_checkpoint(dir, fixture);
  WriteRequest flash = to("flash");
  flash.block = 2;  // of which the refined region is made
  flash.rename = {{"State_0", "dens"}, {"State_1", "temp"}, {"Face0_0", "fx0"},
                  {"Face0_1", "fx1"},  {"Face1_0", "fy0"},  {"Face1_1", "fy1"}};
  WriteReport report;
  try {
    report = step::write(step::open(from), dir / "hdf5_chk", flash);
  } catch (const Error& error) {
    if (std::string(error.what()).find("HDF5") == std::string::npos) throw;
    GTEST_SKIP() << error.what();  // without HDF5
  }
  EXPECT_EQ(report.fills, 0);
  EXPECT_THAT(report.notes, ::testing::Contains(HasSubstr("FLASH has no variables on nodes")));
  const mesh::Dataset blocks = step::open(dir / "hdf5_chk");
  const auto of = [](const mesh::Dataset& step, const std::string& name) { return cells_of_step(step, name).all; };
  EXPECT_TRUE(same(of(blocks, "fx1_right"), of(step::open(from), "Face0_1_right")));
  WriteRequest back = to("amrex");
  back.kind = "checkpoint";
  back.own["dt"] = std::vector<double>{0.1};
  step::write(blocks, dir / "back", back);
  const mesh::Dataset again = step::open(dir / "back");
  for (const char* name : {"fx0_left", "fx0_right", "fy1_left", "fy1_right"})
    EXPECT_TRUE(same(of(again, name), of(blocks, name))) << name;
  EXPECT_TRUE(fs::exists(dir / "back" / "Level_1" / "fy1_H"));
}

TEST(Cross, an_option_of_another_format_is_refused_and_the_message_says_whose_it_is) {
  const TemporaryDirectory dir;
  const mesh::Dataset step = random_step(2, 2, 8, "FLASH");
  const auto refused = [&](WriteRequest options, const char* name, const mesh::Attribute& value) {
    options.own[name] = value;
    const Error error = octavo::testing::error_of([&] { step::write(step, dir / "out", options); });
    EXPECT_EQ(error.kind(), Kind::usage);
    EXPECT_FALSE(fs::exists(dir / "out") || fs::exists(dir / "out.partial"));
    return std::string(error.what());
  };
  EXPECT_THAT(refused(to("flash"), "max_box", std::int64_t{8}), HasSubstr("max_box: an option of AMReX outputs only"));
  EXPECT_THAT(refused(to("amrex"), "domains", std::int64_t{8}), HasSubstr("domains: an option of RAMSES outputs only"));
  EXPECT_THAT(refused(to("amrex"), "max_boxes", std::int64_t{8}), HasSubstr("no format has an option 'max_boxes'"));
  EXPECT_THAT(refused(to("amrex"), "max_box", std::string("8")), HasSubstr("max_box: expected a whole number"));
  ConvertOptions store;
  store.own["dt"] = std::vector<double>{0.5};
  EXPECT_THAT(octavo::testing::error_of([&] { convert(step, 1, dir / "out.octavo", store); }).what(),
              HasSubstr("dt: an option of AMReX"));
}

TEST(Cross, names_of_variables_come_back_from_a_checkpoint_of_amrex) {
  const TemporaryDirectory dir;
  mesh::Dataset step = random_step(9, 2, 8, "FLASH");
  WriteRequest amrex = to("amrex");
  amrex.kind = "checkpoint";
  amrex.own["dt"] = std::vector<double>{0.125};
  step::write(step, dir / "chk00001", amrex);
  amrex.own.erase("dt");
  const mesh::Dataset there = step::open(dir / "chk00001");
  ASSERT_EQ(there.header.fields.size(), step.header.fields.size());
  for (std::size_t f = 0; f < step.header.fields.size(); ++f)
    EXPECT_EQ(formats::field_name(there.header.fields[f].name, amrex_words, flash_words), step.header.fields[f].name);
  // Also through a store.
  ConvertOptions keep;
  keep.flow = store::Flow::checkpoint;
  convert({dir / "chk00001"}, dir / "run.octavo", keep);
  step::write(step::open(dir / "run.octavo", {store::Flow::checkpoint, {}}), dir / "again", amrex);
  EXPECT_EQ(bytes_below(dir / "again"), bytes_below(dir / "chk00001"));
}

TEST(Cross, the_real_checkpoint_with_faces_and_nodes_comes_back_with_its_values) {
  const char* data = std::getenv("OCTAVO_DATA");
  const fs::path root = data != nullptr ? fs::path(data) : fs::path(__FILE__).parent_path() / "../../../shared/data";
  const fs::path from = root / "amrex/multi3d_r4/chk00007";
  if (!fs::exists(from)) GTEST_SKIP() << "no real data at " << from;
  const TemporaryDirectory dir;
  ConvertOptions keep;
  keep.flow = store::Flow::checkpoint;
  convert({from}, dir / "run.octavo", keep);
  step::write(step::open(dir / "run.octavo", {store::Flow::checkpoint, {}}), dir / "again", to("amrex"));
  expect_same_multifabs(from, dir / "again");
}

TEST(Cross, cells_become_patches_from_the_finest_full_level_on) {
  const TemporaryDirectory dir;
  const mesh::Dataset step = random_step(12, 2, 1, "RAMSES");
  const WriteReport report = step::write(step, dir / "plt", to("amrex"));
  EXPECT_EQ(report.fills, 0);
  EXPECT_TRUE(same(cells_of_step(step::open(dir / "plt"), "density").leaves, cells_of_step(step, "density").leaves));
}

// -------------------------------------------------------------------------------------------------------------- FLASH

TEST(Cross, a_flash_file_of_amrex_patches_does_not_depend_on_their_parts) {
  const TemporaryDirectory dir;
  const mesh::Dataset step = random_step(6, 2, 8, "AMReX", true);
  try {
    step::write(step, dir / "one", to("flash"));
  } catch (const Error& error) {
    if (error.kind() != Kind::unsupported) throw;
    GTEST_SKIP() << error.what();
  }
  WriteRequest options = to("flash");
  options.part_cells = 300;
  step::write(cut(step, 6), dir / "six", options);
  const mesh::Dataset one = step::open(dir / "one"), six = step::open(dir / "six");
  EXPECT_EQ(one.header, six.header);
  EXPECT_TRUE(same(cells_of_step(six, "dens").all, cells_of_step(step, "density").all));
  EXPECT_TRUE(same(cells_of_step(one, "pres").all, cells_of_step(six, "pres").all));
  EXPECT_EQ(mesh::gather_particles(one), mesh::gather_particles(six));
  EXPECT_EQ(mesh::gather_particles(one)[0].count, 40);
}

TEST(Cross, threads_and_ranks_write_the_same_bytes) {
  const TemporaryDirectory dir;
  const mesh::Dataset step = cut(random_step(6, 2, 8, "RAMSES", true), 6);
  const bool hdf5 = file::hdf5::available();
  const auto convert_with = [&](const fs::path& out, int threads, const base::Ranks& ranks) {
    for (const std::string code : {"flash", "amrex"}) {
      if (code == "flash" && !hdf5) continue;
      WriteRequest options = to(code);
      options.part_cells = 100;
      if (code == "amrex") options.own["batch_cells"] = 200;
      options.threads = threads;
      options.ranks = ranks;
      try {
        step::write(step, out.string() + (code == "flash" ? "_hdf5_chk_0000" : "_plt"), options);
      } catch (const Error& error) {
        ADD_FAILURE() << error.what();
      }
    }
  };
  convert_with(dir / "one", 1, {});
  convert_with(dir / "threads", 3, {});
  octavo::testing::run_ranks(3, [&](const base::Ranks& ranks) { convert_with(dir / "ranks", 1, ranks); });
  for (const char* other : {"threads", "ranks"}) {
    EXPECT_EQ(bytes_below(dir / (std::string(other) + "_plt")), bytes_below(dir / "one_plt"));
    if (hdf5) {
      EXPECT_EQ(octavo::testing::file_bytes(dir / (std::string(other) + "_hdf5_chk_0000")),
                octavo::testing::file_bytes(dir / "one_hdf5_chk_0000"));
    }
  }
}

TEST(Cross, an_error_of_one_rank_is_that_of_all_and_leaves_nothing) {
  const TemporaryDirectory dir;
  const mesh::Dataset step = cut(random_step(6, 2, 8, "RAMSES"), 6);
  std::atomic<int> refused = 0;
  octavo::testing::run_ranks(3, [&](const base::Ranks& ranks) {
    mesh::Dataset damaged = step;
    damaged.read = [&step, rank = ranks.rank](int part, const mesh::Request& request) {
      if (rank == 1 && !(request.fields && request.fields->empty())) throw Error(Kind::corrupt, "checksum differs");
      return step.read(part, request);
    };
    WriteRequest options = to("amrex");
    options.part_cells = 100;
    options.own["batch_cells"] = 100;
    options.ranks = ranks;
    try {
      step::write(damaged, dir / "plt", options);
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr("checksum differs"));
      ++refused;
    }
  });
  EXPECT_EQ(refused, 3);
  EXPECT_TRUE(fs::is_empty(dir.path()));
}

/// A tree refined everywhere, in parts whose values are made when they are read: much more than one wants in memory.
mesh::Dataset large_step(int levels, std::int64_t side, int parts) {
  mesh::Octree whole;
  whole.dim = 3;
  whole.block = {side, side, side};
  for (int level = 0; level < levels; ++level) {
    const std::size_t cells = std::size_t{1} << (3 * level);
    whole.refined.emplace_back(cells, level + 1 < levels);
    whole.owned.emplace_back(cells, true);
  }
  mesh::Part all;
  all.mesh = std::move(whole);
  const auto trees = std::make_shared<const std::vector<mesh::Part>>(
      mesh::split(std::span(&all, 1), mesh::plan_split(std::span(&all, 1), parts)));
  mesh::Dataset step;
  step.header.code = "FLASH";
  step.header.block = {side, side, side};
  for (const char* name : {"dens", "pres"}) step.header.fields.push_back({.name = name, .unit = ""});
  step.num_parts = parts;
  step.read = [trees, header = step.header](int number, const mesh::Request& request) {
    mesh::Part part = trees->at(static_cast<std::size_t>(number));
    const mesh::Octree& tree = mesh::octree_of(part);
    for (std::size_t f : mesh::select_fields(header, request.fields))
      part.fields.push_back(mesh::make_field(header.fields[f], mesh::num_cells(tree) * mesh::block_size(tree)));
    return part;
  };
  return step;
}

TEST(Cross, memory_is_bounded_by_parts_and_batches) {
  const TemporaryDirectory dir;
  const mesh::Dataset step = large_step(5, 16, 48);  // 19 million cells, two fields: 306 MB
  if (!reset_peak()) GTEST_SKIP() << "the peak of memory cannot be reset here";
  const std::int64_t before = peak_memory();
  for (const std::string code : {"amrex", "flash"}) {
    if (code == "flash" && !file::hdf5::available()) continue;
    WriteRequest options = to(code);
    options.part_cells = std::int64_t{1} << 18;
    if (code == "amrex") options.own["batch_cells"] = options.part_cells;
    options.threads = 2;
    options.kind = code == "flash" ? "checkpoint" : "plotfile";
    step::write(step, dir / (code == "flash" ? "a_hdf5_chk_0000" : "plt"), options);
    // A batch is 4 MB, a part 8 MB, with what closes it; two threads have two each.
    EXPECT_LT(peak_memory() - before, std::int64_t{96} << 20);
  }
}

TEST(Cross, filling_a_flash_file_keeps_every_value_and_the_balance) {
  const TemporaryDirectory dir;
  const mesh::Dataset step = random_step(14, 2, 1, "RAMSES");
  WriteRequest options = to("flash");
  EXPECT_THROW(step::write(step, dir / "chk", options), Error);
  options.fill = true;
  WriteReport report;
  try {
    report = step::write(step, dir / "chk", options);
  } catch (const Error& error) {
    if (error.kind() != Kind::unsupported) throw;
    GTEST_SKIP() << error.what();  // without HDF5
  }
  EXPECT_GT(report.fills, 0);
  const auto before = cells_of_step(step, "density"), after = cells_of_step(step::open(dir / "chk"), "dens");
  octavo::testing::CellMap kept, expected;
  for (const auto& [at, value] : before.all)
    if (const auto found = after.all.find(at); found != after.all.end()) {
      kept.insert(*found);
      expected.emplace(at, value);
    }
  EXPECT_TRUE(same(kept, expected));
  const std::int64_t coarsest = after.all.begin()->first[0];
  for (const auto& [at, value] : before.leaves) EXPECT_EQ(after.all.count(at), at[0] < coarsest ? 0u : 1u);
}

// ------------------------------------------------------------------------------------------------------------- RAMSES

TEST(Cross, blocks_unfold_into_ramses_cells_and_come_back) {
  const TemporaryDirectory dir;
  for (const int dim : {2, 3}) {
    const mesh::Dataset step = random_step(20 + static_cast<std::uint64_t>(dim), dim, 4, "FLASH", false);
    const fs::path out = dir / ("output_0000" + std::to_string(dim));
    const WriteReport report = step::write(step, out, to("ramses"));
    EXPECT_GT(report.means, 0);
    const mesh::Dataset back = step::open(out);
    EXPECT_EQ(back.header.level_origin, 1);
    const auto before = cells_of_step(step, "dens"), after = cells_of_step(back, "density");
    EXPECT_TRUE(same(after.leaves, before.leaves));
    octavo::testing::CellMap kept;
    for (const auto& [at, value] : before.all) kept.emplace(at, after.all.at(at));
    EXPECT_TRUE(same(kept, before.all));
  }
}

TEST(Cross, ramses_wants_cubic_cells) {
  const TemporaryDirectory dir;
  mesh::Dataset step = random_step(1, 2, 4, "FLASH");
  step.header.hi[1] = 3;
  EXPECT_THROW(step::write(step, dir / "output_00001", to("ramses")), Error);
}

// RAMSES knows variables by their place; FLASH's and AMReX's order is their own.
TEST(Cross, variables_come_in_the_order_that_ramses_reads) {
  const TemporaryDirectory dir;
  mesh::Dataset step = random_step(5, 2, 4, "FLASH");
  const fs::path out = dir / "output_00001";
  const WriteReport report = step::write(step, out, to("ramses"));
  std::vector<std::string> order;
  for (const mesh::FieldInfo& field : step::open(out).header.fields) order.push_back(field.name);
  EXPECT_THAT(order, ElementsAre("density", "velocity_x", "velocity_y", "pressure"));
  EXPECT_TRUE(same(cells_of_step(step::open(out), "pressure").leaves, cells_of_step(step, "pres").leaves));
  EXPECT_TRUE(same(cells_of_step(step::open(out), "velocity_y").leaves, cells_of_step(step, "vely").leaves));
  EXPECT_TRUE(fs::exists(out / "header_00001.txt"));
}

/// The step with its density once more, as FLASH's "ener".
mesh::Dataset with_energy(mesh::Dataset step) {
  step.header.fields.insert(step.header.fields.begin(), step.header.fields[0]);
  step.header.fields[0].name = "ener";
  step.read = [read = step.read](int part, mesh::Request request) {
    const bool wanted = !request.fields || std::erase(*request.fields, "ener") > 0;
    mesh::Part out = read(part, request);
    mesh::Request density;
    density.fields = {"dens"};
    if (wanted) out.fields.insert(out.fields.begin(), read(part, density).fields.at(0));
    if (wanted) out.fields[0].info.name = "ener";
    return out;
  };
  return step;
}

TEST(Cross, what_ramses_does_not_know_is_appended_and_named) {
  const TemporaryDirectory dir;
  const mesh::Dataset step = with_energy(random_step(5, 2, 4, "FLASH"));
  const WriteReport report = step::write(step, dir / "output_00001", to("ramses"));
  EXPECT_THAT(report.notes, ::testing::Contains(HasSubstr("NPSCAL=1: total_energy")));
  std::vector<std::string> order;
  for (const mesh::FieldInfo& field : step::open(dir / "output_00001").header.fields) order.push_back(field.name);
  EXPECT_THAT(order, ElementsAre("density", "velocity_x", "velocity_y", "pressure", "total_energy"));
}

TEST(Cross, a_variable_that_ramses_needs_and_the_step_lacks_is_named) {
  const TemporaryDirectory dir;
  for (const char* name : {"density", "pressure", "velocity_y"}) {
    WriteRequest options = to("ramses");
    options.rename[formats::field_name(name, ramses_words, flash_words)] = "something";
    try {
      step::write(random_step(5, 2, 4, "FLASH"), dir / "output_00001", options);
      ADD_FAILURE() << "a step without " << name;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), Kind::unsupported);
      EXPECT_THAT(error.what(), HasSubstr(std::string("no ") + name));
    }
    EXPECT_FALSE(fs::exists(dir / "output_00001"));
  }
}

TEST(Cross, a_box_without_periodic_sides_gets_walls_that_ramses_can_read) {
  const TemporaryDirectory dir;
  mesh::Dataset step = random_step(6, 2, 4, "FLASH");
  step.header.periodic = {false, false, false};
  step.header.attributes["string runtime parameters/xl_boundary_type"] = std::string("reflect");
  step.header.attributes["string runtime parameters/xr_boundary_type"] = std::string("outflow");
  step.header.attributes["string runtime parameters/yl_boundary_type"] = std::string("user");
  const fs::path out = dir / "output_00002";
  WriteRequest options = to("ramses");
  options.own["number"] = 2;
  for (const int domains : {1, 3}) {
    options.own["domains"] = domains;
    options.overwrite = true;
    const WriteReport report = step::write(step, out, options);
    EXPECT_THAT(report.notes, ::testing::Contains(HasSubstr("nboundary=4 bound_type=1,2,3,2 ibound_min=-1,1,-1,-1 "
                                                            "ibound_max=-1,1,1,1 jbound_min=0,0,-1,1 "
                                                            "jbound_max=0,0,-1,1")));
    EXPECT_THAT(report.notes, ::testing::Contains(HasSubstr("sides +y")));
    EXPECT_THAT(octavo::testing::check_ramses_output(out, 2), ::testing::IsEmpty());
    const mesh::Dataset back = step::open(out);
    EXPECT_EQ(back.header.attributes.at("nboundary"), mesh::Attribute(std::int64_t{4}));
    EXPECT_EQ(back.header.attributes.at("coarse_boundary"),
              mesh::Attribute(std::vector<std::int64_t>({3, 3, 3, 1, 0, 2, 4, 4, 4})));
    EXPECT_FALSE(back.header.periodic[0]);
    EXPECT_TRUE(same(cells_of_step(back, "density").leaves, cells_of_step(step, "dens").leaves));
  }
}

// As RAMSES' make_boundary_hydro does it: a reflecting wall mirrors, and turns the velocity across it.
TEST(Cross, gas_in_walls_is_mirrored_or_carried_on) {
  const TemporaryDirectory dir;
  mesh::Dataset step = random_step(7, 2, 4, "FLASH");
  step.header.periodic = {false, true, true};
  step.header.attributes["string runtime parameters/xl_boundary_type"] = std::string("reflecting");
  step.header.attributes["string runtime parameters/xr_boundary_type"] = std::string("outflow");
  step::write(step, dir / "output_00001", to("ramses"));
  const mesh::Dataset back = step::open(dir / "output_00001");
  const mesh::Particles walls = back.read_walls(0);
  const auto all = cells_of_step(back, "velocity_x").all;
  const auto column_of = [&](const char* name) -> const mesh::Field& {
    for (const mesh::Field& field : walls.attributes)
      if (field.info.name == name) return field;
    throw std::runtime_error(name);
  };
  const auto level = column_of("level").as<std::int32_t>();
  const auto x = column_of("position_x").as<double>(), y = column_of("position_y").as<double>(),
             v = column_of("velocity_x").as<double>();
  ASSERT_GT(walls.count, 4);
  int mirrored = 0, free = 0;
  for (std::size_t i = 0; i < level.size(); ++i)
    for (unsigned c = 0; c < 4; ++c) {
      const double cells = std::ldexp(1.0, level[i]), half = 0.5 / cells;
      const double cx = x[i] + ((c & 1) != 0 ? half : -half), cy = y[i] + ((c & 2) != 0 ? half : -half);
      const double from = cx < 0 ? -cx : 1 - half;
      const auto found = all.find({static_cast<std::int64_t>(cells), static_cast<std::int64_t>(from * cells),
                                   static_cast<std::int64_t>(cy * cells), 0});
      if (found == all.end()) continue;
      const double expected = cx < 0 ? -found->second : found->second;
      EXPECT_EQ(std::bit_cast<std::uint64_t>(v[4 * i + c]), std::bit_cast<std::uint64_t>(expected)) << cx << " " << cy;
      ++(cx < 0 ? mirrored : free);
    }
  EXPECT_GT(mirrored, 4);
  EXPECT_GT(free, 4);
}

// --------------------------------------------------------------------------------------------------------------- words

TEST(Translate, names_go_there_and_back) {
  for (const formats::Words* a : {&ramses_words, &flash_words, &amrex_words})
    for (const formats::Words* b : {&ramses_words, &flash_words, &amrex_words})
      for (const char* name : {"density", "velocity_z", "something"}) {
        const std::string in_a = formats::field_name(name, ramses_words, *a);
        EXPECT_EQ(formats::field_name(formats::field_name(in_a, *a, *b), *b, *a), in_a);
      }
  EXPECT_EQ(formats::field_name("dens", flash_words, amrex_words), "density");
  EXPECT_EQ(formats::field_name("x_velocity", amrex_words, flash_words), "velx");
}

const mesh::Field& find(const mesh::Particles& particles, const std::string& name) {
  for (const mesh::Field& field : particles.attributes)
    if (field.info.name == name) return field;
  throw std::runtime_error("no " + name);
}

std::vector<double> numbers(const mesh::Particles& particles, const std::string& name) {
  std::vector<double> out;
  mesh::visit_values(find(particles, name), [&](auto values) {
    for (const auto value : values) out.push_back(static_cast<double>(value));
  });
  return out;
}

TEST(Translate, particles_keep_identity_and_every_attribute_through_every_code) {
  for (const bool shared_ids : {false, true})
    for (const formats::Words* other : {&flash_words, &ramses_words}) {
      std::vector<std::string> notes;
      const mesh::Particles original = amrex_particles(2, 30, shared_ids, 7);
      const mesh::Particles there = step::translate(original, amrex_words, *other, 2, notes);
      auto tags = numbers(there, other == &flash_words ? "tag" : "identity");
      std::sort(tags.begin(), tags.end());
      EXPECT_EQ(std::adjacent_find(tags.begin(), tags.end()), tags.end());
      const mesh::Particles back = step::translate(there, *other, amrex_words, 2, notes);
      const mesh::Particles sorted = step::translate(original, amrex_words, amrex_words, 2, notes);
      for (const char* name : {"id", "cpu", "position_x", "position_y", "mass", "tag"})
        EXPECT_EQ(numbers(back, name), numbers(sorted, name)) << name;
    }
}

/// RAMSES' sink clouds: all of a sink have one identity, below 0.
mesh::Particles sink_clouds(std::int64_t count, std::uint64_t seed) {
  octavo::testing::Random random(seed);
  mesh::Particles out{.species = "particles", .count = count, .attributes = {}};
  std::vector<double> x, y, mass;
  std::vector<std::int32_t> identity, level;
  std::vector<std::int8_t> family, tag;
  for (std::int64_t i = 0; i < count; ++i) {
    x.push_back(random.uniform());
    y.push_back(random.uniform());
    mass.push_back(random.uniform());
    identity.push_back(i % 5 == 0 ? static_cast<std::int32_t>(i + 1) : -1 - static_cast<std::int32_t>(i % 2));
    level.push_back(3);
    family.push_back(i % 5 == 0 ? 1 : 3);
    tag.push_back(0);
  }
  out.attributes = {column("position_x", x), column("position_y", y),  column("velocity_x", y),
                    column("velocity_y", x), column("mass", mass),     column("identity", identity),
                    column("levelp", level), column("family", family), column("tag", tag)};
  return out;
}

std::vector<std::string> rows_of(const mesh::Particles& particles, const std::vector<std::string>& columns) {
  std::vector<std::string> rows(static_cast<std::size_t>(particles.count));
  for (const std::string& name : columns) {
    const auto values = numbers(particles, name);
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i] += std::to_string(values[i]) + " ";
  }
  std::sort(rows.begin(), rows.end());
  return rows;
}

TEST(Translate, particles_of_one_identity_are_kept_through_every_code) {
  const mesh::Particles clouds = sink_clouds(31, 4);
  const std::vector<std::string> columns{"identity", "position_x", "position_y", "mass", "family", "tag"};
  for (const formats::Words* other : {&flash_words, &amrex_words}) {
    std::vector<std::string> notes;
    const mesh::Particles there = step::translate(clouds, ramses_words, *other, 2, notes);
    EXPECT_EQ(there.count, clouds.count);
    auto own = numbers(there, other == &flash_words ? "tag" : "id");
    std::sort(own.begin(), own.end());
    EXPECT_EQ(std::adjacent_find(own.begin(), own.end()), own.end()) << "each has its own there";
    EXPECT_GT(own.front(), 0);
    EXPECT_THAT(notes, ::testing::Contains(HasSubstr("22 particles have the identity of another: id -2 cpu 0")));
    const mesh::Particles back = step::translate(there, *other, ramses_words, 2, notes);
    EXPECT_EQ(rows_of(back, columns), rows_of(clouds, columns));
  }
}

TEST(Translate, rows_of_one_identity_do_not_depend_on_the_parts) {
  const mesh::Particles clouds = sink_clouds(31, 4);
  mesh::Particles turned = clouds;
  for (mesh::Field& field : turned.attributes)
    mesh::visit_values(field,
                       [&]<class T>(std::span<const T>) { std::reverse(field.as<T>().begin(), field.as<T>().end()); });
  std::vector<std::string> notes;
  EXPECT_EQ(step::translate(turned, ramses_words, flash_words, 2, notes),
            step::translate(clouds, ramses_words, flash_words, 2, notes));
}

TEST(Cross, ramses_has_one_list_of_particles) {
  const TemporaryDirectory dir;
  mesh::Dataset step = random_step(5, 2, 4, "FLASH");
  mesh::Part part = step.read(0, {});
  for (const char* species : {"tracer", "star"}) {
    part.particles.push_back(amrex_particles(2, 9, false, 1));
    part.particles.back().species = species;
  }
  for (mesh::Particles& particles : part.particles)
    std::erase_if(particles.attributes, [](const mesh::Field& field) { return field.info.name == "cpu"; });
  step = octavo::testing::step_of(step.header, {part});
  WriteRequest options = to("ramses");
  try {
    step::write(step, dir / "output_00001", options);
    FAIL() << "a species was left out";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), Kind::unsupported);
    EXPECT_THAT(error.what(), HasSubstr("tracer, star"));
  }
  options.particles = false;
  step::write(step, dir / "output_00001", options);
}

// Family 0 are tracers, which RAMSES takes no mass of.
TEST(Translate, particles_with_mass_are_no_tracers_in_ramses) {
  std::vector<std::string> notes;
  mesh::Particles particles = amrex_particles(2, 9, false, 1);
  EXPECT_THAT(numbers(step::translate(particles, amrex_words, ramses_words, 2, notes), "family"), ::testing::Each(1));
  std::erase_if(particles.attributes, [](const mesh::Field& field) { return field.info.name == "mass"; });
  EXPECT_THAT(numbers(step::translate(particles, amrex_words, ramses_words, 2, notes), "family"), ::testing::Each(0));
}

TEST(Verify, particles_of_one_identity_are_a_finding) {
  const TemporaryDirectory dir;
  for (const bool twice : {false, true}) {
    mesh::Dataset step = random_step(2, 2, 8, "AMReX");
    mesh::Part part = step.read(0, {});
    part.particles.push_back(amrex_particles(2, 9, true, 1));
    if (twice)
      for (mesh::Field& field : part.particles[0].attributes)
        if (field.info.name == "id") std::fill(field.as<std::int64_t>().begin(), field.as<std::int64_t>().end(), 7);
    step = octavo::testing::step_of(step.header, {part});
    const fs::path out = dir / (twice ? "twice" : "once");
    step::write(step, out, to("amrex"));
    const store::Report report = verify(out, 1);
    ASSERT_EQ(report.findings.size(), twice ? 1u : 0u);
    for (const store::Finding& finding : report.findings)
      EXPECT_THAT(finding.what, HasSubstr("6 particles have the identity of another: id 7 cpu 0"));
  }
}

TEST(Translate, particles_outside_of_the_domain_are_told_with_the_first_places) {
  mesh::Particles particles = amrex_particles(2, 5, false, 1);
  particles.attributes[0].as<double>()[3] = 1.5;
  particles.attributes[1].as<double>()[3] = 0.25;
  mesh::Header header;
  header.dim = 2;
  EXPECT_THAT(step::outside_note(particles, header),
              HasSubstr("1 particles of tracer are outside of the domain: at (1.5"));
}

TEST(Cross, a_field_under_two_names_or_none_is_refused) {
  const TemporaryDirectory dir;
  const mesh::Dataset step = random_step(3, 2, 8, "FLASH");
  WriteRequest options = to("amrex");
  options.rename = {{"dens", "pressure"}};
  EXPECT_THROW(step::write(step, dir / "plt", options), Error);
  options.rename = {{"none", "x"}};
  EXPECT_THROW(step::write(step, dir / "plt", options), Error);
  options.rename = {{"dens", "rho"}};
  options.fields = std::vector<std::string>{"dens"};
  step::write(step, dir / "plt", options);
  EXPECT_EQ(step::open(dir / "plt").header.fields[0].name, "rho");
}

// ------------------------------------------------------------------------------------------------------------ regrid

TEST(RegridJob, parts_of_the_new_tree_are_the_whole_once_and_read_no_other_part) {
  const mesh::Dataset whole = random_step(31, 2, 8, "FLASH");
  mesh::Dataset parts = cut(whole, 9);
  auto reads = std::make_shared<std::set<int>>();
  const auto read = parts.read;
  parts.read = [read, reads](int part, const mesh::Request& request) {
    if (!request.fields || !request.fields->empty()) reads->insert(part);
    return read(part, request);
  };
  step::RegridJob job;
  job.how.block = {4, 4, 1};
  job.part_cells = 200;
  const step::Regridded made = step::regrid(parts, job);
  EXPECT_GT(made.dataset.num_parts, 4);
  const auto cells = cells_of_step(made.dataset, "dens");
  EXPECT_EQ(cells.twice, 0u);
  EXPECT_TRUE(same(cells.all, cells_of_step(whole, "dens").all));
  reads->clear();
  made.dataset.read(1, {});
  EXPECT_GE(reads->size(), 1u);
  EXPECT_LT(reads->size(), 9u);
}

TEST(RegridJob, filled_values_do_not_depend_on_the_parts) {
  for (std::uint64_t seed = 33; seed < 39; ++seed) {
    const int dim = 1 + static_cast<int>(seed % 3);
    const mesh::Dataset whole = random_step(seed, dim, 1, "RAMSES");
    step::RegridJob job;
    job.how.block = {4, dim > 1 ? 4 : 1, dim > 2 ? 4 : 1};
    job.how.fill = true;
    for (const mesh::FillBy by : {mesh::FillBy::linear, mesh::FillBy::constant}) {
      job.how.by = by;
      job.part_cells = 0;
      const step::Regridded one = step::regrid(whole, job);
      ASSERT_EQ(one.dataset.num_parts, 1);
      ASSERT_TRUE(one.plan.fills > 0 || dim == 1);
      job.part_cells = 64;
      const step::Regridded many = step::regrid(cut(whole, 5), job);
      const auto cells = cells_of_step(many.dataset, "density");
      EXPECT_TRUE(dim == 1 || many.dataset.num_parts > 2);
      EXPECT_EQ(cells.twice, 0u);
      EXPECT_TRUE(same(cells.all, cells_of_step(one.dataset, "density").all));
    }
  }
}

/// Gas of FLASH, jumping from cell to cell.
mesh::Dataset step_of_gas(std::uint64_t seed, int dim, std::int64_t side) {
  const mesh::Dataset plain = random_step(seed, dim, side, "FLASH");
  mesh::Part part = plain.read(0, {});
  const mesh::Octree& tree = mesh::octree_of(part);
  part.fields.clear();
  for (const char* name : {"dens", "velx", "vely", "eint", "ener", "pres", "temp"}) {
    const mesh::FieldInfo info{name, "", mesh::ScalarType::float64, mesh::Centring::cell, 1, 0};
    octavo::testing::Random random(seed + part.fields.size());
    part.fields.push_back(mesh::make_field(info, mesh::num_cells(tree) * mesh::block_size(tree)));
    for (double& value : part.fields.back().as<double>()) value = 0.1 + random.uniform();
  }
  for (std::size_t i = 0; i < part.fields[0].size(); ++i) {
    const auto of = [&](std::size_t f) -> double& { return part.fields[f].as<double>()[i]; };
    of(4) = of(3) + (of(1) * of(1) + of(2) * of(2)) / 2;
    of(5) = of(0) * of(3) / 2;
  }
  mesh::Header header = plain.header;
  header.fields.clear();
  return octavo::testing::step_of(header, {part});
}

double sum_over_mass(const mesh::Dataset& step, const std::string& name) {
  const auto dens = cells_of_step(step, "dens").leaves, of = cells_of_step(step, name).leaves;
  long double sum = 0;  // of tens of thousands
  for (const auto& [at, value] : of)
    sum += static_cast<long double>(dens.at(at) * value * std::pow(static_cast<double>(at[0]), -step.header.dim));
  return static_cast<double>(sum);
}

TEST(Specific, quantities_are_made_alike_whatever_the_parts_and_the_fields_asked_for) {
  for (std::uint64_t seed = 70; seed < 73; ++seed) {
    const int dim = 1 + static_cast<int>(seed % 3);
    const mesh::Dataset whole = step_of_gas(seed, dim, 4);
    step::RegridJob job;
    job.how.block = {8, dim > 1 ? 8 : 1, dim > 2 ? 8 : 1};
    job.how.fill = true;
    job.part_cells = 0;
    const mesh::Dataset blocks = step::regrid(whole, job).dataset, finer_one = step::finer(whole, 1);
    job.part_cells = 256;
    const mesh::Dataset blocks_cut = step::regrid(cut(whole, 5), job).dataset,
                        finer_cut = step::finer(cut(whole, 5), 1);
    for (const char* name : {"dens", "velx", "eint", "ener", "pres", "temp"}) {
      // The cells of one field, read alone, beside those of all, read at once.
      EXPECT_TRUE(same(cells_of_step(blocks_cut, name).all, cells_of_step(blocks, name).all)) << name;
      EXPECT_TRUE(same(cells_of_step(finer_cut, name).all, cells_of_step(finer_one, name).all)) << name;
      const mesh::Part all = finer_one.read(0, {});
      EXPECT_TRUE(same(cells_of_step(octavo::testing::step_of(whole.header, {all}), name).all,
                       cells_of_step(finer_one, name).all))
          << name;
    }
    for (const char* name : {"velx", "vely", "ener"})
      for (const mesh::Dataset* step : {&blocks_cut, &finer_cut})
        EXPECT_NEAR(sum_over_mass(*step, name), sum_over_mass(whole, name), 1e-14 * sum_over_mass(whole, name)) << name;
  }
}

TEST(Specific, energies_of_flash_stay_so_in_the_words_of_amrex) {
  const TemporaryDirectory dir;
  const mesh::Dataset step = step_of_gas(80, 2, 4);
  WriteRequest options = to("amrex");
  options.own["blocking_factor"] = 16;
  options.fill = true;
  const WriteReport report = step::write(step, dir / "plt", options);
  EXPECT_GT(report.fills, 0);
  EXPECT_THAT(report.notes, ::testing::Contains(HasSubstr("weighted by density")));
  mesh::Dataset back = step::open(dir / "plt");
  const auto mass = cells_of_step(back, "density").leaves;
  for (const auto& [ours, theirs] :
       std::map<std::string, std::string>{{"velx", "x_velocity"}, {"ener", "total_energy"}}) {
    double sum = 0;
    for (const auto& [at, value] : cells_of_step(back, theirs).leaves)
      sum += mass.at(at) * value * std::pow(static_cast<double>(at[0]), -2);
    EXPECT_NEAR(sum, sum_over_mass(step, ours), 1e-14 * sum) << ours;
  }
}

/// Blocks of 4 with a vector on faces that has no divergence, b_x(y) and b_y(x): each face has the mean over it.
mesh::Dataset step_with_faces(std::uint64_t seed, const std::string& code) {
  const mesh::Dataset plain = random_step(seed, 2, 4, code);
  mesh::Part part = plain.read(0, {});
  const mesh::Octree& tree = mesh::octree_of(part);
  for (std::size_t axis = 0; axis < 2; ++axis)
    for (const char* half : {"_left", "_right"}) {
      const std::string name = std::string("fc") + "xy"[axis] + half;
      const auto centring = static_cast<mesh::Centring>(axis + 1);
      mesh::Field field = mesh::make_field({name, "", mesh::ScalarType::float64, centring, 1, 0},
                                           mesh::num_cells(tree) * mesh::block_size(tree));
      std::vector<mesh::Coordinate> at = mesh::root_coordinates(tree);
      std::size_t k = 0;
      for (int level = 0; level < mesh::num_levels(tree); ++level) {
        if (level > 0) at = mesh::child_coordinates(tree, level - 1, at);
        const double side = 256 >> level;
        for (const mesh::Coordinate& cell : at)
          mesh::for_each_row(mesh::cells_of(tree, cell), [&](const mesh::Index3& row, std::int64_t n) {
            for (std::int64_t x = 0; x < n; ++x) {
              const double a = static_cast<double>(axis == 0 ? row[1] : row[0] + x) * side, b = a + side;
              field.as<double>()[k++] = (a * a + a * b + b * b) / 3;
            }
          });
      }
      part.fields.push_back(std::move(field));
    }
  mesh::Header header = plain.header;
  header.fields.clear();
  header.periodic = {false, false, false};
  return octavo::testing::step_of(header, {part});
}

double worst_divergence(const mesh::Dataset& step) {
  std::array<octavo::testing::CellMap, 4> half;
  std::size_t h = 0;
  for (const char* name : {"fcx_left", "fcx_right", "fcy_left", "fcy_right"}) half[h++] = cells_of_step(step, name).all;
  double worst = 0;
  for (const auto& [at, value] : half[0])
    worst = std::max(worst, std::abs(half[1].at(at) - value + half[3].at(at) - half[2].at(at)) /
                                (1 + std::abs(value) + std::abs(half[2].at(at))));
  for (const auto& [at, value] : half[1]) {
    if (const auto beside = half[0].find({at[0], at[1] + 1, at[2], 0}); beside != half[0].end()) {
      EXPECT_EQ(beside->second, value);
    }
  }
  for (const auto& [at, value] : half[3]) {
    if (const auto beside = half[2].find({at[0], at[1], at[2] + 1, 0}); beside != half[2].end()) {
      EXPECT_EQ(beside->second, value);
    }
  }
  return worst;
}

TEST(RegridJob, filled_faces_stay_without_divergence_whatever_field_is_asked_for) {
  for (std::uint64_t seed = 60; seed < 66; ++seed) {
    const mesh::Dataset whole = step_with_faces(seed, "RAMSES");
    ASSERT_LT(worst_divergence(whole), 1e-14);
    step::RegridJob job;
    job.how.block = {8, 8, 1};
    job.how.fill = true;
    job.part_cells = 64;
    const step::Regridded made = step::regrid(cut(whole, 3), job);
    ASSERT_GT(made.plan.fills, 0);
    EXPECT_LT(worst_divergence(made.dataset), 1e-14);  // reads one half at a time
    const auto before = cells_of_step(whole, "fcx_right").all, after = cells_of_step(made.dataset, "fcx_right").all;
    for (const auto& [at, value] : before) {
      const auto kept = after.find(at);
      if (kept != after.end()) {
        ASSERT_EQ(kept->second, value);
      }
    }
  }
}

/// With its levels counted.
mesh::Dataset counted(mesh::Dataset step) {
  const mesh::Octree tree = mesh::whole_tree(step, step.header.unfolded);
  for (int level = 0; level < mesh::num_levels(tree); ++level)
    step.levels.push_back({mesh::code_level(step.header, level),
                           static_cast<std::int64_t>(mesh::num_cells(tree, level)),
                           static_cast<std::int64_t>(mesh::num_owned_leaves(tree, level))});
  return step;
}

/// Whether a map has all that another has, to the bit.
bool holds_all(const octavo::testing::CellMap& all, const octavo::testing::CellMap& some) {
  octavo::testing::CellMap common;
  for (const auto& [at, value] : some)
    if (const auto found = all.find(at); found != all.end()) common.insert(*found);
  return same(common, some);
}

TEST(Finer, the_finest_level_is_refined_alike_in_any_parts_and_faces_stay_without_divergence) {
  for (std::uint64_t seed = 60; seed < 63; ++seed)
    for (const int times : {1, 2}) {
      const mesh::Dataset whole = counted(step_with_faces(seed, "RAMSES"));
      const mesh::Dataset one = step::finer(whole, times), many = step::finer(cut(whole, 4), times);
      EXPECT_LT(worst_divergence(many), 1e-13);  // reads one half at a time
      for (const char* name : {"density", "fcx_left", "fcy_right"}) {
        const auto cells = cells_of_step(many, name);
        EXPECT_EQ(cells.twice, 0u);
        EXPECT_TRUE(same(cells.all, cells_of_step(one, name).all)) << name;
        EXPECT_TRUE(holds_all(cells.all, cells_of_step(whole, name).all)) << name;
      }
      EXPECT_EQ(one.levels.size(), whole.levels.size() + static_cast<std::size_t>(times));
      std::int64_t leaves = 0;
      for (const mesh::LevelCount& count : one.levels) leaves += count.leaves;
      EXPECT_EQ(static_cast<std::size_t>(leaves) * 16, cells_of_step(one, "density").leaves.size());
      mesh::Request shallow;
      shallow.max_level = one.levels.back().level - times;
      EXPECT_EQ(one.read(0, shallow).fields, whole.read(0, shallow).fields);
    }
}

TEST(Cross, a_refined_step_is_balanced_and_keeps_what_it_had) {
  const TemporaryDirectory dir;
  const mesh::Dataset step = counted(random_step(8, 2, 4, "FLASH"));
  WriteRequest options = to("amrex");
  options.refine = 1;
  options.part_cells = 100;
  const WriteReport report = step::write(step, dir / "plt", options);
  EXPECT_THAT(report.notes, ::testing::Contains(HasSubstr("refined once")));
  const mesh::Dataset back = step::open(dir / "plt");
  EXPECT_EQ(back.levels.size(), step.levels.size() + 1);
  EXPECT_TRUE(holds_all(cells_of_step(back, "density").all, cells_of_step(step, "dens").all));
}

TEST(Cross, particles_in_two_dimensions_have_three_positions_in_flash_alone) {
  if (!file::hdf5::available()) GTEST_SKIP() << "built without HDF5";
  const TemporaryDirectory dir;
  step::write(random_step(6, 2, 8, "AMReX", true), dir / "chk", to("flash"));
  const auto there = mesh::gather_particles(step::open(dir / "chk"))[0];
  EXPECT_THAT(numbers(there, "position_z"), ::testing::Each(0.0));
  EXPECT_EQ(there.count, std::ssize(numbers(there, "position_z")));
  step::write(step::open(dir / "chk"), dir / "plt", to("amrex"));
  const auto back = mesh::gather_particles(step::open(dir / "plt"))[0];
  ASSERT_FALSE(back.attributes.empty());
  for (const mesh::Field& field : back.attributes) EXPECT_NE(field.info.name, "position_z");
}

TEST(Cross, a_refined_flash_step_keeps_its_blocks_and_boundaries) {
  if (!file::hdf5::available()) GTEST_SKIP() << "built without HDF5";
  const TemporaryDirectory dir;
  mesh::Dataset step = counted(random_step(8, 2, 4, "FLASH"));
  const std::vector<std::int64_t> boundary{-21, -22, -31, -35};  // an incompressible code's walls and others
  step.header.attributes["flash/boundary"] = boundary;
  step.header.periodic = {false, false, false};
  WriteRequest options = to("flash");
  options.refine = 1;
  step::write(step, dir / "chk", options);
  const mesh::Dataset finer = step::open(dir / "chk");
  EXPECT_EQ(finer.header.block, (mesh::Index3{4, 4, 1}));
  EXPECT_EQ(std::get<std::vector<std::int64_t>>(finer.header.attributes.at("flash/boundary")), boundary);
}

TEST(Cross, face_variables_go_to_larger_flash_blocks_with_fill) {
  const TemporaryDirectory dir;
  const mesh::Dataset step = step_with_faces(60, "FLASH");
  WriteRequest options = to("flash");
  options.block = 8;
  options.fill = true;
  WriteReport report;
  try {
    report = step::write(step, dir / "chk", options);
  } catch (const Error& error) {
    if (std::string(error.what()).find("HDF5") == std::string::npos) throw;
    GTEST_SKIP() << error.what();  // without HDF5
  }
  EXPECT_GT(report.fills, 0);
  const mesh::Dataset back = step::open(dir / "chk");
  EXPECT_EQ(back.header.block, (mesh::Index3{8, 8, 1}));
  EXPECT_LT(worst_divergence(back), 1e-14);
  const auto before = cells_of_step(step, "fcy_left").all, after = cells_of_step(back, "fcy_left").all;
  for (const auto& [at, value] : before) EXPECT_EQ(after.at(at), value);
}

TEST(RegridJob, coarse_faces_are_the_means_of_the_fine_ones_on_them) {
  const mesh::Dataset whole = step_with_faces(61, "RAMSES");
  step::RegridJob job;
  job.how.root = -1;
  const step::Regridded made = step::regrid(whole, job);
  ASSERT_GT(made.plan.means, 0);
  EXPECT_LT(worst_divergence(made.dataset), 1e-14);
  const auto fine = cells_of_step(whole, "fcx_left").all, coarse = cells_of_step(made.dataset, "fcx_left").all;
  EXPECT_DOUBLE_EQ(coarse.at({4, 0, 0, 0}), (fine.at({8, 0, 0, 0}) + fine.at({8, 0, 1, 0})) / 2);
}

TEST(RegridJob, one_half_of_a_face_variable_is_not_filled) {
  mesh::Dataset whole = step_with_faces(60, "RAMSES");
  mesh::Part part = whole.read(0, {});
  part.fields.pop_back();
  mesh::Header header = whole.header;
  header.fields.clear();
  step::RegridJob job;
  job.how.block = {8, 8, 1};
  job.how.fill = true;
  EXPECT_THROW(step::regrid(octavo::testing::step_of(header, {part}), job), Error);
}

TEST(RegridJob, a_step_of_a_region_only_is_refused) {
  const mesh::Dataset whole = random_step(31, 2, 8, "FLASH");
  mesh::Dataset part = cut(whole, 3);
  part.num_parts = 2;
  EXPECT_THROW(step::regrid(part, {}), Error);
}

}  // namespace
}  // namespace octavo::verbs
