#include "octavo/codec/contexts.hpp"

#include "octavo/codec/quantise.hpp"

namespace octavo::codec {

namespace {

/// n * log2(n), from a table for the many small ones.
double n_log2_n(std::uint32_t n) {
  static const std::array<double, 4096> table = [] {
    std::array<double, 4096> t{};
    for (std::uint32_t i = 2; i < t.size(); ++i) t[i] = i * log2_of(i);
    return t;
  }();
  return n < table.size() ? table[n] : n * log2_of(n);
}

/// Counts of which only those in [first, last) may be other than 0.
struct Counted {
  Counts counts{};
  unsigned first = 0, last = 0;

  Counted(const Counts& all, unsigned symbols) : counts(all), last(symbols) {
    while (last > 0 && counts[last - 1] == 0) --last;
    while (first < last && counts[first] == 0) ++first;
  }
  bool none() const { return first == last; }
  /// Bits that symbols with these counts take, their table included.
  double bits() const {
    std::uint32_t sum = 0;
    double bits = 20;
    for (unsigned s = first; s < last; ++s) {
      const std::uint32_t c = counts[s];
      if (c == 0) continue;
      sum += c;
      bits += 5 - n_log2_n(c);
    }
    return bits + n_log2_n(sum);
  }
  void add(const Counted& more) {
    first = std::min(first, more.first);
    last = std::max(last, more.last);
    for (unsigned s = more.first; s < more.last; ++s) counts[s] += more.counts[s];
  }
};

void add(Counts& to, const Counts& from, unsigned symbols) {
  for (unsigned s = 0; s < symbols; ++s) to[s] += from[s];
}

/// Joins neighbouring metrics wherever one table costs less than two.
/// Only the first `symbols` symbols occur.
Clusters cluster(const std::vector<Counts>& by_metric, unsigned symbols) {
  Clusters clusters;
  Counted current(by_metric[0], symbols);
  double current_bits = current.bits();
  const auto close = [&] {
    clusters.bits += current_bits;
    clusters.counts.push_back(current.counts);
  };
  for (unsigned m = 1; m < by_metric.size(); ++m) {
    const Counted own(by_metric[m], symbols);
    if (own.none()) continue;
    Counted joined = current;
    joined.add(own);
    const double together = joined.bits(), apart = own.bits();
    if (together <= current_bits + apart) {
      current = joined;
      current_bits = together;
    } else {
      close();
      clusters.begins |= 1u << m;
      current = own;
      current_bits = apart;
    }
  }
  close();
  return clusters;
}

/// The 16 lengths that most symbols have; metrics count half lengths from the first of them.
unsigned choose_base(const Counts& totals, const SymbolTable& table) {
  std::array<std::size_t, 66> upto{};
  for (unsigned s = 0; s < totals.size(); ++s) upto[table.weight[s] + 1u] += totals[s];
  for (std::size_t i = 1; i < upto.size(); ++i) upto[i] += upto[i - 1];
  std::size_t best = 0;
  for (std::size_t first = 1; first + 16 < upto.size(); ++first)
    if (upto[first + 16] - upto[first] > upto[best + 16] - upto[best]) best = first;
  return static_cast<unsigned>(2 * best);
}

bool worth_trying(Rule rule, const SymbolOrder& layout, bool know_activity, Effort effort) {
  const std::size_t n = layout.size();
  if (rule == Rule::none) return true;
  if (rule == Rule::activity) return know_activity && n >= 64;
  if (layout.members < 2 || n < 64) return false;
  if (effort != Effort::max && know_activity && n >= 8192) return rule != Rule::two_before;  // it wins too rarely
  return n >= 2048 || rule == Rule::two_before;
}

/// The rule that most blocks of this kind have in the end.
Rule usual_rule(const SymbolOrder& layout, bool know_activity) {
  if (layout.size() < 64) return Rule::none;
  if (layout.members > 2 && (layout.size() >= 8192 || !know_activity)) return Rule::three_before;
  return know_activity ? Rule::activity : Rule::none;
}

using ByMetric = std::vector<Counts>;

/// A metric counted from `base`, and limited.
std::array<std::uint8_t, num_raw_metrics> metrics_from(unsigned base) {
  std::array<std::uint8_t, num_raw_metrics> metric;
  for (unsigned raw = 0; raw < num_raw_metrics; ++raw) {
    const unsigned m = raw < of_three ? raw : (2 * (raw - static_cast<unsigned>(of_three)) + 1) / 3;
    metric[raw] = static_cast<std::uint8_t>(m <= base ? 0 : std::min(m - base, num_metrics - 1));
  }
  return metric;
}

/// Adds how often each symbol comes under each metric. Stores the metrics, if there is room.
template <std::size_t lanes>
void count_by_metric(Rule rule, const std::uint8_t* symbol, const SymbolTable& table, const FamilyGroups& groups,
                     std::span<const std::uint8_t> activity, unsigned base, ByMetric& by_metric,
                     std::uint8_t* metrics) {
  const auto metric_at = metrics_from(base);
  Counts* const counts = by_metric.data();
  const auto count = [&](std::size_t t, std::size_t, std::size_t raw) { ++counts[metric_at[raw]][symbol[t]]; };
  const auto count_and_store = [&](std::size_t t, std::size_t, std::size_t raw) {
    metrics[t] = metric_at[raw];
    ++counts[metrics[t]][symbol[t]];
  };
  if (metrics == nullptr)
    for_each_metric<lanes>(rule, groups, activity, symbol, table.weight, count, [] {});
  else
    for_each_metric<lanes>(rule, groups, activity, symbol, table.weight, count_and_store, [] {});
}
void count_by_metric(Rule rule, const std::uint8_t* symbol, const SymbolTable& table, const FamilyGroups& groups,
                     std::span<const std::uint8_t> activity, unsigned base, ByMetric& by_metric,
                     std::uint8_t* metrics) {
  if (groups.lanes == 1)
    count_by_metric<1>(rule, symbol, table, groups, activity, base, by_metric, metrics);
  else
    count_by_metric<max_lanes>(rule, symbol, table, groups, activity, base, by_metric, metrics);
}

/// The same for the rules with room in `counts`, family after family: counts do not depend on the order of coding.
void count_by_rules(const std::uint8_t* symbol, const SymbolTable& table, const SymbolOrder& part,
                    std::span<const std::uint8_t> activity, unsigned base, std::array<ByMetric, num_rules>& counts) {
  const auto metric_at = metrics_from(base);
  const std::size_t m = part.members, w = part.width;
  ByMetric unused(num_metrics);
  const auto room = [&](Rule rule) {
    ByMetric& of = counts[static_cast<std::size_t>(rule)];
    return of.empty() ? unused.data() : of.data();
  };
  Counts *const by_activity = room(Rule::activity), *const by_one = room(Rule::one_before),
                *const by_two = room(Rule::two_before), *const by_three = room(Rule::three_before);
  for (std::size_t f = 0; f < part.families; ++f, symbol += m * w)
    for (std::size_t j = 0; j < w; ++j) {
      const std::size_t own = activity.empty() ? 0 : activity[f * w + j];
      const unsigned first = metric_at[2 * own];
      std::size_t one = own, two = own, three = own;  // weights of the symbols before
      for (std::size_t k = 0; k < m; ++k) {
        const std::uint8_t s = symbol[k * w + j];
        const unsigned of_two = metric_at[one + two];
        ++by_activity[first][s];
        ++by_one[metric_at[2 * one]][s];
        ++by_two[of_two][s];
        ++by_three[k < 3 ? of_two : metric_at[of_three + one + two + three]][s];
        three = two;
        two = k == 0 ? own : one;
        one = table.weight[s];
      }
    }
}

ByMetric no_counts(Rule rule) { return ByMetric(rule == Rule::none ? 1 : num_metrics, Counts{}); }

/// Stretches of families from which the rule is chosen: at most eight, or all.
struct Excerpts {
  std::size_t slice, step;
  explicit Excerpts(const SymbolOrder& layout)
      : slice(layout.families > 1 ? std::max<std::size_t>(4096 / (layout.members * layout.width), 1) : layout.families),
        step(std::max(slice, layout.families / 8)) {}
  bool all() const { return step == slice; }
};

/// For each of these rules, how often symbols come under its metrics in the excerpts; for others nothing.
std::array<ByMetric, num_rules> counts_of_rules(std::span<const Rule> rules, const Symbols& symbols,
                                                const Counts& totals, const SymbolTable& table,
                                                const SymbolOrder& layout, std::size_t lanes,
                                                std::span<const std::uint8_t> activity, unsigned base) {
  const bool know_activity = !activity.empty();
  std::array<ByMetric, num_rules> counts;
  for (const Rule rule : rules) counts[static_cast<std::size_t>(rule)] = no_counts(rule);
  const Excerpts excerpts(layout);
  const bool count_all = !counts[0].empty() && !excerpts.all();
  if (!counts[0].empty() && excerpts.all()) counts[0][0] = totals;
  const std::size_t family = layout.members * layout.width;
  for (std::size_t f = 0; f < layout.families; f += excerpts.step) {
    const SymbolOrder part{std::min(excerpts.slice, layout.families - f), layout.members, layout.width};
    const std::uint8_t* const first = symbols.symbol.data() + f * family;
    const auto part_activity = know_activity ? activity.subspan(f * layout.width) : activity;
    if (count_all) add(counts[0][0], count_symbols({first, part.size()}), 256);
    const FamilyGroups groups(part, lanes, know_activity);
    if (rules.size() > 1 && layout.members > 1 && !groups.runs) {
      count_by_rules(first, table, part, part_activity, base, counts);
      continue;
    }
    for (std::size_t r = 1; r < counts.size(); ++r)
      if (!counts[r].empty())
        count_by_metric(static_cast<Rule>(r), first, table, groups, part_activity, base, counts[r], nullptr);
  }
  return counts;
}

/// The rule whose contexts promise the fewest bits, found on excerpts.
Rule smallest_rule(const Symbols& symbols, const Counts& totals, const SymbolTable& table, const SymbolOrder& layout,
                   std::size_t lanes, std::span<const std::uint8_t> activity, Effort effort, unsigned base,
                   unsigned used) {
  Rule best = Rule::none;
  std::vector<Rule> rules;
  for (int r = 0; r < num_rules; ++r)
    if (const auto rule = static_cast<Rule>(r); worth_trying(rule, layout, !activity.empty(), effort))
      rules.push_back(rule);
  // One pass counts for all rules; but the counts of a rule take 32 kB, much beside those of a small chunk.
  const std::size_t at_once = symbols.symbol.size() < 16384 ? 1 : rules.size();
  double fewest = 0;
  for (std::size_t first = 0; first < rules.size(); first += at_once) {
    const std::span<const Rule> some(rules.data() + first, at_once);
    const auto counts = counts_of_rules(some, symbols, totals, table, layout, lanes, activity, base);
    for (const Rule rule : some) {
      const double bits = cluster(counts[static_cast<std::size_t>(rule)], used).bits;
      if (rule != Rule::none && bits >= fewest) continue;
      fewest = bits;
      best = rule;
    }
  }
  return best;
}

}  // namespace

std::array<std::uint8_t, num_raw_metrics> clusters_of(std::uint32_t begins, unsigned base) {
  std::array<std::uint8_t, num_metrics> cluster_at{};
  for (unsigned m = 1; m < num_metrics; ++m)
    cluster_at[m] = static_cast<std::uint8_t>(cluster_at[m - 1] + ((begins >> m) & 1));
  std::array<std::uint8_t, num_raw_metrics> clusters = metrics_from(base);
  for (std::uint8_t& metric : clusters) metric = cluster_at[metric];
  return clusters;
}

Counts count_symbols(std::span<const std::uint8_t> symbols) {
  std::array<Counts, 4> counts{};  // a count need not wait for the one before, of the same symbol
  std::size_t t = 0;
  for (; t + 4 <= symbols.size(); t += 4)
    for (std::size_t k = 0; k < 4; ++k) ++counts[k][symbols[t + k]];
  for (; t < symbols.size(); ++t) ++counts[0][symbols[t]];
  for (std::size_t k = 1; k < 4; ++k) add(counts[0], counts[k], 256);
  return counts[0];
}

ContextPlan plan_contexts(const Symbols& symbols, const Counts& totals, const SymbolTable& table,
                          const SymbolOrder& layout, std::size_t lanes, std::span<const std::uint8_t> activity,
                          Effort effort, std::span<std::uint8_t> cluster_at) {
  ContextPlan best;
  best.base = choose_base(totals, table);
  unsigned used = 256;
  while (used > 1 && totals[used - 1] == 0) --used;
  best.rule = effort == Effort::fast
                  ? usual_rule(layout, !activity.empty())
                  : smallest_rule(symbols, totals, table, layout, lanes, activity, effort, best.base, used);
  if (best.rule == Rule::none) {
    best.clusters = cluster({totals}, used);
    std::fill(cluster_at.begin(), cluster_at.end(), std::uint8_t{0});
    return best;
  }
  ByMetric by_metric = no_counts(best.rule);
  count_by_metric(best.rule, symbols.symbol.data(), table, FamilyGroups(layout, lanes, !activity.empty()), activity,
                  best.base, by_metric, cluster_at.data());
  best.clusters = cluster(by_metric, used);
  const auto clusters = clusters_of(best.clusters.begins, 0);
  for (std::uint8_t& at : cluster_at) at = clusters[at];
  return best;
}

}  // namespace octavo::codec
