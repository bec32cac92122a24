#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "octavo/mesh/dataset.hpp"
#include "octavo/step/shared.hpp"

/// Fields that a step does not store: named otherwise, or computed from others when a part is read.
namespace octavo::step {

/// A formula with a name, as a user gives it (mesh/expression.hpp has the grammar).
struct Definition {
  std::string name, formula;
};
using Definitions = std::vector<Definition>;

/// Where fields of triangles or solids stand that follow from places of the mesh alone ("z", "x^2 + y^2").
enum class Places : std::uint8_t {
  at_points,
  with_others  ///< in cells, at their centroids, if all other fields among the names stand in cells; else at points
};

/// Adds those of `names` that the data set lacks. A name stands for, in this order: a stored field; a property of the
/// cells, x, y, z, dx, level, cell_volume or volume (mesh/geometry.hpp; of triangles x, y); one of `own`; a field that
/// means the same in another code's words ("density" for "dens"); a definition of the library (step/field_library.hpp);
/// else it is read as a formula. Formulas may use all of these, numbers with units (mesh/expression.hpp), the constants
/// pi, k_B, m_H, G_N and c_light (cgs), the step's time, unit_length, unit_density, unit_time and unit_velocity (cgs),
/// and gamma where the code's header has it.
///
/// A computed field has one double a value, also on refined cells, where it follows from what is stored there; its unit
/// follows from those of the fields, and is empty where one of them says none. In a formula with values in cells of
/// triangles or solids, x, y and z are those of the cells' centroids. Returns the data set as it is if there is nothing
/// to add. Throws Error(usage): an unknown name, with near matches; a formula that is none, with the column; a unit of
/// another kind than what it is held against; a definition of a stored field's name.
mesh::Dataset with_fields(mesh::Dataset dataset, const std::vector<std::string>& names, const Definitions& own = {},
                          Places places = Places::at_points);

/// The same for some parts of a step, or for parts of which some cells were taken away: gradients (step/gradients.hpp)
/// take what lies beside a cell from the step. Without it, reading them throws Error(unsupported) where parts are
/// missing.
mesh::Dataset with_fields(mesh::Dataset some, const std::vector<std::string>& names, const Definitions& own,
                          const SharedStep& step, Places places = Places::at_points);

/// The name of a field with the values of `field` (a name or a formula) where the condition holds and those of
/// `otherwise` elsewhere. Its definition is added to `own`. Without a condition it is `field` itself.
std::string define_where(const mesh::Dataset& dataset, const std::string& field, const std::string& condition,
                         const std::string& otherwise, Definitions& own);

/// A field of the library that this step can have.
struct DerivedField {
  std::string name, formula, unit;
  std::string define;  ///< a constant that the user has to define first: "gamma" or "mu"; else empty
};
std::vector<DerivedField> derived_fields(const mesh::Dataset& dataset);

/// The names of stored fields that are meant, for verbs that read stored fields alone; an unknown name stays.
std::vector<std::string> stored_names(const mesh::Header& header, std::vector<std::string> names);

}  // namespace octavo::step
