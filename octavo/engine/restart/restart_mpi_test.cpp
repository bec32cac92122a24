#include <gmock/gmock.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <tuple>

#include "octavo/base/error.hpp"
#include "octavo/engine/restart/restart.hpp"
#include "octavo/engine/write/writer.hpp"
#include "octavo/file/posix.hpp"
#include "octavo/mesh/tree/refine.hpp"
#include "octavo/mesh/tree/split.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/mpi_run.hpp"

namespace octavo::engine {
namespace {

using base::Error;
using store::Flow;
using testing::barrier;
using testing::Domain;
using testing::everyone;
using testing::expect_same_everywhere;
using ::testing::HasSubstr;
using testing::make_domain;
using testing::message_of;
using testing::rank;
using testing::size;

void write_step(Writer& writer, MPI_Comm comm, Flow flow, std::int64_t step) {
  const Domain domain = make_domain(3, ranks::rank_in(comm), ranks::size_of(comm), step);
  writer.begin_step(flow, step, 0.25 * static_cast<double>(step));
  writer.put_mesh(domain.tree);
  writer.put_field("density", view_of(domain.density), "g/cm^3");
  writer.put_field("flag", view_of(domain.flag));
  for (std::size_t axis = 0; axis < 3; ++axis)
    writer.put_particles("stars", std::string("position_") + "xyz"[axis], view_of(domain.position[axis]));
  writer.put_particles("stars", "id", view_of(domain.id));
  writer.end_step();
}

Options options_for_tests(int contributors_per_file = 1) {
  Options options;
  options.mode = testing::single_threaded() ? Mode::sync : Mode::background;
  options.contributors_per_file = contributors_per_file;
  return options;
}

// The first `writers` ranks write.
void write_steps(const std::filesystem::path& store, int writers, const std::vector<std::int64_t>& steps,
                 int contributors_per_file = 1, std::optional<store::StepId> from = {}) {
  const ranks::OwnComm comm = ranks::split(everyone(), rank() < writers ? 0 : 1, rank());
  if (rank() < writers) {
    Writer writer(comm.get(), store, make_domain(3, 0, 1).header, options_for_tests(contributors_per_file), from);
    for (std::int64_t step : steps) write_step(writer, comm.get(), Flow::checkpoint, step);
    writer.close();
  }
  barrier();
}

// The data of the writers, as parts.
std::vector<mesh::Part> parts_written(int writers, std::int64_t step) {
  std::vector<mesh::Part> parts;
  for (int r = 0; r < writers; ++r) {
    const Domain domain = make_domain(3, r, writers, step);
    mesh::Part part;
    part.index = r;
    part.mesh = domain.tree;
    mesh::FieldInfo info;
    info.name = "density";
    info.unit = "g/cm^3";
    part.fields.push_back(mesh::make_field(info, domain.density.size()));
    std::copy(domain.density.begin(), domain.density.end(), part.fields[0].as<double>().begin());
    parts.push_back(std::move(part));
  }
  return parts;
}

std::uint64_t bits(double value) { return std::bit_cast<std::uint64_t>(value); }

// Values of owned cells by level and position, as bits.
using Cells = std::map<std::pair<int, mesh::Coordinate>, std::uint64_t>;
Cells owned_cells(const mesh::Part& part) {
  const auto& tree = std::get<mesh::Octree>(part.mesh);
  const auto values = part.fields[0].as<double>();
  Cells cells;
  auto coordinates = root_coordinates(tree);
  const auto offsets = level_offsets(tree);
  for (int level = 0; level < num_levels(tree); ++level) {
    const auto l = static_cast<std::size_t>(level);
    tree.owned[l].for_each_set([&](std::size_t i) { cells[{level, coordinates[i]}] = bits(values[offsets[l] + i]); });
    if (level + 1 < num_levels(tree)) coordinates = child_coordinates(tree, level, coordinates);
  }
  return cells;
}

std::size_t leaves_of(const mesh::Part& part) {
  const auto& tree = std::get<mesh::Octree>(part.mesh);
  std::size_t leaves = 0;
  for (int level = 0; level < num_levels(tree); ++level) leaves += num_owned_leaves(tree, level);
  return leaves;
}

// ------------------------------------------------------------------

TEST(RestartMpi, reads_into_memory_of_the_caller_what_it_else_holds_itself) {
  for (const int writers : {1, size()})
    for (const MeshKind as : {MeshKind::octree, MeshKind::patches}) {
      SCOPED_TRACE(writers);
      const testing::SharedDirectory directory;
      write_steps(directory.path(), writers, {5});
      RestartOptions options;
      options.as = as;
      const auto expected = restart(everyone(), directory.path(), options);
      std::vector<double> density;
      options.place = [&](const mesh::FieldInfo& field, std::size_t bytes) -> std::span<std::byte> {
        if (field.name != "density") return {};
        density.resize(bytes / sizeof(double));
        return std::as_writable_bytes(std::span(density));
      };
      const auto found = restart(everyone(), directory.path(), options);
      ASSERT_TRUE(expected && found);
      EXPECT_EQ(found->part.mesh, expected->part.mesh);
      EXPECT_TRUE(found->part.fields[0].bytes.empty());
      const auto values = expected->part.fields[0].as<double>();
      EXPECT_EQ(density, std::vector<double>(values.begin(), values.end()));
      EXPECT_EQ(found->part.fields[1], expected->part.fields[1]);
    }
}

// Footers, tables, meshes and values are read through one handle. Rank 0 opens the first file once more, to see what is
// there.
TEST(RestartMpi, a_rank_opens_each_file_once) {
  for (const auto& [writers, per_file, keep_parts] :
       {std::tuple{1, 1, true}, {size(), 1, true}, {size(), 1, false}, {size(), 2, false}}) {
    SCOPED_TRACE(std::to_string(writers) + " parts, " + std::to_string(per_file) + " a file");
    const testing::SharedDirectory directory;
    write_steps(directory.path(), writers, {5}, per_file);
    RestartOptions options;
    options.keep_parts = keep_parts;
    std::map<std::string, int> opens;
    file::set_observer([&](const file::Event& event) {
      const std::string name = event.path.filename().string();
      if (event.operation == file::Operation::open && name.starts_with("data.")) ++opens[name];
      return file::Verdict{};
    });
    const auto from = restart(everyone(), directory.path(), options);
    file::set_observer({});
    ASSERT_TRUE(from);
    EXPECT_TRUE(writers < size() || !opens.empty());
    for (const auto& [name, count] : opens) EXPECT_EQ(count, rank() == 0 && name == "data.000" ? 2 : 1) << name;
    barrier();
  }
}

TEST(RestartMpi, refuses_memory_of_another_size_on_all_ranks) {
  const testing::SharedDirectory directory;
  write_steps(directory.path(), size(), {5});
  std::vector<double> memory(1 << 16);
  RestartOptions options;
  options.place = [&](const mesh::FieldInfo&, std::size_t bytes) {
    const std::size_t wrong = rank() == size() - 1 ? 8 : 0;
    return std::as_writable_bytes(std::span(memory)).first(bytes + wrong);
  };
  const std::string message = message_of([&] { (void)restart(everyone(), directory.path(), options); });
  EXPECT_THAT(message, HasSubstr("memory for a field: expected"));
  expect_same_everywhere(message);
}

TEST(RestartMpi, any_number_of_ranks_gets_equal_shares_bit_for_bit_whoever_wrote) {
  for (int writers = 1; writers <= size(); ++writers)
    for (mesh::Curve curve : {mesh::Curve::hilbert, mesh::Curve::morton}) {
      SCOPED_TRACE(writers);
      const testing::SharedDirectory directory;
      write_steps(directory.path(), writers, {5}, 1 + writers % 3);
      RestartOptions options;
      options.curve = curve;
      options.keep_parts = false;
      const auto restarted = restart(everyone(), directory.path(), options);
      ASSERT_TRUE(restarted);
      EXPECT_EQ(restarted->id.step, 5);
      EXPECT_EQ(restarted->header.time, 1.25);
      EXPECT_EQ(restarted->part.index, rank());
      validate(std::get<mesh::Octree>(restarted->part.mesh));
      // The result is the same as with all parts in one memory.
      const auto parts = parts_written(writers, 5);
      const auto plan = mesh::plan_split(parts, size(), curve);
      const auto expected = mesh::split(parts, plan)[static_cast<std::size_t>(rank())];
      EXPECT_EQ(std::get<mesh::Octree>(restarted->part.mesh), std::get<mesh::Octree>(expected.mesh));
      EXPECT_EQ(owned_cells(restarted->part), owned_cells(expected));
      std::vector<std::int64_t> ids;
      for (int r = 0; r < writers; ++r) {
        const Domain domain = make_domain(3, r, writers, 5);
        mesh::Particles particles{"stars", static_cast<std::int64_t>(domain.id.size()), {}};
        for (std::size_t axis = 0; axis < 3; ++axis) {
          mesh::FieldInfo info;
          info.name = std::string("position_") + "xyz"[axis];
          particles.attributes.push_back(mesh::make_field(info, domain.id.size()));
          std::ranges::copy(domain.position[axis], particles.attributes.back().as<double>().begin());
        }
        mesh::FieldInfo info;
        info.name = "id";
        info.type = mesh::ScalarType::int64;
        particles.attributes.push_back(mesh::make_field(info, domain.id.size()));
        std::ranges::copy(domain.id, particles.attributes.back().as<std::int64_t>().begin());
        const auto mine = split_particles(particles, restarted->header, plan)[static_cast<std::size_t>(rank())];
        std::ranges::copy(mine.attributes[3].as<std::int64_t>(), std::back_inserter(ids));
      }
      ASSERT_EQ(restarted->part.particles.size(), 1u);
      const mesh::Particles& stars = restarted->part.particles[0];
      ASSERT_EQ(stars.count, static_cast<std::int64_t>(ids.size()));
      EXPECT_TRUE(std::ranges::equal(stars.attributes[3].as<std::int64_t>(), ids));
    }
}

TEST(RestartMpi, particles_without_positions_stay_in_order_and_each_rank_gets_as_many) {
  for (int writers = 1; writers <= size(); ++writers) {
    SCOPED_TRACE(writers);
    const testing::SharedDirectory directory;
    const ranks::OwnComm comm = ranks::split(everyone(), rank() < writers ? 0 : 1, rank());
    if (rank() < writers) {
      const Domain domain = make_domain(3, rank(), writers, 5);
      Writer writer(comm.get(), directory.path(), domain.header, options_for_tests());
      writer.begin_step(Flow::checkpoint, 5, 0);
      writer.put_mesh(domain.tree);
      writer.put_field("density", view_of(domain.density));
      writer.put_particles("tracers", "id", view_of(domain.id));
      writer.put_particles("tracers", "position_x", view_of(domain.position[0]));  // of three
      writer.end_step();
      writer.close();
    }
    barrier();
    std::vector<std::int64_t> all;
    for (int r = 0; r < writers; ++r) std::ranges::copy(make_domain(3, r, writers, 5).id, std::back_inserter(all));
    const auto restarted = restart(everyone(), directory.path(), {.keep_parts = false});
    ASSERT_TRUE(restarted);
    ASSERT_EQ(restarted->part.particles.size(), 1u);
    const mesh::Particles& mine = restarted->part.particles[0];
    const std::size_t ranks = static_cast<std::size_t>(size()), me = static_cast<std::size_t>(rank());
    const std::size_t begin = all.size() * me / ranks, end = all.size() * (me + 1) / ranks;
    EXPECT_EQ(mine.count, static_cast<std::int64_t>(end - begin));
    EXPECT_TRUE(
        std::ranges::equal(mine.attributes.at(0).as<std::int64_t>(), std::span(all).subspan(begin, end - begin)));
  }
}

TEST(RestartMpi, shares_differ_by_one_leaf_at_most_and_make_the_whole) {
  const testing::SharedDirectory directory;
  write_steps(directory.path(), 1, {5});
  const auto restarted = restart(everyone(), directory.path(), {.keep_parts = false});
  auto least = static_cast<unsigned long long>(leaves_of(restarted->part)), most = least, all = least;
  MPI_Allreduce(MPI_IN_PLACE, &least, 1, MPI_UNSIGNED_LONG_LONG, MPI_MIN, everyone());
  MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_UNSIGNED_LONG_LONG, MPI_MAX, everyone());
  MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_UNSIGNED_LONG_LONG, MPI_SUM, everyone());
  EXPECT_LE(most - least, 1u);
  EXPECT_EQ(all, leaves_of(parts_written(1, 5)[0]));
}

