#include <gmock/gmock.h>

#include <algorithm>
#include <cstring>

#include "octavo/engine/write/writer.hpp"
#include "octavo/file/posix.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/mpi_run.hpp"

// Tree cells that a rank has no values of: `nowhere` in an array's order.
namespace octavo::engine {
namespace {

using store::Flow;
using testing::everyone;
using ::testing::HasSubstr;
using testing::message_of;
using testing::rank;
using testing::size;

constexpr std::size_t ghost = 1, edge = 8, padded = edge + 2 * ghost, block = padded * padded;

// 12 x 12 roots of which a rank has every size()-th, on up to three levels, in blocks of 8 x 8 with ghosts, last block
// first.
struct Blocks {
  mesh::Octree tree;
  std::vector<std::uint32_t> order;
  std::vector<double> density;
  std::vector<std::int32_t> flag;
};

mesh::Octree make_tree() {
  mesh::Octree tree;
  tree.dim = 2;
  tree.roots = {12, 12, 1};
  tree.block = {edge, edge, 1};
  base::BitArray roots(144), mine(144);
  for (std::size_t root = 0; root < 144; ++root)
    if (static_cast<int>(root / 3) % size() == rank()) mine.set(root);
  for (std::size_t root = 0; root < 144; root += 5)
    if (mine[root]) roots.set(root);
  base::BitArray middle(4 * roots.count());
  for (std::size_t cell = 0; cell < middle.size(); cell += 7) middle.set(cell);
  const std::size_t fine = 4 * middle.count();
  tree.refined.push_back(std::move(roots));
  tree.owned.push_back(std::move(mine));
  for (const std::size_t cells : {middle.size(), fine}) {
    if (cells == 0) break;
    tree.refined.push_back(cells == middle.size() && fine > 0 ? middle : base::BitArray(cells));
    base::BitArray all(cells);
    for (std::size_t cell = 0; cell < cells; ++cell) all.set(cell);
    tree.owned.push_back(std::move(all));
  }
  return tree;
}

Blocks make_blocks(std::int64_t step) {
  Blocks blocks;
  blocks.tree = make_tree();
  std::size_t have = 0;
  for (const auto& owned : blocks.tree.owned) have += owned.count();
  std::uint32_t next = static_cast<std::uint32_t>(have);
  for (const auto& owned : blocks.tree.owned)
    for (std::size_t cell = 0; cell < owned.size(); ++cell)
      blocks.order.push_back(owned[cell] ? --next : ArrayView::nowhere);
  blocks.density.resize(have * block);
  blocks.flag.resize(have * block);
  for (std::size_t i = 0; i < have * block; ++i) {
    blocks.flag[i] = static_cast<std::int32_t>(i) + 1000 * rank();
    blocks.density[i] = 1 + 0.37 * static_cast<double>(i % 1009) + static_cast<double>(step);
  }
  return blocks;
}

template <class T>
ArrayView view_of_blocks(const Blocks& blocks, const std::vector<T>& values) {
  ArrayView view = view_of(values);
  view.cells = blocks.order.size();
  view.block = {edge, edge, 1};
  view.ghost = ghost;
  view.order = blocks.order;
  return view;
}

// The values that a store must give back: zeros for absent cells.
template <class T>
std::vector<T> packed_by_hand(const Blocks& blocks, const std::vector<T>& values) {
  std::vector<T> all;
  for (const std::uint32_t at : blocks.order)
    for (std::size_t y = ghost; y < ghost + edge; ++y)
      for (std::size_t x = ghost; x < ghost + edge; ++x)
        all.push_back(at == ArrayView::nowhere ? T{} : values[at * block + y * padded + x]);
  return all;
}

mesh::Header header_of(const mesh::Octree& tree) {
  mesh::Header header;
  header.dim = tree.dim;
  header.roots = tree.roots;
  header.block = tree.block;
  header.hi = {1, 1, 1};
  return header;
}

WriteStatistics write(const std::filesystem::path& store, const Options& options,
                      const std::vector<std::int64_t>& steps) {
  Writer writer(everyone(), store, header_of(make_tree()), options);
  for (const std::int64_t step : steps) {
    Blocks blocks = make_blocks(step);
    writer.begin_step(Flow::checkpoint, step, 1.0);
    writer.put_mesh(blocks.tree);
    writer.put_field("density", view_of_blocks(blocks, blocks.density));
    writer.put_field("flag", view_of_blocks(blocks, blocks.flag));
    writer.end_step();
    if (options.lend) writer.wait();
  }
  writer.close();
  return writer.statistics();
}

void expect_steps(const std::filesystem::path& store, const std::vector<std::int64_t>& steps) {
  for (const std::int64_t step : steps) {
    const Blocks blocks = make_blocks(step);
    const mesh::Part part = store::open_step(store, Flow::checkpoint, step).read(rank(), {});
    EXPECT_EQ(std::get<mesh::Octree>(part.mesh), blocks.tree);
    EXPECT_TRUE(std::ranges::equal(part.fields[0].as<double>(), packed_by_hand(blocks, blocks.density)));
    EXPECT_TRUE(std::ranges::equal(part.fields[1].as<std::int32_t>(), packed_by_hand(blocks, blocks.flag)));
  }
  if (rank() == 0)
    for (const store::Finding& finding : store::verify(store, 1).findings)
      ADD_FAILURE() << finding.where << ": " << finding.what;
}

struct Way {
  Mode mode = Mode::background;
  bool lend = false, checksums = true, direct_io = false;
  int contributors_per_file = 1;
};

TEST(AbsentMpi, cells_without_values_cost_a_raw_store_nothing_and_read_as_zeros) {
  const std::vector<Way> ways{{Mode::sync},
                              {Mode::sync, false, false, true, 0},
                              {Mode::background},
                              {Mode::background, false, false},
                              {Mode::background, true, true, false, 2},
                              {Mode::background, false, true, true, 0}};
  for (const Way& way : ways) {
    const testing::SharedDirectory directory;
    Options options;
    options.mode = way.mode;
    options.lend = way.lend;
    options.checksums = way.checksums;
    options.direct_io = way.direct_io;
    options.contributors_per_file = way.contributors_per_file;
    options.checkpoint.codec.method = codec::Method::raw;
    const WriteStatistics own = write(directory.path() / "s", options, {1, 2});
    expect_steps(directory.path() / "s", {1, 2});
    const std::uint64_t values = 2 * 12 * make_blocks(1).density.size() * edge * edge / block;
    EXPECT_EQ(own.bytes_put, values);
    // The mesh, and 3 bytes each for a few dozen stretches of blocks.
    EXPECT_LT(own.bytes_stored, values + 8192);
    testing::barrier();
  }
}

TEST(AbsentMpi, arrays_that_are_zeros_where_nothing_is_owned_are_seen_to_be) {
  const testing::SharedDirectory directory;
  Options options;
  options.checkpoint.codec.method = codec::Method::raw;
  Writer writer(everyone(), directory.path() / "s", header_of(make_tree()), options);
  for (const std::int64_t step : {1, 2}) {
    const Blocks blocks = make_blocks(step);
    std::vector<double> all = packed_by_hand(blocks, blocks.density);
    const std::vector<std::int32_t> flags = packed_by_hand(blocks, blocks.flag);
    // One value among the zeros, and all are kept.
    const auto absent = std::find(blocks.order.begin(), blocks.order.end(), ArrayView::nowhere) - blocks.order.begin();
    const bool kept = step == 2 && absent != std::ssize(blocks.order);
    if (kept) all[static_cast<std::size_t>(absent + 1) * edge * edge - 1] = 1e-300;
    const auto whole = [&](const auto& values) {
      ArrayView view = view_of(values);
      view.cells = blocks.order.size();
      view.block = {edge, edge, 1};
      return view;
    };
    writer.begin_step(Flow::checkpoint, step, 1.0);
    writer.put_mesh(blocks.tree);
    writer.put_field("density", whole(all));
    writer.put_field("flag", whole(flags));
    const std::uint64_t before = writer.statistics().bytes_put;
    writer.end_step();
    const std::size_t have = blocks.density.size() / block, cells = blocks.order.size();
    EXPECT_EQ(writer.statistics().bytes_put - before, edge * edge * (8 * (kept ? cells : have) + 4 * have));
    writer.wait();
    const mesh::Part part = store::open_step(directory.path() / "s", Flow::checkpoint, step).read(rank(), {});
    EXPECT_TRUE(std::ranges::equal(part.fields[0].as<double>(), all));
    EXPECT_TRUE(std::ranges::equal(part.fields[1].as<std::int32_t>(), flags));
  }
  writer.close();
}

TEST(AbsentMpi, codecs_see_zeros) {
  const testing::SharedDirectory directory;
  Options options;
  options.checkpoint.codec.method = codec::Method::automatic;
  write(directory.path() / "s", options, {1});
  expect_steps(directory.path() / "s", {1});
}

TEST(AbsentMpi, a_flipped_bit_among_values_is_named) {
  const testing::SharedDirectory directory;
  const auto store = directory.path() / "s";
  Options options;
  options.contributors_per_file = 0;
  options.checkpoint.codec.method = codec::Method::raw;
  write(store, options, {1});
  if (rank() == 0) {
    const Blocks blocks = make_blocks(1);
    std::vector<double> line(
        blocks.density.begin() + static_cast<std::ptrdiff_t>(blocks.order[0]) * block + padded + 1,
        blocks.density.begin() + static_cast<std::ptrdiff_t>(blocks.order[0]) * block + 2 * padded - 1);
    std::filesystem::path subfile;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(store))
      if (entry.is_regular_file() && entry.file_size() > 4096) subfile = entry.path();
    std::vector<std::byte> bytes(std::filesystem::file_size(subfile));
    file::pread_all(file::open_read(subfile), 0, bytes);
    const auto pattern = std::as_bytes(std::span(line));
    const auto found = std::search(bytes.begin(), bytes.end(), pattern.begin(), pattern.end());
    ASSERT_NE(found, bytes.end());
    *found ^= std::byte{1};
    file::pwrite_all(file::open_write(subfile), 0, bytes);
    EXPECT_THAT(message_of([&] { store::open_step(store, Flow::checkpoint, 1).read(0, {}); }), HasSubstr("density"));
  }
  testing::barrier();
}

TEST(AbsentMpi, an_owned_cell_must_be_somewhere) {
  const testing::SharedDirectory directory;
  Writer writer(everyone(), directory.path() / "s", header_of(make_tree()), {});
  Blocks blocks = make_blocks(1);
  if (rank() == 0) blocks.order[0] = ArrayView::nowhere;
  writer.begin_step(Flow::checkpoint, 1, 1.0);
  writer.put_mesh(blocks.tree);
  writer.put_field("density", view_of_blocks(blocks, blocks.density));
  const std::string message = message_of([&] { writer.end_step(); });
  EXPECT_THAT(message, HasSubstr("expected a place for tree cell 0"));
  testing::expect_same_everywhere(message);
  writer.close();
}

}  // namespace
}  // namespace octavo::engine
