#include "octavo/step/field_library.hpp"

#include <algorithm>
#include <array>

#include "octavo/formats/formats.hpp"

namespace octavo::step {
namespace {

enum class On : std::uint8_t { cells, triangles, any, sloped };  // sloped: cells, and triangles in one plane

struct LibraryRow {
  std::string_view name, formula;
  std::string_view needs;  ///< fields that the step has to have, by Octavo's words, with a blank between them
  On on = On::cells;
};

/// If a name has two definitions, the first counts that the step has the fields for. TELEMAC's acceleration of gravity
/// is 9.81 m/s2. A dry point has neither celerity nor Froude number: 0.
constexpr std::array<LibraryRow, 24> library{
    {{"mass", "density*cell_volume", "density"},
     {"speed", "norm(velocity)", "velocity_x", On::any},
     {"kinetic_energy_density", "0.5*density*(norm(velocity))^2", "density velocity_x"},
     {"momentum_density_x", "density*velocity_x", "density velocity_x"},
     {"momentum_density_y", "density*velocity_y", "density velocity_y"},
     {"momentum_density_z", "density*velocity_z", "density velocity_z"},
     {"sound_speed", "sqrt(gamma*pressure/density)", "pressure density"},
     {"mach_number", "speed/sound_speed", "pressure density velocity_x"},
     {"temperature", "mu*m_H/k_B*unit_velocity^2*pressure/density", "pressure density"},
     {"divergence", "divergence(velocity)", "velocity_x", On::sloped},
     {"vorticity_x", "vorticity_x(velocity)", "velocity_y velocity_z"},
     {"vorticity_y", "vorticity_y(velocity)", "velocity_x velocity_z"},
     {"vorticity_z", "vorticity_z(velocity)", "velocity_x velocity_y", On::sloped},
     {"vorticity", "norm(vorticity(velocity))", "velocity_x velocity_y", On::sloped},
     {"water_depth", "free_surface - bottom", "free_surface bottom", On::triangles},
     {"free_surface", "water_depth + bottom", "water_depth bottom", On::triangles},
     {"bottom", "free_surface - water_depth", "free_surface water_depth", On::triangles},
     {"water_level", "free_surface", "free_surface", On::triangles},
     {"water_level", "water_depth + bottom", "water_depth bottom", On::triangles},
     {"discharge", "water_depth*norm(velocity)", "water_depth velocity_x", On::triangles},
     {"discharge_x", "water_depth*velocity_x", "water_depth velocity_x", On::triangles},
     {"discharge_y", "water_depth*velocity_y", "water_depth velocity_y", On::triangles},
     {"celerity", "sqrt(9.81 m/s2*max(water_depth, 0))", "water_depth", On::triangles},
     {"froude_number", "where(water_depth > 0, norm(velocity)/sqrt(9.81 m/s2*water_depth), 0)",
      "water_depth velocity_x", On::triangles}}};

bool has_field(const mesh::Header& header, const std::string& name) {
  const auto& fields = header.fields;
  return std::any_of(fields.begin(), fields.end(), [&](const mesh::FieldInfo& field) { return field.name == name; }) ||
         formats::field_meant(header, name).has_value();
}

std::vector<std::string> words_in(std::string_view text) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    words.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

bool is_for(const mesh::Dataset& dataset, const LibraryRow& definition) {
  if (definition.on == On::sloped) return !dataset.unstructured || dataset.header.dim == 2;
  return definition.on == On::any || (definition.on == On::triangles) == dataset.unstructured;
}

/// Those of its fields that the step lacks. With `derived` a field counts that follows from stored ones.
std::vector<std::string> lacking(const mesh::Dataset& dataset, const LibraryRow& definition, bool derived = true) {
  std::vector<std::string> names = words_in(definition.needs);
  const auto follows = [&](const std::string& name) {
    return std::any_of(library.begin(), library.end(), [&](const LibraryRow& other) {
      return other.name == name && is_for(dataset, other) && lacking(dataset, other, false).empty();
    });
  };
  std::erase_if(names,
                [&](const std::string& name) { return has_field(dataset.header, name) || (derived && follows(name)); });
  return names;
}

}  // namespace

std::optional<LibraryField> library_field(const mesh::Dataset& dataset, std::string_view name) {
  const std::string_view meant = formats::common_name(dataset.header, name);
  for (const LibraryRow& definition : library)
    if ((definition.name == name || definition.name == meant) && is_for(dataset, definition) &&
        lacking(dataset, definition).empty())
      return LibraryField{std::string(name), std::string(definition.formula)};
  return {};
}

std::vector<LibraryField> library_fields(const mesh::Dataset& dataset) {
  std::vector<LibraryField> found;
  for (const LibraryRow& definition : library) {
    const std::string name(definition.name);
    const bool twice = !found.empty() && found.back().name == name;
    if (twice || has_field(dataset.header, name)) continue;
    if (auto field = library_field(dataset, name)) found.push_back(std::move(*field));
  }
  return found;
}

std::string lacking_fields(const mesh::Dataset& dataset, std::string_view name) {
  for (const LibraryRow& definition : library) {
    if (definition.name != name) continue;
    if (!is_for(dataset, definition))
      return std::string(name) + " is a field of " + (dataset.unstructured ? "cells" : "triangles");
    std::string list;
    for (const std::string& field : lacking(dataset, definition)) list.append(list.empty() ? "" : ", ").append(field);
    return std::string(name) + " follows from " + std::string(definition.formula) + ", and the step has no " + list;
  }
  return {};
}

std::string renamed_field(std::string_view name) {
  if (name == "kinetic_energy") return "kinetic_energy_density";
  if (name.starts_with("momentum_") && name.size() == 10) return "momentum_density_" + std::string(1, name.back());
  return {};
}

}  // namespace octavo::step
