#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "octavo/mesh/dataset.hpp"
#include "octavo/mesh/tree/merge.hpp"
#include "octavo/mesh/tree/regrid.hpp"
#include "octavo/mesh/tree/split.hpp"

/// Steps in memory, and a slow, plain way to compare them cell by cell, whatever tree or block they are in.
namespace octavo::testing {

/// Cells along x of the level, then the position: the same cell has the same key in every tree of a domain.
using CellAt = std::array<std::int64_t, 4>;
using CellMap = std::map<CellAt, double>;

/// The same cells with the same bits, NaN too.
inline bool same(const CellMap& a, const CellMap& b) {
  const auto bits = [](double value) { return std::bit_cast<std::uint64_t>(value); };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](const auto& x, const auto& y) {
    return x.first == y.first && bits(x.second) == bits(y.second);
  });
}

struct AllCells {
  CellMap all, leaves;
  std::size_t twice = 0;  ///< cells that two parts own
};

/// Owned cells of all parts, of levels whose cells are values of the step.
inline AllCells cells_of_step(const mesh::Dataset& dataset, const std::string& field) {
  AllCells out;
  mesh::Request request;
  request.fields = std::vector<std::string>{field};
  for (int p = 0; p < dataset.num_parts; ++p) {
    const mesh::Part part = dataset.read(p, request);
    const mesh::Octree& tree = mesh::octree_of(part);
    const auto offsets = mesh::level_offsets(tree);
    std::vector<mesh::Coordinate> at = mesh::root_coordinates(tree);
    for (int level = 0; level < mesh::num_levels(tree); ++level) {
      if (level > 0) at = mesh::child_coordinates(tree, level - 1, at);
      const auto l = static_cast<std::size_t>(level);
      for (std::size_t i = 0; i < at.size(); ++i) {
        if (!tree.owned[l][i]) continue;
        const mesh::IndexBox box = mesh::cells_of(tree, at[i]);
        std::size_t k = (offsets[l] + i) * mesh::block_size(tree);
        for (std::int64_t z = box.lo[2]; z < box.hi[2]; ++z)
          for (std::int64_t y = box.lo[1]; y < box.hi[1]; ++y)
            for (std::int64_t x = box.lo[0]; x < box.hi[0]; ++x, ++k) {
              const CellAt key{(tree.roots[0] * tree.block[0]) << level, x, y, z};
              const double value =
                  mesh::visit_values(part.fields[0], [&](auto values) { return static_cast<double>(values[k]); });
              if (!out.all.emplace(key, value).second) ++out.twice;
              if (!tree.refined[l][i]) out.leaves.emplace(key, value);
            }
      }
    }
  }
  return out;
}

/// A step whose parts are these.
inline mesh::Dataset step_of(mesh::Header header, std::vector<mesh::Part> parts) {
  const auto shared = std::make_shared<const std::vector<mesh::Part>>(std::move(parts));
  mesh::Dataset out;
  out.format = "memory";
  out.path = "a step in memory";
  const mesh::Octree& tree = mesh::octree_of(shared->at(0));
  header.dim = tree.dim;
  header.roots = tree.roots;
  header.block = tree.block;
  header.fields.clear();
  for (const mesh::Field& field : shared->at(0).fields) header.fields.push_back(field.info);
  for (const mesh::Particles& species : shared->at(0).particles) {
    out.species.push_back({species.species, 0, {}});
    for (const mesh::Field& a : species.attributes) out.species.back().attributes.push_back(a.info);
  }
  for (const mesh::Part& part : *shared)
    for (std::size_t s = 0; s < part.particles.size(); ++s) out.species[s].count += part.particles[s].count;
  out.header = header;
  out.num_parts = static_cast<int>(shared->size());
  out.read = [shared, header](int index, const mesh::Request& request) {
    mesh::Part part = shared->at(static_cast<std::size_t>(index));
    std::vector<mesh::Field> fields;
    for (std::size_t f : mesh::select_fields(header, request.fields)) fields.push_back(part.fields[f]);
    part.fields = std::move(fields);
    if (!request.particles) part.particles.clear();
    return part;
  };
  out.parts_touching = [n = out.num_parts](const mesh::Region&) {
    std::vector<int> all;
    for (int p = 0; p < n; ++p) all.push_back(p);
    return all;
  };
  out.part_bytes = [](int) { return std::int64_t{1}; };
  return out;
}

/// The same step in other parts.
inline mesh::Dataset cut(const mesh::Dataset& whole, int parts) {
  mesh::Request everything;
  everything.particles = true;
  std::vector<mesh::Part> all;
  for (int p = 0; p < whole.num_parts; ++p) all.push_back(whole.read(p, everything));
  const mesh::SplitPlan plan = mesh::plan_split(all, parts, mesh::Curve::morton);
  std::vector<mesh::Part> pieces = mesh::split(all, plan);
  for (std::size_t s = 0; s < all[0].particles.size(); ++s) {
    const auto shared = mesh::split_particles(all[0].particles[s], whole.header, plan);
    for (std::size_t p = 0; p < pieces.size(); ++p) pieces[p].particles.push_back(shared[p]);
  }
  return step_of(whole.header, std::move(pieces));
}

}  // namespace octavo::testing