// The cells of all ranks.
Cells gather_cells(const Cells& mine) {
  std::string text(mine.size() * 5 * sizeof(std::uint64_t), '\0');
  std::size_t at = 0;
  for (const auto& [key, bits] : mine) {
    const std::uint64_t words[] = {static_cast<std::uint64_t>(key.first), key.second[0], key.second[1], key.second[2],
                                   bits};
    std::memcpy(text.data() + at, words, sizeof words);
    at += sizeof words;
  }
  Cells all;
  for (const std::string& other : ranks::ranks_of(everyone()).all_gather(text))
    for (std::size_t i = 0; i < other.size(); i += 5 * sizeof(std::uint64_t)) {
      std::uint64_t words[5];
      std::memcpy(words, other.data() + i, sizeof words);
      const mesh::Coordinate place{static_cast<std::uint32_t>(words[1]), static_cast<std::uint32_t>(words[2]),
                                   static_cast<std::uint32_t>(words[3])};
      EXPECT_TRUE(all.try_emplace({static_cast<int>(words[0]), place}, words[4]).second) << "owned twice";
    }
  return all;
}

TEST(RestartMpi, a_finer_mesh_is_that_of_the_whole_refined_on_any_number_of_ranks) {
  for (int writers = 1; writers <= size(); ++writers)
    for (const bool keep : {false, true}) {
      const testing::SharedDirectory directory;
      write_steps(directory.path(), writers, {5});
      RestartOptions options;
      options.refine = 2;
      options.keep_parts = keep;
      options.fields = {{"density"}};
      const auto restarted = restart(everyone(), directory.path(), options);
      ASSERT_TRUE(restarted);
      validate(std::get<mesh::Octree>(restarted->part.mesh));
      mesh::Part expected = mesh::merge(parts_written(writers, 5));
      mesh::FillOptions how;
      how.periodic = restarted->header.periodic;
      for (int time = 0; time < 2; ++time) {
        const int finest = num_levels(std::get<mesh::Octree>(expected.mesh)) - 1;
        expected = mesh::refine_leaves(expected, how,
                                       [finest](int level, const mesh::Coordinate&) { return level == finest; });
      }
      EXPECT_EQ(gather_cells(owned_cells(restarted->part)), owned_cells(expected));
      std::vector<std::size_t> leaves;
      for (const std::string& text : ranks::ranks_of(everyone()).all_gather(std::to_string(leaves_of(restarted->part))))
        leaves.push_back(std::stoul(text));
      // Shares are equal to within the 64 leaves that one leaf has become.
      if (!keep || writers != size()) {
        const auto [least, most] = std::ranges::minmax(leaves);
        EXPECT_LT(most - least, 128u);
      }
      ASSERT_EQ(restarted->part.particles.size(), 1u);
    }
}

