#include "octavo/formats/amrex/write_dataset.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <set>
#include <type_traits>

#include "octavo/base/threads.hpp"
#include "octavo/file/posix.hpp"
#include "octavo/mesh/boxes.hpp"
#include "octavo/mesh/patches/box_index.hpp"
#include "octavo/mesh/patches/octree_to_patches.hpp"
#include "octavo/mesh/patches/patches_to_octree.hpp"
#include "octavo/mesh/sides.hpp"
#include "octavo/mesh/tree/curve.hpp"
#include "octavo/mesh/tree/merge.hpp"
#include "octavo/mesh/tree/regrid.hpp"

namespace octavo::formats::amrex {
namespace {

namespace fs = std::filesystem;
using base::Error;
using base::Kind;
using mesh::IndexBox;
using mesh::Octree;

// ---------------------------------------------------------------------------------------------------- batches of boxes

struct BoxBatch {
  std::vector<std::size_t> begin, end;  ///< boxes of each level
  std::set<int> parts;                  ///< that have cells of them
};

/// Boxes of all levels in the order of their first corner, cut where there are enough cells; of a level each batch has
/// a run, so what is written follows one another in the files.
std::vector<BoxBatch> plan_batches(const BoxLayout& layout, std::int64_t batch_cells) {
  const auto& boxes = layout.patches.boxes;
  std::vector<double> total(boxes.size(), 0), done(boxes.size(), 0);
  double all = 0;
  for (std::size_t level = 0; level < boxes.size(); ++level) {
    for (const IndexBox& box : boxes[level])
      total[level] += static_cast<double>(mesh::num_cells(box, layout.patches.dim));
    all += total[level];
  }
  const auto batches = static_cast<std::size_t>(all / static_cast<double>(batch_cells)) + 1;
  std::vector<BoxBatch> plan(batches);
  for (std::size_t b = 0; b < batches; ++b) {
    plan[b].begin = b == 0 ? std::vector<std::size_t>(boxes.size(), 0) : plan[b - 1].end;
    plan[b].end = plan[b].begin;
    const double share = static_cast<double>(b + 1) / static_cast<double>(batches);
    for (std::size_t level = 0; level < boxes.size(); ++level)
      while (plan[b].end[level] < boxes[level].size() && (b + 1 == batches || done[level] < share * total[level]))
        done[level] += static_cast<double>(mesh::num_cells(boxes[level][plan[b].end[level]++], layout.patches.dim));
  }
  return plan;
}

/// Calls f(level of the patches, number of the tree cell over all levels, its cells) for each owned cell that is
/// written.
template <class F>
void for_each_owned(const BoxLayout& layout, const Octree& tree, F&& f) {
  const auto offsets = mesh::level_offsets(tree);
  std::vector<mesh::Coordinate> at = mesh::root_coordinates(tree);
  for (int level = 0; level < mesh::num_levels(tree); ++level) {
    if (level > 0) at = mesh::child_coordinates(tree, level - 1, at);
    const auto found = std::find(layout.index.begin(), layout.index.end(), level);
    if (found == layout.index.end()) continue;
    const auto n = static_cast<std::size_t>(found - layout.index.begin());
    const auto l = static_cast<std::size_t>(level);
    tree.owned[l].for_each_set([&](std::size_t i) {
      IndexBox cells = mesh::cells_of(tree, at[i]);
      for (std::size_t axis = 0; axis < static_cast<std::size_t>(tree.dim); ++axis) {
        cells.lo[axis] += layout.patches.domain[n].lo[axis];
        cells.hi[axis] += layout.patches.domain[n].lo[axis];
      }
      f(n, offsets[l] + i, cells);
    });
  }
}

/// Which parts each batch needs.
void find_parts(const BoxLayout& layout, const std::vector<mesh::BoxIndex>& index, const Octree& tree, int part,
                std::vector<BoxBatch>& batches) {
  for_each_owned(layout, tree, [&](std::size_t level, std::size_t, const IndexBox& cells) {
    mesh::for_each_touching(index[level], cells, [&](std::size_t box, const IndexBox&) {
      const auto batch = std::upper_bound(batches.begin(), batches.end(), box,
                                          [&](std::size_t b, const BoxBatch& one) { return b < one.end[level]; });
      batch->parts.insert(part);
    });
  });
}

// -------------------------------------------------------------------------------------------------------------- values

/// Values of the boxes of a batch, one array a field and level, and where each box begins.
struct BatchValues {
  std::vector<std::vector<std::vector<std::byte>>> bytes;  ///< per level, per field
  std::vector<std::vector<std::size_t>> first;             ///< per level, per box of the batch
};

BatchValues make_values(const BoxLayout& layout, const BoxBatch& batch, const std::vector<mesh::FieldInfo>& fields) {
  BatchValues values;
  for (std::size_t level = 0; level < layout.patches.boxes.size(); ++level) {
    std::size_t cells = 0;
    auto& first = values.first.emplace_back();
    for (std::size_t box = batch.begin[level]; box < batch.end[level]; ++box) {
      first.push_back(cells);
      cells += static_cast<std::size_t>(mesh::num_cells(layout.patches.boxes[level][box], layout.patches.dim));
    }
    auto& bytes = values.bytes.emplace_back();
    for (const mesh::FieldInfo& field : fields) bytes.emplace_back(cells * mesh::size_of(field.type));
  }
  return values;
}

std::size_t offset_in(const mesh::Index3& cell, const IndexBox& box) {
  const std::int64_t nx = box.hi[0] - box.lo[0], ny = box.hi[1] - box.lo[1];
  return static_cast<std::size_t>(((cell[2] - box.lo[2]) * ny + cell[1] - box.lo[1]) * nx + cell[0] - box.lo[0]);
}

void take_part(const BoxLayout& layout, const std::vector<mesh::BoxIndex>& index, const BoxBatch& batch,
               const mesh::Part& part, BatchValues& values) {
  const Octree& tree = mesh::octree_of(part);
  const int dim = layout.patches.dim;
  for_each_owned(layout, tree, [&](std::size_t level, std::size_t cell, const IndexBox& cells) {
    mesh::for_each_touching(index[level], cells, [&](std::size_t box, const IndexBox& both) {
      if (box < batch.begin[level] || box >= batch.end[level]) return;
      const IndexBox whole = mesh::flat(layout.patches.boxes[level][box], dim);
      const std::size_t first = values.first[level][box - batch.begin[level]];
      mesh::for_each_row(mesh::flat(both, dim), [&](const mesh::Index3& row, std::int64_t length) {
        const std::size_t from = cell * mesh::block_size(tree) + offset_in(row, cells);
        const std::size_t to = first + offset_in(row, whole);
        for (std::size_t f = 0; f < part.fields.size(); ++f) {
          const std::size_t width = mesh::size_of(part.fields[f].info.type);
          std::memcpy(values.bytes[level][f].data() + to * width, part.fields[f].bytes.data() + from * width,
                      static_cast<std::size_t>(length) * width);
        }
      });
    });
  });
}

/// A component of a MultiFab: the field that it is, or those of all sides of the cells, by their number (mesh::Side).
struct Component {
  std::string base;
  std::vector<std::size_t> sides;
};

/// One MultiFab a level: what it mesh::holds, its plan, and what is known of its values so far.
struct MultiFabTarget {
  std::string name;
  mesh::Centring centring = mesh::Centring::cell;
  std::vector<Component> components;
  std::vector<MultiFabPlan> plans;
  std::vector<GhostCells> ghosts;
  std::vector<MinMax> min_max;
};

const std::string default_multifab = "state";

/// How many fields a component has.
unsigned sides_of(mesh::Centring centring, int dim) {
  if (mesh::is_face(centring)) return 2;
  return centring == mesh::Centring::node ? 1U << dim : 1;
}

/// Error(unsupported) for a field that an output of this kind has no place for.
mesh::Side checked_side(const mesh::FieldInfo& info, int dim, bool checkpoint) {
  const auto side = mesh::side_of(info, dim);
  mesh::FieldInfo plain = info;
  if (checkpoint && side) plain.centring = mesh::Centring::cell;
  check_info(plain);
  return *side;
}

/// The MultiFab of each field: those it came in, else one of all cells and one for each variable on faces or nodes.
std::vector<std::string> multifab_names(const mesh::Header& header, const DatasetWriteOptions& options) {
  const bool checkpoint = options.checkpoint;
  std::vector<std::string> names;
  for (const mesh::FieldInfo& field : header.fields) {
    const mesh::Side side = checked_side(field, header.dim, checkpoint);
    const std::string& cells = options.multifab.empty() ? default_multifab : options.multifab;
    names.push_back(side.axes != 0 ? side.base : checkpoint ? cells : std::string(plotfile_multifab));
  }
  const auto found = header.attributes.find("amrex/multifabs");
  if (checkpoint && options.multifab.empty() && found != header.attributes.end())
    if (const auto* known = std::get_if<std::vector<std::string>>(&found->second))
      if (known->size() == names.size()) return *known;
  return names;
}

void add_field(std::vector<MultiFabTarget>& targets, const std::string& name, const mesh::Header& header,
               std::size_t f) {
  const mesh::FieldInfo& info = header.fields[f];
  const mesh::Side side = *mesh::side_of(info, header.dim);
  auto target = std::find_if(targets.begin(), targets.end(),
                             [&](const MultiFabTarget& t) { return t.name == name && t.centring == info.centring; });
  if (target == targets.end())
    target = targets.insert(targets.end(), MultiFabTarget{name, info.centring, {}, {}, {}, {}});
  auto& all = target->components;
  auto component = std::find_if(all.begin(), all.end(), [&](const Component& c) { return c.base == side.base; });
  if (component == all.end()) component = all.insert(all.end(), Component{side.base, {}});
  const unsigned sides = sides_of(info.centring, header.dim);
  component->sides.resize(sides, SIZE_MAX);
  component->sides[mesh::is_face(info.centring) ? side.high >> mesh::face_axis(info.centring) : side.high] = f;
}

void check_sides(const MultiFabTarget& target, const mesh::Header& header) {
  for (const Component& component : target.components) {
    for (const std::size_t f : component.sides)
      if (f == SIZE_MAX || header.fields[f].type != header.fields[component.sides[0]].type)
        throw Error(Kind::unsupported,
                    "values on faces or nodes need a field of one type for each side of the cells (" +
                        mesh::name_of_side(component.base, target.centring, 0) + ", " +
                        mesh::name_of_side(component.base, target.centring, 1) + " ...)")
            .at("field " + component.base);
  }
}

mesh::Index3 nodal_of(mesh::Centring centring, int dim) {
  mesh::Index3 nodal{0, 0, 0};
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(dim); ++axis)
    nodal[axis] = centring == mesh::Centring::node || (mesh::is_face(centring) && mesh::face_axis(centring) == axis);
  return nodal;
}

/// The faces or nodes of boxes of cells.
BoxArray array_of(const std::vector<IndexBox>& cells, mesh::Centring centring, int dim) {
  BoxArray out{cells, nodal_of(centring, dim), dim};
  for (IndexBox& box : out.boxes)
    for (std::size_t axis = 0; axis < 3; ++axis) box.hi[axis] += out.nodal[axis];
  return out;
}

std::size_t ghosts_of(const MultiFabShape& shape, std::size_t box) {
  const IndexBox& valid = shape.boxes.boxes[box];
  return static_cast<std::size_t>(mesh::num_cells(grown_box(valid, shape.ghost, shape.boxes.dim), shape.boxes.dim) -
                                  mesh::num_cells(valid, shape.boxes.dim));
}

/// Where the ghost cells of a box begin among the values.
std::size_t first_ghost(const MultiFabTarget& target, std::size_t level, std::size_t box) {
  std::size_t first = 0;
  for (std::size_t i = 0; i < box; ++i) first += ghosts_of(target.plans[level].shape, i) * target.components.size();
  return first;
}

/// Checks the ghost cells of the level that was planned last: their number must fit the boxes.
void check_ghosts(const MultiFabTarget& target) {
  const std::size_t level = target.plans.size() - 1;
  const auto& width = target.ghosts[level].width;
  const bool fits = std::all_of(width.begin(), width.end(), [](std::int64_t n) { return n >= 0 && n < 1 << 16; });
  if (!fits ||
      first_ghost(target, level, target.plans[level].shape.boxes.boxes.size()) != target.ghosts[level].values.size())
    throw Error(Kind::corrupt, "ghost cells that were kept do not fit the boxes")
        .at("MultiFab " + target.name + ", level " + std::to_string(level));
}

void put_real(double value, mesh::ScalarType type, std::byte* to) {
  if (type == mesh::ScalarType::float64) {
    std::memcpy(to, &value, sizeof value);
  } else {
    const auto single = static_cast<float>(value);
    std::memcpy(to, &single, sizeof single);
  }
}

std::vector<MultiFabTarget> plan_targets(const mesh::Header& header, const BoxLayout& layout,
                                         const DatasetWriteOptions& options, HeaderForm form) {
  std::vector<MultiFabTarget> targets;
  const std::vector<std::string> names = multifab_names(header, options);
  for (std::size_t f = 0; f < names.size(); ++f) add_field(targets, names[f], header, f);
  for (MultiFabTarget& target : targets) {
    check_sides(target, header);
    MultiFabShape shape;
    shape.components = static_cast<int>(target.components.size());
    shape.type = mesh::ScalarType::float32;
    for (const Component& component : target.components)
      if (header.fields[component.sides[0]].type == mesh::ScalarType::float64) shape.type = mesh::ScalarType::float64;
    for (const auto& boxes : layout.patches.boxes) {
      shape.boxes = array_of(boxes, target.centring, layout.patches.dim);
      target.ghosts.emplace_back();
      if (form == HeaderForm::as_it_was)
        target.ghosts.back() = ghost_cells(header, target.ghosts.size() - 1, target.name);
      shape.ghost = target.ghosts.back().width;
      target.plans.push_back(plan_multifab(shape, options.files.files));
      check_ghosts(target);
      // Ranks each know theirs: the others' stay infinite.
      const std::vector<double> unknown(boxes.size() * target.components.size(),
                                        std::numeric_limits<double>::infinity());
      target.min_max.push_back({unknown, unknown});
    }
  }
  return targets;
}

/// One value a face or node of a box, of the arrays of all sides, which begin at the box's first cell. Error(usage)
/// where two cells differ on what stands between them.
void join_sides(const IndexBox& cells, const mesh::Index3& nodal, const std::vector<const std::byte*>& sides,
                std::size_t width, const std::string& name, std::vector<std::byte>& out) {
  const mesh::Index3 n{cells.hi[0] - cells.lo[0], cells.hi[1] - cells.lo[1], cells.hi[2] - cells.lo[2]};
  const auto value = [&](const mesh::Index3& at, std::size_t high) -> const std::byte* {
    mesh::Index3 cell = at;
    std::size_t side = 0, bit = 0;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      if (nodal[axis] == 0) continue;
      const std::size_t up = high >> axis & 1;
      cell[axis] -= static_cast<std::int64_t>(up);
      if (cell[axis] < 0 || cell[axis] >= n[axis]) return nullptr;
      side |= up << bit++;
    }
    return sides[side] + static_cast<std::size_t>((cell[2] * n[1] + cell[1]) * n[0] + cell[0]) * width;
  };
  mesh::for_each_row({{0, 0, 0}, {n[0] + nodal[0], n[1] + nodal[1], n[2] + nodal[2]}}, [&](const mesh::Index3& row,
                                                                                           std::int64_t length) {
    for (std::int64_t x = 0; x < length; ++x) {
      const std::byte* first = nullptr;
      for (std::size_t high = 0; high < 8; ++high) {
        const std::byte* here = value({x, row[1], row[2]}, high);
        if (first != nullptr && here != nullptr && std::memcmp(first, here, width) != 0)
          throw Error(Kind::usage, "neighbouring cells differ on what stands between them").at("field " + name);
        if (first == nullptr) first = here;
      }
      out.insert(out.end(), first, first + width);
    }
  });
}

