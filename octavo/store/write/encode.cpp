#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>
#include <limits>
#include <utility>

#include "octavo/base/byte_order.hpp"
#include "octavo/base/checksum.hpp"
#include "octavo/base/error.hpp"
#include "octavo/store/bounds.hpp"
#include "octavo/store/level_boxes.hpp"
#include "octavo/store/level_sides.hpp"
#include "octavo/store/pack.hpp"
#include "octavo/store/particle_order.hpp"
#include "octavo/store/read/solids.hpp"
#include "octavo/store/read/triangles.hpp"
#include "octavo/store/store.hpp"
#include "octavo/store/table.hpp"
#include "octavo/store/write/held.hpp"
#include "octavo/store/write/weighing.hpp"

/// Makes the streams of a part. Raw fields only refer to the caller's memory. The encoder also keeps the decoded values
/// of a field: each level is predicted from what a reader will have of the level above, so errors within a
/// bound do not add up.
namespace octavo::store {
namespace {

using base::Error;
using base::Kind;

// The coarse levels of a part are small and read together, so they share one stream until it holds this many cells.
// Every deeper level has a stream of its own, so that a reader can stop at any level.
constexpr std::size_t cells_of_first_group = 16384;

struct LevelGroup {
  std::size_t first = 0, last = 0;
};

std::vector<LevelGroup> level_groups(const mesh::Octree& tree) {
  const std::size_t levels = tree.refined.size();
  std::size_t last = 0;
  for (std::size_t cells = tree.refined[0].size();
       last + 1 < levels && cells * block_size(tree) < cells_of_first_group;)
    cells += tree.refined[++last].size();
  std::vector<LevelGroup> groups{{0, last}};
  for (std::size_t level = last + 1; level < levels; ++level) groups.push_back({level, level});
  return groups;
}

// The properties that all fields of a part share. The points of triangles count as cells of one level.
struct LevelTable {
  std::size_t family = 1;
  std::vector<std::size_t> offsets;                 // of each level's first cell; the last entry: number of all cells
  std::vector<std::vector<std::uint32_t>> parents;  // per level; empty for level 0 and for blocks
  std::vector<LevelGroup> groups;
  codec::Neighbours neighbours;                    // of level 0
  std::vector<std::vector<std::uint8_t>> counted;  // per level: 1 if a cell's error counts, else 0
  LevelBoxes* boxes = nullptr;
  LevelSides* sides = nullptr;
  std::optional<std::size_t> weights;  // the field that weighs others
};

// Marks the owned leaves of a level. Integrals are sums over leaves, so the errors of leaves should cancel. If the
// level has no owned leaves, marks all its owned cells, which a reader of this level uses as leaves.
std::vector<std::uint8_t> counted_cells(const mesh::Octree& tree, std::size_t level) {
  const base::BitArray &owned = tree.owned[level], &refined = tree.refined[level];
  const bool leaves = num_owned_leaves(tree, static_cast<int>(level)) > 0;
  std::vector<std::uint8_t> counted(owned.size(), 0);
  owned.for_each_set([&](std::size_t cell) { counted[cell] = leaves && refined[cell] ? 0 : 1; });
  return counted;
}

LevelTable levels_of(const mesh::Octree& tree, bool encodes) {
  LevelTable table{family_size(tree), level_offsets(tree), {}, level_groups(tree), {}, {}, nullptr, nullptr, {}};
  if (!encodes) return table;
  table.parents = parents_of(tree);
  for (std::size_t level = 0; level < tree.refined.size(); ++level) table.counted.push_back(counted_cells(tree, level));
  return table;
}

void finish(Stream& stream) {
  stream.stored_checksum = base::checksum(stream.bytes);
  stream.stored_bytes = stream.bytes.size();
}

std::size_t bytes_of(const Values& values) { return values.size * mesh::size_of(values.info.type); }

// The packed form as one contiguous range: the caller's memory, or a copy in `memory`. `cells`: tree cells or
// particles.
std::span<const std::byte> packed(const Values& values, std::size_t cells, std::vector<std::byte>& memory) {
  const std::size_t bytes = bytes_of(values);
  if (bytes == 0 || (values.data != nullptr && !values.held)) return {values.data, bytes};
  memory.resize(bytes);
  if (values.held)
    spread(values, bytes / cells, memory);
  else
    values.pack(0, memory);
  return memory;
}
template <class T>
std::span<const T> as(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)};
}

