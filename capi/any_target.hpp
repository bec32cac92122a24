#pragma once
#include <cstdint>
#include <filesystem>

#include "octavo/engine/write/writer.hpp"

/// Calls of a writer whose target is known only when the program runs. C, Fortran and Python are written against them.
namespace octavo::capi {

/// Names the alternative that an engine::Target holds.
enum class TargetKind : std::uint8_t { store, flash, amrex, series };
inline TargetKind kind_of(const engine::Target& target) { return static_cast<TargetKind>(target.index()); }

/// Begins a step with the arguments that the target takes: a store the flow, FLASH and AMReX the path, a series the
/// time. Throws Error(usage) as Writer::begin_step does, and if the path is needed but empty.
inline void begin_step(engine::Writer& writer, TargetKind target, store::Flow flow, const std::filesystem::path& path,
                       std::int64_t step, double time) {
  if (target == TargetKind::store) return writer.begin_step(flow, step, time);
  if (target == TargetKind::series) return writer.begin_step(time);
  if (path.empty())
    throw base::Error(base::Kind::usage, "path is NULL").hint("every FLASH and AMReX output has its own");
  writer.begin_step(path, step, time);
}

/// Puts triangles. Throws Error(usage) for a boundary or a geometry file in a store.
inline void put_triangles(engine::Writer& writer, TargetKind target, const engine::SeriesMesh& mesh) {
  if (target == TargetKind::store && (!mesh.boundary.empty() || mesh.geometry))
    throw base::Error(base::Kind::usage, "triangles: boundary and geometry are for SERAFIN files")
        .hint("a boundary is an integer field");
  writer.put_mesh(mesh.piece, mesh.global_element);
}

}  // namespace octavo::capi
