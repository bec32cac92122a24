#include "octavo/engine/targets/target_row.hpp"

#include "octavo/engine/step/step_puts.hpp"

namespace octavo::engine {

TargetRow row_of_puts() {
  TargetRow row;
  row.put_attribute = [](StepJob& job, const std::string& name, mesh::Attribute value) {
    job.header.attributes[name] = std::move(value);
  };
  row.put_tree = [](StepJob& job, const mesh::Octree& tree) { set_mesh(job, tree); };
  row.put_patches = [](StepJob& job, const mesh::Patches& patches) { set_mesh(job, patches); };
  row.put_field = [](StepJob& job, const mesh::FieldInfo& info, const ArrayView& view) {
    add_field(job, info.name, view, info.unit, info.centring);
  };
  row.put_boxes = [](StepJob& job, const mesh::FieldInfo& info, std::span<const ArrayView> boxes) {
    add_field(job, info.name, boxes, info.unit, info.centring);
  };
  row.put_particles = [](StepJob& job, const std::string& species, const mesh::FieldInfo& info, const ArrayView& view) {
    add_particles(job, species, info.name, view, info.unit);
  };
  return row;
}

}  // namespace octavo::engine
