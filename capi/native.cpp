#include <memory>
#include <optional>
#include <utility>

#include "capi/arguments.hpp"
#include "octavo/mesh/boxes.hpp"
#include "octavo/parallel/communicator.hpp"
#include "octavo/parallel/native_writer.hpp"

struct octavo_native_writer {
  octavo::parallel::NativeWriter writer;
  int dim;
  octavo::mesh::Index3 roots, block;
  std::optional<std::vector<octavo::mesh::Index3>> boxes{};  ///< sizes of those put in this step
};

namespace {

using namespace octavo;
using namespace octavo::capi;

parallel::NativeOptions options_of(const octavo_native_options& from) {
  if (from.format < OCTAVO_FLASH || from.format > OCTAVO_AMREX_CHECKPOINT)
    throw Error(Kind::usage, "format: expected 0, 1 or 2, found " + std::to_string(from.format));
  parallel::NativeOptions options;
  options.format = static_cast<parallel::NativeFormat>(from.format);
  options.mode = from.background != 0 ? parallel::Mode::background : parallel::Mode::sync;
  options.sync = from.sync != 0;
  options.checksums = from.checksums != 0;
  options.collect = from.collect != 0;
  options.files = from.files;
  options.max_box = from.max_box;
  if (from.title != nullptr) options.title = from.title;
  if (from.multifab != nullptr) options.multifab = from.multifab;
  return options;
}

mesh::IndexBox box_at(const std::int64_t* corners) {
  mesh::IndexBox box;
  std::copy_n(corners, 3, box.lo.begin());
  std::copy_n(corners + 3, 3, box.hi.begin());
  return box;
}

// How arrays lie: `size` values along the axes, ghosts around them.
struct Layout {
  int type, dim, ghost;
  std::int64_t stride;
  int space;
};

std::int64_t elements(const Layout& layout, const mesh::Index3& size) {
  std::int64_t all = std::max<std::int64_t>(layout.stride, 1);
  for (int axis = 0; axis < layout.dim; ++axis) all *= size[static_cast<std::size_t>(axis)] + 2 * layout.ghost;
  return all;
}

// `count` arrays of one size, one after another.
parallel::ArrayView view_of_arrays(const Layout& layout, const void* values, std::int64_t count,
                                   const mesh::Index3& size) {
  if (layout.ghost < 0 || layout.stride < 0) throw Error(Kind::usage, "ghost and stride must not be negative");
  parallel::ArrayView view = view_of(layout.type, values, count, 0, layout.space);
  view.block = size;
  if (layout.ghost == 0 && layout.stride <= 1) return view;
  parallel::ArrayView::Stride& stride = view.stride;
  stride.x = std::max<std::int64_t>(layout.stride, 1);
  stride.y = stride.x * (size[0] + 2 * layout.ghost);
  stride.z = layout.dim > 1 ? stride.y * (size[1] + 2 * layout.ghost) : stride.y;
  stride.cell = elements(layout, size);
  stride.component = 1;
  const std::int64_t first =
      layout.ghost * (stride.x + (layout.dim > 1 ? stride.y : 0) + (layout.dim > 2 ? stride.z : 0));
  if (count > 0)
    view.data =
        &checked(static_cast<const std::byte*>(values), "values") + first * std::int64_t(mesh::size_of(view.type));
  return view;
}

mesh::Centring faces_along(const octavo_native_writer& writer, int axis) {
  if (axis < 0 || axis >= writer.dim)
    throw Error(Kind::usage,
                "axis: expected 0 to " + std::to_string(writer.dim - 1) + ", found " + std::to_string(axis));
  return static_cast<mesh::Centring>(static_cast<int>(mesh::Centring::face_x) + axis);
}

const std::vector<mesh::Index3>& sizes_of_boxes(const octavo_native_writer& writer, std::int64_t count) {
  if (!writer.boxes) throw Error(Kind::usage, "no boxes were put before");
  if (count != static_cast<std::int64_t>(writer.boxes->size()))
    throw Error(Kind::usage, "expected arrays of " + std::to_string(writer.boxes->size()) + " boxes, found " +
                                 std::to_string(count));
  return *writer.boxes;
}

// What is wrong with a put is for all ranks to know: end_step returns it.
template <class Work>
int put(octavo_native_writer* writer, octavo_error* error, const std::string& place, Work&& work) noexcept {
  return guard(error, [&] {
    parallel::NativeWriter& mine = checked(writer, "writer").writer;
    try {
      work(mine);
    } catch (Error& problem) {
      mine.put_error(problem.at(place));
      throw;
    }
  });
}
template <class Value>
int put_attribute(octavo_native_writer* writer, const char* name, octavo_error* error, Value&& value) noexcept {
  return put(writer, error, "an attribute",
             [&](parallel::NativeWriter& to) { to.put_attribute(&checked(name, "name"), value()); });
}

void put_box_arrays(parallel::NativeWriter& to, const octavo_native_writer& writer, const char* name, const char* unit,
                    const Layout& layout, const std::vector<const void*>& arrays) {
  std::vector<parallel::ArrayView> views;
  for (std::size_t i = 0; i < arrays.size(); ++i)
    views.push_back(view_of_arrays(layout, arrays[i], 1, writer.boxes->at(i)));
  to.put_field(&checked(name, "name"), views, unit == nullptr ? "" : unit);
}

// Boxes one after another; without ghosts they are one array of all cells.
void put_boxes_in_a_row(parallel::NativeWriter& to, const octavo_native_writer& writer, const char* name,
                        const char* unit, const Layout& layout, const void* values, std::int64_t count) {
  const auto& sizes = sizes_of_boxes(writer, count);
  const parallel::ArrayView first = view_of_arrays(layout, values, 0, {1, 1, 1});
  const auto width = std::int64_t(mesh::size_of(first.type));
  std::vector<const void*> arrays;
  const auto* begin = static_cast<const std::byte*>(values);
  std::int64_t at = 0;
  for (const mesh::Index3& size : sizes) {
    arrays.push_back(&checked(begin, "values") + at * width);
    at += elements(layout, size);
  }
  if (layout.ghost > 0 || layout.stride > 1) return put_box_arrays(to, writer, name, unit, layout, arrays);
  to.put_field(&checked(name, "name"), view_of_arrays(layout, values, at, {1, 1, 1}), unit == nullptr ? "" : unit);
}

}  // namespace

