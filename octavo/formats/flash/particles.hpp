#pragma once
#include <optional>
#include <string>
#include <vector>

#include "octavo/formats/flash/block_tree.hpp"
#include "octavo/formats/flash/schema.hpp"
#include "octavo/mesh/particles.hpp"

namespace octavo::formats::flash {

/// The particle list of a file, without its values.
struct ParticleTable {
  mesh::SpeciesInfo species;  ///< name "particles"; count 0 and no attributes if the file has none
  std::vector<std::int64_t>
      first_row;  ///< one entry per block, by its row in the file, and one more; empty without localnp
  std::vector<std::int64_t> per_block;  ///< localnp
  std::optional<base::Error> damage;    ///< why the rows cannot be trusted
};

/// Translates FLASH's names: posx -> position_x and so on; other names stay.
std::string attribute_name(const std::string& property);
/// The inverse; also velocity_x -> velx.
std::string property_name(const std::string& attribute);

/// `blocks`: the number of blocks in the file; 0 in a particle file. Damage is not thrown but kept in
/// ParticleTable::damage.
ParticleTable read_particle_table(const OpenedFlash& source, std::int64_t blocks);

/// The particles of runs of rows [first, first + count), one after another.
struct RowRun {
  std::int64_t first = 0, count = 0;
};
mesh::Particles read_particles(const OpenedFlash& source, const ParticleTable& table, const std::vector<RowRun>& runs);

}  // namespace octavo::formats::flash
