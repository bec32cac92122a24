#include "octavo/step/sub_mesh.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <numeric>
#include <set>
#include <utility>

#include "octavo/base/error.hpp"
#include "octavo/mesh/triangles/cells.hpp"
#include "octavo/step/boundary_groups.hpp"
#include "octavo/step/cell_values.hpp"
#include "octavo/step/triangle_series.hpp"

namespace octavo::step {
namespace {

std::array<double, 2> middle_of(const mesh::Unstructured& mesh, const std::int64_t* points) {
  std::array<double, 2> sum{};
  for (std::size_t k = 0; k < 3; ++k) {
    sum[0] += mesh.x[static_cast<std::size_t>(points[k])] / 3;
    sum[1] += mesh.y[static_cast<std::size_t>(points[k])] / 3;
  }
  return sum;
}

/// Triangles around each point, as ranges of one list.
struct Around {
  std::vector<std::size_t> first;  // one more than points
  std::vector<std::size_t> triangles;
};
Around triangles_around(const std::vector<std::int64_t>& connectivity, std::size_t points) {
  Around out;
  out.first.assign(points + 1, 0);
  for (const std::int64_t point : connectivity) ++out.first[static_cast<std::size_t>(point) + 1];
  std::partial_sum(out.first.begin(), out.first.end(), out.first.begin());
  out.triangles.resize(connectivity.size());
  std::vector<std::size_t> next(out.first.begin(), out.first.end() - 1);
  for (std::size_t i = 0; i < connectivity.size(); ++i)
    out.triangles[next[static_cast<std::size_t>(connectivity[i])]++] = i / 3;
  return out;
}

/// The triangles around a point, by number, in groups that share edges at it. The largest group comes first; if several
/// are as large, the one with the smallest number.
std::vector<std::vector<std::size_t>> fans_at(const std::vector<std::int64_t>& connectivity, const Around& around,
                                              std::size_t point) {
  std::map<std::int64_t, std::size_t> group_of;  // by other points of the triangles
  std::vector<std::vector<std::size_t>> groups;
  for (std::size_t i = around.first[point]; i < around.first[point + 1]; ++i) {
    const std::size_t t = around.triangles[i], group = groups.size();
    groups.push_back({t});
    for (std::size_t k = 0; k < 3; ++k) {
      const std::int64_t other = connectivity[3 * t + k];
      if (static_cast<std::size_t>(other) == point) continue;
      const auto [known, fresh] = group_of.try_emplace(other, group);
      if (fresh || known->second == group) continue;
      const std::size_t old = known->second;
      for (auto& [name, number] : group_of)
        if (number == old) number = group;
      groups[group].insert(groups[group].end(), groups[old].begin(), groups[old].end());
      groups[old].clear();
    }
  }
  std::erase_if(groups, [](const auto& group) { return group.empty(); });
  for (auto& group : groups) std::sort(group.begin(), group.end());
  std::sort(groups.begin(), groups.end(),
            [](const auto& a, const auto& b) { return a.size() != b.size() ? a.size() > b.size() : a[0] < b[0]; });
  return groups;
}

/// Triangles of the whole mesh: their numbers there and their points.
struct Triangles {
  std::vector<std::size_t> number;
  std::vector<std::int64_t> connectivity;
};

Triangles without(const Triangles& triangles, const std::vector<char>& gone) {
  Triangles out;
  for (std::size_t t = 0; t < triangles.number.size(); ++t) {
    if (gone[t] != 0) continue;
    out.number.push_back(triangles.number[t]);
    for (std::size_t k = 0; k < 3; ++k) out.connectivity.push_back(triangles.connectivity[3 * t + k]);
  }
  return out;
}

/// Leaves triangles out until around each point there is one fan. Returns how many.
std::int64_t part_touching_borders(Triangles& triangles, std::size_t points) {
  std::int64_t left_out = 0;
  for (bool changed = true; changed;) {
    changed = false;
    const Around around = triangles_around(triangles.connectivity, points);
    std::vector<char> gone(triangles.number.size(), 0);
    for (std::size_t point = 0; point < points; ++point) {
      const auto fans = fans_at(triangles.connectivity, around, point);
      for (std::size_t f = 1; f < fans.size(); ++f)
        for (const std::size_t t : fans[f]) gone[t] = 1;
      changed = changed || fans.size() > 1;
    }
    left_out += std::count(gone.begin(), gone.end(), 1);
    triangles = without(triangles, gone);
  }
  return left_out;
}

/// The points that are kept, by number in the whole mesh, for one plane.
mesh::Unstructured with_own_points(const mesh::Unstructured& whole, std::vector<std::int64_t> connectivity,
                                   std::vector<std::size_t>& kept) {
  std::vector<std::int64_t> name(whole.x.size(), -1);
  for (const std::int64_t point : connectivity) name[static_cast<std::size_t>(point)] = 0;
  mesh::Unstructured out;
  out.planes = whole.planes;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name[i] < 0) continue;
    name[i] = static_cast<std::int64_t>(kept.size());
    kept.push_back(i);
    out.x.push_back(whole.x[i]);
    out.y.push_back(whole.y[i]);
  }
  for (std::int64_t& point : connectivity) point = name[static_cast<std::size_t>(point)];
  out.connectivity = std::move(connectivity);
  return out;
}

