#include "octavo/store/read/part.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <new>
#include <optional>

#include "octavo/base/checksum.hpp"
#include "octavo/base/error.hpp"
#include "octavo/base/memory.hpp"
#include "octavo/mesh/tree/prune.hpp"
#include "octavo/store/bounds.hpp"
#include "octavo/store/level_boxes.hpp"
#include "octavo/store/level_sides.hpp"
#include "octavo/store/pack.hpp"

/// Reads one part: the tree, then the fields that are asked for, level after level. Each size is checked before memory
/// is taken for it, first against the table, which check_table() has checked against itself. Raw values go from the
/// file straight into place; of an encoded field a stream and its values are in memory.
namespace octavo::store {
namespace {

using base::BitArray;
using base::Error;
using base::Kind;

Error differs(const std::string& what, std::uint64_t expected, std::uint64_t found) {
  return Error(Kind::corrupt, what + ": expected " + std::to_string(expected) + ", found " + std::to_string(found));
}

void check_raw(const StreamRow& stream, std::uint64_t found) {
  if (found != stream.raw_checksum) throw Error(Kind::corrupt, "checksum of the decoded values differs");
}

void check_raw(const StreamRow& stream, std::span<const std::byte> values, std::size_t scalar) {
  if (stream.raw_checksum != 0) check_raw(stream, checksum_little_endian(values, scalar));
}

void check_taken(const StreamRow& stream, std::size_t taken) {
  if (taken != stream.stored_bytes) throw differs("bytes that decoding took", stream.stored_bytes, taken);
}

// Runs work. Errors that it throws name the stream.
template <class Work>
void within(const Table& table, const StreamRow& stream, Work&& work) {
  try {
    work();
  } catch (Error& error) {
    throw error.at(describe(table, stream));
  }
}

// ------------------------------------------------------------------ mesh

// Decodes one level after another. `begin` decodes what comes before the levels and returns how many bytes it took.
// `size_of_level` returns how many bits the next level has, or throws, so that we never allocate for a wrong size.
template <class Begin, class SizeOfLevel>
std::vector<BitArray> decode_bits(const StreamRow& stream, const Fetch& fetch, std::size_t count, Begin&& begin,
                                  SizeOfLevel&& size_of_level) {
  const auto stored = fetch(stream);
  std::vector<BitArray> levels;
  std::vector<std::byte> raw;
  std::size_t taken = begin(stored, raw);
  for (std::size_t l = 0; l < count; ++l) {
    BitArray level(size_of_level(l, levels));
    taken += codec::decode_bits(std::span<const std::byte>(stored).subspan(taken), level);
    pack_bits(level, raw);
    levels.push_back(std::move(level));
  }
  check_taken(stream, taken);
  if (stream.raw_checksum != 0) check_raw(stream, base::checksum(raw));
  return levels;
}

void check_counts(const mesh::Octree& tree, const PartRow& part) {
  for (std::size_t l = 0; l < part.cells.size(); ++l) {
    const int level = static_cast<int>(l);
    const std::string where = " on level index " + std::to_string(l);
    if (num_owned(tree, level) != part.owned[l])
      throw differs("owned cells" + where, part.owned[l], num_owned(tree, level));
    if (num_owned_leaves(tree, level) != part.leaves[l])
      throw differs("owned leaves" + where, part.leaves[l], num_owned_leaves(tree, level));
  }
}

mesh::Octree decode_tree(const Table& table, const PartRow& part, const Fetch& fetch) {
  mesh::Octree tree;
  tree.dim = table.header.dim;
  tree.roots = table.header.roots;
  tree.block = table.header.block;
  const std::size_t levels = part.cells.size();
  const StreamRow& refinement = table.streams[part.first_stream];
  const StreamRow& ownership = table.streams[part.first_stream + 1];
  const auto all_roots = static_cast<std::uint64_t>(mesh::num_roots(tree.roots));
  const auto decode_roots = [&](std::span<const std::byte> stored, std::vector<std::byte>& raw) {
    // Without held roots there are no numbers in front of the bits.
    if (part.intervals == 0) return std::size_t{0};
    const auto count = 2 * static_cast<std::size_t>(part.intervals);
    // The chunk's own head may lie: memory is taken for the table's count only.
    if (codec::inspect(stored).values != count)
      throw differs("numbers of the held roots", count, codec::inspect(stored).values);
    std::vector<std::uint64_t> numbers(count);
    const std::size_t taken =
        codec::decode_integers(stored, sizeof(numbers[0]), std::as_writable_bytes(std::span(numbers)));
    hold(tree, roots_of_numbers(numbers, part.cells[0], all_roots));
    pack_numbers(numbers, raw);
    return taken;
  };
  const auto nothing = [](std::span<const std::byte>, std::vector<std::byte>&) { return std::size_t{0}; };
  // Level 0 has the cells of the held roots. Every other level has as many cells as its parents have children.
  const auto size_of_level = [&](std::size_t l, const std::vector<BitArray>& refined) {
    const std::uint64_t expected = l == 0 ? part.cells[0] : refined[l - 1].count() * family_size(tree);
    if (expected != part.cells[l]) throw differs("cells of level index " + std::to_string(l), part.cells[l], expected);
    return static_cast<std::size_t>(expected);
  };
  within(table, refinement, [&] {
    tree.refined = decode_bits(refinement, fetch, levels - 1, decode_roots, size_of_level);
    // The deepest level has no refined cells, so the stream has no bits for it.
    tree.refined.emplace_back(size_of_level(levels - 1, tree.refined));
  });
  within(table, ownership, [&] {
    tree.owned = decode_bits(ownership, fetch, levels, nothing,
                             [&](std::size_t l, const auto&) { return tree.refined[l].size(); });
  });
  // The table's counts were sizes so far. Now they must be those of the tree.
  validate(tree);
  check_counts(tree, part);
  return tree;
}

// ------------------------------------------------------------------ fields

// A field's values on levels 0 to `deepest`, and where each level begins.
struct LevelValues {
  mesh::ScalarType type = mesh::ScalarType::float64;
  std::span<std::byte> bytes;
  std::size_t width = 1;
  std::vector<std::size_t> offsets;  // in cells
  const NeighbourSource* neighbours = nullptr;
  LevelBoxes* boxes = nullptr;
  LevelSides* sides = nullptr;
  std::span<const std::byte> weights{};  // one a cell, of the same type; empty: none
  std::span<std::byte> levels(std::size_t first, std::size_t last) const {
    const std::size_t cell = width * mesh::size_of(type);
    return bytes.subspan(offsets[first] * cell, (offsets[last + 1] - offsets[first]) * cell);
  }
  template <class T>
  std::span<T> level(std::size_t l) const {
    const auto of_level = levels(l, l);
    return {reinterpret_cast<T*>(of_level.data()), of_level.size() / sizeof(T)};
  }
};

using Parents = std::vector<std::vector<std::uint32_t>>;

// Neighbours cost a pass over the whole mesh, so only a chunk that needs them asks for them.
codec::Neighbours neighbours_for(std::span<const std::byte> stored, const LevelValues& values) {
  if (values.neighbours == nullptr || !*values.neighbours || !codec::needs_neighbours(stored)) return {};
  return (*values.neighbours)();
}

template <class T>
std::size_t decode_level(std::span<const std::byte> stored, LevelValues& values, std::size_t level,
                         const Parents& parents, std::size_t family) {
  codec::Context<T> context;
  context.width = values.width;
  if (!parents[level].empty()) context = {values.level<T>(level - 1), parents[level], family, values.width};
  context.neighbours = neighbours_for(stored, values);
  if (values.boxes != nullptr && codec::needs_boxes(stored)) context.boxes = values.boxes->of(level, values.width);
  if (values.sides != nullptr && codec::needs_sides(stored)) context.sides = values.sides->of(level);
  if (!values.weights.empty()) {
    const std::span<const T> weights(reinterpret_cast<const T*>(values.weights.data()),
                                     values.weights.size() / sizeof(T));
    context.weights = weights.subspan(values.offsets[level], values.offsets[level + 1] - values.offsets[level]);
  }
  return codec::decode(stored, context, values.level<T>(level));
}

std::size_t decode_level(std::span<const std::byte> stored, LevelValues& values, std::size_t level,
                         const Parents& parents, std::size_t family) {
  switch (values.type) {
    case mesh::ScalarType::float64: return decode_level<double>(stored, values, level, parents, family);
    case mesh::ScalarType::float32: return decode_level<float>(stored, values, level, parents, family);
    default: return codec::decode_integers(stored, mesh::size_of(values.type), values.levels(level, level));
  }
}

// A raw stream has one checksum, of all its values. To check it we also read values that nobody asked for.
void check_whole(std::span<const std::byte> stored, const StreamRow& stream, const LevelValues& values,
                 std::size_t family) {
  const auto first = static_cast<std::size_t>(stream.first_level), last = static_cast<std::size_t>(stream.last_level);
  LevelValues whole;
  std::vector<std::byte> memory(values.offsets[last + 1] * values.width * mesh::size_of(values.type));
  whole.type = values.type;
  whole.bytes = memory;
  whole.width = values.width;
  whole.offsets = values.offsets;
  whole.neighbours = values.neighbours;
  const Parents none(last + 1);
  std::size_t taken = 0;
  for (std::size_t level = first; level <= last; ++level)
    taken += decode_level(stored.subspan(taken), whole, level, none, family);
  check_taken(stream, taken);
  check_raw(stream, whole.levels(first, last), mesh::size_of(whole.type));
}

// Decodes levels [first_level, deepest] of the stream. If these are all its levels, we can check the raw checksum.
void decode_stream(std::span<const std::byte> stored, const StreamRow& stream, std::size_t deepest, LevelValues& values,
                   const Parents& parents, std::size_t family) {
  const auto first = static_cast<std::size_t>(stream.first_level), last = static_cast<std::size_t>(stream.last_level);
  std::size_t taken = 0;
  for (std::size_t level = first; level <= std::min(last, deepest); ++level)
    taken += decode_level(stored.subspan(taken), values, level, parents, family);
  // The checksum of decoded values is of all levels, so it cannot be checked here. The stored bytes were checked when
  // they were read, if the stream has a checksum of them.
  if (last > deepest) {
    if (stream.stored_checksum == 0 && stream.raw_checksum != 0) check_whole(stored, stream, values, family);
    return;
  }
  check_taken(stream, taken);
  check_raw(stream, values.levels(first, last), mesh::size_of(values.type));
}

// Reads a level that is stored raw. Returns false if its head is not that of a raw level.
bool read_level(const ReadTo& read_to, std::uint64_t& offset, std::span<std::byte> values, std::size_t scalar,
                bool integers, base::RunningChecksum* sum) {
  const auto expected = codec::raw_head(integers, scalar, values.size() / scalar);
  std::vector<std::byte> head(expected.size());
  read_to(offset, head);
  if (head != expected) return false;
  offset += head.size();
  // With a checksum we read in tiles, and sum each while it is in the cache.
  const std::size_t tile = sum == nullptr ? values.size() : tile_bytes;
  for (std::size_t begin = 0; begin < values.size(); begin += tile) {
    const auto part = values.subspan(begin, std::min(tile, values.size() - begin));
    read_to(offset + begin, part);
    if (sum != nullptr) sum->add(part);
  }
  offset += values.size();
  return true;
}

// Reads a stream of raw values straight into place. Returns false if the stream must be decoded instead.
bool read_in_place(const ReadTo& read_to, const StreamRow& stream, std::size_t deepest, const LevelValues& values) {
  const auto first = static_cast<std::size_t>(stream.first_level), last = static_cast<std::size_t>(stream.last_level);
  if (!read_to || stream.stored_checksum != 0 || last > deepest || std::endian::native != std::endian::little)
    return false;
  const std::size_t scalar = mesh::size_of(values.type);
  const bool integers = has_integer_chunks(values.type);
  std::uint64_t expected = values.levels(first, last).size();
  for (std::size_t level = first; level <= last; ++level)
    expected += codec::raw_head(integers, scalar, values.levels(level, level).size() / scalar).size();
  if (expected != stream.stored_bytes) return false;
  std::optional<base::RunningChecksum> sum;
  if (stream.raw_checksum != 0) sum.emplace();
  std::uint64_t offset = stream.offset;
  for (std::size_t level = first; level <= last; ++level)
    if (!read_level(read_to, offset, values.levels(level, level), scalar, integers, sum ? &*sum : nullptr))
      return false;
  if (sum) check_raw(stream, sum->value());
  return true;
}

// The caller's memory for a field; if it gives none, the field's own.
std::span<std::byte> memory_for(mesh::Field& field, std::size_t bytes, const Place& place) {
  if (place) {
    const auto given = place(field.info, bytes);
    if (!given.empty() && given.size() != bytes)
      throw Error(Kind::usage, "memory for a field: expected " + std::to_string(bytes) + " bytes, found " +
                                   std::to_string(given.size()))
          .at("field " + field.info.name);
    if (!given.empty()) return given;
  }
  field.bytes.resize(bytes);
  return field.bytes;
}

// Where each level begins in the values of a part's fields. Triangles are one level.
struct LevelOffsets {
  std::vector<std::size_t> offsets;  // in cells
  Parents parents;
  std::size_t family = 1;
  LevelBoxes* boxes = nullptr;
  LevelSides* sides = nullptr;
};

// The fields that weigh a field on levels 0 to `deepest`.
std::vector<std::size_t> weights_in(const Table& table, const PartRow& part, std::size_t index, std::size_t deepest) {
  std::vector<std::size_t> weights;
  for (std::size_t s = part.first_stream; s < part.last_stream; ++s) {
    const StreamRow& stream = table.streams[s];
    if (stream.kind == StreamKind::field && stream.index == index && stream.weights &&
        static_cast<std::size_t>(stream.first_level) <= deepest)
      weights.push_back(*stream.weights);
  }
  return weights;
}

// Decodes fields of a part, each once, after the field that weighs it.
class FieldDecoder {
 public:
  FieldDecoder(const Table& table, const PartRow& part, const LevelOffsets& levels, std::size_t deepest,
               const PartSource& source)
      : table_(table), part_(part), levels_(levels), deepest_(deepest), source_(source) {
    fields_.resize(table.header.fields.size());
    values_.resize(fields_.size());
  }

