#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <mutex>

#include "octavo/base/error.hpp"
#include "octavo/formats/med/med.hpp"
#include "octavo/telemac/cut/cut_file.hpp"
#include "octavo/telemac/cut/partition.hpp"
#include "octavo/verbs/convert.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/serafin_fixture.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/thread_ranks.hpp"

namespace octavo::telemac {
namespace {

namespace fs = std::filesystem;
using octavo::testing::bytes_of_file;
using octavo::testing::put_file;
using octavo::testing::SerafinFixture;
using octavo::testing::TemporaryFolder;
using ::testing::HasSubstr;

/// Names and contents of all files below a folder.
std::map<std::string, std::string> contents(const fs::path& folder) {
  std::map<std::string, std::string> all;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.is_regular_file()) all[fs::relative(entry.path(), folder).string()] = bytes_of_file(entry);
  return all;
}

/// Every rank's error, or "" each.
std::vector<std::string> run(int size, const fs::path& mesh, const fs::path& prefix, const PartitionOptions& options,
                             PartitionReport* report = nullptr) {
  std::vector<std::string> errors(static_cast<std::size_t>(size));
  std::mutex lock;
  octavo::testing::run_ranks(size, [&](const base::Ranks& ranks) {
    try {
      const PartitionReport mine = partition_mesh(mesh, prefix, options, ranks);
      const std::lock_guard guard(lock);
      if (report != nullptr) *report = mine;
    } catch (const base::Error& error) {
      errors[static_cast<std::size_t>(ranks.rank)] = error.what();
    }
  });
  return errors;
}

SerafinFixture fixture(std::uint32_t seed) {
  SerafinFixture f;
  f.mesh = octavo::testing::random_triangles(seed, 9, 8, seed % 2 == 0);
  f.numbers.assign(f.mesh.x.size(), 0);
  std::int32_t rank = 0;
  if (seed % 3 != 2)
    for (const std::int32_t point : octavo::testing::boundary_of(f.mesh))
      f.numbers[static_cast<std::size_t>(point)] = ++rank;
  f.planes = seed % 5 == 4 ? 3 : 1;
  f.doubles = seed % 2 == 1;
  return f;
}

TEST(PartitionRanks, any_number_of_ranks_writes_what_one_process_writes) {
  for (std::uint32_t seed = 0; seed < 16; ++seed) {
    const SerafinFixture f = fixture(seed);
    const TemporaryFolder folder;
    put_file(folder / "geo.slf", serafin_bytes(f));
    put_file(folder / "geo.cli", octavo::testing::boundary_text(octavo::testing::boundary_of(f.mesh)));
    PartitionOptions options;
    options.parts = 1 + static_cast<std::int32_t>(seed % 8) * 2;
    options.method = seed < 8 ? partition::CutMethod::inertial : partition::CutMethod::hilbert;
    options.layout = seed % 4 < 2 ? PieceLayout::concat : PieceLayout::files;
    if (seed != 3) options.boundary = folder / "geo.cli";
    options.also = {{"PRE", folder / "geo.slf"}};
    fs::create_directory(folder / "one");
    const PartitionReport one = partition_mesh(folder / "geo.slf", folder / "one/T2D", options);
    const auto expected = contents(folder / "one");
    for (const int size : {1, 2, 3, 4}) {
      const fs::path many = folder / ("many" + std::to_string(size));
      fs::create_directory(many);
      PartitionReport report;
      EXPECT_THAT(run(size, folder / "geo.slf", many / "T2D", options, &report), ::testing::Each(""));
      EXPECT_TRUE(contents(many) == expected) << "seed " << seed << ", " << size << " ranks";
      EXPECT_EQ(report.quality.cut_edges, one.quality.cut_edges);
      EXPECT_EQ(report.quality.shared_points, one.quality.shared_points);
      EXPECT_EQ(report.quality.most_neighbours, one.quality.most_neighbours);
      EXPECT_EQ(report.quality.fewest, one.quality.fewest);
      EXPECT_EQ(report.quality.most, one.quality.most);
      EXPECT_EQ(report.files.size(), one.files.size());
    }
  }
}

TEST(PartitionRanks, a_result_on_another_mesh_of_equal_counts_is_everybody_s_error) {
  const TemporaryFolder folder;
  const SerafinFixture f = fixture(1);
  put_file(folder / "geo.slf", serafin_bytes(f));
  PartitionOptions options;
  options.method = partition::CutMethod::inertial;
  options.also = {{"PRE", folder / "pre.slf"}};
  SerafinFixture pre = f;
  std::rotate(pre.mesh.connectivity.begin(), pre.mesh.connectivity.begin() + 6, pre.mesh.connectivity.end());
  put_file(folder / "pre.slf", serafin_bytes(pre));
  EXPECT_THAT(run(3, folder / "geo.slf", folder / "T2D", options), ::testing::Each(""));
  pre.mesh.connectivity[100] = pre.mesh.connectivity[0];
  put_file(folder / "pre.slf", serafin_bytes(pre));
  EXPECT_THAT(run(3, folder / "geo.slf", folder / "T2D", options), ::testing::Each(HasSubstr("element 1: expected")));
  pre = f;
  pre.mesh.y.back() += 1;
  put_file(folder / "pre.slf", serafin_bytes(pre));
  EXPECT_THAT(run(3, folder / "geo.slf", folder / "T2D", options),
              ::testing::Each(HasSubstr("y of point " + std::to_string(f.mesh.y.size()))));
}

TEST(PartitionRanks, no_input_is_replaced_by_an_output) {
  const SerafinFixture f = fixture(1);
  const TemporaryFolder folder;
  put_file(folder / "T2DGEO", serafin_bytes(f));
  PartitionOptions options;
  options.parts = 1;
  options.method = partition::CutMethod::hilbert;
  const auto before = contents(folder.path());
  EXPECT_THAT(run(3, folder / "T2DGEO", folder / "T2D", options),
              ::testing::Each(HasSubstr("would replace the input")));
  EXPECT_TRUE(contents(folder.path()) == before);
}

TEST(PartitionRanks, a_damaged_side_file_leaves_the_pieces_that_are_there) {
  const SerafinFixture f = fixture(1);
  const TemporaryFolder folder;
  put_file(folder / "geo.slf", serafin_bytes(f));
  put_file(folder / "zones", "1 1\n");
  put_file(folder / "T2DGEO00001-00000", serafin_bytes(f));
  PartitionOptions options;
  options.method = partition::CutMethod::hilbert;
  options.layout = PieceLayout::files;
  options.zones = folder / "zones";
  const auto before = contents(folder.path());
  EXPECT_THAT(run(2, folder / "geo.slf", folder / "T2D", options), ::testing::Each(HasSubstr("zones, line 2")));
  EXPECT_TRUE(contents(folder.path()) == before);
}

TEST(PartitionRanks, pieces_get_their_names_when_all_are_whole) {
  const SerafinFixture f = fixture(1);
  const TemporaryFolder folder;
  put_file(folder / "geo.slf", serafin_bytes(f));
  put_file(folder / "pre.slf", serafin_bytes(f));
  PartitionOptions options;
  options.parts = 3;
  options.method = partition::CutMethod::hilbert;
  options.also = {{"PRE", folder / "pre.slf"}};
  for (const PieceLayout layout : {PieceLayout::concat, PieceLayout::files}) {
    options.layout = layout;
    for (const int size : {1, 3}) {
      options.progress = {};
      options.parts = 3;
      EXPECT_THAT(run(size, folder / "geo.slf", folder / "T2D", options), ::testing::Each(""));
      const auto before = contents(folder.path());
      options.parts = 4;
      std::atomic<int> called = 0;
      options.progress = [&](std::int64_t done, std::int64_t) { return !(done == 0 && ++called > size); };
      EXPECT_THAT(run(size, folder / "geo.slf", folder / "T2D", options), ::testing::Each(HasSubstr("stopped")));
      EXPECT_TRUE(contents(folder.path()) == before) << size << " ranks";
    }
  }
}

/// Zones of all points, sections across the mesh, and weirs on neighbouring points, in either layout.
void put_sides(const fs::path& folder, const SerafinFixture& f, std::uint32_t seed, PartitionOptions& options) {
  const std::size_t count = f.mesh.x.size();
  std::string zones, weirs = seed % 2 == 0 ? "weirs\n3 1\n" : "weirs\n1 1 .5\na group\n3\nx\ny\nz\n";
  for (std::size_t i = count; i > 0; --i) zones += std::to_string(i) + " " + std::to_string(7 * i % 5) + "\n";
  for (std::size_t w = 0; w < 3; ++w) {
    weirs += std::to_string(w + 1);
    for (std::size_t side = 0; side < 2; ++side) {
      weirs += " 0.5 1.5 2";
      for (std::size_t k = 0; k < 4; ++k)
        weirs +=
            " " + std::to_string(f.mesh.connectivity[(37 * w + 19 * side + k + seed) % f.mesh.connectivity.size()] + 1);
    }
    weirs += seed % 2 == 0 ? "\n" : " 0 1 .5 .25\n";
  }
  const std::string sections =
      seed % 4 < 2 ? "sections\n3 0\na\n0 0 0 8\nb\n0 8 9 8\n'c d'\n9 8 9 0\n"
                   : "sections\n1 -1\na\n" + std::to_string(seed + 1) + " " + std::to_string(seed + 1) + "\n";
  options.zones = folder / "zones";
  options.weirs = folder / "weirs";
  options.sections = folder / "sections";
  put_file(*options.zones, zones);
  put_file(*options.weirs, weirs);
  put_file(*options.sections, sections);
}

TEST(PartitionRanks, sections_zones_and_weirs_are_those_of_one_process) {
  for (std::uint32_t seed = 0; seed < 8; ++seed) {
    const SerafinFixture f = fixture(seed);
    const TemporaryFolder folder;
    put_file(folder / "geo.slf", serafin_bytes(f));
    PartitionOptions options;
    options.parts = 1 + static_cast<std::int32_t>(seed);
    options.method = seed % 2 == 0 ? partition::CutMethod::inertial : partition::CutMethod::hilbert;
    options.layout = seed % 3 == 0 ? PieceLayout::files : PieceLayout::concat;
    options.concat_sides = seed % 3 == 2;
    put_sides(folder / ".", f, seed, options);
    fs::create_directory(folder / "one");
    partition_mesh(folder / "geo.slf", folder / "one/T2D", options);
    const auto expected = contents(folder / "one");
    EXPECT_TRUE(
        expected.contains("T2DSEU" + std::string(seed == 0              ? ""
                                                 : options.concat_sides ? "-INDEX"
                                                                        : "0000" + std::to_string(seed) + "-00000")));
    for (const int size : {1, 2, 3, 4}) {
      const fs::path many = folder / ("many" + std::to_string(size));
      fs::create_directory(many);
      for (int time = 0; time < (size == 2 ? 2 : 1); ++time)  // the second replaces what the first made
        EXPECT_THAT(run(size, folder / "geo.slf", many / "T2D", options), ::testing::Each(""));
      EXPECT_TRUE(contents(many) == expected) << "seed " << seed << ", " << size << " ranks";
    }
  }
}

TEST(PartitionRanks, damaged_side_files_are_everybody_s_error) {
  const TemporaryFolder folder;
  const SerafinFixture f = fixture(0);
  put_file(folder / "geo.slf", serafin_bytes(f));
  PartitionOptions options;
  options.parts = 3;
  options.method = partition::CutMethod::hilbert;
  put_sides(folder / ".", f, 0, options);
  const auto errors = [&] { return run(3, folder / "geo.slf", folder / "T2D", options); };
  EXPECT_THAT(errors(), ::testing::Each(""));
  put_file(folder / "zones", "1 1\n1 2\n");
  EXPECT_THAT(errors(), ::testing::Each(HasSubstr("point 1 has a zone already")));
  put_file(folder / "weirs", "weirs\n1 1\n1 0 0 0 1 2 3 4 0 0 0 5 6 7 100000\n");
  options.zones.reset();
  EXPECT_THAT(errors(), ::testing::Each(HasSubstr("found 100000")));
  put_file(folder / "sections", "sections\n1 -1\na\n1\n");
  EXPECT_THAT(errors(), ::testing::Each(HasSubstr("the file ends here")));
}

TEST(PartitionRanks, no_rank_gathers_what_grows_with_parts_times_ranks) {
  const TemporaryFolder folder;
  SerafinFixture f;
  f.mesh = octavo::testing::random_triangles(1, 20, 20);
  put_file(folder / "geo.slf", serafin_bytes(f));
  PartitionOptions options;
  options.parts = 10;
  options.method = partition::CutMethod::hilbert;
  std::atomic<std::size_t> most = 0;
  octavo::testing::run_ranks(4, [&](const base::Ranks& ranks) {
    base::Ranks counting = ranks;
    counting.all_gather = [&](const std::string& mine) {
      for (std::size_t now = most; now < mine.size() && !most.compare_exchange_weak(now, mine.size());) continue;
      return ranks.all_gather(mine);
    };
    partition_mesh(folder / "geo.slf", folder / "T2D", options, counting);
  });
  constexpr std::size_t stretches = 80 * 10;  // 80 elements per part, each part a stretch
  EXPECT_GT(most, 0U);
  EXPECT_LT(most, stretches * 2 * sizeof(std::int64_t));  // their sums, whole
}

/// A mesh as a file and as a store, to be cut in five.
struct Stored {
  TemporaryFolder folder;
  PartitionOptions options;
  Stored() {
    put_file(folder / "geo.slf", serafin_bytes(fixture(0)));
    verbs::convert({folder / "geo.slf"}, folder / "geo.octavo", {});
    options.parts = 5;
    options.method = partition::CutMethod::hilbert;
  }
};

TEST(PartitionRanks, a_store_is_cut_as_the_file_that_it_was) {
  const Stored given;
  const TemporaryFolder& folder = given.folder;
  const PartitionOptions& options = given.options;
  fs::create_directory(folder / "one");
  fs::create_directory(folder / "many");
  partition_mesh(folder / "geo.slf", folder / "one/T2D", options);
  EXPECT_THAT(run(3, folder / "geo.octavo", folder / "many/T2D", options), ::testing::Each(""));
  EXPECT_TRUE(contents(folder / "many") == contents(folder / "one"));
}

TEST(PartitionRanks, what_is_made_for_the_time_being_replaces_no_file) {
  const Stored given;
  const TemporaryFolder& folder = given.folder;
  PartitionOptions options = given.options;
  fs::create_directory(folder / "out");
  partition_mesh(folder / "geo.slf", folder / "out/T2D", options);
  for (const char* name : {"GEO.whole.slf", "GEO.whole-1.slf.partial", "PRE.whole.slf"})
    put_file(folder / ("out/T2D" + std::string(name)), name);
  const auto expected = contents(folder / "out");
  for (const int ranks : {1, 3}) {
    EXPECT_THAT(run(ranks, folder / "geo.octavo", folder / "out/T2D", options), ::testing::Each(""));
    EXPECT_TRUE(contents(folder / "out") == expected);
  }
  // Nothing stays either if a further input is unusable.
  verbs::convert({folder / "geo.slf"}, folder / "torn.octavo", {});
  for (const auto& file : fs::recursive_directory_iterator(folder / "torn.octavo"))
    if (file.is_regular_file() && file.file_size() > 8192) fs::resize_file(file, 8192);
  options.also = {{"PRE", folder / "torn.octavo"}};
  EXPECT_THAT(run(3, folder / "geo.octavo", folder / "out/T2D", options), ::testing::Each(::testing::Not("")));
  EXPECT_TRUE(contents(folder / "out") == expected);
}

std::string bytes_of(const auto& values) {
  const auto bytes = std::as_bytes(std::span(values));
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// The content of each mesh of a MED file: HDF5 keeps the second in which each array was made.
std::string meshes_of(const fs::path& file) {
  std::string text;
  for (const std::string& name : formats::med::mesh_names(file)) {
    const fs::path place = file.string() + "#" + name;
    for (std::size_t step = 0; step < std::max<std::size_t>(1, formats::med::list_steps(place).times.size()); ++step) {
      const mesh::Dataset data = formats::med::open(place, static_cast<std::int64_t>(step));
      const mesh::Part part = data.read(0, {});
      const auto& mesh = std::get<mesh::Unstructured>(part.mesh);
      text += name + bytes_of(std::vector{data.header.time}) + bytes_of(mesh.x) + bytes_of(mesh.y) +
              bytes_of(mesh.connectivity) + bytes_of(mesh.global_point);
      for (const mesh::Field& field : part.fields) text += field.info.name + bytes_of(field.bytes);
    }
  }
  EXPECT_GT(text.size(), 1000U);
  return text;
}

/// Contents of a folder where MED files are their meshes, and stores the pieces that their cut makes: each store has an
/// identity of its own.
std::map<std::string, std::string> contents_cut_again(const fs::path& folder) {
  auto all = contents(folder);
  std::erase_if(all, [](const auto& file) { return file.first.find(".octavo/") != std::string::npos; });
  for (auto& [name, bytes] : all)
    if (name.ends_with(".med")) bytes = meshes_of(folder / name);
  PartitionOptions kept;
  kept.parts = 0;
  kept.also = {{"PRE", folder / "T2DPRE.octavo"}};
  if (!fs::exists(folder / "T2DGEO.octavo")) return all;
  const TemporaryFolder again;
  partition_mesh(folder / "T2DGEO.octavo", again / "T2D", kept);
  all.merge(contents(again / "."));
  return all;
}

TEST(PartitionRanks, a_store_and_a_med_file_of_several_ranks_are_those_of_one_process) {
  const TemporaryFolder folder;
  const SerafinFixture f = fixture(0);
  put_file(folder / "geo.slf", serafin_bytes(f));
  put_file(folder / "geo.cli", octavo::testing::boundary_text(octavo::testing::boundary_of(f.mesh)));
  PartitionOptions options;
  options.parts = 5;
  options.boundary = folder / "geo.cli";
  options.also = {{"PRE", folder / "geo.slf"}};
  for (const PieceLayout layout : {PieceLayout::octavo, PieceLayout::med}) {
    options.layout = layout;
    options.method = layout == PieceLayout::med ? partition::CutMethod::inertial : partition::CutMethod::hilbert;
    const fs::path one = folder / ("one" + std::to_string(static_cast<int>(layout)));
    fs::create_directory(one);
    PartitionReport expected;
    try {
      expected = partition_mesh(folder / "geo.slf", one / "T2D", options);
    } catch (const base::Error& error) {
      if (error.kind() == base::Kind::unsupported) GTEST_SKIP() << error.what();
      throw;
    }
    for (const int size : {2, 3}) {
      const fs::path many = one.string() + "many" + std::to_string(size);
      fs::create_directory(many);
      PartitionReport report;
      EXPECT_THAT(run(size, folder / "geo.slf", many / "T2D", options, &report), ::testing::Each(""));
      EXPECT_TRUE(contents_cut_again(many) == contents_cut_again(one)) << size << " ranks";
      EXPECT_EQ(report.files.size(), expected.files.size());
      EXPECT_EQ(report.quality.cut_edges, expected.quality.cut_edges);
      EXPECT_EQ(report.notes, expected.notes);
    }
  }
}

TEST(PartitionRanks, names_that_others_have_are_refused_before_anything_is_written) {
  const TemporaryFolder folder;
  put_file(folder / "geo.slf", serafin_bytes(fixture(0)));
  PartitionOptions options;
  options.method = partition::CutMethod::inertial;
  for (const char* name : {"GEO", "CLI", "PAR", "SEC", "ZFI", "SEU", "RES"}) {
    options.also = {{"RES", folder / "geo.slf"}, {name, folder / "geo.slf"}};
    const std::string text = std::string("two inputs would have pieces called ") + name;
    EXPECT_THAT(run(2, folder / "geo.slf", folder / "T2D", options), ::testing::Each(HasSubstr(text)));
    const auto error = testing::error_of([&] { partition_mesh(folder / "geo.slf", folder / "T2D", options); });
    EXPECT_EQ(error.kind(), base::Kind::usage);
    EXPECT_THAT(error.what(), HasSubstr(text));
  }
  EXPECT_EQ(contents(folder / ".").size(), 1U);
}

TEST(PartitionRanks, ipobo_that_says_otherwise_gives_way_to_the_boundary_file) {
  const TemporaryFolder folder;
  const SerafinFixture f = fixture(1);
  const auto boundary = octavo::testing::boundary_of(f.mesh);
  put_file(folder / "geo.cli", octavo::testing::boundary_text(boundary));
  PartitionOptions options;
  options.parts = 5;
  options.method = partition::CutMethod::inertial;
  options.boundary = folder / "geo.cli";
  for (const std::int32_t number : {-7, 2, 0}) {  // in place of 5
    SerafinFixture other = f;
    other.numbers[static_cast<std::size_t>(boundary[4])] = number;
    put_file(folder / "geo.slf", serafin_bytes(other));
    std::vector<std::string> notes;
    for (const int size : {0, 1, 3}) {  // 0: partition_mesh
      const fs::path out = folder / std::to_string(size);
      fs::create_directories(out);
      PartitionReport report;
      if (size == 0)
        report = partition_mesh(folder / "geo.slf", out / "T2D", options);
      else
        EXPECT_THAT(run(size, folder / "geo.slf", out / "T2D", options, &report), ::testing::Each(""));
      ASSERT_EQ(report.notes.size(), 1U);
      notes.push_back(report.notes[0]);
      EXPECT_TRUE(contents(out) == contents(folder / "0"));
    }
    EXPECT_THAT(notes, ::testing::Each(notes[0]));
    EXPECT_THAT(notes[0], HasSubstr(number == 0 ? "the boundary has " + std::to_string(boundary.size())
                                                : "IPOBO says " + std::to_string(number)));
  }
}

TEST(PartitionRanks, a_cut_that_is_given_is_that_of_any_number_of_ranks) {
  const TemporaryFolder folder;
  const SerafinFixture f = fixture(2);
  put_file(folder / "geo.slf", serafin_bytes(f));
  put_file(folder / "geo.cli", octavo::testing::boundary_text(octavo::testing::boundary_of(f.mesh)));
  PartitionOptions options;
  options.parts = 4;
  options.method = partition::CutMethod::hilbert;
  options.boundary = folder / "geo.cli";
  const auto pieces = [&](int size, const std::string& name) {
    const fs::path out = folder / name;
    fs::create_directories(out);
    if (size == 1)
      partition_mesh(folder / "geo.slf", out / "T2D", options);
    else
      EXPECT_THAT(run(size, folder / "geo.slf", out / "T2D", options), ::testing::Each(""));
    return contents(out);
  };
  options.write_cut = folder / "cut.txt";
  const auto expected = pieces(1, "by_method");
  const std::string text = bytes_of_file(folder / "cut.txt");
  options.write_cut = folder / "cut.npy";
  EXPECT_TRUE(pieces(3, "by_method_3") == expected);
  const std::string npy = bytes_of_file(folder / "cut.npy");
  options.parts = 0;  // the number of parts in the cut
  int number = 0;
  for (const char* cut : {"cut.txt", "cut.npy"})
    for (const int size : {1, 2, 3})
      for (const char* again : {"again.txt", "again.npy"}) {
        options.cut = folder / cut;
        options.write_cut = folder / again;
        EXPECT_TRUE(pieces(size, std::to_string(++number)) == expected) << cut << ' ' << size;
        EXPECT_TRUE(bytes_of_file(folder / again) == (fs::path(again).extension() == ".npy" ? npy : text));
      }
  options.write_cut.reset();
  options.cut.reset();
  options.part_of = read_cut(folder / "cut.npy", 0, measure_cut(folder / "cut.npy").elements);
  for (const int size : {1, 3}) EXPECT_TRUE(pieces(size, std::to_string(++number)) == expected);
}

TEST(PartitionRanks, artemis_has_the_boundary_in_its_first_piece) {
  const TemporaryFolder folder;
  const SerafinFixture f = fixture(3);
  put_file(folder / "geo.slf", serafin_bytes(f));
  const auto boundary = octavo::testing::boundary_of(f.mesh);
  put_file(folder / "geo.cli", octavo::testing::boundary_text(boundary));
  for (const bool with_file : {true, false}) {
    PartitionOptions options;
    options.parts = 3;
    options.method = partition::CutMethod::hilbert;
    if (with_file) options.boundary = folder / "geo.cli";
    std::map<std::string, std::string> first;
    for (const int size : {1, 3}) {
      const fs::path out = folder / (std::to_string(size) + (with_file ? "f" : ""));
      fs::create_directories(out);
      options.write_cut = out / "cut.txt";
      PartitionReport report;
      if (size == 1)
        report = partition_mesh(folder / "geo.slf", out / "ART", options);
      else
        EXPECT_THAT(run(size, folder / "geo.slf", out / "ART", options, &report), ::testing::Each(""));
      EXPECT_THAT(report.notes, ::testing::ElementsAre(HasSubstr("ARTEMIS")));
      const auto cut = read_cut(out / "cut.txt", 0, std::ssize(f.mesh.connectivity) / 3);
      for (std::size_t i = 0; i < f.mesh.connectivity.size(); ++i) {
        const std::int32_t point = f.mesh.connectivity[i];
        const bool on = std::find(boundary.begin(), boundary.end(), point) != boundary.end();
        EXPECT_TRUE(!on || cut[i / 3] == 0);
      }
      EXPECT_EQ(*std::max_element(cut.begin(), cut.end()), 2);
      if (size == 1) first = contents(out);
      EXPECT_TRUE(contents(out) == first);
    }
  }
}

TEST(PartitionRanks, what_artemis_s_boundary_leaves_empty_is_filled_alike_by_all) {
  const TemporaryFolder folder;
  const SerafinFixture f = fixture(3);
  put_file(folder / "geo.slf", serafin_bytes(f));
  put_file(folder / "geo.cli", octavo::testing::boundary_text(octavo::testing::boundary_of(f.mesh)));
  const auto elements = static_cast<std::int32_t>(f.mesh.connectivity.size() / 3);
  PartitionOptions options;
  options.boundary = folder / "geo.cli";
  for (const auto method : {partition::CutMethod::hilbert, partition::CutMethod::inertial}) {
    options.method = method;
    options.parts = 30;
    std::map<std::string, std::string> first;
    for (const int size : {1, 2, 3}) {
      const fs::path out = folder / (std::to_string(size) + std::string(partition::name_of(method)));
      fs::create_directories(out);
      options.write_cut = out / "cut.txt";
      PartitionReport report;
      if (size == 1)
        report = partition_mesh(folder / "geo.slf", out / "ART", options);
      else
        EXPECT_THAT(run(size, folder / "geo.slf", out / "ART", options, &report), ::testing::Each(""));
      EXPECT_THAT(report.notes, ::testing::ElementsAre(HasSubstr("ARTEMIS"), HasSubstr("without an element")));
      EXPECT_GE(report.quality.fewest, 1);
      if (size == 1) first = contents(out);
      EXPECT_TRUE(contents(out) == first) << size << " ranks";
    }
    options.parts = elements;
    for (const std::string& error : run(2, folder / "geo.slf", folder / "ART", options))
      EXPECT_THAT(error, HasSubstr("along the boundary in its first piece"));
    EXPECT_EQ(octavo::testing::error_of([&] { partition_mesh(folder / "geo.slf", folder / "ART", options); }).kind(),
              base::Kind::usage);
  }
}

TEST(PartitionRanks, a_cut_that_is_not_the_mesh_s_is_everybody_s_error) {
  const TemporaryFolder folder;
  const SerafinFixture f = fixture(1);
  const std::size_t elements = f.mesh.connectivity.size() / 3;
  put_file(folder / "geo.slf", serafin_bytes(f));
  PartitionOptions options;
  options.cut = folder / "cut.txt";
  const auto error_of = [&](std::vector<std::int32_t> cut, std::int32_t parts, const std::string& more = "") {
    std::string text = more;
    for (const std::int32_t part : cut) text += std::to_string(part) + ' ';
    put_file(folder / "cut.txt", text);
    options.parts = parts;
    const std::string alone =
        octavo::testing::message_of([&] { partition_mesh(folder / "geo.slf", folder / "T2D", options); });
    const std::string text_alone = alone == "no error" ? "" : alone.substr(0, alone.find('\n'));
    for (const std::string& error : run(3, folder / "geo.slf", folder / "T2D", options))
      EXPECT_EQ(error.substr(0, error.find('\n')), text_alone);
    return alone;
  };
  std::vector<std::int32_t> cut(elements, 0);
  for (std::size_t e = 0; e < elements; e += 2) cut[e] = 1;
  EXPECT_THAT(error_of(cut, 0), HasSubstr("no error"));
  EXPECT_THAT(error_of(cut, 3), HasSubstr("1 of 3 parts without an element"));
  EXPECT_THAT(error_of(cut, 1), HasSubstr("expected part numbers from 0 to 0, found 1"));
  EXPECT_THAT(error_of({0, 1, 1}, 2), HasSubstr("expected " + std::to_string(elements) + " part numbers"));
  EXPECT_THAT(error_of(cut, 2, "0 "), HasSubstr("found " + std::to_string(elements + 1)));
  EXPECT_THAT(error_of(cut, 2, "one "), HasSubstr("element 1: expected a part from 0, found one"));
  EXPECT_THAT(error_of(cut, 2, "-1 "), HasSubstr("element 1: expected a part from 0, found -1"));
  EXPECT_THAT(error_of({}, 0), HasSubstr("part"));
}

TEST(PartitionRanks, an_error_of_one_rank_is_everybody_s) {
  const TemporaryFolder folder;
  SerafinFixture f = fixture(1);
  PartitionOptions options;
  options.parts = 5;
  options.method = partition::CutMethod::inertial;
  options.boundary = folder / "geo.cli";
  const auto boundary = octavo::testing::boundary_of(f.mesh);
  const auto errors = [&](const SerafinFixture& mesh, const std::vector<std::int32_t>& lines) {
    put_file(folder / "geo.slf", serafin_bytes(mesh));
    put_file(folder / "geo.cli", octavo::testing::boundary_text(lines));
    return run(3, folder / "geo.slf", folder / "T2D", options);
  };
  EXPECT_THAT(errors(f, boundary), ::testing::Each(""));
  EXPECT_THAT(errors(f, {boundary.begin(), boundary.end() - 1}), ::testing::Each(HasSubstr("boundary")));
  SerafinFixture wrong = f;
  EXPECT_THAT(errors(f, {}), ::testing::Each(HasSubstr("no lines")));
  wrong = f;
  const std::size_t turned = octavo::testing::element_with(f.mesh, boundary[0], boundary[1]);
  std::swap(wrong.mesh.connectivity[3 * turned], wrong.mesh.connectivity[3 * turned + 1]);
  for (const std::string& text : {"element " + std::to_string(turned + 1) + " turns clockwise", std::string("geo.slf")})
    EXPECT_THAT(errors(wrong, boundary), ::testing::Each(HasSubstr(text)));
  wrong = f;
  wrong.mesh.connectivity.insert(wrong.mesh.connectivity.end(), f.mesh.connectivity.begin(),
                                 f.mesh.connectivity.begin() + 3);
  for (const char* text : {"an edge of three elements", "geo.slf"})
    EXPECT_THAT(errors(wrong, boundary), ::testing::Each(HasSubstr(text)));
  options.parts = 1000;
  EXPECT_THAT(errors(f, boundary), ::testing::Each(HasSubstr("more parts than elements")));
  options.parts = 5;
  wrong = f;
  wrong.mesh.x.push_back(3);
  wrong.mesh.y.push_back(3);
  EXPECT_THAT(errors(wrong, boundary), ::testing::Each(HasSubstr("belongs to no element")));
  wrong = f;
  wrong.mesh.connectivity.back() = 5000;
  EXPECT_THAT(errors(wrong, boundary), ::testing::Each(HasSubstr("found 5001")));
  options.method = partition::CutMethod::scotch;
  EXPECT_THAT(errors(f, boundary), ::testing::Each(HasSubstr("no PT-Scotch")));
  options.method = partition::CutMethod::metis;
  EXPECT_THAT(errors(f, boundary), ::testing::Each(HasSubstr("one process only")));
}

}  // namespace
}  // namespace octavo::telemac
