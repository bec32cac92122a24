#include "octavo/step/one_mesh.hpp"

#include <vector>

#include "octavo/base/error.hpp"
#include "octavo/store/table.hpp"

namespace octavo::step {
namespace {

/// The step that holds a step's mesh.
std::int64_t origin_of(const mesh::Dataset& step, const store::StepInfo& info) {
  const auto origin = store::origin_in(step.header);
  return origin ? origin->step : info.step;
}

}  // namespace

void OneMesh::require(const mesh::Dataset& step, const store::StepInfo& info) {
  if (step.format != "octavo") return;
  const std::pair origin{info.flow, origin_of(step, info)};
  if (same_.count(origin) > 0) return;
  mesh::Request only;
  only.fields = std::vector<std::string>{};
  if (step.read(0, only).mesh != mesh_)
    throw base::Error(base::Kind::unsupported, "the mesh changes from step to step")
        .at(step.path)
        .at("step " + std::to_string(info.step));
  same_.insert(origin);
}

}  // namespace octavo::step
