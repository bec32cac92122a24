// "Gmsh Reference Manual", chapter "Gmsh file formats": MSH 4.1 and the legacy MSH 2.2.
#include "octavo/formats/gmsh/reader.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <numeric>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "octavo/base/byte_order.hpp"
#include "octavo/base/error.hpp"
#include "octavo/file/posix.hpp"

namespace octavo::formats::gmsh {
namespace {

using base::Error;
using base::Kind;

/// Lines, words and binary numbers, one after another.
class GmshReader {
 public:
  explicit GmshReader(const std::filesystem::path& path) : file_(file::open_read(path)), length_(file::size(file_)) {}
  bool at_end() { return !peek(); }
  std::uint64_t at() const { return from_ + next_; }
  std::uint64_t left() const { return length_ - at(); }
  [[noreturn]] void refuse(const std::string& what) const {
    throw Error(Kind::corrupt, what).at("byte " + std::to_string(at()));
  }
  std::string line() {
    constexpr std::size_t longest = 4096;
    std::string out;
    while (const auto c = peek()) {
      ++next_;
      if (*c == '\n') break;
      if (out.size() == longest) refuse("a line of more than " + std::to_string(longest) + " bytes");
      out += *c;
    }
    out.resize(out.find_last_not_of(" \t\r") + 1);  // gmsh ends lines with a blank
    return out;
  }
  std::string word() {
    const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; };
    while (peek() && blank(*peek())) ++next_;
    std::string out;
    while (peek() && !blank(*peek()) && out.size() < 64) {
      out += *peek();
      ++next_;
    }
    if (out.empty()) refuse("the file ends where a number was expected");
    return out;
  }
  template <class T>
  T text_number() {
    const std::string found = word();
    T value{};
    const auto [end, error] = std::from_chars(found.data(), found.data() + found.size(), value);
    if (error != std::errc() || end != found.data() + found.size())
      refuse("expected a number, found \"" + found + "\"");
    return value;
  }
  template <class T>
  T binary_number(std::endian order) {
    std::array<std::byte, sizeof(T)> bytes{};
    for (std::byte& byte : bytes) {
      if (!peek()) refuse("the file ends in a number");
      byte = static_cast<std::byte>(*peek());
      ++next_;
    }
    return base::load<T>(bytes.data(), order);
  }

 private:
  std::optional<char> peek() {
    if (next_ == buffer_.size()) {
      from_ += buffer_.size();
      next_ = 0;
      buffer_.resize(static_cast<std::size_t>(std::min<std::uint64_t>(1 << 20, length_ - from_)));
      if (buffer_.empty()) return {};
      file::pread_all(file_, from_, std::as_writable_bytes(std::span(buffer_)));
    }
    return buffer_[next_];
  }
  file::File file_;
  std::uint64_t length_ = 0, from_ = 0;
  std::size_t next_ = 0;
  std::vector<char> buffer_;
};

/// The numbers of a file, as its first section says they stand.
class NumberReader {
 public:
  explicit NumberReader(GmshReader& reader) : reader_(reader) {
    version = reader.word();
    binary_ = reader.text_number<int>() == 1;
    const int size = reader.text_number<int>();
    if (version != "2.2" && version != "4.1")
      throw Error(Kind::unsupported, "version " + version + " of Gmsh's format: expected 2.2 or 4.1")
          .hint("gmsh MESH.msh -save -format msh41 -o OUT.msh");
    if (binary_ && size != 8)
      throw Error(Kind::unsupported, "numbers of " + std::to_string(size) + " bytes: expected 8");
    reader.line();
    if (!binary_) return;
    const auto one = reader.binary_number<std::int32_t>(std::endian::little);
    if (one != 1 && one != 0x01000000) reader.refuse("byte order: expected a 1, found " + std::to_string(one));
    order_ = one == 1 ? std::endian::little : std::endian::big;
  }
  bool binary() const { return binary_; }
  std::int64_t integer() {
    return binary_ ? reader_.binary_number<std::int32_t>(order_) : reader_.text_number<std::int64_t>();
  }
  /// A count or a tag: of version 4.1, eight bytes.
  std::int64_t large() {
    if (!binary_ || version == "2.2") return integer();
    return reader_.binary_number<std::int64_t>(order_);
  }
  double real() { return binary_ ? reader_.binary_number<double>(order_) : reader_.text_number<double>(); }
  /// A number of things that each take `least` bytes or more.
  std::int64_t count(std::uint64_t least, const std::string& what) {
    const std::int64_t found = large();
    if (found < 0 || static_cast<std::uint64_t>(found) > reader_.left() / least)
      reader_.refuse(std::to_string(found) + " " + what + " do not fit the file");
    return found;
  }
  /// The same of version 2.2, which is text in binary files, too.
  std::int64_t text_count(const std::string& what) {
    const auto found = reader_.text_number<std::int64_t>();
    if (found < 0 || static_cast<std::uint64_t>(found) > reader_.left() / 2)
      reader_.refuse(std::to_string(found) + " " + what + " do not fit the file");
    reader_.line();
    return found;
  }
  std::string version;

