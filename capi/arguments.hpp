#pragma once
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "capi/octavo.h"
#include "octavo/base/current_error.hpp"
#include "octavo/engine/points/series_mesh.hpp"
#include "octavo/engine/tiers/safety.hpp"
#include "octavo/mesh/dataset.hpp"
#include "octavo/mesh/tree/listed_blocks.hpp"
#include "octavo/store/store.hpp"

/// Shared by the C functions: turns errors into codes, and arguments into C++ types. Conversions throw
/// base::Error(usage).
namespace octavo::capi {

using base::Error;
using base::Kind;

int report(octavo_error* error, int code, const char* message);
/// The code and message of the exception that is being handled.
int report_exception(octavo_error* error);

/// Runs `work` and returns its code, because no exception may cross into C.
template <class Work>
int guard(octavo_error* error, Work&& work) noexcept {
  try {
    work();
    return report(error, OCTAVO_OK, "");
  } catch (...) {
    return report_exception(error);
  }
}

template <class T>
T& checked(T* pointer, const char* what) {
  if (pointer == nullptr) throw Error(Kind::usage, std::string(what) + " is NULL");
  return *pointer;
}

/// Throws Error(usage) if `size` cannot be a struct's size, and Error(unsupported) if any of the bytes [known, size) is
/// not 0: they are members that this library does not know.
void check_size(const void* given, std::size_t size, std::size_t known, const char* what);

/// Copies a struct of the caller's version. Members that it lacks get their defaults.
template <class T>
T complete(const T* given, T defaults, const char* what) {
  const std::size_t size = checked(given, what).size;
  check_size(given, size, sizeof defaults, what);
  std::memcpy(&defaults, given, std::min(size, sizeof defaults));
  defaults.size = sizeof defaults;
  return defaults;
}

/// Fills the members that the caller's version of the struct has.
template <class T>
void fill(T* to, T from, const char* what) {
  const std::size_t size = checked(to, what).size;
  check_size(nullptr, size, size, what);
  std::memcpy(to, &from, std::min(size, sizeof from));
  to->size = size;
}

template <class T>
std::vector<T> array_from(const T* values, std::int64_t count) {
  if (count < 0) throw Error(Kind::usage, "a negative number of values: " + std::to_string(count));
  if (count > 0) checked(values, "values");
  return std::vector<T>(values, values + count);
}
std::vector<std::string> texts_from(const char* const* values, std::int64_t count);

mesh::ScalarType type_of(int type);
store::Flow flow_of(int flow);
engine::Safety safety_of(int safety);
/// Copies a text and its closing 0 into `size` bytes. Throws Error(usage) if it is longer.
void copy_text(const std::string& from, char* to, std::size_t size);
/// Throws Error(usage) for a number that is no space.
engine::MemorySpace space_of(int space);
/// Restarts fill arrays of the host: throws Error(unsupported) for another space.
void require_host(int space);
mesh::Header header_of(const octavo_domain& domain);
octavo_domain described(const mesh::Header& header);
mesh::Octree tree_from(const octavo_tree& tree, int dim, const mesh::Index3& roots, const mesh::Index3& block);
/// `first_level`: the code's own number of level 0.
std::vector<mesh::ListedBlock> blocks_from(const octavo_blocks& blocks, int first_level);
mesh::Patches patches_from(const octavo_boxes& boxes, int dim);
engine::SeriesMesh triangles_from(const octavo_triangles& triangles);
mesh::Attribute attribute_from(octavo_type type, const void* values, std::int64_t count);

}  // namespace octavo::capi
