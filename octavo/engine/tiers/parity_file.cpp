#include "octavo/engine/tiers/parity_file.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <utility>

#include "octavo/base/byte_order.hpp"
#include "octavo/base/checksum.hpp"
#include "octavo/base/error.hpp"
#include "octavo/codec/erasure.hpp"
#include "octavo/store/cbor.hpp"
#include "octavo/store/layout.hpp"

/// A parity file: rows of blocks; a header in CBOR with a checksum of each block; a tail of 32 bytes that gives the
/// header's place and checksum. The tail is written last, after a sync, so a file without it was never finished.
namespace octavo::engine {
namespace {

using base::Error;
using base::Kind;
namespace cbor = store::cbor;
namespace fs = std::filesystem;

// At the end of a parity file: a magic word, then the place of the header and its checksum.
constexpr std::array<char, 8> magic{'O', 'C', 'T', 'P', 'A', 'R', '0', '1'};
using Tail = std::array<std::byte, 32>;

Tail to_tail(const store::Extent& header) {
  Tail tail{};
  std::memcpy(tail.data(), magic.data(), magic.size());
  base::store(tail.data() + 8, header.offset, std::endian::little);
  base::store(tail.data() + 16, header.length, std::endian::little);
  base::store(tail.data() + 24, header.checksum, std::endian::little);
  return tail;
}

// Nothing if the magic word is not there.
std::optional<store::Extent> parse_tail(const Tail& tail) {
  if (std::memcmp(tail.data(), magic.data(), magic.size()) != 0) return {};
  const auto number = [&](std::size_t at) { return base::load<std::uint64_t>(tail.data() + at, std::endian::little); };
  return store::Extent{number(8), number(16), number(24)};
}

constexpr std::int64_t any = std::numeric_limits<std::int64_t>::max();

std::uint64_t blocks_of(std::uint64_t chunk) { return (chunk + parity_block - 1) / parity_block; }

cbor::Value number(std::uint64_t value) { return {static_cast<std::int64_t>(value)}; }

std::vector<std::byte> to_cbor(const ParityHeader& h, const std::vector<std::uint64_t>& sums) {
  std::vector<std::int64_t> segments;
  std::vector<std::uint64_t> subfiles, bytes, checksums;
  for (const ProtectedFile& file : h.members) {
    segments.push_back(file.segment);
    subfiles.push_back(static_cast<std::uint64_t>(file.subfile));
    bytes.push_back(file.bytes);
    checksums.push_back(file.checksum);
  }
  cbor::Bytes run;
  run.bytes.assign(h.name.run.begin(), h.name.run.end());
  const cbor::Map map{{"safety", {std::string(name_of(h.safety))}},
                      {"order", number(h.name.order)},
                      {"base", number(h.name.base)},
                      {"run", {run}},
                      {"step", {h.step}},
                      {"segments", {std::int64_t{h.segments}}},
                      {"group", {std::int64_t{h.group}}},
                      {"lane", {std::int64_t{h.name.segment}}},
                      {"member", {std::int64_t{h.member}}},
                      {"members", {static_cast<std::int64_t>(h.members.size())}},
                      {"rows", {std::int64_t{h.rows}}},
                      {"chunk", number(h.chunk)},
                      {"segment", cbor::column(segments)},
                      {"subfile", cbor::column(subfiles)},
                      {"bytes", cbor::column(bytes)},
                      {"checksum", cbor::column(checksums)},
                      {"block sums", cbor::column(sums)}};
  std::vector<std::byte> out;
  cbor::write({map}, out);
  return out;
}

Safety scheme_named(const std::string& name) {
  const Safety safety = parse_safety(name);
  if (safety == Safety::local || safety == Safety::store) throw Error(Kind::corrupt, "no scheme of parity: " + name);
  return safety;
}

// Readers rely on this: the counts agree, and the blocks fill the file up to the header.
void check(const ParityHeader& h, const std::vector<std::uint64_t>& sums, std::uint64_t payload) {
  const auto rows = static_cast<std::uint64_t>(h.rows);
  if (h.rows >= static_cast<int>(h.members.size()) || h.member >= static_cast<int>(h.members.size()))
    throw Error(Kind::corrupt, "more rows of parity, or a higher member, than the group has members");
  if (h.chunk > payload || payload != h.chunk * rows)
    throw Error(Kind::corrupt, "expected " + std::to_string(rows) + " rows of " + std::to_string(h.chunk) +
                                   " bytes, found " + std::to_string(payload) + " bytes");
  if (sums.size() != blocks_of(h.chunk) * rows) throw Error(Kind::corrupt, "a checksum of a block is missing");
  for (const ProtectedFile& file : h.members)
    if (file.segment >= h.segments || file.bytes > h.chunk * (h.members.size() - rows))
      throw Error(Kind::corrupt, "a member's segment or size is larger than parity can be made of");
}

ParityFile from_cbor(std::span<const std::byte> bytes, std::uint64_t payload) {
  const cbor::Value value = cbor::parse(bytes);
  const cbor::Map& map = cbor::map(value, "the header");
  ParityFile out;
  ParityHeader& h = out.header;
  const auto small = [&](const char* key, int least) {
    return static_cast<int>(cbor::integer(map, key, least, std::numeric_limits<int>::max()));
  };
  h.safety = scheme_named(cbor::text(map, "safety"));
  h.name.flow = store::Flow::checkpoint;
  h.name.order = static_cast<std::uint64_t>(cbor::integer(map, "order", 1, any));
  h.name.base = static_cast<std::uint64_t>(cbor::integer(map, "base", 0, any));
  const auto run = cbor::bytes(map, "run", h.name.run.size());
  std::copy(run.begin(), run.end(), h.name.run.begin());
  h.name.segment = small("lane", 0);
  h.step = cbor::integer(map, "step", std::numeric_limits<std::int64_t>::min(), any);
  h.segments = small("segments", 1);
  h.group = small("group", 0);
  h.member = small("member", 0);
  h.rows = static_cast<int>(cbor::integer(map, "rows", 1, codec::most_parity_rows));
  h.chunk = static_cast<std::uint64_t>(cbor::integer(map, "chunk", 0, any));
  h.members.resize(static_cast<std::size_t>(cbor::integer(map, "members", 2, codec::most_erasure_blocks)));
  const std::size_t n = h.members.size();
  const auto segments = cbor::integers(cbor::at(map, "segment"), "segment");
  const auto subfiles = cbor::counts(map, "subfile", n), sizes = cbor::counts(map, "bytes", n),
             checksums = cbor::counts(map, "checksum", n);
  if (segments.size() != n) throw Error(Kind::corrupt, "segment: expected a number for each member");
  for (std::size_t i = 0; i < n; ++i) {
    if (segments[i] < -1 || segments[i] >= h.segments || subfiles[i] >= static_cast<std::uint64_t>(h.segments))
      throw Error(Kind::corrupt, "a member's segment or subfile is not one of the step's");
    h.members[i] = {static_cast<int>(segments[i]), static_cast<int>(subfiles[i]), sizes[i], checksums[i]};
  }
  if (h.name.order <= h.name.base) throw Error(Kind::corrupt, "the order is not above that of the run's begin");
  out.sums =
      cbor::counts(map, "block sums", static_cast<std::size_t>(blocks_of(h.chunk)) * static_cast<std::size_t>(h.rows));
  check(h, out.sums, payload);
  return out;
}

std::string bytes_from_to(std::uint64_t first, std::uint64_t size) {
  return "bytes " + std::to_string(first) + " to " + std::to_string(first + size);
}

Error other_checksum(std::uint64_t expected, std::uint64_t found) {
  return Error(Kind::corrupt,
               "checksum differs: expected " + std::to_string(expected) + ", found " + std::to_string(found));
}

}  // namespace

std::uint64_t chunk_bytes(const std::vector<ProtectedFile>& members, int rows) {
  std::uint64_t largest = 0;
  for (const ProtectedFile& file : members) largest = std::max(largest, file.bytes);
  const std::uint64_t data = members.size() - static_cast<std::size_t>(rows);
  return (largest + data - 1) / data;
}

fs::path parity_path(const fs::path& root, const LocalName& name, Safety safety) {
  return root / (to_text(name) + "." + std::string(name_of(safety)));
}

// ------------------------------------------------------------------ written

ParityWriter::ParityWriter(const fs::path& path, ParityHeader header)
    : header_(std::move(header)),
      file_(file::create(path)),
      sums_(static_cast<std::size_t>(blocks_of(header_.chunk)) * static_cast<std::size_t>(header_.rows)) {
  file::preallocate(file_, header_.chunk * static_cast<std::uint64_t>(header_.rows));
}

void ParityWriter::write(int row, std::uint64_t at, std::span<const std::byte> block) {
  const auto r = static_cast<std::uint64_t>(row);
  file::pwrite_all(file_, r * header_.chunk + at, block);
  sums_[static_cast<std::size_t>(r * blocks_of(header_.chunk) + at / parity_block)] = base::checksum(block);
}

std::uint64_t ParityWriter::finish() {
  // The blocks are on disk before the tail that vouches for them.
  file::sync(file_);
  std::vector<std::byte> end = to_cbor(header_, sums_);
  const store::Extent header{header_.chunk * static_cast<std::uint64_t>(header_.rows), end.size(), base::checksum(end)};
  const Tail tail = to_tail(header);
  end.insert(end.end(), tail.begin(), tail.end());
  file::pwrite_all(file_, header.offset, end);
  file::sync(file_);
  file::sync_directory(file_.path().parent_path());
  return header.offset + end.size();
}

// ------------------------------------------------------------------ read

std::optional<ParityFile> read_parity(const fs::path& path) try {
  const file::File file = file::open_read(path);
  const std::uint64_t size = file::size(file);
  Tail tail{};
  if (size < tail.size()) return {};
  const std::uint64_t end = size - tail.size();
  file::pread_all(file, end, tail);
  const auto place = parse_tail(tail);
  if (!place) return {};
  if (place->length > end || place->offset != end - place->length)
    throw Error(Kind::corrupt, "the header's place does not fit the file").at("byte " + std::to_string(end));
  std::vector<std::byte> header(static_cast<std::size_t>(place->length));
  file::pread_all(file, place->offset, header);
  try {
    if (base::checksum(header) != place->checksum) throw other_checksum(place->checksum, base::checksum(header));
    ParityFile out = from_cbor(header, place->offset);
    out.path = path;
    return out;
  } catch (const Error& error) {
    throw Error(Kind::corrupt, error.message()).at(bytes_from_to(place->offset, place->length));
  }
} catch (Error& error) {
  throw error.at(path.string());
}

std::vector<fs::path> parity_paths(const fs::path& root) {
  std::vector<fs::path> paths;
  std::error_code error;
  for (fs::directory_iterator it(root, error), end; !error && it != end; it.increment(error)) {
    const fs::path name = it->path().filename();
    for (const Safety safety : {Safety::partner, Safety::xor_group, Safety::reed_solomon})
      if (name.extension() == "." + std::string(name_of(safety)) && parse_local_name(name.stem().string()))
        paths.push_back(it->path());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

std::vector<ParityFile> list_parity(const fs::path& root, std::vector<std::string>& notes) {
  std::vector<ParityFile> found;
  for (const fs::path& path : parity_paths(root)) try {
      if (auto parity = read_parity(path)) found.push_back(std::move(*parity));
    } catch (const Error& damage) {
      notes.push_back("damage: " + std::string(damage.what()));
    }
  return found;
}

void check_blocks(const ParityFile& parity) try {
  const file::File file = file::open_read(parity.path);
  const std::uint64_t chunk = parity.header.chunk;
  std::vector<std::byte> block(static_cast<std::size_t>(std::min(parity_block, chunk)));
  std::size_t next = 0;
  for (std::uint64_t row = 0; row < static_cast<std::uint64_t>(parity.header.rows); ++row)
    for (std::uint64_t at = 0; at < chunk; at += parity_block) {
      const auto some = std::span(block).first(static_cast<std::size_t>(std::min(parity_block, chunk - at)));
      file::pread_all(file, row * chunk + at, some);
      const std::uint64_t expected = parity.sums[next++];
      if (const std::uint64_t sum = base::checksum(some); sum != expected)
        throw other_checksum(expected, sum).at(bytes_from_to(row * chunk + at, some.size()));
    }
} catch (Error& error) {
  throw error.at(parity.path.string());
}

}  // namespace octavo::engine
