#pragma once
#include <list>
#include <optional>
#include <set>

#include "capi/any_target.hpp"
#include "capi/layout.hpp"
#include "octavo/engine/restart/neighbour_arrays.hpp"
#include "octavo/engine/restart/restart.hpp"
#include "octavo/mesh/tree/listed_blocks.hpp"

/// The handles of the C API.
struct octavo_writer {
  std::list<std::vector<std::uint32_t>>
      orders;  ///< that were put in this step; the writer may read them until it is destroyed
  octavo::engine::StepsBy target;
  octavo::engine::Writer writer;
  int dim;
  octavo::mesh::Index3 roots, block;
  int level_origin;
  octavo::capi::Boxes boxes{};  ///< of this step
  /// The place of each tree cell in the list that put_blocks took for this step; nothing after other puts.
  std::optional<octavo::mesh::ListedTree> listed{};
};

/// Each list is the memory behind the pointers that the get function of its name returned.
struct octavo_restart {
  octavo::engine::Restart value;
  octavo_domain domain;
  std::vector<const char*> notes;
  std::vector<std::int64_t> cells_of_level{}, box_domain{}, boxes_of_level{}, boxes{};
  std::vector<std::uint8_t> refined{}, owned{};
  octavo::engine::NeighbourArrays neighbours{};
  bool once = false;                             ///< values are freed once they were copied
  std::set<const octavo::mesh::Field*> given{};  ///< those whose values are
  std::function<void()> remove_files{};          ///< those of octavo_restart_write, when the restart is freed
};

namespace octavo::capi {

/// Runs `work` on a writer. If it throws, end_step also returns the error, on all ranks.
template <class Work>
int put(octavo_writer* writer, octavo_error* error, const char* place, Work&& work) noexcept {
  return guard(error, [&] {
    octavo_writer& mine = checked(writer, "writer");
    try {
      work(mine);
    } catch (...) {
      Error problem = base::current_error();
      mine.writer.put_error(problem.at(place));
      throw problem;
    }
  });
}

void put_field(octavo_writer& to, const char* name, const char* unit, const FieldViews& views, mesh::Centring centring);
/// Keeps a copy of the order, because the writer reads it as late as the array itself. Fields that are put one after
/// another in the same order share one copy.
std::span<const std::uint32_t> keep_order(octavo_writer& to, const std::int64_t* order, std::int64_t cells);

/// Throw Error(usage) if there is none of this name.
mesh::Field& field_of(octavo_restart* restart, const char* name);
mesh::Field& attribute_of(octavo_restart* restart, const char* species, const char* attribute);

}  // namespace octavo::capi
