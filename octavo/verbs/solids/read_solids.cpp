#include "octavo/verbs/solids/read_solids.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <utility>

#include "octavo/base/error.hpp"
#include "octavo/mesh/solids/centroids.hpp"
#include "octavo/mesh/solids/tetrahedra.hpp"
#include "octavo/mesh/triangles/cells.hpp"

namespace octavo::verbs::detail {
namespace {

using base::Error;
using base::Kind;

const mesh::Field& solid_field(const mesh::Part& part, const std::string& name, std::size_t expected) {
  const auto found = std::find_if(part.fields.begin(), part.fields.end(),
                                  [&](const mesh::Field& field) { return field.info.name == name; });
  if (found == part.fields.end())
    throw Error(Kind::usage, "the part lacks the field \"" + name + "\"").at("part " + std::to_string(part.index));
  if (found->info.components != 1)
    throw Error(Kind::unsupported, "a field must have one value a place to be analysed").at("field " + name);
  if (found->size() != expected)
    throw Error(Kind::corrupt,
                "values of a field: expected " + std::to_string(expected) + ", found " + std::to_string(found->size()))
        .at("part " + std::to_string(part.index) + ", field " + name);
  return *found;
}

/// The volume of the tetrahedra of each cell, however they are turned: that of a twisted cell, too, is what maps draw
/// and what its points weigh.
std::vector<double> sizes_of_cells(const mesh::Solids& mesh) {
  std::vector<double> sizes(mesh.corners.size(), 0);
  mesh::for_each_tetrahedron(mesh,
                             [&](std::size_t cell, std::int64_t a, std::int64_t b, std::int64_t c, std::int64_t d) {
                               sizes[cell] += std::fabs(mesh::six_volumes(mesh, a, b, c, d)) / 6;
                             });
  return sizes;
}

/// The places of one part; all are there, those not taken too.
SolidPlaces places_of(SolidPart part, bool in_cells) {
  SolidPlaces out;
  out.fields = std::move(part.values);
  if (in_cells) {
    for (const mesh::Point3& centre : mesh::centroids_of(part.mesh)) {
      out.x.push_back(centre[0]);
      out.y.push_back(centre[1]);
      out.z.push_back(centre[2]);
    }
    out.size = sizes_of_cells(part.mesh);
    out.chosen = part.chosen.empty() ? std::vector<char>(out.size.size(), 1) : std::move(part.chosen);
    return out;
  }
  out.size = analysis::point_volumes(part.mesh, part.chosen);
  out.chosen.assign(out.size.size(), part.chosen.empty() ? 1 : 0);
  std::size_t first = 0;
  for (std::size_t cell = 0; cell < part.chosen.size(); first += part.mesh.corners[cell], ++cell)
    for (std::size_t k = first; part.chosen[cell] != 0 && k < first + part.mesh.corners[cell]; ++k)
      out.chosen[static_cast<std::size_t>(part.mesh.connectivity[k])] = 1;
  out.x = std::move(part.mesh.x);
  out.y = std::move(part.mesh.y);
  out.z = std::move(part.mesh.z);
  return out;
}

/// Weighs by what lies in the box.
void clip_places(const mesh::Solids& mesh, const mesh::Header& header, const mesh::Box& box, bool in_cells,
                 SolidPlaces& places) {
  const double unit = header.hi[0] - header.lo[0];
  mesh::Point3 lo{}, hi{};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    lo[axis] = header.lo[axis] + box.lo[axis] * unit;
    hi[axis] = header.lo[axis] + box.hi[axis] * unit;
  }
  analysis::SolidsInBox inside = analysis::clip_to_box(mesh, lo, hi);
  std::vector<double>& size = in_cells ? inside.cells : inside.points;
  for (std::size_t i = 0; i < size.size(); ++i) {
    places.shares.push_back(size[i] > 0 ? size[i] / places.size[i] : 0);
    places.chosen[i] = size[i] > 0 ? 1 : 0;
  }
  places.size = std::move(size);
}

void append_place(SolidPlaces& to, const SolidPlaces& from, std::size_t i) {
  to.x.push_back(from.x[i]);
  to.y.push_back(from.y[i]);
  to.z.push_back(from.z[i]);
  to.size.push_back(from.size[i]);
  to.chosen.push_back(from.chosen[i]);
  for (std::size_t f = 0; f < to.fields.size(); ++f) to.fields[f].push_back(from.fields[f][i]);
}

}  // namespace

std::optional<analysis::Within> within_region(const mesh::Header& header, const std::optional<mesh::Region>& region) {
  if (!region) return {};
  return analysis::Within{*region, mesh::domain_of(header), header.lo, header.hi[0] - header.lo[0]};
}

SolidPart read_solids(const mesh::Dataset& dataset, int part, const std::vector<std::string>& fields,
                      const std::optional<analysis::Within>& within) {
  mesh::Request request;
  request.fields.emplace();
  for (const std::string& name : fields)
    if (std::find(request.fields->begin(), request.fields->end(), name) == request.fields->end())
      request.fields->push_back(name);
  mesh::Part read = dataset.read(part, request);
  SolidPart out{std::move(std::get<mesh::Solids>(read.mesh)), {}, {}, {}};
  for (const std::string& name : fields) {
    const std::size_t f = mesh::select_fields(dataset.header, std::vector{name})[0];
    const bool in_cells = mesh::in_cells(dataset.header, dataset.header.fields[f]);
    out.values.push_back(
        mesh::to_doubles(solid_field(read, name, in_cells ? out.mesh.corners.size() : out.mesh.x.size())));
    out.in_cells.push_back(in_cells ? 1 : 0);
  }
  if (within) out.chosen = analysis::cells_within(out.mesh, *within);
  return out;
}

SolidPlaces read_solid_places(const mesh::Dataset& dataset, const std::vector<std::string>& fields, bool in_cells,
                              const std::optional<mesh::Region>& region, bool clip) {
  if (clip && dataset.num_parts == 1) {
    SolidPart part = read_solids(dataset, 0, fields);
    const mesh::Solids mesh = part.mesh;
    SolidPlaces places = places_of(std::move(part), in_cells);
    clip_places(mesh, dataset.header, std::get<mesh::Box>(*region), in_cells, places);
    return places;
  }
  if (clip)
    throw Error(Kind::unsupported, "a box clips solids of one part, not of " + std::to_string(dataset.num_parts))
        .at(dataset.path)
        .hint("edge centre");
  const auto within = within_region(dataset.header, region);
  if (dataset.num_parts == 1) return places_of(read_solids(dataset, 0, fields, within), in_cells);
  SolidPlaces all;
  all.fields.resize(fields.size());
  std::unordered_map<std::int64_t, std::size_t> known;  // global number of a point to its place
  for (int p = 0; p < dataset.num_parts; ++p) {
    SolidPart part = read_solids(dataset, p, fields, within);
    const std::vector<std::int64_t> numbers = part.mesh.global_point;
    const SolidPlaces some = places_of(std::move(part), in_cells);
    for (std::size_t i = 0; i < some.size.size(); ++i) {
      const bool shared = !in_cells && !numbers.empty();
      const auto [place, fresh] =
          shared ? known.try_emplace(numbers[i], all.size.size()) : std::pair{known.end(), true};
      if (fresh) {
        append_place(all, some, i);
        continue;
      }
      all.size[place->second] += some.size[i];
      all.chosen[place->second] = static_cast<char>(all.chosen[place->second] | some.chosen[i]);
    }
  }
  return all;
}

}  // namespace octavo::verbs::detail
