#include "octavo/engine/misspelt.hpp"

#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <mutex>
#include <numeric>
#include <set>

namespace octavo::engine {
namespace {

constexpr std::string_view prefix = "OCTAVO_";

// The number of edits between two names: letters inserted, deleted, replaced, or swapped with a neighbour (restricted
// edits: Damerau 1964, computed as by Wagner and Fischer 1974).
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before_last, last(b.size() + 1), row(b.size() + 1);
  std::iota(last.begin(), last.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
    before_last = last;
    last = row;
  }
  return last[b.size()];
}

// Short names easily resemble each other, so only one letter in four may be wrong.
bool looks_like(std::string_view name, std::string_view known) {
  return 4 * distance(name, known) <= known.size() - prefix.size();
}

bool tells() {
  int running = 0, ended = 0, rank = 0;
  MPI_Initialized(&running);
  MPI_Finalized(&ended);
  if (running != 0 && ended == 0) MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank == 0;
}

}  // namespace

std::string note_on_variable(std::string_view name) {
  if (name.substr(0, prefix.size()) != prefix || name == "OCTAVO_OPTIONS") return {};
  const std::vector<std::string> known = option_variables();
  if (std::find(known.begin(), known.end(), name) != known.end()) return {};
  const auto nearest = std::min_element(known.begin(), known.end(), [&](const std::string& a, const std::string& b) {
    return distance(name, a) < distance(name, b);
  });
  std::string meant = looks_like(name, *nearest) ? *nearest : "";
  if (const std::string of_flow = "OCTAVO_CHECKPOINT_" + std::string(name.substr(prefix.size()));
      std::find(known.begin(), known.end(), of_flow) != known.end())
    meant = of_flow;
  if (meant.empty()) return {};
  return "octavo: the variable " + std::string(name) + " is none of an option and was not read: is " + meant +
         " meant?";
}

void tell_misspelt_variables() {
  static std::mutex mutex;
  static std::set<std::string> told;
  if (!tells()) return;
  const std::lock_guard lock(mutex);
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::string note = note_on_variable(text.substr(0, text.find('=')));
    if (!note.empty() && told.insert(note).second) std::fprintf(stderr, "%s\n", note.c_str());
  }
}

}  // namespace octavo::engine
