#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>

#include "capi/octavo.h"
#include "tests/support/mpi_run.hpp"

namespace {

using octavo::testing::everyone;
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
  octavo_writer_options options = octavo_writer_options_default();
  options.block[0] = options.block[1] = 4;
  octavo_writer* writer = nullptr;
  octavo_error error;
  EXPECT_EQ(octavo_writer_open_as(comm, store.c_str(), &domain, &options, &writer, &error), 0) << error.message;
  return writer;
}

/// Written by fewer ranks than there are: `puts` puts one step.
void write(const std::string& store, const Writers& writers, const std::function<void(octavo_writer*)>& puts) {
  if (writers.is_one) {
    octavo_error error;
    octavo_writer* writer = open_writer(writers.comm, store);
    EXPECT_EQ(octavo_writer_begin_step(writer, OCTAVO_CHECKPOINT, 7, 0.5, &error), 0) << error.message;
    puts(writer);
    EXPECT_EQ(octavo_writer_end_step(writer, &error), 0) << error.message;
    EXPECT_EQ(octavo_writer_close(&writer, &error), 0) << error.message;
  }
  octavo::testing::barrier();
}

/// Two variables that stand together, a ghost cell around each block: of all blocks, or of this rank's.
std::vector<double> ghosted(const Writers* only) {
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
  return octavo_writer_put_mesh(writer, 2, cells_of_level, refined, owned, &error);
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
  return octavo_writer_put_boxes(writer, 2, &domains[0][0][0], ratio, mine.of_level, mine.corners.data(), &error);
}

octavo_restart* share_of(const std::string& store, bool boxes) {
  octavo_restart_options options = octavo_restart_options_default();
  options.boxes = boxes ? 1 : 0;
  octavo_restart* restart = nullptr;
  octavo_error error;
  EXPECT_EQ(octavo_restart_open_as(everyone(), store.c_str(), &options, &restart, &error), 0) << error.message;
  return restart;
}

std::vector<double> field_of(const octavo_restart* restart, const char* name) {
  octavo_error error;
  std::vector<double> values(static_cast<std::size_t>(octavo_restart_values(restart)));
  EXPECT_EQ(octavo_restart_field(restart, name, OCTAVO_FLOAT64, values.data(), std::ssize(values), &error), 0)
      << error.message;
  return values;
}

std::int64_t all_ranks(std::int64_t mine) {
  MPI_Allreduce(MPI_IN_PLACE, &mine, 1, MPI_INT64_T, MPI_SUM, everyone());
  return mine;
}

/// Where the blocks of this rank's share are, and which it owns.
struct Share {
  std::vector<Corner> corners;
  std::vector<std::uint8_t> owned;
  explicit Share(const octavo_restart* restart) {
    const auto levels = static_cast<std::size_t>(octavo_restart_levels(restart));
    const auto cells = static_cast<std::size_t>(octavo_restart_cells(restart));
    std::vector<std::int64_t> of_level(levels);
    std::vector<std::uint8_t> refined(cells);
    owned.resize(cells);
    octavo_error error;
    EXPECT_EQ(octavo_restart_mesh(restart, of_level.data(), refined.data(), owned.data(), &error), 0);
    for (std::int64_t root = 0; root < of_level.at(0); ++root) corners.push_back({0, 4 * root, 0});
    for (std::size_t i = 0; i < cells; ++i)
      for (std::int64_t child = 0; refined[i] != 0 && child < 4; ++child)
        corners.push_back({corners[i].level + 1, 2 * corners[i].x + child % 2 * 4, 2 * corners[i].y + child / 2 * 4});
  }
};