 private:
  GmshReader& reader_;
  bool binary_ = false;
  std::endian order_ = std::endian::little;
};

/// Points of an element, by Gmsh's number of its type; 0: not known.
std::int64_t points_of(std::int64_t type) {
  constexpr std::array<int, 32> points{0, 2,  3,  4,  4, 8,  6,  5,  3,  6,  9, 10, 27, 18, 14, 1,
                                       8, 20, 15, 13, 9, 10, 12, 15, 15, 21, 4, 5,  6,  20, 35, 56};
  return type > 0 && type < std::ssize(points) ? points[static_cast<std::size_t>(type)] : 0;
}

bool is_line(std::int64_t type) { return type == 1 || type == 8 || (type >= 26 && type <= 28); }

/// The sets of groups that elements are in, each once. Number 0 is the empty one.
class GroupSets {
 public:
  GroupSets() { number_of({}); }
  std::int32_t number_of(std::vector<std::int64_t> groups) {
    // A minus turns the element round.
    for (std::int64_t& group : groups)
      group = group < 0 ? -std::max(group, -std::numeric_limits<std::int64_t>::max()) : group;
    std::sort(groups.begin(), groups.end());
    groups.erase(std::unique(groups.begin(), groups.end()), groups.end());
    if (!groups.empty() && groups.front() == 0) groups.erase(groups.begin());  // 0: no group
    const auto number = static_cast<std::int32_t>(sets_.size());
    const auto [found, is_new] = number_.emplace(groups, number);
    if (is_new) sets_.push_back(std::move(groups));
    return found->second;
  }
  const std::vector<std::vector<std::int64_t>>& all() const { return sets_; }