TEST(RestartMpi, shares_in_other_blocks_have_the_same_cells) {
  const testing::SharedDirectory directory;
  write_steps(directory.path(), std::max(1, size() - 1), {5});
  RestartOptions options;
  options.block = mesh::Index3{2, 2, 2};
  options.fill = true;
  options.fields = {{"density"}};
  const auto restarted = restart(everyone(), directory.path(), options);
  ASSERT_TRUE(restarted);
  EXPECT_EQ(restarted->header.block, (mesh::Index3{2, 2, 2}));
  const auto& tree = std::get<mesh::Octree>(restarted->part.mesh);
  EXPECT_EQ(tree.block, (mesh::Index3{2, 2, 2}));
  EXPECT_EQ(restarted->part.fields[0].size(), num_cells(tree) * 8);
  // Every cell of the step is there exactly once, on any rank.
  Cells mine;
  auto at = root_coordinates(tree);
  const auto offsets = level_offsets(tree);
  const auto values = restarted->part.fields[0].as<double>();
  const std::int64_t base = restarted->header.roots[0] * 2;
  for (int level = 0; level < num_levels(tree); ++level) {
    if (level > 0) at = child_coordinates(tree, level - 1, at);
    const auto l = static_cast<std::size_t>(level);
    tree.owned[l].for_each_set([&](std::size_t i) {
      for (std::uint32_t c = 0; c < 8; ++c)
        mine[{static_cast<int>(base << level),
              {2 * at[i][0] + (c & 1), 2 * at[i][1] + (c >> 1 & 1), 2 * at[i][2] + (c >> 2)}}] =
            bits(values[8 * (offsets[l] + i) + c]);
    });
  }
  const Cells all = gather_cells(mine);
  const mesh::Part whole = mesh::merge(parts_written(std::max(1, size() - 1), 5));
  std::size_t found = 0;
  for (const auto& [key, value] : owned_cells(whole)) {
    const auto cell =
        all.find({static_cast<int>(std::get<mesh::Octree>(whole.mesh).roots[0] << key.first), key.second});
    // Levels above the new roots are gone.
    if (cell == all.end()) continue;
    EXPECT_EQ(cell->second, value);
    ++found;
  }
  EXPECT_GT(found, owned_cells(whole).size() / 2);
  EXPECT_EQ(restarted->part.particles.size(), 1u);
  EXPECT_THAT(message_of([&] {
                options.refine = 1;
                restart(everyone(), directory.path(), options);
              }),
              HasSubstr("do not go together"));
}

