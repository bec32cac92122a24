#include "octavo/base/error.hpp"
#include "octavo/engine/step/group.hpp"
#include "octavo/engine/values.hpp"

namespace octavo::engine {

using base::Error;
using base::Kind;

// Not in an anonymous namespace: they are found from values.hpp by their first argument.
template <class Way>
void both(Way& way, mesh::FieldInfo& info) {
  both(way, info.name);
  both(way, info.unit);
  both(way, info.type);
  both(way, info.centring);
  both(way, info.components);
  both(way, info.ghost);
}

template <class Way>
void both(Way& way, mesh::SpeciesInfo& info) {
  both(way, info.name);
  both(way, info.count);
  both(way, info.attributes);
}

template <class Way>
void both(Way& way, mesh::CurveKey& key) {
  both(way, key.high);
  both(way, key.low);
}

template <class Way>
void both(Way& way, store::Stream& stream) {
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
void both(Way& way, store::EncodedPart& part) {
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
  both(way, part.streams);
}

std::vector<std::byte> to_message(const store::EncodedPart& part) {
  Put put;
  // Put only reads: resize(size()) and raw(&value) leave the part as it is.
  both(put, const_cast<store::EncodedPart&>(part));
  return std::move(put.bytes);
}

store::EncodedPart part_of_message(std::span<const std::byte> bytes) {
  Get get{bytes};
  store::EncodedPart part;
  both(get, part);
  if (!get.bytes.empty()) throw Error(Kind::corrupt, "a message between ranks is too long");
  return part;
}

}  // namespace octavo::engine
