#pragma once
#include <mpi.h>

#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "octavo/file/open_files.hpp"
#include "octavo/mesh/dataset.hpp"
#include "octavo/store/read/opened.hpp"

namespace octavo::engine {

/// A segment that has parts.
struct SegmentRef {
  std::string file;          ///< in the store
  int first = 0, parts = 0;  ///< the number of its first part in the step, and how many it has
  store::Extent footer{};
};

/// The files of a step as rank 0 has found them.
struct StepFiles {
  std::string first;  ///< of segment 0, in the store: "checkpoint/000/000/000000040/data.000"
  int segments = 0;
  /// By segment, if some segment is not in the file of its own number beside the first one; else empty.
  std::vector<std::string> each;
  bool unread = false;  ///< only mark or index vouches for the step: nobody has read its other footers yet
};

/// A complete step of a store as a rank knows it: of the segments only those that it needs. It reads their footers and
/// tables itself.
struct StoredStep {
  std::filesystem::path store;
  store::StepFound found;  ///< without segments
  StepFiles files;         ///< on rank 0
  int parts = 0;
  bool triangles = false;
  store::Table head;                ///< header, fields and arrays of the step; without parts
  std::map<int, SegmentRef> known;  ///< by first part
  std::set<int> wanted;             ///< parts that this rank may read: those dealt to it, and those it was told of
  /// By part, as far as any of this rank's threads has asked: a segment with the rows of wanted parts alone, and the
  /// row.
  std::map<int, std::pair<std::shared_ptr<const store::OpenedSegment>, std::size_t>> opened;
  std::unique_ptr<std::mutex> reading = std::make_unique<std::mutex>();
  /// Footers, tables, meshes and values are read through these. The parts of a rank seldom lie in more files.
  std::unique_ptr<file::OpenFiles> handles = std::make_unique<file::OpenFiles>(4);
};

/// A step that a run starts from, read through its Dataset like any other step.
struct StepParts {
  store::StepFound found;              ///< flow, number and attempt
  mesh::Dataset dataset;               ///< opened by this rank; parts are counted by segment and place in it
  std::vector<std::size_t> widths;     ///< per field: values a tree cell
  std::shared_ptr<StoredStep> stored;  ///< of a store; null: an output of a code
};

inline int num_parts(const StepParts& step) { return step.dataset.num_parts; }

/// The complete steps of a flow as one process sees them, the newest first, not opened yet. `notes` get the steps that
/// are left out because of damage. Returns nothing if there is no store.
std::vector<StepParts> find_steps(const std::filesystem::path& store, store::Flow flow,
                                  std::vector<std::string>& notes);

/// Opens on all ranks the step that rank 0 found (`found`; other ranks give anything). Collective: each rank reads the
/// footers of an equal number of files, and tells the ranks to which their parts are dealt (deal()) where these are.
/// One rank reads a table, and all learn the header from it. No rank has a list of all files, unless segments are in
/// files of other numbers: then rank 0 has. Throws Error(corrupt) if the footers are not those of the step.
StepParts share_step(MPI_Comm comm, const StepParts& found);
/// The step as data, once this rank knows where its parts are.
StepParts opened_step(StoredStep step);
/// Removes the attributes that list something of each part: a code's own bounds of its domains.
void drop_lists_of_parts(mesh::Header& header);
/// Collective. Tells other ranks of parts that this rank knows: `told` has pairs of a rank and a part, ascending by
/// rank. Returns the parts of which this rank was told, ascending.
std::vector<int> tell_parts(MPI_Comm comm, StepParts& step, const std::vector<std::pair<int, int>>& told);

/// The parts [first, last) that a rank reads if parts are simply dealt out in equal numbers.
struct Deal {
  int first = 0, last = 0;
};
Deal deal(int parts, int ranks, int rank);

/// An output of a code, opened by this rank, with its own names or Octavo's. Throws Error(unsupported) for a mesh of
/// triangles.
StepParts open_output(const std::filesystem::path& path, std::optional<std::int64_t> step, bool own_names);

/// The table entry of a part, numbered by segment and place in it; reads the segment's table the first time.
/// @pre a step of a store; this rank knows the part's segment
struct PartEntry {
  const store::OpenedSegment* segment = nullptr;
  std::size_t row = 0;
  const store::PartRow& part() const { return segment->table.parts[row]; }
};
PartEntry entry_of(const StepParts& step, int part);
/// The segment's file, open.
std::shared_ptr<const file::File> open_file_of(const StepParts& step, const PartEntry& entry);
/// Reads a part, or some of it, of a store's step into place. Throws Error(corrupt), naming file, part and field, if a
/// checksum differs.
mesh::Part read_part(const StepParts& step, int part, const mesh::Request& request, const store::Place& place = {});
/// Gives the sink the values of a part that is a tree. For a step in a store this takes less memory than the values do.
void stream_part(const StepParts& step, int part, const mesh::Request& request, const store::ValueSink& sink);

}  // namespace octavo::engine
