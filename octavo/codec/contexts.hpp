#pragma once
#include <algorithm>
#include <array>
#include <span>
#include <type_traits>
#include <vector>

#include "octavo/codec/frequencies.hpp"

/// Inside the codec room: which table codes a symbol, chosen by the symbols before it (docs/codecs.md, "Contexts").
namespace octavo::codec {

constexpr unsigned num_metrics = 32;

/// How a symbol's metric (0-31) comes from the activity and from the weights of symbols before it in the family.
enum class Rule : std::uint8_t { none, activity, one_before, two_before, three_before };
constexpr int num_rules = 5;

/// Families that are coded side by side, one symbol of each in turn. Family i of them begins at symbol
/// `first + i * members * width` of the block.
struct FamilyGroup {
  std::size_t family, first, count, members;
};

/// The groups of a block: `lanes` families each, the last one may have fewer. A plain sequence of numbers is cut into
/// `lanes` runs of equal length, which count as families; numbers left over are families of one cell.
struct FamilyGroups {
  SymbolOrder layout;
  std::size_t lanes = 1;
  bool runs = false;
  FamilyGroups(const SymbolOrder& order, std::size_t num_lanes, bool know_activity)
      : layout(order),
        lanes(num_lanes),
        runs(num_lanes > 1 && order.families == 1 && order.width == 1 && !know_activity) {}
  std::size_t size() const { return runs ? 2 : (layout.families + lanes - 1) / lanes; }
  FamilyGroup operator[](std::size_t g) const {
    if (!runs)
      return {g * lanes, g * lanes * layout.members * layout.width, std::min(lanes, layout.families - g * lanes),
              layout.members};
    const std::size_t length = layout.members / lanes;
    return g == 0 ? FamilyGroup{0, 0, lanes, length} : FamilyGroup{0, length * lanes, layout.members % lanes, 1};
  }
};

/// A metric before it is brought between 0 and num_metrics - 1, or `of_three` + the sum of three weights.
constexpr std::size_t num_raw_metrics = 512, of_three = 256;

/// The metric of a symbol min(k, 3) = `near` cells after the first of its family, `symbol` pointing at it.
template <Rule rule, std::size_t near>
[[gnu::always_inline]] inline std::size_t raw_metric(std::size_t w, std::size_t activity, const std::uint8_t* symbol,
                                                     const std::array<std::uint8_t, 256>& weight) {
  if constexpr (rule == Rule::none) return 0;
  if constexpr (rule == Rule::activity || near == 0) return 2 * activity;
  const std::size_t one = weight[*(symbol - w)];
  if constexpr (rule == Rule::one_before) return 2 * one;
  if constexpr (near == 1) return one + activity;
  const std::size_t two = weight[*(symbol - 2 * w)];
  if constexpr (rule == Rule::two_before || near == 2) return one + two;
  return of_three + one + two + weight[*(symbol - 3 * w)];
}

/// Calls f(t, lane, raw metric) for the k-th symbols at place j of the families of a group.
template <Rule rule, std::size_t near, class F>
[[gnu::always_inline]] inline void visit_row(const FamilyGroups& groups, const FamilyGroup& group, std::size_t count,
                                             std::size_t k, std::size_t j, const std::uint8_t* activity,
                                             const std::uint8_t* symbol, const std::array<std::uint8_t, 256>& weight,
                                             F& f) {
  const std::size_t w = groups.layout.width, stride = group.members * w;
  std::size_t t = group.first + k * w + j;
  const bool known = rule != Rule::none && activity != nullptr;
  const std::uint8_t* const own = known ? activity + group.family * w + j : nullptr;
  for (std::size_t lane = 0; lane < count; ++lane, t += stride)
    f(t, lane, raw_metric<rule, near>(w, own != nullptr ? own[lane * w] : 0u, symbol + t, weight));
}

/// Calls f(t, lane, raw metric) for each symbol in the order of coding; f may set symbol[t], which later metrics depend
/// on. Calls row() after each round of the lanes.
template <Rule rule, std::size_t lanes, class F, class Row>
void for_each_metric(const FamilyGroups& groups, const std::uint8_t* activity, const std::uint8_t* symbol,
                     const std::array<std::uint8_t, 256>& weight, F&& f, Row&& row) {
  if (groups.layout.members == 1 && groups.layout.width == 1) {  // families of one value, one after another
    for (std::size_t first = 0; first < groups.layout.families; first += lanes) {
      const FamilyGroup group{first, first, std::min(lanes, groups.layout.families - first), 1};
      if (group.count == lanes)
        visit_row<rule, 0>(groups, group, lanes, 0, 0, activity, symbol, weight, f);
      else
        visit_row<rule, 0>(groups, group, group.count, 0, 0, activity, symbol, weight, f);
      row();
    }
    return;
  }
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const FamilyGroup group = groups[g];
    const auto visit = [&]<std::size_t near>(std::integral_constant<std::size_t, near>, std::size_t k) {
      for (std::size_t j = 0; j < groups.layout.width; ++j) {
        if (group.count == lanes)
          visit_row<rule, near>(groups, group, lanes, k, j, activity, symbol, weight, f);
        else
          visit_row<rule, near>(groups, group, group.count, k, j, activity, symbol, weight, f);
        row();
      }
    };
    for (std::size_t k = 0; k < group.members; ++k) {
      if (k == 0 || rule == Rule::none || rule == Rule::activity)
        visit(std::integral_constant<std::size_t, 0>(), k);
      else if (k == 1 || rule == Rule::one_before)
        visit(std::integral_constant<std::size_t, 1>(), k);
      else if (k == 2 || rule == Rule::two_before)
        visit(std::integral_constant<std::size_t, 2>(), k);
      else
        visit(std::integral_constant<std::size_t, 3>(), k);
    }
  }
}

