#include "octavo/base/error.hpp"
#include "octavo/engine/step/group.hpp"
#include "octavo/mesh/pack.hpp"

namespace octavo::store {

template <class Way>
void both(Way& way, Stream& stream) {
  both(way, stream.kind);
  both(way, stream.index);
  both(way, stream.field);
  both(way, stream.first_level);
  both(way, stream.last_level);
  both(way, stream.raw_bytes);
  both(way, stream.raw_checksum);
  both(way, stream.stored_checksum);
  both(way, stream.stored_bytes);
  both(way, stream.offset);
  both(way, stream.codec);
}

template <class Way>
void both(Way& way, MeshArray& array) {
  both(way, array.of);
  both(way, array.info);
}

template <class Way>
void both(Way& way, EncodedPart& part) {
  both(way, part.index);
  both(way, part.shape.dim);
  both(way, part.shape.roots);
  both(way, part.shape.block);
  both(way, part.cells);
  both(way, part.owned);
  both(way, part.leaves);
  both(way, part.intervals);
  both(way, part.lo);
  both(way, part.hi);
  both(way, part.keys.begin);
  both(way, part.keys.end);
  both(way, part.fields);
  both(way, part.widths);
  both(way, part.species);
  both(way, part.opaque);
  both(way, part.triangles);
  both(way, part.share);
  both(way, part.mesh);
  both(way, part.streams);
}

}  // namespace octavo::store

namespace octavo::engine {

using base::Error;
using base::Kind;

std::vector<std::byte> to_message(const store::EncodedPart& part) {
  base::Put put;
  // Put only reads: resize(size()) and raw(&value) leave the part as it is.
  both(put, const_cast<store::EncodedPart&>(part));
  return std::move(put.bytes);
}

store::EncodedPart part_of_message(std::span<const std::byte> bytes) {
  base::Get get{bytes};
  store::EncodedPart part;
  both(get, part);
  if (!get.bytes.empty()) throw Error(Kind::corrupt, "a message between ranks is too long");
  return part;
}

}  // namespace octavo::engine
