#pragma once
#include "octavo/base/pack.hpp"
#include "octavo/mesh/dataset.hpp"
#include "octavo/mesh/field.hpp"
#include "octavo/mesh/octree.hpp"
#include "octavo/mesh/particles.hpp"
#include "octavo/mesh/patches.hpp"

/// Descriptions as bytes between the processes of one run (base/pack.hpp).
namespace octavo::mesh {

template <class Way>
void both(Way& way, FieldInfo& info) {
  both(way, info.name, info.unit, info.type, info.centring, info.components, info.ghost);
}

template <class Way>
void both(Way& way, SpeciesInfo& info) {
  both(way, info.name, info.count, info.attributes);
}

template <class Way>
void both(Way& way, Header& header) {
  both(way, header.code, header.time, header.dim, header.roots, header.block, header.level_origin, header.unfolded);
  both(way, header.lo, header.hi, header.periodic, header.unit_length, header.unit_density, header.unit_time);
  both(way, header.fields, header.attributes);
}

template <class Way>
void both(Way& way, Patches& patches) {
  both(way, patches.dim, patches.domain, patches.ratio, patches.boxes);
}

template <class Way>
void both(Way& way, Octree& tree) {
  const auto bits = [&](std::vector<base::BitArray>& levels) {
    std::vector<std::uint64_t> sizes;
    for (const base::BitArray& level : levels) sizes.push_back(level.size());
    both(way, sizes);
    levels.resize(sizes.size());
    for (std::size_t level = 0; level < sizes.size(); ++level) {
      both(way, levels[level].words());
      levels[level].resize(sizes[level]);
    }
  };
  both(way, tree.dim, tree.roots, tree.block, tree.held);
  bits(tree.refined);
  bits(tree.owned);
}

}  // namespace octavo::mesh
