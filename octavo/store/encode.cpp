#include <algorithm>
#include <cmath>
#include <limits>

#include "octavo/base/byte_order.hpp"
#include "octavo/base/checksum.hpp"
#include "octavo/base/error.hpp"
#include "octavo/store/bounds.hpp"
#include "octavo/store/pack.hpp"
#include "octavo/store/store.hpp"

namespace octavo::store {
namespace {

using base::Error;
using base::Kind;

// The coarse levels of a part are small and read together: they share one stream until it holds this many cells. Every
// deeper level has its own, so that a reader may stop at any.
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

// Everything the fields of a part have in common.
struct Layout {
  const mesh::Octree& tree;
  std::vector<std::size_t> offsets;                 // of each level's first cell
  std::vector<std::vector<std::uint32_t>> parents;  // per level; empty for level 0 and for blocks
  std::vector<LevelGroup> groups;
};

Layout layout_of(const mesh::Octree& tree) {
  Layout layout{tree, level_offsets(tree), parents_of(tree), level_groups(tree)};
  return layout;
}

void finish(Stream& stream) { stream.stored_checksum = base::checksum(stream.bytes); }

Stream stream_of(StreamKind kind, const LevelGroup& group) {
  Stream stream;
  stream.kind = kind;
  stream.first_level = static_cast<int>(group.first);
  stream.last_level = static_cast<int>(group.last);
  return stream;
}

// ------------------------------------------------------------------ mesh

Stream encode_mesh(StreamKind kind, const std::vector<base::BitArray>& levels, std::size_t count,
                   codec::Effort effort) {
  Stream stream = stream_of(kind, {0, levels.size() - 1});
  if (kind == StreamKind::ownership) stream.field.push_back('?');
  std::vector<std::byte> raw;
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

template <class T>
void encode_levels(std::span<const T> values, std::size_t width, const codec::Settings& settings, const Layout& layout,
                   std::vector<Stream>& streams) {
  std::vector<T> decoded(values.size());
  const auto cells = [&](std::span<T> all, std::size_t level) {
    return all.subspan(layout.offsets[level] * width, (layout.offsets[level + 1] - layout.offsets[level]) * width);
  };
  for (const LevelGroup& group : layout.groups) {
    Stream stream = stream_of(StreamKind::field, group);
    LargestChunk largest;
    for (std::size_t level = group.first; level <= group.last; ++level) {
      const auto out = cells(decoded, level);
      codec::Context<T> context;
      context.width = width;
      if (!layout.parents[level].empty())
        context = {cells(decoded, level - 1), layout.parents[level], family_size(layout.tree), width};
      largest.see(out.size(), stream.bytes.size());
      codec::encode(values.subspan(layout.offsets[level] * width, out.size()), context, settings, out, stream.bytes);
    }
    const std::size_t begin = layout.offsets[group.first] * width, end = layout.offsets[group.last + 1] * width;
    const auto raw = std::as_bytes(std::span<const T>(decoded).subspan(begin, end - begin));
    stream.codec = codec::inspect(std::span<const std::byte>(stream.bytes).subspan(largest.at)).name;
    stream.raw_bytes = raw.size();
    stream.raw_checksum = checksum_little_endian(raw, sizeof(T));
    streams.push_back(std::move(stream));
  }
}

void encode_integer_levels(const mesh::Field& field, std::size_t width, codec::Effort effort, const Layout& layout,
                           std::vector<Stream>& streams) {
  const std::size_t scalar = mesh::size_of(field.info.type);
  for (const LevelGroup& group : layout.groups) {
    Stream stream = stream_of(StreamKind::field, group);
    const auto part = [&](std::size_t first, std::size_t last) {
      const std::size_t begin = layout.offsets[first] * width * scalar, end = layout.offsets[last] * width * scalar;
      return std::span<const std::byte>(field.bytes).subspan(begin, end - begin);
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

std::vector<float> to_single(const mesh::Field& field) {
  const auto values = field.as<double>();
  std::vector<float> singles(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    singles[i] = static_cast<float>(values[i]);
    if (std::isinf(singles[i]) && std::isfinite(values[i]))
      throw Error(Kind::usage, "the value " + std::to_string(values[i]) + " does not fit single precision")
          .at("field " + field.info.name)
          .hint("store it in double precision");
  }
  return singles;
}

std::size_t width_of(const mesh::Field& field, const mesh::Octree& tree) {
  const std::size_t cells = num_cells(tree), width = field.size() / cells;
  if (width == 0 || field.size() != width * cells || width % static_cast<std::size_t>(field.info.components) != 0)
    throw Error(Kind::usage, "expected a whole number of values for each of " + std::to_string(cells) +
                                 " tree cells, found " + std::to_string(field.size()))
        .at("field " + field.info.name);
  return width;
}

const codec::Settings& settings_of(const std::string& name, const EncodeOptions& options) {
  const auto found = options.field_codec.find(name);
  return found == options.field_codec.end() ? options.codec : found->second;
}

void encode_field(const mesh::Field& field, const EncodeOptions& options, const Layout& layout, EncodedPart& out,
                  std::vector<Stream>& streams) {
  const std::size_t width = width_of(field, layout.tree), begin = streams.size();
  const codec::Settings& settings = settings_of(field.info.name, options);
  mesh::FieldInfo info = field.info;
  if (info.type == mesh::ScalarType::float64 && options.single_precision) {
    info.type = mesh::ScalarType::float32;
    encode_levels<float>(to_single(field), width, settings, layout, streams);
  } else if (info.type == mesh::ScalarType::float64) {
    encode_levels(field.as<double>(), width, settings, layout, streams);
  } else if (info.type == mesh::ScalarType::float32) {
    encode_levels(field.as<float>(), width, settings, layout, streams);
  } else {
    encode_integer_levels(field, width, settings.effort, layout, streams);
  }
  for (std::size_t s = begin; s < streams.size(); ++s) {
    streams[s].field = info.name;
    streams[s].index = out.fields.size();
    finish(streams[s]);
  }
  out.fields.push_back(std::move(info));
  out.widths.push_back(width);
}

// ------------------------------------------------------------------ particles

template <class T>
void encode_plain(std::span<const T> values, std::size_t width, codec::Effort effort, Stream& stream) {
  std::vector<T> decoded(values.size());
  codec::Settings lossless;
  lossless.effort = effort;
  codec::Context<T> context;
  context.width = width;
  codec::encode(values, context, lossless, decoded, stream.bytes);
  stream.codec = codec::inspect(stream.bytes).name;
}

Stream encode_attribute(const mesh::Field& field, codec::Effort effort) {
  Stream stream = stream_of(StreamKind::particles, {0, 0});
  const std::size_t scalar = mesh::size_of(field.info.type), width = static_cast<std::size_t>(field.info.components);
  if (field.info.type == mesh::ScalarType::float64) {
    encode_plain(field.as<double>(), width, effort, stream);
  } else if (field.info.type == mesh::ScalarType::float32) {
    encode_plain(field.as<float>(), width, effort, stream);
  } else {
    codec::encode_integers(field.bytes, scalar, effort, stream.bytes);
    stream.codec = "integers";
  }
  stream.raw_bytes = field.bytes.size();
  stream.raw_checksum = checksum_little_endian(field.bytes, scalar);
  finish(stream);
  return stream;
}

void encode_particles(const mesh::Particles& particles, codec::Effort effort, std::size_t& index, EncodedPart& out) {
  mesh::SpeciesInfo info{particles.species, particles.count, {}};
  for (const mesh::SpeciesInfo& other : out.species)
    if (other.name == info.name) throw Error(Kind::usage, "the part has species " + info.name + " twice");
  for (const mesh::Field& field : particles.attributes) {
    const auto expected = static_cast<std::size_t>(particles.count) * static_cast<std::size_t>(field.info.components);
    if (particles.count < 0 || field.size() != expected)
      throw Error(Kind::usage,
                  "expected " + std::to_string(expected) + " values, found " + std::to_string(field.size()))
          .at("particles " + particles.species + "/" + field.info.name);
    if (particles.count > 0) {
      out.streams.push_back(encode_attribute(field, effort));
      out.streams.back().field = particles.species + "/" + field.info.name;
      out.streams.back().index = index;
    }
    ++index;
    info.attributes.push_back(field.info);
  }
  out.species.push_back(std::move(info));
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

EncodedPart encode_part(const mesh::Part& part, const mesh::Header& header, const EncodeOptions& options) {
  const auto* tree = std::get_if<mesh::Octree>(&part.mesh);
  if (tree == nullptr) throw Error(Kind::unsupported, "stores of version 1.0 hold octrees only");
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
  out.streams.push_back(encode_mesh(StreamKind::refinement, tree->refined, tree->refined.size() - 1, effort));
  out.streams.push_back(encode_mesh(StreamKind::ownership, tree->owned, tree->owned.size(), effort));
  const Layout layout = layout_of(*tree);
  std::vector<Stream> streams;
  for (const mesh::Field& field : part.fields) encode_field(field, options, layout, out, streams);
  // Coarse groups of all fields first: what a reader of the coarse levels needs is a prefix of the part.
  std::stable_sort(streams.begin(), streams.end(),
                   [](const Stream& a, const Stream& b) { return a.first_level < b.first_level; });
  std::move(streams.begin(), streams.end(), std::back_inserter(out.streams));
  std::size_t index = 0;
  for (const mesh::Particles& particles : part.particles) encode_particles(particles, effort, index, out);
  return out;
}

}  // namespace

EncodedPart encode(const mesh::Part& part, const mesh::Header& header, const EncodeOptions& options) {
  try {
    return encode_part(part, header, options);
  } catch (Error& error) {
    throw error.at("part " + std::to_string(part.index));
  }
}

}  // namespace octavo::store
