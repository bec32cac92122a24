#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <iostream>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "octavo/file/imitated.hpp"
#include "octavo/ranks/deliver.hpp"
#include "octavo/ranks/key_share.hpp"
#include "programs.hpp"
#include "simulated.hpp"

/// octavo_bench_scale: what a step, a restart and an opening ask of a machine that need not be there.
namespace octavo::scale {
namespace {

namespace fs = std::filesystem;
using simulated::Activity;
using simulated::Machine;

// A folder that is removed at the end.
struct Folder {
  fs::path path;
  Folder() {
    std::string name = (fs::temp_directory_path() / "octavo-scale-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make a folder in " + name);
    path = name;
  }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
};

engine::Options options_of(int per_file) {
  engine::Options options;
  options.mode = engine::Mode::sync;
  options.contributors_per_file = per_file;
  return options;
}

using Program = std::function<void(MPI_Comm, const Run&)>;
struct Case {
  std::string name;
  Program program;
  int per_file = 1;
  bool restarts = false;
};
std::vector<Case> cases() {
  return {{"checkpoints, a file a rank", write_checkpoints, 1}, {"checkpoints, a file a host", write_checkpoints, 0},
          {"analysis, a file a host", write_analysis, 0},       {"restart on as many ranks", restart, 2, true},
          {"restart on other ranks", restart, 3, true},         {"restart in blocks", restart_in_blocks, 4, true}};
}

std::string text_of(const std::vector<simulated::Call>& calls) {
  std::string text;
  for (const simulated::Call& call : calls)
    text += call.name + " " + std::to_string(call.ranks) + " ranks " + std::to_string(call.bytes) + " bytes\n";
  return text;
}
// Directories are left out: where several processes make the same one at once, chance decides how many try, and all
// that do sync it.
std::string text_of(const FileOperations& operations) {
  std::string text;
  for (const auto& [name, count] : operations)
    if (!name.ends_with("directory")) text += name + " " + std::to_string(count) + "\n";
  return text;
}

// Each virtual rank counts as a process.
void imitate(int rank) { file::imitate_process(rank + 1); }

// ------------------------------------------------------------------ virtual beside real ranks

void prepare(const Case& one, const Run& run, int ranks) {
  const std::map<int, int> parts{{2, ranks}, {3, ranks + 3}, {4, 2 * ranks}};
  if (one.restarts) make_store(run.store, parts.at(one.per_file), one.per_file);
}

struct Seen {
  std::string calls, files;
};

Seen simulated_run(const Case& one, int ranks) {
  const Folder folder;
  const Run run{folder.path / "run.octavo", options_of(one.per_file)};
  prepare(one, run, ranks);
  start_counting_files(run.store);
  const auto activities = simulated::simulate(
      {ranks, ranks}, [&](int) { one.program(MPI_COMM_WORLD, run); }, imitate);
  return {text_of(activities.front().calls) + "last rank:\n" + text_of(activities.back().calls),
          text_of(counted_files())};
}

std::string from_rank(int from, std::string text) {
  int size = static_cast<int>(text.size());
  PMPI_Bcast(&size, 1, MPI_INT, from, MPI_COMM_WORLD);
  text.resize(static_cast<std::size_t>(size));
  PMPI_Bcast(text.data(), size, MPI_CHAR, from, MPI_COMM_WORLD);
  return text;
}

// On this machine's ranks.
Seen real_run(const Case& one, int rank, int ranks) {
  std::optional<Folder> folder;
  if (rank == 0) folder.emplace();
  const Run run{fs::path(from_rank(0, rank == 0 ? folder->path.string() : std::string())) / "run.octavo",
                options_of(one.per_file)};
  if (rank == 0) prepare(one, run, ranks);
  PMPI_Barrier(MPI_COMM_WORLD);
  start_counting_files(run.store);
  const Activity activity = simulated::record([&] { one.program(MPI_COMM_WORLD, run); });
  FileOperations all;
  const std::string mine = text_of(counted_files());
  for (int r = 0; r < ranks; ++r) {
    const std::string text = from_rank(r, mine);
    for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1) {
      const std::string line = text.substr(at, text.find('\n', at) - at);
      all[line.substr(0, line.rfind(' '))] += std::stoll(line.substr(line.rfind(' ') + 1));
    }
  }
  const std::string calls = text_of(activity.calls);
  return {calls + "last rank:\n" + from_rank(ranks - 1, calls), text_of(all)};
}

// Every rank sends one parcel to each rank, and one to all from itself on. Returns whether each came, in order.
bool delivers(int ranks) {
  bool good = true;
  simulated::simulate({ranks, ranks}, [&](int rank) {
    std::vector<ranks::Parcel> parcels;
    for (int to = ranks - 1; to >= 0; --to)
      parcels.push_back({to, std::to_string(rank) + " to " + std::to_string(to), 0});
    parcels.push_back({rank, std::to_string(rank) + " on", ranks - 1 - rank});
    std::vector<std::pair<int, std::string>> found, expected;
    for (ranks::Parcel& parcel : ranks::deliver(MPI_COMM_WORLD, std::move(parcels)))
      found.emplace_back(parcel.rank, std::move(parcel.bytes));
    for (int from = 0; from < ranks; ++from) {
      expected.emplace_back(from, std::to_string(from) + " to " + std::to_string(rank));
      if (from <= rank) expected.emplace_back(from, std::to_string(from) + " on");
    }
    if (found != expected) good = false;
  });
  return good;
}

// Ranks have keys all over the range, some many times, some none, and share them. Returns whether the shares are those
// that sorting all keys gives, and whether each rank finds the owners of its keys.
bool shares_keys(int ranks, int keys_a_rank) {
  constexpr int bits = 10;
  std::mt19937 random(static_cast<unsigned>(41 * ranks + keys_a_rank));
  std::vector<std::vector<base::WideKey>> keys(static_cast<std::size_t>(ranks));
  std::vector<base::WideKey> sorted;
  for (std::size_t rank = 0; rank < keys.size(); ++rank)
    for (int i = 0; i < keys_a_rank && rank % 5 != 3; ++i) {
      keys[rank].push_back(random() % 7 == 0 ? 600 : random() % 512 + random() % 512);
      sorted.push_back(keys[rank].back());
    }
  std::sort(sorted.begin(), sorted.end());
  std::vector<base::WideKey> bounds(keys.size() + 1, 1 << bits);
  bounds[0] = 0;
  const auto cuts = base::KeySearch::cuts(std::ssize(sorted), ranks);
  for (std::size_t i = 0; i < cuts.size(); ++i) bounds[i + 1] = sorted[static_cast<std::size_t>(cuts[i])];
  bool good = true;
  simulated::simulate({ranks, ranks}, [&](int rank) {
    const auto& mine = keys[static_cast<std::size_t>(rank)];
    const ranks::KeyShare share =
        ranks::find_share(MPI_COMM_WORLD, bits, std::ssize(mine), [&](base::KeyCounts& counts) {
          for (const base::WideKey key : mine) counts.count_one(key, 1);
        });
    std::vector<ranks::KeyStretch> stretches;
    for (const base::WideKey key : mine) stretches.push_back({key, key + key % 3});
    std::vector<int> found, expected;
    for (const ranks::KeyOwner& owner : ranks::owners_of(MPI_COMM_WORLD, share, stretches)) found.push_back(owner.rank);
    for (int other = 0; other < ranks; ++other) {
      const base::WideKey begin = bounds[static_cast<std::size_t>(other)],
                          end = bounds[static_cast<std::size_t>(other) + 1];
      if (begin < end && std::any_of(stretches.begin(), stretches.end(),
                                     [&](const auto& one) { return one.first < end && one.last >= begin; }))
        expected.push_back(other);
    }
    const auto own = bounds.begin() + rank;
    if (share.begin != own[0] || share.end != own[1] || found != expected) good = false;
  });
  return good;
}

// Real ranks must make the same calls and file operations as virtual ones. Collective.
int check() {
  PMPI_Init(nullptr, nullptr);
  int rank = 0, ranks = 1, differs = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (const Case& one : cases()) {
    const Seen real = real_run(one, rank, ranks);
    if (rank != 0) continue;
    const Seen virtually = simulated_run(one, ranks);
    const bool same = real.calls == virtually.calls && real.files == virtually.files;
    std::cout << one.name << ", " << ranks << " ranks: " << (same ? "the same" : "DIFFERS") << "\n";
    if (same) continue;
    differs = 1;
    std::cout << "real:\n" << real.calls << real.files << "simulated:\n" << virtually.calls << virtually.files;
  }
  if (rank == 0) {
    const bool same = simulated_run({"", only_agree}, 2 * ranks).calls == simulated_run(cases()[0], 2 * ranks).calls;
    std::cout << "calls of only_agree() and of a writer: " << (same ? "the same" : "DIFFER") << "\n";
    if (!same) differs = 1;
    for (int virtually = 1; virtually < 40; ++virtually)
      if (!delivers(virtually)) {
        std::cout << "parcels among " << virtually << " ranks: LOST\n";
        differs = 1;
      }
    for (int virtually = 1; virtually < 40; ++virtually)
      for (const int keys : {0, 1, 30})
        if (!shares_keys(virtually, keys)) {
          std::cout << "shares of " << keys << " keys of each of " << virtually << " ranks: WRONG\n";
          differs = 1;
        }
  }
  PMPI_Bcast(&differs, 1, MPI_INT, 0, MPI_COMM_WORLD);
  PMPI_Finalize();
  return differs;
}

// ------------------------------------------------------------------ tables

struct Asked {
  std::vector<int> ranks{16384, 50000, 1000000};
  int per_host = 128;
  double rate = 0;  // metadata operations a second; 0: not given
  int most_restarting = 60000;
  std::string only;  // of the rows, those whose names have this
  bool wants(const std::string& row) const { return row.find(only) != std::string::npos; }
};

// The most of all ranks but the first, and the first rank's.
struct Summary {
  std::size_t calls = 0;
  simulated::Traffic busiest, library;
  std::int64_t heap = 0, most_heap = 0, first_heap = 0;  // of most ranks: the median
};
Summary summary_of(const std::vector<Activity>& all) {
  Summary out;
  out.calls = all.front().calls.size();
  out.first_heap = all.front().heap;
  std::vector<std::int64_t> heaps;
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    const Activity& one = all[rank];
    out.busiest.messages = std::max(out.busiest.messages, one.traffic.messages);
    out.busiest.bytes = std::max(out.busiest.bytes, one.traffic.bytes);
    out.library.bytes = std::max(out.library.bytes, one.library.bytes);
    if (rank > 0 || all.size() == 1) out.most_heap = std::max(out.most_heap, one.heap);
    heaps.push_back(one.heap);
  }
  const auto middle = heaps.begin() + std::ssize(heaps) / 2;
  std::nth_element(heaps.begin(), middle, heaps.end());
  out.heap = *middle;
  return out;
}

