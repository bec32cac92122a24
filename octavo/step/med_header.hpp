#pragma once
#include "octavo/formats/med/write.hpp"
#include "octavo/mesh/dataset.hpp"

namespace octavo::step {

/// What belongs to no mesh of a MED file: NPLAN, DATE and TIME as TELEMAC has them; what else makes the same SERAFIN
/// file again (iparam_1 ..., real_bytes, little_endian); and the other whole numbers of a MED file.
void write_med_parameters(formats::med::Writer& writer, const mesh::Header& header, int planes);

}  // namespace octavo::step
