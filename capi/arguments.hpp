#pragma once
#include <algorithm>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "capi/octavo.h"
#include "octavo/base/current_error.hpp"
#include "octavo/engine/step/array_view.hpp"
#include "octavo/mesh/dataset.hpp"
#include "octavo/mesh/octree.hpp"
#include "octavo/store/store.hpp"

/// What the C functions share: errors as codes, and arguments as C++ has them. All throw base::Error(usage).
namespace octavo::capi {

using base::Error;
using base::Kind;

int report(octavo_error* error, int code, const char* message);
/// The code and message of the exception that is being handled.
int report_exception(octavo_error* error);

// No exception crosses into C.
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

template <class T>
std::vector<T> array_from(const T* values, std::int64_t count) {
  if (count < 0) throw Error(Kind::usage, "a negative number of values: " + std::to_string(count));
  if (count > 0) checked(values, "values");
  return std::vector<T>(values, values + count);
}
std::vector<std::string> texts_from(const char* const* values, std::int64_t count);

mesh::ScalarType type_of(int type);
store::Flow flow_of(int flow);
/// With its closing 0, into `size` bytes; an error where it is longer.
void copy_text(const std::string& from, char* to, std::size_t size);
/// Error(unsupported) but for OCTAVO_HOST.
void check_space(int space);
engine::ArrayView view_of(int type, const void* values, std::int64_t count, std::int64_t stride, int space);
mesh::Header header_of(const octavo_domain& domain);
mesh::Octree tree_from(int dim, const mesh::Index3& roots, const mesh::Index3& block, int levels,
                       const std::int64_t* cells_of_level, const std::uint8_t* refined, const std::uint8_t* owned);

int put_series_field(octavo_series* series, const char* name, const std::function<engine::ArrayView()>& view,
                     octavo_error* error);

}  // namespace octavo::capi
