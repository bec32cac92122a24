// What the Fortran module needs beside octavo.h: communicators as Fortran has them.
#include <ISO_Fortran_binding.h>

#include "capi/arguments.hpp"
#include "capi/octavo.h"

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

// (x, y, z, cell) as far as there are axes; the last one counts cells.
parallel::ArrayView view_of_array(const CFI_cdesc_t& array, int space = OCTAVO_HOST) {
  check_space(space);
  if (array.rank < 1 || array.rank > 4)
    throw Error(Kind::usage, "expected an array of 1 to 4 axes, found " + std::to_string(array.rank));
  parallel::ArrayView view;
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

}  // namespace

extern "C" {

OCTAVO_API int octavo_fortran_writer_open(const MPI_Fint* comm, const char* store, const octavo_domain* domain,
                                          const char* options, const octavo_restart* from, octavo_writer** writer,
                                          octavo_error* error) {
  return octavo_writer_open(MPI_Comm_f2c(*comm), store, domain, options[0] == '\0' ? nullptr : options, from, writer,
                            error);
}

OCTAVO_API int octavo_fortran_writer_put_field(octavo_writer* writer, const char* name, const char* unit,
                                               const CFI_cdesc_t* values, int space, octavo_error* error) {
  return put_field(
      writer, name, unit, [&] { return view_of_array(*values, space); }, error);
}

OCTAVO_API int octavo_fortran_writer_put_particles(octavo_writer* writer, const char* species, const char* attribute,
                                                   const CFI_cdesc_t* values, int space, octavo_error* error) {
  return put_particles(
      writer, species, attribute, [&] { return view_of_array(*values, space); }, error);
}

OCTAVO_API int octavo_fortran_restart_open(const MPI_Fint* comm, const char* store,
                                           const octavo_restart_options* options, octavo_restart** restart,
                                           octavo_error* error) {
  return octavo_restart_open_as(MPI_Comm_f2c(*comm), store, options, restart, error);
}

OCTAVO_API int octavo_fortran_restart_failed(const MPI_Fint* comm, const char* store, const octavo_restart* restart,
                                             octavo_error* error) {
  return octavo_restart_failed(MPI_Comm_f2c(*comm), store, restart, error);
}

OCTAVO_API int octavo_fortran_native_open(const MPI_Fint* comm, const octavo_domain* domain,
                                          const octavo_native_options* options, octavo_native_writer** writer,
                                          octavo_error* error) {
  return octavo_native_open(MPI_Comm_f2c(*comm), domain, options, writer, error);
}

OCTAVO_API int octavo_fortran_native_put_field(octavo_native_writer* writer, const char* name, const char* unit,
                                               const CFI_cdesc_t* values, octavo_error* error) {
  return put_native_field(
      writer, name, unit, cells, [&] { return view_of_array(*values); }, error);
}

OCTAVO_API int octavo_fortran_native_put_faces(octavo_native_writer* writer, const char* name, const char* unit,
                                               int axis, const CFI_cdesc_t* values, octavo_error* error) {
  return put_native_field(
      writer, name, unit, std::max(axis, 0), [&] { return view_of_array(*values); }, error);
}

OCTAVO_API int octavo_fortran_native_put_particles(octavo_native_writer* writer, const char* species,
                                                   const char* attribute, const CFI_cdesc_t* values,
                                                   octavo_error* error) {
  return put_native_particles(
      writer, species, attribute, [&] { return view_of_array(*values); }, error);
}

OCTAVO_API int octavo_fortran_series_open(const MPI_Fint* comm, const char* path, int variables,
                                          const char* const* names, const char* const* units,
                                          const octavo_series_mesh* mesh, const octavo_series_options* options,
                                          octavo_series** series, octavo_error* error) {
  return octavo_series_open(MPI_Comm_f2c(*comm), path, variables, names, units, mesh, options, series, error);
}

OCTAVO_API int octavo_fortran_series_put(octavo_series* series, const char* name, const CFI_cdesc_t* values,
                                         octavo_error* error) {
  return put_series_field(
      series, name, [&] { return view_of_array(*values); }, error);
}

}  // extern "C"
