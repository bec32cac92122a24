#pragma once
#include "octavo/file/hdf5/hdf5.hpp"
#include "octavo/mesh/field.hpp"

namespace octavo::formats::vtkhdf {

/// The type that a field gets in a file: float32 or float64, integers of 4 or 8 bytes, unsigned ones of 1 byte. It
/// holds every value of `type`, but for reals with `single_precision`, and for unsigned integers of 2^63 or more.
mesh::ScalarType type_in_file(mesh::ScalarType type, bool single_precision);
/// The values in that type.
mesh::Field as_in_file(mesh::Field field, mesh::ScalarType type);
file::hdf5::ItemType item_type_of(mesh::ScalarType type);

}  // namespace octavo::formats::vtkhdf
