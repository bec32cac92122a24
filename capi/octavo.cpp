#include "capi/octavo.h"

#include "capi/puts.hpp"
#include "octavo/ranks/communicator.hpp"

using namespace octavo;
using namespace octavo::capi;

octavo_domain octavo_domain_default(void) { return {"", 3, {1, 1, 1}, {0, 0, 0}, {1, 1, 1}, {0, 0, 0}, 1, 1, 1}; }

octavo_writer_options octavo_writer_options_default(void) { return {nullptr, nullptr, {1, 1, 1}, 0}; }

int octavo_writer_open(MPI_Comm comm, const char* store, const octavo_domain* domain, const char* options,
                       const octavo_restart* from, octavo_writer** writer, octavo_error* error) {
  octavo_writer_options chosen = octavo_writer_options_default();
  chosen.options = options;
  chosen.from = from;
  return octavo_writer_open_as(comm, store, domain, &chosen, writer, error);
}

int octavo_writer_open_as(MPI_Comm comm, const char* store, const octavo_domain* domain,
                          const octavo_writer_options* options, octavo_writer** writer, octavo_error* error) {
  return guard(error, [&] {
    // NULL on one rank only is told to all, as what options say is.
    engine::Options chosen;
    mesh::Header header;
    ranks::agree(comm, [&] {
      checked(writer, "writer") = nullptr;
      checked(store, "store");
      header = header_of(checked(domain, "domain"));
      const octavo_writer_options& wanted = checked(options, "options");
      std::copy_n(wanted.block, 3, header.block.begin());
      header.unfolded = wanted.unfolded;
      chosen = engine::read_options({}, wanted.options == nullptr ? "" : wanted.options);
    });
    std::optional<store::StepId> resumed;
    if (options->from != nullptr) resumed = options->from->value.id;
    *writer = new octavo_writer{
        {}, engine::Writer(comm, store, header, chosen, resumed), header.dim, header.roots, header.block};
  });
}

int octavo_writer_begin_step(octavo_writer* writer, int flow, int64_t step, double time, octavo_error* error) {
  return begin(writer, error, [&](octavo_writer& to) {
    to.writer.begin_step(flow_of(flow), step, time);
    to.boxes.reset();
    to.orders.clear();
  });
}

int octavo_writer_due(octavo_writer* writer, int flow, int64_t step, double time, int* due, octavo_error* error) {
  return guard(error,
               [&] { checked(due, "due") = checked(writer, "writer").writer.due(flow_of(flow), step, time) ? 1 : 0; });
}

int octavo_writer_statistics(octavo_writer* writer, char* text, size_t size, octavo_error* error) {
  return guard(error, [&] {
    const engine::Writer& of = checked(writer, "writer").writer;
    const std::string mine = to_json(of.statistics());
    copy_text("{\"rank\": " + mine + ", \"total\": " + to_json(of.total_statistics()) + "}", text, size);
  });
}

// ------------------------------------------------------------------ puts

int octavo_writer_put_int(octavo_writer* writer, const char* name, int64_t value, octavo_error* error) {
  return put_attribute(
      writer, name, [&] { return mesh::Attribute(value); }, error);
}
int octavo_writer_put_double(octavo_writer* writer, const char* name, double value, octavo_error* error) {
  return put_attribute(
      writer, name, [&] { return mesh::Attribute(value); }, error);
}
int octavo_writer_put_text(octavo_writer* writer, const char* name, const char* value, octavo_error* error) {
  return put_attribute(
      writer, name, [&] { return mesh::Attribute(std::string(&checked(value, "value"))); }, error);
}
int octavo_writer_put_ints(octavo_writer* writer, const char* name, const int64_t* values, int64_t count,
                           octavo_error* error) {
  return put_attribute(
      writer, name, [&] { return mesh::Attribute(array_from(values, count)); }, error);
}
int octavo_writer_put_doubles(octavo_writer* writer, const char* name, const double* values, int64_t count,
                              octavo_error* error) {
  return put_attribute(
      writer, name, [&] { return mesh::Attribute(array_from(values, count)); }, error);
}
int octavo_writer_put_texts(octavo_writer* writer, const char* name, const char* const* values, int64_t count,
                            octavo_error* error) {
  return put_attribute(
      writer, name, [&] { return mesh::Attribute(texts_from(values, count)); }, error);
}

