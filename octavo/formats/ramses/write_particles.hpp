#pragma once
#include "octavo/formats/ramses/write_records.hpp"

namespace octavo::formats::ramses {

/// Finds, for each domain, the parts that can have particles of it. It looks at positions, because a rank of RAMSES may
/// hold a particle that has just crossed into another rank's leaf. Reads all particles once, one part at a time. Throws
/// Error(unsupported) if a position attribute is missing.
std::vector<std::vector<int>> find_particle_parts(const mesh::Dataset& dataset, const DomainFilePlan& plan,
                                                  const std::function<void()>& advance);

/// The particles in the domain's own leaves, in the order of the parts. The cell that a Monte Carlo tracer of the gas
/// is attached to (partp) becomes this file's number of the leaf it is in; other tracers keep what they point to.
mesh::Particles gather_particles(const Sources& sources, const DomainFilePlan& plan, const FileTree& tree);

}  // namespace octavo::formats::ramses
