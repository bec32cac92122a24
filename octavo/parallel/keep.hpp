#pragma once
#include <filesystem>

#include "octavo/store/store.hpp"

namespace octavo::parallel {

/// Removes complete checkpoints but for `newest` and the `keep - 1` committed last before it. Steps in the making are
/// left alone. One process. What cannot be removed stays: it costs space, not safety.
void remove_old_checkpoints(const std::filesystem::path& store, int keep, const store::StepId& newest);

}  // namespace octavo::parallel
