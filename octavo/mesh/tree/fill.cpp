#include "octavo/mesh/tree/fill.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>
#include <string>
#include <type_traits>

#include "octavo/base/error.hpp"
#include "octavo/mesh/boxes.hpp"
#include "octavo/mesh/sides.hpp"
#include "octavo/mesh/tree/face_refine.hpp"
#include "octavo/mesh/tree/tree_index.hpp"

namespace octavo::mesh {
namespace {

using base::BitArray;
using base::Error;
using base::Kind;

std::size_t axis_of(Centring centring) { return face_axis(centring); }

bool is_face(const FieldInfo& info) { return is_face(info.centring); }

bool is_floating(const FieldInfo& info) { return info.type == ScalarType::float64 || info.type == ScalarType::float32; }

std::size_t row_major(const Index3& at, const Index3& block) {
  return static_cast<std::size_t>((at[2] * block[1] + at[1]) * block[0] + at[0]);
}

/// Where the value of a cell is in arrays over a tree.
class CellFinder {
 public:
  CellFinder(const Octree& tree, const std::array<bool, 3>& periodic)
      : tree_(tree), periodic_(periodic), index_(tree), offsets_(level_offsets(tree)) {}

  std::optional<std::size_t> find(int level, Index3 cell) const {
    Index3 block{0, 0, 0}, inside{0, 0, 0};
    for (std::size_t axis = 0; axis < static_cast<std::size_t>(tree_.dim); ++axis) {
      const std::int64_t extent = (tree_.roots[axis] * tree_.block[axis]) << level;
      if (periodic_[axis]) cell[axis] = (cell[axis] + extent) % extent;
      if (cell[axis] < 0 || cell[axis] >= extent) return {};
      block[axis] = cell[axis] / tree_.block[axis];
      inside[axis] = cell[axis] % tree_.block[axis];
    }
    const auto found = index_.find(level, block);
    if (!found) return {};
    return (offsets_[static_cast<std::size_t>(level)] + *found) * block_size(tree_) + row_major(inside, tree_.block);
  }

