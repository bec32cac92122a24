#include "octavo/formats/gmsh/gmsh.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <utility>

#include "octavo/base/error.hpp"
#include "octavo/file/posix.hpp"
#include "octavo/formats/gmsh/reader.hpp"
#include "octavo/formats/row/file_of_one_part.hpp"
#include "octavo/formats/row/range.hpp"
#include "octavo/mesh/triangles/cells.hpp"

namespace octavo::formats::gmsh {
namespace {

using base::Error;
using base::Kind;

constexpr std::string_view first_line = "$MeshFormat";

struct GmshMesh {
  mesh::Mesh mesh;                  ///< Unstructured or Solids
  std::vector<double> bottom;       ///< of a surface: heights of the points; none: all are 0
  std::vector<std::int64_t> cells;  ///< of a surface: by corners
  std::int64_t points = 0, elements = 0;
  MeshGroups groups;
  std::vector<std::string> notes;
};

/// The places of tags among the points.
class TagIndex {
 public:
  explicit TagIndex(const GmshElements& elements) {
    for (std::size_t i = 0; i < elements.tags.size(); ++i) sorted_.emplace_back(elements.tags[i], i);
    std::sort(sorted_.begin(), sorted_.end());
    for (std::size_t i = 1; i < sorted_.size(); ++i)
      if (sorted_[i].first == sorted_[i - 1].first)
        throw Error(Kind::corrupt, "two points have the number " + std::to_string(sorted_[i].first));
  }
  std::size_t of(std::int64_t tag, std::size_t cell, const char* what = "cell ") const {
    const auto found = std::lower_bound(sorted_.begin(), sorted_.end(), std::pair(tag, std::size_t{0}));
    if (found == sorted_.end() || found->first != tag)
      throw Error(Kind::corrupt, "no point has the number " + std::to_string(tag)).at(what + std::to_string(cell));
    return found->second;
  }

 private:
  std::vector<std::pair<std::int64_t, std::size_t>> sorted_;  // tag, place
};

/// Families of the sets of groups that elements of one dimension are in.
class GroupFamilies {
 public:
  GroupFamilies(const GmshElements& elements, int dim, MeshGroups& groups)
      : elements_(elements), dim_(dim), groups_(groups) {}
  std::int32_t of(std::int32_t set) {
    if (set == 0) return 0;
    const auto [found, is_new] = number_of_.emplace(set, 0);
    if (is_new) {
      const auto count = static_cast<std::int32_t>(groups_.families.size()) + 1;
      found->second = dim_ == 0 ? count : -count;
      GroupFamily family{found->second, "FAM_" + std::to_string(found->second), {}};
      for (const std::int64_t group : elements_.sets[static_cast<std::size_t>(set)]) {
        const auto name = elements_.names.find({dim_, group});
        family.groups.push_back(name != elements_.names.end() && !name->second.empty()
                                    ? name->second
                                    : "G_" + std::to_string(dim_) + "D_" + std::to_string(group));
      }
      groups_.families.push_back(std::move(family));
    }
    return found->second;
  }

