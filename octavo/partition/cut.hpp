#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

/// Cutting an unstructured mesh into parts by elements, and the facts about neighbours that the owner of a part needs.
/// Elements are triangles: three points from 0, in one orientation. All functions are pure.
namespace octavo::partition {

using Connectivity = std::span<const std::int32_t>;  ///< shape (elements, 3), points from 0
using PartVector = std::vector<std::int32_t>;        ///< part of each element, from 0

enum class Method : std::uint8_t {
  metis,     ///< METIS_PartMeshDual: few cut edges
  scotch,    ///< Scotch on the same dual graph
  hilbert,   ///< stretches of a Hilbert curve through the elements' centres, joined: little memory, more cut edges
  inertial,  ///< halved across the longest extent, again and again: as little memory, fewer cut edges
};
std::string_view name_of(Method method) noexcept;
/// Throws Error(usage) for an unknown name; names those there are.
Method method_named(std::string_view name);
/// Whether this build has it.
bool has(Method method) noexcept;

/// Throws Error(usage) unless 1 <= parts <= elements.
void check_parts(std::int64_t parts, std::int64_t elements);

/// Cuts through the graph of elements that share two points. Memory: METIS's own, plus 4 bytes a point.
/// Throws Error(unsupported) where the build has no METIS, Error(no_space) where METIS runs out of memory.
PartVector cut_metis(Connectivity connectivity, std::int32_t points, std::int32_t parts);
/// The same through Scotch's recursive bisection.
PartVector cut_scotch(Connectivity connectivity, std::int32_t points, std::int32_t parts);
/// Equal stretches (sizes differ by one) of a Hilbert curve of 2^16 square cells along the longer axis; elements of one
/// cell in their order. Memory: 16 bytes an element.
PartVector cut_hilbert(Connectivity connectivity, std::span<const double> x, std::span<const double> y,
                       std::int32_t parts);
/// The curve's cells over a mesh's extent.
class CurveCells {
 public:
  struct Extent {
    double lo, hi;
  };
  CurveCells(Extent x, Extent y);
  using Cell = std::array<std::uint32_t, 2>;  ///< column and row, below 2^16
  /// Where the centre of an element lies, by its points' coordinates.
  Cell cell(const std::array<double, 3>& x, const std::array<double, 3>& y) const;
  /// Where a cell stands on the curve.
  static std::uint32_t key(const Cell& cell);

 private:
  double lo_x_, lo_y_, scale_x_, scale_y_;
};
/// Over all points.
CurveCells cells_over(std::span<const double> x, std::span<const double> y);

/// Up to 256 such stretches a part, joined to parts with few edges between them, whose cuts are smoothed (graph.hpp);
/// sizes stay within 3 hundredths of even ones. Memory: 18 bytes an element.
PartVector cut_joined(Connectivity connectivity, std::span<const double> x, std::span<const double> y,
                      std::int32_t parts);

/// A tree of straight cuts, each across the longest extent (the principal axis) of the elements that it halves. Up to
/// 2^21 elements, or 64 a part, it knows each of them, and sizes differ by one; larger meshes are sampled: it is made
/// from that many, evenly taken, and sizes differ by a few per cent (Simon 1991, "Partitioning of unstructured problems
/// for parallel processing").
class InertialCuts {
 public:
  /// Which elements it is made from: 0, stride, 2 * stride ...
  static std::int64_t stride(std::int64_t elements, std::int32_t parts);
  /// `x`, `y`: centres of those elements.
  InertialCuts(std::vector<float> x, std::vector<float> y, std::int32_t parts);
  /// The part of a place. Places on a cut itself are on its far side.
  std::int32_t part_at(float x, float y) const;
  /// Parts of the elements that it was made from, in their order; sizes differ by one.
  const PartVector& parts() const { return part_of_; }

 private:
  struct Cut {
    float dx, dy, limit;     ///< near: x * dx + y * dy < limit
    std::int32_t near, far;  ///< cuts, or -1 - part
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

/// All elements by such cuts. Memory: 16 bytes for each of the elements that they are made from.
PartVector cut_inertial(Connectivity connectivity, std::span<const double> x, std::span<const double> y,
                        std::int32_t parts);

/// The empty part `to` gets half of the elements of part `from`.
struct Halving {
  std::int32_t from = 0, to = 0;
  std::int64_t elements = 0;  ///< that half
};
/// Plans halvings, to be done in their order, after which no part is empty. Each halves the part that is the largest at
/// that time, the lowest of equal ones. Empty if no part is empty. `sizes`: the number of elements of each part, where
/// all elements that must stay in their part count as one; the sum must be at least the number of parts.
std::vector<Halving> plan_halvings(std::span<const std::int64_t> sizes);
/// An element, its part and its centre.
struct PlacedElement {
  std::int32_t element = 0, part = 0;
  float x = 0, y = 0;
};
/// Carries out a plan of halvings, each cut across the longest extent (the principal axis) of the part. `elements`: all
/// elements of the parts that are halved, but for those that must stay.
void halve_parts(std::span<const Halving> halvings, std::span<PlacedElement> elements);
/// Plans and does the halvings for a whole mesh: METIS and Scotch leave parts empty if there are few elements for each
/// part. Returns the number of parts that were empty. `stays`: marks elements of the first part that must stay there;
/// empty: there are none.
std::int64_t fill_empty_parts(Connectivity connectivity, std::span<const double> x, std::span<const double> y,
                              std::int32_t parts, PartVector& part_of, const std::vector<bool>& stays = {});

/// Elements by part, each part's in ascending order: part p has elements[first[p]] to elements[first[p + 1]].
struct PartLists {
  std::vector<std::int64_t> first;
  std::vector<std::int32_t> elements;
};
PartLists list_parts(const PartVector& part_of, std::int32_t parts);
std::span<const std::int32_t> elements_of(const PartLists& lists, std::int32_t part);

/// Points that elements of several parts have, ascending, with those parts, ascending.
struct SharedPoints {
  std::vector<std::int32_t> points;
  std::vector<std::int64_t> first;  ///< into `parts`; one more than points
  std::vector<std::int32_t> parts;
};
SharedPoints find_shared(Connectivity connectivity, std::int32_t points, const PartVector& part_of);

/// An element with an edge to another part, and what lies behind its three edges (points 1-2, 2-3, 3-1).
struct HaloElement {
  std::int32_t element = 0;
  std::array<std::int32_t, 3> behind{};  ///< elements, -1: nothing
};
/// All of the mesh, by element. Memory: that of the elements around shared points.
std::vector<HaloElement> find_halo(Connectivity connectivity, const PartVector& part_of, const SharedPoints& shared);

/// The cost of a cut: edges between elements of different parts, and balance.
struct Quality {
  std::int64_t cut_edges = 0;
  std::int64_t fewest = 0, most = 0;  ///< elements a part
  std::int32_t most_neighbours = 0;   ///< parts that share a point with a part
  std::int64_t shared_points = 0;
};
Quality quality_of(const PartLists& lists, const PartVector& part_of, const SharedPoints& shared,
                   const std::vector<HaloElement>& halo);

}  // namespace octavo::partition
