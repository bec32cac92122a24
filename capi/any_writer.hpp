#pragma once
#include <cmath>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "octavo/engine/targets/native_writer.hpp"
#include "octavo/engine/targets/series_writer.hpp"
#include "octavo/engine/write/writer.hpp"
#include "octavo/mesh/sides.hpp"

/// The engine's writers as one, whose target is data. C, Fortran and Python are written against this.
namespace octavo::capi {

struct StoreTarget {
  std::filesystem::path path;
  engine::Options options{};
  std::optional<store::StepId> from{};
};
/// A SERAFIN file, or a MED file where its name ends in ".med".
struct SeriesTarget {
  std::filesystem::path path;
  formats::serafin::Header header{};
  engine::SeriesMesh mesh{};
  engine::SeriesOptions options{};
};
using Target = std::variant<StoreTarget, engine::NativeOptions, SeriesTarget>;

class AnyWriter {
 public:
  /// Collective. `header`: what all steps have in common; a series has none.
  AnyWriter(MPI_Comm comm, const Target& target, const mesh::Header& header)
      : comm_(comm), header_(header), writer_(open(comm, target, header)) {}

  /// `path`: of FLASH and AMReX; `flow`: of a store.
  void begin_step(store::Flow flow, const std::filesystem::path& path, std::int64_t step, double time) {
    if (auto* store = std::get_if<Store>(&writer_)) return store->begin_step(flow, step, time);
    if (std::holds_alternative<Native>(writer_) && path.empty())
      throw base::Error(base::Kind::usage, "path is NULL").hint("every FLASH and AMReX output has its own");
    if (auto* native = std::get_if<Native>(&writer_)) return native->begin_step(path, step, time);
    std::get<Series>(writer_).begin_step(time);
  }
  bool due(store::Flow flow, std::int64_t step, double time) {
    if (auto* store = std::get_if<Store>(&writer_)) return store->due(flow, step, time);
    throw takes_no("cadence");
  }
  void put_attribute(const std::string& name, mesh::Attribute value) {
    with_mesh("attributes", [&](auto& writer) { writer.put_attribute(name, std::move(value)); });
  }
  void put_mesh(const mesh::Octree& tree) {
    with_mesh("tree", [&](auto& writer) { writer.put_mesh(tree); });
  }
  void put_mesh(const mesh::Patches& boxes) {
    with_mesh("boxes", [&](auto& writer) { writer.put_mesh(boxes); });
  }
  void put_mesh(const engine::SeriesMesh& triangles) {
    if (std::holds_alternative<Native>(writer_)) throw takes_no("triangles");
    if (std::holds_alternative<Series>(writer_)) throw takes_no("other mesh than its target's");
    if (!triangles.boundary.empty() || triangles.geometry)
      throw base::Error(base::Kind::usage, "triangles: boundary and geometry are for SERAFIN files")
          .hint("a boundary is an integer field");
    std::get<Store>(writer_).put_mesh(triangles.piece, triangles.global_element);
  }
  /// A face variable has one value more along its axis, and becomes the fields NAME_left and NAME_right.
  void put_field(const std::string& name, const engine::ArrayView& view, const std::string& unit,
                 mesh::Centring centring) {
    if (auto* series = std::get_if<Series>(&writer_)) return series->put_field(name, view);
    if (auto* native = std::get_if<Native>(&writer_)) return native->put_field(name, view, unit, centring);
    auto& store = std::get<Store>(writer_);
    if (!is_face(centring)) return store.put_field(name, view, unit, centring);
    const std::size_t axis = mesh::face_axis(centring);
    if (view.block[axis] != header_.block[axis] + 1) return store.put_field(name, view, unit, centring);
    check(view);
    const auto sides = split_faces(view, axis);
    for (unsigned high = 0; high < 2; ++high)
      store.put_field(mesh::name_of_side(name, centring, high), sides[high], unit, centring);
  }
  void put_field(const std::string& name, const std::vector<engine::ArrayView>& boxes, const std::string& unit,
                 mesh::Centring centring) {
    if (auto* store = std::get_if<Store>(&writer_)) return store->put_field(name, boxes, unit, centring);
    if (auto* native = std::get_if<Native>(&writer_)) return native->put_field(name, boxes, unit);
    throw takes_no("boxes");
  }
  void put_particles(const std::string& species, const std::string& attribute, const engine::ArrayView& view,
                     const std::string& unit) {
    if (auto* store = std::get_if<Store>(&writer_)) return store->put_particles(species, attribute, view, unit);
    if (auto* native = std::get_if<Native>(&writer_)) return native->put_particles(species, attribute, view);
    throw takes_no("particles");
  }
  void put_error(const base::Error& error) {
    std::visit([&](auto& writer) { writer.put_error(error); }, writer_);
  }
  void begin_error(const base::Error& error) {
    std::visit([&](auto& writer) { writer.begin_error(error); }, writer_);
  }
  void end_step() {
    std::visit([](auto& writer) { writer.end_step(); }, writer_);
  }
  bool finished() {
    if (auto* native = std::get_if<Native>(&writer_)) return native->finished();
    if (auto* series = std::get_if<Series>(&writer_)) return series->finished();
    throw takes_no("question whether all is finished").hint("wait for it");
  }
  void wait() {
    std::visit([](auto& writer) { writer.wait(); }, writer_);
  }
  void close() {
    std::visit([](auto& writer) { writer.close(); }, writer_);
  }
  std::int64_t steps() const {
    if (const auto* series = std::get_if<Series>(&writer_)) return series->steps();
    throw takes_no("count of steps");
  }
  engine::Statistics statistics() const {
    return std::visit([](const auto& writer) { return writer.statistics(); }, writer_);
  }
  /// Collective: of all ranks together.
  engine::Statistics total_statistics() const {
    if (const auto* store = std::get_if<Store>(&writer_)) return store->total_statistics();
    return total(statistics(), comm_);
  }
  /// Of a store; else null.
  const engine::Writer* store() const { return std::get_if<Store>(&writer_); }

 private:
  using Store = engine::Writer;
  using Native = engine::NativeWriter;
  using Series = engine::SeriesWriter;
  using Writers = std::variant<Store, Native, Series>;

  static Writers open(MPI_Comm comm, const Target& target, const mesh::Header& header) {
    if (const auto* store = std::get_if<StoreTarget>(&target))
      return Store(comm, store->path, header, store->options, store->from);
    if (const auto* native = std::get_if<engine::NativeOptions>(&target)) return Native(comm, header, *native);
    const auto& series = std::get<SeriesTarget>(target);
    return Series(comm, series.path, series.header, series.mesh, series.options);
  }
  base::Error takes_no(const std::string& what) const {
    constexpr const char* names[] = {"a store", "a FLASH or AMReX output", "a SERAFIN or MED file"};
    return base::Error(base::Kind::unsupported, std::string(names[writer_.index()]) + " takes no " + what);
  }
  template <class Work>
  void with_mesh(const char* what, Work&& work) {
    if (auto* store = std::get_if<Store>(&writer_)) return work(*store);
    if (auto* native = std::get_if<Native>(&writer_)) return work(*native);
    throw takes_no(what);
  }

  MPI_Comm comm_;
  mesh::Header header_;
  Writers writer_;
};

}  // namespace octavo::capi