// Whether the values go to the file unchanged.
bool stays_raw(const mesh::FieldInfo& info, const codec::Settings& settings, bool single_precision) {
  return settings.method == codec::Method::raw && std::endian::native == std::endian::little &&
         !(info.type == mesh::ScalarType::float64 && single_precision);
}

void add_piece(Stream& stream, codec::ChunkPiece piece) {
  stream.stored_bytes += piece.head.size() + piece.bytes;
  stream.raw->pieces.push_back(std::move(piece));
}

void add_chunk(Stream& stream, std::size_t count) {
  const mesh::ScalarType type = stream.raw->values.info.type;
  const std::size_t bytes = count * mesh::size_of(type);
  stream.raw_bytes += bytes;
  add_piece(stream, {codec::raw_head(has_integer_chunks(type), mesh::size_of(type), count), bytes});
}

// The same for a level in which only some cells have values.
void add_sparse_chunk(Stream& stream, std::size_t first, std::size_t last, std::size_t width) {
  const Values& values = stream.raw->values;
  const mesh::ScalarType type = values.info.type;
  auto held = part_of(*values.held, first, last);
  for (codec::Range& range : held) range = {range.first * width, range.last * width};
  const std::size_t count = (last - first) * width;
  stream.raw_bytes += count * mesh::size_of(type);
  for (codec::ChunkPiece& piece : codec::sparse_chunk(has_integer_chunks(type), mesh::size_of(type), count, held))
    add_piece(stream, std::move(piece));
}

// Copies the values to which a raw stream of a whole part refers.
void take_values(Stream& stream) {
  const RawStream raw = *std::exchange(stream.raw, std::nullopt);
  std::size_t bytes = 0;
  for (const codec::ChunkPiece& piece : raw.pieces) bytes += piece.bytes;
  std::vector<std::byte> memory;
  std::span<const std::byte> values;
  if (raw.values.held) {
    memory.resize(bytes);
    if (bytes > 0) raw.values.pack(raw.first, memory);
    values = memory;
  } else if (bytes > 0) {
    values = {raw.values.data + raw.first, bytes};
  }
  stream.bytes.reserve(static_cast<std::size_t>(stream.stored_bytes));
  if (!raw.values.held) stream.raw_checksum = base::checksum(values);
  for (const codec::ChunkPiece& piece : raw.pieces) {
    stream.bytes.insert(stream.bytes.end(), piece.head.begin(), piece.head.end());
    stream.bytes.insert(stream.bytes.end(), values.begin(), values.begin() + static_cast<std::ptrdiff_t>(piece.bytes));
    values = values.subspan(piece.bytes);
  }
  finish(stream);
}

// `range`: number of the range in stream_cuts().
void refer(Stream& stream, const Values& values, std::size_t range, bool checksum) {
  stream.codec = has_integer_chunks(values.info.type) ? "integers" : values.held ? "zstd" : "raw";
  stream.raw.emplace();
  stream.raw->values = values;
  stream.raw->checksum = checksum;
  if (checksum && range < values.checksums.size()) stream.raw->expected = values.checksums[range];
}

Stream stream_of(StreamKind kind, const LevelGroup& group) {
  Stream stream;
  stream.kind = kind;
  stream.first_level = static_cast<int>(group.first);
  stream.last_level = static_cast<int>(group.last);
  return stream;
}

// ------------------------------------------------------------------ mesh

// `numbers`: numbers at the beginning of the stream, if any.
Stream encode_mesh(StreamKind kind, const std::vector<base::BitArray>& levels, std::size_t count, codec::Effort effort,
                   std::span<const std::uint64_t> numbers) {
  Stream stream = stream_of(kind, {0, levels.size() - 1});
  if (kind == StreamKind::ownership) stream.field.push_back('?');
  std::vector<std::byte> raw;
  if (!numbers.empty()) codec::encode_integers(std::as_bytes(numbers), sizeof(numbers[0]), effort, stream.bytes);
  pack_numbers(numbers, raw);
  for (std::size_t l = 0; l < count; ++l) {
    codec::encode_bits(levels[l], effort, stream.bytes);
    pack_bits(levels[l], raw);
  }
  stream.codec = "bits";
  stream.raw_bytes = raw.size();
  stream.raw_checksum = base::checksum(raw);
  finish(stream);
  return stream;
}

