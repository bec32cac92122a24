#include "octavo/telemac/cut/side_files.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

#include "octavo/base/at.hpp"
#include "octavo/base/error.hpp"
#include "octavo/base/rank_exchange.hpp"
#include "octavo/telemac/cut/shared_mesh.hpp"
#include "octavo/telemac/cut/side_lines.hpp"
#include "octavo/telemac/files/piece_files.hpp"

namespace octavo::telemac {
namespace {

namespace fs = std::filesystem;
using base::at;
using base::Error;
using base::Kind;

using Numbers = std::vector<std::int32_t>;

// ------------------------------------------------------------------------------------------------------------ sections

/// The first word, or what stands between quotes: what READ(*) takes of a line.
std::string first_word(const std::string& line) {
  const std::size_t begin = line.find_first_not_of(" \t\r,");
  if (begin == std::string::npos) return "";
  if (line[begin] == '\'' || line[begin] == '"')
    return line.substr(begin + 1, line.find(line[begin], begin + 1) - begin - 1);
  return line.substr(begin, line.find_first_of(" \t\r,/", begin) - begin);
}

/// Where a section begins and ends, by number, or by places that numbers are looked for.
struct SectionEnds {
  Section section;
  std::array<double, 4> places{};
};

std::vector<SectionEnds> read_ends(const fs::path& path, std::int32_t points, bool& by_number) {
  LineReader lines(path);
  lines.next();  // a comment
  const auto sizes = lines.numbers(2);
  by_number = sizes[1] < 0;
  std::vector<SectionEnds> all(at(lines.count(sizes[0], 100000)));
  for (SectionEnds& ends : all) {
    ends.section.name = first_word(lines.next());
    const auto values = lines.numbers(by_number ? 2 : 4);
    if (by_number) {
      ends.section.from = lines.point(values[0], points);
      ends.section.to = lines.point(values[1], points);
    } else {
      std::copy_n(values.begin(), 4, ends.places.begin());
    }
  }
  return all;
}

/// Where a point stands among a process's own; -1: it is not there.
std::int64_t position(const SideElements& elements, std::int32_t point) {
  if (elements.set == nullptr) return point;
  const auto& points = elements.set->points();
  const auto found = std::lower_bound(points.begin(), points.end(), point);
  return found == points.end() || *found != point ? -1 : found - points.begin();
}

double squared(double dx, double dy) { return std::pow(dx, 2) + std::pow(dy, 2); }

/// A point and how far it is.
struct NearestPoint {
  double distance = std::numeric_limits<double>::infinity();
  std::int32_t point = -1;
  std::int32_t unused = 0;  // no bytes of it are left open: it travels
};

/// The nearest point to each of several places; of equally near ones the lowest.
Numbers nearest(const SideElements& elements, const std::vector<std::array<double, 2>>& places) {
  std::vector<NearestPoint> mine(places.size());
  for (std::size_t p = 0; p < places.size(); ++p)
    for (std::size_t i = 0; i < elements.x.size(); ++i) {
      const double distance = squared(elements.x[i] - places[p][0], elements.y[i] - places[p][1]);
      if (!(distance < mine[p].distance)) continue;
      mine[p].distance = distance;
      mine[p].point = elements.set == nullptr ? static_cast<std::int32_t>(i) : elements.set->points()[i];
    }
  const auto all = base::gather(elements.ranks, mine);
  Numbers points(places.size());
  for (std::size_t p = 0; p < places.size(); ++p) {
    NearestPoint best;
    for (std::size_t i = p; i < all.size(); i += places.size())
      if (all[i].distance < best.distance || (all[i].distance == best.distance && all[i].point < best.point))
        best = all[i];
    points[p] = std::max(best.point, 0);
  }
  return points;
}

/// Places of points, that somebody has.
std::vector<std::array<double, 2>> places_of(const SideElements& elements, const Numbers& points) {
  std::vector<std::array<double, 3>> mine;  // which, x, y
  for (std::size_t p = 0; p < points.size(); ++p)
    if (const std::int64_t i = position(elements, points[p]); i >= 0)
      mine.push_back({static_cast<double>(p), elements.x[at(i)], elements.y[at(i)]});
  std::vector<std::array<double, 2>> places(points.size());
  for (const auto& [p, x, y] : base::gather(elements.ranks, mine)) places[static_cast<std::size_t>(p)] = {x, y};
  return places;
}

/// Elements around each point of a process, ascending.
ItemLists elements_around(const SideElements& elements) {
  const auto stands = [&](std::int32_t point) { return elements.set == nullptr ? at(point) : elements.set->of(point); };
  ItemLists around;
  around.first.assign(elements.x.size() + 1, 0);
  for (const std::int32_t point : elements.triangles) ++around.first[stands(point) + 1];
  std::partial_sum(around.first.begin(), around.first.end(), around.first.begin());
  around.items.resize(elements.triangles.size());
  std::vector<std::int64_t> next(around.first.begin(), around.first.end() - 1);
  for (std::size_t i = 0; i < elements.triangles.size(); ++i)
    around.items[at(next[stands(elements.triangles[i])]++)] = static_cast<std::int32_t>(i / 3);
  return around;
}

/// The point around this one that is nearest to a place, and nearer than this one; the first in the order of elements.
NearestPoint next_point(const SideElements& elements, const ItemLists& around, std::int32_t point,
                        const std::array<double, 2>& end) {
  const std::int64_t here = position(elements, point);
  if (here < 0) return {};
  const auto distance = [&](std::int64_t i) { return squared(elements.x[at(i)] - end[0], elements.y[at(i)] - end[1]); };
  NearestPoint best{distance(here), -1};
  for (const std::int32_t element : around.of(static_cast<std::int32_t>(here)))
    for (std::size_t k = 0; k < 3; ++k) {
      const std::int32_t other = elements.triangles[3 * at(element) + k];
      if (const double d = distance(position(elements, other)); d < best.distance) best = {d, other};
    }
  return best.point < 0 ? NearestPoint{} : best;
}

Error stuck(const Section& section, std::size_t number, std::int32_t point) {
  return Error(Kind::corrupt, "section " + std::to_string(number) + ", " + section.name + " gets stuck at point " +
                                  std::to_string(point + 1) + " on its way from " + std::to_string(section.from + 1) +
                                  " to " + std::to_string(section.to + 1));
}

/// From point to point, each time to that of the elements around it which is nearest to the end (FLUSEC of BIEF); all
/// sections a step at a time, as processes meet once a step.
void walk(const SideElements& elements, std::vector<Section>& sections) {
  const ItemLists around = elements_around(elements);
  Numbers point, last;
  for (const Section& section : sections) {
    point.push_back(section.from);
    last.push_back(section.to);
  }
  const auto ends = places_of(elements, last);
  while (point != last) {
    std::vector<NearestPoint> mine(sections.size());
    for (std::size_t s = 0; s < sections.size(); ++s)
      if (point[s] != last[s]) mine[s] = next_point(elements, around, point[s], ends[s]);
    const auto all = base::gather(elements.ranks, mine);
    for (std::size_t s = 0; s < sections.size(); ++s) {
      if (point[s] == last[s]) continue;
      NearestPoint best;
      for (std::size_t i = s; i < all.size(); i += sections.size())
        if (all[i].distance < best.distance) best = all[i];
      if (best.point < 0) throw stuck(sections[s], s + 1, point[s]);
      sections[s].edges.push_back({point[s], best.point});
      point[s] = best.point;
    }
  }
}

/// The last of the parts that have both points: -1 where there is none.
std::int32_t part_of_edge(const LocalNumbers& local, const std::array<std::int32_t, 2>& edge) {
  std::int32_t part = -1;
  for (const auto& [p, number] : local.at(edge[0]))
    if (local.in(edge[1], p) != 0) part = p;
  return part;
}

// ------------------------------------------------------------------------------------------------------------ zones

/// Takes each point, from 0, and its zone.
void read_zones(const fs::path& path, std::int32_t points,
                const std::function<void(std::int32_t point, std::int32_t zone)>& take) {
  LineReader lines(path);
  std::vector<bool> known(at(points), false);
  for (std::int32_t i = 0; i < points; ++i) {
    const auto values = lines.numbers(2);
    const std::int32_t point = lines.point(values[0], points);
    if (known[at(point)]) throw lines.error("point " + std::to_string(point + 1) + " has a zone already");
    known[at(point)] = true;
    take(point, lines.integer(values[1]));
  }
}

}  // namespace

void check_zones(const fs::path& path, std::int32_t points) {
  read_zones(path, points, [](std::int32_t, std::int32_t) {});
}

std::vector<std::string> cut_zones(const fs::path& path, const SideParts& parts) {
  const PointSet own(parts.own.items, parts.points);
  Numbers zone(own.points().size());
  base::agree(parts.ranks, [&] {
    read_zones(path, parts.points, [&](std::int32_t point, std::int32_t number) {
      if (own.has(point)) zone[own.of(point)] = number;
    });
  });
  std::vector<std::string> texts;
  for (std::int32_t part = 0; at(part) + 1 < parts.own.first.size(); ++part) {
    std::string& text = texts.emplace_back();
    std::int32_t local = 0;
    for (const std::int32_t point : parts.own.of(part)) text += integer_line({++local, zone[own.of(point)]});
  }
  return texts;
}

std::vector<Section> trace_sections(const fs::path& path, const SideElements& elements) {
  bool by_number = false;
  std::vector<SectionEnds> all;
  base::agree(elements.ranks, [&] { all = read_ends(path, elements.points, by_number); });
  std::vector<Section> sections;
  std::vector<std::array<double, 2>> places;
  for (SectionEnds& ends : all) {
    places.push_back({ends.places[0], ends.places[1]});
    places.push_back({ends.places[2], ends.places[3]});
    sections.push_back(std::move(ends.section));
  }
  if (!by_number) {
    const Numbers points = nearest(elements, places);
    for (std::size_t s = 0; s < sections.size(); ++s) {
      sections[s].from = points[2 * s];
      sections[s].to = points[2 * s + 1];
    }
  }
  try {
    walk(elements, sections);
  } catch (Error& error) {
    error.at(path.string());
    throw;
  }
  return sections;
}

std::vector<std::string> cut_sections(const std::vector<Section>& sections, const SideParts& parts) {
  Numbers wanted;
  for (const Section& section : sections)
    for (const auto& edge : section.edges) wanted.insert(wanted.end(), edge.begin(), edge.end());
  const LocalNumbers local(wanted, parts);
  std::vector<std::string> texts;
  for (std::int32_t part = parts.first; at(part - parts.first) + 1 < parts.own.first.size(); ++part) {
    std::string& text = texts.emplace_back();
    text = " # SECTIONS PARTITIONED FOR " + piece_path("", parts.parts, part).string() + "\n" +
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

}  // namespace octavo::telemac
