#pragma once
#include <span>
#include <string>
#include <vector>

#include "octavo/formats/flash/flash.hpp"
#include "octavo/formats/flash/tree_arrays.hpp"

/// The pieces of write_flash.
namespace octavo::formats::flash {

/// A data set of block values to write, and the field or, for a face variable, the two fields it is made of.
struct OutputVariable {
  std::string set;        ///< 4 characters, blanks included
  bool listed = true;     ///< in "unknown names"
  std::size_t field = 0;  ///< in Header::fields: of cells, or the low faces
  std::size_t right = 0;  ///< face variables: the high faces
  mesh::Centring centring = mesh::Centring::cell;
  bool single = false;
};

/// What will be written; decided before anything is.
struct OutputPlan {
  FileKind kind = FileKind::checkpoint;
  Frame frame;
  BlockTree tree;
  std::vector<OutputVariable> variables;
  bool single_positions = false;
  std::string species;               ///< empty: none
  std::vector<std::string> columns;  ///< its attributes, by Octavo's names
  std::vector<std::string> added;    ///< columns that it lacks: blk, proc, tag
  Attributes attributes;             ///< lists with all that FLASH needs
};

/// Error(usage) for names or types that FLASH does not have.
std::vector<OutputVariable> plan_variables(const mesh::Header& header, const WriteOptions& options);

/// Writes the variables, part by part, and their minimum and maximum over leaf cells.
void write_variables(const file::hdf5::File& file, const mesh::Dataset& dataset, const OutputPlan& plan);

/// Particles of all parts in rows, grouped by block.
struct ParticleRows {
  std::vector<double> values;           ///< [rows][columns + added]
  std::vector<std::int64_t> per_block;  ///< localnp
  std::int64_t rows = 0, outside = 0;
};
ParticleRows collect_particles(const mesh::Dataset& dataset, const OutputPlan& plan,
                               const std::vector<std::int32_t>& processor);
void write_particles(const file::hdf5::File& file, const OutputPlan& plan, const ParticleRows& rows);

}  // namespace octavo::formats::flash
