#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "octavo/analysis/transect.hpp"
#include "octavo/base/ranks.hpp"
#include "octavo/step/fields.hpp"
#include "octavo/step/shared.hpp"
#include "octavo/verbs/map.hpp"

/// Values along polylines and on surfaces through a mesh of triangles or prisms.
namespace octavo::verbs {

struct TransectOptions {
  std::vector<std::string> fields{};
  analysis::Polyline through{};     ///< [code length]; one point is the column there
  std::string from{}, to{};         ///< without `through`: the ends, in the words of find_place()
  std::string where{};              ///< a condition on points, a formula; the others' values are NaN; empty: all
  step::Definitions definitions{};  ///< fields may also be names and formulas of step/fields.hpp
  base::Ranks ranks{};
};

/// Values where a polyline crosses the edges of a mesh, and at its own points; linear in between. Where the line
/// leaves the mesh and enters it again, a row with the place of leaving and values of NaN stands between.
struct TransectTable {
  double length = 0;  ///< of the polyline [code length]
  std::size_t planes = 1;
  std::vector<double> distance, x, y;  ///< [row]
  std::vector<double> z;               ///< [row][plane]; empty in 2-D
  std::vector<std::string> fields, units;
  std::vector<double> values;  ///< [field][row][plane]
  std::string selection;       ///< the condition as text; empty: everything
  double time = 0;             ///< [code time]
};

/// Rank 0 reads the mesh and the fields; every rank gets the table. Memory: the mesh and the fields, and the table.
/// Collective. Throws Error(usage) for an unknown field, for a line that is none (analysis::transect_of), and for one
/// that meets no triangle; Error(unsupported) for a mesh of cells, or in several parts.
TransectTable transect(const step::SharedStep& step, const TransectOptions& options);

struct SurfaceOptions {
  std::string field{};
  analysis::Polyline through{};            ///< a vertical cut along it; empty: a surface seen from above
  std::optional<analysis::Level> level{};  ///< the surface; of `plane`, -1 is the uppermost
  std::optional<mesh::Region> region{};    ///< of a surface: nothing outside of it shows
  std::string where{};                     ///< as TransectOptions has it
  step::Definitions definitions{};
  std::size_t pixels =
      512;          ///< along the longer side of a surface; of a vertical cut along the line, and half as many up
  int threads = 0;  ///< 0: all cores
  base::Ranks ranks{};
  base::Progress progress{};  ///< in parts
};

/// A picture of a surface through prisms: a vertical cut along a polyline, whose axes are the distance along it and the
/// height, or a surface of one height, one depth or one plane, from above. A pixel has the value at its middle: planes
/// and values are linear in a triangle, and values are linear along the vertical between planes. NaN outside of the
/// mesh. Kind "slice". Rank 0 reads the mesh, the field and the elevation. Memory: these, and the image as map() has
/// it. The pixels have the same bits for any number of threads and ranks. Collective. Errors as transect(); also
/// Error(unsupported) for a mesh without planes.
Map surface(const step::SharedStep& step, const SurfaceOptions& options);

}  // namespace octavo::verbs