TEST(RestartMpi, as_many_ranks_as_before_get_their_own_parts) {
  const testing::SharedDirectory directory;
  write_steps(directory.path(), size(), {5}, 2);
  const auto restarted = restart(everyone(), directory.path());
  const Domain domain = make_domain(3, rank(), size(), 5);
  EXPECT_EQ(std::get<mesh::Octree>(restarted->part.mesh), domain.tree);
  EXPECT_TRUE(std::ranges::equal(restarted->part.fields[0].as<double>(), domain.density));
  EXPECT_TRUE(std::ranges::equal(restarted->part.fields[1].as<std::int32_t>(), domain.flag));
  EXPECT_TRUE(std::ranges::equal(restarted->part.particles[0].attributes[3].as<std::int64_t>(), domain.id));
}

TEST(RestartMpi, only_the_fields_asked_for_are_read) {
  const testing::SharedDirectory directory;
  write_steps(directory.path(), 1, {5});
  RestartOptions options;
  options.fields = {{"flag"}};
  options.particles = false;
  const auto restarted = restart(everyone(), directory.path(), options);
  ASSERT_EQ(restarted->part.fields.size(), 1u);
  EXPECT_EQ(restarted->part.fields[0].info.name, "flag");
  EXPECT_TRUE(restarted->part.particles.empty());
  options.fields = {{"densty"}};
  const std::string message = message_of([&] { restart(everyone(), directory.path(), options); });
  EXPECT_THAT(message, HasSubstr("densty"));
  expect_same_everywhere(message);
}