 private:
  const Octree& tree_;
  std::array<bool, 3> periodic_;
  TreeIndex index_;
  std::vector<std::size_t> offsets_;
};

/// A cell above 2^dim others: its position on its level and in its block, where its value is, and where theirs are.
struct Family {
  Index3 cell{0, 0, 0}, inside{0, 0, 0};
  std::size_t value = 0;
  std::array<std::size_t, 8> children{};
};

/// Where, from the first value of a tree cell's first child on, the children of its block's cell are.
void find_children(const Octree& tree, std::size_t first, Family& family) {
  const Index3& b = tree.block;
  for (std::size_t c = 0; c < family_size(tree); ++c) {
    std::size_t child = 0;
    Index3 at{0, 0, 0};
    for (std::size_t axis = 0; axis < static_cast<std::size_t>(tree.dim); ++axis) {
      const std::int64_t fine = 2 * family.inside[axis] + static_cast<std::int64_t>(c >> axis & 1);
      child |= static_cast<std::size_t>(fine / b[axis]) << axis;
      at[axis] = fine % b[axis];
    }
    family.children[c] = first + child * block_size(tree) + row_major(at, b);
  }
}

/// Calls f(family) for each cell of a level's refined tree cells.
template <class F>
void for_each_family(const Octree& tree, int level, const std::vector<Coordinate>& at, F&& f) {
  const auto l = static_cast<std::size_t>(level);
  const auto offsets = level_offsets(tree);
  std::size_t child = offsets[l + 1] * block_size(tree);
  tree.refined[l].for_each_set([&](std::size_t i) {
    Family family;
    family.value = (offsets[l] + i) * block_size(tree);
    for_each_row({{0, 0, 0}, tree.block}, [&](const Index3& row, std::int64_t n) {
      for (std::int64_t x = 0; x < n; ++x, ++family.value) {
        family.inside = {x, row[1], row[2]};
        for (std::size_t axis = 0; axis < 3; ++axis)
          family.cell[axis] = std::int64_t{at[i][axis]} * tree.block[axis] + family.inside[axis];
        find_children(tree, child, family);
        f(family);
      }
    });
    child += family_size(tree) * block_size(tree);
  });
}

double minmod(double a, double b) {
  const double slope = a > 0 && b > 0 ? std::min(a, b) : a < 0 && b < 0 ? std::max(a, b) : 0;
  return std::isfinite(slope) ? slope : 0;
}

// -------------------------------------------------------------------------------------------------------------- cells

/// The neighbour of a cell along an axis: in its block, or by search.
std::optional<std::size_t> neighbour(const Octree& tree, const CellFinder& places, int level, const Family& family,
                                     std::size_t axis, int step) {
  Index3 at = family.inside;
  at[axis] += step;
  if (at[axis] >= 0 && at[axis] < tree.block[axis])
    return family.value - row_major(family.inside, tree.block) + row_major(at, tree.block);
  at = family.cell;
  at[axis] += step;
  return places.find(level, at);
}

/// A quarter of the limited slope along each axis, of the quantity that get(place) gives.
template <class Get>
std::array<double, 3> quarters(const Octree& tree, const CellFinder& places, int level, const Family& family,
                               Get&& get) {
  std::array<double, 3> quarter{};
  const double here = get(family.value);
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(tree.dim); ++axis) {
    const auto low = neighbour(tree, places, level, family, axis, -1);
    const auto high = neighbour(tree, places, level, family, axis, 1);
    if (low && high) quarter[axis] = minmod(here - get(*low), get(*high) - here) / 4;
  }
  return quarter;
}

/// From the cell's value to a child's. Opposite children are the same distance away, so that their mean is the value.
double change(int dim, const std::array<double, 3>& quarter, std::size_t child) {
  double sum = 0;
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(dim); ++axis)
    sum += (child >> axis & 1) != 0 ? quarter[axis] : -quarter[axis];
  return sum;
}

template <class T>
void fill_cells(const Octree& tree, const CellFinder& places, int level, const Family& family, FillBy by, T* values) {
  std::array<double, 3> quarter{};
  if constexpr (std::is_floating_point_v<T>)
    if (by == FillBy::linear)
      quarter = quarters(tree, places, level, family, [&](std::size_t at) { return static_cast<double>(values[at]); });
  const bool flat = quarter == std::array<double, 3>{};
  for (std::size_t c = 0; c < family_size(tree); ++c)
    values[family.children[c]] =
        flat ? values[family.value]
             : static_cast<T>(static_cast<double>(values[family.value]) + change(tree.dim, quarter, c));
}

/// A value of a field, whatever its floating-point type.
double value_at(const Field& field, std::size_t at) {
  return field.info.type == ScalarType::float32 ? static_cast<double>(field.as<float>()[at]) : field.as<double>()[at];
}
void set_value(Field& field, std::size_t at, double value) {
  if (field.info.type == ScalarType::float32)
    field.as<float>()[at] = static_cast<float>(value);
  else
    field.as<double>()[at] = value;
}

// ------------------------------------------------------------------------------------------------- specific quantities

using PerChild = std::array<double, 8>;

/// The cells below one cell, for the fields that go by mass. Mass, momentum and energy of the children together stay
/// those of the cell. Slopes of velocity add kinetic energy, which the heat gives: at most half of itself, or the
/// slopes are made flatter.
class SpecificFill {
 public:
  SpecificFill(const Octree& tree, const CellFinder& places, const SpecificAt& at, std::vector<Field>& fields)
      : tree_(tree), places_(places), at_(at), fields_(fields), children_(family_size(tree)) {}

  /// After all fields have their plain values.
  void fill(int level, const Family& family) {
    if (!at_.density || !weigh(family)) return;
    for (const std::size_t f : at_.others) put_centred(level, family, f);
    fill_velocities(level, family);
    fill_energies(family);
  }