// ------------------------------------------------------------------ fields

// Names a stream by its largest chunk.
struct LargestChunk {
  std::size_t values = 0, at = 0;
  void see(std::size_t n, std::size_t begin) {
    if (n < values) return;
    values = n;
    at = begin;
  }
};

// `weights`: one a cell; empty: none.
template <class T>
void encode_levels(std::span<const T> values, std::size_t width, const codec::Settings& settings,
                   const LevelTable& table, std::span<const T> weights, std::vector<Stream>& streams) {
  std::vector<T> decoded(values.size());
  const auto cells = [&](std::span<T> all, std::size_t level) {
    return all.subspan(table.offsets[level] * width, (table.offsets[level + 1] - table.offsets[level]) * width);
  };
  for (const LevelGroup& group : table.groups) {
    Stream stream = stream_of(StreamKind::field, group);
    LargestChunk largest;
    for (std::size_t level = group.first; level <= group.last; ++level) {
      const auto out = cells(decoded, level);
      codec::Context<T> context;
      context.width = width;
      // Triangles have one level. Trees have no neighbours, but parents.
      if (level == 0) context.neighbours = table.neighbours;
      if (!table.parents[level].empty())
        context = {cells(decoded, level - 1), table.parents[level], table.family, width};
      context.counted = table.counted[level];
      if (!weights.empty()) context.weights = weights.subspan(table.offsets[level], out.size() / width);
      const bool around = codec::looks_around(settings);
      if (around && table.boxes != nullptr) context.boxes = table.boxes->of(level, width);
      if (around && table.sides != nullptr) context.sides = table.sides->of(level);
      largest.see(out.size(), stream.bytes.size());
      const std::size_t chunk = stream.bytes.size();
      codec::encode(values.subspan(table.offsets[level] * width, out.size()), context, settings, out, stream.bytes);
      // The encoder may have done without the weights. A reader then need not decode them.
      if (codec::needs_weights(std::span<const std::byte>(stream.bytes).subspan(chunk))) stream.weights = table.weights;
    }
    const std::size_t begin = table.offsets[group.first] * width, end = table.offsets[group.last + 1] * width;
    const auto raw = std::as_bytes(std::span<const T>(decoded).subspan(begin, end - begin));
    stream.codec = codec::inspect(std::span<const std::byte>(stream.bytes).subspan(largest.at)).name;
    stream.raw_bytes = raw.size();
    stream.raw_checksum = checksum_little_endian(raw, sizeof(T));
    streams.push_back(std::move(stream));
  }
}

void encode_integer_levels(const mesh::FieldInfo& info, std::span<const std::byte> values, std::size_t width,
                           codec::Effort effort, const LevelTable& table, std::vector<Stream>& streams) {
  const std::size_t scalar = mesh::size_of(info.type);
  for (const LevelGroup& group : table.groups) {
    Stream stream = stream_of(StreamKind::field, group);
    const auto part = [&](std::size_t first, std::size_t last) {
      const std::size_t begin = table.offsets[first] * width * scalar, end = table.offsets[last] * width * scalar;
      return values.subspan(begin, end - begin);
    };
    for (std::size_t level = group.first; level <= group.last; ++level)
      codec::encode_integers(part(level, level + 1), scalar, effort, stream.bytes);
    const auto raw = part(group.first, group.last + 1);
    stream.codec = "integers";
    stream.raw_bytes = raw.size();
    stream.raw_checksum = checksum_little_endian(raw, scalar);
    streams.push_back(std::move(stream));
  }
}

