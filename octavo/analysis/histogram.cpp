#include "octavo/analysis/histogram.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>

#include "octavo/analysis/descend.hpp"
#include "octavo/base/error.hpp"
#include "octavo/mesh/tree/merge.hpp"

namespace octavo::analysis {
namespace {

using base::Error;
using base::Kind;

constexpr std::size_t most_bins = 65536;
constexpr std::size_t batch_samples = 4096;  // with eight columns 256 kB: stays in the second-level cache

// ------------------------------------------------------------------------------------------------ the bin of a value

constexpr std::int32_t bin_beyond = -1, bin_of_nan = -2;

/// About log2 of a positive number, within 0.01: its exponent, and a parabola through its mantissa.
double rough_log2(double x) {
  const auto bits = std::bit_cast<std::uint64_t>(x);
  const auto exponent = static_cast<double>(static_cast<std::int64_t>(bits >> 52) - 1023);
  const double m = std::bit_cast<double>((bits & 0xFFFFFFFFFFFFFULL) | 0x3FF0000000000000ULL);
  return exponent + (-1.0 / 3 * m + 2) * m - 5.0 / 3;
}

/// Guesses a value's bin, then corrects the guess by the edges themselves.
class BinFinder {
 public:
  explicit BinFinder(const BinAxis& axis)
      : edges_(axis.edges), log_(axis.log), last_(static_cast<std::int32_t>(axis.edges.size()) - 2) {
    lo_ = log_ ? rough_log2(edges_.front()) : edges_.front();
    const double hi = log_ ? rough_log2(edges_.back()) : edges_.back();
    per_unit_ = static_cast<double>(last_ + 1) / (hi - lo_);
  }
  std::int32_t find(double x) const {
    if (!(x >= edges_.front() && x <= edges_.back())) return std::isnan(x) ? bin_of_nan : bin_beyond;
    const double guess = ((log_ ? rough_log2(x) : x) - lo_) * per_unit_;
    auto bin = static_cast<std::int32_t>(std::clamp(guess, 0.0, static_cast<double>(last_)));
    while (x < edges_[static_cast<std::size_t>(bin)]) --bin;
    while (bin < last_ && x >= edges_[static_cast<std::size_t>(bin) + 1]) ++bin;
    return bin;
  }

