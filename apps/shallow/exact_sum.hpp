#pragma once
#include <cstdint>
#include <functional>
#include <span>

/// Sums that do not depend on the order of their terms, and so not on how many ranks share them.
namespace octavo::shallow {

/// Reduces over ranks; the identity on one.
struct Reduce {
  std::function<double(double)> maximum = [](double value) { return value; };
  std::function<void(std::span<std::int64_t>)> sum = [](std::span<std::int64_t>) {};
};

/// Collective. The sum of all ranks' terms (finite, at most 2^22 of them a rank and in all) as integers of a common
/// unit: exact to 2^-80 of the largest term. The same bits whatever the order and the distribution.
double exact_sum(std::span<const double> terms, const Reduce& reduce);

}  // namespace octavo::shallow
