#include "octavo/verbs/sample/sample.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <utility>

#include "octavo/base/error.hpp"
#include "octavo/mesh/tree/prune.hpp"
#include "octavo/verbs/sample/sample_tree.hpp"

namespace octavo::verbs {
namespace {

using base::Error;
using base::Kind;
using mesh::FieldInfo;
using mesh::ScalarType;

/// The cells of one level that a part owns: families, ascending, and the box of cells around them.
struct LevelShare {
  std::vector<std::uint32_t> families;
  mesh::Coordinate lo{~0U, ~0U, ~0U}, hi{0, 0, 0};  ///< positions of the families' fathers, half-open
};

struct Sample {
  SampleOptions options;
  Profile profile;
  SampleTree tree;
  std::vector<std::vector<LevelShare>> shares;  ///< [part][level index]
  std::vector<double> mass_before;              ///< of each part, and of all; only if there are particles
  mesh::Header header;
  std::vector<mesh::SpeciesInfo> species;
};

void check(const SampleOptions& options) {
  const auto within = [](const std::string& what, std::int64_t value, std::int64_t lo, std::int64_t hi) {
    if (value < lo || value > hi)
      throw Error(Kind::usage, what + " of a sample: expected " + std::to_string(lo) + " to " + std::to_string(hi) +
                                   ", found " + std::to_string(value));
  };
  within("dimensions", options.dim, 1, 3);
  within("coarsest level", options.level_min, 1, 27 / options.dim);
  within("finest level", options.level_max, options.level_min, 16);
  within("domains", options.domains, 1, 1 << 24);
  within("particles", options.particles, 0, std::numeric_limits<std::int32_t>::max());
  const double noise = options.noise.value_or(0);
  if (!(noise >= 0) || noise >= 1)
    throw Error(Kind::usage, "relative noise of a sample: expected 0 <= noise < 1, found " + std::to_string(noise));
}

// ---------------------------------------------------------------------------------------------------- description

std::vector<FieldInfo> field_infos(int dim) {
  std::vector<FieldInfo> fields;
  const auto add = [&](std::string name, std::string unit) {
    FieldInfo info;
    info.name = std::move(name);
    info.unit = std::move(unit);
    fields.push_back(std::move(info));
  };
  add("density", "code_mass/code_length**3");
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(dim); ++axis)
    add(std::string("velocity_") + "xyz"[axis], "code_length/code_time");
  add("pressure", "code_mass/code_length/code_time**2");
  return fields;
}

std::vector<FieldInfo> attribute_infos(int dim) {
  std::vector<FieldInfo> infos;
  const auto add = [&](std::string name, std::string unit, ScalarType type) {
    FieldInfo info;
    info.name = std::move(name);
    info.unit = std::move(unit);
    info.type = type;
    info.centring = mesh::Centring::particle;
    infos.push_back(std::move(info));
  };
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(dim); ++axis)
    add(std::string("position_") + "xyz"[axis], "code_length", ScalarType::float64);
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(dim); ++axis)
    add(std::string("velocity_") + "xyz"[axis], "code_length/code_time", ScalarType::float64);
  add("mass", "code_mass", ScalarType::float64);
  add("identity", "", ScalarType::int32);
  add("levelp", "", ScalarType::int32);
  add("family", "", ScalarType::int8);
  add("tag", "", ScalarType::int8);
  return infos;
}

mesh::Header header_of(const SampleOptions& options, const SampleTree& tree) {
  mesh::Header header;
  header.code = "RAMSES";
  header.time = 0.05;
  header.dim = options.dim;
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(options.dim); ++axis) {
    header.roots[axis] = 2;
    header.periodic[axis] = true;
  }
  header.level_origin = 1;
  header.fields = field_infos(options.dim);
  std::vector<double> bounds;
  for (std::uint64_t key : tree.bounds) bounds.push_back(mesh::to_double({0, key}));
  header.attributes = {{"gamma", sample_gamma},
                       {"levelmin", std::int64_t{options.level_min}},
                       {"levelmax", std::int64_t{options.level_max}},
                       {"nlevelmax", std::int64_t{options.level_max}},
                       {"nstep_coarse", std::int64_t{0}},
                       {"boxlen", 1.0},
                       {"aexp", 1.0},
                       {"H0", 1.0},
                       {"omega_m", 1.0},
                       {"omega_l", 0.0},
                       {"omega_k", 0.0},
                       {"omega_b", 0.045},
                       {"ordering", std::string("hilbert")},
                       {"bound_key", std::move(bounds)}};
  return header;
}

