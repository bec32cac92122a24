// Functions that the Fortran modules call in place of those of octavo.h: they take Fortran's communicators and arrays.
#include <ISO_Fortran_binding.h>

#include <utility>

#include "capi/objects.hpp"

// GNU's CFI_type_Bool has the name that the type has in C.
#define _Bool bool

namespace {

using namespace octavo;
using namespace octavo::capi;

mesh::ScalarType type_of_elements(const CFI_cdesc_t& array) {
  switch (array.type) {
    case CFI_type_double: return mesh::ScalarType::float64;
    case CFI_type_float: return mesh::ScalarType::float32;
    case CFI_type_int64_t: return mesh::ScalarType::int64;
    case CFI_type_int32_t: return mesh::ScalarType::int32;
    case CFI_type_int16_t: return mesh::ScalarType::int16;
    case CFI_type_int8_t: return mesh::ScalarType::int8;
    case CFI_type_Bool: return mesh::ScalarType::boolean;
    default: throw Error(Kind::usage, "expected real64, real32, int64, int32, int16, int8 or logical(c_bool) values");
  }
}

// Whether Fortran's integers of a type may hold the bits of values of another type, for which Fortran has no kind.
bool holds_bits(mesh::ScalarType integers, mesh::ScalarType type) {
  using mesh::ScalarType;
  const bool has_kind = type == ScalarType::float64 || type == ScalarType::float32;
  return integers >= ScalarType::int64 && integers <= ScalarType::int8 && !has_kind &&
         mesh::size_of(integers) == mesh::size_of(type);
}

// The type to store the array's values as. `wanted`: an octavo_type, or -1 for the type of the elements.
mesh::ScalarType stored_type(mesh::ScalarType elements, int wanted) {
  if (wanted == -1) return elements;
  const mesh::ScalarType type = type_of(wanted);
  if (type != elements && !holds_bits(elements, type))
    throw Error(Kind::usage, "type: values of " + std::string(name_of(type)) + " stand in integers of " +
                                 std::to_string(8 * mesh::size_of(type)) + " bits, not in " +
                                 std::string(name_of(elements)));
  return type;
}

// The axes are (x, y, z, cell). Arrays of fewer axes lack some of x, y, z; the last axis always counts cells.
engine::ArrayView view_of_array(const CFI_cdesc_t& array, int space, void* stream) {
  if (array.rank < 1 || array.rank > 4)
    throw Error(Kind::usage, "expected an array of 1 to 4 axes, found " + std::to_string(array.rank));
  engine::ArrayView view;
  view.data = array.base_addr;
  view.space = space_of(space);
  view.stream = stream;
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

// `order`: places of `cells` tree cells or particles in the array, or NULL.
engine::ArrayView view_in_order(octavo_writer& to, const engine::ArrayView& values, int type, const std::int64_t* order,
                                std::int64_t cells) {
  engine::ArrayView view = values;
  view.type = stored_type(values.type, type);
  if (order == nullptr) return view;
  const auto places = static_cast<std::int64_t>(view.cells);
  view.cells = static_cast<std::size_t>(cells);
  view.order = keep_order(to, order, cells);
  for (const std::uint32_t place : view.order)
    if (place != engine::ArrayView::nowhere && place >= places)
      throw Error(Kind::usage, "order: expected 0 to " + std::to_string(places) + ", found " +
                                   std::to_string(std::int64_t{place} + 1));
  return view;
}

// Copies all values of a field into an array of one axis, components fastest.
void copy_all(const mesh::Field& field, const CFI_cdesc_t& values) {
  engine::ArrayView view = view_of_array(values, OCTAVO_HOST, nullptr);
  if (holds_bits(view.type, field.info.type)) view.type = field.info.type;
  view.components = field.info.components;
  view.cells /= static_cast<std::size_t>(std::max(field.info.components, 1));
  copy_values(field, view);
}

// Returns MPI_COMM_NULL while MPI does not run, because MPI_Comm_f2c would then end the process. The C function that
// gets MPI_COMM_NULL reports the error.
MPI_Comm comm_of(const MPI_Fint* comm) {
  int initialized = 0, finalized = 0;
  MPI_Initialized(&initialized);
  MPI_Finalized(&finalized);
  return initialized != 0 && finalized == 0 ? MPI_Comm_f2c(*comm) : MPI_COMM_NULL;
}

}  // namespace

extern "C" {

OCTAVO_API int octavo_fortran_writer_open(const MPI_Fint* comm, const octavo_target* target,
                                          const octavo_domain* domain, octavo_writer** writer, octavo_error* error) {
  return octavo_writer_open(comm_of(comm), target, domain, writer, error);
}

OCTAVO_API int octavo_fortran_writer_put_field(octavo_writer* writer, const char* name, const char* unit, int centring,
                                               const CFI_cdesc_t* values, const std::int64_t* order, std::int64_t cells,
                                               int space, void* stream, int type, octavo_error* error) {
  return put(writer, error, "a field", [&](octavo_writer& to) {
    const mesh::Centring where = centring_of(centring);
    block_of(name, where, to.dim, to.block);  // throws for a face along an axis beyond dim
    engine::ArrayView view = view_in_order(to, view_of_array(*values, space, stream), type, order, cells);
    if (to.listed) follow_blocks(*to.listed, view, order != nullptr);
    put_field(to, name, unit, view, where);
  });
}

OCTAVO_API int octavo_fortran_writer_put_particles(octavo_writer* writer, const char* species, const char* attribute,
                                                   const char* unit, const CFI_cdesc_t* values,
                                                   const std::int64_t* order, std::int64_t particles, int space,
                                                   void* stream, int type, octavo_error* error) {
  return put(writer, error, "particles", [&](octavo_writer& to) {
    engine::ArrayView view = view_in_order(to, view_of_array(*values, space, stream), type, order, particles);
    if (view.block[1] > 1 || view.block[2] > 1)
      throw Error(Kind::usage, "expected values(particle) or values(component, particle)");
    // values(component, particle)
    view.components = static_cast<int>(std::exchange(view.block[0], 1));
    if (view.stride.component != 0) view.stride.component = view.stride.x;
    to.writer.put_particles(species, attribute, view, unit);
  });
}

OCTAVO_API int octavo_fortran_restart_open(const MPI_Fint* comm, const char* path,
                                           const octavo_restart_options* options, octavo_restart** restart,
                                           octavo_error* error) {
  return octavo_restart_open(comm_of(comm), path, options, restart, error);
}

OCTAVO_API int octavo_fortran_restart_failed(const MPI_Fint* comm, const char* store, const octavo_restart* restart,
                                             octavo_error* error) {
  return octavo_restart_failed(comm_of(comm), store, restart, error);
}

OCTAVO_API int octavo_fortran_restart_write(const MPI_Fint* comm, const char* store, octavo_restart* restart,
                                            const char* format, const char* path, octavo_error* error) {
  return octavo_restart_write(comm_of(comm), store, restart, format, path, error);
}

OCTAVO_API int octavo_fortran_restart_get_field(octavo_restart* restart, const char* name, const CFI_cdesc_t* values,
                                                octavo_error* error) {
  return guard(error, [&] { copy_all(field_of(restart, name), *values); });
}

OCTAVO_API int octavo_fortran_restart_get_particles(octavo_restart* restart, const char* species, const char* attribute,
                                                    const CFI_cdesc_t* values, octavo_error* error) {
  return guard(error, [&] { copy_all(attribute_of(restart, species, attribute), *values); });
}

// `values` has the arrays of all fields, one behind another, of `cells` cells each.
OCTAVO_API int octavo_fortran_read_box(const char* path, const octavo_box* box, std::int64_t num_fields,
                                       const char* const* fields, double* values, std::int64_t cells,
                                       std::int64_t* missing, octavo_error* error) {
  std::vector<octavo_array> arrays;
  for (std::int64_t f = 0; f < num_fields; ++f)
    arrays.push_back(octavo_array_packed(OCTAVO_FLOAT64, values + f * cells, 1));
  return octavo_read_box(path, box, num_fields, fields, arrays.data(), missing, error);
}

OCTAVO_API int octavo_fortran_restart_get_neighbours(const MPI_Fint* comm, octavo_restart* restart,
                                                     octavo_neighbours* neighbours, octavo_error* error) {
  return octavo_restart_get_neighbours(comm_of(comm), restart, neighbours, error);
}

}  // extern "C"
