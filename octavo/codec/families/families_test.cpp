#include "octavo/codec/families.hpp"

#include <gtest/gtest.h>

#include "octavo/codec/test_values.hpp"

namespace octavo::codec {
namespace {

/// Numbers and signs that one family after another gives.
template <class Grid>
Symbols residuals_one_by_one(const Model<Grid>& model, const Numbers& numbers) {
  Symbols symbols(numbers.size());
  const bool with_sign = model.alphabet() == Alphabet::signed_numbers;
  const std::size_t m = model.layout.members, w = model.layout.width;
  predict_tree(model, numbers, [&](std::size_t k, std::size_t j, const PredictedCells& cells) {
    for (std::size_t lane = 0; lane < cells.count; ++lane) {
      const std::size_t i = cells.position[lane], t = (cells.family[lane] * m + k) * w + j;
      const std::uint64_t u = zigzag(wrapping_difference(numbers.index[i], cells.index[lane]));
      const unsigned flip = with_sign && numbers.negative[i] != cells.negative[lane] ? 1u : 0u, c = class_of(u);
      symbols.symbol[t] = static_cast<std::uint8_t>(num_specials + (with_sign ? 2 * c + flip : c));
      symbols.number[t] = u;
    }
  });
  return symbols;
}

template <class T>
T value_of(const ExactGrid<T>& grid, const Numbers& numbers, std::size_t i) {
  return grid.value_of(numbers.index[i]);
}
template <class Grid>
typename Grid::Value value_of(const Grid& grid, const Numbers& numbers, std::size_t i) {
  return grid.value(numbers.index[i], numbers.negative[i] != 0);
}

template <class Grid>
void check_both_ways(const Grid& grid, const testing::Case<typename Grid::Value>& c, Base base) {
  using T = typename Grid::Value;
  Numbers numbers;
  numbers.resize(c.values.size());
  grid.read(numbers, std::span<const T>(c.values), 0, c.values.size());
  for (std::size_t i = 0; i < numbers.size(); ++i)  // as decoded
    if (numbers.kind[i] == ValueKind::plain) numbers.value[i] = static_cast<double>(value_of(grid, numbers, i));
  Model<Grid> model = make_model(grid, c.context(), c.values.size(), false);
  use_tree_layout(model);
  model.base = base;
  model.signs = true;
  model.stencil.axes = axes_of(c.family);
  for (std::size_t k = 0; k < 8; ++k)
    for (std::size_t r = 0; r < max_terms; ++r)
      model.stencil.weight[k][r] = static_cast<std::int8_t>(static_cast<int>(7 * k + 5 * r) % 23 - 11);
  const Symbols expected = residuals_one_by_one(model, numbers);
  Symbols symbols(c.values.size());
  std::vector<T> values(c.values.size());
  std::size_t together = 0;
  bool sound = true;
  for_each_run(
      model, [&](std::size_t i) { return numbers.kind[i] == ValueKind::plain; },
      [&](std::size_t first, std::size_t last) {
        const std::size_t size = c.family * c.width;
        residuals_of(model, numbers, first, last, symbols);
        sound = values_of(model, symbols, first, last, std::span<T>(values)) && sound;
        for (std::size_t i = first * size; i < last * size; ++i) {
          ASSERT_EQ(symbols.symbol[i], expected.symbol[i]) << i;
          ASSERT_EQ(symbols.number[i], expected.number[i]) << i;
          ASSERT_TRUE(testing::same_bits(values[i], value_of(grid, numbers, i))) << i;
        }
        together += last - first;
      },
      [](std::span<const std::uint32_t>) {});
  EXPECT_TRUE(sound);
  EXPECT_GT(2 * together, c.parents.size()) << c.name;
}

template <class T>
void check_grids() {
  for (const auto& c :
       {testing::tree_case<T>("3-D", 300, 8, 1, 0, 1e-2, 1), testing::tree_case<T>("2-D", 300, 4, 3, 2, 1e-2, 2),
        testing::tree_case<T>("1-D", 300, 2, 1, -2, 1e-2, 3)}) {
    for (const Base base : {Base::parent, Base::fitted_value}) {
      check_both_ways(ExactGrid<T>(), c, base);
      check_both_ways(PointwiseGrid<T>(2e-3, {}), c, base);
      check_both_ways(AbsoluteGrid<T>(1e-3, {}), c, base);
    }
    check_both_ways(PointwiseGrid<T>(2e-3, {}), c, Base::fitted_index);
    Lattice lattice;
    lattice.phase = {0.25, 0.75};
    lattice.common = 2.0;
    check_both_ways(PointwiseGrid<T>(2e-3, lattice), c, Base::fitted_value);
    check_both_ways(AbsoluteGrid<T>(1e-3, lattice), c, Base::fitted_value);
  }
}

TEST(Families, together_give_the_numbers_that_one_after_another_gives) {
  check_grids<double>();
  check_grids<float>();
}

TEST(Families, a_class_is_that_of_the_length_and_the_second_bit) {
  for (unsigned length = 4; length <= 64; ++length)
    for (const std::uint64_t low : {std::uint64_t{0}, ~std::uint64_t{0}})
      for (unsigned second = 0; second < 2; ++second) {
        const std::uint64_t rest = low & ((std::uint64_t{1} << (length - 2)) - 1);
        EXPECT_EQ(class_of((std::uint64_t{2 + second} << (length - 2)) | rest), 8 + 2 * (length - 4) + second);
      }
  for (unsigned u = 0; u < 8; ++u) EXPECT_EQ(class_of(u), u);
}

}  // namespace
}  // namespace octavo::codec
