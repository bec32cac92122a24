#pragma once
#include <functional>
#include <string>
#include <vector>

#include "octavo/formats/ramses/write_records.hpp"
#include "octavo/formats/ramses/writer.hpp"

/// What is decided of an output before anything of it is written.
namespace octavo::formats::ramses {

/// All but the owners and the counts of octs. Throws what write() does for a step that cannot be written.
Plan make_plan(const mesh::Dataset& dataset, const WriteOptions& options);

/// Sets the plan's owners: the step's own bounds where it has those, else equal shares, for which all trees are read,
/// `advance` being called after each. Whether they are the step's own, so that its parts say what each domain had.
bool find_owners(const mesh::Dataset& dataset, const WriteOptions& options, Plan& plan,
                 const std::function<void()>& advance);

/// Says so where the step's domains had several stretches of the curve each.
void note_overload(const mesh::Dataset& dataset, std::vector<std::string>& notes);

}  // namespace octavo::formats::ramses
