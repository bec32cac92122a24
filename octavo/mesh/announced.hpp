#pragma once
#include <span>
#include <vector>

#include "octavo/mesh/dataset.hpp"

/// Fields that a file names and has no step of yet. They are no fields of the dataset, as nothing can be read; a text
/// among its attributes, "variables", keeps them for those who write the file in another format: a line each of name,
/// unit and type with tabs between.
namespace octavo::mesh {

void announce(Header& header, std::span<const FieldInfo> fields);
/// Node-centred. None where nothing was announced.
std::vector<FieldInfo> announced(const Header& header);

}  // namespace octavo::mesh
