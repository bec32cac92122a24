#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string_view>
#include <vector>

#include "octavo/base/ranks.hpp"
#include "octavo/mesh/dataset.hpp"
#include "octavo/step/new_file.hpp"
#include "octavo/store/store.hpp"

namespace octavo::step {

/// The place where an output is written. A new output is written as NAME.partial and renamed once it is whole. Appended
/// steps go to the store itself, where each appears whole or not at all. While this object lives, no other job writes
/// the same output.
struct OutputPlace {
  std::filesystem::path out, path;
  bool appends = false;   ///< steps are appended: `path` is the output itself
  bool replaces = false;  ///< an output of that name exists and is replaced at the end
  Claim claim;
};

/// Removes the remains of a killed job. Throws Error(usage) if `out` exists and neither overwrite nor append is set, if
/// the flow already holds one of the steps, for what require_replaceable() keeps, or if another job writes it.
OutputPlace prepare_target(const std::filesystem::path& out, const std::vector<std::int64_t>& steps, bool overwrite,
                           bool append, store::Flow flow = store::Flow::analysis);

/// The same for an output of another format, or without `kind` for a file of none (require_replaceable()).
OutputPlace prepare_native_target(const std::filesystem::path& out, bool overwrite, std::string_view kind = {});

/// Checks a step that a code will go on from. Throws Error(usage) if it was stored with a loss, so that its values are
/// not exactly those of its simulation; with lossy_ok it adds a note instead.
void require_exact_values(const mesh::Dataset& dataset, bool lossy_ok, std::vector<std::string>& notes);

/// Collective. Writes an output beside its final name, and renames it once it is whole and synced. `prepare` runs on
/// the first rank, `write` on all, with the path to write to. If either throws, the unfinished output is removed.
void write_beside(const base::Ranks& ranks, const std::function<OutputPlace()>& prepare,
                  const std::function<void(const std::filesystem::path&)>& write);

}  // namespace octavo::step
