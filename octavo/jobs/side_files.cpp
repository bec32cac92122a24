#include "octavo/jobs/side_files.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <fstream>
#include <map>
#include <numeric>
#include <optional>
#include <sstream>

#include "octavo/base/error.hpp"
#include "octavo/jobs/piece_files.hpp"

namespace octavo::jobs {
namespace {

namespace fs = std::filesystem;
namespace serafin = formats::serafin;
using base::Error;
using base::Kind;

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

/// A text file line by line, for messages that name the line.
class Lines {
 public:
  explicit Lines(const fs::path& path) : path_(path), in_(path) {
    if (!in_) throw Error(Kind::unreadable, "cannot read " + path.string());
  }
  /// The next line, of any contents.
  std::string next() {
    std::string line;
    ++number_;
    if (!std::getline(in_, line)) throw error("the file ends here: expected more lines");
    return line;
  }
  /// At least so many numbers, over as many lines as it takes, as list-directed READ does.
  std::vector<double> numbers(std::size_t count) {
    std::vector<double> values;
    while (values.size() < count) add_numbers(next(), values);
    return values;
  }
  Error error(const std::string& message) const {
    return Error(Kind::corrupt, message).at(path_.string() + ", line " + std::to_string(number_));
  }
  /// A point of the mesh, from 1 in the file: from 0.
  std::int32_t point(double value, std::int32_t points) const {
    if (!(value >= 1) || value > points || value != std::floor(value))
      throw error("expected a point from 1 to " + std::to_string(points) + ", found " + std::to_string(value));
    return static_cast<std::int32_t>(value) - 1;
  }
  /// A count in [0, most].
  std::int32_t count(double value, std::int32_t most) const {
    if (!(value >= 0) || value > most || value != std::floor(value))
      throw error("expected a count from 0 to " + std::to_string(most) + ", found " + std::to_string(value));
    return static_cast<std::int32_t>(value);
  }

 private:
  void add_numbers(std::string line, std::vector<double>& values) const {
    for (char& c : line)
      if (c == 'D' || c == 'd')
        c = 'e';
      else if (c == ',')
        c = ' ';
    std::istringstream words(line);
    for (std::string word; words >> word;) {
      char* end = nullptr;
      values.push_back(std::strtod(word.c_str(), &end));
      if (*end != '\0' || !std::isfinite(values.back())) throw error("expected a number, found " + word);
    }
  }
  fs::path path_;
  std::ifstream in_;
  std::size_t number_ = 0;
};

using Numbers = std::vector<std::int32_t>;

/// Parts and local numbers (from 1) of some points.
struct LocalNumbers {
  std::map<std::int32_t, std::vector<std::pair<std::int32_t, std::int32_t>>> of;  ///< by point, part ascending

