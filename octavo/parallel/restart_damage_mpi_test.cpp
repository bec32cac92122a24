#include <gmock/gmock.h>

#include <map>

#include "octavo/base/error.hpp"
#include "octavo/parallel/mpi_run.hpp"
#include "octavo/parallel/restart.hpp"
#include "octavo/parallel/writer.hpp"
#include "tests/support/store_fixture.hpp"

// A restart meets damage in each part of a segment, and files that end too early.
namespace octavo::parallel {
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
  fs::path file() const { return directory.path() / "checkpoint" / "000000002" / "data.000"; }
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

TEST(RestartMpi, a_flipped_bit_in_any_part_of_a_segment_is_named_and_the_step_before_is_taken) {
  const TwoSteps two;
  // Where: what the notes say beside the file.
  std::vector<std::pair<std::size_t, std::string>> places;
  std::vector<char> sound;
  if (rank() == 0) {
    sound = testing::file_bytes(two.file());
    // The head's own bytes, the only commit record, the table's first key, the footer's.
    places = {{3, "not a subfile"}, {512 + 20, "record"}, {place_of("fheader", two.file()), "table"}};
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
    EXPECT_EQ(start->id.step, 1);
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

}  // namespace
}  // namespace octavo::parallel
