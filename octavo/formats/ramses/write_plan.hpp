#pragma once
#include <functional>
#include <string>
#include <vector>

#include "octavo/formats/ramses/write_records.hpp"
#include "octavo/formats/ramses/writer.hpp"

/// Decides how an output will look, before anything is written.
namespace octavo::formats::ramses {

/// Makes the plan without owners and counts of octs. Throws the errors of write() for a step that cannot be written.
DomainFilePlan make_plan(const mesh::Dataset& dataset, const WriteOptions& options);

/// Sets the plan's owners: the step's own bounds if it has them, else equal shares; for these it reads all trees and
/// calls `advance` after each. Returns whether the bounds are the step's own, so that part i is domain i as it was.
bool find_owners(const mesh::Dataset& dataset, const WriteOptions& options, DomainFilePlan& plan,
                 const std::function<void()>& advance);

/// Adds a note if the step's domains had several stretches of the curve each (RAMSES' `overload`).
void note_overload(const mesh::Dataset& dataset, std::vector<std::string>& notes);

}  // namespace octavo::formats::ramses
