#include <gmock/gmock.h>

#include <memory>
#include <numeric>
#include <set>

#include "octavo/engine/restart/reshape.hpp"
#include "octavo/mesh/tree/merge.hpp"
#include "octavo/step/regrid.hpp"
#include "tests/support/cell_map.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/mpi_run.hpp"

namespace octavo::engine {
namespace {

using testing::everyone;
using ::testing::HasSubstr;
using testing::message_of;
using testing::rank;
using testing::size;

constexpr int num_parts_cut = 24;

// A step in memory: gas, an integer, and maybe a vector on faces. Each rank has it.
mesh::Dataset make_step(std::uint64_t seed, int dim, std::int64_t side, bool faces = true) {
  const mesh::Index3 block{side, dim > 1 ? side : 1, dim > 2 ? side : 1};
  mesh::Part part;
  const mesh::Octree tree = testing::random_octree(
      seed, {.dim = dim, .roots = {4, 2, 4}, .block = block, .max_levels = 4, .refine = 0.3, .max_cells = 1500});
  for (const char* name : {"density", "velocity_x"})
    part.fields.push_back(testing::smooth_field(tree, name, seed + part.fields.size()));
  part.fields.push_back(testing::random_field(tree, {"flag", "", mesh::ScalarType::int32, {}, 1, 0}, seed));
  testing::Random random(seed);
  for (int axis = 0; axis < (faces ? dim : 0); ++axis)
    for (const char* half : {"_left", "_right"}) {
      const mesh::FieldInfo info{std::string("b_") + "xyz"[axis] + half, "", mesh::ScalarType::float64,
                                 static_cast<mesh::Centring>(axis + 1),  1,  0};
      part.fields.push_back(mesh::make_field(info, num_cells(tree) * block_size(tree)));
      for (double& value : part.fields.back().as<double>()) value = random.uniform();
    }
  part.mesh = tree;
  mesh::Header header;
  header.code = "RAMSES";
  header.hi = {2, 1, 2};
  header.periodic = {true, false, true};
  return testing::step_of(header, {part});
}

// The same in many parts, as the restart has it. `read`: the parts whose mesh or values this rank reads.
StepParts in_parts(const mesh::Dataset& whole, const std::shared_ptr<std::set<int>>& read) {
  StepParts step;
  step.dataset = testing::cut(whole, num_parts_cut);
  step.dataset.read = [read, of = step.dataset.read](int part, const mesh::Request& request) {
    read->insert(part);
    return of(part, request);
  };
  return step;
}

std::int64_t sum_of(std::int64_t mine) {
  MPI_Allreduce(MPI_IN_PLACE, &mine, 1, MPI_INT64_T, MPI_SUM, everyone());
  return mine;
}

// This rank's cells are some of the whole's with the same values, and all ranks' together are all of these.
void expect_a_share_of(const mesh::Dataset& whole, const Reblocked& mine, const std::string& field) {
  const auto found = testing::cells_of_step(testing::step_of(mine.header, {mine.part}), field);
  const auto expected = testing::cells_of_step(whole, field);
  EXPECT_EQ(found.twice, 0u);
  testing::CellMap same;
  for (const auto& [at, value] : found.all)
    if (const auto cell = expected.all.find(at); cell != expected.all.end()) same.insert(*cell);
  EXPECT_TRUE(testing::same(found.all, same)) << field;
  EXPECT_EQ(sum_of(std::ssize(found.all)), std::ssize(expected.all));
}

mesh::Part tree_only(const mesh::Dataset& step) {
  mesh::Part part;
  part.mesh = mesh::whole_tree(step, 0);
  return part;
}

struct Case {
  std::uint64_t seed;
  int dim;
  std::int64_t from, to;  // cells of a block along each axis
  mesh::FillBy by = mesh::FillBy::linear;
  bool faces = true;
};

void expect_blocks(const Case& one, const std::optional<std::vector<std::string>>& fields) {
  SCOPED_TRACE("seed " + std::to_string(one.seed) + " from " + std::to_string(one.from) + " to " +
               std::to_string(one.to));
  const mesh::Dataset whole = make_step(one.seed, one.dim, one.from, one.faces);
  step::RegridJob job;
  job.how.block = {one.to, one.dim > 1 ? one.to : 1, one.dim > 2 ? one.to : 1};
  job.how.fill = true;
  job.how.by = one.by;
  job.part_cells = 0;
  const step::Regridded made = step::regrid(whole, job);
  RestartOptions options;
  options.block = job.how.block;
  options.fill = true;
  options.fill_by = one.by;
  const auto read = std::make_shared<std::set<int>>();
  StepParts step = in_parts(whole, read);
  const Reblocked mine = read_blocks(everyone(), step, options, {.fields = fields});
  EXPECT_EQ(mine.fills, made.plan.fills);
  EXPECT_EQ(mine.header.roots, made.dataset.header.roots);
  // The tree, its closing cells too, is that which a split of the whole gives.
  const mesh::Part tree = tree_only(made.dataset);
  const auto split = mesh::split(std::span(&tree, 1), mesh::plan_split(std::span(&tree, 1), size()));
  EXPECT_EQ(mine.part.mesh, split[static_cast<std::size_t>(rank())].mesh);
  for (const std::size_t f : mesh::select_fields(whole.header, fields))
    expect_a_share_of(made.dataset, mine, whole.header.fields[f].name);
}

TEST(BlocksMpi, shares_are_those_of_the_whole_step_in_other_blocks) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed)
    for (const int dim : {1, 2, 3}) {
      expect_blocks({seed, dim, 2, 1}, {});
      expect_blocks({seed, dim, 4, 2}, {});
      expect_blocks({seed, dim, 2, 2}, {});
    }
}

