#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

/// Cuts an unstructured mesh into parts by elements, and gives the facts about neighbours that the owner of a part
/// needs. Elements are triangles: three points counted from 0, all in one orientation. All functions are pure.
namespace octavo::partition {

using Connectivity = std::span<const std::int32_t>;  ///< shape (elements, 3), points from 0
using PartVector = std::vector<std::int32_t>;        ///< part of each element, from 0

enum class CutMethod : std::uint8_t {
  metis,     ///< METIS_PartMeshDual: cuts few edges
  scotch,    ///< Scotch on the same dual graph
  hilbert,   ///< joined stretches of a Hilbert curve: little memory, more cut edges
  inertial,  ///< repeated halving across the longest extent: as little memory, fewer cut edges
};
std::string_view name_of(CutMethod method) noexcept;
/// Throws Error(usage) that lists the known names if the name is unknown.
CutMethod method_named(std::string_view name);
/// Whether this build has the method.
bool has(CutMethod method) noexcept;

/// Throws Error(usage) unless 1 <= parts <= elements.
void check_parts(std::int64_t parts, std::int64_t elements);

/// Cuts the graph of elements that share two points. Memory: METIS's own, plus 4 bytes a point. Throws
/// Error(unsupported) if the build has no METIS, Error(no_space) if METIS runs out of memory.
PartVector cut_metis(Connectivity connectivity, std::int32_t points, std::int32_t parts);
/// Cuts the same graph with Scotch's recursive bisection.
PartVector cut_scotch(Connectivity connectivity, std::int32_t points, std::int32_t parts);
/// Cuts a Hilbert curve into equal stretches (sizes differ by at most one). The curve runs through square cells, 2^16
/// along the longer axis; elements in one cell keep their order. Memory: 16 bytes an element.
PartVector cut_hilbert(Connectivity connectivity, std::span<const double> x, std::span<const double> y,
                       std::int32_t parts);

/// The cells of the curve over a mesh's extent.
class CurveCells {
 public:
  struct Extent {
    double lo, hi;
  };
  CurveCells(Extent x, Extent y);
  using Cell = std::array<std::uint32_t, 2>;  ///< column and row, below 2^16
  /// The cell that holds the centre of an element, given the coordinates of its points.
  Cell cell(const std::array<double, 3>& x, const std::array<double, 3>& y) const;
  /// The position of a cell on the curve.
  static std::uint32_t key(const Cell& cell);

 private:
  double lo_x_, lo_y_, scale_x_, scale_y_;
};
/// A tree of straight cuts. Each cut halves its elements across their longest extent (the principal axis). The tree is
/// made from every element if there are fewer than 2^22 and fewer than 128 a part; then sizes differ by at most one.
/// Larger meshes are sampled evenly, every n-th element, so that at least 2^21 and at least 64 a part remain; then
/// sizes differ by a few per cent (Simon 1991, "Partitioning of unstructured problems for parallel processing").
class InertialCuts {
 public:
  /// The distance between sampled elements: the tree is made from elements 0, stride, 2 * stride ...
  static std::int64_t stride(std::int64_t elements, std::int32_t parts);
  /// `x`, `y`: the centres of the sampled elements.
  InertialCuts(std::vector<float> x, std::vector<float> y, std::int32_t parts);
  /// The part of a place. Places on a cut belong to its far side.
  std::int32_t part_at(float x, float y) const;
  /// The parts of the sampled elements, in their order; sizes differ by at most one.
  const PartVector& parts() const { return part_of_; }

 private:
  struct Cut {
    float dx, dy, limit;     ///< near: x * dx + y * dy < limit
    std::int32_t near, far;  ///< a cut, or -1 - part
  };
  struct Sample {
    float x, y;
    std::int32_t element;
  };
  std::int32_t halve(std::span<Sample> some, std::int32_t first_part, std::int32_t parts);
  std::vector<Cut> cuts_;
  std::int32_t root_ = -1;
  PartVector part_of_;
};

/// Moves half of the elements of part `from` to the empty part `to`.
struct Halving {
  std::int32_t from = 0, to = 0;
  std::int64_t elements = 0;  ///< how many elements move
};
/// Plans halvings after which no part is empty. They must be carried out in order. Each halves the part that is the
/// largest at that time; among equals, the lowest. Returns nothing if no part is empty. `sizes`: the number of elements
/// of each part, where all elements that must stay in their part count as one. The sum must be at least the number of
/// parts.
std::vector<Halving> plan_halvings(std::span<const std::int64_t> sizes);
/// An element with its part and its centre.
struct PlacedElement {
  std::int32_t element = 0, part = 0;
  float x = 0, y = 0;
};
/// Carries out a plan of halvings. Each cuts across the longest extent (the principal axis) of the part. `elements`:
/// all elements of the parts to be halved, without those that must stay.
void halve_parts(std::span<const Halving> halvings, std::span<PlacedElement> elements);
/// The elements of each part in ascending order: part p has elements[first[p]] up to, not including, elements[first[p +
/// 1]].
struct PartLists {
  std::vector<std::int64_t> first;
  std::vector<std::int32_t> elements;
};
PartLists list_parts(const PartVector& part_of, std::int32_t parts);
std::span<const std::int32_t> elements_of(const PartLists& lists, std::int32_t part);

/// The quality of a cut: the number of edges between parts, and the balance.
struct Quality {
  std::int64_t cut_edges = 0;
  std::int64_t fewest = 0, most = 0;  ///< elements in the smallest and the largest part
  std::int32_t most_neighbours = 0;   ///< largest number of parts that share a point with one part
  std::int64_t shared_points = 0;
};
}  // namespace octavo::partition
