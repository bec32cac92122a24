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

/// The files with cell variables. Only their headers differ.
enum class CellKind { hydro, grav, rt };
/// "hydro", "grav" or "rt": the beginning of a file name.
std::string prefix(CellKind kind);

/// The records of a hydro, grav or rt file before its values.
struct CellHeader {
  int ncpu = 0;
  int variables = 0;  ///< records a cell position
  int nlevelmax = 0, nboundary = 0;
  double gamma = 0;  ///< hydro and rt
};
CellHeader read_cell_header(file::RecordReader& reader, CellKind kind, int ndim);
/// Returns the bytes of a value, 8 or 4, according to the first list that is not empty; 8 if all are empty. Reads on
/// from the header.
std::size_t find_value_width(file::RecordReader& reader);

/// One variable to read, and where to: a field of one value a tree cell of DomainTree::tree.
struct WantedVariable {
  int variable = 0;  ///< in record order, from 0
  mesh::Field* field = nullptr;
};

/// Reads variables behind the header, down to the tree's deepest level, straight into the fields. Cells that the file
/// does not have keep their value. Throws Error(corrupt) if the lists differ from those of the amr header, if a record
/// has another size, or, with `whole` (all levels of the file are in the tree), if the file continues behind the last
/// record.
void read_cells(file::RecordReader& reader, const CellHeader& cell_header, const AmrHeader& header,
                const DomainTree& tree, std::span<const WantedVariable> wanted, bool whole);

}  // namespace octavo::formats::ramses