int octavo::capi::put_native_field(octavo_native_writer* writer, const char* name, const char* unit, int axis,
                                   const std::function<parallel::ArrayView()>& view, octavo_error* error) {
  return put(writer, error, "a field", [&](parallel::NativeWriter& to) {
    const mesh::Centring centring = axis == cells ? mesh::Centring::cell : faces_along(*writer, axis);
    to.put_field(&checked(name, "name"), view(), unit == nullptr ? "" : unit, centring);
  });
}

int octavo::capi::put_native_particles(octavo_native_writer* writer, const char* species, const char* attribute,
                                       const std::function<parallel::ArrayView()>& view, octavo_error* error) {
  return put(writer, error, "particles", [&](parallel::NativeWriter& to) {
    to.put_particles(&checked(species, "species"), &checked(attribute, "attribute"), view());
  });
}

octavo_native_options octavo_native_options_default(int format) {
  return {format, {1, 1, 1}, 1, 1, 1, 0, 0, 64, nullptr, nullptr};
}

int octavo_native_open(MPI_Comm comm, const octavo_domain* domain, const octavo_native_options* options,
                       octavo_native_writer** writer, octavo_error* error) {
  return guard(error, [&] {
    // NULL on one rank only is told to all.
    parallel::NativeOptions chosen;
    mesh::Header header;
    parallel::agree(comm, [&] {
      checked(writer, "writer") = nullptr;
      header = header_of(checked(domain, "domain"));
      chosen = options_of(checked(options, "options"));
      std::copy_n(options->block, 3, header.block.begin());
    });
    *writer =
        new octavo_native_writer{parallel::NativeWriter(comm, header, chosen), header.dim, header.roots, header.block};
  });
}

int octavo_native_begin_step(octavo_native_writer* writer, const char* path, int64_t step, double time,
                             octavo_error* error) {
  return guard(error, [&] {
    checked(writer, "writer").writer.begin_step(&checked(path, "path"), step, time);
    writer->boxes.reset();
  });
}

int octavo_native_put_int(octavo_native_writer* writer, const char* name, int64_t value, octavo_error* error) {
  return put_attribute(writer, name, error, [&] { return mesh::Attribute(value); });
}
int octavo_native_put_double(octavo_native_writer* writer, const char* name, double value, octavo_error* error) {
  return put_attribute(writer, name, error, [&] { return mesh::Attribute(value); });
}
int octavo_native_put_text(octavo_native_writer* writer, const char* name, const char* value, octavo_error* error) {
  return put_attribute(writer, name, error, [&] { return mesh::Attribute(std::string(&checked(value, "value"))); });
}
int octavo_native_put_ints(octavo_native_writer* writer, const char* name, const int64_t* values, int64_t count,
                           octavo_error* error) {
  return put_attribute(writer, name, error, [&] { return mesh::Attribute(array_from(values, count)); });
}
int octavo_native_put_doubles(octavo_native_writer* writer, const char* name, const double* values, int64_t count,
                              octavo_error* error) {
  return put_attribute(writer, name, error, [&] { return mesh::Attribute(array_from(values, count)); });
}
int octavo_native_put_texts(octavo_native_writer* writer, const char* name, const char* const* values, int64_t count,
                            octavo_error* error) {
  return put_attribute(writer, name, error, [&] { return mesh::Attribute(texts_from(values, count)); });
}