TEST(RestartMpi, with_fewer_leaves_than_ranks_some_get_none) {
  const testing::SharedDirectory directory;
  mesh::Header header;
  const mesh::Octree tree{.refined = {base::BitArray(1)}, .owned = {base::BitArray(1, true)}};
  const std::vector<double> value{42.0};
  const ranks::OwnComm comm = ranks::split(everyone(), rank() == 0 ? 0 : 1, 0);
  if (rank() == 0) {
    Writer writer(comm.get(), directory.path(), header, options_for_tests());
    writer.begin_step(Flow::checkpoint, 1, 0);
    writer.put_mesh(tree);
    writer.put_field("density", view_of(value));
    writer.end_step();
    writer.close();
  }
  barrier();
  const auto restarted = restart(everyone(), directory.path());
  validate(std::get<mesh::Octree>(restarted->part.mesh));
  auto leaves = static_cast<int>(leaves_of(restarted->part));
  EXPECT_LE(leaves, 1);
  if (leaves == 1) {
    EXPECT_EQ(restarted->part.fields[0].as<double>()[0], 42.0);
  }
  MPI_Allreduce(MPI_IN_PLACE, &leaves, 1, MPI_INT, MPI_SUM, everyone());
  EXPECT_EQ(leaves, 1);
  ASSERT_EQ(restarted->part.fields.size(), 1u);
  EXPECT_EQ(restarted->part.fields[0].info.name, "density");
}

TEST(RestartMpi, a_first_start_finds_nothing) {
  const testing::SharedDirectory directory;
  EXPECT_FALSE(restart(everyone(), directory.path() / "run.octavo"));
  // Only the other flow has a step.
  Writer writer(everyone(), directory.path() / "run.octavo", make_domain(3, 0, 1).header, options_for_tests());
  write_step(writer, everyone(), Flow::analysis, 1);
  writer.close();
  barrier();
  EXPECT_FALSE(restart(everyone(), directory.path() / "run.octavo"));
  RestartOptions options;
  options.step = 3;
  const std::string message = message_of([&] { restart(everyone(), directory.path() / "run.octavo", options); });
  EXPECT_THAT(message, HasSubstr("there is no complete checkpoint step 3"));
  expect_same_everywhere(message);
}