 private:
  /// Whether the density is above 0 throughout.
  bool weigh(const Family& family) {
    const Field& density = fields_[*at_.density];
    cell_mass_ = value_at(density, family.value);
    mass_ = 0;
    bool good = cell_mass_ > 0;
    for (std::size_t c = 0; c < children_; ++c) {
      masses_[c] = value_at(density, family.children[c]);
      good = good && masses_[c] > 0;
      mass_ += masses_[c];
    }
    return good && std::isfinite(mass_);
  }

  /// The change that a field's slopes make in each child, minus the mean of these changes weighted by mass.
  PerChild centred(int level, const Family& family, std::size_t f) const {
    const auto quarter =
        quarters(tree_, places_, level, family, [&](std::size_t at) { return value_at(fields_[f], at); });
    PerChild out{};
    double sum = 0;
    for (std::size_t c = 0; c < children_; ++c) {
      out[c] = change(tree_.dim, quarter, c);
      sum += masses_[c] * out[c];
    }
    for (std::size_t c = 0; c < children_; ++c) out[c] -= sum / mass_;
    return out;
  }

  void put_centred(int level, const Family& family, std::size_t f) {
    const PerChild add = centred(level, family, f);
    const double here = value_at(fields_[f], family.value);
    for (std::size_t c = 0; c < children_; ++c) set_value(fields_[f], family.children[c], here + add[c]);
  }

  /// Slopes of density times internal energy; their sum.
  double heat_of_children(int level, const Family& family) {
    if (!at_.internal) return 0;
    const Field &density = fields_[*at_.density], &internal = fields_[*at_.internal];
    const auto heat = [&](std::size_t at) { return value_at(density, at) * value_at(internal, at); };
    const auto quarter = quarters(tree_, places_, level, family, heat);
    cell_heat_ = heat(family.value);
    double sum = 0;
    for (std::size_t c = 0; c < children_; ++c) {
      heats_[c] = cell_heat_ + change(tree_.dim, quarter, c);
      sum += heats_[c];
    }
    return sum;
  }

  /// Velocities, the share of the heat that is left, and the excess of each child's kinetic energy over the cell's.
  void fill_velocities(int level, const Family& family) {
    std::array<PerChild, 3> add{};
    double motion = 0;
    for (std::size_t v = 0; v < at_.velocity.size(); ++v) {
      add[v] = centred(level, family, at_.velocity[v]);
      for (std::size_t c = 0; c < children_; ++c) motion += 0.5 * masses_[c] * add[v][c] * add[v][c];
    }
    heat_ = heat_of_children(level, family);
    const double share = heat_ > 0 && motion > heat_ / 2 ? std::sqrt(heat_ / 2 / motion) : 1;
    motion_ = share * share * motion;
    kinetic_ = {};
    for (std::size_t v = 0; v < at_.velocity.size(); ++v) {
      Field& field = fields_[at_.velocity[v]];
      const double here = value_at(field, family.value);
      for (std::size_t c = 0; c < children_; ++c) {
        const double now = here + share * add[v][c];
        set_value(field, family.children[c], now);
        kinetic_[c] += 0.5 * (now - here) * (now + here);
      }
    }
    level_ = level;
  }

  void fill_energies(const Family& family) {
    if (!at_.internal) {
      if (at_.total) put_centred(level_, family, *at_.total);
      return;
    }
    Field& internal = fields_[*at_.internal];
    const double here = value_at(internal, family.value), left = heat_ > 0 ? 1 - motion_ / heat_ : 1;
    const PerChild plain = heat_ > 0 ? PerChild{} : centred(level_, family, *at_.internal);
    for (std::size_t c = 0; c < children_; ++c) {
      const double now = heat_ > 0 ? here * (left * (heats_[c] / cell_heat_)) / (masses_[c] / cell_mass_)
                                   : here + (plain[c] - motion_ / mass_);
      set_value(internal, family.children[c], now);
      if (at_.total) {
        Field& total = fields_[*at_.total];
        set_value(total, family.children[c], value_at(total, family.value) + ((now - here) + kinetic_[c]));
      }
      if (at_.pressure && left < 1) {
        Field& pressure = fields_[*at_.pressure];
        set_value(pressure, family.children[c], left * value_at(pressure, family.children[c]));
      }
    }
  }