/// Boxes of a batch one after another.
std::vector<std::byte> join_boxes(const BoxLayout& layout, const BoxBatch& batch, std::size_t level,
                                  const MultiFabTarget& target, const Component& component, const BatchValues& values,
                                  mesh::ScalarType type) {
  const std::size_t width = mesh::size_of(type);
  std::vector<std::byte> out;
  for (std::size_t box = batch.begin[level]; box < batch.end[level]; ++box) {
    std::vector<const std::byte*> sides;
    for (const std::size_t f : component.sides)
      sides.push_back(values.bytes[level][f].data() + values.first[level][box - batch.begin[level]] * width);
    join_sides(mesh::flat(layout.patches.boxes[level][box], layout.patches.dim),
               nodal_of(target.centring, layout.patches.dim), sides, width, component.base, out);
  }
  return out;
}

/// Values of boxes [begin, end) of a level with their ghost cells, of one component.
std::vector<std::byte> with_ghosts(const MultiFabTarget& target, std::size_t level, std::size_t component,
                                   std::size_t begin, std::size_t end, std::span<const std::byte> values,
                                   mesh::ScalarType type) {
  const MultiFabShape& shape = target.plans[level].shape;
  const int dim = shape.boxes.dim;
  const std::size_t width = mesh::size_of(type);
  std::vector<std::byte> out;
  std::size_t ghost = first_ghost(target, level, begin);
  for (std::size_t box = begin; box < end; ++box) {
    const IndexBox valid = mesh::flat(shape.boxes.boxes[box], dim), stored = grown_box(valid, shape.ghost, dim);
    const std::size_t ghosts = ghosts_of(shape, box);
    const double* next = target.ghosts[level].values.data() + ghost + component * ghosts;
    mesh::for_each_row(stored, [&](const mesh::Index3& row, std::int64_t length) {
      for (std::int64_t x = 0; x < length; ++x) {
        const std::size_t at = out.size();
        out.resize(at + width);
        if (mesh::holds(valid, {row[0] + x, row[1], row[2]}, dim)) {
          std::memcpy(out.data() + at, values.data(), width);
          values = values.subspan(width);
        } else {
          put_real(*next++, type, out.data() + at);
        }
      }
    });
    ghost += ghosts * target.components.size();
  }
  return out;
}

