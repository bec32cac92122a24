#pragma once
#include "apps/bubble/level_set.hpp"
#include "octavo/engine/restart/restart.hpp"
#include "octavo/engine/write/writer.hpp"

namespace octavo::bubble {

/// The boxes of a step and its fields where they lie: `level_set`, and for each axis the velocities through the lower
/// and upper faces of each cell, fields of faces `velocity_x_left`, `velocity_x_right` ...
/// `faces_too`: checkpoints have them, analysis outputs do not. All stays as it is until end_step().
void put(engine::Writer& writer, const Hierarchy& mesh, const Faces& faces, bool faces_too);

/// The state of a run that put() wrote, on any number of ranks. `shape.max_level` may be finer than in that run.
/// Collective.
struct State {
  Hierarchy mesh;
  Faces faces;
};
/// Throws Error(usage) for a step that is not of bubbles or of another domain.
State from_step(MPI_Comm comm, const patches::Shape& shape, const engine::Restart& restart);

}  // namespace octavo::bubble
