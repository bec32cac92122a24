#pragma once
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "capi/octavo.h"

/// Shorthands of the C API's tests.
namespace octavo::testing {

/// Values of arrays with ghosts around, `stride` elements from one value to the next.
inline octavo_array ghosted(octavo_type type, const void* values, std::int64_t cells, int ghost, std::int64_t stride) {
  octavo_array array = octavo_array_packed(type, values, cells);
  array.ghost = ghost;
  array.stride[0] = stride;
  return array;
}

/// One value a cell, `stride` elements from one to the next.
inline octavo_array every(std::int64_t stride, octavo_type type, const void* values, std::int64_t cells) {
  octavo_array array = octavo_array_packed(type, values, cells);
  array.stride_cell = stride;
  return array;
}

inline int put_packed(octavo_writer* writer, const char* name, octavo_type type, const void* values, std::int64_t cells,
                      octavo_error* error, const char* unit = "") {
  const octavo_array array = octavo_array_packed(type, values, cells);
  return octavo_writer_put_field(writer, name, unit, &array, error);
}

inline int put_particles(octavo_writer* writer, const char* attribute, octavo_type type, const void* values,
                         std::int64_t count, octavo_error* error) {
  const octavo_array array = octavo_array_packed(type, values, count);
  return octavo_writer_put_particles(writer, "stars", attribute, "", &array, error);
}

inline int put_int(octavo_writer* writer, const char* name, std::int64_t value, octavo_error* error) {
  return octavo_writer_put_attribute(writer, name, OCTAVO_INT64, &value, OCTAVO_SCALAR, error);
}

inline int put_tree(octavo_writer* writer, int levels, const std::int64_t* cells_of_level, const std::uint8_t* refined,
                    const std::uint8_t* owned, octavo_error* error) {
  const octavo_tree tree{sizeof(octavo_tree), levels, cells_of_level, refined, owned, 0, nullptr};
  return octavo_writer_put_tree(writer, &tree, error);
}

inline int put_boxes(octavo_writer* writer, int levels, const std::int64_t* domain, const int* ratio,
                     const std::int64_t* boxes_of_level, const std::int64_t* boxes, octavo_error* error) {
  const octavo_boxes all{sizeof(octavo_boxes), levels, domain, ratio, boxes_of_level, boxes};
  return octavo_writer_put_boxes(writer, &all, error);
}

inline octavo_restart_info info_of(const octavo_restart* restart) {
  octavo_restart_info info = octavo_restart_info_default();
  EXPECT_EQ(octavo_restart_get_info(restart, &info, nullptr), 0);
  return info;
}

inline int get_packed(octavo_restart* restart, const char* name, octavo_type type, void* values, std::int64_t cells,
                      octavo_error* error) {
  const octavo_array array = octavo_array_packed(type, values, cells);
  return octavo_restart_get_field(restart, name, &array, error);
}

/// All values of a field of one component.
inline std::vector<double> field_of(octavo_restart* restart, const char* name) {
  const octavo_restart_info info = info_of(restart);
  octavo_error error;
  std::vector<double> values(static_cast<std::size_t>(info.values));
  const std::int64_t cells = info.mesh == OCTAVO_MESH_TREE ? info.cells : info.values;
  EXPECT_EQ(get_packed(restart, name, OCTAVO_FLOAT64, values.data(), cells, &error), 0) << error.message;
  return values;
}

}  // namespace octavo::testing