MultiFabPlan piece_of(const MultiFabPlan& plan, std::size_t begin, std::size_t end) {
  const auto cut = [&](const auto& all) {
    return std::decay_t<decltype(all)>(all.begin() + static_cast<std::ptrdiff_t>(begin),
                                       all.begin() + static_cast<std::ptrdiff_t>(end));
  };
  MultiFabPlan piece;
  piece.shape = plan.shape;
  piece.shape.boxes.boxes = cut(plan.shape.boxes.boxes);
  piece.lines = cut(plan.lines);
  piece.places = cut(plan.places);
  piece.file_bytes = plan.file_bytes;
  return piece;
}

void write_batch(const fs::path& path, const BoxLayout& layout, std::vector<MultiFabTarget>& targets,
                 const BoxBatch& batch, const BatchValues& values, const std::vector<mesh::FieldInfo>& fields,
                 const WriteOptions& options) {
  for (MultiFabTarget& target : targets)
    for (std::size_t level = 0; level < target.plans.size(); ++level) {
      const std::size_t begin = batch.begin[level], end = batch.end[level];
      if (begin == end) continue;
      std::vector<ComponentValues> components;
      std::vector<std::vector<std::byte>> joined(target.components.size());
      for (std::size_t c = 0; c < joined.size(); ++c) {
        const Component& component = target.components[c];
        const mesh::ScalarType type = fields[component.sides[0]].type;
        if (target.centring != mesh::Centring::cell)
          joined[c] = join_boxes(layout, batch, level, target, component, values, type);
        std::span<const std::byte> bytes = values.bytes[level][component.sides[0]];
        if (!joined[c].empty()) bytes = joined[c];
        if (target.plans[level].shape.ghost != mesh::Index3{0, 0, 0})
          bytes = joined[c] = with_ghosts(target, level, c, begin, end, bytes, type);
        components.push_back({type, bytes});
      }
      MinMax found;
      write_boxes(path / level_name(level) / target.name, piece_of(target.plans[level], begin, end), components, 0,
                  end - begin, found, options);
      const auto first = static_cast<std::ptrdiff_t>(begin * target.components.size());
      std::copy(found.minima.begin(), found.minima.end(), target.min_max[level].minima.begin() + first);
      std::copy(found.maxima.begin(), found.maxima.end(), target.min_max[level].maxima.begin() + first);
    }
}

