#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "apps/shallow/run.hpp"
#include "apps/shallow/test_basins.hpp"
#include "octavo/base/error.hpp"
#include "octavo/file/posix.hpp"
#include "octavo/formats/serafin/write.hpp"
#include "octavo/telemac/cut/partition.hpp"
#include "octavo/telemac/merge/merge_pieces.hpp"
#include "tests/support/mpi_run.hpp"
#include "tests/support/serafin_fixture.hpp"

namespace octavo::shallow {
namespace {

namespace fs = std::filesystem;
namespace serafin = formats::serafin;

/// A mesh file with a dam break over an uneven bottom.
void write_mesh(const fs::path& path, const WholeMesh& mesh) {
  serafin::SerafinHeader header;
  header.variables = {serafin::variable("BOTTOM", "M"), serafin::variable("FREE SURFACE", "M")};
  header.points = static_cast<std::int32_t>(mesh.x.size());
  header.elements = static_cast<std::int32_t>(mesh.triangles.size());
  const file::File file = file::create(path);
  const serafin::Put put = [&](std::uint64_t offset, std::span<const std::byte> bytes) {
    file::pwrite_all(file, offset, bytes);
  };
  serafin::write_header(put, header);
  std::vector<std::int32_t> corners;
  for (const auto& triangle : mesh.triangles)
    for (const std::int32_t point : triangle) corners.push_back(point + 1);
  serafin::write_connectivity(put, header, 0, corners);
  serafin::write_numbers(put, header, 0, std::vector<std::int32_t>(mesh.x.size(), 0));
  serafin::write_coordinates(put, header, 0, 0, mesh.x);
  serafin::write_coordinates(put, header, 1, 0, mesh.y);
  std::vector<double> bottom, level;
  for (std::size_t i = 0; i < mesh.x.size(); ++i) {
    bottom.push_back(0.3 * std::sin(mesh.x[i]) * std::cos(2 * mesh.y[i]));
    level.push_back(mesh.x[i] < 4 ? 2 : 0);
  }
  serafin::write_time(put, header, 0, 0);
  serafin::write_values(put, header, 0, 0, 0, bottom);
  serafin::write_values(put, header, 0, 1, 0, level);
}

class RunMpi : public ::testing::Test {
 protected:
  RunMpi() {
    if (first()) write_mesh(folder_.path() / "mesh.slf", mesh_of({18, 7, 10, 4, 0.25}, 12));
    MPI_Barrier(everyone_);
    RunOptions whole = options("alone.slf");
    if (first()) run(MPI_COMM_SELF, whole, &never_);
    MPI_Barrier(everyone_);
  }
  bool first() const { return ranks::rank_in(everyone_) == 0; }
  fs::path at(const std::string& name) const { return folder_.path() / name; }
  RunOptions options(const std::string& result, Io io = Io::background) const {
    RunOptions out;
    out.mesh = at("mesh.slf");
    out.method = partition::CutMethod::hilbert;
    out.physics.strickler = 35;
    out.until = 1.5;
    out.result = at(result);
    out.io = io;
    out.every = 0.25;
    return out;
  }
  void expect_as_alone(const std::string& result) const {
    MPI_Barrier(everyone_);
    EXPECT_TRUE(testing::bytes_of_file(at(result)) == testing::bytes_of_file(at("alone.slf"))) << result;
  }