int octavo_native_put_mesh(octavo_native_writer* writer, int levels, const int64_t* cells_of_level,
                           const uint8_t* refined, const uint8_t* owned, octavo_error* error) {
  return put(writer, error, "the mesh", [&](parallel::NativeWriter& to) {
    to.put_mesh(tree_from(writer->dim, writer->roots, writer->block, levels, cells_of_level, refined, owned));
  });
}

int octavo_native_put_boxes(octavo_native_writer* writer, int levels, const int64_t* domain, const int* ratio,
                            const int64_t* boxes_of_level, const int64_t* boxes, octavo_error* error) {
  return put(writer, error, "the boxes", [&](parallel::NativeWriter& to) {
    mesh::Patches patches;
    patches.dim = writer->dim;
    std::vector<mesh::Index3> sizes;
    for (int level = 0; level < levels; ++level) {
      patches.domain.push_back(box_at(&checked(domain, "domain") + 6 * level));
      if (level > 0) patches.ratio.push_back((&checked(ratio, "ratio"))[level - 1]);
      patches.boxes.emplace_back();
      for (std::int64_t i = (&checked(boxes_of_level, "boxes_of_level"))[level]; i > 0; --i, boxes += 6) {
        const mesh::IndexBox box = mesh::flat(box_at(&checked(boxes, "boxes")), patches.dim);
        sizes.push_back({box.hi[0] - box.lo[0], box.hi[1] - box.lo[1], box.hi[2] - box.lo[2]});
        patches.boxes.back().push_back(box);
      }
    }
    to.put_mesh(patches);
    writer->boxes = std::move(sizes);
  });
}

int octavo_native_put_field(octavo_native_writer* writer, const char* name, const char* unit, int type,
                            const void* values, int64_t count, int ghost, int64_t stride, int space,
                            octavo_error* error) {
  return put(writer, error, "a field", [&](parallel::NativeWriter& to) {
    const Layout layout{type, writer->dim, ghost, stride, space};
    if (writer->boxes) return put_boxes_in_a_row(to, *writer, name, unit, layout, values, count);
    to.put_field(&checked(name, "name"), view_of_arrays(layout, values, count, writer->block),
                 unit == nullptr ? "" : unit);
  });
}

int octavo_native_put_faces(octavo_native_writer* writer, const char* name, const char* unit, int axis, int type,
                            const void* values, int64_t count, int ghost, int64_t stride, int space,
                            octavo_error* error) {
  return put(writer, error, "a field", [&](parallel::NativeWriter& to) {
    const mesh::Centring centring = faces_along(*writer, axis);
    mesh::Index3 faces = writer->block;
    ++faces[static_cast<std::size_t>(axis)];
    to.put_field(&checked(name, "name"),
                 view_of_arrays({type, writer->dim, ghost, stride, space}, values, count, faces),
                 unit == nullptr ? "" : unit, centring);
  });
}

int octavo_native_put_arrays(octavo_native_writer* writer, const char* name, const char* unit, int type,
                             const void* const* values, int64_t count, int ghost, int64_t stride, int space,
                             octavo_error* error) {
  return put(writer, error, "a field", [&](parallel::NativeWriter& to) {
    sizes_of_boxes(*writer, count);
    put_box_arrays(to, *writer, name, unit, {type, writer->dim, ghost, stride, space}, array_from(values, count));
  });
}

int octavo_native_put_particles(octavo_native_writer* writer, const char* species, const char* attribute, int type,
                                const void* values, int64_t count, int64_t stride, int space, octavo_error* error) {
  return put(writer, error, "particles", [&](parallel::NativeWriter& to) {
    to.put_particles(&checked(species, "species"), &checked(attribute, "attribute"),
                     view_of(type, values, count, stride, space));
  });
}

int octavo_native_end_step(octavo_native_writer* writer, octavo_error* error) {
  return guard(error, [&] {
    checked(writer, "writer").boxes.reset();
    writer->writer.end_step();
  });
}

int octavo_native_finished(octavo_native_writer* writer, int* all, octavo_error* error) {
  return guard(error, [&] {
    const bool done = checked(writer, "writer").writer.finished();
    checked(all, "all") = done ? 1 : 0;
  });
}

int octavo_native_wait(octavo_native_writer* writer, octavo_error* error) {
  return guard(error, [&] { checked(writer, "writer").writer.wait(); });
}

int octavo_native_close(octavo_native_writer** writer, octavo_error* error) {
  return guard(error, [&] {
    const std::unique_ptr<octavo_native_writer> mine(std::exchange(checked(writer, "writer"), nullptr));
    checked(mine.get(), "writer").writer.close();
  });
}
