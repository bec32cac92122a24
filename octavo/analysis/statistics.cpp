#include "octavo/analysis/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "octavo/base/error.hpp"
#include "octavo/mesh/clip.hpp"
#include "octavo/mesh/geometry.hpp"
#include "octavo/mesh/tree/merge.hpp"

namespace octavo::analysis {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

// ---------------------------------------------------------------------------------------------------- cells

template <class Values>
void count_values(const Cells& cells, Values values, const std::vector<double>& density, Partial& to) {
  for (std::size_t k = 0; k < cells.values.size(); ++k) {
    const auto x = static_cast<double>(values[cells.values[k]]);
    const bool first = !to.any();
    ++to.cells;
    if (!std::isfinite(x)) {
      ++(std::isnan(x) ? to.nan : to.inf);
      continue;
    }
    if (first || x < to.min) to.min = x, to.min_at = cells.positions[k];
    if (first || x > to.max) to.max = x, to.max_at = cells.positions[k];
    const double share = cells.shares.empty() ? 1 : cells.shares[k];
    if (!cells.shares.empty()) to.share.add(share);
    to.sum.add(share * x);
    if (density.empty() || !std::isfinite(density[k])) continue;
    to.mass.add(share * density[k]);
    to.mass_sum.add(share * density[k] * x);
  }
}

std::vector<double> values_of(const mesh::Field& field, const Cells& cells) {
  std::vector<double> out(cells.values.size());
  mesh::visit_values(field, [&](auto values) {
    for (std::size_t k = 0; k < out.size(); ++k) out[k] = static_cast<double>(values[cells.values[k]]);
  });
  return out;
}

void count_cells(const mesh::Part& part, const mesh::Header& header, const Selection& selection,
                 const std::vector<std::string>& names, bool density, PartialStatistics& to) {
  const mesh::Octree& tree = mesh::octree_of(part);
  std::vector<const mesh::Field*> fields;
  for (const std::string& name : names) fields.push_back(&cell_field(part, name));
  const mesh::Field* const rho = density ? &cell_field(part, mesh::density_field(header)) : nullptr;
  to.cells.resize(static_cast<std::size_t>(mesh::num_levels(tree)));
  if (selection.clip) to.shares.resize(to.cells.size());
  for (auto& levels : to.fields) levels.resize(to.cells.size());
  for_each_selected(part, header, selection, [&](const Cells& cells) {
    const auto level = static_cast<std::size_t>(cells.level);
    const std::vector<double> mass = rho ? values_of(*rho, cells) : std::vector<double>{};
    to.cells[level] += static_cast<std::int64_t>(cells.values.size());
    for (const double share : cells.shares) to.shares[level].add(share);
    for (std::size_t f = 0; f < fields.size(); ++f)
      mesh::visit_values(*fields[f], [&](auto values) { count_values(cells, values, mass, to.fields[f][level]); });
  });
}

void add(Partial& to, const Partial& other) {
  if (other.any()) {
    if (!to.any() || other.min < to.min) to.min = other.min, to.min_at = other.min_at;
    if (!to.any() || other.max > to.max) to.max = other.max, to.max_at = other.max_at;
  }
  to.cells += other.cells;
  to.nan += other.nan;
  to.inf += other.inf;
  to.sum.add(other.sum);
  to.mass.add(other.mass);
  to.mass_sum.add(other.mass_sum);
  to.share.add(other.share);
}

// ---------------------------------------------------------------------------------------------------- particles

template <class T>
void count_value(T x, PartialAttribute& to) {
  ++to.count;
  const auto value = static_cast<double>(x);
  if (std::isnan(value)) {
    ++to.nan;
    return;
  }
  const bool first = to.count - to.nan == 1;
  to.min = first ? value : std::min(to.min, value);
  to.max = first ? value : std::max(to.max, value);
  to.sum.add(value);
  if constexpr (std::is_integral_v<T>) {
    const auto whole = static_cast<std::int64_t>(x);
    to.int_min = first ? whole : std::min(to.int_min, whole);
    to.int_max = first ? whole : std::max(to.int_max, whole);
    to.int_sum += static_cast<std::uint64_t>(whole);
  }
}

void count_particles(const mesh::Particles& particles, const std::vector<bool>& kept, const mesh::SpeciesInfo& info,
                     std::vector<PartialAttribute>& attributes, std::int64_t& count) {
  count += kept.empty() ? particles.count : std::count(kept.begin(), kept.end(), true);
  for (std::size_t a = 0; a < info.attributes.size(); ++a)
    for (const mesh::Field& field : particles.attributes)
      if (field.info.name == info.attributes[a].name)
        mesh::visit_values(field, [&](auto values) {
          for (std::size_t i = 0; i < values.size(); ++i)
            if (kept.empty() || (i < kept.size() && kept[i])) count_value(values[i], attributes[a]);
        });
}

void add(PartialAttribute& to, const PartialAttribute& other) {
  const bool mine = to.count > to.nan;
  if (other.count > other.nan) {
    to.min = mine ? std::min(to.min, other.min) : other.min;
    to.max = mine ? std::max(to.max, other.max) : other.max;
    to.int_min = mine ? std::min(to.int_min, other.int_min) : other.int_min;
    to.int_max = mine ? std::max(to.int_max, other.int_max) : other.int_max;
  }
  to.count += other.count;
  to.nan += other.nan;
  to.sum.add(other.sum);
  to.int_sum += other.int_sum;
}

// ---------------------------------------------------------------------------------------------------- the end

// The rounding error of the product is kept too.
Sum scaled(const Sum& sum, double factor) {
  const double product = sum.high * factor;
  return {product, std::fma(sum.high, factor, -product) + sum.low * factor};
}

/// NaN where it is not the product of a cell's edges.
double volume_of(const mesh::Header& header, std::size_t level) {
  if (mesh::cell_shape(header) != mesh::CellShape::box) return nan;
  const mesh::Point3 size = mesh::cell_size(header, static_cast<int>(level));
  double volume = 1;
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(header.dim); ++axis) volume *= size[axis];
  return volume;
}

