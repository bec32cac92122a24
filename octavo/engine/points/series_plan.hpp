#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "octavo/formats/serafin/layout.hpp"

namespace octavo::engine {

/// Which bytes of a SERAFIN step each writer writes. A variable's values are shared out evenly among the writers; where
/// two of them meet, the bound is moved up to the next multiple of `alignment` of the file, so that no two writers ever
/// touch one such unit. The last writer writes the bytes between two variables (lengths, the time).
struct SeriesPlan {
  formats::serafin::SerafinHeader header;
  formats::serafin::RecordOffsets offsets;
  int writers = 1;
  std::uint64_t alignment = 4096;  ///< [bytes]
  std::vector<int> ranks;          ///< of the writers, ascending
};

/// Takes fewer writers than asked if a share would be smaller than four units of alignment.
SeriesPlan plan_series(const formats::serafin::SerafinHeader& header, std::vector<int> ranks, std::uint64_t alignment);

/// The lowest rank of each host if `writers` is 0; else `writers` ranks, spread evenly.
std::vector<int> writer_ranks(const std::vector<int>& hosts_of_ranks, int writers);

/// The points that a writer needs: [first, first + count); numbers past the last point continue at 0. The range is a
/// little larger than its share, because bounds move from step to step by less than the alignment, and one plan of an
/// exchange serves all steps.
struct PointRange {
  std::int64_t first = 0, count = 0;
  bool operator==(const PointRange&) const = default;
};
PointRange needed_points(const SeriesPlan& plan, int writer);

/// One write: bytes [begin, end) of the file, within one variable's record and the bytes just before or after it.
struct SeriesWrite {
  std::uint64_t begin = 0, end = 0;
  bool operator==(const SeriesWrite&) const = default;
};
/// The pieces of a variable that a writer writes: none, one, or two (the last writer: head and tail), ascending. Those
/// of the first variable begin with the step. The last writer also writes the step's last 4 bytes, which make it
/// visible.
std::vector<SeriesWrite> pieces_of(const SeriesPlan& plan, int writer, std::int64_t step, std::size_t variable);

/// The same of a variable that stands alone at a place of the file, without records (MED).
std::vector<SeriesWrite> pieces_at(const SeriesPlan& plan, int writer, std::uint64_t values);

/// The stretch that a writer writes of the file's first `bytes`, which hold the mesh: even shares. Bounds are moved up
/// as those of values are. The last writer has the unit in which the steps begin.
SeriesWrite mesh_piece(const SeriesPlan& plan, int writer, std::uint64_t bytes);

/// For people: writers, ranks and bytes a write.
std::string to_text(const SeriesPlan& plan);

}  // namespace octavo::engine
