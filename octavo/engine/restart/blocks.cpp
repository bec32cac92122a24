#include <algorithm>
#include <array>
#include <functional>
#include <iterator>
#include <optional>
#include <unordered_set>

#include "octavo/base/error.hpp"
#include "octavo/engine/restart/reshape.hpp"
#include "octavo/formats/formats.hpp"
#include "octavo/mesh/sides.hpp"
#include "octavo/mesh/tree/cell_runs.hpp"
#include "octavo/mesh/tree/merge.hpp"
#include "octavo/mesh/tree/prune.hpp"
#include "octavo/mesh/tree/regrid.hpp"
#include "octavo/mesh/tree/walk.hpp"
#include "octavo/ranks/communicator.hpp"
#include "octavo/step/regrid.hpp"

/// A restart in blocks of another size. Several parts may hold cells of one block, so its owner is known only when
/// these cells have met: the ranks first share the cells along the curve, then the blocks. Each pass reads the trees of
/// its parts anew, so that a rank holds no trees but those that touch its share.
namespace octavo::engine {
namespace {

using base::Error;
using base::Kind;
using mesh::Index3;
using mesh::Octree;
using mesh::Regrid;

Regrid plan_for(const mesh::Header& header, const RestartOptions& options) {
  mesh::RegridOptions how;
  how.block = *options.block;
  how.root = header.unfolded;
  how.fill = options.fill;
  how.by = options.fill_by;
  how.specific = formats::specific_of(header, options.per_mass);
  const Octree shape{header.dim, header.roots, header.block, {}, {}};
  return mesh::plan_roots(shape, step::regrid_options(header, how));
}

mesh::CurveKey key_of(const mesh::SplitPlan& plan, int level, const Index3& at) {
  const mesh::Coordinate place{static_cast<std::uint32_t>(at[0]), static_cast<std::uint32_t>(at[1]),
                               static_cast<std::uint32_t>(at[2])};
  return centre_key(plan.curve, plan.dim, plan.bits, plan.root_bits + level, place);
}

bool is_mine(const Shares& shares, int level, const Index3& at) {
  const base::WideKey key = wide(key_of(shares.plan, level, at));
  return key >= shares.keys.begin && key < shares.keys.end;
}

// Calls f(level, position) for each block of the new tree that an owned cell of the part's tree lies in or divides.
template <class F>
void for_each_block_told(const Regrid& plan, const Octree& tree, F&& f) {
  mesh::walk(tree, [&](int level, std::size_t cell, const mesh::Coordinate& at) {
    const auto l = static_cast<std::size_t>(level);
    if (tree.owned[l][cell]) mesh::for_each_block_told(plan, tree, {level, at, tree.refined[l][cell]}, f);
    return true;
  });
}

using Wants = std::function<bool(int level, const Index3& at)>;

// The cells of a part that lie in blocks which the rank wants, or divide them, and the cells that close their tree.
Octree kept_of(Octree tree, const Regrid& plan, const Wants& wants) {
  std::vector<base::BitArray> mine;
  for (const base::BitArray& level : tree.owned) mine.emplace_back(level.size());
  mesh::walk(tree, [&](int level, std::size_t cell, const mesh::Coordinate& at) {
    const auto l = static_cast<std::size_t>(level);
    if (!tree.owned[l][cell]) return true;
    bool wanted = false;
    mesh::for_each_block_told(plan, tree, {level, at, tree.refined[l][cell]},
                              [&](int new_level, const Index3& block) { wanted = wanted || wants(new_level, block); });
    mine[l].set(cell, wanted);
    return true;
  });
  tree.owned = std::move(mine);
  return mesh::prune_tree(tree);
}

// Reads the parts' records of the wanted blocks. Sets the plan's tree; the rank owns the blocks of its share.
KeptTrees read_told(const StepParts& step, const Shares& shares, const std::vector<int>& parts, const Wants& wants,
                    Regrid& plan) {
  KeptTrees trees = read_trees(step, parts, [&](Octree tree) { return kept_of(std::move(tree), plan, wants); });
  plan.tree = mesh::tree_told(plan, trees.whole);
  mesh::walk(plan.tree, [&](int level, std::size_t cell, const mesh::Coordinate& at) {
    plan.tree.owned[static_cast<std::size_t>(level)].set(cell, is_mine(shares, level, {at[0], at[1], at[2]}));
    return true;
  });
  return trees;
}

KeptTrees read_own(const StepParts& step, const Shares& shares, Regrid& plan) {
  return read_told(
      step, shares, shares.parts, [&](int level, const Index3& at) { return is_mine(shares, level, at); }, plan);
}

// Collective. Throws unless the parts own all cells from level `first` on. Returns the level of the coarsest leaf.
int require_whole(MPI_Comm comm, const mesh::Dataset& step, const std::vector<Octree>& trees, int deepest) {
  const auto levels = static_cast<std::size_t>(deepest) + 1;
  std::vector<std::int64_t> counts(2 * levels);  // owned cells of each level, owned refined ones of each level
  for (const Octree& tree : trees)
    for (int level = 0; level < num_levels(tree); ++level) {
      const auto owned = static_cast<std::int64_t>(num_owned(tree, level));
      counts[static_cast<std::size_t>(level)] += owned;
      counts[levels + static_cast<std::size_t>(level)] +=
          owned - static_cast<std::int64_t>(num_owned_leaves(tree, level));
    }
  MPI_Allreduce(MPI_IN_PLACE, counts.data(), static_cast<int>(counts.size()), MPI_INT64_T, MPI_SUM, comm);
  const mesh::Header& header = step.header;
  std::int64_t expected = mesh::num_roots(header.roots) << (header.dim * header.unfolded);
  int coarsest = deepest;
  for (auto level = static_cast<std::size_t>(header.unfolded); level < levels; ++level) {
    // `expected` counts the children of all refined cells of the level above.
    if (counts[level] < expected)
      throw Error(Kind::unsupported, "the step does not hold the whole domain: expected " + std::to_string(expected) +
                                         " cells on tree level index " + std::to_string(level) + ", found " +
                                         std::to_string(counts[level]))
          .at(step.path);
    if (counts[levels + level] < expected) coarsest = std::min(coarsest, static_cast<int>(level));
    expected = counts[levels + level] << header.dim;
  }
  return coarsest;
}

// A step's new tree before a rank knows its share of it.
struct NewTree {
  Regrid plan;       // its tree has no levels
  int coarsest = 0;  // level of the step's coarsest leaf
};

// Collective. The shares are found in two passes. How many blocks there are is known only after the cells of a block
// have come together, from several parts and ranks. So the ranks first share the cells.
Shares share_blocks(MPI_Comm comm, StepParts& step, mesh::Curve curve, NewTree& to) {
  const Deal mine = deal(num_parts(step), ranks::size_of(comm), ranks::rank_in(comm));
  std::vector<Octree> trees;
  ranks::agree(comm, [&] {
    for (int part = mine.first; part < mine.last; ++part) trees.push_back(tree_of(step, part));
  });
  const int deepest = deepest_level(comm, trees);
  to.coarsest = require_whole(comm, step.dataset, trees, deepest);
  Shares shares;
  shares.plan.curve = curve;
  shares.plan.dim = step.dataset.header.dim;
  shares.plan.root_bits = root_bits_of(to.plan.tree.roots);
  shares.plan.bits = shares.plan.root_bits + std::max(0, deepest - to.plan.shift);
  std::vector<KeyRange> ranges;
  std::int64_t told = 0;
  ranks::agree(comm, [&] {
    for (const Octree& tree : trees) {
      Stretches stretches;
      for_each_block_told(to.plan, tree, [&](int level, const Index3& at) {
        stretches.add(key_of(shares.plan, level, at));
        ++told;
      });
      std::ranges::move(std::move(stretches).result(), std::back_inserter(ranges));
    }
  });
  set_keys(shares, ranks::find_share(comm, shares.plan.dim * shares.plan.bits, told, [&](base::KeyCounts& counts) {
             for (const Octree& tree : trees)
               for_each_block_told(to.plan, tree, [&](int level, const Index3& at) {
                 counts.count_one(wide(key_of(shares.plan, level, at)), 1);
               });
           }));
  trees = {};
  shares.parts = parts_to_read(comm, step, shares, ranges);
  std::vector<Octree> blocks(1);
  ranks::agree(comm, [&] {
    Regrid plan = to.plan;
    read_own(step, shares, plan);
    blocks[0] = std::move(plan.tree);
  });
  set_keys(shares, find_own_keys(comm, blocks, 0, shares.plan));
  shares.parts = parts_to_read(comm, step, shares, ranges);
  return shares;
}

// ------------------------------------------------------------------------------------------- values that are made

// Blocks on whose cells the values of a rank's own blocks depend, by level.
class Neighbourhood {
 public:
  // Holds the blocks above those of this rank, and all blocks within `reach` blocks of one. `reach` is the distance
  // over which values depend on others: a value needs the cells on the faces of the block above, and these may be made
  // from the faces of the block above that. Values of faces also need the known ones beside them.
  Neighbourhood(const Regrid& plan, bool faces) : extent_(plan.tree.roots), periodic_(plan.fill.periodic) {
    const std::int64_t reach = faces ? 3 : plan.fill.by == mesh::FillBy::constant ? 0 : 2;
    const Octree tree = mesh::prune_tree(plan.tree);
    blocks_.resize(static_cast<std::size_t>(num_levels(tree)));
    mesh::walk(tree, [&](int level, std::size_t cell, const mesh::Coordinate& at) {
      const auto l = static_cast<std::size_t>(level);
      if (tree.refined[l][cell])
        add(level, {at[0], at[1], at[2]}, reach, tree.dim);
      else if (tree.owned[l][cell] && faces)
        add(level, {at[0], at[1], at[2]}, 1, tree.dim);
      return true;
    });
  }