TEST(RestartMpi, an_incomplete_step_is_passed_over_by_all) {
  const testing::SharedDirectory directory;
  write_steps(directory.path(), size(), {5, 6});
  if (rank() == 0) {
    const auto streams = store::list_streams(directory.path(), Flow::checkpoint, 6);
    std::filesystem::resize_file(streams.back().file, 4096);
  }
  barrier();
  EXPECT_EQ(restart(everyone(), directory.path())->id.step, 5);
}

void flip_a_bit_of(const std::filesystem::path& store, std::int64_t step, const std::string& field) {
  if (rank() == 0)
    for (const auto& stream : store::list_streams(store, Flow::checkpoint, step))
      if (stream.field == field && stream.stored_bytes > 0) {
        // The last byte is of values, whichever codec the step got by its cost.
        const auto place = static_cast<std::streamoff>(stream.offset + stream.stored_bytes - 1);
        std::fstream file(stream.file, std::ios::in | std::ios::out | std::ios::binary);
        file.seekg(place);
        const int byte = file.get();
        file.seekp(place);
        file.put(static_cast<char>(byte ^ 16));
        break;
      }
  barrier();
}

TEST(RestartMpi, damage_on_one_rank_makes_all_take_the_older_step_and_is_named) {
  for (bool keep_parts : {true, false})
    for (const char* field : {"density", "stars/id", "?"}) {
      SCOPED_TRACE(field);
      const testing::SharedDirectory directory;
      // Not every rank has particles. We take the first rank that has some.
      write_steps(directory.path(), size(), {5, 6});
      flip_a_bit_of(directory.path(), 6, field);
      RestartOptions options;
      options.keep_parts = keep_parts;
      const auto restarted = restart(everyone(), directory.path(), options);
      ASSERT_TRUE(restarted);
      EXPECT_EQ(restarted->id.step, 5);
      ASSERT_FALSE(restarted->notes.empty());
      const std::string note = restarted->notes.back();
      EXPECT_THAT(note, HasSubstr("passed over: "));
      EXPECT_THAT(note, HasSubstr("data.0"));
      EXPECT_THAT(note, HasSubstr("part "));
      if (field[0] != '?') {
        EXPECT_THAT(note, HasSubstr(field));
      }
      expect_same_everywhere(note);
      options.step = 6;
      const std::string message = message_of([&] { restart(everyone(), directory.path(), options); });
      EXPECT_THAT(message, ::testing::AllOf(HasSubstr("checksum"), HasSubstr("differs")));
      expect_same_everywhere(message);
    }
}

TEST(RestartMpi, where_all_steps_are_damaged_all_ranks_are_told_what) {
  const testing::SharedDirectory directory;
  write_steps(directory.path(), size(), {5, 6});
  flip_a_bit_of(directory.path(), 5, "density");
  flip_a_bit_of(directory.path(), 6, "density");
  const std::string message = message_of([&] { restart(everyone(), directory.path()); });
  EXPECT_THAT(message, HasSubstr("no undamaged checkpoint step is left"));
  EXPECT_THAT(message, HasSubstr("field density"));
  expect_same_everywhere(message);
}

TEST(RestartMpi, a_run_goes_on_from_an_older_step_on_another_number_of_ranks) {
  const testing::SharedDirectory directory;
  write_steps(directory.path(), size(), {5, 6, 7});
  const auto from = restart(everyone(), directory.path(), {.step = 5});
  const int fewer = (size() + 1) / 2;
  write_steps(directory.path(), fewer, {6}, 0, from->id);
  const auto again = restart(everyone(), directory.path());
  EXPECT_EQ(again->id.step, 6);
  EXPECT_NE(again->id.attempt, from->id.attempt);
  auto leaves = static_cast<unsigned long long>(leaves_of(again->part));
  MPI_Allreduce(MPI_IN_PLACE, &leaves, 1, MPI_UNSIGNED_LONG_LONG, MPI_SUM, everyone());
  EXPECT_EQ(leaves, leaves_of(parts_written(1, 6)[0]));
}

}  // namespace
}  // namespace octavo::engine