void refer_to_levels(const Values& values, std::size_t width, bool checksum, const LevelTable& table,
                     std::vector<Stream>& streams) {
  for (std::size_t g = 0; g < table.groups.size(); ++g) {
    const LevelGroup& group = table.groups[g];
    Stream stream = stream_of(StreamKind::field, group);
    refer(stream, values, g, checksum);
    const std::size_t before = table.offsets[group.first];
    stream.raw->first =
        (values.held ? cells_of(part_of(*values.held, 0, before)) : before) * width * mesh::size_of(values.info.type);
    for (std::size_t level = group.first; level <= group.last; ++level) {
      const std::size_t first = table.offsets[level], last = table.offsets[level + 1];
      if (values.held)
        add_sparse_chunk(stream, first, last, width);
      else
        add_chunk(stream, (last - first) * width);
    }
    streams.push_back(std::move(stream));
  }
}

std::vector<float> to_single(const std::string& name, std::span<const double> values) {
  std::vector<float> singles(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    singles[i] = static_cast<float>(values[i]);
    if (std::isinf(singles[i]) && std::isfinite(values[i]))
      throw Error(Kind::usage, "the value " + std::to_string(values[i]) + " does not fit single precision")
          .at("field " + name)
          .hint("store it in double precision");
  }
  return singles;
}

std::size_t width_of(const Values& values, const mesh::Octree& tree) {
  const std::size_t cells = num_cells(tree);
  // Without cells the values do not tell the width, so we take the field's width without ghost cells.
  const std::size_t width =
      cells == 0 ? block_size(tree) * static_cast<std::size_t>(values.info.components) : values.size / cells;
  if (width == 0 || values.size != width * cells || width % static_cast<std::size_t>(values.info.components) != 0)
    throw Error(Kind::usage, "expected a whole number of values for each of " + std::to_string(cells) +
                                 " tree cells, found " + std::to_string(values.size))
        .at("field " + values.info.name);
  return width;
}

const codec::Settings& settings_of(const std::string& name, const EncodeOptions& options) {
  const auto found = options.field_codec.find(name);
  return found == options.field_codec.end() ? options.codec : found->second;
}

// `weights`: the values of the field that weighs this one; empty: none.
void encode_values(const Values& values, mesh::FieldInfo& info, std::size_t width, const codec::Settings& settings,
                   bool single_precision, const LevelTable& table, std::span<const std::byte> weights,
                   std::vector<Stream>& streams) {
  std::vector<std::byte> memory;
  const auto bytes = packed(values, table.offsets.back(), memory);
  if (info.type == mesh::ScalarType::float64 && single_precision) {
    info.type = mesh::ScalarType::float32;
    const auto singles = to_single(info.name, as<double>(bytes));
    encode_levels<float>(singles, width, settings, table, {}, streams);
  } else if (info.type == mesh::ScalarType::float64) {
    encode_levels(as<double>(bytes), width, settings, table, as<double>(weights), streams);
  } else if (info.type == mesh::ScalarType::float32) {
    encode_levels(as<float>(bytes), width, settings, table, as<float>(weights), streams);
  } else {
    encode_integer_levels(info, bytes, width, settings.effort, table, streams);
  }
}

void encode_field(const Values& values, std::size_t width, const EncodeOptions& options, const LevelTable& table,
                  std::span<const std::byte> weights, EncodedPart& out, std::vector<Stream>& streams) {
  const std::size_t begin = streams.size();
  const codec::Settings& settings = settings_of(values.info.name, options);
  mesh::FieldInfo info = values.info;
  // Raw values stay in the caller's memory until they are written. They must not change before.
  const bool raw = stays_raw(info, settings, options.single_precision);
  if (raw)
    refer_to_levels(values, width, options.checksums, table, streams);
  else
    encode_values(values, info, width, settings, options.single_precision, table, weights, streams);
  for (std::size_t s = begin; s < streams.size(); ++s) {
    streams[s].field = info.name;
    streams[s].index = out.fields.size();
    if (!raw) finish(streams[s]);
  }
  out.fields.push_back(std::move(info));
  out.widths.push_back(width);
}

// ------------------------------------------------------------------ particles, arrays of a mesh

