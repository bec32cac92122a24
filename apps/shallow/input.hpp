#pragma once
#include <mpi.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "apps/shallow/mesh.hpp"
#include "apps/shallow/solver.hpp"
#include "octavo/formats/serafin/series.hpp"
#include "octavo/partition/cut.hpp"

/// Where a run begins: a mesh in SERAFIN, whole or in pieces, and the water on it.
namespace octavo::shallow {

/// Bottom and water of some points.
struct State {
  std::vector<double> bottom;  ///< [m]
  std::vector<Water> water;
};

/// The input of a rank. `start` goes with share.points.
struct Input {
  Share share;
  State start;
};

/// Collective. Rank 0 cuts the mesh, every rank reads its part. Bottom and water are those of the file's first step:
/// bottom, depth or else free surface, and velocities where it has them, by TELEMAC's English or French names.
/// `level`: still water up to there [m] instead. Throws the same Error on all ranks.
Input read_whole(MPI_Comm comm, const std::filesystem::path& mesh, partition::CutMethod method,
                 std::optional<double> level);

/// Collective. The same from the pieces that `octavo partition -o PREFIX` or partel made: PREFIX + GEO-CONCAT and
/// GEO-INDEX, or PREFIX + GEOnnnnn-iiiii. Ranks take equal shares of them; there may be more or fewer pieces than
/// ranks. `all_points`: of the whole mesh.
Input read_pieces(MPI_Comm comm, const std::string& prefix, std::int32_t all_points, std::optional<double> level);

/// State of points `positions` (ascending, from 0) at a step of an open file; discharges where the file has them, else
/// velocities. Throws Error(corrupt) where the file has no bottom, or neither depth nor free surface, and no `level`.
State read_state(const formats::serafin::SerafinSeries& series, std::int64_t step,
                 std::span<const std::int32_t> positions, std::optional<double> level = {});

}  // namespace octavo::shallow
