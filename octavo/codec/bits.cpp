#include <algorithm>

#include "octavo/codec/codec.hpp"
#include "octavo/codec/entropy.hpp"

namespace octavo::codec {

namespace {

enum class BitForm : std::uint8_t { packed = 0, zstd = 1, zeros = 2, ones = 3, coded = 4 };

Bytes pack(const base::BitArray& bits) {
  Bytes packed(8 * bits.words().size());
  to_little_endian(std::span(bits.words()), std::span<std::byte>(packed));
  packed.resize((bits.size() + 7) / 8);
  return packed;
}

void unpack(Bytes packed, base::BitArray& bits, const ChunkReader& in) {
  const std::size_t rest = bits.size() % 8;
  if (rest != 0 && (static_cast<unsigned>(packed.back()) >> rest) != 0) in.fail("bits are set after the last");
  packed.resize(8 * bits.words().size());
  from_little_endian(std::span<const std::byte>(packed), std::span(bits.words()));
}

Bytes coded(const Bytes& packed) {
  Symbols symbols(packed.size());
  for (std::size_t i = 0; i < packed.size(); ++i) symbols.symbol[i] = static_cast<std::uint8_t>(packed[i]);
  Bytes out;
  encode_symbols(symbols, Alphabet::plain, {1, packed.size(), 1}, {}, out);
  return out;
}

}  // namespace

void encode_bits(const base::BitArray& bits, Effort effort, std::vector<std::byte>& out) {
  Bytes payload;
  const auto finish = [&] { put_chunk(out, ChunkId::bits, Scalar::bits, bits.size(), payload); };
  const std::size_t set = bits.count();
  if (set == 0 || set == bits.size()) {
    put_byte(payload, static_cast<std::size_t>(set == 0 ? BitForm::zeros : BitForm::ones));
    return finish();
  }
  const Bytes packed = pack(bits);
  Bytes frame, best = packed;
  BitForm form = BitForm::packed;
  const auto consider = [&](BitForm candidate, const Bytes& bytes) {
    if (bytes.size() >= best.size()) return;
    best = bytes;
    form = candidate;
  };
  zstd_compress(packed, effort == Effort::max ? Search::all : Search::repeats, frame);
  consider(BitForm::zstd, frame);
  // A tiny frame leaves nothing to save, and steps of a run wait for their trees: we do not try another form then.
  if (frame.size() > 64 || effort == Effort::max) consider(BitForm::coded, coded(packed));
  put_byte(payload, static_cast<std::size_t>(form));
  put_bytes(payload, best);
  finish();
}

std::size_t decode_bits(std::span<const std::byte> in, base::BitArray& out) {
  ChunkReader reader(in);
  const ChunkHead head = read_head(reader);
  if (head.id != ChunkId::bits || head.scalar != Scalar::bits) reader.fail("expected a chunk of bits");
  if (head.count != out.size())
    reader.fail("expected " + std::to_string(out.size()) + " bits, found " + std::to_string(head.count));
  ChunkReader payload = reader.part(head.payload);
  const auto form = static_cast<BitForm>(payload.byte());
  Bytes packed((out.size() + 7) / 8);
  if (form == BitForm::zeros || form == BitForm::ones) {
    out = base::BitArray(out.size(), form == BitForm::ones);
  } else if (form == BitForm::packed) {
    const auto bytes = payload.take(packed.size());
    unpack(Bytes(bytes.begin(), bytes.end()), out, payload);
  } else if (form == BitForm::zstd) {
    zstd_decompress(payload.take(payload.left()), packed, payload);
    unpack(std::move(packed), out, payload);
  } else if (form == BitForm::coded) {
    Symbols symbols;
    decode_symbols(payload, Alphabet::plain, {1, packed.size(), 1}, {}, symbols);
    for (std::size_t i = 0; i < packed.size(); ++i) packed[i] = static_cast<std::byte>(symbols.symbol[i]);
    unpack(std::move(packed), out, payload);
  } else {
    payload.fail("unknown form of bits");
  }
  payload.finish();
  return reader.position();
}

}  // namespace octavo::codec
