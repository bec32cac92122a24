#include "octavo/analysis/percentile.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "octavo/base/error.hpp"

namespace octavo::analysis {
namespace {

using Stretch = PercentileSearch::Stretch;
using Sought = PercentileSearch::Sought;

constexpr std::size_t pieces_in_all = std::size_t{1} << 18;  // 6 MiB a table
constexpr std::size_t least_pieces = 16;                     // of a stretch, so that a pass settles 4 bits or more
constexpr std::uint64_t sign = std::uint64_t{1} << 63;

/// Whole numbers in the order of the values; -0 is 0.
std::uint64_t number_of(double value) {
  const auto bits = std::bit_cast<std::uint64_t>(value + 0.0);
  return (bits & sign) != 0 ? ~bits : bits | sign;
}
double value_of_number(std::uint64_t number) {
  return std::bit_cast<double>((number & sign) != 0 ? number & ~sign : ~number);
}

std::size_t pieces_of_stretch(const Stretch& stretch) {
  return static_cast<std::size_t>((stretch.last - stretch.first) >> stretch.shift) + 1;
}

template <class Visit>
void for_each_sought(PercentileSearch& search, Visit&& visit) {
  for (auto& bins : search.of)
    for (Sought& sought : bins) visit(sought);
}

/// Cuts the stretches into pieces, of all together few enough for a table. A stretch of one number is one piece.
void cut_into_pieces(PercentileSearch& search) {
  std::size_t stretches = 0;
  for_each_sought(search, [&](const Sought& sought) { stretches += sought.stretches.size(); });
  const std::size_t most = std::max(least_pieces, pieces_in_all / std::max<std::size_t>(stretches, 1));
  search.pieces = 0;
  for_each_sought(search, [&](Sought& sought) {
    for (Stretch& stretch : sought.stretches) {
      stretch.shift = 0;
      while ((stretch.last - stretch.first) >> stretch.shift >= most) ++stretch.shift;
      stretch.slot = search.pieces;
      search.pieces += pieces_of_stretch(stretch);
    }
  });
}

/// Calls visit(stretch, number, weight) for each value in a stretch. `closed_too`: in stretches of one number, too.
template <class Visit>
void for_each_value(const Samples& samples, const BinPlan& plan, const PercentileSearch& search, bool closed_too,
                    Visit&& visit) {
  const std::vector<std::int32_t> bins = bins_of(samples, plan);
  for (std::size_t f = 0; f < search.of.size(); ++f)
    for (std::size_t k = 0; k < bins.size(); ++k) {
      const double weight = samples.weight.empty() ? 1.0 : samples.weight[k], value = samples.fields[f][k];
      if (bins[k] < 0 || !std::isfinite(weight) || !std::isfinite(value)) continue;
      const std::uint64_t number = number_of(value);
      for (const Stretch& stretch : search.of[f][static_cast<std::size_t>(bins[k])].stretches) {
        if (number < stretch.first || number > stretch.last) continue;
        if (closed_too || stretch.first != stretch.last) visit(stretch, number, weight);
        break;
      }
    }
}

/// Finds, among pieces in ascending order, the one in which a share of the weight is reached; adds to `below` what lies
/// before it. Pieces without weight are skipped. Where rounding keeps the share from being reached it is the last one.
template <class WeightOf>
std::size_t piece_at(std::size_t count, const WeightOf& weight_of, double reached, Sum& below) {
  std::size_t found = count;
  Sum before = below;
  for (std::size_t i = 0; i < count; ++i) {
    const Sum weight = weight_of(i);
    if (!(weight.value() > 0)) continue;
    found = i;
    below = before;
    before.add(weight);
    if (before.value() >= reached) break;
  }
  return found;
}

double share_of(const Sought& sought, double percentage) { return sought.total.value() * percentage / 100; }

/// Puts each percentage of a bin into a new stretch, which `narrowed` makes of its old one.
template <class Narrowed>
void move_to_pieces(const PercentileSearch& search, Sought& sought, const Narrowed& narrowed) {
  std::vector<Stretch> stretches;
  std::vector<std::pair<double, std::size_t>> order;  // percentages ascend, and so do their stretches
  for (std::size_t p = 0; p < search.percentages.size(); ++p) order.emplace_back(search.percentages[p], p);
  std::sort(order.begin(), order.end());
  for (const auto& next : order) {
    const Stretch stretch = narrowed(sought.stretches[sought.at[next.second]], share_of(sought, next.first));
    // Percentages in one piece share its stretch, so no value is counted twice.
    if (stretches.empty() || stretches.back().first != stretch.first) stretches.push_back(stretch);
    sought.at[next.second] = stretches.size() - 1;
  }
  sought.stretches = std::move(stretches);
}

}  // namespace

std::size_t most_pieces(std::size_t sought) { return std::max(pieces_in_all, least_pieces * sought); }

PercentileSearch begin_search(const PartialBins& sums, const std::vector<double>& percentages) {
  for (const double percentage : percentages)
    if (!(percentage >= 0 && percentage <= 100))
      throw base::Error(base::Kind::usage, "percentiles: expected 0 to 100, found " + std::to_string(percentage));
  PercentileSearch search{percentages, {}, 0};
  for (const auto& bins : sums.fields) {
    auto& row = search.of.emplace_back(bins.size());
    for (std::size_t b = 0; b < bins.size(); ++b) {
      if (std::isnan(bins[b].origin)) continue;
      Stretch all;
      all.first = number_of(bins[b].min);
      all.last = number_of(bins[b].max);
      all.cells = sums.bins[b].cells;
      row[b].stretches = {all};
      row[b].at.assign(percentages.size(), 0);
    }
  }
  cut_into_pieces(search);
  return search;
}

std::int64_t open_cells(const PercentileSearch& search) {
  std::int64_t cells = 0;
  for (const auto& bins : search.of)
    for (const Sought& sought : bins)
      for (const Stretch& stretch : sought.stretches)
        if (stretch.first != stretch.last) cells += stretch.cells;
  return cells;
}

PieceSums empty_pieces(const PercentileSearch& search) {
  PieceSums out;
  out.pieces.resize(search.pieces);
  return out;
}

void add_samples(const Samples& samples, const BinPlan& plan, const PercentileSearch& search, PieceSums& to) {
  for_each_value(samples, plan, search, true, [&](const Stretch& stretch, std::uint64_t number, double weight) {
    BinContents& piece = to.pieces[stretch.slot + ((number - stretch.first) >> stretch.shift)];
    ++piece.cells;
    piece.weight.add(weight);
    to.negative += weight < 0 ? 1 : 0;
  });
}

void add(PieceSums& to, PieceSums&& later) {
  if (to.pieces.empty()) std::swap(to.pieces, later.pieces);
  for (std::size_t i = 0; i < later.pieces.size(); ++i) {
    to.pieces[i].cells += later.pieces[i].cells;
    to.pieces[i].weight.add(later.pieces[i].weight);
  }
  to.negative += later.negative;
}

void narrow(PercentileSearch& search, const PieceSums& sums) {
  for_each_sought(search, [&](Sought& sought) {
    if (sought.stretches.empty()) return;
    const auto contents = [&](const Stretch& stretch, std::size_t i) { return sums.pieces[stretch.slot + i]; };
    if (sought.total.value() == 0)  // the first pass: one stretch holds all
      for (std::size_t i = 0; i < pieces_of_stretch(sought.stretches[0]); ++i)
        sought.total.add(contents(sought.stretches[0], i).weight);
    if (!(sought.total.value() > 0)) {
      sought.stretches.clear();
      return;
    }
    move_to_pieces(search, sought, [&](const Stretch& from, double reached) {
      Stretch to = from;
      const std::size_t i = piece_at(
          pieces_of_stretch(from), [&](std::size_t k) { return contents(from, k).weight; }, reached, to.below);
      to.first = from.first + (std::uint64_t{i} << from.shift);
      to.last = to.first + std::min(from.last - to.first, (std::uint64_t{1} << from.shift) - 1);
      to.cells = contents(from, i).cells;
      return to;
    });
  });
  cut_into_pieces(search);
}

void add_samples(const Samples& samples, const BinPlan& plan, const PercentileSearch& search, StretchValues& to) {
  for_each_value(samples, plan, search, false, [&](const Stretch& stretch, std::uint64_t number, double weight) {
    to.values.push_back({stretch.slot, number, weight});
  });
}

void add(StretchValues& to, StretchValues&& later) {
  if (to.values.empty()) return std::swap(to.values, later.values);
  to.values.insert(to.values.end(), later.values.begin(), later.values.end());
}

void narrow(PercentileSearch& search, StretchValues&& found) {
  // Stable: values that are equal are summed in the order of parts, whoever read them.
  std::stable_sort(found.values.begin(), found.values.end(),
                   [](const StretchValues::Value& a, const StretchValues::Value& b) {
                     return a.slot != b.slot ? a.slot < b.slot : a.number < b.number;
                   });
  for_each_sought(search, [&](Sought& sought) {
    if (sought.stretches.empty()) return;
    move_to_pieces(search, sought, [&](const Stretch& from, double reached) {
      if (from.first == from.last) return from;
      const auto first =
          std::lower_bound(found.values.begin(), found.values.end(), from.slot,
                           [](const StretchValues::Value& value, std::size_t slot) { return value.slot < slot; });
      std::size_t count = 0;
      while (first + static_cast<std::ptrdiff_t>(count) != found.values.end() &&
             first[static_cast<std::ptrdiff_t>(count)].slot == from.slot)
        ++count;
      Stretch to = from;
      const std::size_t i = piece_at(
          count,
          [&](std::size_t k) {
            Sum weight;
            weight.add(first[static_cast<std::ptrdiff_t>(k)].weight);
            return weight;
          },
          reached, to.below);
      to.first = to.last = first[static_cast<std::ptrdiff_t>(i)].number;
      return to;
    });
  });
}

std::vector<std::vector<double>> percentiles_of(const PercentileSearch& search, std::size_t field) {
  const auto& bins = search.of[field];
  std::vector<std::vector<double>> out(search.percentages.size(),
                                       std::vector<double>(bins.size(), std::numeric_limits<double>::quiet_NaN()));
  for (std::size_t p = 0; p < out.size(); ++p)
    for (std::size_t b = 0; b < bins.size(); ++b)
      if (!bins[b].stretches.empty()) out[p][b] = value_of_number(bins[b].stretches[bins[b].at[p]].first);
  return out;
}

}  // namespace octavo::analysis
