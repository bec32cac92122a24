#include "octavo/formats/gmsh/gmsh.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "octavo/base/error.hpp"
#include "octavo/file/posix.hpp"
#include "octavo/formats/gmsh/reader.hpp"
#include "octavo/formats/row/file_of_one_part.hpp"
#include "octavo/mesh/triangles/cells.hpp"

namespace octavo::formats::gmsh {
namespace {

using base::Error;
using base::Kind;

constexpr std::string_view first_line = "$MeshFormat";

struct GmshMesh {
  mesh::Unstructured mesh;
  std::vector<double> bottom;       ///< heights of the points; none: all are 0
  std::vector<std::int64_t> cells;  ///< by corners
  MeshGroups groups;
  std::vector<std::string> notes;
};

/// The places of tags among the points.
class TagIndex {
 public:
  explicit TagIndex(const GmshSurface& surface) {
    for (std::size_t i = 0; i < surface.tags.size(); ++i) sorted_.emplace_back(surface.tags[i], i);
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
  GroupFamilies(const GmshSurface& surface, int dim, MeshGroups& groups)
      : surface_(surface), dim_(dim), groups_(groups) {}
  std::int32_t of(std::int32_t set) {
    if (set == 0) return 0;
    const auto [found, is_new] = number_of_.emplace(set, 0);
    if (is_new) {
      const auto count = static_cast<std::int32_t>(groups_.families.size()) + 1;
      found->second = dim_ == 0 ? count : -count;
      GroupFamily family{found->second, "FAM_" + std::to_string(found->second), {}};
      for (const std::int64_t group : surface_.sets[static_cast<std::size_t>(set)]) {
        const auto name = surface_.names.find({dim_, group});
        family.groups.push_back(name != surface_.names.end() && !name->second.empty()
                                    ? name->second
                                    : "G_" + std::to_string(dim_) + "D_" + std::to_string(group));
      }
      groups_.families.push_back(std::move(family));
    }
    return found->second;
  }

 private:
  const GmshSurface& surface_;
  int dim_;
  MeshGroups& groups_;
  std::map<std::int32_t, std::int32_t> number_of_;
};

/// `number`: of each point in the mesh, or -1. `first`: the first triangle of each cell, and the number of triangles.
MeshGroups groups_of(const GmshSurface& surface, const TagIndex& places, const std::vector<std::int64_t>& number,
                     const std::vector<std::int64_t>& first) {
  MeshGroups groups;
  if (surface.sets.size() < 2) return groups;
  GroupFamilies of_lines(surface, 1, groups);
  for (std::size_t e = 0; e < surface.lines.size(); ++e) {
    const auto [a, b] = surface.lines[e];
    const std::int64_t from = number[places.of(a, e, "line ")], to = number[places.of(b, e, "line ")];
    if (from < 0 || to < 0) continue;
    groups.edges.push_back(static_cast<std::int32_t>(from));
    groups.edges.push_back(static_cast<std::int32_t>(to));
    groups.of_edge.push_back(of_lines.of(surface.set_of_line[e]));
  }
  GroupFamilies of_cells(surface, 2, groups);
  groups.of_triangle.resize(static_cast<std::size_t>(first.back()));
  for (std::size_t c = 0; c + 1 < first.size(); ++c)
    std::fill(groups.of_triangle.begin() + first[c], groups.of_triangle.begin() + first[c + 1],
              of_cells.of(surface.set_of_cell[c]));
  if (surface.points.empty()) return groups;
  GroupFamilies of_points(surface, 0, groups);
  groups.of_point.resize(
      static_cast<std::size_t>(std::count_if(number.begin(), number.end(), [](auto n) { return n >= 0; })));
  for (std::size_t p = 0; p < surface.points.size(); ++p)
    if (const std::int64_t point = number[places.of(surface.points[p][0], p, "point ")]; point >= 0)
      groups.of_point[static_cast<std::size_t>(point)] = of_points.of(surface.set_of_point[p]);
  return groups;
}

/// The points that cells have, in the file's order.
GmshMesh contents_of(const GmshSurface& surface) {
  constexpr std::int64_t unused = -1;
  const TagIndex places(surface);
  std::vector<std::int64_t> number(surface.tags.size(), unused);
  for (std::size_t c = 0; c < surface.cells.size(); ++c)
    for (const std::int64_t tag : surface.cells[c])
      if (tag != -1) number[places.of(tag, c)] = 0;
  GmshMesh out;
  out.notes = surface.notes;
  bool flat = true;
  for (std::size_t i = 0; i < number.size(); ++i) {
    if (number[i] == unused) continue;
    const auto& [x, y, z] = surface.places[i];
    if (!std::isfinite(x) || !std::isfinite(y))
      throw Error(Kind::corrupt, "a point without a place").at("point " + std::to_string(surface.tags[i]));
    number[i] = std::ssize(out.mesh.x);
    out.mesh.x.push_back(x);
    out.mesh.y.push_back(y);
    out.bottom.push_back(z);
    flat = flat && z == 0;
  }
  if (flat) out.bottom.clear();
  std::vector<std::int64_t> first{0};
  for (std::size_t c = 0; c < surface.cells.size(); ++c) {
    std::vector<std::int64_t> corners;
    for (const std::int64_t tag : surface.cells[c])
      if (tag != -1) corners.push_back(number[places.of(tag, c)]);
    mesh::add_cell(corners, static_cast<std::int64_t>(c), out.mesh);
    mesh::count_cell(corners.size(), out.cells);
    first.push_back(std::ssize(out.mesh.connectivity) / 3);
  }
  out.groups = groups_of(surface, places, number, first);
  const std::size_t left = number.size() - out.mesh.x.size();
  if (left > 0) out.notes.push_back(std::to_string(left) + " points that no cell has are left out");
  return out;
}

mesh::Header header_of(const GmshMesh& contents) {
  mesh::Header header;
  header.code = "Gmsh";
  header.dim = 2;
  header.attributes["triangles"] = mesh::num_triangles(contents.cells);
  header.attributes["planes"] = std::int64_t{1};
  header.attributes[mesh::cells_attribute] = contents.cells;
  for (std::size_t axis = 0; axis < 2; ++axis) {
    const std::vector<double>& all = axis == 0 ? contents.mesh.x : contents.mesh.y;
    const auto [least, most] = std::minmax_element(all.begin(), all.end());
    header.lo[axis] = *least;
    header.hi[axis] = *most > *least ? *most : *least + 1;
  }
  if (!contents.bottom.empty())
    header.fields.push_back({"BOTTOM", "", mesh::ScalarType::float64, mesh::Centring::node, 1, 0});
  return header;
}

GmshMesh read_contents(const std::filesystem::path& path) {
  try {
    GmshMesh contents = contents_of(read_surface(path));
    if (contents.cells.empty()) throw Error(Kind::unsupported, "no surface: expected triangles and quadrangles");
    return contents;
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
                                            mesh::num_triangles(contents->cells), std::ssize(contents->mesh.x));
  dataset.notes = contents->notes;
  describe_file(dataset, path, step);
  dataset.read = [contents, header = dataset.header](int, const mesh::Request& request) {
    mesh::Part part;
    part.mesh = request.mesh ? contents->mesh : mesh::Unstructured{};
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
