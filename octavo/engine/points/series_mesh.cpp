#include "octavo/engine/points/series_mesh.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <string>

#include "octavo/base/error.hpp"
#include "octavo/ranks/communicator.hpp"
#include "octavo/ranks/route.hpp"
#include "octavo/step/triangle_series.hpp"

/// One mesh of the pieces that ranks hold. Points and triangles go by their numbers to the ranks that share out the
/// numbers evenly; these keep each once and tell the senders which rank's values count. No rank holds the whole mesh,
/// unless it comes from a geometry.
namespace octavo::engine {
namespace {

namespace serafin = formats::serafin;
using base::Error;
using base::Kind;
using Triangle = std::array<std::int32_t, 3>;

constexpr std::int64_t most_numbers = std::numeric_limits<std::int32_t>::max();

/// A point's number in the file, as a rank that holds the point knows it.
struct Point {
  std::int64_t number = 0;
  double x = 0, y = 0;
  std::int64_t boundary = 0;
};
struct NumberedTriangle {
  std::int64_t number = 0;  ///< or the lowest point
  Triangle points{};
};

std::int64_t number_of(const mesh::Unstructured& piece, std::size_t point) {
  return piece.global_point.empty() ? static_cast<std::int64_t>(point) : piece.global_point[point];
}

void require_length(const char* list, std::size_t found, std::size_t expected) {
  if (found != expected)
    throw Error(Kind::usage, std::string(list) + ": expected " + std::to_string(expected) + " entries, found " +
                                 std::to_string(found));
}

void check_piece(const SeriesMesh& mesh) {
  validate(mesh.piece);
  if (!mesh.global_element.empty())
    require_length("global_element", mesh.global_element.size(), mesh.piece.connectivity.size() / 3);
  if (!mesh.boundary.empty()) require_length("boundary", mesh.boundary.size(), mesh.piece.x.size());
  const auto outside = [](std::int64_t number) { return number < 0 || number >= most_numbers; };
  for (const auto* list : {&mesh.piece.global_point, &mesh.global_element})
    if (const auto found = std::find_if(list->begin(), list->end(), outside); found != list->end())
      throw Error(Kind::usage, "numbers in the file: expected 0 to " + std::to_string(most_numbers) + ", found " +
                                   std::to_string(*found));
}

std::int64_t largest_of_all(MPI_Comm comm, std::int64_t mine) {
  MPI_Allreduce(MPI_IN_PLACE, &mine, 1, MPI_INT64_T, MPI_MAX, comm);
  return mine;
}

template <class Item>
std::vector<int> counts_of(const std::vector<Item>& sorted, std::int64_t total, int ranks) {
  std::vector<int> counts(static_cast<std::size_t>(ranks), 0);
  for (const Item& item : sorted) ++counts[base::owner(item.number, total, ranks)];
  return counts;
}

/// Positions of the rank's points by ascending number.
std::vector<std::uint32_t> order_of_points(const mesh::Unstructured& piece) {
  std::vector<std::uint32_t> order(piece.x.size());
  std::iota(order.begin(), order.end(), 0u);
  if (!piece.global_point.empty())
    std::sort(order.begin(), order.end(),
              [&](std::uint32_t a, std::uint32_t b) { return piece.global_point[a] < piece.global_point[b]; });
  return order;
}

// Compares in single precision, because ranks may have computed the coordinates.
void check_place(const Point& point, double x, double y) {
  const auto differ = [](double a, double b) { return !(static_cast<float>(a) == static_cast<float>(b)); };
  if (differ(point.x, x) || differ(point.y, y))
    throw Error(Kind::corrupt, "point " + std::to_string(point.number) + " (from 0): expected " + std::to_string(x) +
                                   ", " + std::to_string(y) + " as on the lowest rank, found " +
                                   std::to_string(point.x) + ", " + std::to_string(point.y))
        .hint("global_point: the number of each point in the file, not on its rank");
}

/// Keeps the first point that came of every number: points come in the order of the ranks that sent them, so it is the
/// lowest rank's. Returns for each point that came whether it was kept.
std::vector<std::uint8_t> keep_lowest(const std::vector<Point>& came, std::int64_t begin, std::int64_t end,
                                      SharedMesh& shared) {
  const auto count = static_cast<std::size_t>(end - begin);
  std::vector<std::uint8_t> known(count, 0), first(came.size(), 0);
  shared.x.resize(count);
  shared.y.resize(count);
  shared.boundary.resize(count);
  for (std::size_t i = 0; i < came.size(); ++i) {
    const auto at = static_cast<std::size_t>(came[i].number - begin);
    if (known[at] != 0) {
      check_place(came[i], shared.x[at], shared.y[at]);
      continue;
    }
    known[at] = first[i] = 1;
    shared.x[at] = came[i].x;
    shared.y[at] = came[i].y;
    shared.boundary[at] = static_cast<std::int32_t>(came[i].boundary);
  }
  const auto missing = std::find(known.begin(), known.end(), 0);
  if (missing != known.end())
    throw Error(Kind::corrupt, "point " + std::to_string(begin + (missing - known.begin())) +
                                   " (from 0) is held by no rank, and larger numbers are");
  return first;
}

/// One entry a plane of each point that the rank owns.
void spread_planes(const SeriesMesh& mesh, std::int64_t points, OwnedPoints& owned) {
  const std::size_t here = owned.number.size();
  for (int plane = 1; plane < mesh.piece.planes; ++plane)
    for (std::size_t i = 0; i < here; ++i) {
      owned.number.push_back(static_cast<std::int32_t>(owned.number[i] + plane * points));
      owned.local.push_back(
          static_cast<std::uint32_t>(owned.local[i] + static_cast<std::size_t>(plane) * mesh.piece.x.size()));
    }
}

void share_points(MPI_Comm comm, const SeriesMesh& mesh, std::int64_t total, SharedMesh& shared) {
  const int ranks = ranks::size_of(comm), rank = ranks::rank_in(comm);
  std::vector<std::uint32_t> order;
  std::vector<Point> mine;
  ranks::agree(comm, [&] {
    order = order_of_points(mesh.piece);
    for (const std::uint32_t i : order)
      mine.push_back(
          {number_of(mesh.piece, i), mesh.piece.x[i], mesh.piece.y[i], mesh.boundary.empty() ? 0 : mesh.boundary[i]});
  });
  const ranks::Routed<Point> came = ranks::route<Point>(comm, mine, counts_of(mine, total, ranks));
  std::vector<std::uint8_t> first;
  ranks::agree(comm, [&] {
    first = keep_lowest(came.values, base::share_begin(total, ranks, rank), base::share_begin(total, ranks, rank + 1),
                        shared);
  });
  const ranks::Routed<std::uint8_t> owned = ranks::route<std::uint8_t>(comm, first, came.counts);
  ranks::agree(comm, [&] {
    for (std::size_t k = 0; k < order.size(); ++k)
      if (owned.values[k] != 0) {
        shared.owned.number.push_back(static_cast<std::int32_t>(mine[k].number));
        shared.owned.local.push_back(order[k]);
      }
  });
}

/// Rotates a triangle so that its lowest point comes first. Its orientation stays.
Triangle turned(Triangle points) {
  std::rotate(points.begin(), std::min_element(points.begin(), points.end()), points.end());
  return points;
}

std::vector<NumberedTriangle> elements_of(const SeriesMesh& mesh, bool numbered) {
  std::vector<NumberedTriangle> elements(mesh.piece.connectivity.size() / 3);
  for (std::size_t e = 0; e < elements.size(); ++e) {
    Triangle points{};
    for (std::size_t k = 0; k < 3; ++k)
      points[k] = static_cast<std::int32_t>(
          number_of(mesh.piece, static_cast<std::size_t>(mesh.piece.connectivity[3 * e + k])));
    if (!numbered) points = turned(points);
    elements[e] = {numbered ? mesh.global_element[e] : points[0], points};
  }
  std::stable_sort(elements.begin(), elements.end(),
                   [](const NumberedTriangle& a, const NumberedTriangle& b) { return a.number < b.number; });
  return elements;
}

void check_elements(const std::vector<NumberedTriangle>& sorted, std::int64_t begin, std::int64_t end) {
  for (std::size_t i = 0; i < static_cast<std::size_t>(end - begin); ++i)
    if (i >= sorted.size() || sorted[i].number != begin + static_cast<std::int64_t>(i))
      throw Error(Kind::corrupt, "triangle " + std::to_string(begin + static_cast<std::int64_t>(i)) +
                                     " (from 0) is held by no rank, and larger numbers are");
}

void check_triangle(const NumberedTriangle& element, const NumberedTriangle& before) {
  auto found = element.points, expected = before.points;
  std::sort(found.begin(), found.end());
  std::sort(expected.begin(), expected.end());
  if (element.number == before.number && found != expected)
    throw Error(Kind::corrupt,
                "triangle " + std::to_string(element.number) + " (from 0): ranks have other points of it")
        .hint("global_element: the number of each triangle in the file, not on its rank");
}

/// Sorts the elements that came to this rank into the file's order and keeps each once.
void order_elements(std::vector<NumberedTriangle>& elements, bool numbered) {
  const auto same = [&](const NumberedTriangle& a, const NumberedTriangle& b) {
    return a.number == b.number && (numbered || a.points == b.points);
  };
  std::stable_sort(elements.begin(), elements.end(), [&](const NumberedTriangle& a, const NumberedTriangle& b) {
    return a.number != b.number ? a.number < b.number : !numbered && a.points < b.points;
  });
  if (numbered)
    for (std::size_t i = 1; i < elements.size(); ++i) check_triangle(elements[i], elements[i - 1]);
  elements.erase(std::unique(elements.begin(), elements.end(), same), elements.end());
}

/// Returns how many triangles there are.
std::int64_t share_elements(MPI_Comm comm, const SeriesMesh& mesh, std::int64_t points, SharedMesh& shared) {
  const int ranks = ranks::size_of(comm), rank = ranks::rank_in(comm);
  const bool numbered = largest_of_all(comm, mesh.global_element.empty() ? 0 : 1) == 1;
  std::vector<NumberedTriangle> mine;
  ranks::agree(comm, [&] {
    if (numbered) require_length("global_element", mesh.global_element.size(), mesh.piece.connectivity.size() / 3);
    mine = elements_of(mesh, numbered);
  });
  const std::int64_t total = numbered ? largest_of_all(comm, mine.empty() ? 0 : mine.back().number + 1) : points;
  std::vector<NumberedTriangle> came = ranks::route<NumberedTriangle>(comm, mine, counts_of(mine, total, ranks)).values;
  ranks::agree(comm, [&] {
    order_elements(came, numbered);
    if (numbered)
      check_elements(came, base::share_begin(total, ranks, rank), base::share_begin(total, ranks, rank + 1));
    for (const NumberedTriangle& element : came) shared.triangles.push_back(element.points);
  });
  auto count = static_cast<std::int64_t>(came.size());
  MPI_Allreduce(MPI_IN_PLACE, &count, 1, MPI_INT64_T, MPI_SUM, comm);
  return count;
}

struct PlaneSizes {
  std::int64_t points = 0, triangles = 0, on_boundary = 0;
};

void fill_header(serafin::SerafinHeader& header, const PlaneSizes& sizes, int planes) {
  const std::int64_t layers = planes > 1 ? planes - 1 : 1;
  if (sizes.points == 0) throw Error(Kind::usage, "no rank holds a point of the mesh");
  if (sizes.points * planes > most_numbers || sizes.triangles * layers > most_numbers)
    throw Error(Kind::unsupported,
                "SERAFIN cannot hold this mesh: expected up to 2147483647 points and elements, found " +
                    std::to_string(sizes.points * planes) + " and " + std::to_string(sizes.triangles * layers));
  header.points = static_cast<std::int32_t>(sizes.points * planes);
  header.elements = static_cast<std::int32_t>(sizes.triangles * layers);
  header.nodes = planes > 1 ? 6 : 3;
  // TELEMAC counts IPARAM from 1: (7) planes, (8) points on the boundary, (9) points that parts share, (10) whether a
  // date follows.
  header.iparam[6] = planes > 1 ? planes : 0;
  header.iparam[7] = static_cast<std::int32_t>(sizes.on_boundary);
  header.iparam[8] = 0;
  header.iparam[9] = header.date ? 1 : 0;
  serafin::encode_header(header);  // throws for an invalid header
}

formats::Series open_geometry(const std::filesystem::path& path, std::int64_t points) {
  formats::Series whole = step::open_triangles(path, std::vector<std::string>{}, "a series");
  const std::int64_t there = std::ssize(whole.mesh.x);
  if (there != points)
    throw Error(Kind::usage,
                "the geometry has " + std::to_string(there) + " points, the ranks hold " + std::to_string(points))
        .at(path.string());
  std::vector<std::string> notes;
  whole.boundary = step::boundary_numbers_of(whole, notes);
  whole.boundary.resize(whole.mesh.x.size());  // of the lowest plane
  return whole;
}

/// Collective. The geometry has the origin, which TELEMAC does not add to coordinates.
PlaneSizes open_geometry(MPI_Comm comm, const SeriesMesh& mesh, std::int64_t points, SharedMesh& shared,
                         serafin::SerafinHeader& header) {
  std::array<std::int64_t, 4> found{};  // triangles, points on the boundary, origin
  ranks::agree(comm, [&] {
    if (ranks::rank_in(comm) != 0) return;
    const formats::Series& whole = shared.geometry.emplace(open_geometry(*mesh.geometry, points));
    const auto [x, y] = formats::origin_parameters(whole.first.header);
    found = {std::ssize(whole.mesh.connectivity) / 3,
             points - std::count(whole.boundary.begin(), whole.boundary.end(), 0), x, y};
  });
  MPI_Bcast(found.data(), static_cast<int>(found.size()), MPI_INT64_T, 0, comm);
  header.iparam[2] = static_cast<std::int32_t>(found[2]);
  header.iparam[3] = static_cast<std::int32_t>(found[3]);
  return {points, found[0], found[1]};
}

// ------------------------------------------------------------------ to the file

struct MeshFile {
  const serafin::SerafinHeader& header;
  const serafin::Put& put;
  std::int64_t layers() const { return std::max(1, serafin::planes(header) - 1); }
  std::int64_t plane_points() const { return serafin::plane_points(header); }
  std::int64_t plane_elements() const { return serafin::plane_elements(header); }
};

void put_triangles(const MeshFile& to, std::int64_t first, std::span<const Triangle> triangles) {
  const bool prisms = to.header.nodes == 6;
  std::vector<std::int32_t> nodes;
  for (std::int64_t layer = 0; layer < to.layers(); ++layer) {
    nodes.clear();
    for (const Triangle& triangle : triangles)
      for (std::int64_t plane = layer; plane <= layer + (prisms ? 1 : 0); ++plane)
        for (const std::int32_t point : triangle)
          nodes.push_back(static_cast<std::int32_t>(point + plane * to.plane_points() + 1));
    write_connectivity(to.put, to.header, (layer * to.plane_elements() + first) * to.header.nodes, nodes);
  }
}

void put_numbers(const MeshFile& to, std::int64_t first, std::span<const std::int32_t> boundary) {
  std::vector<std::int32_t> numbers(boundary.begin(), boundary.end());
  for (int plane = 0; plane < serafin::planes(to.header); ++plane) {
    write_numbers(to.put, to.header, plane * to.plane_points() + first, numbers);
    for (std::int32_t& number : numbers)
      if (number != 0) number += to.header.iparam[7];
  }
}

void put_coordinates(const MeshFile& to, int axis, std::int64_t first, std::span<const double> values) {
  for (int plane = 0; plane < serafin::planes(to.header); ++plane)
    write_coordinates(to.put, to.header, axis, plane * to.plane_points() + first, values);
}

/// Copies the triangles and IPOBO of a geometry, a piece at a time.
void copy_geometry(const formats::Series& from, const MeshFile& to) {
  constexpr std::int64_t batch = 1 << 18;
  const mesh::Unstructured& whole = from.mesh;
  std::vector<Triangle> triangles;
  for (std::int64_t first = 0; first < to.plane_elements(); first += batch) {
    triangles.clear();
    for (std::int64_t e = first; e < std::min(first + batch, to.plane_elements()); ++e) {
      const std::int64_t* nodes = &whole.connectivity[3 * static_cast<std::size_t>(e)];
      triangles.push_back({static_cast<std::int32_t>(nodes[0]), static_cast<std::int32_t>(nodes[1]),
                           static_cast<std::int32_t>(nodes[2])});
    }
    put_triangles(to, first, triangles);
  }
  put_numbers(to, 0, from.boundary);
}

}  // namespace

SharedMesh share_pieces(MPI_Comm comm, const SeriesMesh& mesh, MeshSizes& sizes) {
  ranks::agree(comm, [&] { check_piece(mesh); });
  ranks::require_same(
      comm,
      std::to_string(mesh.piece.planes) + " planes, " + (mesh.geometry ? mesh.geometry->string() : "no") + " geometry",
      "the mesh");
  std::int64_t largest = -1;
  for (std::size_t i = 0; i < mesh.piece.x.size(); ++i) largest = std::max(largest, number_of(mesh.piece, i));
  sizes.points = largest_of_all(comm, largest) + 1;
  SharedMesh shared;
  share_points(comm, mesh, sizes.points, shared);
  if (!mesh.geometry) sizes.triangles = share_elements(comm, mesh, sizes.points, shared);
  return shared;
}

SharedMesh share_mesh(MPI_Comm comm, const SeriesMesh& mesh, serafin::SerafinHeader& header) {
  MeshSizes plane;
  SharedMesh shared = share_pieces(comm, mesh, plane);
  PlaneSizes sizes{plane.points, plane.triangles};
  if (mesh.geometry) {
    sizes = open_geometry(comm, mesh, sizes.points, shared, header);
  } else {
    sizes.on_boundary = std::count_if(shared.boundary.begin(), shared.boundary.end(), [](auto b) { return b != 0; });
    MPI_Allreduce(MPI_IN_PLACE, &sizes.on_boundary, 1, MPI_INT64_T, MPI_SUM, comm);
  }
  ranks::agree(comm, [&] {
    fill_header(header, sizes, mesh.piece.planes);
    spread_planes(mesh, plane.points, shared.owned);
  });
  return shared;
}

void write_mesh(MPI_Comm comm, const SeriesMesh& mesh, const SharedMesh& shared, const serafin::SerafinHeader& header,
                const serafin::Put& put) {
  const MeshFile to{header, put};
  ranks::agree(comm, [&] {
    if (ranks::rank_in(comm) != 0) return;
    write_header(put, header);
    if (shared.geometry)
      copy_geometry(*shared.geometry, to);
    else if (header.elements == 0)
      put_triangles(to, 0, {});
  });
  if (!mesh.geometry) {
    ranks::to_root<Triangle>(comm, shared.triangles,
                             [&](std::int64_t first, auto some) { put_triangles(to, first, some); });
    ranks::to_root<std::int32_t>(comm, shared.boundary,
                                 [&](std::int64_t first, auto some) { put_numbers(to, first, some); });
  }
  ranks::to_root<double>(comm, shared.x, [&](std::int64_t first, auto some) { put_coordinates(to, 0, first, some); });
  ranks::to_root<double>(comm, shared.y, [&](std::int64_t first, auto some) { put_coordinates(to, 1, first, some); });
}

}  // namespace octavo::engine