  const Octree& tree_;
  const CellFinder& places_;
  const SpecificAt& at_;
  std::vector<Field>& fields_;
  std::size_t children_;
  int level_ = 0;
  double cell_mass_ = 0, mass_ = 0;  // of the cell; of its children together
  PerChild masses_{}, heats_{}, kinetic_{};
  double cell_heat_ = 0, heat_ = 0, motion_ = 0;
};

// -------------------------------------------------------------------------------------------------------------- faces

/// One vector's values on a tree, read and written as doubles whatever their type.
class Faces {
 public:
  Faces(std::vector<Field>& fields, const FaceVector& vector) : fields_(fields), vector_(vector) {}
  double get(std::size_t axis, bool high, std::size_t at) const {
    return value_at(fields_[high ? vector_.right[axis] : vector_.left[axis]], at);
  }
  void set(std::size_t axis, bool high, std::size_t at, double value) {
    set_value(fields_[high ? vector_.right[axis] : vector_.left[axis]], at, value);
  }

 private:
  std::vector<Field>& fields_;
  const FaceVector& vector_;
};

/// The fine faces of one cell: those of axis a have 3 planes along a and 2 faces along the others.
struct FineFaces {
  int dim;
  std::array<std::array<double, 12>, 3> values{};
  double& at(std::size_t axis, std::size_t child, std::size_t plane) {
    std::size_t index = 0, stride = 1;
    for (std::size_t a = 0; a < static_cast<std::size_t>(dim); ++a) {
      index += stride * (a == axis ? plane : (child >> a & 1));
      stride *= a == axis ? 3 : 2;
    }
    return values[axis][index];
  }
  FaceArrays view() {
    FaceArrays out;
    for (std::size_t axis = 0; axis < static_cast<std::size_t>(dim); ++axis)
      out[axis] = {values[axis].data(), fine_face_count(dim)};
    return out;
  }
};

class FaceFill {
 public:
  FaceFill(const Octree& tree, const CellFinder& places, const FillOptions& options, const BitArray& known, Faces faces)
      : tree_(tree), places_(places), options_(options), known_(known), faces_(faces) {}

  void fill(int level, const Family& family) {
    FineFaces fine{tree_.dim, {}};
    const auto dim = static_cast<std::size_t>(tree_.dim);
    for (std::size_t axis = 0; axis < dim; ++axis)
      for (const bool high : {false, true}) take_side(level, family, axis, high, fine);
    fill_inner_faces(tree_.dim, options_.edge, fine.view());
    for (std::size_t axis = 0; axis < dim; ++axis)
      for (std::size_t c = 0; c < family_size(tree_); ++c) {
        const std::size_t plane = c >> axis & 1;
        faces_.set(axis, false, family.children[c], fine.at(axis, c, plane));
        faces_.set(axis, true, family.children[c], fine.at(axis, c, plane + 1));
      }
  }

 private:
  /// The value on the low face of the cell at this position, from whichever side there is one; the one below first, so
  /// that both sides of a face find the same.
  std::optional<double> low_face(int level, const Index3& cell, std::size_t axis) const {
    Index3 below = cell;
    --below[axis];
    if (const auto found = places_.find(level, below)) return faces_.get(axis, true, *found);
    if (const auto found = places_.find(level, cell)) return faces_.get(axis, false, *found);
    return {};
  }

  double slope(int level, Index3 cell, std::size_t axis, std::size_t along, double here) const {
    if (options_.by == FillBy::constant) return 0;
    --cell[along];
    const auto before = low_face(level, cell, axis);
    cell[along] += 2;
    const auto after = low_face(level, cell, axis);
    return before && after ? minmod(here - *before, *after - here) : 0;
  }