TEST(BlocksMpi, made_values_are_those_of_the_whole_step) {
  const std::vector<std::string> cells{"density", "velocity_x", "flag"};
  for (std::uint64_t seed = 11; seed <= 13; ++seed)
    for (const int dim : {1, 2, 3})
      for (const mesh::FillBy by : {mesh::FillBy::linear, mesh::FillBy::constant}) {
        expect_blocks({seed, dim, 1, 2, by}, {cells});
        expect_blocks({seed, dim, 2, 4, by}, {cells});
      }
}

TEST(BlocksMpi, made_values_of_faces_are_those_of_the_whole_step) {
  for (std::uint64_t seed = 21; seed <= 24; ++seed)
    for (const int dim : {2, 3})
      for (const mesh::FillBy by : {mesh::FillBy::linear, mesh::FillBy::constant})
        expect_blocks({seed, dim, 1, 2, by}, {});
}

// Leaves of the step may be coarser than the cells of the new roots.
TEST(BlocksMpi, coarse_leaves_give_their_values_to_the_roots) {
  for (std::uint64_t seed = 31; seed <= 33; ++seed) {
    expect_blocks({seed, 2, 1, 4, mesh::FillBy::linear, false}, {});
    expect_blocks({seed, 3, 1, 8, mesh::FillBy::linear, false}, {});
  }
}

TEST(BlocksMpi, a_rank_reads_only_parts_near_its_own_blocks) {
  const mesh::Octree tree = testing::random_octree(
      1, {.dim = 2, .roots = {48, 48, 1}, .block = {2, 2, 1}, .max_levels = 2, .refine = 0.2, .max_cells = 9000});
  mesh::Part part;
  part.mesh = tree;
  part.fields.push_back(testing::smooth_field(tree, "density", 1));
  const auto read = std::make_shared<std::set<int>>();
  StepParts step = in_parts(testing::step_of({}, {part}), read);
  RestartOptions options;
  options.block = mesh::Index3{1, 1, 1};
  read_blocks(everyone(), step, options, {});
  // Its share, the parts dealt to it, and those in the way of its share of the cells.
  EXPECT_LE(std::ssize(*read), num_parts_cut / size() + (size() == 1 ? 0 : 10));
}

TEST(BlocksMpi, blocks_that_are_not_complete_are_refused_on_all_ranks_with_their_number) {
  const mesh::Dataset whole = make_step(41, 3, 1);
  RestartOptions options;
  options.block = mesh::Index3{2, 2, 2};
  step::RegridJob job;
  job.how.block = *options.block;
  std::string expected = message_of([&] { step::regrid(whole, job); });
  expected = expected.substr(0, expected.find(" blocks are missing"));
  StepParts step = in_parts(whole, std::make_shared<std::set<int>>());
  const std::string message = message_of([&] { read_blocks(everyone(), step, options, {}); });
  EXPECT_THAT(message, HasSubstr("cells of "));
  EXPECT_THAT(message, HasSubstr(expected));
  testing::expect_same_everywhere(message);
}

TEST(BlocksMpi, a_step_of_a_region_only_is_refused) {
  const mesh::Dataset whole = testing::cut(make_step(51, 2, 2), 4);
  std::vector<mesh::Part> some;
  for (int part = 0; part < 3; ++part) some.push_back(whole.read(part, {}));
  StepParts step;
  step.dataset = testing::step_of(whole.header, std::move(some));
  RestartOptions options;
  options.block = mesh::Index3{1, 1, 1};
  const std::string message = message_of([&] { read_blocks(everyone(), step, options, {}); });
  EXPECT_THAT(message, HasSubstr("does not hold the whole domain"));
  testing::expect_same_everywhere(message);
}

}  // namespace
}  // namespace octavo::engine
