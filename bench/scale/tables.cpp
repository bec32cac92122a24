#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "measured.hpp"

/// The tables of bench/results/scaling.md.
namespace octavo::scale {
namespace {

using simulated::Machine;

struct Asked {
  std::vector<int> ranks{512, 4096, 16384, 50000, 1000000};
  int per_host = 128;
  double metadata_rate = 0, syncs_rate = 0;  ///< operations a second, of the file system and of one writer; 0: unknown
  std::string only;                          ///< of the rows, those whose names have this
  bool longer = false;                       ///< the rows that take long, else the others

  /// Whether to make a row that takes long above so many ranks.
  bool wants(const std::string& row, int ranks, int long_above) const {
    return row.find(only) != std::string::npos && longer == (ranks > long_above);
  }
};

struct Row {
  std::string name;
  int ranks = 1;
  std::optional<Summary> messages{};
  std::optional<FileOperations> operations{};
  int files = 0;
};

constexpr int never_long = 1 << 30;
constexpr int most_written = 60000;  // ranks whose files are written, or that read, in minutes
constexpr int most_exchanging = 5000;
constexpr int most_on_others = 1000000;   // 38 minutes of a core and 18 GB (decision 18)
constexpr int most_whole_writers = 4096;  // two sockets and 50 kB each

void tell(const std::string& name, int ranks) { std::cerr << name << ", " << grouped(ranks) << " ranks\n"; }

int files_of(const Machine& machine) { return (machine.ranks + machine.ranks_per_host - 1) / machine.ranks_per_host; }

// ------------------------------------------------------------------ rows of messages

// The calls of a writer: first without a step, then those of a step.
void add_calls(std::vector<Row>& rows, const Machine& machine, const Asked& asked) {
  const std::string opened = "a writer is opened and closed", step = "a step is ended";
  if (!asked.wants(opened, machine.ranks, never_long) && !asked.wants(step, machine.ranks, never_long)) return;
  tell(step, machine.ranks);
  const Folder folder;
  Run run{.options = options_of(1), .steps = 0};
  const Summary none = measure(machine, only_agree, run).messages;
  run.steps = 1;
  const Summary one = measure(machine, only_agree, run).messages;
  rows.push_back({opened, machine.ranks, none});
  rows.push_back({step, machine.ranks, difference(one, none)});
}

// Whole writers in one step, with their memory.
void add_writer(std::vector<Row>& rows, const Machine& machine, const std::string& name, int per_file,
                const Asked& asked) {
  if (!asked.wants(name, machine.ranks, never_long)) return;
  tell(name, machine.ranks);
  const Folder folder;
  const Run run{.options = options_of(per_file), .steps = 1};
  rows.push_back({name, machine.ranks, measure(machine, write_checkpoints, run).messages});
}

// ------------------------------------------------------------------ rows of both

// A program that reads a step of so many parts.
struct Reading {
  std::string name;
  Program program;
  int parts = 1, per_file = 1;
  int long_above = never_long;
  int most = never_long;  ///< ranks; above, the row needs more memory than one machine has
};

void add_reading(std::vector<Row>& rows, const Machine& machine, const Reading& reading, const Asked& asked) {
  if (machine.ranks > reading.most || !asked.wants(reading.name, machine.ranks, reading.long_above)) return;
  tell(reading.name, machine.ranks);
  const Folder folder;
  const Run run;
  make_store(run.store, reading.parts, reading.per_file);
  const Measured seen = measure(machine, reading.program, run);
  rows.push_back({reading.name, machine.ranks, seen.messages, seen.files,
                  (reading.parts + reading.per_file - 1) / reading.per_file});
}

void add_readings(std::vector<Row>& rows, const Machine& machine, const Asked& asked) {
  const int ranks = machine.ranks, some = std::min(machine.ranks_per_host, 16);
  add_reading(rows, machine, {"restart on as many ranks", restart, ranks, some, most_written}, asked);
  add_reading(rows, machine,
              {"restart, from 3 parts for 2 ranks", restart, ranks / 2 * 3, some, most_exchanging, most_on_others},
              asked);
  add_reading(rows, machine,
              {"restart in blocks of 2 cells", restart_in_blocks, ranks / 2 * 4, some, most_exchanging, most_written},
              asked);
  add_reading(rows, machine, {"opened for analysis", open_for_analysis, ranks, machine.ranks_per_host, most_written},
              asked);
  if (ranks > 1024)
    add_reading(rows, {1024, machine.ranks_per_host},
                {"opened on 1 024 ranks, parts of " + grouped(ranks), open_for_analysis, ranks, machine.ranks_per_host,
                 ranks > most_written ? 0 : never_long},
                asked);
}

// ------------------------------------------------------------------ rows of file operations

// A writer of one file on each host; its other ranks open, make and sync nothing.
struct Writing {
  std::string name;
  Program program = write_checkpoints;
  engine::Options options = options_of(1);
  int steps = 2;      ///< before the one that counts; 0: opening and closing count
  int old_steps = 0;  ///< of another run, there before
};

FileOperations operations_of(int files, const Writing& writing, int steps) {
  const Folder folder;
  const Machine hosts{files, 1};
  engine::Options quick = options_of(1);
  quick.sync_policy = engine::SyncPolicy::none;
  if (writing.old_steps > 0) measure(hosts, write_checkpoints, {.options = quick, .steps = writing.old_steps});
  return measure(hosts, writing.program,
                 {.options = writing.options, .steps = steps, .first_step = 1 + writing.old_steps})
      .files;
}

void add_writing(std::vector<Row>& rows, const Machine& machine, const Writing& writing, const Asked& asked) {
  if (!asked.wants(writing.name, machine.ranks, most_written)) return;
  tell(writing.name, machine.ranks);
  const int files = files_of(machine);
  FileOperations seen = operations_of(files, writing, writing.steps + (writing.old_steps > 0 ? 0 : 1));
  if (writing.old_steps == 0) seen = difference(seen, operations_of(files, writing, writing.steps));
  rows.push_back({writing.name, machine.ranks, {}, seen, files});
}

void add_writings(std::vector<Row>& rows, const Machine& machine, const Asked& asked) {
  engine::Options keeping = options_of(1);
  keeping.keep_last = 2;  // three slots, which stay open
  add_writing(rows, machine, {"checkpoint, new files"}, asked);
  add_writing(rows, machine, {"checkpoint, keep_last = 2", write_checkpoints, keeping, 7}, asked);
  add_writing(rows, machine, {"analysis, appended", write_analysis}, asked);
  add_writing(rows, machine, {"10 old steps, keep_last = 2: opened", write_checkpoints, keeping, 0, 10}, asked);
  add_writing(rows, machine, {"10 old steps, keep_last = 2: 4 steps", write_checkpoints, keeping, 4, 10}, asked);
  // A thread and a dozen sockets a host: those of a million ranks are more than a process may have.
  if (files_of(machine) < 2 || files_of(machine) > 1000) return;
  add_writing(rows, machine,
              {"checkpoint, copies on partners", write_checkpoints, on_local_disks(&engine::Options::partner_every, 2)},
              asked);
  if (files_of(machine) >= 8)
    add_writing(rows, machine,
                {"checkpoint, XOR of 8 nodes", write_checkpoints, on_local_disks(&engine::Options::xor_every, 8)},
                asked);
}

// ------------------------------------------------------------------ printed

// Negative width: at the left.
void print_cells(const std::vector<std::pair<std::string, int>>& cells) {
  std::string line;
  for (const auto& [text, width] : cells) {
    const auto pad = static_cast<std::size_t>(std::max(0, std::abs(width) - static_cast<int>(text.size())));
    line += width < 0 ? text + std::string(pad, ' ') : std::string(pad, ' ') + text;
  }
  line.erase(line.find_last_not_of(' ') + 1);
  std::cout << line << "\n";
}

void print_messages(const std::vector<Row>& rows) {
  std::cout << "Messages and memory, at the busiest rank; one cell a rank\n\n";
  print_cells({{"", -40},
               {"ranks", 10},
               {"calls", 9},
               {"messages", 11},
               {"bytes", 9},
               {"MPI's own", 11},
               {"heap", 9},
               {"most", 9},
               {"rank 0", 9}});
  for (const Row& row : rows) {
    if (!row.messages) continue;
    const Summary& one = *row.messages;
    print_cells({{row.name, -40},
                 {grouped(row.ranks), 10},
                 {grouped(static_cast<std::int64_t>(one.calls)), 9},
                 {grouped(one.busiest.messages), 11},
                 {sized(one.busiest.bytes), 9},
                 {sized(one.library.bytes), 11},
                 {sized(one.heap), 9},
                 {sized(one.most_heap), 9},
                 {sized(one.first_heap), 9}});
  }
}

std::int64_t metadata_of(const FileOperations& operations) {
  std::int64_t all = 0;
  for (const char* name : {"open", "create", "make directory", "sync directory", "rename", "remove"})
    if (const auto found = operations.find(name); found != operations.end()) all += found->second;
  return all;
}

std::string seconds_text(double seconds) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.2f s", seconds);
  return text.data();
}

void print_one_place(const Row& row, const std::string& place, const Asked& asked) {
  FileOperations seen;
  for (const auto& [name, count] : *row.operations)
    if (place.empty() ? !name.starts_with("local ") : name.starts_with(place)) seen[name.substr(place.size())] = count;
  std::vector<std::pair<std::string, int>> cells{{row.name, -40}, {grouped(row.ranks), 10}, {grouped(row.files), 8}};
  if (!place.empty()) cells = {{"    on the nodes' disks", -40}, {"", 10}, {"", 8}};
  for (const char* name : {"create", "open", "make directory", "sync directory", "remove", "sync", "write", "read"})
    cells.emplace_back(" " + grouped(seen[name]), 10);
  const std::int64_t metadata = metadata_of(seen);
  const auto of_file = static_cast<double>(seen["sync"]) / std::max(row.files, 1);
  cells.emplace_back(grouped(metadata), 10);
  if (asked.metadata_rate > 0 && place.empty())
    cells.emplace_back(seconds_text(static_cast<double>(metadata) / asked.metadata_rate), 9);
  if (asked.syncs_rate > 0 && place.empty()) cells.emplace_back(seconds_text(of_file / asked.syncs_rate), 9);
  print_cells(cells);
}

void print_operations(const std::vector<Row>& rows, const Asked& asked) {
  std::cout << "\nFile operations of all ranks\n\n";
  std::vector<std::pair<std::string, int>> cells{{"", -40}, {"ranks", 10}, {"files", 8}};
  for (const char* name :
       {"creates", "opens", "mkdirs", "dir sync", "removals", "syncs", "writes", "reads", "metadata"})
    cells.emplace_back(name, 10);
  if (asked.metadata_rate > 0) cells.emplace_back("at rate", 9);
  if (asked.syncs_rate > 0) cells.emplace_back("syncing", 9);
  print_cells(cells);
  for (const Row& row : rows) {
    if (!row.operations) continue;
    print_one_place(row, "", asked);
    if (std::any_of(row.operations->begin(), row.operations->end(),
                    [](const auto& one) { return one.first.starts_with("local "); }))
      print_one_place(row, "local ", asked);
  }
}

// ------------------------------------------------------------------ asked

double number_of(const std::string& word) {
  std::size_t end = 0;
  const double number = std::stod(word, &end);
  const std::string unit = word.substr(end);
  const double factor = unit.empty() ? 1 : unit == "k" ? 1e3 : unit == "M" ? 1e6 : unit == "G" ? 1e9 : 0;
  if (factor == 0 || number <= 0) throw std::invalid_argument("expected a number, maybe with k, M or G, found " + word);
  return number * factor;
}

// Lines NAME = NUMBER, as `octavo bench calibrate` writes them.
void read_rates(Asked& asked, const std::string& file) {
  std::ifstream lines(file);
  if (!lines) throw std::invalid_argument("cannot read " + file + ": octavo bench calibrate DIR -o FILE makes one");
  for (std::string line; std::getline(lines, line);) {
    const std::size_t equals = line.find('=');
    if (equals == std::string::npos || line.starts_with("#")) continue;
    const std::string name = line.substr(0, line.find_last_not_of(' ', equals - 1) + 1);
    double* const rate = name == "creates_rate" ? &asked.metadata_rate
                         : name == "syncs_rate" ? &asked.syncs_rate
                                                : nullptr;
    if (rate != nullptr) *rate = std::stod(line.substr(equals + 1));
  }
}

Asked asked_of(const std::vector<std::string>& words) {
  Asked asked;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == "--long") {
      asked.longer = true;
      continue;
    }
    if (i + 1 == words.size()) throw std::invalid_argument("no value for " + words[i]);
    const std::string &name = words[i], &value = words[++i];
    if (name == "--ranks-per-node") {
      asked.per_host = static_cast<int>(number_of(value));
    } else if (name == "--metadata-rate") {
      asked.metadata_rate = number_of(value);
    } else if (name == "--rates") {
      read_rates(asked, value);
    } else if (name == "--only") {
      asked.only = value;
    } else if (name == "--ranks") {
      asked.ranks.clear();
      for (std::size_t at = 0; at < value.size(); at = std::min(value.find(',', at), value.size() - 1) + 1)
        asked.ranks.push_back(static_cast<int>(number_of(value.substr(at, value.find(',', at) - at))));
    } else {
      throw std::invalid_argument("unknown option " + name +
                                  ": there are --ranks, --ranks-per-node, --metadata-rate, --rates, --only, --long");
    }
  }
  return asked;
}

}  // namespace

void print_tables(const std::vector<std::string>& words) {
  const Asked asked = asked_of(words);
  std::vector<Row> rows;
  for (const int ranks : asked.ranks) {
    const Machine machine{ranks, asked.per_host};
    add_calls(rows, machine, asked);
    add_writings(rows, machine, asked);
    add_readings(rows, machine, asked);
    if (ranks > most_whole_writers) continue;
    add_writer(rows, machine, "a whole writer, a file a rank", 1, asked);
    add_writer(rows, machine, "a whole writer, 16 ranks a file", 16, asked);
    add_writer(rows, machine, "a whole writer, a file a host", 0, asked);
  }
  print_messages(rows);
  print_operations(rows, asked);
}

}  // namespace octavo::scale
