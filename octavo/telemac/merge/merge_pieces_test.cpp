#include "octavo/telemac/merge/merge_pieces.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <set>
#include <sstream>

#include "octavo/base/error.hpp"
#include "octavo/file/posix.hpp"
#include "octavo/formats/serafin/series.hpp"
#include "octavo/telemac/cut/partition.hpp"
#include "octavo/telemac/cut/refine_triangles.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/serafin_fixture.hpp"
#include "tests/support/temporary_folder.hpp"

namespace octavo::telemac {
namespace {

namespace fs = std::filesystem;
namespace serafin = formats::serafin;
using base::Error;
using base::Kind;
using octavo::testing::bytes_of_file;
using octavo::testing::message_of;
using octavo::testing::put_file;
using octavo::testing::SerafinFixture;
using octavo::testing::TemporaryFolder;
using ::testing::HasSubstr;

/// A file whose boundary is ranked, as partition and merge leave it.
SerafinFixture ranked(std::uint32_t seed, int planes = 1, bool doubles = false) {
  SerafinFixture f;
  f.mesh = octavo::testing::random_triangles(seed, 7, 6, seed % 2 == 0);
  f.numbers = octavo::testing::ranks_of(f.mesh);
  f.planes = planes;
  f.doubles = doubles;
  f.tag = doubles ? "SERAFIND" : "SERAFIN ";
  f.date = seed % 3 == 0;
  return f;
}

/// The bytes of a fixture with the number of its boundary points in IPARAM(8), and ranks that grow from plane to plane.
std::string canonical(const SerafinFixture& f, const fs::path& scratch) {
  std::string bytes = serafin_bytes(f);
  put_file(scratch, bytes);
  const serafin::SerafinSeries series = serafin::open_series(scratch);
  const auto count = static_cast<std::int32_t>(octavo::testing::boundary_of(f.mesh).size());
  const auto put = [&](std::uint64_t where, std::int32_t value) {
    octavo::testing::SerafinBytes word{f.big_endian, {}};
    word.put(value);
    bytes.replace(where, 4, word.bytes);
  };
  put(series.offsets.iparam + 4 + 28, count);
  for (std::int32_t plane = 1; plane < f.planes; ++plane)
    for (std::size_t i = 0; i < f.numbers.size(); ++i)
      if (f.numbers[i] != 0)
        put(series.offsets.numbers + 4 + 4 * (static_cast<std::size_t>(plane) * f.numbers.size() + i),
            f.numbers[i] + plane * count);
  put_file(scratch, bytes);
  return bytes;
}

std::size_t partials(const fs::path& folder) {
  std::size_t count = 0;
  for (const auto& entry : fs::directory_iterator(folder)) count += entry.path().extension() == ".partial";
  return count;
}

PartitionOptions parts(std::int32_t count, PieceLayout layout) {
  PartitionOptions options;
  options.parts = count;
  options.layout = layout;
  options.method = partition::CutMethod::hilbert;
  return options;
}

TEST(MergePieces, what_partition_cut_comes_back_byte_for_byte) {
  for (std::uint32_t seed = 0; seed < 6; ++seed)
    for (const PieceLayout layout : {PieceLayout::concat, PieceLayout::files}) {
      const TemporaryFolder folder;
      const SerafinFixture f = ranked(seed, seed % 3 == 1 ? 4 : 1, seed % 2 == 1);
      const std::string whole = canonical(f, folder / "whole.slf");
      const std::int32_t count = 1 + static_cast<std::int32_t>(seed) * 2;
      partition_mesh(folder / "whole.slf", folder / "T2D", parts(count, layout));
      MergeOptions options;
      options.mesh = folder / "whole.slf";
      const MergeReport report = merge_pieces({folder / "T2DGEO"}, folder / "merged.slf", options);
      EXPECT_EQ(report.parts, count);
      EXPECT_TRUE(bytes_of_file(folder / "merged.slf") == whole) << seed;
      EXPECT_TRUE(report.notes.empty());
    }
}

TEST(MergePieces, pieces_of_a_little_endian_file_are_little_endian_as_partel_s) {
  const TemporaryFolder folder;
  SerafinFixture f = ranked(2);
  f.big_endian = false;
  const std::string little = canonical(f, folder / "little.slf");
  partition_mesh(folder / "little.slf", folder / "T2D", parts(3, PieceLayout::concat));
  MergeOptions options;
  options.mesh = folder / "little.slf";
  merge_pieces({folder / "T2DGEO-CONCAT"}, folder / "merged.slf", options);
  EXPECT_TRUE(bytes_of_file(folder / "merged.slf") == little);
}

TEST(MergePieces, every_byte_is_written_once) {
  const TemporaryFolder folder;
  canonical(ranked(4), folder / "whole.slf");
  const auto before = file::counts().bytes_written;
  const PartitionReport report = partition_mesh(folder / "whole.slf", folder / "T2D", parts(5, PieceLayout::files));
  std::uint64_t bytes = 0;
  for (const fs::path& path : report.files) bytes += fs::file_size(path);
  const auto between = file::counts().bytes_written;
  EXPECT_EQ(between - before, bytes);
  merge_pieces({folder / "T2DGEO"}, folder / "merged.slf", {});
  EXPECT_EQ(file::counts().bytes_written - between, fs::file_size(folder / "merged.slf"));
}

TEST(MergePieces, without_the_mesh_elements_stand_piece_after_piece_and_the_boundary_is_found) {
  const TemporaryFolder folder;
  const SerafinFixture f = ranked(4);
  canonical(f, folder / "whole.slf");
  partition_mesh(folder / "whole.slf", folder / "T2D", parts(5, PieceLayout::files));
  const MergeReport report = merge_pieces({folder / "T2DGEO"}, folder / "merged.slf", {});
  EXPECT_THAT(report.notes, ::testing::ElementsAre(HasSubstr("found from the mesh")));
  const auto whole = serafin::open_series(folder / "whole.slf"), merged = serafin::open_series(folder / "merged.slf");
  EXPECT_EQ(whole.header, merged.header);
  const auto triangles = [](const serafin::SerafinSeries& series) {
    const auto flat = serafin::read_triangles(series);
    std::multiset<std::array<std::int32_t, 3>> all;
    for (std::size_t e = 0; e < flat.size(); e += 3) all.insert({flat[e], flat[e + 1], flat[e + 2]});
    return all;
  };
  EXPECT_EQ(triangles(whole), triangles(merged));
  std::vector<std::int32_t> a(static_cast<std::size_t>(whole.header.points)), b(a.size());
  serafin::read_numbers(whole, 0, a);
  serafin::read_numbers(merged, 0, b);
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_EQ(a[i] != 0, b[i] != 0);
  EXPECT_EQ(bytes_of_file(folder / "whole.slf").substr(whole.offsets.x),
            bytes_of_file(folder / "merged.slf").substr(merged.offsets.x));
}

TEST(MergePieces, further_results_and_split_are_cut_alike_in_3d) {
  const TemporaryFolder folder;
  const SerafinFixture flat = ranked(2);
  SerafinFixture thick = ranked(2, 3, true);
  thick.variables = 3;
  canonical(flat, folder / "geo.slf");
  const std::string whole = canonical(thick, folder / "r3d.slf");
  PartitionOptions options = parts(4, PieceLayout::concat);
  options.also = {{"PRE", folder / "r3d.slf"}};
  partition_mesh(folder / "geo.slf", folder / "T3D", options);
  SplitOptions how;
  split_by_pieces(folder / "r3d.slf", {folder / "T3DGEO"}, folder / "T3DAGAIN", how);
  for (const char* end : {"-CONCAT", "-INDEX"})
    EXPECT_TRUE(bytes_of_file(folder / (std::string("T3DPRE") + end)) ==
                bytes_of_file(folder / (std::string("T3DAGAIN") + end)));
  MergeOptions merge;
  merge.mesh = folder / "geo.slf";
  merge_pieces({folder / "T3DPRE"}, folder / "merged.slf", merge);
  EXPECT_TRUE(bytes_of_file(folder / "merged.slf") == whole);
}

TEST(MergePieces, pieces_missing_damaged_or_of_different_cuts_are_named) {
  const TemporaryFolder folder;
  const SerafinFixture f = ranked(1);
  canonical(f, folder / "whole.slf");
  const auto cut = [&](std::int32_t count) {
    for (const auto& entry : fs::directory_iterator(folder.path()))
      if (entry.path().filename().string().starts_with("T2D")) fs::remove(entry.path());
    partition_mesh(folder / "whole.slf", folder / "T2D", parts(count, PieceLayout::files));
  };
  const auto merge = [&] {
    MergeOptions options;
    options.overwrite = true;
    return message_of([&] { merge_pieces({folder / "T2DGEO"}, folder / "merged.slf", options); });
  };
  cut(4);
  fs::remove(folder / "T2DGEO00003-00002");
  EXPECT_THAT(merge(), HasSubstr("expected part 2 of 4, found T2DGEO00003-00003"));
  cut(4);
  fs::remove(folder / "T2DGEO00003-00003");
  EXPECT_THAT(merge(), HasSubstr("expected part 3 of 4, found none"));
  cut(4);
  fs::copy_file(folder / "T2DGEO00003-00000", folder / "T2DGEO00003-00001", fs::copy_options::overwrite_existing);
  EXPECT_THAT(merge(), HasSubstr("pieces are missing"));
  cut(4);
  put_file(folder / "T2DGEO00002-00000", "x");
  EXPECT_THAT(merge(), HasSubstr("several cuts"));
  cut(2);
  std::string torn = bytes_of_file(folder / "T2DGEO00001-00001");
  put_file(folder / "T2DGEO00001-00001", torn.substr(0, torn.size() - 5));
  MergeOptions options;
  options.overwrite = true;
  const MergeReport report = merge_pieces({folder / "T2DGEO"}, folder / "merged.slf", options);
  EXPECT_EQ(report.steps, 2);
  EXPECT_THAT(report.notes, ::testing::Contains(HasSubstr("2 to 3 whole steps")));
  EXPECT_THAT(message_of([&] { merge_pieces({folder / "nothing"}, folder / "m.slf", {}); }), HasSubstr("no pieces"));
  EXPECT_THAT(message_of([&] { merge_pieces({folder / "T2DGEO"}, folder / "merged.slf", {}); }),
              HasSubstr("exists already"));
  EXPECT_THAT(message_of([&] { merge_pieces({folder / "whole.slf"}, folder / "m.slf", {}); }),
              HasSubstr("global number"));
  EXPECT_EQ(partials(folder.path()), 0U);
}

TEST(MergePieces, a_result_is_not_split_by_pieces_of_another_mesh) {
  const TemporaryFolder folder;
  canonical(ranked(1), folder / "whole.slf");
  partition_mesh(folder / "whole.slf", folder / "T2D", parts(3, PieceLayout::concat));
  SerafinFixture other;
  for (const std::int32_t columns : {3, 12}) {  // fewer points, and more
    other.mesh = octavo::testing::random_triangles(1, columns, 6);
    put_file(folder / "other.slf", serafin_bytes(other));
    EXPECT_THAT(
        message_of([&] { split_by_pieces(folder / "other.slf", {folder / "T2DGEO"}, folder / "B", SplitOptions{}); }),
        HasSubstr(columns == 3 ? "global number" : "smaller mesh"));
    EXPECT_FALSE(fs::exists(folder / "B-CONCAT"));
  }
}

TEST(MergePieces, a_prefix_of_two_cuts_is_refused_and_either_can_be_named) {
  const TemporaryFolder folder;
  canonical(ranked(1), folder / "whole.slf");
  partition_mesh(folder / "whole.slf", folder / "T2D", parts(3, PieceLayout::concat));
  const PartitionReport newer = partition_mesh(folder / "whole.slf", folder / "T2D", parts(2, PieceLayout::files));
  const auto error = octavo::testing::error_of([&] { merge_pieces({folder / "T2DGEO"}, folder / "m.slf", {}); });
  EXPECT_EQ(error.kind(), Kind::usage);
  EXPECT_THAT(error.what(), HasSubstr("T2DGEO-CONCAT and"));
  EXPECT_EQ(merge_pieces({folder / "T2DGEO-CONCAT"}, folder / "a.slf", {}).parts, 3);
  EXPECT_EQ(merge_pieces(newer.files, folder / "b.slf", {}).parts, 2);
}

TEST(MergePieces, no_input_is_replaced) {
  const TemporaryFolder folder;
  canonical(ranked(1), folder / "whole.slf");
  partition_mesh(folder / "whole.slf", folder / "T2D", parts(3, PieceLayout::concat));
  MergeOptions options;
  options.mesh = folder / "whole.slf";
  options.overwrite = true;
  for (const char* out : {"whole.slf", "T2DGEO-CONCAT", "T2DGEO-INDEX"}) {
    const std::string before = bytes_of_file(folder / out);
    EXPECT_THAT(message_of([&] { merge_pieces({folder / "T2DGEO"}, folder / out, options); }),
                HasSubstr("would replace the input"));
    EXPECT_TRUE(bytes_of_file(folder / out) == before);
  }
  EXPECT_THAT(message_of([&] { split_by_pieces(folder / "whole.slf", {folder / "T2DGEO"}, folder / "T2DGEO", {}); }),
              HasSubstr("would replace the input"));
}

TEST(Partition, what_is_no_piece_is_replaced_on_request_only) {
  const TemporaryFolder folder;
  const SerafinFixture f = ranked(1);
  canonical(f, folder / "whole.slf");
  put_file(folder / "a.cli", octavo::testing::boundary_text(octavo::testing::boundary_of(f.mesh)));
  for (const PieceLayout layout : {PieceLayout::concat, PieceLayout::files}) {
    PartitionOptions options = parts(3, layout);
    options.boundary = folder / "a.cli";
    for (int time = 0; time < 2; ++time)
      EXPECT_EQ(message_of([&] { partition_mesh(folder / "whole.slf", folder / "T2D", options); }), "no error");
    const fs::path name = layout == PieceLayout::concat ? folder / "T2DCLI-INDEX" : folder / "T2DPAR00002-00001";
    put_file(name, "my own words");
    EXPECT_THAT(message_of([&] { partition_mesh(folder / "whole.slf", folder / "T2D", options); }),
                HasSubstr("exists already, and is no piece"));
    EXPECT_EQ(bytes_of_file(name), "my own words");
    options.overwrite = true;
    EXPECT_EQ(message_of([&] { partition_mesh(folder / "whole.slf", folder / "T2D", options); }), "no error");
  }
  const auto missing = octavo::testing::error_of(
      [&] { partition_mesh(folder / "whole.slf", folder / "no/T2D", parts(2, PieceLayout::files)); });
  EXPECT_EQ(missing.kind(), Kind::usage);
  EXPECT_THAT(missing.what(), HasSubstr("folder of the output"));
}

/// The same mesh under other numbers, and one point moved: counts that are equal.
std::vector<SerafinFixture> others(const SerafinFixture& f) {
  std::vector<SerafinFixture> all(2, f);
  std::swap(all[0].mesh.connectivity[4], all[0].mesh.connectivity[f.mesh.connectivity.size() - 2]);
  all[1].mesh.x[9] += 0.25;
  return all;
}

TEST(MergePieces, a_mesh_of_equal_counts_that_is_another_is_named) {
  const SerafinFixture f = ranked(1, 3);
  for (const PieceLayout layout : {PieceLayout::concat, PieceLayout::files}) {
    const TemporaryFolder folder;
    canonical(f, folder / "whole.slf");
    partition_mesh(folder / "whole.slf", folder / "T2D", parts(3, layout));
    for (const char* text : {"found element", "x of point 10: expected"}) {
      canonical(others(f)[text[0] == 'x' ? 1 : 0], folder / "other.slf");
      MergeOptions options;
      options.mesh = folder / "other.slf";
      const Error merge =
          octavo::testing::error_of([&] { merge_pieces({folder / "T2DGEO"}, folder / "m.slf", options); });
      EXPECT_EQ(merge.kind(), Kind::corrupt);
      EXPECT_THAT(merge.what(), HasSubstr(text));
      EXPECT_THAT(message_of([&] { split_by_pieces(folder / "other.slf", {folder / "T2DGEO"}, folder / "B", {}); }),
                  HasSubstr(text));
      EXPECT_FALSE(fs::exists(folder / "m.slf"));
    }
  }
}

TEST(Partition, a_result_on_another_mesh_of_equal_counts_is_named) {
  const TemporaryFolder folder;
  const SerafinFixture f = ranked(2);
  put_file(folder / "geo.slf", serafin_bytes(f));
  PartitionOptions options = parts(3, PieceLayout::concat);
  options.also = {{"PRE", folder / "pre.slf"}};
  const auto cut = [&](const SerafinFixture& pre) {
    put_file(folder / "pre.slf", serafin_bytes(pre));
    return message_of([&] { partition_mesh(folder / "geo.slf", folder / "T2D", options); });
  };
  EXPECT_THAT(cut(others(f)[0]), HasSubstr("element 2: expected the points "));
  EXPECT_THAT(cut(others(f)[0]), HasSubstr("pre.slf"));
  EXPECT_THAT(cut(others(f)[1]), HasSubstr("x of point 10: expected "));
  EXPECT_FALSE(fs::exists(folder / "T2DGEO-CONCAT"));
}

TEST(Partition, results_in_another_precision_order_or_of_planes_are_on_the_mesh) {
  const TemporaryFolder folder;
  SerafinFixture f = ranked(2);
  f.doubles = true;
  for (std::size_t i = 0; i < f.mesh.x.size(); ++i) {
    f.mesh.x[i] = f.mesh.x[i] / 3 + 1000;
    f.mesh.y[i] /= 7;
  }
  put_file(folder / "geo.slf", serafin_bytes(f));
  PartitionOptions options = parts(3, PieceLayout::concat);
  options.also = {{"PRE", folder / "pre.slf"}};
  const auto cut = [&](const SerafinFixture& pre) {
    put_file(folder / "pre.slf", serafin_bytes(pre));
    return message_of([&] { partition_mesh(folder / "geo.slf", folder / "T2D", options); });
  };
  SerafinFixture pre = f;
  pre.doubles = false;
  EXPECT_EQ(cut(pre), "no error");
  pre.planes = 3;
  EXPECT_EQ(cut(pre), "no error");
  auto& corners = pre.mesh.connectivity;  // as if merged without the mesh
  std::rotate(corners.begin(), corners.begin() + 9, corners.end());
  std::rotate(corners.begin(), corners.begin() + 1, corners.begin() + 3);
  EXPECT_EQ(cut(pre), "no error");
  pre.doubles = true;
  EXPECT_EQ(cut(pre), "no error");
  pre.mesh.x[3] += 1e-3;
  EXPECT_THAT(cut(pre), HasSubstr("x of point 4"));
}

TEST(MergePieces, an_index_that_is_cut_or_points_elsewhere_is_named) {
  const TemporaryFolder folder;
  canonical(ranked(1), folder / "whole.slf");
  partition_mesh(folder / "whole.slf", folder / "T2D", parts(3, PieceLayout::concat));
  const std::string index = bytes_of_file(folder / "T2DGEO-INDEX");
  const auto merge = [&](const std::string& bytes) {
    put_file(folder / "T2DGEO-INDEX", bytes);
    return message_of([&] { merge_pieces({folder / "T2DGEO"}, folder / "m.slf", {}); });
  };
  EXPECT_THAT(merge(index.substr(0, 40)), HasSubstr("expected 16 bytes a part, found 40"));
  EXPECT_THAT(merge(""), HasSubstr("expected 16 bytes a part"));
  EXPECT_THAT(merge(index + std::string(16, '\x7f')), HasSubstr("part 3: expected a range of bytes"));
  EXPECT_THAT(merge(index.substr(0, 32)), HasSubstr("pieces are missing"));
  std::string shifted = index;
  shifted[7] = static_cast<char>(shifted[7] + 1);
  EXPECT_THAT(merge(shifted), HasSubstr("title record"));
  EXPECT_EQ(merge(index), "no error");
}

TEST(MergePieces, a_point_at_two_places_tells_of_different_meshes) {
  const TemporaryFolder folder;
  SerafinFixture f = ranked(1);
  canonical(f, folder / "whole.slf");
  partition_mesh(folder / "whole.slf", folder / "A", parts(2, PieceLayout::files));
  for (double& x : f.mesh.x) x += 1;
  canonical(f, folder / "whole.slf");
  partition_mesh(folder / "whole.slf", folder / "B", parts(2, PieceLayout::files));
  fs::copy_file(folder / "BGEO00001-00001", folder / "AGEO00001-00001", fs::copy_options::overwrite_existing);
  EXPECT_THAT(message_of([&] { merge_pieces({folder / "AGEO"}, folder / "m.slf", {}); }), HasSubstr("different cuts"));
}

TEST(Partition, damaged_meshes_and_wrong_wishes_are_named) {
  const TemporaryFolder folder;
  const SerafinFixture sound = ranked(1);
  canonical(sound, folder / "whole.slf");
  const auto boundary = octavo::testing::boundary_of(sound.mesh);
  const auto cut = [&](const SerafinFixture& f, const std::string& cli, std::int32_t count = 2) {
    put_file(folder / "a.slf", serafin_bytes(f));
    put_file(folder / "a.cli", cli);
    PartitionOptions options = parts(count, PieceLayout::concat);
    options.boundary = folder / "a.cli";
    return message_of([&] { partition_mesh(folder / "a.slf", folder / "T2D", options); });
  };
  const std::string cli = octavo::testing::boundary_text(boundary);
  EXPECT_EQ(cut(sound, cli), "no error");
  EXPECT_THAT(cut(sound, cli, 1000), HasSubstr("1 to 84 parts"));
  SerafinFixture f = sound;
  f.mesh.x.push_back(3);
  f.mesh.y.push_back(3);
  EXPECT_THAT(cut(f, cli), HasSubstr("point 57 belongs to no element"));
  EXPECT_THAT(cut(sound, octavo::testing::boundary_text({boundary.begin(), boundary.end() - 5})),
              HasSubstr("boundary"));
  EXPECT_THAT(cut(sound, octavo::testing::boundary_text({boundary.begin() + 1, boundary.end()})),
              HasSubstr("point " + std::to_string(boundary[0] + 1) + " is on the mesh's boundary and has no line"));
  EXPECT_THAT(cut(sound, ""), HasSubstr("no lines"));
  f = sound;
  const std::size_t turned = octavo::testing::element_with(f.mesh, boundary[0], boundary[1]);
  std::swap(f.mesh.connectivity[3 * turned], f.mesh.connectivity[3 * turned + 1]);
  EXPECT_THAT(cut(f, cli), HasSubstr("element " + std::to_string(turned + 1) + " turns clockwise"));
  auto shifted = boundary;  // another beginning of the same line
  std::rotate(shifted.begin(), shifted.begin() + 3, shifted.end());
  EXPECT_EQ(cut(sound, octavo::testing::boundary_text(shifted)), "no error");
  f = sound;
  f.numbers.clear();
  EXPECT_EQ(cut(f, cli), "no error");
  PartitionOptions options = parts(2, PieceLayout::concat);
  options.also = {{"PRE", folder / "other.slf"}};
  SerafinFixture other;
  other.mesh = octavo::testing::random_triangles(1, 2, 2);
  put_file(folder / "other.slf", serafin_bytes(other));
  EXPECT_THAT(message_of([&] { partition_mesh(folder / "whole.slf", folder / "T2D", options); }),
              HasSubstr("a file on another mesh: expected 56 points"));
}

TEST(Partition, elements_that_turn_clockwise_inside_are_told_of) {
  const TemporaryFolder folder;
  SerafinFixture f = ranked(1);
  const auto note_of = [&] {
    put_file(folder / "a.slf", serafin_bytes(f));
    const PartitionReport report = partition_mesh(folder / "a.slf", folder / "T2D", parts(2, PieceLayout::concat));
    return report.notes.empty() ? std::string("no note") : report.notes.front();
  };
  EXPECT_EQ(note_of(), "no note");
  std::swap(f.mesh.connectivity[30], f.mesh.connectivity[31]);
  EXPECT_THAT(note_of(), HasSubstr("element 11 turns clockwise (1 of 84 do)"));
  for (std::size_t i = 0; i < f.mesh.connectivity.size(); i += 3)
    if (i != 30) std::swap(f.mesh.connectivity[i], f.mesh.connectivity[i + 1]);
  EXPECT_THAT(note_of(), HasSubstr("element 1 turns clockwise (84 of 84 do)"));
}

TEST(Partition, ipobo_that_says_otherwise_gives_way_to_the_boundary_file) {
  const TemporaryFolder folder;
  const SerafinFixture sound = ranked(1);
  const auto boundary = octavo::testing::boundary_of(sound.mesh);
  const auto at = [&](std::size_t k) { return static_cast<std::size_t>(boundary[k]); };
  put_file(folder / "a.cli", octavo::testing::boundary_text(boundary));
  const auto note_of = [&](const SerafinFixture& f) {
    put_file(folder / "a.slf", serafin_bytes(f));
    PartitionOptions options = parts(2, PieceLayout::concat);
    options.boundary = folder / "a.cli";
    const PartitionReport report = partition_mesh(folder / "a.slf", folder / "T2D", options);
    return report.notes.empty() ? std::string("no note") : report.notes.front();
  };
  EXPECT_EQ(note_of(sound), "no note");
  const std::string geometry = bytes_of_file(folder / "T2DGEO-CONCAT"), par = bytes_of_file(folder / "T2DPAR-CONCAT");
  SerafinFixture f = sound;
  f.numbers[at(3)] = 0;
  EXPECT_THAT(note_of(f), HasSubstr(std::to_string(boundary.size() - 1) + " points, 0 of them off the boundary"));
  f = sound;
  std::swap(f.numbers[at(6)], f.numbers[at(9)]);
  EXPECT_THAT(note_of(f), HasSubstr("line 7, point " + std::to_string(boundary[6] + 1) + ": IPOBO says 10"));
  for (std::size_t i = 0; i < f.numbers.size(); ++i) f.numbers[i] = static_cast<std::int32_t>(i + 1);
  EXPECT_THAT(note_of(f), HasSubstr("the boundary has " + std::to_string(boundary.size())));
  f.numbers.clear();
  EXPECT_THAT(note_of(f), HasSubstr("zero everywhere"));
  EXPECT_TRUE(bytes_of_file(folder / "T2DGEO-CONCAT") == geometry);
  EXPECT_TRUE(bytes_of_file(folder / "T2DPAR-CONCAT") == par);
}

TEST(Partition, zones_sections_and_weirs_are_cut_along) {
  const TemporaryFolder folder;
  const SerafinFixture f = ranked(3);
  canonical(f, folder / "whole.slf");
  std::string zones, weirs = "a comment\n 1 0\n 1 0. 0. 0. 1 2 3 4 1. 1. 1. 5 6 7 8\n";
  for (std::size_t i = 0; i < f.mesh.x.size(); ++i)
    zones += std::to_string(i + 1) + " " + std::to_string(100 + i) + "\n";
  put_file(folder / "zones", zones);
  put_file(folder / "weirs", weirs);
  put_file(folder / "sections", "a comment\n2 0\nleft\n0. 0. 0. 6.\n'top edge'\n0. 6. 7. 6.\n");
  PartitionOptions options = parts(3, PieceLayout::files);
  options.zones = folder / "zones";
  options.sections = folder / "sections";
  options.weirs = folder / "weirs";
  const PartitionReport report = partition_mesh(folder / "whole.slf", folder / "T2D", options);
  EXPECT_EQ(report.files.size(), 12U);
  std::map<std::int32_t, std::int32_t> next[2];  // of each section, between its end points
  for (std::int32_t part = 0; part < 3; ++part) {
    const auto global = read_global(serafin::open_series(piece_path(folder / "T2DGEO", 3, part)), 56);
    std::istringstream zone(bytes_of_file(piece_path(folder / "T2DZFI", 3, part)));
    for (std::size_t i = 0; i < global.size(); ++i) {
      std::size_t local = 0;
      std::int32_t value = 0;
      zone >> local >> value;
      EXPECT_EQ(local, i + 1);
      EXPECT_EQ(value, 100 + global[i]);
    }
    std::istringstream section(bytes_of_file(piece_path(folder / "T2DSEC", 3, part)));
    std::string line;
    std::getline(section, line);
    EXPECT_EQ(line, " # SECTIONS PARTITIONED FOR 00002-0000" + std::to_string(part));
    int count = 0, by_edges = 0;
    section >> count >> by_edges;
    EXPECT_EQ(count, 2);
    EXPECT_EQ(by_edges, 1);
    for (int s = 0; s < 2; ++s) {
      section >> std::ws;
      std::getline(section, line);
      EXPECT_EQ(line, s == 0 ? "left" : "top edge");
      std::size_t own = 0, a = 0, b = 0;
      for (section >> own; own > 0; --own) {
        ASSERT_TRUE(section >> a >> b);
        EXPECT_TRUE(next[s].emplace(global.at(a - 1), global.at(b - 1)).second);
      }
    }
  }
  const auto point_at = [&](double x, double y) {
    std::int32_t i = 0;
    while (f.mesh.x[static_cast<std::size_t>(i)] != x || f.mesh.y[static_cast<std::size_t>(i)] != y) ++i;
    return i;
  };
  for (int s = 0; s < 2; ++s) {  // one chain, from end to end
    std::int32_t point = s == 0 ? point_at(0, 0) : point_at(0, 6);
    std::size_t steps = 0;
    for (; next[s].contains(point); ++steps) point = next[s].at(point);
    EXPECT_EQ(point, s == 0 ? point_at(0, 6) : point_at(7, 6));
    EXPECT_EQ(steps, next[s].size());
    EXPECT_GE(steps, s == 0 ? 4U : 5U);
  }
  put_file(folder / "zones", zones.substr(0, zones.size() / 2));
  EXPECT_THAT(message_of([&] { partition_mesh(folder / "whole.slf", folder / "T2D", options); }),
              HasSubstr("zones, line"));
}

TEST(RefineTriangles, four_for_one_with_means_at_the_middles_and_the_boundary_in_turn) {
  const TemporaryFolder folder;
  const SerafinFixture f = ranked(2);
  canonical(f, folder / "whole.slf");
  put_file(folder / "a.cli", octavo::testing::boundary_text(octavo::testing::boundary_of(f.mesh)));
  RefineOptions options;
  options.times = 2;
  options.boundary = folder / "a.cli";
  options.boundary_out = folder / "fine.cli";
  const RefineReport report = refine_triangles(folder / "whole.slf", folder / "fine.slf", options);
  EXPECT_EQ(report.elements, static_cast<std::int64_t>(16 * f.mesh.connectivity.size() / 3));
  EXPECT_EQ(report.boundary_points, static_cast<std::int64_t>(4 * octavo::testing::boundary_of(f.mesh).size()));
  const auto coarse = serafin::open_series(folder / "whole.slf"), fine = serafin::open_series(folder / "fine.slf");
  EXPECT_EQ(fine.steps, coarse.steps);
  std::vector<double> before(static_cast<std::size_t>(coarse.header.points)),
      after(static_cast<std::size_t>(fine.header.points));
  serafin::read_values(coarse, 1, 1, 0, before);
  serafin::read_values(fine, 1, 1, 0, after);
  EXPECT_TRUE(std::equal(before.begin(), before.end(), after.begin()));
  EXPECT_EQ(*std::max_element(after.begin(), after.end()), *std::max_element(before.begin(), before.end()));
  // The refined mesh and its boundary agree with one another: they can be cut.
  PartitionOptions cut = parts(6, PieceLayout::concat);
  cut.boundary = folder / "fine.cli";
  EXPECT_NO_THROW(partition_mesh(folder / "fine.slf", folder / "T2D", cut));
}

TEST(RefineTriangles, colours_of_the_boundary_are_kept_where_they_are_no_numbers_of_lines) {
  const TemporaryFolder folder;
  const SerafinFixture f = ranked(2);
  canonical(f, folder / "whole.slf");
  const auto boundary = octavo::testing::boundary_of(f.mesh);
  const auto colours = [&](const std::string& cli) {
    put_file(folder / "a.cli", cli);
    RefineOptions options;
    options.boundary = folder / "a.cli";
    options.boundary_out = folder / "fine.cli";
    options.overwrite = true;
    refine_triangles(folder / "whole.slf", folder / "fine.slf", options);
    std::vector<std::int32_t> all;
    for (const auto& line : serafin::read_boundary(folder / "fine.cli", 1 << 20)) all.push_back(line.colour);
    return all;
  };
  std::string coloured;
  std::vector<std::int32_t> expected(2 * boundary.size(), 300), ranks(expected);
  for (const std::int32_t point : boundary)
    coloured += "2 2 2 0. 0. 0. 0. 2 0. 0. 0. " + std::to_string(point + 1) + " 300\n";
  for (std::size_t k = 0; k < ranks.size(); ++k) ranks[k] = static_cast<std::int32_t>(k + 1);
  EXPECT_EQ(colours(coloured), expected);
  EXPECT_EQ(colours(octavo::testing::boundary_text(boundary)), ranks);
}

TEST(RefineTriangles, numbers_that_are_not_the_boundary_s_name_the_file) {
  const TemporaryFolder folder;
  SerafinFixture f = ranked(2);
  f.numbers[static_cast<std::size_t>(octavo::testing::boundary_of(f.mesh)[3])] = 0;
  put_file(folder / "geo.slf", serafin_bytes(f));
  EXPECT_THAT(message_of([&] { refine_triangles(folder / "geo.slf", folder / "fine.slf", {}); }), HasSubstr("geo.slf"));
}

TEST(MergePieces, parts_of_a_store_give_the_file_back) {
  for (const std::uint32_t seed : {0U, 4U}) {
    octavo::testing::SerafinFixture f;
    f.mesh = octavo::testing::random_triangles(seed, 9, 8, true);
    f.numbers = octavo::testing::ranks_of(f.mesh);
    f.planes = seed == 4 ? 3 : 1;
    const octavo::testing::TemporaryFolder folder;
    octavo::testing::put_file(folder / "geo.slf", serafin_bytes(f));
    PartitionOptions options;
    options.parts = 6;
    options.method = partition::CutMethod::inertial;
    options.layout = PieceLayout::octavo;
    options.also = {{"PRE", folder / "geo.slf"}};
    const PartitionReport cut = partition_mesh(folder / "geo.slf", folder / "T2D", options);
    EXPECT_EQ(cut.files, (std::vector<std::filesystem::path>{folder / "T2DGEO.octavo", folder / "T2DPRE.octavo"}));
    EXPECT_EQ(merge_pieces({folder / "T2DPRE"}, folder / "merged.slf", {}).parts, 6);
    EXPECT_TRUE(octavo::testing::bytes_of_file(folder / "merged.slf") ==
                octavo::testing::bytes_of_file(folder / "geo.slf"));
  }
}

}  // namespace
}  // namespace octavo::telemac
