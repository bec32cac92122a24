#include "octavo/mesh/tree/prune.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <numeric>
#include <string>

#include "octavo/base/error.hpp"
#include "octavo/mesh/tree/cell_runs.hpp"

/// Cuts off branches in which nothing is owned. Which families stay is found from the finest level up, and what stays
/// is copied from the roots down. Both run on words of 64 bits, not on cells: a part is pruned while it is read.
namespace octavo::mesh {
namespace {

using base::BitArray;
using base::Error;
using base::Kind;
using Word = std::uint64_t;

Word low_bits(unsigned n) { return n >= 64 ? ~Word{0} : (Word{1} << n) - 1; }

// One bit a family, set where any of its 2^dim cells is set, packed into the low 64 / 2^dim bits.
Word any_of_families(Word w, int dim) {
  if (dim == 3) {
    w |= w >> 4;
    w |= w >> 2;
    w |= w >> 1;
    // Sum of b_k 2^(8k) times the sum of 2^(7m) has b_k at 56 + k (m = 8 - k), and no two terms meet: no carry.
    return ((w & 0x0101010101010101U) * 0x0102040810204080U) >> 56;
  }
  if (dim == 2) {
    w |= w >> 2;
    w = (w | w >> 1) & 0x1111111111111111U;
    w = (w | w >> 3) & 0x0303030303030303U;
  } else {
    w = (w | w >> 1) & 0x5555555555555555U;
    w = (w | w >> 1) & 0x3333333333333333U;
    w = (w | w >> 2) & 0x0F0F0F0F0F0F0F0FU;
    w = (w | w >> 4) & 0x00FF00FF00FF00FFU;
    w = (w | w >> 8) & 0x0000FFFF0000FFFFU;
    return (w | w >> 16) & 0xFFFFFFFFU;
  }
  w = (w | w >> 6) & 0x000F000F000F000FU;
  w = (w | w >> 12) & 0x000000FF000000FFU;
  return (w | w >> 24) & 0xFFFFU;
}

// For each family of the cells, in order: is any of them set?
BitArray any_of_families(const BitArray& cells, int dim) {
  BitArray families(cells.size() >> dim);
  const unsigned a_word = 64U >> dim;
  const auto& from = cells.words();
  auto& to = families.words();
  for (std::size_t w = 0; w < from.size(); ++w) {
    const std::size_t bit = w * a_word;
    to[bit >> 6] |= any_of_families(from[w], dim) << (bit & 63);
  }
  return families;
}

// n (at most 64) bits from bit `at` on.
Word bits_at(const std::vector<Word>& words, std::size_t at, unsigned n) {
  if (n == 0) return 0;
  const unsigned shift = at & 63;
  Word bits = words[at >> 6] >> shift;
  if (shift + n > 64) bits |= words[(at >> 6) + 1] << (64 - shift);
  return bits & low_bits(n);
}

// Puts the low bits of `bits`, in order, where `mask` is set.
Word deposit(Word bits, Word mask) {
  if (bits == 0) return 0;
  if (bits == low_bits(static_cast<unsigned>(std::popcount(mask)))) return mask;
  Word out = 0;
  for (Word rest = mask; rest != 0; rest &= rest - 1, bits >>= 1)
    if ((bits & 1) != 0) out |= rest & (~rest + 1);
  return out;
}

// The inverse: the bits that stand where `mask` is set, packed into the low ones.
Word extract(Word bits, Word mask) {
  bits &= mask;
  if (bits == 0) return 0;
  if (bits == mask) return low_bits(static_cast<unsigned>(std::popcount(mask)));
  Word out = 0;
  for (Word rest = mask, to = 1; rest != 0; rest &= rest - 1, to <<= 1)
    if ((bits & rest & (~rest + 1)) != 0) out |= to;
  return out;
}

// ORs n bits into the words from bit `at` on.
void or_bits_at(std::vector<Word>& words, std::size_t at, unsigned n, Word bits) {
  if (bits == 0) return;
  const unsigned shift = at & 63;
  words[at >> 6] |= bits << shift;
  if (shift + n > 64) words[(at >> 6) + 1] |= bits >> (64 - shift);
}

// The k-th refined cell of a level stays refined where it is owned or needed[k] is set. Returns the refinement bits,
// and sets `needed` for every cell that stays refined.
BitArray keep_refined(const BitArray& refined, const BitArray& owned, BitArray& needed) {
  BitArray out(refined.size());
  std::size_t done = 0;
  for (std::size_t w = 0; w < refined.words().size(); ++w) {
    const Word mask = refined.words()[w];
    const auto n = static_cast<unsigned>(std::popcount(mask));
    const Word self = owned.words()[w] & mask;
    out.words()[w] = self | deposit(bits_at(needed.words(), done, n), mask);
    or_bits_at(needed.words(), done, n, extract(self, mask));
    done += n;
  }
  return out;
}

// The cells that stay: per level, refinement bits over the old cells, and one bit for each old refined cell.
struct KeptCells {
  std::vector<BitArray> refined;
  std::vector<BitArray> families;
};

KeptCells find_kept(const Octree& tree) {
  const std::size_t levels = tree.refined.size();
  KeptCells kept{std::vector<BitArray>(levels), std::vector<BitArray>(levels)};
  if (levels == 0) return kept;
  kept.refined.back() = BitArray(tree.refined.back().size());
  for (std::size_t level = levels - 1; level-- > 0;) {
    BitArray needed = tree.owned[level + 1];
    for (std::size_t w = 0; w < needed.words().size(); ++w) needed.words()[w] |= kept.refined[level + 1].words()[w];
    kept.families[level] = any_of_families(needed, tree.dim);
    kept.refined[level] = keep_refined(tree.refined[level], tree.owned[level], kept.families[level]);
  }
  return kept;
}

BitArray copy_families(const BitArray& cells, const BitArray& families, std::size_t count, int dim) {
  const std::size_t family = std::size_t{1} << dim;
  const Word mask = low_bits(static_cast<unsigned>(family));
  BitArray out(count * family);
  const auto& from = cells.words();
  auto& to = out.words();
  std::size_t at = 0;
  // A family never crosses a word: its size divides 64.
  families.for_each_set([&](std::size_t k) {
    const std::size_t bit = k << dim;
    to[at >> 6] |= (from[bit >> 6] >> (bit & 63) & mask) << (at & 63);
    at += family;
  });
  return out;
}

template <int dim>
void list_families(const BitArray& families, std::vector<std::uint32_t>& cells) {
  std::uint32_t* to = cells.data();
  families.for_each_set([&](std::size_t k) {
    const auto first = static_cast<std::uint32_t>(k << dim);
    for (std::uint32_t c = 0; c < (1U << dim); ++c) *to++ = first + c;
  });
}

std::vector<std::uint32_t> family_cells(const BitArray& families, std::size_t count, int dim) {
  std::vector<std::uint32_t> cells(count << dim);
  if (dim == 1) list_families<1>(families, cells);
  if (dim == 2) list_families<2>(families, cells);
  if (dim == 3) list_families<3>(families, cells);
  return cells;
}

// The roots that stay: those that are owned, or refined now that subtrees have gone.
BitArray kept_roots(const Octree& tree, const BitArray& refined) {
  BitArray kept = tree.owned[0];
  for (std::size_t w = 0; w < kept.words().size(); ++w) kept.words()[w] |= refined.words()[w];
  return kept;
}

// The set cells of level 0 as roots of the domain.
RootIntervals roots_of(const Octree& tree, const BitArray& kept) {
  RootIntervals roots;
  std::size_t before = 0;
  for (const RootInterval& held : held_roots(tree)) {
    const std::size_t end = before + static_cast<std::size_t>(held.end - held.begin);
    for (std::size_t first = std::min(end, kept.find(true, before)); first < end;) {
      const std::size_t last = std::min(end, kept.find(false, first));
      append(roots, {held.begin + static_cast<std::int64_t>(first - before),
                     held.begin + static_cast<std::int64_t>(last - before)});
      first = std::min(end, kept.find(true, last));
    }
    before = end;
  }
  return roots;
}

// The bits that stand where `kept` is set.
BitArray pick(const BitArray& bits, const BitArray& kept) {
  BitArray out(kept.count());
  std::size_t to = 0;
  for (std::size_t w = 0; w < kept.words().size(); ++w) {
    const auto n = static_cast<unsigned>(std::popcount(kept.words()[w]));
    or_bits_at(out.words(), to, n, extract(bits.words()[w], kept.words()[w]));
    to += n;
  }
  return out;
}

std::vector<std::uint32_t> all_cells(const BitArray& level) {
  std::vector<std::uint32_t> cells(level.size());
  std::iota(cells.begin(), cells.end(), std::uint32_t{0});
  return cells;
}

void check_sizes(const Octree& tree) {
  for (std::size_t level = 0; level < tree.refined.size(); ++level)
    if (tree.refined[level].size() > std::numeric_limits<std::uint32_t>::max())
      throw Error(Kind::unsupported,
                  "a part with 2^32 cells or more on one level: " + std::to_string(tree.refined[level].size()) +
                      " on level index " + std::to_string(level));
}

Octree same_shape(const Octree& tree) {
  return {.dim = tree.dim, .roots = tree.roots, .block = tree.block, .refined = {}, .owned = {}, .held = tree.held};
}

// Copies `count` runs of `run` bytes; a run of known size is a handful of register moves.
template <std::size_t known = 0>
std::byte* copy_runs(std::byte* to, const std::byte* from, const std::vector<std::uint32_t>& source, std::size_t family,
                     std::size_t width) {
  const std::size_t run = known != 0 ? known : family * width;
  for (std::size_t i = 0; i < source.size(); i += family, to += run) std::memcpy(to, from + source[i] * width, run);
  return to;
}

std::byte* copy_level(std::byte* to, const std::byte* from, const std::vector<std::uint32_t>& source,
                      std::size_t family, std::size_t width) {
  switch (family * width) {
    case 64: return copy_runs<64>(to, from, source, family, width);
    case 32: return copy_runs<32>(to, from, source, family, width);
    case 16: return copy_runs<16>(to, from, source, family, width);
    case 8: return copy_runs<8>(to, from, source, family, width);
    default: return copy_runs(to, from, source, family, width);
  }
}

Extract prune(const Octree& tree, bool with_source) {
  check_sizes(tree);
  const KeptCells kept = find_kept(tree);
  Extract out{same_shape(tree), {}};
  if (tree.refined.empty()) return out;
  const BitArray roots = kept_roots(tree, kept.refined[0]);
  hold(out.tree, roots_of(tree, roots));
  out.tree.refined.push_back(pick(kept.refined[0], roots));
  out.tree.owned.push_back(pick(tree.owned[0], roots));
  if (with_source) out.source.push_back(base::set_positions(roots));
  for (std::size_t level = 1; level < tree.refined.size(); ++level) {
    const BitArray& families = kept.families[level - 1];
    const std::size_t count = families.count();
    if (count == 0) break;
    out.tree.refined.push_back(copy_families(kept.refined[level], families, count, tree.dim));
    out.tree.owned.push_back(copy_families(tree.owned[level], families, count, tree.dim));
    if (with_source) out.source.push_back(family_cells(families, count, tree.dim));
  }
  return out;
}

}  // namespace

Extract prune(const Octree& tree) { return prune(tree, true); }
Octree prune_tree(const Octree& tree) { return prune(tree, false).tree; }

Extract truncate(const Octree& tree, int deepest) {
  check_sizes(tree);
  if (deepest < 0)
    throw Error(Kind::usage, "no level left: the deepest level index asked for is " + std::to_string(deepest));
  Extract out{same_shape(tree), {}};
  for (std::size_t level = 0; level < tree.refined.size() && level <= static_cast<std::size_t>(deepest); ++level) {
    out.tree.refined.push_back(tree.refined[level]);
    out.tree.owned.push_back(tree.owned[level]);
    out.source.push_back(all_cells(tree.refined[level]));
  }
  if (!out.tree.refined.empty()) out.tree.refined.back() = BitArray(out.tree.refined.back().size());
  return out;
}

void hold_all_roots(Part& part) {
  auto& tree = std::get<Octree>(part.mesh);
  const RootIntervals held = held_roots(tree);
  const auto all = static_cast<std::size_t>(num_roots(tree.roots)), here = tree.refined[0].size();
  if (here == all) return;
  BitArray refined(all), owned(all);
  std::size_t cell = 0;
  const auto for_each_root = [&](auto&& f) {
    cell = 0;
    for (const RootInterval& interval : held)
      for (std::int64_t root = interval.begin; root < interval.end; ++root, ++cell) f(static_cast<std::size_t>(root));
  };
  for_each_root([&](std::size_t root) {
    refined.set(root, tree.refined[0][cell]);
    owned.set(root, tree.owned[0][cell]);
  });
  for (Field& field : part.fields) {
    const std::size_t own = block_size(tree) * static_cast<std::size_t>(field.info.components);
    const std::size_t width = here == 0 ? own * size_of(field.info.type) : field.bytes.size() / num_cells(tree);
    std::vector<std::byte> bytes(field.bytes.size() + (all - here) * width);
    for_each_root(
        [&](std::size_t root) { std::memcpy(bytes.data() + root * width, field.bytes.data() + cell * width, width); });
    std::copy(field.bytes.begin() + static_cast<std::ptrdiff_t>(here * width), field.bytes.end(),
              bytes.begin() + static_cast<std::ptrdiff_t>(all * width));
    field.bytes = std::move(bytes);
  }
  tree.held.clear();
  tree.refined[0] = std::move(refined);
  tree.owned[0] = std::move(owned);
}

std::vector<std::byte> gather(const Octree& old_tree, const Extract& extract, const std::vector<std::byte>& values,
                              std::size_t width) {
  const std::size_t expected = num_cells(old_tree) * width;
  if (values.size() != expected)
    throw Error(Kind::usage, "values of a tree: expected " + std::to_string(expected) + " bytes (" +
                                 std::to_string(width) + " a cell), found " + std::to_string(values.size()));
  std::vector<std::byte> out(num_cells(extract.tree) * width);
  std::byte* to = out.data();
  const std::byte* from = values.data();
  for (std::size_t level = 0; level < extract.source.size(); ++level) {
    // Below the roots a tree is made of whole families, which stand together in both trees.
    to = copy_level(to, from, extract.source[level], level == 0 ? 1 : family_size(old_tree), width);
    from += old_tree.refined[level].size() * width;
  }
  return out;
}

}  // namespace octavo::mesh
