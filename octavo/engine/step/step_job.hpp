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

/// An array of a step: a view of the application's memory, until stage() has made a copy.
struct StepArray {
  mesh::FieldInfo info;
  ArrayView view;
  std::vector<ArrayView>
      boxes;  ///< fields on patches whose boxes have separate arrays: one view a box; `view` is unused
  std::vector<std::byte> folded;         ///< the memory of `view`, if it is no longer the application's
  std::span<std::byte> staged;           ///< the packed copy in the staging arena; empty: none, or no values
  std::size_t lent = 0;                  ///< cells before the staged copy, which are read from `view` or `boxes`
  std::vector<std::uint64_t> checksums;  ///< of the copy, taken while copying: one for each stream that it touches
  /// If the application lacks values of some cells: the ranges of tree cells [first, last) that it has, and the order
  /// of these cells. `view` then describes only them. See leave_out().
  std::optional<std::vector<codec::Range>> there{};
  std::shared_ptr<const std::vector<std::uint32_t>> order{};
};

std::size_t packed_bytes(const StepArray& source);
/// "field density", or "attribute mass" of particles.
std::string name_in_errors(const StepArray& source);
/// Cells of an array, or all of its boxes, and where their packed form goes.
struct CellsToPack {
  const StepArray* source = nullptr;
  std::size_t first = 0, last = 0;  ///< unused with boxes
  std::span<std::byte> out;
  std::uint64_t checksum = 0;  ///< of the packed form, if one is wanted
};
/// Writes the packed forms. Arrays in device memory are one flow of copies. Errors name the array.
void pack(std::span<CellsToPack> all, bool with_checksums);
/// Writes the packed form of one array, box after box if there are boxes. Returns its checksum, or 0 if none is wanted.
std::uint64_t pack(const StepArray& source, std::span<std::byte> out, bool with_checksum);

/// Patches as they were put, and the data for turning them into a tree.
struct PatchSource {
  mesh::Patches mine, others;  ///< boxes of this rank, and of all others
  mesh::PatchTree tree;
};

/// An array of a mesh of triangles.
struct MeshSource {
  store::MeshSet of = store::MeshSet::points;
  StepArray source;
};

/// A piece of a mesh of triangles as it was put, with values on its points, plane after plane. fold() turns it into a
/// share of the whole mesh, with values in memory of its own.
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
  std::vector<StepArray> attributes;
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
  std::vector<StepArray> fields;
  std::vector<SpeciesSource> species;
  std::map<std::string, std::vector<std::byte>> opaque{};
  bool checksums = true;
  /// Called by the thread that carried out the job: with the outcome once this rank has committed its segment, without
  /// one if the step has failed here. Returns seconds waited.
  std::function<double(const WrittenSegment*)> ended;
  std::optional<Detour> detour;        ///< if the plan's disk is full
  std::span<std::byte> block;          ///< of the staging arena, which holds the copies
  std::uint64_t lent_bytes = 0;        ///< of a step larger than the arena: bytes that are not copied
  std::optional<base::Error> failure;  ///< an earlier error: the step is lost, and the group must be told
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
/// The order in which carry_out() reads a step's arrays decides which of them staging takes: the last ones. Returns the
/// first staged cell of each array, in the order of for_each_source(). All 0 if the whole step fits into `limit` bytes.
std::vector<std::size_t> first_staged_cells(const StepJob& job, std::uint64_t limit);

/// Leaves out long stretches of cells whose order says `nowhere`, and, in fields without an order, cells with zeros
/// that the rank does not own. Absent cells are neither copied nor written. For trees, before stage().
void leave_out(StepJob& job);
/// Waits for room in `staging`, and copies all arrays into a block of it. If the step is larger than the arena, copies
/// what carry_out() reads last, and notes in `job.lent_bytes` how much is left. Returns the seconds waited.
double stage(StepJob& job, Staging& staging);
/// Encodes and writes the staged copy, or else the application's arrays. Calls `released` once, as soon as the
/// application's arrays are not needed any more, even if it throws; a block that holds the whole step has been given
/// back to `staging` by then. Throws Error(corrupt) if a staged copy has changed.
WrittenSegment carry_out(StepJob& job, Group& group, Staging& staging, const std::function<void()>& released = {});

// ------------------------------------------------------------------------------------ for foreign formats

/// The packed values of an array: the staged copy, else the application's array if it is packed, else a copy in
/// `scratch`. Throws Error(corrupt) if the staged copy has changed.
std::span<const std::byte> packed_values(const StepJob& job, const StepArray& source, std::vector<std::byte>& scratch);
/// Copies in memory of their own: of one array, of one species, and of all arrays on the mesh that was put.
mesh::Field field_of(const StepJob& job, const StepArray& source);
mesh::Particles particles_of(const StepJob& job, const SpeciesSource& species);
mesh::Part part_of(const StepJob& job);

}  // namespace octavo::engine
