#pragma once
#include "octavo/formats/med/write.hpp"
#include "octavo/mesh/dataset.hpp"

namespace octavo::formats::med {

/// Writes the parameters, which belong to no mesh: NPLAN, DATE and TIME as TELEMAC has them; those that make the same
/// SERAFIN file again (iparam_1 ..., real_bytes, little_endian); and the other whole numbers of a MED file.
void write_parameters(MedWriter& writer, const mesh::Header& header, int planes);

}  // namespace octavo::formats::med
