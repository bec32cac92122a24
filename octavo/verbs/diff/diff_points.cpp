#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "octavo/base/equal_shares.hpp"
#include "octavo/base/error.hpp"
#include "octavo/base/rank_exchange.hpp"
#include "octavo/verbs/diff/diff_pieces.hpp"
#include "octavo/verbs/triangles.hpp"

namespace octavo::verbs::detail {
namespace {

using base::Error;
using base::Kind;

/// A variable of both sides: names in A and B.
using SharedName = std::pair<std::string, std::string>;

bool has_field(const mesh::Header& header, const std::string& name) {
  return std::any_of(header.fields.begin(), header.fields.end(),
                     [&](const mesh::FieldInfo& field) { return field.name == name; });
}

std::vector<SharedName> shared_names(const mesh::Header& a, const mesh::Header& b, const DiffOptions& options,
                                     const Rules& rules, DiffReport& report) {
  std::vector<SharedName> shared;
  std::vector<std::string> taken;
  for (const mesh::FieldInfo& field : a.fields) {
    const auto renamed = options.names.find(field.name);
    const std::string other = renamed == options.names.end() ? field.name : renamed->second;
    taken.push_back(other);
    if (rules.ignored(field.name)) continue;
    if (has_field(b, other)) {
      shared.emplace_back(field.name, other);
    } else {
      report.only[0].push_back(field.name);
      differ(report, "variable " + field.name + " is in A only");
    }
  }
  for (const mesh::FieldInfo& field : b.fields)
    if (std::find(taken.begin(), taken.end(), field.name) == taken.end() && !rules.ignored(field.name)) {
      report.only[1].push_back(field.name);
      differ(report, "variable " + field.name + " is in B only");
    }
  return shared;
}

bool same_triangles(const mesh::Unstructured& a, const mesh::Unstructured& b, DiffReport& report) {
  if (a.x.size() != b.x.size() || a.planes != b.planes) {
    differ(report, "the meshes differ: " + std::to_string(a.x.size()) + " points on " + std::to_string(a.planes) +
                       " planes and " + std::to_string(b.x.size()) + " on " + std::to_string(b.planes) +
                       "; no values are compared");
    return false;
  }
  if (a.connectivity != b.connectivity) {
    const auto text = std::string("the triangles are others, or in another order");
    report.notes.push_back(text + ": values are compared point by point");
  }
  double largest = 0;
  for (std::size_t i = 0; i < a.x.size(); ++i)
    largest = std::max({largest, std::fabs(a.x[i] - b.x[i]), std::fabs(a.y[i] - b.y[i])});
  if (largest > 0)
    report.notes.push_back("points have other places, by up to " + std::to_string(largest) +
                           ": values are compared point by point");
  return true;
}

/// Returns whether two meshes of solids can be compared, point by point and cell by cell; if not, the report says why.
bool same_solids(const mesh::Solids& a, const mesh::Solids& b, DiffReport& report) {
  if (a.x.size() != b.x.size() || a.corners.size() != b.corners.size()) {
    differ(report, "the meshes differ: " + std::to_string(a.x.size()) + " points and " +
                       std::to_string(a.corners.size()) + " cells, and " + std::to_string(b.x.size()) + " and " +
                       std::to_string(b.corners.size()) + "; no values are compared");
    return false;
  }
  const std::string by_number = ": values are compared by number";
  if (a.corners != b.corners || a.connectivity != b.connectivity)
    report.notes.push_back("the cells are others, or in another order" + by_number);
  double largest = 0;
  for (std::size_t i = 0; i < a.x.size(); ++i)
    largest = std::max({largest, std::fabs(a.x[i] - b.x[i]), std::fabs(a.y[i] - b.y[i]), std::fabs(a.z[i] - b.z[i])});
  if (largest > 0) report.notes.push_back("points have other places, by up to " + std::to_string(largest) + by_number);
  return true;
}

/// One side's mesh and some of its fields, as doubles.
struct SideValues {
  mesh::Mesh mesh;
  std::vector<std::vector<double>> fields;
};

SideValues read_side(const mesh::Dataset& step, const std::vector<std::string>& names, bool mesh) {
  if (!mesh::holds_solids(step.header)) {
    PointValues read = read_values(step, names, mesh);
    return {std::move(read.mesh), std::move(read.fields)};
  }
  SideValues out;
  mesh::Request request;
  request.mesh = false;
  for (const std::string& name : names) {
    request.fields = std::vector{name};
    out.fields.push_back(mesh::to_doubles(step.read(0, request).fields.at(0)));
  }
  request.fields = std::vector<std::string>{};
  request.mesh = mesh;
  out.mesh = step.read(0, request).mesh;
  return out;
}

/// Rank 0's findings about the meshes, as all ranks report them.
struct MeshesCompared {
  std::int64_t points = 0;  ///< on all planes; 0: there are no values to compare
  std::vector<std::string> reasons, notes;
};
template <class Way>
void both(Way& way, MeshesCompared& found) {
  using base::both;
  both(way, found.points, found.reasons, found.notes);
}

/// Values may stand at points or in cells. @pre the meshes have as many points
void require_same_places(const SideValues& a, const SideValues& b, const std::vector<std::string>& names) {
  for (std::size_t f = 0; f < names.size(); ++f)
    if (a.fields[f].size() != b.fields[f].size())
      throw Error(Kind::unsupported, std::to_string(a.fields[f].size()) + " and " + std::to_string(b.fields[f].size()) +
                                         " values: one stands at points, the other in cells, or cells differ")
          .at("variable " + names[f]);
}

/// Collective. The number of points if both meshes, which rank 0 has read, have as many; else 0.
std::size_t compare_meshes(const mesh::Mesh& a, const mesh::Mesh& b, const base::Ranks& ranks, DiffReport& report) {
  MeshesCompared found;
  if (ranks.rank == 0) {
    DiffReport here;
    if (const auto* solids = std::get_if<mesh::Solids>(&a)) {
      if (same_solids(*solids, std::get<mesh::Solids>(b), here)) found.points = std::ssize(solids->x);
    } else {
      const auto& plane = std::get<mesh::Unstructured>(a);
      if (same_triangles(plane, std::get<mesh::Unstructured>(b), here))
        found.points = std::ssize(plane.x) * plane.planes;
    }
    found.reasons = std::move(here.reasons);
    found.notes = std::move(here.notes);
  }
  if (ranks.size > 1) found = base::from_first(ranks, found);
  for (const std::string& reason : found.reasons) differ(report, reason);
  report.notes.insert(report.notes.end(), found.notes.begin(), found.notes.end());
  return static_cast<std::size_t>(found.points);
}

}  // namespace

void diff_points(const mesh::Dataset& a, const mesh::Dataset& b, const DiffOptions& options, const Rules& rules,
                 DiffReport& report) {
  if (!a.unstructured || !b.unstructured)
    throw Error(Kind::usage, "a mesh of triangles or solids and one of cells have nothing to compare");
  if (mesh::holds_solids(a.header) != mesh::holds_solids(b.header))
    throw Error(Kind::usage, "a mesh of solids and one of triangles have nothing to compare");
  std::vector<std::string> in_a, in_b;
  for (const auto& [first, second] : shared_names(a.header, b.header, options, rules, report)) {
    in_a.push_back(first);
    in_b.push_back(second);
  }
  // The ranks share the fields; rank 0 reads the meshes as well.
  const base::Ranks& ranks = options.ranks;
  const auto [first, last] = base::share(std::ssize(in_a), ranks.rank, ranks.size);
  const auto mine = [&, begin = first, end = last](const std::vector<std::string>& names) {
    return std::vector<std::string>(names.begin() + begin, names.begin() + end);
  };
  SideValues x, y;
  const bool reads = ranks.rank == 0 || first < last;
  base::agree(ranks, [&] {
    if (!reads) return;
    x = read_side(a, mine(in_a), ranks.rank == 0);
    y = read_side(b, mine(in_b), ranks.rank == 0);
  });
  const std::int64_t readers = base::sum(ranks, std::vector<std::int64_t>{reads ? 1 : 0})[0];
  report.reads = {readers, readers};
  report.held = 2;
  const std::size_t points = compare_meshes(x.mesh, y.mesh, ranks, report);
  if (points == 0) return;
  base::agree(ranks, [&] { require_same_places(x, y, mine(in_a)); });
  report.cells = static_cast<std::int64_t>(points);
  std::size_t places = points;
  for (const std::vector<double>& values : x.fields) places = std::max(places, values.size());
  std::vector<mesh::CurveKey> keys(places);
  for (std::size_t i = 0; i < keys.size(); ++i) keys[i].high = i;
  std::vector<analysis::PairSums> sums(x.fields.size());
  for (std::size_t f = 0; f < sums.size(); ++f)
    analysis::count_pairs(x.fields[f], y.fields[f], std::span(keys).first(x.fields[f].size()), {}, sums[f]);
  sums = base::gather(ranks, sums);
  for (std::size_t f = 0; f < in_a.size(); ++f) {
    const auto& info = a.header.fields[mesh::select_fields(a.header, std::vector{in_a[f]})[0]];
    report.variables.push_back(judge(rules, in_a[f], info.unit, analysis::figures_of({sums[f]}, {1.0})));
    if (!report.variables.back().within) differ(report, "variable " + in_a[f] + " differs");
  }
}

}  // namespace octavo::verbs::detail
