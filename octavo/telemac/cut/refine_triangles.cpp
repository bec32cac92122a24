#include "octavo/telemac/cut/refine_triangles.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <vector>

#include "octavo/base/at.hpp"
#include "octavo/base/error.hpp"
#include "octavo/base/release.hpp"
#include "octavo/formats/serafin/boundary.hpp"
#include "octavo/formats/serafin/row.hpp"
#include "octavo/formats/serafin/series.hpp"
#include "octavo/formats/serafin/write.hpp"
#include "octavo/mesh/triangles/split_triangles.hpp"
#include "octavo/step/new_file.hpp"
#include "octavo/telemac/cut/cut_steps.hpp"
#include "octavo/telemac/cut/shared_mesh.hpp"

namespace octavo::telemac {
namespace {

namespace fs = std::filesystem;
using base::Error;
using base::Kind;
using Edges = std::vector<std::array<std::int32_t, 2>>;

using base::at;

/// A mesh that grows, the edges that its points came from, time by time, and the boundary along its lines.
struct Refined {
  std::vector<std::int32_t> connectivity;
  std::int32_t points = 0;
  std::vector<Edges> edges;
  std::vector<std::int32_t> rank;                  ///< on the boundary, from 1; 0 inside
  std::vector<serafin::BoundaryPoint> conditions;  ///< by rank; empty without a boundary file
};

/// Values of the first mesh's points become those of the last one's.
void extend(const Refined& mesh, std::vector<double>& values) {
  values.reserve(at(mesh.points));
  for (const Edges& edges : mesh.edges)
    for (const auto& [a, b] : edges) values.push_back((values[at(a)] + values[at(b)]) / 2);
}

constexpr int wall = 2;

serafin::BoundaryPoint between(const serafin::BoundaryPoint& a, const serafin::BoundaryPoint& b) {
  serafin::BoundaryPoint middle = a.depth == wall || b.depth != wall ? a : b;
  for (std::size_t i = 0; i < middle.values.size(); ++i) middle.values[i] = (a.values[i] + b.values[i]) / 2;
  for (std::size_t i = 0; i < middle.tracer_values.size(); ++i)
    middle.tracer_values[i] = (a.tracer_values[i] + b.tracer_values[i]) / 2;
  return middle;
}

/// Whether the last numbers of the lines say more than where a line stands.
bool is_coloured(const std::vector<serafin::BoundaryPoint>& lines) {
  for (std::size_t k = 0; k < lines.size(); ++k)
    if (lines[k].colour != static_cast<std::int32_t>(k + 1)) return true;
  return false;
}

/// Ranks twice as far apart, and the middles of boundary edges between them. `before`: of the mesh not yet split.
void split_boundary(const std::vector<std::int32_t>& before, const mesh::SplitTriangles& split, Refined& mesh) {
  std::vector<std::int32_t> on;  // by rank
  for (std::size_t i = 0; i < mesh.rank.size(); ++i)
    if (mesh.rank[i] != 0) on.push_back(static_cast<std::int32_t>(i));
  std::sort(on.begin(), on.end(), [&](std::int32_t a, std::int32_t b) { return mesh.rank[at(a)] < mesh.rank[at(b)]; });
  const auto old_points = static_cast<std::int32_t>(mesh.rank.size());
  const partition::Outline contour = partition::trace_contour(before, old_points, on);
  mesh.rank.assign(at(mesh.points), 0);
  std::vector<serafin::BoundaryPoint> conditions;
  for (std::size_t k = 0; k < on.size(); ++k) {
    const std::int32_t here = on[k], next = on[at(contour.next[k])];
    const auto edge = std::lower_bound(split.edges.begin(), split.edges.end(),
                                       std::array{std::min(here, next), std::max(here, next)});
    const auto middle = old_points + static_cast<std::int32_t>(edge - split.edges.begin());
    mesh.rank[at(here)] = static_cast<std::int32_t>(2 * k + 1);
    mesh.rank[at(middle)] = static_cast<std::int32_t>(2 * k + 2);
    if (mesh.conditions.empty()) continue;
    conditions.push_back(mesh.conditions[k]);
    conditions.push_back(between(mesh.conditions[k], mesh.conditions[at(contour.next[k])]));
    conditions.back().point = middle + 1;
  }
  if (!is_coloured(mesh.conditions))
    for (std::size_t k = 0; k < conditions.size(); ++k) conditions[k].colour = static_cast<std::int32_t>(k + 1);
  mesh.conditions = std::move(conditions);
}

void split_once(Refined& mesh) {
  mesh::SplitTriangles split = mesh::split_triangles(mesh.connectivity, mesh.points);
  mesh.points += static_cast<std::int32_t>(split.edges.size());
  split_boundary(mesh.connectivity, split, mesh);
  mesh.connectivity = std::move(split.connectivity);
  mesh.edges.push_back(std::move(split.edges));
}

Refined start(const serafin::SerafinSeries& series, const RefineOptions& options, std::vector<std::string>& notes) {
  if (serafin::planes(series.header) > 1)
    throw Error(Kind::unsupported, "a mesh of prisms: expected triangles").at(series.file->path().string());
  const base::Ranks alone;
  PartitionOptions known;
  known.boundary = options.boundary;
  const SharedJob job{alone, series, known, series.header.points, series.header.elements, {}};
  ElementBlock whole = read_block(job);
  MeshBoundary boundary = find_mesh_boundary(job, partition::find_boundary_edges(whole.triangles, job.points),
                                             find_turns(job, whole), notes);
  Refined mesh;
  mesh.rank.assign(at(job.points), 0);
  for (const auto& [point, number] : boundary.numbers) mesh.rank[at(point)] = number;
  mesh.connectivity = std::move(whole.triangles);
  mesh.points = job.points;
  if (boundary.lines) mesh.conditions = std::move(boundary.lines->points);
  return mesh;
}

serafin::SerafinHeader header_of(const serafin::SerafinSeries& series, const Refined& mesh) {
  if (mesh.connectivity.size() / 3 > at(std::numeric_limits<std::int32_t>::max()))
    throw Error(Kind::unsupported,
                std::to_string(mesh.connectivity.size() / 3) + " triangles: expected 2147483647 at most");
  serafin::SerafinHeader header = series.header;
  header.points = mesh.points;
  header.elements = static_cast<std::int32_t>(mesh.connectivity.size() / 3);
  header.iparam[7] = static_cast<std::int32_t>(
      std::count_if(mesh.rank.begin(), mesh.rank.end(), [](std::int32_t rank) { return rank != 0; }));
  return header;
}

void write_mesh(const serafin::Put& put, const serafin::SerafinHeader& header, const Refined& mesh) {
  constexpr std::size_t batch = 1 << 16;
  std::vector<std::int32_t> some;
  for (std::size_t first = 0; first < mesh.connectivity.size(); first += batch) {
    const auto now = std::span(mesh.connectivity).subspan(first, std::min(batch, mesh.connectivity.size() - first));
    some.resize(now.size());
    std::transform(now.begin(), now.end(), some.begin(), [](std::int32_t point) { return point + 1; });
    serafin::write_connectivity(put, header, static_cast<std::int64_t>(first), some);
  }
  serafin::write_numbers(put, header, 0, mesh.rank);
}

void write_values(const serafin::Put& put, const serafin::SerafinHeader& header, const serafin::SerafinSeries& series,
                  const Refined& mesh, const base::Progress& progress) {
  std::vector<double> values;
  const auto renew = [&] { values.resize(at(series.header.points)); };
  for (const int axis : {0, 1}) {
    renew();
    serafin::read_coordinates(series, axis, 0, values);
    extend(mesh, values);
    serafin::write_coordinates(put, header, axis, 0, values);
  }
  const serafin::RecordOffsets offsets = serafin::offsets_of(header);
  const auto total = static_cast<std::int64_t>(piece_bytes(header, series.steps));
  for (std::int64_t step = 0; step < series.steps; ++step) {
    serafin::write_time(put, header, step, serafin::read_time(series, step));
    for (std::size_t v = 0; v < header.variables.size(); ++v) {
      if (progress && !progress(static_cast<std::int64_t>(serafin::values_at(header, offsets, step, v)), total))
        throw Error(Kind::interrupted, "stopped while values were written");
      renew();
      serafin::read_values(series, step, v, 0, values);
      extend(mesh, values);
      serafin::write_values(put, header, step, v, 0, values);
    }
  }
}

}  // namespace

RefineReport refine_triangles(const fs::path& path, const fs::path& out, const RefineOptions& options) {
  const serafin::SerafinSeries series = serafin::open_series(path);
  RefineReport report;
  Refined mesh = start(series, options, report.notes);
  try {
    for (int i = 0; i < options.times; ++i) split_once(mesh);
  } catch (Error& error) {  // its own numbers of the boundary (IPOBO) may be wrong
    error.at(path.string());
    throw;
  }
  const serafin::SerafinHeader header = header_of(series, mesh);
  const std::vector<std::byte> head = serafin::encode_header(header);
  step::NewFile file(out, options.overwrite, serafin::row.name);
  std::optional<step::NewFile> boundary;
  if (options.boundary_out) boundary.emplace(*options.boundary_out, options.overwrite);
  const serafin::Put put = [&](std::uint64_t offset, std::span<const std::byte> bytes) { file.put(offset, bytes); };
  put(0, head);
  write_mesh(put, header, mesh);
  base::release(mesh.connectivity);
  write_values(put, header, series, mesh, options.progress);
  file.finish();
  if (boundary) {
    std::string text;
    for (const serafin::BoundaryPoint& point : mesh.conditions) text += serafin::boundary_line(point);
    boundary->put(0, std::as_bytes(std::span(text)));
    boundary->finish();
  }
  report.elements = header.elements;
  report.points = header.points;
  report.steps = series.steps;
  report.boundary_points = header.iparam[7];
  report.bytes = static_cast<std::int64_t>(piece_bytes(header, series.steps));
  return report;
}

}  // namespace octavo::telemac