// Appends the chunk, and takes the checksum of the values that it decodes to.
template <class T>
void encode_plain(std::span<const T> values, std::size_t width, const codec::Settings& settings, Stream& stream) {
  std::vector<T> decoded(values.size());
  codec::Context<T> context;
  context.width = width;
  codec::encode(values, context, settings, decoded, stream.bytes);
  stream.codec = codec::inspect(stream.bytes).name;
  stream.raw_checksum = checksum_little_endian(std::as_bytes(std::span<const T>(decoded)), sizeof(T));
}

// The attribute's own entry. Without one it is stored like the fields, but bit for bit.
codec::Settings settings_of_attribute(const std::string& name, const EncodeOptions& options) {
  if (const auto found = options.field_codec.find(name); found != options.field_codec.end()) return found->second;
  const bool raw = options.codec.method == codec::Method::raw;
  return {{}, options.codec.effort, raw ? codec::Method::raw : codec::Method::automatic};
}

// `order`: of the particles; empty: as they are.
Stream encode_attribute(StreamKind kind, const Values& values, const codec::Settings& settings, bool checksums,
                        std::span<const std::size_t> order = {}) {
  Stream stream = stream_of(kind, {0, 0});
  const std::size_t scalar = mesh::size_of(values.info.type), width = static_cast<std::size_t>(values.info.components);
  // Values in another order are new values, and cannot stay in the caller's memory.
  if (order.empty() && stays_raw(values.info, settings, false)) {
    refer(stream, values, 0, checksums);
    add_chunk(stream, values.size);
    return stream;
  }
  std::vector<std::byte> memory;
  auto bytes = packed(values, 1, memory);
  if (!order.empty()) bytes = memory = in_order(bytes, order);
  stream.raw_bytes = bytes.size();
  if (values.info.type == mesh::ScalarType::float64) {
    encode_plain(as<double>(bytes), width, settings, stream);
  } else if (values.info.type == mesh::ScalarType::float32) {
    encode_plain(as<float>(bytes), width, settings, stream);
  } else {
    codec::encode_integers(bytes, scalar, settings.effort, stream.bytes);
    stream.codec = "integers";
    stream.raw_checksum = checksum_little_endian(bytes, scalar);
  }
  finish(stream);
  return stream;
}

std::vector<Stream> encode_attributes(const SpeciesValues& particles, const EncodeOptions& options,
                                      std::span<const std::size_t> order) {
  std::vector<Stream> streams;
  for (const Values& values : particles.attributes) {
    const std::string name = particles.species + "/" + values.info.name;
    const codec::Settings settings = settings_of_attribute(name, options);
    streams.push_back(encode_attribute(StreamKind::particles, values, settings, options.checksums, order));
    streams.back().field = name;
  }
  return streams;
}

bool has_bound(const SpeciesValues& particles, const EncodeOptions& options) {
  return std::any_of(particles.attributes.begin(), particles.attributes.end(), [&](const Values& values) {
    const auto own = options.field_codec.find(particles.species + "/" + values.info.name);
    const bool real = values.info.type == mesh::ScalarType::float64 || values.info.type == mesh::ScalarType::float32;
    return real && own != options.field_codec.end() && own->second.bound.kind != codec::BoundKind::lossless;
  });
}

std::vector<std::size_t> order_of(const SpeciesValues& particles, const mesh::Header& header) {
  mesh::Particles positions{particles.species, particles.count, {}};
  for (const Values& values : particles.attributes) {
    if (axis_of_position(values.info) < 0) continue;
    std::vector<std::byte> memory;
    const auto bytes = packed(values, 1, memory);
    positions.attributes.push_back({values.info, {bytes.begin(), bytes.end()}});
  }
  return particle_order(positions, header);
}

// Without a bound particles stay in their order. With one they stand along a curve if that takes fewer bytes.
std::vector<Stream> smallest_attributes(const SpeciesValues& particles, const mesh::Header& header,
                                        const EncodeOptions& options) {
  const auto size = [](const std::vector<Stream>& streams) {
    std::uint64_t bytes = 0;
    for (const Stream& stream : streams) bytes += stream.stored_bytes;
    return bytes;
  };
  std::vector<Stream> streams = encode_attributes(particles, options, {});
  if (!has_bound(particles, options)) return streams;
  const auto order = order_of(particles, header);
  if (order.empty()) return streams;
  std::vector<Stream> along = encode_attributes(particles, options, order);
  return size(along) < size(streams) ? along : streams;
}

