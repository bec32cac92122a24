#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

/// A Reed-Solomon code over GF(2^8): from the blocks d_0, d_1, ... of equal size it makes parity blocks
///
///     p_r = sum over i of f(r, i) * d_i
///
/// Any e lost blocks come back from the others and any e parity blocks. Addition is XOR; row 0 has f(0, i) = 1, so a
/// code with one row is XOR. The f(r, i) are a Cauchy matrix 1 / (r + (16 + i)), each column divided by its first
/// element: all its square submatrices are regular (Blömer et al. 1995, "An XOR-based erasure-resilient coding
/// scheme").
namespace octavo::codec {

constexpr int most_parity_rows = 16;
constexpr int most_erasure_blocks = 256 - most_parity_rows;

/// The product in GF(2^8) modulo x^8 + x^4 + x^3 + x^2 + 1.
std::uint8_t product(std::uint8_t a, std::uint8_t b) noexcept;
/// f(row, block), which is never 0.
std::uint8_t erasure_factor(int row, int block) noexcept;
/// sum += factor * values, byte by byte. Both have the same size.
void add_product(std::span<std::byte> sum, std::uint8_t factor, std::span<const std::byte> values) noexcept;
/// The inverse of the matrix f(rows[k], lost[l]), row after row: with s_k = p_rows[k] - sum over the blocks that are
/// there, d_lost[l] is the sum over k of result[l * e + k] * s_k. Both lists have e different numbers.
std::vector<std::uint8_t> recovery_factors(std::span<const int> rows, std::span<const int> lost);

}  // namespace octavo::codec