std::string grouped(std::int64_t number) {
  std::string text = std::to_string(number);
  for (auto at = static_cast<std::ptrdiff_t>(text.size()) - 3; at > 0; at -= 3)
    text.insert(static_cast<std::size_t>(at), " ");
  return text;
}

std::string sized(std::int64_t bytes) {
  std::array<char, 32> text{};
  const auto value = static_cast<double>(bytes);
  if (bytes < 10000) return grouped(bytes) + " B";
  if (bytes < 10000000)
    std::snprintf(text.data(), text.size(), "%.0f kB", value / 1e3);
  else
    std::snprintf(text.data(), text.size(), "%.0f MB", value / 1e6);
  return text.data();
}

void print_row(const std::vector<std::pair<std::string, int>>& cells) {
  std::string line;
  for (const auto& [text, width] : cells) {
    const auto pad = static_cast<std::size_t>(std::max(0, std::abs(width) - static_cast<int>(text.size())));
    line += width < 0 ? text + std::string(pad, ' ') : std::string(pad, ' ') + text;
  }
  line.erase(line.find_last_not_of(' ') + 1);
  std::cout << line << "\n" << std::flush;
}

void print_messages(const std::string& name, int ranks, const Summary& one) {
  print_row({{name, -34},
             {grouped(ranks), 10},
             {grouped(static_cast<std::int64_t>(one.calls)), 7},
             {grouped(one.busiest.messages), 10},
             {sized(one.busiest.bytes), 11},
             {sized(one.library.bytes), 11},
             {sized(one.heap), 10},
             {sized(one.most_heap), 10},
             {sized(one.first_heap), 10}});
}

