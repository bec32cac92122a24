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
/// It never calls MPI and never decides which rank writes which segment: that is the caller's.
namespace octavo::store {

/// Header attribute, texts "field=bound": precision that fields had lost before they were stored here (Dataset::lossy).
inline constexpr const char* lossy_attribute = "lossy_fields";

enum class Flow : std::uint8_t { checkpoint, analysis };
std::string to_string(Flow flow);

/// Tells the segments of one try to write a step from those of any other: 128 random bits, the same in all its
/// segments.
using Attempt = std::array<std::byte, 16>;
Attempt random_attempt();

/// A step of a flow as another refers to it.
struct StepId {
  std::int64_t step = 0;
  Attempt attempt{};
  bool operator==(const StepId&) const = default;
};

// ---------------------------------------------------------------------------------------------- encoding (pure)

/// Gives what values on a mesh are predicted from, where it is needed; it stays as long as the function does.
using NeighbourSource = std::function<codec::Neighbours()>;

struct BoundaryArrays;

struct EncodeOptions {
  codec::Settings codec;                               ///< for every floating-point cell field without an entry below
  std::map<std::string, codec::Settings> field_codec;  ///< by field name
  bool single_precision = false;                       ///< float64 fields are stored as float32
  bool checksums = true;                               ///< of raw streams; others always have theirs
  NeighbourSource neighbours{};                        ///< of triangles: of this very mesh; none: made for each part
  std::span<const std::int32_t> part_of{};             ///< of triangles that were cut: the part of each
  const BoundaryArrays* boundary = nullptr;            ///< of triangles: conditions to store with the mesh
};

/// Values of a field or an attribute in the packed form (docs/format.md, "Streams"), where the caller has them.
struct Values {
  mesh::FieldInfo info;
  std::size_t size = 0;             ///< how many, zeros of other cells than those held included
  const std::byte* data = nullptr;  ///< all of them; or null, where
  std::size_t cell_bytes = 0;       ///< those of a tree cell are so many bytes, and
  /// gives the bytes from `first` on, both multiples of cell_bytes.
  std::function<void(std::size_t first, std::span<std::byte> out)> pack;
  /// Checksums of the ranges that stream_cuts() names, if they were taken before: compared while raw values are
  /// written.
  std::vector<std::uint64_t> checksums;
  /// Tree cells [first, last), ascending, that have values at all; others are zeros in the store, and neither in `data`
  /// nor in `pack` nor in `checksums`. None: all cells have.
  std::optional<std::vector<codec::Range>> held{};
};
/// About what a range of cells held costs: fewer bytes of zeros are better stored.
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

/// A mesh of triangles that the parts of a step share (docs/format.md, "Triangles").
struct TriangleMesh {
  std::int64_t points = 0, triangles = 0;  ///< of one plane, of all parts
  int planes = 1;
  std::optional<MeshOrigin> origin{};  ///< none: the step holds its mesh itself
  bool operator==(const TriangleMesh&) const = default;
};

/// What an array of a mesh of triangles has its values for.
enum class MeshSet : std::uint8_t { points, triangles, boundary };

/// A part's share of a mesh of triangles.
struct TriangleShare {
  std::uint64_t places = 0;  ///< points along the curve whose values it has
  std::uint64_t points = 0, triangles = 0, boundary = 0;
  std::uint64_t of(MeshSet set) const {
    return set == MeshSet::points ? points : set == MeshSet::triangles ? triangles : boundary;
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

/// A part that the caller owns: nothing here copies values before they are encoded or written. It has a tree or
/// triangles.
struct PartView {
  int index = 0;
  const mesh::Octree* tree = nullptr;
  std::vector<Values> fields;
  std::vector<SpeciesValues> species;  ///< of a tree
  std::vector<OpaqueBytes> opaque{};   ///< names distinct
  std::optional<TriangleMesh> triangles{};
  TriangleShare share{};
  std::vector<MeshValues> mesh{};  ///< this part's share of the mesh; empty where the mesh is another step's
  codec::Neighbours neighbours{};  ///< of the places of triangles
};
/// A view of the part, which must stay where it is. Throws Error(unsupported) for a mesh other than an octree.
PartView view_of(const mesh::Part& part);

/// Where the streams of a field are cut: number of cells before each, and of all.
std::vector<std::size_t> stream_cuts(const mesh::Octree& tree);

/// The content of a stream. A later Octavo may write others, which readers skip.
enum class StreamKind : std::uint8_t { refinement = 0, ownership = 1, field = 2, particles = 3, opaque = 4, mesh = 5 };
constexpr bool is_known(StreamKind kind) noexcept { return kind <= StreamKind::mesh; }

/// Values that are stored as they are: heads of chunks in memory, the values still where the caller has them.
struct RawStream {
  Values values;
  std::size_t first = 0;  ///< byte of the values that the stream begins with
  std::vector<codec::Piece> pieces;
  bool checksum = true;  ///< is taken while the stream is written: of what is stored, if not all is held
  std::optional<std::uint64_t> expected;  ///< what it must be
};

/// One stream of a part: its bytes as they go to disk and what the table says of them.
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
  std::uint64_t offset = 0;  ///< in the subfile, once it has a place there
  std::string codec;         ///< as codec::inspect names it, for tables
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
  std::optional<TriangleMesh> triangles{};          ///< instead of a tree: then there are no cells, box and keys
  TriangleShare share{};
  std::vector<MeshArray> mesh{};
  std::vector<Stream> streams;
};

/// Encodes one part: an octree, or a whole mesh of triangles. Pure and thread-safe; the bytes depend on nothing but the
/// arguments. Throws Error(unsupported) for patches.
EncodedPart encode(const mesh::Part& part, const mesh::Header& header, const EncodeOptions& options);
/// The same. Fields whose codec is raw are not touched: their streams refer to the view's values, which must stay until
/// the part is written.
EncodedPart encode(const PartView& part, const mesh::Header& header, const EncodeOptions& options);
/// Whether some streams refer to values of the caller.
bool has_raw_streams(const EncodedPart& part);

// ---------------------------------------------------------------------------------------------- writing

/// Identity of the segment that a SegmentWriter writes.
struct SegmentPlan {
  std::filesystem::path store;  ///< directory, made if missing
  Flow flow = Flow::analysis;
  std::int64_t step = 0;
  Attempt attempt{};
  int subfile = 0;                ///< which of the flow's files; segment 0 goes to subfile 0
  int segment = 0, segments = 1;  ///< of this step: this one, and how many there are
  bool whole_domain = false;      ///< the step's owned leaves fill the domain: verify checks that they do
  /// Where a resumed run took up: this step then supersedes all of the flow that were committed before it and have a
  /// larger number than that. Nothing: it supersedes earlier attempts of its own number only.
  std::optional<StepId> continues;
  std::uint64_t after_order = 0;  ///< segment 0: it is later than any step of this order, also of one elsewhere
  /// For segment 0: the order of the flow's newest step, if the caller knows it. Nothing: the writer reads it from all
  /// first subfiles of the flow.
  std::optional<std::uint64_t> order_before;

