#include <gtest/gtest.h>

#include <cmath>

#include "apps/bubble/step.hpp"
#include "apps/patches/step.hpp"
#include "tests/support/mpi_run.hpp"

namespace octavo::bubble {
namespace {

using patches::Shape;
using testing::everyone;
using testing::Random;

Shape shape_in(int dim, int max_level) {
  Shape shape;
  shape.dim = dim;
  shape.block = dim == 2 ? 8 : 4;
  shape.max_box = 32;
  shape.max_level = max_level;
  shape.variables = 1;
  for (std::size_t axis = 0; axis < 3; ++axis) shape.cells[axis] = axis < static_cast<std::size_t>(dim) ? 32 : 1;
  return shape;
}

std::vector<std::vector<IndexBox>> random_levels(const Shape& shape, Random& random) {
  std::vector<patches::Blocks> flagged(static_cast<std::size_t>(shape.max_level));
  for (std::size_t l = 0; l < flagged.size(); ++l)
    for (int n = 0; n < 3; ++n) {
      Index3 at{0, 0, 0};
      for (std::size_t axis = 0; axis < static_cast<std::size_t>(shape.dim); ++axis)
        at[axis] =
            static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(shape.cells[axis] / shape.block) << l));
      flagged[l].push_back(at);
    }
  return plan_levels(shape, flagged);
}

TEST(BubbleMpi, faces_stay_without_divergence_through_any_regridding) {
  for (int dim : {2, 3}) {
    Random random(static_cast<std::uint64_t>(dim));
    const Shape shape = shape_in(dim, 2);
    Hierarchy mesh = patches::make_hierarchy(everyone(), shape);
    Faces faces = swirl_on(mesh);
    EXPECT_LT(largest_divergence(mesh, make_plans(mesh), faces), 1e-15);
    for (int i = 0; i < 6; ++i) {
      Hierarchy next = with_boxes(mesh, random_levels(shape, random), {});
      faces = regrid_faces(mesh, faces, next);
      mesh = std::move(next);
      EXPECT_GT(mesh.levels.size(), 1U);
      EXPECT_LT(largest_divergence(mesh, make_plans(mesh), faces), 4e-15);
    }
  }
}

TEST(BubbleMpi, faces_of_boxes_side_by_side_have_the_same_bits) {
  Random random(7);
  const Shape shape = shape_in(2, 2);
  const Hierarchy coarse = patches::make_hierarchy(everyone(), shape);
  const Hierarchy first = with_boxes(coarse, random_levels(shape, random), {});
  const Faces some = regrid_faces(coarse, swirl_on(coarse), first);
  const Hierarchy mesh = with_boxes(first, random_levels(shape, random), {});
  const Faces faces = regrid_faces(first, some, mesh);
  for (std::size_t axis = 0; axis < 2; ++axis)
    for (std::size_t l = 0; l < mesh.levels.size(); ++l) {
      // A face that belongs to two boxes counts twice in the sum over boxes.
      const IndexBox all = faces_of(domain_of(shape, static_cast<int>(l)), axis);
      Values sum = patches::make_values(all, 1), count = patches::make_values(all, 1);
      for (const auto& box : faces.of[l])
        patches::for_each_cell(box[axis].box, [&](const Index3& at) {
          sum.at(0, at) += box[axis].at(0, at);
          count.at(0, at) += 1;
        });
      MPI_Allreduce(MPI_IN_PLACE, sum.data.data(), static_cast<int>(sum.data.size()), MPI_DOUBLE, MPI_SUM, everyone());
      MPI_Allreduce(MPI_IN_PLACE, count.data.data(), static_cast<int>(sum.data.size()), MPI_DOUBLE, MPI_SUM,
                    everyone());
      for (const auto& box : faces.of[l])
        patches::for_each_cell(
            box[axis].box, [&](const Index3& at) { ASSERT_EQ(sum.at(0, at), count.at(0, at) * box[axis].at(0, at)); });
    }
}

