#pragma once
#include <cstdint>
#include <vector>

#include "octavo/base/progress.hpp"
#include "octavo/formats/serafin/series.hpp"
#include "octavo/telemac/files/piece.hpp"
#include "octavo/telemac/files/piece_files.hpp"

namespace octavo::telemac {

/// The size of a piece with all its steps [bytes].
std::uint64_t piece_bytes(const formats::serafin::SerafinHeader& header, std::int64_t steps);

/// Writes a piece of a series without its steps, and leaves room for them behind it. `like`: the series' header, or its
/// geometry_header().
PiecePlace place_piece(const formats::serafin::SerafinSeries& series, const formats::serafin::SerafinHeader& like,
                       PieceWriter& writer, const Piece& piece);

/// Writes all steps of a series to its pieces, which already have their headers. Values keep their bits. `points`:
/// global numbers of the points of one plane, by part and local number. Memory: one variable of one step.
/// `progress` counts bytes of the series. Throws Error(interrupted) if it says stop.
void cut_steps(const formats::serafin::SerafinSeries& series, PieceWriter& writer,
               const std::vector<PiecePlace>& places, const ItemLists& points, const base::Progress& progress);

}  // namespace octavo::telemac