  bool holds(int level, const Index3& at) const {
    const auto l = static_cast<std::size_t>(level);
    return l < blocks_.size() && blocks_[l].contains(packed(at));
  }

  std::vector<KeyRange> stretches(const mesh::SplitPlan& plan) const {
    Stretches out;
    for (std::size_t level = 0; level < blocks_.size(); ++level)
      for (const std::uint64_t block : blocks_[level]) out.add(key_of(plan, static_cast<int>(level), unpacked(block)));
    return std::move(out).result();
  }

 private:
  static constexpr int bits = 21;  // tree_told() allows no more
  static std::uint64_t packed(const Index3& at) {
    return static_cast<std::uint64_t>(at[0]) | static_cast<std::uint64_t>(at[1]) << bits |
           static_cast<std::uint64_t>(at[2]) << 2 * bits;
  }
  static Index3 unpacked(std::uint64_t block) {
    constexpr std::uint64_t mask = (std::uint64_t{1} << bits) - 1;
    return {static_cast<std::int64_t>(block & mask), static_cast<std::int64_t>(block >> bits & mask),
            static_cast<std::int64_t>(block >> 2 * bits & mask)};
  }

  // Adds the blocks at most `reach` from `at` along each axis, in the domain.
  void add(int level, const Index3& at, std::int64_t reach, int dim) {
    mesh::IndexBox box{{0, 0, 0}, {1, 1, 1}};
    for (std::size_t axis = 0; axis < static_cast<std::size_t>(dim); ++axis) {
      const std::int64_t extent = extent_[axis] << level;
      // A domain that is smaller than the reach would be visited more than once.
      const std::int64_t far = std::min(reach, extent);
      box.lo[axis] = periodic_[axis] ? at[axis] - far : std::max<std::int64_t>(0, at[axis] - far);
      box.hi[axis] = (periodic_[axis] ? at[axis] + far : std::min(extent - 1, at[axis] + far)) + 1;
    }
    mesh::for_each_row(box, [&](const Index3& row, std::int64_t n) {
      for (std::int64_t x = 0; x < n; ++x) {
        Index3 block{row[0] + x, row[1], row[2]};
        for (std::size_t axis = 0; axis < static_cast<std::size_t>(dim); ++axis) {
          const std::int64_t extent = extent_[axis] << level;
          block[axis] = (block[axis] + extent) % extent;
        }
        blocks_[static_cast<std::size_t>(level)].insert(packed(block));
      }
    });
  }

