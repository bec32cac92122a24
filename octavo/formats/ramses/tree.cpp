#include "octavo/formats/ramses/tree.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <string>
#include <utility>

#include "octavo/formats/ramses/oct_records.hpp"
#include "octavo/mesh/tree/prune.hpp"

namespace octavo::formats::ramses {
namespace {

using base::BitArray;
using file::Record;
using file::RecordReader;

constexpr std::uint32_t no_oct = no_family;

// The octs of one level as in the file, list after list, without walls.
struct LevelOcts {
  std::vector<std::int32_t> index;  // ind_grid
  std::vector<std::int32_t> son;    // 2^dim per oct
  std::size_t own_first = 0, own_end = 0;
};

std::string at_level(int level) { return " on level " + std::to_string(level + 1); }

// Finds the place in `index` of an oct by its number. Numbers are positions in an array of ngridmax and can lie far
// apart. We use a table if they are dense, and sorted pairs otherwise.
class OctFinder {
 public:
  OctFinder(const std::vector<std::int32_t>& index, const RecordReader& reader, int level) {
    if (index.empty()) return;
    const auto [low, high] = std::minmax_element(index.begin(), index.end());
    low_ = *low;
    if (static_cast<std::uint64_t>(*high - low_) < std::uint64_t{8} * index.size())
      fill_table(index, static_cast<std::size_t>(*high - low_) + 1, reader, level);
    else
      fill_sorted(index, reader, level);
  }

  std::uint32_t find(std::int32_t oct) const {
    if (!table_.empty()) {
      const std::int64_t at = std::int64_t{oct} - low_;
      return at < 0 || at >= static_cast<std::int64_t>(table_.size()) ? no_oct : table_[static_cast<std::size_t>(at)];
    }
    const auto found = std::lower_bound(sorted_.begin(), sorted_.end(), std::pair(oct, std::uint32_t{0}));
    return found == sorted_.end() || found->first != oct ? no_oct : found->second;
  }

 private:
  static base::Error twice(std::int32_t oct, const RecordReader& reader, int level) {
    return reader.error("the records before: oct " + std::to_string(oct) + " stands twice" + at_level(level));
  }

  void fill_table(const std::vector<std::int32_t>& index, std::size_t range, const RecordReader& reader, int level) {
    table_.assign(range, no_oct);
    for (std::size_t i = 0; i < index.size(); ++i) {
      std::uint32_t& place = table_[static_cast<std::size_t>(index[i] - low_)];
      if (place != no_oct) throw twice(index[i], reader, level);
      place = static_cast<std::uint32_t>(i);
    }
  }

  void fill_sorted(const std::vector<std::int32_t>& index, const RecordReader& reader, int level) {
    for (std::size_t i = 0; i < index.size(); ++i) sorted_.emplace_back(index[i], static_cast<std::uint32_t>(i));
    std::sort(sorted_.begin(), sorted_.end());
    for (std::size_t i = 1; i < sorted_.size(); ++i)
      if (sorted_[i].first == sorted_[i - 1].first) throw twice(sorted_[i].first, reader, level);
  }

  std::int32_t low_ = 0;
  std::vector<std::uint32_t> table_;
  std::vector<std::pair<std::int32_t, std::uint32_t>> sorted_;
};

void check_range(const std::vector<std::int32_t>& values, std::int64_t low, std::int64_t high,
                 const RecordReader& reader, const char* what, int level) {
  const auto least = static_cast<std::uint32_t>(low);
  const auto most = static_cast<std::uint32_t>(std::min<std::int64_t>(high, std::numeric_limits<std::int32_t>::max()));
  // Several at a time: one of two differences has the top bit if a value is outside.
  std::uint32_t differences = 0;
  for (const std::int32_t value : values)
    differences |= (static_cast<std::uint32_t>(value) - least) | (most - static_cast<std::uint32_t>(value));
  if (differences >> 31 == 0) return;
  for (const std::int32_t value : values)
    if (value < low || value > high)
      throw reader.error("the records before: expected " + std::string(what) + " from " + std::to_string(low) + " to " +
                         std::to_string(high) + " (ngridmax), found " + std::to_string(value) + at_level(level));
}

// The records of one list: ind_grid, next, prev; xg; father, nbor; son; cpu_map, flag1.
class ListReader {
 public:
  ListReader(RecordReader& reader, const AmrHeader& header)
      : reader_(reader),
        dim_(static_cast<std::size_t>(header.ndim)),
        real_(static_cast<std::size_t>(header.real_bytes)) {}

  void skip(std::uint64_t octs) {
    start(octs);
    reader_.skip(3, 4 * octs, "ind_grid, next, prev");
    skip_positions(octs);
    reader_.skip(3 << dim_, 4 * octs, "son, cpu_map, flag1");
  }

