#pragma once
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "octavo/analysis/select.hpp"

namespace octavo::analysis {

/// A sum in twice the precision of a double: the rounding error is kept beside. It hardly depends on the order.
struct Sum {
  double high = 0, low = 0;
  void add(double x) {
    const double total = high + x, part = total - high;
    low += (high - (total - part)) + (x - part);
    high = total;
  }
  void add(const Sum& other) {
    add(other.high);
    low += other.low;
  }
  /// Infinite where the sum left the range of a double.
  double value() const { return std::isfinite(high) ? high + low : high; }
};

/// The smallest or largest value and the cell that has it (the first in order of levels, parts, cells).
struct Extreme {
  double value = 0;
  int level = 0;          ///< the code's own number
  mesh::Point3 centre{};  ///< [code length]
};

/// The summary of one field on the selected cells of one level, or of all. NaN and infinities are counted and left out
/// of all other figures. Without any value, minimum, maximum and mean are NaN (Extreme::value too).
struct Summary {
  std::int64_t cells = 0;  ///< all, NaN and infinities too
  std::int64_t nan = 0, inf = 0;
  Extreme min, max;
  double mean = 0;                  ///< unweighted; of clipped cells by their shares, as is `sum`
  double volume_mean = 0;           ///< sum of value * volume / sum of volume
  std::optional<double> mass_mean;  ///< the same with density * volume; where there is a mesh::density_field
  double sum = 0;
  double integral = 0;  ///< sum of value * volume [unit * code length^dim]; NaN where cells are no boxes
};

struct LevelSummary {
  int level = 0;  ///< the code's own number
  Summary summary;
};

struct FieldStatistics {
  std::string name, unit;
  Summary all;
  std::vector<LevelSummary> levels;  ///< those with selected cells
};

/// Statistics of one attribute of all particles of a species. NaN are left out.
struct AttributeStatistics {
  std::string name, unit;
  std::int64_t count = 0;
  std::int64_t nan = 0;
  double min = 0, max = 0, sum = 0;                    ///< NaN, NaN, 0 for none
  bool integer = false;                                ///< of an integer type: the same, exactly (sum modulo 2^64) ...
  std::int64_t int_min = 0, int_max = 0, int_sum = 0;  ///< ... unsigned 64-bit values reinterpreted as signed
};

struct SpeciesStatistics {
  std::string name;
  std::int64_t count = 0;
  std::vector<AttributeStatistics> attributes;
};

struct LevelVolume {
  int level = 0;
  std::int64_t leaves = 0;  ///< selected cells
  double volume = 0;        ///< [code length^dim]
};

struct Statistics {
  std::int64_t leaves = 0;  ///< selected cells
  double volume = 0;        ///< theirs [code length^dim]
  std::vector<LevelVolume> levels;
  std::vector<FieldStatistics> fields;
  std::vector<SpeciesStatistics> particles;
};

/// Statistics as bytes between processes of one run (base/pack.hpp).
template <class Way>
void both(Way& way, FieldStatistics& field) {
  both(way, field.name, field.unit, field.all, field.levels);
}
template <class Way>
void both(Way& way, AttributeStatistics& attribute) {
  both(way, attribute.name, attribute.unit, attribute.count, attribute.nan, attribute.int_min, attribute.int_max,
       attribute.int_sum);
  both(way, attribute.min, attribute.max, attribute.sum, attribute.integer);
}
template <class Way>
void both(Way& way, SpeciesStatistics& species) {
  both(way, species.name, species.count, species.attributes);
}
template <class Way>
void both(Way& way, Statistics& statistics) {
  both(way, statistics.leaves, statistics.volume, statistics.levels, statistics.fields, statistics.particles);
}

// ------------------------------------------------------------------ part by part

/// The sums of one field and level, which add up over parts.
struct Partial {
  std::int64_t cells = 0, nan = 0, inf = 0;
  double min = 0, max = 0;  ///< where any() holds
  mesh::Coordinate min_at{}, max_at{};
  Sum sum, mass, mass_sum;  ///< of values; of density, and of value * density, where both are finite; each by the share
  Sum share{};              ///< of the cells with a finite value; 0 where cells are whole
  bool any() const { return cells > nan + inf; }
};
struct PartialAttribute {
  std::int64_t count = 0, nan = 0;
  double min = 0, max = 0;
  Sum sum;
  std::int64_t int_min = 0, int_max = 0;
  std::uint64_t int_sum = 0;
};
/// Statistics of any number of parts. Rows: field by level index, species by attribute.
struct PartialStatistics {
  std::vector<std::int64_t> cells;                       ///< selected, a level index
  std::vector<Sum> shares{};                             ///< of their volume, where cells are clipped; else none
  std::vector<std::vector<Partial>> fields;              ///< [field][level index]
  std::vector<std::vector<PartialAttribute>> particles;  ///< [species][attribute]
  std::vector<std::int64_t> counts;                      ///< [species]
};

/// The part's contribution: of `fields`, and of every species of `species` if the part has its particles (a region
/// keeps those with their position inside). `density`: whether the part has
/// mesh::density_field too, for mass-weighted means.
PartialStatistics statistics(const mesh::Part& part, const mesh::Header& header, const Selection& selection,
                             const std::vector<std::string>& fields, const std::vector<mesh::SpeciesInfo>& species,
                             bool density);

/// Adds what later parts contributed.
void add(PartialStatistics& to, const PartialStatistics& other);

/// The partial results as bytes between processes of one run (base/pack.hpp).
template <class Way>
void both(Way& way, PartialStatistics& partial) {
  both(way, partial.cells, partial.shares, partial.fields, partial.particles, partial.counts);
}

Statistics finish(const PartialStatistics& partial, const mesh::Header& header, const std::vector<std::string>& fields,
                  const std::vector<mesh::SpeciesInfo>& species, bool density);

}  // namespace octavo::analysis
