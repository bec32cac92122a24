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

store::Flow flow_of(int flow);
parallel::SeriesMesh mesh_from(const octavo_series_mesh& from);
/// Collective. `points`: those wanted of a step of triangles, if any.
void open_restart(MPI_Comm comm, const char* store, const char* options, int flow, std::int64_t step,
                  const std::function<std::optional<std::vector<std::int64_t>>()>& points, octavo_restart** restart);

}  // namespace octavo::capi
