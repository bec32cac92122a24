#include "octavo/engine/points/series_plan.hpp"

#include <algorithm>
#include <utility>

#include "octavo/base/error.hpp"

namespace octavo::engine {
namespace {

namespace serafin = formats::serafin;

std::int64_t first_point(const SeriesPlan& plan, int writer) {
  const std::int64_t points = plan.header.points;
  return points / plan.writers * writer + points % plan.writers * writer / plan.writers;
}

std::uint64_t up(const SeriesPlan& plan, std::uint64_t at) {
  return (at + plan.alignment - 1) / plan.alignment * plan.alignment;
}

std::uint64_t step_begin(const SeriesPlan& plan, std::int64_t step) {
  return plan.offsets.steps + static_cast<std::uint64_t>(step) * plan.offsets.step_bytes;
}

/// Where the bytes that go with a variable begin: at its values; for the first variable at the step; past the last
/// variable at the next step.
std::uint64_t variable_begin(const SeriesPlan& plan, std::int64_t step, std::size_t variable) {
  if (variable == 0) return step_begin(plan, step);
  if (variable == plan.header.variables.size()) return step_begin(plan, step + 1);
  return serafin::values_at(plan.header, plan.offsets, step, variable);
}

/// The pieces of a writer in the bytes [begin, end) that hold the values of a variable.
std::vector<SeriesWrite> pieces_between(const SeriesPlan& plan, int writer, std::uint64_t begin, std::uint64_t values,
                                        std::uint64_t end) {
  if (plan.writers == 1) return {{begin, end}};
  const auto bound = [&](int w) {
    return up(plan, values + static_cast<std::uint64_t>(first_point(plan, w)) * plan.header.real_bytes);
  };
  if (writer + 1 < plan.writers) return {{bound(writer), bound(writer + 1)}};
  std::vector<SeriesWrite> pieces;
  // The last writer also has the bytes around the values: those before the first writer's bound, and those up to the
  // end.
  if (begin < bound(0)) pieces.push_back({begin, bound(0)});
  pieces.push_back({bound(writer), end});
  return pieces;
}

}  // namespace

SeriesPlan plan_series(const serafin::SerafinHeader& header, std::vector<int> ranks, std::uint64_t alignment) {
  if (alignment == 0) throw base::Error(base::Kind::usage, "alignment: expected at least 1 byte, found 0");
  if (alignment > std::uint64_t{1} << 40)
    throw base::Error(base::Kind::usage, "alignment: expected at most 2^40 bytes, found " + std::to_string(alignment));
  SeriesPlan plan{header, serafin::offsets_of(header), 1, alignment, std::move(ranks)};
  // The last writer must write the bytes before a step's first values, wherever the previous step ended.
  const std::uint64_t least = 4 * std::max<std::uint64_t>(alignment, 32);
  const std::uint64_t record = header.real_bytes * static_cast<std::uint64_t>(header.points);
  plan.writers = static_cast<int>(std::clamp<std::uint64_t>(record / least, 1, plan.ranks.size()));
  plan.ranks.resize(static_cast<std::size_t>(plan.writers));
  return plan;
}

std::vector<int> writer_ranks(const std::vector<int>& hosts, int writers) {
  std::vector<int> ranks;
  const int size = static_cast<int>(hosts.size());
  if (writers > 0) {
    const int count = std::min(writers, size);
    for (int w = 0; w < count; ++w) ranks.push_back(static_cast<int>(static_cast<std::int64_t>(size) * w / count));
  } else {
    for (int rank = 0; rank < size; ++rank)
      if (hosts[static_cast<std::size_t>(rank)] == rank) ranks.push_back(rank);
  }
  return ranks;
}

PointRange needed_points(const SeriesPlan& plan, int writer) {
  if (plan.writers == 1) return {0, plan.header.points};
  const std::int64_t first = first_point(plan, writer);
  const auto more = static_cast<std::int64_t>(plan.alignment / plan.header.real_bytes) + 1;
  return {first, first_point(plan, writer + 1) - first + more};
}

std::vector<SeriesWrite> pieces_of(const SeriesPlan& plan, int writer, std::int64_t step, std::size_t variable) {
  return pieces_between(plan, writer, variable_begin(plan, step, variable),
                        serafin::values_at(plan.header, plan.offsets, step, variable),
                        variable_begin(plan, step, variable + 1));
}

std::vector<SeriesWrite> pieces_at(const SeriesPlan& plan, int writer, std::uint64_t values) {
  const std::uint64_t bytes = plan.header.real_bytes * static_cast<std::uint64_t>(plan.header.points);
  return pieces_between(plan, writer, values, values, values + bytes);
}

SeriesWrite mesh_piece(const SeriesPlan& plan, int writer, std::uint64_t bytes) {
  const auto writers = static_cast<std::uint64_t>(plan.writers);
  const auto bound = [&](int w) {
    const auto share = static_cast<std::uint64_t>(w);
    return w == plan.writers ? bytes : std::min(bytes, up(plan, bytes / writers * share));
  };
  return {bound(writer), bound(writer + 1)};
}

std::string to_text(const SeriesPlan& plan) {
  const PointRange share = needed_points(plan, 0);
  return std::to_string(plan.writers) + (plan.writers == 1 ? " writer" : " writers") + ", about " +
         std::to_string(static_cast<std::uint64_t>(share.count) * plan.header.real_bytes) + " bytes a write, " +
         std::to_string(plan.header.variables.size()) + " writes a step and writer, bounds at multiples of " +
         std::to_string(plan.alignment) + " bytes";
}

}  // namespace octavo::engine
