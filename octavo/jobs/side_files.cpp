#include "octavo/jobs/side_files.hpp"

#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "octavo/base/error.hpp"
#include "octavo/jobs/piece_files.hpp"
#include "octavo/jobs/side_lines.hpp"

namespace octavo::jobs {
namespace {

namespace fs = std::filesystem;
using base::Error;
using base::Kind;

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

using Numbers = std::vector<std::int32_t>;

// ------------------------------------------------------------------------------------------------------------ sections

struct Section {
  std::string name;
  std::int32_t from = 0, to = 0;
  std::vector<std::array<std::int32_t, 2>> edges{};
};

/// The first word, or what stands between quotes: what READ(*) takes of a line.
std::string first_word(const std::string& line) {
  const std::size_t begin = line.find_first_not_of(" \t\r,");
  if (begin == std::string::npos) return "";
  if (line[begin] == '\'' || line[begin] == '"')
    return line.substr(begin + 1, line.find(line[begin], begin + 1) - begin - 1);
  return line.substr(begin, line.find_first_of(" \t\r,/", begin) - begin);
}

std::int32_t nearest(const CutMesh& mesh, double x, double y) {
  const auto distance = [&](std::size_t i) { return std::pow(mesh.x[i] - x, 2) + std::pow(mesh.y[i] - y, 2); };
  std::size_t best = 0;
  for (std::size_t i = 1; i < mesh.x.size(); ++i)
    if (distance(i) < distance(best)) best = i;
  return static_cast<std::int32_t>(best);
}

std::vector<Section> read_sections(const fs::path& path, const CutMesh& mesh) {
  Lines lines(path);
  lines.next();  // a comment
  const auto sizes = lines.numbers(2);
  const bool by_number = sizes[1] < 0;
  std::vector<Section> sections(at(lines.count(sizes[0], 100000)));
  for (Section& section : sections) {
    section.name = first_word(lines.next());
    const auto ends = lines.numbers(by_number ? 2 : 4);
    section.from = by_number ? lines.point(ends[0], mesh.points) : nearest(mesh, ends[0], ends[1]);
    section.to = by_number ? lines.point(ends[1], mesh.points) : nearest(mesh, ends[2], ends[3]);
  }
  return sections;
}

/// Elements around each point, ascending.
Buckets elements_around(const CutMesh& mesh) {
  Buckets around;
  around.first.assign(at(mesh.points) + 1, 0);
  for (const std::int32_t point : mesh.connectivity) ++around.first[at(point) + 1];
  std::partial_sum(around.first.begin(), around.first.end(), around.first.begin());
  around.items.resize(mesh.connectivity.size());
  std::vector<std::int64_t> next(around.first.begin(), around.first.end() - 1);
  for (std::size_t i = 0; i < mesh.connectivity.size(); ++i)
    around.items[at(next[at(mesh.connectivity[i])]++)] = static_cast<std::int32_t>(i / 3);
  return around;
}

/// From point to point, each time to that of the elements around it which is nearest to the end (FLUSEC of BIEF).
void walk(const CutMesh& mesh, const Buckets& around, Section& section) {
  const auto distance = [&](std::int32_t p) {
    return std::pow(mesh.x[at(p)] - mesh.x[at(section.to)], 2) + std::pow(mesh.y[at(p)] - mesh.y[at(section.to)], 2);
  };
  for (std::int32_t point = section.from; point != section.to;) {
    std::int32_t best = point;
    for (const std::int32_t element : around.of(point))
      for (std::size_t k = 0; k < 3; ++k)
        if (const std::int32_t other = mesh.connectivity[3 * at(element) + k]; distance(other) < distance(best))
          best = other;
    if (best == point)
      throw Error(Kind::corrupt, "section " + section.name + " gets stuck at point " + std::to_string(point + 1) +
                                     " on its way from " + std::to_string(section.from + 1) + " to " +
                                     std::to_string(section.to + 1));
    section.edges.push_back({point, best});
    point = best;
  }
}

/// The last of the parts that have both points: -1 where there is none.
std::int32_t part_of_edge(const LocalNumbers& local, const std::array<std::int32_t, 2>& edge) {
  std::int32_t part = -1;
  for (const auto& [p, number] : local.at(edge[0]))
    if (local.in(edge[1], p) != 0) part = p;
  return part;
}

}  // namespace

std::vector<std::string> cut_zones(const fs::path& path, const CutMesh& mesh, const Buckets& points) {
  Lines lines(path);
  constexpr std::int32_t unset = std::numeric_limits<std::int32_t>::min();
  Numbers zone(at(mesh.points), unset);
  for (std::int32_t i = 0; i < mesh.points; ++i) {
    const auto values = lines.numbers(2);
    std::int32_t& of = zone[at(lines.point(values[0], mesh.points))];
    if (of != unset) throw lines.error("point " + std::to_string(values[0]) + " has a zone already");
    of = static_cast<std::int32_t>(values[1]);
  }
  std::vector<std::string> texts(at(mesh.parts));
  for (std::int32_t part = 0; part < mesh.parts; ++part) {
    std::int32_t local = 0;
    for (const std::int32_t point : points.of(part)) texts[at(part)] += integer_line({++local, zone[at(point)]});
  }
  return texts;
}

std::vector<std::string> cut_sections(const fs::path& path, const CutMesh& mesh, const Buckets& points) {
  std::vector<Section> sections = read_sections(path, mesh);
  const Buckets around = elements_around(mesh);
  Numbers wanted;
  for (Section& section : sections) {
    walk(mesh, around, section);
    for (const auto& edge : section.edges) wanted.insert(wanted.end(), edge.begin(), edge.end());
  }
  const LocalNumbers local(wanted, points);
  std::vector<std::string> texts(at(mesh.parts));
  for (std::int32_t part = 0; part < mesh.parts; ++part) {
    std::string& text = texts[at(part)];
    text = " # SECTIONS PARTITIONED FOR " + piece_path("", mesh.parts, part).string() + "\n" +
           integer_line({static_cast<std::int32_t>(sections.size()), 1});
    for (const Section& section : sections) {
      std::string edges;
      std::int32_t count = 0;
      for (const auto& edge : section.edges)
        if (part_of_edge(local, edge) == part) {
          edges += integer_line({local.in(edge[0], part), local.in(edge[1], part)});
          ++count;
        }
      text += " " + section.name + "\n" + integer_line({count}) + edges;
    }
  }
  return texts;
}

}  // namespace octavo::jobs
