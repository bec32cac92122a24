#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <optional>
#include <tuple>

#include "octavo/base/error.hpp"
#include "octavo/engine/targets/flash_step.hpp"
#include "octavo/ranks/communicator.hpp"

/// The numbers of FLASH's blocks. A block's row names its parent, children and neighbours by number, so one rank must
/// know all blocks: rank 0 gathers six integers a block, and each rank gets back the numbers of its own.
namespace octavo::engine {
namespace {

namespace flash = formats::flash;
using base::Error;
using base::Kind;

// A rank sends level, position, particles and leaf flag of a block; it gets back number and first row.
constexpr std::size_t told = 6, answered = 2;

std::vector<std::int64_t> list_cells(FlashStep& step) {
  std::vector<std::int64_t> list;
  if (step.tree.refined.empty()) return list;
  const auto offsets = level_offsets(step.tree);
  auto at = root_coordinates(step.tree);
  for (int level = 0; level < num_levels(step.tree); ++level) {
    const auto l = static_cast<std::size_t>(level);
    if (level > 0) at = child_coordinates(step.tree, level - 1, at);
    step.tree.owned[l].for_each_set([&](std::size_t i) {
      OwnBlock own;
      own.cell = static_cast<std::uint32_t>(offsets[l] + i);
      own.leaf = !step.tree.refined[l][i];
      step.own.push_back(own);
      list.insert(list.end(), {level, at[i][0], at[i][1], at[i][2], 0, own.leaf ? 1 : 0});
    });
  }
  return list;
}

// The leaf that holds a position: its index over all levels; nothing where the tree does not hold its root. Positions
// beyond the domain count as the nearest in it.
class LeafFinder {
 public:
  LeafFinder(const mesh::Octree& tree, const flash::TreeFrame& frame)
      : tree_(tree), frame_(frame), roots_(held_roots(tree)), offsets_(level_offsets(tree)) {
    for (const base::BitArray& refined : tree.refined) {
      auto& family = family_.emplace_back(refined.size());
      std::uint32_t next = 0;
      for (std::size_t i = 0; i < refined.size(); ++i) {
        family[i] = next;
        next += refined[i] ? 1U : 0U;
      }
    }
  }
  std::optional<std::size_t> leaf_at(const mesh::Point3& position) const {
    mesh::Index3 at{0, 0, 0};
    const auto axes = static_cast<std::size_t>(tree_.dim);
    for (std::size_t axis = 0; axis < axes; ++axis) {
      const double extent = frame_.hi[axis] - frame_.lo[axis];
      // The quotient may be off by one in its last bit. The bounds that the file will hold decide.
      const double guess = (position[axis] - frame_.lo[axis]) / extent * static_cast<double>(tree_.roots[axis]);
      const double last = static_cast<double>(tree_.roots[axis] - 1);
      at[axis] = static_cast<std::int64_t>(guess >= 0 ? std::min(guess, last) : 0);
      while (at[axis] > 0 && position[axis] < bound(axis, 0, at[axis])) --at[axis];
      while (at[axis] + 1 < tree_.roots[axis] && position[axis] >= bound(axis, 0, at[axis] + 1)) ++at[axis];
    }
    const auto root = roots_.find((at[2] * tree_.roots[1] + at[1]) * tree_.roots[0] + at[0]);
    if (!root) return {};
    std::size_t cell = *root, level = 0;
    for (; tree_.refined[level][cell]; ++level) {
      std::size_t child = 0;
      for (std::size_t axis = 0; axis < axes; ++axis) {
        const bool high = position[axis] >= bound(axis, static_cast<int>(level) + 1, 2 * at[axis] + 1);
        at[axis] = 2 * at[axis] + (high ? 1 : 0);
        child |= high ? std::size_t{1} << axis : 0;
      }
      cell = family_[level][cell] * family_size(tree_) + child;
    }
    return offsets_[level] + cell;
  }

