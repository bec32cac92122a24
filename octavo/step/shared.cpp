#include "octavo/step/shared.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "octavo/base/error.hpp"
#include "octavo/base/rank_exchange.hpp"
#include "octavo/store/read/described.hpp"

namespace octavo::step {

namespace {

/// A step as rank 0 tells the others of it.
struct SharedText {
  std::string format;  ///< empty: each rank opens the step itself
  std::string text;
};
template <class Way>
void both(Way& way, SharedText& told) {
  using base::both;
  both(way, told.format, told.text);
}

constexpr const char* store_format = "octavo";

SharedStep open_first(const std::filesystem::path& path, const StepChoice& choice) {
  if (!store::recognise(path)) return SharedStep(open(path, choice));
  store::DescribedStep opened = store::open_described(path, choice.flow, choice.step);
  SharedStep step(std::move(opened.dataset));
  step.describe_parts = std::move(opened.describe);
  return step;
}

SharedText told_of(const SharedStep& step) {
  if (step.describe_parts) return {store_format, step.describe_parts({})};
  if (step.describe) return {step.format, step.describe()};
  return {};
}

/// All parts that are known here, which are not all of the step.
mesh::Dataset as_some_parts(const mesh::Dataset& dataset) {
  std::vector<int> known(static_cast<std::size_t>(dataset.num_parts));
  std::iota(known.begin(), known.end(), 0);
  return only_parts(dataset, std::move(known));
}

}  // namespace

SharedStep open_shared(const std::filesystem::path& path, const StepChoice& choice, const base::Ranks& ranks) {
  SharedStep step;
  SharedText told;
  base::agree(ranks, [&] {
    if (ranks.rank != 0) return;
    step = open_first(path, choice);
    if (ranks.size > 1) told = told_of(step);
  });
  if (ranks.size > 1) told = base::from_first(ranks, told);
  base::agree(ranks, [&] {
    if (ranks.rank == 0) return;
    if (told.format.empty())
      step = SharedStep(open(path, choice));
    else
      step =
          SharedStep(told.format == store_format ? store::understand(told.text) : understand(told.format, told.text));
  });
  step.choice = choice;
  step.by_one = told.format == store_format;
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
    text = step.describe_parts(all);
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
  const std::string text =
      base::deal(ranks, [&](int rank) { return rank == 0 ? std::string() : step.describe_parts(parts_of(rank)); });
  mesh::Dataset mine;
  base::agree(ranks,
              [&] { mine = ranks.rank == 0 ? only_parts(step, parts_of(0)) : as_some_parts(store::understand(text)); });
  return mine;
}

mesh::Dataset only_parts(const mesh::Dataset& dataset, std::vector<int> parts) {
  mesh::Dataset some = dataset;
  some.num_parts = static_cast<int>(parts.size());
  some.numbers.clear();
  for (const int part : parts) some.numbers.push_back(mesh::number_of(dataset, part));
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
