#include "octavo/codec/frequent.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <type_traits>

namespace octavo::codec {

namespace {

template <class T>
using BitsOf = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;

/// How often values come, counted by hash; values in one slot are counted together. `most` is the slot's majority,
/// found by the vote of Boyer and Moore (1981).
template <class Bits>
struct BitsTally {
  std::array<Bits, 1024> most{};
  std::array<std::int16_t, 1024> lead{}, count{};
  std::size_t total = 0;
  void add(Bits bits) {
    const std::size_t slot = (std::uint64_t{bits} * 0x9e3779b97f4a7c15ULL) >> 54;
    if (lead[slot] == 0) most[slot] = bits;
    lead[slot] = static_cast<std::int16_t>(lead[slot] + (most[slot] == bits ? 1 : -1));
    ++count[slot];
    ++total;
  }
};

/// Up to 512 of the values, at places that follow no pattern of the mesh; of counted ones, if asked.
template <class T>
void sample(std::span<const T> values, std::span<const std::uint8_t> counted, bool only_counted,
            BitsTally<BitsOf<T>>& tally) {
  constexpr std::size_t wanted = 512;
  if (values.size() <= wanted) {
    for (std::size_t i = 0; i < values.size(); ++i)
      if (!only_counted || counted[i] != 0) tally.add(std::bit_cast<BitsOf<T>>(values[i]));
    return;
  }
  std::uint64_t state = values.size();
  for (std::size_t tries = 0; tries < 8 * wanted && tally.total < wanted; ++tries) {
    // Knuth's MMIX generator, seeded by the size: the same values always give the same bytes.
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    const std::size_t i = static_cast<std::size_t>(((state >> 32) * values.size()) >> 32);
    if (!only_counted || counted[i] != 0) tally.add(std::bit_cast<BitsOf<T>>(values[i]));
  }
}

/// Adds the values that a sample has often enough. (If a value is a tenth of all, only one sample of 512 values in 10^8
/// has it less than 16 times.)
template <class Bits>
void add_candidates(const BitsTally<Bits>& tally, std::vector<Bits>& candidates) {
  const auto enough = static_cast<std::int16_t>(std::max<std::size_t>(2, tally.total / 32));
  for (std::size_t slot = 0; slot < tally.count.size(); ++slot)
    if (tally.count[slot] >= enough &&
        std::find(candidates.begin(), candidates.end(), tally.most[slot]) == candidates.end())
      candidates.push_back(tally.most[slot]);
}

}  // namespace

template <class T>
std::vector<T> most_frequent(std::span<const T> values, std::span<const std::uint8_t> counted) {
  using Bits = BitsOf<T>;
  const std::size_t num_counted =
      values.size() - static_cast<std::size_t>(std::count(counted.begin(), counted.end(), std::uint8_t{0}));
  std::vector<Bits> candidates;
  for (const bool only_counted : {false, true}) {
    if (only_counted && num_counted == values.size()) break;
    BitsTally<Bits> tally;
    sample(values, counted, only_counted, tally);
    add_candidates(tally, candidates);
  }
  std::vector<std::size_t> of_all, of_counted;
  for (const Bits bits : candidates) {
    std::size_t all = 0, some = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::size_t same = std::bit_cast<Bits>(values[i]) == bits ? 1 : 0;
      all += same;
      some += same & counted[i];
    }
    of_all.push_back(all);
    of_counted.push_back(some);
  }
  std::vector<T> chosen;
  const auto choose = [&](const std::vector<std::size_t>& counts, std::size_t total) {
    std::size_t most = 0, best = candidates.size();
    for (std::size_t c = 0; c < counts.size(); ++c)
      if (counts[c] > most || (counts[c] == most && best < c && candidates[c] < candidates[best])) {
        most = counts[c];
        best = c;
      }
    if (most < 2 || 10 * most <= total) return;
    const auto is_it = [&](T value) { return std::bit_cast<Bits>(value) == candidates[best]; };
    if (std::none_of(chosen.begin(), chosen.end(), is_it)) chosen.push_back(std::bit_cast<T>(candidates[best]));
  };
  choose(of_all, values.size());
  choose(of_counted, num_counted);
  return chosen;
}

template std::vector<double> most_frequent(std::span<const double>, std::span<const std::uint8_t>);
template std::vector<float> most_frequent(std::span<const float>, std::span<const std::uint8_t>);

}  // namespace octavo::codec
