#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "octavo/store/store.hpp"

/// The marks of a store (docs/format.md, "Marks"): which steps were durable, so that one that is lost is missed.
namespace octavo::store {

/// `order`s from `first` to `last`.
struct OrderRange {
  std::uint64_t first = 0, last = 0;
  bool operator==(const OrderRange&) const = default;
};

/// What the file `checkpoint.durable` or `analysis.durable` says.
struct DurableMark {
  bool is_there = false;  ///< the flow has had a durable step
  bool is_whole = false;  ///< and the mark says which; else it is empty, or damaged
  bool is_damaged = false;
  std::vector<OrderRange> orders;  ///< ascending, of steps that were durable and that nobody has removed on purpose
  std::optional<std::int64_t> newest_step;  ///< the number of the step of the largest order, where that is known
  bool operator==(const DurableMark&) const = default;
};

std::filesystem::path durable_mark(const std::filesystem::path& store, Flow flow);
/// No mark where it cannot be read.
DurableMark read_mark(const std::filesystem::path& store, Flow flow);
/// Whether there is one, whatever is in it.
bool is_marked_durable(const std::filesystem::path& store, Flow flow);

bool contains(const DurableMark& mark, std::uint64_t order);
void add(DurableMark& mark, std::uint64_t order, std::int64_t step);
/// Of a step that is removed on purpose, before it is.
void drop(DurableMark& mark, std::uint64_t order);

/// Its 512 bytes: one sector, so that a crash leaves it as it was or as it shall be. Where orders are too many the
/// oldest are left out.
std::string to_text(const DurableMark& mark, Flow flow);
void write_mark(const std::filesystem::path& store, Flow flow, const DurableMark& mark, bool sync);

/// Adds a step to its flow's mark, synced: for a writer that has written all segments of a step by itself.
void note_durable(const std::filesystem::path& store, Flow flow, std::uint64_t order, std::int64_t step);

}  // namespace octavo::store