void check_attributes(const SpeciesValues& particles, const EncodedPart& out) {
  for (const mesh::SpeciesInfo& other : out.species)
    if (other.name == particles.species)
      throw Error(Kind::usage, "the part has species " + particles.species + " twice");
  for (const Values& values : particles.attributes) {
    const auto expected = static_cast<std::size_t>(particles.count) * static_cast<std::size_t>(values.info.components);
    if (particles.count < 0 || values.size != expected)
      throw Error(Kind::usage, "expected " + std::to_string(expected) + " values, found " + std::to_string(values.size))
          .at("particles " + particles.species + "/" + values.info.name);
  }
}

void encode_particles(const SpeciesValues& particles, const mesh::Header& header, const EncodeOptions& options,
                      std::size_t& index, EncodedPart& out) {
  check_attributes(particles, out);
  std::vector<Stream> streams;
  if (particles.count > 0) streams = smallest_attributes(particles, header, options);
  for (std::size_t a = 0; a < streams.size(); ++a) streams[a].index = index + a;
  std::move(streams.begin(), streams.end(), std::back_inserter(out.streams));
  index += particles.attributes.size();
  mesh::SpeciesInfo info{particles.species, particles.count, {}};
  for (const Values& values : particles.attributes) info.attributes.push_back(values.info);
  out.species.push_back(std::move(info));
}

void encode_array(const MeshValues& array, const EncodeOptions& options, EncodedPart& out) {
  const MeshArray described{array.of, array.values.info};
  const auto components = static_cast<std::size_t>(array.values.info.components);
  const std::size_t count = static_cast<std::size_t>(out.share.of(array.of));
  if (array.values.size != count * components)
    throw Error(Kind::usage, "expected " + std::to_string(count * components) + " values, found " +
                                 std::to_string(array.values.size))
        .at("mesh " + name_of(described));
  if (count > 0) {
    const codec::Method method =
        options.codec.method == codec::Method::raw ? codec::Method::raw : codec::Method::automatic;
    const codec::Settings lossless{{}, options.codec.effort, method};
    out.streams.push_back(encode_attribute(StreamKind::mesh, array.values, lossless, options.checksums));
    out.streams.back().field = name_of(described);
    out.streams.back().index = out.mesh.size();
  }
  out.mesh.push_back(described);
}

// ------------------------------------------------------------------ opaque bytes

void encode_opaque(const OpaqueBytes& opaque, codec::Effort effort, EncodedPart& out) {
  if (std::find(out.opaque.begin(), out.opaque.end(), opaque.name) != out.opaque.end())
    throw Error(Kind::usage, "the part has bytes \"" + opaque.name + "\" twice");
  Stream stream = stream_of(StreamKind::opaque, {0, 0});
  stream.field = opaque.name;
  stream.index = out.opaque.size();
  stream.codec = "integers";
  stream.raw_bytes = opaque.bytes.size();
  stream.raw_checksum = base::checksum(opaque.bytes);
  codec::encode_integers(opaque.bytes, 1, effort, stream.bytes);
  finish(stream);
  out.opaque.push_back(opaque.name);
  out.streams.push_back(std::move(stream));
}

// ------------------------------------------------------------------ weights

// Fields that are stored bit for bit from their prediction: any of them may weigh others. Their values must be in
// memory: `pack` reads an array that a run has lent only once, and then the array belongs to the run again.
Weighing weighing_in(const PartView& part, const LevelTable& table, const EncodeOptions& options) {
  std::vector<const Values*> fields;
  for (const Values& values : part.fields) {
    const codec::Settings& settings = settings_of(values.info.name, options);
    const bool fits = values.data != nullptr && !values.held && !options.single_precision &&
                      settings.bound.kind == codec::BoundKind::lossless &&
                      (settings.method == codec::Method::automatic || settings.method == codec::Method::tree);
    fields.push_back(fits ? &values : nullptr);
  }
  return find_weighing(fields, table.offsets, table.parents, table.family);
}

// ------------------------------------------------------------------ the part

