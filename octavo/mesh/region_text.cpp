#include <algorithm>
#include <charconv>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "octavo/base/error.hpp"
#include "octavo/mesh/region.hpp"

namespace octavo::mesh {
namespace {

using base::Error;
using base::Kind;

constexpr double farthest = 16;    // domains: shapes other than boxes and spheres are neither larger nor farther away
constexpr int most_shapes = 1000;  // joined; regions are looked at by recursion
constexpr int most_nested = 64;    // parentheses

struct ShapeWord {
  std::string_view name;
  std::string_view arguments;  ///< as messages show them; "P" is a point
};
constexpr ShapeWord words[] = {{"box", "P:P"},
                               {"sphere", "P:r"},
                               {"shell", "P:r:r"},
                               {"cylinder", "P:axis:r:height"},
                               {"sector", "P:r:direction:angle"},
                               {"halfspace", "P:normal"},
                               {"domains", "N,N-M"}};

std::string expected_form(int dim) {
  const std::string point = dim == 1 ? "x" : dim == 2 ? "x,y" : "x,y,z";
  std::string text;
  for (const ShapeWord& word : words) {
    text.append(text.empty() ? "\"" : ", ").append(word.name).append(":");
    for (const char letter : word.arguments) letter == 'P' ? text.append(point) : text.append(1, letter);
  }
  return text +
         "\", joined by & (in both), | (in either) and - (without); numbers are fractions of the domain's extent "
         "along x, \"center\" is the middle";
}

std::string_view trim(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (std::size_t at = 0;;) {
    const std::size_t end = std::min(text.find(separator, at), text.size());
    parts.push_back(text.substr(at, end - at));
    if (end == text.size()) return parts;
    at = end + 1;
  }
}

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// region = meeting { "|" meeting }, meeting = rest { "&" rest }, rest = operand { "-" operand },
// operand = "(" region ")", "all" or a shape: the operators bind as those of Python do.
class RegionParser {
 public:
  RegionParser(std::string_view text, int dim, const Point3& extent) : text_(text), dim_(dim), extent_(extent) {}

  Point3 read_point() const { return point(text_, {0.5, 0.5, 0.5}); }
  Region read() {
    Region region = read_union(0);
    if (at_ != text_.size()) refuse("expected & or | or - at \"" + std::string(text_.substr(at_)) + "\"");
    tell_domains(region, false);
    return region;
  }

 private:
  [[noreturn]] void refuse(const std::string& why) const {
    throw Error(Kind::usage, "region \"" + std::string(text_) + "\": " + why).hint("write " + expected_form(dim_));
  }
  std::size_t axes() const { return static_cast<std::size_t>(dim_); }

  /// Each operand behind a minus takes away, unless it stands in one that takes away.
  static void tell_domains(Region& region, bool takes_away) {
    if (auto* domains = std::get_if<Domains>(&region)) domains->takes_away = takes_away;
    auto* joined = std::get_if<Joined>(&region);
    if (joined == nullptr) return;
    tell_domains(joined->of[0], takes_away);
    tell_domains(joined->of[1], takes_away != (joined->how == Join::without));
  }

  void skip_spaces() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  bool take(char sign) {
    skip_spaces();
    if (at_ == text_.size() || text_[at_] != sign) return false;
    ++at_;
    return true;
  }

  Region read_union(int depth) {
    Region region = read_meeting(depth);
    while (take('|')) region = join(Join::either, std::move(region), read_meeting(depth));
    return region;
  }
  Region read_meeting(int depth) {
    Region region = read_rest(depth);
    while (take('&')) region = join(Join::both, std::move(region), read_rest(depth));
    return region;
  }
  Region read_rest(int depth) {
    Region region = read_operand(depth);
    while (take('-')) region = join(Join::without, std::move(region), read_operand(depth));
    return region;
  }
  Region read_operand(int depth) {
    if (!take('(')) {
      if (++shapes_ > most_shapes) refuse("more than 1000 shapes");
      return read_shape(shape_text());
    }
    if (depth == most_nested) refuse("more than 64 parentheses in one another");
    Region region = read_union(depth + 1);
    if (!take(')')) refuse("a parenthesis is not closed");
    return region;
  }

  // A minus that follows a digit or a point of a shape, and is followed by no number, is an operator.
  std::string_view shape_text() {
    skip_spaces();
    const std::size_t begin = at_;
    while (at_ < text_.size() && text_[at_] != '&' && text_[at_] != '|' && text_[at_] != ')' && text_[at_] != '(' &&
           !is_minus_here(begin))
      ++at_;
    return trim(text_.substr(begin, at_ - begin));
  }
  bool is_minus_here(std::size_t begin) const {
    if (text_[at_] != '-') return false;
    const std::string_view before = trim(text_.substr(begin, at_ - begin)), after = trim(text_.substr(at_ + 1));
    const bool ends = !before.empty() && before.back() != ':' && before.back() != ',';
    return ends && !after.empty() && (is_letter(after.front()) || after.front() == '(');
  }