Summary difference(Summary more, const Summary& less) {
  more.calls -= less.calls;
  more.busiest.messages -= less.busiest.messages;
  more.busiest.bytes -= less.busiest.bytes;
  more.library.bytes -= less.library.bytes;
  return more;
}

Summary run_on(const Machine& machine, const Program& program, const Run& run) {
  return summary_of(simulated::simulate(machine, [&](int) { program(MPI_COMM_WORLD, run); }));
}

std::int64_t memory_there() { return static_cast<std::int64_t>(::sysconf(_SC_PHYS_PAGES)) * ::sysconf(_SC_PAGESIZE); }

// Virtual ranks that restart hold this much all at once: what a rank holds while it waits, with its stack.
constexpr std::int64_t held_by_restarting = 10000;

// Restarts of a step that `parts` ranks have written.
void print_restart(const std::string& name, const Machine& machine, int parts, const Asked& asked,
                   const Program& program = restart) {
  if (!asked.wants(name)) return;
  const std::int64_t needed = machine.ranks * held_by_restarting;
  if (machine.ranks > asked.most_restarting || needed > memory_there() / 10 * 9) {
    std::cout << name << ", " << grouped(machine.ranks) << " ranks: not run; it takes " << sized(needed)
              << " and --most-restarting " << machine.ranks << "\n";
    return;
  }
  const Folder folder;
  const Run run{folder.path / "run.octavo", options_of(1)};
  make_store(run.store, parts, std::min(machine.ranks_per_host, 16));
  print_messages(name, machine.ranks, run_on(machine, program, run));
}