/// Leaf children of a family.
int num_leaves(const Sample& sample, std::size_t l, std::size_t family) {
  int leaves = 0;
  for (std::size_t c = 0; c < (std::size_t{1} << sample.tree.dim); ++c)
    leaves += sample.tree.levels[l].refined[(family << sample.tree.dim) + c] ? 0 : 1;
  return leaves;
}

std::vector<mesh::LevelCount> level_counts(const SampleTree& tree) {
  std::vector<mesh::LevelCount> counts;
  for (std::size_t l = 0; l < tree.levels.size(); ++l) {
    const auto cells = static_cast<std::int64_t>(tree.levels[l].refined.size());
    counts.push_back(
        {static_cast<int>(l) + 1, cells, cells - static_cast<std::int64_t>(tree.levels[l].refined.count())});
  }
  return counts;
}

std::vector<std::vector<LevelShare>> make_shares(const SampleTree& tree, std::size_t parts) {
  std::vector<std::vector<LevelShare>> shares(parts, std::vector<LevelShare>(tree.levels.size()));
  for (std::size_t l = 0; l < tree.levels.size(); ++l)
    for (std::size_t family = 0; family < tree.levels[l].owner.size(); ++family) {
      LevelShare& share = shares[tree.levels[l].owner[family]][l];
      share.families.push_back(static_cast<std::uint32_t>(family));
      for (std::size_t axis = 0; axis < 3; ++axis) {
        share.lo[axis] = std::min(share.lo[axis], tree.levels[l].fathers[family][axis]);
        share.hi[axis] = std::max(share.hi[axis], tree.levels[l].fathers[family][axis] + 1);
      }
    }
  return shares;
}

std::vector<int> parts_touching(const Sample& sample, const mesh::Region& region) {
  const mesh::Domain domain = mesh::domain_of(sample.header);
  std::vector<int> parts;
  for (std::size_t part = 0; part < sample.shares.size(); ++part) {
    bool meets = false;
    for (std::size_t l = 0; l < sample.tree.levels.size() && !meets; ++l) {
      const LevelShare& share = sample.shares[part][l];
      if (share.families.empty()) continue;
      mesh::Point3 lo{}, hi{};
      for (std::size_t axis = 0; axis < 3; ++axis) {  // fathers of index l lie on a grid of 2^l
        lo[axis] = std::ldexp(share.lo[axis], -static_cast<int>(l));
        hi[axis] = std::ldexp(share.hi[axis], -static_cast<int>(l));
      }
      meets = mesh::touches(region, domain, lo, hi);
    }
    if (meets) parts.push_back(static_cast<int>(part));
  }
  return parts;
}

// ---------------------------------------------------------------------------------------------------- cells of a part

/// The whole tree down to level index `deepest`, owned by the part.
mesh::Octree tree_of(const Sample& sample, int part, std::size_t deepest) {
  mesh::Octree tree;
  tree.dim = sample.tree.dim;
  tree.roots = sample.header.roots;
  for (std::size_t l = 0; l < sample.tree.levels.size() && l <= deepest; ++l) {
    const base::BitArray& refined = sample.tree.levels[l].refined;
    tree.refined.push_back(l == deepest ? base::BitArray(refined.size()) : refined);
    tree.owned.emplace_back(refined.size());
    for (std::uint32_t family : sample.shares[static_cast<std::size_t>(part)][l].families)
      for (std::size_t c = 0; c < mesh::family_size(tree); ++c)
        tree.owned.back().set((std::size_t{family} << tree.dim) + c);
  }
  return tree;
}

/// Cell i of level index l of the whole tree, at `position`.
Primitive gas_of(const Sample& sample, std::size_t l, std::size_t i, const mesh::Coordinate& position) {
  const SampleLevel& level = sample.tree.levels[l];
  if (level.refined[i]) return primitive_of(level.restricted[family_of_children(level, i)]);
  return leaf_of(sample.profile, static_cast<int>(l) + 1, position);
}

double value_of(const Primitive& gas, std::size_t field, int dim) {
  if (field == 0) return gas.density;
  return field <= static_cast<std::size_t>(dim) ? gas.velocity[field - 1] : gas.pressure;
}

