#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "octavo/formats/ramses/oct_table.hpp"
#include "octavo/formats/ramses/owners.hpp"

namespace octavo::formats::ramses {

/// The coarse cells, walls included, x fastest.
struct Coarse {
  int dim = 3;
  mesh::Index3 count{1, 1, 1};
  mesh::Index3 skip{0, 0, 0};        ///< the first that is not a wall
  mesh::Index3 real{1, 1, 1};        ///< the number of those that are not walls
  std::vector<std::int32_t> region;  ///< per coarse cell: 0, or the wall's number from 1; -1: a wall without octs
  int regions = 0;
  std::array<std::array<bool, 2>, 3>
      mirrors{};  ///< for the low and high wall of each axis: whether it is known to reflect
};
/// The number of a coarse cell from 0.
std::size_t coarse_number(const Coarse& coarse, const mesh::Coordinate& at);

/// The octs of one level of a domain's file, along the Z curve. Positions count the walls in.
struct FileLevel {
  std::vector<mesh::Coordinate> at;
  std::vector<std::int32_t> list;                   ///< owner from 0; the walls' lists follow the domains'
  std::vector<std::uint32_t> father;                ///< on the level above; on level 0 the coarse cell from 0
  std::vector<std::uint8_t> father_cell;            ///< index among the father's cells
  std::vector<std::uint8_t> refined;                ///< a bit a cell: refined in the step
  std::vector<std::uint8_t> sons;                   ///< a bit a cell: refined in this file
  std::vector<std::uint32_t> first_son;             ///< on the level below
  std::vector<std::array<std::int32_t, 6>> beside;  ///< octs -x +x -y +y -z +z, -1 where absent
  std::vector<std::uint32_t> order;                 ///< octs list after list
  std::vector<std::uint32_t> counts;                ///< octs a list
  std::vector<std::int32_t> index;                  ///< ind_grid, from 1
  std::size_t size() const { return at.size(); }
};

/// The octs in a domain's file, by RAMSES' own rule (authorize_fine, init_boundary_fine). A child is there if its
/// father cell is in an oct of the domain, or touches the domain, or is next to such cells.
struct FileTree {
  int domain = 0;
  std::vector<FileLevel> levels;
  std::int32_t total = 0;
  std::vector<std::int32_t> level_first;  ///< octs of the levels above; one entry more than levels
};

/// Returns the oct on the level below in a cell that has one in this file.
inline std::uint32_t son_of(const FileLevel& level, std::size_t oct, unsigned c) {
  const unsigned before = level.sons[oct] & ((1U << c) - 1);
  return level.first_son[oct] + static_cast<std::uint32_t>(__builtin_popcount(before));
}
/// Whether an oct lies in a wall.
inline bool in_wall(const FileLevel& level, std::size_t oct, const Owners& owners) {
  return level.list[oct] >= owners.count();
}
/// A cell or oct without the walls' offset: `shift` is 1 more than the level index for cells, the index for octs.
mesh::Coordinate without_walls(const Coarse& coarse, const mesh::Coordinate& at, int shift);
/// Returns the nearest cell outside the walls, without the walls' offset.
mesh::Coordinate nearest_real(const Coarse& coarse, const mesh::Coordinate& at, int shift);
/// The cell whose values RAMSES copies to a cell in a wall (make_boundary_hydro): the nearest, or its mirror image if
/// the wall reflects.
struct MirroredCell {
  mesh::Coordinate at;  ///< without the walls' offset
  unsigned axes = 0;    ///< one bit for each axis: mirrored along it, so velocities along it change their sign
};
MirroredCell reference_cell(const Coarse& coarse, const mesh::Coordinate& at, int shift);

/// The domain's own octs level after level in the order of RAMSES' list, each by its place along the Z curve among the
/// own octs of its level. RAMSES draws random numbers in this order. A part keeps it as opaque bytes `order_name`:
/// differences of neighbours as 32-bit integers, little-endian.
using OctOrder = std::vector<std::uint32_t>;
inline constexpr const char* order_name = ".ramses/oct_order";
std::vector<std::byte> pack_order(const OctOrder& order);
OctOrder unpack_order(std::span<const std::byte> bytes);

/// `known` are the octs, per level and keyed without walls, that the domain and its surroundings can need. With an
/// empty `order`, or one of other octs, the own octs follow the Z curve, as all others do. Throws Error(corrupt) if an
/// oct is missing or has a cell that no part owns.
FileTree build_file_tree(const Coarse& coarse, const Owners& owners, int domain, const std::vector<OctTable>& known,
                         const OctOrder& order = {});

}  // namespace octavo::formats::ramses
