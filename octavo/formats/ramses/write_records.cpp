#include "octavo/formats/ramses/write_records.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>

#include "octavo/file/fortran_record.hpp"

namespace octavo::formats::ramses {
namespace {

using file::RecordWriter;
using mesh::Coordinate;
using mesh::Octree;
using Ints = std::vector<std::int32_t>;
using Reals = std::vector<double>;

/// A record of reals, of 8 bytes or 4.
void write_reals(RecordWriter& out, const Plan& plan, const Reals& values) {
  if (!plan.single_precision) return out.write(values);
  std::vector<float> narrow(values.size());
  std::transform(values.begin(), values.end(), narrow.begin(), [](double value) { return static_cast<float>(value); });
  out.write(narrow);
}

/// A tree cell's number in RAMSES' memory: coarse cells first, then position c of all octs before position c + 1.
struct CellNumbers {
  const Plan& plan;
  const Octree& tree;
  const Numbering& numbering;

  std::int32_t coarse_count() const {
    return static_cast<std::int32_t>(plan.coarse[0] * plan.coarse[1] * plan.coarse[2]);
  }
  /// Of a coarse cell given in the numbers of real ones, wrapped around.
  std::int32_t coarse(std::array<std::int64_t, 3> at) const {
    std::int64_t number = 0;
    for (std::size_t a = 3; a-- > 0;) {
      const std::int64_t x = (at[a] + plan.skip[a] + plan.coarse[a]) % plan.coarse[a];
      number = number * plan.coarse[a] + x;
    }
    return static_cast<std::int32_t>(number + 1);
  }
  std::int32_t of(int level, std::size_t cell) const {
    const OctPosition at = position_of_cell(tree, level, cell);
    const std::int32_t oct = numbering.index[static_cast<std::size_t>(level)][at.oct];
    return coarse_count() + static_cast<std::int32_t>(at.c) * plan.ngridmax + oct;
  }
};

/// Finds a level's cell by its position; the level's cells sorted once.
class CellFinder {
 public:
  explicit CellFinder(const std::vector<Coordinate>& cells) : cells_(&cells), order_(cells.size()) {
    std::iota(order_.begin(), order_.end(), 0U);
    std::sort(order_.begin(), order_.end(), [&](std::uint32_t a, std::uint32_t b) { return cells[a] < cells[b]; });
  }
  /// -1 where the tree does not have it.
  std::int64_t find(const Coordinate& at) const {
    const auto found = std::lower_bound(order_.begin(), order_.end(), at,
                                        [&](std::uint32_t i, const Coordinate& x) { return (*cells_)[i] < x; });
    return found != order_.end() && (*cells_)[*found] == at ? static_cast<std::int64_t>(*found) : -1;
  }

