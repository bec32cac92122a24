#include "octavo/formats/ramses/sources.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "octavo/base/error.hpp"

namespace octavo::formats::ramses {
namespace {

using mesh::Coordinate;
using mesh::CurveKey;
using mesh::Dataset;

/// Finds the coarse levels that together have no more octs than an average part.
std::size_t trunk_levels(const Dataset& dataset) {
  std::int64_t total = 0, above = 0;
  for (const mesh::LevelCount& count : dataset.levels) total += count.cells >> dataset.header.dim;
  std::size_t levels = 0;
  for (const mesh::LevelCount& count : dataset.levels) {
    above += count.cells >> dataset.header.dim;
    if (above > std::max<std::int64_t>(1024, total / std::max(1, dataset.num_parts))) break;
    ++levels;
  }
  return levels;
}

void survey_part(const mesh::Octree& tree, const Owners& owners, int part, Sources& to,
                 std::vector<std::vector<std::int64_t>>& octs) {
  auto& boxes = to.boxes[static_cast<std::size_t>(part)];
  boxes.assign(static_cast<std::size_t>(mesh::num_levels(tree)), no_box);
  for_each_oct(tree, [&](int level, const TreeOct& oct) {
    const auto l = static_cast<std::size_t>(level);
    enclose(boxes[l], box_of(owners, level, oct.at));
    if (l < to.trunk.size()) to.trunk[l].add(owners.dim, oct);
    for (unsigned c = 0; c < (1U << owners.dim); ++c)
      if (((oct.owned & oct.refined) >> c & 1) != 0 && l + 1 < octs.size())
        ++octs[l + 1][static_cast<std::size_t>(owners.of(level, cell_at(oct.at, c)))];
  });
}

void count_coarse(const mesh::Header& header, const Owners& owners, std::vector<std::int64_t>& octs) {
  const auto along = [&](std::size_t a) {
    return static_cast<std::uint32_t>(std::max<std::int64_t>(1, header.roots[a] / 2));
  };
  for (std::uint32_t k = 0; k < along(2); ++k)
    for (std::uint32_t j = 0; j < along(1); ++j)
      for (std::uint32_t i = 0; i < along(0); ++i) ++octs[static_cast<std::size_t>(owners.of(-1, {i, j, k}))];
}

/// An oct's place among values.
struct Spot {
  std::vector<mesh::Field>* to = nullptr;
  std::size_t place = 0;
};

/// Copies the owned cells of a part's octs to the Spot that `place(level, oct)` returns. Skips octs for which it
/// returns none.
template <class Place>
void deposit(const mesh::Octree& tree, const std::vector<mesh::Field>& fields, Place&& place) {
  const auto offsets = mesh::level_offsets(tree);
  for_each_oct(tree, [&](int level, const TreeOct& oct) {
    const Spot spot = place(level, oct);
    if (spot.to == nullptr) return;
    for (std::size_t f = 0; f < fields.size(); ++f) {
      const std::size_t width = mesh::size_of(fields[f].info.type);
      std::byte* const values = (*spot.to)[f].bytes.data() + (spot.place << tree.dim) * width;
      for (unsigned c = 0; c < (1U << tree.dim); ++c)
        if ((oct.owned >> c & 1) != 0)
          std::memcpy(values + c * width,
                      fields[f].bytes.data() + (offsets[static_cast<std::size_t>(level)] + oct.cells[c]) * width,
                      width);
    }
  });
}

std::vector<mesh::Field> make_values(const mesh::Header& header, std::size_t octs) {
  std::vector<mesh::Field> values;
  for (const mesh::FieldInfo& info : header.fields) values.push_back(mesh::make_field(info, octs << header.dim));
  return values;
}

void read_trunk_values(Sources& sources, const std::function<void()>& advance) {
  const Dataset& dataset = *sources.dataset;
  for (const OctTable& level : sources.trunk)
    sources.trunk_values.push_back(make_values(dataset.header, level.key.size()));
  mesh::Request coarse;
  const int deepest = static_cast<int>(sources.trunk.size()) - 1;
  coarse.max_level = mesh::code_level(dataset.header, deepest) + (is_between_levels(dataset.header, deepest) ? 1 : 0);
  for (int p = 0; p < dataset.num_parts; ++p, advance()) {
    if (sources.trunk.empty() || dataset.header.fields.empty()) continue;
    const mesh::Part part = dataset.read(p, coarse);
    deposit(tree_of(dataset, part), part.fields, [&](int level, const TreeOct& oct) -> Spot {
      const auto l = static_cast<std::size_t>(level);
      if (l >= sources.trunk.size()) return {};
      return {&sources.trunk_values[l], find(sources.trunk[l].key, oct_key(dataset.header.dim, oct.at))};
    });
  }
}

/// Returns whether a part can have octs of the domain's file on a level index from `first` on.
bool is_near(const Sources& sources, const DomainCover& cover, const Owners& owners, int part, std::size_t first) {
  const auto& boxes = sources.boxes[static_cast<std::size_t>(part)];
  for (std::size_t l = first; l < boxes.size(); ++l)
    if (may_hold(cover, owners, static_cast<int>(l), boxes[l])) return true;
  return false;
}

/// Calls f(part, place of the domain among them) for the parts near any of the domains, part by part.
template <class Read, class F>
void for_each_near(const Sources& sources, const std::vector<DomainCover>& covers, const Owners& owners, Read&& read,
                   F&& f) {
  for (int p = 0; p < sources.dataset->num_parts; ++p) {
    std::vector<std::size_t> near;
    for (std::size_t d = 0; d < covers.size(); ++d)
      if (is_near(sources, covers[d], owners, p, sources.trunk.size())) near.push_back(d);
    if (near.empty()) continue;
    const auto part = read(p);
    for (const std::size_t d : near) f(part, d);
  }
}

/// The octs that each domain's file can hold, per level.
std::vector<std::vector<OctTable>> gather_octs(const Sources& sources, const std::vector<DomainCover>& covers,
                                               const Owners& owners) {
  std::vector<std::vector<OctTable>> known(covers.size(), std::vector<OctTable>(sources.octs.size()));
  for_each_near(
      sources, covers, owners, [&](int p) { return read_tree_of(*sources.dataset, p); },
      [&](const mesh::Octree& tree, std::size_t d) {
        for_each_oct(tree, [&](int level, const TreeOct& oct) {
          const auto l = static_cast<std::size_t>(level);
          if (l >= sources.trunk.size() && may_hold(covers[d], owners, level, box_of(owners, level, oct.at)))
            known[d][l].add(owners.dim, oct);
        });
      });
  for (auto& levels : known)
    for (std::size_t l = 0; l < levels.size(); ++l)
      if (l < sources.trunk.size())
        levels[l] = sources.trunk[l];
      else
        levels[l].sort();
  return known;
}

/// Returns an oct's position, counted with the walls.
Coordinate with_walls(const Coarse& coarse, Coordinate at, int level) {
  for (std::size_t a = 0; a < 3; ++a) at[a] += static_cast<std::uint32_t>(coarse.skip[a]) << level;
  return at;
}

/// Finds the octs of a domain's tree by position.
struct Finder {
  const Coarse& coarse;
  const FileTree& tree;
  std::vector<std::vector<CurveKey>> keys;  ///< per level
  Finder(const Coarse& all, const FileTree& file) : coarse(all), tree(file) {
    for (const FileLevel& level : file.levels) {
      auto& to = keys.emplace_back();
      for (const Coordinate& at : level.at) to.push_back(oct_key(all.dim, at));
    }
  }
  /// Returns the index among the octs of all levels. `at` is counted with the walls.
  std::size_t find_oct(int level, const Coordinate& at) const {
    const auto l = static_cast<std::size_t>(level);
    const std::size_t found = l < keys.size() ? find(keys[l], oct_key(coarse.dim, at)) : nowhere;
    return found == nowhere ? nowhere : found + static_cast<std::size_t>(tree.level_first[l]);
  }
};

void copy_values(const std::vector<mesh::Field>& from, std::size_t source, std::vector<mesh::Field>& to,
                 std::size_t place, std::size_t values) {
  for (std::size_t f = 0; f < to.size(); ++f) {
    const std::size_t width = mesh::size_of(to[f].info.type);
    std::memcpy(to[f].bytes.data() + place * width, from[f].bytes.data() + source * width, values * width);
  }
}

void copy_trunk(const Sources& sources, const Finder& finder, std::vector<mesh::Field>& values) {
  const int dim = finder.coarse.dim;
  for (std::size_t l = 0; l < std::min(sources.trunk.size(), finder.tree.levels.size()); ++l) {
    const FileLevel& level = finder.tree.levels[l];
    for (std::size_t i = 0; i < level.size(); ++i) {
      const Coordinate at = without_walls(finder.coarse, level.at[i], static_cast<int>(l));
      const std::size_t found = find(sources.trunk[l].key, oct_key(dim, at));
      if (found == nowhere) continue;  // in a wall
      const std::size_t place = static_cast<std::size_t>(finder.tree.level_first[l]) + i;
      copy_values(sources.trunk_values[l], found << dim, values, place << dim, std::size_t{1} << dim);
    }
  }
}

/// Returns the axis of a velocity; -1 if the field is not one.
int velocity_axis(const std::string& field) {
  for (int axis = 0; axis < 3; ++axis)
    if (field == std::string("velocity_") + "xyz"[axis]) return axis;
  return -1;
}

void change_sign(mesh::Field& field, std::size_t place) {
  mesh::visit_values(field, [&]<class T>(std::span<const T>) { field.as<T>()[place] = -field.as<T>()[place]; });
}

/// A cell in a wall takes the value of the cell beside the wall that it mirrors or is nearest to. If the file lacks
/// that cell, it takes its father's value.
void fill_walls(const Finder& finder, const Owners& owners, std::vector<mesh::Field>& values) {
  const int dim = finder.coarse.dim;
  const auto cell = [&](std::size_t oct, unsigned c) { return (oct << dim) + c; };
  std::vector<int> axis_of_field;
  for (const mesh::Field& field : values) axis_of_field.push_back(velocity_axis(field.info.name));
  for (std::size_t l = 0; l < finder.tree.levels.size(); ++l) {
    const FileLevel& level = finder.tree.levels[l];
    const auto first = static_cast<std::size_t>(finder.tree.level_first[l]);
    for (std::size_t i = 0; i < level.size(); ++i) {
      if (!in_wall(level, i, owners)) continue;
      for (unsigned c = 0; c < (1U << dim); ++c) {
        const int shift = static_cast<int>(l) + 1;
        const auto [at, axes] = reference_cell(finder.coarse, cell_at(level.at[i], c), shift);
        const Coordinate oct{at[0] / 2, at[1] / 2, at[2] / 2};
        const std::size_t found = finder.find_oct(static_cast<int>(l), with_walls(finder.coarse, oct, shift - 1));
        if (found == nowhere) {
          copy_values(
              values,
              cell(static_cast<std::size_t>(finder.tree.level_first[l - 1]) + level.father[i], level.father_cell[i]),
              values, cell(first + i, c), 1);
          continue;
        }
        copy_values(values, cell(found, (at[0] & 1) | (at[1] & 1) << 1 | (at[2] & 1) << 2), values, cell(first + i, c),
                    1);
        for (std::size_t f = 0; f < values.size(); ++f)
          if (axis_of_field[f] >= 0 && (axes >> axis_of_field[f] & 1) != 0) change_sign(values[f], cell(first + i, c));
      }
    }
  }
}

const mesh::Field& attribute_of(const mesh::Particles& walls, const std::string& name) {
  for (const mesh::Field& attribute : walls.attributes)
    if (attribute.info.name == name) return attribute;
  throw base::Error(base::Kind::corrupt, "octs in walls without " + name);
}

/// The index of each wall oct among the octs of all levels of a domain's tree; `nowhere` if the tree has none there.
std::vector<std::size_t> places_of_walls(const mesh::Particles& walls, const mesh::Header& header, const Finder& finder,
                                         const Owners& owners) {
  const auto count = static_cast<std::size_t>(walls.count);
  std::vector<std::size_t> places(count, nowhere);
  const auto levels = attribute_of(walls, "level").as<std::int32_t>();
  std::array<std::span<const double>, 3> position;
  for (std::size_t a = 0; a < static_cast<std::size_t>(header.dim); ++a)
    position[a] = attribute_of(walls, std::string("position_") + "xyz"[a]).as<double>();
  for (std::size_t i = 0; i < count; ++i) {
    const int level = mesh::level_index(header, levels[i]);
    if (level < 0 || level >= static_cast<int>(finder.tree.levels.size())) continue;
    Coordinate at{0, 0, 0};
    for (std::size_t a = 0; a < static_cast<std::size_t>(header.dim); ++a)
      at[a] = static_cast<std::uint32_t>(std::max(
          0.0, std::floor(std::ldexp(
                   (position[a][i] - header.lo[a]) / owners.coarse_cell + static_cast<double>(finder.coarse.skip[a]),
                   level))));
    const std::size_t found = finder.find_oct(level, at);
    const auto l = static_cast<std::size_t>(level);
    if (found != nowhere &&
        in_wall(finder.tree.levels[l], found - static_cast<std::size_t>(finder.tree.level_first[l]), owners))
      places[i] = found;
  }
  return places;
}

/// Gives octs in walls the values that a part has for them, and marks these octs.
void deposit_walls(const mesh::Particles& walls, const mesh::Header& header, const Finder& finder, const Owners& owners,
                   std::vector<mesh::Field>& values, std::vector<bool>& marks) {
  const std::vector<std::size_t> places = places_of_walls(walls, header, finder, owners);
  for (mesh::Field& field : values) {
    const mesh::Field& from = attribute_of(walls, field.info.name);
    const std::size_t width = mesh::size_of(field.info.type) << finder.coarse.dim;
    if (from.info.type != field.info.type || from.bytes.size() != places.size() * width)
      throw base::Error(base::Kind::corrupt, "octs in walls: " + field.info.name + " has another type or length");
    for (std::size_t i = 0; i < places.size(); ++i)
      if (places[i] != nowhere)
        std::memcpy(field.bytes.data() + places[i] * width, from.bytes.data() + i * width, width);
  }
  for (const std::size_t place : places)
    if (place != nowhere) marks[place] = true;
}

std::int64_t count_walls(const FileTree& tree, const Owners& owners, const std::vector<bool>& marks) {
  std::int64_t count = 0;
  for (std::size_t l = 0; l < tree.levels.size(); ++l)
    for (std::size_t i = 0; i < tree.levels[l].size(); ++i)
      if (in_wall(tree.levels[l], i, owners) && !marks[static_cast<std::size_t>(tree.level_first[l]) + i]) ++count;
  return count;
}

/// Fills in the domains' walls from the parts. A domain's own part comes last, as it has the values that RAMSES wrote.
void read_walls(const Sources& sources, const std::vector<DomainCover>& covers, const Owners& owners, int first,
                bool same_domains, const std::vector<Finder>& finders, std::vector<OutputDomain>& out) {
  const Dataset& dataset = *sources.dataset;
  std::vector<std::vector<bool>> marks;
  for (const OutputDomain& domain : out) marks.emplace_back(static_cast<std::size_t>(domain.tree.total), false);
  const auto is_own = [&](std::size_t d, int p) { return same_domains && first + static_cast<int>(d) == p; };
  for (const bool own : {false, true})
    for (int p = 0; dataset.read_walls && p < dataset.num_parts; ++p) {
      std::vector<std::size_t> wanted;
      for (std::size_t d = 0; d < out.size(); ++d)
        if (is_own(d, p) == own && (own || is_near(sources, covers[d], owners, p, 0))) wanted.push_back(d);
      if (wanted.empty()) continue;
      const mesh::Particles walls = dataset.read_walls(p);
      for (const std::size_t d : wanted)
        deposit_walls(walls, dataset.header, finders[d], owners, out[d].values, marks[d]);
    }
  for (std::size_t d = 0; d < out.size(); ++d) out[d].walls_made = count_walls(out[d].tree, owners, marks[d]);
}

}  // namespace

OpaqueBytes read_opaque(const Dataset& dataset, int part) {
  mesh::Request bytes_only;
  bytes_only.fields.emplace();
  bytes_only.opaque = true;
  return dataset.read(part, bytes_only).opaque;
}

Sources survey(const Dataset& dataset, const Owners& owners, int nlevelmax, const std::function<void()>& advance) {
  Sources sources;
  sources.dataset = &dataset;
  sources.boxes.resize(static_cast<std::size_t>(dataset.num_parts));
  sources.trunk.resize(trunk_levels(dataset));
  std::vector<std::vector<std::int64_t>> octs(static_cast<std::size_t>(nlevelmax),
                                              std::vector<std::int64_t>(static_cast<std::size_t>(owners.count()), 0));
  count_coarse(dataset.header, owners, octs[0]);
  for (int p = 0; p < dataset.num_parts; ++p, advance()) {
    const mesh::Octree tree = read_tree_of(dataset, p);
    if (mesh::num_levels(tree) > nlevelmax)
      throw base::Error(base::Kind::unsupported, "its tree is deeper than its nlevelmax").at(dataset.path);
    survey_part(tree, owners, p, sources, octs);
  }
  for (const auto& level : octs) {
    const auto [least, most] = std::minmax_element(level.begin(), level.end());
    std::int64_t sum = 0;
    for (const std::int64_t count : level) sum += count;
    sources.octs.push_back({sum, *least, *most});
  }
  for (OctTable& level : sources.trunk) level.sort();
  read_trunk_values(sources, advance);
  return sources;
}

std::vector<OutputDomain> gather(const Sources& sources, const Coarse& coarse, const Owners& owners, int first,
                                 int count, bool same_domains) {
  const Dataset& dataset = *sources.dataset;
  std::vector<DomainCover> covers;
  for (int d = first; d < first + count; ++d) covers.push_back(cover_of(owners, dataset.header, d));
  std::vector<OutputDomain> out(covers.size());
  std::vector<Finder> finders;
  {
    auto known = gather_octs(sources, covers, owners);
    for (std::size_t d = 0; d < out.size(); ++d) {
      const int domain = first + static_cast<int>(d);
      const OctOrder order = same_domains ? unpack_order(read_opaque(dataset, domain)[order_name]) : OctOrder{};
      out[d].tree = build_file_tree(coarse, owners, domain, known[d], order);
      known[d].clear();
      out[d].values = make_values(dataset.header, static_cast<std::size_t>(out[d].tree.total));
      finders.emplace_back(coarse, out[d].tree);
      copy_trunk(sources, finders[d], out[d].values);
    }
  }
  const auto place_values = [&](const mesh::Part& part, std::size_t d) {
    deposit(tree_of(dataset, part), part.fields, [&](int level, const TreeOct& oct) -> Spot {
      if (static_cast<std::size_t>(level) < sources.trunk.size()) return {};
      const std::size_t found = finders[d].find_oct(level, with_walls(coarse, oct.at, level));
      return {found == nowhere ? nullptr : &out[d].values, found};
    });
  };
  if (!dataset.header.fields.empty())
    for_each_near(
        sources, covers, owners, [&](int p) { return dataset.read(p, {}); }, place_values);
  if (coarse.regions > 0) {
    for (std::size_t d = 0; d < out.size(); ++d) fill_walls(finders[d], owners, out[d].values);
    read_walls(sources, covers, owners, first, same_domains, finders, out);
  }
  return out;
}

int domains_at_a_time(const Sources& sources, const Owners& owners, std::int64_t bytes) {
  // An oct costs its place in the tree, keys to find it by, and its values; ghosts cost as much again.
  std::size_t an_oct = 160;
  for (const mesh::FieldInfo& info : sources.dataset->header.fields) an_oct += mesh::size_of(info.type) << owners.dim;
  std::int64_t octs = 0;
  for (const auto& level : sources.octs) octs += level[0];
  const std::int64_t a_domain = 2 * (octs / owners.count() + 1) * static_cast<std::int64_t>(an_oct);
  return static_cast<int>(std::clamp<std::int64_t>(bytes / a_domain, 1, owners.count()));
}

}  // namespace octavo::formats::ramses
