// Errors of lossy chunks cancel: their sum over many chunks is what as many independent errors would give, at most, and
// values that fill a chunk come back as they are.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>
#include <random>

#include "octavo/codec/codec.hpp"
#include "octavo/codec/test_values.hpp"
#include "tests/support/is_long.hpp"

namespace octavo::codec {
namespace {

using Random = std::mt19937_64;
double uniform(Random& random, double lo, double hi) { return std::uniform_real_distribution<double>(lo, hi)(random); }

/// Values of chunk number `chunk`.
using Make = std::function<std::vector<double>(int chunk, std::size_t count)>;

Make each(std::function<double(Random&)> one) {
  return [one](int chunk, std::size_t count) {
    Random random(static_cast<std::uint64_t>(chunk) + 1);
    std::vector<double> values(count);
    for (double& v : values) v = one(random);
    return values;
  };
}

/// A sum of waves of all lengths, along the chunk.
std::vector<double> turbulence(int chunk, std::size_t count) {
  Random random(static_cast<std::uint64_t>(chunk) + 77);
  std::vector<double> values(count, 0);
  for (double k = 1; k < static_cast<double>(count) / 4; k *= 1.3) {
    const double phase = uniform(random, 0, 6.28), size = std::pow(k, -0.8);
    for (std::size_t i = 0; i < count; ++i)
      values[i] += size * std::sin(6.28 * k * static_cast<double>(i) / static_cast<double>(count) + phase);
  }
  return values;
}

std::map<std::string, Make> fields() {
  std::map<std::string, Make> all;
  all["constant"] = each([](Random&) { return 1.0; });
  all["another constant in each chunk"] = [](int chunk, std::size_t count) {
    return std::vector<double>(count, 1.0 + 0.0371 * chunk);
  };
  all["nearly constant"] = each([](Random& r) { return 1.0 + uniform(r, -1e-6, 1e-6); });
  all["nearly constant, a little above"] = each([](Random& r) { return 1.0 + uniform(r, 0, 1e-5); });
  all["two states"] = each([](Random& r) { return (r() % 3 == 0 ? 1.0 : 0.125) * (1 + uniform(r, 0, 1e-4)); });
  all["a step"] = [](int chunk, std::size_t count) {
    std::vector<double> values(count, 1.0);
    std::fill(values.begin() + static_cast<std::ptrdiff_t>(count / 2 + static_cast<std::size_t>(chunk)), values.end(),
              0.1);
    return values;
  };
  all["one value and a tail above"] =
      each([](Random& r) { return r() % 2 == 0 ? 1.0 : 1 + std::exp(uniform(r, -12, 1)); });
  all["one value and rounding"] = each([](Random& r) { return 1.0 + static_cast<double>(r() % 4) * 2.2e-16; });
  all["exponential"] = each([](Random& r) { return -std::log(uniform(r, 1e-12, 1)); });
  all["small beside the bound"] = each([](Random& r) { return -1e-4 * std::log(uniform(r, 1e-12, 1)); });
  all["log-normal"] = each([](Random& r) { return std::exp(2 * std::normal_distribution<double>()(r)); });
  all["steep power law"] = each([](Random& r) { return std::pow(uniform(r, 1e-6, 1), -0.5); });
  all["both signs"] = each([](Random& r) { return std::normal_distribution<double>()(r); });
  all["more below than above"] = each([](Random& r) { return std::normal_distribution<double>()(r) - 0.7; });
  all["turbulence"] = turbulence;
  all["positive turbulence"] = [](int chunk, std::size_t count) {
    auto values = turbulence(chunk, count);
    for (double& v : values) v = std::exp(0.5 * v);
    return values;
  };
  all["a wave over dry land"] = [](int chunk, std::size_t count) {
    auto values = turbulence(chunk, count);
    for (double& v : values) v = std::max(0.0, v);
    return values;
  };
  // A symmetric set-up repeats the same few values in every part.
  all["a hundred values forty-eight times"] = [](int, std::size_t count) {
    Random random(5);
    std::vector<double> few(count / 48 + 1), values(count);
    for (double& v : few) v = std::exp(uniform(random, -3, 3));
    for (std::size_t i = 0; i < count; ++i) values[i] = few[i / 48];
    return values;
  };
  all["the same, mirrored"] = [](int, std::size_t count) {
    Random random(6);
    std::vector<double> few(count / 48 + 1), values(count);
    for (double& v : few) v = std::exp(uniform(random, -3, 3));
    for (std::size_t i = 0; i < count; ++i) values[i] = few[i / 48] * (i % 3 == 0 ? -1 : 1);
    return values;
  };
  return all;
}

struct Sum {
  double error = 0, squares = 0, size = 0;
};

template <class T>
void add(const Bound& bound, const std::vector<double>& given, Sum& sum) {
  // Every third value is not a leaf, and its error does not count.
  std::vector<std::uint8_t> counted(given.size());
  for (std::size_t i = 0; i < counted.size(); ++i) counted[i] = i % 3 == 0 ? 0 : 1;
  std::vector<T> values(given.begin(), given.end()), decoded(given.size());
  Context<T> context;
  context.counted = counted;
  std::vector<std::byte> chunk;
  encode(std::span<const T>(values), context, {bound, Effort::normal, Method::tree}, std::span<T>(decoded), chunk);
  std::map<T, std::size_t> count;
  for (const T v : values) ++count[v];
  const auto most = std::max_element(count.begin(), count.end(), [](auto& a, auto& b) { return a.second < b.second; });
  for (std::size_t i = 0; i < values.size(); ++i) {
    ASSERT_TRUE(testing::honours(bound, values[i], decoded[i])) << values[i] << " became " << decoded[i];
    if (10 * most->second > values.size() && most->second > 1 && values[i] == most->first) {
      ASSERT_TRUE(testing::same_bits(values[i], decoded[i])) << values[i] << " became " << decoded[i];
    }
    if (counted[i] == 0) continue;
    const double error = static_cast<double>(decoded[i]) - static_cast<double>(values[i]);
    sum.error += error;
    sum.squares += error * error;
    sum.size += std::abs(static_cast<double>(values[i]));
  }
}

template <class T>
class Centred : public ::testing::Test {};
using Types = ::testing::Types<double, float>;
TYPED_TEST_SUITE(Centred, Types);

TYPED_TEST(Centred, errors_of_many_chunks_sum_to_what_independent_errors_would_at_most) {
  for (const auto& [name, make] : fields())
    for (const std::size_t count : {std::size_t{40}, std::size_t{1000}, std::size_t{8000}}) {
      if (count == 8000 && !octavo::testing::is_long()) continue;
      for (const double value : {2e-2, 2e-3, 2e-4})
        for (const BoundKind kind : {BoundKind::absolute, BoundKind::pointwise_relative}) {
          SCOPED_TRACE(name + ", " + std::to_string(count) + " values, bound " + std::to_string(value) + ", kind " +
                       std::to_string(static_cast<int>(kind)));
          Sum sum;
          for (int chunk = 0; chunk < 12; ++chunk) add<TypeParam>({kind, value}, make(chunk, count), sum);
          if (this->HasFatalFailure()) return;
          // The codec is not responsible for rounding.
          const double rounding = (sizeof(TypeParam) == 8 ? 1e-15 : 1e-7) * sum.size;
          EXPECT_LE(std::abs(sum.error), 4 * std::sqrt(sum.squares) + rounding)
              << sum.error / std::sqrt(sum.squares) << " times its standard error";
        }
    }
}

}  // namespace
}  // namespace octavo::codec
