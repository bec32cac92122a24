#include "octavo/parallel/keep.hpp"

#include <algorithm>
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

}  // namespace octavo::parallel