 private:
  const std::vector<double>& edges_;
  bool log_;
  std::int32_t last_;
  double lo_ = 0, per_unit_ = 0;
};

/// Columns of one batch, and the bin of each sample.
struct BinBatch {
  std::vector<std::span<const double>> axes;
  std::span<const double> weight;
  std::vector<std::span<const double>> fields;
  std::vector<std::int32_t> bin{};
};

void find_bins(const std::vector<BinFinder>& finders, const BinPlan& plan, BinBatch& batch) {
  batch.bin.assign(batch.weight.size(), 0);
  if (finders.empty()) return;
  for (std::size_t k = 0; k < batch.bin.size(); ++k) batch.bin[k] = finders[0].find(batch.axes[0][k]);
  if (finders.size() == 1) return;
  const auto width = static_cast<std::int32_t>(plan.axes[0].edges.size() - 1);
  for (std::size_t k = 0; k < batch.bin.size(); ++k) {
    const std::int32_t row = finders[1].find(batch.axes[1][k]);
    std::int32_t& bin = batch.bin[k];
    // NaN on one axis is enough: its code is the smaller one.
    bin = row >= 0 && bin >= 0 ? row * width + bin : std::min(row, bin);
  }
}

/// Counts samples that have no bin or no weight, and marks them as such.
void set_apart(double weight, std::int32_t& bin, PartialBins& to) {
  if (!std::isfinite(weight)) {
    ++to.unweighed;
  } else {
    Outside& where = bin == bin_of_nan ? to.nan : to.beyond;
    ++where.cells;
    where.weight.add(weight);
  }
  bin = bin_beyond;
}

/// Calls visit(bin, first, last) for stretches of samples that have the same bin. Cells come in the tree's order, so
/// that neighbours often do, and sums of a stretch need not go through memory.
template <class Visit>
void for_each_stretch(const std::vector<std::int32_t>& bins, Visit&& visit) {
  for (std::size_t first = 0, last = 0; first < bins.size(); first = last) {
    const std::int32_t bin = bins[first];
    for (last = first + 1; last < bins.size() && bins[last] == bin;) ++last;
    visit(bin, first, last);
  }
}

void count_batch(BinBatch& batch, PartialBins& to) {
  to.cells += static_cast<std::int64_t>(batch.bin.size());
  for_each_stretch(batch.bin, [&](std::int32_t bin, std::size_t first, std::size_t last) {
    BinContents all = bin < 0 ? BinContents{} : to.bins[static_cast<std::size_t>(bin)];
    for (std::size_t k = first; k < last; ++k) {
      const double weight = batch.weight[k];
      if (bin < 0 || !std::isfinite(weight)) {
        set_apart(weight, batch.bin[k], to);
        continue;
      }
      ++all.cells;
      all.weight.add(weight);
    }
    if (bin >= 0) to.bins[static_cast<std::size_t>(bin)] = all;
  });
}

void add_value(double x, double weight, Moments& bin) {
  if (!std::isfinite(x)) {
    bin.left_out += weight;
    return;
  }
  // About a value of the bin: sums about 0 lose a spread that is small beside the mean.
  if (std::isnan(bin.origin)) bin.origin = x;
  const double away = x - bin.origin, product = weight * away;
  bin.first.add(product);
  bin.second += product * away;
  bin.min = std::min(bin.min, x);
  bin.max = std::max(bin.max, x);
}

/// The values of two fields, in one register.
using TwoFields = double __attribute__((vector_size(16)));

/// add_value() of all samples of a bin, for two fields, with the same bits. Does nothing, and returns false, if a value
/// is not finite.
bool add_finite(std::span<const double> x, std::span<const double> y, std::span<const double> weights, Moments& of_x,
                Moments& of_y) {
  const TwoFields origin{std::isnan(of_x.origin) ? x[0] : of_x.origin, std::isnan(of_y.origin) ? y[0] : of_y.origin};
  TwoFields high{of_x.first.high, of_y.first.high}, low{of_x.first.low, of_y.first.low};
  TwoFields second{of_x.second, of_y.second}, min{of_x.min, of_y.min}, max{of_x.max, of_y.max}, zero{};
  for (std::size_t k = 0; k < weights.size(); ++k) {
    const TwoFields both{x[k], y[k]}, away = both - origin, product = weights[k] * away;
    const TwoFields total = high + product, part = total - high;  // as Sum::add
    low += (high - (total - part)) + (product - part);
    high = total;
    second += product * away;
    min = both < min ? both : min;
    max = max < both ? both : max;
    zero += both - both;  // else NaN
  }
  if (zero[0] != 0 || zero[1] != 0) return false;
  of_x = {origin[0], {high[0], low[0]}, second[0], of_x.left_out, min[0], max[0]};
  of_y = {origin[1], {high[1], low[1]}, second[1], of_y.left_out, min[1], max[1]};
  return true;
}

void add_values(std::span<const double> values, std::span<const double> weights, Moments& bin) {
  for (std::size_t k = 0; k < values.size(); ++k) add_value(values[k], weights[k], bin);
}

void add_moments(const BinBatch& batch, std::vector<std::vector<Moments>>& to) {
  for_each_stretch(batch.bin, [&](std::int32_t bin, std::size_t first, std::size_t last) {
    if (bin < 0) return;
    const auto b = static_cast<std::size_t>(bin);
    const auto values = [&](std::size_t f) { return batch.fields[f].subspan(first, last - first); };
    const auto weights = batch.weight.subspan(first, last - first);
    for (std::size_t f = 0; f < to.size(); f += 2) {
      const bool two = f + 1 < to.size();
      if (two && add_finite(values(f), values(f + 1), weights, to[f][b], to[f + 1][b])) continue;
      add_values(values(f), weights, to[f][b]);
      if (two) add_values(values(f + 1), weights, to[f + 1][b]);
    }
  });
}

void add_bin_batch(const std::vector<BinFinder>& finders, const BinPlan& plan, BinBatch& batch, PartialBins& to) {
  find_bins(finders, plan, batch);
  count_batch(batch, to);
  if (!to.fields.empty()) add_moments(batch, to.fields);
}

std::vector<BinFinder> finders_of(const BinPlan& plan) {
  std::vector<BinFinder> finders;
  for (const BinAxis& axis : plan.axes) finders.emplace_back(axis);
  return finders;
}

// ------------------------------------------------------------------------------------------------ values of cells

/// Selected cells of one level, in the tree's order.
struct FamilyBatch {
  int level = 0;
  std::span<const SiblingCells> families;
  std::size_t cells = 0;
};

constexpr unsigned whole_family = 0xFF;  ///< of eight cells

/// Calls visit(c) for each selected cell of a family.
template <class Visit>
void for_each_sibling(const SiblingCells& family, Visit&& visit) {
  for (unsigned rest = family.selected; rest != 0; rest &= rest - 1)
    visit(static_cast<unsigned>(std::countr_zero(rest)));
}

/// Makes room for a batch's values behind those of `before` cells. Returns where it begins.
double* room_for(const FamilyBatch& batch, std::size_t before, std::vector<double>& to) {
  to.resize(before + batch.cells);
  return to.data() + before;
}

/// Values of a field of any type, as doubles where they are not yet.
class ColumnValues {
 public:
  explicit ColumnValues(const mesh::Field& field) {
    if (field.info.type == mesh::ScalarType::float64) {
      values_ = field.as<double>();
    } else {
      made_ = mesh::to_doubles(field);
      values_ = made_;
    }
  }
  void gather(const FamilyBatch& batch, double* to) const {
    for (const SiblingCells& family : batch.families) {
      const double* const from = values_.data() + family.first_value;
      if (family.selected == whole_family)
        to = std::copy_n(from, 8, to);
      else
        for_each_sibling(family, [&](unsigned c) { *to++ = from[c]; });
    }
  }

