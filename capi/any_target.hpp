#pragma once
#include <cstdint>
#include <filesystem>

#include "octavo/engine/points/series_mesh.hpp"
#include "octavo/engine/write/writer.hpp"
#include "octavo/mesh/tree/listed_blocks.hpp"

/// Calls of a writer whose target is known only when the program runs. C, Fortran and Python are written against them.
namespace octavo::capi {

/// Begins a step with the arguments that the target takes: a store the flow, FLASH and AMReX the path, a series the
/// time. Throws Error(usage) as Writer::begin_step does, and if the path is needed but empty.
inline void begin_step(engine::Writer& writer, engine::StepsBy target, store::Flow flow,
                       const std::filesystem::path& path, std::int64_t step, double time) {
  if (target == engine::StepsBy::flow) return writer.begin_step(flow, step, time);
  if (target == engine::StepsBy::time) return writer.begin_step(time);
  if (path.empty())
    throw base::Error(base::Kind::usage, "path is NULL").hint("every FLASH and AMReX output has its own");
  writer.begin_step(path, step, time);
}

/// Puts triangles. Throws Error(usage) for a boundary or a geometry file in a store.
inline void put_triangles(engine::Writer& writer, engine::StepsBy target, const engine::SeriesMesh& mesh) {
  if (target == engine::StepsBy::flow && (!mesh.boundary.empty() || mesh.geometry))
    throw base::Error(base::Kind::usage, "triangles: boundary and geometry are for SERAFIN files")
        .hint("a boundary is an integer field");
  writer.put_mesh(mesh.piece, mesh.global_element);
}

/// Puts a list of named values, as FLASH has them: the attribute `list` holds the names, list/NAME the value of each.
/// `values` are a vector with a value for each name.
inline void put_list(engine::Writer& writer, const std::string& list, const std::vector<std::string>& names,
                     const mesh::Attribute& values) {
  const auto put_each = [&]<class T>(const std::vector<T>* each) {
    for (std::size_t i = 0; each != nullptr && i < names.size(); ++i)
      writer.put_attribute(list + "/" + names[i], each->at(i));
  };
  put_each(std::get_if<std::vector<std::int64_t>>(&values));
  put_each(std::get_if<std::vector<double>>(&values));
  put_each(std::get_if<std::vector<std::string>>(&values));
  writer.put_attribute(list, names);
}

/// Blocks from `count` levels, as the code numbers them, positions (x, y, z) and flags. Throws Error(usage) for a
/// position that is no 32-bit number from 0 on.
inline std::vector<mesh::ListedBlock> listed_blocks(std::int64_t count, const std::int32_t* level,
                                                    const std::int64_t* position, const std::uint8_t* refined,
                                                    int first_level) {
  std::vector<mesh::ListedBlock> blocks(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    blocks[i].level = level[i] - first_level;
    blocks[i].refined = refined[i] != 0;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const std::int64_t at = position[3 * i + axis];
      if (at < 0 || at > std::int64_t{0xffffffff})
        throw base::Error(base::Kind::usage, "block " + std::to_string(i) + ": expected a position from 0 on, found " +
                                                 std::to_string(at) + " along axis " + std::to_string(axis));
      blocks[i].at[axis] = static_cast<std::uint32_t>(at);
    }
  }
  return blocks;
}

/// Gives a view of the blocks' values, in the order of the list, the order of the tree's cells. Throws Error(usage) for
/// an order of its own, and for values of another number of blocks.
inline void follow_blocks(const mesh::ListedTree& listed, engine::ArrayView& view, bool has_order) {
  if (has_order) throw base::Error(base::Kind::usage, "order: fields of blocks have the order of put_blocks");
  std::size_t blocks = 0;
  for (int level = 0; level < num_levels(listed.tree); ++level) blocks += num_owned(listed.tree, level);
  if (view.cells != blocks)
    throw base::Error(base::Kind::usage,
                      "expected values of " + std::to_string(blocks) + " blocks, found " + std::to_string(view.cells));
  view.cells = listed.place.size();
  view.order = listed.place;
}

}  // namespace octavo::capi
