#include "octavo/mesh/tree/face_refine.hpp"

#include <cmath>
#include <string>
#include <vector>

#include "octavo/base/error.hpp"

namespace octavo::mesh {
namespace {

using base::Error;
using base::Kind;

/// The array of one axis: its extents, and where a face is in it.
struct Layout {
  Index3 n{1, 1, 1};
  Layout(int dim, const Index3& cells, std::size_t axis) {
    for (std::size_t a = 0; a < static_cast<std::size_t>(dim); ++a) n[a] = cells[a] + (a == axis ? 1 : 0);
  }
  std::size_t size() const { return static_cast<std::size_t>(n[0] * n[1] * n[2]); }
  std::size_t at(const Index3& i) const { return static_cast<std::size_t>(i[0] + n[0] * (i[1] + n[1] * i[2])); }
  template <class F>
  void for_each(F&& f) const {
    for (std::int64_t z = 0; z < n[2]; ++z)
      for (std::int64_t y = 0; y < n[1]; ++y)
        for (std::int64_t x = 0; x < n[0]; ++x) f(Index3{x, y, z});
  }
};

Index3 doubled(int dim, Index3 cells) {
  for (std::size_t a = 0; a < static_cast<std::size_t>(dim); ++a) cells[a] *= 2;
  return cells;
}

template <class T>
void check_arrays(int dim, const Index3& cells, const FaceArrays<T>& arrays) {
  if (dim < 1 || dim > 3) throw Error(Kind::usage, "faces have 1 to 3 dimensions, not " + std::to_string(dim));
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(dim); ++axis)
    if (arrays[axis].size() != face_count(dim, cells, axis))
      throw Error(Kind::usage, "values on faces: expected " + std::to_string(face_count(dim, cells, axis)) +
                                   ", found " + std::to_string(arrays[axis].size()))
          .at(std::string("axis ") + "xyz"[axis]);
}

double smaller_slope(double a, double b) {
  if (a * b <= 0) return 0;
  return std::fabs(a) < std::fabs(b) ? a : b;
}

/// The change over one face along a tangential axis, limited; 0 at the block's edge.
double slope(std::span<const double> values, const Layout& layout, Index3 at, std::size_t along) {
  if (at[along] == 0 || at[along] + 1 == layout.n[along]) return 0;
  const double here = values[layout.at(at)];
  --at[along];
  const double before = values[layout.at(at)];
  at[along] += 2;
  return smaller_slope(here - before, values[layout.at(at)] - here);
}

/// Child c (a bit an axis) of a cell or, where the bit of the normal axis is 0, of a face.
Index3 child(const Index3& at, std::size_t c, int dim) {
  Index3 out{0, 0, 0};
  for (std::size_t a = 0; a < static_cast<std::size_t>(dim); ++a)
    out[a] = 2 * at[a] + static_cast<std::int64_t>(c >> a & 1);
  return out;
}

void refine_planes(int dim, const Index3& cells, std::size_t axis, std::span<const double> coarse,
                   std::span<double> fine) {
  const Layout from(dim, cells, axis), to(dim, doubled(dim, cells), axis);
  from.for_each([&](const Index3& at) {
    std::array<double, 3> quarter{};
    for (std::size_t t = 0; t < static_cast<std::size_t>(dim); ++t)
      if (t != axis) quarter[t] = slope(coarse, from, at, t) / 4;
    for (std::size_t c = 0; c < std::size_t{1} << dim; ++c) {
      if ((c >> axis & 1) != 0) continue;
      double value = coarse[from.at(at)];
      for (std::size_t t = 0; t < static_cast<std::size_t>(dim); ++t)
        value += (c >> t & 1) != 0 ? quarter[t] : -quarter[t];
      fine[to.at(child(at, c, dim))] = value;
    }
  });
}

/// Sums and differences along each axis: its own inverse but for the factor 2^dim.
void walsh_hadamard(std::array<double, 8>& values, int dim) {
  for (std::size_t a = 0; a < static_cast<std::size_t>(dim); ++a)
    for (std::size_t c = 0; c < std::size_t{1} << dim; ++c)
      if ((c >> a & 1) == 0) {
        const double low = values[c], high = values[c | std::size_t{1} << a];
        values[c] = low + high;
        values[c | std::size_t{1} << a] = low - high;
      }
}

/// The data of one refinement that the faces inside of each coarse cell need.
class Interior {
 public:
  Interior(int dim, const Index3& cells, const std::array<double, 3>& size, const FaceArrays<double>& fine)
      : dim_(dim), axes_(static_cast<std::size_t>(dim)), fine_(fine) {
    for (std::size_t a = 0; a < 3; ++a) {
      edge_[a] = size[a] / 2;
      layout_[a] = Layout(dim, doubled(dim, cells), a);
    }
  }

  void fill(const Index3& cell, double divergence) {
    for (std::size_t a = 0; a < axes_; ++a)
      for (std::size_t c = 0; c < std::size_t{1} << dim_; ++c)
        if ((c >> a & 1) == 0) face(cell, c, a, 1) = 0.5 * (face(cell, c, a, 0) + face(cell, c, a, 2));
    std::array<double, 8> potential{};
    for (std::size_t c = 0; c < std::size_t{1} << dim_; ++c) potential[c] = divergence - divergence_of(cell, c);
    solve(potential);
    for (std::size_t a = 0; a < axes_; ++a)
      for (std::size_t c = 0; c < std::size_t{1} << dim_; ++c)
        if ((c >> a & 1) == 0) face(cell, c, a, 1) += (potential[c] - potential[c | std::size_t{1} << a]) / edge_[a];
  }