 private:
  const GmshElements& elements_;
  int dim_;
  MeshGroups& groups_;
  std::map<std::int32_t, std::int32_t> number_of_;
};

/// Sides of solids that are in groups.
void add_sides(const GmshElements& elements, const TagIndex& places, const std::vector<std::int64_t>& number,
               MeshGroups& groups) {
  GroupFamilies of_sides(elements, 2, groups);
  for (std::size_t c = 0; c < elements.cells.size(); ++c) {
    std::array<std::int32_t, 4> side{-1, -1, -1, -1};
    bool there = true;
    for (std::size_t k = 0; k < 4 && elements.cells[c][k] != -1; ++k) {
      side[k] = static_cast<std::int32_t>(number[places.of(elements.cells[c][k], c, "side ")]);
      there = there && side[k] >= 0;
    }
    if (!there || side[2] < 0) continue;
    groups.sides.insert(groups.sides.end(), side.begin(), side.end());
    groups.of_side.push_back(of_sides.of(elements.set_of_cell[c]));
  }
}

/// `number`: of each point in the mesh, or -1. `first`: the first triangle of each cell, and the number of triangles; a
/// solid counts as one.
MeshGroups groups_of(const GmshElements& elements, const TagIndex& places, const std::vector<std::int64_t>& number,
                     const std::vector<std::int64_t>& first) {
  MeshGroups groups;
  if (elements.sets.size() < 2) return groups;
  GroupFamilies of_lines(elements, 1, groups);
  for (std::size_t e = 0; e < elements.lines.size(); ++e) {
    const auto [a, b] = elements.lines[e];
    const std::int64_t from = number[places.of(a, e, "line ")], to = number[places.of(b, e, "line ")];
    if (from < 0 || to < 0) continue;
    groups.edges.push_back(static_cast<std::int32_t>(from));
    groups.edges.push_back(static_cast<std::int32_t>(to));
    groups.of_edge.push_back(of_lines.of(elements.set_of_line[e]));
  }
  GroupFamilies of_cells(elements, elements.solids.empty() ? 2 : 3, groups);
  groups.of_triangle.resize(static_cast<std::size_t>(first.back()));
  for (std::size_t c = 0; c + 1 < first.size(); ++c)
    std::fill(groups.of_triangle.begin() + first[c], groups.of_triangle.begin() + first[c + 1],
              of_cells.of(elements.solids.empty() ? elements.set_of_cell[c] : elements.set_of_solid[c]));
  if (!elements.solids.empty()) add_sides(elements, places, number, groups);
  if (elements.points.empty()) return groups;
  GroupFamilies of_points(elements, 0, groups);
  groups.of_point.resize(
      static_cast<std::size_t>(std::count_if(number.begin(), number.end(), [](auto n) { return n >= 0; })));
  for (std::size_t p = 0; p < elements.points.size(); ++p)
    if (const std::int64_t point = number[places.of(elements.points[p][0], p, "point ")]; point >= 0)
      groups.of_point[static_cast<std::size_t>(point)] = of_points.of(elements.set_of_point[p]);
  return groups;
}

/// The corners of cells, without those that they lack.
template <std::size_t N>
std::span<const std::int64_t> corners_in(const std::array<std::int64_t, N>& tags) {
  return std::span(tags).first(static_cast<std::size_t>(std::find(tags.begin(), tags.end(), -1) - tags.begin()));
}

/// Calls `each` with the number of each cell, and the tags of its corners.
template <class F>
void for_each_cell(const GmshElements& elements, F&& each) {
  for (std::size_t c = 0; c < elements.solids.size(); ++c) each(c, corners_in(elements.solids[c]));
  if (!elements.solids.empty()) return;
  for (std::size_t c = 0; c < elements.cells.size(); ++c) each(c, corners_in(elements.cells[c]));
}

constexpr std::int64_t unused = -1;

/// The points that cells have, numbered in the file's order; -1: unused.
std::vector<std::int64_t> number_points(const GmshElements& elements, const TagIndex& places) {
  std::vector<std::int64_t> number(elements.tags.size(), unused);
  for_each_cell(elements, [&](std::size_t c, std::span<const std::int64_t> tags) {
    for (const std::int64_t tag : tags) number[places.of(tag, c)] = 0;
  });
  std::int64_t next = 0;
  for (std::size_t i = 0; i < number.size(); ++i) {
    if (number[i] == unused) continue;
    number[i] = next++;
    const auto& [x, y, z] = elements.places[i];
    if (!std::isfinite(x) || !std::isfinite(y) || !(std::isfinite(z) || elements.solids.empty()))
      throw Error(Kind::corrupt, "a point without a place").at("point " + std::to_string(elements.tags[i]));
  }
  return number;
}

/// Coordinates of the points that have a number, along an axis.
std::vector<double> places_along(const GmshElements& elements, const std::vector<std::int64_t>& number,
                                 std::size_t axis) {
  std::vector<double> out;
  for (std::size_t i = 0; i < number.size(); ++i)
    if (number[i] != unused) out.push_back(elements.places[i][axis]);
  return out;
}

mesh::Solids solids_of(const GmshElements& elements, const TagIndex& places, const std::vector<std::int64_t>& number) {
  mesh::Solids mesh;
  mesh.x = places_along(elements, number, 0);
  mesh.y = places_along(elements, number, 1);
  mesh.z = places_along(elements, number, 2);
  // Corners stand as in VTK.
  for_each_cell(elements, [&](std::size_t c, std::span<const std::int64_t> tags) {
    mesh.corners.push_back(static_cast<std::uint8_t>(tags.size()));
    for (const std::int64_t tag : tags) mesh.connectivity.push_back(number[places.of(tag, c)]);
  });
  mesh::validate(mesh);
  return mesh;
}

/// Adds the cells of a surface to `out`. Returns the first triangle of each, and the number of triangles.
std::vector<std::int64_t> add_surface(const GmshElements& elements, const TagIndex& places,
                                      const std::vector<std::int64_t>& number, GmshMesh& out) {
  mesh::Unstructured mesh;
  mesh.x = places_along(elements, number, 0);
  mesh.y = places_along(elements, number, 1);
  out.bottom = places_along(elements, number, 2);
  if (std::all_of(out.bottom.begin(), out.bottom.end(), [](double z) { return z == 0; })) out.bottom.clear();
  std::vector<std::int64_t> first{0}, corners;
  for_each_cell(elements, [&](std::size_t c, std::span<const std::int64_t> tags) {
    corners.clear();
    for (const std::int64_t tag : tags) corners.push_back(number[places.of(tag, c)]);
    mesh::add_cell(corners, static_cast<std::int64_t>(c), mesh);
    mesh::count_cell(corners.size(), out.cells);
    first.push_back(std::ssize(mesh.connectivity) / 3);
  });
  out.mesh = std::move(mesh);
  return first;
}

/// The points that cells have, in the file's order.
GmshMesh contents_of(const GmshElements& elements) {
  const TagIndex places(elements);
  const std::vector<std::int64_t> number = number_points(elements, places);
  GmshMesh out;
  out.notes = elements.notes;
  std::vector<std::int64_t> first;
  if (elements.solids.empty()) {
    first = add_surface(elements, places, number, out);
  } else {
    out.mesh = solids_of(elements, places, number);
    first.resize(elements.solids.size() + 1);
    std::iota(first.begin(), first.end(), std::int64_t{0});
  }
  out.groups = groups_of(elements, places, number, first);
  out.elements = first.back();
  out.points = std::count_if(number.begin(), number.end(), [](std::int64_t n) { return n != unused; });
  const auto left = std::count(number.begin(), number.end(), unused);
  if (left > 0) out.notes.push_back(std::to_string(left) + " points that no cell has are left out");
  return out;
}

mesh::Header header_of(const GmshMesh& contents) {
  mesh::Header header;
  header.code = "Gmsh";
  if (const auto* solids = std::get_if<mesh::Solids>(&contents.mesh)) {
    header.attributes[mesh::solids_attribute] = mesh::count_solids(*solids);
    set_range(solids->x, 0, header);
    set_range(solids->y, 1, header);
    set_range(solids->z, 2, header);
    return header;
  }
  const auto& surface = std::get<mesh::Unstructured>(contents.mesh);
  header.dim = 2;
  header.attributes["triangles"] = mesh::num_triangles(contents.cells);
  header.attributes["planes"] = std::int64_t{1};
  header.attributes[mesh::cells_attribute] = contents.cells;
  set_range(surface.x, 0, header);
  set_range(surface.y, 1, header);
  if (!contents.bottom.empty())
    header.fields.push_back({"BOTTOM", "", mesh::ScalarType::float64, mesh::Centring::node, 1, 0});
  return header;
}

GmshMesh read_contents(const std::filesystem::path& path) {
  try {
    const GmshElements elements = read_elements(path);
    if (elements.cells.empty() && elements.solids.empty())
      throw Error(Kind::unsupported, "no cells: expected solids, or triangles and quadrangles");
    return contents_of(elements);
  } catch (Error& error) {
    if (std::find(error.places().begin(), error.places().end(), path.string()) != error.places().end()) throw;
    throw std::move(error.at(path.string()));
  }
}

}  // namespace

bool recognise(const std::filesystem::path& path) {
  try {
    std::string begin(first_line.size(), '\0');
    const auto bytes = std::as_writable_bytes(std::span(begin));
    return file::pread_some(file::open_read(path), 0, bytes) == begin.size() && begin == first_line;
  } catch (const Error&) {
    return false;
  }
}

mesh::Dataset open(const std::filesystem::path& path, std::optional<std::int64_t> step) {
  chosen_step(path, step, 0);  // a mesh alone
  const auto contents = std::make_shared<const GmshMesh>(read_contents(path));
  mesh::Dataset dataset = mesh::of_one_part("gmsh", path.string(), header_of(*contents),
                                            static_cast<std::int64_t>(std::filesystem::file_size(path)),
                                            contents->elements, contents->points);
  dataset.notes = contents->notes;
  describe_file(dataset, path, step);
  dataset.read = [contents, header = dataset.header](int, const mesh::Request& request) {
    mesh::Part part;
    if (request.mesh)
      part.mesh = contents->mesh;
    else
      part.mesh = mesh::holds_solids(header) ? mesh::Mesh(mesh::Solids{}) : mesh::Unstructured{};
    for (const std::size_t f : mesh::select_fields(header, request.fields)) {
      part.fields.push_back(mesh::make_field(header.fields[f], contents->bottom.size()));
      std::copy(contents->bottom.begin(), contents->bottom.end(), part.fields.back().as<double>().begin());
    }
    return part;
  };
  return dataset;
}

MeshGroups read_groups(const std::filesystem::path& path) { return read_contents(path).groups; }

FileSteps list_steps(const std::filesystem::path& path) {
  const mesh::Dataset dataset = open(path, {});
  return {dataset.header.fields.empty() ? std::vector<double>{} : std::vector<double>{0}, dataset.bytes};
}

}  // namespace octavo::formats::gmsh
