#pragma once
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "octavo/mesh/field.hpp"
#include "octavo/mesh/octree.hpp"
#include "octavo/mesh/particles.hpp"
#include "octavo/mesh/patches.hpp"
#include "octavo/mesh/region.hpp"
#include "octavo/mesh/solids.hpp"
#include "octavo/mesh/unstructured.hpp"

namespace octavo::mesh {

using Mesh = std::variant<Octree, Patches, Unstructured, Solids>;

/// A scalar, an array or a text that a code writes beside its fields.
using Attribute = std::variant<std::int64_t, double, std::string, std::vector<std::int64_t>, std::vector<double>,
                               std::vector<std::string>>;

/// Header attribute of a mesh of solids: how many tetrahedra, pyramids, prisms and hexahedra all parts have.
inline constexpr const char* solids_attribute = "solids";

/// The properties that all parts of one step share.
struct Header {
  std::string code;  ///< the simulation code: "RAMSES", "FLASH" ...
  double time = 0;   ///< [code time]
  int dim = 3;
  Index3 roots{1, 1, 1};  ///< level-0 cells of the whole domain (Octree)
  Index3 block{1, 1, 1};  ///< values a tree cell (Octree)
  int level_origin = 0;   ///< the code's own number of tree level `unfolded`
  int unfolded = 0;       ///< levels that a code's block was unfolded into; 0 for cell trees
  Point3 lo{0, 0, 0};     ///< domain corners [code length]
  Point3 hi{1, 1, 1};
  std::array<bool, 3> periodic{false, false, false};
  double unit_length = 1, unit_density = 1, unit_time = 1;  ///< one code unit in cgs: [cm], [g/cm^3], [s]
  std::vector<FieldInfo> fields;
  std::map<std::string, Attribute> attributes;  ///< anything else, by the code's own names
  bool operator==(const Header&) const = default;
};

/// The code's own number of a tree level index, and back. If patches have a refinement ratio of 4 (attribute
/// "patches/ratio", one entry for each pair of levels), the tree has a level between two of theirs. That one has the
/// number of the level above it, and no leaves.
int code_level(const Header& header, int index);
int level_index(const Header& header, int code_level);
/// Whether a tree level lies between two of the code's own levels.
bool is_between_levels(const Header& header, int index);
/// The numbers of that attribute; empty: the mesh is none of solids.
std::vector<std::int64_t> count_solids(const Header& header);
std::vector<std::int64_t> count_solids(const Solids& mesh);
/// "2 tetrahedra, 1 prism".
std::string describe_solids(const std::vector<std::int64_t>& counts);
bool holds_solids(const Header& header);
/// Removes entries about levels and boxes that the tree does not have any more from the attributes.
void forget_levels(Header& header);
/// The domain in the units of regions.
Domain domain_of(const Header& header);
/// Physical edge length of a cell of a tree level index along each axis [code length] (of a block's cell where folded).
Point3 cell_size(const Header& header, int index);

/// The data of one contributor.
struct Part {
  int index = 0;  ///< contributor, from 0
  Mesh mesh;
  std::vector<Field> fields;
  std::vector<Particles> particles;
  /// Bytes by name that mean something to the code alone: the state of a rank's random numbers ... They belong to the
  /// part that they were written with.
  std::map<std::string, std::vector<std::byte>> opaque{};
};

/// The pieces of a part to read.
struct Request {
  std::optional<std::vector<std::string>> fields;   ///< nothing: all
  int max_level = std::numeric_limits<int>::max();  ///< the code's own number; deeper cells are dropped and
                                                    ///< refined cells of this level become leaves
  bool particles = false;
  bool mesh = true;  ///< false: the mesh of an unstructured part may stay empty
  bool opaque = false;
};

/// About how many bytes of memory a part takes, all of it read.
struct PartSizes {
  std::int64_t mesh = 0, fields = 0, particles = 0;  ///< [bytes]
};

/// Upper limits of what reading a request of a part takes.
struct PartCost {
  std::int64_t leaves = 0;  ///< owned; of blocks, the cells in them
  std::int64_t bytes = 0;   ///< from files, without headers [bytes]
  std::int64_t memory = 0;  ///< of the part that it gives [bytes]
};

/// Owned cells of one level, over all parts. `level` is the code's own number.
struct LevelCount {
  int level = 0;
  std::int64_t cells = 0;  ///< refined ones too
  std::int64_t leaves = 0;
  bool operator==(const LevelCount&) const = default;
};

/// One step of any format, opened: headers are read, values are not. A row of functions that a reader fills in; all of
/// them may be called from several threads at once.
struct Dataset {
  std::string format;  ///< "ramses", "octavo" ...
  std::string path;
  Header header;
  int num_parts = 0;
  std::vector<int> numbers{};  ///< of some parts of a step, ascending: their numbers in it, from 0; empty: all parts
  bool unstructured = false;   ///< parts are mesh::Unstructured, or mesh::Solids if holds_solids(header): values stand
                               ///< at points or in cells; no levels, roots or blocks
  std::int64_t bytes = 0;      ///< on disk
  std::vector<LevelCount> levels;
  std::vector<SpeciesInfo> species;
  std::map<std::string, std::string> lossy;  ///< fields whose values are within a bound only, and which ("point:0.002")
  std::vector<std::string> notes;  ///< remarks on this reading for the user ("no descriptor: variables are var1 ...")

