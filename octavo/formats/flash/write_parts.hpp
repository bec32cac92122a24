#pragma once
#include <span>
#include <string>
#include <vector>

#include "octavo/formats/flash/flash.hpp"
#include "octavo/formats/flash/tree_arrays.hpp"

/// The pieces of write_flash.
namespace octavo::formats::flash {

/// A data set of block values to write. It is made of one field, or of two if it is a face variable.
struct OutputVariable {
  std::string set;        ///< 4 characters, blanks included; more if FLASH does not list it
  bool listed = true;     ///< in "unknown names"
  std::size_t field = 0;  ///< index in Header::fields: values of cells, or of the low faces
  std::size_t right = 0;  ///< face variables: the high faces
  mesh::Centring centring = mesh::Centring::cell;
  mesh::ScalarType type = mesh::ScalarType::float64;
};

/// The plan of a file. It is complete before anything is written.
struct OutputPlan {
  FileKind kind = FileKind::checkpoint;
  TreeFrame frame;
  BlockTree tree;
  std::vector<OutputVariable> variables;
  bool single_positions = false;
  std::string species;               ///< empty: none
  std::vector<std::string> columns;  ///< its attributes, by Octavo's names
  std::string tag;                   ///< the attribute that becomes FLASH's tag; empty: rows are numbered
  std::vector<std::string> added;    ///< columns that it lacks: positions beyond dim (0), blk, proc, tag
  Attributes attributes;             ///< lists with everything that FLASH needs
};

/// Plans a file for a tree of blocks: names, lists with FLASH's defaults, particle columns. Throws the errors of
/// plan_variables().
OutputPlan plan_output(const mesh::Header& header, const std::vector<mesh::SpeciesInfo>& species,
                       const TreeFrame& frame, BlockTree tree, const WriteOptions& options, FlashReport& report);
/// The frame of a step; Error(unsupported) for a tree of single cells.
TreeFrame frame_of(const mesh::Header& header, const mesh::Octree& tree);
/// The lower bound of a block along an axis, as derive() computes it.
double block_bound(const TreeFrame& frame, std::size_t axis, int level, std::int64_t index);

/// A data set that describes the tree. One of the two pointers leads to its values.
struct TreeSet {
  std::string name;
  file::hdf5::ItemType type;
  std::vector<std::uint64_t> shape;
  const std::vector<std::int32_t>* integers = nullptr;
  const std::vector<double>* reals = nullptr;
};
std::vector<TreeSet> tree_sets(const OutputPlan& plan, const TreeArrays& arrays);
void write_unknown_names(const file::hdf5::File& file, const OutputPlan& plan);

/// Error(usage) for names or types that FLASH does not have.
std::vector<OutputVariable> plan_variables(const mesh::Header& header, const WriteOptions& options);

std::vector<std::uint64_t> shape_of(const OutputPlan& plan, const OutputVariable& variable);
/// The number of values of one block in the data set.
std::size_t values_a_block(const OutputPlan& plan, const OutputVariable& variable);
/// Returns a face variable's values for `blocks` blocks, in the order and type of the data set. `low` and `high` faces
/// have these blocks one after another. Throws Error(usage) if the two sides of a face differ.
std::vector<std::byte> face_values(const OutputPlan& plan, const OutputVariable& variable, const mesh::Field& low,
                                   const mesh::Field& high, std::size_t blocks);

/// Particles of all parts as rows, grouped by block.
struct BlockParticles {
  std::vector<double> values;           ///< [rows][columns + added]
  std::vector<std::int64_t> per_block;  ///< localnp
  std::int64_t rows = 0, outside = 0;
};
BlockParticles collect_particles(const mesh::Dataset& dataset, const OutputPlan& plan,
                                 const std::vector<std::int32_t>& processor);
void write_particles(const file::hdf5::File& file, const OutputPlan& plan, const BlockParticles& rows);
/// Adds the particles of one part as rows. Added columns get -1. Throws Error(usage) if an attribute is missing.
void append_rows(const OutputPlan& plan, const mesh::Particles& particles, BlockParticles& out);
/// Returns the position of a column in a row (one of `columns` or `added`, or "tag"), or the width of a row if there is
/// none.
std::size_t column_of(const OutputPlan& plan, const std::string& name);
inline std::size_t width_of(const OutputPlan& plan) { return plan.columns.size() + plan.added.size(); }
/// Makes the particles' data sets, and writes the names of the columns.
void make_particle_sets(const file::hdf5::File& file, const OutputPlan& plan, std::uint64_t rows, std::uint64_t counts);

}  // namespace octavo::formats::flash
