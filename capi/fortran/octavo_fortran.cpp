// What the Fortran module needs beside octavo.h: communicators and arrays as Fortran has them, and puts that serve both
// writers.
#include <ISO_Fortran_binding.h>

#include "capi/puts.hpp"

namespace {

using namespace octavo;
using namespace octavo::capi;

mesh::ScalarType type_of_elements(const CFI_cdesc_t& array) {
  switch (array.type) {
    case CFI_type_double: return mesh::ScalarType::float64;
    case CFI_type_float: return mesh::ScalarType::float32;
    case CFI_type_int64_t: return mesh::ScalarType::int64;
    case CFI_type_int32_t: return mesh::ScalarType::int32;
    default: throw Error(Kind::usage, "expected real64, real32, int64 or int32 values");
  }
}

template <class Work>
int with_writer(int native, void* writer, Work&& work) {
  if (native != 0) return work(static_cast<octavo_native_writer*>(writer));
  return work(static_cast<octavo_writer*>(writer));
}

// (x, y, z, cell) as far as there are axes; the last one counts cells.
engine::ArrayView view_of_array(const CFI_cdesc_t& array, int space = OCTAVO_HOST) {
  check_space(space);
  if (array.rank < 1 || array.rank > 4)
    throw Error(Kind::usage, "expected an array of 1 to 4 axes, found " + std::to_string(array.rank));
  engine::ArrayView view;
  view.data = array.base_addr;
  view.type = type_of_elements(array);
  const auto axes = static_cast<std::size_t>(array.rank) - 1;
  std::int64_t strides[4] = {1, 1, 1, 1}, packed = 1;
  bool is_packed = true;
  for (std::size_t axis = 0; axis <= axes; ++axis) {
    const auto extent = std::max<std::int64_t>(array.dim[axis].extent, 0);
    if (axis < axes) view.block[axis] = extent;
    if (axis == axes) view.cells = static_cast<std::size_t>(extent);
    const std::int64_t stride = extent > 1 ? array.dim[axis].sm / static_cast<std::int64_t>(array.elem_len) : packed;
    strides[axis < axes ? axis : 3] = stride;
    is_packed = is_packed && stride == packed;
    packed *= extent;
  }
  if (!is_packed) view.stride = {.cell = strides[3], .x = strides[0], .y = strides[1], .z = strides[2], .component = 1};
  return view;
}

// MPI_COMM_NULL where MPI does not run: even this conversion would end the process. What gets it says what is wrong.
MPI_Comm comm_of(const MPI_Fint* comm) {
  int initialized = 0, finalized = 0;
  MPI_Initialized(&initialized);
  MPI_Finalized(&finalized);
  return initialized != 0 && finalized == 0 ? MPI_Comm_f2c(*comm) : MPI_COMM_NULL;
}

}  // namespace

