#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "octavo/file/fortran_record.hpp"
#include "octavo/formats/ramses/text_files.hpp"
#include "octavo/mesh/particles.hpp"

namespace octavo::formats::ramses {

/// The name under which all particles of a RAMSES output stand, whatever their family.
inline constexpr const char* species_name = "particles";

/// The records of a part file before its particles.
struct ParticleFileHeader {
  int ncpu = 0, ndim = 0;
  std::int64_t count = 0;               ///< of this file
  std::vector<std::int64_t> localseed;  ///< 4; with Monte Carlo tracers 8: two seeds
  std::int64_t nstar_tot = 0;
  double mstar_tot = 0, mstar_lost = 0;
  std::int64_t nsink = 0;
};
ParticleFileHeader read_particle_header(file::RecordReader& reader);

/// The attributes of the particles of a file whose header has just been read: names and types from the descriptor,
/// widths from the records. Without a descriptor: position, velocity, mass, identity, levelp, then family and tag where
/// one-byte records follow, then birth_time and metallicity; `guessed` says so. A file without particles tells no
/// widths: then those of the descriptor, or the usual ones.
struct ParticleLayout {
  std::vector<mesh::FieldInfo> attributes;
  bool guessed = false;
};
ParticleLayout find_particle_layout(file::RecordReader& reader, const ParticleFileHeader& header,
                                    const std::optional<std::vector<DescriptorLine>>& descriptor);

/// Reads the records behind the header. Error(corrupt) where a record is not `count` values of the attribute's type or
/// the file goes on.
mesh::Particles read_particles(file::RecordReader& reader, const ParticleFileHeader& header,
                               const std::vector<mesh::FieldInfo>& attributes);

}  // namespace octavo::formats::ramses
