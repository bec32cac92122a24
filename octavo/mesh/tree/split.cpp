#include "octavo/mesh/tree/split.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <string>
#include <utility>

#include "octavo/base/equal_shares.hpp"
#include "octavo/base/error.hpp"
#include "octavo/mesh/tree/prune.hpp"

namespace octavo::mesh {
namespace {

using base::BitArray;
using base::Error;
using base::Kind;

int root_bits_of(const Octree& tree) {
  const auto most = static_cast<std::uint64_t>(*std::max_element(tree.roots.begin(), tree.roots.end()));
  return static_cast<int>(std::bit_width(most - 1));
}

// Calls f(level, coordinates of its cells) from the roots down.
template <class F>
void for_each_level(const Octree& tree, F&& f) {
  std::vector<Coordinate> coordinates = root_coordinates(tree);
  for (int level = 0; level < num_levels(tree); ++level) {
    f(level, coordinates);
    if (level + 1 < num_levels(tree)) coordinates = child_coordinates(tree, level, coordinates);
  }
}

// A leaf's keys are one run from its first on: bounds at first keys cut no leaf in two.
void list_leaf_keys(const Octree& tree, const SplitPlan& plan, std::vector<CurveKey>& keys) {
  for_each_level(tree, [&](int level, const std::vector<Coordinate>& coordinates) {
    const auto l = static_cast<std::size_t>(level);
    tree.owned[l].for_each_set([&](std::size_t i) {
      if (!tree.refined[l][i])
        keys.push_back(first_key(plan.curve, plan.dim, plan.bits, plan.root_bits + level, coordinates[i]));
    });
  });
}

constexpr std::uint32_t unowned = 0xFFFFFFFFU;

// For each cell of a level, the new part that owns it.
std::vector<std::uint32_t> new_owners(const Octree& tree, int level, const std::vector<Coordinate>& coordinates,
                                      const SplitPlan& plan) {
  const auto l = static_cast<std::size_t>(level);
  std::vector<std::uint32_t> owners(coordinates.size(), unowned);
  tree.owned[l].for_each_set([&](std::size_t i) {
    const CurveKey key = centre_key(plan.curve, plan.dim, plan.bits, plan.root_bits + level, coordinates[i]);
    owners[i] = static_cast<std::uint32_t>(part_of_key(plan, key));
  });
  return owners;
}

BitArray where_equal(const std::vector<std::uint32_t>& owners, std::uint32_t part) {
  BitArray bits(owners.size());
  for (std::size_t i = 0; i < owners.size(); ++i) bits.words()[i >> 6] |= std::uint64_t{owners[i] == part} << (i & 63);
  return bits;
}

std::vector<Field> gather_fields(const Octree& tree, const Extract& extract, const std::vector<Field>& fields) {
  std::vector<Field> out;
  for (const Field& field : fields)
    out.push_back({field.info,
                   gather(tree, extract, field.bytes, field.bytes.size() / std::max<std::size_t>(1, num_cells(tree)))});
  return out;
}

std::string position_name(std::size_t axis) { return std::string("position_") + "xyz"[axis]; }

bool is_position(const FieldInfo& info, std::size_t axis) {
  return info.name == position_name(axis) && (info.type == ScalarType::float64 || info.type == ScalarType::float32);
}

const Field& position_of(const Particles& particles, std::size_t axis) {
  for (const Field& field : particles.attributes)
    if (is_position(field.info, axis)) return field;
  throw Error(Kind::usage, "particles have no floating-point attribute " + position_name(axis))
      .at("species " + particles.species);
}

Particles none_like(const Particles& particles) {
  Particles none{particles.species, 0, {}};
  for (const Field& field : particles.attributes) none.attributes.push_back({field.info, {}});
  return none;
}

// Bytes of one particle in an attribute of `count`.
std::size_t width_of(const Particles& particles, const Field& attribute, std::size_t count) {
  const std::size_t width = count == 0 ? 0 : attribute.bytes.size() / count;
  if (attribute.bytes.size() != width * count)
    throw Error(Kind::usage, "an attribute's size does not fit the number of particles")
        .at("species " + particles.species + ", attribute " + attribute.info.name);
  return width;
}

// The position along an axis of the deepest cell a particle is in. NaN gets cell 0: every particle goes to one part.
std::uint32_t cell_of(double x, double lo, double hi, std::int64_t roots, int levels) {
  const double cells = std::ldexp(static_cast<double>(roots), levels);
  const double at = std::floor((x - lo) / (hi - lo) * cells);
  return static_cast<std::uint32_t>(std::isnan(at) ? 0.0 : std::clamp(at, 0.0, cells - 1));
}

}  // namespace

SplitPlan plan_split(std::span<const Part> parts, int count, Curve curve) {
  check_same_roots(parts);
  if (count < 1) throw Error(Kind::usage, "number of new parts: expected at least 1, found " + std::to_string(count));
  const Octree& first = octree_of(parts.front());
  SplitPlan plan{.curve = curve, .dim = first.dim, .root_bits = root_bits_of(first), .bits = 0, .bounds = {}};
  for (const Part& part : parts) plan.bits = std::max(plan.bits, plan.root_bits + num_levels(octree_of(part)) - 1);
  std::vector<CurveKey> keys;
  for (const Part& part : parts) list_leaf_keys(octree_of(part), plan, keys);
  std::sort(keys.begin(), keys.end());
  const auto m = static_cast<std::size_t>(count);
  plan.bounds.assign(m + 1, curve_end(plan.dim, plan.bits));
  plan.bounds[0] = {};
  if (keys.empty()) return plan;
  // Rounded down as a whole: shares differ by one leaf at most.
  for (std::size_t part = 1; part < m; ++part)
    plan.bounds[part] =
        keys[static_cast<std::size_t>(base::share_begin(std::ssize(keys), count, static_cast<std::int64_t>(part)))];
  return plan;
}

int part_of_key(const SplitPlan& plan, const CurveKey& key) {
  const auto after = std::upper_bound(plan.bounds.begin() + 1, plan.bounds.end() - 1, key);
  return static_cast<int>(after - plan.bounds.begin()) - 1;
}

std::vector<Part> split(std::span<const Part> parts, const SplitPlan& plan) {
  // Memory: the merged mesh, 4 bytes a cell for its owner, and all new parts.
  const Part whole = merge(parts);
  const Octree& tree = octree_of(whole);
  if (plan.root_bits + num_levels(tree) - 1 > plan.bits || plan.root_bits != root_bits_of(tree) || plan.dim != tree.dim)
    throw Error(Kind::usage, "the plan was made for another tree: " + std::to_string(num_levels(tree)) +
                                 " levels here, " + std::to_string(plan.bits - plan.root_bits + 1) + " there");
  std::vector<std::vector<std::uint32_t>> owners;
  for_each_level(tree, [&](int level, const std::vector<Coordinate>& coordinates) {
    owners.push_back(new_owners(tree, level, coordinates, plan));
  });
  std::vector<Part> out;
  Octree mine = tree;
  for (std::size_t m = 0; m + 1 < plan.bounds.size(); ++m) {
    for (std::size_t level = 0; level < owners.size(); ++level)
      mine.owned[level] = where_equal(owners[level], static_cast<std::uint32_t>(m));
    Extract extract = prune(mine);
    std::vector<Field> fields = gather_fields(tree, extract, whole.fields);
    out.push_back({static_cast<int>(m), std::move(extract.tree), std::move(fields), {}});
  }
  return out;
}

bool owns_any(const Part& part) {
  const auto& owned = octree_of(part).owned;
  return std::any_of(owned.begin(), owned.end(), [](const base::BitArray& level) { return level.count() > 0; });
}

Part empty_part(const Header& header, const Request& request) {
  Octree tree;
  tree.dim = header.dim;
  tree.roots = header.roots;
  tree.block = header.block;
  tree.refined = tree.owned = {base::BitArray()};
  Part part;
  for (const std::size_t field : select_fields(header, request.fields))
    part.fields.push_back(make_field(header.fields[field], 0));
  part.mesh = std::move(tree);
  return part;
}

std::vector<CurveKey> particle_keys(const Particles& particles, const Header& header, const SplitPlan& plan) {
  std::vector<Coordinate> cells(static_cast<std::size_t>(particles.count), Coordinate{0, 0, 0});
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(plan.dim); ++axis)
    visit_values(position_of(particles, axis), [&](auto values) {
      if (values.size() != cells.size())
        throw Error(Kind::usage,
                    "positions: expected " + std::to_string(cells.size()) + ", found " + std::to_string(values.size()))
            .at("species " + particles.species);
      for (std::size_t i = 0; i < cells.size(); ++i)
        cells[i][axis] = cell_of(static_cast<double>(values[i]), header.lo[axis], header.hi[axis], header.roots[axis],
                                 plan.bits - plan.root_bits);
    });
  std::vector<CurveKey> keys;
  keys.reserve(cells.size());
  for (const Coordinate& cell : cells) keys.push_back(curve_key(plan.curve, plan.dim, plan.bits, cell));
  return keys;
}