 private:
  /// The face of axis a in the row of child c: 0 the low side of the coarse cell, 1 inside, 2 the high side.
  double& face(const Index3& cell, std::size_t c, std::size_t a, std::int64_t plane) {
    Index3 at = child(cell, c, dim_);
    at[a] = 2 * cell[a] + plane;
    return fine_[a][layout_[a].at(at)];
  }
  double divergence_of(const Index3& cell, std::size_t c) {
    double sum = 0;
    for (std::size_t a = 0; a < axes_; ++a) {
      const auto low = static_cast<std::int64_t>(c >> a & 1);
      sum += (face(cell, c, a, low + 1) - face(cell, c, a, low)) / edge_[a];
    }
    return sum;
  }
  /// From the missing divergence to the potential: the operator is diagonal in Walsh functions.
  void solve(std::array<double, 8>& values) const {
    walsh_hadamard(values, dim_);
    values[0] = 0;  // the missing terms sum to zero but for rounding
    for (std::size_t m = 1; m < std::size_t{1} << dim_; ++m) {
      double eigenvalue = 0;
      for (std::size_t a = 0; a < axes_; ++a)
        if ((m >> a & 1) != 0) eigenvalue += 2 / (edge_[a] * edge_[a]);
      values[m] /= eigenvalue * static_cast<double>(std::size_t{1} << dim_);
    }
    walsh_hadamard(values, dim_);
  }

  int dim_;
  std::size_t axes_;
  const FaceArrays<double>& fine_;
  std::array<double, 3> edge_{};
  std::array<Layout, 3> layout_{Layout(1, {1, 1, 1}, 0), Layout(1, {1, 1, 1}, 0), Layout(1, {1, 1, 1}, 0)};
};

double coarse_divergence(int dim, const Index3& cells, const std::array<double, 3>& size,
                         const FaceArrays<const double>& coarse, const Index3& cell) {
  double sum = 0;
  for (std::size_t a = 0; a < static_cast<std::size_t>(dim); ++a) {
    const Layout layout(dim, cells, a);
    Index3 high = cell;
    ++high[a];
    sum += (coarse[a][layout.at(high)] - coarse[a][layout.at(cell)]) / size[a];
  }
  return sum;
}

}  // namespace

std::size_t face_count(int dim, const Index3& cells, std::size_t axis) { return Layout(dim, cells, axis).size(); }

void prolong_faces(int dim, const Index3& cells, const std::array<double, 3>& size,
                   const FaceArrays<const double>& coarse, const FaceArrays<double>& fine) {
  check_arrays(dim, cells, coarse);
  check_arrays(dim, doubled(dim, cells), fine);
  for (std::size_t a = 0; a < static_cast<std::size_t>(dim); ++a) {
    if (!(size[a] > 0)) throw Error(Kind::usage, "a cell's edge must be above 0, found " + std::to_string(size[a]));
    refine_planes(dim, cells, a, coarse[a], fine[a]);
  }
  Interior interior(dim, cells, size, fine);
  Layout(dim, cells, 3).for_each([&](const Index3& cell) {
    interior.fill(cell, coarse_divergence(dim, cells, size, coarse, cell));
  });
}

void fill_inner_faces(int dim, const std::array<double, 3>& size, const FaceArrays<double>& fine) {
  const Index3 one{1, 1, 1};
  check_arrays(dim, doubled(dim, one), fine);
  std::array<std::vector<double>, 3> sides;
  FaceArrays<double> coarse;
  for (std::size_t a = 0; a < static_cast<std::size_t>(dim); ++a) {
    if (!(size[a] > 0)) throw Error(Kind::usage, "a cell's edge must be above 0, found " + std::to_string(size[a]));
    sides[a].resize(face_count(dim, one, a));
    coarse[a] = sides[a];
  }
  restrict_faces(dim, one, {fine[0], fine[1], fine[2]}, coarse);
  Interior(dim, one, size, fine)
      .fill({0, 0, 0}, coarse_divergence(dim, one, size, {coarse[0], coarse[1], coarse[2]}, {0, 0, 0}));
}

void restrict_faces(int dim, const Index3& cells, const FaceArrays<const double>& fine,
                    const FaceArrays<double>& coarse) {
  check_arrays(dim, cells, coarse);
  check_arrays(dim, doubled(dim, cells), fine);
  for (std::size_t a = 0; a < static_cast<std::size_t>(dim); ++a) {
    const Layout from(dim, doubled(dim, cells), a), to(dim, cells, a);
    to.for_each([&](const Index3& at) {
      double sum = 0;
      for (std::size_t c = 0; c < std::size_t{1} << dim; ++c)
        if ((c >> a & 1) == 0) sum += fine[a][from.at(child(at, c, dim))];
      coarse[a][to.at(at)] = sum / static_cast<double>(std::size_t{1} << (dim - 1));
    });
  }
}

}  // namespace octavo::mesh
