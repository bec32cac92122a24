#include "octavo/verbs/diff/diff.hpp"

#include <fnmatch.h>

#include <algorithm>
#include <set>
#include <utility>

#include "octavo/base/error.hpp"
#include "octavo/step/translate.hpp"
#include "octavo/verbs/diff/diff_pieces.hpp"
#include "octavo/verbs/triangles.hpp"

namespace octavo::verbs {
namespace detail {
namespace {

using base::Error;
using base::Kind;

bool matches(const std::string& pattern, const std::string& name) {
  return pattern == name || fnmatch(pattern.c_str(), name.c_str(), 0) == 0;
}

double last_match(const std::vector<Tolerance>& tolerances, const std::string& name) {
  double value = 0;
  const std::string species = name.substr(0, name.find('/'));
  for (const Tolerance& tolerance : tolerances)
    if (matches(tolerance.pattern, name) || (species != name && matches(tolerance.pattern, species)))
      value = tolerance.value;
  return value;
}

std::set<std::string> names_of(const mesh::Dataset& a, const mesh::Dataset& b) {
  std::set<std::string> names{"time", "domain", "particles"};
  for (const mesh::Dataset* side : {&a, &b}) {
    for (const mesh::FieldInfo& field : side->header.fields) {
      names.insert(field.name);
      for (int c = 0; c < field.components && field.components > 1; ++c)
        names.insert(field.name + "[" + std::to_string(c) + "]");
    }
    for (const mesh::SpeciesInfo& species : side->species) {
      names.insert(species.name);
      for (const mesh::FieldInfo& attribute : species.attributes) names.insert(species.name + "/" + attribute.name);
    }
    for (const auto& entry : side->header.attributes) names.insert(entry.first);
  }
  return names;
}

void check_pattern(const mesh::Dataset& a, const std::set<std::string>& names, const std::string& pattern) {
  if (pattern == "*") return;
  for (const std::string& name : names)
    if (matches(pattern, name)) return;
  std::string known = "time, domain, particles";
  for (const mesh::FieldInfo& field : a.header.fields) known += ", " + field.name;
  throw Error(Kind::usage, "'" + pattern + "' names nothing in either").hint("there are " + known);
}

}  // namespace

Rules::Rules(const mesh::Dataset& a, const mesh::Dataset& b, const DiffOptions& options) : options_(options) {
  const auto names = names_of(a, b);
  for (const auto* list : {&options.absolute, &options.relative})
    for (const Tolerance& tolerance : *list) {
      check_pattern(a, names, tolerance.pattern);
      if (!(tolerance.value >= 0))
        throw Error(Kind::usage, "a tolerance is a number of at least 0").at(tolerance.pattern);
    }
  for (const std::string& pattern : options.ignore) check_pattern(a, names, pattern);
}

bool Rules::ignored(const std::string& name) const {
  return std::any_of(options_.ignore.begin(), options_.ignore.end(),
                     [&](const std::string& pattern) { return matches(pattern, name); });
}
double Rules::absolute(const std::string& name) const { return last_match(options_.absolute, name); }
double Rules::relative(const std::string& name) const { return last_match(options_.relative, name); }
bool Rules::allows(const std::string& name, double difference, double magnitude) const {
  return difference <= absolute(name) || difference / std::max(magnitude, 1e-99) <= relative(name);
}

VariableDiff judge(const Rules& rules, const std::string& name, const std::string& unit, analysis::Figures figures) {
  VariableDiff out{name, unit, rules.absolute(name), rules.relative(name), true, std::move(figures)};
  out.within = out.figures.mismatches == 0 &&
               (out.figures.absolute <= out.absolute_tolerance || out.figures.magnitude <= out.relative_tolerance);
  return out;
}

void differ(DiffReport& report, const std::string& reason) {
  report.equal = false;
  report.reasons.push_back(reason);
}

}  // namespace detail

DiffReport diff(const mesh::Dataset& a, const mesh::Dataset& as_it_is, const DiffOptions& options) {
  DiffReport report;
  std::set<std::string> paired;
  for (const auto& [in_a, in_b] : options.names) paired.insert(in_b);
  std::string said;
  const mesh::Dataset b = step::in_words_of(as_it_is, a, paired, said);
  if (!said.empty()) report.notes.push_back("names of B in A's words: " + said);
  const detail::Rules rules(a, b, options);
  detail::diff_headers(a, b, options, rules, report);
  const auto compare = a.unstructured || b.unstructured ? detail::diff_points : detail::diff_cells;
  compare(a, b, options, rules, report);
  if (!rules.ignored("particles")) detail::diff_particles(a, b, options, rules, report);
  return report;
}

}  // namespace octavo::verbs
