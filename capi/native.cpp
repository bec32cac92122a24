#include <memory>
#include <utility>

#include "capi/puts.hpp"
#include "octavo/ranks/communicator.hpp"

namespace {

using namespace octavo;
using namespace octavo::capi;

engine::NativeOptions options_of(const octavo_native_options& from) {
  if (from.format < OCTAVO_FLASH || from.format > OCTAVO_AMREX_CHECKPOINT)
    throw Error(Kind::usage, "format: expected 0, 1 or 2, found " + std::to_string(from.format));
  engine::NativeOptions options;
  options.format = static_cast<engine::NativeFormat>(from.format);
  options.mode = from.background != 0 ? engine::Mode::background : engine::Mode::sync;
  options.sync = from.sync != 0;
  options.checksums = from.checksums != 0;
  options.collect = from.collect != 0;
  options.files = from.files;
  options.max_box = from.max_box;
  options.bound_thread = from.bound_thread != 0;
  for (std::int64_t n = 0; n < from.num_names; ++n) {
    const char* const* pair = (&checked(from.names, "names"))[n];
    options.names[&checked(pair[0], "names")] = &checked(pair[1], "names");
  }
  if (from.title != nullptr) options.title = from.title;
  if (from.multifab != nullptr) options.multifab = from.multifab;
  return options;
}

}  // namespace

octavo_native_options octavo_native_options_default(int format) {
  return {format, {1, 1, 1}, 1, 1, 1, 0, 0, 64, nullptr, nullptr, 0, nullptr, 0};
}

int octavo_native_open(MPI_Comm comm, const octavo_domain* domain, const octavo_native_options* options,
                       octavo_native_writer** writer, octavo_error* error) {
  return guard(error, [&] {
    // NULL on one rank only is told to all.
    engine::NativeOptions chosen;
    mesh::Header header;
    ranks::agree(comm, [&] {
      checked(writer, "writer") = nullptr;
      header = header_of(checked(domain, "domain"));
      chosen = options_of(checked(options, "options"));
      std::copy_n(options->block, 3, header.block.begin());
    });
    *writer = new octavo_native_writer{
        {}, engine::Writer(comm, header, chosen), header.dim, header.roots, header.block};
  });
}

int octavo_native_begin_step(octavo_native_writer* writer, const char* path, int64_t step, double time,
                             octavo_error* error) {
  return begin(writer, error, [&](octavo_native_writer& to) {
    to.writer.begin_step(&checked(path, "path"), step, time);
    to.boxes.reset();
    to.orders.clear();
  });
}

int octavo_native_put_int(octavo_native_writer* writer, const char* name, int64_t value, octavo_error* error) {
  return put_attribute(
      writer, name, [&] { return mesh::Attribute(value); }, error);
}
int octavo_native_put_double(octavo_native_writer* writer, const char* name, double value, octavo_error* error) {
  return put_attribute(
      writer, name, [&] { return mesh::Attribute(value); }, error);
}
int octavo_native_put_text(octavo_native_writer* writer, const char* name, const char* value, octavo_error* error) {
  return put_attribute(
      writer, name, [&] { return mesh::Attribute(std::string(&checked(value, "value"))); }, error);
}
int octavo_native_put_ints(octavo_native_writer* writer, const char* name, const int64_t* values, int64_t count,
                           octavo_error* error) {
  return put_attribute(
      writer, name, [&] { return mesh::Attribute(array_from(values, count)); }, error);
}
int octavo_native_put_doubles(octavo_native_writer* writer, const char* name, const double* values, int64_t count,
                              octavo_error* error) {
  return put_attribute(
      writer, name, [&] { return mesh::Attribute(array_from(values, count)); }, error);
}
int octavo_native_put_texts(octavo_native_writer* writer, const char* name, const char* const* values, int64_t count,
                            octavo_error* error) {
  return put_attribute(
      writer, name, [&] { return mesh::Attribute(texts_from(values, count)); }, error);
}

int octavo_native_put_mesh(octavo_native_writer* writer, int levels, const int64_t* cells_of_level,
                           const uint8_t* refined, const uint8_t* owned, octavo_error* error) {
  return put_tree(writer, levels, cells_of_level, refined, owned, error);
}
int octavo_native_put_boxes(octavo_native_writer* writer, int levels, const int64_t* domain, const int* ratio,
                            const int64_t* boxes_of_level, const int64_t* boxes, octavo_error* error) {
  return put_boxes(writer, levels, domain, ratio, boxes_of_level, boxes, error);
}

int octavo_native_put_field(octavo_native_writer* writer, const char* name, const char* unit, int type,
                            const void* values, int64_t count, int ghost, int64_t stride, int space,
                            octavo_error* error) {
  return put_blocks(writer, name, unit, type, values, count, ghost, stride, space, error);
}
int octavo_native_put_arrays(octavo_native_writer* writer, const char* name, const char* unit, int type,
                             const void* const* values, int64_t count, int ghost, int64_t stride, int space,
                             octavo_error* error) {
  return put_arrays(writer, name, unit, type, values, count, ghost, stride, space, error);
}
int octavo_native_put_faces(octavo_native_writer* writer, const char* name, const char* unit, int axis, int type,
                            const void* values, int64_t count, int ghost, int64_t stride, int space,
                            octavo_error* error) {
  return put_faces(writer, name, unit, axis, type, values, count, ghost, stride, space, error);
}
int octavo_native_put_array(octavo_native_writer* writer, const char* name, const char* unit, const octavo_array* array,
                            octavo_error* error) {
  return put_array(writer, name, unit, array, error);
}
int octavo_native_put_particles(octavo_native_writer* writer, const char* species, const char* attribute, int type,
                                const void* values, int64_t count, int64_t stride, int space, octavo_error* error) {
  return put_species(
      writer, species, attribute, [&] { return view_of(type, values, count, stride, space); }, error);
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