 private:
  std::map<std::vector<std::int64_t>, std::int32_t> number_;
  std::vector<std::vector<std::int64_t>> sets_;
};

bool is_solid(std::int64_t type) { return type >= 4 && type <= 7; }

/// The kinds of elements that are taken.
void require_known(std::int64_t type) {
  constexpr std::int64_t triangle = 2, quadrangle = 3, point = 15;
  if (type == triangle || type == quadrangle || type == point || is_solid(type) || is_line(type)) return;
  throw Error(Kind::unsupported, "elements of Gmsh's type " + std::to_string(type) +
                                     ": expected triangles (2) and quadrangles (3), or tetrahedra (4), hexahedra (5), "
                                     "prisms (6) and pyramids (7)");
}

/// Leaves out the triangles and quadrangles that are in no group.
void keep_cells_in_groups(GmshElements& to) {
  std::size_t kept = 0;
  for (std::size_t c = 0; c < to.cells.size(); ++c) {
    if (to.set_of_cell[c] == 0) continue;
    to.cells[kept] = to.cells[c];
    to.set_of_cell[kept++] = to.set_of_cell[c];
  }
  to.left_out += std::ssize(to.cells) - static_cast<std::int64_t>(kept);
  to.cells.resize(kept);
  to.set_of_cell.resize(kept);
}

/// Takes solids, or triangles and quadrangles where there are none, and others that are in groups.
void take_element(std::int64_t type, std::int32_t set, NumberReader& numbers, GmshElements& to) {
  require_known(type);
  constexpr std::int64_t point = 15;
  std::array<std::int64_t, 8> corners{};
  corners.fill(-1);
  const std::int64_t points = points_of(type);
  for (std::int64_t k = 0; k < points; ++k) {
    const std::int64_t tag = numbers.large();
    if (tag < 0)
      throw Error(Kind::corrupt, "a corner of an element: expected the number of a node, found " + std::to_string(tag));
    if (k < std::ssize(corners)) corners[static_cast<std::size_t>(k)] = tag;
  }
  if (type == point || is_line(type)) {
    if (set == 0) return;
    if (type == point) {
      to.points.push_back({corners[0]});
      to.set_of_point.push_back(set);
    } else {
      to.lines.push_back({corners[0], corners[1]});
      to.set_of_line.push_back(set);
    }
    return;
  }
  if (is_solid(type)) {
    if (to.solids.empty()) keep_cells_in_groups(to);
    to.solids.push_back(corners);
    to.set_of_solid.push_back(set);
  } else if (set != 0 || to.solids.empty()) {
    to.cells.push_back({corners[0], corners[1], corners[2], corners[3]});
    to.set_of_cell.push_back(set);
  } else {
    ++to.left_out;
  }
}

std::array<double, 3> read_place(NumberReader& numbers) {
  const double x = numbers.real(), y = numbers.real(), z = numbers.real();
  return {x, y, z};
}

// ------------------------------------------------------------------ version 2.2

void read_nodes_2(NumberReader& numbers, GmshElements& to) {
  const std::int64_t count = numbers.text_count("points");
  for (std::int64_t i = 0; i < count; ++i) {
    to.tags.push_back(numbers.integer());
    to.places.push_back(read_place(numbers));
  }
}

void read_elements_2(GmshReader& reader, NumberReader& numbers, GroupSets& sets, GmshElements& to) {
  const std::int64_t count = numbers.text_count("elements");
  std::int64_t last_group = 0;
  std::int32_t set = 0;  // of last_group
  for (std::int64_t done = 0; done < count;) {
    std::int64_t type = 0, many = 1, tags = 0;
    if (numbers.binary()) {
      type = numbers.integer();
      many = numbers.integer();
      tags = numbers.integer();
      if (many < 1 || many > count - done)
        reader.refuse(std::to_string(many) + " elements of " + std::to_string(count));
    }
    for (std::int64_t i = 0; i < many; ++i) {
      numbers.integer();  // the element's number
      if (!numbers.binary()) {
        type = numbers.integer();
        tags = numbers.integer();
      }
      if (tags < 0 || static_cast<std::uint64_t>(tags) > reader.left()) reader.refuse(std::to_string(tags) + " tags");
      std::int64_t group = 0;
      for (std::int64_t k = 0; k < tags; ++k) {
        const std::int64_t tag = numbers.integer();
        if (k == 0) group = tag;
      }
      if (group != last_group) set = sets.number_of({group});
      last_group = group;
      take_element(type, set, numbers, to);
    }
    done += many;
  }
}

// ------------------------------------------------------------------ version 4.1

void read_nodes_4(NumberReader& numbers, GmshElements& to) {
  const std::int64_t blocks = numbers.count(4, "blocks of points");
  for (int i = 0; i < 3; ++i) numbers.large();  // points, least and largest tag
  for (std::int64_t b = 0; b < blocks; ++b) {
    const std::int64_t dim = numbers.integer();
    numbers.integer();  // tag of the geometry
    const bool parametric = numbers.integer() != 0;
    const std::int64_t count = numbers.count(2, "points");
    for (std::int64_t i = 0; i < count; ++i) to.tags.push_back(numbers.large());
    for (std::int64_t i = 0; i < count; ++i) {
      to.places.push_back(read_place(numbers));
      for (std::int64_t k = 0; parametric && k < std::clamp<std::int64_t>(dim, 0, 3); ++k) numbers.real();
    }
  }
}

/// The sets of groups of a geometry's entities, by dimension and tag.
using SetsOfEntities = std::map<std::pair<std::int64_t, std::int64_t>, std::int32_t>;

void read_entities_4(NumberReader& numbers, bool partitioned, GroupSets& sets, SetsOfEntities& of) {
  const auto pass_integers = [&](const std::string& what) {
    for (std::int64_t n = numbers.count(2, what); n > 0; --n) numbers.integer();
  };
  if (partitioned) {
    numbers.large();  // partitions
    for (std::int64_t n = numbers.count(4, "ghosts"); n > 0; --n) {
      numbers.integer();
      numbers.integer();
    }
  }
  std::array<std::int64_t, 4> counts{};
  for (std::int64_t& count : counts) count = numbers.count(8, "entities");
  for (std::int64_t dim = 0; dim < 4; ++dim)
    for (std::int64_t e = 0; e < counts[static_cast<std::size_t>(dim)]; ++e) {
      const std::int64_t tag = numbers.integer();
      if (partitioned) {
        numbers.integer();  // dimension and tag of the parent
        numbers.integer();
        pass_integers("partitions");
      }
      for (int k = 0; k < (dim == 0 ? 3 : 6); ++k) numbers.real();  // a point's place, or a box
      std::vector<std::int64_t> groups;
      for (std::int64_t n = numbers.count(2, "groups"); n > 0; --n) groups.push_back(numbers.integer());
      of[{dim, tag}] = sets.number_of(std::move(groups));
      if (dim > 0) pass_integers("bounding entities");
    }
}

void read_elements_4(NumberReader& numbers, const SetsOfEntities& sets, GmshElements& to) {
  const std::int64_t blocks = numbers.count(4, "blocks of elements");
  for (int i = 0; i < 3; ++i) numbers.large();  // elements, least and largest tag
  for (std::int64_t b = 0; b < blocks; ++b) {
    const std::int64_t dim = numbers.integer(), tag = numbers.integer();
    const auto found = sets.find({dim, tag});
    const std::int32_t set = found == sets.end() ? 0 : found->second;
    const std::int64_t type = numbers.integer(), count = numbers.count(2, "elements");
    for (std::int64_t i = 0; i < count; ++i) {
      numbers.large();  // the element's number
      take_element(type, set, numbers, to);
    }
  }
}

// ------------------------------------------------------------------ all versions

/// Lines of dimension, number and "name", as text in binary files, too.
void read_names(GmshReader& reader, NumberReader& numbers, GmshElements& to) {
  const std::int64_t count = numbers.text_count("groups");
  for (std::int64_t i = 0; i < count; ++i) {
    const auto dim = reader.text_number<int>();
    const auto number = reader.text_number<std::int64_t>();
    const std::string rest = reader.line();
    const std::size_t first = rest.find('"'), last = rest.rfind('"');
    if (first == last) reader.refuse("expected a group's name in quotes, found \"" + rest.substr(0, 40) + "\"");
    to.names[{dim, number}] = rest.substr(first + 1, last - first - 1);
  }
}

/// Version 2.2 repeats an element for each group that it is in. Keeps each once, with all of its groups.
template <std::size_t N>
void unite(std::vector<std::array<std::int64_t, N>>& elements, std::vector<std::int32_t>& set_of, GroupSets& sets) {
  if (sets.all().size() < 3) return;  // one group and none: nothing is repeated
  std::vector<std::array<std::int64_t, N>> sorted = elements;
  for (auto& corners : sorted) std::sort(corners.begin(), corners.end());
  std::vector<std::size_t> order(elements.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return sorted[a] < sorted[b]; });
  std::vector<char> again(elements.size(), 0);
  for (std::size_t i = 1, first = 0; i < order.size(); ++i) {
    const std::size_t one = order[first], other = order[i];
    if (sorted[one] != sorted[other] || set_of[one] == set_of[other]) {
      first = i;
      continue;
    }
    std::vector<std::int64_t> groups = sets.all()[static_cast<std::size_t>(set_of[one])];
    const auto& more = sets.all()[static_cast<std::size_t>(set_of[other])];
    groups.insert(groups.end(), more.begin(), more.end());
    set_of[one] = sets.number_of(std::move(groups));
    again[other] = 1;
  }
  std::size_t kept = 0;
  for (std::size_t i = 0; i < elements.size(); ++i) {
    if (again[i] != 0) continue;
    elements[kept] = elements[i];
    set_of[kept++] = set_of[i];
  }
  elements.resize(kept);
  set_of.resize(kept);
}

