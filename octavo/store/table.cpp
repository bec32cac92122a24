#include "octavo/store/table.hpp"

#include <algorithm>
#include <limits>
#include <set>
#include <variant>

#include "octavo/base/error.hpp"
#include "octavo/store/cbor.hpp"

/// The table of a segment: header, and rows of parts and streams as columns, one number a row. Columns of counts are as
/// narrow as their largest number, and a column of any size parses without a copy of its rows.
namespace octavo::store {
namespace {

using base::Error;
using base::Kind;

constexpr std::int64_t most_int = std::numeric_limits<int>::max();
constexpr std::int64_t most_kind = 255;

const std::vector<std::string> centring_names{"cell", "face_x", "face_y", "face_z", "node", "particle"};
const std::vector<std::string> set_names{"points", "triangles", "boundary", "cells", "corners"};

bool is_set_of(const TriangleMesh& mesh, MeshSet set) {
  const bool of_solids = set == MeshSet::cells || set == MeshSet::corners;
  return set == MeshSet::points || of_solids == mesh.of_solids();
}

// ------------------------------------------------------------------ small pieces of the header

cbor::Value from(const mesh::Index3& index) { return {cbor::Array{{index[0]}, {index[1]}, {index[2]}}}; }
cbor::Value from(const mesh::Point3& point) { return {cbor::Array{{point[0]}, {point[1]}, {point[2]}}}; }

template <class T>
std::array<T, 3> triple(const cbor::Map& map, std::string_view key) {
  const cbor::Array& items = cbor::array(cbor::at(map, key), key);
  if (items.size() != 3) throw inconsistent(std::string(key) + ": expected 3 numbers");
  std::array<T, 3> out;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const T* value = std::get_if<T>(&items[axis].value);
    if (value == nullptr) throw inconsistent(std::string(key) + ": a number of another type");
    out[axis] = *value;
  }
  return out;
}

cbor::Array from_texts(const std::vector<std::string>& all) {
  cbor::Array texts;
  for (const std::string& text : all) texts.push_back({text});
  return texts;
}

std::vector<std::string> parse_texts(const cbor::Map& map, std::string_view key) {
  std::vector<std::string> texts;
  for (const cbor::Value& text : cbor::array(cbor::at(map, key), key)) texts.push_back(cbor::text(text, key));
  return texts;
}

struct AttributeWriter {
  cbor::Value operator()(std::int64_t value) const { return {value}; }
  cbor::Value operator()(double value) const { return {value}; }
  cbor::Value operator()(const std::string& value) const { return {value}; }
  cbor::Value operator()(const std::vector<std::int64_t>& values) const { return cbor::column(values); }
  cbor::Value operator()(const std::vector<double>& values) const { return cbor::column(values); }
  cbor::Value operator()(const std::vector<std::string>& values) const { return {from_texts(values)}; }
};

mesh::Attribute parse_attribute(const cbor::Value& value, const std::string& name) {
  if (const auto* number = std::get_if<std::int64_t>(&value.value)) return *number;
  if (const auto* number = std::get_if<double>(&value.value)) return *number;
  if (const auto* items = std::get_if<cbor::Array>(&value.value)) {
    std::vector<std::string> texts;
    for (const cbor::Value& item : *items) texts.push_back(cbor::text(item, name));
    return texts;
  }
  const auto* packed = std::get_if<cbor::Bytes>(&value.value);
  if (packed == nullptr || packed->tag < 0) return cbor::text(value, name);
  if (packed->tag == 86) return cbor::reals(value, name);
  return cbor::integers(value, name);
}

cbor::Map from(const mesh::FieldInfo& info) {
  return {{"name", {info.name}},
          {"unit", {info.unit}},
          {"type", {std::string(mesh::name_of(info.type))}},
          {"centring", {centring_names[static_cast<std::size_t>(info.centring)]}},
          {"components", {std::int64_t{info.components}}},
          {"ghost", {std::int64_t{info.ghost}}}};
}

mesh::FieldInfo parse_field(const cbor::Map& map) {
  mesh::FieldInfo info;
  info.name = cbor::text(map, "name");
  info.unit = cbor::text(map, "unit");
  try {
    info.type = mesh::scalar_type(cbor::text(map, "type"));
  } catch (Error& error) {
    throw error.at("field " + info.name);
  }
  const std::string centring = cbor::text(map, "centring");
  const auto found = std::find(centring_names.begin(), centring_names.end(), centring);
  if (found == centring_names.end())
    throw Error(Kind::unsupported, "unknown centring \"" + centring + "\"").at("field " + info.name);
  info.centring = static_cast<mesh::Centring>(found - centring_names.begin());
  info.components = static_cast<int>(cbor::integer(map, "components", 1, static_cast<std::int64_t>(most_width)));
  info.ghost = static_cast<int>(cbor::integer(map, "ghost", 0, 1024));
  return info;
}

// Attributes of triangles and solids are not stored as such: the table has entries of its own for them.
bool is_of_triangles(const std::string& attribute) {
  return attribute == "triangles" || attribute == "planes" || attribute == mesh::solids_attribute ||
         attribute == mesh_step_attribute || attribute == mesh_checksum_attribute;
}

cbor::Map from_header(const Table& table) {
  const mesh::Header& header = table.header;
  cbor::Array fields;
  for (std::size_t f = 0; f < header.fields.size(); ++f) {
    cbor::Map field = from(header.fields[f]);
    if (!table.triangles) field.push_back({"width", {static_cast<std::int64_t>(table.widths[f])}});
    fields.push_back({std::move(field)});
  }
  cbor::Map attributes;
  for (const auto& [name, attribute] : header.attributes)
    if (!table.triangles || !is_of_triangles(name))
      attributes.push_back({name, std::visit(AttributeWriter{}, attribute)});
  cbor::Array periodic;
  for (bool axis : header.periodic) periodic.push_back({axis});
  cbor::Map map{{"code", {header.code}}, {"time", {header.time}}, {"dim", {std::int64_t{header.dim}}}};
  if (!table.triangles) {
    map.push_back({"roots", from(header.roots)});
    map.push_back({"block", from(header.block)});
    map.push_back({"level_origin", {std::int64_t{header.level_origin}}});
    map.push_back({"unfolded", {std::int64_t{header.unfolded}}});
  }
  map.push_back({"lo", from(header.lo)});
  map.push_back({"hi", from(header.hi)});
  map.push_back({"periodic", {std::move(periodic)}});
  map.push_back({"unit_length", {header.unit_length}});
  map.push_back({"unit_density", {header.unit_density}});
  map.push_back({"unit_time", {header.unit_time}});
  map.push_back({"fields", {std::move(fields)}});
  map.push_back({"attributes", {std::move(attributes)}});
  return map;
}

struct ListLength {
  template <class T>
  std::size_t operator()(const std::vector<T>& items) const {
    return items.size();
  }
  template <class T>
  std::size_t operator()(const T&) const {
    return 1;
  }
};

void set_attributes(const TriangleMesh& mesh, mesh::Header& header) {
  if (mesh.of_solids()) {
    header.attributes[mesh::solids_attribute] = std::vector<std::int64_t>(mesh.shapes.begin(), mesh.shapes.end());
  } else {
    header.attributes["triangles"] = mesh.triangles;
    header.attributes["planes"] = std::int64_t{mesh.planes};
  }
  if (!mesh.origin) return;
  header.attributes[mesh_step_attribute] = mesh.origin->step;
  header.attributes[mesh_checksum_attribute] = mesh.origin->checksum;
}

void parse_header(const cbor::Map& map, Table& table) {
  mesh::Header& header = table.header;
  header.code = cbor::text(map, "code");
  header.time = cbor::real(map, "time");
  header.dim = static_cast<int>(cbor::integer(map, "dim", 1, 3));
  if (!table.triangles) {
    header.roots = triple<std::int64_t>(map, "roots");
    header.block = triple<std::int64_t>(map, "block");
    header.level_origin = static_cast<int>(cbor::integer(map, "level_origin", -most_level_origin, most_level_origin));
    header.unfolded = static_cast<int>(cbor::integer(map, "unfolded", 0, most_unfolded));
  }
  header.lo = triple<double>(map, "lo");
  header.hi = triple<double>(map, "hi");
  header.periodic = triple<bool>(map, "periodic");
  header.unit_length = cbor::real(map, "unit_length");
  header.unit_density = cbor::real(map, "unit_density");
  header.unit_time = cbor::real(map, "unit_time");
  for (const cbor::Value& item : cbor::array(cbor::at(map, "fields"), "fields")) {
    const cbor::Map& field = cbor::map(item, "field");
    header.fields.push_back(parse_field(field));
    const auto most = static_cast<std::int64_t>(most_width);
    table.widths.push_back(table.triangles ? 1 : static_cast<std::uint64_t>(cbor::integer(field, "width", 1, most)));
  }
  for (const auto& [name, value] : cbor::map(cbor::at(map, "attributes"), "attributes"))
    header.attributes[name] = parse_attribute(value, name);
  if (table.triangles) set_attributes(*table.triangles, header);
  check_header(header);
}

// ------------------------------------------------------------------ species

cbor::Array from_species(const std::vector<mesh::SpeciesInfo>& all) {
  cbor::Array species;
  for (const mesh::SpeciesInfo& info : all) {
    cbor::Array attributes;
    for (const mesh::FieldInfo& attribute : info.attributes) attributes.push_back({from(attribute)});
    species.push_back({cbor::Map{{"name", {info.name}}, {"attributes", {std::move(attributes)}}}});
  }
  return species;
}

void parse_species(const cbor::Array& items, Table& table) {
  std::set<std::string> names;
  for (const cbor::Value& item : items) {
    const cbor::Map& map = cbor::map(item, "species");
    mesh::SpeciesInfo info;
    info.name = cbor::text(map, "name");
    for (const cbor::Value& attribute : cbor::array(cbor::at(map, "attributes"), "attributes"))
      info.attributes.push_back(parse_field(cbor::map(attribute, "attribute")));
    if (!names.insert(info.name).second) throw inconsistent("two species \"" + info.name + "\"");
    table.species.push_back(std::move(info));
  }
}

// ------------------------------------------------------------------ triangles and solids

cbor::Map from_triangles(const Table& table) {
  const TriangleMesh& mesh = *table.triangles;
  cbor::Value origin{std::monostate{}};
  if (mesh.origin) origin = {cbor::Map{{"step", {mesh.origin->step}}, {"checksum", {mesh.origin->checksum}}}};
  cbor::Array arrays;
  for (const MeshArray& array : table.mesh) {
    cbor::Map map = from(array.info);
    map.push_back({"of", {set_names[static_cast<std::size_t>(array.of)]}});
    arrays.push_back({std::move(map)});
  }
  if (mesh.of_solids())
    return {{"points", {mesh.points}},
            {"shapes", cbor::column(std::vector<std::uint64_t>(mesh.shapes.begin(), mesh.shapes.end()))},
            {"origin", origin},
            {"arrays", {std::move(arrays)}}};
  return {{"points", {mesh.points}},
          {"triangles", {mesh.triangles}},
          {"planes", {std::int64_t{mesh.planes}}},
          {"origin", origin},
          {"arrays", {std::move(arrays)}}};
}

void parse_shapes(const cbor::Map& map, TriangleMesh& mesh) {
  const auto shapes = cbor::counts(map, "shapes", mesh.shapes.size());
  for (std::size_t shape = 0; shape < shapes.size(); ++shape) {
    const std::uint64_t most = static_cast<std::uint64_t>(most_points - mesh.triangles);
    if (shapes[shape] > most)
      throw inconsistent("cells: expected at most " + std::to_string(most_points) + ", found more");
    mesh.shapes[shape] = static_cast<std::int64_t>(shapes[shape]);
    mesh.triangles += mesh.shapes[shape];
  }
  if (mesh.triangles == 0) throw inconsistent("a mesh of solids without a cell");
}

void parse_triangles(const cbor::Map& map, bool solids, Table& table) {
  constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min(), most = -(least + 1);
  TriangleMesh& mesh = table.triangles.emplace();
  mesh.points = cbor::integer(map, "points", 1, most_points);
  if (solids) {
    parse_shapes(map, mesh);
  } else {
    mesh.triangles = cbor::integer(map, "triangles", 0, most_points);
    mesh.planes = static_cast<int>(cbor::integer(map, "planes", 1, static_cast<std::int64_t>(most_width)));
  }
  if (const cbor::Value& value = cbor::at(map, "origin"); !std::holds_alternative<std::monostate>(value.value)) {
    const cbor::Map& origin = cbor::map(value, "origin");
    mesh.origin = {cbor::integer(origin, "step", least, most), cbor::integer(origin, "checksum", least, most)};
  }
  for (const cbor::Value& item : cbor::array(cbor::at(map, "arrays"), "arrays")) {
    const cbor::Map& array = cbor::map(item, "array");
    const std::string of = cbor::text(array, "of");
    const auto found = std::find(set_names.begin(), set_names.end(), of);
    const auto set = static_cast<MeshSet>(found - set_names.begin());
    if (found == set_names.end() || !is_set_of(mesh, set))
      throw Error(Kind::unsupported,
                  std::string("a mesh of ") + (solids ? "solids" : "triangles") + " with arrays of \"" + of + "\"");
    table.mesh.push_back({set, parse_field(array)});
  }
}

// ------------------------------------------------------------------ rows as columns

using Counts = std::vector<std::uint64_t>;

cbor::Map from_parts(const Table& table) {
  Counts index, levels, intervals, cells, owned, leaves, keys, particles, streams;
  std::vector<double> boxes;
  for (const PartRow& part : table.parts) {
    index.push_back(static_cast<std::uint64_t>(part.index));
    levels.push_back(part.cells.size());
    intervals.push_back(part.intervals);
    cells.insert(cells.end(), part.cells.begin(), part.cells.end());
    owned.insert(owned.end(), part.owned.begin(), part.owned.end());
    leaves.insert(leaves.end(), part.leaves.begin(), part.leaves.end());
    boxes.insert(boxes.end(), part.lo.begin(), part.lo.end());
    boxes.insert(boxes.end(), part.hi.begin(), part.hi.end());
    keys.insert(keys.end(), {part.keys.begin.high, part.keys.begin.low, part.keys.end.high, part.keys.end.low});
    particles.insert(particles.end(), part.particles.begin(), part.particles.end());
    streams.push_back(part.last_stream - part.first_stream);
  }
  return {{"index", cbor::column(index)},    {"levels", cbor::column(levels)}, {"intervals", cbor::column(intervals)},
          {"cells", cbor::column(cells)},    {"owned", cbor::column(owned)},   {"leaves", cbor::column(leaves)},
          {"box", cbor::column(boxes)},      {"keys", cbor::column(keys)},     {"particles", cbor::column(particles)},
          {"streams", cbor::column(streams)}};
}

cbor::Map from_shares(const Table& table) {
  Counts index, places, points, triangles, boundary, streams, cell_places, corners;
  for (const PartRow& part : table.parts) {
    index.push_back(static_cast<std::uint64_t>(part.index));
    places.push_back(part.share.places);
    points.push_back(part.share.points);
    triangles.push_back(part.share.triangles);
    boundary.push_back(part.share.boundary);
    cell_places.push_back(part.share.cell_places);
    corners.push_back(part.share.corners);
    streams.push_back(part.last_stream - part.first_stream);
  }
  if (table.triangles->of_solids())
    return {{"index", cbor::column(index)},     {"places", cbor::column(places)},
            {"points", cbor::column(points)},   {"cell_places", cbor::column(cell_places)},
            {"cells", cbor::column(triangles)}, {"corners", cbor::column(corners)},
            {"streams", cbor::column(streams)}};
  return {{"index", cbor::column(index)},       {"places", cbor::column(places)},
          {"points", cbor::column(points)},     {"triangles", cbor::column(triangles)},
          {"boundary", cbor::column(boundary)}, {"streams", cbor::column(streams)}};
}

cbor::Map from_streams(const Table& table) {
  Counts kind, index, first, last, offset, stored, raw, codec, weights, stored_sum, raw_sum;
  for (const StreamRow& stream : table.streams) {
    kind.push_back(static_cast<std::uint64_t>(stream.kind));
    index.push_back(stream.index);
    first.push_back(static_cast<std::uint64_t>(stream.first_level));
    last.push_back(static_cast<std::uint64_t>(stream.last_level));
    offset.push_back(stream.offset);
    stored.push_back(stream.stored_bytes);
    raw.push_back(stream.raw_bytes);
    codec.push_back(stream.codec);
    // 0 is a stream without weights, and most tables have no other: then the column is left out.
    weights.push_back(stream.weights ? *stream.weights + 1 : 0);
    stored_sum.push_back(stream.stored_checksum);
    raw_sum.push_back(stream.raw_checksum);
  }
  cbor::Map map{{"kind", cbor::column(kind)}, {"index", cbor::column(index)}};
  if (!table.triangles) {
    map.push_back({"first_level", cbor::column(first)});
    map.push_back({"last_level", cbor::column(last)});
  }
  map.push_back({"offset", cbor::column(offset)});
  map.push_back({"stored", cbor::column(stored)});
  map.push_back({"raw", cbor::column(raw)});
  map.push_back({"codec", cbor::column(codec)});
  map.push_back({"stored_checksum", cbor::column(stored_sum)});
  map.push_back({"raw_checksum", cbor::column(raw_sum)});
  const auto is_weighted = [](std::uint64_t field) { return field != 0; };
  if (std::any_of(weights.begin(), weights.end(), is_weighted)) map.push_back({"weights", cbor::column(weights)});
  return map;
}

// Number of elements in a column of counts of any width. Its content is checked when it is read.
std::size_t length(const cbor::Map& map, std::string_view key) {
  const auto* packed = std::get_if<cbor::Bytes>(&cbor::at(map, key).value);
  if (packed == nullptr) throw inconsistent(std::string(key) + ": expected a column");
  // The tags are those of unsigned columns in cbor.cpp: 1, 2, 4 and 8 bytes a number.
  const std::size_t width = packed->tag == 64 ? 1 : packed->tag == 69 ? 2 : packed->tag == 70 ? 4 : 8;
  return packed->bytes.size() / width;
}

int small(std::uint64_t value, std::int64_t most, const char* what) {
  if (value > static_cast<std::uint64_t>(most))
    throw inconsistent(std::string(what) + ": expected at most " + std::to_string(most) + ", found " +
                       std::to_string(value));
  return static_cast<int>(value);
}

void parse_parts(const cbor::Map& map, std::size_t count, Table& table) {
  const auto index = cbor::counts(map, "index", count), levels = cbor::counts(map, "levels", count);
  std::size_t rows = 0;
  for (std::uint64_t n : levels) {
    if (n < 1 || n > most_levels) throw inconsistent("levels: expected 1 to 33, found " + std::to_string(n));
    rows += static_cast<std::size_t>(n);
  }
  const auto intervals = cbor::counts(map, "intervals", count), cells = cbor::counts(map, "cells", rows),
             owned = cbor::counts(map, "owned", rows), leaves = cbor::counts(map, "leaves", rows),
             keys = cbor::counts(map, "keys", 4 * count),
             particles = cbor::counts(map, "particles", count * table.species.size());
  const auto boxes = cbor::reals(map, "box", 6 * count);
  std::size_t row = 0;
  for (std::size_t p = 0; p < count; ++p) {
    PartRow part;
    part.index = small(index[p], most_int, "part index");
    part.intervals = intervals[p];
    for (std::size_t l = 0; l < levels[p]; ++l, ++row) {
      part.cells.push_back(cells[row]);
      part.owned.push_back(owned[row]);
      part.leaves.push_back(leaves[row]);
    }
    for (std::size_t axis = 0; axis < 3; ++axis) {
      part.lo[axis] = boxes[6 * p + axis];
      part.hi[axis] = boxes[6 * p + 3 + axis];
    }
    part.keys = {{keys[4 * p], keys[4 * p + 1]}, {keys[4 * p + 2], keys[4 * p + 3]}};
    for (std::size_t s = 0; s < table.species.size(); ++s) {
      part.particles.push_back(particles[p * table.species.size() + s]);
      // check_table() refuses such counts later. Until then their sum must not overflow.
      table.species[s].count += static_cast<std::int64_t>(std::min(part.particles.back(), most_particles));
    }
    table.parts.push_back(std::move(part));
  }
}

void parse_shares(const cbor::Map& map, std::size_t count, Table& table) {
  const bool solids = table.triangles->of_solids();
  const auto of_one_kind = [&](const char* key, bool of_solids) {
    return solids == of_solids ? cbor::counts(map, key, count) : Counts(count, 0);
  };
  const auto index = cbor::counts(map, "index", count), places = cbor::counts(map, "places", count),
             points = cbor::counts(map, "points", count),
             triangles = cbor::counts(map, solids ? "cells" : "triangles", count),
             boundary = of_one_kind("boundary", false), cell_places = of_one_kind("cell_places", true),
             corners = of_one_kind("corners", true);
  for (std::size_t p = 0; p < count; ++p) {
    PartRow part;
    part.index = small(index[p], most_int, "part index");
    part.intervals = 0;
    part.share = {places[p], points[p], triangles[p], boundary[p], cell_places[p], corners[p]};
    table.parts.push_back(std::move(part));
  }
}

// Assigns the streams to the parts.
void share_streams(const cbor::Map& map, Table& table) {
  // Streams stand in the order of parts, so the number of each part's is enough.
  const auto streams = cbor::counts(map, "streams", table.parts.size());
  std::size_t stream = 0;
  for (std::size_t p = 0; p < table.parts.size(); ++p) {
    table.parts[p].first_stream = stream;
    if (streams[p] > table.streams.size() - stream) throw inconsistent("more streams of parts than there are");
    table.parts[p].last_stream = stream += static_cast<std::size_t>(streams[p]);
  }
  if (stream != table.streams.size()) throw inconsistent("streams that belong to no part");
}

void parse_streams(const cbor::Map& map, Table& table) {
  const std::size_t n = length(map, "kind");
  const auto levels = [&](const char* key) { return table.triangles ? Counts(n, 0) : cbor::counts(map, key, n); };
  const auto kind = cbor::counts(map, "kind", n), index = cbor::counts(map, "index", n), first = levels("first_level"),
             last = levels("last_level"), offset = cbor::counts(map, "offset", n),
             stored = cbor::counts(map, "stored", n), raw = cbor::counts(map, "raw", n),
             codec = cbor::counts(map, "codec", n), stored_sum = cbor::counts(map, "stored_checksum", n),
             raw_sum = cbor::counts(map, "raw_checksum", n),
             weights = cbor::find(map, "weights") == nullptr ? Counts(n, 0) : cbor::counts(map, "weights", n);
  table.streams.resize(n);
  for (std::size_t i = 0; i < n; ++i) {
    StreamRow& stream = table.streams[i];
    stream.kind = static_cast<StreamKind>(small(kind[i], most_kind, "kind of stream"));
    stream.index = static_cast<std::size_t>(index[i]);
    stream.first_level = small(first[i], most_levels - 1, "first level");
    stream.last_level = small(last[i], most_levels - 1, "last level");
    stream.offset = offset[i];
    stream.stored_bytes = stored[i];
    stream.raw_bytes = raw[i];
    stream.codec = static_cast<std::size_t>(codec[i]);
    stream.stored_checksum = stored_sum[i];
    stream.raw_checksum = raw_sum[i];
    if (weights[i] != 0) stream.weights = static_cast<std::size_t>(weights[i] - 1);
    if (codec[i] >= table.codecs.size()) throw inconsistent("a codec without a name");
  }
}

}  // namespace

