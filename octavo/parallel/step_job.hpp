#pragma once
#include <functional>
#include <optional>
#include <vector>

#include "octavo/base/error.hpp"
#include "octavo/parallel/array_view.hpp"
#include "octavo/parallel/group.hpp"
#include "octavo/parallel/staging.hpp"

namespace octavo::parallel {

/// An array of a step: where the application has it, until stage() has made a copy.
struct Source {
  mesh::FieldInfo info;
  ArrayView view;
  std::span<std::byte> staged;           ///< the packed copy; empty: none, or no values
  std::vector<std::uint64_t> checksums;  ///< of the copy, taken while copying: one for each stream
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
  std::optional<mesh::Octree> tree;  ///< nothing: this rank has no part in the step
  std::vector<Source> fields;
  std::vector<SpeciesSource> species;
  bool checksums = true;
  /// Called by whoever carried the job out, once this rank has committed its segment; returns seconds spent waiting.
  std::function<double()> committed;
  std::span<std::byte> block;          ///< of the staging arena, which holds the copies
  std::optional<base::Error> failure;  ///< what went wrong before: the step is lost, and the group is told
};

/// Calls f(source) for fields and attributes.
template <class F>
void for_each_source(StepJob& job, F&& f) {
  for (Source& source : job.fields) f(source);
  for (SpeciesSource& species : job.species)
    for (Source& source : species.attributes) f(source);
}
/// Of all arrays, in the packed form.
std::uint64_t bytes_of(StepJob& job);
/// What stage() takes of an arena.
std::uint64_t staged_bytes_of(StepJob& job);

/// Copies all arrays into a block of `staging`, which must be large enough, once there is room. Returns the seconds
/// waited.
double stage(StepJob& job, Staging& staging);
/// Encodes and writes: the staged copy, or the application's arrays where they are. Calls `released` as soon as neither
/// is needed any more, also where it throws, once; a staged block has been given back to `staging` by then. Throws
/// Error(corrupt) where a staged copy changed since. Returns bytes stored.
std::uint64_t carry_out(StepJob& job, Group& group, Staging& staging, const std::function<void()>& released = {});

}  // namespace octavo::parallel
