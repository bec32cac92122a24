#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "octavo/base/progress.hpp"
#include "octavo/codec/codec.hpp"
#include "octavo/file/posix.hpp"
#include "octavo/mesh/dataset.hpp"
#include "octavo/mesh/tree/curve.hpp"

/// Octavo's own step on disk (docs/format.md): encodes parts, writes and commits segments, finds and reads steps.
/// It may touch mesh, codec, file and base.
/// It never calls MPI and never decides which rank writes which segment: the caller does.
namespace octavo::store {

/// Header attribute with texts "field=bound": the precision that fields had lost before they were stored here
/// (Dataset::lossy).
inline constexpr const char* lossy_attribute = "lossy_fields";

enum class Flow : std::uint8_t { checkpoint, analysis };
std::string to_string(Flow flow);

/// Identifies one attempt to write a step: 128 random bits, the same in all segments of the attempt.
using Attempt = std::array<std::byte, 16>;
Attempt random_attempt();

/// The identity by which one step of a flow refers to another.
struct StepId {
  std::int64_t step = 0;
  Attempt attempt{};
  bool operator==(const StepId&) const = default;
};

// ---------------------------------------------------------------------------------------------- encoding (pure)

/// Returns the neighbours from which values on a mesh are predicted. They live as long as the function. It is called
/// only when they are needed.
using NeighbourSource = std::function<codec::Neighbours()>;

struct BoundaryArrays;

struct EncodeOptions {
  codec::Settings codec;                               ///< for every floating-point cell field without an entry below
  std::map<std::string, codec::Settings> field_codec;  ///< by field name
  bool single_precision = false;                       ///< float64 fields are stored as float32
  bool checksums = true;                               ///< of raw streams; all other streams always have one
  NeighbourSource neighbours{};  ///< of triangles, for this very mesh; none: encode() finds them for each part
  std::span<const std::int32_t> part_of{};   ///< if the mesh was cut: the part of each triangle
  const BoundaryArrays* boundary = nullptr;  ///< of triangles: boundary conditions to store with the mesh
};

/// Values of a field or an attribute in the packed form (docs/format.md, "Streams"), in the caller's memory.
struct Values {
  mesh::FieldInfo info;
  std::size_t size = 0;             ///< number of values, including the zeros of cells that are not held
  const std::byte* data = nullptr;  ///< all values; or null, and then `pack` gives them
  std::size_t cell_bytes = 0;       ///< bytes of the values of one tree cell
  /// Writes the bytes from `first` on to `out`. `first` and the size of `out` are multiples of cell_bytes.
  std::function<void(std::size_t first, std::span<std::byte> out)> pack;
  /// Checksums of the ranges that stream_cuts() names, if the caller took them. Writing raw values compares them.
  std::vector<std::uint64_t> checksums;
  /// Ranges of tree cells [first, last) that have values, ascending. All other cells are zeros in the store, and are
  /// not in `data`, `pack` or `checksums`. None: all cells have values.
  std::optional<std::vector<codec::Range>> held{};
};
/// Rough cost of one more range in `held`. A gap of fewer bytes is cheaper to store as zeros.
inline constexpr std::size_t bytes_of_range = 64;

/// Bytes by name that belong to a part: mesh::Part::opaque.
struct OpaqueBytes {
  std::string name;
  std::span<const std::byte> bytes;
};

struct SpeciesValues {
  std::string species;
  std::int64_t count = 0;
  std::vector<Values> attributes;
};

/// The step of the same flow that holds a step's mesh.
struct MeshOrigin {
  std::int64_t step = 0;
  std::int64_t checksum = 0;  ///< mesh_checksum() of the mesh
  bool operator==(const MeshOrigin&) const = default;
};

/// A mesh of triangles or solids that the parts of a step share (docs/format.md, "Triangles" and "Solids").
struct TriangleMesh {
  std::int64_t points = 0, triangles = 0;  ///< of one plane, of all parts; of solids, `triangles` are the cells
  int planes = 1;
  std::optional<MeshOrigin> origin{};    ///< none: the step holds its own mesh
  std::array<std::int64_t, 4> shapes{};  ///< tetrahedra, pyramids, prisms, hexahedra; none: a mesh of triangles
  bool of_solids() const { return shapes != std::array<std::int64_t, 4>{}; }
  std::int64_t corners() const { return 4 * shapes[0] + 5 * shapes[1] + 6 * shapes[2] + 8 * shapes[3]; }
  bool operator==(const TriangleMesh&) const = default;
};

/// The items on which an array of a mesh of triangles or solids has its values.
enum class MeshSet : std::uint8_t { points, triangles, boundary, cells, corners };

/// A part's share of a mesh of triangles or solids.
struct TriangleShare {
  std::uint64_t places = 0;  ///< points along the curve whose values the part has; of solids, points by number
  std::uint64_t points = 0, triangles = 0, boundary = 0;  ///< of solids, `triangles` are the cells
  std::uint64_t cell_places = 0, corners = 0;  ///< of solids: cells whose values it has; corners of its cells
  std::uint64_t of(MeshSet set) const {
    return set == MeshSet::points     ? points
           : set == MeshSet::boundary ? boundary
           : set == MeshSet::corners  ? corners
                                      : triangles;
  }
  bool operator==(const TriangleShare&) const = default;
};

/// An array of the mesh: x, y, connectivity ...
struct MeshArray {
  MeshSet of = MeshSet::points;
  mesh::FieldInfo info;
  bool operator==(const MeshArray&) const = default;
};
struct MeshValues {
  MeshSet of = MeshSet::points;
  Values values;
};

/// A part whose values the caller owns: they are not copied before they are encoded or written. It has a tree,
/// triangles or solids.
struct PartView {
  int index = 0;
  const mesh::Octree* tree = nullptr;
  std::vector<Values> fields;
  std::vector<SpeciesValues> species;  ///< of a tree
  std::vector<OpaqueBytes> opaque{};   ///< with distinct names
  std::optional<TriangleMesh> triangles{};
  TriangleShare share{};
  std::vector<MeshValues> mesh{};  ///< this part's share of the mesh; empty if another step holds the mesh
  codec::Neighbours neighbours{};  ///< of the places of triangles
};
/// A view of the part, which must stay where it is. Throws Error(unsupported) for a mesh other than an octree.
PartView view_of(const mesh::Part& part);

/// The cuts between the streams of a field: the number of cells before each stream, then the number of all cells.
std::vector<std::size_t> stream_cuts(const mesh::Octree& tree);

/// The content of a stream. A later Octavo may write other kinds, which readers skip.
enum class StreamKind : std::uint8_t { refinement = 0, ownership = 1, field = 2, particles = 3, opaque = 4, mesh = 5 };
constexpr bool is_known(StreamKind kind) noexcept { return kind <= StreamKind::mesh; }

/// Values that are stored unencoded: the chunk heads are here, the values stay in the caller's memory.
struct RawStream {
  Values values;
  std::size_t first = 0;  ///< byte of the values at which the stream begins
  std::vector<codec::ChunkPiece> pieces;
  bool checksum = true;  ///< take one while the stream is written; of the stored bytes, if some cells are not held
  std::optional<std::uint64_t> expected;  ///< the checksum that the values must have
};

/// One stream of a part: its bytes as they go to disk, and its entry in the table.
struct Stream {
  StreamKind kind = StreamKind::field;
  std::size_t index = 0;  ///< of the part's fields, of the attributes of its species one after another, of `opaque`, or
                          ///< of the arrays of its mesh
  std::string field;      ///< "" the tree's refinement bits, "?" its ownership bits, a field, "species/attribute", the
                          ///< name of opaque bytes, or "points/x" of a mesh of triangles
  int first_level = 0;    ///< level indices of this level group [first, last]
  int last_level = 0;
  std::uint64_t raw_bytes = 0;     ///< decoded size
  std::uint64_t raw_checksum = 0;  ///< of the decoded values, little-endian
  std::uint64_t stored_checksum = 0;
  std::uint64_t stored_bytes = 0;
  std::uint64_t offset = 0;              ///< in the subfile, once the stream has been placed there
  std::string codec;                     ///< as codec::inspect names it, for tables
  std::optional<std::size_t> weights{};  ///< the field whose values the chunks' predictions need (codec::Context)
  std::vector<std::byte> bytes;
  std::optional<RawStream> raw;  ///< in place of `bytes`
};

struct EncodedPart {
  int index = 0;
  mesh::Octree shape;                               ///< dim, roots, block only
  std::vector<std::uint64_t> cells, owned, leaves;  ///< per level index: all, owned, owned leaves
  std::uint64_t intervals = 1;                      ///< of the roots that the part holds
  mesh::Point3 lo{}, hi{};                          ///< bounding box of owned cells, in fractions of the x extent
  mesh::KeyInterval keys;                           ///< Morton keys, 32 bits an axis, of owned leaves; empty if none
  std::vector<mesh::FieldInfo> fields;              ///< as stored
  std::vector<std::uint64_t> widths;                ///< per field: values a tree cell, or a point
  std::vector<mesh::SpeciesInfo> species;           ///< counts of this part
  std::vector<std::string> opaque{};                ///< names
  std::optional<TriangleMesh> triangles{};          ///< instead of a tree: then cells, box and keys are empty
  TriangleShare share{};
  std::vector<MeshArray> mesh{};
  std::vector<Stream> streams;
};

/// Encodes one part: an octree, or a whole mesh of triangles or solids. Pure and thread-safe; the bytes depend on
/// nothing but the arguments. Throws Error(unsupported) for patches.
EncodedPart encode(const mesh::Part& part, const mesh::Header& header, const EncodeOptions& options);
/// The same for a view. Fields whose codec is raw are not copied: their streams refer to the view's values, which must
/// stay in place until the part is written.
EncodedPart encode(const PartView& part, const mesh::Header& header, const EncodeOptions& options);
/// Whether some streams refer to values in the caller's memory.
bool has_raw_streams(const EncodedPart& part);

// ---------------------------------------------------------------------------------------------- writing

/// Identity of the segment that a SegmentWriter writes.
struct SegmentPlan {
  std::filesystem::path store;  ///< directory, made if missing
  Flow flow = Flow::analysis;
  std::int64_t step = 0;
  Attempt attempt{};
  int subfile = 0;                ///< which of the flow's files; segment 0 goes to subfile 0
  int segment = 0, segments = 1;  ///< number of this segment, and how many the step has
  bool whole_domain = false;      ///< the step's owned leaves fill the domain: verify checks that they do
  /// The step from which a resumed run went on. The new step then supersedes every step of the flow that was committed
  /// before it and has a larger number than that one. Nothing: it supersedes only earlier attempts at its own number.
  std::optional<StepId> continues;
  std::uint64_t after_order =
      0;  ///< segment 0: the step's order is larger than this, the order of a step here or elsewhere
  /// For segment 0: the order of the flow's newest step, if the caller knows it. Nothing: the writer finds it by
  /// reading all first subfiles of the flow.
  std::optional<std::uint64_t> order_before;

