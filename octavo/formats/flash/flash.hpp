#pragma once
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "octavo/base/ranks.hpp"
#include "octavo/formats/flash/schema.hpp"
#include "octavo/mesh/dataset.hpp"

namespace octavo::formats::flash {

struct OpenOptions {
  /// Blocks per part; 0: enough for about 2^20 cells.
  std::int64_t blocks_per_part = 0;
};

/// Opens a checkpoint, plotfile or particle file: reads the lists and the tree, and checks the tree (check.hpp).
///
/// The mesh is an Octree whose cells are the blocks. Levels count from 1 (Header::level_origin). Parents have the
/// values that FLASH restricted to them. Parts are stretches of the Morton order. A part's tree holds its own blocks
/// and the blocks that close the tree, all with their values. Fields are the variables of "unknown names" and other
/// data sets on cells or faces (scratch; integers on cells), trimmed; a face variable `b` is two fields, `b_left` and
/// `b_right`: the faces at the low and the high side of each cell (centring face_x, face_y or face_z). One species,
/// "particles": the properties by name, in the file's order, but posx, posy and posz are position_x, position_y and
/// position_z.
///
/// A particle file has no mesh: its tree is one block of one cell without fields.
///
/// Header::attributes: the lists (lists.hpp), what the tree has beyond its shape (tree_arrays.hpp), what FLASH does not
/// know of its file (foreign.hpp), and
/// - "flash/kind": "checkpoint", "plotfile" or "particles"; "flash/metadata bytes": 8, or 4 where positions are floats;
/// - "flash/unknown names": the variables, in the file's order; "flash/long names": other data sets on cells that have
/// names of more than 4 characters; "flash/localnp": particles a block, in Morton order. From these, the fields and the
/// particles write_flash makes the same data sets again.
///
/// If the particle list contradicts itself, a note says so, and reading particles throws Error(corrupt). Throws
/// Error(corrupt) for damage, Error(unsupported) for a domain with holes, files of FLASH2, values on corners, variables
/// in other files, and without HDF5.
mesh::Dataset open_flash(const std::filesystem::path& path, const OpenOptions& options = {});

/// The same, with the options' defaults.
mesh::Dataset open(const std::filesystem::path& path);
/// The step that Dataset::describe() tells of, for another process of the run: opens no file before a part is read.
mesh::Dataset understand(const std::string& description);

struct WriteOptions {
  std::string kind;  ///< "checkpoint", "plotfile" or "particles"; empty: the attribute "flash/kind", else checkpoint
  bool single_precision = false;  ///< values and positions are floats, as in plotfiles by default
  /// Field names to FLASH's (1 to 4 characters). Names that are not listed: density, pressure, velocity_x ... get
  /// FLASH's name; others of up to 4 characters stay; longer ones are Error(usage).
  std::map<std::string, std::string> names;
  int threads = 1;      ///< that read parts and write their values
  base::Ranks ranks{};  ///< that share the parts
};

struct FlashReport {
  std::int64_t blocks = 0;
  std::int64_t particles = 0;
  std::int64_t outside = 0;  ///< particles beyond the domain; each goes to the nearest block
  std::vector<std::string> notes;
};

/// Writes a step as one FLASH file, part by part, with the full schema: blocks in Morton order, gid, gsurr_blks, which
/// child, node types, minimum and maximum over leaf cells, particles grouped by the block that their position is in.
/// Uses the lists and tables of a FLASH file that the header's attributes keep, if they fit. Missing ones get FLASH's
/// defaults.
///
/// Collective. The first rank makes the file; each writes the values of its parts to their places. The bytes are the
/// same for any number of parts, threads and ranks. The file is called NAME.partial until it is complete and synced.
/// Throws Error(usage) if the path exists, or for names or types of values that FLASH does not have; Error(unsupported)
/// for a mesh that is not an octree, or one of single cells with more than one level (fold it into blocks first);
/// Error(corrupt) if the parts are not one complete 2:1 tree.
FlashReport write_flash(const mesh::Dataset& dataset, const std::filesystem::path& path,
                        const WriteOptions& options = {});

}  // namespace octavo::formats::flash