void print_all_messages(const Asked& asked) {
  std::cout << "Messages and memory, at the busiest rank; one cell a rank\n\n";
  print_row({{"", -34},
             {"ranks", 10},
             {"calls", 7},
             {"messages", 10},
             {"bytes", 11},
             {"MPI's own", 11},
             {"heap", 10},
             {"most", 10},
             {"rank 0", 10}});
  const Folder folder;
  for (const int ranks : asked.ranks) {
    const Machine machine{ranks, asked.per_host};
    if (asked.wants("a writer is opened and closed") || asked.wants("a step")) {
      Run run{folder.path / "none", options_of(1), 0};
      const Summary none = run_on(machine, only_agree, run);
      run.steps = 1;
      const Summary one = run_on(machine, only_agree, run);
      print_messages("a writer is opened and closed", ranks, none);
      print_messages("a step", ranks, difference(one, none));
    }
    print_restart("restart on as many ranks", machine, ranks, asked);
    print_restart("restart, from 3 parts for 2 ranks", machine, ranks / 2 * 3, asked);
    print_restart("restart in blocks of 2 cells", machine, ranks / 2 * 4, asked, restart_in_blocks);
  }
  for (const int ranks : {256, 4096}) {
    if (!asked.wants("a whole writer, a file a rank")) break;
    const Folder folder_of_files;
    const Run run{folder_of_files.path / "run.octavo", options_of(1), 1};
    print_messages("a whole writer, a file a rank", ranks, run_on({ranks, asked.per_host}, write_checkpoints, run));
  }
}

