#pragma once
#include <filesystem>
#include <memory>
#include <optional>

#include "apps/shallow/solver.hpp"
#include "octavo/engine/write/writer.hpp"

/// Checkpoints are SERAFIN files in double precision, one a checkpoint, written behind the solver's back: any tool
/// reads them, and they do not remember how many ranks wrote them.
namespace octavo::shallow {

/// Depth, discharges and bottom of all points, in global order, of one moment.
class Checkpoints {
 public:
  /// `folder` is made where it is not there. Files are called stepNNNNNNNNN.slf; the newest two stay.
  Checkpoints(std::filesystem::path folder, std::filesystem::path geometry);

  /// Collective. The one before becomes final first; this one does so in the next call.
  void write(const Simulation& simulation);
  /// Collective. The one in flight becomes final: durable, and under its name.
  void finish(MPI_Comm comm);

 private:
  std::filesystem::path folder_, geometry_;
  std::filesystem::path last_;  ///< in flight
  std::unique_ptr<engine::Writer> writer_;
};

/// The newest checkpoint in a folder; nothing where there is none.
std::optional<std::filesystem::path> newest_checkpoint(const std::filesystem::path& folder);

/// Collective. Sets time, step and water to the checkpoint's, bit for bit. Throws Error(corrupt) for a file that is no
/// checkpoint of this mesh.
void restore(Simulation& simulation, const std::filesystem::path& checkpoint);

}  // namespace octavo::shallow
