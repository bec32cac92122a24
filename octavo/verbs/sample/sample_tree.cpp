#include "octavo/verbs/sample/sample_tree.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "octavo/base/error.hpp"
#include "octavo/base/threads.hpp"

namespace octavo::verbs {
namespace {

constexpr std::uint32_t nobody = 0xFFFFFFFFU;
constexpr std::size_t chunk = 8192;  // families a thread takes at once

/// For each family the neighbouring families of the same level: -x +x -y +y -z +z; nobody if the cell there is a leaf.
using Beside = std::vector<std::array<std::uint32_t, 6>>;

/// The cell of the same level over the face, or nobody. Cell numbers of a level fit 32 bits (checked when it is made).
std::uint32_t neighbour(const Beside& beside, int dim, std::size_t cell, std::size_t direction) {
  const std::uint32_t bit = 1U << (direction / 2);
  const std::size_t family = cell >> dim;
  const bool upper_child = (cell & bit) != 0, upward = direction % 2 == 1;
  if (upper_child != upward) return static_cast<std::uint32_t>(cell ^ bit);
  const std::uint32_t other = beside[family][direction];
  const auto place = static_cast<std::uint32_t>(cell & ((1U << dim) - 1));
  return other == nobody ? nobody : (other << dim) + (place ^ bit);
}

/// Runs work(first, last) over chunks of [0, count).
template <class Work>
void in_chunks(std::size_t count, int threads, Work&& work) {
  base::parallel_for((count + chunk - 1) / chunk, threads,
                     [&](std::size_t c) { work(c * chunk, std::min(count, (c + 1) * chunk)); });
}

std::vector<double> scores_of(const Profile& profile, const SampleLevel& level, int code_level, int threads) {
  std::vector<double> scores(level.fathers.size() << profile.dim);
  in_chunks(level.fathers.size(), threads, [&](std::size_t first, std::size_t last) {
    for (std::size_t family = first; family < last; ++family)
      for (std::uint32_t c = 0; c < (1U << profile.dim); ++c)
        scores[(family << profile.dim) + c] = refinement_score(profile, code_level, child_of(level.fathers[family], c));
  });
  return scores;
}

/// The score above which a cell is marked. Turbulence takes a fixed share of each level: the count of leaves then
/// hardly depends on the seed. The shares give 3 to 4 million leaves for levels 7 to 9 in 3-D, and on each following
/// level about as many refined cells as on the one before.
double threshold_of(const Profile& profile, std::vector<double> scores, bool coarsest) {
  if (profile.kind == SampleKind::sedov) return 0;
  const double share = coarsest ? 0.035 : 0.6 / static_cast<double>(1 << profile.dim);
  const auto at = static_cast<std::ptrdiff_t>(static_cast<double>(scores.size()) * (1 - share));
  std::nth_element(scores.begin(), scores.begin() + at, scores.end());
  return scores[static_cast<std::size_t>(at)];
}

/// Refines the cells above the threshold and those next to them over a face, as codes do, so that what was marked can
/// be refined again. A cell may be refined only where all its face neighbours exist on its level: that is the 2:1
/// grading.
base::BitArray grade(const std::vector<double>& scores, double threshold, const Beside& beside, int dim) {
  const std::size_t directions = 2 * static_cast<std::size_t>(dim);
  base::BitArray refined(scores.size());
  for (std::size_t i = 0; i < scores.size(); ++i) {
    bool wanted = scores[i] > threshold, graded = true;
    for (std::size_t d = 0; d < directions && graded; ++d) {
      const std::uint32_t other = neighbour(beside, dim, i, d);
      graded = other != nobody;
      wanted = wanted || (graded && scores[other] > threshold);
    }
    refined.set(i, wanted && graded);
  }
  return refined;
}

base::BitArray refine(const Profile& profile, const SampleLevel& level, const Beside& beside, int code_level,
                      const SampleOptions& options) {
  const std::size_t cells = level.fathers.size() << profile.dim;
  if (code_level < options.level_min || code_level >= options.level_max)
    return base::BitArray(cells, code_level < options.level_min);
  const auto scores = scores_of(profile, level, code_level, base::thread_count(options.threads));
  return grade(scores, threshold_of(profile, scores, code_level == options.level_min), beside, profile.dim);
}

std::vector<std::uint32_t> counts_before(const base::BitArray& bits) {
  std::vector<std::uint32_t> counts;
  std::uint32_t sum = 0;
  for (std::uint64_t word : bits.words()) {
    counts.push_back(sum);
    sum += static_cast<std::uint32_t>(std::popcount(word));
  }
  return counts;
}

SampleLevel next_level(const SampleLevel& level, int dim) {
  SampleLevel next;
  const std::size_t families = level.refined.count();
  if (families >= (std::size_t{1} << 31 >> dim))
    throw base::Error(base::Kind::usage, "a sample with 2^31 cells or more on a level").hint("fewer levels");
  next.fathers.reserve(families);
  level.refined.for_each_set([&](std::size_t i) {
    next.fathers.push_back(child_of(level.fathers[i >> dim], static_cast<std::uint32_t>(i) & ((1U << dim) - 1)));
  });
  return next;
}

Beside next_beside(const SampleLevel& level, const Beside& beside, int dim) {
  Beside next;
  next.reserve(level.refined.count());
  level.refined.for_each_set([&](std::size_t i) {
    std::array<std::uint32_t, 6> row;
    row.fill(nobody);
    for (std::size_t d = 0; d < 2 * static_cast<std::size_t>(dim); ++d) {
      const std::uint32_t cell = neighbour(beside, dim, i, d);
      if (cell != nobody && level.refined[cell]) row[d] = static_cast<std::uint32_t>(family_of_children(level, cell));
    }
    next.push_back(row);
  });
  return next;
}

void make_levels(SampleTree& tree, const Profile& profile, const SampleOptions& options) {
  tree.levels.resize(1);
  tree.levels[0].fathers = {{0, 0, 0}};
  Beside beside{{0, 0, 0, 0, 0, 0}};  // the box is periodic
  for (int code_level = 1;; ++code_level) {
    SampleLevel& level = tree.levels.back();
    level.refined = refine(profile, level, beside, code_level, options);
    level.refined_before = counts_before(level.refined);
    SampleLevel next = next_level(level, tree.dim);
    if (next.fathers.empty()) return;
    beside = next_beside(level, beside, tree.dim);
    tree.levels.push_back(std::move(next));
  }
}

// ---------------------------------------------------------------------------------------------------- owners

std::vector<std::uint64_t> leaf_keys(const SampleTree& tree) {
  std::vector<std::uint64_t> keys;
  for (std::size_t l = 0; l < tree.levels.size(); ++l) {
    const SampleLevel& level = tree.levels[l];
    for (std::size_t i = 0; i < level.refined.size(); ++i)
      if (!level.refined[i]) {
        const auto c = static_cast<std::uint32_t>(i) & ((1U << tree.dim) - 1);
        keys.push_back(mesh::first_key(mesh::Curve::hilbert, tree.dim, tree.bits, static_cast<int>(l) + 1,
                                       child_of(level.fathers[i >> tree.dim], c))
                           .low);
      }
  }
  std::sort(keys.begin(), keys.end());
  return keys;
}

/// Equal numbers of leaves; a bound is the first key of a leaf, so that none lies on both sides.
std::vector<std::uint64_t> make_bounds(const SampleTree& tree, std::size_t parts) {
  const auto keys = leaf_keys(tree);
  std::vector<std::uint64_t> bounds{0};
  for (std::size_t part = 1; part < parts; ++part) bounds.push_back(keys[keys.size() * part / parts]);
  bounds.push_back(mesh::curve_end(tree.dim, tree.bits).low);
  return bounds;
}

void assign_owners(SampleTree& tree, int threads) {
  for (std::size_t l = 0; l < tree.levels.size(); ++l) {
    SampleLevel& level = tree.levels[l];
    level.owner.resize(level.fathers.size());
    in_chunks(level.fathers.size(), threads, [&](std::size_t first, std::size_t last) {
      for (std::size_t family = first; family < last; ++family) {
        const std::uint64_t key =
            mesh::centre_key(mesh::Curve::hilbert, tree.dim, tree.bits, static_cast<int>(l), level.fathers[family]).low;
        const auto after = std::upper_bound(tree.bounds.begin(), tree.bounds.end(), key);
        level.owner[family] = static_cast<std::uint32_t>(after - tree.bounds.begin() - 1);
      }
    });
  }
}

// ---------------------------------------------------------------------------------------------------- restriction

Conserved mean_of_family(const SampleTree& tree, const Profile& profile, std::size_t l, std::size_t family) {
  const SampleLevel& level = tree.levels[l];
  const std::uint32_t children = 1U << tree.dim;
  Conserved sum;
  for (std::uint32_t c = 0; c < children; ++c) {
    const std::size_t i = family * children + c;
    const Conserved child =
        level.refined[i] ? level.restricted[family_of_children(level, i)]
                         : conserved_of(leaf_of(profile, static_cast<int>(l) + 1, child_of(level.fathers[family], c)));
    sum.density += child.density;
    for (std::size_t axis = 0; axis < 3; ++axis) sum.momentum[axis] += child.momentum[axis];
    sum.energy += child.energy;
  }
  sum.density /= children;
  for (double& momentum : sum.momentum) momentum /= children;
  sum.energy /= children;
  return sum;
}

void restrict_levels(SampleTree& tree, const Profile& profile, int threads) {
  for (std::size_t l = tree.levels.size() - 1; l > 0; --l) {
    auto& restricted = tree.levels[l - 1].restricted;
    restricted.resize(tree.levels[l].fathers.size());
    in_chunks(restricted.size(), threads, [&](std::size_t first, std::size_t last) {
      for (std::size_t family = first; family < last; ++family)
        restricted[family] = mean_of_family(tree, profile, l, family);
    });
  }
}

}  // namespace

std::size_t family_of_children(const SampleLevel& level, std::size_t i) {
  const std::uint64_t below = level.refined.words()[i >> 6] & ((std::uint64_t{1} << (i & 63)) - 1);
  return level.refined_before[i >> 6] + static_cast<std::size_t>(std::popcount(below));
}

mesh::Coordinate child_of(const mesh::Coordinate& father, std::uint32_t c) {
  return {2 * father[0] + (c & 1), 2 * father[1] + (c >> 1 & 1), 2 * father[2] + (c >> 2 & 1)};
}

SampleTree grow_tree(const Profile& profile, const SampleOptions& options) {
  SampleTree tree;
  tree.dim = options.dim;
  tree.bits = options.level_max + 1;
  const int threads = base::thread_count(options.threads);
  make_levels(tree, profile, options);
  tree.bounds = make_bounds(tree, static_cast<std::size_t>(options.domains));
  assign_owners(tree, threads);
  restrict_levels(tree, profile, threads);
  return tree;
}

}  // namespace octavo::verbs
