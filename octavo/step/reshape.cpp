#include "octavo/step/reshape.hpp"

#include "octavo/formats/formats.hpp"
#include "octavo/step/finer.hpp"
#include "octavo/step/regrid.hpp"

namespace octavo::step {

mesh::Dataset with_words(const mesh::Dataset& tree, const mesh::Dataset& words) {
  mesh::Dataset out = tree;
  out.header.attributes = words.header.attributes;
  out.species = words.species;
  out.read = [tree, words](int part, const mesh::Request& request) {
    mesh::Request values = request;
    values.particles = false;
    mesh::Part read = tree.read(part, values);
    if (!request.particles || part != 0) return read;
    mesh::Request particles;
    particles.fields = std::vector<std::string>{};
    particles.particles = true;
    for (int p = 0; p < words.num_parts; ++p)
      for (mesh::Particles& species : words.read(p, particles).particles) read.particles.push_back(std::move(species));
    return read;
  };
  return out;
}

mesh::Dataset reshape(const mesh::Dataset& dataset, const Reshape& how) {
  mesh::Dataset refined = finer(dataset, how.refine, how.fill_by, how.per_mass);
  const mesh::Specific specific = formats::specific_of(dataset.header, how.per_mass);
  if (how.refine > 0 && how.fill_by == mesh::FillBy::linear) refined.notes.push_back(weights_note(specific));
  if (how.block == 0) return refined;
  RegridJob job;
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(dataset.header.dim); ++axis)
    job.how.block[axis] = how.block;
  job.how.root = dataset.header.unfolded;
  job.how.fill = how.fill;
  job.how.by = how.fill_by;
  job.how.specific = specific;
  const Regridded made = regrid(refined, job);
  if (made.same_tree) return refined;
  mesh::Dataset out = with_words(made.dataset, refined);
  forget_layout(out);
  mesh::forget_levels(out.header);
  if (made.plan.fills != 0) {
    out.notes.push_back(std::to_string(made.plan.fills) +
                        " cells were not in the step: they are made from the coarser cell they lie in");
    if (how.refine == 0 && how.fill_by == mesh::FillBy::linear) out.notes.push_back(weights_note(specific));
  }
  return out;
}

}  // namespace octavo::step