void write_headers(const fs::path& path, const std::vector<MultiFabTarget>& targets, bool sync) {
  for (const MultiFabTarget& target : targets)
    for (std::size_t level = 0; level < target.plans.size(); ++level) {
      const fs::path prefix = path / level_name(level) / target.name;
      const std::string text = header_text(
          prefix, target.plans[level], table_rows(target.min_max[level].minima, target.plans[level].shape.components),
          table_rows(target.min_max[level].maxima, target.plans[level].shape.components));
      write_text(prefix.string() + "_H", text, sync);
    }
}

void write_names(const fs::path& path, const std::vector<MultiFabTarget>& targets, bool sync) {
  std::vector<NamedComponents> names;
  for (const MultiFabTarget& target : targets) {
    names.push_back({target.name, {}});
    for (const Component& component : target.components) names.back().names.push_back(component.base);
  }
  write_component_names(path, names, sync);
}

/// Collective. Gives all ranks the ranges that each found in its boxes. Bits, as they are: a range may be infinite or
/// NaN.
void share_ranges(const base::Ranks& ranks, std::vector<MultiFabTarget>& targets,
                  const std::vector<BoxBatch>& batches) {
  if (ranks.size == 1) return;
  const auto for_each_range = [&](int rank, auto&& f) {
    for (auto b = static_cast<std::size_t>(rank); b < batches.size(); b += static_cast<std::size_t>(ranks.size))
      for (MultiFabTarget& target : targets)
        for (std::size_t level = 0; level < target.plans.size(); ++level)
          for (auto* list : {&target.min_max[level].minima, &target.min_max[level].maxima}) {
            const std::size_t width = target.components.size(), begin = batches[b].begin[level] * width;
            f(list->data() + begin, (batches[b].end[level] * width - begin) * sizeof(double));
          }
  };
  std::string mine;
  for_each_range(ranks.rank, [&](const double* values, std::size_t bytes) {
    mine.append(reinterpret_cast<const char*>(values), bytes);
  });
  const auto all = base::all_gather(ranks, mine);
  for (int rank = 0; rank < ranks.size; ++rank) {
    std::size_t at = 0;
    for_each_range(rank, [&](double* values, std::size_t bytes) {
      std::memcpy(values, all[static_cast<std::size_t>(rank)].data() + at, bytes);
      at += bytes;
    });
  }
}