  void take_side(int level, const Family& family, std::size_t axis, bool high, FineFaces& fine) const {
    Index3 plane = family.cell;
    if (high) ++plane[axis];
    const double here = *low_face(level, plane, axis);
    std::array<double, 3> quarter{};
    for (std::size_t t = 0; t < static_cast<std::size_t>(tree_.dim); ++t)
      if (t != axis) quarter[t] = slope(level, plane, axis, t, here) / 4;
    for (std::size_t c = 0; c < family_size(tree_); ++c) {
      if ((c >> axis & 1) != 0) continue;
      double& value = fine.at(axis, c, high ? 2 : 0);
      value = here;
      for (std::size_t t = 0; t < static_cast<std::size_t>(tree_.dim); ++t)
        value += (c >> t & 1) != 0 ? quarter[t] : -quarter[t];
      if (const auto beside = known_beside(level, plane, axis, high, c)) value = faces_.get(axis, !high, *beside);
    }
  }

  /// The cell of the finer level on the other side of a fine face, where its value is known.
  std::optional<std::size_t> known_beside(int level, const Index3& plane, std::size_t axis, bool high,
                                          std::size_t c) const {
    Index3 at{0, 0, 0};
    for (std::size_t a = 0; a < static_cast<std::size_t>(tree_.dim); ++a)
      at[a] = 2 * plane[a] + static_cast<std::int64_t>(c >> a & 1);
    if (!high) --at[axis];
    const auto found = places_.find(level + 1, at);
    return found && known_[*found] ? found : std::nullopt;
  }

  const Octree& tree_;
  const CellFinder& places_;
  const FillOptions& options_;
  const BitArray& known_;
  Faces faces_;
};

/// The name of the other half of a face field: "b_right" of "b_left".
std::optional<std::string> right_of(const std::string& name) {
  const auto at = name.find("_left");
  if (at == std::string::npos) return {};
  return std::string(name).replace(at, 5, "_right");
}

// -------------------------------------------------------------------------------------------------------------- means

/// The mean of all children, or of those at the side on which the value stands.
template <class T>
T mean_below(const Octree& tree, const Side& side, const Family& family, const T* values) {
  double sum = 0;
  for (std::size_t c = 0; c < family_size(tree); ++c)
    if (touches_side(side, c)) sum += static_cast<double>(values[family.children[c]]);
  return static_cast<T>(sum / static_cast<double>(family_size(tree) >> std::popcount(side.axes)));
}

/// Weighted by the children's density; nothing where one of them is not above 0.
std::optional<double> mean_over_mass(const Octree& tree, const Family& family, const Field& density,
                                     const Field& field) {
  double sum = 0, mass = 0;
  for (std::size_t c = 0; c < family_size(tree); ++c) {
    const double here = value_at(density, family.children[c]);
    if (!(here > 0)) return {};
    mass += here;
    sum += here * value_at(field, family.children[c]);
  }
  return std::isfinite(mass) ? std::optional(sum / mass) : std::nullopt;
}

/// Whether each field is one per mass.
std::vector<bool> goes_by_mass(const SpecificAt& at, std::size_t fields) {
  std::vector<bool> out(fields, false);
  for (const auto* some : {&at.velocity, &at.others})
    for (const std::size_t f : *some) out[f] = true;
  for (const auto& one : {at.internal, at.total})
    if (one) out[*one] = true;
  return out;
}

std::vector<FieldInfo> infos_of(const std::vector<Field>& fields) {
  std::vector<FieldInfo> infos;
  for (const Field& field : fields) infos.push_back(field.info);
  return infos;
}

std::vector<std::vector<Coordinate>> coordinates(const Octree& tree) {
  std::vector<std::vector<Coordinate>> at{root_coordinates(tree)};
  for (int level = 0; level + 1 < num_levels(tree); ++level) at.push_back(child_coordinates(tree, level, at.back()));
  return at;
}

}  // namespace

