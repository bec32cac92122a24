#pragma once
#include <optional>
#include <string>
#include <variant>

#include "octavo/verbs/map.hpp"

namespace octavo::verbs {

struct SliceOptions {
  std::string field{};
  std::variant<int, mesh::Point3> normal = 2;  ///< across an axis, 0-2, or any direction, of any length
  std::optional<mesh::Point3> up{};            ///< of the image; for an axis, as analysis::along_axis has it
  std::string at = "center";                   ///< a point of the plane, in the words of find_place()
  std::optional<mesh::Region> region{};        ///< nothing outside of it shows; nothing: the whole domain
  std::optional<int> max_level{};              ///< the code's own number; finer cells are never read
  std::string where{};                         ///< a condition on cells, a formula; other cells show as NaN; empty: all
  step::Definitions definitions{};             ///< the field may also be a name or formula of step/fields.hpp
  std::size_t pixels = 512;                    ///< along the longer side of the window
  int threads = 0;                             ///< 0: all cores
  base::Ranks ranks{};
  base::Progress progress{};  ///< in parts
};

/// The values of the leaves that a plane cuts: each pixel shows the leaf in which its centre lies (analysis::SlicePlane
/// has the rule of sides); pixels outside of the region or the domain are NaN. Kind "slice". Reads only the parts near
/// the plane, and of them the one field. Memory: the image's rows (as map() shares them), tiles as map()'s, and for
/// each thread a part and 40 bytes for each leaf near the plane. The pixels have the same bits for any number of
/// threads and ranks. Collective. Throws Error(usage) for an unknown field, a direction without length, or a plane
/// that meets no cell of the region; Error(unsupported) for triangles, for 1-D data, and for 2-D data but across z. Of
/// solids a pixel has the value at its middle (analysis/solids/solid_slice.hpp); a part takes 72 bytes for each
/// triangle in which the plane cuts it.
Map slice(const step::SharedStep& step, const SliceOptions& options);

}  // namespace octavo::verbs
