#pragma once
#include <optional>
#include <vector>

#include "octavo/base/error.hpp"
#include "octavo/mesh/patches_to_octree.hpp"
#include "octavo/parallel/array_view.hpp"
#include "octavo/parallel/group.hpp"
#include "octavo/parallel/staging.hpp"

namespace octavo::parallel {

/// An array of a step: where the application has it, until stage() has made a copy.
struct Source {
  mesh::FieldInfo info;
  ArrayView view;
  std::vector<ArrayView>
      boxes;  ///< fields on patches whose boxes have memory of their own: one a box, `view` is unused
  std::vector<std::byte> folded;  ///< values that `view` describes, where they are no longer the application's
  std::vector<std::byte> bytes;   ///< the packed copy
  std::uint64_t checksum = 0;     ///< of the copy, taken while copying
  bool staged = false;
};

std::size_t packed_bytes(const Source& source);
/// Puts the values in order, box after box where there are boxes; returns their checksum, or 0 where none is wanted.
std::uint64_t pack(const Source& source, std::span<std::byte> out, bool with_checksum);

/// Patches as they were put, and what it takes to make them a tree.
struct PatchSource {
  mesh::Patches mine, others;  ///< boxes of this rank, and of all others
  mesh::PatchTree tree;
};

struct SpeciesSource {
  std::string species;
  std::int64_t count = 0;
  std::vector<Source> attributes;
};

/// All that one rank has to write of a step. Needs nobody else to be carried out.
struct StepJob {
  store::SegmentPlan plan;
  mesh::Header header;
  store::EncodeOptions encoding;
  int part = 0;
  std::optional<mesh::Octree> tree;    ///< neither tree nor patches: this rank has no part in the step
  std::optional<PatchSource> patches;  ///< they become a tree when they are encoded
  std::vector<Source> fields;
  std::vector<SpeciesSource> species;
  bool checksums = true;
  std::optional<base::Error> failure;  ///< what went wrong before: the step is lost, and the group is told
};

inline bool has_part(const StepJob& job) { return job.tree || job.patches; }

/// Calls f(source) for fields and attributes.
template <class F>
void for_each_source(StepJob& job, F&& f) {
  for (Source& source : job.fields) f(source);
  for (SpeciesSource& species : job.species)
    for (Source& source : species.attributes) f(source);
}
std::uint64_t bytes_of(StepJob& job);

/// Copies all arrays into buffers of `staging`, which must have reserved bytes_of(job). Where memory is refused the job
/// gets a failure.
void stage(StepJob& job, Staging& staging);
/// The packed copies as a part, on the mesh that was put; put_back() returns their buffers to the job. Throws
/// Error(corrupt) where a copy is no longer what it was, if checksums were taken.
mesh::Part take_part(StepJob& job);
void put_back(mesh::Part& part, StepJob& job);
/// Frees the copies.
void give_back(StepJob& job, Staging& staging);
/// Copies what is not staged yet, into memory of its own: the arrays are the application's again. Fails as stage()
/// does.
void copy_lent(StepJob& job);
/// Encodes and writes; gives staged buffers back to `staging`. Throws Error(corrupt) where a staged copy changed since.
/// Returns bytes stored. In any case the job's buffers are given back.
std::uint64_t carry_out(StepJob& job, Group& group, Staging& staging);

}  // namespace octavo::parallel
