#pragma once
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "keywords.hpp"
#include "octavo/mesh/dataset.hpp"
#include "octavo/mesh/region.hpp"

namespace octavo::bindings {

/// Takes the arguments that choose cells and name what is computed from them: max_level, region, where, definitions.
template <class Options>
void take_selection(Keywords& given, const mesh::Dataset& dataset, Options& options) {
  using Text = std::optional<std::string>;
  given.take("max_level", options.max_level);
  if (const Text region = given.get<Text>("region"))
    options.region = mesh::parse_region(*region, dataset.header.dim, mesh::domain_of(dataset.header).extent);
  options.where = given.get<Text>("where").value_or("");
  for (auto& [name, formula] : given.get<std::vector<std::pair<std::string, std::string>>>("definitions"))
    options.definitions.push_back({std::move(name), std::move(formula)});
}

}  // namespace octavo::bindings