  std::filesystem::path directory;  ///< of the subfile, in the store; empty: `analysis`, or `checkpoint` and the step
  /// The subfile's content is needed no more (all ranks know of a newer complete step): it is used again in place.
  bool recycle = false;
  bool sync = true;  ///< false: the caller syncs the file, or nobody: a crash of the system may damage the step
  std::uint64_t alignment = 8;  ///< [bytes] reserved space begins at a multiple of it, itself a multiple of 8
  bool direct_io = false;       ///< streams go past the page cache, where the file system can
  bool marked = false;          ///< the store's marker is known to be there
  bool stays_open = false;      ///< later steps go to the same subfile, so the writer of them all keeps it open
};

/// Writes one segment of a step: appended to its subfile, invisible until commit() has returned, and the step invisible
/// until all its segments have. Not thread-safe: call add() from one thread at a time, in the order the parts shall
/// have. A second writer on the same subfile gets Error(usage).
class SegmentWriter {
 public:
  /// `open`: the subfile, if the writer of an earlier segment has left it (take_file()).
  SegmentWriter(const SegmentPlan& plan, const mesh::Header& header, file::File open = {});
  ~SegmentWriter();  ///< without commit: what was written is never referred to
  SegmentWriter(SegmentWriter&&) noexcept;
  SegmentWriter& operator=(SegmentWriter&&) noexcept;

