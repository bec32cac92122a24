#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <functional>
#include <map>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "octavo/base/at.hpp"
#include "octavo/base/error.hpp"
#include "octavo/file/posix.hpp"
#include "octavo/formats/gmsh/gmsh.hpp"
#include "octavo/mesh/triangles/cells.hpp"

namespace octavo::formats::gmsh {
namespace {

using base::at;
using base::Error;
using base::Kind;

std::string digits(double value) {
  std::array<char, 32> text{};
  return {text.data(), std::to_chars(text.data(), text.data() + text.size(), value).ptr};
}

/// Text that goes to a file in pieces.
class TextWriter {
 public:
  explicit TextWriter(const std::filesystem::path& path) : file_(file::open_write(path)) { file::resize(file_, 0); }
  void line(const std::string& text) {
    waiting_ += text;
    waiting_ += '\n';
    if (waiting_.size() > (1 << 20)) flush();
  }
  void close() {
    flush();
    file_.close();
  }

 private:
  void flush() {
    file::pwrite_all(file_, at_, std::as_bytes(std::span(waiting_)));
    at_ += waiting_.size();
    waiting_.clear();
  }
  file::File file_;
  std::uint64_t at_ = 0;
  std::string waiting_;
};

/// Groups by name as physical groups of one dimension, numbered from 1.
class Physical {
 public:
  Physical(const MeshGroups& groups, int dim) : dim_(dim) {
    for (const GroupFamily& family : groups.families) families_[family.number] = &family.groups;
  }
  /// Numbers of the groups that the entities of a family are in.
  std::vector<std::int64_t> of(std::int32_t family) {
    const auto found = families_.find(family);
    if (found == families_.end()) return {};
    std::vector<std::int64_t> numbers;
    for (const std::string& name : *found->second) {
      const auto [at, is_new] = number_.emplace(name, std::ssize(names_) + 1);
      if (is_new) names_.push_back(name);
      numbers.push_back(at->second);
    }
    return numbers;
  }
  /// Adds the section's lines, in the order of the numbers.
  void add_lines(std::vector<std::string>& out) const {
    for (std::size_t i = 0; i < names_.size(); ++i) {
      std::string name = names_[i];
      std::replace(name.begin(), name.end(), '"', '\'');
      out.push_back(std::to_string(dim_) + " " + std::to_string(i + 1) + " \"" + name + "\"");
    }
  }