 private:
  double bound(std::size_t axis, int level, std::int64_t index) const {
    return flash::block_bound(frame_, axis, level, index);
  }
  const mesh::Octree& tree_;
  const flash::TreeFrame& frame_;
  mesh::RootIndex roots_;
  std::vector<std::size_t> offsets_;
  std::vector<std::vector<std::uint32_t>> family_;
};

const StepArray& position_of(const SpeciesSource& species, std::size_t axis) {
  const std::string name = std::string("position_") + "xyz"[axis];
  for (const StepArray& source : species.attributes)
    if (source.info.name == name) {
      if (source.info.type != mesh::ScalarType::float64 && source.info.type != mesh::ScalarType::float32) break;
      return source;
    }
  throw Error(Kind::usage, "the particles have no floating-point attribute \"" + name + "\"");
}

std::vector<double> values_of(const StepArray& source) {
  std::vector<double> values(source.view.cells);
  if (source.info.type == mesh::ScalarType::float64) {
    pack(source, std::as_writable_bytes(std::span(values)), false);
    return values;
  }
  std::vector<float> narrow(values.size());
  pack(source, std::as_writable_bytes(std::span(narrow)), false);
  std::copy(narrow.begin(), narrow.end(), values.begin());
  return values;
}

// For each particle the position in `own` of its block, and how many each block has.
void place_particles(FlashStep& step, std::vector<std::int64_t>& list) {
  if (step.job->species.empty()) return;
  const SpeciesSource& species = step.job->species[0];
  if (species.count == 0) return;
  std::array<std::vector<double>, 3> positions;
  const auto axes = static_cast<std::size_t>(step.tree.dim);
  for (std::size_t axis = 0; axis < axes; ++axis) positions[axis] = values_of(position_of(species, axis));
  constexpr std::uint32_t nobody = std::numeric_limits<std::uint32_t>::max();
  std::vector<std::uint32_t> own_of_cell(num_cells(step.tree), nobody);
  for (std::size_t o = 0; o < step.own.size(); ++o) own_of_cell[step.own[o].cell] = static_cast<std::uint32_t>(o);
  const LeafFinder descent(step.tree, step.plan.frame);
  for (std::size_t i = 0; i < static_cast<std::size_t>(species.count); ++i) {
    mesh::Point3 at{0, 0, 0};
    for (std::size_t axis = 0; axis < axes; ++axis) at[axis] = positions[axis][i];
    const auto leaf = descent.leaf_at(at);
    const std::uint32_t own = leaf ? own_of_cell[*leaf] : nobody;
    if (own == nobody)
      throw Error(Kind::usage, "particle " + std::to_string(i) + " at (" + std::to_string(at[0]) + ", " +
                                   std::to_string(at[1]) + ", " + std::to_string(at[2]) +
                                   ") is in no block that this rank owns")
          .at("species " + species.species);
    step.row_of_cell.push_back(own);
    ++list[told * own + 4];
  }
}

// Puts the roots, which come first and x fastest, in the order of the attribute "flash/root order", if it is one of as
// many roots: an attribute of a step that was reshaped may tell of others.
void order_roots(const mesh::Header& header, std::vector<flash::Block>& rows) {
  const auto found = header.attributes.find("flash/root order");
  if (found == header.attributes.end()) return;
  const auto* order = std::get_if<std::vector<std::int64_t>>(&found->second);
  const auto roots =
      std::count_if(rows.begin(), rows.end(), [](const flash::Block& block) { return block.level == 0; });
  if (order == nullptr || std::ssize(*order) != roots) return;
  std::vector<bool> named(static_cast<std::size_t>(roots));
  for (const std::int64_t root : *order)
    if (root >= 0 && root < roots) named[static_cast<std::size_t>(root)] = true;
  if (std::find(named.begin(), named.end(), false) != named.end())
    throw Error(Kind::usage, "expected the number of each of " + std::to_string(roots) + " roots once")
        .at("attribute flash/root order");
  const std::vector<flash::Block> by_number(rows.begin(), rows.begin() + roots);
  for (std::size_t i = 0; i < order->size(); ++i) rows[i] = by_number[static_cast<std::size_t>((*order)[i])];
}

// On rank 0. Builds the tree from all blocks, and gives each block its number and first row.
std::vector<std::int64_t> number_all(FlashStep& step, const std::vector<std::int64_t>& all,
                                     const std::vector<int>& owner) {
  const std::size_t blocks = all.size() / told;
  std::vector<flash::Block> rows(blocks);
  for (std::size_t b = 0; b < blocks; ++b) {
    rows[b].level = static_cast<int>(all[told * b]);
    for (std::size_t axis = 0; axis < 3; ++axis)
      rows[b].at[axis] = static_cast<std::uint32_t>(all[told * b + 1 + axis]);
  }
  // Roots are numbered with x fastest, whichever rank owns them, and then follow in the step's order.
  std::sort(rows.begin(), rows.end(), [](const flash::Block& a, const flash::Block& b) {
    return std::tie(a.level, a.at[2], a.at[1], a.at[0]) < std::tie(b.level, b.at[2], b.at[1], b.at[0]);
  });
  order_roots(step.job->header, rows);
  for (std::size_t b = 0; b < blocks; ++b) rows[b].row = static_cast<std::int64_t>(b);
  flash::BlockTree tree = make_block_tree(step.plan.frame.dim, step.plan.frame.roots, step.job->header.periodic, rows);
  std::vector<std::int64_t> answer(answered * blocks);
  step.processor.resize(blocks);
  step.per_block.resize(blocks);
  for (std::size_t b = 0; b < blocks; ++b) {
    const std::int64_t* place = all.data() + told * b;
    const std::int64_t number = find(tree, static_cast<int>(place[0]), {place[1], place[2], place[3]});
    if (is_leaf(tree, number) != (place[5] == 1))
      throw Error(Kind::corrupt, "the blocks are no tree: what one rank has as refined, or as a leaf, others have not")
          .at("level index " + std::to_string(place[0]) + ", block (" + std::to_string(place[1]) + ", " +
              std::to_string(place[2]) + ", " + std::to_string(place[3]) + ")");
    answer[answered * b] = number;
    step.processor[static_cast<std::size_t>(number)] = owner[b];
    step.per_block[static_cast<std::size_t>(number)] = place[4];
  }
  std::vector<std::int64_t> first(blocks);
  std::exclusive_scan(step.per_block.begin(), step.per_block.end(), first.begin(), std::int64_t{0});
  for (std::size_t b = 0; b < blocks; ++b)
    answer[answered * b + 1] = first[static_cast<std::size_t>(answer[answered * b])];
  step.plan.tree = std::move(tree);
  return answer;
}

// Collective. Numbers of this rank's blocks; rank 0 has the tree then.
void exchange_blocks(FlashStep& step, const std::vector<std::int64_t>& list) {
  const int ranks = ranks::size_of(step.comm);
  int mine = static_cast<int>(step.own.size());
  std::vector<int> counts(static_cast<std::size_t>(ranks)), sizes(counts.size()), at(counts.size()), owner;
  MPI_Gather(&mine, 1, MPI_INT, counts.data(), 1, MPI_INT, 0, step.comm);
  const auto place = [&](int width) {
    for (std::size_t r = 0, begin = 0; r < counts.size(); ++r) {
      sizes[r] = width * counts[r];
      at[r] = static_cast<int>(begin);
      begin += static_cast<std::size_t>(sizes[r]);
    }
  };
  std::vector<std::int64_t> all, answer, got;
  ranks::agree(step.comm, [&] {
    const std::int64_t blocks = std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
    if (blocks > std::numeric_limits<int>::max() / static_cast<std::int64_t>(told))
      throw Error(Kind::unsupported, "more than " + std::to_string(std::numeric_limits<int>::max() / told) + " blocks");
    place(static_cast<int>(told));
    all.resize(static_cast<std::size_t>(blocks) * told);
    got.resize(answered * step.own.size());
  });
  MPI_Gatherv(list.data(), static_cast<int>(list.size()), MPI_INT64_T, all.data(), sizes.data(), at.data(), MPI_INT64_T,
              0, step.comm);
  ranks::agree(step.comm, [&] {
    if (ranks::rank_in(step.comm) != 0) return;
    for (int r = 0; r < ranks; ++r)
      owner.insert(owner.end(), static_cast<std::size_t>(counts[static_cast<std::size_t>(r)]), r);
    answer = number_all(step, all, owner);
  });
  place(static_cast<int>(answered));
  MPI_Scatterv(answer.data(), sizes.data(), at.data(), MPI_INT64_T, got.data(), static_cast<int>(got.size()),
               MPI_INT64_T, 0, step.comm);
  for (std::size_t o = 0; o < step.own.size(); ++o) {
    step.own[o].number = got[answered * o];
    step.own[o].first_row = got[answered * o + 1];
    step.own[o].particles = list[told * o + 4];
  }
}

// Sorts `own` by number; particles keep pointing at their blocks.
void sort_own(FlashStep& step) {
  std::vector<std::uint32_t> by_number(step.own.size()), place(step.own.size());
  std::iota(by_number.begin(), by_number.end(), 0U);
  std::sort(by_number.begin(), by_number.end(),
            [&](std::uint32_t a, std::uint32_t b) { return step.own[a].number < step.own[b].number; });
  std::vector<OwnBlock> sorted;
  for (std::size_t o = 0; o < by_number.size(); ++o) {
    sorted.push_back(step.own[by_number[o]]);
    place[by_number[o]] = static_cast<std::uint32_t>(o);
  }
  step.own = std::move(sorted);
  for (std::uint32_t& own : step.row_of_cell) own = place[own];
}

}  // namespace

std::vector<std::int64_t> list_blocks(FlashStep& step) {
  std::vector<std::int64_t> list = list_cells(step);
  place_particles(step, list);
  return list;
}

void number_blocks(FlashStep& step, const std::vector<std::int64_t>& list) {
  exchange_blocks(step, list);
  sort_own(step);
}

}  // namespace octavo::engine