/// Passes over a section that means nothing here.
void pass_over(GmshReader& reader, const std::string& name) {
  while (!reader.at_end())
    if (reader.line() == "$End" + name) return;
  reader.refuse("$" + name + " has no end");
}

/// Lines of a binary section may be longer than any line of text: it is passed over byte by byte.
void pass_over_bytes(GmshReader& reader, const std::string& name) {
  const std::string end = "$End" + name;
  std::size_t same = 0;
  while (!reader.at_end()) {
    const char c = reader.binary_number<char>(std::endian::native);
    same = c == end[same] ? same + 1 : c == end[0] ? 1 : 0;
    if (same == end.size()) return;
  }
  reader.refuse("$" + name + " has no end");
}

struct Sections {
  std::set<std::string> left;  ///< names of those with values, which are left out
  GroupSets sets;
  SetsOfEntities of_entities;
};

void read_section(GmshReader& reader, NumberReader& numbers, const std::string& name, GmshElements& to,
                  Sections& sections) {
  const bool old = numbers.version == "2.2";
  if (name == "Nodes")
    old ? read_nodes_2(numbers, to) : read_nodes_4(numbers, to);
  else if (name == "Elements")
    old ? read_elements_2(reader, numbers, sections.sets, to) : read_elements_4(numbers, sections.of_entities, to);
  else if (name == "PhysicalNames")
    read_names(reader, numbers, to);
  else if (!old && (name == "Entities" || name == "PartitionedEntities"))
    read_entities_4(numbers, name != "Entities", sections.sets, sections.of_entities);
  else {
    if (name.ends_with("Data")) sections.left.insert(name);
    return numbers.binary() ? pass_over_bytes(reader, name) : pass_over(reader, name);
  }
  // Behind binary numbers a line's end may be missing.
  for (std::string line = reader.line(); line != "$End" + name; line = reader.line())
    if (!line.empty() || reader.at_end())
      reader.refuse("expected $End" + name + ", found \"" + line.substr(0, 40) + "\"");
}

