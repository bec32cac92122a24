#include <limits>
#include <memory>
#include <utility>

#include "capi/objects.hpp"
#include "capi/puts.hpp"
#include "octavo/engine/write/writer.hpp"
#include "octavo/ranks/communicator.hpp"

struct octavo_series {
  octavo::engine::Writer writer;
};

namespace octavo::capi {

engine::SeriesMesh mesh_from(const octavo_series_mesh& from) {
  engine::SeriesMesh mesh;
  mesh.piece.x = array_from(from.x, from.points);
  mesh.piece.y = array_from(from.y, from.points);
  mesh.piece.connectivity = array_from(from.connectivity, 3 * from.triangles);
  mesh.piece.planes = from.planes;
  if (from.global_point != nullptr) mesh.piece.global_point = array_from(from.global_point, from.points);
  if (from.global_element != nullptr) mesh.global_element = array_from(from.global_element, from.triangles);
  if (from.boundary != nullptr) mesh.boundary = array_from(from.boundary, from.points);
  if (from.geometry != nullptr) mesh.geometry = from.geometry;
  return mesh;
}

}  // namespace octavo::capi

namespace {

using namespace octavo;
using namespace octavo::capi;
namespace serafin = formats::serafin;

serafin::Header header_from(const octavo_series_options& options, int variables, const char* const* names,
                            const char* const* units) {
  serafin::Header header;
  header.order = options.little_endian != 0 ? std::endian::little : std::endian::big;
  header.real_bytes = options.double_precision != 0 ? 8 : 4;
  header.title = engine::series_title(options.title == nullptr ? "" : options.title, header.real_bytes);
  const std::vector<std::string> first = texts_from(names, variables), second = texts_from(units, variables);
  for (std::size_t v = 0; v < first.size(); ++v) header.variables.push_back(serafin::variable(first[v], second[v]));
  std::copy_n(options.origin, 2, header.iparam.begin() + 2);
  if (options.dated != 0) std::copy_n(options.date, 6, header.date.emplace().begin());
  return header;
}

engine::SeriesOptions options_from(const octavo_series_options& from) {
  if (from.alignment < 1)
    throw Error(Kind::usage, "alignment: expected at least 1 byte, found " + std::to_string(from.alignment));
  engine::SeriesOptions options;
  options.mode = from.background != 0 ? engine::Mode::background : engine::Mode::sync;
  options.sync = from.sync != 0;
  options.writers = from.writers;
  options.alignment = static_cast<std::uint64_t>(from.alignment);
  if (from.resume != 0) options.resume = from.resume_time;
  options.ranks_per_node = from.ranks_per_node;
  options.bound_thread = from.bound_thread != 0;
  return options;
}

}  // namespace

octavo_series_options octavo_series_options_default() {
  return {0, 0, nullptr, 0, {0, 0, 0, 0, 0, 0}, {0, 0}, 1, 1, 0, 4096, 0, std::numeric_limits<double>::infinity(),
          0, 0};
}

int octavo_series_open(MPI_Comm comm, const char* path, int variables, const char* const* names,
                       const char* const* units, const octavo_series_mesh* mesh, const octavo_series_options* options,
                       octavo_series** series, octavo_error* error) {
  return guard(error, [&] {
    serafin::Header header;
    engine::SeriesMesh piece;
    engine::SeriesOptions chosen;
    ranks::agree(comm, [&] {
      checked(series, "series") = nullptr;
      checked(path, "path");
      header = header_from(checked(options, "options"), variables, names, units);
      chosen = options_from(*options);
      piece = mesh_from(checked(mesh, "mesh"));
    });
    *series = new octavo_series{engine::Writer(comm, {}, engine::SeriesTarget{path, header, piece, chosen})};
  });
}

int octavo_series_begin_step(octavo_series* series, double time, octavo_error* error) {
  return begin(series, error, [&](octavo_series& to) { to.writer.begin_step(time); });
}

int octavo::capi::put_series_field(octavo_series* series, const char* name,
                                   const std::function<engine::ArrayView()>& view, octavo_error* error) {
  return put(series, error, "a field", [&](octavo_series& to) { to.writer.put_field(&checked(name, "name"), view()); });
}

int octavo_series_put(octavo_series* series, const char* name, int type, const void* values, int64_t count,
                      int64_t stride, int space, octavo_error* error) {
  return put_series_field(
      series, name, [&] { return view_of(type, values, count, stride, space); }, error);
}

int octavo_series_end_step(octavo_series* series, octavo_error* error) {
  return guard(error, [&] { checked(series, "series").writer.end_step(); });
}

int octavo_series_finished(octavo_series* series, int* all, octavo_error* error) {
  return guard(error, [&] {
    const bool done = checked(series, "series").writer.finished();
    checked(all, "all") = done ? 1 : 0;
  });
}

int octavo_series_wait(octavo_series* series, octavo_error* error) {
  return guard(error, [&] { checked(series, "series").writer.wait(); });
}

int octavo_series_steps(const octavo_series* series, int64_t* steps, octavo_error* error) {
  return guard(error, [&] { checked(steps, "steps") = checked(series, "series").writer.steps(); });
}

int octavo_series_close(octavo_series** series, octavo_error* error) {
  return guard(error, [&] {
    const std::unique_ptr<octavo_series> mine(std::exchange(checked(series, "series"), nullptr));
    checked(mine.get(), "series").writer.close();
  });
}
