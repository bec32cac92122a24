#pragma once
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "octavo/base/error.hpp"
#include "octavo/engine/step/array_view.hpp"
#include "octavo/engine/step/group.hpp"
#include "octavo/engine/step/staging.hpp"
#include "octavo/mesh/patches/patches_to_octree.hpp"

namespace octavo::engine {

/// An array of a step: where the application has it, until stage() has made a copy.
struct Source {
  mesh::FieldInfo info;
  ArrayView view;
  std::vector<ArrayView>
      boxes;  ///< fields on patches whose boxes have memory of their own: one a box, `view` is unused
  std::vector<std::byte> folded;         ///< values that `view` describes, where they are no longer the application's
  std::span<std::byte> staged;           ///< the packed copy in the staging arena; empty: none, or no values
  std::vector<std::uint64_t> checksums;  ///< of the copy, taken while copying: one for each stream
  /// Where the application has no values of some cells: tree cells [first, last) that it has, which alone `view` is of
  /// then, and where they are. See leave_out().
  std::optional<std::vector<codec::Range>> there{};
  std::shared_ptr<const std::vector<std::uint32_t>> order{};
};

std::size_t packed_bytes(const Source& source);
/// Puts the values in order, box after box where there are boxes; returns their checksum, or 0 where none is wanted.
std::uint64_t pack(const Source& source, std::span<std::byte> out, bool with_checksum);

/// Patches as they were put, and what it takes to make them a tree.
struct PatchSource {
  mesh::Patches mine, others;  ///< boxes of this rank, and of all others
  mesh::PatchTree tree;
};

/// An array of a mesh of triangles.
struct MeshSource {
  store::MeshSet of = store::MeshSet::points;
  Source source;
};

/// A piece of a mesh of triangles as it was put: values stand on its points, plane after plane. fold() makes it a share
/// of the whole mesh, with values of its own.
struct TriangleSource {
  std::size_t points = 0;  ///< of one plane
  int planes = 1;
  store::TriangleMesh whole{};
  store::TriangleShare share{};
  std::vector<MeshSource> arrays{};  ///< of the share
};

struct SpeciesSource {
  std::string species;
  std::int64_t count = 0;
  std::vector<Source> attributes;
};

/// The work of one rank for a step. It can be carried out without the other ranks.
struct StepJob {
  store::SegmentPlan plan;
  std::filesystem::path path;  ///< of a step that is a file of its own
  std::string name;            ///< in errors; empty: flow and number
  mesh::Header header;
  store::EncodeOptions encoding;
  int part = 0;
  std::optional<mesh::Octree> tree;    ///< neither tree nor patches: this rank has no part in the step
  std::optional<PatchSource> patches;  ///< they become a tree when they are encoded
  std::optional<TriangleSource> triangles;
  std::vector<Source> fields;
  std::vector<SpeciesSource> species;
  std::map<std::string, std::vector<std::byte>> opaque{};
  bool checksums = true;
  /// Called by whoever carried the job out, once this rank has committed its segment; returns seconds spent waiting.
  std::function<double()> committed;
  std::span<std::byte> block;          ///< of the staging arena, which holds the copies
  std::optional<mesh::Part> copied{};  ///< copy(): the packed arrays, on the mesh that was put
  std::optional<base::Error> failure;  ///< an earlier error: the step is lost, and the group is told
};

inline bool has_part(const StepJob& job) { return job.tree || job.patches || job.triangles; }

/// Calls f(source) for fields, attributes and arrays of a mesh.
template <class Job, class F>
void for_each_source(Job& job, F&& f) {
  for (auto& source : job.fields) f(source);
  for (auto& species : job.species)
    for (auto& source : species.attributes) f(source);
  if (job.triangles)
    for (auto& array : job.triangles->arrays) f(array.source);
}
/// The bytes of all arrays, in the packed form.
std::uint64_t bytes_of(const StepJob& job);
/// The bytes that stage() takes of an arena.
std::uint64_t staged_bytes_of(const StepJob& job);

/// Leaves out long stretches of cells whose order says `nowhere`, and, in fields without an order, cells with zeros
/// that the rank does not own. Absent cells are neither copied nor written. For trees, before stage().
void leave_out(StepJob& job);
/// Copies all arrays into a block of `staging`, which must be large enough, once there is room. Returns the seconds
/// waited.
double stage(StepJob& job, Staging& staging);
/// Encodes and writes: the staged copy, or the application's arrays where they are. Calls `released` as soon as neither
/// is needed any more, also where it throws, once; a staged block has been given back to `staging` by then. Throws
/// Error(corrupt) where a staged copy changed since.
Written carry_out(StepJob& job, Group& group, Staging& staging, const std::function<void()>& released = {});

// ------------------------------------------------------------------------------------ for foreign formats

/// Buffers of steps that are over, for the next one: pages that the system has already given.
struct Buffers {
  std::vector<std::vector<std::byte>> spare;
};
/// Copies all arrays into buffers, each with one checksum: `job.copied`. Where memory is refused the job gets a
/// failure.
void copy(StepJob& job, Buffers& buffers);
/// The copies. Throws Error(corrupt) where one is no longer what it was, if checksums were taken.
const mesh::Part& checked_copy(const StepJob& job);
/// Gives the copies' memory to later steps.
void let_go(StepJob& job, Buffers& buffers);

}  // namespace octavo::engine
