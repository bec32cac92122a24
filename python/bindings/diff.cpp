#include "octavo/verbs/diff/diff.hpp"

#include "keywords.hpp"

namespace octavo::bindings {
namespace {

using Rules = std::vector<std::pair<std::string, double>>;

std::vector<verbs::Tolerance> tolerances(const Rules& rules) {
  std::vector<verbs::Tolerance> out;
  for (const auto& rule : rules) out.push_back({rule.first, rule.second});
  return out;
}

nb::dict describe(const analysis::Norm& norm) {
  nb::dict row;
  row["difference"] = norm.difference;
  row["a"] = norm.a;
  row["b"] = norm.b;
  return row;
}

nb::dict describe(const analysis::SideFigures& side) {
  nb::dict row;
  row["min"] = side.min;
  row["max"] = side.max;
  row["sum"] = side.sum;
  row["integral"] = side.integral;
  row["nan"] = side.nan;
  row["inf"] = side.inf;
  return row;
}

nb::dict place_of(const analysis::CellPlace& place, const analysis::CommonGrid& grid) {
  nb::list at;
  const mesh::Point3 centre = analysis::centre_of(grid, place.key, place.depth);
  for (int axis = 0; axis < grid.dim; ++axis) at.append(centre[static_cast<std::size_t>(axis)]);
  nb::dict row;
  row["at"] = at;
  row["level_a"] = grid.code_level[0].at(static_cast<std::size_t>(place.depth));
  row["level_b"] = grid.code_level[1].at(static_cast<std::size_t>(place.depth));
  row["part_a"] = place.part[0];
  row["part_b"] = place.part[1];
  return row;
}

nb::object describe(const std::optional<analysis::Difference>& difference, const analysis::CommonGrid* grid) {
  if (!difference) return nb::none();
  nb::dict row;
  if (grid != nullptr) {
    row = place_of(difference->place, *grid);
  } else {
    const mesh::Identity identity = analysis::identity_at(difference->place);
    row["identity"] = identity.id;
    row["rank"] = identity.rank;
  }
  row["value"] = difference->value;
  row["a"] = difference->a;
  row["b"] = difference->b;
  return row;
}

nb::dict describe(const verbs::VariableDiff& variable, const analysis::CommonGrid* grid) {
  const analysis::Figures& figures = variable.figures;
  nb::dict row;
  row["unit"] = variable.unit;
  row["within"] = variable.within;
  row["absolute_tolerance"] = variable.absolute_tolerance;
  row["relative_tolerance"] = variable.relative_tolerance;
  row["compared"] = figures.cells;
  row["differing"] = figures.differing;
  row["mismatches"] = figures.mismatches;
  row["absolute"] = figures.absolute;
  row["magnitude"] = figures.magnitude;
  row["relative"] = figures.relative;
  row["largest"] = describe(figures.largest, grid);
  row["largest_relative"] = describe(figures.largest_relative, grid);
  row["first_mismatch"] = describe(figures.mismatch, grid);
  row["a"] = describe(figures.side[0]);
  row["b"] = describe(figures.side[1]);
  row["l1"] = describe(figures.l1);
  row["l2"] = describe(figures.l2);
  row["linf"] = describe(figures.linf);
  if (grid != nullptr) {
    row["l1_volume"] = describe(figures.l1_volume);
    row["l2_volume"] = describe(figures.l2_volume);
  }
  return row;
}

template <class Values>
nb::dict both(const Values& a, const Values& b) {
  nb::dict row;
  row["a"] = nb::cast(a);
  row["b"] = nb::cast(b);
  return row;
}

nb::dict describe(const verbs::SpeciesDiff& species) {
  nb::dict row, attributes;
  const auto listed = [](const std::vector<mesh::Identity>& identities) {
    std::vector<std::pair<std::int64_t, std::int32_t>> out;
    for (const mesh::Identity& identity : identities) out.emplace_back(identity.id, identity.rank);
    return out;
  };
  for (const verbs::VariableDiff& attribute : species.attributes)
    attributes[nb::cast(attribute.name.substr(species.name.size() + 1))] = describe(attribute, nullptr);
  row["compared"] = species.compared;
  row["matched"] = species.match.matched;
  row["count"] = both(species.match.count[0], species.match.count[1]);
  row["missing"] = both(species.match.missing[0], species.match.missing[1]);
  row["first_missing"] = both(listed(species.match.first_missing[0]), listed(species.match.first_missing[1]));
  row["only"] = both(species.only[0], species.only[1]);
  row["attributes"] = attributes;
  return row;
}

nb::dict describe_mesh(const verbs::DiffReport& report) {
  nb::dict row;
  row["nested"] = report.grid.has_value();
  row["cells"] = report.cells;
  row["leaves"] = both(report.leaves[0], report.leaves[1]);
  row["refined"] = both(report.refined[0], report.refined[1]);
  row["unmatched"] = both(report.unmatched[0], report.unmatched[1]);
  row["first_refined"] = report.first_refined ? nb::object(place_of(*report.first_refined, *report.grid)) : nb::none();
  return row;
}

nb::dict describe(const verbs::DiffReport& report) {
  nb::dict result, variables, particles, headers;
  for (const verbs::VariableDiff& variable : report.variables)
    variables[nb::cast(variable.name)] = describe(variable, report.grid ? &*report.grid : nullptr);
  for (const verbs::SpeciesDiff& species : report.particles) particles[nb::cast(species.name)] = describe(species);
  for (const verbs::HeaderDiff& header : report.headers) {
    nb::dict row = both(header.a, header.b);
    row["counts"] = header.counts;
    headers[nb::cast(header.name)] = row;
  }
  result["equal"] = report.equal;
  result["reasons"] = report.reasons;
  result["notes"] = report.notes;
  result["mesh"] = describe_mesh(report);
  result["variables"] = variables;
  result["only"] = both(report.only[0], report.only[1]);
  result["incomparable"] = report.incomparable;
  result["particles"] = particles;
  result["headers"] = headers;
  result["reads"] = both(report.reads[0], report.reads[1]);
  result["parts_held"] = report.held;
  return result;
}

nb::dict diff(const mesh::Dataset& a, const mesh::Dataset& b, const nb::kwargs& arguments) {
  Keywords given(arguments);
  verbs::DiffOptions options;
  options.absolute = tolerances(given.get<Rules>("absolute"));
  options.relative = tolerances(given.get<Rules>("relative"));
  given.take("ignore", options.ignore);
  given.take("names", options.names);
  given.take("same_mesh", options.same_mesh);
  given.take("headers", options.headers);
  given.take("particle_memory", options.particle_memory);
  given.take("cached_parts", options.cached_parts);
  given.take_common(options);
  given.finish();
  return describe(without_gil([&] { return verbs::diff(a, b, options); }));
}

}  // namespace

void bind_diff(nb::module_& m) {
  m.def("diff", &diff, nb::arg("a"), nb::arg("b"), nb::arg("options"), "How far two steps differ. Releases the GIL.");
}

}  // namespace octavo::bindings
