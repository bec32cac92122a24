#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "octavo/analysis/select.hpp"

namespace octavo::analysis {

/// The selected cells of a part as flat arrays of one length, coarse levels first.
struct CellArrays {
  std::vector<double> x, y, z;      ///< centres [code length]; y and z empty where the data lack the axis
  std::vector<double> dx;           ///< edge along x [code length]
  std::vector<std::int32_t> level;  ///< the code's own number
  std::vector<mesh::Field> fields;  ///< one value a cell, in the fields' own types
};

/// Throws as cell_field does.
CellArrays cell_arrays(const mesh::Part& part, const mesh::Header& header, const Selection& selection,
                       const std::vector<std::string>& fields);

}  // namespace octavo::analysis