TEST(BubbleMpi, a_restart_on_a_finer_mesh_is_without_divergence_and_has_the_old_bits) {
  const testing::SharedDirectory directory;
  const Shape shape = shape_in(2, 1);
  Random random(5);
  const Hierarchy base = patches::make_hierarchy(everyone(), shape);
  Hierarchy mesh = with_boxes(base, random_levels(shape, random), {});
  set_bubbles(mesh);
  average_down(mesh, make_plans(mesh));
  const Faces faces = regrid_faces(base, swirl_on(base), mesh);
  engine::Options options;
  options.mode = engine::Mode::sync;
  {
    const mesh::Header header = patches::unfolded(header_of(shape, "octavo-bubble"));
    engine::Writer writer(everyone(), directory.path() / "run.octavo", header, options);
    writer.begin_step(store::Flow::checkpoint, 3, 0.5);
    put(writer, mesh, faces, true);
    writer.end_step();
    writer.close();
  }
  for (int ranks = 1; ranks <= ranks::size_of(everyone()); ++ranks) {
    const int rank = ranks::rank_in(everyone());
    const ranks::OwnComm comm = ranks::split(everyone(), rank < ranks ? 0 : 1, rank);
    if (rank < ranks) {
      const auto from = engine::restart(comm.get(), directory.path() / "run.octavo");
      EXPECT_EQ(from->header.fields.at(1).name, "velocity_x_left");
      EXPECT_EQ(from->header.fields.at(1).centring, mesh::Centring::face_x);
      Shape finer = shape;
      finer.max_level = 3;
      const State state = from_step(comm.get(), finer, *from);
      for_each_patch(state.mesh, [&](int level, const Values& values, const IndexBox& box) {
        if (level != 1) return;
        for_each_touching(mesh.levels[1].index, box, [&](std::size_t i, const IndexBox& common) {
          if (mesh.levels[1].owner[i] != rank) return;
          patches::for_each_cell(common, [&](const Index3& at) {
            ASSERT_EQ(values.at(0, at), mesh.levels[1].values[mesh.levels[1].slot[i]].at(0, at));
          });
        });
      });
      const Hierarchy next = with_boxes(state.mesh, plan_levels(finer, blocks_near_surface(state.mesh, 4)), {});
      const Faces fine = regrid_faces(state.mesh, state.faces, next);
      EXPECT_LT(largest_divergence(next, make_plans(next), fine), 4e-15);
    }
    MPI_Barrier(everyone());
  }
}

TEST(BubbleMpi, redistancing_brings_back_a_distance_and_leaves_the_surface) {
  const Shape shape = shape_in(2, 0);
  Hierarchy mesh = patches::make_hierarchy(everyone(), shape);
  const patches::Plans plans = make_plans(mesh);
  set_bubbles(mesh);
  const double volume = volume_inside(mesh, plans);
  for_each_patch(mesh, [&](int, Values& values, const IndexBox&) {
    for (double& value : values.data) value *= 3;
  });
  redistance(mesh, plans, 30);
  EXPECT_NEAR(volume_inside(mesh, plans), volume, 0.02 * volume);
  for_each_patch(mesh, [&](int level, const Values& values, const IndexBox& box) {
    const mesh::Point3 width = cell_size(shape, level);
    patches::for_each_cell(box, [&](const Index3& at) {
      const double exact = distance_at(
          {(static_cast<double>(at[0]) + 0.5) * width[0], (static_cast<double>(at[1]) + 0.5) * width[1], 0}, 2);
      if (std::abs(exact) > 0.08) return;
      ASSERT_NEAR(values.at(0, at), exact, 0.5 * width[0]);
    });
  });
}

// A strip four cells thick that lies askew: differences from one side drew ripples into it, a little each time.
TEST(BubbleMpi, redistancing_again_and_again_leaves_a_thin_strip_straight) {
  const Shape shape = shape_in(2, 0);
  Hierarchy mesh = patches::make_hierarchy(everyone(), shape);
  const patches::Plans plans = make_plans(mesh);
  const double width = cell_size(shape, 0)[0];
  const auto strip = [&](const Index3& at) {
    const double x = (static_cast<double>(at[0]) + 0.5) * width - 0.5,
                 y = (static_cast<double>(at[1]) + 0.5) * width - 0.5;
    return 2 * width - std::abs(std::cos(0.3) * x + std::sin(0.3) * y);
  };
  for_each_patch(mesh, [&](int, Values& values, const IndexBox& box) {
    patches::for_each_cell(box, [&](const Index3& at) { values.at(0, at) = strip(at); });
  });
  for (int i = 0; i < 100; ++i) redistance(mesh, plans, 2);
  for_each_patch(mesh, [&](int, const Values& values, const IndexBox& box) {
    patches::for_each_cell(box, [&](const Index3& at) {
      if (std::abs(strip(at)) > width || at[1] < 5 || at[1] > 27) return;
      ASSERT_NEAR(values.at(0, at), strip(at), 0.25 * width) << at[0] << ' ' << at[1];
    });
  });
}

}  // namespace
}  // namespace octavo::bubble
