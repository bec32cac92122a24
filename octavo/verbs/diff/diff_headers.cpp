#include <algorithm>
#include <cmath>
#include <cstdio>

#include "octavo/step/open.hpp"
#include "octavo/verbs/diff/diff_pieces.hpp"

namespace octavo::verbs::detail {
namespace {

std::string text(double x) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%.17g", x);
  return buffer;
}
std::string text(std::int64_t x) { return std::to_string(x); }
std::string text(const std::string& x) { return x; }
template <class T>
std::string text(const std::vector<T>& list) {
  std::string out = "[";
  for (std::size_t i = 0; i < std::min<std::size_t>(list.size(), 4); ++i) out += (i == 0 ? "" : ", ") + text(list[i]);
  return out + (list.size() > 4 ? " ... " + std::to_string(list.size()) + " values]" : "]");
}
std::string text(const mesh::Attribute& attribute) {
  return std::visit([](const auto& value) { return text(value); }, attribute);
}
std::string text(const std::array<double, 3>& point) { return text(std::vector<double>(point.begin(), point.end())); }

class Entries {
 public:
  Entries(const Rules& rules, bool all_count, DiffReport& report)
      : rules_(rules), all_count_(all_count), report_(report) {}
  void add(const std::string& name, const std::string& a, const std::string& b, bool counts) {
    if (rules_.ignored(name)) return;
    report_.headers.push_back({name, a, b, counts || all_count_});
    if (counts || all_count_) differ(report_, name + " differs: " + a + " and " + b);
  }
  template <class T>
  void compare(const std::string& name, const T& a, const T& b) {
    if (a != b) add(name, text(a), text(b), false);
  }

 private:
  const Rules& rules_;
  bool all_count_;
  DiffReport& report_;
};

/// The largest distance of the domains' corners, in fractions of the larger extent of their axis.
double distance_of_domains(const mesh::Header& a, const mesh::Header& b) {
  double distance = 0;
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(std::min(a.dim, b.dim)); ++axis) {
    const double extent = std::max(a.hi[axis] - a.lo[axis], b.hi[axis] - b.lo[axis]);
    distance =
        std::max({distance, std::fabs(a.lo[axis] - b.lo[axis]) / extent, std::fabs(a.hi[axis] - b.hi[axis]) / extent});
  }
  return distance;
}

}  // namespace

void diff_headers(const mesh::Dataset& a, const mesh::Dataset& b, const DiffOptions& options, const Rules& rules,
                  DiffReport& report) {
  const mesh::Header &x = a.header, &y = b.header;
  Entries entries(rules, options.headers, report);
  const double later = std::max(std::fabs(x.time), std::fabs(y.time)), apart = std::fabs(x.time - y.time);
  const bool both_nan = std::isnan(x.time) && std::isnan(y.time);
  if (x.time != y.time && !both_nan)
    entries.add("time", text(x.time), text(y.time), !rules.allows("time", apart, later));
  if (const double distance = distance_of_domains(x, y); distance != 0)
    entries.add("domain", text(x.lo) + " to " + text(x.hi), text(y.lo) + " to " + text(y.hi),
                !rules.allows("domain", distance, 1));
  entries.compare("step", step::step_number(a).value_or(-1), step::step_number(b).value_or(-1));
  entries.compare("unit_length", x.unit_length, y.unit_length);
  entries.compare("unit_density", x.unit_density, y.unit_density);
  entries.compare("unit_time", x.unit_time, y.unit_time);
  for (const auto& entry : x.attributes) {
    const auto other = y.attributes.find(entry.first);
    if (other == y.attributes.end())
      entries.add(entry.first, text(entry.second), "", false);
    else if (!(entry.second == other->second))
      entries.add(entry.first, text(entry.second), text(other->second), false);
  }
  for (const auto& entry : y.attributes)
    if (x.attributes.count(entry.first) == 0) entries.add(entry.first, "", text(entry.second), false);
}

}  // namespace octavo::verbs::detail
