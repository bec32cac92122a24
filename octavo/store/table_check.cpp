#include <cmath>
#include <set>

#include "octavo/base/error.hpp"
#include "octavo/store/pack.hpp"
#include "octavo/store/table.hpp"

/// Checks once what readers rely on later: counts fit each other from level to level, streams follow in
/// the expected order without overlapping, and sizes follow from counts. Numbers are bounded before they are
/// multiplied.
namespace octavo::store {
namespace {

using base::Error;
using base::Kind;

void check_counts(const Table& table, const PartRow& part) {
  const mesh::Index3& roots = table.header.roots;
  const std::uint64_t family = std::uint64_t{1} << table.header.dim;
  std::uint64_t most = static_cast<std::uint64_t>(roots[0] * roots[1] * roots[2]);
  // Intervals do not touch, and each has at least one root.
  if (part.intervals > part.cells[0] || part.intervals > most - part.cells[0] + 1 ||
      (part.intervals == 0 && part.cells[0] > 0))
    throw inconsistent(std::to_string(part.cells[0]) + " of " + std::to_string(most) + " roots cannot be in " +
                       std::to_string(part.intervals) + " intervals");
  for (std::size_t l = 0; l < part.cells.size(); ++l) {
    const std::uint64_t cells = part.cells[l];
    const bool fits = l == 0 ? cells <= most : cells >= family && cells % family == 0 && cells <= most;
    if (!fits || cells > most_cells || part.owned[l] > cells || part.leaves[l] > part.owned[l])
      throw inconsistent("cells of level index " + std::to_string(l) + " cannot be " + std::to_string(cells) + ", " +
                         std::to_string(part.owned[l]) + " owned, " + std::to_string(part.leaves[l]) +
                         " of them leaves");
    // `cells` is at most most_cells, so the product fits.
    most = cells * family;
  }
  for (std::uint64_t n : part.particles)
    if (n > most_particles) throw inconsistent("too many particles: " + std::to_string(n));
}

void check_share(const Table& table, const PartRow& part) {
  const TriangleMesh& mesh = *table.triangles;
  const TriangleShare& share = part.share;
  const auto points = static_cast<std::uint64_t>(mesh.points), triangles = static_cast<std::uint64_t>(mesh.triangles);
  const bool none = share.points == 0 && share.triangles == 0 && share.boundary == 0 && share.corners == 0;
  const char* elements = mesh.of_solids() ? " cells" : " triangles";
  if (share.places > points || share.points > points || share.triangles > triangles || share.cell_places > triangles ||
      share.corners > static_cast<std::uint64_t>(mesh.corners()) ||
      share.boundary > static_cast<std::uint64_t>(most_points) || (mesh.origin && !none))
    throw inconsistent("a part of a mesh of " + std::to_string(points) + " points and " + std::to_string(triangles) +
                       elements + (mesh.origin ? ", which is another step's," : "") + " cannot have " +
                       std::to_string(share.points) + " points, " + std::to_string(share.triangles) + elements + ", " +
                       std::to_string(mesh.of_solids() ? share.corners : share.boundary) +
                       (mesh.of_solids() ? " corners" : " on the boundary") + ", and values of " +
                       std::to_string(share.places) +
                       (mesh.of_solids() ? " points and " + std::to_string(share.cell_places) + " cells" : ""))
        .at("part " + std::to_string(part.index));
}

// The arrays that every mesh of the kind has.
std::vector<std::string> needed_arrays(const TriangleMesh& mesh) {
  if (mesh.of_solids()) return {"points/x", "points/y", "points/z", "cells/corners", "corners/point"};
  return {"points/x", "points/y", "triangles/connectivity"};
}

void check_centring(const TriangleMesh& mesh, const mesh::FieldInfo& field) {
  const bool at_points = field.centring == mesh::Centring::node;
  if (field.components != 1 || (!at_points && !(mesh.of_solids() && field.centring == mesh::Centring::cell)))
    throw Error(Kind::unsupported, mesh.of_solids()
                                       ? "a field of solids: expected a value at each point or in each cell"
                                       : "a field of triangles: expected a value at each point")
        .at("field " + field.name);
}

// Checks the arrays that every mesh has, and fields of integers. Triangles, cells and boundary may have further arrays.
void check_arrays(const Table& table) {
  std::set<std::string> names;
  const auto expect = [](const MeshArray& array, int components, bool type) {
    if (array.info.components != components || !type)
      throw inconsistent(std::to_string(array.info.components) + " values of " +
                         std::string(mesh::name_of(array.info.type)) + " each, expected " + std::to_string(components))
          .at("mesh " + name_of(array));
  };
  for (const mesh::FieldInfo& field : table.header.fields) check_centring(*table.triangles, field);
  for (const MeshArray& array : table.mesh) {
    const std::string name = name_of(array);
    if (!names.insert(name).second) throw inconsistent("two arrays \"" + name + "\"");
    const mesh::ScalarType type = array.info.type;
    if (name == "points/x" || name == "points/y" || (name == "points/z" && table.triangles->of_solids()))
      expect(array, 1, type == mesh::ScalarType::float32 || type == mesh::ScalarType::float64);
    else if (name == "triangles/connectivity")
      expect(array, 3, type == mesh::ScalarType::int32);
    else if (name == "cells/corners")
      expect(array, 1, type == mesh::ScalarType::uint8);
    else if (name == "corners/point")
      expect(array, 1, type == mesh::ScalarType::int32);
    else if (array.of == MeshSet::points)
      expect(array, table.triangles->planes, mesh::is_integer(type));
  }
  for (const std::string& name : needed_arrays(*table.triangles))
    if (names.count(name) == (table.triangles->origin ? 1u : 0u))
      throw inconsistent(std::string("the mesh ") +
                         (table.triangles->origin ? "is another step's, but has " : "lacks ") + name);
}

std::uint64_t raw_bytes_of(const Table& table, const PartRow& part, const StreamRow& stream) {
  std::uint64_t bytes = stream.kind == StreamKind::refinement ? part.intervals * bytes_of_interval : 0;
  const std::size_t first = static_cast<std::size_t>(stream.first_level);
  const std::size_t last = static_cast<std::size_t>(stream.last_level);
  if (stream.kind == StreamKind::particles) {
    const AttributePlace place = attribute_places(table.species)[stream.index];
    const mesh::FieldInfo& info = table.species[place.species].attributes[place.attribute];
    return part.particles[place.species] * static_cast<std::uint64_t>(info.components) * mesh::size_of(info.type);
  }
  for (std::size_t l = first; l <= last; ++l) {
    // The deepest level has no refined cell, so its bits are not stored.
    if (stream.kind == StreamKind::refinement && l + 1 == part.cells.size()) break;
    if (stream.kind == StreamKind::field)
      bytes += part.cells[l] * table.widths[stream.index] * mesh::size_of(table.header.fields[stream.index].type);
    else
      bytes += packed_bytes(part.cells[l]);
  }
  return bytes;
}

bool is_next_opaque(const Table& table, const StreamRow& stream, std::size_t next) {
  return stream.index < table.opaque.size() && stream.index >= next && stream.first_level == 0 &&
         stream.last_level == 0 && stream.raw_bytes <= most_opaque;
}

// The streams that a part of triangles or solids must have: mesh arrays of which it has values, then fields. Sets kind,
// index and size of each.
std::vector<StreamRow> streams_of_share(const Table& table, const PartRow& part) {
  std::vector<StreamRow> streams;
  const auto add = [&](StreamKind kind, std::size_t index, std::uint64_t values, mesh::ScalarType type) {
    StreamRow& stream = streams.emplace_back();
    stream.kind = kind;
    stream.index = index;
    stream.raw_bytes = values * mesh::size_of(type);
  };
  for (std::size_t a = 0; a < table.mesh.size(); ++a) {
    const MeshArray& array = table.mesh[a];
    const std::uint64_t count = part.share.of(array.of);
    if (count > 0) add(StreamKind::mesh, a, count * static_cast<std::uint64_t>(array.info.components), array.info.type);
  }
  for (std::size_t f = 0; f < table.header.fields.size(); ++f)
    add(StreamKind::field, f, values_of_share(table, part, f), table.header.fields[f].type);
  return streams;
}

// Opaque bytes come after the others; streams of unknown kinds may come anywhere.
void check_share_streams(const Table& table, const PartRow& part) {
  const std::vector<StreamRow> expected = streams_of_share(table, part);
  std::size_t next = 0, next_opaque = 0;
  const auto wrong = [&](const std::string& what) {
    return inconsistent(what).at("part " + std::to_string(part.index));
  };
  const auto next_name = [&] { return next < expected.size() ? describe(table, expected[next]) : "no other stream"; };
  for (std::size_t s = part.first_stream; s < part.last_stream; ++s) {
    const StreamRow& stream = table.streams[s];
    if (!is_known(stream.kind)) continue;
    if (stream.kind == StreamKind::opaque && next == expected.size()) {
      if (!is_next_opaque(table, stream, next_opaque)) throw wrong("opaque bytes are not in order");
      next_opaque = stream.index + 1;
      continue;
    }
    if (next == expected.size() || stream.kind != expected[next].kind || stream.index != expected[next].index)
      throw wrong("stream " + std::to_string(s) + ": expected " + next_name() + ", found kind " +
                  std::to_string(static_cast<int>(stream.kind)) + ", index " + std::to_string(stream.index));
    if (stream.weights) throw wrong(next_name() + ": such a field has no weights");
    if (stream.raw_bytes != expected[next].raw_bytes)
      throw wrong(next_name() + ": expected " + std::to_string(expected[next].raw_bytes) + " bytes of values, found " +
                  std::to_string(stream.raw_bytes));
    ++next;
  }
  if (next < expected.size()) throw wrong("the part lacks " + next_name());
}

// Checks the streams of a part and their order, which follow from its counts. The writer only chooses the level groups
// and may add opaque bytes. Streams of unknown kinds may come anywhere after the mesh.
class StreamOrder {
 public:
  StreamOrder(const Table& table, const PartRow& part) : table_(table), part_(part) {
    const auto places = attribute_places(table.species);
    for (std::size_t a = 0; a < places.size(); ++a)
      if (part.particles[places[a].species] > 0) attributes_.push_back(a);
    next_level_.assign(table.header.fields.size(), 0);
  }

