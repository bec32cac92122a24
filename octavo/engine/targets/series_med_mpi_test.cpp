#include <gmock/gmock.h>

#include <limits>

#include "octavo/engine/targets/series_target.hpp"
#include "octavo/file/hdf5/hdf5.hpp"
#include "octavo/formats/med/groups.hpp"
#include "octavo/formats/med/med.hpp"
#include "octavo/formats/med/row.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/series_pieces.hpp"
#include "tests/support/write_triangles.hpp"

namespace octavo::engine {
namespace {

namespace fs = std::filesystem;
using testing::everyone;
using testing::fixture;
using ::testing::HasSubstr;
using testing::message_of;
using testing::options_for;
using testing::piece_of;
using testing::rank;
using testing::SerafinFixture;
using testing::series_header;
using testing::write_step;

/// One MED file that all ranks write. Rank 0 reads it back through libmedC, and tells all.
struct SeriesMedMpi : ::testing::Test {
  testing::SharedDirectory directory;
  fs::path path = directory.path() / "r2d.med";

  void SetUp() override {
    if (!formats::med::available() || !file::hdf5::available()) GTEST_SKIP() << "no MED or HDF5 in this build";
  }

  /// Makes a SERAFIN file of it, and compares that with the serial writer's file of the first `steps` steps.
  /// Collective.
  void expect_steps(SerafinFixture f, int steps) const {
    MPI_Barrier(everyone());
    f.steps = steps;
    if (rank() == 0) {
      const fs::path back = directory.path() / "back.slf";
      testing::to_serafin(path, back, {.overwrite = true});
      EXPECT_EQ(formats::med::list_steps(path).times.size(), static_cast<std::size_t>(steps));
      EXPECT_TRUE(testing::bytes_of_file(back) == testing::serafin_bytes(f)) << "of " << steps << " steps";
      EXPECT_FALSE(fs::exists(path.string() + ".geometry"));
      EXPECT_FALSE(fs::exists(path.string() + ".partial"));
    }
    MPI_Barrier(everyone());
  }
};

TEST_F(SeriesMedMpi, the_values_are_a_serial_writers_for_any_ranks_writers_and_alignment) {
  for (std::uint32_t seed = 1; seed <= 4; ++seed) {
    const SerafinFixture f = fixture(seed);
    const SeriesMesh mesh = piece_of(f, seed);
    path = directory.path() / (std::to_string(seed) + ".med");
    Writer writer(everyone(), {}, SeriesTarget{path, series_header(f), mesh, options_for(seed)});
    for (int step = 0; step < f.steps; ++step) write_step(writer, f, mesh, step);
    writer.close();
    EXPECT_EQ(writer.steps(), f.steps);
    SCOPED_TRACE("seed " + std::to_string(seed));
    expect_steps(f, f.steps);
  }
}

TEST_F(SeriesMedMpi, a_target_that_is_told_its_format_may_have_any_name) {
  const SerafinFixture f = fixture(4);
  const SeriesMesh mesh = piece_of(f, 4);
  path = directory.path() / "T2DRES";  // TELEMAC's name of a result, whatever its format
  Writer writer(everyone(), {}, SeriesTarget{path, series_header(f), mesh, options_for(4), &formats::med::row});
  for (int step = 0; step < f.steps; ++step) write_step(writer, f, mesh, step);
  writer.close();
  expect_steps(f, f.steps);
}

TEST_F(SeriesMedMpi, a_geometry_in_med_gives_triangles_boundary_and_groups) {
  SerafinFixture f = fixture(3);
  f.planes = 1;
  f.numbers.assign(f.mesh.x.size(), 0);
  f.numbers[5] = 1;
  const fs::path geometry = directory.path() / "geo.med";
  const formats::MeshGroups groups{{{-1, "FAM_-1_LIQUID", {"LIQUID"}}}, {0, 1}, {-1}, {}, {}};
  if (rank() == 0) {
    const fs::path serafin = directory.path() / "geo.slf";
    testing::put_file(serafin, testing::serafin_bytes(f));
    formats::Series whole = step::open_triangles(serafin, {}, "med");
    whole.groups = groups;
    formats::WriteRequest request;
    request.to = "med";
    step::write(std::move(whole), geometry, request);
  }
  MPI_Barrier(everyone());
  SeriesMesh mesh = piece_of(f, 3, false);
  mesh.boundary.clear();
  mesh.piece.connectivity.clear();
  mesh.geometry = geometry;
  Writer writer(everyone(), {}, SeriesTarget{path, series_header(f), mesh, options_for(3)});
  for (int step = 0; step < f.steps; ++step) write_step(writer, f, mesh, step);
  writer.close();
  MPI_Barrier(everyone());
  if (rank() == 0) {
    const formats::Series made = step::open_triangles(path, {}, "med");
    EXPECT_EQ(made.mesh.connectivity,
              std::vector<std::int64_t>(f.mesh.connectivity.begin(), f.mesh.connectivity.end()));
    EXPECT_EQ(step::stored_boundary_numbers(made.first), f.numbers);
    const formats::MeshGroups found = formats::med::read_groups(path);
    EXPECT_EQ(found.families, groups.families);
    EXPECT_EQ(found.edges, groups.edges);
    EXPECT_EQ(found.of_edge, groups.of_edge);
  }
}

TEST_F(SeriesMedMpi, a_users_file_with_the_name_of_its_geometry_stays) {
  const SerafinFixture f = fixture(3);
  const SeriesMesh mesh = piece_of(f, 3);
  const fs::path beside = path.string() + ".geometry", second = beside.string() + "-1";
  if (rank() == 0) testing::put_file(beside, "somebody else's");
  MPI_Barrier(everyone());
  SeriesOptions options = options_for(3);
  for (int step = 0; step < 2; ++step) {
    Writer writer(everyone(), {}, SeriesTarget{path, series_header(f), mesh, options});
    write_step(writer, f, mesh, step);
    writer.close();
    options.resume = std::numeric_limits<double>::infinity();
  }
  EXPECT_EQ(testing::bytes_of_file(beside), "somebody else's");
  EXPECT_FALSE(fs::exists(second));
  MPI_Barrier(everyone());
  if (rank() == 0) fs::remove(beside);
  expect_steps(f, 2);
}

TEST_F(SeriesMedMpi, a_step_shows_only_when_all_of_it_is_written) {
  const SerafinFixture f = fixture(7);
  const SeriesMesh mesh = piece_of(f, 7);
  SeriesOptions options = options_for(7);
  options.mode = Mode::background;
  {
    Writer writer(everyone(), {}, SeriesTarget{path, series_header(f), mesh, options});
    expect_steps(f, 0);
    write_step(writer, f, mesh, 0);
    writer.wait();
    expect_steps(f, 1);
    write_step(writer, f, mesh, 1);
  }  // like a run that ends without close(): the step stays in flight
  expect_steps(f, 1);
}

TEST_F(SeriesMedMpi, a_run_goes_on_behind_the_last_step_or_an_earlier_time_of_any_med_file) {
  for (const bool converted : {true, false}) {  // of floats, by libmedC; of doubles, by a run before
    const std::uint32_t seed = converted ? 8 : 9;
    const SerafinFixture f = fixture(seed);
    const SeriesMesh mesh = piece_of(f, seed);
    SeriesOptions options = options_for(seed);
    path = directory.path() / (std::to_string(seed) + ".med");
    if (!converted) {
      Writer writer(everyone(), {}, SeriesTarget{path, series_header(f), mesh, options});
      for (int step = 0; step < f.steps; ++step) write_step(writer, f, mesh, step);
      writer.close();
    } else if (rank() == 0) {
      testing::put_file(directory.path() / "made.slf", testing::serafin_bytes(f));
      testing::to_med(directory.path() / "made.slf", path, {.single_precision = !f.doubles});
    }
    MPI_Barrier(everyone());
    for (const double from : {std::numeric_limits<double>::infinity(), 1.5}) {
      options.resume = from;
      Writer writer(everyone(), {}, SeriesTarget{path, series_header(f), mesh, options});
      const int kept = from > 1.5 ? f.steps : 2;
      EXPECT_EQ(writer.steps(), kept);
      expect_steps(f, kept);
      for (int step = kept; step < 4; ++step) write_step(writer, f, mesh, step);
      writer.close();
      expect_steps(f, 4);
    }
  }
}

TEST_F(SeriesMedMpi, nothing_is_added_to_another_mesh_precision_or_other_variables) {
  const SerafinFixture f = fixture(10);
  SeriesOptions options = options_for(10);
  Writer(everyone(), {}, SeriesTarget{path, series_header(f), piece_of(f, 10), options}).close();
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
  formats::serafin::SerafinHeader other = series_header(f);
  other.variables[0] = formats::serafin::variable("BOTTOM", "M");
  EXPECT_THAT(message_of([&] {
                Writer(everyone(), {}, SeriesTarget{path, other, piece_of(f, 1), options});
              }),
              HasSubstr("other variables"));
  other = series_header(f);
  other.real_bytes = 12 - other.real_bytes;
  EXPECT_THAT(message_of([&] {
                Writer(everyone(), {}, SeriesTarget{path, other, piece_of(f, 1), options});
              }),
              HasSubstr("expected float"));
  expect_steps(f, 0);
}

TEST_F(SeriesMedMpi, a_file_goes_on_in_the_precision_of_its_values_whatever_it_was_made_of) {
  for (const std::uint32_t seed : {8U, 9U}) {  // doubles of a SERAFIN file of floats, and floats of one of doubles
    const SerafinFixture f = fixture(seed);
    const SeriesMesh mesh = piece_of(f, seed);
    path = directory.path() / (std::to_string(seed) + ".med");
    if (rank() == 0) {
      const fs::path made = directory.path() / (std::to_string(seed) + ".slf");
      testing::put_file(made, testing::serafin_bytes(f));
      testing::to_med(made, path, {.single_precision = f.doubles});
    }
    MPI_Barrier(everyone());
    SeriesOptions options = options_for(seed);
    options.resume = std::numeric_limits<double>::infinity();
    formats::serafin::SerafinHeader header = series_header(f);
    const std::string message = message_of([&] { Writer(everyone(), {}, SeriesTarget{path, header, mesh, options}); });
    EXPECT_THAT(message, HasSubstr(f.doubles ? "field VARIABLE 0: expected float64, found float32"
                                             : "field VARIABLE 0: expected float32, found float64"));
    testing::expect_same_everywhere(message);
    expect_steps(f, f.steps);
    header.real_bytes = 12 - header.real_bytes;
    Writer writer(everyone(), {}, SeriesTarget{path, header, mesh, options});
    for (int step = f.steps; step < 5; ++step) write_step(writer, f, mesh, step);
    writer.close();
    expect_steps(f, 5);
  }
}

TEST_F(SeriesMedMpi, a_full_disk_loses_the_step_on_all_ranks_and_no_more) {
  const SerafinFixture f = fixture(12);
  const SeriesMesh mesh = piece_of(f, 12);
  Writer writer(everyone(), {}, SeriesTarget{path, series_header(f), mesh, options_for(12)});
  write_step(writer, f, mesh, 0);
  writer.wait();
  for (const bool values : {true, false}) {  // a writer's values, or rank 0's commit of the step
    const int last = testing::last_writer(12);
    if (rank() == (values ? last : 0))
      file::set_observer([&, writes = 0](const file::Event& event) mutable {
        const bool full = event.operation == file::Operation::write && (values || event.offset == 0 || writes++ > 20);
        return full ? file::Verdict{ENOSPC, 0} : file::Verdict{};
      });
    const std::string message = message_of([&] {
      write_step(writer, f, mesh, 1);
      writer.wait();
    });
    file::set_observer({});
    EXPECT_THAT(message, HasSubstr("No space left"));
    testing::expect_same_everywhere(message);
    expect_steps(f, 1);
  }
  for (int step = 1; step < f.steps; ++step) write_step(writer, f, mesh, step);
  writer.close();
  expect_steps(f, f.steps);
}

TEST_F(SeriesMedMpi, what_is_wrong_on_one_rank_is_told_on_all_and_the_next_step_goes_on) {
  const SerafinFixture f = fixture(11);
  const SeriesMesh mesh = piece_of(f, 11);
  Writer writer(everyone(), {}, SeriesTarget{path, series_header(f), mesh, options_for(11)});
  const std::string message = message_of([&] {
    writer.begin_step(0);
    if (rank() == 0) writer.put_field("DEPTH", view_of(mesh.piece.x));
    writer.end_step();
  });
  EXPECT_THAT(message, HasSubstr("no variable DEPTH"));
  testing::expect_same_everywhere(message);
  for (int step = 0; step < f.steps; ++step) write_step(writer, f, mesh, step);
  writer.close();
  expect_steps(f, f.steps);
}

}  // namespace
}  // namespace octavo::engine