  // The field. If `place` gave memory for it, its values are there.
  mesh::Field& decode(std::size_t index, const Place& place) {
    if (fields_[index]) return *fields_[index];
    mesh::Field& field = fields_[index].emplace(mesh::Field{table_.header.fields[index], {}});
    LevelValues values;
    values.width = static_cast<std::size_t>(table_.widths[index]);
    values.offsets = levels_.offsets;
    values.neighbours = &source_.neighbours;
    values.boxes = levels_.boxes;
    values.sides = levels_.sides;
    values.type = field.info.type;
    values.bytes = memory_for(field, levels_.offsets[deepest_ + 1] * values.width * mesh::size_of(values.type), place);
    values_[index] = values.bytes;
    for (std::size_t s = part_.first_stream; s < part_.last_stream; ++s) {
      const StreamRow& stream = table_.streams[s];
      if (stream.kind != StreamKind::field || stream.index != index ||
          static_cast<std::size_t>(stream.first_level) > deepest_)
        continue;
      values.weights = stream.weights ? weights(*stream.weights) : std::span<const std::byte>{};
      within(table_, stream, [&] {
        if (!read_in_place(source_.read_to, stream, deepest_, values))
          decode_stream(source_.fetch(stream), stream, deepest_, values, levels_.parents, levels_.family);
      });
    }
    return field;
  }

