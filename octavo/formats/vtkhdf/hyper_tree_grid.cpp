#include "octavo/formats/vtkhdf/hyper_tree_grid.hpp"

#include <array>
#include <string>

#include "octavo/formats/vtkhdf/grid_file.hpp"

namespace octavo::formats::vtkhdf {
namespace {

/// Corners of the roots along each axis; one along an axis that the data lack.
void write_root_grid(GridFile& file, const mesh::Header& header, const mesh::Octree& tree) {
  std::array<std::int64_t, 3> dimensions{1, 1, 1};
  const std::array<const char*, 3> names{"XCoordinates", "YCoordinates", "ZCoordinates"};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    std::vector<double> corners{axis < static_cast<std::size_t>(tree.dim) ? header.lo[axis] : 0.0};
    if (axis < static_cast<std::size_t>(tree.dim)) {
      const auto roots = static_cast<double>(tree.roots[axis]);
      for (std::int64_t i = 1; i <= tree.roots[axis]; ++i) {
        const double along = static_cast<double>(i) / roots;
        corners.push_back(i == tree.roots[axis] ? header.hi[axis]
                                                : header.lo[axis] + along * (header.hi[axis] - header.lo[axis]));
      }
      dimensions[axis] = tree.roots[axis] + 1;
    }
    file.list(names[axis], corners);
  }
  file.attribute("", "Dimensions", dimensions);
}

/// Refinement bits, root after root, without each root's deepest level.
class Descriptors {
 public:
  void add(const base::BitArray& refined, std::uint64_t first, std::uint64_t last) {
    bytes_.resize((bits_ + last - first + 7) / 8);
    for (std::uint64_t i = first; i < last; ++i, ++bits_)
      if (refined[i]) bytes_[bits_ / 8] |= static_cast<std::uint8_t>(0x80U >> (bits_ % 8));
  }
  const std::vector<std::uint8_t>& bytes() const { return bytes_; }
  std::uint64_t bits() const { return bits_; }

 private:
  std::vector<std::uint8_t> bytes_;
  std::uint64_t bits_ = 0;
};

void write_trees(GridFile& file, const mesh::Octree& tree, const mesh::RootByRoot& order) {
  std::vector<std::int64_t> ids, depths, counts;
  for (const mesh::RootInterval& interval : mesh::held_roots(tree))
    for (std::int64_t root = interval.begin; root < interval.end; ++root) ids.push_back(root);
  Descriptors descriptors;
  for (std::size_t root = 0; root < order.num_roots(); ++root) {
    const int depth = order.depth(root);
    depths.push_back(depth);
    for (int level = 0; level < depth; ++level) {
      const std::uint64_t first = order.begin(level, root), last = order.begin(level, root + 1);
      counts.push_back(static_cast<std::int64_t>(last - first));
      if (level + 1 < depth) descriptors.add(tree.refined[static_cast<std::size_t>(level)], first, last);
    }
  }
  const auto one = [&](const char* name, std::uint64_t value) {
    file.list(name, std::vector<std::int64_t>{static_cast<std::int64_t>(value)});
  };
  one("NumberOfTrees", ids.size());
  one("NumberOfDepths", counts.size());
  one("NumberOfCells", order.num_cells());
  one("DescriptorsSize", descriptors.bits());
  file.list("TreeIds", ids);
  file.list("DepthPerTree", depths);
  file.list("NumberOfCellsPerTreeDepth", counts);
  file.list("Descriptors", descriptors.bytes());
}

}  // namespace

HyperTreeFile lay_out_hyper_trees(const std::filesystem::path& path, const mesh::Header& header,
                                  const mesh::Octree& tree, const mesh::RootByRoot& order,
                                  const std::vector<mesh::FieldInfo>& fields, bool masked) {
  GridFile file(path, "HyperTreeGrid", {2, 4});
  file.attribute("", "BranchFactor", std::array<std::int64_t, 1>{2});
  file.attribute("", "TransposedRootIndexing", std::array<std::int64_t, 1>{0});
  write_root_grid(file, header, tree);
  write_trees(file, tree, order);
  file.group("CellData");
  std::vector<std::string> names;
  for (const mesh::FieldInfo& field : fields) names.push_back(file.later("CellData", field, order.num_cells()));
  if (masked) file.later("Mask", file::hdf5::uint8_type, {(order.num_cells() + 7) / 8});
  file.time(header.time);
  const auto places = file.close();
  HyperTreeFile out{places_of(places, names), 0};
  if (masked) out.mask = places.at("Mask");
  return out;
}

}  // namespace octavo::formats::vtkhdf
