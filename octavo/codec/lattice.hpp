#pragma once
#include <array>
#include <optional>

#include "octavo/codec/chunk.hpp"

/// Inside the codec room: where the grid of a lossy chunk lies (docs/codecs.md, "Lattice"). The encoder chooses it so
/// that errors cancel (centre.hpp).
namespace octavo::codec {

struct Lattice {
  /// How far the grid is moved for positive and for negative values, in steps: multiples of 2^-48 in [0, 1).
  std::array<double, 2> phase{};
  unsigned narrow = 0;           ///< the step is smaller by this many 65536ths; less than 65536
  std::optional<double> common;  ///< a value, not 0, that has a cell of its own
  bool operator==(const Lattice&) const = default;
};

void put_lattice(Bytes& out, const Lattice& lattice, Scalar scalar);
Lattice get_lattice(ChunkReader& in, Scalar scalar);

/// An error bound: the shortest decimal number that is read back as it, where that is shorter than its bits.
void put_bound(Bytes& out, double bound);
double get_bound(ChunkReader& in);

}  // namespace octavo::codec