 private:
  std::vector<double> made_;
  std::span<const double> values_;
};

/// distance_to() of the cells' centres, with the same bits: without a call for each, and once along each side of a
/// family.
void radii_of(const mesh::Header& header, const Distance& distance, const FamilyBatch& batch, double* to) {
  const mesh::Point3 size = mesh::cell_size(header, batch.level);
  double* const first = to;
  std::array<std::array<double, 2>, 3> square{};
  for (const SiblingCells& family : batch.families) {
    const std::uint32_t sides = family.selected == 1 ? 1 : 2;
    for (std::size_t axis = 0; axis < static_cast<std::size_t>(header.dim); ++axis) {
      const double extent = header.hi[axis] - header.lo[axis];
      for (std::uint32_t side = 0; side < sides; ++side) {
        double away = header.lo[axis] + (family.corner[axis] + side + 0.5) * size[axis] - distance.centre[axis];
        if (header.periodic[axis] && std::abs(away / extent) >= 0.5) away -= extent * std::round(away / extent);
        square[axis][side] = away * away;
      }
    }
    for_each_sibling(family, [&](unsigned c) { *to++ = square[0][c & 1] + square[1][c >> 1 & 1] + square[2][c >> 2]; });
  }
  for (double* radius = first; radius != to; ++radius) *radius = std::sqrt(*radius);
}

/// The quantities of a part, ready to be taken batch by batch.
class QuantityColumns {
 public:
  QuantityColumns(const mesh::Part& part, const mesh::Header& header, const std::vector<Quantity>& quantities)
      : header_(header), quantities_(quantities) {
    for (const Quantity& quantity : quantities)
      if (const auto* name = std::get_if<std::string>(&quantity)) columns_.emplace_back(cell_field(part, *name));
  }
  /// Behind the values of `before` cells.
  void gather(const FamilyBatch& batch, std::size_t before, std::vector<std::vector<double>>& to) const {
    to.resize(quantities_.size());
    std::size_t column = 0;
    for (std::size_t q = 0; q < quantities_.size(); ++q) {
      double* const at = room_for(batch, before, to[q]);
      const auto* distance = std::get_if<Distance>(&quantities_[q]);
      if (distance == nullptr)
        columns_[column++].gather(batch, at);
      else if (distance->kind == Distance::Kind::radius)
        radii_of(header_, *distance, batch, at);
      else
        distances(*distance, batch, at);
    }
  }

 private:
  void distances(const Distance& distance, const FamilyBatch& batch, double* to) const {
    const mesh::Point3 size = mesh::cell_size(header_, batch.level);
    for (const SiblingCells& family : batch.families)
      for_each_sibling(family, [&](unsigned c) {
        mesh::Point3 middle{};
        for (std::size_t axis = 0; axis < 3; ++axis)
          middle[axis] = header_.lo[axis] + (family.corner[axis] + (c >> axis & 1) + 0.5) * size[axis];
        *to++ = distance_to(header_, distance, middle);
      });
  }