  LocalNumbers(const Numbers& wanted, const Buckets& points) {
    Numbers sorted = wanted;
    std::sort(sorted.begin(), sorted.end());
    const auto parts = static_cast<std::int32_t>(points.first.size() - 1);
    for (std::int32_t part = 0; part < parts; ++part) {
      const auto mine = points.of(part);
      for (std::size_t i = 0; i < mine.size(); ++i)
        if (std::binary_search(sorted.begin(), sorted.end(), mine[i]))
          of[mine[i]].emplace_back(part, static_cast<std::int32_t>(i + 1));
    }
  }
  const std::vector<std::pair<std::int32_t, std::int32_t>>& at(std::int32_t point) const { return of.at(point); }
  /// 0: the part has it not.
  std::int32_t in(std::int32_t point, std::int32_t part) const {
    for (const auto& [p, local] : of.at(point))
      if (p == part) return local;
    return 0;
  }
};

std::string integers(const Numbers& values) {
  std::string line;
  for (const std::int32_t value : values) line += serafin::list_directed(std::int64_t{value});
  return line + '\n';
}

std::string reals(const std::vector<double>& values) {
  std::string text;
  for (const double value : values) {
    std::array<char, 32> digits;
    const auto end =
        std::to_chars(digits.data(), digits.data() + digits.size(), value, std::chars_format::scientific).ptr;
    text += "  " + std::string(digits.data(), end);
  }
  return text;
}

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

// --------------------------------------------------------------------------------------------------------------- weirs

/// Four points on either side of a weir's element, and their places.
struct Weir {
  std::array<double, 3> here{}, there{};
  std::array<std::int32_t, 8> points{};  ///< four on side 1, four on side 2
};

struct Weirs {
  std::int32_t option = 0;
  std::vector<Weir> all;
  std::vector<Numbers> parts_of;  ///< of each weir, ascending
  std::vector<Numbers> weirs_of;  ///< of each part, ascending
};

Weirs read_weirs(const fs::path& path, const CutMesh& mesh) {
  Lines lines(path);
  lines.next();  // a comment
  const auto sizes = lines.numbers(2);
  Weirs weirs;
  weirs.option = static_cast<std::int32_t>(sizes[1]);
  weirs.all.resize(at(lines.count(sizes[0], 10000000)));
  for (Weir& weir : weirs.all) {
    const auto values = lines.numbers(15);
    for (std::size_t k = 0; k < 3; ++k) {
      weir.here[k] = values[1 + k];
      weir.there[k] = values[8 + k];
    }
    for (std::size_t k = 0; k < 4; ++k) {
      weir.points[k] = lines.point(values[4 + k], mesh.points);
      weir.points[4 + k] = lines.point(values[11 + k], mesh.points);
    }
  }
  return weirs;
}

/// Inserts in order, once.
void insert(Numbers& sorted, std::int32_t value) {
  const auto place = std::lower_bound(sorted.begin(), sorted.end(), value);
  if (place == sorted.end() || *place != value) sorted.insert(place, value);
}

void share_weirs(Weirs& weirs, const LocalNumbers& local, std::int32_t parts) {
  weirs.parts_of.resize(weirs.all.size());
  weirs.weirs_of.resize(at(parts));
  for (std::size_t j = 0; j < weirs.all.size(); ++j) {
    for (const std::int32_t point : weirs.all[j].points)
      for (const auto& [part, number] : local.at(point)) insert(weirs.parts_of[j], part);
    for (const std::int32_t part : weirs.parts_of[j]) weirs.weirs_of[at(part)].push_back(static_cast<std::int32_t>(j));
  }
}

/// Points that a part computes with, and those of its own that others compute with, with those parts (itself too).
struct Exchange {
  Numbers receive;
  std::map<std::int32_t, Numbers> send;  ///< parts in the order that they are met in
};

Exchange exchange_of(const Weirs& weirs, const LocalNumbers& local, std::int32_t part) {
  Exchange exchange;
  for (const std::int32_t j : weirs.weirs_of[at(part)])
    for (const std::int32_t point : weirs.all[at(j)].points) {
      insert(exchange.receive, point);
      if (local.in(point, part) == 0) continue;
      Numbers& to = exchange.send[point];
      for (const std::int32_t other : weirs.parts_of[at(j)])
        if (std::find(to.begin(), to.end(), other) == to.end()) to.push_back(other);
    }
  return exchange;
}

std::int32_t position(const Numbers& sorted, std::int32_t value) {
  return static_cast<std::int32_t>(std::lower_bound(sorted.begin(), sorted.end(), value) - sorted.begin()) + 1;
}

void add_weir_elements(std::string& text, const Weirs& weirs, const Exchange& exchange, std::int32_t part) {
  const Numbers& mine = weirs.weirs_of[at(part)];
  text += "  Nb de singularites Option Utan\n" + integers({static_cast<std::int32_t>(mine.size()), weirs.option});
  for (const std::int32_t j : mine) {
    const Weir& weir = weirs.all[at(j)];
    Numbers sides[2];
    for (std::size_t k = 0; k < 8; ++k) sides[k / 4].push_back(position(exchange.receive, weir.points[k]));
    for (auto& side : sides)
      text +=
          (&side == sides ? serafin::list_directed(std::int64_t{j} + 1) : std::string()) +
          reals({(&side == sides ? weir.here : weir.there).begin(), (&side == sides ? weir.here : weir.there).end()}) +
          integers(side);
  }
}

void add_weir_parts(std::string& text, const Weirs& weirs, std::int32_t part) {
  text += "  // : for each element, number and list of SD which will also compute discharge on it\n";
  std::map<std::int32_t, Numbers> common;  // weirs by other part
  for (const std::int32_t j : weirs.weirs_of[at(part)]) {
    Numbers others;
    for (const std::int32_t other : weirs.parts_of[at(j)])
      if (other != part) {
        others.push_back(other);
        common[other].push_back(j + 1);
      }
    text += integers({j + 1, static_cast<std::int32_t>(others.size())});
    if (!others.empty()) text += integers(others);
  }
  text += "  // : for each SD, number and list of element which will be computed\n";
  text += integers({static_cast<std::int32_t>(common.size())});
  for (const auto& [other, list] : common)
    text += integers({other, static_cast<std::int32_t>(list.size())}) + integers(list);
}

/// For each part: positions, points and local numbers, three lines. `owner`: whose local numbers.
using Lists = std::map<std::int32_t, std::array<Numbers, 3>>;

void add_lists(std::string& text, const Lists& lists) {
  text += integers({static_cast<std::int32_t>(lists.size())});
  for (const auto& [other, three] : lists) {
    text += integers({other, static_cast<std::int32_t>(three[0].size())});
    for (const Numbers& list : three) text += integers(list);
  }
}

void add_to(Lists& lists, std::int32_t other, std::int32_t place, std::int32_t point, std::int32_t local) {
  auto& three = lists[other];
  three[0].push_back(place);
  three[1].push_back(point + 1);
  three[2].push_back(local);
}

void add_received(std::string& text, const Exchange& exchange, const LocalNumbers& local) {
  text +=
      "  // : for each node required by the SD to compute the discharge, number, list and local numbering of nodes "
      "from "
      "all involved SD\n" +
      integers({static_cast<std::int32_t>(exchange.receive.size())});
  Lists lists;
  for (const std::int32_t point : exchange.receive) {
    Numbers pairs;
    for (const auto& [part, number] : local.at(point)) {
      pairs.insert(pairs.end(), {part, number});
      add_to(lists, part, position(exchange.receive, point), point, number);
    }
    text += integers({point + 1, static_cast<std::int32_t>(pairs.size() / 2)}) + integers(pairs);
  }
  text += "  // : for each other SD which send values, number and list of node (with local number)\n";
  add_lists(text, lists);
}

void add_sent(std::string& text, const Exchange& exchange, const LocalNumbers& local, std::int32_t part) {
  text += "  // : for each node inside the SD, number and list of others SD which also need the value\n" +
          integers({static_cast<std::int32_t>(exchange.send.size())});
  Lists lists;
  for (const auto& [point, parts] : exchange.send) {
    text += integers({point + 1, static_cast<std::int32_t>(parts.size())}) + integers(parts);
    for (const std::int32_t other : parts)
      add_to(lists, other, position(exchange.receive, point), point, local.in(point, part));
  }
  text += "  // : for each other SD which needs node values, number and list of nodes\n";
  add_lists(text, lists);
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
    for (const std::int32_t point : points.of(part)) texts[at(part)] += integers({++local, zone[at(point)]});
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
           integers({static_cast<std::int32_t>(sections.size()), 1});
    for (const Section& section : sections) {
      std::string edges;
      std::int32_t count = 0;
      for (const auto& edge : section.edges)
        if (part_of_edge(local, edge) == part) {
          edges += integers({local.in(edge[0], part), local.in(edge[1], part)});
          ++count;
        }
      text += " " + section.name + "\n" + integers({count}) + edges;
    }
  }
  return texts;
}

std::vector<std::string> cut_weirs(const fs::path& path, const CutMesh& mesh, const Buckets& points) {
  Weirs weirs = read_weirs(path, mesh);
  Numbers wanted;
  for (const Weir& weir : weirs.all) wanted.insert(wanted.end(), weir.points.begin(), weir.points.end());
  const LocalNumbers local(wanted, points);
  share_weirs(weirs, local, mesh.parts);
  std::vector<std::string> texts(at(mesh.parts));
  for (std::int32_t part = 0; part < mesh.parts; ++part) {
    const Exchange exchange = exchange_of(weirs, local, part);
    add_weir_elements(texts[at(part)], weirs, exchange, part);
    add_weir_parts(texts[at(part)], weirs, part);
    add_received(texts[at(part)], exchange, local);
    add_sent(texts[at(part)], exchange, local, part);
  }
  return texts;
}

}  // namespace octavo::jobs
