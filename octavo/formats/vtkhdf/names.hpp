#pragma once
// For formats/vtkhdf alone.
#include <array>
#include <cstdint>
#include <span>
#include <string>

namespace octavo::formats::vtkhdf {

constexpr const char* root = "VTKHDF";
constexpr const char* own = "Octavo";  ///< our group beside it
constexpr const char* own_name = "Name";
constexpr const char* own_unit = "Unit";
constexpr const char* own_place = "Place";        ///< of a field among the others
constexpr const char* own_length = "LengthUnit";  ///< of our group: "m", where the file knows it
/// VTK's numbers of cell types (vtkCellType.h).
constexpr std::uint8_t triangle = 5, polygon = 7, quadrangle = 9, wedge = 13;
constexpr std::uint8_t tetrahedron = 10, hexahedron = 12, pyramid = 14;  ///< solids, with wedges
constexpr std::uint8_t voxel = 11;                                       ///< a hexahedron whose corners stand x fastest

/// The name of a field's data set: one that HDF5 takes (a slash would be a group), and that no other field has. The
/// field's own name is an attribute.
std::string set_name(std::string name, std::span<const std::string> taken);
inline std::string in_root(const std::string& name) { return std::string(root) + "/" + name; }

/// SERAFIN's header among a step's attributes.
constexpr std::array<const char*, 6> kept_texts{"title",     "tag",       "byte_order",
                                                "variables", "odd_title", "odd_variables"};
constexpr std::array<const char*, 2> kept_numbers{"real_bytes", "quadratic"};
constexpr std::array<const char*, 2> kept_lists{"iparam", "date"};

}  // namespace octavo::formats::vtkhdf
