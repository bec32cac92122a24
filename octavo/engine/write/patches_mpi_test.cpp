#include <gmock/gmock.h>

#include <map>

#include "octavo/base/error.hpp"
#include "octavo/engine/restart/restart.hpp"
#include "octavo/engine/write/writer.hpp"
#include "octavo/mesh/boxes.hpp"
#include "octavo/mesh/patches/patches_to_octree.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/mpi_run.hpp"
#include "tests/support/random_patches.hpp"

namespace octavo::engine {
namespace {

using base::Error;
using mesh::IndexBox;
using mesh::Patches;
using store::Flow;
using testing::CellValues;
using testing::everyone;
using ::testing::HasSubstr;
using testing::RandomPatches;
using testing::rank;
using testing::size;

Options options_for_patches() {
  Options options;
  options.mode = testing::single_threaded() ? Mode::sync : Mode::background;
  return options;
}

RandomPatches make(std::uint64_t seed) {
  return testing::random_patches(seed, {.keep_covered = true, .blocks = seed % 2 == 1});
}
const Patches& patches_of(const mesh::Part& part) { return std::get<Patches>(part.mesh); }

mesh::Header header_for(const RandomPatches& made) {
  const Patches& patches = patches_of(made.part);
  const mesh::PatchTree tree = plan_patch_tree(patches, made.unfolded, made.block);
  mesh::Header header;
  header.code = "test";
  header.dim = patches.dim;
  header.roots = tree.roots;
  header.block = tree.block;
  header.unfolded = tree.unfolded;
  for (std::size_t axis = 0; axis < 3; ++axis) header.hi[axis] = static_cast<double>(tree.roots[axis]);
  return header;
}

// The n-th box of all is one of rank n % writers.
mesh::Part mine_of(const RandomPatches& made, int writer, int writers) {
  mesh::Part part;
  Patches patches = patches_of(made.part);
  mesh::Field field{made.part.fields[0].info, {}};
  std::size_t n = 0, first = 0;
  for (auto& boxes : patches.boxes) {
    std::vector<IndexBox> kept;
    for (const IndexBox& box : boxes) {
      const auto bytes = static_cast<std::size_t>(num_cells(box, patches.dim)) * sizeof(double);
      const auto from = made.part.fields[0].bytes.begin() + static_cast<std::ptrdiff_t>(first);
      if (static_cast<int>(n++ % static_cast<std::size_t>(writers)) == writer) {
        kept.push_back(box);
        field.bytes.insert(field.bytes.end(), from, from + static_cast<std::ptrdiff_t>(bytes));
      }
      first += bytes;
    }
    boxes = kept;
  }
  part.mesh = std::move(patches);
  part.fields.push_back(std::move(field));
  return part;
}

// Views of each box on a copy with `ghost` cells around it, as a code has it.
struct Ghosted {
  std::vector<std::vector<double>> memory;
  std::vector<ArrayView> views;
};
Ghosted with_ghosts(const mesh::Part& part, int ghost) {
  Ghosted out;
  const double* from = part.fields[0].as<double>().data();
  const Patches& patches = patches_of(part);
  for (const auto& boxes : patches.boxes)
    for (const IndexBox& box : boxes) {
      ArrayView view;
      view.cells = 1;
      view.ghost = ghost;
      const IndexBox cells = flat(box, patches.dim);
      std::array<std::int64_t, 3> all{};
      for (std::size_t a = 0; a < 3; ++a) {
        view.block[a] = cells.hi[a] - cells.lo[a];
        all[a] = view.block[a] + (view.block[a] > 1 ? 2 * ghost : 0);
      }
      std::vector<double> memory(static_cast<std::size_t>(all[0] * all[1] * all[2]), -1e300);
      for (std::int64_t z = 0; z < view.block[2]; ++z)
        for (std::int64_t y = 0; y < view.block[1]; ++y)
          for (std::int64_t x = 0; x < view.block[0]; ++x) {
            const std::int64_t gz = z + (view.block[2] > 1 ? ghost : 0), gy = y + (view.block[1] > 1 ? ghost : 0);
            const std::int64_t gx = x + (view.block[0] > 1 ? ghost : 0);
            memory[static_cast<std::size_t>((gz * all[1] + gy) * all[0] + gx)] = *from++;
          }
      out.memory.push_back(std::move(memory));
      view.data = out.memory.back().data();
      out.views.push_back(view);
    }
  return out;
}

std::string bytes_of_writer(int writer) { return "of rank " + std::to_string(writer); }

void write(const std::filesystem::path& store, const RandomPatches& made, int writers) {
  const ranks::OwnComm comm = ranks::split(everyone(), rank() < writers ? 0 : 1, rank());
  if (rank() < writers) {
    Writer writer(comm.get(), store, header_for(made), options_for_patches());
    const mesh::Part mine = mine_of(made, rank(), writers);
    const Ghosted ghosted = with_ghosts(mine, 2);
    writer.begin_step(Flow::checkpoint, 3, 1.5);
    writer.put_mesh(patches_of(mine));
    writer.put_field("density", view_of(mine.fields[0].as<double>()));
    writer.put_field("ghosted", ghosted.views);
    const std::string bytes = bytes_of_writer(rank());
    writer.put_bytes("own", std::as_bytes(std::span(bytes)));
    writer.end_step();
    writer.close();
  }
  MPI_Barrier(everyone());
}

// Adds what a rank has, value by value.
void collect(const mesh::Part& part, std::size_t field, CellValues& values) {
  const double* from = part.fields[field].as<double>().data();
  const Patches& patches = patches_of(part);
  for (std::size_t level = 0; level < patches.boxes.size(); ++level)
    for (const IndexBox& box : patches.boxes[level])
      for_each_row(flat(box, patches.dim), [&](const mesh::Index3& at, std::int64_t length) {
        for (std::int64_t x = 0; x < length; ++x)
          values[{static_cast<std::int64_t>(level), at[0] + x, at[1], at[2]}] = *from++;
      });
}

CellValues of_all_ranks(const CellValues& mine) {
  std::string text;
  for (const auto& [key, value] : mine) {
    text.append(reinterpret_cast<const char*>(key.data()), sizeof key);
    text.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  CellValues all;
  std::size_t count = 0;
  constexpr std::size_t width = sizeof(testing::CellKey) + sizeof(double);
  for (const std::string& other : ranks::ranks_of(everyone()).all_gather(text))
    for (std::size_t at = 0; at < other.size(); at += width, ++count) {
      testing::CellKey key;
      double value = 0;
      std::memcpy(key.data(), other.data() + at, sizeof key);
      std::memcpy(&value, other.data() + at + sizeof key, sizeof value);
      all[key] = value;
    }
  EXPECT_EQ(all.size(), count) << "a cell is with two ranks";
  return all;
}

TEST(PatchesMpi, the_bytes_of_a_rank_with_boxes_come_back) {
  for (int writers = 1; writers <= size(); ++writers) {
    const testing::SharedDirectory directory;
    write(directory.path(), make(1), writers);
    RestartOptions options;
    options.as = MeshKind::patches;
    options.opaque = true;
    const auto from = restart(everyone(), directory.path(), options);
    ASSERT_TRUE(from);
    int found = 0;
    for (const auto& [part, named] : from->opaque)
      if (part % size() == rank()) {
        const auto& bytes = named.at("own");
        EXPECT_EQ(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()), bytes_of_writer(part));
        ++found;
      }
    MPI_Allreduce(MPI_IN_PLACE, &found, 1, MPI_INT, MPI_SUM, everyone());
    EXPECT_EQ(found, writers);
  }
}

TEST(PatchesMpi, bytes_that_are_dealt_out_come_to_one_rank_each) {
  for (int writers = 1; writers <= size(); ++writers) {
    const testing::SharedDirectory directory;
    write(directory.path(), make(1), writers);
    RestartOptions options;
    options.opaque = true;
    options.opaque_dealt = "ow";
    const auto from = restart(everyone(), directory.path(), options);
    ASSERT_TRUE(from);
    std::vector<int> times(static_cast<std::size_t>(writers));
    for (const auto& [part, named] : from->opaque) {
      const auto& bytes = named.at("own");
      EXPECT_EQ(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()), bytes_of_writer(part));
      ++times.at(static_cast<std::size_t>(part));
    }
    MPI_Allreduce(MPI_IN_PLACE, times.data(), writers, MPI_INT, MPI_SUM, everyone());
    EXPECT_EQ(times, std::vector<int>(static_cast<std::size_t>(writers), 1));
  }
}

TEST(PatchesMpi, boxes_written_by_some_ranks_are_restarted_on_others_bit_for_bit) {
  for (int writers = 1; writers <= size(); ++writers)
    for (std::uint64_t seed = 0; seed < 6; ++seed)
      for (bool keep : {false, true}) {
        SCOPED_TRACE(seed);
        const testing::SharedDirectory directory;
        const RandomPatches made = make(seed);
        write(directory.path(), made, writers);
        RestartOptions options;
        options.as = MeshKind::patches;
        options.max_box = 1 + static_cast<std::int64_t>(seed % 5);
        options.keep_parts = keep;
        const auto from = restart(everyone(), directory.path(), options);
        ASSERT_TRUE(from);
        EXPECT_EQ(patches_of(from->part).domain, patches_of(made.part).domain);
        EXPECT_EQ(patches_of(from->part).ratio, patches_of(made.part).ratio);
        validate(patches_of(from->part));
        for (std::size_t field = 0; field < 2; ++field) {
          CellValues mine;
          collect(from->part, field, mine);
          const CellValues all = of_all_ranks(mine);
          for (const auto& [key, value] : made.values) ASSERT_EQ(all.at(key), value);
          EXPECT_EQ(all.size(), made.values.size());
        }
      }
}

TEST(PatchesMpi, what_was_restarted_can_be_written_again_and_is_the_same) {
  const testing::SharedDirectory directory;
  const RandomPatches made = make(11);
  write(directory.path() / "a", made, size());
  RestartOptions options;
  options.as = MeshKind::patches;
  options.keep_parts = false;
  const auto from = restart(everyone(), directory.path() / "a", options);
  ASSERT_TRUE(from);
  Writer writer(everyone(), directory.path() / "b", header_for(made), options_for_patches());
  writer.begin_step(Flow::checkpoint, 4, 2);
  writer.put_mesh(patches_of(from->part));
  writer.put_field("density", view_of(from->part.fields[0].as<double>()));
  writer.end_step();
  writer.close();
  const auto again = restart(everyone(), directory.path() / "b", options);
  ASSERT_TRUE(again);
  CellValues mine;
  collect(again->part, 0, mine);
  EXPECT_EQ(of_all_ranks(mine), made.values);
}

TEST(PatchesMpi, the_tree_of_patches_is_complete_and_undamaged) {
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    const testing::SharedDirectory directory;
    const RandomPatches made = make(seed);
    write(directory.path(), made, size());
    const store::Report report = store::verify(directory.path(), 1);
    for (const store::Finding& finding : report.findings) ADD_FAILURE() << finding.where << ": " << finding.what;
    RestartOptions options;
    options.keep_parts = false;
    const auto from = restart(everyone(), directory.path(), options);
    ASSERT_TRUE(from);
    const auto& tree = std::get<mesh::Octree>(from->part.mesh);
    double volume = 0;
    for (int level = 0; level < num_levels(tree); ++level)
      volume += static_cast<double>(num_owned_leaves(tree, level)) * std::exp2(-level * tree.dim);
    MPI_Allreduce(MPI_IN_PLACE, &volume, 1, MPI_DOUBLE, MPI_SUM, everyone());
    EXPECT_DOUBLE_EQ(volume, static_cast<double>(tree.roots[0] * tree.roots[1] * tree.roots[2]));
  }
}