  double number(std::string_view piece) const {
    std::string_view digits = trim(piece);
    if (digits.starts_with('+')) digits.remove_prefix(1);
    double value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc{} || end != digits.data() + digits.size())
      refuse("\"" + std::string(piece) + "\" is not a number");
    if (!std::isfinite(value)) refuse("expected a finite number, found \"" + std::string(piece) + "\"");
    return value;
  }
  double length(std::string_view piece, const char* what) const {
    const double value = number(piece);
    if (!(value > 0)) refuse(std::string("the ") + what + " must be positive");
    return value;
  }

  Point3 numbers(std::string_view piece, Point3 point) const {
    const auto found = split(piece, ',');
    if (found.size() != axes())
      refuse("expected " + std::to_string(dim_) + (dim_ == 1 ? " coordinate" : " coordinates") + " in \"" +
             std::string(piece) + "\", found " + std::to_string(found.size()));
    for (std::size_t axis = 0; axis < found.size(); ++axis) point[axis] = number(found[axis]);
    return point;
  }
  Point3 point(std::string_view piece, Point3 point) const {
    const std::string_view word = trim(piece);
    if (word != "center" && word != "centre") return numbers(piece, point);
    for (std::size_t axis = 0; axis < axes(); ++axis) point[axis] = extent_[axis] / 2;
    return point;
  }
  /// A unit vector, of "x", "y", "z" or numbers. One that has the length 1 but for rounding stays as it is.
  Point3 direction(std::string_view piece) const {
    const std::string_view word = trim(piece);
    for (std::size_t axis = 0; axis < 3; ++axis)
      if (word.size() == 1 && word[0] == "xyz"[axis]) {
        Point3 unit{};
        unit[axis] = 1;
        return unit;
      }
    Point3 vector = numbers(piece, {0, 0, 0});
    const double size = std::hypot(vector[0], vector[1], vector[2]);
    if (!(size > 0) || !std::isfinite(size)) refuse("the direction \"" + std::string(piece) + "\" has no length");
    if (std::abs(size - 1) > 1e-15)
      for (double& x : vector) x /= size;
    return vector;
  }

  void check_near(const Point3& centre, double size) const {
    const double most = farthest * std::max({extent_[0], extent_[1], extent_[2]});
    for (std::size_t axis = 0; axis < axes(); ++axis)
      if (!(std::abs(centre[axis]) <= most) || !(size <= most)) refuse("it is larger than 16 domains, or as far away");
  }

  Region read_shape(std::string_view shape) const {
    if (shape == "all") return everything();
    const auto parts = split(shape, ':');
    const std::string_view name = trim(parts[0]);
    const ShapeWord* const word =
        std::find_if(std::begin(words), std::end(words), [&](const ShapeWord& known) { return known.name == name; });
    if (word == std::end(words)) {
      std::string names;
      for (const ShapeWord& known : words) names.append(names.empty() ? "\"" : ", \"").append(known.name).append(":\"");
      refuse("expected \"" + std::string(shape) + "\" to begin with " + names);
    }
    const auto wanted = 2 + std::count(word->arguments.begin(), word->arguments.end(), ':');
    if (std::ssize(parts) != wanted)
      refuse("expected " + std::to_string(wanted) + " pieces between colons in \"" + std::string(shape) + "\", found " +
             std::to_string(parts.size()));
    if (name == "box") return read_box(parts);
    if (name == "domains") return read_domains(parts[1]);
    return name == "halfspace" ? read_halfspace(parts) : read_round(name, parts);
  }

  int domain(std::string_view piece) const {
    const std::string_view digits = trim(piece);
    int value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc{} || end != digits.data() + digits.size() || value < 1)
      refuse("\"" + std::string(piece) + "\" is no number of a domain: they count from 1");
    return value;
  }
  Region read_domains(std::string_view list) const {
    Domains domains;
    for (const std::string_view piece : split(list, ',')) {
      const auto ends = split(piece, '-');
      if (ends.size() > 2) refuse("\"" + std::string(piece) + "\" is no range of domains");
      domains.ranges.push_back({domain(ends.front()), domain(ends.back())});
      if (domains.ranges.back()[0] > domains.ranges.back()[1])
        refuse("\"" + std::string(piece) + "\": the last domain is below the first");
    }
    return domains;
  }

