#include "octavo/step/past_damage.hpp"

#include <vector>

#include "octavo/base/error.hpp"

namespace octavo::step {
namespace {

/// A part as a reader gives it that holds nothing.
mesh::Part part_without_cells(const mesh::Dataset& dataset, int number, const mesh::Request& request) {
  mesh::Part part;
  part.index = number;
  mesh::Octree tree;
  tree.dim = dataset.header.dim;
  tree.roots = dataset.header.roots;
  tree.block = dataset.header.block;
  tree.refined.resize(1);
  tree.owned.resize(1);
  part.mesh = std::move(tree);
  for (const std::size_t f : mesh::select_fields(dataset.header, request.fields))
    part.fields.push_back(mesh::make_field(dataset.header.fields[f], 0));
  if (!request.particles) return part;
  for (const mesh::SpeciesInfo& species : dataset.species) {
    part.particles.push_back({species.name, 0, {}});
    for (const mesh::FieldInfo& attribute : species.attributes)
      part.particles.back().attributes.push_back(mesh::make_field(attribute, 0));
  }
  return part;
}

}  // namespace

void DamageLog::note(int number, const std::string& what) {
  const std::scoped_lock lock(mutex_);
  parts_.emplace(number, what);
}

std::map<int, std::string> DamageLog::parts() const {
  const std::scoped_lock lock(mutex_);
  return parts_;
}

mesh::Dataset past_damage(const mesh::Dataset& dataset, const std::shared_ptr<DamageLog>& log) {
  if (dataset.unstructured) return dataset;
  mesh::Dataset some = dataset;
  some.read = [dataset, log](int part, const mesh::Request& request) {
    try {
      return dataset.read(part, request);
    } catch (const base::Error& error) {
      if (error.kind() != base::Kind::corrupt && error.kind() != base::Kind::unreadable) throw;
      const int number = mesh::number_of(dataset, part);
      log->note(number, error.what());
      return part_without_cells(dataset, number, request);
    }
  };
  return some;
}

}  // namespace octavo::step