// Blocks of 4 x 2 cells of a random tree: one with all values, and this rank's, of which it owns a share.
TEST(PatchesMpi, blocks_of_a_tree_are_restarted_as_blocks_and_as_patches) {
  const testing::SharedDirectory directory;
  const mesh::Octree whole = [] {
    mesh::Octree tree = testing::random_octree(5, {.dim = 2, .roots = {2, 3, 1}, .max_levels = 4, .max_cells = 300});
    tree.block = {4, 2, 1};
    return tree;
  }();
  const auto values_of = [&](const mesh::Octree& tree) {
    std::vector<double> values;
    auto at = root_coordinates(tree);
    for (int level = 0; level < num_levels(tree); ++level) {
      for (const mesh::Coordinate& c : at)
        for (int i = 0; i < 8; ++i) values.push_back(level * 1e6 + c[0] * 1e4 + c[1] * 1e2 + i);
      if (level + 1 < num_levels(tree)) at = child_coordinates(tree, level, at);
    }
    return values;
  };
  mesh::Header header;
  header.dim = 2;
  header.roots = whole.roots;
  header.block = whole.block;
  header.hi = {2, 3, 1};
  for (int writers = 1; writers <= size(); ++writers) {
    const std::filesystem::path store = directory.path() / std::to_string(writers);
    const ranks::OwnComm comm = ranks::split(everyone(), rank() < writers ? 0 : 1, rank());
    if (rank() < writers) {
      Writer writer(comm.get(), store, header, options_for_patches());
      const auto pieces = testing::random_domains(whole, static_cast<std::size_t>(writers));
      const mesh::Octree tree = mesh::prune(pieces[static_cast<std::size_t>(rank())]).tree;
      const std::vector<double> values = values_of(tree);
      ArrayView view = view_of(values);
      view.cells = num_cells(tree);
      view.block = tree.block;
      writer.begin_step(Flow::checkpoint, 1, 0);
      writer.put_mesh(tree);
      writer.put_field("density", view);
      writer.end_step();
      writer.close();
    }
    MPI_Barrier(everyone());
    RestartOptions options;
    options.keep_parts = false;
    const auto blocks = restart(everyone(), store, options);
    ASSERT_TRUE(blocks);
    const auto& tree = std::get<mesh::Octree>(blocks->part.mesh);
    const auto expected = values_of(tree);
    const auto found = blocks->part.fields[0].as<double>();
    const auto offsets = level_offsets(tree);
    std::int64_t owned = 0;
    for (int level = 0; level < num_levels(tree); ++level)
      tree.owned[static_cast<std::size_t>(level)].for_each_set([&](std::size_t i) {
        ++owned;
        for (std::size_t v = 8 * (offsets[static_cast<std::size_t>(level)] + i), end = v + 8; v < end; ++v)
          EXPECT_EQ(found[v], expected[v]);
      });
    options.as = MeshKind::patches;
    const auto patches = restart(everyone(), store, options);
    ASSERT_TRUE(patches);
    CellValues mine;
    collect(patches->part, 0, mine);
    EXPECT_EQ(static_cast<std::int64_t>(mine.size()), 8 * owned);
    for (const auto& [key, value] : mine) {
      const double place = static_cast<double>(key[0]) * 1e6 + static_cast<double>(key[1] / 4) * 1e4 +
                           static_cast<double>(key[2] / 2) * 1e2;
      EXPECT_EQ(value, place + static_cast<double>(key[1] % 4 + 4 * (key[2] % 2)));
    }
  }
}

