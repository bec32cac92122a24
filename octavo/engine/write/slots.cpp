#include "octavo/engine/write/slots.hpp"

#include <algorithm>

#include "octavo/ranks/communicator.hpp"

namespace octavo::engine {
namespace {

constexpr std::int64_t nothing = 0;  // in what rank 0 tells of a slot; else the age of its step, 1 the newest

struct Holding {
  std::size_t slot = 0;
  KeptStep step;
};

std::vector<std::int64_t> ages_on_disk(const std::filesystem::path& path, const FoundCheckpoints& found,
                                       const std::optional<store::StepId>& resumed_from) {
  std::vector<std::int64_t> ages;
  while (std::filesystem::is_directory(path / slot_name(ages.size()))) ages.push_back(nothing);
  std::vector<Holding> holding;
  for (std::size_t slot = 0; slot < ages.size(); ++slot)
    if (const auto here = found.find(slot_name(slot)); here != found.end())
      for (const KeptStep& step : here->second.listed) holding.push_back({slot, step});
  // Later steps belong to the abandoned branch: their slots count as free.
  if (resumed_from) std::erase_if(holding, [&](const Holding& h) { return h.step.id.step > resumed_from->step; });
  std::sort(holding.begin(), holding.end(),
            [](const Holding& a, const Holding& b) { return a.step.order > b.step.order; });
  if (resumed_from)
    // The step from which the run resumed counts as the newest: the run needs it until it has a checkpoint of its own.
    std::stable_partition(holding.begin(), holding.end(),
                          [&](const Holding& h) { return h.step.id.attempt == resumed_from->attempt; });
  for (std::size_t i = 0; i < holding.size(); ++i) ages[holding[i].slot] = static_cast<std::int64_t>(i) + 1;
  return ages;
}

}  // namespace

std::string slot_name(std::size_t slot) {
  std::string number = std::to_string(slot);
  if (number.size() < 3) number.insert(0, 3 - number.size(), '0');
  return "checkpoint/slot." + number;
}

void Slots::find(MPI_Comm comm, const std::filesystem::path& store, const FoundCheckpoints& found,
                 const std::optional<store::StepId>& resumed_from) {
  std::vector<std::int64_t> ages;
  ranks::agree(comm, [&] {
    if (ranks::rank_in(comm) == 0 && std::filesystem::exists(store)) ages = ages_on_disk(store, found, resumed_from);
  });
  auto count = static_cast<std::int64_t>(ages.size());
  MPI_Bcast(&count, 1, MPI_INT64_T, 0, comm);
  ages.resize(static_cast<std::size_t>(count));
  MPI_Bcast(ages.data(), static_cast<int>(count), MPI_INT64_T, 0, comm);
  // Numbers of this run count from 0, so negative ones make every step on disk older than the run's own.
  for (std::int64_t age : ages) slots_.push_back({age == nothing ? Slot::Use::free : Slot::Use::holds, -age});
}

// A step is needed if fewer than keep_ are newer. With keep_ + 1 slots there is one for the next step even when keep_
// steps are complete, so a step that may fail never overwrites one that is needed.
bool Slots::is_needed(const Slot& slot) const {
  if (slot.use != Slot::Use::holds) return slot.use == Slot::Use::writing;
  const auto is_newer = [&](const Slot& other) { return other.use == Slot::Use::holds && other.number > slot.number; };
  return static_cast<std::size_t>(std::count_if(slots_.begin(), slots_.end(), is_newer)) < keep_;
}

std::vector<std::string> Slots::unneeded() const {
  std::vector<std::string> names;
  for (std::size_t s = 0; s < slots_.size(); ++s)
    if (!is_needed(slots_[s])) names.push_back(slot_name(s));
  return names;
}

std::optional<std::string> Slots::take(std::int64_t number) {
  auto slot = std::find_if_not(slots_.begin(), slots_.end(), [&](const Slot& one) { return is_needed(one); });
  if (slot == slots_.end() && slots_.size() > keep_) return {};
  if (slot == slots_.end()) slot = slots_.insert(slot, Slot{});
  *slot = {Slot::Use::writing, number};
  return slot_name(static_cast<std::size_t>(slot - slots_.begin()));
}

void Slots::set(std::int64_t number, Slot::Use use) {
  for (Slot& slot : slots_)
    if (slot.use == Slot::Use::writing && slot.number == number) slot.use = use;
}
void Slots::durable(std::int64_t number) { set(number, Slot::Use::holds); }
void Slots::failed(std::int64_t number) { set(number, Slot::Use::free); }

}  // namespace octavo::engine
