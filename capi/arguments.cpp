#include "capi/arguments.hpp"

#include <cstring>

namespace octavo::capi {
namespace {

int code_of(Kind kind) {
  switch (kind) {
    case Kind::usage: return OCTAVO_USAGE;
    case Kind::unreadable: return OCTAVO_UNREADABLE;
    case Kind::corrupt: return OCTAVO_CORRUPT;
    case Kind::unsupported: return OCTAVO_UNSUPPORTED;
    case Kind::no_space: return OCTAVO_NO_SPACE;
    case Kind::interrupted: return OCTAVO_INTERRUPTED;
  }
  return OCTAVO_UNREADABLE;
}

}  // namespace

int report(octavo_error* error, int code, const char* message) {
  if (error != nullptr) {
    error->code = code;
    std::snprintf(error->message, sizeof error->message, "%s", message);
  }
  return code;
}

int report_exception(octavo_error* error) {
  const Error problem = base::current_error();
  return report(error, code_of(problem.kind()), problem.what());
}

std::vector<std::string> texts_from(const char* const* values, std::int64_t count) {
  if (count < 0) throw Error(Kind::usage, "a negative number of values: " + std::to_string(count));
  std::vector<std::string> texts;
  for (int64_t i = 0; i < count; ++i) texts.emplace_back(&checked((&checked(values, "values"))[i], "values"));
  return texts;
}

mesh::ScalarType type_of(int type) {
  if (type < OCTAVO_FLOAT64 || type > OCTAVO_UINT8)
    throw Error(Kind::usage, "type: expected 0 to 7, found " + std::to_string(type));
  return static_cast<mesh::ScalarType>(type);
}

store::Flow flow_of(int flow) {
  if (flow != OCTAVO_CHECKPOINT && flow != OCTAVO_ANALYSIS)
    throw Error(Kind::usage, "flow: expected 0 or 1, found " + std::to_string(flow));
  return flow == OCTAVO_CHECKPOINT ? store::Flow::checkpoint : store::Flow::analysis;
}

void copy_text(const std::string& from, char* to, std::size_t size) {
  if (from.size() >= size)
    throw Error(Kind::usage,
                "the text needs " + std::to_string(from.size() + 1) + " bytes, there are " + std::to_string(size));
  std::memcpy(&checked(to, "text"), from.c_str(), from.size() + 1);
}

void check_space(int space) {
  if (space != OCTAVO_HOST) throw Error(Kind::unsupported, "arrays are in host memory only");
}

engine::ArrayView view_of(int type, const void* values, std::int64_t count, std::int64_t stride, int space) {
  check_space(space);
  if (count < 0) throw Error(Kind::usage, "a negative number of values: " + std::to_string(count));
  if (count > 0 && values == nullptr) throw Error(Kind::usage, "values is NULL");
  engine::ArrayView view;
  view.data = values;
  view.type = type_of(type);
  view.cells = static_cast<std::size_t>(count);
  if (stride != 0 && stride != 1) view.stride = {.cell = stride, .x = 1, .y = 1, .z = 1, .component = 1};
  return view;
}

mesh::Header header_of(const octavo_domain& domain) {
  mesh::Header header;
  header.code = domain.code == nullptr ? "" : domain.code;
  header.dim = domain.dim;
  std::copy_n(domain.roots, 3, header.roots.begin());
  std::copy_n(domain.lo, 3, header.lo.begin());
  std::copy_n(domain.hi, 3, header.hi.begin());
  for (std::size_t axis = 0; axis < 3; ++axis) header.periodic[axis] = domain.periodic[axis] != 0;
  header.unit_length = domain.unit_length;
  header.unit_density = domain.unit_density;
  header.unit_time = domain.unit_time;
  return header;
}

mesh::Octree tree_from(int dim, const mesh::Index3& roots, const mesh::Index3& block, int levels,
                       const std::int64_t* cells_of_level, const std::uint8_t* refined, const std::uint8_t* owned) {
  mesh::Octree tree;
  tree.dim = dim;
  tree.roots = roots;
  tree.block = block;
  for (int level = 0; level < levels; ++level) {
    if (checked(cells_of_level + level, "cells_of_level") < 0) throw Error(Kind::usage, "a level of less than 0 cells");
    const auto cells = static_cast<std::size_t>(cells_of_level[level]);
    if (cells > 0) checked(refined, "refined"), checked(owned, "owned");
    base::BitArray is_refined(cells), is_owned(cells);
    for (std::size_t i = 0; i < cells; ++i) {
      is_refined.set(i, *refined++ != 0);
      is_owned.set(i, *owned++ != 0);
    }
    tree.refined.push_back(std::move(is_refined));
    tree.owned.push_back(std::move(is_owned));
  }
  return tree;
}

}  // namespace octavo::capi