std::int64_t metadata_of(const FileOperations& operations) {
  std::int64_t all = 0;
  for (const char* name : {"open", "create", "make directory", "sync directory", "rename", "remove"})
    if (const auto found = operations.find(name); found != operations.end()) all += found->second;
  return all;
}

FileOperations files_of(const Program& program, int files, engine::Options options, int steps) {
  const Folder folder;
  const Run run{folder.path / "run.octavo", std::move(options), steps};
  start_counting_files(run.store);
  simulated::simulate(
      {files, 1}, [&](int) { program(MPI_COMM_WORLD, run); }, imitate);
  return counted_files();
}

void print_operations(const std::string& name, int ranks, int files, FileOperations seen, const Asked& asked) {
  const std::int64_t metadata = metadata_of(seen);
  std::vector<std::pair<std::string, int>> cells{{name, -34}, {grouped(ranks), 10}, {grouped(files), 8}};
  for (const char* operation : {"create", "open", "make directory", "sync directory", "sync", "write", "read"})
    cells.emplace_back(grouped(seen[operation]), 11);
  cells.emplace_back(grouped(metadata), 10);
  std::array<char, 32> seconds{};
  if (asked.rate > 0)
    std::snprintf(seconds.data(), seconds.size(), "%.2f s", static_cast<double>(metadata) / asked.rate);
  cells.emplace_back(asked.rate > 0 ? seconds.data() : "-", 9);
  print_row(cells);
}

// Those of one step: the difference between a run and one of a step less.
void print_files(const std::string& name, const Program& program, int ranks, int files, const engine::Options& options,
                 int steps, const Asked& asked) {
  if (!asked.wants(name)) return;
  FileOperations more = files_of(program, files, options, steps + 1);
  for (const auto& [operation, count] : files_of(program, files, options, steps)) more[operation] -= count;
  print_operations(name, ranks, files, std::move(more), asked);
}

// One process opens a step of that many parts, as rank 0 of an analysis does. The other ranks open no file for it.
void print_opening(int ranks, int files, const Asked& asked) {
  if (!asked.wants("opened for analysis")) return;
  const Folder folder;
  make_store(folder.path / "run.octavo", ranks, asked.per_host);
  start_counting_files(folder.path / "run.octavo");
  const auto seen = simulated::simulate({1, 1}, [&](int) { open_for_analysis(folder.path / "run.octavo"); });
  print_operations("opened for analysis", ranks, files, counted_files(), asked);
  std::cout << "    rank 0 holds up to " << sized(seen.front().heap) << ", " << seen.front().heap / ranks
            << " bytes a part\n";
}

void print_all_files(const Asked& asked) {
  std::cout << "\nFile operations a step, of all ranks; a file a host\n\n";
  print_row({{"", -34},
             {"ranks", 10},
             {"files", 8},
             {"creates", 11},
             {"opens", 11},
             {"mkdirs", 11},
             {"dir syncs", 11},
             {"syncs", 11},
             {"writes", 11},
             {"reads", 11},
             {"metadata", 10},
             {"at rate", 9}});
  for (const int ranks : asked.ranks) {
    const int files = (ranks + asked.per_host - 1) / asked.per_host;
    engine::Options options = options_of(1);
    print_files("checkpoint, new files", write_checkpoints, ranks, files, options, 2, asked);
    options.keep_last = 2;  // three slots, which stay open
    print_files("checkpoint, keep_last = 2", write_checkpoints, ranks, files, options, 7, asked);
    options.keep_last = 0;
    print_files("analysis, appended", write_analysis, ranks, files, options, 2, asked);
    print_opening(ranks, files, asked);
  }
}

