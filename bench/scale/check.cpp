#include <algorithm>
#include <iostream>
#include <optional>
#include <random>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "measured.hpp"
#include "octavo/base/error.hpp"
#include "octavo/ranks/communicator.hpp"
#include "octavo/ranks/deliver.hpp"
#include "octavo/ranks/key_share.hpp"

/// Virtual beside real ranks.
namespace octavo::scale {
namespace {

using simulated::Activity;

struct Case {
  std::string name;
  Program program;
  engine::Options options;
  /// The number of parts of the store that the program reads, by ranks. Empty: it reads no store.
  std::function<int(int ranks)> parts{};
  int old_steps = 0;  ///< in the store before
  int least_ranks = 1;
};

std::vector<Case> cases() {
  const auto parts = [](int for_each, int more) { return [=](int ranks) { return for_each * ranks + more; }; };
  engine::Options keeping = options_of(0);
  keeping.keep_last = 2;
  return {{"checkpoints, a file a rank", write_checkpoints, options_of(1)},
          {"checkpoints, a file a host", write_checkpoints, options_of(0)},
          {"analysis, a file a rank", write_analysis, options_of(1)},
          {"analysis, a file a host", write_analysis, options_of(0)},
          {"checkpoints beside old steps", write_checkpoints, keeping, {}, 4},
          {"checkpoints, copies on partners",
           write_checkpoints,
           on_local_disks(&engine::Options::partner_every, 2),
           {},
           0,
           2},
          {"checkpoints, XOR of nodes", write_checkpoints, on_local_disks(&engine::Options::xor_every, 4), {}, 0, 4},
          {"restart on as many ranks", restart, options_of(2), parts(1, 0)},
          {"restart on other ranks", restart, options_of(3), parts(1, 3)},
          {"restart in blocks", restart_in_blocks, options_of(4), parts(2, 0)},
          {"opening for analysis", open_for_analysis, options_of(3), parts(2, 1)}};
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

// ------------------------------------------------------------------ virtual beside real ranks

Run run_of(const Case& one) {
  Run run{.options = one.options};
  run.first_step += one.old_steps;
  return run;
}

// In the folder in which the process stands; by one process.
void prepare(const Case& one, int ranks) {
  if (one.parts) make_store(run_of(one).store, one.parts(ranks), one.options.contributors_per_file.value_or(1));
  if (one.old_steps > 0) measure({ranks, ranks}, write_checkpoints, {.options = options_of(1), .steps = one.old_steps});
}

struct Seen {
  std::string calls, files;
};

Seen simulated_run(const Case& one, int ranks) {
  const Folder folder;
  prepare(one, ranks);
  const auto activities = run_virtually({ranks, ranks}, one.program, run_of(one));
  return {text_of(activities.front().calls) + "last rank:\n" + text_of(activities.back().calls),
          text_of(counted_files())};
}

/// Without the store's opens and reads: a writer's first step reads the index if a drain has made it by then.
std::string without_reading(const std::string& files) {
  std::istringstream lines(files);
  std::string out;
  for (std::string line; std::getline(lines, line);)
    if (!line.starts_with("open ") && !line.starts_with("read ")) out += line + "\n";
  return out;
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
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(from_rank(0, rank == 0 ? folder->path().string() : std::string()));
  if (rank == 0) prepare(one, ranks);
  PMPI_Barrier(MPI_COMM_WORLD);
  start_counting_files();
  const Activity activity = simulated::record([&] { one.program(MPI_COMM_WORLD, run_of(one)); });
  std::filesystem::current_path(before);
  FileOperations all;
  const std::string mine = text_of(counted_files()), calls = text_of(activity.calls);
  for (int r = 0; r < ranks; ++r) {
    const std::string text = from_rank(r, mine);
    for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1) {
      const std::string line = text.substr(at, text.find('\n', at) - at);
      all[line.substr(0, line.rfind(' '))] += std::stoll(line.substr(line.rfind(' ') + 1));
    }
  }
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

// Rank 0 gives each rank a text, then fails to. Returns whether each got its own, and the error; also of Ranks that
// have nothing but all_gather.
bool deals(int ranks) {
  bool good = true;
  simulated::simulate({ranks, ranks}, [&](int rank) {
    const base::Ranks whole = ranks::ranks_of(MPI_COMM_WORLD);
    const base::Ranks gathering{whole.rank, whole.size, whole.all_gather};
    for (const base::Ranks* one : {&whole, &gathering}) {
      const auto text_for = [](int to) { return std::string(static_cast<std::size_t>(to), 'x'); };
      if (base::deal(*one, text_for) != text_for(rank)) good = false;
      try {
        base::deal(*one, [&](int to) {
          if (to == ranks / 2) throw base::Error(base::Kind::corrupt, "torn");
          return text_for(to);
        });
        good = false;
      } catch (const base::Error& error) {
        if (error.message() != "torn") good = false;
      }
    }
  });
  return good;
}

// Whether only_agree(), with which a step of that flow ends, makes the calls of a whole writer.
bool agrees_alike(const Program& writer, const Program& alone, int ranks) {
  const Case whole{"", writer, options_of(1)}, calls_alone{"", alone, options_of(1)};
  return simulated_run(whole, ranks).calls == simulated_run(calls_alone, ranks).calls;
}

// Prints what is not as it should be; returns whether all is.
bool check_virtual(int ranks) {
  bool good = true;
  const auto expect = [&](bool holds, const std::string& what) {
    if (!holds) std::cout << what << "\n";
    good = good && holds;
  };
  expect(agrees_alike(write_checkpoints, only_agree, ranks), "calls of only_agree() and of checkpoints: DIFFER");
  expect(agrees_alike(write_analysis, only_agree, ranks), "calls of only_agree() and of analysis steps: DIFFER");
  for (int virtually = 1; virtually < 40; ++virtually) {
    expect(deals(virtually), "texts dealt to " + std::to_string(virtually) + " ranks: WRONG");
    expect(delivers(virtually), "parcels among " + std::to_string(virtually) + " ranks: LOST");
    for (const int keys : {0, 1, 30})
      expect(shares_keys(virtually, keys),
             "shares of " + std::to_string(keys) + " keys of each of " + std::to_string(virtually) + " ranks: WRONG");
  }
  return good;
}

}  // namespace

// Real ranks must make the same calls and file operations as virtual ones.
int check() {
  int rank = 0, ranks = 1, differs = 0, provided = 0;
  PMPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (const Case& one : cases()) {
    if (ranks < one.least_ranks) continue;
    const Seen real = real_run(one, rank, ranks);
    if (rank != 0) continue;
    const Seen virtually = simulated_run(one, ranks);
    const bool has_threads = !one.options.staging_directory.empty();  // when they are done decides the order of calls
    const bool same = has_threads ? without_reading(real.files) == without_reading(virtually.files)
                                  : real.calls == virtually.calls && real.files == virtually.files;
    std::cout << one.name << ", " << ranks << " ranks: " << (same ? "the same" : "DIFFERS") << "\n";
    if (same) continue;
    differs = 1;
    std::cout << "real:\n" << real.calls << real.files << "simulated:\n" << virtually.calls << virtually.files;
  }
  if (rank == 0 && !check_virtual(2 * ranks)) differs = 1;
  PMPI_Bcast(&differs, 1, MPI_INT, 0, MPI_COMM_WORLD);
  PMPI_Finalize();
  return differs;
}

std::string calls_of(std::size_t program, int ranks) {
  const Seen seen = simulated_run(cases().at(program), ranks);
  return seen.calls + seen.files;
}

}  // namespace octavo::scale