mesh::Field taken(const mesh::Field& field, const std::vector<std::size_t>& kept, std::size_t points,
                  std::size_t planes) {
  const std::size_t size = mesh::size_of(field.info.type);
  mesh::Field out{field.info, {}};
  out.bytes.resize(kept.size() * planes * size);
  std::byte* to = out.bytes.data();
  for (std::size_t plane = 0; plane < planes; ++plane)
    for (const std::size_t point : kept) {
      std::memcpy(to, field.bytes.data() + (plane * points + point) * size, size);
      to += size;
    }
  return out;
}

/// The groups of what is kept, in the numbers of the cut mesh.
formats::MeshGroups groups_of(const formats::MeshGroups& whole, const Triangles& kept, const mesh::Unstructured& cut,
                              const std::vector<std::size_t>& points, std::size_t whole_points,
                              std::size_t whole_triangles) {
  const auto planes = static_cast<std::size_t>(cut.planes), layers = std::max<std::size_t>(1, planes - 1);
  formats::MeshGroups groups;
  groups.families = whole.families;
  std::vector<std::int32_t> number(whole_points, -1);
  for (std::size_t i = 0; i < points.size(); ++i) number[points[i]] = static_cast<std::int32_t>(i);
  std::set<std::pair<std::int64_t, std::int64_t>> sides;
  for (std::size_t i = 0; i < cut.connectivity.size(); ++i) {
    const std::int64_t a = cut.connectivity[i], b = cut.connectivity[i % 3 == 2 ? i - 2 : i + 1];
    sides.insert(std::minmax(a, b));
  }
  for (std::size_t e = 0; e < whole.edges.size() / 2; ++e) {
    const auto from = static_cast<std::size_t>(whole.edges[2 * e]),
               to = static_cast<std::size_t>(whole.edges[2 * e + 1]);
    const std::int32_t a = number[from % whole_points], b = number[to % whole_points];
    if (a < 0 || b < 0) continue;
    if (a != b && !sides.contains(std::minmax<std::int64_t>(a, b))) continue;
    const auto in_plane = [&](std::size_t point, std::int32_t of_plane) {
      return static_cast<std::int32_t>(point / whole_points * points.size()) + of_plane;
    };
    groups.edges.push_back(in_plane(from, a));
    groups.edges.push_back(in_plane(to, b));
    if (!whole.of_edge.empty()) groups.of_edge.push_back(whole.of_edge[e]);
  }
  for (std::size_t layer = 0; layer < layers && !whole.of_triangle.empty(); ++layer)
    for (const std::size_t t : kept.number)
      groups.of_triangle.push_back(whole.of_triangle[layer * whole_triangles + t]);
  for (std::size_t plane = 0; plane < planes && !whole.of_point.empty(); ++plane)
    for (const std::size_t point : points) groups.of_point.push_back(whole.of_point[plane * whole_points + point]);
  return groups;
}