  const mesh::Header& header_;
  const std::vector<Quantity>& quantities_;
  std::vector<ColumnValues> columns_;
};

double cell_volume_of(const mesh::Header& header, int level) {
  const mesh::Point3 size = mesh::cell_size(header, level);
  double volume = 1;
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(header.dim); ++axis) volume *= size[axis];
  return volume;
}

/// Weights of cells, batch by batch.
class WeightColumn {
 public:
  WeightColumn(const mesh::Part& part, const CellWeight& weight) : volume_(weight.volume) {
    if (!weight.field.empty()) field_.emplace(cell_field(part, weight.field));
  }
  void gather(const mesh::Header& header, const FamilyBatch& batch, std::size_t before, std::vector<double>& to) const {
    const double factor = volume_ ? cell_volume_of(header, batch.level) : 1;
    double* const at = room_for(batch, before, to);
    if (!field_) {
      std::fill_n(at, batch.cells, factor);
      return;
    }
    field_->gather(batch, at);
    for (std::size_t k = 0; k < batch.cells; ++k) at[k] *= factor;
  }

 private:
  bool volume_;
  std::optional<ColumnValues> field_;
};

/// Whether a selection takes all leaves down to some level of a tree without blocks.
bool takes_families(const mesh::Part& part, const Selection& selection) {
  return mesh::block_size(mesh::octree_of(part)) == 1 && !selection.region && selection.where.empty();
}

/// Hands selected cells on in batches that fit the cache: as families, or each as the one cell of a family where blocks
/// or the selection do not let them be.
template <class Visit>
void for_each_batch(const mesh::Part& part, const mesh::Header& header, const Selection& selection, Visit&& visit) {
  const auto cut = [&](int level, std::span<const SiblingCells> families, std::size_t at_once) {
    for (; !families.empty(); families = families.subspan(std::min(at_once, families.size()))) {
      FamilyBatch batch{level, families.first(std::min(at_once, families.size()))};
      for (const SiblingCells& family : batch.families)
        batch.cells += family.selected == whole_family ? 8 : static_cast<std::size_t>(std::popcount(family.selected));
      visit(batch);
    }
  };
  if (takes_families(part, selection))
    return for_each_family(mesh::octree_of(part), header, selection.max_level,
                           [&](int level, auto families) { cut(level, families, batch_samples / 8); });
  std::vector<SiblingCells> single;
  for_each_selected(part, header, selection, [&](const Cells& cells) {
    single.clear();
    for (std::size_t k = 0; k < cells.values.size(); ++k) single.push_back({cells.positions[k], 1, cells.values[k]});
    cut(cells.level, single, batch_samples);
  });
}

std::vector<Quantity> quantities_of(const BinPlan& plan) {
  std::vector<Quantity> quantities;
  for (const BinAxis& axis : plan.axes) quantities.push_back(axis.quantity);
  return quantities;
}

/// All columns of a plan: axes, weight and fields of a part's cells.
class PlanColumns {
 public:
  PlanColumns(const mesh::Part& part, const mesh::Header& header, const BinPlan& plan)
      : header_(header),
        quantities_(quantities_of(plan)),
        names_(plan.fields.begin(), plan.fields.end()),
        axes_(part, header, quantities_),
        fields_(part, header, names_),
        weight_(part, plan.weight) {}
  /// Behind the samples that `to.count` counts.
  void gather(const FamilyBatch& batch, Samples& to) const {
    axes_.gather(batch, to.count, to.axes);
    fields_.gather(batch, to.count, to.fields);
    weight_.gather(header_, batch, to.count, to.weight);
    to.count += batch.cells;
  }

