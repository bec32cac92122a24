#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <numeric>

#include "capi/test_arrays.hpp"
#include "tests/support/mpi_run.hpp"

/// Each rank gives a box of roots and no others, and gets such a list again.
namespace octavo::testing {
namespace {

constexpr std::int64_t edge = 64, box = 8, roots = edge * edge * edge;

// The last of several ranks holds nothing.
bool holds_any(int r) { return size() == 1 || r + 1 < size(); }

// Boxes of 8^3 roots follow one another along y. The first root of each is refined. A value says which cell it is of.
struct Share {
  std::vector<std::int64_t> held;  // pairs
  std::vector<std::int64_t> cells_of_level{0};
  std::vector<std::uint8_t> refined, owned;
  std::vector<double> values;
};

void add_children(Share& share, std::int64_t root) {
  share.cells_of_level.push_back(8);
  share.refined.insert(share.refined.end(), 8, 0);
  share.owned.insert(share.owned.end(), 8, 1);
  for (int child = 1; child <= 8; ++child) share.values.push_back(static_cast<double>(root) + 0.1 * child);
}

Share box_of(int r) {
  Share share;
  if (!holds_any(r)) return share;
  for (std::int64_t z = 0; z < box; ++z)
    for (std::int64_t y = box * r; y < box * (r + 1); ++y) {
      const std::int64_t first = (z * edge + y) * edge + box;
      share.held.insert(share.held.end(), {first, first + box});
      for (std::int64_t root = first; root < first + box; ++root) share.values.push_back(static_cast<double>(root));
    }
  share.cells_of_level[0] = static_cast<std::int64_t>(share.values.size());
  share.refined.resize(share.values.size(), 0);
  share.owned.resize(share.values.size(), 1);
  share.refined[0] = 1;
  add_children(share, share.held[0]);
  return share;
}

// The same cells in a list of all roots.
Share in_all_roots(const Share& from) {
  Share share;
  share.cells_of_level[0] = roots;
  share.refined.resize(roots, 0);
  share.owned.resize(roots, 0);
  share.values.resize(roots, 0);
  std::size_t cell = 0;
  for (std::size_t i = 0; i < from.held.size(); i += 2)
    for (auto root = static_cast<std::size_t>(from.held[i]); root < static_cast<std::size_t>(from.held[i + 1]);
         ++root, ++cell) {
      share.refined[root] = from.refined[cell];
      share.owned[root] = from.owned[cell];
      share.values[root] = from.values[cell];
    }
  if (!from.held.empty()) add_children(share, from.held[0]);
  return share;
}

std::uint64_t write(const std::filesystem::path& store, const Share& share) {
  octavo_error error;
  octavo_domain domain = octavo_domain_default();
  std::fill_n(domain.roots, 3, edge);
  octavo_target target = octavo_target_default(OCTAVO_STORE);
  target.path = store.c_str();
  octavo_writer* writer = nullptr;
  EXPECT_EQ(octavo_writer_open(everyone(), &target, &domain, &writer, &error), 0) << error.message;
  octavo_writer_begin_step(writer, OCTAVO_CHECKPOINT, nullptr, 1, 0.5, &error);
  const octavo_tree tree{sizeof(octavo_tree),
                         static_cast<int>(share.cells_of_level.size()),
                         share.cells_of_level.data(),
                         share.refined.data(),
                         share.owned.data(),
                         static_cast<std::int64_t>(share.held.size() / 2),
                         share.held.data()};
  octavo_writer_put_tree(writer, &tree, &error);
  put_packed(writer, "density", OCTAVO_FLOAT64, share.values.data(), std::ssize(share.values), &error);
  EXPECT_EQ(octavo_writer_end_step(writer, &error), 0) << error.message;
  EXPECT_EQ(octavo_writer_close(&writer, &error), 0) << error.message;
  barrier();
  std::uint64_t bytes = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(store))
    if (entry.is_regular_file()) bytes += entry.file_size();
  return bytes;
}

std::vector<double> owned_values(const octavo_tree& tree, const std::vector<double>& values) {
  std::vector<double> owned;
  for (std::size_t cell = 0; cell < values.size(); ++cell)
    if (tree.owned[cell] == 1) owned.push_back(values[cell]);
  return owned;
}

// The owned cells of all ranks, by value. Level 0 must have the listed roots and no others; all of them where none
// is listed, as after a restart without `held_roots` or from parts that were written with all.
std::vector<double> restart_from(const std::filesystem::path& store, bool held_roots, bool all_roots) {
  octavo_error error;
  octavo_restart_options options = octavo_restart_options_default();
  options.held_roots = held_roots ? 1 : 0;
  octavo_restart* restart = nullptr;
  EXPECT_EQ(octavo_restart_open(everyone(), store.c_str(), &options, &restart, &error), 0) << error.message;
  octavo_tree tree = octavo_tree_default();
  EXPECT_EQ(octavo_restart_get_tree(restart, &tree, &error), 0) << error.message;
  std::vector<double> values(static_cast<std::size_t>(info_of(restart).cells));
  EXPECT_EQ(get_packed(restart, "density", OCTAVO_FLOAT64, values.data(), std::ssize(values), &error), 0);
  std::vector<std::int64_t> numbers;  // of the roots
  for (std::int64_t i = 0; i < tree.num_intervals; ++i)
    for (std::int64_t root = tree.held[2 * i]; root < tree.held[2 * i + 1]; ++root) numbers.push_back(root);
  EXPECT_EQ(tree.cells_of_level[0] == roots, all_roots);
  if (all_roots) numbers.resize(roots), std::iota(numbers.begin(), numbers.end(), std::int64_t{0});
  EXPECT_TRUE(std::is_sorted(numbers.begin(), numbers.end()));
  EXPECT_EQ(tree.cells_of_level[0], std::ssize(numbers));
  for (std::size_t cell = 0; cell < numbers.size(); ++cell)
    EXPECT_TRUE(tree.owned[cell] == 0 || values[cell] == static_cast<double>(numbers[cell])) << numbers[cell];
  const std::vector<double> mine = owned_values(tree, values);
  octavo_restart_free(&restart);
  std::vector<double> all;
  const std::string bytes(reinterpret_cast<const char*>(mine.data()), mine.size() * sizeof(double));
  for (const std::string& other : ranks::ranks_of(everyone()).all_gather(bytes)) {
    const std::size_t before = all.size();
    all.resize(before + other.size() / sizeof(double));
    std::memcpy(all.data() + before, other.data(), other.size());
  }
  std::sort(all.begin(), all.end());
  return all;
}

TEST(CapiRootsMpi, a_rank_gives_and_gets_the_roots_that_it_holds_and_no_others) {
  const SharedDirectory directory;
  const Share mine = box_of(rank());
  const std::uint64_t held = write(directory.path() / "held", mine);
  const std::uint64_t all = write(directory.path() / "all", in_all_roots(mine));
  EXPECT_LT(held, all);
  std::vector<double> expected;
  for (int r = 0; r < size(); ++r) {
    const Share share = box_of(r);
    expected.insert(expected.end(), share.values.begin(), share.values.end());
  }
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(restart_from(directory.path() / "held", true, false), expected);
  EXPECT_EQ(restart_from(directory.path() / "held", false, true), expected);
  EXPECT_EQ(restart_from(directory.path() / "all", true, true), expected);
  if (rank() == 0) std::printf("    %ju bytes, with all roots %ju\n", std::uintmax_t{held}, std::uintmax_t{all});
}

TEST(CapiRootsMpi, lists_that_are_none_are_refused) {
  const SharedDirectory directory;
  octavo_error error;
  octavo_domain domain = octavo_domain_default();
  std::fill_n(domain.roots, 3, edge);
  octavo_target target = octavo_target_default(OCTAVO_STORE);
  target.path = directory.path().c_str();
  octavo_writer* writer = nullptr;
  ASSERT_EQ(octavo_writer_open(everyone(), &target, &domain, &writer, &error), 0) << error.message;
  const std::int64_t cells = 2;
  const std::uint8_t flags[2] = {0, 0};
  const std::vector<std::vector<std::int64_t>> wrong{
      {5, 6, 4, 5}, {4, 5, 5, 6}, {roots - 1, roots + 1}, {7, 8}, {-1, 1}};
  for (const auto& held : wrong) {
    octavo_writer_begin_step(writer, OCTAVO_CHECKPOINT, nullptr, 1, 0.5, &error);
    const octavo_tree tree{sizeof(octavo_tree), 1, &cells, flags, flags, std::ssize(held) / 2, held.data()};
    octavo_writer_put_tree(writer, &tree, &error);
    EXPECT_NE(octavo_writer_end_step(writer, &error), 0) << held[0];
    expect_same_everywhere(error.message);
  }
  EXPECT_EQ(octavo_writer_close(&writer, &error), 0) << error.message;
}

}  // namespace
}  // namespace octavo::testing