 private:
  int dim_;
  std::map<std::int32_t, const std::vector<std::string>*> families_;
  std::map<std::string, std::int64_t> number_;
  std::vector<std::string> names_;
};

struct GmshElement {
  int dim = 0, type = 0;  ///< Gmsh's type
  std::int32_t family = 0;
  std::vector<std::int64_t> corners;
};

/// Gmsh's type of a solid, by its corners, which have VTK's order in Gmsh.
int type_of_solid(std::size_t corners) { return corners == 4 ? 4 : corners == 5 ? 7 : corners == 6 ? 6 : 5; }

using EachElement = std::function<void(const GmshElement&)>;

void for_each_solid(const mesh::Solids& mesh, const MeshGroups& groups, const EachElement& each) {
  auto corner = mesh.connectivity.begin();
  for (std::size_t c = 0; c < mesh.corners.size(); ++c) {
    const std::int32_t family = c < groups.of_triangle.size() ? groups.of_triangle[c] : 0;
    const auto end = corner + mesh.corners[c];
    each({3, type_of_solid(mesh.corners[c]), family, {corner, end}});
    corner = end;
  }
}

void for_each_polygon(const Series& series, const MeshGroups& groups, const EachElement& each) {
  const auto triangles = std::ssize(series.mesh.connectivity) / 3;
  std::vector<std::int64_t> first(static_cast<std::size_t>(triangles) + 1);
  std::iota(first.begin(), first.end(), std::int64_t{0});
  if (!mesh::cells_by_corners(series.first.header).empty()) first = mesh::first_triangles(series.mesh.connectivity);
  for (std::size_t c = 0; c + 1 < first.size(); ++c) {
    const std::vector<std::int64_t> corners = mesh::corners_of(series.mesh.connectivity, first[c], first[c + 1]);
    if (corners.size() > 4)
      throw Error(Kind::unsupported,
                  "Gmsh has triangles and quadrangles, not cells of " + std::to_string(corners.size()) + " corners")
          .at("cell " + std::to_string(c));
    const auto triangle = static_cast<std::size_t>(first[c]);
    const std::int32_t family = triangle < groups.of_triangle.size() ? groups.of_triangle[triangle] : 0;
    each({2, corners.size() == 3 ? 2 : 3, family, corners});
  }
}

/// Points, edges and sides that are in groups, and all cells.
void for_each_element(const Series& series, const MeshGroups& groups, const EachElement& each) {
  for (std::size_t i = 0; i < groups.of_point.size(); ++i)
    if (groups.of_point[i] != 0) each({0, 15, groups.of_point[i], {static_cast<std::int64_t>(i)}});
  for (std::size_t e = 0; e < groups.of_edge.size(); ++e)
    if (groups.of_edge[e] != 0) each({1, 1, groups.of_edge[e], {groups.edges[2 * e], groups.edges[2 * e + 1]}});
  for (std::size_t s = 0; s < groups.of_side.size(); ++s) {
    const auto first = groups.sides.begin() + static_cast<std::ptrdiff_t>(4 * s);
    const bool triangle = first[3] < 0;
    each({2, triangle ? 2 : 3, groups.of_side[s], {first, first + (triangle ? 3 : 4)}});
  }
  if (mesh::holds_solids(series.first.header))
    for_each_solid(series.solids, groups, each);
  else
    for_each_polygon(series, groups, each);
}

bool is_bottom(const mesh::FieldInfo& info) { return info.name == "BOTTOM" || info.name == "FOND"; }

/// Heights of the points: of a surface the bottom at the last step, else 0.
std::vector<double> heights_of(const Series& series, std::vector<std::string>& notes) {
  const bool solid = mesh::holds_solids(series.first.header);
  std::vector<double> heights = solid ? series.solids.z : std::vector<double>(series.mesh.x.size(), 0);
  std::string left;
  for (const mesh::FieldInfo& info : series.variables) {
    if (series.times.empty()) continue;
    if (!solid && is_bottom(info))
      heights = values_of(series, series.open(series.times.size() - 1), info.name);
    else
      left += (left.empty() ? "" : ", ") + info.name;
  }
  if (!left.empty()) notes.push_back("a mesh of Gmsh has no values: left out are " + left);
  return heights;
}

}  // namespace

void write(const Series& series, const std::filesystem::path& path, WriteReport& report) {
  const bool solid = mesh::holds_solids(series.first.header);
  if (series.mesh.planes > 1)
    throw Error(Kind::unsupported,
                "files of Gmsh are written of one plane, not of " + std::to_string(series.mesh.planes));
  const std::vector<double>&x = solid ? series.solids.x : series.mesh.x, &y = solid ? series.solids.y : series.mesh.y;
  const std::vector<double> z = heights_of(series, report.notes);
  const MeshGroups groups = series.groups.value_or(MeshGroups{});
  std::array<Physical, 4> physical{Physical{groups, 0}, Physical{groups, 1}, Physical{groups, 2}, Physical{groups, 3}};
  std::size_t elements = 0;  // one for each group of an element
  for_each_element(series, groups, [&](const GmshElement& element) {
    elements += std::max<std::size_t>(1, physical[at(element.dim)].of(element.family).size());
  });
  report.groups = std::ssize(groups.families);
  TextWriter text(path);
  for (const char* line : {"$MeshFormat", "2.2 0 8", "$EndMeshFormat"}) text.line(line);
  std::vector<std::string> names;
  for (const Physical& of_dim : physical) of_dim.add_lines(names);
  if (!names.empty()) {
    text.line("$PhysicalNames");
    text.line(std::to_string(names.size()));
    for (const std::string& name : names) text.line(name);
    text.line("$EndPhysicalNames");
  }
  text.line("$Nodes");
  text.line(std::to_string(z.size()));
  for (std::size_t i = 0; i < z.size(); ++i)
    text.line(std::to_string(i + 1) + " " + digits(x[i]) + " " + digits(y[i]) + " " + digits(z[i]));
  text.line("$EndNodes");
  text.line("$Elements");
  text.line(std::to_string(elements));
  std::size_t number = 0;
  for_each_element(series, groups, [&](const GmshElement& element) {
    // Gmsh gives groups to geometric entities, so each family is an entity of its own.
    std::string rest = " " + std::to_string(std::abs(element.family) + 1);
    for (const std::int64_t point : element.corners) rest += " " + std::to_string(point + 1);
    std::vector<std::int64_t> of = physical[at(element.dim)].of(element.family);
    if (of.empty()) of.push_back(0);
    for (const std::int64_t group : of)
      text.line(std::to_string(++number) + " " + std::to_string(element.type) + " 2 " + std::to_string(group) + rest);
  });
  text.line("$EndElements");
  text.close();
}

}  // namespace octavo::formats::gmsh