 private:
  const mesh::Header& header_;
  std::vector<Quantity> quantities_, names_;
  QuantityColumns axes_, fields_;
  WeightColumn weight_;
};

/// Samples with room for all leaves of a part.
Samples samples_with_room(const mesh::Part& part, const BinPlan& plan) {
  const mesh::Octree& tree = mesh::octree_of(part);
  std::size_t leaves = 0;
  for (int level = 0; level < mesh::num_levels(tree); ++level) leaves += mesh::num_owned_leaves(tree, level);
  Samples samples;
  samples.axes.resize(plan.axes.size());
  samples.fields.resize(plan.fields.size());
  for (std::vector<double>& values : samples.axes) values.reserve(leaves);
  for (std::vector<double>& values : samples.fields) values.reserve(leaves);
  samples.weight.reserve(leaves);
  return samples;
}

void widen_range(ValueRange& range, const std::vector<double>& values) {
  for (const double x : values) {
    if (!std::isfinite(x)) continue;
    ++range.finite;
    range.min = std::min(range.min, x);
    range.max = std::max(range.max, x);
    if (x > 0) range.least_positive = std::min(range.least_positive, x);
  }
}

void add_outside(Outside& to, const Outside& later) {
  to.cells += later.cells;
  to.weight.add(later.weight);
}

/// Adds the later bin's sums, moved to the earlier one's origin. `weight`: of the later bin.
void add_moved(Moments& to, const Moments& later, const Sum& weight) {
  to.left_out += later.left_out;
  if (std::isnan(later.origin)) return;
  if (std::isnan(to.origin)) {
    const double left_out = to.left_out;
    to = later;
    to.left_out = left_out;
    return;
  }
  const double shift = later.origin - to.origin, used = weight.value() - later.left_out;
  to.first.add(later.first);
  to.first.add(used * shift);
  // x - to.origin is (x - later.origin) + shift, here squared and summed.
  to.second += later.second + shift * (2 * later.first.value() + used * shift);
  to.min = std::min(to.min, later.min);
  to.max = std::max(to.max, later.max);
}

}  // namespace

double distance_to(const mesh::Header& header, const Distance& distance, const mesh::Point3& point) {
  mesh::Point3 away{};
  double along = 0, square = 0, across = 0, right = 0, up = 0;
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(header.dim); ++axis) {
    const double extent = header.hi[axis] - header.lo[axis];
    away[axis] = point[axis] - distance.centre[axis];
    if (header.periodic[axis]) away[axis] -= extent * std::round(away[axis] / extent);
    along += away[axis] * distance.normal[axis];
    square += away[axis] * away[axis];
    right += away[axis] * distance.right[axis];
    up += away[axis] * distance.up[axis];
  }
  if (distance.kind == Distance::Kind::angle) {
    const double degrees = std::atan2(up, right) * (180 / std::numbers::pi);
    return degrees < 0 ? degrees + 360 : degrees;
  }
  if (distance.kind == Distance::Kind::height) return along;
  if (distance.kind == Distance::Kind::radius) return std::sqrt(square);
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const double part = away[axis] - along * distance.normal[axis];
    across += part * part;
  }
  return std::sqrt(across);
}

std::vector<double> bin_edges(double lo, double hi, std::size_t bins, bool log) {
  const auto refused = [](const std::string& why) { return Error(Kind::usage, why); };
  if (bins < 1 || bins > most_bins) throw refused("bins: expected 1 to 65536, found " + std::to_string(bins));
  if (!std::isfinite(lo) || !std::isfinite(hi) || !(lo < hi))
    throw refused("limits of bins: expected two finite numbers, the second larger, found " + std::to_string(lo) +
                  " and " + std::to_string(hi));
  if (log && !(lo > 0)) throw refused("limits of logarithmic bins: expected above 0, found " + std::to_string(lo));
  std::vector<double> edges(bins + 1);
  for (std::size_t i = 0; i <= bins; ++i) {
    const double share = static_cast<double>(i) / static_cast<double>(bins);
    edges[i] = log ? std::exp(std::log(lo) + share * (std::log(hi) - std::log(lo))) : lo + share * (hi - lo);
  }
  edges.front() = lo;
  edges.back() = hi;
  for (std::size_t i = 0; i < bins; ++i)
    if (!(edges[i] < edges[i + 1]))
      throw refused("limits of bins: between " + std::to_string(lo) + " and " + std::to_string(hi) +
                    " there are not enough numbers for " + std::to_string(bins) + " bins");
  return edges;
}

std::size_t bin_count(const BinPlan& plan) {
  std::size_t count = 1;
  for (const BinAxis& axis : plan.axes) count *= axis.edges.size() - 1;
  return count;
}

ValueRanges value_ranges(const mesh::Part& part, const mesh::Header& header, const Selection& selection,
                         const std::vector<Quantity>& quantities) {
  ValueRanges out;
  out.of.resize(quantities.size());
  const QuantityColumns columns(part, header, quantities);
  std::vector<std::vector<double>> values;
  for_each_batch(part, header, selection, [&](const FamilyBatch& batch) {
    out.cells += static_cast<std::int64_t>(batch.cells);
    columns.gather(batch, 0, values);
    for (std::size_t q = 0; q < quantities.size(); ++q) widen_range(out.of[q], values[q]);
  });
  return out;
}

ValueRanges value_ranges(const Samples& samples) {
  ValueRanges out;
  out.cells = static_cast<std::int64_t>(samples.count);
  for (const std::vector<double>& values : samples.axes) widen_range(out.of.emplace_back(), values);
  return out;
}

