#include "octavo/step/one_mesh.hpp"

#include <variant>
#include <vector>

#include "octavo/base/error.hpp"
#include "octavo/store/read/triangles.hpp"

namespace octavo::step {
namespace {

/// The step that holds a step's mesh.
std::int64_t origin_of(const mesh::Dataset& step, const store::StepInfo& info) {
  const auto found = step.header.attributes.find(store::mesh_step_attribute);
  const auto* other = found == step.header.attributes.end() ? nullptr : std::get_if<std::int64_t>(&found->second);
  return other == nullptr ? info.step : *other;
}

}  // namespace

void OneMesh::require(const mesh::Dataset& step, const store::StepInfo& info) {
  if (step.format != "octavo") return;
  const std::pair origin{info.flow, origin_of(step, info)};
  if (same_.count(origin) > 0) return;
  mesh::Request only;
  only.fields = std::vector<std::string>{};
  if (!(std::get<mesh::Unstructured>(step.read(0, only).mesh) == mesh_))
    throw base::Error(base::Kind::unsupported, "the mesh changes from step to step")
        .at(step.path)
        .at("step " + std::to_string(info.step));
  same_.insert(origin);
}

}  // namespace octavo::step