  std::filesystem::path directory;  ///< of the subfile, in the store; empty: `analysis`, or `checkpoint` and the step
  /// Overwrite the subfile in place: its content is no longer needed, because all ranks know of a newer complete step.
  bool recycle = false;
  bool sync = true;             ///< false: unless the caller syncs the file, a crash of the system may damage the step
  std::uint64_t alignment = 8;  ///< [bytes] reserved space begins at a multiple of it, itself a multiple of 8
  bool direct_io = false;       ///< streams bypass the page cache, if the file system supports it
  bool marked = false;          ///< the store's marker is known to exist
  bool stays_open = false;      ///< later steps go to the same subfile, so the caller keeps it open
  /// Nobody relies on this segment before segment 0 is committed in the same store. Then the writer of segment 0 alone
  /// syncs the names of directories.
  bool relies_on_first = false;
};

/// Writes one segment of a step to the end of its subfile. The segment is invisible until commit() has returned; the
/// step is invisible until all its segments are committed. Not thread-safe: call add() from one thread at a time, in
/// the order that the parts are to have. A second writer on the same subfile gets Error(usage).
class SegmentWriter {
 public:
  /// `open`: the subfile, if the writer of an earlier segment handed it on (take_file()).
  SegmentWriter(const SegmentPlan& plan, const mesh::Header& header, file::File open = {});
  ~SegmentWriter();  ///< without commit(), nothing ever refers to the bytes that were written
  SegmentWriter(SegmentWriter&&) noexcept;
  SegmentWriter& operator=(SegmentWriter&&) noexcept;

