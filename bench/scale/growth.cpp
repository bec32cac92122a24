#include <algorithm>
#include <array>
#include <iostream>
#include <string>
#include <vector>

#include "measured.hpp"

/// Bounds of the memory of a rank.
namespace octavo::scale {
namespace {

constexpr int few = 128, many = 2048, per_host = 64;

struct Bounded {
  std::string name;
  Program program;
  int per_file = 1;              ///< contributors
  std::array<int, 2> parts{};    ///< of the store that is read, for so many ranks: {3, 2} is 3 for 2; {}: none
  std::int64_t median = 1024;    ///< [bytes] of most ranks, at most
  std::int64_t most = 2048;      ///< of the worst rank, and of rank 0
  bool first_opens_all = false;  ///< rank 0 holds all tables: it is bounded below
};

// docs/scaling.md has the arithmetic of each bound.
std::vector<Bounded> bounded() {
  return {{"calls of a writer", only_agree, 1, {}, 1024, 1024},
          {"a whole writer, a file a rank", write_checkpoints, 1, {}, 33000, 34000},
          {"a whole writer, 16 ranks a file", write_checkpoints, 16, {}, 24000, 53000},
          {"restart on as many ranks", restart, 16, {1, 1}, 31000, 33000},
          {"restart on other ranks", restart, 16, {3, 2}, 33000, 39000},
          {"restart in blocks", restart_in_blocks, 16, {3, 2}, 38000, 39000},
          {"opened for analysis", open_for_analysis, 16, {1, 1}, 19000, 19000, true}};
}

Summary measured(const Bounded& one, int ranks) {
  const Folder folder;
  const Run run{.options = options_of(one.per_file), .steps = 1};
  if (one.parts[0] > 0) make_store(run.store, ranks * one.parts[0] / one.parts[1], one.per_file);
  return measure({ranks, per_host}, one.program, run).messages;
}

// Prints a line; returns whether what is held fits.
bool fits(const std::string& what, std::int64_t held, std::int64_t bound) {
  std::cout << what << ": " << sized(held) << ", at most " << sized(bound) << (held <= bound ? "" : ": TOO MUCH")
            << "\n";
  return held <= bound;
}

// Rank 0 opens a step for itself; then it also deals the tables out, and holds those of one other rank meanwhile.
bool deals_in_turn() {
  const Folder folder;
  const Run run{.options = options_of(16), .steps = 1};
  make_store(run.store, many, 16);
  const Summary alone = measure({1, per_host}, open_for_analysis, run).messages;
  const Summary shared = measure({per_host, per_host}, open_for_analysis, run).messages;
  // Another rank's share as text and, while it is made, as a table.
  return fits("opened for analysis, rank 0 of 64 beside rank 0 alone", shared.first_heap,
              alone.first_heap + 2 * shared.heap);
}

}  // namespace

// Ranks of many need at most 1 kB more than those of few; rank 0 and the worst rank 2 kB, because they also hand on
// messages of others.
int growth() {
  bool good = true;
  for (const Bounded& one : bounded()) {
    const Summary before = measured(one, few), after = measured(one, many);
    const auto bound = [](std::int64_t held, std::int64_t more, std::int64_t most) {
      return std::min(held + more, most);
    };
    good = fits(one.name + ", most ranks", after.heap, bound(before.heap, 1024, one.median)) && good;
    good = fits(one.name + ", the worst", after.most_heap, bound(before.most_heap, 2048, one.most)) && good;
    if (!one.first_opens_all)
      good = fits(one.name + ", rank 0", after.first_heap, bound(before.first_heap, 2048, one.most)) && good;
  }
  return deals_in_turn() && good ? 0 : 1;
}

}  // namespace octavo::scale
