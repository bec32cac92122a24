#include "octavo/step/gradients.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <map>
#include <memory>
#include <numbers>
#include <numeric>
#include <thread>

#include "octavo/base/error.hpp"
#include "octavo/mesh/tree/merge.hpp"
#include "octavo/mesh/tree/prune.hpp"
#include "octavo/step/fields.hpp"
#include "tests/support/random_octree.hpp"

namespace octavo::step {
namespace {

using ::testing::HasSubstr;

/// A step in memory: the parts of a tree that domains own, each with fields of the whole.
struct StepInMemory {
  mesh::Octree tree;
  std::vector<mesh::Octree> domains;
  mesh::Header header;
  std::vector<mesh::Field> fields;
  std::atomic<int> reads = 0;
};

std::shared_ptr<StepInMemory> memory_of(const mesh::Octree& tree, std::size_t domains, bool periodic) {
  auto memory = std::make_shared<StepInMemory>();
  memory->tree = tree;
  memory->domains = testing::random_domains(tree, domains);
  memory->header.dim = tree.dim;
  memory->header.roots = tree.roots;
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(tree.dim); ++axis) {
    memory->header.hi[axis] = static_cast<double>(tree.roots[axis]);
    memory->header.periodic[axis] = periodic;
  }
  for (const char* name : {"density", "velocity_x", "velocity_y", "velocity_z"}) {
    memory->fields.push_back(testing::smooth_field(tree, name, 7 + memory->fields.size()));
    memory->header.fields.push_back(memory->fields.back().info);
  }
  return memory;
}

mesh::Dataset dataset_in(const std::shared_ptr<StepInMemory>& memory) {
  mesh::Dataset dataset;
  dataset.path = "memory";
  dataset.header = memory->header;
  dataset.num_parts = static_cast<int>(memory->domains.size());
  dataset.parts_touching = [memory](const mesh::Region&) {
    std::vector<int> all(memory->domains.size());
    std::iota(all.begin(), all.end(), 0);
    return all;
  };
  dataset.read = [memory](int index, const mesh::Request& request) {
    ++memory->reads;
    const mesh::Octree& domain = memory->domains[static_cast<std::size_t>(index)];
    const mesh::Extract extract = mesh::prune(domain);
    mesh::Part part{index, extract.tree, {}, {}};
    for (const std::size_t f : mesh::select_fields(memory->header, request.fields))
      part.fields.push_back(
          {memory->fields[f].info, mesh::gather(domain, extract, memory->fields[f].bytes, sizeof(double))});
    return part;
  };
  return dataset;
}

/// The values of all leaves by place, of one field.
using ByPlace = std::map<std::pair<int, mesh::Coordinate>, double>;

void take_leaves(const mesh::Part& part, const std::string& name, ByPlace& to) {
  const mesh::Octree& tree = mesh::octree_of(part);
  for (const mesh::Field& field : part.fields) {
    if (field.info.name != name) continue;
    std::size_t value = 0;
    std::vector<mesh::Coordinate> at = mesh::root_coordinates(tree);
    for (int level = 0; level < mesh::num_levels(tree); ++level) {
      const auto l = static_cast<std::size_t>(level);
      for (std::size_t i = 0; i < at.size(); ++i, ++value)
        if (tree.owned[l][i] && !tree.refined[l][i]) to[{level, at[i]}] = field.as<double>()[value];
      if (level + 1 < mesh::num_levels(tree)) at = mesh::child_coordinates(tree, level, at);
    }
  }
}

mesh::Request request_for(const std::string& name) {
  mesh::Request request;
  request.fields = std::vector<std::string>{name};
  return request;
}

ByPlace leaves_of(const mesh::Dataset& dataset, const std::string& name) {
  ByPlace all;
  const mesh::Dataset made = with_fields(dataset, {name});
  for (int part = 0; part < made.num_parts; ++part) take_leaves(made.read(part, request_for(name)), name, all);
  return all;
}

mesh::Octree refined_tree() {
  testing::TreeOptions options;
  options.dim = 3;
  options.roots = {2, 2, 2};
  options.max_levels = 4;
  options.refine = 0.4;
  return testing::random_octree(3, options);
}

mesh::Octree uniform_tree(int levels) {
  testing::TreeOptions options;
  options.dim = 2;
  options.roots = {1, 1, 1};
  options.max_levels = levels;
  options.refine = 1;
  options.max_cells = 1000000;
  return testing::random_octree(1, options);
}

void expect_same_leaves(const ByPlace& found, const ByPlace& right) {
  ASSERT_EQ(found.size(), right.size());
  for (const auto& [place, value] : right) {
    EXPECT_FALSE(std::isnan(value));
    EXPECT_EQ(std::bit_cast<std::uint64_t>(found.at(place)), std::bit_cast<std::uint64_t>(value));
  }
}

TEST(Gradients, HaveTheSameBitsInAnyDomains) {
  const mesh::Octree tree = refined_tree();
  for (const char* name : {"gradient_x(density)", "divergence(velocity)", "norm(vorticity(velocity))", "vorticity_z",
                           "where(divergence > 0, gradient_z(density^2), -1)"}) {
    const ByPlace right = leaves_of(dataset_in(memory_of(tree, 1, true)), name);
    for (const std::size_t domains : {3U, 8U})
      expect_same_leaves(leaves_of(dataset_in(memory_of(tree, domains, true)), name), right);
  }
}

TEST(Gradients, OnThreadsHaveTheSameBits) {
  const auto memory = memory_of(refined_tree(), 6, true);
  const std::string name = "divergence(velocity)";
  const ByPlace right = leaves_of(dataset_in(memory), name);
  const mesh::Dataset made = with_fields(dataset_in(memory), {name});
  std::array<ByPlace, 6> found;
  std::vector<std::thread> threads;
  for (int part = 0; part < 6; ++part)
    threads.emplace_back(
        [&, part] { take_leaves(made.read(part, request_for(name)), name, found[static_cast<std::size_t>(part)]); });
  for (std::thread& thread : threads) thread.join();
  ByPlace all;
  for (ByPlace& some : found) all.merge(some);
  expect_same_leaves(all, right);
}

TEST(Gradients, OfSomePartsNeedTheStep) {
  const mesh::Dataset whole = dataset_in(memory_of(refined_tree(), 8, true));
  const ByPlace right = leaves_of(whole, "divergence");
  const mesh::Dataset some = only_parts(whole, {2, 5});
  ByPlace found;
  const mesh::Dataset made = with_fields(some, {"divergence"}, {}, SharedStep(whole));
  for (int part = 0; part < 2; ++part) take_leaves(made.read(part, request_for("divergence")), "divergence", found);
  ASSERT_FALSE(found.empty());
  for (const auto& [place, value] : found) EXPECT_EQ(value, right.at(place));
  const mesh::Dataset alone = with_fields(some, {"divergence"});
  EXPECT_THROW(alone.read(0, request_for("divergence")), base::Error);
}

TEST(Gradients, ReadEachPartForItsNeighboursOnce) {
  const auto memory = memory_of(refined_tree(), 8, true);
  leaves_of(dataset_in(memory), "gradient_x(density)");
  EXPECT_LE(memory->reads, 16);  // for itself, and for the leaves that others look at
}

TEST(Gradients, OfASineAreOfSecondOrder) {
  std::vector<double> errors;
  for (const int levels : {4, 5, 6}) {
    const mesh::Dataset dataset = dataset_in(memory_of(uniform_tree(levels), 3, true));
    const std::string name = "gradient_y(sin(2*pi*y)*cos(2*pi*x)) - 2*pi*cos(2*pi*y)*cos(2*pi*x)";
    double worst = 0;
    for (const auto& [place, value] : leaves_of(dataset, name)) worst = std::max(worst, std::abs(value));
    errors.push_back(worst);
  }
  EXPECT_GT(errors[0] / errors[1], 3.4);  // on few cells no middle is where the cosine is 1
  EXPECT_GT(errors[1] / errors[2], 3.8);
}

TEST(Gradients, OfAPeriodicBoxHaveNoNetDivergence) {
  double net = 0, size = 0;
  for (const auto& [place, value] : leaves_of(dataset_in(memory_of(uniform_tree(6), 4, true)), "divergence")) {
    net += value;
    size += std::abs(value);
  }
  EXPECT_GT(size, 0);
  EXPECT_LT(std::abs(net), 1e-12 * size);
}

TEST(Gradients, OfATurningBodyAreTwiceItsRate) {
  const Definitions own{{"v_x", "-3*y"}, {"v_y", "3*x"}};
  const mesh::Dataset dataset = dataset_in(memory_of(uniform_tree(5), 3, false));
  for (const auto& [name, right] :
       {std::pair<std::string, double>{"vorticity_z(v)", 6}, {"norm(vorticity(v))", 6}, {"divergence(v)", 0}}) {
    ByPlace found;
    const mesh::Dataset made = with_fields(dataset, {name}, own);
    for (int part = 0; part < made.num_parts; ++part) take_leaves(made.read(part, request_for(name)), name, found);
    for (const auto& [place, value] : found) EXPECT_NEAR(value, right, 1e-12) << name;
  }
}

TEST(Gradients, AtPointsOfTrianglesAreThoseOfALinearFunction) {
  mesh::Dataset dataset;
  dataset.unstructured = true;
  dataset.num_parts = 1;
  dataset.header.dim = 2;
  dataset.read = [](int, const mesh::Request&) {
    mesh::Part part;
    mesh::Unstructured mesh;
    mesh.x = {0, 1, 0, 1.3, 5};
    mesh.y = {0, 0, 1, 1.1, 5};
    mesh.connectivity = {0, 1, 2, 1, 3, 2};
    part.mesh = mesh;
    return part;
  };
  const mesh::Part part = with_fields(dataset, {"gradient_y(3*x - 2*y)"}).read(0, request_for("gradient_y(3*x - 2*y)"));
  ASSERT_EQ(part.fields.size(), 1U);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(part.fields[0].as<double>()[i], -2, 1e-12);
  EXPECT_TRUE(std::isnan(part.fields[0].as<double>()[4]));  // of no triangle
}

TEST(Gradients, ThatAreNoneAreRefusedWithTheFix) {
  const mesh::Dataset dataset = dataset_in(memory_of(uniform_tree(3), 1, true));
  const auto said = [&](const std::string& name, const Definitions& own = {}) -> std::string {
    try {
      with_fields(dataset, {name}, own);
    } catch (const base::Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(said("gradient(density)"), HasSubstr("norm(gradient(...))"));
  EXPECT_THAT(said("vorticity(velocity)"), HasSubstr("vorticity_z(...)"));
  EXPECT_THAT(said("gradient_z(density)"), HasSubstr("no slope along z"));
  EXPECT_THAT(said("gradient_x(gradient_y(density))"), HasSubstr("without another slope"));
  EXPECT_THAT(said("gradient_x(divergence)"), HasSubstr("a slope of a slope"));
  EXPECT_THAT(said("divergence(density + 1)"), HasSubstr("told by its name"));
  EXPECT_THAT(said("divergence(speeed)"), HasSubstr("speeed_x"));
  EXPECT_THAT(said("gradient_x(densty)"), HasSubstr("density"));
  EXPECT_THAT(said("a", {{"a", "gradient_x(b)"}, {"b", "gradient_y(a)"}}), HasSubstr("slope"));
  EXPECT_NE(said("v_x", {{"v_x", "norm(vorticity(v))"}, {"v_y", "x"}}), "");
}

}  // namespace
}  // namespace octavo::step
