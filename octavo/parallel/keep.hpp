#pragma once
#include <filesystem>

#include "octavo/store/store.hpp"

namespace octavo::parallel {

/// Removes complete checkpoints but for `newest` and the `keep - 1` committed last before it. Steps in the making are
/// left alone. One process. What cannot be removed stays: it costs space, not safety.
void remove_old_checkpoints(const std::filesystem::path& store, int keep, const store::StepId& newest);

/// Leaves a mark in the store, the file `checkpoint.durable` or `analysis.durable`, that the flow has had a durable
/// step: from then on there is one always, and a store that has lost it cannot be taken for one in which no run has
/// come as far. One process, when a step is durable, before that is reported. It is not synced: the application may
/// wait, and a machine that crashes right then loses the mark, no step. That the mark cannot be written is no fault of
/// the step: returns whether it is there.
bool mark_durable(const std::filesystem::path& store, store::Flow flow);
std::filesystem::path durable_mark(const std::filesystem::path& store, store::Flow flow);
/// Whether there is a mark, whatever is in it.
bool is_marked_durable(const std::filesystem::path& store, store::Flow flow);

}  // namespace octavo::parallel
