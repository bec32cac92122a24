#pragma once
#include <optional>
#include <string>

#include "octavo/mesh/field.hpp"

namespace octavo::mesh {

/// Values on faces and nodes are fields of cells all the same: one field for each side of the cell. A field of faces is
/// a pair, "b_left" and "b_right" (in any place of the name), one of nodes is "b_corner_0" ... "b_corner_7", bit a of
/// the number being 1 at the high side along axis a.
struct Side {
  std::string base;   ///< the name without the words above, which all sides share
  unsigned axes = 0;  ///< bit a: the value stands on a side along axis a
  unsigned high = 0;  ///< bit a: on the high one
  bool operator==(const Side&) const = default;
};

/// On which side of its cell a field stands; {name, 0, 0} for one of cells. Nothing where the name of a field of faces
/// or nodes does not tell.
std::optional<Side> side_of(const FieldInfo& info, int dim);

/// The name of a side of faces ("b_left", "b_right") or nodes ("b_corner_5").
std::string name_of_side(const std::string& base, Centring centring, unsigned high);

/// Whether the centring is a face's; its axis is `face_axis`.
inline bool is_face(Centring centring) {
  return centring == Centring::face_x || centring == Centring::face_y || centring == Centring::face_z;
}
inline std::size_t face_axis(Centring centring) { return static_cast<std::size_t>(centring) - 1; }

/// Whether a coarse value on this side is made of the child's, a bit an axis: all children of a cell; of those at the
/// side the mean on faces, the very value on nodes.
inline bool touches_side(const Side& side, std::size_t child) { return (child & side.axes) == side.high; }

}  // namespace octavo::mesh