  Index3 extent_;
  std::array<bool, 3> periodic_;
  std::vector<std::unordered_set<std::uint64_t>> blocks_;
};

// Collective. Reads the records of the rank's own blocks and of those on which their values depend.
KeptTrees read_neighbours(MPI_Comm comm, StepParts& step, const Shares& shares, bool faces, Regrid& plan) {
  std::optional<Neighbourhood> near;
  std::vector<KeyRange> stretches;
  ranks::agree(comm, [&] {
    near.emplace(plan, faces);
    stretches = near->stretches(shares.plan);
  });
  const std::vector<int> beside = parts_beside(comm, step, shares, stretches);
  std::vector<int> parts;
  std::ranges::set_union(shares.parts, beside, std::back_inserter(parts));
  const Wants wants = [&](int level, const Index3& at) { return is_mine(shares, level, at) || near->holds(level, at); };
  KeptTrees trees;
  ranks::agree(comm, [&] { trees = read_told(step, shares, parts, wants, plan); });
  return trees;
}

// The rank's blocks with their values: reads parts that give some, one after another.
mesh::Part read_values(const StepParts& step, const KeptTrees& trees, const Regrid& plan, bool faces,
                       const std::vector<std::size_t>& asked) {
  const mesh::Extract around = faces ? mesh::Extract{plan.tree, {}} : step::tree_to_complete(plan, plan.tree);
  std::vector<int> parts;
  for (std::size_t k = 0; k < trees.parts.size(); ++k)
    if (gives_to(mesh::octree_of(trees.kept[k]), plan, around.tree)) parts.push_back(trees.parts[k]);
  mesh::Part part;
  part.fields = step::read_onto(step.dataset, parts, plan, around.tree, asked);
  mesh::Extract own = mesh::prune(around.tree);
  const std::size_t block = mesh::block_size(own.tree);
  for (mesh::Field& field : part.fields)
    field.bytes = mesh::gather(around.tree, own, field.bytes, block * mesh::size_of(field.info.type));
  part.mesh = std::move(own.tree);
  return part;
}

// Collective. How many cells the ranks' blocks have that are not in the step.
std::int64_t count_missing(MPI_Comm comm, const KeptTrees& trees, const Regrid& plan, const RestartOptions& options) {
  mesh::MissingCells missing;
  ranks::agree(comm, [&] { missing = find_missing(trees.whole, plan); });
  std::array<std::int64_t, 2> all{missing.cells, missing.blocks};
  MPI_Allreduce(MPI_IN_PLACE, all.data(), 2, MPI_INT64_T, MPI_SUM, comm);
  ranks::agree(comm, [&] {
    if (missing.cells == 0 || options.fill) return;
    missing.cells = all[0];
    missing.blocks = all[1];
    refuse_missing(missing, plan.tree);
  });
  return all[0];
}

// If the step has these blocks already, its header's numbers of levels stay.
mesh::Header header_of_blocks(const mesh::Header& header, const Regrid& plan) {
  mesh::Header out = step::header_on(header, plan.tree);
  if (plan.tree.block != header.block || plan.shift != 0 || plan.first != 0) return out;
  out = header;
  out.level_origin = 1;
  return out;
}

}  // namespace

Reblocked read_blocks(MPI_Comm comm, StepParts& step, const RestartOptions& options, const mesh::Request& request) {
  const mesh::Header& header = step.dataset.header;
  NewTree to;
  ranks::agree(comm, [&] { to.plan = plan_for(header, options); });
  Reblocked out;
  out.shares = share_blocks(comm, step, options.curve, to);
  Regrid plan = std::move(to.plan);
  KeptTrees trees;
  ranks::agree(comm, [&] { trees = read_own(step, out.shares, plan); });
  plan.fills = out.fills = count_missing(comm, trees, plan, options);
  std::vector<std::size_t> asked;
  bool faces = false;
  ranks::agree(comm, [&] {
    step::check_made(header, plan, to.coarsest);
    asked = mesh::select_fields(header, request.fields);
    faces = plan.fills != 0 &&
            std::ranges::any_of(asked, [&](std::size_t f) { return mesh::is_face(header.fields[f].centring); });
  });
  if (plan.fills != 0) trees = read_neighbours(comm, step, out.shares, faces, plan);
  out.header = header_of_blocks(header, plan);
  ranks::agree(comm, [&] {
    mesh::Part own;
    own.mesh = plan.tree;
    out.part =
        mesh::owns_any(own) ? read_values(step, trees, plan, faces, asked) : mesh::empty_part(out.header, request);
  });
  out.part.index = ranks::rank_in(comm);
  return out;
}

}  // namespace octavo::engine
