#include "apps/shallow/input.hpp"

#include <algorithm>
#include <map>
#include <numeric>

#include "octavo/base/at.hpp"
#include "octavo/base/error.hpp"
#include "octavo/ranks/communicator.hpp"
#include "octavo/telemac/files/piece_files.hpp"

namespace octavo::shallow {

namespace {

namespace fs = std::filesystem;
namespace serafin = formats::serafin;

using base::at;

void check_triangles(const serafin::SerafinSeries& series) {
  if (series.header.nodes != 3)
    throw base::Error(base::Kind::unsupported, "a mesh of triangles is needed; this one has elements of " +
                                                   std::to_string(series.header.nodes) + " points")
        .at(series.file->path().string());
  if (series.steps == 0)
    throw base::Error(base::Kind::corrupt, "the mesh has no step, and so no bottom").at(series.file->path().string());
}

std::vector<double> read_axis(const serafin::SerafinSeries& series, int axis) {
  std::vector<double> values(at(series.header.points));
  serafin::read_coordinates(series, axis, 0, values);
  return values;
}

std::vector<std::int32_t> read_corners(const serafin::SerafinSeries& series) {
  std::vector<std::int32_t> corners(3 * at(series.header.elements));
  serafin::read_connectivity(series, 0, corners);
  for (std::int32_t& point : corners) --point;
  return corners;
}

partition::PartVector cut(const serafin::SerafinSeries& series, const std::vector<std::int32_t>& corners,
                          partition::CutMethod method, std::int32_t parts) {
  partition::check_parts(parts, series.header.elements);
  if (method == partition::CutMethod::metis) return partition::cut_metis(corners, series.header.points, parts);
  if (method == partition::CutMethod::scotch) return partition::cut_scotch(corners, series.header.points, parts);
  return partition::cut_hilbert(corners, read_axis(series, 0), read_axis(series, 1), parts);
}

/// Points of the share's triangles, ascending.
void list_points(Share& share) {
  share.points.reserve(3 * share.triangles.size());
  for (const auto& triangle : share.triangles)
    share.points.insert(share.points.end(), triangle.begin(), triangle.end());
  std::sort(share.points.begin(), share.points.end());
  share.points.erase(std::unique(share.points.begin(), share.points.end()), share.points.end());
}

void pick_coordinates(const serafin::SerafinSeries& series, Share& share) {
  for (int axis = 0; axis < 2; ++axis) {
    const std::vector<double> all = read_axis(series, axis);
    for (const std::int32_t point : share.points) (axis == 0 ? share.x : share.y).push_back(all[at(point)]);
  }
}

/// A point as one of the pieces has it.
struct PiecePoint {
  double x = 0, y = 0, bottom = 0;
  Water water;
};

void read_piece(const serafin::SerafinSeries& series, std::optional<double> level, Share& share,
                std::map<std::int32_t, PiecePoint>& points) {
  check_triangles(series);
  const std::vector<std::int32_t> global = telemac::read_global(series, share.all_points);
  std::vector<std::int32_t> all(global.size());
  std::iota(all.begin(), all.end(), 0);
  const std::vector<double> x = read_axis(series, 0), y = read_axis(series, 1);
  const State state = read_state(series, 0, all, level);
  for (std::size_t i = 0; i < all.size(); ++i) points[global[i]] = {x[i], y[i], state.bottom[i], state.water[i]};
  const std::vector<std::int32_t> corners = read_corners(series);
  for (std::size_t c = 0; c < corners.size(); c += 3)
    share.triangles.push_back({global[at(corners[c])], global[at(corners[c + 1])], global[at(corners[c + 2])]});
}

}  // namespace

Input read_whole(MPI_Comm comm, const fs::path& mesh, partition::CutMethod method, std::optional<double> level) {
  const int rank = ranks::rank_in(comm), ranks = ranks::size_of(comm);
  Input input;
  serafin::SerafinSeries series;
  std::vector<std::int32_t> corners, part_of;
  ranks::agree(comm, [&] {
    series = serafin::open_series(mesh);
    check_triangles(series);
    corners = read_corners(series);
    part_of.resize(corners.size() / 3);
    if (rank == 0) part_of = cut(series, corners, method, ranks);
  });
  MPI_Bcast(part_of.data(), static_cast<int>(part_of.size()), MPI_INT32_T, 0, comm);
  input.share.all_points = series.header.points;
  for (std::size_t t = 0; t < part_of.size(); ++t)
    if (part_of[t] == rank) input.share.triangles.push_back({corners[3 * t], corners[3 * t + 1], corners[3 * t + 2]});
  list_points(input.share);
  ranks::agree(comm, [&] {
    pick_coordinates(series, input.share);
    input.start = read_state(series, 0, input.share.points, level);
  });
  return input;
}

Input read_pieces(MPI_Comm comm, const std::string& prefix, std::int32_t all_points, std::optional<double> level) {
  Input input;
  input.share.all_points = all_points;
  ranks::agree(comm, [&] {
    const telemac::PieceSet pieces = telemac::find_pieces({prefix + "GEO"});
    const std::size_t rank = at(ranks::rank_in(comm)), ranks = at(ranks::size_of(comm));
    const std::size_t first = pieces.places.size() * rank / ranks, end = pieces.places.size() * (rank + 1) / ranks;
    std::map<std::int32_t, PiecePoint> points;
    for (std::size_t piece = first; piece < end; ++piece)
      read_piece(telemac::open_piece(pieces.places[piece]), level, input.share, points);
    for (const auto& [number, point] : points) {
      input.share.points.push_back(number);
      input.share.x.push_back(point.x);
      input.share.y.push_back(point.y);
      input.start.bottom.push_back(point.bottom);
      input.start.water.push_back(point.water);
    }
  });
  return input;
}

}  // namespace octavo::shallow
