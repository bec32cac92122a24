#pragma once
#include <cstdint>
#include <set>
#include <utility>

#include "octavo/mesh/dataset.hpp"
#include "octavo/store/store.hpp"

namespace octavo::step {

/// The mesh of triangles or solids that all steps of a series must have. A file holds one mesh, but each step of a
/// store may have its own. Two meshes may have the same number of points, so sizes alone do not show a difference.
class OneMesh {
 public:
  explicit OneMesh(mesh::Mesh mesh) : mesh_(std::move(mesh)) {}
  /// Reads the step's mesh, unless it was compared before. Throws Error(unsupported) if it differs.
  void require(const mesh::Dataset& step, const store::StepInfo& info);

 private:
  mesh::Mesh mesh_;
  std::set<std::pair<store::Flow, std::int64_t>> same_;  ///< steps that have it themselves
};

}  // namespace octavo::step
