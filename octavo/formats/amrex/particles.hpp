#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "octavo/formats/amrex/text.hpp"
#include "octavo/mesh/particles.hpp"
#include "octavo/mesh/region.hpp"

namespace octavo::formats::amrex {

/// The particles that lie in one box of a level.
struct ParticleGrid {
  std::int64_t file = 0;  ///< DATA_<file>
  std::int64_t count = 0;
  std::uint64_t offset = 0;
};

/// A folder of particles, its header read.
struct ParticleFolder {
  std::filesystem::path path;
  std::string version;  ///< "Version_Two_Dot_One_double" ...
  bool packed = false;  ///< 2.1: id and cpu are the 64 bits of memory; 2.0: two ints
  mesh::ScalarType real = mesh::ScalarType::float64;
  int dim = 3;
  std::vector<std::string> reals, ints;  ///< names of what each has beside position, id and cpu
  std::int64_t total = 0;
  std::int64_t next_id = 0;
  std::vector<std::vector<ParticleGrid>> grids;  ///< per level
  std::vector<BoxArray> boxes;                   ///< per level, of the grids; none where a level is empty
  std::string damage;  ///< empty, or why its data cannot be trusted: offsets that overlap, leave gaps or leave the file
};

/// Reads a particle folder's headers. Error(corrupt) where they make no sense; where only places of data are wrong,
/// that is said in `damage` (the mesh beside it can still be read). Error(unsupported) for versions other than 2.0
/// and 2.1.
ParticleFolder open_particles(const std::filesystem::path& path);

/// Positions, reals by their names, `id` (int64), `cpu` (int32), integers by their names (int32). A name that is taken
/// gets "_2" appended, and so on.
mesh::SpeciesInfo species_of(const ParticleFolder& folder);

/// One grid of one level.
struct GridNumber {
  std::size_t level = 0;
  std::size_t grid = 0;
  bool operator==(const GridNumber&) const = default;
};

/// Reads the wanted grids, by level, file and offset, in few large reads, and of their particles those that `keep`
/// accepts (by grid and position). Error(corrupt) for a folder with damage.
mesh::Particles read_particles(const ParticleFolder& folder, std::vector<GridNumber> wanted,
                               const std::function<bool(const GridNumber&, const mesh::Point3&)>& keep);

/// Bytes of one particle in the file.
std::size_t particle_bytes(const ParticleFolder& folder);

}  // namespace octavo::formats::amrex
