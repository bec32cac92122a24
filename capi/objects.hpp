#pragma once
#include <list>

#include "capi/layout.hpp"
#include "capi/octavo.h"
#include "octavo/engine/points/series_mesh.hpp"
#include "octavo/engine/restart/restart.hpp"
#include "octavo/engine/write/writer.hpp"

namespace octavo::capi {

/// Orders of cells that were put in this step.
using Orders = std::list<std::vector<std::uint32_t>>;

}  // namespace octavo::capi

/// What the handles of the C API are. Both writers have what puts.hpp needs.
struct octavo_writer {
  octavo::capi::Orders orders;  ///< a writer may read them until it is gone
  octavo::engine::Writer writer;
  int dim;
  octavo::mesh::Index3 roots, block;
  octavo::capi::Boxes boxes{};  ///< of this step
};
struct octavo_native_writer {
  octavo::capi::Orders orders;
  octavo::engine::Writer writer;
  int dim;
  octavo::mesh::Index3 roots, block;
  octavo::capi::Boxes boxes{};
};
struct octavo_restart {
  octavo::engine::Restart value;
  octavo::store::Flow flow;
};

namespace octavo::capi {

engine::SeriesMesh mesh_from(const octavo_series_mesh& from);

}  // namespace octavo::capi
