#include "octavo/parallel/keep.hpp"

#include <algorithm>
#include <span>
#include <string>
#include <system_error>

#include "octavo/base/error.hpp"
#include "octavo/file/posix.hpp"
#include "octavo/store/scan.hpp"

namespace octavo::parallel {

void remove_old_checkpoints(const std::filesystem::path& store, int keep, const store::StepId& newest) try {
  const store::Scan scan = store::scan_store(store);
  std::vector<const store::StepFound*> complete;
  const store::StepFound* last = nullptr;
  for (const store::StepFound& step : scan.steps) {
    if (step.flow != store::Flow::checkpoint || !store::listed(step)) continue;
    complete.push_back(&step);
    if (step.step == newest.step && step.attempt == newest.attempt) last = &step;
  }
  // Committed again since, or gone: the next checkpoint will look again.
  if (last == nullptr) return;
  std::erase_if(complete, [&](const auto* step) { return step->order > last->order; });
  std::sort(complete.begin(), complete.end(), [](const auto* a, const auto* b) { return a->order > b->order; });
  for (std::size_t i = static_cast<std::size_t>(keep); i < complete.size(); ++i) {
    const auto directory = scan.subfiles[complete[i]->segments[0].subfile].path.parent_path();
    if (directory != store::directory_of(store, store::Flow::checkpoint, complete[i]->step)) continue;
    file::remove_all(directory);
  }
} catch (const base::Error&) {
}

std::filesystem::path durable_mark(const std::filesystem::path& store, store::Flow flow) {
  return store / (store::to_string(flow) + ".durable");
}

bool mark_durable(const std::filesystem::path& store, store::Flow flow) try {
  if (is_marked_durable(store, flow)) return true;
  const std::string text = "This store has had durable " + store::to_string(flow) +
                           " steps: where none can be read, they are lost, and a run does not start anew unasked.\n";
  const file::File file = file::open_write(durable_mark(store, flow));
  file::pwrite_all(file, 0, std::as_bytes(std::span(text)));
  return true;
} catch (const base::Error&) {
  return false;
}

bool is_marked_durable(const std::filesystem::path& store, store::Flow flow) {
  std::error_code ignored;
  return std::filesystem::exists(durable_mark(store, flow), ignored);
}

}  // namespace octavo::parallel