mesh::Point3 centre_of(const mesh::Header& header, std::size_t level, const mesh::Coordinate& at) {
  const mesh::Point3 size = mesh::cell_size(header, static_cast<int>(level));
  mesh::Point3 centre{};
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(header.dim); ++axis)
    centre[axis] = header.lo[axis] + (at[axis] + 0.5) * size[axis];
  return centre;
}

/// Over levels [first, last).
Summary summarise(const std::vector<Partial>& levels, std::size_t first, std::size_t last, const mesh::Header& header,
                  bool density) {
  Summary out;
  Sum sum, integral, volume, mass, momentum;
  double good = 0;
  out.min.value = out.max.value = nan;
  for (std::size_t l = first; l < last; ++l) {
    const Partial& level = levels[l];
    out.cells += level.cells;
    out.nan += level.nan;
    out.inf += level.inf;
    if (!level.any()) continue;
    const int code_level = mesh::code_level(header, static_cast<int>(l));
    // NaN at first, which no comparison holds for.
    if (!(level.min >= out.min.value)) out.min = {level.min, code_level, centre_of(header, l, level.min_at)};
    if (!(level.max <= out.max.value)) out.max = {level.max, code_level, centre_of(header, l, level.max_at)};
    const double share = level.share.value();
    const double count = share > 0 ? share : static_cast<double>(level.cells - level.nan - level.inf);
    const double cell = volume_of(header, l);
    good += count;
    sum.add(level.sum);
    integral.add(scaled(level.sum, cell));
    volume.add(count * cell);
    mass.add(scaled(level.mass, cell));
    momentum.add(scaled(level.mass_sum, cell));
  }
  out.sum = sum.value();
  out.integral = integral.value();
  out.mean = good == 0 ? nan : out.sum / good;
  out.volume_mean = good == 0 ? nan : out.integral / volume.value();
  if (density) out.mass_mean = momentum.value() / mass.value();
  return out;
}

FieldStatistics finish_field(const std::vector<Partial>& levels, const mesh::Header& header, const std::string& name,
                             bool density) {
  FieldStatistics out{name, {}, summarise(levels, 0, levels.size(), header, density), {}};
  for (const mesh::FieldInfo& info : header.fields)
    if (info.name == name) out.unit = info.unit;
  for (std::size_t l = 0; l < levels.size(); ++l)
    if (levels[l].cells != 0)
      out.levels.push_back(
          {mesh::code_level(header, static_cast<int>(l)), summarise(levels, l, l + 1, header, density)});
  return out;
}

