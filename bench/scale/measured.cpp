#include "measured.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

#include "octavo/file/imitated.hpp"

namespace octavo::scale {

namespace fs = std::filesystem;

Folder::Folder() : before_(fs::current_path()) {
  std::string name = (fs::temp_directory_path() / "octavo-scale-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make a folder in " + name);
  path_ = fs::absolute(name);
  fs::current_path(path_);
}
Folder::~Folder() {
  std::error_code ignored;
  fs::current_path(before_, ignored);
  fs::remove_all(path_, ignored);
}

engine::Options options_of(int per_file) {
  engine::Options options;
  options.mode = engine::Mode::sync;
  options.contributors_per_file = per_file;
  return options;
}

engine::Options on_local_disks(int engine::Options::*every, int group_size) {
  engine::Options options = options_of(1);
  options.staging_directory = local_disks;
  options.ranks_per_node = 1;
  options.*every = 1;
  options.group_size = group_size;
  return options;
}

std::vector<simulated::Activity> run_virtually(const simulated::Machine& machine, const Program& program,
                                               const Run& run) {
  static int processes = 0;
  const int first = processes + 1;
  processes += machine.ranks;
  start_counting_files();
  return simulated::simulate(
      machine, [&](int) { program(MPI_COMM_WORLD, run); },
      [&](int rank) { file::imitate_process(rank < 0 ? 0 : first + rank); });
}

Summary summary_of(const std::vector<simulated::Activity>& all) {
  Summary out;
  out.calls = all.front().calls.size();
  out.first_heap = all.front().heap;
  std::vector<std::int64_t> heaps;
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    const simulated::Activity& one = all[rank];
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

Summary difference(Summary more, const Summary& less) {
  more.calls -= less.calls;
  more.busiest.messages -= less.busiest.messages;
  more.busiest.bytes -= less.busiest.bytes;
  more.library.bytes -= less.library.bytes;
  return more;
}
FileOperations difference(FileOperations more, const FileOperations& less) {
  for (const auto& [operation, count] : less) more[operation] -= count;
  return more;
}

Measured measure(const simulated::Machine& machine, const Program& program, const Run& run) {
  const auto all = run_virtually(machine, program, run);
  return {summary_of(all), counted_files()};
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

}  // namespace octavo::scale
