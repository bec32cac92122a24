#include "octavo/verbs/verify_triangles.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <string>
#include <tuple>
#include <vector>

#include "octavo/base/equal_shares.hpp"
#include "octavo/base/error.hpp"
#include "octavo/base/rank_exchange.hpp"
#include "octavo/formats/formats.hpp"
#include "octavo/mesh/solids/tetrahedra.hpp"
#include "octavo/step/open.hpp"
#include "octavo/store/read/verify.hpp"

namespace octavo::verbs {
namespace {

/// How many are odd in one way, and the first, which a note names.
struct Odd {
  std::int64_t count = 0;
  std::string first{};
  void add(const std::string& what) {
    if (count++ == 0) first = what;
  }
  void note(const std::string& words, store::Report& report) const {
    if (count > 0) report.notes.push_back(std::to_string(count) + " " + words + "; the first: " + first + " (from 1)");
  }
};

std::string number(std::size_t index) { return std::to_string(index + 1); }

/// Finds points at the same place. A mesh may be cut open along them, but usually they were meant to be one point.
void note_twins(const mesh::Unstructured& mesh, store::Report& report) {
  std::vector<std::tuple<double, double, std::size_t>> places;
  for (std::size_t i = 0; i < mesh.x.size(); ++i) places.emplace_back(mesh.x[i], mesh.y[i], i);
  std::sort(places.begin(), places.end());
  Odd twins;
  for (std::size_t i = 1; i < places.size(); ++i) {
    const auto& [x, y, point] = places[i];
    const auto& [before_x, before_y, before] = places[i - 1];
    if (x == before_x && y == before_y) twins.add(number(before) + " and " + number(point));
  }
  twins.note("points stand where another does", report);
}

void note_lost_points(const std::vector<std::int64_t>& connectivity, std::size_t points, store::Report& report) {
  std::vector<bool> used(points, false);
  for (const std::int64_t point : connectivity) used[static_cast<std::size_t>(point)] = true;
  Odd lost;
  for (std::size_t i = 0; i < used.size(); ++i)
    if (!used[i]) lost.add(number(i));
  lost.note("points belong to no element", report);
}

double twice_area(const mesh::Unstructured& mesh, std::size_t element) {
  const std::int64_t* corner = mesh.connectivity.data() + 3 * element;
  const auto a = static_cast<std::size_t>(corner[0]), b = static_cast<std::size_t>(corner[1]),
             c = static_cast<std::size_t>(corner[2]);
  return (mesh.x[b] - mesh.x[a]) * (mesh.y[c] - mesh.y[a]) - (mesh.x[c] - mesh.x[a]) * (mesh.y[b] - mesh.y[a]);
}

void note_areas(const mesh::Unstructured& mesh, store::Report& report) {
  Odd flat, clockwise;
  for (std::size_t e = 0; e < mesh.connectivity.size() / 3; ++e) {
    const double area = twice_area(mesh, e);
    if (area == 0) flat.add(number(e));
    if (area < 0) clockwise.add(number(e));
  }
  flat.note("elements have no area", report);
  clockwise.note("elements run clockwise", report);
}

void note_repeated_elements(const mesh::Unstructured& mesh, store::Report& report) {
  std::vector<std::array<std::int64_t, 4>> sorted(mesh.connectivity.size() / 3);
  for (std::size_t e = 0; e < sorted.size(); ++e) {
    std::copy_n(mesh.connectivity.begin() + static_cast<std::ptrdiff_t>(3 * e), 3, sorted[e].begin());
    std::sort(sorted[e].begin(), sorted[e].begin() + 3);
    sorted[e][3] = static_cast<std::int64_t>(e);
  }
  std::sort(sorted.begin(), sorted.end());
  Odd repeated;
  for (std::size_t i = 1; i < sorted.size(); ++i)
    if (std::equal(sorted[i].begin(), sorted[i].begin() + 3, sorted[i - 1].begin()))
      repeated.add(std::to_string(sorted[i - 1][3] + 1) + " and " + std::to_string(sorted[i][3] + 1));
  repeated.note("elements have the points of another", report);
}

/// Points on an edge of one element.
std::vector<bool> outline_of(const mesh::Unstructured& mesh) {
  std::vector<std::array<std::int64_t, 2>> edges;
  edges.reserve(mesh.connectivity.size());
  for (std::size_t i = 0; i < mesh.connectivity.size(); ++i) {
    const std::int64_t from = mesh.connectivity[i], to = mesh.connectivity[i % 3 == 2 ? i - 2 : i + 1];
    edges.push_back({std::min(from, to), std::max(from, to)});
  }
  std::sort(edges.begin(), edges.end());
  std::vector<bool> outline(mesh.x.size(), false);
  for (std::size_t i = 0, next = 0; i < edges.size(); i = next) {
    for (next = i; next < edges.size() && edges[next] == edges[i];) ++next;
    if (next > i + 1) continue;
    for (const std::int64_t point : edges[i]) outline[static_cast<std::size_t>(point)] = true;
  }
  return outline;
}

/// IPOBO ranks the points of the outline from 1, each once, and is 0 elsewhere; or 0 everywhere, which says nothing.
void note_boundary(const mesh::Unstructured& mesh, std::span<const std::int32_t> numbers, store::Report& report) {
  if (std::all_of(numbers.begin(), numbers.end(), [](std::int32_t rank) { return rank == 0; })) return;
  const std::vector<bool> outline = outline_of(mesh);
  std::vector<bool> taken(static_cast<std::size_t>(std::count(outline.begin(), outline.end(), true)), false);
  Odd missing, inside, wrong;
  for (std::size_t i = 0; i < numbers.size() && i < outline.size(); ++i) {
    const std::int32_t rank = numbers[i];
    const std::string which = "point " + number(i) + " has " + std::to_string(rank);
    if (outline[i] && rank == 0) missing.add(which);
    if (!outline[i] && rank != 0) inside.add(which);
    if (!outline[i] || rank == 0) continue;
    const auto place = static_cast<std::size_t>(rank) - 1;
    if (rank < 0 || place >= taken.size() || taken[place])
      wrong.add(which);
    else
      taken[place] = true;
  }
  missing.note("points of the mesh's outline have no number of the boundary (IPOBO)", report);
  inside.note("points inside have a number of the boundary (IPOBO)", report);
  wrong.note("numbers of the boundary (IPOBO) are given twice or out of range", report);
}

/// A piece of a parallel run has global numbers in that record.
bool is_piece(const mesh::Dataset& dataset) {
  const auto found = dataset.header.attributes.find("iparam");
  if (found == dataset.header.attributes.end()) return false;
  const auto* numbers = std::get_if<std::vector<std::int64_t>>(&found->second);
  return numbers != nullptr && numbers->size() == 10 && ((*numbers)[7] != 0 || (*numbers)[8] != 0);
}

void note_volumes(const mesh::Solids& mesh, store::Report& report) {
  Odd flat, turned;
  const std::vector<double> volumes = mesh::volumes_of(mesh);
  for (std::size_t cell = 0; cell < volumes.size(); ++cell)
    if (!(volumes[cell] > 0)) (volumes[cell] < 0 ? turned : flat).add(number(cell));
  turned.note("cells have a negative volume: their corners stand the other way round", report);
  flat.note("cells have no volume", report);
}

void note_oddities_of_solids(const mesh::Dataset& dataset, store::Report& report) {
  mesh::Request request;
  request.fields.emplace();
  const mesh::Part part = dataset.read(0, request);
  const auto& mesh = std::get<mesh::Solids>(part.mesh);
  note_lost_points(mesh.connectivity, mesh.x.size(), report);
  note_volumes(mesh, report);
}

void note_oddities(const mesh::Dataset& dataset, store::Report& report) {
  if (mesh::holds_solids(dataset.header)) return note_oddities_of_solids(dataset, report);
  mesh::Request request;
  request.fields.emplace();
  const auto& fields = dataset.header.fields;
  const auto is_boundary = [](const mesh::FieldInfo& info) {
    return info.name == "IPOBO" && info.type == mesh::ScalarType::int32;
  };
  if (std::any_of(fields.begin(), fields.end(), is_boundary)) request.fields->push_back("IPOBO");
  const mesh::Part part = dataset.read(0, request);
  const auto& mesh = std::get<mesh::Unstructured>(part.mesh);
  note_twins(mesh, report);
  note_lost_points(mesh.connectivity, mesh.x.size(), report);
  note_areas(mesh, report);
  note_repeated_elements(mesh, report);
  if (!part.fields.empty() && mesh.planes == 1 && !is_piece(dataset))
    note_boundary(mesh, part.fields[0].as<std::int32_t>(), report);
}

/// Runs work; damage that it meets is a finding.
template <class Work>
void find(store::Report& report, const std::string& where, Work&& work) {
  try {
    work();
  } catch (const base::Error& error) {
    if (error.kind() != base::Kind::corrupt) throw;
    report.findings.push_back({error.places().empty() ? where : error.places().front(), error.message()});
  }
}

void check_values(const mesh::Field& field, const std::string& where, store::Report& report) {
  std::int64_t wrong = 0;
  mesh::visit_values(field, [&](auto values) {
    for (const auto value : values) wrong += std::isfinite(static_cast<double>(value)) ? 0 : 1;
  });
  if (wrong > 0)
    report.findings.push_back({where + ", field " + field.info.name, std::to_string(wrong) + " values are no numbers"});
  ++report.streams;
}

void check_mesh(const mesh::Dataset& dataset, store::Report& report) {
  mesh::Request mesh_alone;
  mesh_alone.fields.emplace();
  find(report, dataset.path, [&] { dataset.read(0, mesh_alone); });
}

void check_time(double time, double before, const std::string& where, store::Report& report) {
  if (time > before) return;
  report.findings.push_back({where, "time " + std::to_string(time) + " does not come after that of the step before, " +
                                        std::to_string(before)});
}

/// Rank 0's part. Returns the times of all steps.
std::vector<double> begin(const std::filesystem::path& path, const mesh::Dataset& last, store::Report& report) {
  report.notes = last.notes;
  report.bytes = static_cast<std::uint64_t>(std::filesystem::file_size(last.path));  // without "#MESH"
  check_mesh(last, report);
  return formats::format_named(last.format).list_steps(path).times;
}

/// The steps [first, last).
store::Report check_steps(const std::filesystem::path& path, const std::string& format,
                          const std::vector<double>& times, std::size_t first, std::size_t last,
                          const base::Progress& progress) {
  store::Report report;
  mesh::Request values;
  values.mesh = false;
  for (std::size_t step = first; step < last; ++step) {
    const std::string where = path.string() + ", step " + std::to_string(step);
    if (step > 0) check_time(times[step], times[step - 1], where, report);
    find(report, where, [&] {
      const mesh::Part part = step::open_known(format, path, static_cast<std::int64_t>(step)).read(0, values);
      for (const mesh::Field& field : part.fields) check_values(field, where, report);
    });
    ++report.steps;
    if (progress && !progress(static_cast<std::int64_t>(step + 1 - first), static_cast<std::int64_t>(last - first)))
      throw base::Error(base::Kind::interrupted, "interrupted");
  }
  return report;
}

}  // namespace

store::Report verify_series(const std::filesystem::path& path, const mesh::Dataset& last,
                            const base::Progress& progress, const base::Ranks& ranks) {
  store::Report report;
  std::vector<double> times;
  base::agree(ranks, [&] {
    if (ranks.rank == 0) times = begin(path, last, report);
  });
  times = base::from_first(ranks, times);
  const auto share = base::share(std::ssize(times), ranks.rank, ranks.size);
  store::Report mine;
  base::agree(ranks, [&] {
    mine = check_steps(path, last.format, times, static_cast<std::size_t>(share[0]), static_cast<std::size_t>(share[1]),
                       progress);
  });
  for (store::Report& some : base::gather(ranks, std::vector<store::Report>{std::move(mine)})) {
    std::move(some.findings.begin(), some.findings.end(), std::back_inserter(report.findings));
    report.steps += some.steps;
    report.streams += some.streams;
  }
  base::agree(ranks, [&] {
    if (ranks.rank == 0 && report.findings.empty() && last.unstructured) note_oddities(last, report);
  });
  return base::from_first(ranks, report);
}

}  // namespace octavo::verbs