struct ClippedMesh {
  mesh::Unstructured mesh;
  std::vector<std::size_t> kept;
  std::size_t points = 0;  // of a plane of the whole mesh
};

mesh::Dataset cut_step(const mesh::Dataset& step, const std::shared_ptr<const ClippedMesh>& cut) {
  mesh::Header header = step.header;
  header.attributes.erase(mesh::cells_attribute);  // triangles are taken by themselves
  const auto [west, east] = std::minmax_element(cut->mesh.x.begin(), cut->mesh.x.end());
  const auto [south, north] = std::minmax_element(cut->mesh.y.begin(), cut->mesh.y.end());
  header.lo[0] = *west;
  header.hi[0] = *east;
  header.lo[1] = *south;
  header.hi[1] = *north;
  const std::int64_t planes = cut->mesh.planes;
  mesh::Dataset out = mesh::of_one_part(
      step.format, step.path, std::move(header), step.bytes,
      static_cast<std::int64_t>(cut->mesh.connectivity.size() / 3) * std::max<std::int64_t>(1, planes - 1),
      static_cast<std::int64_t>(cut->mesh.x.size()) * planes);
  out.read = [read = step.read, cut](int part, const mesh::Request& request) {
    mesh::Part whole = read(part, request), some;
    some.index = whole.index;
    if (request.mesh)
      some.mesh = cut->mesh;
    else
      some.mesh = mesh::Unstructured{};
    for (const mesh::Field& field : whole.fields)
      some.fields.push_back(taken(field, cut->kept, cut->points, static_cast<std::size_t>(cut->mesh.planes)));
    return some;
  };
  return out;
}

}  // namespace

formats::Series cut_out(const formats::Series& series, const mesh::Polygon& polygon, std::vector<std::string>& notes) {
  mesh::validate(polygon);
  const mesh::Unstructured& whole = series.mesh;
  std::vector<char> outside(whole.connectivity.size() / 3, 0);
  for (std::size_t t = 0; t < outside.size(); ++t)
    outside[t] = mesh::contains(polygon, middle_of(whole, &whole.connectivity[3 * t])) ? 0 : 1;
  Triangles all{std::vector<std::size_t>(outside.size()), whole.connectivity};
  std::iota(all.number.begin(), all.number.end(), std::size_t{0});
  Triangles kept = without(all, outside);
  if (const std::int64_t left_out = part_touching_borders(kept, whole.x.size()); left_out > 0)
    notes.push_back(std::to_string(left_out) + " triangles are left out: the boundary would meet itself at a point");
  if (kept.number.empty())
    throw base::Error(base::Kind::usage, "the polygon holds the middle of no triangle").at(series.first.path);
  const auto cut = std::make_shared<ClippedMesh>();
  cut->points = whole.x.size();
  cut->mesh = with_own_points(whole, kept.connectivity, cut->kept);
  formats::Series out;
  out.first = cut_step(series.first, cut);
  out.mesh = cut->mesh;
  out.variables = series.variables;
  keep_triangles(series.first.header, out.variables, notes);
  out.times = series.times;
  out.open = [open = series.open, cut](std::size_t number) { return cut_step(open(number), cut); };
  out.boundary = number_boundary(out.mesh);
  out.groups = groups_of(series.groups ? *series.groups : groups_of_file(series.first), kept, cut->mesh, cut->kept,
                         whole.x.size(), outside.size());
  return out;
}

}  // namespace octavo::step