  void accept(const StreamRow& stream, std::size_t position) {
    const int deepest = static_cast<int>(part_.cells.size()) - 1;
    if (position < 2) {
      expect(stream.kind == static_cast<StreamKind>(position) && stream.first_level == 0 &&
             stream.last_level == deepest && stream.index == 0);
    } else if (stream.kind == StreamKind::field) {
      expect(stream.index < next_level_.size() && attribute_ == 0 && next_opaque_ == 0 &&
             next_level_[stream.index] == stream.first_level && stream.last_level >= stream.first_level &&
             stream.last_level <= deepest);
      next_level_[stream.index] = stream.last_level + 1;
      if (stream.weights) check_weights(stream);
    } else if (stream.kind == StreamKind::opaque) {
      expect(is_next_opaque(table_, stream, next_opaque_));
      next_opaque_ = stream.index + 1;
      return;
    } else if (!is_known(stream.kind)) {
      return;
    } else {
      expect(stream.kind == StreamKind::particles && next_opaque_ == 0 && attribute_ < attributes_.size() &&
             stream.index == attributes_[attribute_] && stream.first_level == 0 && stream.last_level == 0);
      ++attribute_;
    }
    expect(stream.raw_bytes == raw_bytes_of(table_, part_, stream));
  }

  void finish() const {
    expect(attribute_ == attributes_.size());
    for (int level : next_level_) expect(level == static_cast<int>(part_.cells.size()));
  }

