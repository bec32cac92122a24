#include "octavo/engine/restart/triangle_neighbours.hpp"

#include <algorithm>

#include "octavo/base/error.hpp"
#include "octavo/engine/restart/neighbour_arrays.hpp"
#include "octavo/ranks/communicator.hpp"
#include "octavo/telemac/cut/cut_boundary.hpp"
#include "octavo/telemac/cut/shared_mesh.hpp"
#include "octavo/telemac/cut/stored_cut.hpp"

/// Neighbours of triangles on other ranks, found by the code with which `octavo partition` cuts a mesh: a rank's share
/// is one part of as many as there are ranks.
namespace octavo::engine {
namespace {

using base::Error;
using base::Kind;

const mesh::Unstructured& share_of(const Restart& start) {
  const auto* mesh = std::get_if<mesh::Unstructured>(&start.part.mesh);
  if (mesh == nullptr) throw Error(Kind::usage, "the step is not of triangles");
  if (start.by_points)
    throw Error(Kind::usage, "the step was read by points: a rank has no triangles that could have neighbours");
  return *mesh;
}

std::int64_t count_of(MPI_Comm comm, const std::vector<std::int64_t>& numbers) {
  std::int64_t count = numbers.empty() ? 0 : *std::max_element(numbers.begin(), numbers.end()) + 1;
  MPI_Allreduce(MPI_IN_PLACE, &count, 1, MPI_INT64_T, MPI_MAX, comm);
  return count;
}

std::vector<telemac::Moved> elements_of(const mesh::Unstructured& mesh, const Restart& start, int rank) {
  std::vector<telemac::Moved> elements;
  for (std::size_t e = 0; e < start.global_element.size(); ++e) {
    telemac::Moved moved{rank, static_cast<std::int32_t>(start.global_element[e]), {}};
    for (std::size_t k = 0; k < 3; ++k)
      moved.corners[k] =
          static_cast<std::int32_t>(mesh.global_point[static_cast<std::size_t>(mesh.connectivity[3 * e + k])]);
    elements.push_back(moved);
  }
  return elements;
}

/// This rank's index of a point of the whole mesh, or -1.
std::int32_t local_of(const mesh::Unstructured& mesh, std::int64_t point) {
  const auto& numbers = mesh.global_point;  // ascending
  const auto found = std::lower_bound(numbers.begin(), numbers.end(), point);
  return found == numbers.end() || *found != point ? -1 : static_cast<std::int32_t>(found - numbers.begin());
}

/// Marks the points that triangles of this rank use. Lone points are not shared with anyone.
std::vector<bool> used_points(const mesh::Unstructured& mesh) {
  std::vector<bool> used(mesh.global_point.size(), false);
  for (const std::int64_t point : mesh.connectivity) used[static_cast<std::size_t>(point)] = true;
  return used;
}

void take_piece(const telemac::Piece& piece, const mesh::Unstructured& mesh, TriangleNeighbours& out) {
  for (const std::int32_t local : piece.shared)
    out.shared.push_back(local_of(mesh, piece.points[static_cast<std::size_t>(local - 1)]));
  out.first = piece.shared_first;
  out.ranks = piece.sharers;
  for (const telemac::PieceHalo& halo : piece.halo) {
    TriangleNeighbours::Halo mine{halo.element - 1, halo.parts, halo.elements};
    for (std::int32_t& triangle : mine.behind) triangle = std::max(triangle, 0) - 1;
    out.halo.push_back(mine);
  }
}

struct BoundaryPlace {
  std::int64_t line;
  double x, y;
};

/// The boundary's lines with the positions of their points, which the ranks hold, and with their next points.
telemac::CutBoundary trace(const telemac::SharedJob& job, const store::BoundaryArrays& lines,
                           const mesh::Unstructured& mesh, const std::vector<partition::BoundaryEdge>& edges) {
  std::vector<BoundaryPlace> mine;
  for (std::size_t k = 0; k < lines.point.size(); ++k)
    if (const std::int32_t local = local_of(mesh, lines.point[k]); local >= 0)
      mine.push_back({static_cast<std::int64_t>(k), mesh.x[static_cast<std::size_t>(local)],
                      mesh.y[static_cast<std::size_t>(local)]});
  std::vector<double> x(lines.point.size()), y(x);
  for (const BoundaryPlace& place : base::gather(job.ranks, mine)) {
    x[static_cast<std::size_t>(place.line)] = place.x;
    y[static_cast<std::size_t>(place.line)] = place.y;
  }
  telemac::CutBoundary boundary;
  base::agree(job.ranks, [&] {
    boundary =
        telemac::link_boundary(telemac::boundary_lines(lines), std::move(x), std::move(y), edges, "mesh boundary");
  });
  return boundary;
}

void take_boundary(const telemac::CutBoundary& boundary, const store::BoundaryArrays& lines,
                   const mesh::Unstructured& mesh, int rank, TriangleNeighbours& out) {
  const std::vector<bool> used = used_points(mesh);
  for (std::size_t k = 0; k < lines.point.size(); ++k) {
    const std::int32_t local = local_of(mesh, lines.point[k]);
    if (local < 0 || !used[static_cast<std::size_t>(local)]) continue;
    TriangleNeighbours::Boundary point;
    point.point = local;
    point.place = static_cast<std::int32_t>(k);
    point.liquid = boundary.liquid[k];
    const auto next = static_cast<std::size_t>(boundary.contour.next[k]);
    const auto previous = static_cast<std::size_t>(boundary.contour.previous[k]);
    if (boundary.edge_part[k] != rank) point.next = lines.point[next];
    if (boundary.edge_part[previous] != rank) point.previous = lines.point[previous];
    std::copy_n(&lines.codes[4 * k], 4, point.codes.begin());
    std::copy_n(&lines.values[7 * k], 7, point.values.begin());
    point.colour = lines.colour[k];
    out.boundary.push_back(point);
  }
}

}  // namespace

TriangleNeighbours find_neighbours(MPI_Comm comm, const Restart& start) {
  ranks::agree(comm, [&] { share_of(start); });
  const mesh::Unstructured& mesh = share_of(start);
  const base::Ranks ranks = ranks::ranks_of(comm);
  const formats::serafin::SerafinSeries none;
  telemac::PartitionOptions options;
  options.parts = ranks.size;
  const telemac::SharedJob job{ranks,
                               none,
                               options,
                               static_cast<std::int32_t>(count_of(comm, mesh.global_point)),
                               count_of(comm, start.global_element),
                               {ranks.rank, ranks.rank + 1}};
  std::vector<telemac::GrowingPiece> pieces = telemac::make_pieces(job, elements_of(mesh, start, ranks.rank));
  std::int64_t cut_edges = 0;
  const auto edges = telemac::pair_borders(job, pieces, cut_edges);
  telemac::share_points(job, pieces);
  TriangleNeighbours out;
  take_piece(pieces.at(0).piece, mesh, out);
  if (start.boundary.point.empty()) return out;
  take_boundary(trace(job, start.boundary, mesh, edges), start.boundary, mesh, ranks.rank, out);
  return out;
}

NeighbourArrays arrays_of(TriangleNeighbours from) {
  NeighbourArrays to;
  to.shared = std::move(from.shared);
  to.first = std::move(from.first);
  to.ranks = std::move(from.ranks);
  const auto append = [](const auto& values, auto& list) { list.insert(list.end(), values.begin(), values.end()); };
  for (const TriangleNeighbours::Halo& halo : from.halo) {
    to.halo_triangle.push_back(halo.triangle);
    append(halo.rank, to.behind_rank);
    append(halo.behind, to.behind_triangle);
  }
  for (const TriangleNeighbours::Boundary& point : from.boundary) {
    to.boundary_point.push_back(point.point);
    to.place.push_back(point.place);
    to.liquid.push_back(point.liquid);
    to.next.push_back(point.next);
    to.previous.push_back(point.previous);
    append(point.codes, to.codes);
    append(point.values, to.values);
    to.colour.push_back(point.colour);
  }
  return to;
}

}  // namespace octavo::engine
