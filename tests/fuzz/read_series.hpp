#pragma once
#include <utility>
#include <variant>

#include "octavo/formats/row/series.hpp"
#include "octavo/mesh/solids/tetrahedra.hpp"
#include "octavo/mesh/triangles/cells.hpp"

namespace octavo::testing {

/// A step that was read whole, as writers take it. Its mesh is valid, and walks through it stay inside.
inline formats::Series read_series(const mesh::Dataset& dataset) {
  formats::Series series;
  series.first = dataset;
  mesh::Part part = dataset.read(0, {});
  if (auto* solids = std::get_if<mesh::Solids>(&part.mesh)) {
    series.solids = std::move(*solids);
    mesh::validate(series.solids);
    mesh::volumes_of(series.solids);
  } else {
    series.mesh = std::get<mesh::Unstructured>(std::move(part.mesh));
    mesh::validate(series.mesh);
    mesh::areas_of_cells(series.mesh);
  }
  for (const mesh::FieldInfo& info : dataset.header.fields)
    if (!mesh::is_integer(info.type)) series.variables.push_back(info);
  series.times = {1.0};
  series.open = [dataset](std::size_t) { return dataset; };
  return series;
}

}  // namespace octavo::testing
