#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "octavo/file/posix.hpp"
#include "tests/support/store_fixture.hpp"

/// Everything that a writer asks of the file system is recorded; then, for every moment, a disk is rebuilt as a crash
/// at that moment may have left it.
namespace octavo::testing {

namespace fs = std::filesystem;
using file::Operation;

struct Done {
  Operation operation{};
  std::string path, target;
  std::uint64_t offset = 0, size = 0;
  std::string bytes;
};

/// The requests of a process to the file system since start().
struct FileLog {
  std::vector<Done> done;

  void add(const file::Event& event) {
    if (event.operation != Operation::read && event.operation != Operation::open &&
        event.operation != Operation::open_direct && event.operation != Operation::lock)
      done.push_back({event.operation,
                      event.path.string(),
                      event.target.string(),
                      event.offset,
                      event.size,
                      {reinterpret_cast<const char*>(event.bytes.data()), event.bytes.size()}});
  }
  void start() {
    file::set_observer([this](const file::Event& event) {
      add(event);
      return file::Verdict{};
    });
  }
  // The process is killed when it is about to do that for the n-th time: it does nothing any more.
  void start_and_die_at(Operation operation, int nth) {
    file::set_observer([this, operation, nth, times = 0, dead = false](const file::Event& event) mutable {
      dead = dead || (event.operation == operation && times++ == nth);
      if (!dead) add(event);
      return file::Verdict{dead ? EIO : 0, 0};
    });
  }
  static void stop() { file::set_observer({}); }
};

// ------------------------------------------------------------------ the disk after a crash

enum class Fate { dropped, kept, torn, chance };

// A file's bytes on disk, and the requests since its last sync; or a directory.
struct FileState {
  std::string durable;
  std::vector<Done> pending;
  bool named = false;  // the directory above was synced since it was made
  bool is_directory = false;
};

inline void apply(const Done& done, std::size_t bytes, std::string& content) {
  if (done.operation == Operation::resize) {
    content.resize(done.size, '\0');
  } else if (done.operation == Operation::preallocate) {
    content.resize(std::max<std::size_t>(content.size(), done.size), '\0');
  } else {
    if (content.size() < done.offset + bytes) content.resize(done.offset + bytes, '\0');
    content.replace(done.offset, bytes, done.bytes, 0, bytes);
  }
}

inline std::string after_crash(const FileState& state, Fate fate, Random& random) {
  std::string content = state.durable;
  for (const Done& done : state.pending) {
    std::size_t bytes = done.bytes.size();
    if (fate == Fate::dropped || (fate == Fate::chance && random.chance(0.4))) continue;
    if (fate == Fate::torn) bytes /= 2;
    if (fate == Fate::chance && random.chance(0.4)) bytes = random.below(bytes + 1);
    apply(done, bytes, content);
  }
  return content;
}

inline bool is_below(const std::string& path, const std::string& directory) {
  return path.compare(0, directory.size() + 1, directory + "/") == 0;
}

using Disk = std::map<std::string, FileState>;

inline void advance(const Done& done, Disk& disk) {
  switch (done.operation) {
    case Operation::create: disk[done.path]; break;
    case Operation::write:
    case Operation::preallocate:
    case Operation::resize: disk[done.path].pending.push_back(done); break;
    case Operation::sync: {
      FileState& state = disk[done.path];
      for (const Done& pending : state.pending) apply(pending, pending.bytes.size(), state.durable);
      state.pending.clear();
      break;
    }
    case Operation::sync_directory:
      for (auto& [path, state] : disk)
        if (fs::path(path).parent_path() == done.path) state.named = true;
      break;
    case Operation::make_directory:  // another rank may have been faster
      if (!disk.contains(done.path)) disk[done.path].is_directory = true;
      break;
    case Operation::remove:  // at once: the worst that can be
      std::erase_if(disk,
                    [&](const auto& entry) { return entry.first == done.path || is_below(entry.first, done.path); });
      break;
    default: FAIL() << "the store is not expected to rename";
  }
}

// Builds the directory as it is after the crash. A file or directory whose name was not synced is lost (by `fate`),
// with everything in it.
inline void rebuild(const Disk& disk, const fs::path& from, const fs::path& to, Fate fate, Random& random) {
  fs::remove_all(to);
  fs::create_directories(to);
  std::vector<std::string> lost;
  for (const auto& [path, state] : disk)
    if (!state.named && (fate == Fate::dropped || (fate == Fate::chance && random.chance(0.5)))) lost.push_back(path);
  for (const auto& [path, state] : disk) {
    const auto takes = [&path = path](const std::string& gone) { return path == gone || is_below(path, gone); };
    if (state.is_directory || std::any_of(lost.begin(), lost.end(), takes)) continue;
    const std::string content = after_crash(state, fate, random);
    write_file(to / fs::relative(path, from), {content.begin(), content.end()});
  }
}

inline std::string name_of(Fate fate) {
  const char* names[] = {"dropped", "kept", "torn", "chance"};
  return names[static_cast<int>(fate)];
}

}  // namespace octavo::testing
