#pragma once
#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "octavo/base/ranks.hpp"
#include "octavo/mesh/dataset.hpp"
#include "octavo/step/open.hpp"

namespace octavo::step {

/// A step that several ranks read together.
struct SharedStep : mesh::Dataset {
  SharedStep() = default;
  SharedStep(mesh::Dataset whole) : mesh::Dataset(std::move(whole)) {}  ///< each rank has opened it

  StepChoice choice{};  ///< as open_shared() was asked
  /// Whether rank 0 alone has opened the step. Other ranks know its headers and none of its parts.
  bool by_one = false;
  /// For a store: tells another process what it needs to read some parts (numbers ascending). Empty for other formats,
  /// for triangles, and on other ranks than 0.
  std::function<std::string(const std::vector<int>& parts)> describe_parts{};
};

/// Opens a step as open() does. Rank 0 alone opens files. It tells the other ranks the headers of a store, and all that
/// it knows of a format that describes what it has opened (Dataset::describe). Each rank opens other formats, and
/// triangles in a store, by itself. Every rank gets the same error. Collective.
SharedStep open_shared(const std::filesystem::path& path, const StepChoice& choice, const base::Ranks& ranks);

/// The same for verbs of which every rank may read any part: rank 0 tells all ranks of all parts. Collective.
SharedStep open_on_all(const std::filesystem::path& path, const StepChoice& choice, const base::Ranks& ranks);

/// Gives this rank its parts as a data set of their own, numbered from 0: those of parts_of(rank), ascending. Only rank
/// 0 is asked, for one rank after another, if it alone has opened the step, and it holds the tables of one other rank
/// at a time; else each rank is asked for its own. Collective.
mesh::Dataset deal_parts(const SharedStep& step, const base::Ranks& ranks,
                         const std::function<std::vector<int>(int rank)>& parts_of);

/// The data set of some parts alone, numbered from 0 in the order given.
mesh::Dataset only_parts(const mesh::Dataset& dataset, std::vector<int> parts);

}  // namespace octavo::step