AttributeStatistics finish_attribute(const PartialAttribute& partial, const mesh::FieldInfo& info) {
  AttributeStatistics out{.name = info.name, .unit = info.unit, .count = partial.count, .nan = partial.nan};
  const bool any = partial.count > partial.nan;
  out.integer = info.type != mesh::ScalarType::float64 && info.type != mesh::ScalarType::float32;
  out.min = any ? partial.min : nan;
  out.max = any ? partial.max : nan;
  out.sum = partial.sum.value();
  out.int_min = partial.int_min;
  out.int_max = partial.int_max;
  out.int_sum = static_cast<std::int64_t>(partial.int_sum);
  return out;
}

}  // namespace

PartialStatistics statistics(const mesh::Part& part, const mesh::Header& header, const Selection& selection,
                             const std::vector<std::string>& fields, const std::vector<mesh::SpeciesInfo>& species,
                             bool density) {
  PartialStatistics out;
  out.fields.resize(fields.size());
  count_cells(part, header, selection, fields, density, out);
  out.counts.resize(species.size());
  for (std::size_t s = 0; s < species.size(); ++s) {
    out.particles.emplace_back(species[s].attributes.size());
    for (const mesh::Particles& particles : part.particles) {
      if (particles.species != species[s].name) continue;
      const auto kept = selection.region ? mesh::inside(*selection.region, header, particles) : std::vector<bool>{};
      count_particles(particles, kept, species[s], out.particles[s], out.counts[s]);
    }
  }
  return out;
}

void add(PartialStatistics& to, const PartialStatistics& other) {
  if (to.fields.empty() && to.cells.empty() && to.counts.empty()) {
    to = other;
    return;
  }
  const std::size_t levels = std::max(to.cells.size(), other.cells.size());
  to.cells.resize(levels);
  if (!other.shares.empty()) to.shares.resize(levels);
  for (std::size_t l = 0; l < other.shares.size(); ++l) to.shares[l].add(other.shares[l]);
  for (std::size_t l = 0; l < other.cells.size(); ++l) to.cells[l] += other.cells[l];
  for (std::size_t f = 0; f < to.fields.size(); ++f) {
    to.fields[f].resize(levels);
    for (std::size_t l = 0; l < other.fields[f].size(); ++l) add(to.fields[f][l], other.fields[f][l]);
  }
  for (std::size_t s = 0; s < to.counts.size(); ++s) {
    to.counts[s] += other.counts[s];
    for (std::size_t a = 0; a < to.particles[s].size(); ++a) add(to.particles[s][a], other.particles[s][a]);
  }
}

Statistics finish(const PartialStatistics& partial, const mesh::Header& header, const std::vector<std::string>& fields,
                  const std::vector<mesh::SpeciesInfo>& species, bool density) {
  Statistics out;
  Sum volume;
  for (std::size_t l = 0; l < partial.cells.size(); ++l) {
    if (partial.cells[l] == 0) continue;
    const double count = partial.shares.empty() ? static_cast<double>(partial.cells[l]) : partial.shares[l].value();
    const double cells = count * volume_of(header, l);
    out.levels.push_back({mesh::code_level(header, static_cast<int>(l)), partial.cells[l], cells});
    out.leaves += partial.cells[l];
    volume.add(cells);
  }
  out.volume = volume.value();
  for (std::size_t f = 0; f < fields.size(); ++f)
    out.fields.push_back(finish_field(f < partial.fields.size() ? partial.fields[f] : std::vector<Partial>{}, header,
                                      fields[f], density));
  for (std::size_t s = 0; s < species.size(); ++s) {
    SpeciesStatistics one{species[s].name, 0, {}};
    const bool known = s < partial.counts.size();
    if (known) one.count = partial.counts[s];
    for (std::size_t a = 0; a < species[s].attributes.size(); ++a)
      one.attributes.push_back(
          finish_attribute(known ? partial.particles[s][a] : PartialAttribute{}, species[s].attributes[a]));
    out.particles.push_back(std::move(one));
  }
  return out;
}

}  // namespace octavo::analysis
