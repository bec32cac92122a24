#pragma once
#include "capi/octavo.h"
#include "octavo/parallel/restart.hpp"
#include "octavo/parallel/series_mesh.hpp"
#include "octavo/parallel/writer.hpp"

/// What the handles of the C API are.
struct octavo_writer {
  octavo::parallel::Writer writer;
  int dim;
  octavo::mesh::Index3 roots;
};
struct octavo_restart {
  octavo::parallel::Restart value;
  octavo::store::Flow flow;
};

namespace octavo::capi {

parallel::SeriesMesh mesh_from(const octavo_series_mesh& from);

}  // namespace octavo::capi
