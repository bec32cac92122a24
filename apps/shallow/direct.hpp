#pragma once
#include <filesystem>
#include <vector>

#include "apps/shallow/mesh.hpp"
#include "octavo/engine/points/series_mesh.hpp"
#include "octavo/engine/step/array_view.hpp"
#include "octavo/engine/write/writer.hpp"

/// This solver's points in the words of Octavo's Writer.
namespace octavo::shallow {

/// The owned points: every point of the mesh is given once. The rest is the geometry file's.
inline engine::SeriesMesh series_mesh(const Mesh& mesh, const std::filesystem::path& geometry) {
  engine::SeriesMesh out;
  const std::size_t owned = mesh.area.size();
  out.piece.x.assign(mesh.x.begin(), mesh.x.begin() + static_cast<std::ptrdiff_t>(owned));
  out.piece.y.assign(mesh.y.begin(), mesh.y.begin() + static_cast<std::ptrdiff_t>(owned));
  out.piece.global_point.assign(mesh.global.begin(), mesh.global.begin() + static_cast<std::ptrdiff_t>(owned));
  out.geometry = geometry;
  return out;
}

inline engine::ArrayView view_of_owned(const Mesh& mesh, const std::vector<double>& values) {
  return engine::view_of(std::span<const double>(values).first(mesh.area.size()));
}

}  // namespace octavo::shallow
