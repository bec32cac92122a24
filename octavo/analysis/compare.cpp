#include "octavo/analysis/compare.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <type_traits>
#include <utility>

namespace octavo::analysis {
namespace {

using mesh::CurveKey;

// ---------------------------------------------------------------------------------------------- values

bool before(const CellPlace& a, const CellPlace& b) { return std::tie(a.depth, a.key) < std::tie(b.depth, b.key); }

void keep_larger(Difference& kept, bool any, const Difference& other) {
  if (!any || other.value > kept.value || (other.value == kept.value && before(other.place, kept.place))) kept = other;
}

void count_side(double x, SideSums& to, bool sums) {
  if (!std::isfinite(x)) {
    ++(std::isnan(x) ? to.nan : to.inf);
    return;
  }
  ++to.finite;
  to.min = std::min(to.min, x);
  to.max = std::max(to.max, x);
  if (!sums) return;
  to.sum.add(x);
  to.absolute.add(std::fabs(x));
  to.square.add(x * x);
}

/// A pair that is not two equal finite values.
void count_other(double a, double b, const CellPlace& place, PairSums& to) {
  count_side(a, to.side[0], true);
  count_side(b, to.side[1], true);
  if (a == b || (std::isnan(a) && std::isnan(b))) return;
  const bool any = to.differing > to.mismatches;
  ++to.differing;
  if (!std::isfinite(a) || !std::isfinite(b)) {
    if (to.mismatches++ == 0 || before(place, to.mismatch.place)) to.mismatch = {0, a, b, place};
    return;
  }
  const double difference = std::fabs(a - b);
  to.difference.add(difference);
  to.square.add(difference * difference);
  keep_larger(to.largest, any, {difference, a, b, place});
  keep_larger(to.relative, any, {2 * difference / std::max(std::fabs(a + b), 1e-99), a, b, place});
}

void add(SideSums& to, const SideSums& other) {
  to.min = std::min(to.min, other.min);
  to.max = std::max(to.max, other.max);
  to.finite += other.finite;
  to.nan += other.nan;
  to.inf += other.inf;
  to.sum.add(other.sum);
  to.absolute.add(other.absolute);
  to.square.add(other.square);
}

template <class T>
double read_as(const mesh::Field& field, std::size_t i) {
  return static_cast<double>(field.as<T>()[i]);
}
using Read = double (*)(const mesh::Field&, std::size_t);

Read reader_of(const mesh::Field& field) {
  return mesh::visit_values(field, [](auto values) -> Read {
    return &read_as<std::remove_const_t<typename decltype(values)::element_type>>;
  });
}

void gather(const ComparedVariable& variable, const std::vector<std::uint32_t>& places, std::vector<double>& out) {
  const auto step = static_cast<std::size_t>(variable.field->info.components);
  const auto first = static_cast<std::size_t>(variable.component);
  out.resize(places.size());
  mesh::visit_values(*variable.field, [&](auto values) {
    for (std::size_t k = 0; k < out.size(); ++k) out[k] = static_cast<double>(values[places[k] * step + first]);
  });
}

// ---------------------------------------------------------------------------------------------- means

// Shares are powers of two. Their sum is exact while leaves differ by at most 17 levels (26 in 2-D).
bool is_complete(const OpenMean& mean) { return mean.covered.value() == 1 && mean.covered.low == 0; }

void count_mean(const CurveKey& key, const OpenMean& mean, const std::vector<char>& on_faces, Comparison& to) {
  const CellPlace place{key, mean.depth, mean.part};
  ++to.cells[static_cast<std::size_t>(mean.depth)];
  ++to.refined[mean.fine];
  to.leaves[mean.fine] += mean.leaves;
  ++to.leaves[1 - mean.fine];
  if (!to.first_refined || before(place, *to.first_refined)) to.first_refined = place;
  for (std::size_t v = 0; v < mean.sums.size(); ++v) {
    if (on_faces[v]) continue;
    const double fine = mean.sums[v].value(), coarse = mean.coarse[v];
    const double &a = mean.fine == 0 ? fine : coarse, &b = mean.fine == 0 ? coarse : fine;
    count_pairs({&a, 1}, {&b, 1}, {&key, 1}, place, to.variables[v][static_cast<std::size_t>(mean.depth)]);
  }
}

void join(OpenMean& to, const OpenMean& other) {
  for (std::size_t side = 0; side < 2; ++side) to.part[side] = std::min(to.part[side], other.part[side]);
  to.leaves += other.leaves;
  to.covered.add(other.covered);
  for (std::size_t v = 0; v < to.sums.size(); ++v) to.sums[v].add(other.sums[v]);
}

/// Counts the mean if the cells met before make it complete, else keeps it. Returns whether it was complete.
bool settle(const CurveKey& key, const OpenMean& mean, const std::vector<char>& on_faces, OpenMeans& open,
            Comparison& counts) {
  const auto known = open.find(key);
  if (known == open.end()) {
    if (is_complete(mean))
      count_mean(key, mean, on_faces, counts);
    else
      open.emplace(key, mean);
    return is_complete(mean);
  }
  join(known->second, mean);
  if (!is_complete(known->second)) return false;
  count_mean(key, known->second, on_faces, counts);
  open.erase(known);
  return true;
}

// ---------------------------------------------------------------------------------------------- merging

/// Leaves of both at one place, of one depth, waiting to be counted together.
struct CellBatch {
  std::vector<std::uint32_t> a, b;
  std::vector<CurveKey> keys;
};
constexpr std::size_t batch_size = 2048;  // values of one variable on both sides stay in the first-level cache

class Merge {
 public:
  Merge(const CommonGrid& grid, const ComparedPart& a, const ComparedPart& b, const std::vector<char>& on_faces,
        std::vector<char>& met, OpenMeans& open, Comparison& to)
      : grid_(grid),
        view_{&a, &b},
        on_faces_(on_faces),
        met_(met),
        open_(open),
        to_(to),
        batches_(static_cast<std::size_t>(grid.deepest) + 1) {
    for (std::size_t side = 0; side < 2; ++side)
      for (const ComparedVariable& variable : view_[side]->variables)
        readers_[side].push_back(reader_of(*variable.field));
  }

