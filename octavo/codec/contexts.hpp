#pragma once
#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "octavo/codec/frequencies.hpp"

/// Inside the codec room: which table codes a symbol, chosen by the symbols before it (docs/codecs.md, "Contexts").
namespace octavo::codec {

constexpr unsigned num_metrics = 32;

/// How a symbol's metric (0-31) comes from the activity and from the weights of symbols before it in the family.
enum class Rule : std::uint8_t { none, activity, one_before, two_before, three_before };
constexpr int num_rules = 5;

/// Calls f(t, metric) for each symbol in order; f may set symbol[t], which later metrics depend on.
template <Rule rule, class F>
void for_each_metric(const SymbolOrder& layout, std::span<const std::uint8_t> activity, const std::uint8_t* symbol,
                     const std::array<std::uint8_t, 256>& weight, unsigned base, F&& f) {
  const std::size_t w = layout.width;
  std::size_t t = 0;
  for (std::size_t family = 0; family < layout.families; ++family)
    for (std::size_t k = 0; k < layout.members; ++k)
      for (std::size_t j = 0; j < w; ++j, ++t) {
        unsigned metric = 0;
        if constexpr (rule != Rule::none) {
          const unsigned a = activity.empty() ? 0u : activity[family * w + j];
          if (rule == Rule::activity || k == 0) {
            metric = 2 * a;
          } else {
            const unsigned one = weight[symbol[t - w]];
            if (rule == Rule::one_before) {
              metric = 2 * one;
            } else if (k == 1) {
              metric = one + a;
            } else {
              const unsigned two = weight[symbol[t - 2 * w]];
              metric = rule == Rule::two_before || k == 2 ? one + two
                                                          : (2 * (one + two + weight[symbol[t - 3 * w]]) + 1) / 3;
            }
          }
          metric = metric <= base ? 0 : std::min(metric - base, num_metrics - 1);
        }
        f(t, metric);
      }
}

template <class F>
void for_each_metric(Rule rule, const SymbolOrder& layout, std::span<const std::uint8_t> activity,
                     const std::uint8_t* symbol, const std::array<std::uint8_t, 256>& weight, unsigned base, F&& f) {
  switch (rule) {
    case Rule::none: return for_each_metric<Rule::none>(layout, activity, symbol, weight, base, f);
    case Rule::activity: return for_each_metric<Rule::activity>(layout, activity, symbol, weight, base, f);
    case Rule::one_before: return for_each_metric<Rule::one_before>(layout, activity, symbol, weight, base, f);
    case Rule::two_before: return for_each_metric<Rule::two_before>(layout, activity, symbol, weight, base, f);
    case Rule::three_before: return for_each_metric<Rule::three_before>(layout, activity, symbol, weight, base, f);
  }
}

/// Which metrics share a table: bit m set means metric m begins a new one.
struct Clusters {
  std::uint32_t begins = 0;
  std::vector<Counts> counts;
  double bits = 0;
};

/// The cluster of each metric.
std::array<std::uint8_t, num_metrics> clusters_of(std::uint32_t begins);

/// The rule that a block uses, and its tables.
struct ContextPlan {
  Rule rule = Rule::none;
  unsigned base = 0;
  Clusters clusters;
};

/// The rule is chosen on at most eight slices of the symbols, its clusters from all of them.
ContextPlan plan_contexts(const Symbols& symbols, const SymbolTable& table, const SymbolOrder& layout,
                          std::span<const std::uint8_t> activity);

}  // namespace octavo::codec