 private:
  // Weights are one value a cell, of the same type, and need no weights themselves.
  void check_weights(const StreamRow& stream) const {
    const std::size_t by = *stream.weights;
    expect(by < next_level_.size() && table_.widths[by] == 1 &&
           table_.header.fields[by].type == table_.header.fields[stream.index].type);
    for (std::size_t s = part_.first_stream; s < part_.last_stream; ++s)
      expect(table_.streams[s].kind != StreamKind::field || table_.streams[s].index != by ||
             !table_.streams[s].weights);
  }
  void expect(bool holds) const {
    if (!holds)
      throw inconsistent("the streams are not those of such a part").at("part " + std::to_string(part_.index));
  }
  const Table& table_;
  const PartRow& part_;
  std::vector<std::size_t> attributes_;
  std::vector<int> next_level_;
  std::size_t attribute_ = 0, next_opaque_ = 0;
};

void check_streams(const Table& table, const Footer& footer) {
  std::uint64_t position = footer.begin;
  for (const PartRow& part : table.parts) {
    for (std::size_t s = part.first_stream; s < part.last_stream; ++s) {
      const StreamRow& stream = table.streams[s];
      if (stream.offset < position || stream.offset > footer.table.offset ||
          stream.stored_bytes > footer.table.offset - stream.offset)
        throw inconsistent("stream " + std::to_string(s) + " at byte " + std::to_string(stream.offset) +
                           " does not lie between byte " + std::to_string(position) +
                           ", where the one before ends, and the table");
      position = stream.offset + stream.stored_bytes;
    }
    if (table.triangles) {
      check_share_streams(table, part);
      continue;
    }
    if (part.last_stream - part.first_stream < 2) throw inconsistent("a part without a mesh");
    StreamOrder order(table, part);
    for (std::size_t s = part.first_stream; s < part.last_stream; ++s)
      order.accept(table.streams[s], s - part.first_stream);
    order.finish();
  }
}

}  // namespace

std::uint64_t values_of_share(const Table& table, const PartRow& part, std::size_t field) {
  if (table.header.fields[field].centring == mesh::Centring::cell) return part.share.cell_places;
  return part.share.places * static_cast<std::uint64_t>(table.triangles->planes);
}

void check_table(const Table& table, const Footer& footer) {
  if (table.triangles) check_arrays(table);
  for (const PartRow& part : table.parts) (table.triangles ? check_share : check_counts)(table, part);
  check_streams(table, footer);
}

void check_header(const mesh::Header& header) {
  if (header.dim < 1 || header.dim > 3) throw inconsistent("dimensions: expected 1 to 3");
  if (header.unfolded < 0 || header.unfolded > most_unfolded)
    throw inconsistent("unfolded levels: expected 0 to 32, found " + std::to_string(header.unfolded));
  if (std::abs(header.level_origin) > most_level_origin)
    throw inconsistent("level of the roots: expected -1000 to 1000, found " + std::to_string(header.level_origin));
  std::int64_t roots = 1, block = 1;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const bool used = axis < static_cast<std::size_t>(header.dim);
    const std::int64_t n = header.roots[axis], b = header.block[axis];
    if (n < 1 || n > (used ? most_roots : 1) || b < 1 || b > (used ? most_roots : 1))
      throw inconsistent("roots or block along axis " + std::to_string(axis) + ": " + std::to_string(n) + ", " +
                         std::to_string(b));
    if (__builtin_mul_overflow(roots, n, &roots) || __builtin_mul_overflow(block, b, &block) ||
        static_cast<std::uint64_t>(block) > most_width)
      throw inconsistent("too many roots or values in a block");
    const double extent = header.hi[axis] - header.lo[axis];
    if (used && !(std::isfinite(extent) && extent > 0))
      throw inconsistent("extent of the domain along axis " + std::to_string(axis) + ": expected a positive number");
  }
  std::set<std::string> names;
  for (const mesh::FieldInfo& field : header.fields)
    if (!names.insert(field.name).second) throw inconsistent("two fields \"" + field.name + "\"");
}

}  // namespace octavo::store