std::vector<BoxBatch> batches_of(const mesh::Dataset& dataset, const BoxLayout& layout,
                                 const std::vector<mesh::BoxIndex>& index, const DatasetWriteOptions& options) {
  std::vector<BoxBatch> batches = plan_batches(layout, options.batch_cells);
  for (int p = 0; p < dataset.num_parts; ++p)
    find_parts(layout, index, mesh::octree_of(mesh::read_tree(dataset, p)), p, batches);
  return batches;
}

/// Every `ranks.size`-th batch: parts are read by the threads, and taken over one after another.
void write_batches(const mesh::Dataset& dataset, const fs::path& path, const BoxLayout& layout,
                   const std::vector<mesh::BoxIndex>& index, const std::vector<BoxBatch>& batches,
                   std::vector<MultiFabTarget>& targets, const DatasetWriteOptions& options) {
  for (auto b = static_cast<std::size_t>(options.ranks.rank); b < batches.size();
       b += static_cast<std::size_t>(options.ranks.size)) {
    const BoxBatch& batch = batches[b];
    BatchValues values = make_values(layout, batch, dataset.header.fields);
    const std::vector<int> parts(batch.parts.begin(), batch.parts.end());
    base::ordered_for(
        parts.size(), options.threads, [&](std::size_t i) { return dataset.read(parts[i], {}); },
        [&](std::size_t, const mesh::Part& part) { take_part(layout, index, batch, part, values); });
    write_batch(path, layout, targets, batch, values, dataset.header.fields, options.files);
  }
}

