#include "apps/wave/wave.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace octavo::wave {
namespace {

using patches::Hierarchy;
using patches::Index3;
using patches::IndexBox;
using patches::Values;

double weight_of(int bin) { return 1.0 / (1.0 + bin); }

// The mean of the wave between x and x + width.
double mean_of(int bin, double x, double width, double time) {
  constexpr double k = 2 * std::numbers::pi;
  return weight_of(bin) * (1 + (std::cos(k * (x - time)) - std::cos(k * (x + width - time))) / (k * width));
}

// The flow out of a row's cells on their upper side, beginning one cell before the first.
void find_outflow(const double* row, std::size_t cells, double courant, std::vector<double>& out) {
  for (std::size_t i = 0; i <= cells; ++i) {
    const double* at = row + i - 1;
    out[i] = *at + 0.5 * (1 - courant) * patches::limited(*at - *(at - 1), *(at + 1) - *at);
  }
}

void advance_box(Values& values, const IndexBox& box, double courant) {
  const auto cells = static_cast<std::size_t>(box.hi[0] - box.lo[0]);
  std::vector<double> out(cells + 1);
  for (int bin = 0; bin < values.variables; ++bin)
    mesh::for_each_row(box, [&](const Index3& at, std::int64_t) {
      double* row = values.of(bin) + values.offset(at);
      find_outflow(row, cells, courant, out);
      for (std::size_t i = 0; i < cells; ++i) row[i] -= courant * (out[i + 1] - out[i]);
    });
}

}  // namespace

double energy_density(int bin, double x, double time) {
  return weight_of(bin) * (1 + std::sin(2 * std::numbers::pi * (x - time)));
}

void set_to(Hierarchy& mesh, double time) {
  for_each_patch(mesh, [&](int level, Values& values, const IndexBox& box) {
    const double width = cell_size(mesh.shape, level)[0];
    for (int bin = 0; bin < values.variables; ++bin)
      patches::for_each_cell(box, [&](const Index3& at) {
        values.at(bin, at) = mean_of(bin, static_cast<double>(at[0]) * width, width, time);
      });
  });
}

void advance(Hierarchy& mesh, const patches::Plans& plans, double dt) {
  fill_ghosts(mesh, plans);
  for_each_patch(mesh, [&](int level, Values& values, const IndexBox& box) {
    advance_box(values, box, dt / cell_size(mesh.shape, level)[0]);
  });
}

double mean_error(const Hierarchy& mesh, double time) {
  std::array<double, 2> sums{0, 0};
  for_each_patch(mesh, [&](int level, const Values& values, const IndexBox& box) {
    const double width = cell_size(mesh.shape, level)[0];
    for (int bin = 0; bin < values.variables; ++bin)
      patches::for_each_cell(box, [&](const Index3& at) {
        const double exact = mean_of(bin, static_cast<double>(at[0]) * width, width, time);
        sums[0] += std::abs(values.at(bin, at) - exact) / weight_of(bin);
        sums[1] += 1;
      });
  });
  MPI_Allreduce(MPI_IN_PLACE, sums.data(), 2, MPI_DOUBLE, MPI_SUM, mesh.comm);
  return sums[0] / sums[1];
}

}  // namespace octavo::wave