Error inconsistent(const std::string& what) { return Error(Kind::corrupt, "table: " + what); }

std::vector<AttributePlace> attribute_places(const std::vector<mesh::SpeciesInfo>& species) {
  std::vector<AttributePlace> places;
  for (std::size_t s = 0; s < species.size(); ++s)
    for (std::size_t a = 0; a < species[s].attributes.size(); ++a) places.push_back({s, a});
  return places;
}

std::string name_of(const Table& table, const StreamRow& stream) {
  if (stream.kind == StreamKind::refinement) return "";
  if (stream.kind == StreamKind::ownership) return "?";
  if (stream.kind == StreamKind::field) return table.header.fields[stream.index].name;
  if (stream.kind == StreamKind::opaque) return table.opaque[stream.index];
  if (stream.kind == StreamKind::mesh) return name_of(table.mesh[stream.index]);
  if (!is_known(stream.kind)) return "kind " + std::to_string(static_cast<int>(stream.kind));
  const AttributePlace place = attribute_places(table.species)[stream.index];
  const mesh::SpeciesInfo& species = table.species[place.species];
  return species.name + "/" + species.attributes[place.attribute].name;
}

std::string name_of(const MeshArray& array) {
  return set_names[static_cast<std::size_t>(array.of)] + "/" + array.info.name;
}

