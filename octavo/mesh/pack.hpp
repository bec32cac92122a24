#pragma once
#include "octavo/base/pack.hpp"
#include "octavo/mesh/field.hpp"
#include "octavo/mesh/particles.hpp"
#include "octavo/mesh/patches.hpp"

/// Descriptions as bytes between the processes of one run (base/pack.hpp).
namespace octavo::mesh {

template <class Way>
void both(Way& way, FieldInfo& info) {
  both(way, info.name);
  both(way, info.unit);
  both(way, info.type);
  both(way, info.centring);
  both(way, info.components);
  both(way, info.ghost);
}

template <class Way>
void both(Way& way, SpeciesInfo& info) {
  both(way, info.name);
  both(way, info.count);
  both(way, info.attributes);
}

template <class Way>
void both(Way& way, Patches& patches) {
  both(way, patches.dim);
  both(way, patches.domain);
  both(way, patches.ratio);
  both(way, patches.boxes);
}

}  // namespace octavo::mesh