/// Every owned value of the two fields is what was put; each of the 96 is owned once.
void expect_blocks(const std::string& store) {
  octavo_restart* restart = share_of(store, false);
  octavo_domain domain;
  std::int64_t block[3] = {};
  octavo_error error;
  EXPECT_EQ(octavo_restart_domain(restart, &domain, block, &error), 0);
  EXPECT_EQ(block[0], 4);
  EXPECT_EQ(block[2], 1);
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
  const auto levels = static_cast<std::size_t>(octavo_restart_levels(restart));
  ASSERT_EQ(levels, 2u);
  std::int64_t domain[2][2][3], of_level[2];
  std::vector<std::int64_t> boxes(6 * static_cast<std::size_t>(octavo_restart_num_boxes(restart)));
  int found_ratio = 0;
  octavo_error error;
  EXPECT_EQ(octavo_restart_boxes(restart, &domain[0][0][0], &found_ratio, of_level, boxes.data(), &error), 0);
  EXPECT_TRUE(std::equal(&domain[0][0][0], &domain[0][0][0] + 12, &domains[0][0][0]));
  EXPECT_EQ(found_ratio, 2);
  const std::vector<double> dens = field_of(restart, "dens"), temp = field_of(restart, "temp");
  std::size_t next = 0;
  for (std::size_t b = 0; b < boxes.size() / 6; ++b) {
    const std::int64_t* corners = &boxes[6 * b];
    const int level = static_cast<std::int64_t>(b) < of_level[0] ? 0 : 1;
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
  const std::vector<double> unk = ghosted(nullptr);
  write(directory.path(), writers, [&](octavo_writer* writer) {
    octavo_error error;
    EXPECT_EQ(put_tree(writer, writers), 0);
    for (int v = 0; v < 2; ++v)
      EXPECT_EQ(octavo_writer_put_blocks(writer, v == 0 ? "dens" : "temp", "K", OCTAVO_FLOAT64, unk.data() + v, 6, 1, 2,
                                         OCTAVO_HOST, &error),
                0)
          << error.message;
  });
  expect_blocks(directory.path());
  expect_boxes(directory.path());
}

TEST(CapiBlocksMpi, boxes_come_back_however_their_arrays_lie) {
  const SharedDirectory directory;
  const Writers writers;
  const MyBoxes mine(writers);
  const std::vector<double> unk = ghosted(&writers);
  for (const bool one_by_one : {false, true}) {
    const std::string store = directory.path() / (one_by_one ? "b" : "a");
    write(store, writers, [&](octavo_writer* writer) {
      octavo_error error;
      EXPECT_EQ(put_boxes(writer, mine), 0);
      for (int v = 0; v < 2; ++v) {
        std::vector<const void*> arrays;
        for (std::int64_t b = 0; b < mine.count; ++b) arrays.push_back(unk.data() + 72 * b + v);
        const char* name = v == 0 ? "dens" : "temp";
        if (one_by_one)
          octavo_writer_put_arrays(writer, name, "", OCTAVO_FLOAT64, arrays.data(), mine.count, 1, 2, OCTAVO_HOST,
                                   &error);
        else
          octavo_writer_put_blocks(writer, name, "", OCTAVO_FLOAT64, unk.data() + v, mine.count, 1, 2, OCTAVO_HOST,
                                   &error);
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
    EXPECT_EQ(octavo_writer_put_field(writer, "dens", "", OCTAVO_FLOAT64, dens.data(), std::ssize(dens), 1, OCTAVO_HOST,
                                      &error),
              0);
    EXPECT_EQ(octavo_writer_put_blocks(writer, "temp", "", OCTAVO_FLOAT64, temp.data(), mine.count, 0, 0, OCTAVO_HOST,
                                       &error),
              0);
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
    EXPECT_EQ(
        octavo_writer_put_faces(writer, "mag", "G", 1, OCTAVO_FLOAT64, faces.data(), 6, 0, 1, OCTAVO_HOST, &error), 0)
        << error.message;
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
    octavo_array array = octavo_array_default();
    array.cells = 6;
    array.stride_cell = 32;
    array.stride[0] = 8;
    array.stride[1] = 2;
    array.stride_component = 1;
    std::vector<std::int64_t> gone = order;  // copied by the put
    array.order = gone.data();
    for (int v = 0; v < 2; ++v) {
      array.values = memory.data() + v;
      EXPECT_EQ(octavo_writer_put_array(writer, v == 0 ? "dens" : "temp", "K", &array, &error), 0) << error.message;
    }
    array.values = memory.data();
    array.components = 2;
    EXPECT_EQ(octavo_writer_put_array(writer, "both", "K", &array, &error), 0) << error.message;
    gone.assign(6, 1000);
    octavo_array of_particles = octavo_array_default();
    of_particles.values = spin.data();
    of_particles.cells = 3;
    of_particles.components = 2;
    of_particles.stride_cell = 1;
    of_particles.stride_component = 3;
    EXPECT_EQ(octavo_writer_put_particle_array(writer, "stars", "spin", "cm^2/s", &of_particles, &error), 0)
        << error.message;
    for (const char* name : {"position_x", "position_y"})
      octavo_writer_put_particles(writer, "stars", name, OCTAVO_FLOAT64, spin.data(), 3, 1, OCTAVO_HOST, &error);
  });
  expect_blocks(directory.path());
  octavo_restart* restart = share_of(directory.path(), false);
  const Share share(restart);
  octavo_error error;
  const std::vector<double> dens = field_of(restart, "dens");
  std::vector<double> both(2 * dens.size());
  EXPECT_EQ(octavo_restart_field(restart, "both", OCTAVO_FLOAT64, both.data(), std::ssize(both), &error), 0)
      << error.message;
  for (std::size_t i = 0; i < both.size(); ++i) {
    if (share.owned[i / 32] == 0) continue;
    EXPECT_EQ(both[i], i % 2 == 0 ? dens[i / 2] : -dens[i / 2]);
  }
  std::vector<double> found(2 * static_cast<std::size_t>(octavo_restart_count(restart, "stars")));
  EXPECT_EQ(octavo_restart_particles(restart, "stars", "spin", OCTAVO_FLOAT64, found.data(), std::ssize(found), &error),
            0)
      << error.message;
  for (std::size_t i = 0; i < found.size(); i += 2) EXPECT_EQ(found[i + 1], found[i] + 3);
  EXPECT_EQ(all_ranks(std::ssize(found)), 6 * writers.size);
  octavo_restart_free(&restart);
}

TEST(CapiBlocksMpi, what_is_wrong_on_one_rank_is_returned_on_all) {
  const SharedDirectory directory;
  const Writers all;  // all ranks write here
  octavo_writer* writer = open_writer(everyone(), directory.path());
  octavo_error error;
  const MyBoxes mine(all);
  const std::vector<double> unk = ghosted(&all);
  const bool wrong = rank() == 0;
  const auto refused = [&](const char* what, bool boxes, const std::function<int()>& puts) {
    EXPECT_EQ(octavo_writer_begin_step(writer, OCTAVO_CHECKPOINT, 1, 0, &error), 0) << error.message;
    if (boxes) put_boxes(writer, mine);
    const int code = puts();
    EXPECT_EQ(code == 0, !wrong) << what;
    EXPECT_EQ(octavo_writer_end_step(writer, &error), OCTAVO_USAGE) << what;
    EXPECT_THAT(error.message, HasSubstr(what));
  };
  const auto field = [&](int type, std::int64_t count, int ghost) {
    return octavo_writer_put_blocks(writer, "dens", "", type, unk.data(), count, ghost, 2, OCTAVO_HOST, &error);
  };
  refused("type: expected 0 to 7, found 9", true, [&] { return field(wrong ? 9 : 0, mine.count, 1); });
  refused("boxes, found", true, [&] { return field(0, wrong ? mine.count + 1 : mine.count, 1); });
  refused("ghost and stride must not be negative", true, [&] { return field(0, mine.count, wrong ? -1 : 1); });
  octavo_array array = octavo_array_default();
  const std::vector<double> one_block(16);
  array.cells = 6;
  array.values = one_block.data();
  std::vector<std::int64_t> order(6, 0);
  const auto put_array = [&] { return octavo_writer_put_array(writer, "dens", "", &array, &error); };
  array.order = order.data();
  order[3] = wrong ? -2 : 0;
  refused("order: expected -1, or 0 to 4294967294, found -2", false, [&] {
    put_tree(writer, all);
    return put_array();
  });
  order[3] = 0;
  array.centring = wrong ? 5 : 0;
  refused("centring: expected 0 to 4, found 5", false, [&] {
    put_tree(writer, all);
    return put_array();
  });
  refused("flow: expected 0 or 1, found 7", false, [&] {
    array.centring = 0;
    put_tree(writer, all);
    put_array();
    octavo_writer_end_step(writer, nullptr);
    return octavo_writer_begin_step(writer, wrong ? 7 : 0, 2, 0, &error);
  });
  refused("attribute", true, [&] { return octavo_writer_put_int(writer, wrong ? nullptr : "n", 1, &error); });
  const std::int64_t levels[1] = {wrong ? -1 : 2};
  const std::uint8_t none[2] = {};
  refused("a level of less than 0 cells", false,
          [&] { return octavo_writer_put_mesh(writer, 1, levels, none, none, &error); });
  EXPECT_EQ(octavo_writer_close(&writer, &error), 0) << error.message;
}

TEST(CapiBlocksMpi, arrays_that_lie_anywhere_are_of_boxes_and_in_host_memory) {
  const SharedDirectory directory;
  octavo_writer* writer = open_writer(everyone(), directory.path());
  octavo_error error;
  octavo_writer_begin_step(writer, OCTAVO_CHECKPOINT, 1, 0, &error);
  EXPECT_EQ(octavo_writer_put_arrays(writer, "dens", "", 0, nullptr, 0, 0, 1, OCTAVO_HOST, &error), OCTAVO_USAGE);
  EXPECT_THAT(error.message, HasSubstr("no boxes were put before"));
  EXPECT_EQ(octavo_writer_put_blocks(writer, "dens", "", 0, nullptr, 0, 0, 1, 1, &error), OCTAVO_UNSUPPORTED);
  EXPECT_EQ(octavo_writer_put_faces(writer, "mag", "", 2, 0, nullptr, 0, 0, 1, OCTAVO_HOST, &error), OCTAVO_USAGE);
  EXPECT_THAT(error.message, HasSubstr("axis: expected 0 to 1, found 2"));
  EXPECT_EQ(octavo_writer_end_step(writer, &error), OCTAVO_USAGE);
  EXPECT_EQ(octavo_writer_close(&writer, &error), 0) << error.message;
  octavo_writer_options options = octavo_writer_options_default();
  EXPECT_EQ(octavo_writer_open_as(everyone(), "x", nullptr, &options, &writer, &error), OCTAVO_USAGE);
  const octavo_domain domain = octavo_domain_default();
  EXPECT_EQ(octavo_writer_open_as(everyone(), "x", &domain, nullptr, &writer, &error), OCTAVO_USAGE);
}

}  // namespace
