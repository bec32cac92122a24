#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "octavo/engine/points/series_exchange.hpp"
#include "octavo/engine/points/series_plan.hpp"
#include "octavo/file/posix.hpp"

/// A writer's work on the values that reached it: no MPI, from any thread.
namespace octavo::engine {

/// The last 4 bytes of a step: the length that ends its last record. They are written last and make the step visible.
constexpr std::uint64_t seal_bytes = 4;
/// Where a step ends in the file.
std::uint64_t step_end(const SeriesPlan& plan, std::int64_t step);
void write_seal(const SeriesPlan& plan, const file::File& file, std::int64_t step);

/// One writer's share of a step, in the file's byte order.
struct SeriesShare {
  std::int64_t step = 0;
  double time = 0;
  std::vector<std::byte> values;  ///< as exchange_values() gives them
  std::vector<std::uint64_t>
      places;  ///< where each variable is in the file (MED); empty: in the step's records (SERAFIN)
};
/// Writes the share, except for a SERAFIN step's seal, with one variable in memory at a time.
void write_share(const SeriesPlan& plan, const SeriesExchange& exchange, const SeriesShare& share,
                 const file::File& file);

/// Copies the values of `from` that `indices` name, in the file's precision and byte order.
template <class T>
void encode_values(const formats::serafin::SerafinHeader& header, std::span<const T> from,
                   std::span<const std::uint32_t> indices, std::byte* out);
extern template void encode_values(const formats::serafin::SerafinHeader&, std::span<const double>,
                                   std::span<const std::uint32_t>, std::byte*);
extern template void encode_values(const formats::serafin::SerafinHeader&, std::span<const float>,
                                   std::span<const std::uint32_t>, std::byte*);

}  // namespace octavo::engine
