#include "apps/shallow/input.hpp"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <map>
#include <memory>
#include <numeric>

#include "octavo/base/byte_order.hpp"
#include "octavo/base/error.hpp"
#include "octavo/file/posix.hpp"
#include "octavo/parallel/communicator.hpp"

namespace octavo::shallow {

namespace {

namespace fs = std::filesystem;
namespace serafin = formats::serafin;

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

void check_triangles(const serafin::Series& series) {
  if (series.header.nodes != 3)
    throw base::Error(base::Kind::unsupported, "a mesh of triangles is needed; this one has elements of " +
                                                   std::to_string(series.header.nodes) + " points")
        .at(series.file->path().string());
  if (series.steps == 0)
    throw base::Error(base::Kind::corrupt, "the mesh has no step, and so no bottom").at(series.file->path().string());
}

std::vector<double> read_axis(const serafin::Series& series, int axis) {
  std::vector<double> values(at(series.header.points));
  serafin::read_coordinates(series, axis, 0, values);
  return values;
}

std::vector<std::int32_t> read_corners(const serafin::Series& series) {
  std::vector<std::int32_t> corners(3 * at(series.header.elements));
  serafin::read_connectivity(series, 0, corners);
  for (std::int32_t& point : corners) --point;
  return corners;
}

partition::PartVector cut(const serafin::Series& series, const std::vector<std::int32_t>& corners,
                          partition::Method method, std::int32_t parts) {
  partition::check_parts(parts, series.header.elements);
  if (method == partition::Method::metis) return partition::cut_metis(corners, series.header.points, parts);
  if (method == partition::Method::scotch) return partition::cut_scotch(corners, series.header.points, parts);
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

void pick_coordinates(const serafin::Series& series, Share& share) {
  for (int axis = 0; axis < 2; ++axis) {
    const std::vector<double> all = read_axis(series, axis);
    for (const std::int32_t point : share.points) (axis == 0 ? share.x : share.y).push_back(all[at(point)]);
  }
}

/// Pieces in one file, or one file each: what opens piece i.
struct Pieces {
  std::shared_ptr<const file::File> file;  ///< of all, where there is one
  std::vector<std::uint64_t> bounds;       ///< of pieces in it [bytes], one more than pieces
  std::string stem;                        ///< else: names without their number
  std::int32_t count = 0;
};

std::string numbered(const std::string& stem, std::int32_t pieces, std::int32_t piece) {
  char text[32];
  std::snprintf(text, sizeof text, "%05d-%05d", pieces - 1, piece);
  return stem + text;
}

Pieces find_concatenated(const std::string& stem) {
  Pieces pieces;
  pieces.file = std::make_shared<const file::File>(file::open_read(stem + "-CONCAT"));
  const file::File index = file::open_read(stem + "-INDEX");
  const std::uint64_t bytes = file::size(index);
  if (bytes == 0 || bytes % 16 != 0)
    throw base::Error(base::Kind::corrupt, "an index of " + std::to_string(bytes) + " bytes is no list of pairs")
        .at(stem + "-INDEX");
  std::vector<std::uint64_t> words(bytes / 8);
  const auto raw = std::as_writable_bytes(std::span(words));
  file::pread_all(index, 0, raw);
  if (std::endian::native == std::endian::little) base::swap_bytes(raw, 8);
  for (std::uint64_t& word : words) --word;  // from 1 in the file
  for (std::size_t i = 0; i < words.size(); i += 2) pieces.bounds.push_back(words[i]);
  pieces.bounds.push_back(words.back());
  pieces.count = static_cast<std::int32_t>(words.size() / 2);
  return pieces;
}

Pieces find_pieces(const std::string& stem) {
  if (fs::exists(stem + "-CONCAT")) return find_concatenated(stem);
  const fs::path folder = fs::path(stem).parent_path();
  const std::string name = fs::path(stem).filename().string();
  Pieces pieces{nullptr, {}, stem, 0};
  for (const auto& entry : fs::directory_iterator(folder.empty() ? "." : folder)) {
    const std::string found = entry.path().filename().string();
    int last = 0, piece = -1, read = 0;
    if (!found.starts_with(name) || std::sscanf(found.c_str() + name.size(), "%5d-%5d%n", &last, &piece, &read) != 2 ||
        piece != 0 || read != 11)
      continue;
    if (pieces.count > 0)
      throw base::Error(base::Kind::usage, "there are cuts into " + std::to_string(pieces.count) + " and into " +
                                               std::to_string(last + 1) + " pieces")
          .at(stem);
    pieces.count = last + 1;
  }
  if (pieces.count > 0) return pieces;
  throw base::Error(base::Kind::unreadable, "no pieces " + stem + "-CONCAT or " + stem + "nnnnn-iiiii");
}

serafin::Series open_piece(const Pieces& pieces, std::int32_t piece) {
  if (!pieces.file) return serafin::open_series(numbered(pieces.stem, pieces.count, piece));
  const std::uint64_t begin = pieces.bounds[at(piece)], end = pieces.bounds[at(piece) + 1];
  if (end <= begin || end > file::size(*pieces.file))
    throw base::Error(base::Kind::corrupt, "piece " + std::to_string(piece) + " is said to be bytes " +
                                               std::to_string(begin) + " to " + std::to_string(end))
        .at(pieces.file->path().string());
  return serafin::open_series(pieces.file, begin, end - begin);
}

/// A point as one of the pieces has it.
struct PiecePoint {
  double x = 0, y = 0, bottom = 0;
  Water water;
};

void read_piece(const serafin::Series& series, std::optional<double> level, Share& share,
                std::map<std::int32_t, PiecePoint>& points) {
  check_triangles(series);
  const auto count = at(series.header.points);
  std::vector<std::int32_t> global(count), all(count);
  serafin::read_numbers(series, 0, global);
  std::iota(all.begin(), all.end(), 0);
  const std::vector<double> x = read_axis(series, 0), y = read_axis(series, 1);
  const State state = read_state(series, 0, all, level);
  for (std::size_t i = 0; i < count; ++i) {
    if (global[i] < 1 || global[i] > share.all_points)
      throw base::Error(base::Kind::corrupt, "global number " + std::to_string(global[i]) + " of a mesh of " +
                                                 std::to_string(share.all_points) + " points")
          .at(series.file->path().string());
    points[global[i] - 1] = {x[i], y[i], state.bottom[i], state.water[i]};
  }
  const std::vector<std::int32_t> corners = read_corners(series);
  for (std::size_t c = 0; c < corners.size(); c += 3)
    share.triangles.push_back(
        {global[at(corners[c])] - 1, global[at(corners[c + 1])] - 1, global[at(corners[c + 2])] - 1});
}

}  // namespace

Input read_whole(MPI_Comm comm, const fs::path& mesh, partition::Method method, std::optional<double> level) {
  const int rank = parallel::rank_in(comm), ranks = parallel::size_of(comm);
  Input input;
  serafin::Series series;
  std::vector<std::int32_t> corners, part_of;
  parallel::agree(comm, [&] {
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
  parallel::agree(comm, [&] {
    pick_coordinates(series, input.share);
    input.start = read_state(series, 0, input.share.points, level);
  });
  return input;
}

Input read_pieces(MPI_Comm comm, const std::string& prefix, std::int32_t all_points, std::optional<double> level) {
  Input input;
  input.share.all_points = all_points;
  parallel::agree(comm, [&] {
    const Pieces pieces = find_pieces(prefix + "GEO");
    const std::int64_t rank = parallel::rank_in(comm), ranks = parallel::size_of(comm);
    const auto first = static_cast<std::int32_t>(pieces.count * rank / ranks);
    const auto end = static_cast<std::int32_t>(pieces.count * (rank + 1) / ranks);
    std::map<std::int32_t, PiecePoint> points;
    for (std::int32_t piece = first; piece < end; ++piece)
      read_piece(open_piece(pieces, piece), level, input.share, points);
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
