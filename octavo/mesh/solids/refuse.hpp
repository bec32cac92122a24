#pragma once
#include <string>

#include "octavo/mesh/dataset.hpp"

namespace octavo::mesh {

/// As refuse_solids(), with `instead`: words that say what gives a user of solids the answer ("octavo stats --where
/// ...").
void refuse_solids(const Dataset& dataset, const std::string& what, const std::string& instead);

}  // namespace octavo::mesh
