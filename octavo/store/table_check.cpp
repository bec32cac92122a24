#include <cmath>
#include <set>

#include "octavo/base/error.hpp"
#include "octavo/store/pack.hpp"
#include "octavo/store/table.hpp"

namespace octavo::store {
namespace {

using base::Error;
using base::Kind;

Error inconsistent(const std::string& what) { return Error(Kind::corrupt, "table: " + what); }

void check_counts(const Table& table, const PartRow& part) {
  const mesh::Index3& roots = table.header.roots;
  const std::uint64_t family = std::uint64_t{1} << table.header.dim;
  std::uint64_t most = static_cast<std::uint64_t>(roots[0] * roots[1] * roots[2]);
  // Intervals are apart, and have a root each.
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
    most = cells * family;
  }
  for (std::uint64_t n : part.particles)
    if (n > most_particles) throw inconsistent("too many particles: " + std::to_string(n));
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
    // The deepest level has no refined cell: its bits are left out.
    if (stream.kind == StreamKind::refinement && l + 1 == part.cells.size()) break;
    if (stream.kind == StreamKind::field)
      bytes += part.cells[l] * table.widths[stream.index] * mesh::size_of(table.header.fields[stream.index].type);
    else
      bytes += packed_bytes(part.cells[l]);
  }
  return bytes;
}

// Which streams a part has, and in which order, follows from its counts: the writer chooses the level groups, and may
// add opaque bytes. Streams of kinds that this Octavo does not know may stand anywhere behind the mesh.
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
    } else if (stream.kind == StreamKind::opaque) {
      expect(stream.index < table_.opaque.size() && stream.index >= next_opaque_ && stream.first_level == 0 &&
             stream.last_level == 0 && stream.raw_bytes <= most_opaque);
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
    StreamOrder order(table, part);
    if (part.last_stream - part.first_stream < 2) throw inconsistent("a part without a mesh");
    for (std::size_t s = part.first_stream; s < part.last_stream; ++s) {
      const StreamRow& stream = table.streams[s];
      if (stream.offset < position || stream.offset > footer.table.offset ||
          stream.stored_bytes > footer.table.offset - stream.offset)
        throw inconsistent("stream " + std::to_string(s) + " at byte " + std::to_string(stream.offset) +
                           " does not lie between byte " + std::to_string(position) +
                           ", where the one before ends, and the table");
      position = stream.offset + stream.stored_bytes;
      order.accept(stream, s - part.first_stream);
    }
    order.finish();
  }
}

}  // namespace

void check_table(const Table& table, const Footer& footer) {
  for (const PartRow& part : table.parts) check_counts(table, part);
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
        static_cast<std::uint64_t>(roots) > most_cells || static_cast<std::uint64_t>(block) > most_width)
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
