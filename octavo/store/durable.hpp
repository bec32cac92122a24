#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "octavo/store/store.hpp"

/// The marks of a store list the steps that were durable, so that a lost step is noticed (docs/format.md, "Marks").
namespace octavo::store {

/// The `order`s from `first` to `last`, both included.
struct OrderRange {
  std::uint64_t first = 0, last = 0;
  bool operator==(const OrderRange&) const = default;
};

/// The content of the file `checkpoint.durable` or `analysis.durable`.
struct DurableMark {
  bool is_there = false;  ///< the file exists: the flow has had a durable step
  bool is_whole = false;  ///< the mark lists the steps; false if it is empty or damaged
  bool is_damaged = false;
  /// A listed step may be missing if so many steps of larger orders are complete, because their writer has then taken
  /// its place. 0: never.
  std::uint32_t kept = 0;
  std::vector<OrderRange> orders;           ///< of durable steps that nobody has removed on purpose; ascending
  std::uint64_t known = 0;                  ///< the mark says for every order up to this one whether it may be missing
  std::optional<std::int64_t> newest_step;  ///< number of the step with the largest order, if known
  bool operator==(const DurableMark&) const = default;
};

std::filesystem::path durable_mark(const std::filesystem::path& store, Flow flow);
/// Reads a flow's mark. Throws nothing: a mark that exists and cannot be read is damaged.
DurableMark read_mark(const std::filesystem::path& store, Flow flow);
/// Whether the flow has a mark, whatever its content.
bool is_marked_durable(const std::filesystem::path& store, Flow flow);

bool contains(const DurableMark& mark, std::uint64_t order);
/// Whether a step of this order may be missing although the mark lists it. `complete`: the orders of complete steps.
bool is_given_up(const DurableMark& mark, std::uint64_t order, const std::set<std::uint64_t>& complete);
void add(DurableMark& mark, std::uint64_t order, std::int64_t step);
/// Takes a step off the mark. Call it before the step is removed on purpose, and write the mark in between.
void drop(DurableMark& mark, std::uint64_t order);
/// The same for every step up to this order.
void drop_up_to(DurableMark& mark, std::uint64_t order);
/// Notes that a step has failed, so that its order is not looked for. Call it before the step's files are removed.
void note_failed(DurableMark& mark, std::uint64_t order);

/// The mark as text of 512 bytes, one sector, so that a crash leaves the old mark or the new one. If there are too many
/// orders, the oldest are left out.
std::string to_text(const DurableMark& mark, Flow flow);
void write_mark(const std::filesystem::path& store, Flow flow, const DurableMark& mark, bool sync);
/// The same, through a handle that stays open between marks. It is opened first if it is closed or its file is gone.
void write_mark(file::File& open, const std::filesystem::path& store, Flow flow, const DurableMark& mark, bool sync);

/// Adds a step to its flow's mark and syncs the mark. For a writer that has written all segments of a step by itself.
void note_durable(const std::filesystem::path& store, Flow flow, std::uint64_t order, std::int64_t step);

}  // namespace octavo::store
