#include <gmock/gmock.h>

#include <array>
#include <fstream>
#include <functional>
#include <limits>

#include "octavo/base/error.hpp"
#include "octavo/engine/targets/series_target.hpp"
#include "octavo/engine/write/writer.hpp"
#include "octavo/file/posix.hpp"
#include "octavo/formats/serafin/series.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/mpi_run.hpp"
#include "tests/support/serafin_fixture.hpp"
#include "tests/support/series_pieces.hpp"

namespace octavo::engine {
namespace {

namespace fs = std::filesystem;
namespace serafin = formats::serafin;
using base::Error;
using testing::everyone;
using testing::fixture;
using ::testing::HasSubstr;
using testing::message_of;
using testing::options_for;
using testing::piece_of;
using testing::rank;
using testing::SerafinFixture;
using testing::series_header;
using testing::size;
using testing::write_step;

std::string bytes_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string difference(const std::string& found, const std::string& expected) {
  if (found == expected) return "none";
  const auto at = std::mismatch(found.begin(), found.end(), expected.begin(), expected.end()).first - found.begin();
  return "byte " + std::to_string(at) + " of " + std::to_string(found.size()) + " and " +
         std::to_string(expected.size());
}

TEST(SeriesMpi, the_bytes_are_a_serial_writers_for_any_ranks_writers_and_alignment) {
  for (std::uint32_t seed = 1; seed <= 24; ++seed) {
    const testing::SharedDirectory directory;
    const SerafinFixture f = fixture(seed);
    const SeriesMesh mesh = piece_of(f, seed);
    const fs::path path = directory.path() / "r2d.slf";
    Writer writer(everyone(), {}, SeriesTarget{path, series_header(f), mesh, options_for(seed)});
    for (int step = 0; step < f.steps; ++step) write_step(writer, f, mesh, step);
    writer.close();
    EXPECT_EQ(writer.steps(), f.steps);
    EXPECT_EQ(difference(bytes_of(path), testing::serafin_bytes(f)), "none") << "seed " << seed;
    MPI_Barrier(everyone());
  }
}

TEST(SeriesMpi, without_numbers_triangles_stand_by_their_lowest_point_whatever_the_cut) {
  const testing::SharedDirectory directory;
  SerafinFixture f = fixture(2);
  f.numbers.assign(f.mesh.x.size(), 0);
  const auto line = testing::boundary_of(f.mesh);
  for (std::size_t k = 0; k < line.size(); ++k)
    f.numbers[static_cast<std::size_t>(line[k])] = static_cast<std::int32_t>(k + 1);
  std::string first;
  for (std::uint32_t seed = 0; seed < 3; ++seed) {
    const fs::path path = directory.path() / std::to_string(seed);
    Writer(everyone(), {}, SeriesTarget{path, series_header(f), piece_of(f, seed, false), options_for(seed)}).close();
    if (seed == 0) first = bytes_of(path);
    EXPECT_EQ(difference(bytes_of(path), first), "none");
  }
  const serafin::SerafinSeries series = serafin::open_series(directory.path() / "0");
  EXPECT_EQ(series.header.iparam[7], static_cast<std::int32_t>(line.size()));
  std::vector<std::int32_t> numbers(f.numbers.size());
  read_numbers(series, 0, numbers);
  EXPECT_EQ(numbers, f.numbers);
  const auto triangles_of = [](const auto& connectivity) {
    std::vector<std::array<std::int64_t, 3>> all;
    for (std::size_t e = 0; e < connectivity.size(); e += 3) {
      std::array<std::int64_t, 3> t{connectivity[e], connectivity[e + 1], connectivity[e + 2]};
      std::rotate(t.begin(), std::min_element(t.begin(), t.end()), t.end());
      all.push_back(t);
    }
    std::sort(all.begin(), all.end());
    return all;
  };
  EXPECT_EQ(triangles_of(serafin::read_mesh(series).connectivity), triangles_of(f.mesh.connectivity));
}

TEST(SeriesMpi, a_geometry_file_gives_connectivity_and_boundary_and_the_ranks_give_coordinates) {
  const testing::SharedDirectory directory;
  SerafinFixture f = fixture(3);
  f.planes = 1;
  f.numbers.assign(f.mesh.x.size(), 0);
  f.numbers[5] = 1;
  const fs::path geometry = directory.path() / "geo.slf", path = directory.path() / "r2d.slf";
  if (rank() == 0) testing::put_file(geometry, testing::serafin_bytes(f));
  MPI_Barrier(everyone());
  SeriesMesh mesh = piece_of(f, 3, false);
  mesh.boundary.clear();
  mesh.piece.connectivity.clear();
  for (auto* axis : {&mesh.piece.x, &f.mesh.x})  // the run moved its points
    for (double& x : *axis) x += 1;
  mesh.geometry = geometry;
  Writer writer(everyone(), {}, SeriesTarget{path, series_header(f), mesh, options_for(3)});
  for (int step = 0; step < f.steps; ++step) write_step(writer, f, mesh, step);
  writer.close();
  std::string expected = testing::serafin_bytes(f);
  const std::size_t on_boundary = serafin::offsets_of(series_header(f)).iparam + 4 + 7 * 4 + (f.big_endian ? 3 : 0);
  expected[on_boundary] = 1;  // IPARAM(8)
  EXPECT_EQ(difference(bytes_of(path), expected), "none");
}

TEST(SeriesMpi, a_step_shows_only_when_all_of_it_is_written) {
  const testing::SharedDirectory directory;
  const SerafinFixture f = fixture(7);
  const SeriesMesh mesh = piece_of(f, 7);
  const fs::path path = directory.path() / "r2d.slf";
  SeriesOptions options = options_for(7);
  options.mode = testing::single_threaded() ? Mode::sync : Mode::background;
  {
    Writer writer(everyone(), {}, SeriesTarget{path, series_header(f), mesh, options});
    if (options.mode == Mode::sync)
      EXPECT_EQ(serafin::open_series(path).steps, 0);
    else
      EXPECT_FALSE(fs::exists(path));
    MPI_Barrier(everyone());
    write_step(writer, f, mesh, 0);
    writer.wait();
    MPI_Barrier(everyone());
    EXPECT_EQ(serafin::open_series(path).steps, 1);
    MPI_Barrier(everyone());
    write_step(writer, f, mesh, 1);
  }  // like a run that ends without close(): the step stays in flight
  MPI_Barrier(everyone());
  EXPECT_EQ(serafin::open_series(path).steps, options.mode == Mode::sync ? 2 : 1);
}

TEST(SeriesMpi, opening_writes_no_byte_of_the_mesh_which_goes_with_the_first_step_or_close) {
  if (testing::single_threaded()) GTEST_SKIP() << "sync mode writes in the call";
  for (const int steps : {0, 2}) {
    const testing::SharedDirectory directory;
    SerafinFixture f = fixture(7);
    f.steps = steps;
    const SeriesMesh mesh = piece_of(f, 7);
    const fs::path path = directory.path() / "r2d.slf";
    SeriesOptions options = options_for(7);
    options.mode = Mode::background;
    const std::uint64_t before = file::counts().bytes_written;
    Writer writer(everyone(), {}, SeriesTarget{path, series_header(f), mesh, options});
    EXPECT_EQ(file::counts().bytes_written, before);
    for (int step = 0; step < steps; ++step) write_step(writer, f, mesh, step);
    writer.close();
    MPI_Barrier(everyone());
    EXPECT_EQ(difference(bytes_of(path), testing::serafin_bytes(f)), "none");
    EXPECT_FALSE(fs::exists(path.string() + ".partial"));
    MPI_Barrier(everyone());
  }
}

TEST(SeriesMpi, each_writer_writes_its_even_share_of_the_mesh) {
  if (testing::single_threaded()) GTEST_SKIP() << "sync mode writes in the call";
  const testing::SharedDirectory directory;
  SerafinFixture f = fixture(7);
  f.steps = 0;
  SeriesOptions options = options_for(7);
  options.mode = Mode::background;
  options.writers = size();
  options.alignment = 16;
  const std::uint64_t before = file::counts().bytes_written;
  Writer(everyone(), {}, SeriesTarget{directory.path() / "r2d.slf", series_header(f), piece_of(f, 7), options}).close();
  const auto all = testing::serafin_bytes(f);
  const auto share = static_cast<double>(all.size()) / size();
  EXPECT_NEAR(static_cast<double>(file::counts().bytes_written - before), share, 16.0 * size());
  MPI_Barrier(everyone());
  EXPECT_EQ(difference(bytes_of(directory.path() / "r2d.slf"), all), "none");
}

TEST(SeriesMpi, a_run_goes_on_behind_the_last_whole_step_or_an_earlier_time) {
  for (const double from : {1.5, std::numeric_limits<double>::infinity()}) {
    const testing::SharedDirectory directory;
    const SerafinFixture f = fixture(8);
    const fs::path path = directory.path() / "r2d.slf";
    const std::string whole = testing::serafin_bytes(f);
    if (rank() == 0) testing::put_file(path, whole.substr(0, whole.size() - 20));  // the third step is torn
    MPI_Barrier(everyone());
    SeriesOptions options = options_for(8);
    options.resume = from;
    const SeriesMesh mesh = piece_of(f, 8);
    Writer writer(everyone(), {}, SeriesTarget{path, series_header(f), mesh, options});
    EXPECT_EQ(writer.steps(), 2);
    EXPECT_EQ(serafin::open_series(path).trailing_bytes, 0U);
    MPI_Barrier(everyone());
    write_step(writer, f, mesh, 2);
    writer.close();
    EXPECT_EQ(difference(bytes_of(path), whole), "none");
    MPI_Barrier(everyone());
  }
}

TEST(SeriesMpi, nothing_is_added_to_another_mesh_or_other_variables_and_the_file_stays) {
  const testing::SharedDirectory directory;
  const SerafinFixture f = fixture(10);
  const fs::path path = directory.path() / "r2d.slf";
  const std::string before = testing::serafin_bytes(f);
  if (rank() == 0) testing::put_file(path, before);
  MPI_Barrier(everyone());
  SeriesOptions options = options_for(10);
  EXPECT_THAT(message_of([&] {
                Writer(everyone(), {}, SeriesTarget{path, series_header(f), piece_of(f, 1), options});
              }),
              HasSubstr("the output exists already"));
  options.resume = 0;
  SerafinFixture moved = f;
  moved.mesh.x[3] += 1;
  EXPECT_THAT(message_of([&] {
                Writer(everyone(), {}, SeriesTarget{path, series_header(f), piece_of(moved, 1), options});
              }),
              HasSubstr("another mesh"));
  serafin::SerafinHeader other = series_header(f);
  other.variables[0] = serafin::variable("BOTTOM", "M");
  EXPECT_THAT(message_of([&] {
                Writer(everyone(), {}, SeriesTarget{path, other, piece_of(f, 1), options});
              }),
              HasSubstr("other variables"));
  EXPECT_EQ(difference(bytes_of(path), before), "none");
}

TEST(SeriesMpi, what_is_wrong_on_one_rank_is_told_on_all_and_the_next_step_goes_on) {
  const testing::SharedDirectory directory;
  const SerafinFixture f = fixture(11);
  const SeriesMesh mesh = piece_of(f, 11);
  const fs::path path = directory.path() / "r2d.slf";
  Writer writer(everyone(), {}, SeriesTarget{path, series_header(f), mesh, options_for(11)});
  const std::vector<float> too_many(mesh.piece.x.size() * static_cast<std::size_t>(f.planes) + 1);
  const auto wrong_step = [&](const std::string& name) {
    return message_of([&] {
      writer.begin_step(0);
      for (int v = 0; v < f.variables; ++v)
        if (rank() < size() - 1)
          writer.put_field("VARIABLE " + std::to_string(v), view_of(std::span(too_many).first(too_many.size() - 1)));
      if (rank() == size() - 1 && !name.empty()) writer.put_field(name, view_of(too_many));
      writer.end_step();
    });
  };
  EXPECT_THAT(wrong_step("VARIABLE 0"), HasSubstr("values, found"));
  EXPECT_THAT(wrong_step("DEPTH"), HasSubstr("no variable DEPTH"));
  EXPECT_THAT(wrong_step(""), HasSubstr("was not put"));
  for (int step = 0; step < f.steps; ++step) write_step(writer, f, mesh, step);
  writer.close();
  EXPECT_EQ(difference(bytes_of(path), testing::serafin_bytes(f)), "none");
}

TEST(SeriesMpi, close_tells_on_all_ranks_of_a_step_that_was_not_ended) {
  const testing::SharedDirectory directory;
  const SerafinFixture f = fixture(13);
  const SeriesMesh mesh = piece_of(f, 13);
  const std::vector<float> too_many(mesh.piece.x.size() * static_cast<std::size_t>(f.planes) + 1);
  for (const bool wrong : {false, true}) {
    const fs::path path = directory.path() / (wrong ? "wrong.slf" : "open.slf");
    Writer writer(everyone(), {}, SeriesTarget{path, series_header(f), mesh, options_for(13)});
    write_step(writer, f, mesh, 0);
    writer.begin_step(1);
    if (wrong && rank() == size() - 1) writer.put_field("VARIABLE 0", view_of(too_many));
    const std::string message = message_of([&] { writer.close(); });
    EXPECT_THAT(message, HasSubstr(wrong ? "values, found" : "begun and not ended"));
    EXPECT_EQ(serafin::open_series(path).steps, 1);
    EXPECT_EQ(message_of([&] { writer.close(); }), "no error");
  }
}

TEST(SeriesMpi, a_full_disk_loses_the_step_on_all_ranks_and_no_more) {
  const testing::SharedDirectory directory;
  const SerafinFixture f = fixture(12);
  const SeriesMesh mesh = piece_of(f, 12);
  const fs::path path = directory.path() / "r2d.slf";
  Writer writer(everyone(), {}, SeriesTarget{path, series_header(f), mesh, options_for(12)});
  write_step(writer, f, mesh, 0);
  writer.wait();
  if (rank() == testing::last_writer(12))
    file::set_observer([](const file::Event& event) {
      return event.operation == file::Operation::write ? file::Verdict{ENOSPC, 0} : file::Verdict{};
    });
  const std::string message = message_of([&] {
    write_step(writer, f, mesh, 1);
    writer.wait();
  });
  file::set_observer({});
  EXPECT_THAT(message, HasSubstr("No space left"));
  for (const std::string& other : ranks::ranks_of(everyone()).all_gather(message)) EXPECT_EQ(other, message);
  EXPECT_EQ(serafin::open_series(path).steps, 1);
  EXPECT_EQ(serafin::open_series(path).trailing_bytes, 0U);
  MPI_Barrier(everyone());
  for (int step = 1; step < f.steps; ++step) write_step(writer, f, mesh, step);
  writer.close();
  EXPECT_EQ(difference(bytes_of(path), testing::serafin_bytes(f)), "none");
}

TEST(SeriesMpi, what_lies_beside_the_file_stays) {
  const testing::SharedDirectory directory;
  const SerafinFixture f = fixture(4);
  const fs::path path = directory.path() / "r2d.slf", beside = path.string() + ".geometry";
  if (rank() == 0) testing::put_file(beside, "somebody else's");
  MPI_Barrier(everyone());
  Writer(everyone(), {}, SeriesTarget{path, series_header(f), piece_of(f, 4), options_for(4)}).close();
  EXPECT_EQ(bytes_of(beside), "somebody else's");
}

TEST(SeriesMpi, points_and_triangles_that_no_rank_holds_are_named) {
  const testing::SharedDirectory directory;
  const SerafinFixture f = fixture(2);
  const auto open = [&](const std::function<void(SeriesMesh&)>& change) {
    SeriesMesh mesh = piece_of(f, 2);
    change(mesh);
    return message_of([&] {
      Writer(everyone(), {}, SeriesTarget{directory.path() / "r2d.slf", series_header(f), mesh, options_for(2)});
    });
  };
  EXPECT_THAT(open([](SeriesMesh& mesh) {
                for (auto& number : mesh.piece.global_point) number += number >= 17 ? 1 : 0;
              }),
              HasSubstr("point 17 (from 0) is held by no rank"));
  EXPECT_THAT(open([](SeriesMesh& mesh) {
                for (auto& number : mesh.global_element) number += number >= 5 ? 1 : 0;
              }),
              HasSubstr("triangle 5 (from 0) is held by no rank"));
  EXPECT_THAT(open([](SeriesMesh& mesh) { mesh = {}; }), HasSubstr("no rank holds a point"));
  EXPECT_THAT(open([](SeriesMesh& mesh) {
                if (rank() == 0) mesh.global_element.push_back(0);
              }),
              HasSubstr("global_element: expected"));
  EXPECT_TRUE(fs::is_empty(directory.path()));
}

TEST(SeriesMpi, numbers_that_mean_other_points_or_triangles_on_other_ranks_are_named) {
  const testing::SharedDirectory directory;
  SeriesMesh mesh;  // each rank a triangle of its own, numbered as if it were the only one
  const auto at = static_cast<double>(rank());
  mesh.piece.x = {at, at + 1, at};
  mesh.piece.y = {0, 0, 1};
  mesh.piece.connectivity = {0, 1, 2};
  mesh.piece.global_point = {0, 1, 2};
  serafin::SerafinHeader header;
  header.variables = {serafin::variable("DEPTH", "M")};
  const auto open = [&](const fs::path& path) {
    return message_of([&] { Writer(everyone(), {}, SeriesTarget{path, header, mesh, {.mode = Mode::sync}}).close(); });
  };
  const std::string alone = "no error";
  EXPECT_THAT(open(directory.path() / "a.slf"), HasSubstr(size() == 1 ? alone : "point 0 (from 0): expected"));
  for (std::int64_t& number : mesh.piece.global_point) number += 3 * rank();
  mesh.global_element = {0};
  EXPECT_THAT(open(directory.path() / "b.slf"),
              HasSubstr(size() == 1 ? alone : "triangle 0 (from 0): ranks have other"));
  header.variables.push_back(serafin::variable("DEPTH", "CM"));
  EXPECT_THAT(open(directory.path() / "c.slf"), HasSubstr("variable DEPTH is there twice"));
}

TEST(SeriesMpi, ranks_that_disagree_about_the_series_are_told) {
  if (size() == 1) return;
  const testing::SharedDirectory directory;
  const SerafinFixture f = fixture(2);
  serafin::SerafinHeader header = series_header(f);
  if (rank() == 1) header.real_bytes = 12 - header.real_bytes;
  EXPECT_THAT(
      message_of([&] {
        Writer(everyone(), {}, SeriesTarget{directory.path() / "r2d.slf", header, piece_of(f, 2), options_for(2)});
      }),
      HasSubstr("ranks disagree about the series"));
}

}  // namespace
}  // namespace octavo::engine