GmshElements read_sections(GmshReader& reader) {
  if (reader.line() != "$MeshFormat") reader.refuse("expected $MeshFormat");
  NumberReader numbers(reader);
  GmshElements to;
  Sections sections;
  while (!reader.at_end()) {
    const std::string line = reader.line();
    if (line.empty() || line == "$EndMeshFormat") continue;
    if (line[0] != '$') reader.refuse("expected a section, found \"" + line.substr(0, 40) + "\"");
    read_section(reader, numbers, line.substr(1), to, sections);
  }
  for (const std::string& name : sections.left) to.notes.push_back("values of $" + name + " are left out");
  if (to.left_out > 0)
    to.notes.push_back("sides of solids that are in no group are left out: " + std::to_string(to.left_out));
  unite(to.solids, to.set_of_solid, sections.sets);
  unite(to.cells, to.set_of_cell, sections.sets);
  unite(to.lines, to.set_of_line, sections.sets);
  unite(to.points, to.set_of_point, sections.sets);
  to.sets = sections.sets.all();
  return to;
}

}  // namespace

GmshElements read_elements(const std::filesystem::path& path) {
  try {
    GmshReader reader(path);
    return read_sections(reader);
  } catch (Error& error) {
    throw std::move(error.at(path.string()));
  }
}

}  // namespace octavo::formats::gmsh
