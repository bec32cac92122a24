#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <set>

#include "octavo/base/error.hpp"
#include "octavo/engine/restart/restart.hpp"
#include "octavo/store/read/triangles.hpp"
#include "octavo/store/write/copy_segment.hpp"
#include "octavo/telemac/cut/partition.hpp"
#include "octavo/verbs/convert.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/triangle_runs.hpp"

namespace octavo::engine {
namespace {

namespace fs = std::filesystem;
using store::Flow;
using ::testing::AllOf;
using testing::arrays_of;
using testing::everyone;
using testing::fixture;
using ::testing::HasSubstr;
using testing::message_of;
using testing::rank;
using testing::SerafinFixture;
using testing::size;
using testing::triangle_value;
using testing::TriangleArrays;
using testing::triangles_header;
using testing::write_triangles;
using testing::wrong_values;

Options options_for(std::uint32_t seed) {
  Options options;
  options.mode = testing::single_threaded() || seed % 3 == 0 ? Mode::sync : Mode::background;
  options.lend = seed % 3 == 1 && options.mode == Mode::background;
  options.contributors_per_file = 1 + static_cast<int>(seed % 3);
  options.sync_policy = SyncPolicy::none;
  options.checkpoint.codec.method = seed % 2 == 0 ? codec::Method::raw : codec::Method::automatic;
  return options;
}

/// The whole mesh in the order of the file, as a serial writer has it.
void expect_whole(const SerafinFixture& f, const fs::path& path, Flow flow, int step) {
  const mesh::Dataset dataset = store::open_step(path, flow, step);
  EXPECT_EQ(dataset.num_parts, 1);
  EXPECT_EQ(dataset.header.time, 0.5 * step);
  const mesh::Part part = dataset.read(0, {});
  const auto& mesh = std::get<mesh::Unstructured>(part.mesh);
  ASSERT_EQ(mesh.x.size(), f.mesh.x.size());
  EXPECT_EQ(mesh.planes, f.planes);
  EXPECT_TRUE(std::equal(mesh.connectivity.begin(), mesh.connectivity.end(), f.mesh.connectivity.begin(),
                         f.mesh.connectivity.end()));
  EXPECT_EQ(wrong_values(f, step, part), "");
}

/// Shares of all ranks: every triangle once, every point; values in their places.
void expect_shares(const SerafinFixture& f, const Restart& from, int step) {
  EXPECT_EQ(wrong_values(f, step, from.part), "");
  const auto& mesh = std::get<mesh::Unstructured>(from.part.mesh);
  const std::size_t all = f.mesh.connectivity.size() / 3;
  std::vector<std::int64_t> held(all, 0), points(f.mesh.x.size(), 0);
  ASSERT_EQ(from.global_element.size() * 3, mesh.connectivity.size());
  for (std::size_t e = 0; e < from.global_element.size(); ++e) {
    ++held.at(static_cast<std::size_t>(from.global_element[e]));
    for (std::size_t k = 0; k < 3; ++k)
      EXPECT_EQ(mesh.global_point.at(static_cast<std::size_t>(mesh.connectivity[3 * e + k])),
                f.mesh.connectivity[3 * static_cast<std::size_t>(from.global_element[e]) + k]);
  }
  for (const std::int64_t point : mesh.global_point) points.at(static_cast<std::size_t>(point)) = 1;
  MPI_Allreduce(MPI_IN_PLACE, held.data(), static_cast<int>(all), MPI_INT64_T, MPI_SUM, everyone());
  MPI_Allreduce(MPI_IN_PLACE, points.data(), static_cast<int>(points.size()), MPI_INT64_T, MPI_MAX, everyone());
  EXPECT_THAT(held, ::testing::Each(1));
  EXPECT_THAT(points, ::testing::Each(1));
}

TEST(TrianglesMpi, pieces_of_any_ranks_become_the_mesh_and_values_of_a_serial_writer) {
  for (std::uint32_t seed = 1; seed <= (size() > 4 ? 2u : 6u); ++seed) {
    const testing::SharedDirectory directory;
    const SerafinFixture f = fixture(seed);
    const fs::path path = directory.path() / "run.octavo";
    Writer writer(everyone(), path, triangles_header(f), options_for(seed));
    for (int step = 1; step <= 3; ++step) {
      const TriangleArrays arrays = arrays_of(f, seed, step);
      write_triangles(writer, Flow::checkpoint, step, arrays);
      write_triangles(writer, Flow::analysis, step, arrays);
      writer.wait();
    }
    writer.close();
    if (rank() == 0) {
      EXPECT_TRUE(store::verify(path, 1).findings.empty());
      for (int step = 1; step <= 3; ++step) {
        expect_whole(f, path, Flow::checkpoint, step);
        expect_whole(f, path, Flow::analysis, step);
      }
      // The mesh is stored with the first step of a flow, and with every checkpoint.
      EXPECT_TRUE(store::open_step(path, Flow::analysis, 3).header.attributes.count(store::mesh_step_attribute));
      EXPECT_FALSE(store::open_step(path, Flow::analysis, 1).header.attributes.count(store::mesh_step_attribute));
      EXPECT_FALSE(store::open_step(path, Flow::checkpoint, 3).header.attributes.count(store::mesh_step_attribute));
    }
    for (const Flow flow : {Flow::checkpoint, Flow::analysis}) {
      RestartOptions options;
      options.flow = flow;
      const auto from = restart(everyone(), path, options);
      ASSERT_TRUE(from);
      EXPECT_EQ(from->id.step, 3);
      expect_shares(f, *from, 3);
    }
  }
}

TEST(TrianglesMpi, a_store_of_fewer_ranks_is_shared_out_again) {
  const SerafinFixture f = fixture(4);
  for (const int writers : std::set<int>{1, (size() + 1) / 2, size()}) {
    const testing::SharedDirectory directory;
    const ranks::OwnComm some = ranks::split(everyone(), rank() < writers ? 0 : 1, rank());
    if (rank() < writers) {
      const int mine = rank();
      Writer writer(some.get(), directory.path() / "run.octavo", triangles_header(f), options_for(3));
      TriangleArrays arrays{{}, {}, {}, {}};
      arrays.mesh.piece.planes = f.planes;
      for (std::size_t i = 0; i < f.mesh.x.size(); ++i) {
        arrays.mesh.piece.x.push_back(f.mesh.x[i]);  // every rank has all points, and its triangles
        arrays.mesh.piece.y.push_back(f.mesh.y[i]);
      }
      for (std::size_t e = static_cast<std::size_t>(mine); e < f.mesh.connectivity.size() / 3;
           e += static_cast<std::size_t>(writers)) {
        arrays.mesh.global_element.push_back(static_cast<std::int64_t>(e));
        for (std::size_t k = 0; k < 3; ++k) arrays.mesh.piece.connectivity.push_back(f.mesh.connectivity[3 * e + k]);
      }
      for (int plane = 0; plane < f.planes; ++plane)
        for (std::size_t i = 0; i < f.mesh.x.size(); ++i) {
          const auto point = static_cast<std::int64_t>(i);
          arrays.a.push_back(triangle_value(f, 2, 0, plane, point) +
                             (mine > 0 ? 1000 : 0));  // the lowest rank's value counts
          arrays.b.push_back(static_cast<float>(triangle_value(f, 2, 1, plane, point)));
          arrays.number.push_back(static_cast<std::int32_t>(10 * point + plane));
        }
      write_triangles(writer, Flow::checkpoint, 2, arrays);
      writer.close();
    }
    testing::barrier();
    const auto from = restart(everyone(), directory.path() / "run.octavo");
    ASSERT_TRUE(from);
    expect_shares(f, *from, 2);
  }
}

TEST(TrianglesMpi, a_rank_gets_the_points_it_asks_for) {
  const testing::SharedDirectory directory;
  const SerafinFixture f = fixture(4);
  const fs::path path = directory.path() / "run.octavo";
  Writer writer(everyone(), path, triangles_header(f), options_for(0));
  write_triangles(writer, Flow::checkpoint, 1, arrays_of(f, 4, 1));
  writer.close();
  const auto last = static_cast<std::int64_t>(f.mesh.x.size()) - 1;
  RestartOptions options;
  options.points = std::vector<std::int64_t>{last, 3, 0, 3};
  if (rank() == 1) options.points->clear();
  const auto from = restart(everyone(), path, options);
  ASSERT_TRUE(from);
  EXPECT_EQ(std::get<mesh::Unstructured>(from->part.mesh).global_point, *options.points);
  EXPECT_EQ(wrong_values(f, 1, from->part), "");
  options.points = std::vector<std::int64_t>{rank() == size() - 1 ? last + 1 : 0};
  const std::string message = message_of([&] { restart(everyone(), path, options); });
  EXPECT_THAT(message, HasSubstr("points wanted: expected 0 to " + std::to_string(last)));
  testing::expect_same_everywhere(message);
}

TEST(TrianglesMpi, what_convert_made_of_a_serafin_file_is_shared_out_too) {
  const testing::SharedDirectory directory;
  SerafinFixture f = fixture(6);
  const fs::path slf = directory.path() / "r2d.slf", path = directory.path() / "run.octavo";
  if (rank() == 0) {
    std::ofstream(slf, std::ios::binary) << testing::serafin_bytes(f);
    verbs::convert({slf}, path, {});
  }
  testing::barrier();
  RestartOptions options;
  options.flow = Flow::analysis;
  const auto from = restart(everyone(), path, options);
  ASSERT_TRUE(from);
  const auto& mesh = std::get<mesh::Unstructured>(from->part.mesh);
  for (const mesh::Field& field : from->part.fields) {
    if (store::is_integer(field.info)) continue;
    for (std::size_t i = 0; i < mesh.x.size(); ++i)
      EXPECT_EQ(mesh::visit_values(field, [&](auto values) { return static_cast<double>(values[i]); }),
                triangle_value(f, f.steps - 1, field.info.name.back() - '0', 0, mesh.global_point[i]))
          << field.info.name;
  }
}

TEST(TrianglesMpi, values_that_convert_predicted_from_the_mesh_are_shared_out_too) {
  const testing::SharedDirectory directory;
  SerafinFixture f = fixture(6);
  f.mesh = testing::random_triangles(6, 20, 15);
  for (double& x : f.mesh.x) x = std::floor(x);  // a lattice: two triangles make a parallelogram
  for (double& y : f.mesh.y) y = std::floor(y);
  f.planes = f.variables = 1;
  f.doubles = true;
  f.steps = 0;
  const fs::path slf = directory.path() / "r2d.slf", path = directory.path() / "run.octavo";
  const auto height = [](const auto& mesh, std::size_t i) { return 100 + 3 * mesh.x[i] - mesh.y[i]; };
  if (rank() == 0) {
    testing::SerafinBytes steps{f.big_endian, {}};
    std::vector<double> heights(f.mesh.x.size());
    for (std::size_t i = 0; i < heights.size(); ++i) heights[i] = height(f.mesh, i);
    for (const double time : {0.0, 0.5}) {  // the second refers to the mesh of the first
      steps.record(std::vector<double>{time});
      steps.record(heights);
    }
    std::ofstream(slf, std::ios::binary) << testing::serafin_bytes(f) << steps.bytes;
    verbs::ConvertOptions options;
    options.method = codec::Method::tree;
    options.accuracy = {verbs::Accuracy::Kind::absolute, 0x1p-10};
    verbs::convert({slf}, path, options);
    EXPECT_TRUE(store::verify(path, 1).findings.empty());
    const fs::path file = path / "analysis" / "data.000";
    const auto part = store::encoded_part(store::open_newest(file), 0, store::fetch_from(file::open_read(file)));
    for (const store::Stream& stream : part.streams)
      EXPECT_EQ(codec::needs_neighbours(stream.bytes), stream.kind == store::StreamKind::field) << stream.field;
  }
  testing::barrier();
  RestartOptions options;
  options.flow = Flow::analysis;
  for (const std::int64_t step : {0, 1}) {  // with the mesh, and after it
    options.step = step;
    const auto from = restart(everyone(), path, options);
    ASSERT_TRUE(from);
    const auto& mesh = std::get<mesh::Unstructured>(from->part.mesh);
    for (const mesh::Field& field : from->part.fields)
      for (std::size_t i = 0; field.info.type == mesh::ScalarType::float64 && i < mesh.x.size(); ++i)
        EXPECT_NEAR(field.as<double>()[i], height(mesh, i), 0x1p-10) << field.info.name;
  }
}

TEST(TrianglesMpi, what_is_wrong_with_a_piece_is_told_to_all_ranks_and_the_writer_goes_on) {
  const testing::SharedDirectory directory;
  const SerafinFixture f = fixture(2);
  Writer writer(everyone(), directory.path() / "run.octavo", triangles_header(f), options_for(2));
  TriangleArrays arrays = arrays_of(f, 2, 1);
  const auto told = [&](const std::string& expected) {
    const std::string message = message_of([&] { write_triangles(writer, Flow::checkpoint, 1, arrays); });
    EXPECT_THAT(message, HasSubstr(expected));
    testing::expect_same_everywhere(message);
    arrays = arrays_of(f, 2, 1);
  };
  for (std::int64_t& number : arrays.mesh.piece.global_point) number += 1;
  told("point 0 (from 0) is held by no rank");
  if (rank() == size() - 1) arrays.a.push_back(0);
  told("expected one value of 4 or 8 bytes for each of");
  arrays.mesh.piece.planes = 0;
  told("planes: expected at least 1, found 0");
  write_triangles(writer, Flow::checkpoint, 1, arrays);
  writer.close();
  if (rank() == 0) expect_whole(f, directory.path() / "run.octavo", Flow::checkpoint, 1);
}

/// The findings of verify in one text, or its error if it cannot begin.
std::string findings_of(const fs::path& path) {
  std::string text;
  try {
    for (const store::Finding& finding : store::verify(path, 1).findings)
      text += finding.where + ": " + finding.what + "\n";
  } catch (const base::Error& error) {
    text = error.what();
  }
  return text;
}

TEST(TrianglesMpi, flipped_bits_and_files_cut_short_are_found_and_named_and_no_wrong_value_is_read) {
  const testing::SharedDirectory directory;
  const SerafinFixture f = fixture(2);
  const fs::path path = directory.path() / "run.octavo";
  Writer writer(everyone(), path, triangles_header(f), options_for(4));
  write_triangles(writer, Flow::checkpoint, 1, arrays_of(f, 2, 1));
  writer.close();
  if (rank() != 0) return;
  EXPECT_EQ(findings_of(path), "");
  const auto wrong = [&] {
    try {
      return wrong_values(f, 1, store::open_step(path, Flow::checkpoint, 1).read(0, {}));
    } catch (const base::Error&) {
      return std::string();
    }
  };
  for (const store::StreamInfo& stream : store::list_streams(path, Flow::checkpoint, 1)) {
    const std::string sound = testing::bytes_of_file(stream.file);
    std::string damaged = sound;
    damaged[stream.offset + stream.stored_bytes / 2] =
        static_cast<char>(damaged[stream.offset + stream.stored_bytes / 2] ^ 4);
    testing::put_file(stream.file, damaged);
    EXPECT_THAT(findings_of(path),
                AllOf(HasSubstr("part " + std::to_string(stream.part)), HasSubstr(stream.file.filename().string()),
                      HasSubstr(stream.field == "a" ? "field a" : "checksum")));
    EXPECT_EQ(wrong(), "");
    testing::put_file(stream.file, sound.substr(0, stream.offset + stream.stored_bytes / 2));
    EXPECT_THAT(findings_of(path), HasSubstr(stream.file.filename().string()));
    EXPECT_EQ(wrong(), "");
    testing::put_file(stream.file, sound);
  }
  EXPECT_EQ(findings_of(path), "");
}

TEST(TrianglesMpi, a_damaged_step_gives_way_to_the_one_before) {
  const testing::SharedDirectory directory;
  const SerafinFixture f = fixture(5);
  const fs::path path = directory.path() / "run.octavo";
  Options options = options_for(1);
  options.checkpoint.codec = {};
  Writer writer(everyone(), path, triangles_header(f), options);
  for (int step = 1; step <= 2; ++step) {
    const TriangleArrays arrays = arrays_of(f, 5, step);
    write_triangles(writer, Flow::checkpoint, step, arrays);
    writer.wait();
  }
  writer.close();
  if (rank() == 0) {
    const auto streams = store::list_streams(path, Flow::checkpoint, 2);
    const auto stream = std::find_if(streams.begin(), streams.end(), [](const auto& s) { return s.field == "a"; });
    std::fstream file(stream->file, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(stream->offset + stream->stored_bytes / 2));
    const char was = static_cast<char>(file.peek());
    file.put(static_cast<char>(was ^ 1));
  }
  testing::barrier();
  const auto from = restart(everyone(), path);
  ASSERT_TRUE(from);
  EXPECT_EQ(from->id.step, 1);
  expect_shares(f, *from, 1);
  EXPECT_THAT(from->notes, ::testing::Contains(HasSubstr("passed over")));
}

TEST(TrianglesMpi, a_mesh_that_was_cut_for_as_many_ranks_comes_part_by_part) {
  for (const std::int32_t more : {0, 1}) {
    const testing::SharedDirectory shared;
    const fs::path folder = shared.path();
    SerafinFixture f = fixture(2);
    f.numbers = testing::ranks_of(f.mesh);
    partition::PartVector part_of;
    for (std::size_t e = 0; e < f.mesh.connectivity.size() / 3; ++e)
      part_of.push_back(static_cast<std::int32_t>(e * 7 % static_cast<std::size_t>(size() + more)));
    if (rank() == 0) {
      testing::put_file(folder / "geo.slf", serafin_bytes(f));
      telemac::PartitionOptions options;
      options.parts = size() + more;
      options.part_of = part_of;
      options.layout = telemac::PieceLayout::octavo;
      telemac::partition_mesh(folder / "geo.slf", folder / "T2D", options);
    }
    testing::barrier();
    const Restart from = restart(everyone(), folder / "T2DGEO.octavo", {}).value();
    const auto& mesh = std::get<mesh::Unstructured>(from.part.mesh);
    ASSERT_EQ(from.global_element.size() * 3, mesh.connectivity.size());
    std::int64_t elements = static_cast<std::int64_t>(from.global_element.size());
    std::size_t others = 0;
    for (std::size_t e = 0; e < from.global_element.size(); ++e) {
      const auto number = static_cast<std::size_t>(from.global_element[e]);
      others += part_of[number] != rank();
      for (std::size_t k = 0; k < 3; ++k)
        EXPECT_EQ(mesh.global_point.at(static_cast<std::size_t>(mesh.connectivity[3 * e + k])),
                  f.mesh.connectivity[3 * number + k]);
    }
    EXPECT_TRUE(more != 0 || others == 0);
    MPI_Allreduce(MPI_IN_PLACE, &elements, 1, MPI_INT64_T, MPI_SUM, everyone());
    EXPECT_EQ(elements, static_cast<std::int64_t>(part_of.size()));
    ASSERT_GE(from.part.fields.size(), 1U);
    for (std::size_t i = 0; i < mesh.global_point.size(); ++i)
      EXPECT_EQ(from.part.fields[0].info.type == mesh::ScalarType::float64
                    ? from.part.fields[0].as<double>()[i]
                    : static_cast<double>(from.part.fields[0].as<float>()[i]),
                testing::serafin_value(f.steps - 1, 0, static_cast<std::size_t>(mesh.global_point[i])));
  }
}

}  // namespace
}  // namespace octavo::engine