extern "C" {

OCTAVO_API int octavo_fortran_writer_open(const MPI_Fint* comm, const char* store, const octavo_domain* domain,
                                          const octavo_writer_options* options, octavo_writer** writer,
                                          octavo_error* error) {
  return octavo_writer_open_as(comm_of(comm), store, domain, options, writer, error);
}

OCTAVO_API int octavo_fortran_restart_neighbours(const MPI_Fint* comm, const octavo_restart* restart,
                                                 octavo_neighbours* neighbours, octavo_error* error) {
  return octavo_restart_neighbours(comm_of(comm), restart, neighbours, error);
}

OCTAVO_API int octavo_fortran_put_ints(int native, void* writer, const char* name, const std::int64_t* values,
                                       std::int64_t count, octavo_error* error) {
  const auto value = [&]() -> mesh::Attribute {
    if (count < 0) return *values;  // not an array
    return array_from(values, count);
  };
  return with_writer(native, writer, [&](auto* to) { return put_attribute(to, name, value, error); });
}

OCTAVO_API int octavo_fortran_put_doubles(int native, void* writer, const char* name, const double* values,
                                          std::int64_t count, octavo_error* error) {
  const auto value = [&]() -> mesh::Attribute {
    if (count < 0) return *values;
    return array_from(values, count);
  };
  return with_writer(native, writer, [&](auto* to) { return put_attribute(to, name, value, error); });
}

OCTAVO_API int octavo_fortran_put_texts(int native, void* writer, const char* name, const char* const* values,
                                        std::int64_t count, octavo_error* error) {
  const auto value = [&]() -> mesh::Attribute {
    if (count < 0) return std::string(*values);
    return texts_from(values, count);
  };
  return with_writer(native, writer, [&](auto* to) { return put_attribute(to, name, value, error); });
}

OCTAVO_API int octavo_fortran_put_mesh(int native, void* writer, int levels, const std::int64_t* cells_of_level,
                                       const std::uint8_t* refined, const std::uint8_t* owned, octavo_error* error) {
  return with_writer(native, writer,
                     [&](auto* to) { return put_tree(to, levels, cells_of_level, refined, owned, error); });
}

OCTAVO_API int octavo_fortran_put_boxes(int native, void* writer, int levels, const std::int64_t* domain,
                                        const int* ratio, const std::int64_t* boxes_of_level, const std::int64_t* boxes,
                                        octavo_error* error) {
  return with_writer(native, writer,
                     [&](auto* to) { return put_boxes(to, levels, domain, ratio, boxes_of_level, boxes, error); });
}

OCTAVO_API int octavo_fortran_put_field(int native, void* writer, const char* name, const char* unit,
                                        const CFI_cdesc_t* values, const std::int64_t* order, std::int64_t cells,
                                        int space, octavo_error* error) {
  const auto view = [&](auto& to) {
    engine::ArrayView array = view_of_array(*values, space);
    if (order == nullptr) return array;
    const auto places = static_cast<std::int64_t>(array.cells);
    array.cells = static_cast<std::size_t>(cells);
    array.order = keep_order(to, order, cells);
    for (const std::uint32_t place : array.order)
      if (place != engine::ArrayView::nowhere && place >= places)
        throw Error(Kind::usage, "order: expected 0 to " + std::to_string(places) + ", found " +
                                     std::to_string(std::int64_t{place} + 1));
    return array;
  };
  return with_writer(native, writer, [&](auto* to) { return put_view(to, name, unit, view, error); });
}

OCTAVO_API int octavo_fortran_put_faces(int native, void* writer, const char* name, const char* unit, int axis,
                                        const CFI_cdesc_t* values, int space, octavo_error* error) {
  const auto view = [&](const auto&) { return view_of_array(*values, space); };
  return with_writer(native, writer, [&](auto* to) { return put_face_view(to, name, unit, axis, view, error); });
}

OCTAVO_API int octavo_fortran_put_arrays(int native, void* writer, const char* name, const char* unit, int type,
                                         const void* const* values, std::int64_t count, int ghost, std::int64_t stride,
                                         int space, octavo_error* error) {
  return with_writer(native, writer, [&](auto* to) {
    return put_arrays(to, name, unit, type, values, count, ghost, stride, space, error);
  });
}

OCTAVO_API int octavo_fortran_put_particles(int native, void* writer, const char* species, const char* attribute,
                                            const CFI_cdesc_t* values, int space, octavo_error* error) {
  const auto view = [&] { return view_of_array(*values, space); };
  return with_writer(native, writer, [&](auto* to) { return put_species(to, species, attribute, view, error); });
}

OCTAVO_API int octavo_fortran_restart_open(const MPI_Fint* comm, const char* store,
                                           const octavo_restart_options* options, octavo_restart** restart,
                                           octavo_error* error) {
  return octavo_restart_open_as(comm_of(comm), store, options, restart, error);
}

OCTAVO_API int octavo_fortran_restart_failed(const MPI_Fint* comm, const char* store, const octavo_restart* restart,
                                             octavo_error* error) {
  return octavo_restart_failed(comm_of(comm), store, restart, error);
}

OCTAVO_API int octavo_fortran_native_open(const MPI_Fint* comm, const octavo_domain* domain,
                                          const octavo_native_options* options, octavo_native_writer** writer,
                                          octavo_error* error) {
  return octavo_native_open(comm_of(comm), domain, options, writer, error);
}

OCTAVO_API int octavo_fortran_restart_field(const octavo_restart* restart, const char* name, CFI_cdesc_t* values,
                                            octavo_error* error) {
  const int type = static_cast<int>(type_of_elements(*values));
  return octavo_restart_field(restart, name, type, values->base_addr, values->dim[0].extent, error);
}

OCTAVO_API int octavo_fortran_restart_particles(const octavo_restart* restart, const char* species,
                                                const char* attribute, CFI_cdesc_t* values, octavo_error* error) {
  const int type = static_cast<int>(type_of_elements(*values));
  return octavo_restart_particles(restart, species, attribute, type, values->base_addr, values->dim[0].extent, error);
}

OCTAVO_API int octavo_fortran_series_open(const MPI_Fint* comm, const char* path, int variables,
                                          const char* const* names, const char* const* units,
                                          const octavo_series_mesh* mesh, const octavo_series_options* options,
                                          octavo_series** series, octavo_error* error) {
  return octavo_series_open(comm_of(comm), path, variables, names, units, mesh, options, series, error);
}

OCTAVO_API int octavo_fortran_series_put(octavo_series* series, const char* name, const CFI_cdesc_t* values,
                                         octavo_error* error) {
  return put_series_field(
      series, name, [&] { return view_of_array(*values); }, error);
}

}  // extern "C"