/// Writes the files that stand beside the Header of a checkpoint.
void write_beside(const fs::path& partial, const mesh::Header& header, const BoxLayout& layout,
                  const std::vector<MultiFabTarget>& targets, bool sync) {
  write_kept_files(partial, header, sync);
  write_names(partial, targets, sync);
  const auto form = header.attributes.find("amrex/form");
  if (form == header.attributes.end() || form->second != mesh::Attribute(std::string("AmrLevel")))
    write_step_file(partial, header, layout.patches, sync);  // codes on AmrLevel have all of it in their Header
}

HeaderForm form_of_header(const mesh::Dataset& dataset, const BoxLayout& layout, const DatasetWriteOptions& options) {
  const std::string other = !options.multifab.empty()   ? "its MultiFabs get another name"
                            : !options.level_dt.empty() ? "its time steps are to be others"
                                                        : "";
  const HeaderForm form = header_form(dataset.header, dataset.species, layout, other);
  if (form == HeaderForm::anew) level_dt(dataset.header, layout.patches.boxes.size());  // throws where there is none
  return form;
}

std::string text_of_header(const mesh::Header& header, const BoxLayout& layout, const DatasetWriteOptions& options,
                           HeaderForm form) {
  if (form == HeaderForm::as_it_was) return std::get<std::string>(header.attributes.at("amrex/header"));
  if (options.checkpoint) return checkpoint_header(options.title, header, layout.patches);
  std::vector<std::string> names;
  for (const mesh::FieldInfo& field : header.fields) names.push_back(field.name);
  return plotfile_header(header, names, layout.patches);
}

}  // namespace