std::vector<FaceVector> face_vectors(const std::vector<FieldInfo>& fields, int dim) {
  std::array<std::vector<std::pair<std::size_t, std::size_t>>, 3> pairs;
  std::size_t faces = 0, used = 0, last = 0;
  for (std::size_t f = 0; f < fields.size(); ++f) {
    if (!is_face(fields[f]) || axis_of(fields[f].centring) >= static_cast<std::size_t>(dim)) continue;
    ++faces;
    last = f;
    const auto other = right_of(fields[f].name);
    if (!other) continue;
    for (std::size_t g = 0; g < fields.size(); ++g)
      if (fields[g].name == *other && fields[g].centring == fields[f].centring && fields[g].type == fields[f].type &&
          is_floating(fields[f])) {
        pairs[axis_of(fields[f].centring)].push_back({f, g});
        used += 2;
        break;
      }
  }
  std::vector<FaceVector> vectors(pairs[0].size());
  bool whole = used == faces;
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(dim); ++axis) {
    whole = whole && pairs[axis].size() == vectors.size();
    for (std::size_t v = 0; whole && v < vectors.size(); ++v) {
      vectors[v].left[axis] = pairs[axis][v].first;
      vectors[v].right[axis] = pairs[axis][v].second;
    }
  }
  if (!whole)
    throw Error(Kind::unsupported,
                "values of faces can be made of a vector only: a field _left and one _right for each axis, of one "
                "floating-point type")
        .at("field " + fields[last].name)
        .hint("leave it out with --field");
  return vectors;
}

void fill_down(const Octree& tree, int first, const FillOptions& options, std::vector<Field>& fields,
               const BitArray& known) {
  const CellFinder places(tree, options.periodic);
  const std::vector<FaceVector> vectors = face_vectors(infos_of(fields), tree.dim);
  SpecificAt specific;
  if (options.by == FillBy::linear) specific = find_specific(infos_of(fields), options.specific);
  SpecificFill by_mass(tree, places, specific, fields);
  std::vector<FaceFill> faces;
  for (const FaceVector& vector : vectors) faces.emplace_back(tree, places, options, known, Faces(fields, vector));
  const auto at = coordinates(tree);
  for (int level = std::max(0, first); level + 1 < num_levels(tree); ++level)
    for_each_family(tree, level, at[static_cast<std::size_t>(level)], [&](const Family& family) {
      if (known[family.children[0]]) return;
      for (Field& field : fields)
        if (!is_face(field.info))
          visit_values(field, [&]<class T>(std::span<const T>) {
            fill_cells(tree, places, level, family, options.by, field.as<T>().data());
          });
      by_mass.fill(level, family);
      for (FaceFill& fill : faces) fill.fill(level, family);
    });
}

void form_means(const Octree& tree, int end, std::vector<Field>& fields, const BitArray& known,
                const Specific& specific) {
  const auto at = coordinates(tree);
  std::vector<Side> sides;
  for (const Field& field : fields) sides.push_back(side_of(field.info, tree.dim).value_or(Side{}));
  const SpecificAt found = find_specific(infos_of(fields), specific);
  const std::vector<bool> by_mass = goes_by_mass(found, fields.size());
  const auto weighted = [&](const Family& family, std::size_t f) {
    return by_mass[f] ? mean_over_mass(tree, family, fields[*found.density], fields[f]) : std::nullopt;
  };
  for (int level = std::min(end, num_levels(tree) - 1); level-- > 0;)
    for_each_family(tree, level, at[static_cast<std::size_t>(level)], [&](const Family& family) {
      if (known[family.value]) return;
      for (std::size_t f = 0; f < fields.size(); ++f) {
        if (const auto mean = weighted(family, f)) {
          set_value(fields[f], family.value, *mean);
          continue;
        }
        visit_values(fields[f], [&]<class T>(std::span<const T>) {
          T* values = fields[f].as<T>().data();
          values[family.value] = mean_below(tree, sides[f], family, values);
        });
      }
    });
}

}  // namespace octavo::mesh
