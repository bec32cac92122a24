#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "octavo/base/error.hpp"
#include "octavo/mesh/tree/curve.hpp"
#include "octavo/store/footer.hpp"

namespace octavo::store {

constexpr int most_unfolded = 32, most_level_origin = 1000;
constexpr std::int64_t most_roots = 0xFFFFFFFF;               ///< along an axis
constexpr std::uint64_t most_cells = std::uint64_t{1} << 32;  ///< of a level: positions in it are 32 bits
constexpr std::uint64_t most_levels = 33;                     ///< positions of cells are 32 bits
constexpr std::uint64_t most_width = std::uint64_t{1} << 24;  ///< values a tree cell
constexpr std::uint64_t most_particles = std::uint64_t{1} << 40;
constexpr std::uint64_t most_opaque = std::uint64_t{1} << 40;  ///< bytes of one name in a part
constexpr std::int64_t most_points = 0x7FFFFFFF;  ///< of a plane of triangles, triangles, and cells: 32 bits

/// A part in a table; its streams are `[first_stream, last_stream)`.
struct PartRow {
  int index = 0;                                    ///< contributor
  std::vector<std::uint64_t> cells, owned, leaves;  ///< per level index
  std::uint64_t intervals = 1;                      ///< of the roots that the part holds
  mesh::Point3 lo{}, hi{};                          ///< of owned cells, in fractions of the x extent
  mesh::KeyInterval keys;                           ///< Morton keys of owned leaves
  std::vector<std::uint64_t> particles;             ///< per species of the table
  TriangleShare share{};  ///< of triangles or solids: then all of the above but `index` is empty
  std::size_t first_stream = 0, last_stream = 0;
};

/// A stream in a table. `index` points into the table's fields, the attributes of all its species one after another,
/// its names of opaque bytes, or the arrays of its mesh.
struct StreamRow {
  StreamKind kind = StreamKind::field;
  std::size_t index = 0;
  int first_level = 0, last_level = 0;
  std::uint64_t offset = 0;  ///< in the subfile
  std::uint64_t stored_bytes = 0, raw_bytes = 0;
  std::uint64_t stored_checksum = 0, raw_checksum = 0;
  std::size_t codec = 0;                 ///< position in the table's codec names
  std::optional<std::size_t> weights{};  ///< the field whose values predictions need (codec::Context)
};

/// The facts of a segment that a reader knows without reading its streams.
struct Table {
  mesh::Header header;                ///< its fields are the stored ones
  std::vector<std::uint64_t> widths;  ///< per field: values a tree cell, or a point
  std::vector<mesh::SpeciesInfo> species;
  /// Instead of a tree. Attributes of the header say the same: `triangles` and `planes`, or `solids`; and, if another
  /// step holds the mesh, mesh_step_attribute and mesh_checksum_attribute.
  std::optional<TriangleMesh> triangles{};
  std::vector<MeshArray> mesh{};
  std::vector<std::string> opaque;  ///< names
  std::vector<std::string> codecs;
  std::vector<PartRow> parts;
  std::vector<StreamRow> streams;
};

std::vector<std::byte> to_bytes(const Table& table);
/// Throws Error(unsupported) if the footer, or a type or centring in the table, names something that this Octavo does
/// not know. Throws Error(corrupt) unless every count, level, size and place in the table agrees with the rest and with
/// the footer.
Table parse_table(std::span<const std::byte> bytes, const Footer& footer);

/// Attributes that are lists of more items stand in the table of segment 0 alone: they may have one item for each part
/// of a step, and no file is to grow with the parts in others.
constexpr std::size_t most_listed = 64;
/// Removes these attributes.
void drop_long_lists(mesh::Header& header);

/// The error of a table whose content disagrees with itself.
base::Error inconsistent(const std::string& what);

/// Checks the conditions that parse_table() requires of a table's content.
void check_table(const Table& table, const Footer& footer);
/// Throws Error(corrupt) unless the header can stand in a store: extents positive, names distinct ...
void check_header(const mesh::Header& header);

/// Attributes of a step whose mesh of triangles another step holds, the same bit for bit. Readers take it from there.
constexpr const char* mesh_step_attribute = "mesh_step";
constexpr const char* mesh_checksum_attribute = "mesh_checksum";
/// The origin that a header's attributes name.
std::optional<MeshOrigin> origin_in(const mesh::Header& header);

/// The attribute to which a particle stream's index refers.
struct AttributePlace {
  std::size_t species = 0, attribute = 0;
};
std::vector<AttributePlace> attribute_places(const std::vector<mesh::SpeciesInfo>& species);

/// The name of a stream's values in messages: "field density, levels 0-5".
std::string describe(const Table& table, const StreamRow& stream);
/// The name of a stream's values: a field's name, "species/attribute", the name of opaque bytes, "points/x" of a mesh
/// of triangles, "" (refinement), "?" (ownership), or "kind 9" for an unknown kind.
std::string name_of(const Table& table, const StreamRow& stream);

/// "triangles/connectivity".
std::string name_of(const MeshArray& array);
/// How many values a part of triangles or solids has of a field of the table.
std::uint64_t values_of_share(const Table& table, const PartRow& part, std::size_t field);

/// Whether a field is stored in integer chunks, bit for bit: every type but floats of 32 and 64 bits.
constexpr bool has_integer_chunks(mesh::ScalarType type) noexcept {
  return mesh::is_integer(type) || mesh::is_half(type);
}

/// Bytes of `bits` bits, packed eight to a byte.
inline std::uint64_t packed_bytes(std::uint64_t bits) { return (bits + 7) / 8; }
}  // namespace octavo::store
