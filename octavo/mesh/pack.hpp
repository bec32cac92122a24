#pragma once
#include "octavo/base/pack.hpp"
#include "octavo/mesh/field.hpp"
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
void both(Way& way, Patches& patches) {
  both(way, patches.dim, patches.domain, patches.ratio, patches.boxes);
}

}  // namespace octavo::mesh
