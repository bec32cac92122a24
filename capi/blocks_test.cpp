#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>

#include "capi/test_arrays.hpp"
#include "tests/support/mpi_run.hpp"

namespace {

using octavo::testing::everyone;
using octavo::testing::field_of;
using octavo::testing::ghosted;
using octavo::testing::info_of;
using octavo::testing::put_packed;
using octavo::testing::rank;
using octavo::testing::SharedDirectory;
using octavo::testing::size;
using ::testing::HasSubstr;

// A domain of 8 x 4 cells in two blocks of 4 x 4, the first of which is refined once: 96 cells with it.
constexpr std::int64_t domains[2][2][3] = {{{0, 0, 0}, {8, 4, 1}}, {{0, 0, 0}, {16, 8, 1}}};
constexpr int ratio[1] = {2};
struct Corner {
  int level;
  std::int64_t x, y;
};
constexpr Corner blocks[6] = {{0, 0, 0}, {0, 4, 0}, {1, 0, 0}, {1, 4, 0}, {1, 0, 4}, {1, 4, 4}};
double value_at(int level, std::int64_t x, std::int64_t y) {
  return static_cast<double>(10000 * level + 100 * y + x + 1);
}

/// The first ranks of everyone(): fewer than there are, where there are several.
struct Writers {
  MPI_Comm comm = MPI_COMM_NULL;
  int size;
  bool is_one;
  Writers() : size(std::max(1, octavo::testing::size() - 1)), is_one(rank() < size) {
    MPI_Comm_split(everyone(), is_one ? 0 : MPI_UNDEFINED, 0, &comm);
  }
  ~Writers() {
    if (comm != MPI_COMM_NULL) MPI_Comm_free(&comm);
  }
  Writers(const Writers&) = delete;
  Writers& operator=(const Writers&) = delete;
  bool has(std::size_t block) const { return static_cast<int>(block) % size == rank(); }
};

octavo_writer* open_writer(MPI_Comm comm, const std::string& store) {
  octavo_domain domain = octavo_domain_default();
  domain.dim = 2;
  domain.roots[0] = 2;
  domain.block[0] = domain.block[1] = 4;
  octavo_target target = octavo_target_default(OCTAVO_STORE);
  target.path = store.c_str();
  octavo_writer* writer = nullptr;
  octavo_error error;
  EXPECT_EQ(octavo_writer_open(comm, &target, &domain, &writer, &error), 0) << error.message;
  return writer;
}

/// Written by fewer ranks than there are: `puts` puts one step.
void write(const std::string& store, const Writers& writers, const std::function<void(octavo_writer*)>& puts) {
  if (writers.is_one) {
    octavo_error error;
    octavo_writer* writer = open_writer(writers.comm, store);
    EXPECT_EQ(octavo_writer_begin_step(writer, OCTAVO_CHECKPOINT, nullptr, 7, 0.5, &error), 0) << error.message;
    puts(writer);
    EXPECT_EQ(octavo_writer_end_step(writer, &error), 0) << error.message;
    EXPECT_EQ(octavo_writer_close(&writer, &error), 0) << error.message;
  }
  octavo::testing::barrier();
}

/// Two variables that stand together, a ghost cell around each block: of all blocks, or of this rank's.
std::vector<double> with_ghosts(const Writers* only) {
  std::vector<double> unk;
  for (std::size_t b = 0; b < 6; ++b) {
    if (only != nullptr && !only->has(b)) continue;
    const Corner& corner = blocks[b];
    for (std::int64_t y = -1; y < 5; ++y)
      for (std::int64_t x = -1; x < 5; ++x) {
        const bool ghost = x < 0 || x > 3 || y < 0 || y > 3;
        unk.push_back(ghost ? -1e300 : value_at(corner.level, corner.x + x, corner.y + y));
        unk.push_back(ghost ? -1e300 : -value_at(corner.level, corner.x + x, corner.y + y));
      }
  }
  return unk;
}

int put_tree(octavo_writer* writer, const Writers& writers) {
  const std::int64_t cells_of_level[2] = {2, 4};
  const std::uint8_t refined[6] = {1};
  std::uint8_t owned[6];
  for (std::size_t b = 0; b < 6; ++b) owned[b] = writers.has(b) ? 1 : 0;
  octavo_error error;
  return octavo::testing::put_tree(writer, 2, cells_of_level, refined, owned, &error);
}

struct MyBoxes {
  std::int64_t of_level[2] = {0, 0};
  std::vector<std::int64_t> corners;
  std::int64_t count = 0;
  explicit MyBoxes(const Writers& writers) {
    for (std::size_t b = 0; b < 6; ++b) {
      if (!writers.has(b)) continue;
      const Corner& at = blocks[b];
      ++of_level[at.level];
      ++count;
      for (const std::int64_t entry : {at.x, at.y, std::int64_t{0}, at.x + 4, at.y + 4, std::int64_t{1}})
        corners.push_back(entry);
    }
  }
};

int put_boxes(octavo_writer* writer, const MyBoxes& mine) {
  octavo_error error;
  return octavo::testing::put_boxes(writer, 2, &domains[0][0][0], ratio, mine.of_level, mine.corners.data(), &error);
}

octavo_restart* share_of(const std::string& store, bool boxes) {
  octavo_restart_options options = octavo_restart_options_default();
  options.boxes = boxes ? 1 : 0;
  octavo_restart* restart = nullptr;
  octavo_error error;
  EXPECT_EQ(octavo_restart_open(everyone(), store.c_str(), &options, &restart, &error), 0) << error.message;
  return restart;
}

std::int64_t all_ranks(std::int64_t mine) {
  MPI_Allreduce(MPI_IN_PLACE, &mine, 1, MPI_INT64_T, MPI_SUM, everyone());
  return mine;
}

/// Where the blocks of this rank's share are, and which it owns.
struct Share {
  std::vector<Corner> corners;
  std::vector<std::uint8_t> owned;
  explicit Share(octavo_restart* restart) {
    octavo_tree tree = octavo_tree_default();
    octavo_error error;
    EXPECT_EQ(octavo_restart_get_tree(restart, &tree, &error), 0);
    const auto cells = static_cast<std::size_t>(info_of(restart).cells);
    owned.assign(tree.owned, tree.owned + cells);
    for (std::int64_t root = 0; root < tree.cells_of_level[0]; ++root) corners.push_back({0, 4 * root, 0});
    for (std::size_t i = 0; i < cells; ++i)
      for (std::int64_t child = 0; tree.refined[i] != 0 && child < 4; ++child)
        corners.push_back({corners[i].level + 1, 2 * corners[i].x + child % 2 * 4, 2 * corners[i].y + child / 2 * 4});
  }
};

/// Every owned value of the two fields is what was put; each of the 96 is owned once.
void expect_blocks(const std::string& store) {
  octavo_restart* restart = share_of(store, false);
  EXPECT_EQ(info_of(restart).domain->block[0], 4);
  EXPECT_EQ(info_of(restart).domain->block[2], 1);
  const Share share(restart);
  const std::vector<double> dens = field_of(restart, "dens"), temp = field_of(restart, "temp");
  std::int64_t owned = 0;
  for (std::size_t i = 0; i < share.corners.size(); ++i)
    for (std::int64_t v = 0; share.owned[i] != 0 && v < 16; ++v, ++owned) {
      const double expected = value_at(share.corners[i].level, share.corners[i].x + v % 4, share.corners[i].y + v / 4);
      EXPECT_EQ(dens[16 * i + static_cast<std::size_t>(v)], expected);
      EXPECT_EQ(temp[16 * i + static_cast<std::size_t>(v)], -expected);
    }
  EXPECT_EQ(all_ranks(owned), 96);
  octavo_restart_free(&restart);
}

/// The same of boxes.
void expect_boxes(const std::string& store) {
  octavo_restart* restart = share_of(store, true);
  octavo_boxes boxes = octavo_boxes_default();
  octavo_error error;
  ASSERT_EQ(octavo_restart_get_boxes(restart, &boxes, &error), 0);
  ASSERT_EQ(boxes.levels, 2);
  EXPECT_TRUE(std::equal(boxes.domain, boxes.domain + 12, &domains[0][0][0]));
  EXPECT_EQ(boxes.ratio[0], 2);
  const std::vector<double> dens = field_of(restart, "dens"), temp = field_of(restart, "temp");
  std::size_t next = 0;
  for (std::int64_t b = 0; b < info_of(restart).boxes; ++b) {
    const std::int64_t* corners = boxes.boxes + 6 * b;
    const int level = b < boxes.boxes_of_level[0] ? 0 : 1;
    for (std::int64_t y = corners[1]; y < corners[4]; ++y)
      for (std::int64_t x = corners[0]; x < corners[3]; ++x, ++next) {
        EXPECT_EQ(dens.at(next), value_at(level, x, y));
        EXPECT_EQ(temp.at(next), -value_at(level, x, y));
      }
  }
  EXPECT_EQ(next, dens.size());
  EXPECT_EQ(all_ranks(std::ssize(dens)), 96);
  octavo_restart_free(&restart);
}

TEST(CapiBlocksMpi, blocks_with_ghosts_come_back_on_another_number_of_ranks) {
  const SharedDirectory directory;
  const Writers writers;
  const std::vector<double> unk = with_ghosts(nullptr);
  write(directory.path(), writers, [&](octavo_writer* writer) {
    octavo_error error;
    EXPECT_EQ(put_tree(writer, writers), 0);
    for (int v = 0; v < 2; ++v) {
      const octavo_array array = ghosted(OCTAVO_FLOAT64, unk.data() + v, 6, 1, 2);
      EXPECT_EQ(octavo_writer_put_field(writer, v == 0 ? "dens" : "temp", "K", &array, &error), 0) << error.message;
    }
  });
  expect_blocks(directory.path());
  expect_boxes(directory.path());
}

/// A rank's list of blocks, the last first, with two variables that stand together.
struct BlockList {
  std::vector<std::int32_t> level;
  std::vector<std::int64_t> position;
  std::vector<std::uint8_t> refined;
  std::vector<double> unk;
  explicit BlockList(const Writers& writers) {
    for (std::size_t b = 6; b-- > 0;) {
      if (!writers.has(b)) continue;
      level.push_back(blocks[b].level);
      for (const std::int64_t entry : {blocks[b].x / 4, blocks[b].y / 4, std::int64_t{0}}) position.push_back(entry);
      refined.push_back(b == 0 ? 1 : 0);
      for (std::int64_t v = 0; v < 16; ++v)
        for (const double sign : {1, -1})
          unk.push_back(sign * value_at(blocks[b].level, blocks[b].x + v % 4, blocks[b].y + v / 4));
    }
  }
  octavo_blocks blocks_in_c() const {
    return {sizeof(octavo_blocks), std::ssize(level), level.data(), position.data(), refined.data()};
  }
};

TEST(CapiBlocksMpi, a_list_of_blocks_in_any_order_becomes_the_tree) {
  const SharedDirectory directory;
  const Writers writers;
  const BlockList list(writers);
  write(directory.path(), writers, [&](octavo_writer* writer) {
    octavo_error error;
    const octavo_blocks given = list.blocks_in_c();
    EXPECT_EQ(octavo_writer_put_blocks(writer, &given, &error), 0) << error.message;
    for (int v = 0; v < 2; ++v) {
      const octavo_array array = ghosted(OCTAVO_FLOAT64, list.unk.data() + v, std::ssize(list.level), 0, 2);
      EXPECT_EQ(octavo_writer_put_field(writer, v == 0 ? "dens" : "temp", "K", &array, &error), 0) << error.message;
    }
  });
  expect_blocks(directory.path());
}

TEST(CapiBlocksMpi, a_checkpoint_becomes_a_flash_file_that_all_ranks_write) {
  const SharedDirectory directory;
  const Writers writers;
  const BlockList list(writers);
  const std::string store = directory.path() / "run", path = directory.path() / "chk";
  write(store, writers, [&](octavo_writer* writer) {
    octavo_error error;
    const octavo_blocks given = list.blocks_in_c();
    EXPECT_EQ(octavo_writer_put_blocks(writer, &given, &error), 0) << error.message;
    for (int v = 0; v < 2; ++v) {
      const octavo_array array = ghosted(OCTAVO_FLOAT64, list.unk.data() + v, std::ssize(list.level), 0, 2);
      EXPECT_EQ(octavo_writer_put_field(writer, v == 0 ? "dens" : "temp", "K", &array, &error), 0) << error.message;
    }
  });
  octavo_restart* restart = share_of(store, false);
  octavo_error error;
  const int code = octavo_restart_write(everyone(), store.c_str(), restart, "flash", path.c_str(), &error);
  if (code == OCTAVO_UNSUPPORTED) GTEST_SKIP() << "built without HDF5";
  EXPECT_EQ(code, 0) << error.message;
  expect_blocks(path);
  EXPECT_EQ(octavo_restart_write(everyone(), store.c_str(), restart, "flash", path.c_str(), &error), OCTAVO_USAGE);
  EXPECT_THAT(error.message, HasSubstr("exists already"));
  octavo::testing::barrier();
  octavo_restart_free(&restart);
}

TEST(CapiBlocksMpi, a_list_of_blocks_that_is_wrong_is_refused_and_named) {
  const SharedDirectory directory;
  const Writers writers;
  BlockList list(writers);
  if (!writers.is_one) return octavo::testing::barrier();
  octavo_writer* writer = open_writer(writers.comm, directory.path());
  octavo_error error;
  const auto refused = [&](octavo_blocks given, const octavo_array& array, const std::string& text) {
    octavo_writer_begin_step(writer, OCTAVO_CHECKPOINT, nullptr, 7, 0.5, nullptr);
    int code = octavo_writer_put_blocks(writer, &given, &error);
    if (code == 0) code = octavo_writer_put_field(writer, "dens", "", &array, &error);
    EXPECT_EQ(code, OCTAVO_USAGE);
    EXPECT_THAT(error.message, HasSubstr(text));
    EXPECT_EQ(octavo_writer_end_step(writer, &error), OCTAVO_USAGE);
  };
  const octavo_array good = ghosted(OCTAVO_FLOAT64, list.unk.data(), std::ssize(list.level), 0, 2);
  octavo_array fewer = good, ordered = good;
  fewer.cells -= 1;
  const std::vector<std::int64_t> order(list.level.size());
  ordered.order = order.data();
  octavo_blocks given = list.blocks_in_c();
  refused(given, fewer, "values of " + std::to_string(list.level.size()) + " blocks, found ");
  refused(given, ordered, "fields of blocks have the order of put_blocks");
  given.refined = nullptr;
  refused(given, good, "refined is NULL");
  given = list.blocks_in_c();
  list.position[0] = -1;
  refused(given, good, "block 0: expected a position from 0 on, found -1");
  list.position[0] = 9;
  refused(given, good, "is not in the domain");
  EXPECT_EQ(octavo_writer_close(&writer, &error), 0) << error.message;
  octavo::testing::barrier();
}

TEST(CapiBlocksMpi, boxes_come_back_however_their_arrays_lie) {
  const SharedDirectory directory;
  const Writers writers;
  const MyBoxes mine(writers);
  const std::vector<double> unk = with_ghosts(&writers);
  for (const bool one_by_one : {false, true}) {
    const std::string store = directory.path() / (one_by_one ? "b" : "a");
    write(store, writers, [&](octavo_writer* writer) {
      octavo_error error;
      EXPECT_EQ(put_boxes(writer, mine), 0);
      for (int v = 0; v < 2; ++v) {
        std::vector<void*> arrays;
        octavo_array array = ghosted(OCTAVO_FLOAT64, unk.data() + v, mine.count, 1, 2);
        for (std::int64_t b = 0; b < mine.count; ++b) arrays.push_back(static_cast<double*>(array.values) + 72 * b);
        if (one_by_one) array.values = nullptr, array.boxes = arrays.data();
        octavo_writer_put_field(writer, v == 0 ? "dens" : "temp", "", &array, &error);
        EXPECT_EQ(error.code, 0) << error.message;
      }
    });
    expect_blocks(store);
    expect_boxes(store);
  }
}

TEST(CapiBlocksMpi, cells_of_all_boxes_may_stand_in_one_array) {
  const SharedDirectory directory;
  const Writers writers;
  const MyBoxes mine(writers);
  std::vector<double> dens, temp;
  for (std::size_t b = 0; b < 6; ++b)
    for (std::int64_t v = 0; writers.has(b) && v < 16; ++v) {
      dens.push_back(value_at(blocks[b].level, blocks[b].x + v % 4, blocks[b].y + v / 4));
      temp.push_back(-dens.back());
    }
  write(directory.path(), writers, [&](octavo_writer* writer) {
    octavo_error error;
    EXPECT_EQ(put_boxes(writer, mine), 0);
    EXPECT_EQ(put_packed(writer, "dens", OCTAVO_FLOAT64, dens.data(), std::ssize(dens), &error), 0);
    EXPECT_EQ(put_packed(writer, "temp", OCTAVO_FLOAT64, temp.data(), mine.count, &error), 0);
  });
  expect_boxes(directory.path());
}

// 4 x 5 faces along y of each block.
TEST(CapiBlocksMpi, faces_become_the_low_and_the_high_one_of_each_cell) {
  const SharedDirectory directory;
  const Writers writers;
  std::vector<double> faces(6 * 20);
  for (std::size_t i = 0; i < faces.size(); ++i)
    faces[i] = value_at(blocks[i / 20].level, blocks[i / 20].x + std::int64_t(i % 4),
                        blocks[i / 20].y + std::int64_t(i % 20 / 4));
  write(directory.path(), writers, [&](octavo_writer* writer) {
    octavo_error error;
    EXPECT_EQ(put_tree(writer, writers), 0);
    octavo_array array = octavo_array_packed(OCTAVO_FLOAT64, faces.data(), 6);
    array.centring = OCTAVO_FACE_Y;
    EXPECT_EQ(octavo_writer_put_field(writer, "mag", "G", &array, &error), 0) << error.message;
  });
  octavo_restart* restart = share_of(directory.path(), false);
  const Share share(restart);
  const std::vector<double> low = field_of(restart, "mag_left"), high = field_of(restart, "mag_right");
  for (std::size_t i = 0; i < low.size(); ++i) {
    if (share.owned[i / 16] == 0) continue;
    const Corner& at = share.corners[i / 16];
    const auto x = static_cast<std::int64_t>(i % 4), y = static_cast<std::int64_t>(i % 16 / 4);
    EXPECT_EQ(low[i], value_at(at.level, at.x + x, at.y + y));
    EXPECT_EQ(high[i], value_at(at.level, at.x + x, at.y + y + 1));
  }
  octavo_restart_free(&restart);
}

// y fastest, the last block first, two variables that stand together; and this rank's blocks alone.
TEST(CapiBlocksMpi, arrays_of_any_strides_in_the_applications_own_order_come_back) {
  const SharedDirectory directory;
  const Writers writers;
  std::vector<std::int64_t> order(6, -1);
  std::vector<double> memory;
  for (std::size_t b = 6; b-- > 0;) {
    if (!writers.has(b)) continue;
    order[b] = std::ssize(memory) / 32;
    for (std::int64_t v = 0; v < 16; ++v) {
      memory.push_back(value_at(blocks[b].level, blocks[b].x + v / 4, blocks[b].y + v % 4));
      memory.push_back(-memory.back());
    }
  }
  const std::vector<double> spin = {1, 2, 3, 4, 5, 6};  // of three particles, component after component
  write(directory.path(), writers, [&](octavo_writer* writer) {
    octavo_error error;
    EXPECT_EQ(put_tree(writer, writers), 0);
    octavo_array array = octavo_array_packed(OCTAVO_FLOAT64, nullptr, 6);
    array.stride_cell = 32;
    array.stride[0] = 8;
    array.stride[1] = 2;
    array.stride_component = 1;
    std::vector<std::int64_t> gone = order;  // copied by the put
    array.order = gone.data();
    for (int v = 0; v < 2; ++v) {
      array.values = memory.data() + v;
      EXPECT_EQ(octavo_writer_put_field(writer, v == 0 ? "dens" : "temp", "K", &array, &error), 0) << error.message;
    }
    array.values = memory.data();
    array.components = 2;
    EXPECT_EQ(octavo_writer_put_field(writer, "both", "K", &array, &error), 0) << error.message;
    gone.assign(6, 1000);
    octavo_array of_particles = octavo_array_packed(OCTAVO_FLOAT64, spin.data(), 3);
    of_particles.components = 2;
    of_particles.stride_cell = 1;
    of_particles.stride_component = 3;
    EXPECT_EQ(octavo_writer_put_particles(writer, "stars", "spin", "cm^2/s", &of_particles, &error), 0)
        << error.message;
    for (const char* name : {"position_x", "position_y"})
      octavo::testing::put_particles(writer, name, OCTAVO_FLOAT64, spin.data(), 3, &error);
  });
  expect_blocks(directory.path());
  octavo_restart* restart = share_of(directory.path(), false);
  const Share share(restart);
  octavo_error error;
  const std::vector<double> dens = field_of(restart, "dens");
  std::vector<double> both(2 * dens.size());
  octavo_array to = octavo_array_packed(OCTAVO_FLOAT64, both.data(), info_of(restart).cells);
  to.components = 2;
  EXPECT_EQ(octavo_restart_get_field(restart, "both", &to, &error), 0) << error.message;
  for (std::size_t i = 0; i < both.size(); ++i) {
    if (share.owned[i / 32] == 0) continue;
    EXPECT_EQ(both[i], i % 2 == 0 ? dens[i / 2] : -dens[i / 2]);
  }
  std::vector<double> found(2 * static_cast<std::size_t>(octavo_restart_get_particle_count(restart, "stars")));
  to = octavo_array_packed(OCTAVO_FLOAT64, found.data(), std::ssize(found) / 2);
  to.components = 2;
  EXPECT_EQ(octavo_restart_get_particles(restart, "stars", "spin", &to, &error), 0) << error.message;
  for (std::size_t i = 0; i < found.size(); i += 2) EXPECT_EQ(found[i + 1], found[i] + 3);
  EXPECT_EQ(all_ranks(std::ssize(found)), 6 * writers.size);
  octavo_restart_free(&restart);
}

// Read into ghosted blocks of two variables that stand together, the last block first; float32 as float64.
TEST(CapiBlocksMpi, a_share_is_read_into_arrays_that_lie_in_any_way) {
  const SharedDirectory directory;
  const Writers writers;
  const std::vector<double> unk = with_ghosts(nullptr);
  const std::vector<float> single(unk.begin(), unk.end());
  write(directory.path(), writers, [&](octavo_writer* writer) {
    octavo_error error;
    EXPECT_EQ(put_tree(writer, writers), 0);
    const octavo_array dens = ghosted(OCTAVO_FLOAT64, unk.data(), 6, 1, 2);
    const octavo_array temp = ghosted(OCTAVO_FLOAT32, single.data() + 1, 6, 1, 2);
    EXPECT_EQ(octavo_writer_put_field(writer, "dens", "", &dens, &error), 0) << error.message;
    EXPECT_EQ(octavo_writer_put_field(writer, "temp", "", &temp, &error), 0) << error.message;
  });
  octavo_restart* tree = share_of(directory.path(), false);
  const Share share(tree);
  const auto cells = share.corners.size();
  std::vector<double> memory(72 * cells, -7);
  std::vector<std::int64_t> order(cells);
  for (std::size_t i = 0; i < cells; ++i) order[i] = static_cast<std::int64_t>(cells - 1 - i);
  if (cells > 2) order[1] = -1;  // not wanted
  octavo_error error;
  for (int v = 0; v < 2; ++v) {
    octavo_array to = ghosted(OCTAVO_FLOAT64, memory.data() + v, std::int64_t(cells), 1, 2);
    to.order = order.data();
    EXPECT_EQ(octavo_restart_get_field(tree, v == 0 ? "dens" : "temp", &to, &error), 0) << error.message;
  }
  const std::vector<double> dens = field_of(tree, "dens"), temp = field_of(tree, "temp");
  for (std::size_t i = 0; i < cells; ++i)
    for (std::int64_t y = -1; y < 5; ++y)
      for (std::int64_t x = -1; x < 5; ++x) {
        const bool untouched = x < 0 || x > 3 || y < 0 || y > 3 || (cells > 2 && i == 1);
        const std::size_t at = 72 * (cells - 1 - i) + 2 * static_cast<std::size_t>(6 * (y + 1) + x + 1);
        const std::size_t v = 16 * i + static_cast<std::size_t>(untouched ? 0 : 4 * y + x);
        EXPECT_EQ(memory[at], untouched ? -7 : dens[v]);
        EXPECT_EQ(memory[at + 1], untouched ? -7 : temp[v]);
      }
  octavo_restart_free(&tree);

  octavo_restart* boxes = share_of(directory.path(), true);
  octavo_boxes mine = octavo_boxes_default();
  EXPECT_EQ(octavo_restart_get_boxes(boxes, &mine, &error), 0);
  const auto count = static_cast<std::size_t>(info_of(boxes).boxes);
  std::vector<std::vector<double>> arrays(count);
  std::vector<void*> at(count);
  for (std::size_t b = 0; b < count; ++b) {
    const std::int64_t* corners = mine.boxes + 6 * b;
    arrays[b].assign(static_cast<std::size_t>((corners[3] - corners[0] + 2) * (corners[4] - corners[1] + 2)), -7);
    at[b] = arrays[b].data();
  }
  octavo_array to = ghosted(OCTAVO_FLOAT64, nullptr, std::int64_t(count), 1, 0);
  to.boxes = at.data();
  EXPECT_EQ(octavo_restart_get_field(boxes, "dens", &to, &error), 0) << error.message;
  const std::vector<double> packed = field_of(boxes, "dens");
  std::size_t next = 0;
  for (std::size_t b = 0; b < count; ++b) {
    const std::int64_t* corners = mine.boxes + 6 * b;
    const std::int64_t nx = corners[3] - corners[0];
    EXPECT_EQ(arrays[b].front(), -7);
    for (std::int64_t y = 0; y < corners[4] - corners[1]; ++y)
      for (std::int64_t x = 0; x < nx; ++x)
        EXPECT_EQ(arrays[b][static_cast<std::size_t>((y + 1) * (nx + 2) + x + 1)], packed.at(next++));
  }
  octavo_restart_free(&boxes);
}

TEST(CapiBlocksMpi, what_is_wrong_on_one_rank_is_returned_on_all) {
  const SharedDirectory directory;
  const Writers all;  // all ranks write here
  octavo_writer* writer = open_writer(everyone(), directory.path());
  octavo_error error;
  const MyBoxes mine(all);
  const std::vector<double> unk = with_ghosts(&all);
  const bool wrong = rank() == 0;
  const auto refused = [&](const char* what, bool boxes, const std::function<int()>& puts) {
    EXPECT_EQ(octavo_writer_begin_step(writer, OCTAVO_CHECKPOINT, nullptr, 1, 0, &error), 0) << error.message;
    if (boxes) put_boxes(writer, mine);
    const int code = puts();
    EXPECT_EQ(code == 0, !wrong) << what;
    EXPECT_EQ(octavo_writer_end_step(writer, &error), OCTAVO_USAGE) << what;
    EXPECT_THAT(error.message, HasSubstr(what));
  };
  const auto field = [&](int type, std::int64_t count, int ghost) {
    const octavo_array put = ghosted(static_cast<octavo_type>(type), unk.data(), count, ghost, 2);
    return octavo_writer_put_field(writer, "dens", "", &put, &error);
  };
  refused("type: expected 0 to 11, found 12", true, [&] { return field(wrong ? 12 : 0, mine.count, 1); });
  refused("boxes, found", true, [&] { return field(0, wrong ? mine.count + 1 : mine.count, 1); });
  refused("ghost must not be negative", true, [&] { return field(0, mine.count, wrong ? -1 : 1); });
  const std::vector<double> one_block(16);
  octavo_array array = octavo_array_packed(OCTAVO_FLOAT64, one_block.data(), 6);
  std::vector<std::int64_t> order(6, 0);
  const auto put_array = [&] { return octavo_writer_put_field(writer, "dens", "", &array, &error); };
  array.order = order.data();
  order[3] = wrong ? -2 : 0;
  refused("order: expected -1, or 0 to 4294967294, found -2", false, [&] {
    put_tree(writer, all);
    return put_array();
  });
  order[3] = 0;
  array.centring = wrong ? static_cast<octavo_centring>(5) : OCTAVO_CELL;
  refused("centring: expected 0 to 4, found 5", false, [&] {
    put_tree(writer, all);
    return put_array();
  });
  refused("flow: expected 0 or 1, found 7", false, [&] {
    array.centring = OCTAVO_CELL;
    put_tree(writer, all);
    put_array();
    octavo_writer_end_step(writer, nullptr);
    return octavo_writer_begin_step(writer, static_cast<octavo_flow>(wrong ? 7 : 0), nullptr, 2, 0, &error);
  });
  refused("attribute", true, [&] { return octavo::testing::put_int(writer, wrong ? nullptr : "n", 1, &error); });
  const std::int64_t levels[1] = {wrong ? -1 : 2};
  const std::uint8_t none[2] = {};
  refused("a level of less than 0 cells", false,
          [&] { return octavo::testing::put_tree(writer, 1, levels, none, none, &error); });
  EXPECT_EQ(octavo_writer_close(&writer, &error), 0) << error.message;
}

TEST(CapiBlocksMpi, arrays_that_lie_anywhere_are_of_boxes_and_in_host_memory) {
  const SharedDirectory directory;
  octavo_writer* writer = open_writer(everyone(), directory.path());
  octavo_error error;
  octavo_writer_begin_step(writer, OCTAVO_CHECKPOINT, nullptr, 1, 0, &error);
  double value[1] = {};
  void* const anywhere[1] = {value};
  octavo_array array = octavo_array_packed(OCTAVO_FLOAT64, nullptr, 1);
  array.boxes = anywhere;
  EXPECT_EQ(octavo_writer_put_field(writer, "dens", "", &array, &error), OCTAVO_USAGE);
  EXPECT_THAT(error.message, HasSubstr("no boxes were put before"));
  array = octavo_array_packed(OCTAVO_FLOAT64, nullptr, 0);
  array.space = static_cast<octavo_space>(2);
  EXPECT_EQ(octavo_writer_put_field(writer, "dens", "", &array, &error), OCTAVO_USAGE);
  EXPECT_THAT(error.message, HasSubstr("space: expected 0 or 1, found 2"));
  array.space = OCTAVO_HOST;
  array.centring = OCTAVO_FACE_Z;
  EXPECT_EQ(octavo_writer_put_field(writer, "mag", "", &array, &error), OCTAVO_USAGE);
  EXPECT_THAT(error.message, HasSubstr("centring: expected faces along axes 0 to 1, found axis 2"));
  EXPECT_EQ(octavo_writer_end_step(writer, &error), OCTAVO_USAGE);
  EXPECT_EQ(octavo_writer_close(&writer, &error), 0) << error.message;
}

}  // namespace
