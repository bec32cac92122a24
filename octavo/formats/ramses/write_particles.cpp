#include "octavo/formats/ramses/write_particles.hpp"

#include <algorithm>
#include <cmath>

#include "octavo/base/error.hpp"

namespace octavo::formats::ramses {
namespace {

using mesh::Field;

/// Finds the cell of a domain's file that contains a place.
struct FileLeaf {
  std::size_t level = 0, oct = 0;
  unsigned c = 0;
};

/// Returns the position of a place's cell on the deepest level of the file, counted with the walls. A place outside the
/// box counts as in the nearest cell.
std::uint32_t cell_along(const DomainFilePlan& plan, std::size_t axis, double x, int depth) {
  const mesh::Header& header = *plan.header;
  const double cells = std::ldexp(static_cast<double>(plan.coarse.real[axis]), depth);
  const double at = std::floor((x - header.lo[axis]) / (header.hi[axis] - header.lo[axis]) * cells);
  const double inside = std::isnan(at) ? 0.0 : std::clamp(at, 0.0, cells - 1);
  return static_cast<std::uint32_t>(inside) + (static_cast<std::uint32_t>(plan.coarse.skip[axis]) << depth);
}

FileLeaf find_leaf(const FileTree& tree, const std::vector<std::int32_t>& roots, const Coarse& coarse,
                   const mesh::Coordinate& cell, int depth) {
  const mesh::Coordinate root{cell[0] >> depth, cell[1] >> depth, cell[2] >> depth};
  FileLeaf leaf{0, static_cast<std::size_t>(roots[coarse_number(coarse, root)]), 0};
  for (;; ++leaf.level) {
    const int shift = depth - 1 - static_cast<int>(leaf.level);
    leaf.c = (cell[0] >> shift & 1) | (cell[1] >> shift & 1) << 1 | (cell[2] >> shift & 1) << 2;
    const FileLevel& level = tree.levels[leaf.level];
    if ((level.sons[leaf.oct] >> leaf.c & 1) == 0) return leaf;
    leaf.oct = son_of(level, leaf.oct, leaf.c);
  }
}

const Field* find_attribute(const mesh::Particles& particles, const std::string& name) {
  for (const Field& field : particles.attributes)
    if (field.info.name == name) return &field;
  return nullptr;
}

/// The oct of each coarse cell; -1 if it has none.
std::vector<std::int32_t> coarse_octs(const FileTree& tree, const Coarse& coarse) {
  std::vector<std::int32_t> octs(coarse.region.size(), -1);
  for (std::size_t i = 0; i < tree.levels[0].size(); ++i) octs[tree.levels[0].father[i]] = static_cast<std::int32_t>(i);
  return octs;
}

/// The cells of a depth that particles are in.
std::vector<mesh::Coordinate> cells_of(const DomainFilePlan& plan, const mesh::Particles& particles, int depth) {
  std::vector<mesh::Coordinate> cells(static_cast<std::size_t>(particles.count), mesh::Coordinate{0, 0, 0});
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(plan.header->dim); ++axis) {
    const std::string name = std::string("position_") + "xyz"[axis];
    const Field* position = find_attribute(particles, name);
    if (position == nullptr)
      throw base::Error(base::Kind::unsupported, "particles without " + name + " have no domain");
    mesh::visit_values(*position, [&](auto values) {
      for (std::size_t i = 0; i < cells.size(); ++i)
        cells[i][axis] = cell_along(plan, axis, static_cast<double>(values[i]), depth);
    });
  }
  return cells;
}

std::vector<FileLeaf> leaves_of(const DomainFilePlan& plan, const FileTree& tree, const mesh::Particles& particles) {
  const int depth = static_cast<int>(tree.levels.size());
  const auto roots = coarse_octs(tree, plan.coarse);
  std::vector<FileLeaf> leaves;
  for (const mesh::Coordinate& cell : cells_of(plan, particles, depth))
    leaves.push_back(find_leaf(tree, roots, plan.coarse, cell, depth));
  return leaves;
}

mesh::Request only_particles() {
  mesh::Request request;
  request.fields.emplace();
  request.particles = true;
  return request;
}

/// The domains that a part's particles can be in: the owners of the octs around them on all levels that have leaves.
std::vector<bool> domains_of(const DomainFilePlan& plan, const std::vector<int>& leaf_levels,
                             const mesh::Particles& particles) {
  std::vector<bool> domains(static_cast<std::size_t>(plan.owners.count()), false);
  const int depth = plan.nlevelmax;
  for (const mesh::Coordinate& cell : cells_of(plan, particles, depth))
    for (const int level : leaf_levels) {
      mesh::Coordinate oct = without_walls(plan.coarse, cell, depth);
      for (std::uint32_t& x : oct) x >>= depth - level;
      domains[static_cast<std::size_t>(plan.owners.of(level - 1, oct))] = true;
    }
  return domains;
}

/// RAMSES' family of Monte Carlo tracers that move with the gas.
constexpr std::int8_t gas_tracer = 0;

void attach_tracers(const DomainFilePlan& plan, const FileTree& tree, const std::vector<FileLeaf>& leaves,
                    mesh::Particles& particles) {
  const Field* family = find_attribute(particles, "family");
  if (family == nullptr || family->info.type != mesh::ScalarType::int8) return;
  for (Field& field : particles.attributes) {
    if (field.info.name != "partp" || field.info.type != mesh::ScalarType::int32) continue;
    const auto cells = field.as<std::int32_t>();
    for (std::size_t i = 0; i < cells.size(); ++i)
      if (family->as<std::int8_t>()[i] == gas_tracer)
        cells[i] = cell_number(plan, tree, leaves[i].level, leaves[i].oct, leaves[i].c);
  }
}

void append(const mesh::Particles& from, const std::vector<bool>& mine, mesh::Particles& to) {
  for (std::size_t a = 0; a < to.attributes.size(); ++a) {
    const auto& bytes = from.attributes[a].bytes;
    const std::size_t width = mesh::size_of(from.attributes[a].info.type);
    for (std::size_t i = 0; i < mine.size(); ++i)
      if (mine[i])
        to.attributes[a].bytes.insert(to.attributes[a].bytes.end(),
                                      bytes.begin() + static_cast<std::ptrdiff_t>(i * width),
                                      bytes.begin() + static_cast<std::ptrdiff_t>((i + 1) * width));
  }
  to.count += std::count(mine.begin(), mine.end(), true);
}

}  // namespace