template <std::size_t lanes, class F, class Row>
void for_each_metric(Rule rule, const FamilyGroups& groups, std::span<const std::uint8_t> activity,
                     const std::uint8_t* symbol, const std::array<std::uint8_t, 256>& weight, F&& f, Row&& row) {
  const auto visit = [&]<Rule r>(std::integral_constant<Rule, r>) {
    for_each_metric<r, lanes>(groups, activity.data(), symbol, weight, f, row);
  };
  switch (rule) {
    case Rule::none: return visit(std::integral_constant<Rule, Rule::none>());
    case Rule::activity: return visit(std::integral_constant<Rule, Rule::activity>());
    case Rule::one_before: return visit(std::integral_constant<Rule, Rule::one_before>());
    case Rule::two_before: return visit(std::integral_constant<Rule, Rule::two_before>());
    case Rule::three_before: return visit(std::integral_constant<Rule, Rule::three_before>());
  }
}

/// Which metrics share a table: bit m set means metric m begins a new one.
struct Clusters {
  std::uint32_t begins = 0;
  std::vector<Counts> counts;
  double bits = 0;
};

/// The cluster of each metric, before it is counted from `base` and limited.
std::array<std::uint8_t, num_raw_metrics> clusters_of(std::uint32_t begins, unsigned base);

/// The rule that a block uses, and its tables.
struct ContextPlan {
  Rule rule = Rule::none;
  unsigned base = 0;
  Clusters clusters;
};

/// How often each symbol comes.
Counts count_symbols(std::span<const std::uint8_t> symbols);

/// The rule is chosen on at most eight slices of the symbols, its clusters from all of them. `cluster[t]` becomes the
/// cluster of symbol t. `totals`: count_symbols() of all. With Effort::max even those rules are tried that hardly ever
/// win, with Effort::fast none.
ContextPlan plan_contexts(const Symbols& symbols, const Counts& totals, const SymbolTable& table,
                          const SymbolOrder& layout, std::size_t lanes, std::span<const std::uint8_t> activity,
                          Effort effort, std::span<std::uint8_t> cluster);

}  // namespace octavo::codec
