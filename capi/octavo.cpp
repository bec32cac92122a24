#include "capi/octavo.h"

#include "capi/arguments.hpp"
#include "capi/objects.hpp"
#include "octavo/parallel/communicator.hpp"

using namespace octavo;
using namespace octavo::capi;

octavo_domain octavo_domain_default(void) { return {"", 3, {1, 1, 1}, {0, 0, 0}, {1, 1, 1}, {0, 0, 0}, 1, 1, 1}; }

int octavo_writer_open(MPI_Comm comm, const char* store, const octavo_domain* domain, const char* options,
                       const octavo_restart* from, octavo_writer** writer, octavo_error* error) {
  return guard(error, [&] {
    // NULL on one rank only is told to all, as what options say is.
    parallel::Options chosen;
    mesh::Header header;
    parallel::agree(comm, [&] {
      checked(writer, "writer") = nullptr;
      checked(store, "store");
      header = header_of(checked(domain, "domain"));
      chosen = parallel::read_options({}, options == nullptr ? "" : options);
    });
    std::optional<store::StepId> resumed;
    if (from != nullptr) resumed = from->value.id;
    *writer = new octavo_writer{parallel::Writer(comm, store, header, chosen, resumed), header.dim, header.roots};
  });
}

int octavo_writer_begin_step(octavo_writer* writer, int flow, int64_t step, double time, octavo_error* error) {
  return guard(error, [&] { checked(writer, "writer").writer.begin_step(flow_of(flow), step, time); });
}

int octavo_writer_put_int(octavo_writer* writer, const char* name, int64_t value, octavo_error* error) {
  return guard(error, [&] { checked(writer, "writer").writer.put_attribute(&checked(name, "name"), value); });
}

int octavo_writer_put_double(octavo_writer* writer, const char* name, double value, octavo_error* error) {
  return guard(error, [&] { checked(writer, "writer").writer.put_attribute(&checked(name, "name"), value); });
}

int octavo_writer_put_text(octavo_writer* writer, const char* name, const char* value, octavo_error* error) {
  return guard(error, [&] {
    checked(writer, "writer").writer.put_attribute(&checked(name, "name"), std::string(&checked(value, "value")));
  });
}

int octavo_writer_put_ints(octavo_writer* writer, const char* name, const int64_t* values, int64_t count,
                           octavo_error* error) {
  return guard(error, [&] {
    checked(writer, "writer").writer.put_attribute(&checked(name, "name"), array_from(values, count));
  });
}

int octavo_writer_put_doubles(octavo_writer* writer, const char* name, const double* values, int64_t count,
                              octavo_error* error) {
  return guard(error, [&] {
    checked(writer, "writer").writer.put_attribute(&checked(name, "name"), array_from(values, count));
  });
}

int octavo_writer_put_texts(octavo_writer* writer, const char* name, const char* const* values, int64_t count,
                            octavo_error* error) {
  return guard(error, [&] {
    checked(writer, "writer").writer.put_attribute(&checked(name, "name"), texts_from(values, count));
  });
}

int octavo_writer_due(octavo_writer* writer, int flow, int64_t step, double time, int* due, octavo_error* error) {
  return guard(error,
               [&] { checked(due, "due") = checked(writer, "writer").writer.due(flow_of(flow), step, time) ? 1 : 0; });
}

int octavo_writer_statistics(octavo_writer* writer, char* text, size_t size, octavo_error* error) {
  return guard(error, [&] {
    const parallel::Writer& of = checked(writer, "writer").writer;
    const std::string mine = to_json(of.statistics());
    copy_text("{\"rank\": " + mine + ", \"total\": " + to_json(of.total_statistics()) + "}", text, size);
  });
}

int octavo_writer_put_mesh(octavo_writer* writer, int levels, const int64_t* cells_of_level, const uint8_t* refined,
                           const uint8_t* owned, octavo_error* error) {
  return guard(error, [&] {
    const int dim = checked(writer, "writer").dim;
    writer->writer.put_mesh(tree_from(dim, writer->roots, {1, 1, 1}, levels, cells_of_level, refined, owned));
  });
}

int octavo::capi::put_field(octavo_writer* writer, const char* name, const char* unit,
                            const std::function<parallel::ArrayView()>& view, octavo_error* error) {
  return guard(error, [&] {
    checked(writer, "writer").writer.put_field(&checked(name, "name"), view(), unit == nullptr ? "" : unit);
  });
}

int octavo::capi::put_particles(octavo_writer* writer, const char* species, const char* attribute,
                                const std::function<parallel::ArrayView()>& view, octavo_error* error) {
  return guard(error, [&] {
    checked(writer, "writer")
        .writer.put_particles(&checked(species, "species"), &checked(attribute, "attribute"), view());
  });
}

int octavo_writer_put_field(octavo_writer* writer, const char* name, const char* unit, int type, const void* values,
                            int64_t cells, int64_t stride, int space, octavo_error* error) {
  return put_field(
      writer, name, unit, [&] { return view_of(type, values, cells, stride, space); }, error);
}

int octavo_writer_put_particles(octavo_writer* writer, const char* species, const char* attribute, int type,
                                const void* values, int64_t count, int64_t stride, int space, octavo_error* error) {
  return put_particles(
      writer, species, attribute, [&] { return view_of(type, values, count, stride, space); }, error);
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