void check(const mesh::Octree& tree, const mesh::Header& header) {
  validate(tree);
  if (tree.dim != header.dim || tree.roots != header.roots || tree.block != header.block)
    throw Error(Kind::usage, "the part's tree has not the dimensions, roots or block of the header");
}

void count_cells(const mesh::Octree& tree, EncodedPart& out) {
  for (int level = 0; level < num_levels(tree); ++level) {
    out.cells.push_back(num_cells(tree, level));
    out.owned.push_back(num_owned(tree, level));
    out.leaves.push_back(num_owned_leaves(tree, level));
  }
}

EncodedPart encode_share(const PartView& part, const EncodeOptions& options) {
  EncodedPart out;
  out.index = part.index;
  out.triangles = part.triangles;
  out.share = part.share;
  out.intervals = 0;
  for (const MeshValues& array : part.mesh) encode_array(array, options, out);
  const auto places = static_cast<std::size_t>(part.share.places) * static_cast<std::size_t>(part.triangles->planes);
  for (const Values& field : part.fields) {
    const bool cells = part.triangles->of_solids() && field.info.centring == mesh::Centring::cell;
    const std::size_t values = cells ? static_cast<std::size_t>(part.share.cell_places) : places;
    if (field.size != values || field.info.components != 1 || (!cells && field.info.centring != mesh::Centring::node))
      throw Error(Kind::usage, "expected a value at each of " + std::to_string(values) +
                                   (cells ? " cells" : " points of all planes") + ", found " +
                                   std::to_string(field.size))
          .at("field " + field.info.name);
    const LevelTable table{1, {0, values}, {{}}, {{0, 0}}, part.neighbours, {{}}, nullptr, nullptr, {}};
    encode_field(field, 1, options, table, {}, out, out.streams);
  }
  for (const OpaqueBytes& opaque : part.opaque) encode_opaque(opaque, options.codec.effort, out);
  return out;
}

EncodedPart encode_part(const PartView& part, const mesh::Header& header, const EncodeOptions& options) {
  const mesh::Octree* tree = part.tree;
  check(*tree, header);
  EncodedPart out;
  out.index = part.index;
  out.shape.dim = tree->dim;
  out.shape.roots = tree->roots;
  out.shape.block = tree->block;
  count_cells(*tree, out);
  const Bounds bounds = bounds_of(*tree, domain_of(header));
  out.lo = bounds.lo;
  out.hi = bounds.hi;
  out.keys = bounds.keys;

  const codec::Effort effort = options.codec.effort;
  const mesh::RootIntervals held = held_roots(*tree);
  out.intervals = held.size();
  out.streams.push_back(
      encode_mesh(StreamKind::refinement, tree->refined, tree->refined.size() - 1, effort, numbers_of_roots(held)));
  out.streams.push_back(encode_mesh(StreamKind::ownership, tree->owned, tree->owned.size(), effort, {}));
  const bool encodes = std::any_of(part.fields.begin(), part.fields.end(), [&](const Values& values) {
    return !stays_raw(values.info, settings_of(values.info.name, options), options.single_precision);
  });
  LevelBoxes boxes(*tree);
  LevelSides sides(*tree);
  LevelTable table = levels_of(*tree, encodes);
  table.boxes = &boxes;
  table.sides = &sides;
  std::vector<Stream> streams;
  const Weighing weighing = weighing_in(part, table, options);
  std::vector<std::byte> memory;
  std::span<const std::byte> weights;
  if (std::find(weighing.weighs.begin(), weighing.weighs.end(), true) != weighing.weighs.end()) {
    table.weights = weighing.by;
    weights = packed(part.fields[weighing.by], table.offsets.back(), memory);
  }
  for (std::size_t f = 0; f < part.fields.size(); ++f)
    encode_field(part.fields[f], width_of(part.fields[f], *tree), options, table,
                 weighing.weighs[f] ? weights : std::span<const std::byte>{}, out, streams);
  // The coarse groups of all fields come first, so that a reader of the coarse levels needs only a prefix of the part.
  std::stable_sort(streams.begin(), streams.end(),
                   [](const Stream& a, const Stream& b) { return a.first_level < b.first_level; });
  std::move(streams.begin(), streams.end(), std::back_inserter(out.streams));
  std::size_t index = 0;
  for (const SpeciesValues& species : part.species) encode_particles(species, header, options, index, out);
  for (const OpaqueBytes& opaque : part.opaque) encode_opaque(opaque, effort, out);
  return out;
}

}  // namespace

