#pragma once
#include <algorithm>
#include <cmath>
#include <functional>

#include "octavo/codec/frequent.hpp"
#include "octavo/codec/grids.hpp"
#include "octavo/codec/slices.hpp"

/// Inside the codec room: how the encoder lays the grid of a lossy chunk so that errors cancel, and puts its values on
/// it. A decoder needs none of this.
namespace octavo::codec {

/// Marks a value that will go to the common value's cell, before that cell exists.
inline constexpr auto in_common_cell = static_cast<ValueKind>(4);

/// The values of a chunk on their way to a grid. Spans are of the same size.
template <class T>
struct Draft {
  std::span<const T> values;
  std::span<const double> given;          ///< the same
  std::span<const std::uint8_t> counted;  ///< 1: its error counts
  std::span<double> logarithms;           ///< of magnitudes; for a grid that needs them
  std::span<ValueKind> kind;              ///< before the bound is checked
  std::span<std::uint8_t> moves;          ///< 1: counted, and where it goes depends on the grid
  std::span<double> tried;                ///< scratch
  Numbers& numbers;                       ///< as coded
  std::span<T> decoded;
  bool all_plain = true;
};

// ------------------------------------------------------------------ differences between the grids

template <class T>
Response response_of(const PointwiseGrid<T>& grid) {
  const LogGrid& g = grid.grid;
  return {0.6931471805599453 * g.step, 1, (g.offset[0] - g.phase[0] * g.step) * g.inverse};
}
template <class T>
Response response_of(const AbsoluteGrid<T>& grid) {
  return {grid.grid.step, 0, 0.5};
}

/// Where in a step the first edge of a grid stands that is moved by `phase`, and back.
template <class T>
double turn_phase(const PointwiseGrid<T>&, double phase) {
  return phase;
}
template <class T>
double turn_phase(const AbsoluteGrid<T>&, double phase) {
  return phase == 0 ? 0.0 : 1.0 - phase;
}
/// The change of an error, in steps, when the phase grows by 1.
template <class T>
constexpr double sense_of(const PointwiseGrid<T>&) {
  return 1;
}
template <class T>
constexpr double sense_of(const AbsoluteGrid<T>&) {
  return -1;
}

/// Where a value stands, in steps.
template <class T>
double place_of(const PointwiseGrid<T>& grid, double x) {
  return log2_of(x) * grid.grid.inverse;
}
template <class T>
double place_of(const AbsoluteGrid<T>& grid, double x) {
  return std::abs(x) * grid.grid.inverse + 0.5;
}

template <class T>
double weight_of(const PointwiseGrid<T>&, double x) {
  return std::abs(x);
}
template <class T>
double weight_of(const AbsoluteGrid<T>&, double) {
  return 1;
}

template <class T>
Sliced slice(const PointwiseGrid<T>& grid, const Draft<T>& draft) {
  return slice(grid.grid, draft.given, draft.logarithms, draft.moves);
}
template <class T>
Sliced slice(const AbsoluteGrid<T>& grid, const Draft<T>& draft) {
  return slice(grid.grid, draft.given, draft.moves);
}

/// Signs and kinds of all values.
template <class T>
void classify(const PointwiseGrid<T>& grid, Draft<T>& draft) {
  logarithms_of(draft.given.data(), draft.logarithms.data(), draft.given.size());
  std::fill(draft.kind.begin(), draft.kind.end(), ValueKind::plain);
  draft.all_plain = signs_of(draft.given.data(), draft.numbers.negative.data(), draft.given.size());
  for (std::size_t i = 0; !draft.all_plain && i < draft.given.size(); ++i) {
    if (grid.has_place(std::abs(draft.given[i]))) continue;
    draft.kind[i] = draft.given[i] != 0              ? ValueKind::exact
                    : draft.numbers.negative[i] != 0 ? ValueKind::minus_zero
                                                     : ValueKind::zero;
  }
}
template <class T>
void classify(const AbsoluteGrid<T>& grid, Draft<T>& draft) {
  std::fill(draft.numbers.negative.begin(), draft.numbers.negative.end(), std::uint8_t{0});
  std::fill(draft.kind.begin(), draft.kind.end(), ValueKind::plain);
  draft.all_plain = have_places(grid.grid, draft.given.data(), draft.given.size());
  for (std::size_t i = 0; !draft.all_plain && i < draft.given.size(); ++i) {
    const double x = draft.given[i];
    if (!grid.has_place(std::abs(x)))
      draft.kind[i] = ValueKind::exact;
    else if (x == 0 && std::signbit(x))
      draft.kind[i] = ValueKind::minus_zero;
  }
}

/// For `count` values the cell that takes them, as if there were no common one, and the value of that cell.
template <class T>
void try_cells(const PointwiseGrid<T>& grid, const Draft<T>& draft, std::size_t first, std::size_t count) {
  LogGrid bare = grid.grid;
  bare.common = {};
  const std::uint8_t* const negative = draft.numbers.negative.data() + first;
  std::int64_t* const index = draft.numbers.index.data() + first;
  double* const tried = draft.tried.data() + first;
  indices_of(bare, draft.logarithms.data() + first, negative, index, count);
  values_on(bare, index, negative, tried, count);
  for (std::size_t i = 0; i < count; ++i) tried[i] = static_cast<double>(grid.finish(tried[i], negative[i] != 0));
}
template <class T>
void try_cells(const AbsoluteGrid<T>& grid, const Draft<T>& draft, std::size_t first, std::size_t count) {
  double* const tried = draft.tried.data() + first;
  cells_of(grid.grid, draft.given.data() + first, draft.numbers.index.data() + first, tried, count);
  for (std::size_t i = 0; sizeof(T) < sizeof(double) && i < count; ++i)
    tried[i] = static_cast<double>(grid.finish(tried[i]));
}

/// The number of a value's cell once the common value has a cell of its own, and the number of that cell.
template <class T>
std::int64_t beside_common(const PointwiseGrid<T>& grid, std::int64_t index, bool negative) {
  return grid.grid.common.beside(index, negative);
}
template <class T>
std::int64_t beside_common(const AbsoluteGrid<T>& grid, std::int64_t index, bool) {
  const Inserted& common = grid.grid.common;
  return index < 0 ? -common.beside(-index, true) : common.beside(index, false);
}
template <class T>
std::int64_t cell_of_common(const PointwiseGrid<T>& grid) {
  return grid.grid.common.cell;
}
template <class T>
std::int64_t cell_of_common(const AbsoluteGrid<T>& grid) {
  const Inserted& common = grid.grid.common;
  return common.negative ? -common.cell : common.cell;
}
/// The next cell up or down, for a value in one.
template <class T>
std::int64_t cell_beyond(const PointwiseGrid<T>&, const Numbers& numbers, std::size_t i, bool up) {
  return numbers.index[i] + ((numbers.negative[i] != 0) != up ? 1 : -1);
}
template <class T>
std::int64_t cell_beyond(const AbsoluteGrid<T>&, const Numbers& numbers, std::size_t i, bool up) {
  return numbers.index[i] + (up ? 1 : -1);
}

// ------------------------------------------------------------------ values on a grid

/// Puts values on the grid that has a common one, or that not all keep their bound on: those are kept exactly.
template <class Grid, class T>
CodingErrors put_each(const Grid& grid, const Lattice& lattice, const Draft<T>& draft) {
  Numbers& n = draft.numbers;
  CodingErrors errors;
  for (std::size_t i = 0; i < n.size(); ++i) {
    const double x = draft.given[i];
    ValueKind kind = draft.kind[i];
    double& y = draft.tried[i];
    if (kind == in_common_cell) {
      kind = ValueKind::plain;
      y = *lattice.common;
      n.index[i] = cell_of_common(grid);
    } else if (kind != ValueKind::plain || !grid.within(x, y)) {
      if (kind == ValueKind::plain) kind = ValueKind::exact;
      y = x;
      n.index[i] = 0;
    } else if (lattice.common) {
      n.index[i] = beside_common(grid, n.index[i], n.negative[i] != 0);
    }
    n.kind[i] = kind;
    n.value[i] = y;
    draft.decoded[i] = kind == ValueKind::plain ? static_cast<T>(y) : draft.values[i];
    const double error = draft.counted[i] != 0 && kind == ValueKind::plain ? y - x : 0.0;
    errors.sum += error;
    errors.squares += error * error;
  }
  return errors;
}

template <class Grid, class T>
CodingErrors put_on(const Grid& grid, const Lattice& lattice, const Draft<T>& draft) {
  constexpr std::size_t block = 2048;  // stays in the fastest cache
  Numbers& n = draft.numbers;
  const bool simple = draft.all_plain && !lattice.common;
  CodingErrors errors;
  for (std::size_t first = 0; first < n.size(); first += block) {
    const std::size_t count = std::min(block, n.size() - first);
    try_cells(grid, draft, first, count);
    if (!simple || !errors.within) continue;
    const auto tried = draft.tried.subspan(first, count);
    add(errors, errors_of(draft.given.subspan(first, count), tried, draft.counted.subspan(first, count), grid.bound,
                          Grid::signs_apart));
    std::copy(tried.begin(), tried.end(), n.value.begin() + static_cast<std::ptrdiff_t>(first));
    std::transform(tried.begin(), tried.end(), draft.decoded.begin() + static_cast<std::ptrdiff_t>(first),
                   [](double y) { return static_cast<T>(y); });
  }
  if (!simple || !errors.within) return put_each(grid, lattice, draft);
  std::fill(n.kind.begin(), n.kind.end(), ValueKind::plain);
  return errors;
}

// ------------------------------------------------------------------ the common value

/// Values go to the cell of the common value if they differ from it by less than a share of their bound: the largest
/// share whose error the other values can cancel.
template <class Grid, class T>
void gather_common(const Grid& grid, double common, Draft<T>& draft) {
  constexpr std::array<double, 6> radii{1, 0x1p-3, 0x1p-6, 0x1p-12, 0x1p-24, 0};
  std::array<double, 6> sum{}, taken{}, size{};
  double rest = 0;
  // Signs and zeros stay.
  const auto may_go = [&](double x) { return x * common > 0 && grid.within(x, common); };
  const auto ring_of = [&](double x) {
    // The narrowest radius that holds it.
    std::size_t ring = 0;
    const double distance = std::abs(x - common) / (grid.bound * weight_of(grid, x));
    while (ring + 1 < radii.size() && distance <= radii[ring + 1]) ++ring;
    return ring;
  };
  for (std::size_t i = 0; i < draft.given.size(); ++i) {
    const double x = draft.given[i];
    if (draft.kind[i] != ValueKind::plain || draft.counted[i] == 0) continue;
    const double weight = weight_of(grid, x);
    rest += weight * weight;
    if (!may_go(x)) continue;
    const std::size_t ring = ring_of(x);
    sum[ring] += common - x;
    taken[ring] += weight * weight;
    size[ring] += std::abs(common);
  }
  // From the innermost ring outwards.
  const double rate = response_of(grid).rate;
  std::size_t radius = radii.size() - 1;
  double error = 0, rounding = 0;
  for (std::size_t r = radii.size(); r-- > 0;) {
    error += sum[r];
    rest -= taken[r];
    rounding += 0x1p-50 * size[r];
    if (std::abs(error) <= rate * std::sqrt(std::max(rest, 0.0) / 12) + rounding) radius = r;
  }
  for (std::size_t i = 0; i < draft.given.size(); ++i) {
    const double x = draft.given[i];
    if (draft.kind[i] == ValueKind::plain && (x == common || (may_go(x) && ring_of(x) >= radius)))
      draft.kind[i] = in_common_cell;
  }
}

/// Marks the common values, and other most frequent values, which stay exact.
template <class Grid, class T>
void mark_frequent(const Grid& grid, Draft<T>& draft, Lattice& lattice) {
  const std::vector<T> frequent = most_frequent(draft.values, draft.counted);
  for (const T value : frequent) {
    const auto x = static_cast<double>(value);
    if (x == 0 || !grid.has_place(std::abs(x)) || std::abs(x) < log_grid_lowest) continue;
    draft.all_plain = false;
    if (!lattice.common && value == frequent.front()) {
      lattice.common = x;
      gather_common(grid, x, draft);
    } else {
      for (std::size_t i = 0; i < draft.values.size(); ++i)
        if (draft.values[i] == value) draft.kind[i] = ValueKind::exact;
    }
  }
}

/// Values that an absolute grid has no cell for but 0: of those that are counted, sums, and how large those of each
/// sign are.
struct Small {
  double sum = 0, squares = 0;
  std::array<std::vector<double>, 2> sizes;
  /// Whether they are not as often above 0 as below.
  bool is_off() const { return std::abs(sum) > 2 * std::sqrt(squares); }
};

template <class T>
bool is_small(const AbsoluteGrid<T>& grid, double x) {
  return x != 0 && std::abs(x) * grid.grid.inverse < 0.5;
}

template <class T>
Small small_values(const AbsoluteGrid<T>& grid, const Draft<T>& draft, const Lattice& lattice) {
  Small small;
  const double common = lattice.common.value_or(0);
  for (std::size_t i = 0; i < draft.given.size(); ++i) {
    const double x = draft.given[i];
    const bool moves = draft.kind[i] == ValueKind::plain || draft.kind[i] == in_common_cell;
    if (draft.counted[i] == 0 || !moves || x == common || !is_small(grid, x)) continue;
    small.sum += x;
    small.squares += x * x;
    small.sizes[x < 0 ? 1 : 0].push_back(std::abs(x));
  }
  return small;
}

/// The least of the small values of the heavier sign that share the sum of all. These are as few of the largest as
/// possible such that none more than doubles; if that fails, all of them.
inline double least_that_share(const Small& small, double bound) {
  std::vector<double> sizes = small.sizes[small.sum < 0 ? 1 : 0];
  std::sort(sizes.begin(), sizes.end(), std::greater<>());
  const double sum = std::abs(small.sum);
  std::size_t count = 1;
  for (; count < sizes.size(); ++count) {
    const double least = sizes[count - 1], share = sum / static_cast<double>(count);
    if (sizes[count] < least && share <= std::min(2 * least, least + 0.99 * bound)) break;
  }
  return sizes[count - 1];
}

/// Makes the common value one that small values have to be, so that all of them sum to what they are. The one that was
/// common is kept exactly.
template <class T>
void gather_small(const AbsoluteGrid<T>& grid, const Small& small, Draft<T>& draft, Lattice& lattice) {
  const double least = least_that_share(small, grid.bound);
  const auto& sizes = small.sizes[small.sum < 0 ? 1 : 0];
  const auto count = std::count_if(sizes.begin(), sizes.end(), [&](double size) { return size >= least; });
  const auto share = static_cast<double>(static_cast<T>(small.sum / static_cast<double>(count)));
  if (std::abs(share) < log_grid_lowest) return;
  draft.all_plain = false;
  for (std::size_t i = 0; i < draft.given.size(); ++i) {
    const double x = draft.given[i];
    ValueKind& kind = draft.kind[i];
    if (kind == in_common_cell) kind = x == *lattice.common ? ValueKind::exact : ValueKind::plain;
    const bool shares = is_small(grid, x) && x * share > 0 && std::abs(x) >= least;
    if (kind == ValueKind::plain && shares && grid.within(x, share)) kind = in_common_cell;
  }
  lattice.common = share;
}

/// Marks the counted values that move with the grid. Returns the error of the others.
template <class T>
double mark_moving(const Lattice& lattice, Draft<T>& draft) {
  if (draft.all_plain) {
    std::copy(draft.counted.begin(), draft.counted.end(), draft.moves.begin());
    return 0;
  }
  double error = 0;
  for (std::size_t i = 0; i < draft.given.size(); ++i) {
    draft.moves[i] = draft.counted[i] != 0 && draft.kind[i] == ValueKind::plain ? 1 : 0;
    if (draft.kind[i] == in_common_cell && draft.counted[i] != 0) error += *lattice.common - draft.given[i];
  }
  return error;
}

// ------------------------------------------------------------------ where the grid lies

/// An estimate of a chunk's errors, made before its values are on a grid.
struct Forecast {
  Response response;
  Sliced sliced;
  std::array<Drift, 2> drift;
  double natural = 0;     ///< the sum of errors if they were independent
  std::size_t heavy = 0;  ///< the sign whose values weigh more
  /// Not where nothing moves, nor where sums overflow.
  bool can_tell() const { return natural > 0 && std::isfinite(natural) && std::isfinite(sliced.fixed); }
};

template <class Grid, class T>
Forecast forecast(const Grid& grid, const Draft<T>& draft, double error_of_others) {
  Forecast f;
  f.response = response_of(grid);
  f.sliced = slice(grid, draft);
  f.sliced.fixed += error_of_others;
  std::array<double, 2> weight{};
  for (std::size_t sign = 0; sign < 2; ++sign) {
    f.drift[sign] = drift_of(f.sliced.slices[sign], f.response);
    for (const double w : f.sliced.slices[sign].weight) weight[sign] += w;
  }
  f.heavy = weight[1] > weight[0] ? 1 : 0;
  f.natural = f.response.rate * std::sqrt((f.sliced.slices[0].squares + f.sliced.slices[1].squares) / 12);
  return f;
}

inline double rounded_phase(double phase, double unit) {
  const double rounded = std::floor(phase / unit + 0.5) * unit;
  return rounded >= 0 && rounded < 1 ? rounded : 0.0;
}

/// The phase nearest to `best`, the same for both signs and one of 256, at which errors nearly cancel.
inline std::optional<double> one_phase(const Forecast& f, double best) {
  const auto start = static_cast<std::size_t>(best * num_slices + 0.5);
  for (std::size_t distance = 0; distance <= num_slices / 2; ++distance)
    for (const std::size_t turned : {start + distance, start + num_slices - distance}) {
      const std::size_t s = turned % num_slices;
      if (std::abs(f.drift[0][s] - f.drift[1][s] + f.sliced.fixed) <= 0.2 * f.natural)
        return static_cast<double>(s) / num_slices;
    }
  return std::nullopt;
}

/// The phase at which the common value stands in the middle of a cell, so that it has that for itself.
template <class Grid>
double phase_of_common(const Grid& grid, const Forecast& f, const Lattice& lattice) {
  if (!lattice.common) return 0;
  const double place = place_of(grid, *lattice.common) - f.response.centre;
  return place - std::floor(place);
}

/// False where no phase makes errors cancel.
template <class Grid>
bool choose_phases(const Grid& grid, const Forecast& f, Lattice& lattice) {
  if (const auto phase = one_phase(f, phase_of_common(grid, f, lattice))) {
    lattice.phase.fill(turn_phase(grid, *phase));
    return true;
  }
  // The sign that has less makes its own errors cancel, the other the rest.
  const std::size_t heavy = f.heavy, light = 1 - heavy;
  const auto own = find_phase(f.sliced.slices[light], f.drift[light], 0);
  const auto rest = find_phase(f.sliced.slices[heavy], f.drift[heavy], heavy == 0 ? -f.sliced.fixed : f.sliced.fixed);
  lattice.phase[light] = rounded_phase(turn_phase(grid, own.value_or(0)), 0x1p-16);
  lattice.phase[heavy] = rounded_phase(turn_phase(grid, rest.value_or(0)), 0x1p-16);
  return rest.has_value();
}

// ------------------------------------------------------------------ the last of the errors

/// A chunk's values on a grid, and where that lies.
template <class Grid>
struct Laid {
  Lattice lattice;
  Grid grid;
  CodingErrors errors;
  /// Whether their sum is more than a small part of the sum of as many independent ones.
  bool is_off() const { return std::isfinite(errors.sum) && std::abs(errors.sum) > 0.25 * std::sqrt(errors.squares); }
  /// Whether it is more than chance would have it.
  bool is_far_off() const { return std::isfinite(errors.sum) && std::abs(errors.sum) > 2 * std::sqrt(errors.squares); }
  /// Whether it is off by more than rounding, compared with the bound: a move of the grid may cure that.
  bool is_off(const Forecast& f) const {
    return is_off() && f.can_tell() && std::abs(errors.sum) > 0x1p-20 * f.natural;
  }
};

template <class Grid, class T>
Laid<Grid> lay(double bound, const Lattice& lattice, const Draft<T>& draft) {
  Laid<Grid> laid{lattice, Grid(bound, lattice), {}};
  laid.errors = put_on(laid.grid, lattice, draft);
  return laid;
}

/// Moves the grid as the errors of the values on it require, as long as that helps.
template <class Grid, class T>
void correct(double bound, const Forecast& f, const Draft<T>& draft, Laid<Grid>& laid) {
  const std::size_t sign = f.heavy;
  double grows = sense_of(laid.grid) * f.response.rate * (sign == 0 ? 1 : -1), weight = 0;
  for (const double w : f.sliced.slices[sign].weight) weight += w;
  grows *= weight;
  bool is_laid = true;
  for (const double unit : {0x1p-16, 0x1p-16, 0x1p-32, 0x1p-48}) {
    if (!laid.is_off(f) || grows == 0) break;
    Lattice moved = laid.lattice;
    const double phase = moved.phase[sign] - laid.errors.sum / grows;
    moved.phase[sign] = rounded_phase(phase - std::floor(phase), unit);
    if (moved == laid.lattice) continue;
    Laid<Grid> next = lay<Grid>(bound, moved, draft);
    is_laid = std::abs(next.errors.sum) < std::abs(laid.errors.sum);
    if (is_laid) laid = std::move(next);
  }
  if (!is_laid) laid = lay<Grid>(bound, laid.lattice, draft);
}

/// Values between two grid points that may both stand for them go to the other, nearest first, until errors cancel.
template <class Grid, class T>
void trade(const Draft<T>& draft, Laid<Grid>& laid) {
  struct Offer {
    double distance, value;
    std::size_t i;
    std::int64_t index;
  };
  const Grid& grid = laid.grid;
  Numbers& n = draft.numbers;
  const bool up = laid.errors.sum < 0;
  const double common = laid.lattice.common.value_or(0.0);
  std::vector<Offer> offers;
  for (std::size_t i = 0; i < n.size(); ++i) {
    if (draft.counted[i] == 0 || n.kind[i] != ValueKind::plain) continue;
    const double x = draft.given[i];
    const std::int64_t index = cell_beyond(grid, n, i, up);
    const auto y = static_cast<double>(grid.value(index, n.negative[i] != 0));
    if (x == common || (y > n.value[i]) != up || y == n.value[i] || !grid.within(x, y)) continue;
    offers.push_back({std::abs(y - x), y, i, index});
  }
  std::sort(offers.begin(), offers.end(), [](const Offer& a, const Offer& b) {
    return a.distance != b.distance ? a.distance < b.distance : a.i < b.i;
  });
  for (const Offer& o : offers) {
    const double before = n.value[o.i], change = o.value - before, error = before - draft.given[o.i];
    if (std::abs(laid.errors.sum + change) >= std::abs(laid.errors.sum)) continue;
    laid.errors.sum += change;
    laid.errors.squares += o.distance * o.distance - error * error;
    n.index[o.i] = o.index;
    n.value[o.i] = o.value;
    draft.decoded[o.i] = static_cast<T>(o.value);
  }
}

/// Keeps values exactly, those with the largest errors first, until the errors cancel: at most one value in eight. This
/// is for chunks whose errors are far below the bound: the rounding of a few float32 values is an error that no grid
/// removes.
template <class Grid, class T>
void keep_exactly(const Draft<T>& draft, Laid<Grid>& laid) {
  Numbers& n = draft.numbers;
  std::vector<std::pair<double, std::size_t>> errors;
  for (std::size_t i = 0; i < n.size(); ++i) {
    const double error = n.value[i] - draft.given[i];
    if (draft.counted[i] != 0 && n.kind[i] == ValueKind::plain && error * laid.errors.sum > 0)
      errors.emplace_back(-std::abs(error), i);
  }
  std::sort(errors.begin(), errors.end());
  errors.resize(std::min(errors.size(), n.size() / 8));
  for (const auto& [size, i] : errors) {
    if (!laid.is_far_off()) break;
    const double error = n.value[i] - draft.given[i];
    laid.errors.sum -= error;
    laid.errors.squares = std::max(0.0, laid.errors.squares - error * error);
    n.kind[i] = ValueKind::exact;
    n.index[i] = 0;
    n.value[i] = draft.given[i];
    draft.decoded[i] = draft.values[i];
  }
}

/// How much narrower, in 65536ths, steps are whose points stand above the middle of their cells by as much as a curved
/// grid errs.
inline unsigned narrowing_of(const Response& response) {
  const double parts = 65536 * response.curved * response.rate / 6;
  return parts < 32768 ? static_cast<unsigned>(parts) : 0;
}

/// Narrows the steps of a curved grid, a little and then more, until some phase makes errors cancel.
template <class T>
void find_place(double bound, double error_of_others, Draft<T>& draft, PointwiseGrid<T> grid, Forecast& f,
                Lattice& lattice) {
  for (const unsigned factor : {1u, 1u, 2u}) {
    if (!f.can_tell() || choose_phases(grid, f, lattice)) return;
    lattice.narrow = lattice.narrow == 0 ? narrowing_of(f.response) : factor * lattice.narrow;
    grid = PointwiseGrid<T>(bound, lattice);
    f = forecast(grid, draft, error_of_others);
  }
  if (f.can_tell()) choose_phases(grid, f, lattice);
}
/// Gathers small values of an absolute grid where they are off and no phase makes that good.
template <class T>
void find_place(double, double, Draft<T>& draft, const AbsoluteGrid<T>& grid, Forecast& f, Lattice& lattice) {
  if (!std::isfinite(f.sliced.fixed) || (f.can_tell() && choose_phases(grid, f, lattice))) return;
  const Small small = small_values(grid, draft, lattice);
  if (!small.is_off()) return;
  gather_small(grid, small, draft, lattice);
  f = forecast(grid, draft, mark_moving(lattice, draft));
  if (f.can_tell()) choose_phases(grid, f, lattice);
}

/// Finds the lattice of a chunk and puts its values there.
template <class Grid, class T>
Laid<Grid> centre(double bound, Draft<T>& draft) {
  Lattice lattice;
  const Grid grid(bound, lattice);
  classify(grid, draft);
  mark_frequent(grid, draft, lattice);
  const double error_of_others = mark_moving(lattice, draft);
  Forecast f = forecast(grid, draft, error_of_others);
  find_place(bound, error_of_others, draft, grid, f, lattice);
  Laid<Grid> laid = lay<Grid>(bound, lattice, draft);
  correct(bound, f, draft, laid);
  if (laid.is_off(f)) trade(draft, laid);
  if (laid.is_far_off() && laid.errors.squares < 0x1p-10 * f.natural * f.natural) keep_exactly(draft, laid);
  return laid;
}

}  // namespace octavo::codec