std::optional<MeshOrigin> origin_in(const mesh::Header& header) {
  const auto number = [&](const char* name) {
    const auto found = header.attributes.find(name);
    return found == header.attributes.end() ? nullptr : std::get_if<std::int64_t>(&found->second);
  };
  const auto *step = number(mesh_step_attribute), *checksum = number(mesh_checksum_attribute);
  if (step == nullptr || checksum == nullptr) return {};
  return MeshOrigin{*step, *checksum};
}

void drop_long_lists(mesh::Header& header) {
  std::erase_if(header.attributes, [](const auto& one) { return std::visit(ListLength{}, one.second) > most_listed; });
}

std::string describe(const Table& table, const StreamRow& stream) {
  if (stream.kind == StreamKind::refinement) return "refinement of the mesh";
  if (stream.kind == StreamKind::ownership) return "ownership of cells";
  if (stream.kind == StreamKind::particles) return "particles " + name_of(table, stream);
  if (stream.kind == StreamKind::opaque) return "bytes " + name_of(table, stream);
  if (stream.kind == StreamKind::mesh) return "mesh " + name_of(table, stream);
  if (!is_known(stream.kind)) return "stream of " + name_of(table, stream);
  if (table.triangles) return "field " + name_of(table, stream);
  return "field " + name_of(table, stream) + ", level indices " + std::to_string(stream.first_level) + "-" +
         std::to_string(stream.last_level);
}