std::vector<std::vector<int>> find_particle_parts(const mesh::Dataset& dataset, const DomainFilePlan& plan,
                                                  const std::function<void()>& advance) {
  std::vector<int> leaf_levels;
  for (const mesh::LevelCount& count : dataset.levels)
    if (count.leaves > 0) leaf_levels.push_back(mesh::level_index(dataset.header, count.level));
  std::vector<std::vector<int>> parts(static_cast<std::size_t>(plan.owners.count()));
  for (int p = 0; p < dataset.num_parts; ++p, advance())
    for (const mesh::Particles& particles : dataset.read(p, only_particles()).particles) {
      const auto domains = domains_of(plan, leaf_levels, particles);
      for (std::size_t d = 0; d < domains.size(); ++d)
        if (domains[d] && (parts[d].empty() || parts[d].back() != p)) parts[d].push_back(p);
    }
  return parts;
}

mesh::Particles gather_particles(const Sources& sources, const DomainFilePlan& plan, const FileTree& tree) {
  const mesh::SpeciesInfo& species = sources.dataset->species[0];
  mesh::Particles out{species.name, 0, {}};
  for (const mesh::FieldInfo& info : species.attributes) out.attributes.push_back({info, {}});
  for (const int p : sources.particle_parts[static_cast<std::size_t>(tree.domain)]) {
    mesh::Part part = sources.dataset->read(p, only_particles());
    for (mesh::Particles& particles : part.particles) {
      if (particles.species != species.name || particles.attributes.size() != out.attributes.size()) continue;
      const auto leaves = leaves_of(plan, tree, particles);
      std::vector<bool> mine;
      for (const FileLeaf& leaf : leaves) mine.push_back(tree.levels[leaf.level].list[leaf.oct] == tree.domain);
      attach_tracers(plan, tree, leaves, particles);
      append(particles, mine, out);
    }
  }
  return out;
}

}  // namespace octavo::formats::ramses