int octavo_writer_put_mesh(octavo_writer* writer, int levels, const int64_t* cells_of_level, const uint8_t* refined,
                           const uint8_t* owned, octavo_error* error) {
  return put_tree(writer, levels, cells_of_level, refined, owned, error);
}
int octavo_writer_put_boxes(octavo_writer* writer, int levels, const int64_t* domain, const int* ratio,
                            const int64_t* boxes_of_level, const int64_t* boxes, octavo_error* error) {
  return put_boxes(writer, levels, domain, ratio, boxes_of_level, boxes, error);
}

int octavo_writer_put_blocks(octavo_writer* writer, const char* name, const char* unit, int type, const void* values,
                             int64_t count, int ghost, int64_t stride, int space, octavo_error* error) {
  return put_blocks(writer, name, unit, type, values, count, ghost, stride, space, error);
}
int octavo_writer_put_arrays(octavo_writer* writer, const char* name, const char* unit, int type,
                             const void* const* values, int64_t count, int ghost, int64_t stride, int space,
                             octavo_error* error) {
  return put_arrays(writer, name, unit, type, values, count, ghost, stride, space, error);
}
int octavo_writer_put_faces(octavo_writer* writer, const char* name, const char* unit, int axis, int type,
                            const void* values, int64_t count, int ghost, int64_t stride, int space,
                            octavo_error* error) {
  return put_faces(writer, name, unit, axis, type, values, count, ghost, stride, space, error);
}
int octavo_writer_put_particles(octavo_writer* writer, const char* species, const char* attribute, int type,
                                const void* values, int64_t count, int64_t stride, int space, octavo_error* error) {
  return put_species(
      writer, species, attribute, [&] { return view_of(type, values, count, stride, space); }, error);
}

octavo_array octavo_array_default(void) {
  return {OCTAVO_FLOAT64, OCTAVO_HOST, OCTAVO_CELL, 1, 0, nullptr, 0, 0, {0, 0, 0}, 0, nullptr};
}
int octavo_writer_put_array(octavo_writer* writer, const char* name, const char* unit, const octavo_array* array,
                            octavo_error* error) {
  return put_array(writer, name, unit, array, error);
}

int octavo_writer_put_particle_array(octavo_writer* writer, const char* species, const char* attribute,
                                     const char* unit, const octavo_array* array, octavo_error* error) {
  return put(writer, error, "particles", [&](octavo_writer& to) {
    const octavo_array& from = checked(array, "array");
    engine::ArrayView view = view_of(from, {1, 1, 1});
    view.order = keep_order(to, from.order, from.cells);
    to.writer.put_particles(&checked(species, "species"), &checked(attribute, "attribute"), view, unit_of(unit));
  });
}

int octavo_writer_put_field(octavo_writer* writer, const char* name, const char* unit, int type, const void* values,
                            int64_t cells, int64_t stride, int space, octavo_error* error) {
  const auto view = [&](const octavo_writer&) { return view_of(type, values, cells, stride, space); };
  return put_view(writer, name, unit, view, error);
}

int octavo_writer_end_step(octavo_writer* writer, octavo_error* error) {
  return guard(error, [&] { checked(writer, "writer").writer.end_step(); });
}

int octavo_writer_wait(octavo_writer* writer, octavo_error* error) {
  return guard(error, [&] { checked(writer, "writer").writer.wait(); });
}

int octavo_writer_close(octavo_writer** writer, octavo_error* error) {
  return guard(error, [&] {
    const std::unique_ptr<octavo_writer> mine(std::exchange(checked(writer, "writer"), nullptr));
    checked(mine.get(), "writer").writer.close();
  });
}
