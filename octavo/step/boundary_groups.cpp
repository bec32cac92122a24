#include "octavo/step/boundary_groups.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "octavo/base/at.hpp"
#include "octavo/base/error.hpp"
#include "octavo/formats/formats.hpp"
#include "octavo/formats/serafin/boundary.hpp"
#include "octavo/partition/contour.hpp"
#include "octavo/step/new_file.hpp"
#include "octavo/step/triangle_series.hpp"

namespace octavo::step {
namespace {

namespace fs = std::filesystem;
namespace serafin = formats::serafin;
using base::Error;
using base::Kind;
using Codes = std::array<int, 4>;  ///< LIHBOR, LIUBOR, LIVBOR, LITBOR

using base::at;

constexpr const char* group_prefix = "CONLIM_";  // TELEMAC's

partition::Outline contour_of(const mesh::Unstructured& mesh, const std::vector<std::int32_t>& points) {
  const std::vector<std::int32_t> connectivity(mesh.connectivity.begin(), mesh.connectivity.end());
  return partition::trace_contour(connectivity, static_cast<std::int32_t>(mesh.x.size()), points);
}

bool has_values(const serafin::BoundaryPoint& point) {
  const auto set = [](double value) { return value != 0; };
  return std::any_of(point.values.begin(), point.values.end(), set) ||
         std::any_of(point.tracer_values.begin(), point.tracer_values.end(), set);
}

// ------------------------------------------------------------------------------------------------------ groups -> .cli

using CodesByName = std::map<std::string, Codes>;

/// Reads a count, and then that number of lines, each with four codes and a name.
CodesByName read_codes(const fs::path& path) {
  std::ifstream in(path);
  if (!in) throw Error(Kind::unreadable, "cannot open for reading").at(path.string());
  CodesByName codes;
  std::string line;
  std::getline(in, line);
  std::int64_t expected = -1;
  if (!(std::istringstream(line) >> expected)) expected = -1;  // a failed >> leaves 0
  for (std::int64_t number = 2; static_cast<std::int64_t>(codes.size()) < expected && std::getline(in, line);
       ++number) {
    std::istringstream words(line);
    Codes of{};
    std::string name;
    words >> of[0] >> of[1] >> of[2] >> of[3] >> std::ws;
    std::getline(words, name);
    name.erase(name.find_last_not_of(" \t\r") + 1);
    if (name.empty() || !codes.emplace(name, of).second)
      throw Error(Kind::corrupt, "expected four codes and the name of a group, each name once, found \"" + line + "\"")
          .at(path.string() + ", line " + std::to_string(number));
  }
  if (expected < 0 || static_cast<std::int64_t>(codes.size()) != expected)
    throw Error(Kind::corrupt,
                "expected the number of groups in line 1 and as many lines, found " + std::to_string(codes.size()))
        .at(path.string())
        .hint("this is the file that goes with a MED geometry: LIHBOR LIUBOR LIVBOR LITBOR and a group's name a line");
  return codes;
}

/// Those of a name CONLIM_abcd.
std::optional<Codes> codes_in(const std::string& name) {
  const std::string prefix = group_prefix;
  if (name.size() != prefix.size() + 4 || name.compare(0, prefix.size(), prefix) != 0) return std::nullopt;
  Codes codes{};
  for (std::size_t k = 0; k < 4; ++k) {
    const char digit = name[prefix.size() + k];
    if (digit < '0' || digit > '9') return std::nullopt;
    codes[k] = digit - '0';
  }
  return codes;
}

void note_strangers(const CodesByName& given, const formats::MeshGroups& groups, std::vector<std::string>& notes) {
  std::set<std::string> known;
  for (const formats::GroupFamily& family : groups.families) known.insert(family.groups.begin(), family.groups.end());
  for (const auto& [name, codes] : given)
    if (known.count(name) == 0) notes.push_back("no group of the mesh has the name \"" + name + "\"");
}

/// By number of family.
std::map<std::int32_t, Codes> codes_of_families(const formats::MeshGroups& groups, const CodesByName& given) {
  std::map<std::int32_t, Codes> of_family;
  for (const formats::GroupFamily& family : groups.families)
    for (const std::string& name : family.groups) {
      const auto found = given.find(name);
      const std::optional<Codes> codes = found != given.end() ? std::optional(found->second) : codes_in(name);
      if (!codes) continue;
      if (of_family.emplace(family.number, *codes).first->second != *codes)
        throw Error(Kind::corrupt, "family " + family.name + " is in groups of different boundary codes");
    }
  return of_family;
}

using Ends = std::pair<std::int32_t, std::int32_t>;
Ends ends_of(std::int32_t a, std::int32_t b) { return {std::min(a, b), std::max(a, b)}; }

std::string edge_text(std::int32_t a, std::int32_t b) {
  return "the boundary's edge from point " + std::to_string(a + 1) + " to " + std::to_string(b + 1);
}

std::map<Ends, Codes> codes_of_edges(const formats::MeshGroups& groups, const CodesByName& given) {
  const auto of_family = codes_of_families(groups, given);
  std::map<Ends, Codes> of_edge;
  for (std::size_t e = 0; e < groups.of_edge.size(); ++e) {
    const auto found = of_family.find(groups.of_edge[e]);
    if (found == of_family.end()) continue;
    const std::int32_t a = groups.edges[2 * e], b = groups.edges[2 * e + 1];
    if (of_edge.emplace(ends_of(a, b), found->second).first->second != found->second)
      throw Error(Kind::corrupt, edge_text(a, b) + " is in groups of different boundary codes");
  }
  return of_edge;
}

/// Points of the boundary, from 0, in the order of IPOBO, or along the mesh's outline if IPOBO has none.
std::vector<std::int32_t> ranked_points(const formats::Series& series, std::vector<std::string>& notes) {
  std::vector<std::int32_t> numbers = boundary_numbers_of(series, notes);
  if (std::none_of(numbers.begin(), numbers.end(), [](std::int32_t number) { return number > 0; })) {
    notes.emplace_back("IPOBO is zero everywhere: the boundary was found from the mesh");
    numbers = number_boundary(series.mesh);
  }
  std::vector<std::int32_t> points;
  for (std::size_t i = 0; i < numbers.size(); ++i)
    if (numbers[i] > 0) points.push_back(static_cast<std::int32_t>(i));
  std::stable_sort(points.begin(), points.end(),
                   [&](std::int32_t a, std::int32_t b) { return numbers[at(a)] < numbers[at(b)]; });
  return points;
}

std::string lines_of(const std::vector<std::int32_t>& points, const partition::Outline& contour,
                     const std::map<Ends, Codes>& of_edge) {
  std::string text;
  for (std::size_t k = 0; k < points.size(); ++k) {
    const std::int32_t next = points[at(contour.next[k])];
    const auto codes = of_edge.find(ends_of(points[k], next));
    if (codes == of_edge.end())
      throw Error(Kind::corrupt, edge_text(points[k], next) + " is in no group with boundary codes")
          .hint("--boundary FILE: TELEMAC's boundary file for MED, which names groups and their codes");
    serafin::BoundaryPoint point;
    point.depth = codes->second[0];
    point.u = codes->second[1];
    point.v = codes->second[2];
    point.tracer = codes->second[3];
    point.point = points[k] + 1;
    point.colour = static_cast<std::int32_t>(k + 1);
    text += serafin::boundary_line(point);
  }
  return text;
}

}  // namespace

formats::MeshGroups groups_of_file(const mesh::Dataset& step) {
  const formats::Format* format = formats::find_format(step.format);
  if (format == nullptr || format->read_groups == nullptr) return {};
  const auto mesh = formats::attribute<std::string>(step.header, "mesh");  // where a file has several
  return format->read_groups(mesh ? step.path + "#" + *mesh : step.path);
}

void note_lost_values(const std::vector<serafin::BoundaryPoint>& lines, std::vector<std::string>& notes) {
  if (std::any_of(lines.begin(), lines.end(), has_values))
    notes.push_back("values of the boundary file (HBOR, UBOR ...) have no place in groups: its codes are kept alone");
}

std::string group_of(const serafin::BoundaryPoint& point) {
  std::string name = group_prefix;
  for (const int code : {point.depth, point.u, point.v, point.tracer}) name += std::to_string(code);
  return name;
}

formats::MeshGroups groups_of_boundary(const fs::path& boundary, const mesh::Unstructured& mesh,
                                       std::vector<std::string>& notes) {
  if (mesh.planes > 1) throw Error(Kind::unsupported, "a boundary file of a mesh with planes").at(boundary.string());
  const auto lines = serafin::read_boundary(boundary, static_cast<std::int32_t>(mesh.x.size()));
  note_lost_values(lines, notes);
  std::vector<std::int32_t> points;
  for (const auto& line : lines) points.push_back(line.point - 1);
  const partition::Outline contour = contour_of(mesh, points);
  formats::MeshGroups groups;
  std::map<std::string, std::int32_t> number_of;
  for (std::size_t k = 0; k < points.size(); ++k) {
    const std::string name = group_of(lines[k]);
    const auto number = -static_cast<std::int32_t>(number_of.size()) - 1;
    if (number_of.emplace(name, number).second)
      groups.families.push_back({number, "FAM_" + std::to_string(number) + "_" + name, {name}});
    groups.edges.push_back(points[k]);
    groups.edges.push_back(points[at(contour.next[k])]);
    groups.of_edge.push_back(number_of[name]);
  }
  return groups;
}

BoundaryOfGroupsReport boundary_of_groups(const fs::path& path, const fs::path& out,
                                          const BoundaryOfGroupsOptions& options) {
  const formats::Series series = open_triangles(path, std::vector<std::string>{}, "a boundary file");
  const formats::Format* format = formats::find_format(series.first.format);
  if (format == nullptr || format->read_groups == nullptr)
    throw Error(Kind::unsupported, "MED and Gmsh have groups of edges: a boundary file is not made of " +
                                       (format == nullptr ? "a store" : std::string(format->title)))
        .at(path.string());
  if (series.mesh.planes > 1) throw Error(Kind::unsupported, "a boundary file of a mesh with planes").at(path.string());
  BoundaryOfGroupsReport report;
  std::string text;
  try {
    const std::vector<std::int32_t> points = ranked_points(series, report.notes);
    const CodesByName given = options.codes ? read_codes(*options.codes) : CodesByName{};
    const formats::MeshGroups groups = groups_of_file(series.first);
    note_strangers(given, groups, report.notes);
    text = lines_of(points, contour_of(series.mesh, points), codes_of_edges(groups, given));
    report.points = static_cast<std::int64_t>(points.size());
  } catch (Error& error) {
    error.at(path.string());
    throw;
  }
  NewFile file(out, options.overwrite);
  file.put(0, std::as_bytes(std::span(text)));
  file.finish();
  return report;
}

}  // namespace octavo::step
