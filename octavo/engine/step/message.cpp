#include "octavo/base/error.hpp"
#include "octavo/engine/step/group.hpp"
#include "octavo/mesh/pack.hpp"

/// A part's entry as it travels through a local socket. The order of members is the message: both ends are the same
/// program, so nothing else describes it.
namespace octavo::store {

template <class Way>
void both(Way& way, Stream& stream) {
  both(way, stream.kind, stream.index, stream.field, stream.first_level, stream.last_level, stream.raw_bytes,
       stream.raw_checksum, stream.stored_checksum, stream.stored_bytes, stream.offset, stream.codec, stream.weights);
}

template <class Way>
void both(Way& way, MeshArray& array) {
  both(way, array.of, array.info);
}

template <class Way>
void both(Way& way, EncodedPart& part) {
  both(way, part.index, part.shape.dim, part.shape.roots, part.shape.block, part.cells, part.owned, part.leaves,
       part.intervals, part.lo, part.hi, part.keys.begin, part.keys.end, part.fields, part.widths, part.species,
       part.opaque, part.triangles, part.share, part.mesh, part.streams);
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
