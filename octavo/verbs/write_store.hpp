#pragma once
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "octavo/verbs/convert.hpp"

/// Steps written as steps of a store (docs/decisions/0076-ways-through-convert.md).
namespace octavo::verbs {

/// One step to write.
struct Source {
  std::filesystem::path path;
  std::int64_t step = 0;  ///< its number in a store
  std::function<mesh::Dataset()> open;
  std::optional<step::StepChoice> stored{};  ///< the step of the store that it is
};

/// As convert(), whose options say that the output is a store. Collective.
ConvertReport write_store(const std::vector<Source>& sources, const std::filesystem::path& out,
                          const ConvertOptions& options);

/// Whether all cells are written, and no bound loosens their values.
bool is_whole_and_exact(const ConvertOptions& options);
/// Notes which bytes of a store's step other outputs have no place for. Those whose names contain `kept` are not lost.
void note_lost_bytes(const std::filesystem::path& store, const step::StepChoice& choice,
                     std::vector<std::string>& notes, const std::string& kept = {});

}  // namespace octavo::verbs
