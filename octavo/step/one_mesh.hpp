#pragma once
#include <cstdint>
#include <set>
#include <utility>

#include "octavo/mesh/dataset.hpp"
#include "octavo/store/store.hpp"

namespace octavo::step {

/// The mesh of triangles that all steps of a series must have. Files hold one mesh; each step of a store may have
/// another, and of as many points, so that sizes do not tell.
class OneMesh {
 public:
  explicit OneMesh(mesh::Unstructured mesh) : mesh_(std::move(mesh)) {}
  /// Reads the step's mesh, unless it is one that was looked at before. Throws Error(unsupported) where it differs.
  void require(const mesh::Dataset& step, const store::StepInfo& info);

 private:
  mesh::Unstructured mesh_;
  std::set<std::pair<store::Flow, std::int64_t>> same_;  ///< steps that have it themselves
};

}  // namespace octavo::step