  /// Writes the part's streams and forgets their bytes.
  void add(EncodedPart part);

  /// Parts may also be written by others, each on its own handle: the space for so many bytes (stored_size() of parts
  /// one after another) is taken from the file and reserved on disk. Returns its first byte, a multiple of the plan's
  /// alignment.
  std::uint64_t reserve(std::uint64_t bytes);
  /// A part that write_streams() has written in reserved space, right behind the one before.
  void add_written(EncodedPart part);
  /// Writes streams, sync, footer, sync, commit record, sync. Throws Error(no_space) on a full disk; the segment is
  /// then gone. If its record was written already, it is taken back; if that fails too, the error says so.
  void commit();
  std::uint64_t bytes_written() const noexcept;
  std::uint64_t order() const noexcept;  ///< of segment 0
  /// The subfile, open and locked; parts may be written through it.
  const file::File& file() const noexcept;
  /// After commit(): the same for a later segment, without opening it once more. Closed where the plan does not sync.
  file::File take_file() noexcept;
  /// The commit records that the file had before.
  const std::array<std::array<std::byte, 512>, 2>& records_before() const noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Bytes that the part's streams take in a file, padding after the last included.
std::uint64_t stored_size(const EncodedPart& part);
/// Where the plan's segment goes.
std::filesystem::path subfile_path(const SegmentPlan& plan);

// ---------------------------------------------------------------------------------------------- reading

/// Whether the path looks like a store (a directory with a store's marker, or a file in one); opens at most one file.
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
  /// Features of the step that this Octavo does not know: it cannot be opened. Empty: none.
  std::vector<std::string> unknown{};
};

/// The complete steps, by flow, then step, also those that this Octavo cannot open. Damaged or incomplete ones are left
/// out and described in `notes` if given.
std::vector<StepInfo> list_steps(const std::filesystem::path& store, std::vector<std::string>* notes = nullptr);

/// Opens a complete step; nothing given: the newest of the analysis flow, else of the checkpoint flow. Reads footers
/// only. Dataset::read reads and checks exactly the streams that the request needs. Throws Error(corrupt) with the list
/// of what is damaged where no complete step is left, Error(unsupported) if the step has features that this Octavo does
/// not know: an older step is never taken in its place.
mesh::Dataset open_step(const std::filesystem::path& store, std::optional<Flow> flow = {},
                        std::optional<std::int64_t> step = {});

/// The opaque bytes of a step, by part; of all parts that have some, ascending. What mesh::Part::opaque was.
std::map<int, std::map<std::string, std::vector<std::byte>>> read_opaque(const std::filesystem::path& store, Flow flow,
                                                                         std::int64_t step);

/// One row per stream of a step, without its bytes: what `octavo ls` shows.
struct StreamInfo {
  int part = 0;
  std::string field;
  int first_level = 0, last_level = 0;  ///< indices
  std::uint64_t raw_bytes = 0, stored_bytes = 0;
  std::string codec;
  std::filesystem::path file;
  std::uint64_t offset = 0;
};
std::vector<StreamInfo> list_streams(const std::filesystem::path& store, Flow flow, std::int64_t step);

enum class FindingKind : std::uint8_t {
  damaged,     ///< bytes are not what was written
  lost,        ///< a durable step is missing or lacks segments
  unsupported  ///< a step has features that this Octavo does not know: no damage
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
  std::vector<std::string> notes;  ///< what is no damage: a step whose writer was interrupted, and is not listed
  int steps = 0;
  std::uint64_t streams = 0, bytes = 0;
};
/// Reads everything and checks every checksum, every size, that trees are closed, that counts agree, and that the owned
/// leaves of a complete domain fill it. A durable step that is missing is a finding (lost); an interrupted or failed
/// attempt is a note. Throws Error only if there is damage and nothing could be opened.
Report verify(const std::filesystem::path& store, int threads, const base::Progress& progress = {});
/// Reads heads, commit records, footers and tables only: what makes a step complete, where its streams are, counts and
/// volumes. Finds truncation and lost files in the time it takes to open the store, but no flipped bit in a stream.
Report verify_quick(const std::filesystem::path& store);

}  // namespace octavo::store