void add(ValueRanges& to, const ValueRanges& later) {
  to.cells += later.cells;
  to.of.resize(std::max(to.of.size(), later.of.size()));
  for (std::size_t q = 0; q < later.of.size(); ++q) {
    to.of[q].finite += later.of[q].finite;
    to.of[q].min = std::min(to.of[q].min, later.of[q].min);
    to.of[q].max = std::max(to.of[q].max, later.of[q].max);
    to.of[q].least_positive = std::min(to.of[q].least_positive, later.of[q].least_positive);
  }
}

PartialBins empty_bins(const BinPlan& plan) {
  PartialBins out;
  out.bins.resize(bin_count(plan));
  out.fields.assign(plan.fields.size(), std::vector<Moments>(out.bins.size()));
  return out;
}

PartialBins bin_cells(const mesh::Part& part, const mesh::Header& header, const Selection& selection,
                      const BinPlan& plan) {
  PartialBins out = empty_bins(plan);
  for_each_samples(part, header, selection, plan, [&](const Samples& batch) { add_samples(batch, plan, out); });
  return out;
}

void for_each_samples(const mesh::Part& part, const mesh::Header& header, const Selection& selection,
                      const BinPlan& plan, const std::function<void(const Samples&)>& visit) {
  const PlanColumns columns(part, header, plan);
  Samples samples;
  for_each_batch(part, header, selection, [&](const FamilyBatch& batch) {
    samples.count = 0;
    columns.gather(batch, samples);
    visit(samples);
  });
}

Samples samples_of(const mesh::Part& part, const mesh::Header& header, const Selection& selection,
                   const BinPlan& plan) {
  const PlanColumns columns(part, header, plan);
  Samples all = takes_families(part, selection) ? samples_with_room(part, plan) : Samples{};
  for_each_batch(part, header, selection, [&](const FamilyBatch& batch) { columns.gather(batch, all); });
  return all;
}

std::vector<std::int32_t> bins_of(const Samples& samples, const BinPlan& plan) {
  const std::vector<double> ones(samples.weight.empty() ? samples.count : 0, 1.0);
  BinBatch batch{{samples.axes.begin(), samples.axes.end()}, samples.weight.empty() ? ones : samples.weight, {}};
  find_bins(finders_of(plan), plan, batch);
  return std::move(batch.bin);
}

void add_samples(const Samples& samples, const BinPlan& plan, PartialBins& to) {
  const std::vector<BinFinder> finders = finders_of(plan);
  const std::vector<double> ones(samples.weight.empty() ? samples.count : 0, 1.0);
  BinBatch batch;
  for (std::size_t first = 0; first < samples.count; first += batch_samples) {
    const std::size_t count = std::min(batch_samples, samples.count - first);
    const auto some = [&](const std::vector<double>& all) { return std::span(all).subspan(first, count); };
    batch.axes.clear();
    batch.fields.clear();
    for (const auto& values : samples.axes) batch.axes.push_back(some(values));
    for (const auto& values : samples.fields) batch.fields.push_back(some(values));
    batch.weight = some(samples.weight.empty() ? ones : samples.weight);
    add_bin_batch(finders, plan, batch, to);
  }
}

void add(PartialBins& to, PartialBins&& later) {
  if (to.bins.empty()) {
    to = std::move(later);
    return;
  }
  for (std::size_t f = 0; f < to.fields.size() && f < later.fields.size(); ++f)
    for (std::size_t b = 0; b < to.bins.size(); ++b)
      add_moved(to.fields[f][b], later.fields[f][b], later.bins[b].weight);
  for (std::size_t b = 0; b < to.bins.size() && b < later.bins.size(); ++b) {
    to.bins[b].cells += later.bins[b].cells;
    to.bins[b].weight.add(later.bins[b].weight);
  }
  add_outside(to.beyond, later.beyond);
  add_outside(to.nan, later.nan);
  to.unweighed += later.unweighed;
  to.cells += later.cells;
}

MeanAndDeviation mean_and_deviation(const Moments& moments, const Sum& weight) {
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  const double used = weight.value() - moments.left_out;
  if (std::isnan(moments.origin) || used == 0) return {none, none};
  const double away = moments.first.value() / used;
  return {moments.origin + away, std::sqrt(std::max(0.0, moments.second / used - away * away))};
}

}  // namespace octavo::analysis