void fill_fields(const Sample& sample, const mesh::Extract& extract, const std::vector<std::size_t>& which,
                 std::vector<mesh::Field>& fields) {
  if (which.empty()) return;
  auto positions = mesh::root_coordinates(extract.tree);
  std::size_t to = 0;
  for (std::size_t l = 0; l < extract.source.size(); ++l) {
    for (std::size_t i = 0; i < positions.size(); ++i, ++to) {
      const Primitive gas = gas_of(sample, l, extract.source[l][i], positions[i]);
      for (std::size_t f = 0; f < which.size(); ++f)
        fields[f].as<double>()[to] = value_of(gas, which[f], sample.tree.dim);
    }
    positions = mesh::child_coordinates(extract.tree, static_cast<int>(l), positions);
  }
}

// ---------------------------------------------------------------------------------------------------- particles

/// Mass of the leaves of a family.
double leaf_mass(const Sample& sample, std::size_t l, std::size_t family) {
  const SampleLevel& level = sample.tree.levels[l];
  double density = 0;
  for (std::uint32_t c = 0; c < (1U << sample.tree.dim); ++c) {
    const std::size_t i = (family << sample.tree.dim) + c;
    if (!level.refined[i])
      density += leaf_of(sample.profile, static_cast<int>(l) + 1, child_of(level.fathers[family], c)).density;
  }
  return std::ldexp(density, -sample.tree.dim * (static_cast<int>(l) + 1));
}

/// Calls visit(level index, family, mass before, mass up to its end) for what a part owns, in order; returns the end.
template <class Visit>
double walk_mass(const Sample& sample, std::size_t part, double before, Visit&& visit) {
  for (std::size_t l = 0; l < sample.tree.levels.size(); ++l)
    for (std::uint32_t family : sample.shares[part][l].families) {
      if (num_leaves(sample, l, family) == 0) continue;
      const double after = before + leaf_mass(sample, l, family);
      visit(l, family, before, after);
      before = after;
    }
  return before;
}

void weigh_parts(Sample& sample) {
  sample.mass_before = {0};
  for (std::size_t part = 0; part < sample.shares.size(); ++part)
    sample.mass_before.push_back(
        walk_mass(sample, part, sample.mass_before.back(), [](std::size_t, std::uint32_t, double, double) {}));
}

/// One draw of mass for each particle, ascending: particle j is where the mass along the parts reaches it.
double draw_of(const Sample& sample, std::int64_t j) {
  const double u = uniform(mixed(sample.options.seed, 4, static_cast<std::uint64_t>(j)));
  return (static_cast<double>(j) + u) / static_cast<double>(sample.options.particles) * sample.mass_before.back();
}

/// The first particle whose draw is at least `mass`.
std::int64_t first_particle(const Sample& sample, double mass) {
  const double share = mass / sample.mass_before.back() * static_cast<double>(sample.options.particles);
  std::int64_t j = std::max<std::int64_t>(0, static_cast<std::int64_t>(share) - 2);
  while (j < sample.options.particles && draw_of(sample, j) < mass) ++j;
  return j;
}

struct Placed {
  std::int64_t number;
  int level;
  mesh::Point3 position;
  Primitive gas;
};

/// Puts a particle into the leaf of the family where a share of its leaves' mass is reached, anywhere in it.
Placed place(const Sample& sample, std::int64_t j, std::size_t l, std::size_t family, double mass) {
  const SampleLevel& level = sample.tree.levels[l];
  Placed out{j, static_cast<int>(l) + 1, {}, {}};
  for (std::uint32_t c = 0; c < (1U << sample.tree.dim); ++c) {
    if (level.refined[(family << sample.tree.dim) + c]) continue;
    const mesh::Coordinate cell = child_of(level.fathers[family], c);
    out.gas = leaf_of(sample.profile, out.level, cell);
    for (std::size_t axis = 0; axis < static_cast<std::size_t>(sample.tree.dim); ++axis) {
      // On a grid of 2^20 places, at their centres: exact, and never on the next cell.
      const auto place = mixed(sample.options.seed, 5 + axis, static_cast<std::uint64_t>(j)) >> 44;
      out.position[axis] = std::ldexp(cell[axis] + std::ldexp(static_cast<double>(place) + 0.5, -20), -out.level);
    }
    mass -= std::ldexp(out.gas.density, -sample.tree.dim * out.level);
    if (mass < 0) break;
  }
  return out;
}

std::vector<Placed> place_particles(const Sample& sample, std::size_t part) {
  std::vector<Placed> placed;
  std::int64_t j = first_particle(sample, sample.mass_before[part]);
  walk_mass(sample, part, sample.mass_before[part],
            [&](std::size_t l, std::uint32_t family, double before, double after) {
              for (; j < sample.options.particles && draw_of(sample, j) < after; ++j)
                placed.push_back(place(sample, j, l, family, draw_of(sample, j) - before));
            });
  return placed;
}