PartView view_of(const mesh::Part& part) {
  PartView view;
  view.index = part.index;
  view.tree = std::get_if<mesh::Octree>(&part.mesh);
  if (view.tree == nullptr)
    throw Error(Kind::unsupported, "a part in a store is an octree or triangles")
        .at("part " + std::to_string(part.index));
  const auto values_of = [](const mesh::Field& field) {
    Values values;
    values.info = field.info;
    values.size = field.size();
    values.data = field.bytes.data();
    return values;
  };
  for (const mesh::Field& field : part.fields) view.fields.push_back(values_of(field));
  for (const mesh::Particles& particles : part.particles) {
    SpeciesValues species{particles.species, particles.count, {}};
    for (const mesh::Field& field : particles.attributes) species.attributes.push_back(values_of(field));
    view.species.push_back(std::move(species));
  }
  for (const auto& [name, bytes] : part.opaque) view.opaque.push_back({name, bytes});
  return view;
}

std::vector<std::size_t> stream_cuts(const mesh::Octree& tree) {
  const auto offsets = level_offsets(tree);
  std::vector<std::size_t> cuts{0};
  for (const LevelGroup& group : level_groups(tree)) cuts.push_back(offsets[group.last + 1]);
  return cuts;
}

bool has_raw_streams(const EncodedPart& part) {
  return std::any_of(part.streams.begin(), part.streams.end(), [](const Stream& s) { return s.raw.has_value(); });
}

namespace {

// Encodes a part whose streams do not refer to the caller's memory.
EncodedPart encode_whole(const PartView& view, const mesh::Header& header, const EncodeOptions& options) {
  EncodedPart encoded = encode(view, header, options);
  for (Stream& stream : encoded.streams)
    if (stream.raw) take_values(stream);
  return encoded;
}

EncodedPart encode_tree(const mesh::Part& part, const mesh::Header& header, const EncodeOptions& options) {
  PartView view = view_of(part);
  try {
    check(*view.tree, header);
  } catch (Error& error) {
    throw error.at("part " + std::to_string(part.index));
  }
  for (Values& values : view.fields)
    if (stays_raw(values.info, settings_of(values.info.name, options), options.single_precision))
      leave_out_zeros(values, *view.tree);
  return encode_whole(view, header, options);
}

EncodedPart encode_triangles(const mesh::Part& part, const mesh::Header& header, const EncodeOptions& options) {
  const auto& mesh = std::get<mesh::Unstructured>(part.mesh);
  const bool predicts = std::any_of(part.fields.begin(), part.fields.end(), [&](const mesh::Field& field) {
    const codec::Method method = settings_of(field.info.name, options).method;
    return !is_integer(field.info) && (method == codec::Method::automatic || method == codec::Method::tree);
  });
  const StoredTriangles folded = fold(part, options, origin_in(header));
  PartView view = view_of(folded);
  if (!predicts) return encode_whole(view, header, options);
  const NeighbourSource neighbours = options.neighbours ? options.neighbours : neighbours_of(mesh);
  view.neighbours = neighbours();
  return encode_whole(view, header, options);
}

}  // namespace

EncodedPart encode(const mesh::Part& part, const mesh::Header& header, const EncodeOptions& options) {
  if (std::holds_alternative<mesh::Solids>(part.mesh)) {
    const StoredTriangles folded = fold_solids(part, options, origin_in(header));
    return encode_whole(view_of(folded), header, options);
  }
  const bool triangles = std::holds_alternative<mesh::Unstructured>(part.mesh);
  return triangles ? encode_triangles(part, header, options) : encode_tree(part, header, options);
}

EncodedPart encode(const PartView& part, const mesh::Header& header, const EncodeOptions& options) {
  try {
    return part.triangles ? encode_share(part, options) : encode_part(part, header, options);
  } catch (Error& error) {
    throw error.at("part " + std::to_string(part.index));
  }
}

}  // namespace octavo::store
