#pragma once
/// Particle containers of any layout as Octavo has particles, and back.
#include "levels.hpp"

namespace octavo::amrex {

/// The particles of a container, copied.
struct Species {
  mesh::Particles values;
  std::int64_t next_id = 1;
};

namespace within {

/// The components of a container's particles beside position, id and cpu: of the struct, of the arrays, and those that
/// were added at run time. Containers of pure arrays have the position in their first arrays.
template <class Container>
struct Layout {
  static constexpr int first = Container::ParticleType::is_soa_particle ? AMREX_SPACEDIM : 0;
  static constexpr int fixed_reals = Container::NStructReal + Container::NArrayReal - first;
  static constexpr int fixed_ints = Container::NStructInt + Container::NArrayInt;
  int reals, ints;
  explicit Layout(const Container& container)
      : reals(fixed_reals + container.NumRuntimeRealComps()), ints(fixed_ints + container.NumRuntimeIntComps()) {}
};

/// Adds particles to a container, wherever their boxes are: Redistribute() moves them.
template <class Container>
void add(const mesh::Particles& particles, Container& container) {
  using Particle = typename Container::ParticleType;
  const Layout<Container> layout(container);
  std::vector<std::vector<double>> positions, reals, ints;
  std::span<const std::int64_t> ids;
  std::span<const std::int32_t> cpus;
  for (const mesh::Field& attribute : particles.attributes) {
    const std::string& attribute_name = attribute.info.name;
    if (attribute_name == "id")
      ids = attribute.as<std::int64_t>();
    else if (attribute_name == "cpu")
      cpus = attribute.as<std::int32_t>();
    else if (attribute_name.starts_with("position_"))
      positions.push_back(to_doubles(attribute));
    else
      (mesh::is_integer(attribute.info.type) ? ints : reals).push_back(to_doubles(attribute));
  }
  const auto expect = [&](const char* what, std::size_t found, int wanted) {
    if (static_cast<int>(found) != wanted)
      throw Error(Kind::usage, std::string(what) + ": the container has " + std::to_string(wanted) +
                                   ", the checkpoint " + std::to_string(found))
          .at(particles.species);
  };
  expect("positions", positions.size(), AMREX_SPACEDIM);
  expect("components of reals", reals.size(), layout.reals);
  expect("components of integers", ints.size(), layout.ints);
  auto& tile = container.DefineAndReturnParticleTile(0, 0, 0);
  for (std::size_t p = 0; p < static_cast<std::size_t>(particles.count); ++p) {
    typename Container::SuperParticleType particle;
    particle.id() = ids[p], particle.cpu() = cpus[p];
    for (int a = 0; a < AMREX_SPACEDIM; ++a) particle.pos(a) = static_cast<ax::ParticleReal>(positions[a][p]);
    if constexpr (Particle::is_soa_particle)
      for (int a = 0; a < AMREX_SPACEDIM; ++a) particle.rdata(a) = particle.pos(a);
    for (int c = 0; c < layout.fixed_reals; ++c)
      particle.rdata(layout.first + c) = static_cast<ax::ParticleReal>(reals[c][p]);
    for (int c = 0; c < layout.fixed_ints; ++c) particle.idata(c) = static_cast<int>(ints[c][p]);
    tile.push_back(particle);
    auto& arrays = tile.GetStructOfArrays();  // of components added at run time, too
    for (int c = layout.fixed_reals; c < layout.reals; ++c)
      arrays.GetRealData(c + layout.first - Container::NStructReal).back() = static_cast<ax::ParticleReal>(reals[c][p]);
    for (int c = layout.fixed_ints; c < layout.ints; ++c)
      arrays.GetIntData(c - Container::NStructInt).back() = static_cast<int>(ints[c][p]);
  }
}

}  // namespace within

/// Copies the particles of a container: collective. Names are those of the components beside position, id and cpu,
/// reals and integers, in AMReX's order: of the struct, of the arrays, of those added at run time.
template <class Container>
Species Gather(const std::string& name, const Container& container, const Names& real_names = {},
               const Names& int_names = {}) {
  using Particle = typename Container::ParticleType;
  const within::Layout<Container> layout(container);
  std::vector<std::vector<ax::ParticleReal>> reals(AMREX_SPACEDIM + layout.reals);
  std::vector<std::vector<std::int32_t>> ints(layout.ints + 1);
  std::vector<std::int64_t> ids;
  for (const auto& level : container.GetParticles())
    for (const auto& entry : level) {
      const auto data = entry.second.getConstParticleTileData();
      for (int p = 0; p < entry.second.numParticles(); ++p) {
        const auto particle = data.getSuperParticle(p);
        if (particle.id() <= 0) continue;  // AMReX's mark of a particle that is gone
        ids.push_back(particle.id());
        ints.back().push_back(particle.cpu());
        for (int a = 0; a < AMREX_SPACEDIM; ++a) reals[a].push_back(particle.pos(a));
        for (int c = 0; c < layout.reals; ++c)
          reals[AMREX_SPACEDIM + c].push_back(c < layout.fixed_reals ? particle.rdata(layout.first + c)
                                                                     : data.m_runtime_rdata[c - layout.fixed_reals][p]);
        for (int c = 0; c < layout.ints; ++c)
          ints[c].push_back(c < layout.fixed_ints ? particle.idata(c) : data.m_runtime_idata[c - layout.fixed_ints][p]);
      }
    }
  ax::Long next = Particle::NextID();
  ax::ParallelDescriptor::ReduceLongMax(next);
  Particle::NextID(next);
  Species out{{name, static_cast<std::int64_t>(ids.size()), {}}, next};
  auto& attributes = out.values.attributes;
  for (int a = 0; a < AMREX_SPACEDIM; ++a)
    attributes.push_back(mesh::attribute_of(std::string("position_") + "xyz"[a], reals[a]));
  attributes.push_back(mesh::attribute_of("id", ids));
  attributes.push_back(mesh::attribute_of("cpu", ints.back()));
  for (int c = 0; c < layout.reals; ++c)
    attributes.push_back(mesh::attribute_of(real_names.empty() ? "real_comp" + std::to_string(c) : real_names.at(c),
                                            reals[AMREX_SPACEDIM + c]));
  for (int c = 0; c < layout.ints; ++c)
    attributes.push_back(
        mesh::attribute_of(int_names.empty() ? "int_comp" + std::to_string(c) : int_names.at(c), ints[c]));
  return out;
}

}  // namespace octavo::amrex