mesh::Particles make_particles(const Sample& sample, std::size_t part) {
  const std::vector<Placed> placed = place_particles(sample, part);
  mesh::Particles out{sample.species[0].name, static_cast<std::int64_t>(placed.size()), {}};
  for (const FieldInfo& info : sample.species[0].attributes)
    out.attributes.push_back(mesh::make_field(info, placed.size()));
  const auto dim = static_cast<std::size_t>(sample.tree.dim);
  for (std::size_t i = 0; i < placed.size(); ++i) {
    for (std::size_t axis = 0; axis < dim; ++axis) {
      out.attributes[axis].as<double>()[i] = placed[i].position[axis];
      out.attributes[dim + axis].as<double>()[i] = placed[i].gas.velocity[axis];
    }
    out.attributes[2 * dim].as<double>()[i] = 1 / static_cast<double>(sample.options.particles);
    out.attributes[2 * dim + 1].as<std::int32_t>()[i] = static_cast<std::int32_t>(placed[i].number + 1);
    out.attributes[2 * dim + 2].as<std::int32_t>()[i] = placed[i].level;
    out.attributes[2 * dim + 3].as<std::int8_t>()[i] = 1;  // dark matter
  }
  return out;
}

// ---------------------------------------------------------------------------------------------------- the data set

mesh::Part read_part(const Sample& sample, int part, const mesh::Request& request) {
  if (part < 0 || part >= sample.options.domains)
    throw Error(Kind::usage, "part of a sample: expected 0 to " + std::to_string(sample.options.domains - 1) +
                                 ", found " + std::to_string(part));
  if (request.max_level < 1)
    throw Error(Kind::usage, "levels of a sample begin at 1, found " + std::to_string(request.max_level));
  const std::vector<std::size_t> which = mesh::select_fields(sample.header, request.fields);
  const mesh::Extract extract = mesh::prune(tree_of(sample, part, static_cast<std::size_t>(request.max_level) - 1));
  mesh::Part out;
  out.index = part;
  for (std::size_t field : which)
    out.fields.push_back(mesh::make_field(sample.header.fields[field], mesh::num_cells(extract.tree)));
  fill_fields(sample, extract, which, out.fields);
  out.mesh = extract.tree;
  if (request.particles && sample.options.particles > 0)
    out.particles.push_back(make_particles(sample, static_cast<std::size_t>(part)));
  return out;
}

std::int64_t part_bytes(const Sample& sample, int part) {
  std::size_t families = 0;
  for (const LevelShare& share : sample.shares.at(static_cast<std::size_t>(part))) families += share.families.size();
  return static_cast<std::int64_t>((families << sample.tree.dim) * sample.header.fields.size() * sizeof(double));
}

std::shared_ptr<const Sample> make_sample(const SampleOptions& options) {
  auto sample = std::make_shared<Sample>();
  sample->options = options;
  sample->profile = make_profile(options);
  sample->tree = grow_tree(sample->profile, options);
  sample->header = header_of(options, sample->tree);
  sample->shares = make_shares(sample->tree, static_cast<std::size_t>(options.domains));
  if (options.particles > 0) {
    sample->species = {{"particles", options.particles, attribute_infos(options.dim)}};
    weigh_parts(*sample);
  }
  return sample;
}

}  // namespace

mesh::Dataset sample(const SampleOptions& options) {
  check(options);
  const std::shared_ptr<const Sample> made = make_sample(options);
  mesh::Dataset dataset;
  dataset.format = "sample";
  dataset.path = std::string("sample of ") + (options.kind == SampleKind::sedov ? "sedov" : "turbulence") + ", seed " +
                 std::to_string(options.seed);
  dataset.header = made->header;
  dataset.num_parts = options.domains;
  dataset.levels = level_counts(made->tree);
  dataset.species = made->species;
  dataset.parts_touching = [made](const mesh::Region& region) { return parts_touching(*made, region); };
  dataset.read = [made](int part, const mesh::Request& request) { return read_part(*made, part, request); };
  dataset.part_bytes = [made](int part) { return part_bytes(*made, part); };
  for (int part = 0; part < options.domains; ++part) dataset.bytes += part_bytes(*made, part);
  return dataset;
}

}  // namespace octavo::verbs
