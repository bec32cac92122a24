#include "octavo/verbs/errors.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "octavo/base/error.hpp"
#include "octavo/store/particle_order.hpp"

namespace octavo::verbs {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

std::vector<double> as_doubles(const mesh::Field& field) {
  return mesh::visit_values(field, [](auto values) {
    std::vector<double> result(values.size());
    std::transform(values.begin(), values.end(), result.begin(), [](auto v) { return static_cast<double>(v); });
    return result;
  });
}

/// Adds errors one after another, those of one level of one component.
struct PairRun {
  Errors& errors;
  double volume;
  bool has_last = false;
  double last = 0;

  void add(double given, double found) {
    if (!std::isfinite(given) || !std::isfinite(found)) {
      const bool same = given == found || (std::isnan(given) && std::isnan(found));
      if (!same) errors.largest = errors.largest_ratio = infinity;
      return;
    }
    const double error = found - given, size = std::abs(error);
    ++errors.count;
    errors.largest = std::max(errors.largest, size);
    if (size > 0) errors.largest_ratio = std::max(errors.largest_ratio, given == 0 ? infinity : size / std::abs(given));
    errors.weight += volume;
    errors.weighted_magnitudes += volume * std::abs(given);
    errors.lowest = std::min(errors.lowest, given);
    errors.highest = std::max(errors.highest, given);
    errors.weighted += volume * error;
    errors.weighted_squares += volume * error * (volume * error);
    errors.sum += error;
    errors.squares += error * error;
    if (has_last) {
      errors.products += last * error;
      errors.pair_sum += last + error;
      ++errors.pairs;
    }
    last = error;
    has_last = true;
  }
};

void add_leaves(const mesh::Octree& tree, std::size_t components, std::span<const double> given,
                std::span<const double> found, Errors& errors) {
  const std::size_t block = mesh::block_size(tree);
  std::size_t first = 0;
  for (std::size_t level = 0; level < tree.refined.size(); ++level) {
    const base::BitArray &refined = tree.refined[level], &owned = tree.owned[level];
    for (std::size_t component = 0; component < components; ++component) {
      PairRun run{errors, std::ldexp(1.0, -tree.dim * static_cast<int>(level))};
      owned.for_each_set([&](std::size_t cell) {
        if (refined[cell]) return;
        for (std::size_t i = (first + cell) * block; i < (first + cell + 1) * block; ++i)
          run.add(given[i * components + component], found[i * components + component]);
      });
    }
    first += refined.size();
  }
}

Errors errors_of(const mesh::Part& part, const mesh::Field& given, const mesh::Field& found) {
  const std::vector<double> before = as_doubles(given), after = as_doubles(found);
  const auto components = static_cast<std::size_t>(given.info.components);
  if (before.size() != after.size())
    throw base::Error(base::Kind::corrupt,
                      "expected " + std::to_string(before.size()) + " values, found " + std::to_string(after.size()))
        .at("field " + given.info.name);
  Errors errors;
  const auto* tree = std::get_if<mesh::Octree>(&part.mesh);
  if (tree != nullptr && given.info.centring != mesh::Centring::particle) {
    add_leaves(*tree, components, before, after, errors);
    return errors;
  }
  for (std::size_t component = 0; component < components; ++component) {
    PairRun run{errors, 1};
    for (std::size_t i = component; i < before.size(); i += components) run.add(before[i], after[i]);
  }
  return errors;
}

// ------------------------------------------------------------------ particles

bool is_real(const mesh::FieldInfo& info) {
  return info.type == mesh::ScalarType::float64 || info.type == mesh::ScalarType::float32;
}

base::Error other_particles(const std::string& species, const std::string& why) {
  return base::Error(base::Kind::corrupt, "the particles in the store are not those that were written: " + why)
      .at("species " + species);
}

/// The particles of `given` as they may have been stored.
mesh::Particles particles_in_order(const mesh::Particles& given, std::span<const std::size_t> order) {
  mesh::Particles sorted = given;
  for (mesh::Field& field : sorted.attributes) field.bytes = store::in_order(field.bytes, order);
  return sorted;
}

/// Errors of all attributes if particle i was stored as particle i; `wrong`: how many attributes that are no floats
/// differ; `size`: the sum of normalised errors.
struct Pairing {
  std::map<std::string, Errors> errors;
  std::size_t wrong = 0;
  double size = 0;
};

Pairing pair_up(const mesh::Part& part, const mesh::Particles& given, const mesh::Particles& found) {
  Pairing pairing;
  for (std::size_t a = 0; a < given.attributes.size(); ++a) {
    const mesh::Field &before = given.attributes[a], &after = found.attributes[a];
    if (!is_real(before.info)) {
      pairing.wrong += before.bytes == after.bytes ? 0u : 1u;
      continue;
    }
    const Errors errors = errors_of(part, before, after);
    pairing.size += errors.normalised_rms();
    pairing.errors[given.species + "/" + before.info.name] = errors;
  }
  return pairing;
}

std::map<std::string, Errors> errors_of_species(const mesh::Part& part, const mesh::Particles& given,
                                                const mesh::Particles& found, const mesh::Header& header) {
  const auto same_info = [](const mesh::Field& a, const mesh::Field& b) { return a.info == b.info; };
  if (given.count != found.count)
    throw other_particles(given.species,
                          "expected " + std::to_string(given.count) + ", found " + std::to_string(found.count));
  if (!std::equal(given.attributes.begin(), given.attributes.end(), found.attributes.begin(), found.attributes.end(),
                  same_info))
    throw other_particles(given.species, "other attributes");
  Pairing best = pair_up(part, given, found);
  const auto order = given == found ? std::vector<std::size_t>{} : store::particle_order(given, header);
  if (!order.empty()) {
    Pairing along = pair_up(part, particles_in_order(given, order), found);
    if (std::pair(along.wrong, along.size) < std::pair(best.wrong, best.size)) best = std::move(along);
  }
  if (best.wrong > 0) throw other_particles(given.species, "integers differ");
  return best.errors;
}

}  // namespace

