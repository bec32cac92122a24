#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "octavo/analysis/histogram.hpp"
#include "octavo/base/rank_exchange.hpp"
#include "octavo/verbs/bins.hpp"
#include "octavo/verbs/scope_share.hpp"
#include "octavo/verbs/sum_parts.hpp"

/// Passes over the cells of a selection, for sums in bins.
namespace octavo::verbs::detail {

/// The parts, and the fields as they are read: all passes share them.
struct Pass {
  const step::SharedStep& step;
  const BinsOptions& options;  ///< the selection's and the workers' alone; those of a diagram are its own
  const ScopeShare& scope;
  const mesh::Dataset& mine;
  const mesh::Header& header;
  analysis::Selection selection;
  Workers workers;
};

/// The values that the first pass has read of this rank's parts, as far as there is room. Later passes need not read
/// them again.
class KeptSamples {
 public:
  KeptSamples(std::size_t parts, std::uint64_t room) : of_(parts), room_(room) {}
  /// Nothing: the part is to be read.
  const analysis::Samples* of(std::size_t i) const { return of_[i] ? &*of_[i] : nullptr; }
  bool full() const { return room_ == 0; }
  /// After the first part that does not fit, no other is kept.
  void keep(std::size_t i, analysis::Samples&& samples);

  analysis::Samples points;  ///< of triangles, on rank 0: all of them

 private:
  std::vector<std::optional<analysis::Samples>> of_;
  std::atomic<std::uint64_t> room_;  ///< [bytes]
};

/// The room that several diagrams share: 256 MiB at most, and an eighth of what may be read at once [bytes].
std::uint64_t room_for_samples();

/// One of the diagrams that the passes make together.
struct Diagram {
  Diagram(const BinsOptions& asked, analysis::BinPlan made, std::size_t parts, std::uint64_t room)
      : options(asked), plan(std::move(made)), kept(parts, room) {}
  const BinsOptions& options;
  analysis::BinPlan plan;
  KeptSamples kept;
};
using Diagrams = std::deque<Diagram>;  // they do not move

/// The quantities of all axes of a diagram, and of its means.
std::vector<analysis::Quantity> quantities_of(const analysis::BinPlan& plan);

/// One part, read at most once for all diagrams, and not before one of them needs it. For one thread.
class PartInPass {
 public:
  PartInPass(const Pass& pass, std::size_t i);
  /// Reads these too, if it reads.
  void ask(const std::vector<analysis::Quantity>& quantities, const std::string& weight);
  void ask(const analysis::BinPlan& plan) { ask(quantities_of(plan), plan.weight.field); }

  const mesh::Part& cells();
  /// Those of its cells, or of its particles.
  analysis::Samples samples(const analysis::BinPlan& plan);

 private:
  const Pass& pass_;
  std::size_t i_;
  mesh::Request request_;
  std::optional<mesh::Part> read_;
};

/// How samples are added up.
template <class Empty, class Take, class Add>
struct SampleSums {
  Empty empty;  ///< T empty(const Diagram&)
  Take take;    ///< take(const Diagram&, const Samples&, T& to)
  Add add;      ///< add(T& to, T&& later)
};
template <class Empty, class Take, class Add>
SampleSums(Empty, Take, Add) -> SampleSums<Empty, Take, Add>;

/// Adds a part's samples of one diagram. The part is asked for what it needs, unless its samples were kept.
template <class T, class Take>
void take_samples(const Pass& pass, Diagram& diagram, std::size_t i, PartInPass& part, const Take& how, T& sums) {
  const auto take = [&](const analysis::Samples& samples) { how(diagram, samples, sums); };
  KeptSamples& kept = diagram.kept;
  if (const analysis::Samples* samples = kept.of(i)) return take(*samples);
  const bool again = !diagram.options.percentiles.empty() && !kept.full();
  if (!pass.options.particles && !again)
    return analysis::for_each_samples(part.cells(), pass.header, pass.selection, diagram.plan, take);
  analysis::Samples samples = part.samples(diagram.plan);
  take(samples);
  if (again) kept.keep(i, std::move(samples));
}

/// Adds up all samples of the selection, in one pass over the parts; the result, one of each diagram, is on all ranks,
/// and has the same bits for any number of threads and ranks. Collective.
template <class Empty, class Take, class Add>
auto sum_samples(const Pass& pass, const std::vector<Diagram*>& diagrams, const SampleSums<Empty, Take, Add>& how) {
  const base::Ranks& ranks = pass.workers.ranks;
  const auto empty = [&] {
    std::vector<decltype(how.empty(*diagrams.front()))> sums;
    for (const Diagram* diagram : diagrams) sums.push_back(how.empty(*diagram));
    return sums;
  };
  auto sums = empty();
  if (pass.step.unstructured) {
    for (std::size_t d = 0; d < diagrams.size() && ranks.rank == 0; ++d)
      how.take(*diagrams[d], diagrams[d]->kept.points, sums[d]);
    return ranks.size > 1 ? base::from_first(ranks, sums) : sums;
  }
  const auto work = [&](std::size_t i) {
    auto of_part = empty();
    PartInPass part(pass, i);
    for (const Diagram* diagram : diagrams)
      if (!diagram->kept.of(i)) part.ask(diagram->plan);
    for (std::size_t d = 0; d < diagrams.size(); ++d) take_samples(pass, *diagrams[d], i, part, how.take, of_part[d]);
    return of_part;
  };
  const auto add = [&](auto& to, auto&& later) {
    for (std::size_t d = 0; d < to.size(); ++d) how.add(to[d], std::move(later[d]));
  };
  auto found = sum_parts(pass.scope.parts, pass.workers, Summation{work, add});
  return found.empty() ? sums : found;  // without a part there is no sum
}

}  // namespace octavo::verbs::detail
