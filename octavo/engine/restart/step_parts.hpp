#pragma once
#include <mpi.h>

#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "octavo/mesh/dataset.hpp"
#include "octavo/store/read/opened.hpp"

namespace octavo::engine {

/// A complete step of a store as all ranks know it: where its segments are. A rank reads only the tables that it needs.
struct StoredStep {
  store::Scan scan;  ///< one subfile and commit for each segment of the step
  store::StepFound found;
  mesh::Header header;     ///< of the step, with its fields
  std::vector<int> first;  ///< number of each segment's first part; one more entry than segments
  std::map<std::size_t, store::OpenedSegment> tables;  ///< read so far by this rank, by any of its threads
  std::unique_ptr<std::mutex> reading = std::make_unique<std::mutex>();
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

/// Opens on all ranks the step that rank 0 found: file names, footers and the header. Collective; reads one table, on
/// rank 0.
StepParts share_step(MPI_Comm comm, StepParts step);

/// An output of a code, opened by this rank, with its own names or Octavo's. Throws Error(unsupported) for a mesh of
/// triangles.
StepParts open_output(const std::filesystem::path& path, std::optional<std::int64_t> step, bool own_names);

/// The table entry of a part, numbered by segment and place in it; reads the segment's table the first time.
/// @pre a step of a store
struct PartEntry {
  const store::OpenedSegment* segment = nullptr;
  std::size_t row = 0;
  const store::PartRow& part() const { return segment->table.parts[row]; }
};
PartEntry entry_of(const StepParts& step, int part);
/// Reads a part, or some of it, of a store's step into place. Throws Error(corrupt), naming file, part and field, if a
/// checksum differs.
mesh::Part read_part(const StepParts& step, int part, const mesh::Request& request, const store::Place& place = {});
/// Gives the sink the values of a part that is a tree. For a step in a store this takes less memory than the values do.
void stream_part(const StepParts& step, int part, const mesh::Request& request, const store::ValueSink& sink);

}  // namespace octavo::engine
