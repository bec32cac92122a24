#include "octavo/step/shared.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "octavo/base/error.hpp"
#include "octavo/base/rank_exchange.hpp"
#include "octavo/store/read/described.hpp"

namespace octavo::step {

SharedStep open_shared(const std::filesystem::path& path, const StepChoice& choice, const base::Ranks& ranks) {
  SharedStep step;
  std::string headers;
  base::agree(ranks, [&] {
    if (ranks.rank != 0) return;
    if (!store::recognise(path)) return;
    store::DescribedStep opened = store::open_described(path, choice.flow, choice.step);
    step = SharedStep(std::move(opened.dataset));
    step.describe = std::move(opened.describe);
    if (step.describe && ranks.size > 1) headers = step.describe({});
  });
  if (ranks.size > 1) headers = base::from_first(ranks, headers);
  base::agree(ranks, [&] {
    if (headers.empty() && !(ranks.rank == 0 && step.read)) step = SharedStep(open(path, choice));
    if (!headers.empty() && ranks.rank != 0) step = SharedStep(store::understand(headers));
  });
  step.choice = choice;
  step.by_one = !headers.empty() && ranks.size > 1;
  return step;
}

SharedStep open_on_all(const std::filesystem::path& path, const StepChoice& choice, const base::Ranks& ranks) {
  SharedStep step = open_shared(path, choice, ranks);
  if (!step.by_one) return step;
  std::string text;
  base::agree(ranks, [&] {
    if (ranks.rank != 0) return;
    std::vector<int> all(static_cast<std::size_t>(step.num_parts));
    std::iota(all.begin(), all.end(), 0);
    text = step.describe(all);
  });
  text = base::from_first(ranks, text);
  base::agree(ranks, [&] {
    if (ranks.rank != 0) step = SharedStep(store::understand(text));
  });
  step.choice = choice;
  step.by_one = false;
  return step;
}

mesh::Dataset deal_parts(const SharedStep& step, const base::Ranks& ranks,
                         const std::function<std::vector<int>(int rank)>& parts_of) {
  if (!step.by_one) return only_parts(step, parts_of(ranks.rank));
  std::vector<std::string> to(static_cast<std::size_t>(ranks.size));
  base::agree(ranks, [&] {
    if (ranks.rank != 0) return;
    for (int rank = 1; rank < ranks.size; ++rank) to[static_cast<std::size_t>(rank)] = step.describe(parts_of(rank));
  });
  const std::vector<std::string> from = base::all_to_all(ranks, std::move(to));
  mesh::Dataset mine;
  base::agree(ranks, [&] { mine = ranks.rank == 0 ? only_parts(step, parts_of(0)) : store::understand(from[0]); });
  return mine;
}

mesh::Dataset only_parts(const mesh::Dataset& dataset, std::vector<int> parts) {
  mesh::Dataset some = dataset;
  some.num_parts = static_cast<int>(parts.size());
  const auto whole = [parts](int part) {
    if (part < 0 || static_cast<std::size_t>(part) >= parts.size())
      throw base::Error(base::Kind::usage,
                        "there is no part " + std::to_string(part) + " of " + std::to_string(parts.size()));
    return parts[static_cast<std::size_t>(part)];
  };
  some.read = [read = dataset.read, whole](int part, const mesh::Request& request) {
    return read(whole(part), request);
  };
  some.parts_touching = [touching = dataset.parts_touching, parts](const mesh::Region& region) {
    const std::vector<int> all = touching(region);
    std::vector<int> found;
    for (std::size_t i = 0; i < parts.size(); ++i)
      if (std::binary_search(all.begin(), all.end(), parts[i])) found.push_back(static_cast<int>(i));
    return found;
  };
  if (dataset.part_bytes)
    some.part_bytes = [bytes = dataset.part_bytes, whole](int part) { return bytes(whole(part)); };
  if (dataset.cost)
    some.cost = [cost = dataset.cost, whole](int part, const mesh::Request& request) {
      return cost(whole(part), request);
    };
  if (dataset.part_sizes)
    some.part_sizes = [sizes = dataset.part_sizes, whole](int part) { return sizes(whole(part)); };
  if (dataset.read_walls)
    some.read_walls = [walls = dataset.read_walls, whole](int part) { return walls(whole(part)); };
  return some;
}

}  // namespace octavo::step
