#include "octavo/codec/predict.hpp"

#include <algorithm>
#include <cmath>

#include "octavo/codec/bit_stream.hpp"
#include "octavo/codec/wide.hpp"

namespace octavo::codec {

namespace {

Orientations make_orientations(int axes) {
  Orientations all;
  std::array<int, 3> axis{0, 1, 2};
  do {
    for (unsigned mirror = 0; mirror < 1u << axes; ++mirror, ++all.count)
      for (unsigned c = 0; c < 1u << axes; ++c) {
        unsigned to = mirror;
        for (int a = 0; a < axes; ++a) to ^= ((c >> axis[static_cast<std::size_t>(a)]) & 1) << a;
        all.map[static_cast<std::size_t>(all.count)][c] = static_cast<std::uint8_t>(to);
      }
  } while (std::next_permutation(axis.begin(), axis.begin() + axes));
  return all;
}

constexpr std::size_t max_rows = max_terms + 4;  // the child that is predicted comes last; in whole vectors
using Matrix = std::array<std::array<double, max_rows>, max_rows>;

/// Adds weighted[r] * d[c] to row r of `sums`, for c <= r and the rest of the last vector. Rows have `stride` entries.
OCTAVO_WIDE void add_products(const double* weighted, const double* d, std::size_t rows, double* sums,
                              std::size_t stride) {
  for (std::size_t r = 0; r < rows; ++r, sums += stride) {
    const Four factor = Four{} + weighted[r];
    for (std::size_t c = 0; c <= r; c += 4) {
      Four sum, x;
      std::memcpy(&sum, sums + c, sizeof sum);
      std::memcpy(&x, d + c, sizeof x);
      sum = sum + factor * x;
      std::memcpy(sums + c, &sum, sizeof sum);
    }
  }
}

/// The Cholesky factor of the first rows of `a`, as many as there can be: `rows`. A slightly lifted diagonal keeps it
/// regular.
struct Factor {
  Matrix l{};
  std::size_t rows = 0;
};
Factor factor_of(const Matrix& a, std::size_t n) {
  Factor factor;
  Matrix& l = factor.l;
  for (std::size_t i = 0; i < n; ++i, ++factor.rows)
    for (std::size_t j = 0; j <= i; ++j) {
      double sum = i == j ? a[i][i] * (1.0 + 1e-9) + 1e-12 : a[i][j];
      for (std::size_t k = 0; k < j; ++k) sum = sum - l[i][k] * l[j][k];
      if (i != j) {
        l[i][j] = sum / l[j][j];
      } else {
        if (!(sum > 0)) return factor;
        l[i][i] = std::sqrt(sum);
      }
    }
  return factor;
}

/// Solves the first n equations of `a x = b`, b being row n of `a`.
std::array<double, max_rows> solve(const Matrix& a, const Matrix& l, std::size_t n) {
  std::array<double, max_rows> x{};
  for (std::size_t i = 0; i < n; ++i) {
    double sum = a[n][i];
    for (std::size_t k = 0; k < i; ++k) sum = sum - l[i][k] * x[k];
    x[i] = sum / l[i][i];
  }
  for (std::size_t i = n; i-- > 0;) {
    double sum = x[i];
    for (std::size_t k = i + 1; k < n; ++k) sum = sum - l[k][i] * x[k];
    x[i] = sum / l[i][i];
  }
  return x;
}

std::int8_t to_weight(double x) {
  if (!(x > -4 && x < 4)) return 0;
  return static_cast<std::int8_t>(std::clamp(x * 32.0 + (x < 0 ? -0.5 : 0.5), -127.0, 127.0));
}

/// Differences to the parent's value: the parent's siblings, then the children in order of visit.
void differences(const Families& place, const Numbers& coarse, const Numbers& numbers, Base base, std::size_t family,
                 std::size_t j, std::array<double, max_rows>& d) {
  const std::size_t m = place.members, w = place.width;
  const std::uint32_t parent = place.parents[family];
  const std::size_t p = parent * w + j;
  const auto axes = static_cast<std::size_t>(axes_of(m));
  const auto difference = [&](const Numbers& of, std::size_t i) {
    if (base == Base::fitted_value) return of.value[i] - coarse.value[p];
    if (of.kind[i] != ValueKind::plain) return 0.0;
    return static_cast<double>(of.index[i] - parent_index(place, coarse, parent, j));
  };
  for (std::size_t a = 0; a < axes; ++a) {
    const std::size_t q = (parent ^ (std::size_t{1} << a)) * w + j;
    d[a] = q < coarse.size() ? difference(coarse, q) : 0.0;
  }
  for (std::size_t k = 0; k < m; ++k) d[axes + k] = difference(numbers, (family * m + cell_of(k, parent, m)) * w + j);
}

}  // namespace

const Orientations& orientations(std::size_t members) {
  static const std::array<Orientations, 4> all{make_orientations(0), make_orientations(1), make_orientations(2),
                                               make_orientations(3)};
  return all[static_cast<std::size_t>(axes_of(members))];
}

int axes_of(std::size_t members) { return members == 8 ? 3 : members == 4 ? 2 : members == 2 ? 1 : 0; }

std::int64_t parent_index(const Families& place, const Numbers& coarse, std::size_t parent, std::size_t j) {
  const std::size_t w = place.width;
  if (coarse.kind[parent * w + j] == ValueKind::plain) return coarse.index[parent * w + j];
  for (std::size_t bit = 1; bit < place.members; bit <<= 1) {
    const std::size_t q = (parent ^ bit) * w + j;
    if (q < coarse.size() && coarse.kind[q] == ValueKind::plain) return coarse.index[q];
  }
  return 0;
}

std::vector<std::uint32_t> find_twins(std::span<const std::uint64_t> keys, std::span<const std::uint8_t> usable) {
  const std::size_t families = keys.size();
  const auto slot_bits = static_cast<unsigned>(bit_length(families) + 1);
  std::vector<std::uint32_t> last(std::size_t{1} << slot_bits, no_twin), twins(families, no_twin);
  for (std::size_t f = 0; f < families; ++f) {
    if (usable[f] == 0) continue;
    // A slot has the last family of its hash alone. A collision loses a twin, in encoder and decoder alike.
    std::uint32_t& slot = last[(keys[f] * 0x9e3779b97f4a7c15ULL) >> (64 - slot_bits)];
    if (slot != no_twin && keys[slot] == keys[f]) twins[f] = slot;
    slot = static_cast<std::uint32_t>(f);
  }
  return twins;
}

std::vector<std::uint8_t> activity_of(const Families& place, const Numbers& coarse, bool by_sides) {
  const auto axes = static_cast<std::size_t>(axes_of(place.members));
  const std::size_t w = place.width;
  std::vector<std::uint8_t> activity(place.families() * w);
  for (std::size_t f = 0; f < place.families(); ++f)
    for (std::size_t j = 0; j < w; ++j) {
      const std::size_t parent = place.parents[f];
      const std::size_t p = parent * w + j;
      std::uint64_t all = 0;  // bits of all differences: the largest is as long
      const auto compare = [&](std::size_t cell) {
        const std::size_t q = cell * w + j;
        if (q < coarse.size() && coarse.kind[q] == ValueKind::plain)
          all |= zigzag(wrapping_difference(coarse.index[q], coarse.index[p]));
      };
      const bool plain = coarse.kind[p] == ValueKind::plain;
      for (std::size_t bit = 1; plain && bit < place.members; bit <<= 1) compare(parent ^ bit);
      for (std::size_t a = 0; plain && by_sides && a < axes; ++a) compare(place.sides[f].outer[a]);
      activity[f * w + j] = static_cast<std::uint8_t>(1 + bit_length(all));
    }
  return activity;
}

Stencil fit(const Families& place, const Numbers& coarse, const Numbers& numbers, Base base, double least,
            std::span<const std::uint32_t> sample) {
  Stencil stencil;
  stencil.axes = axes_of(place.members);
  const auto axes = static_cast<std::size_t>(stencil.axes);
  const std::size_t terms = axes + place.members;
  Matrix sums{};
  std::array<double, max_rows> d{}, weighted{};
  for (std::uint32_t f : sample)
    for (std::size_t j = 0; j < place.width; j += 1 + place.width / 4) {
      differences(place, coarse, numbers, base, f, j, d);
      double energy = least;
      for (std::size_t r = 0; r < terms; ++r) energy = energy + d[r] * d[r];
      if (!(energy > 1e-280) || !(energy < 1e280)) continue;
      // Families count alike, however steep they are.
      const double weight = 1.0 / energy;
      for (std::size_t r = 0; r < terms; ++r) weighted[r] = weight * d[r];
      add_products(weighted.data(), d.data(), terms, sums[0].data(), max_rows);
    }
  for (std::size_t r = 0; r < terms; ++r)
    for (std::size_t c = r + 1; c < terms; ++c) sums[r][c] = sums[c][r];
  const Factor factor = factor_of(sums, terms - 1);
  for (std::size_t k = 0; k < place.members && axes + k <= factor.rows; ++k) {
    const auto x = solve(sums, factor.l, axes + k);
    for (std::size_t r = 0; r < axes + k; ++r) stencil.weight[k][r] = to_weight(x[r]);
  }
  return stencil;
}

namespace {

/// All differences to the parent's value that stencils by sides weigh.
constexpr std::size_t max_side_rows = 6 + 8 + 12 + 2;  // in whole vectors
using SideTerms = std::array<double, max_side_rows>;

/// The numbers among them of the terms of the k-th child, and of the child itself.
struct SideRows {
  std::array<std::uint8_t, max_rows> row{};
  std::size_t count = 0;
  void add(std::size_t r) { row[count++] = static_cast<std::uint8_t>(r); }
};
std::array<SideRows, 8> side_rows(const Stencil& stencil, std::size_t members) {
  const auto axes = static_cast<std::size_t>(stencil.axes);
  std::array<SideRows, 8> rows;
  std::size_t beside = 2 * axes + members;
  for (std::size_t k = 0; k < members; ++k) {
    for (std::size_t r = 0; r < 2 * axes; ++r) rows[k].add(r);
    while (rows[k].count < stencil.around(k)) rows[k].add(beside++);
    for (std::size_t before = 0; before <= k; ++before) rows[k].add(2 * axes + before);
  }
  return rows;
}

/// The index of a value, of a special one that of its parent.
std::int64_t index_or_parent(const Families& place, const Numbers& coarse, const Numbers& numbers, std::size_t family,
                             std::size_t cell, std::size_t j) {
  const std::size_t i = (family * place.members + cell) * place.width + j;
  return numbers.kind[i] == ValueKind::plain ? numbers.index[i] : parent_index(place, coarse, place.parents[family], j);
}

/// Faces, the children in order of visit, then for each of these the cells beside it in families at upper faces.
void side_terms(const Families& place, const Numbers& coarse, const Numbers& numbers, Base base, std::size_t family,
                std::size_t j, SideTerms& d) {
  const std::size_t m = place.members, w = place.width;
  const auto axes = static_cast<std::size_t>(axes_of(m));
  const std::uint32_t parent = place.parents[family];
  const Sides& sides = place.sides[family];
  const bool by_value = base == Base::fitted_value;
  const double value = coarse.value[parent * w + j];
  const std::int64_t index = parent_index(place, coarse, parent, j);
  const auto of_coarse = [&](std::size_t cell) {
    const std::size_t q = cell * w + j;
    if (q >= coarse.size()) return 0.0;
    if (by_value) return coarse.value[q] - value;
    return coarse.kind[q] == ValueKind::plain ? static_cast<double>(coarse.index[q] - index) : 0.0;
  };
  const auto of_child = [&](std::size_t of, std::size_t cell) {
    if (by_value) return numbers.value[(of * m + cell) * w + j] - value;
    return static_cast<double>(index_or_parent(place, coarse, numbers, of, cell, j) - index);
  };
  for (std::size_t a = 0; a < axes; ++a) {
    const double inner = of_coarse(parent ^ (std::size_t{1} << a));
    const double outer = sides.outer[a] == parent ? -inner : of_coarse(sides.outer[a]);
    const bool up = (parent >> a & 1) != 0;
    d[2 * a] = up ? inner : outer;
    d[2 * a + 1] = up ? outer : inner;
  }
  std::size_t beside = 2 * axes + m;
  for (std::size_t k = 0; k < m; ++k) {
    const std::size_t cell = cell_by_sides(k, m);
    d[2 * axes + k] = of_child(family, cell);
    for (std::size_t a = 0; a < axes; ++a) {
      if ((cell >> a & 1) == 0) continue;
      const double face = d[2 * a + 1];
      d[beside++] = sides.upper[a] != family ? of_child(sides.upper[a], cell ^ (std::size_t{1} << a))
                    : by_value               ? 0.75 * face
                                             : face - std::floor(0.25 * face);
    }
  }
}

}  // namespace

Stencil fit_by_sides(const Families& place, const Numbers& coarse, const Numbers& numbers, Base base, double least,
                     std::span<const std::uint32_t> sample) {
  Stencil stencil;
  stencil.axes = axes_of(place.members);
  stencil.sides = true;
  const auto rows = side_rows(stencil, place.members);
  const std::size_t own = 2 * static_cast<std::size_t>(stencil.axes) + place.members;
  const std::size_t all = own + static_cast<std::size_t>(stencil.axes) * place.members / 2;
  std::array<SideTerms, max_side_rows> sums{};
  SideTerms d{}, weighted{};
  for (const std::uint32_t f : sample)
    for (std::size_t j = 0; j < place.width; j += 1 + place.width / 4) {
      side_terms(place, coarse, numbers, base, f, j, d);
      double energy = least;
      for (std::size_t r = 0; r < own; ++r) energy = energy + d[r] * d[r];
      for (std::size_t r = own; r < all; ++r) energy = energy + 0.25 * (d[r] * d[r]);
      if (!(energy > 1e-280) || !(energy < 1e280)) continue;
      for (std::size_t r = 0; r < all; ++r) weighted[r] = d[r] / energy;
      add_products(weighted.data(), d.data(), all, sums[0].data(), max_side_rows);
    }
  for (std::size_t k = 0; k < place.members; ++k) {
    const std::size_t terms = stencil.terms(k);
    Matrix a{};
    for (std::size_t r = 0; r <= terms; ++r)
      for (std::size_t c = 0; c <= terms; ++c) {
        const std::size_t x = rows[k].row[r], y = rows[k].row[c];
        a[r][c] = sums[std::max(x, y)][std::min(x, y)];
      }
    const Factor factor = factor_of(a, terms);
    if (factor.rows < terms) continue;
    const auto x = solve(a, factor.l, terms);
    for (std::size_t r = 0; r < terms; ++r) stencil.weight[k][r] = to_weight(x[r]);
  }
  return stencil;
}

namespace {

/// Calls f(weight) for each weight, in order.
template <class S, class F>
void each_weight(S& stencil, std::size_t members, F&& f) {
  for (std::size_t k = 0; k < members; ++k)
    for (std::size_t r = 0; r < stencil.terms(k); ++r) f(stencil.weight[k][r]);
}

unsigned natural(std::int8_t weight) { return static_cast<unsigned>(zigzag(weight)); }

/// The low bits that a Rice code of the weights leaves as they are, so that it is shortest.
unsigned choose_low_bits(const Stencil& stencil, std::size_t members) {
  std::array<std::size_t, 8> cost{};
  for (unsigned low = 0; low < cost.size(); ++low)
    each_weight(stencil, members, [&](std::int8_t weight) { cost[low] += (natural(weight) >> low) + 1 + low; });
  return static_cast<unsigned>(std::min_element(cost.begin(), cost.end()) - cost.begin());
}

}  // namespace

void put_stencil(Bytes& out, const Stencil& stencil, std::size_t members) {
  const unsigned low = choose_low_bits(stencil, members);
  BitWriter bits(out);
  bits.put(low, 3);
  each_weight(stencil, members, [&](std::int8_t weight) {
    for (unsigned high = natural(weight) >> low; high > 0; --high) bits.put(0, 1);
    bits.put(1, 1);
    bits.put(natural(weight), low);
  });
  bits.finish();
}

Stencil get_stencil(ChunkReader& in, std::size_t members, bool sides) {
  Stencil stencil;
  stencil.axes = axes_of(members);
  stencil.sides = sides;
  BitReader bits(in);
  const auto low = static_cast<unsigned>(bits.get(3));
  each_weight(stencil, members, [&](std::int8_t& weight) {
    std::uint64_t high = 0;
    while (bits.get(1) == 0)
      if (++high > 255) in.fail("a weight of a stencil is out of range");
    const std::uint64_t z = high << low | bits.get(low);
    if (z > 255) in.fail("a weight of a stencil is out of range");
    weight = static_cast<std::int8_t>(unzigzag(z));
  });
  return stencil;
}

}  // namespace octavo::codec
