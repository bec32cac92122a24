#pragma once
#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "octavo/formats/ramses/amr_header.hpp"
#include "octavo/formats/ramses/tree.hpp"
#include "octavo/mesh/field.hpp"

namespace octavo::formats::ramses {

/// The files with cell variables. They differ in their header only.
enum class CellKind { hydro, grav, rt };
/// "hydro", "grav", "rt": how the file names begin.
std::string prefix(CellKind kind);

/// The records of a hydro, grav or rt file before its values.
struct CellHeader {
  int ncpu = 0;
  int variables = 0;  ///< records a cell position
  int nlevelmax = 0, nboundary = 0;
  double gamma = 0;  ///< hydro and rt
};
CellHeader read_cell_header(file::RecordReader& reader, CellKind kind, int ndim);
/// Bytes a value, 8 or 4, from the first list that is not empty; 8 where all are. Walks on from the header.
std::size_t find_value_width(file::RecordReader& reader);

/// One variable to read, and where to: a field of one value a tree cell of DomainTree::tree.
struct Wanted {
  int variable = 0;  ///< in record order, from 0
  mesh::Field* field = nullptr;
};

/// Reads variables behind the header, down to the tree's deepest level, straight into the fields. Cells that the file
/// does not have keep their value. Error(corrupt) where the lists are not those of the amr header, a record has another
/// size, or (`whole`: all levels of the file are in the tree) the file goes on.
void read_cells(file::RecordReader& reader, const CellHeader& cell_header, const AmrHeader& header,
                const DomainTree& tree, std::span<const Wanted> wanted, bool whole);

}  // namespace octavo::formats::ramses
