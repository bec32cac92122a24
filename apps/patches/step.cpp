#include "apps/patches/step.hpp"

#include <algorithm>
#include <cstring>

#include "apps/patches/fill.hpp"
#include "apps/patches/nesting.hpp"
#include "apps/patches/regrid.hpp"
#include "apps/patches/sources.hpp"
#include "octavo/base/error.hpp"
#include "octavo/engine/step/all_patches.hpp"
#include "octavo/ranks/communicator.hpp"

namespace octavo::patches {
namespace {

using base::Error;
using base::Kind;

// Which level of the step is level 0 here.
std::size_t base_level(const Shape& shape, const mesh::Patches& patches) {
  const IndexBox wanted = domain_of(shape, 0);
  if (patches.dim == shape.dim)
    for (std::size_t l = 0; l < patches.domain.size(); ++l)
      if (flat(patches.domain[l], shape.dim) == wanted) return l;
  throw Error(Kind::usage, "the checkpoint has no level of " + mesh::describe_extent(shape.cells, shape.dim) +
                               " cells, of " + std::to_string(shape.dim) + " dimensions")
      .hint("restart with the coarsest mesh and the blocks of the run that wrote it");
}

std::size_t field_of(const mesh::Part& part, const std::string& name) {
  for (std::size_t i = 0; i < part.fields.size(); ++i)
    if (part.fields[i].info.name == name) return i;
  throw Error(Kind::usage, "the checkpoint has no field " + name);
}

// A level of the step as it was dealt out, without values.
Level level_as_read(MPI_Comm comm, const Shape& shape, const std::vector<mesh::Patches>& all, std::size_t level) {
  std::vector<IndexBox> boxes;
  std::vector<int> owner;
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    if (level >= all[rank].boxes.size()) continue;
    for (const IndexBox& box : all[rank].boxes[level]) {
      boxes.push_back(flat(box, shape.dim));
      owner.push_back(static_cast<int>(rank));
    }
  }
  return make_level(comm, shape, std::move(boxes), std::move(owner));
}

void take_values(const mesh::Part& part, const std::vector<std::size_t>& fields, std::size_t before, Level& level) {
  for (std::size_t v = 0; v < fields.size(); ++v) {
    const double* from = part.fields[fields[v]].as<double>().data() + before;
    for (std::size_t i = 0; i < level.mine.size(); ++i)
      mesh::for_each_row(level.mine[i], [&](const Index3& at, std::int64_t n) {
        Values& values = level.values[i];
        std::copy_n(from, n, values.of(static_cast<int>(v)) + values.offset(at));
        from += n;
      });
  }
}

std::int64_t cells_of(const std::vector<IndexBox>& boxes, int dim) {
  std::int64_t cells = 0;
  for (const IndexBox& box : boxes) cells += num_cells(box, dim);
  return cells;
}

Hierarchy as_read(MPI_Comm comm, const Shape& shape, const mesh::Part& part,
                  const std::vector<std::string>& variables) {
  const auto& patches = std::get<mesh::Patches>(part.mesh);
  const std::vector<mesh::Patches> all = engine::gather_patches(comm, &patches);
  const std::size_t base = base_level(shape, patches);
  std::vector<std::size_t> fields;
  for (const std::string& name : variables) fields.push_back(field_of(part, name));
  for (std::size_t field : fields)
    if (part.fields[field].info.type != mesh::ScalarType::float64)
      throw Error(Kind::unsupported, "a run goes on from double precision").at(part.fields[field].info.name);
  Hierarchy read{comm, shape, {}};
  std::int64_t before = 0;
  for (std::size_t l = 0; l < patches.boxes.size(); ++l) {
    const bool taken = l >= base && l <= base + static_cast<std::size_t>(shape.max_level);
    if (taken) {
      read.levels.push_back(level_as_read(comm, shape, all, l));
      take_values(part, fields, static_cast<std::size_t>(before), read.levels.back());
    }
    before += cells_of(patches.boxes[l], shape.dim);
  }
  return read;
}

}  // namespace

mesh::Header header_of(const Shape& shape, const std::string& code) {
  mesh::Header header;
  header.code = code;
  header.dim = shape.dim;
  header.lo = shape.lo;
  header.hi = shape.hi;
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(shape.dim); ++axis) {
    header.block[axis] = shape.block;
    header.roots[axis] = shape.cells[axis] / shape.block;
  }
  header.periodic = periodic_axes(shape);
  return header;
}

mesh::Header unfolded(mesh::Header header) {
  const auto even = [&] {
    for (std::size_t axis = 0; axis < static_cast<std::size_t>(header.dim); ++axis)
      if (header.roots[axis] % 2 != 0) return false;
    return true;
  };
  for (; even(); ++header.unfolded)
    for (std::size_t axis = 0; axis < static_cast<std::size_t>(header.dim); ++axis) header.roots[axis] /= 2;
  return header;
}

engine::ArrayView view_of_box(const IndexBox& box, const double* data, int ghost) {
  engine::ArrayView view;
  view.data = data;
  view.cells = 1;
  for (std::size_t axis = 0; axis < 3; ++axis) view.block[axis] = box.hi[axis] - box.lo[axis];
  view.ghost = ghost;
  return view;
}

std::vector<engine::ArrayView> views_of(const Hierarchy& mesh, int variable) {
  std::vector<engine::ArrayView> views;
  for_each_patch(mesh, [&](int, const Values& values, const IndexBox& box) {
    views.push_back(view_of_box(box, values.of(variable), mesh.shape.ghost));
  });
  return views;
}

std::vector<engine::ArrayView> views_of(const Hierarchy& mesh, const std::vector<std::vector<double>>& arrays) {
  std::vector<engine::ArrayView> views;
  for_each_patch(mesh, [&](int, const Values&, const IndexBox& box) {
    views.push_back(view_of_box(box, arrays[views.size()].data(), 0));
  });
  return views;
}

Hierarchy hierarchy_from(MPI_Comm comm, const Shape& shape, const engine::Restart& restart,
                         const std::vector<std::string>& variables) {
  Hierarchy read, fresh = make_hierarchy(comm, shape);
  ranks::agree(comm, [&] {
    if (!std::holds_alternative<mesh::Patches>(restart.part.mesh))
      throw Error(Kind::usage, "the step was not restarted as patches");
  });
  read = as_read(comm, shape, restart.part, variables);
  std::vector<std::vector<IndexBox>> boxes;
  for (const Level& level : read.levels) boxes.push_back(level.boxes);
  check_nesting(shape, boxes);
  fill(comm, shape, plan_refill(fresh, 0, fresh.levels[0], read.levels[0]), read.levels[0].values, nullptr, {},
       fresh.levels[0].values);
  read.levels[0] = std::move(fresh.levels[0]);
  return with_boxes(read, regular_boxes(shape, boxes), {});
}

}  // namespace octavo::patches
