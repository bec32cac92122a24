#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <utility>

#include "octavo/formats/ramses/write_records.hpp"

namespace octavo::formats::ramses {
namespace {

using file::RecordWriter;
using mesh::Coordinate;
using Ints = std::vector<std::int32_t>;
using Reals = std::vector<double>;

void write_header(RecordWriter& out, const DomainFilePlan& plan, const FileTree& tree) {
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
  out.write(Ints(plan.coarse.count.begin(), plan.coarse.count.end()));
  out.write(std::int32_t{plan.nlevelmax});
  out.write(ngridmax_of(plan, tree));
  out.write(std::int32_t{plan.coarse.regions});
  out.write(tree.total);
  write_reals(out, plan, {plan.boxlen});
  const Reals tout = numbers_or(header, "tout", {header.time}), aout = numbers_or(header, "aout", {1.0});
  // noutput, iout, ifout: the next output gets the next number.
  const Ints counts = integers("output_counts", {static_cast<double>(tout.size()), 1, 1});
  out.write(Ints{static_cast<std::int32_t>(tout.size()), counts.size() > 1 ? counts[1] : 1, plan.number + 1});
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

/// The first oct, the last oct and the number of octs of each list from `first` on; lists fastest.
void write_lists(RecordWriter& out, const DomainFilePlan& plan, const FileTree& tree, std::size_t first,
                 std::size_t lists) {
  Ints head(lists * static_cast<std::size_t>(plan.nlevelmax), 0), tail = head, count = head;
  std::int32_t next = 1;
  for (std::size_t level = 0; level < tree.levels.size(); ++level)
    for (std::size_t list = 0; list < tree.levels[level].counts.size(); ++list) {
      const auto n = static_cast<std::int32_t>(tree.levels[level].counts[list]);
      if (n > 0 && list >= first && list < first + lists) {
        const std::size_t at = level * lists + list - first;
        count[at] = n;
        head[at] = next;
        tail[at] = next + n - 1;
      }
      next += n;
    }
  out.write(head);
  out.write(tail);
  out.write(count);
}

void write_list_tables(RecordWriter& out, const DomainFilePlan& plan, const FileTree& tree) {
  const auto domains = static_cast<std::size_t>(plan.owners.count());
  write_lists(out, plan, tree, 0, domains);
  Ints totals(10 * static_cast<std::size_t>(plan.nlevelmax), 0);
  for (std::size_t level = 0; level < plan.octs.size(); ++level) {
    const auto& [sum, least, most] = plan.octs[level];
    const std::int64_t row[] = {sum, least, most, sum / static_cast<std::int64_t>(domains)};
    std::copy(std::begin(row), std::end(row), totals.begin() + static_cast<std::ptrdiff_t>(10 * level));
  }
  out.write(totals);
  if (plan.coarse.regions > 0) write_lists(out, plan, tree, domains, static_cast<std::size_t>(plan.coarse.regions));
}

/// A key as a 16-byte real (IEEE binary128), native byte order.
struct Quad {
  std::uint64_t low = 0, high = 0;
};
Quad to_quad(const mesh::CurveKey& key) {
  if (key.high == 0 && key.low == 0) return {};
  const int top = static_cast<int>(key.high != 0 ? 64 + std::bit_width(key.high) : std::bit_width(key.low)) - 1;
  // The mantissa's 112 bits are the bits below the leading one, shifted up.
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

/// Writes the name of the ordering, and its tables.
void write_ordering(RecordWriter& out, const DomainFilePlan& plan) {
  const mesh::Header& header = *plan.header;
  const auto integers = [&](const std::string& name) {
    const Reals numbers = numbers_or(header, name, {});
    return Ints(numbers.begin(), numbers.end());
  };
  std::string ordering = name_of(plan.owners.ordering);
  ordering.resize(128, ' ');
  out.write(ordering);
  if (plan.owners.ordering == Ordering::planar) {
    out.write(plan.owners.planes);  // doubles also where the rest of the file is single precision
  } else if (plan.owners.ordering == Ordering::bisection) {
    write_reals(out, plan, numbers_or(header, "bisection_wall", {}));
    out.write(integers("bisection_next"));
    out.write(integers("bisection_indx"));
    write_reals(out, plan, plan.owners.box_min);
    write_reals(out, plan, plan.owners.box_max);
  } else if (plan.quad_keys) {
    std::vector<Quad> keys;
    for (const mesh::CurveKey& key : plan.owners.bounds) keys.push_back(to_quad(key));
    out.write(keys);
  } else {
    Reals keys;
    for (const mesh::CurveKey& key : plan.owners.bounds) keys.push_back(mesh::to_double(key));
    out.write(keys);  // doubles also where the rest of the file is single precision
  }
}

void write_coarse(RecordWriter& out, const DomainFilePlan& plan, const FileTree& tree) {
  const std::int32_t size = ngridmax_of(plan, tree), used = tree.total;
  out.write(Ints{used < size ? used + 1 : 0, used < size ? size : 0, size - used, used, used});
  write_ordering(out, plan);
  const std::size_t cells = plan.coarse.region.size();
  Ints son(cells, 0), refined(cells, 0), owner(cells, 0);
  const FileLevel& level = tree.levels[0];
  for (std::size_t i = 0; i < level.size(); ++i) {
    const std::size_t cell = level.father[i];
    son[cell] = level.index[i];
    refined[cell] = 1;
    if (!in_wall(level, i, plan.owners)) owner[cell] = level.list[i] + 1;
  }
  out.write(son);
  out.write(refined);
  out.write(owner);
}

/// Returns the number of the cell beside an oct's father; 0 if the file does not hold it.
std::int32_t neighbour(const DomainFilePlan& plan, const FileTree& tree, std::size_t level, std::size_t oct,
                       std::size_t side) {
  const FileLevel& octs = tree.levels[level];
  if (level == 0) {
    Coordinate at = octs.at[oct];
    const auto count = static_cast<std::uint32_t>(plan.coarse.count[side / 2]);
    at[side / 2] = (at[side / 2] + (side % 2 == 0 ? count - 1 : 1)) % count;
    return static_cast<std::int32_t>(coarse_number(plan.coarse, at)) + 1;
  }
  const unsigned axis = 1U << (side / 2), cell = octs.father_cell[oct];
  const bool inside = ((cell & axis) != 0) == (side % 2 == 0);
  const std::int32_t beside = tree.levels[level - 1].beside[octs.father[oct]][side];
  if (!inside && beside < 0) return 0;
  return cell_number(plan, tree, level - 1, inside ? octs.father[oct] : static_cast<std::size_t>(beside), cell ^ axis);
}

/// Writes value(oct) for the octs of a list.
template <class Value>
void write_ints(RecordWriter& out, std::span<const std::uint32_t> octs, Ints& values, Value&& value) {
  std::transform(octs.begin(), octs.end(), values.begin(), value);
  out.write(values);
}

/// Writes the links of a list: numbers, next, previous.
void write_links(RecordWriter& out, std::int32_t first, Ints& values) {
  const auto n = static_cast<std::int32_t>(values.size());
  std::iota(values.begin(), values.end(), first);
  out.write(values);
  for (std::int32_t i = 0; i < n; ++i) values[static_cast<std::size_t>(i)] = i + 1 < n ? first + i + 1 : 0;
  out.write(values);
  for (std::int32_t i = 0; i < n; ++i) values[static_cast<std::size_t>(i)] = i > 0 ? first + i - 1 : 0;
  out.write(values);
}

/// Writes the records of one list of one level.
void write_list(RecordWriter& out, const DomainFilePlan& plan, const FileTree& tree, std::size_t l,
                std::span<const std::uint32_t> octs) {
  const FileLevel& level = tree.levels[l];
  const int dim = plan.header->dim;
  Ints values(octs.size());
  write_links(out, level.index[octs[0]], values);
  for (std::size_t a = 0; a < static_cast<std::size_t>(dim); ++a) {
    Reals centre;
    for (const std::uint32_t i : octs) centre.push_back(std::ldexp(level.at[i][a] + 0.5, -static_cast<int>(l)));
    write_reals(out, plan, centre);
  }
  write_ints(out, octs, values, [&](std::uint32_t i) {
    return l == 0 ? static_cast<std::int32_t>(level.father[i]) + 1
                  : cell_number(plan, tree, l - 1, level.father[i], level.father_cell[i]);
  });
  for (std::size_t side = 0; side < 2 * static_cast<std::size_t>(dim); ++side)
    write_ints(out, octs, values, [&](std::uint32_t i) { return neighbour(plan, tree, l, i, side); });
  for (unsigned c = 0; c < (1U << dim); ++c)
    write_ints(out, octs, values, [&](std::uint32_t i) {
      return level.sons[i] >> c & 1 ? tree.levels[l + 1].index[son_of(level, i, c)] : 0;
    });
  for (unsigned c = 0; c < (1U << dim); ++c)
    write_ints(out, octs, values, [&](std::uint32_t i) {
      if (in_wall(level, i, plan.owners)) return 0;
      const int shift = static_cast<int>(l) + 1;
      return plan.owners.of(shift - 1, without_walls(plan.coarse, cell_at(level.at[i], c), shift)) + 1;
    });
  // When RAMSES writes, the flagged cells are those that it has just refined.
  for (unsigned c = 0; c < (1U << dim); ++c)
    write_ints(out, octs, values, [&](std::uint32_t i) { return level.refined[i] >> c & 1; });
}

}  // namespace

void write_amr(const std::filesystem::path& path, const DomainFilePlan& plan, const FileTree& tree) {
  RecordWriter out(path, plan.format);
  write_header(out, plan, tree);
  write_list_tables(out, plan, tree);
  write_coarse(out, plan, tree);
  for (std::size_t l = 0; l < tree.levels.size(); ++l) {
    std::span<const std::uint32_t> rest(tree.levels[l].order);
    for (const std::uint32_t count : tree.levels[l].counts) {
      if (count > 0) write_list(out, plan, tree, l, rest.first(count));
      rest = rest.subspan(count);
    }
  }
  out.close();
}

}  // namespace octavo::formats::ramses