DatasetWriteReport write_dataset(const mesh::Dataset& given, const fs::path& path, const DatasetWriteOptions& options) {
  mesh::Dataset dataset = given;
  if (!options.level_dt.empty()) dataset.header.attributes["level_dt"] = options.level_dt;
  BoxLayout layout;
  std::vector<mesh::BoxIndex> index;
  std::vector<BoxBatch> batches;
  std::vector<MultiFabTarget> targets;
  const bool first = options.ranks.rank == 0, sync = options.files.sync;
  const fs::path partial = partial_name(path);
  HeaderForm form = HeaderForm::anew;
  base::agree(options.ranks, [&] {
    const Octree tree = mesh::whole_tree(dataset, options.layout.first);
    layout = plan_layout(dataset.header, tree, options.layout);
    if (dataset.header.fields.empty()) throw Error(Kind::usage, "an AMReX output needs a field").at(path.string());
    index = mesh::index_levels(layout.patches);
    batches = batches_of(dataset, layout, index, options);
    // Only the first rank knows the particles.
    if (first && options.checkpoint) form = form_of_header(dataset, layout, options);
  });
  form = base::all_gather(options.ranks, std::string(form == HeaderForm::as_it_was ? "as it was" : ""))[0].empty()
             ? HeaderForm::anew
             : HeaderForm::as_it_was;
  base::agree(options.ranks, [&] {
    targets = plan_targets(dataset.header, layout, options, form);
    if (first) begin_output(path, sync);
    for (std::size_t level = 0; first && level < layout.patches.boxes.size(); ++level)
      make_directories(partial / level_name(level), sync);
  });
  try {
    base::agree(options.ranks, [&] { write_batches(dataset, partial, layout, index, batches, targets, options); });
    share_ranges(options.ranks, targets, batches);
    base::agree(options.ranks, [&] {
      if (!first) return;
      write_headers(partial, targets, sync);
      if (options.checkpoint) write_beside(partial, dataset.header, layout, targets, sync);
      mesh::Part shape;
      shape.mesh = layout.patches;
      shape.particles = mesh::gather_particles(dataset);
      finish_output(path, text_of_header(dataset.header, layout, options, form), options.checkpoint, dataset.header,
                    shape, options.files);
    });
  } catch (...) {
    std::error_code ignored;
    if (first) fs::remove_all(partial, ignored);
    throw;
  }
  DatasetWriteReport report;
  report.kept_boxes = layout.kept;
  report.blocking_factor = layout.blocking_factor;
  for (const auto& boxes : layout.patches.boxes) report.boxes += static_cast<std::int64_t>(boxes.size());
  return report;
}

}  // namespace octavo::formats::amrex