std::vector<std::byte> to_bytes(const Table& table) {
  const bool triangles = table.triangles.has_value();
  const cbor::Map map{
      {"header", {from_header(table)}},
      triangles ? cbor::Entry{table.triangles->of_solids() ? solid_mesh : triangle_mesh, {from_triangles(table)}}
                : cbor::Entry{"species", {from_species(table.species)}},
      {"opaque", {from_texts(table.opaque)}},
      {"codecs", {from_texts(table.codecs)}},
      {"parts", {triangles ? from_shares(table) : from_parts(table)}},
      {"streams", {from_streams(table)}}};
  std::vector<std::byte> out;
  cbor::write({map}, out);
  return out;
}

Table parse_table(std::span<const std::byte> bytes, const Footer& footer) {
  check_understood(footer);
  const cbor::Value value = cbor::parse(bytes);
  const cbor::Map& map = cbor::map(value, "table");
  Table table;
  // First what the header's and the parts' entries depend on.
  const bool solids = footer.mesh == solid_mesh, triangles = solids || footer.mesh == triangle_mesh;
  if (triangles)
    parse_triangles(cbor::map(cbor::at(map, footer.mesh), footer.mesh), solids, table);
  else
    parse_species(cbor::array(cbor::at(map, "species"), "species"), table);
  parse_header(cbor::map(cbor::at(map, "header"), "header"), table);
  table.opaque = parse_texts(map, "opaque");
  table.codecs = parse_texts(map, "codecs");
  parse_streams(cbor::map(cbor::at(map, "streams"), "streams"), table);
  const cbor::Map& parts = cbor::map(cbor::at(map, "parts"), "parts");
  (triangles ? parse_shares : parse_parts)(parts, static_cast<std::size_t>(footer.parts), table);
  share_streams(parts, table);
  check_table(table, footer);
  return table;
}

}  // namespace octavo::store