  Region read_box(const std::vector<std::string_view>& parts) const {
    Box box;
    box.lo = point(parts[1], box.lo);
    box.hi = point(parts[2], box.hi);
    for (std::size_t axis = 0; axis < axes(); ++axis)
      if (!(box.lo[axis] < box.hi[axis]))
        refuse(std::string("the upper corner must be above the lower one along ") + "xyz"[axis]);
    return box;
  }
  Region read_halfspace(const std::vector<std::string_view>& parts) const {
    HalfSpace half;
    half.point = point(parts[1], half.point);
    half.normal = direction(parts[2]);
    check_near(half.point, 0);
    return half;
  }
  Region read_round(std::string_view name, const std::vector<std::string_view>& parts) const {
    const Point3 centre = point(parts[1], {0.5, 0.5, 0.5});
    if (name == "sphere") return Sphere{centre, length(parts[2], "radius")};
    if (name == "shell") {
      const double inner = length(parts[2], "inner radius"), outer = length(parts[3], "outer radius");
      if (!(inner < outer)) refuse("the outer radius must be above the inner one");
      return join(Join::without, Sphere{centre, outer}, Sphere{centre, inner});
    }
    if (name == "cylinder") {
      const Cylinder cylinder{centre, direction(parts[2]), length(parts[3], "radius"), length(parts[4], "height")};
      check_near(centre, std::max(cylinder.radius, cylinder.height));
      return cylinder;
    }
    const Sector sector{centre, length(parts[2], "radius"), direction(parts[3]), length(parts[4], "angle")};
    if (!(sector.angle < 180)) refuse("the angle must be below 180 degrees");
    check_near(centre, sector.radius);
    return sector;
  }

  std::string_view text_;
  int dim_;
  const Point3& extent_;
  std::size_t at_ = 0;
  int shapes_ = 0;
};

// ------------------------------------------------------------------------------------------------------------ text

std::string text_of(double value) {
  char buffer[32];
  const auto result = std::to_chars(buffer, buffer + sizeof buffer, value);
  return {buffer, result.ptr};
}

std::string text_of(const Point3& point, int dim) {
  std::string text = text_of(point[0]);
  for (std::size_t axis = 1; axis < static_cast<std::size_t>(dim); ++axis)
    text.append(",").append(text_of(point[axis]));
  return text;
}

std::string text_of_direction(const Point3& direction, int dim) {
  for (std::size_t axis = 0; axis < 3; ++axis)
    if (direction[axis] == 1) return {"xyz"[axis]};
  return text_of(direction, dim);
}

std::string text_of(const Box& box, int dim) {
  if (std::isinf(box.hi[0])) return "all";
  return "box:" + text_of(box.lo, dim) + ":" + text_of(box.hi, dim);
}
std::string text_of(const Sphere& sphere, int dim) {
  return "sphere:" + text_of(sphere.centre, dim) + ":" + text_of(sphere.radius);
}
std::string text_of(const Cylinder& cylinder, int dim) {
  return "cylinder:" + text_of(cylinder.centre, dim) + ":" + text_of_direction(cylinder.axis, dim) + ":" +
         text_of(cylinder.radius) + ":" + text_of(cylinder.height);
}
std::string text_of(const Sector& sector, int dim) {
  return "sector:" + text_of(sector.centre, dim) + ":" + text_of(sector.radius) + ":" +
         text_of_direction(sector.direction, dim) + ":" + text_of(sector.angle);
}
std::string text_of(const HalfSpace& half, int dim) {
  return "halfspace:" + text_of(half.point, dim) + ":" + text_of_direction(half.normal, dim);
}
std::string text_of(const Domains& domains, int) {
  std::string text = "domains:";
  for (const auto& [first, last] : domains.ranges) {
    text.append(text.back() == ':' ? "" : ",").append(std::to_string(first));
    if (last > first) text.append("-").append(std::to_string(last));
  }
  return text;
}
std::string text_of(const Joined& joined, int dim) {
  const auto operand = [&](const Region& region) {
    const std::string text = to_string(region, dim);
    return std::holds_alternative<Joined>(region) ? "(" + text + ")" : text;
  };
  const char* const sign = joined.how == Join::both ? " & " : joined.how == Join::either ? " | " : " - ";
  return operand(joined.of[0]) + sign + operand(joined.of[1]);
}

}  // namespace

Region parse_region(std::string_view text, int dim, const Point3& extent) {
  return RegionParser(text, dim, extent).read();
}

Point3 parse_point(std::string_view text, int dim, const Point3& extent) {
  return RegionParser(text, dim, extent).read_point();
}

std::string to_string(const Region& region, int dim) {
  return std::visit([&](const auto& shape) { return text_of(shape, dim); },
                    static_cast<const Region::variant&>(region));
}

}  // namespace octavo::mesh