  // Puts them behind the octs of earlier lists.
  void append(std::uint64_t octs, LevelOcts& level) {
    start(octs);
    const std::size_t before = level.index.size();
    const auto count = static_cast<std::size_t>(octs);
    level.index.resize(before + count);
    reader_.read(reader_.next(4 * octs, "ind_grid"), 0, std::span(level.index).subspan(before));
    reader_.skip(2, 4 * octs, "next, prev");
    skip_positions(octs);
    std::array<Record, 8> sons;
    const std::span<Record> cells(sons.data(), std::size_t{1} << dim_);
    reader_.prefetch(cells.size() * (4 * octs + 2 * reader_.format().marker));
    for (Record& record : cells) record = reader_.next(4 * octs, "son");
    level.son.resize((before + count) << dim_);
    tile_.for_each_oct(reader_, cells, count,
                       [&, to = level.son.data() + (before << dim_)](std::size_t i, auto values) {
                         std::copy(values.begin(), values.end(), to + (i << dim_));
                       });
    reader_.skip(2 << dim_, 4 * octs, "cpu_map, flag1");
  }

 private:
  // A longer list is not read whole: reading only the records that we want costs less.
  static constexpr std::uint64_t short_list = std::uint64_t{1} << 16;

  void start(std::uint64_t octs) {
    const std::uint64_t records = 4 + 3 * dim_ + (3U << dim_);
    const std::uint64_t bytes =
        octs * (4 * (4 + 2 * dim_ + (3U << dim_)) + real_ * dim_) + records * 2 * reader_.format().marker;
    if (bytes < short_list) reader_.prefetch(bytes);
  }
  void skip_positions(std::uint64_t octs) {
    reader_.skip(dim_, real_ * octs, "xg");
    reader_.skip(1 + 2 * dim_, 4 * octs, "father, nbor");
  }