  /// Writes the part's streams and forgets their bytes.
  void add(EncodedPart part);

  /// Reserves space on disk for parts that others write, each through its own handle. `bytes` is the sum of their
  /// stored_size(). Returns the first byte of the space, a multiple of the plan's alignment.
  std::uint64_t reserve(std::uint64_t bytes);
  /// Adds a part that write_streams() has written in reserved space, right after the previous one.
  void add_written(EncodedPart part);
  /// Writes table and footer and syncs them with the streams, then writes the commit record and syncs it. Throws
  /// Error(no_space) on a full disk; the segment is then lost. If its record was written already, it is taken back; if
  /// that fails too, the error says so.
  void commit();
  std::uint64_t bytes_written() const noexcept;
  std::uint64_t order() const noexcept;  ///< of segment 0
  /// The subfile, open and locked; parts may be written through it.
  const file::File& file() const noexcept;
  /// After commit(): hands the open subfile to the writer of a later segment. It is closed if the plan does not sync.
  file::File take_file() noexcept;
  /// The commit records that the file had before.
  const std::array<std::array<std::byte, 512>, 2>& records_before() const noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Bytes that the part's streams take in a file, including the padding after the last.
std::uint64_t stored_size(const EncodedPart& part);
/// Path of the subfile to which the plan's segment goes.
std::filesystem::path subfile_path(const SegmentPlan& plan);

// ---------------------------------------------------------------------------------------------- reading

/// Whether the path looks like a store: a directory with a store's marker, or a file in one. Opens at most one file.
bool recognise(const std::filesystem::path& path);

/// A step all of whose segments are committed.
struct StepInfo {
  Flow flow = Flow::analysis;
  std::int64_t step = 0;
  double time = 0;
  Attempt attempt{};
  std::uint64_t bytes = 0;  ///< on disk
  int parts = 0;
  std::string writer{};  ///< program and version: "Octavo 0.1.0"
  /// Features of the step that this Octavo does not know. Unless this is empty, the step cannot be opened.
  std::vector<std::string> unknown{};
};

/// The complete steps, by flow, then step, including those that this Octavo cannot open. Damaged or incomplete steps
/// are left out; `notes`, if given, describes them.
std::vector<StepInfo> list_steps(const std::filesystem::path& store, std::vector<std::string>* notes = nullptr);

/// Opens a complete step. Without flow and step: the newest of the analysis flow, else of the checkpoint flow. Reads
/// heads, footers and tables; Dataset::read then reads and checks exactly the streams that the request needs. Throws
/// Error(corrupt), listing the damage, if no complete step is left. Throws Error(unsupported) if the step has features
/// that this Octavo does not know: it never takes an older step instead.
mesh::Dataset open_step(const std::filesystem::path& store, std::optional<Flow> flow = {},
                        std::optional<std::int64_t> step = {});

/// The opaque bytes of a step (mesh::Part::opaque), by part and name. Parts without any are left out.
std::map<int, std::map<std::string, std::vector<std::byte>>> read_opaque(const std::filesystem::path& store, Flow flow,
                                                                         std::int64_t step);

/// One row per stream of a step, without its bytes. `octavo ls` shows these rows.
struct StreamInfo {
  int part = 0;
  std::string field;
  int first_level = 0, last_level = 0;  ///< indices
  std::uint64_t raw_bytes = 0, stored_bytes = 0;
  std::string codec;  ///< of its largest chunk; "tree by density": prediction also needs that field
  std::filesystem::path file;
  std::uint64_t offset = 0;
};
std::vector<StreamInfo> list_streams(const std::filesystem::path& store, Flow flow, std::int64_t step);

enum class FindingKind : std::uint8_t {
  damaged,     ///< bytes are not what was written
  lost,        ///< a durable step is missing or lacks segments
  unsupported  ///< a step has features that this Octavo does not know; it is not damaged
};

/// Something wrong in a store: where (file, byte, part, field), and what was expected and found.
struct Finding {
  std::string where;
  std::string what;
  FindingKind kind = FindingKind::damaged;
};
std::string to_string(FindingKind kind);
struct Report {
  std::vector<Finding> findings;
  std::vector<std::string> notes;  ///< facts that are not damage, such as an unlisted step whose writer was interrupted
  int steps = 0;
  std::uint64_t streams = 0, bytes = 0;
};
/// Reads everything. Checks every checksum and size, that trees are closed, that counts agree, and that the owned
/// leaves of a complete domain fill it. A missing durable step is a finding (lost); an interrupted or failed attempt is
/// a note. Throws Error only if there is damage and nothing could be opened.
Report verify(const std::filesystem::path& store, int threads, const base::Progress& progress = {});
/// Reads only heads, commit records, footers and tables. Checks that steps are complete, and checks the places of
/// streams, counts and volumes. Finds truncation and lost files in the time it takes to open the store, but no flipped
/// bit in a stream.
Report verify_quick(const std::filesystem::path& store);

}  // namespace octavo::store