TEST(PatchesMpi, patches_that_are_not_whole_blocks_or_lack_values_are_named_on_all_ranks) {
  const testing::SharedDirectory directory;
  const RandomPatches made = make(3);
  Writer writer(everyone(), directory.path(), header_for(made), options_for_patches());
  const mesh::Part mine = mine_of(made, rank(), size());
  const auto message = [&](bool short_field) -> std::string {
    try {
      writer.begin_step(Flow::checkpoint, 3, 1.5);
      writer.put_mesh(patches_of(mine));
      auto values = mine.fields[0].as<double>();
      if (short_field && rank() == 0) values = values.first(values.size() / 2);
      writer.put_field("density", view_of(values));
      writer.end_step();
      writer.wait();
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  };
  EXPECT_THAT(message(true), HasSubstr("expected one value for each of"));
  EXPECT_EQ(message(false), "no error");
  writer.close();
}

// A square of 8x8 cells, of which each rank has a strip, and a finer box that all have.
TEST(PatchesMpi, cells_of_a_finer_level_that_two_ranks_have_make_the_step_fail) {
  if (size() == 1 || 8 % size() != 0) GTEST_SKIP() << "strips of whole cells, on two ranks or more";
  for (bool twice : {false, true}) {
    Patches patches;
    patches.dim = 2;
    patches.domain = {{{0, 0, 0}, {8, 8, 1}}, {{0, 0, 0}, {16, 16, 1}}};
    patches.ratio = {2};
    const std::int64_t height = 8 / size();
    patches.boxes = {{{{0, rank() * height, 0}, {8, (rank() + 1) * height, 1}}}, {}};
    if (twice || rank() == 0) patches.boxes[1] = {{{4, 4, 0}, {8, 8, 1}}};
    std::size_t cells = 0;
    for (const auto& boxes : patches.boxes)
      for (const IndexBox& box : boxes) cells += static_cast<std::size_t>(num_cells(box, 2));
    const std::vector<double> values(cells, 1.0);
    mesh::Header header;
    header.dim = 2;
    header.roots = {8, 8, 1};
    header.hi = {8, 8, 1};
    const testing::SharedDirectory directory;
    Writer writer(everyone(), directory.path(), header, options_for_patches());
    writer.begin_step(Flow::checkpoint, 1, 0);
    writer.put_mesh(patches);
    writer.put_field("density", view_of(values));
    const std::string message = testing::message_of([&] {
      writer.end_step();
      writer.wait();
    });
    testing::expect_same_everywhere(message);
    if (twice)
      EXPECT_THAT(message, HasSubstr("with one of another contributor"));
    else
      EXPECT_EQ(message, "no error");
    EXPECT_EQ(writer.newest_durable(Flow::checkpoint).has_value(), !twice);
    writer.close();
  }
}

}  // namespace
}  // namespace octavo::engine