 private:
  const std::vector<Coordinate>* cells_;
  std::vector<std::uint32_t> order_;
};

void write_header(RecordWriter& out, const Plan& plan, const Numbering& numbering) {
  const mesh::Header& header = *plan.header;
  const auto levels = static_cast<std::size_t>(plan.nlevelmax);
  const auto integers = [&](const std::string& name, Reals otherwise) {
    const Reals numbers = numbers_or(header, name, std::move(otherwise));
    return Ints(numbers.begin(), numbers.end());
  };
  const auto a_level = [&](const std::string& name) {
    Reals values = numbers_or(header, name, {});
    values.resize(levels, 0.0);
    return values;
  };
  out.write(std::int32_t{plan.owners.count()});
  out.write(std::int32_t{header.dim});
  out.write(Ints(plan.coarse.begin(), plan.coarse.end()));
  out.write(std::int32_t{plan.nlevelmax});
  out.write(plan.ngridmax);
  out.write(std::int32_t{0});  // boundary octs are not written
  out.write(numbering.total);
  write_reals(out, plan, {plan.boxlen});
  const Reals tout = numbers_or(header, "tout", {header.time}), aout = numbers_or(header, "aout", {1.0});
  out.write(integers("output_counts", {static_cast<double>(tout.size()), 1, 1}));
  write_reals(out, plan, tout);
  write_reals(out, plan, aout);
  write_reals(out, plan, {header.time});
  write_reals(out, plan, a_level("dtold"));
  write_reals(out, plan, a_level("dtnew"));
  out.write(integers("nstep", {0, number_or(header, "nstep_coarse", 0)}));
  write_reals(out, plan, numbers_or(header, "energy", {0, 0, 0}));
  write_reals(out, plan, numbers_or(header, "cosmology", {1, 0, 0, 0.045, 1, 1, 1}));
  write_reals(out, plan, numbers_or(header, "expansion", {1, 0, 1, 0, 0}));
  write_reals(out, plan, {number_or(header, "mass_sph", 0)});
}

/// First and last oct, and how many, of each list; lists fastest.
void write_list_tables(RecordWriter& out, const Plan& plan, const Numbering& numbering) {
  const auto lists = static_cast<std::size_t>(plan.owners.count());
  Ints head(lists * static_cast<std::size_t>(plan.nlevelmax), 0), tail = head, count = head;
  std::int32_t next = 1;
  for (std::size_t level = 0; level < numbering.counts.size(); ++level)
    for (std::size_t list = 0; list < lists; ++list) {
      const auto n = static_cast<std::int32_t>(numbering.counts[level][list]);
      const std::size_t at = level * lists + list;
      count[at] = n;
      if (n > 0) head[at] = next, tail[at] = next + n - 1;
      next += n;
    }
  out.write(head);
  out.write(tail);
  out.write(count);
  Ints totals(10 * static_cast<std::size_t>(plan.nlevelmax), 0);
  for (std::size_t level = 0; level < plan.octs.size(); ++level) {
    const auto& [sum, least, most] = plan.octs[level];
    const std::int64_t row[] = {sum, least, most, sum / static_cast<std::int64_t>(lists)};
    std::copy(std::begin(row), std::end(row), totals.begin() + static_cast<std::ptrdiff_t>(10 * level));
  }
  out.write(totals);
}

/// A key as a 16-byte real (IEEE binary128), native byte order.
struct Quad {
  std::uint64_t low = 0, high = 0;
};
Quad to_quad(const mesh::CurveKey& key) {
  if (key.high == 0 && key.low == 0) return {};
  const int top = static_cast<int>(key.high != 0 ? 64 + std::bit_width(key.high) : std::bit_width(key.low)) - 1;
  // The mantissa's 112 bits: what stands below the leading bit, shifted up.
  const int shift = 112 - top;
  std::uint64_t high = key.high, low = key.low;
  for (int i = 0; i < shift; ++i) {
    high = high << 1 | low >> 63;
    low <<= 1;
  }
  const auto exponent = static_cast<std::uint64_t>(16383 + top);
  Quad quad{low, exponent << 48 | (high & 0xffffffffffffU)};
  if (std::endian::native == std::endian::big) std::swap(quad.low, quad.high);
  return quad;
}

/// The name of the ordering, and the tables that go with it.
void write_ordering(RecordWriter& out, const Plan& plan) {
  const mesh::Header& header = *plan.header;
  const auto integers = [&](const std::string& name) {
    const Reals numbers = numbers_or(header, name, {});
    return Ints(numbers.begin(), numbers.end());
  };
  std::string ordering = plan.owners.bounds.empty() ? "bisection" : "hilbert";
  ordering.resize(128, ' ');
  out.write(ordering);
  if (plan.owners.bounds.empty()) {
    write_reals(out, plan, numbers_or(header, "bisection_wall", {}));
    out.write(integers("bisection_next"));
    out.write(integers("bisection_indx"));
    write_reals(out, plan, plan.owners.box_min);
    write_reals(out, plan, plan.owners.box_max);
  } else if (header.attributes.contains("bound_key_low")) {
    std::vector<Quad> keys;
    for (const mesh::CurveKey& key : plan.owners.bounds) keys.push_back(to_quad(key));
    out.write(keys);
  } else {
    Reals keys;
    for (const mesh::CurveKey& key : plan.owners.bounds) keys.push_back(mesh::to_double(key));
    out.write(keys);  // doubles also where the rest of the file is single precision
  }
}

void write_domains(RecordWriter& out, const Plan& plan, const Octree& tree, const Numbering& numbering) {
  const std::int32_t used = numbering.total;
  out.write(Ints{used < plan.ngridmax ? used + 1 : 0, used < plan.ngridmax ? plan.ngridmax : 0, plan.ngridmax - used,
                 used, plan.ngridmax});
  write_ordering(out, plan);
  Ints son(plan.coarse_map.size(), 0);
  for (std::uint32_t oct = 0; oct < numbering.index[0].size(); ++oct) {
    const Coordinate at = coarse_position(tree, oct);
    const CellNumbers numbers{plan, tree, numbering};
    son[static_cast<std::size_t>(numbers.coarse({at[0], at[1], at[2]}) - 1)] = numbering.index[0][oct];
  }
  out.write(son);
  out.write(Ints(son.size(), 0));
  out.write(plan.coarse_map);
}

/// The father cell of each oct of a level, and how to find what lies beside it.
struct Fathers {
  std::vector<std::uint32_t> cell;  ///< per family: cell of the level above
  CellFinder finder;
};

std::vector<Ints> neighbours_of(const CellNumbers& numbers, int level, std::span<const std::uint32_t> octs,
                                const Fathers* fathers) {
  const int dim = numbers.tree.dim;
  std::vector<Ints> neighbours(2 * static_cast<std::size_t>(dim));
  for (const std::uint32_t oct : octs)
    for (std::size_t side = 0; side < neighbours.size(); ++side) {
      const std::size_t axis = side / 2;
      const std::int64_t step = side % 2 == 0 ? -1 : 1;
      if (level == 0) {
        const Coordinate at = coarse_position(numbers.tree, oct);
        std::array<std::int64_t, 3> beside{at[0], at[1], at[2]};
        beside[axis] += step;
        neighbours[side].push_back(numbers.coarse(beside));
        continue;
      }
      Coordinate beside = numbers.numbering.cells[static_cast<std::size_t>(level - 1)][fathers->cell[oct]];
      const auto width = numbers.tree.roots[axis] << (level - 1);
      beside[axis] = static_cast<std::uint32_t>((static_cast<std::int64_t>(beside[axis]) + step + width) % width);
      const std::int64_t found = fathers->finder.find(beside);
      neighbours[side].push_back(found < 0 ? 0 : numbers.of(level - 1, static_cast<std::size_t>(found)));
    }
  return neighbours;
}

/// The records of one list of one level. `first` is the ind_grid of its first oct.
void write_list(RecordWriter& out, const CellNumbers& numbers, int level, std::span<const std::uint32_t> octs,
                std::int32_t first, const Fathers* fathers, const std::vector<std::uint32_t>& rank_of_refined) {
  const Octree& tree = numbers.tree;
  const auto n = static_cast<std::int32_t>(octs.size());
  const auto& cells = numbers.numbering.cells[static_cast<std::size_t>(level)];
  Ints values(octs.size());
  std::iota(values.begin(), values.end(), first);
  out.write(values);
  for (std::int32_t i = 0; i < n; ++i) values[static_cast<std::size_t>(i)] = i + 1 < n ? first + i + 1 : 0;
  out.write(values);
  for (std::int32_t i = 0; i < n; ++i) values[static_cast<std::size_t>(i)] = i > 0 ? first + i - 1 : 0;
  out.write(values);
  for (std::size_t a = 0; a < static_cast<std::size_t>(tree.dim); ++a) {
    Reals centre;
    for (const std::uint32_t oct : octs)
      centre.push_back(std::ldexp(cells[cell_of_oct(tree, level, oct, 0)][a] / 2 + 0.5, -level) +
                       static_cast<double>(numbers.plan.skip[a]));
    write_reals(out, numbers.plan, centre);
  }
  for (std::size_t i = 0; i < octs.size(); ++i) {
    const Coordinate at = coarse_position(tree, octs[i]);
    values[i] = level == 0 ? numbers.coarse({at[0], at[1], at[2]}) : numbers.of(level - 1, fathers->cell[octs[i]]);
  }
  out.write(values);
  for (const Ints& side : neighbours_of(numbers, level, octs, fathers)) out.write(side);
  const auto& refined = tree.refined[static_cast<std::size_t>(level)];
  for (unsigned c = 0; c < (1U << tree.dim); ++c) {
    for (std::size_t i = 0; i < octs.size(); ++i) {
      const std::size_t cell = cell_of_oct(tree, level, octs[i], c);
      values[i] =
          refined[cell] ? numbers.numbering.index[static_cast<std::size_t>(level) + 1][rank_of_refined[cell]] : 0;
    }
    out.write(values);
  }
  for (unsigned c = 0; c < (1U << tree.dim); ++c) {
    for (std::size_t i = 0; i < octs.size(); ++i)
      values[i] = numbers.plan.owners.of(level, cells[cell_of_oct(tree, level, octs[i], c)]) + 1;
    out.write(values);
  }
  std::fill(values.begin(), values.end(), 0);
  for (unsigned c = 0; c < (1U << tree.dim); ++c) out.write(values);
}

/// Per cell: which family its children are, where it is refined.
std::vector<std::uint32_t> ranks(const base::BitArray& refined) {
  std::vector<std::uint32_t> rank(refined.size(), 0);
  std::uint32_t next = 0;
  refined.for_each_set([&](std::size_t cell) { rank[cell] = next++; });
  return rank;
}

/// Calls f(list, octs of the list) for the lists of a level.
template <class F>
void for_each_list(const Numbering& numbering, std::size_t level, F&& f) {
  std::span<const std::uint32_t> rest(numbering.octs[level]);
  for (std::size_t list = 0; list < numbering.counts[level].size(); ++list) {
    const std::size_t n = numbering.counts[level][list];
    f(list, rest.first(n));
    rest = rest.subspan(n);
  }
}

}  // namespace

double number_or(const mesh::Header& header, const std::string& name, double otherwise) {
  const Reals numbers = numbers_or(header, name, {otherwise});
  return numbers.empty() ? otherwise : numbers.front();
}

Reals numbers_or(const mesh::Header& header, const std::string& name, Reals otherwise) {
  const auto found = header.attributes.find(name);
  if (found == header.attributes.end()) return otherwise;
  if (const auto* value = std::get_if<double>(&found->second)) return {*value};
  if (const auto* value = std::get_if<std::int64_t>(&found->second)) return {static_cast<double>(*value)};
  if (const auto* values = std::get_if<Reals>(&found->second)) return *values;
  if (const auto* values = std::get_if<std::vector<std::int64_t>>(&found->second))
    return Reals(values->begin(), values->end());
  return otherwise;
}

std::vector<std::string> names_of(const mesh::Header& header, const std::string& name) {
  const auto found = header.attributes.find(name);
  if (found == header.attributes.end()) return {};
  const auto* names = std::get_if<std::vector<std::string>>(&found->second);
  return names != nullptr ? *names : std::vector<std::string>{};
}

void write_amr(const std::filesystem::path& path, const Plan& plan, const Octree& tree, const Numbering& numbering) {
  RecordWriter out(path, plan.format);
  write_header(out, plan, numbering);
  write_list_tables(out, plan, numbering);
  write_domains(out, plan, tree, numbering);
  const CellNumbers numbers{plan, tree, numbering};
  std::int32_t first = 1;
  for (int level = 0; level < mesh::num_levels(tree); ++level) {
    const auto l = static_cast<std::size_t>(level);
    std::optional<Fathers> fathers;
    if (level > 0)
      fathers.emplace(Fathers{base::set_positions(tree.refined[l - 1]), CellFinder(numbering.cells[l - 1])});
    const auto rank_of_refined = ranks(tree.refined[l]);
    for_each_list(numbering, l, [&](std::size_t, std::span<const std::uint32_t> octs) {
      if (octs.empty()) return;
      write_list(out, numbers, level, octs, first, fathers ? &*fathers : nullptr, rank_of_refined);
      first += static_cast<std::int32_t>(octs.size());
    });
  }
  out.close();
}

void write_cells(const std::filesystem::path& path, CellFile kind, const Plan& plan, const Octree& tree,
                 const Numbering& numbering, const std::vector<const mesh::Field*>& fields) {
  RecordWriter out(path, plan.format);
  const auto variables = static_cast<std::int32_t>(fields.size());
  out.write(std::int32_t{plan.owners.count()});
  out.write(variables);
  if (kind != CellFile::grav) out.write(std::int32_t{plan.header->dim});
  out.write(std::int32_t{plan.nlevelmax});
  out.write(std::int32_t{0});
  if (kind != CellFile::grav) write_reals(out, plan, {plan.gamma});
  Reals values;
  const auto offsets = mesh::level_offsets(tree);
  for (int level = 0; level < plan.nlevelmax; ++level) {
    const auto write_one = [&](std::size_t, std::span<const std::uint32_t> octs) {
      out.write(std::int32_t{level + 1});
      out.write(static_cast<std::int32_t>(octs.size()));
      if (octs.empty()) return;
      for (unsigned c = 0; c < (1U << tree.dim); ++c)
        for (const mesh::Field* field : fields) {
          values.clear();
          const std::size_t offset = offsets[static_cast<std::size_t>(level)];
          mesh::visit_values(*field, [&](auto all) {
            for (const std::uint32_t oct : octs)
              values.push_back(static_cast<double>(all[offset + cell_of_oct(tree, level, oct, c)]));
          });
          write_reals(out, plan, values);
        }
    };
    if (level < mesh::num_levels(tree)) {
      for_each_list(numbering, static_cast<std::size_t>(level), write_one);
    } else {
      for (int list = 0; list < plan.owners.count(); ++list) write_one(static_cast<std::size_t>(list), {});
    }
  }
  out.close();
}

void write_particles(const std::filesystem::path& path, const Plan& plan, const mesh::Particles& particles) {
  RecordWriter out(path, plan.format);
  out.write(std::int32_t{plan.owners.count()});
  out.write(std::int32_t{plan.header->dim});
  out.write(static_cast<std::int32_t>(particles.count));
  const Reals seed = numbers_or(*plan.header, "localseed", {0, 0, 0, 0});
  out.write(Ints(seed.begin(), seed.end()));
  out.write(static_cast<std::int32_t>(number_or(*plan.header, "nstar_tot", 0)));
  write_reals(out, plan, {number_or(*plan.header, "mstar_tot", 0)});
  write_reals(out, plan, {number_or(*plan.header, "mstar_lost", 0)});
  out.write(static_cast<std::int32_t>(number_or(*plan.header, "nsink", 0)));
  for (const mesh::Field& attribute : particles.attributes)
    mesh::visit_values(attribute, [&](auto values) { out.write(values); });
  out.close();
}

}  // namespace octavo::formats::ramses