// Ranks of many need at most 1 kB more than those of few; rank 0 and the worst rank 2 kB, because they also hand on
// messages of others. Returns 1 if not.
int growth() {
  const auto summaries = [](int ranks) {
    const Folder folder;
    Run run{folder.path / "written", options_of(1), 1};
    std::vector<Summary> found{run_on({ranks, 64}, write_checkpoints, run)};
    for (const int parts : {ranks, ranks / 2 * 3}) {
      run.store = folder.path / std::to_string(parts);
      make_store(run.store, parts, 16);
      found.push_back(run_on({ranks, 64}, restart, run));
    }
    found.push_back(run_on({ranks, 64}, restart_in_blocks, run));
    return found;
  };
  const auto few = summaries(128), many = summaries(2048);
  int grows = 0;
  const auto compare = [&](const char* what, const char* which, std::int64_t before, std::int64_t after,
                           std::int64_t more = 1024) {
    const bool fits = after <= before + more;
    std::cout << what << ", " << which << ": " << sized(before) << " of 128 ranks, " << sized(after) << " of 2048"
              << (fits ? "" : ": GROWS") << "\n";
    if (!fits) grows = 1;
  };
  for (std::size_t i = 0; i < few.size(); ++i) {
    const char* what =
        std::array{"a writer", "a restart on as many ranks", "a restart on others", "a restart in blocks"}.at(i);
    compare(what, "most ranks", few[i].heap, many[i].heap);
    compare(what, "the worst", few[i].most_heap, many[i].most_heap, 2048);
    compare(what, "rank 0", few[i].first_heap, many[i].first_heap, 2048);
  }
  return grows;
}

double number_of(const std::string& word) {
  std::size_t end = 0;
  const double number = std::stod(word, &end);
  const std::string unit = word.substr(end);
  const double factor = unit.empty() ? 1 : unit == "k" ? 1e3 : unit == "M" ? 1e6 : unit == "G" ? 1e9 : 0;
  if (factor == 0 || number <= 0) throw std::invalid_argument("expected a number, maybe with k, M or G, found " + word);
  return number * factor;
}

Asked asked_of(const std::vector<std::string>& words) {
  Asked asked;
  for (std::size_t i = 0; i < words.size(); i += 2) {
    if (i + 1 == words.size()) throw std::invalid_argument("no value for " + words[i]);
    const std::string& value = words[i + 1];
    if (words[i] == "--ranks-per-node") {
      asked.per_host = static_cast<int>(number_of(value));
    } else if (words[i] == "--metadata-rate") {
      asked.rate = number_of(value);
    } else if (words[i] == "--most-restarting") {
      asked.most_restarting = static_cast<int>(number_of(value));
    } else if (words[i] == "--only") {
      asked.only = value;
    } else if (words[i] == "--ranks") {
      asked.ranks.clear();
      for (std::size_t at = 0; at < value.size(); at = std::min(value.find(',', at), value.size() - 1) + 1)
        asked.ranks.push_back(static_cast<int>(number_of(value.substr(at, value.find(',', at) - at))));
    } else {
      throw std::invalid_argument("unknown option " + words[i] +
                                  ": there are --ranks, --ranks-per-node, --metadata-rate, --most-restarting, --only");
    }
  }
  return asked;
}

int tables(const std::vector<std::string>& words) {
  const Asked asked = asked_of(words);
  print_all_messages(asked);
  print_all_files(asked);
  return 0;
}

}  // namespace
}  // namespace octavo::scale

int main(int count, char** arguments) try {
  using namespace octavo::scale;
  const std::vector<std::string> words(arguments + 1, arguments + count);
  if (words == std::vector<std::string>{"--check"}) return check();
  if (words == std::vector<std::string>{"--growth"}) return growth();
  if (words.size() == 3 && words[0] == "--calls") {
    const auto all = cases();
    const Seen seen = simulated_run(all.at(std::stoul(words[1])), std::stoi(words[2]));
    std::cout << seen.calls << seen.files;
    return 0;
  }
  return tables(words);
} catch (const std::invalid_argument& error) {
  std::cerr << "octavo_bench_scale: " << error.what() << "\n";
  return 2;
} catch (const std::exception& error) {
  std::cerr << "octavo_bench_scale: " << error.what() << "\n";
  return 1;
}
