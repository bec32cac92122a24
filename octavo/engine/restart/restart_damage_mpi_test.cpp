#include <gmock/gmock.h>

#include <map>

#include "octavo/base/error.hpp"
#include "octavo/engine/restart/restart.hpp"
#include "octavo/engine/write/writer.hpp"
#include "octavo/store/read/scan.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/mpi_run.hpp"
#include "tests/support/store_fixture.hpp"

// A restart meets damage in each part of a segment, and files that end too early.
namespace octavo::engine {
namespace {

namespace fs = std::filesystem;
using store::Flow;
using testing::everyone;
using ::testing::HasSubstr;
using testing::rank;
using testing::size;

struct TwoSteps {
  TwoSteps() {
    Options options;
    options.mode = Mode::sync;
    options.contributors_per_file = 2;
    Writer writer(everyone(), directory.path(), testing::make_domain(3, 0, 1).header, options);
    for (std::int64_t step : {1, 2}) {
      const testing::Domain domain = testing::make_domain(3, rank(), size(), step);
      writer.begin_step(Flow::checkpoint, step, 0);
      writer.put_mesh(domain.tree);
      writer.put_field("density", view_of(domain.density));
      writer.put_particles("stars", "id", view_of(domain.id));
      writer.end_step();
    }
    writer.close();
    if (rank() == 0)
      for (const auto& stream : store::list_streams(directory.path(), Flow::checkpoint, 2))
        if (stream.file.filename() == "data.000") streams.push_back(stream);
    MPI_Barrier(everyone());
  }
  fs::path file() const { return store::directory_of(directory.path(), Flow::checkpoint, 2) / "data.000"; }
  testing::SharedDirectory directory;
  std::vector<store::StreamInfo> streams;  // on rank 0: of the newer step's first file
};

// On rank 0.
void flip(const fs::path& path, std::size_t byte) {
  auto bytes = testing::file_bytes(path);
  bytes.at(byte) = static_cast<char>(bytes.at(byte) ^ 8);
  testing::write_file(path, bytes);
}

// Whichever step it took has the right values.
std::optional<Restart> restart_rightly(const TwoSteps& two) {
  MPI_Barrier(everyone());
  auto start = restart(everyone(), two.directory.path());
  EXPECT_TRUE(start);
  if (start) {
    EXPECT_TRUE(std::ranges::equal(start->part.fields[0].as<double>(),
                                   testing::make_domain(3, rank(), size(), start->id.step).density));
  }
  MPI_Barrier(everyone());
  return start;
}

std::size_t place_of(const std::string& text, const fs::path& path) {
  const auto bytes = testing::file_bytes(path);
  const auto at = std::find_end(bytes.begin(), bytes.end(), text.begin(), text.end());
  return static_cast<std::size_t>(at - bytes.begin());
}

TEST(RestartMpi, a_flipped_bit_in_any_part_of_a_segment_is_named_and_a_sound_step_is_taken) {
  const TwoSteps two;
  // The place that the notes name, besides the file.
  std::vector<std::pair<std::size_t, std::string>> places;
  std::vector<char> sound;
  if (rank() == 0) {
    sound = testing::file_bytes(two.file());
    // The head's own bytes, one of two commit records, the table's first key, the footer's.
    places = {{3, "not a subfile"}, {4096 + 20, "record"}, {place_of("fheader", two.file()), "table"}};
    places.emplace_back(place_of("dfile", two.file()), "footer");
    for (const auto& stream : two.streams)
      if (stream.stored_bytes > 0 && stream.part == 0)
        places.emplace_back(stream.offset + stream.stored_bytes / 2, stream.field.size() > 1 ? stream.field : "part 0");
  }
  auto count = static_cast<int>(places.size());
  MPI_Bcast(&count, 1, MPI_INT, 0, everyone());
  for (int i = 0; i < count; ++i) {
    if (rank() == 0) flip(two.file(), places[static_cast<std::size_t>(i)].first);
    const auto start = restart_rightly(two);
    ASSERT_TRUE(start);
    // The first two flips cost no step: record and footer repeat what the head says, and there are two records.
    EXPECT_EQ(start->id.step, i <= 1 ? 2 : 1);
    std::string notes;
    for (const std::string& note : start->notes) notes += note + "\n";
    if (rank() == 0) {
      EXPECT_THAT(notes, HasSubstr(two.file().string()));
      EXPECT_THAT(notes, HasSubstr(places[static_cast<std::size_t>(i)].second));
      testing::write_file(two.file(), sound);
    }
  }
  EXPECT_EQ(restart_rightly(two)->id.step, 2);
}

TEST(RestartMpi, a_file_that_ends_anywhere_gives_way_to_the_step_before) {
  const TwoSteps two;
  std::vector<char> sound;
  std::vector<std::size_t> ends;
  if (rank() == 0) {
    sound = testing::file_bytes(two.file());
    for (std::size_t end = 0; end < sound.size(); end += 4096) ends.push_back(end);
    const std::size_t footer = place_of("dfile", two.file());
    for (std::size_t end : {footer - 9, footer - 1, footer, footer + 1, sound.size() - 9}) ends.push_back(end);
  }
  auto count = static_cast<int>(ends.size());
  MPI_Bcast(&count, 1, MPI_INT, 0, everyone());
  for (int i = 0; i < count; ++i) {
    if (rank() == 0) fs::resize_file(two.file(), ends[static_cast<std::size_t>(i)]);
    const auto start = restart_rightly(two);
    ASSERT_TRUE(start);
    EXPECT_EQ(start->id.step, 1);
    if (rank() == 0) testing::write_file(two.file(), sound);
  }
}

// Four steps in files that follow one another, or in one directory, of which the last is left.
void write_four(const fs::path& store, bool append) {
  Options options;
  options.mode = Mode::sync;
  options.contributors_per_file = 1;
  options.append_checkpoint = append;
  options.keep_last = append ? 0 : 1;
  options.recycle = false;
  Writer writer(everyone(), store, testing::make_domain(3, 0, 1).header, options);
  for (std::int64_t step = 1; step <= 4; ++step) {
    const testing::Domain domain = testing::make_domain(3, rank(), size(), step);
    writer.begin_step(Flow::checkpoint, step, 0);
    writer.put_mesh(domain.tree);
    writer.put_field("density", view_of(domain.density));
    writer.end_step();
  }
  writer.close();
  MPI_Barrier(everyone());
}

std::string message_of_restart(const fs::path& store) {
  MPI_Barrier(everyone());
  return testing::message_of([&] {
    if (!restart(everyone(), store)) throw base::Error(base::Kind::usage, "a first start");
  });
}

TEST(RestartMpi, a_store_that_had_a_durable_step_and_lost_all_is_never_a_first_start) {
  for (bool append : {true, false}) {
    SCOPED_TRACE(append);
    const testing::SharedDirectory directory;
    const fs::path store = directory.path() / "s";
    write_four(store, append);
    const fs::path files = store / "checkpoint" / (append ? "." : "000000004");
    const fs::path last = files / store::subfile_name(size() - 1);
    const auto sound = rank() == 0 ? testing::file_bytes(last) : std::vector<char>{};
    for (std::uintmax_t length : {0u, 4095u, 4096u}) {
      if (rank() == 0) fs::resize_file(last, length);
      const std::string message = message_of_restart(store);
      EXPECT_THAT(message, HasSubstr("no undamaged checkpoint step is left")) << length;
      testing::expect_same_everywhere(message);
      if (rank() == 0) testing::write_file(last, sound);
    }
    MPI_Barrier(everyone());
    EXPECT_EQ(restart(everyone(), store)->id.step, 4);
    MPI_Barrier(everyone());
    if (rank() == 0) fs::remove(last);
    EXPECT_THAT(message_of_restart(store), HasSubstr("no undamaged checkpoint step is left"));
    // A mark that was torn is one.
    if (rank() == 0) fs::resize_file(store / "checkpoint.durable", 0);
    EXPECT_THAT(message_of_restart(store), HasSubstr("checkpoint.durable"));
    if (rank() == 0) fs::remove_all(store / "checkpoint");
    EXPECT_THAT(message_of_restart(store), HasSubstr("no undamaged checkpoint step is left"));
    // If the mark is removed as well, the steps are given up.
    if (rank() == 0) fs::remove(store / "checkpoint.durable");
    EXPECT_THAT(message_of_restart(store), HasSubstr("a first start"));
  }
}

TEST(RestartMpi, a_flow_without_durable_steps_is_a_first_start_whatever_the_other_has) {
  const testing::SharedDirectory directory;
  const fs::path store = directory.path() / "s";
  write_four(store, true);
  RestartOptions options;
  options.flow = Flow::analysis;
  EXPECT_FALSE(restart(everyone(), store, options));
}

}  // namespace
}  // namespace octavo::engine
