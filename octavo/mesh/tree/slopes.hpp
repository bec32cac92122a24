#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "octavo/mesh/dataset.hpp"
#include "octavo/mesh/tree/curve.hpp"

/// Slopes of values along the axes, from each leaf cell and what lies on both sides of it, whichever part owns that.
namespace octavo::mesh {

/// A cell of the mesh: a tree level index, and its position among that level's cells (of blocks: the cells in them).
struct LevelCell {
  int level = 0;
  Coordinate at{};
  bool operator==(const LevelCell&) const = default;
};

/// Owned leaf cells, ascending along the Z curve, and the values of some fields on them.
struct LeafTable {
  struct Leaf {
    CurveKey key;
    LevelCell cell;
    std::uint32_t place = 0;  ///< of its values
  };
  std::vector<Leaf> leaves;
  std::vector<std::vector<double>> values;  ///< [field][place]
};

/// All owned leaf cells of a part's tree. `values`: for each field one value a cell of the tree, refined ones too.
LeafTable leaf_table(const Octree& tree, std::vector<std::vector<double>> values);
/// Those leaves of a table that share volume with any of the cells, with their values alone.
LeafTable leaves_at(const LeafTable& table, const Header& header, std::span<const LevelCell> cells);
/// All of them, with their values alone.
LeafTable compact(const LeafTable& table);
std::size_t bytes_of(const LeafTable& table);

/// At most about `count` boxes, in the units of regions, that lie in the domain and meet each of the cells.
std::vector<Box> boxes_around(const Header& header, std::vector<LevelCell> cells, std::size_t count);

/// The slope of a field along an axis.
struct SlopeOf {
  std::size_t field = 0, axis = 0;
};

/// The slopes on a part's leaves: for each of `wanted` one value a place of the part's own table, NaN where no leaf is.
///
/// On each of its two sides a leaf has the slope between two cells of one size: itself and the cell beside it, which
/// has the mean of its leaves if it is refined. If the leaf beside it is larger, they are that one and the cell of its
/// size that the leaf lies in. The slope is the mean of both; at a side of the domain that is not periodic, and where
/// no part has cells, that of the other side alone; NaN if there is none. A linear function has its own slope.
///
/// `beside(cells, own)` gives leaves that share volume with the cells: those of other parts; with `own`, which is asked
/// only for cells that others do not fill, those of the part itself. The values have the same bits, whatever the parts
/// are. Memory: the leaves of the part, and those of others in cells as large as its leaves that touch these.
using LeavesBeside = std::function<LeafTable(const std::vector<LevelCell>& cells, bool own)>;
std::vector<std::vector<double>> slopes(LeafTable table, const Header& header, std::span<const SlopeOf> wanted,
                                        const LeavesBeside& beside);

}  // namespace octavo::mesh