double Errors::mean() const { return weight > 0 ? weighted / weight : 0; }
double Errors::standard_error() const { return weight > 0 ? std::sqrt(weighted_squares) / weight : 0; }

double Errors::autocorrelation() const {
  if (count == 0 || pairs == 0) return 0;
  const double average = sum / static_cast<double>(count);
  const double variance = squares / static_cast<double>(count) - average * average;
  const double covariance = (products - average * pair_sum) / static_cast<double>(pairs) + average * average;
  return variance > 0x1p-40 * average * average ? covariance / variance : 0;
}

double Errors::drift() const { return weighted_magnitudes > 0 ? weighted / weighted_magnitudes : 0; }
double Errors::normalised_rms() const {
  return squares > 0 ? std::sqrt(squares / static_cast<double>(count)) / (highest - lowest) : 0;
}
double Errors::psnr() const { return -20 * std::log10(normalised_rms()); }

void add(Errors& to, const Errors& more) {
  to.weighted_magnitudes += more.weighted_magnitudes;
  to.lowest = std::min(to.lowest, more.lowest);
  to.highest = std::max(to.highest, more.highest);
  to.count += more.count;
  to.largest = std::max(to.largest, more.largest);
  to.largest_ratio = std::max(to.largest_ratio, more.largest_ratio);
  to.weight += more.weight;
  to.weighted += more.weighted;
  to.weighted_squares += more.weighted_squares;
  to.sum += more.sum;
  to.squares += more.squares;
  to.products += more.products;
  to.pair_sum += more.pair_sum;
  to.pairs += more.pairs;
}

std::map<std::string, Errors> errors_of(const mesh::Part& given, const mesh::Part& found, const mesh::Header& header) {
  const auto *before = std::get_if<mesh::Octree>(&given.mesh), *after = std::get_if<mesh::Octree>(&found.mesh);
  const bool same_kind = (before != nullptr) == (after != nullptr);
  if (!same_kind || (before != nullptr && !(*before == *after)))
    throw base::Error(base::Kind::corrupt, "the mesh in the store is not the one that was written");
  std::map<std::string, Errors> errors;
  for (const mesh::Field& field : given.fields) {
    const auto same = [&](const mesh::Field& other) { return other.info.name == field.info.name; };
    const auto other = std::find_if(found.fields.begin(), found.fields.end(), same);
    if (other == found.fields.end())
      throw base::Error(base::Kind::corrupt, "the store lacks a field that was written").at("field " + field.info.name);
    errors[field.info.name] = errors_of(given, field, *other);
  }
  for (const mesh::Particles& species : given.particles) {
    if (species.species == mesh::wall_species) continue;
    const auto other = std::find_if(found.particles.begin(), found.particles.end(),
                                    [&](const mesh::Particles& one) { return one.species == species.species; });
    if (other == found.particles.end()) throw other_particles(species.species, "no such species");
    errors.merge(errors_of_species(given, species, *other, header));
  }
  return errors;
}

}  // namespace octavo::verbs