  RecordReader& reader_;
  std::size_t dim_, real_;
  CellTile<std::int32_t> tile_;
};

LevelOcts read_level(RecordReader& reader, const AmrHeader& header, int domain, int level) {
  LevelOcts octs;
  ListReader list_reader(reader, header);
  std::size_t total = 0;
  for (int list = 0; list < header.ncpu; ++list) total += num_octs(header, level, list);
  octs.index.reserve(total);
  octs.son.reserve(total << header.ndim);
  for (int list = 0; list < num_lists(header); ++list) {
    const std::uint32_t count = num_octs(header, level, list);
    if (list == domain) octs.own_first = octs.index.size();
    if (count > 0 && list < header.ncpu) list_reader.append(count, octs);
    if (count > 0 && list >= header.ncpu) list_reader.skip(count);  // a wall
    if (list == domain) octs.own_end = octs.index.size();
  }
  check_range(octs.index, 1, header.ngridmax, reader, "an oct index (ind_grid)", level);
  check_range(octs.son, 0, header.ngridmax, reader, "a child's index (son)", level);
  return octs;
}

std::uint32_t root_cell(const mesh::Index3& q, unsigned c, int dim, const mesh::Index3& roots) {
  const std::int64_t x = 2 * q[0] + (c & 1), y = dim > 1 ? 2 * q[1] + (c >> 1 & 1) : 0,
                     z = dim > 2 ? 2 * q[2] + (c >> 2) : 0;
  return static_cast<std::uint32_t>(x + roots[0] * (y + roots[1] * z));
}

// Makes level 0 from the coarse grid: the oct in each real coarse cell, and the places of its cells among the roots.
struct Roots {
  mesh::Index3 count{1, 1, 1};
  std::vector<std::int32_t> wanted;
  std::vector<std::uint32_t> cell;
};

Roots find_roots(const AmrHeader& header) {
  const RealCells real = find_real_cells(header);
  Roots roots;
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(header.ndim); ++axis)
    roots.count[axis] = 2 * real.count[axis];
  for (std::int64_t k = 0; k < real.count[2]; ++k)
    for (std::int64_t j = 0; j < real.count[1]; ++j)
      for (std::int64_t i = 0; i < real.count[0]; ++i) {
        const std::int64_t at =
            real.first[0] + i + header.coarse[0] * (real.first[1] + j + header.coarse[1] * (real.first[2] + k));
        roots.wanted.push_back(header.coarse_son[static_cast<std::size_t>(at)]);
        for (unsigned c = 0; c < (1U << header.ndim); ++c)
          roots.cell.push_back(root_cell({i, j, k}, c, header.ndim, roots.count));
      }
  return roots;
}

// Finds the place in the file of each oct that the level above asks for. It asks for 0 if a coarse cell has no oct.
std::vector<std::uint32_t> place_families(const LevelOcts& octs, const std::vector<std::int32_t>& wanted,
                                          std::vector<std::uint32_t>& family_of_oct, const RecordReader& reader,
                                          int level) {
  const OctFinder finder(octs.index, reader, level);
  std::vector<std::uint32_t> place(wanted.size(), no_oct);
  family_of_oct.assign(octs.index.size(), no_family);
  for (std::size_t k = 0; k < wanted.size(); ++k) {
    if (wanted[k] == 0) continue;
    place[k] = finder.find(wanted[k]);
    if (place[k] == no_oct)
      throw reader.error("the records before: the child oct " + std::to_string(wanted[k]) + " of a cell is not" +
                         at_level(level) + " of this file");
    if (family_of_oct[place[k]] != no_family)
      throw reader.error("the records before: oct " + std::to_string(wanted[k]) + at_level(level) +
                         " is the child of two cells");
    family_of_oct[place[k]] = static_cast<std::uint32_t>(k);
  }
  for (std::size_t i = octs.own_first; i < octs.own_end; ++i)
    if (family_of_oct[i] == no_family)
      throw reader.error("the records before: the domain's own oct " + std::to_string(octs.index[i]) + at_level(level) +
                         " is no cell's child");
  return place;
}

// One bit for each cell of an oct that has a child.
unsigned refined_cells(const std::int32_t* sons, int dim) {
  unsigned refined = 0;
  for (unsigned c = 0; c >> dim == 0; ++c) refined |= static_cast<unsigned>(sons[c] != 0) << c;
  return refined;
}

// Adds a level to the tree. Returns the octs that the next level needs, in the order of the refined cells.
std::vector<std::int32_t> add_level(DomainTree& out, const LevelOcts& octs, const std::vector<std::uint32_t>& place,
                                    bool deepest) {
  const int dim = out.tree.dim;
  const std::size_t cells = place.size() << dim;
  const bool first = out.tree.refined.empty();
  const std::uint64_t all = (std::uint64_t{1} << (1U << dim)) - 1;
  BitArray refined, owned;
  refined.resize(cells);
  owned.resize(cells);
  std::vector<std::int32_t> child(first ? cells : 0), wanted;
  for (std::size_t k = 0; k < place.size(); ++k) {
    if (place[k] == no_oct) continue;
    const std::int32_t* const sons = octs.son.data() + (std::size_t{place[k]} << dim);
    const bool own = place[k] >= octs.own_first && place[k] < octs.own_end;
    const std::uint64_t has = deepest ? 0 : refined_cells(sons, dim);
    const std::size_t cell = k << dim;
    if (first) {
      for (std::size_t c = 0; c >> dim == 0; ++c) {
        const std::uint32_t root = out.root_cell[cell + c];
        if (own) owned.set(root);
        if ((has >> c & 1) == 0) continue;
        refined.set(root);
        child[root] = sons[c];
      }
      continue;
    }
    // A family never crosses a word: its size divides 64.
    if (own) owned.words()[cell / 64] |= all << cell % 64;
    refined.words()[cell / 64] |= has << cell % 64;
    for (std::uint64_t rest = has; rest != 0; rest &= rest - 1) wanted.push_back(sons[std::countr_zero(rest)]);
  }
  if (first) refined.for_each_set([&](std::size_t cell) { wanted.push_back(child[cell]); });
  out.tree.refined.push_back(std::move(refined));
  out.tree.owned.push_back(std::move(owned));
  return wanted;
}

// Turns families of the old tree into those of the pruned tree, if they still exist.
void renumber(std::vector<std::uint32_t>& family_of_oct, const std::vector<std::uint32_t>& source, std::size_t families,
              int dim) {
  std::vector<std::uint32_t> renumbered(families, no_family);
  for (std::size_t cell = 0; cell < source.size(); cell += std::size_t{1} << dim)
    renumbered[source[cell] >> dim] = static_cast<std::uint32_t>(cell >> dim);
  for (std::uint32_t& family : family_of_oct)
    if (family != no_family) family = renumbered[family];
}

void prune_tree(DomainTree& out) {
  mesh::Extract pruned = mesh::prune(out.tree);
  std::vector<std::uint32_t> place(out.tree.refined[0].size(), no_cell);
  for (std::size_t i = 0; i < pruned.source[0].size(); ++i) place[pruned.source[0][i]] = static_cast<std::uint32_t>(i);
  for (std::uint32_t& cell : out.root_cell) cell = place[cell];
  for (std::size_t level = 1; level < out.tree.refined.size(); ++level) {
    if (level < pruned.source.size())
      renumber(out.family_of_oct[level], pruned.source[level], out.tree.refined[level].size() >> out.tree.dim,
               out.tree.dim);
    else
      out.family_of_oct[level].assign(out.family_of_oct[level].size(), no_family);
  }
  out.tree = std::move(pruned.tree);
}

}  // namespace

DomainTree read_tree(RecordReader& reader, const AmrHeader& header, int domain, int levels) {
  Roots roots = find_roots(header);
  DomainTree out;
  out.tree.dim = header.ndim;
  out.tree.roots = roots.count;
  out.root_cell = std::move(roots.cell);
  std::vector<std::int32_t> wanted = std::move(roots.wanted);
  const int last = std::min(levels, header.nlevelmax);
  for (int level = 0; level < last; ++level) {
    const LevelOcts octs = read_level(reader, header, domain, level);
    const auto place = place_families(octs, wanted, out.family_of_oct.emplace_back(), reader, level);
    if (!wanted.empty()) wanted = add_level(out, octs, place, level + 1 == levels);
  }
  if (last == header.nlevelmax) {
    if (!wanted.empty()) throw reader.error("a cell of the deepest level (nlevelmax) has a child");
    reader.require_end();
  }
  prune_tree(out);
  return out;
}

}  // namespace octavo::formats::ramses