  std::size_t run() {
    const auto &a = view_[0]->leaves, &b = view_[1]->leaves;
    std::size_t i = 0, j = 0;
    // Both lists ascend along the curve. Two leaves are apart, or one holds the other. A coarse leaf waits until the
    // other list has passed its end.
    while (i < a.size() && j < b.size()) {
      if (a[i].key == b[j].key && a[i].depth == b[j].depth) {
        pair(i++, j++);
      } else if (end(a[i]) <= b[j].key) {
        i = skip(a, i, b[j].key);
      } else if (end(b[j]) <= a[i].key) {
        j = skip(b, j, a[i].key);
      } else if (a[i].depth < b[j].depth) {
        below(1, a[i], i, b[j++]);
      } else {
        below(0, b[j], i, a[i]);
        mark(i++);
      }
    }
    finish_mean();
    for (std::size_t depth = 0; depth < batches_.size(); ++depth) flush(depth);
    return marked_;
  }

 private:
  CurveKey end(const Leaf& leaf) const { return end_of(grid_, leaf.key, leaf.depth); }

  /// The first leaf, from i + 1 on, that ends past the key.
  std::size_t skip(std::span<const Leaf> leaves, std::size_t i, const CurveKey& key) const {
    const auto ends_before = [&](const Leaf& leaf) { return end(leaf) <= key; };
    // The next leaf mostly is near. If it is not, the other side has a long stretch without leaves here, and a search
    // is cheaper.
    for (int step = 0; step < 8; ++step)
      if (++i == leaves.size() || !ends_before(leaves[i])) return i;
    const auto rest = leaves.subspan(i);
    return i + static_cast<std::size_t>(std::partition_point(rest.begin(), rest.end(), ends_before) - rest.begin());
  }

  void mark(std::size_t i) {
    if (met_[i] == 0) ++marked_;
    met_[i] = 1;
  }

  void pair(std::size_t i, std::size_t j) {
    const Leaf& leaf = view_[0]->leaves[i];
    CellBatch& batch = batches_[leaf.depth];
    batch.a.push_back(leaf.value);
    batch.b.push_back(view_[1]->leaves[j].value);
    batch.keys.push_back(leaf.key);
    mark(i);
    if (batch.keys.size() == batch_size) flush(leaf.depth);
  }

  void flush(std::size_t depth) {
    CellBatch& batch = batches_[depth];
    const auto count = static_cast<std::int64_t>(batch.keys.size());
    to_.cells[depth] += count;
    for (std::int64_t& leaves : to_.leaves) leaves += count;
    const CellPlace place{{}, static_cast<int>(depth), {view_[0]->part, view_[1]->part}};
    for (std::size_t v = 0; v < on_faces_.size() && count != 0; ++v) {
      gather(view_[0]->variables[v], batch.a, values_[0]);
      gather(view_[1]->variables[v], batch.b, values_[1]);
      count_pairs(values_[0], values_[1], batch.keys, place, to_.variables[v][depth]);
    }
    batch.a.clear();
    batch.b.clear();
    batch.keys.clear();
  }

  double value(std::size_t side, std::size_t v, const Leaf& leaf) const {
    const ComparedVariable& variable = view_[side]->variables[v];
    return readers_[side][v](*variable.field, leaf.value * static_cast<std::size_t>(variable.field->info.components) +
                                                  static_cast<std::size_t>(variable.component));
  }

