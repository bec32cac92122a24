#include "octavo/mesh/tree/face_refine.hpp"

#include <string>

#include "octavo/base/error.hpp"

namespace octavo::mesh {
namespace {

using base::Error;
using base::Kind;

void check_arrays(int dim, const std::array<double, 3>& size, const FaceArrays& arrays) {
  if (dim < 1 || dim > 3) throw Error(Kind::usage, "faces have 1 to 3 dimensions, not " + std::to_string(dim));
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(dim); ++axis) {
    if (arrays[axis].size() != fine_face_count(dim))
      throw Error(Kind::usage, "values on faces: expected " + std::to_string(fine_face_count(dim)) + ", found " +
                                   std::to_string(arrays[axis].size()))
          .at(std::string("axis ") + "xyz"[axis]);
    if (!(size[axis] > 0))
      throw Error(Kind::usage, "a cell's edge must be above 0, found " + std::to_string(size[axis]));
  }
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

/// The faces of a cell's children. Child c has a bit an axis.
class Children {
 public:
  Children(int dim, const std::array<double, 3>& size, const FaceArrays& fine)
      : dim_(dim), axes_(static_cast<std::size_t>(dim)), count_(std::size_t{1} << dim), size_(size), fine_(fine) {}

  void fill() const {
    const double divergence = divergence_of_cell();
    for (std::size_t a = 0; a < axes_; ++a)
      for (std::size_t c = 0; c < count_; ++c)
        if ((c >> a & 1) == 0) face(c, a, 1) = 0.5 * (face(c, a, 0) + face(c, a, 2));
    // The means leave each child with a divergence of its own. The gradient of a potential takes the differences away:
    // that is Poisson's equation on 2^dim cells with nothing passing the sides, which keep their values.
    std::array<double, 8> potential{};
    for (std::size_t c = 0; c < count_; ++c) potential[c] = divergence - divergence_of(c);
    solve(potential);
    for (std::size_t a = 0; a < axes_; ++a)
      for (std::size_t c = 0; c < count_; ++c)
        if ((c >> a & 1) == 0) face(c, a, 1) += (potential[c] - potential[c | std::size_t{1} << a]) / edge(a);
  }

 private:
  double edge(std::size_t a) const { return size_[a] / 2; }
  /// The face of axis a in the row of child c: 0 the low side of the cell, 1 inside, 2 the high side.
  double& face(std::size_t c, std::size_t a, std::size_t plane) const {
    std::size_t index = 0, stride = 1;
    for (std::size_t axis = 0; axis < axes_; ++axis) {
      index += stride * (axis == a ? plane : (c >> axis & 1));
      stride *= axis == a ? 3 : 2;
    }
    return fine_[a][index];
  }
  double divergence_of(std::size_t c) const {
    double sum = 0;
    for (std::size_t a = 0; a < axes_; ++a) {
      const std::size_t low = c >> a & 1;
      sum += (face(c, a, low + 1) - face(c, a, low)) / edge(a);
    }
    return sum;
  }
  /// A side of the cell has the mean of the fine faces on it, which are of one area.
  double side(std::size_t a, std::size_t plane) const {
    double sum = 0;
    for (std::size_t c = 0; c < count_; ++c)
      if ((c >> a & 1) == 0) sum += face(c, a, plane);
    return sum / static_cast<double>(count_ / 2);
  }
  double divergence_of_cell() const {
    double sum = 0;
    for (std::size_t a = 0; a < axes_; ++a) sum += (side(a, 2) - side(a, 0)) / size_[a];
    return sum;
  }
  /// From the missing divergence to the potential: the operator is diagonal in Walsh functions.
  void solve(std::array<double, 8>& values) const {
    walsh_hadamard(values, dim_);
    values[0] = 0;  // the missing terms sum to zero but for rounding
    for (std::size_t m = 1; m < count_; ++m) {
      double eigenvalue = 0;
      for (std::size_t a = 0; a < axes_; ++a)
        if ((m >> a & 1) != 0) eigenvalue += 2 / (edge(a) * edge(a));
      values[m] /= eigenvalue * static_cast<double>(count_);
    }
    walsh_hadamard(values, dim_);
  }

  int dim_;
  std::size_t axes_, count_;
  const std::array<double, 3>& size_;
  const FaceArrays& fine_;
};

}  // namespace

void fill_inner_faces(int dim, const std::array<double, 3>& size, const FaceArrays& fine) {
  check_arrays(dim, size, fine);
  Children(dim, size, fine).fill();
}

}  // namespace octavo::mesh
