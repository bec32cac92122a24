#include <algorithm>
#include <array>
#include <charconv>
#include <map>

#include "octavo/formats/serafin/boundary.hpp"
#include "octavo/jobs/side_files.hpp"
#include "octavo/jobs/side_lines.hpp"

namespace octavo::jobs {
namespace {

namespace fs = std::filesystem;
namespace serafin = formats::serafin;

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

using Numbers = std::vector<std::int32_t>;

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
  text += "  Nb de singularites Option Utan\n" + integer_line({static_cast<std::int32_t>(mine.size()), weirs.option});
  for (const std::int32_t j : mine) {
    const Weir& weir = weirs.all[at(j)];
    Numbers sides[2];
    for (std::size_t k = 0; k < 8; ++k) sides[k / 4].push_back(position(exchange.receive, weir.points[k]));
    for (auto& side : sides)
      text +=
          (&side == sides ? serafin::list_directed(std::int64_t{j} + 1) : std::string()) +
          reals({(&side == sides ? weir.here : weir.there).begin(), (&side == sides ? weir.here : weir.there).end()}) +
          integer_line(side);
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
    text += integer_line({j + 1, static_cast<std::int32_t>(others.size())});
    if (!others.empty()) text += integer_line(others);
  }
  text += "  // : for each SD, number and list of element which will be computed\n";
  text += integer_line({static_cast<std::int32_t>(common.size())});
  for (const auto& [other, list] : common)
    text += integer_line({other, static_cast<std::int32_t>(list.size())}) + integer_line(list);
}

/// For each part: positions, points and local numbers, three lines. `owner`: whose local numbers.
using Lists = std::map<std::int32_t, std::array<Numbers, 3>>;

void add_lists(std::string& text, const Lists& lists) {
  text += integer_line({static_cast<std::int32_t>(lists.size())});
  for (const auto& [other, three] : lists) {
    text += integer_line({other, static_cast<std::int32_t>(three[0].size())});
    for (const Numbers& list : three) text += integer_line(list);
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
      integer_line({static_cast<std::int32_t>(exchange.receive.size())});
  Lists lists;
  for (const std::int32_t point : exchange.receive) {
    Numbers pairs;
    for (const auto& [part, number] : local.at(point)) {
      pairs.insert(pairs.end(), {part, number});
      add_to(lists, part, position(exchange.receive, point), point, number);
    }
    text += integer_line({point + 1, static_cast<std::int32_t>(pairs.size() / 2)}) + integer_line(pairs);
  }
  text += "  // : for each other SD which send values, number and list of node (with local number)\n";
  add_lists(text, lists);
}

void add_sent(std::string& text, const Exchange& exchange, const LocalNumbers& local, std::int32_t part) {
  text += "  // : for each node inside the SD, number and list of others SD which also need the value\n" +
          integer_line({static_cast<std::int32_t>(exchange.send.size())});
  Lists lists;
  for (const auto& [point, parts] : exchange.send) {
    text += integer_line({point + 1, static_cast<std::int32_t>(parts.size())}) + integer_line(parts);
    for (const std::int32_t other : parts)
      add_to(lists, other, position(exchange.receive, point), point, local.in(point, part));
  }
  text += "  // : for each other SD which needs node values, number and list of nodes\n";
  add_lists(text, lists);
}

}  // namespace

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