  /// A leaf of side `fine` below a leaf of the other; i is the place of the one of the two that is of side 0.
  void below(std::size_t fine, const Leaf& coarse, std::size_t i, const Leaf& leaf) {
    if (!in_mean_ || key_ != coarse.key) start_mean(fine, coarse, i);
    const double share = std::ldexp(1.0, -grid_.dim * (leaf.depth - coarse.depth));
    mean_.covered.add(share);
    ++mean_.leaves;
    for (std::size_t v = 0; v < on_faces_.size(); ++v) mean_.sums[v].add(value(fine, v, leaf) * share);
  }

  void start_mean(std::size_t fine, const Leaf& coarse, std::size_t i) {
    finish_mean();
    in_mean_ = true;
    key_ = coarse.key;
    index_ = i;
    mean_.depth = coarse.depth;
    mean_.fine = fine;
    mean_.part = {view_[0]->part, view_[1]->part};
    mean_.leaves = 0;
    mean_.covered = {};
    mean_.sums.assign(on_faces_.size(), {});
    mean_.coarse.resize(on_faces_.size());
    for (std::size_t v = 0; v < on_faces_.size(); ++v) mean_.coarse[v] = value(1 - fine, v, coarse);
  }

  void finish_mean() {
    // A coarse leaf of `a` needs more of step 1 until all of it is met.
    if (in_mean_ && settle(key_, mean_, on_faces_, open_, to_) && mean_.fine == 1) mark(index_);
    in_mean_ = false;
  }

  const CommonGrid& grid_;
  std::array<const ComparedPart*, 2> view_;
  const std::vector<char>& on_faces_;
  std::vector<char>& met_;
  OpenMeans& open_;
  Comparison& to_;
  std::array<std::vector<Read>, 2> readers_;
  std::vector<CellBatch> batches_;  ///< a depth
  std::array<std::vector<double>, 2> values_;
  std::size_t marked_ = 0;
  bool in_mean_ = false;
  CurveKey key_;
  std::size_t index_ = 0;
  OpenMean mean_;
};

}  // namespace

void count_pairs(std::span<const double> a, std::span<const double> b, std::span<const CurveKey> keys,
                 const CellPlace& place, PairSums& to) {
  // Equal values are counted in registers, since most compared outputs hardly differ.
  SideSums same;
  for (std::size_t k = 0; k < a.size(); ++k) {
    if (a[k] == b[k] && std::isfinite(a[k]))
      count_side(a[k], same, true);
    else
      count_other(a[k], b[k], {keys[k], place.depth, place.part}, to);
  }
  to.cells += static_cast<std::int64_t>(a.size());
  add(to.same, same);
}

void add(PairSums& to, const PairSums& other) {
  if (other.differing > other.mismatches) {
    const bool any = to.differing > to.mismatches;
    keep_larger(to.largest, any, other.largest);
    keep_larger(to.relative, any, other.relative);
  }
  if (other.mismatches > 0 && (to.mismatches == 0 || before(other.mismatch.place, to.mismatch.place)))
    to.mismatch = other.mismatch;
  to.cells += other.cells;
  to.differing += other.differing;
  to.mismatches += other.mismatches;
  for (std::size_t side = 0; side < 2; ++side) add(to.side[side], other.side[side]);
  add(to.same, other.same);
  to.difference.add(other.difference);
  to.square.add(other.square);
}

Comparison empty_comparison(const CommonGrid& grid, std::size_t variables) {
  Comparison empty;
  const auto depths = static_cast<std::size_t>(grid.deepest) + 1;
  empty.cells.resize(depths);
  empty.variables.assign(variables, std::vector<PairSums>(depths));
  return empty;
}

void add(Comparison& to, const Comparison& other) {
  if (other.first_refined && (!to.first_refined || before(*other.first_refined, *to.first_refined)))
    to.first_refined = other.first_refined;
  for (std::size_t d = 0; d < to.cells.size(); ++d) to.cells[d] += other.cells[d];
  for (std::size_t side = 0; side < 2; ++side) {
    to.refined[side] += other.refined[side];
    to.leaves[side] += other.leaves[side];
  }
  for (std::size_t v = 0; v < to.variables.size(); ++v)
    for (std::size_t d = 0; d < to.cells.size(); ++d) add(to.variables[v][d], other.variables[v][d]);
}

std::size_t compare(const CommonGrid& grid, const ComparedPart& a, const ComparedPart& b,
                    const std::vector<char>& on_faces, std::vector<char>& met, OpenMeans& open, Comparison& to) {
  return Merge(grid, a, b, on_faces, met, open, to).run();
}

void close_means(OpenMeans&& from, const std::vector<char>& on_faces, OpenMeans& to, Comparison& counts) {
  for (const auto& [key, mean] : from) settle(key, mean, on_faces, to, counts);
  from.clear();
}

}  // namespace octavo::analysis
