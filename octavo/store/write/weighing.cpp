#include "octavo/store/write/weighing.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <span>

/// Codes set a coarse cell's velocity, say, to the mean of its children weighed by their mass. Then the sum over
/// children of weight times (child - parent) is zero, and the last child follows from the others. We look for a field
/// that serves as such weights by trying each on a sample of families; names play no part.
namespace octavo::store {
namespace {

// Each candidate is tried on each field, so the sample must be small.
constexpr std::size_t families_tried = 128;

// Families of the level that has most of them, spread evenly.
struct FamilySample {
  std::size_t family = 1;
  std::vector<std::size_t> parents, children;  // cell of each family's parent, and its first child
};

FamilySample sample_of(const std::vector<std::size_t>& offsets, const std::vector<std::vector<std::uint32_t>>& parents,
                       std::size_t family) {
  FamilySample sample{family, {}, {}};
  const auto level = std::max_element(parents.begin(), parents.end(),
                                      [](const auto& a, const auto& b) { return a.size() < b.size(); });
  if (level == parents.end() || level->empty()) return sample;
  const auto l = static_cast<std::size_t>(level - parents.begin());
  const std::size_t count = std::min(families_tried, level->size());
  for (std::size_t s = 0; s < count; ++s) {
    const std::size_t f = s * level->size() / count;
    sample.parents.push_back(offsets[l - 1] + (*level)[f]);
    sample.children.push_back(offsets[l] + f * family);
  }
  return sample;
}

// A field's values on a sample: for each family the parent's, then the children's. Only a cell's first component
// counts.
struct SampledField {
  mesh::ScalarType type = mesh::ScalarType::float64;
  std::vector<double> values;
  bool positive = false;  // all of them, and not all the same
};

double first_value(const Values& values, std::size_t cell_bytes, std::size_t cell) {
  const std::byte* at = values.data + cell * cell_bytes;
  if (values.info.type == mesh::ScalarType::float32) {
    float single;
    std::memcpy(&single, at, sizeof single);
    return single;
  }
  double value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

SampledField values_on(const FamilySample& sample, const Values& values, std::size_t cells) {
  SampledField tried{values.info.type, {}, false};
  const std::size_t cell_bytes = values.size / cells * mesh::size_of(values.info.type);
  for (std::size_t f = 0; f < sample.parents.size(); ++f) {
    tried.values.push_back(first_value(values, cell_bytes, sample.parents[f]));
    for (std::size_t c = 0; c < sample.family; ++c)
      tried.values.push_back(first_value(values, cell_bytes, sample.children[f] + c));
  }
  const auto [least, most] = std::minmax_element(tried.values.begin(), tried.values.end());
  tried.positive = values.size == cells && *least > 0 && *least < *most && std::isfinite(*most);
  return tried;
}

// Bits of the difference between numbers, in places of the type.
int bits_between(double value, double expected, mesh::ScalarType type) {
  const auto place = [&](double x) {
    if (type == mesh::ScalarType::float32) {
      const auto bits = std::bit_cast<std::int32_t>(static_cast<float>(x));
      return std::int64_t{bits < 0 ? -(bits & 0x7fffffff) : bits};
    }
    const auto bits = std::bit_cast<std::int64_t>(x);
    return bits < 0 ? -(bits & 0x7fffffffffffffff) : bits;
  };
  const auto difference = static_cast<std::uint64_t>(place(value)) - static_cast<std::uint64_t>(place(expected));
  return static_cast<int>(std::bit_width(std::min(difference, 0 - difference)));
}

// Bits a family that weights save on the last child, in the mean, against the plain mean.
double saved_bits(const SampledField& field, const SampledField& weights, std::size_t family) {
  std::int64_t saved = 0, families = 0;
  for (std::size_t f = 0; f < field.values.size(); f += 1 + family, ++families) {
    const double parent = field.values[f], last = field.values[f + family];
    double plain = 0, weighed = 0;
    for (std::size_t c = 1; c < family; ++c) {
      plain = plain + (field.values[f + c] - parent);
      weighed = weighed + weights.values[f + c] * (field.values[f + c] - parent);
    }
    saved += bits_between(last, parent - plain, field.type) -
             bits_between(last, parent - weighed / weights.values[f + family], field.type);
  }
  return families == 0 ? 0 : static_cast<double>(saved) / static_cast<double>(families);
}

}  // namespace

Weighing find_weighing(const std::vector<const Values*>& fields, const std::vector<std::size_t>& offsets,
                       const std::vector<std::vector<std::uint32_t>>& parents, std::size_t family) {
  Weighing best{0, std::vector<bool>(fields.size(), false)};
  const FamilySample sample = sample_of(offsets, parents, family);
  if (sample.parents.empty()) return best;
  std::vector<SampledField> tried(fields.size());
  for (std::size_t f = 0; f < fields.size(); ++f)
    if (fields[f] != nullptr && !mesh::is_integer(fields[f]->info.type) && !mesh::is_half(fields[f]->info.type) &&
        fields[f]->size > 0)
      tried[f] = values_on(sample, *fields[f], offsets.back());
  double most = 0;
  for (std::size_t by = 0; by < fields.size(); ++by) {
    if (!tried[by].positive) continue;
    std::vector<bool> weighs(fields.size(), false);
    double sum = 0;
    for (std::size_t f = 0; f < fields.size(); ++f) {
      if (f == by || tried[f].values.empty() || tried[f].type != tried[by].type) continue;
      // A reader pays for two fields in place of one: less than a bit a value is not worth that.
      const double saved = saved_bits(tried[f], tried[by], family);
      weighs[f] = saved >= static_cast<double>(family);
      sum += weighs[f] ? saved : 0;
    }
    if (sum <= most) continue;
    most = sum;
    best = {by, std::move(weighs)};
  }
  return best;
}

}  // namespace octavo::store
