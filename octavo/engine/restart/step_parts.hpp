#pragma once
#include <mpi.h>

#include <filesystem>
#include <map>
#include <optional>
#include <vector>

#include "octavo/mesh/dataset.hpp"
#include "octavo/store/read/opened.hpp"

namespace octavo::engine {

/// A complete step as all ranks know it: where its segments are. Tables are read only by who needs them.
struct StepParts {
  store::Scan scan;  ///< one subfile and commit for each segment of the step
  store::StepFound found;
  mesh::Header header;     ///< of the step, with its fields
  std::vector<int> first;  ///< number of each segment's first part; one more entry than segments
  std::map<std::size_t, store::OpenedSegment> tables;  ///< read so far by this rank
  /// An output of a code in place of a step of a store: then of the others only the header is set.
  std::optional<mesh::Dataset> output;
};

inline int num_parts(const StepParts& step) { return step.output ? step.output->num_parts : step.first.back(); }

/// Complete steps of a flow as one process sees them, the newest first; those that damage leaves out are noted.
/// Nothing where there is no store.
std::vector<StepParts> find_steps(const std::filesystem::path& store, store::Flow flow,
                                  std::vector<std::string>& notes);

/// Gives all ranks what rank 0 found: file names, footers and the header. Collective; reads one table, on rank 0.
StepParts share_step(MPI_Comm comm, StepParts step);

/// An output of a code, opened by this rank, with its own names or Octavo's. Throws Error(unsupported) for a mesh of
/// triangles.
StepParts open_output(const std::filesystem::path& path, std::optional<std::int64_t> step, bool own_names);

/// The table entry of a part, numbered by segment and place in it; reads the segment's table the first time.
/// @pre no output
struct PartEntry {
  const store::OpenedSegment* segment = nullptr;
  std::size_t row = 0;
  const store::PartRow& part() const { return segment->table.parts[row]; }
};
PartEntry entry_of(StepParts& step, int part);
/// Levels that a part's tree may have.
int levels_of(StepParts& step, int part);
/// Species and their attributes, as the reader of this part knows them.
std::vector<mesh::SpeciesInfo> species_known(StepParts& step, int part);
/// Reads (of) a part. Throws Error(corrupt), with file, part and field, for what fails its checksum.
mesh::Part read_part(StepParts& step, int part, const mesh::Request& request, const store::Place& place = {});

}  // namespace octavo::engine