  // Frees the field's values, unless other fields need them.
  void drop(std::size_t index) {
    for (std::size_t s = part_.first_stream; s < part_.last_stream; ++s)
      if (table_.streams[s].weights == index) return;
    fields_[index].reset();
  }

 private:
  // A table that was checked has no weights of weights.
  std::span<const std::byte> weights(std::size_t index) {
    decode(index, {});
    return values_[index];
  }

  const Table& table_;
  const PartRow& part_;
  const LevelOffsets& levels_;
  std::size_t deepest_;
  const PartSource& source_;
  std::vector<std::optional<mesh::Field>> fields_;
  std::vector<std::span<const std::byte>> values_;
};

std::vector<mesh::Field> decode_fields(const Table& table, const PartRow& part, const LevelOffsets& levels,
                                       const std::vector<std::size_t>& chosen, std::size_t deepest,
                                       const PartSource& source) {
  FieldDecoder decoder(table, part, levels, deepest, source);
  // Those without weights first: a field that weighs others must be in the caller's memory before they need it.
  for (const std::size_t index : chosen)
    if (weights_in(table, part, index, deepest).empty()) decoder.decode(index, source.place);
  std::vector<mesh::Field> fields;
  for (const std::size_t index : chosen) fields.push_back(std::move(decoder.decode(index, source.place)));
  return fields;
}

// ------------------------------------------------------------------ particles, arrays of a mesh

mesh::Field decode_attribute(const mesh::FieldInfo& info, std::uint64_t count, const StreamRow& stream,
                             std::span<const std::byte> stored) {
  const auto width = static_cast<std::size_t>(info.components);
  mesh::Field field = mesh::make_field(info, static_cast<std::size_t>(count) * width);
  const std::size_t scalar = mesh::size_of(info.type);
  std::size_t taken = 0;
  if (info.type == mesh::ScalarType::float64) {
    taken = codec::decode(stored, codec::Context<double>{{}, {}, 1, width}, field.as<double>());
  } else if (info.type == mesh::ScalarType::float32) {
    taken = codec::decode(stored, codec::Context<float>{{}, {}, 1, width}, field.as<float>());
  } else {
    taken = codec::decode_integers(stored, scalar, field.bytes);
  }
  check_taken(stream, taken);
  check_raw(stream, field.bytes, scalar);
  return field;
}

std::vector<mesh::Particles> decode_particles(const Table& table, const PartRow& part, const Fetch& fetch) {
  std::vector<mesh::Particles> all;
  for (std::size_t s = 0; s < table.species.size(); ++s) {
    mesh::Particles particles{table.species[s].name, static_cast<std::int64_t>(part.particles[s]), {}};
    for (const mesh::FieldInfo& info : table.species[s].attributes) particles.attributes.push_back({info, {}});
    all.push_back(std::move(particles));
  }
  const auto places = attribute_places(table.species);
  for (std::size_t s = part.first_stream; s < part.last_stream; ++s) {
    const StreamRow& stream = table.streams[s];
    if (stream.kind != StreamKind::particles) continue;
    const AttributePlace place = places[stream.index];
    mesh::Field& field = all[place.species].attributes[place.attribute];
    within(table, stream,
           [&] { field = decode_attribute(field.info, part.particles[place.species], stream, fetch(stream)); });
  }
  return all;
}

// ------------------------------------------------------------------ detail

std::size_t deepest_level(const mesh::Header& header, const mesh::Request& request, const PartRow& part) {
  const int asked = mesh::level_index(header, request.max_level);
  return static_cast<std::size_t>(std::clamp(asked, 0, static_cast<int>(part.cells.size()) - 1));
}

// Removes branches whose owned cells were all below `deepest`. They are padding now, which no pruned part keeps.
void prune_again(mesh::Octree& tree, std::vector<mesh::Field>& fields, const std::vector<std::uint64_t>& widths) {
  mesh::Extract pruned = mesh::prune(tree);
  if (num_cells(pruned.tree) == num_cells(tree)) return;
  for (std::size_t f = 0; f < fields.size(); ++f)
    fields[f].bytes = mesh::gather(tree, pruned, fields[f].bytes,
                                   static_cast<std::size_t>(widths[f]) * mesh::size_of(fields[f].info.type));
  tree = std::move(pruned.tree);
}

// Checks that the decoded streams fit into memory: a wrong large size in a file must not make us swap.
void check_memory(const Table& table, const PartRow& part, std::size_t deepest, const mesh::Request& request,
                  const std::vector<std::size_t>& chosen) {
  const std::vector<std::size_t> needed = with_weights(table, part, chosen, deepest);
  std::uint64_t bytes = 0;
  for (std::size_t s = part.first_stream; s < part.last_stream; ++s) {
    const StreamRow& stream = table.streams[s];
    const bool wanted = stream.kind == StreamKind::particles ? request.particles
                        : stream.kind == StreamKind::mesh    ? request.mesh
                        : stream.kind == StreamKind::opaque  ? request.opaque
                        : !is_known(stream.kind)             ? false
                        : stream.kind == StreamKind::field
                            ? static_cast<std::size_t>(stream.first_level) <= deepest &&
                                  std::find(needed.begin(), needed.end(), stream.index) != needed.end()
                            : true;
    if (wanted) bytes += std::min(stream.raw_bytes, std::numeric_limits<std::uint64_t>::max() - bytes);
  }
  base::need_memory(bytes, "reading a part");
}

mesh::Part read_part(const Table& table, const PartRow& row, const mesh::Request& request, const PartSource& source) {
  const auto chosen = mesh::select_fields(table.header, request.fields);
  // The whole tree is decoded even for few levels: it is small beside the fields, and tells where their levels begin.
  const std::size_t deepest = deepest_level(table.header, request, row);
  check_memory(table, row, deepest, request, chosen);
  mesh::Part part;
  part.index = row.index;
  mesh::Octree tree = decode_tree(table, row, source.fetch);
  if (!chosen.empty()) {
    LevelBoxes boxes(tree);
    LevelSides sides(tree);
    part.fields = decode_fields(table, row, {level_offsets(tree), parents_of(tree), family_size(tree), &boxes, &sides},
                                chosen, deepest, source);
  }
  if (deepest + 1 < row.cells.size()) {
    if (source.place) throw Error(Kind::usage, "fields are read into place only to their finest level");
    tree = mesh::truncate(tree, static_cast<int>(deepest)).tree;
    std::vector<std::uint64_t> widths;
    for (std::size_t index : chosen) widths.push_back(table.widths[index]);
    prune_again(tree, part.fields, widths);
  }
  part.mesh = std::move(tree);
  if (request.particles) part.particles = decode_particles(table, row, source.fetch);
  return part;
}

}  // namespace

namespace {

StoredTriangles read_share(const Table& table, const PartRow& row, const mesh::Request& request,
                           const PartSource& source) {
  const auto chosen = mesh::select_fields(table.header, request.fields);
  check_memory(table, row, 0, request, chosen);
  StoredTriangles part;
  part.index = row.index;
  part.mesh = *table.triangles;
  part.share = row.share;
  part.arrays = table.mesh;
  part.values.resize(part.arrays.size());
  for (std::size_t s = row.first_stream; s < row.last_stream && request.mesh; ++s) {
    const StreamRow& stream = table.streams[s];
    if (stream.kind != StreamKind::mesh) continue;
    const MeshArray& array = part.arrays[stream.index];
    within(table, stream, [&] {
      const std::uint64_t count = row.share.of(array.of);
      part.values[stream.index] = decode_attribute(array.info, count, stream, source.fetch(stream)).bytes;
    });
  }
  for (const std::size_t field : chosen) {
    const auto values = static_cast<std::size_t>(values_of_share(table, row, field));
    part.fields.push_back(
        std::move(decode_fields(table, row, {{0, values}, {{}}, 1, nullptr, nullptr}, {field}, 0, source)[0]));
  }
  return part;
}

template <class Read>
auto decode(const Table& table, std::size_t row, const mesh::Request& request, const PartSource& source, Read&& read) {
  const PartRow& part = table.parts[row];
  try {
    auto out = read(table, part, request, source);
    if (request.opaque) out.opaque = decode_opaque(table, row, source.fetch);
    return out;
  } catch (Error& error) {
    throw error.at("part " + std::to_string(part.index));
  } catch (const std::bad_alloc&) {
    throw Error(Kind::no_space, "out of memory").at("part " + std::to_string(part.index));
  }
}

}  // namespace

std::vector<std::size_t> with_weights(const Table& table, const PartRow& part, std::vector<std::size_t> fields,
                                      std::size_t deepest) {
  for (std::size_t f = 0, chosen = fields.size(); f < chosen; ++f)
    for (const std::size_t by : weights_in(table, part, fields[f], deepest))
      if (std::find(fields.begin(), fields.end(), by) == fields.end()) fields.push_back(by);
  return fields;
}

mesh::Part decode_part(const Table& table, std::size_t row, const mesh::Request& request, const PartSource& source) {
  return decode(table, row, request, source, read_part);
}

void decode_each(const Table& table, std::size_t row, const std::vector<std::size_t>& fields, const PartSource& source,
                 const std::function<void(const mesh::Field&)>& take) {
  if (fields.empty()) return;
  const auto read = [&](const Table&, const PartRow& part, const mesh::Request&, const PartSource&) {
    const mesh::Octree tree = decode_tree(table, part, source.fetch);
    LevelBoxes boxes(tree);
    LevelSides sides(tree);
    const LevelOffsets levels{level_offsets(tree), parents_of(tree), family_size(tree), &boxes, &sides};
    FieldDecoder decoder(table, part, levels, part.cells.size() - 1, source);
    for (const std::size_t index : fields) {
      take(decoder.decode(index, {}));
      decoder.drop(index);
    }
    return mesh::Part{};
  };
  mesh::Request request;
  request.opaque = false;
  decode(table, row, request, source, read);
}

StoredTriangles decode_triangles(const Table& table, std::size_t row, const mesh::Request& request,
                                 const PartSource& source) {
  return decode(table, row, request, source, read_share);
}

std::map<std::string, std::vector<std::byte>> decode_opaque(const Table& table, std::size_t row, const Fetch& fetch) {
  const PartRow& part = table.parts[row];
  std::map<std::string, std::vector<std::byte>> all;
  for (std::size_t s = part.first_stream; s < part.last_stream; ++s) {
    const StreamRow& stream = table.streams[s];
    if (stream.kind != StreamKind::opaque) continue;
    within(table, stream, [&] {
      base::need_memory(stream.raw_bytes, "reading opaque bytes");
      std::vector<std::byte>& bytes = all[table.opaque[stream.index]];
      bytes.resize(static_cast<std::size_t>(stream.raw_bytes));
      check_taken(stream, codec::decode_integers(fetch(stream), 1, bytes));
      check_raw(stream, bytes, 1);
    });
  }
  return all;
}

void check_part(const Table& table, std::size_t row, const mesh::Part& part) {
  const PartRow& expected = table.parts[row];
  const Bounds bounds = bounds_of(std::get<mesh::Octree>(part.mesh), domain_of(table.header));
  if (bounds.lo != expected.lo || bounds.hi != expected.hi)
    throw Error(Kind::corrupt, "the table's bounding box is not that of the owned cells")
        .at("part " + std::to_string(expected.index));
  if (bounds.keys != expected.keys)
    throw Error(Kind::corrupt, "the table's curve keys are not those of the owned leaves")
        .at("part " + std::to_string(expected.index));
}

}  // namespace octavo::store
