#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "octavo/formats/amrex/multifab.hpp"
#include "octavo/mesh/dataset.hpp"

namespace octavo::formats::amrex {

struct WriteOptions {
  int files = 0;     ///< data files a level; 0: one for each GiB
  bool sync = true;  ///< on disk when the call returns
};

/// The MultiFab of all fields of a plotfile.
constexpr std::string_view plotfile_multifab = "Cell";

/// A file of this text.
void write_text(const std::filesystem::path& path, const std::string& text, bool sync);
/// Makes a directory and those above it that are missing; with `sync` they are on disk when it returns.
void make_directories(const std::filesystem::path& path, bool sync);

// ------------------------------------------------------------------------------------------------- values on boxes

/// The shape of a MultiFab to be written. `boxes` are without ghost cells; the values of a box are those of stored_box.
struct MultiFabShape {
  BoxArray boxes;
  mesh::Index3 ghost{0, 0, 0};
  int components = 1;
  mesh::ScalarType type = mesh::ScalarType::float64;  ///< in the file: float64 or float32, little-endian
};

/// A box with its ghost cells; unused axes are one cell wide.
mesh::IndexBox grown_box(const mesh::IndexBox& box, const mesh::Index3& ghost, int dim);

/// Where each box goes: known before anything is written, so that many may write at once, each its own boxes.
struct MultiFabPlan {
  MultiFabShape shape;
  std::vector<std::string> lines;         ///< of text before each box
  std::vector<FabPlace> places;           ///< one a box
  std::vector<std::uint64_t> file_bytes;  ///< one a file
};
MultiFabPlan plan_multifab(const MultiFabShape& shape, int files);

/// Minima and maxima of each box (without ghost cells), component by component, as the header wants them.
struct MinMax {
  std::vector<double> minima, maxima;
};

/// Values of one component: those of stored_box of each box written, box after box, x fastest. float32 values may go to
/// a float64 file.
struct ComponentValues {
  mesh::ScalarType type = mesh::ScalarType::float64;
  std::span<const std::byte> bytes;
};

/// Writes boxes [begin, end) of a plan with few large writes, and notes their minima and maxima. `components` are of
/// these boxes only. The files are made where missing. `prefix` is ".../Level_0/Cell".
void write_boxes(const std::filesystem::path& prefix, const MultiFabPlan& plan,
                 std::span<const ComponentValues> components, std::size_t begin, std::size_t end, MinMax& min_max,
                 const WriteOptions& options = {});
/// Their rows in the header, which is the same text in whatever pieces it is made.
std::string table_rows(const std::vector<double>& values, int components);
/// The text of the header, version 1, from the rows of all boxes.
std::string header_text(const std::filesystem::path& prefix, const MultiFabPlan& plan, const std::string& minima,
                        const std::string& maxima);
// ------------------------------------------------------------------------------------------------------- whole outputs

/// Error(unsupported) for a field that is not of cells, or not of floating-point values, one a cell.
void check_info(const mesh::FieldInfo& info);

/// Names of a checkpoint's components: AMReX has no place for them. They stand in a file of their own beside the
/// Header, a line "MULTIFAB NAME" for each, which codes do not look at and the reader does; none where they are the
/// names that the reader gives by itself.
struct NamedComponents {
  std::string multifab;
  std::vector<std::string> names;
};
void write_component_names(const std::filesystem::path& checkpoint, std::span<const NamedComponents> multifabs,
                           bool sync);

/// The frame of both, for values that are written bit by bit, maybe by many: makes the folder `partial_name(path)`;
/// Error(usage) where `path` exists.
std::filesystem::path begin_output(const std::filesystem::path& path, bool sync);
std::filesystem::path partial_name(const std::filesystem::path& path);
/// Call it once the MultiFabs of all levels are in that folder. Adds the particles and the Header with that text, and
/// gives the folder its name. Uses only boxes and particles of `part`.
void finish_output(const std::filesystem::path& path, const std::string& text, bool checkpoint,
                   const mesh::Header& header, const mesh::Part& part, const WriteOptions& options = {});

/// The text of a plotfile's Header, and of a checkpoint's. `patches` has the boxes of all.
std::string plotfile_header(const mesh::Header& header, const std::vector<std::string>& fields,
                            const mesh::Patches& patches);
std::string checkpoint_header(const std::string& title, const mesh::Header& header, const mesh::Patches& patches);

/// The time steps for checkpoint_header, from the attribute "level_dt": one for each level, or one for all. Throws
/// Error(usage) if there is none, or if one is not above 0: codes let a time step grow by a factor and stop if it is 0.
std::vector<double> level_dt(const mesh::Header& header, std::size_t levels);
/// Writes the file of step_file.hpp, unless the reader only guessed the corners of the domain.
void write_step_file(const std::filesystem::path& checkpoint, const mesh::Header& header, const mesh::Patches& patches,
                     bool sync);

// ------------------------------------------------------------------------------------------------------- particles

/// Per level and box, the particles in it, in their order: of the finest level that has a box there.
using ParticleGrids = std::vector<std::vector<std::vector<std::size_t>>>;
struct SortedParticles {
  ParticleGrids grids;
  std::int64_t next_id = 1;  ///< above all ids
  bool wide = false;         ///< an id needs more than 32 bits
};
/// Error(usage) for a particle where no patch is, and for attributes that do not fit each other.
SortedParticles sort_particles(const mesh::Particles& particles, const mesh::Header& header,
                               const mesh::Patches& patches);

/// The plan that all writers of one species share.
struct ParticlePlan {
  bool packed = false;
  std::int32_t writer = 0;  ///< this one's number: the cpu of particles without identity, of which each has its own
  std::int64_t total = 0, next_id = 1;
  std::vector<std::vector<std::int64_t>> counts;  ///< per level and box: of all writers
  std::vector<std::vector<std::int64_t>> before;  ///< of writers before this one
};
/// Writes this writer's particles to their places in the data files of a folder whose level directories exist.
void write_particle_data(const std::filesystem::path& folder, const mesh::Particles& particles,
                         const SortedParticles& sorted, const ParticlePlan& plan, int dim, const WriteOptions& options);
/// Makes the folder, its level directories and headers; of `particles` the attributes are looked at.
void write_particle_headers(const std::filesystem::path& folder, const mesh::Particles& particles,
                            const ParticlePlan& plan, const mesh::Header& header, const mesh::Patches& patches,
                            const WriteOptions& options);

/// The next free id of a species, from the attribute "amrex/next_id/NAME": lower ids have been used, even if their
/// particles are gone. write_particles keeps it; a writer of other particles must not give lower ids.
std::optional<std::int64_t> kept_next_id(const mesh::Header& header, const std::string& species);
/// Writes one species into a folder of an output, as both do. Attributes of these names say where and who a particle
/// is: `position_x` ..., `id` (else RAMSES's `identity`, else FLASH's `tag`; without any of them ids are 1, 2 ... of
/// the writer) and `cpu` (else 0). Other floating-point attributes are reals, float32 where all are, integers must fit
/// 32 bits. `packed`: version 2.1; 2.0 is taken only where all ids fit 32 bits. Error(unsupported) for integers that do
/// not fit and identities that are no whole numbers; Error(usage) for a cpu without an id.
void write_particles(const std::filesystem::path& folder, const mesh::Particles& particles, const mesh::Header& header,
                     const mesh::Patches& patches, bool packed, const WriteOptions& options = {});

}  // namespace octavo::formats::amrex