  /// The parts that can hold a cell touching the region, ascending; from headers alone. Cells that are coarser than
  /// every leaf count if their father's centre is in the region.
  std::function<std::vector<int>(const Region&)> parts_touching;
  /// Reads one part, pruned: the tree holds this part's owned cells and what closes it. Names in the request that do
  /// not exist throw Error(usage) with near matches.
  std::function<Part(int part, const Request&)> read;
  /// Bytes that reading this part takes, at most [bytes]; from headers alone.
  std::function<std::int64_t(int part)> part_bytes;
  /// Tells what reading this much of a part takes, from headers alone. Nothing: not known.
  std::function<PartCost(int part, const Request&)> cost;
  /// The memory that it takes, before anything of it is read: by what headers count, or the sizes of files. Nothing:
  /// not known, or (a store) `read` asks for memory itself.
  std::function<PartSizes(int part)> part_sizes;
  /// Adds attributes with everything else, beside fields and particles, that a code needs to go on from a copy of the
  /// output. Reads files. Empty if there is nothing to add.
  std::function<void(Header& header)> carry;
  /// Tells another process of the run all that was read when the step was opened. The format makes a Dataset of it
  /// that opens no file before it reads a part (formats::Format::understand). Empty: each process opens the step.
  std::function<std::string()> describe{};
  /// Reads the octs in walls that RAMSES keeps beside a part's cells (formats/ramses/walls.hpp). Empty if there are
  /// none.
  std::function<Particles(int part)> read_walls;
};

/// The name of the species that holds walls in a store.
inline constexpr const char* wall_species = "wall octs";
/// Adds the walls to the particles of each part, so that a store keeps them. Returns the step as it is if it has none.
Dataset with_walls_as_species(const Dataset& dataset);
/// The inverse: takes that species out of the particles.
void take_walls_out(Dataset& dataset);

/// Makes a Dataset of one unstructured part, with everything but `read`. `elements` and `points` count all planes; the
/// header has the number of planes as an attribute, or those of solids.
Dataset of_one_part(std::string format, std::string path, Header header, std::int64_t bytes, std::int64_t elements,
                    std::int64_t points);

/// About how many bytes of memory a request takes of a part with these sizes: of its fields those asked for, and of
/// their cells as many as the step has down to the level asked for.
std::int64_t bytes_to_read(const Dataset& dataset, const PartSizes& sizes, const Request& request);

/// The parts that reading a region down to a level (the code's own number) takes, ascending: those that touch it, all
/// if there is no region. A level coarser than every leaf gives cells whose owner is told by the cell above them: the
/// parts are then those of the region's box, widened to whole cells of the level above.
std::vector<int> parts_of(const Dataset& dataset, const std::optional<Region>& region, std::optional<int> max_level);

/// Throws Error(unsupported) for a step of solids: `what` says who does not take them ("a camera is for ...").
void refuse_solids(const Dataset& dataset, const std::string& what);

/// The number of a part in the step, from 0: it differs where the data set has some parts of a step.
int number_of(const Dataset& dataset, int part);

/// The field that is the mass density, by the names that codes have for it ("density"; FLASH's "dens"; "Density" and
/// "rho" of codes on AMReX); empty: none.
std::string density_field(const Header& header);

/// Particles of all parts, one after another, by species. Reads the parts one by one.
std::vector<Particles> gather_particles(const Dataset& dataset);

/// The positions in `header.fields` of the names asked for, in the header's order; all where nothing was asked. Throws
/// Error(usage) that lists near matches for an unknown name.
std::vector<std::size_t> select_fields(const Header& header, const std::optional<std::vector<std::string>>& names);

}  // namespace octavo::mesh
