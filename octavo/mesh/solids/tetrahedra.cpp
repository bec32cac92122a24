#include "octavo/mesh/solids/tetrahedra.hpp"

namespace octavo::mesh {
namespace {

using Sides = std::span<const SolidSide>;

constexpr std::array<SolidSide, 4> tetrahedron{{{3, {0, 2, 1}}, {3, {0, 1, 3}}, {3, {1, 2, 3}}, {3, {2, 0, 3}}}};
constexpr std::array<SolidSide, 5> pyramid{
    {{4, {0, 3, 2, 1}}, {3, {0, 1, 4}}, {3, {1, 2, 4}}, {3, {2, 3, 4}}, {3, {3, 0, 4}}}};
constexpr std::array<SolidSide, 5> prism{
    {{3, {0, 2, 1}}, {3, {3, 4, 5}}, {4, {0, 1, 4, 3}}, {4, {1, 2, 5, 4}}, {4, {2, 0, 3, 5}}}};
constexpr std::array<SolidSide, 6> hexahedron{
    {{4, {0, 3, 2, 1}}, {4, {4, 5, 6, 7}}, {4, {0, 1, 5, 4}}, {4, {1, 2, 6, 5}}, {4, {2, 3, 7, 6}}, {4, {3, 0, 4, 7}}}};

}  // namespace

std::span<const SolidSide> sides_of(int corners) {
  return corners == 4 ? Sides(tetrahedron) : corners == 5 ? Sides(pyramid) : corners == 6 ? Sides(prism) : hexahedron;
}

std::vector<std::int64_t> first_corners(const Solids& mesh) {
  std::vector<std::int64_t> first{0};
  first.reserve(mesh.corners.size() + 1);
  for (const std::uint8_t corners : mesh.corners) first.push_back(first.back() + corners);
  return first;
}

double six_volumes(const Solids& mesh, std::int64_t a, std::int64_t b, std::int64_t c, std::int64_t d) {
  const auto from_a = [&](std::int64_t point) -> std::array<double, 3> {
    const auto i = static_cast<std::size_t>(point), o = static_cast<std::size_t>(a);
    return {mesh.x[i] - mesh.x[o], mesh.y[i] - mesh.y[o], mesh.z[i] - mesh.z[o]};
  };
  const auto u = from_a(b), v = from_a(c), w = from_a(d);
  return u[0] * (v[1] * w[2] - v[2] * w[1]) + u[1] * (v[2] * w[0] - v[0] * w[2]) + u[2] * (v[0] * w[1] - v[1] * w[0]);
}

std::vector<double> volumes_of(const Solids& mesh) {
  std::vector<double> volumes(mesh.corners.size(), 0);
  for_each_tetrahedron(mesh, [&](std::size_t cell, std::int64_t a, std::int64_t b, std::int64_t c, std::int64_t d) {
    volumes[cell] += six_volumes(mesh, a, b, c, d) / 6;
  });
  return volumes;
}

}  // namespace octavo::mesh
