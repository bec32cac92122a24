#include "apps/shallow/exact_sum.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace octavo::shallow {

double exact_sum(std::span<const double> terms, const Reduce& reduce) {
  double largest = 0;
  for (const double term : terms) largest = std::max(largest, std::abs(term));
  largest = reduce.maximum(largest);
  if (largest == 0) return 0;
  int exponent = 0;
  std::frexp(largest, &exponent);
  // Two digits of 40 bits: products with powers of two and the remainder are exact, integers add up in any order.
  std::array<std::int64_t, 2> digits{};
  for (const double term : terms) {
    const double scaled = std::ldexp(term, 40 - exponent), high = std::nearbyint(scaled);
    digits[0] += static_cast<std::int64_t>(high);
    digits[1] += static_cast<std::int64_t>(std::nearbyint(std::ldexp(scaled - high, 40)));
  }
  reduce.sum(digits);
  return std::ldexp(static_cast<double>(digits[0]), exponent - 40) +
         std::ldexp(static_cast<double>(digits[1]), exponent - 80);
}

}  // namespace octavo::shallow
