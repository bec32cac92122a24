#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "octavo/mesh/dataset.hpp"

/// Definitions that come with Octavo, for cells and for shallow water on triangles. docs/fields.md lists them.
namespace octavo::step {

/// A field of the library that a step has the fields for.
struct LibraryField {
  std::string name, formula;
};

/// The definition that this step's fields allow, by its name or a code's word for it ("T" for "temperature"); nothing
/// if there is none.
std::optional<LibraryField> library_field(const mesh::Dataset& dataset, std::string_view name);

/// All of them, in the order of the documentation.
std::vector<LibraryField> library_fields(const mesh::Dataset& dataset);

/// Why a name of the library has no value on this step, for a message; empty if it is no name of the library.
std::string lacking_fields(const mesh::Dataset& dataset, std::string_view name);

/// The name that a definition of earlier versions has now ("kinetic_energy_density" for "kinetic_energy"); else empty.
std::string renamed_field(std::string_view name);

}  // namespace octavo::step
