#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstdio>
#include <map>
#include <optional>
#include <span>

#include "octavo/base/at.hpp"
#include "octavo/formats/serafin/boundary.hpp"
#include "octavo/telemac/cut/side_files.hpp"
#include "octavo/telemac/cut/side_lines.hpp"

namespace octavo::telemac {
namespace {

namespace fs = std::filesystem;

using base::at;

using Numbers = std::vector<std::int32_t>;

std::string reals(std::span<const double> values) {
  std::string text;
  for (const double value : values) {
    std::array<char, 32> digits;
    const auto end =
        std::to_chars(digits.data(), digits.data() + digits.size(), value, std::chars_format::scientific).ptr;
    text += "  " + std::string(digits.data(), end);
  }
  return text;
}

// --------------------------------------------------------------------------------------------------------------- weirs

/// Four points on either side of a weir's element, and their places.
struct Weir {
  std::array<double, 3> here{}, there{};
  std::array<std::int32_t, 8> points{};  ///< four on side 1, four on side 2
  std::array<std::int32_t, 2> kinds{};   ///< V8: what breaks it
  std::array<double, 2> values{};        ///< V8: by which value
  std::array<std::int32_t, 2> group{};   ///< V8: the first and the last of its group, from 1
};

struct Weirs {
  std::int32_t option = 0;
  std::optional<double> relaxation;  ///< V8's layout
  std::vector<Weir> all;
  std::vector<Numbers> parts_of;  ///< of each weir, ascending
  std::vector<Numbers> weirs_of;  ///< of each part, ascending
};

Weir read_weir(LineReader& lines, std::int32_t points, bool v8) {
  const auto values = lines.numbers(v8 ? 19 : 15);
  Weir weir;
  std::copy_n(values.begin() + 1, 3, weir.here.begin());
  std::copy_n(values.begin() + 8, 3, weir.there.begin());
  for (std::size_t k = 0; k < 4; ++k) {
    weir.points[k] = lines.point(values[4 + k], points);
    weir.points[4 + k] = lines.point(values[11 + k], points);
  }
  if (v8) {
    weir.kinds = {lines.integer(values[15]), lines.integer(values[16])};
    weir.values = {values[17], values[18]};
  }
  return weir;
}

constexpr std::int32_t most_weirs = 10000000;

/// V8: a comment, how many, three comments, and those.
void read_group(LineReader& lines, std::int32_t points, std::vector<Weir>& all) {
  lines.next();
  const auto first = static_cast<std::int32_t>(all.size());
  const std::int32_t count = lines.count(lines.numbers(1)[0], most_weirs - first);
  for (int comment = 0; comment < 3; ++comment) lines.next();
  for (std::int32_t i = 0; i < count; ++i) {
    all.push_back(read_weir(lines, points, true));
    all.back().group = {first + 1, first + count};
  }
}

Weirs read_weirs(const fs::path& path, std::int32_t points) {
  LineReader lines(path);
  lines.next();  // a comment
  const auto sizes = lines.numbers(2, 3);
  Weirs weirs;
  weirs.option = lines.integer(sizes[1]);
  if (sizes.size() > 2) weirs.relaxation = sizes[2];
  const std::int32_t count = lines.count(sizes[0], most_weirs);
  for (std::int32_t i = 0; i < count; ++i)
    if (weirs.relaxation)
      read_group(lines, points, weirs.all);
    else
      weirs.all.push_back(read_weir(lines, points, false));
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
struct PointExchange {
  Numbers receive;
  std::map<std::int32_t, Numbers> send;  ///< parts in the order that they are met in
};

PointExchange exchange_of(const Weirs& weirs, const LocalNumbers& local, std::int32_t part) {
  PointExchange exchange;
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

/// How integers and headings stand in their lines: V8 has single blanks in most.
struct Style {
  bool v8 = false;
  std::string lone(std::size_t value) const {
    const auto number = static_cast<std::int32_t>(value);
    return v8 ? std::to_string(number) + '\n' : integer_line({number});
  }
  std::string pair(std::int32_t a, std::size_t b) const {
    const auto number = static_cast<std::int32_t>(b);
    return v8 ? std::to_string(a) + ' ' + std::to_string(number) + '\n' : integer_line({a, number});
  }
  std::string list(const Numbers& values) const { return v8 ? ended(spaced(values)) : integer_line(values); }
  std::string heading(int number, std::string text) const {
    if (!v8) return "  // : " + text + '\n';
    for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    return " /" + std::to_string(number) + "/ : " + text + '\n';
  }
  /// Blanks at the end of a line stay unwritten (an X in a format only moves on).
  static std::string ended(std::string text) {
    if (!text.empty()) text.pop_back();
    return text + '\n';
  }
  static std::string spaced(std::span<const std::int32_t> values) {
    std::string text;
    for (const std::int32_t value : values) text += std::to_string(value) + ' ';
    return text;
  }
};

/// F27.15, and a blank, each.
std::string fixed(std::span<const double> values) {
  std::string text;
  for (const double value : values) {
    std::array<char, 400> digits;
    const int count = std::snprintf(digits.data(), digits.size(), "%27.15f ", value);
    text.append(digits.data(), at(count));
  }
  return text;
}

/// The places of the eight points among those that the part receives, four per side.
std::array<Numbers, 2> sides_of(const Weir& weir, const PointExchange& exchange) {
  std::array<Numbers, 2> sides;
  for (std::size_t k = 0; k < 8; ++k) sides[k / 4].push_back(position(exchange.receive, weir.points[k]));
  return sides;
}

void add_weir_elements(std::string& text, const Weirs& weirs, const PointExchange& exchange, std::int32_t part) {
  const Numbers& mine = weirs.weirs_of[at(part)];
  text += "  Nb de singularites Option Utan\n" + integer_line({static_cast<std::int32_t>(mine.size()), weirs.option});
  for (const std::int32_t j : mine) {
    const Weir& weir = weirs.all[at(j)];
    const auto sides = sides_of(weir, exchange);
    text += serafin::list_directed(std::int64_t{j} + 1) + reals(weir.here) + integer_line(sides[0]) +
            reals(weir.there) + integer_line(sides[1]);
  }
}

/// As one group, whose weirs say of which one they are.
void add_weir_elements_v8(std::string& text, const Weirs& weirs, const PointExchange& exchange, std::int32_t part) {
  const Numbers& mine = weirs.weirs_of[at(part)];
  const std::string comment = " #Comment line\n";
  text += "  NB DE SINGULARITES OPTION UTAN\n 1  " + serafin::list_directed(std::int64_t{weirs.option}) +
          serafin::list_directed(*weirs.relaxation) + '\n' + comment +
          integer_line({static_cast<std::int32_t>(mine.size())}) + comment + comment + comment;
  for (const std::int32_t j : mine) {
    const Weir& weir = weirs.all[at(j)];
    const auto sides = sides_of(weir, exchange);
    text += Style::ended(std::to_string(j + 1) + ' ' + fixed(weir.here) + Style::spaced(sides[0]) + fixed(weir.there) +
                         Style::spaced(sides[1]) + Style::spaced(weir.kinds) + fixed(weir.values) +
                         Style::spaced(weir.group));
  }
}

void add_weir_parts(std::string& text, const Style& style, const Weirs& weirs, std::int32_t part) {
  text += style.heading(1, "for each element, number and list of SD which will also compute discharge on it");
  std::map<std::int32_t, Numbers> common;  // weirs by other part
  for (const std::int32_t j : weirs.weirs_of[at(part)]) {
    Numbers others;
    for (const std::int32_t other : weirs.parts_of[at(j)])
      if (other != part) {
        others.push_back(other);
        common[other].push_back(j + 1);
      }
    text += integer_line({j + 1, static_cast<std::int32_t>(others.size())});
    if (!others.empty()) text += integer_line(others);
  }
  text += style.heading(2, "for each SD, number and list of element which will be computed");
  text += integer_line({static_cast<std::int32_t>(common.size())});
  for (const auto& [other, list] : common) text += style.pair(other, list.size()) + style.list(list);
}

/// For each part: positions, points and local numbers, three lines. `owner`: whose local numbers.
using Lists = std::map<std::int32_t, std::array<Numbers, 3>>;

void add_lists(std::string& text, const Style& style, const Lists& lists) {
  for (const auto& [other, three] : lists) {
    text += style.pair(other, three[0].size());
    for (const Numbers& list : three) text += style.list(list);
  }
}

void add_to(Lists& lists, std::int32_t other, std::int32_t place, std::int32_t point, std::int32_t local) {
  auto& three = lists[other];
  three[0].push_back(place);
  three[1].push_back(point + 1);
  three[2].push_back(local);
}

void add_received(std::string& text, const Style& style, const PointExchange& exchange, const LocalNumbers& local) {
  text += style.heading(3,
                        "for each node required by the SD to compute the discharge, number, list and local numbering "
                        "of nodes from all involved SD") +
          integer_line({static_cast<std::int32_t>(exchange.receive.size())});
  Lists lists;
  for (const std::int32_t point : exchange.receive) {
    Numbers pairs;
    for (const auto& [part, number] : local.at(point)) {
      pairs.insert(pairs.end(), {part, number});
      add_to(lists, part, position(exchange.receive, point), point, number);
    }
    text += style.pair(point + 1, pairs.size() / 2) + style.list(pairs);
  }
  text += style.heading(4, "for each other SD which send values, number and list of node (with local number)") +
          style.lone(lists.size());
  add_lists(text, style, lists);
}

void add_sent(std::string& text, const Style& style, const PointExchange& exchange, const LocalNumbers& local,
              std::int32_t part) {
  text += style.heading(5, "for each node inside the SD, number and list of others SD which also need the value") +
          style.lone(exchange.send.size());
  Lists lists;
  for (const auto& [point, parts] : exchange.send) {
    text += style.pair(point + 1, parts.size()) + style.list(parts);
    for (const std::int32_t other : parts)
      add_to(lists, other, position(exchange.receive, point), point, local.in(point, part));
  }
  text += style.heading(6, "for each other SD which needs node values, number and list of nodes") +
          integer_line({static_cast<std::int32_t>(lists.size())});
  add_lists(text, style, lists);
}

}  // namespace

void check_weirs(const fs::path& path, std::int32_t points) { read_weirs(path, points); }

std::vector<std::string> cut_weirs(const fs::path& path, const SideParts& parts) {
  Weirs weirs;
  base::agree(parts.ranks, [&] { weirs = read_weirs(path, parts.points); });
  Numbers wanted;
  for (const Weir& weir : weirs.all) wanted.insert(wanted.end(), weir.points.begin(), weir.points.end());
  const LocalNumbers local(wanted, parts);
  share_weirs(weirs, local, parts.parts);
  const Style style{weirs.relaxation.has_value()};
  std::vector<std::string> texts(parts.own.first.size() - 1);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const std::int32_t part = parts.first + static_cast<std::int32_t>(i);
    const PointExchange exchange = exchange_of(weirs, local, part);
    (style.v8 ? add_weir_elements_v8 : add_weir_elements)(texts[i], weirs, exchange, part);
    add_weir_parts(texts[i], style, weirs, part);
    add_received(texts[i], style, exchange, local);
    add_sent(texts[i], style, exchange, local, part);
  }
  return texts;
}

}  // namespace octavo::telemac
