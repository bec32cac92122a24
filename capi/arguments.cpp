#include "capi/arguments.hpp"

#include <cstring>

#include "capi/any_target.hpp"
#include "octavo/mesh/boxes.hpp"

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

mesh::IndexBox box_at(const std::int64_t* corners) {
  mesh::IndexBox box;
  std::copy_n(corners, 3, box.lo.begin());
  std::copy_n(corners + 3, 3, box.hi.begin());
  return box;
}

mesh::RootIntervals held_from(const octavo_tree& tree) {
  if (tree.num_intervals < 0)
    throw Error(Kind::usage, "num_intervals: expected at least 0, found " + std::to_string(tree.num_intervals));
  mesh::RootIntervals intervals;
  for (std::int64_t i = 0; i < tree.num_intervals; ++i) {
    const std::int64_t* interval = &checked(tree.held, "held") + 2 * i;
    intervals.push_back({interval[0], interval[1]});
  }
  return intervals;
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

void check_size(const void* given, std::size_t size, std::size_t known, const char* what) {
  constexpr std::size_t most = 1 << 16;  // [bytes] a size that was never set is often larger
  if (size < sizeof size || size > most)
    throw Error(Kind::usage, std::string(what) + ": expected its size as first member, found " + std::to_string(size))
        .hint(std::string("start from octavo_..._default()"));
  for (std::size_t i = known; i < size; ++i)
    if (static_cast<const std::uint8_t*>(given)[i] != 0)
      throw Error(Kind::unsupported, std::string(what) + ": expected 0 behind byte " + std::to_string(known) +
                                         ", the last that this library knows, found a value at byte " +
                                         std::to_string(i));
}

std::vector<std::string> texts_from(const char* const* values, std::int64_t count) {
  if (count < 0) throw Error(Kind::usage, "a negative number of values: " + std::to_string(count));
  std::vector<std::string> texts;
  for (int64_t i = 0; i < count; ++i) texts.emplace_back(&checked((&checked(values, "values"))[i], "values"));
  return texts;
}

mesh::ScalarType type_of(int type) {
  if (type < OCTAVO_FLOAT64 || type > OCTAVO_BFLOAT16)
    throw Error(Kind::usage, "type: expected 0 to 11, found " + std::to_string(type));
  return static_cast<mesh::ScalarType>(type);
}

store::Flow flow_of(int flow) {
  if (flow != OCTAVO_CHECKPOINT && flow != OCTAVO_ANALYSIS)
    throw Error(Kind::usage, "flow: expected 0 or 1, found " + std::to_string(flow));
  return flow == OCTAVO_CHECKPOINT ? store::Flow::checkpoint : store::Flow::analysis;
}

engine::Safety safety_of(int safety) {
  if (safety < OCTAVO_SAFE_LOCAL || safety > OCTAVO_SAFE_STORE)
    throw Error(Kind::usage, "safety: expected 0 to 4, found " + std::to_string(safety));
  return static_cast<engine::Safety>(safety);
}

void copy_text(const std::string& from, char* to, std::size_t size) {
  if (from.size() >= size)
    throw Error(Kind::usage,
                "the text needs " + std::to_string(from.size() + 1) + " bytes, there are " + std::to_string(size));
  std::memcpy(&checked(to, "text"), from.c_str(), from.size() + 1);
}

engine::MemorySpace space_of(int space) {
  if (space != OCTAVO_HOST && space != OCTAVO_DEVICE)
    throw Error(Kind::usage, "space: expected 0 or 1, found " + std::to_string(space));
  return space == OCTAVO_DEVICE ? engine::MemorySpace::device : engine::MemorySpace::host;
}

void require_host(int space) {
  if (space_of(space) != engine::MemorySpace::host)
    throw Error(Kind::unsupported, "a restart fills arrays in host memory only");
}

mesh::Header header_of(const octavo_domain& domain) {
  mesh::Header header;
  header.code = domain.code == nullptr ? "" : domain.code;
  header.dim = domain.dim;
  std::copy_n(domain.roots, 3, header.roots.begin());
  std::copy_n(domain.block, 3, header.block.begin());
  header.unfolded = domain.unfolded;
  std::copy_n(domain.lo, 3, header.lo.begin());
  std::copy_n(domain.hi, 3, header.hi.begin());
  for (std::size_t axis = 0; axis < 3; ++axis) header.periodic[axis] = domain.periodic[axis] != 0;
  header.unit_length = domain.unit_length;
  header.unit_density = domain.unit_density;
  header.unit_time = domain.unit_time;
  header.level_origin = domain.first_level;
  return header;
}

octavo_domain described(const mesh::Header& header) {
  octavo_domain domain = octavo_domain_default();
  domain.code = header.code.c_str();
  domain.dim = header.dim;
  std::copy_n(header.roots.begin(), 3, domain.roots);
  std::copy_n(header.block.begin(), 3, domain.block);
  domain.unfolded = header.unfolded;
  std::copy_n(header.lo.begin(), 3, domain.lo);
  std::copy_n(header.hi.begin(), 3, domain.hi);
  std::copy_n(header.periodic.begin(), 3, domain.periodic);
  domain.unit_length = header.unit_length;
  domain.unit_density = header.unit_density;
  domain.unit_time = header.unit_time;
  domain.first_level = header.level_origin;
  return domain;
}

mesh::Octree tree_from(const octavo_tree& from, int dim, const mesh::Index3& roots, const mesh::Index3& block) {
  mesh::Octree tree;
  tree.dim = dim;
  tree.roots = roots;
  tree.block = block;
  if (from.num_intervals != 0) hold(tree, held_from(from));
  const std::uint8_t *refined = from.refined, *owned = from.owned;
  for (int level = 0; level < from.levels; ++level) {
    const std::int64_t cells = (&checked(from.cells_of_level, "cells_of_level"))[level];
    if (cells < 0) throw Error(Kind::usage, "a level of less than 0 cells");
    if (cells > 0) checked(refined, "refined"), checked(owned, "owned");
    const auto count = static_cast<std::size_t>(cells);
    base::BitArray is_refined(count), is_owned(count);
    for (std::size_t i = 0; i < count; ++i) {
      is_refined.set(i, *refined++ != 0);
      is_owned.set(i, *owned++ != 0);
    }
    tree.refined.push_back(std::move(is_refined));
    tree.owned.push_back(std::move(is_owned));
  }
  return tree;
}

std::vector<mesh::ListedBlock> blocks_from(const octavo_blocks& from, int first_level) {
  if (from.blocks < 0) throw Error(Kind::usage, "a negative number of blocks: " + std::to_string(from.blocks));
  if (from.blocks > 0)
    checked(from.level, "level"), checked(from.position, "position"), checked(from.refined, "refined");
  return listed_blocks(from.blocks, from.level, from.position, from.refined, first_level);
}

mesh::Patches patches_from(const octavo_boxes& from, int dim) {
  mesh::Patches patches;
  patches.dim = dim;
  const std::int64_t* corners = from.boxes;
  for (int level = 0; level < from.levels; ++level) {
    patches.domain.push_back(box_at(&checked(from.domain, "domain") + 6 * level));
    if (level > 0) patches.ratio.push_back((&checked(from.ratio, "ratio"))[level - 1]);
    patches.boxes.emplace_back();
    for (std::int64_t i = (&checked(from.boxes_of_level, "boxes_of_level"))[level]; i > 0; --i, corners += 6)
      patches.boxes.back().push_back(mesh::flat(box_at(&checked(corners, "boxes")), dim));
  }
  return patches;
}

engine::SeriesMesh triangles_from(const octavo_triangles& from) {
  engine::SeriesMesh mesh;
  mesh.piece.x = array_from(from.x, from.points);
  mesh.piece.y = array_from(from.y, from.points);
  mesh.piece.connectivity = array_from(from.connectivity, 3 * from.triangles);
  mesh.piece.planes = from.planes;
  if (from.global_point != nullptr) mesh.piece.global_point = array_from(from.global_point, from.points);
  if (from.global_triangle != nullptr) mesh.global_element = array_from(from.global_triangle, from.triangles);
  if (from.boundary != nullptr) mesh.boundary = array_from(from.boundary, from.points);
  if (from.geometry != nullptr) mesh.geometry = from.geometry;
  return mesh;
}

mesh::Attribute attribute_from(octavo_type type, const void* values, std::int64_t count) {
  const bool single = count == OCTAVO_SCALAR;
  const auto array = [&](auto all) -> mesh::Attribute {
    if (single) return all.front();
    return all;
  };
  if (single) count = 1;
  if (type == OCTAVO_INT64) return array(array_from(static_cast<const std::int64_t*>(values), count));
  if (type == OCTAVO_FLOAT64) return array(array_from(static_cast<const double*>(values), count));
  if (type == OCTAVO_TEXT) return array(texts_from(static_cast<const char* const*>(values), count));
  throw Error(Kind::usage, "type: expected OCTAVO_INT64, OCTAVO_FLOAT64 or OCTAVO_TEXT, found " + std::to_string(type));
}

}  // namespace octavo::capi
