#include "octavo/engine/restart/failed_restarts.hpp"

#include <string>

#include "octavo/base/error.hpp"
#include "octavo/file/posix.hpp"
#include "octavo/ranks/communicator.hpp"

namespace octavo::engine {
namespace {

namespace fs = std::filesystem;

fs::path directory_in(const fs::path& store) { return store / "restarts"; }

fs::path marker_of(const fs::path& store, store::Flow flow, const store::StepId& step, Mark mark) {
  std::string name =
      (mark == Mark::started ? "started-" : "failed-") + store::to_string(flow) + "-" + std::to_string(step.step) + "-";
  for (std::byte byte : step.attempt)
    for (unsigned shift : {4U, 0U}) name += "0123456789abcdef"[std::to_integer<unsigned>(byte) >> shift & 15U];
  return directory_in(store) / name;
}

}  // namespace

void remember_restart(const fs::path& store, store::Flow flow, const store::StepId& step, Mark mark) {
  file::make_directories(directory_in(store));
  const std::string text = "A run started from " + store::to_string(flow) + " step " + std::to_string(step.step) +
                           " and has not got further. Remove this file to start from there again.\n";
  const file::File file = file::open_write(marker_of(store, flow, step, mark));
  file::pwrite_all(file, 0, std::as_bytes(std::span(text)));
  // A start may take the node down with it, and its mark must be there afterwards.
  file::sync(file);
  file::sync_directory(directory_in(store));
}

void forget_restart(const fs::path& store, store::Flow flow, const store::StepId& step, Mark mark) {
  std::error_code ignored;
  if (!fs::exists(marker_of(store, flow, step, mark), ignored)) return;
  file::remove(marker_of(store, flow, step, mark));
  file::sync_directory(directory_in(store));
}

bool restart_failed_before(const fs::path& store, store::Flow flow, const store::StepId& step) {
  std::error_code ignored;
  return fs::exists(marker_of(store, flow, step, Mark::started), ignored) ||
         fs::exists(marker_of(store, flow, step, Mark::failed), ignored);
}

void restart_failed(MPI_Comm comm, const fs::path& store, const store::StepId& step, store::Flow flow) {
  ranks::agree(comm, [&] {
    if (ranks::rank_in(comm) == 0) remember_restart(store, flow, step, Mark::failed);
  });
}

int forget_failed_restarts(const fs::path& store) {
  std::vector<fs::path> markers;
  std::error_code ignored;
  for (fs::directory_iterator it(directory_in(store), ignored), end; it != end; it.increment(ignored))
    markers.push_back(it->path());
  for (const fs::path& marker : markers) file::remove(marker);
  if (!markers.empty()) file::sync_directory(directory_in(store));
  return static_cast<int>(markers.size());
}

}  // namespace octavo::engine
