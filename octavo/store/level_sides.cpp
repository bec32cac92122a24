#include "octavo/store/level_sides.hpp"

#include "octavo/base/bit_array.hpp"

namespace octavo::store {

namespace {

constexpr std::uint32_t nothing = 0xffffffff;

/// For each cell of a level its number among the refined ones, which is that of its children's family.
std::vector<std::uint32_t> families_below(const base::BitArray& refined) {
  std::vector<std::uint32_t> family(refined.size(), nothing);
  std::uint32_t next = 0;
  refined.for_each_set([&](std::size_t cell) { family[cell] = next++; });
  return family;
}

/// The roots at the faces of each held root.
std::vector<std::array<std::uint32_t, 6>> roots_beside(const mesh::Octree& tree) {
  const mesh::RootIndex index(held_roots(tree));
  const std::array<std::int64_t, 3> stride{1, tree.roots[0], tree.roots[0] * tree.roots[1]};
  std::vector<std::array<std::uint32_t, 6>> beside;
  for (const mesh::Coordinate& at : root_coordinates(tree)) {
    auto& faces = beside.emplace_back();
    faces.fill(nothing);
    const std::int64_t number = at[0] + at[1] * stride[1] + at[2] * stride[2];
    for (std::size_t face = 0; face < 2 * static_cast<std::size_t>(tree.dim); ++face) {
      const std::size_t axis = face / 2;
      const bool up = face % 2 != 0;
      if (up ? at[axis] + 1 == tree.roots[axis] : at[axis] == 0) continue;
      const auto root = index.find(up ? number + stride[axis] : number - stride[axis]);
      if (root) faces[face] = static_cast<std::uint32_t>(*root);
    }
  }
  return beside;
}

/// The cell at a face of one, whose family has these families beside it; cells of a family differ in `bits` bits.
std::uint32_t cell_beside(std::uint32_t cell, std::size_t face, unsigned bits,
                          const std::vector<std::array<std::uint32_t, 6>>& beside) {
  const std::uint32_t across = cell ^ (1u << face / 2);
  if (bits > 0 && (cell >> face / 2 & 1) != face % 2) return across;
  const std::uint32_t family = beside[cell >> bits][face];
  return family == nothing ? nothing : family << bits | (across & ((1u << bits) - 1));
}

}  // namespace

void LevelSides::descend() {
  const std::size_t above = sides_.size() - 1, dim = static_cast<std::size_t>(tree_->dim);
  const unsigned bits = above == 0 ? 0 : static_cast<unsigned>(dim);
  const base::BitArray& refined = tree_->refined[above];
  const std::vector<std::uint32_t> family = families_below(refined);
  std::vector<Beside> below;
  std::vector<codec::Sides> sides;
  below.reserve(refined.count());
  sides.reserve(above == 0 ? 0 : refined.count());
  refined.for_each_set([&](std::size_t at) {
    const auto cell = static_cast<std::uint32_t>(at), own = static_cast<std::uint32_t>(below.size());
    codec::Sides found{{cell, cell, cell}, {own, own, own}};
    Beside& faces = below.emplace_back();
    faces.fill(nothing);
    for (std::size_t face = 0; face < 2 * dim; ++face) {
      const std::uint32_t next = cell_beside(cell, face, bits, beside_);
      if (next == nothing) continue;
      faces[face] = family[next];
      if ((cell >> face / 2 & 1) == face % 2) found.outer[face / 2] = next;
      if (face % 2 != 0 && faces[face] != nothing) found.upper[face / 2] = faces[face];
    }
    if (above > 0) sides.push_back(found);
  });
  sides_.push_back(std::move(sides));
  beside_ = std::move(below);
}

std::span<const codec::Sides> LevelSides::of(std::size_t level) {
  if (block_size(*tree_) != 1) return {};
  if (sides_.empty()) {
    beside_ = roots_beside(*tree_);
    sides_.emplace_back();
  }
  while (sides_.size() <= level) descend();
  return sides_[level];
}

}  // namespace octavo::store