  MPI_Comm everyone_ = testing::everyone();
  testing::SharedDirectory folder_;
  const volatile int never_ = 0;
};

TEST_F(RunMpi, EveryWayMakesTheFileThatOneRankMakes) {
  for (const Io io : {Io::sync, Io::background, Io::view, Io::view_nonblocking}) {
    const std::string name = "way" + std::to_string(static_cast<int>(io)) + ".slf";
    const RunReport report = run(everyone_, options(name, io), &never_);
    EXPECT_EQ(report.results, 7);
    EXPECT_NEAR(report.volume_after, report.volume_before, 1e-14 * report.volume_before);
    expect_as_alone(name);
  }
}

TEST_F(RunMpi, PiecesMergeToTheSameValues) {
  run(everyone_, options("pieces", Io::pieces), &never_);
  MPI_Barrier(everyone_);
  telemac::MergeOptions whole;
  whole.mesh = at("mesh.slf");
  if (first()) telemac::merge_pieces({at("pieces")}, at("merged.slf"), whole);
  MPI_Barrier(everyone_);
  const auto merged = serafin::open_series(at("merged.slf")), alone = serafin::open_series(at("alone.slf"));
  ASSERT_EQ(serafin::read_times(merged), serafin::read_times(alone));
  std::vector<double> a(static_cast<std::size_t>(alone.header.points)), b = a;
  for (std::int64_t step = 0; step < alone.steps; ++step)
    for (std::size_t v = 0; v < 5; ++v) {
      serafin::read_values(merged, step, v, 0, a);
      serafin::read_values(alone, step, v, 0, b);
      ASSERT_EQ(a, b) << "step " << step << ", variable " << v;
    }
}

TEST_F(RunMpi, PiecesOfAnyCutAndLayoutGiveTheSameResult) {
  for (const int parts : {1, 3})
    for (const auto layout : {telemac::PieceLayout::concat, telemac::PieceLayout::files}) {
      const std::string prefix = "cut" + std::to_string(parts) + (layout == telemac::PieceLayout::concat ? "c" : "f");
      telemac::PartitionOptions cut;
      cut.parts = parts;
      cut.method = partition::CutMethod::hilbert;
      cut.layout = layout;
      if (first()) telemac::partition_mesh(at("mesh.slf"), at(prefix), cut);
      MPI_Barrier(everyone_);
      RunOptions from = options(prefix + ".slf");
      from.pieces = at(prefix).string();
      run(everyone_, from, &never_);
      expect_as_alone(prefix + ".slf");
    }
}

TEST_F(RunMpi, GoesOnFromACheckpointOnAnotherNumberOfRanks) {
  RunOptions part = options("resumed.slf");
  part.checkpoints = at("checkpoints");
  part.checkpoint_steps = 10;
  part.steps = 25;
  if (first()) run(MPI_COMM_SELF, part, &never_);
  MPI_Barrier(everyone_);
  part.resume = true;
  EXPECT_EQ(run(everyone_, part, &never_).steps, 25);
  MPI_Barrier(everyone_);
  part.steps = 1000000;
  if (first()) run(MPI_COMM_SELF, part, &never_);
  expect_as_alone("resumed.slf");
  int files = 0;
  for (const auto& entry : fs::directory_iterator(at("checkpoints"))) files += entry.path().extension() == ".slf";
  EXPECT_EQ(files, 2);  // older ones are gone
}

TEST_F(RunMpi, ASignalLeavesACheckpointThatLosesNothing) {
  RunOptions asked = options("stopped.slf");
  asked.checkpoints = at("stopped");
  const volatile int stop = ranks::rank_in(everyone_) == ranks::size_of(everyone_) - 1;
  const RunReport report = run(everyone_, asked, &stop);
  EXPECT_TRUE(report.stopped);
  EXPECT_EQ(report.steps, 1);
  asked.resume = true;
  EXPECT_FALSE(run(everyone_, asked, &never_).stopped);
  expect_as_alone("stopped.slf");
}

TEST_F(RunMpi, StepsWrittenAfterTheCheckpointAreDropped) {
  RunOptions lost = options("lost.slf");
  lost.checkpoints = at("lost");
  lost.checkpoint_steps = 30;
  lost.steps = 30;
  run(everyone_, lost, &never_);
  lost.checkpoints.clear();
  lost.checkpoint_steps = 0;
  // Like a run that was killed long after its checkpoint: the result has more steps.
  if (first()) fs::copy_file(at("alone.slf"), at("lost.slf"), fs::copy_options::overwrite_existing);
  MPI_Barrier(everyone_);
  lost = options("lost.slf");
  lost.checkpoints = at("lost");
  lost.resume = true;
  run(everyone_, lost, &never_);
  expect_as_alone("lost.slf");
}

template <class Work>
std::string message_of(Work&& work) {
  try {
    work();
  } catch (const base::Error& error) {
    return error.what();
  }
  return "";
}

TEST_F(RunMpi, AllRanksAreToldWhatIsWrong) {
  const auto told = [&](const RunOptions& wrong) { return message_of([&] { run(everyone_, wrong, &never_); }); };
  RunOptions wrong = options("x.slf");
  wrong.mesh = at("nowhere.slf");
  EXPECT_NE(told(wrong).find("nowhere.slf"), std::string::npos);
  wrong = options("x.slf");
  wrong.pieces = at("nothing").string();
  EXPECT_NE(told(wrong).find("nothing"), std::string::npos);
  wrong = options("alone.slf", Io::view);
  wrong.force = true;
  wrong.checkpoints = at("checks");
  wrong.steps = 2;
  EXPECT_EQ(told(wrong), "");
  wrong.resume = true;
  EXPECT_NE(told(wrong).find("--io sync or background"), std::string::npos);
  wrong = options("x.slf");
  wrong.mesh = at("alone.slf");  // its first step is a state like any other
  wrong.steps = 1;
  EXPECT_EQ(told(wrong), "");
}

TEST_F(RunMpi, AResultReplacesNoInputAndOtherFilesOnlyWhereAsked) {
  const auto told = [&](const RunOptions& wrong) { return message_of([&] { run(everyone_, wrong, &never_); }); };
  const auto before = testing::bytes_of_file(at("mesh.slf"));
  for (const Io io : {Io::sync, Io::background, Io::view, Io::pieces}) {
    RunOptions wrong = options("mesh.slf", io);
    wrong.force = true;
    const fs::path piece = telemac::piece_path(at("mesh.slf"), ranks::size_of(everyone_), 0);
    if (io == Io::pieces && first() && !fs::exists(piece)) fs::create_hard_link(at("mesh.slf"), piece);
    MPI_Barrier(everyone_);
    EXPECT_NE(told(wrong).find("what the run reads"), std::string::npos) << static_cast<int>(io);
    MPI_Barrier(everyone_);
    EXPECT_EQ(testing::bytes_of_file(at("mesh.slf")), before);
  }
  RunOptions again = options("alone.slf");
  again.steps = 2;
  EXPECT_NE(told(again).find("exists already"), std::string::npos);
  expect_as_alone("alone.slf");
  MPI_Barrier(everyone_);
  again.force = true;
  EXPECT_EQ(told(again), "");
}

std::string options_message(const std::vector<const char*>& words) {
  return message_of([&] { parse_options(static_cast<int>(words.size()), words.data()); });
}

TEST(ShallowOptions, AreCheckedBeforeAnythingIsRead) {
  EXPECT_EQ(options_message({"m.slf", "--until", "10"}), "");
  EXPECT_NE(options_message({"m.slf"}).find("--until"), std::string::npos);
  EXPECT_NE(options_message({"m.slf", "--until", "ten"}).find("needs a number, found ten"), std::string::npos);
  EXPECT_NE(options_message({"m.slf", "--until"}).find("needs a value"), std::string::npos);
  EXPECT_NE(options_message({"m.slf", "--until", "9", "--order", "3"}).find("--order"), std::string::npos);
  EXPECT_NE(options_message({"m.slf", "--until", "9", "--io", "fast"}).find("view-nonblocking"), std::string::npos);
  EXPECT_NE(options_message({"m.slf", "--until", "9", "-o", "r.slf"}).find("--every"), std::string::npos);
  EXPECT_NE(options_message({"m.slf", "--until", "9", "--resume"}).find("--checkpoint DIR"), std::string::npos);
  EXPECT_NE(options_message({"m.slf", "--until", "9", "--level", "nan"}).find("--level is finite"), std::string::npos);
  EXPECT_EQ(options_message({"m.slf", "--until", "9", "-f", "--json"}), "");
  EXPECT_NE(options_message({"m.slf", "--until", "9", "--quick"}).find("what is --quick?"), std::string::npos);
  const std::vector<const char*> help{"--help"};
  EXPECT_FALSE(parse_options(1, help.data()));
}

}  // namespace
}  // namespace octavo::shallow