std::vector<Particles> split_particles(const Particles& particles, const Header& header, const SplitPlan& plan) {
  std::vector<std::uint32_t> owners;
  for (const CurveKey& key : particle_keys(particles, header, plan))
    owners.push_back(static_cast<std::uint32_t>(part_of_key(plan, key)));
  std::vector<Particles> out(plan.bounds.size() - 1, none_like(particles));
  for (std::uint32_t owner : owners) ++out[owner].count;
  for (std::size_t a = 0; a < particles.attributes.size(); ++a) {
    const auto& from = particles.attributes[a].bytes;
    const std::size_t width = width_of(particles, particles.attributes[a], owners.size());
    for (std::size_t i = 0; i < owners.size(); ++i) {
      auto& to = out[owners[i]].attributes[a].bytes;
      to.insert(to.end(), from.begin() + static_cast<std::ptrdiff_t>(i * width),
                from.begin() + static_cast<std::ptrdiff_t>((i + 1) * width));
    }
  }
  return out;
}

bool have_positions(std::span<const FieldInfo> attributes, int dim) {
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(dim); ++axis)
    if (std::none_of(attributes.begin(), attributes.end(),
                     [&](const FieldInfo& info) { return is_position(info, axis); }))
      return false;
  return true;
}

std::vector<Particles> deal_particles(const Particles& particles, std::int64_t first, std::int64_t total, int count,
                                      int begin, int end) {
  // Where a part's particles begin among those that are here.
  const auto begin_of = [&](int part) {
    return static_cast<std::ptrdiff_t>(
        std::clamp<std::int64_t>(base::share_begin(total, count, part) - first, 0, particles.count));
  };
  std::vector<Particles> out;
  for (int part = begin; part < end; ++part) {
    out.push_back(none_like(particles));
    out.back().count = begin_of(part + 1) - begin_of(part);
  }
  for (std::size_t a = 0; a < particles.attributes.size(); ++a) {
    const auto width = static_cast<std::ptrdiff_t>(
        width_of(particles, particles.attributes[a], static_cast<std::size_t>(particles.count)));
    const std::byte* from = particles.attributes[a].bytes.data();
    for (int part = begin; part < end; ++part)
      out[static_cast<std::size_t>(part - begin)].attributes[a].bytes.assign(from + begin_of(part) * width,
                                                                             from + begin_of(part + 1) * width);
  }
  return out;
}

}  // namespace octavo::mesh
