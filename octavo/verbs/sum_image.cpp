#include "octavo/verbs/sum_image.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "octavo/base/error.hpp"
#include "octavo/base/memory.hpp"
#include "octavo/base/rank_exchange.hpp"
#include "octavo/base/threads.hpp"

namespace octavo::verbs {
namespace {

using analysis::DealtRows;
using analysis::ImageRows;
using analysis::RowRange;
using analysis::Strip;
using analysis::Tile;

/// A part's contribution: its tile; or, where that would be large, the part itself, to be drawn band by band.
struct Contribution {
  Tile tile;
  Drawing large;
};

struct Job {
  const Workers& workers;
  analysis::Projection kind{};
  std::size_t row_bytes = 0;   ///< of a row of the image
  std::size_t most_bytes = 0;  ///< of a tile, and of what a rank sends at once
  int threads = 1;             ///< the same on all ranks
  ImageRows image;
};

// A band of this many bytes goes to a rank before the next gets one. Messages of a row would be many, and large blocks
// would give the parts of a few ranks to one.
constexpr std::size_t block_bytes = std::size_t{1} << 18;

DealtRows deal_rows(const analysis::Frame& frame, const base::Ranks& ranks) {
  const auto size = static_cast<std::size_t>(ranks.size);
  const std::size_t rows = frame.pixels[1], even = (rows + size - 1) / size;
  const std::size_t block = block_bytes / (sizeof(double) * frame.pixels[0]);
  return {rows, size == 1 ? rows : std::clamp(block, std::size_t{1}, even), static_cast<std::size_t>(ranks.rank), size};
}

/// Refuses an image that this rank's rows, and the tiles that are made at once, would not let into memory.
void need_image(const Job& job, const analysis::Frame& frame, const DealtRows& rows) {
  const std::size_t image = rows.count() * job.row_bytes;
  const std::size_t tiles = static_cast<std::size_t>(job.threads) * std::min(job.most_bytes, rows.rows * job.row_bytes);
  base::need_memory(image + tiles, "an image of " + std::to_string(frame.pixels[0]) + " x " +
                                       std::to_string(frame.pixels[1]) + " pixels");
}

Job make_job(const analysis::Frame& frame, const Workers& workers) {
  Job job{workers, frame.kind, 0, 0, base::thread_count(workers.threads), {}};
  const base::Ranks& ranks = workers.ranks;
  if (ranks.size > 1)
    job.threads = base::reduce(ranks, std::vector{job.threads}, [](int a, int b) { return std::max(a, b); })[0];
  const DealtRows rows = deal_rows(frame, ranks);
  job.row_bytes = frame.pixels[0] * sizeof(double) * (frame.kind == analysis::Projection::mean ? 2 : 1);
  const std::size_t most_rows = DealtRows{rows.rows, rows.block, 0, rows.ranks}.count();
  job.most_bytes =
      std::clamp(most_rows * job.row_bytes / (2 * static_cast<std::size_t>(job.threads)), small_tile, large_tile);
  base::agree(ranks, [&] {
    need_image(job, frame, rows);
    job.image = analysis::blank_rows(frame, rows);
  });
  return job;
}

/// Cuts the rows into bands of at most most_bytes each, where a row takes `row_bytes`.
std::vector<RowRange> bands_of(const Job& job, RowRange rows, std::size_t row_bytes) {
  std::vector<RowRange> bands;
  const std::size_t height = std::max(std::size_t{1}, job.most_bytes / std::max(row_bytes, std::size_t{1}));
  for (std::size_t row = rows.first; row < rows.last; row += height)
    bands.push_back({row, std::min(row + height, rows.last)});
  return bands;
}

std::size_t row_bytes_of(const Drawing& large) { return large.bytes / (large.rows.last - large.rows.first) + 1; }

RowRange overlap(RowRange a, RowRange b) {
  const std::size_t first = std::max(a.first, b.first);
  return {first, std::max(first, std::min(a.last, b.last))};
}

Contribution contribution_of(const Job& job, Drawing drawing) {
  if (drawing.bytes > job.most_bytes) return {{}, std::move(drawing)};
  return {drawing.draw(drawing.rows), {}};  // and the part is dropped
}

/// The part's tile of some rows.
Tile tile_in(const Contribution& part, RowRange rows) {
  const RowRange drawn = overlap(part.large.rows, rows);
  return drawn.first < drawn.last ? part.large.draw(drawn) : Tile{};
}

/// One process: the contribution goes straight into the image.
void add_here(Job& job, const Contribution& part) {
  if (!part.large.draw) return analysis::add(job.kind, job.image, part.tile);
  const auto bands = bands_of(job, part.large.rows, row_bytes_of(part.large));
  base::ordered_for(
      bands.size(), job.threads, [&](std::size_t b) { return tile_in(part, bands[b]); },
      [&](std::size_t, const Tile& tile) { analysis::add(job.kind, job.image, tile); });
}

// ------------------------------------------------------------------ between ranks

/// Goes before the values of a strip in a message: sums, then weights.
struct StripHead {
  std::size_t part;  ///< place in the sender's round
  RowRange rows;
  std::size_t column, width, weights;  ///< the number of weights
  std::size_t values() const { return (rows.last - rows.first) * width; }
};

void append(std::string& to, const void* from, std::size_t bytes) { to.append(static_cast<const char*>(from), bytes); }

/// Calls visit(owner, strip) for the strips of a tile, each in one block of rows.
template <class Visit>
void for_each_strip(const DealtRows& dealt, const Tile& tile, RowRange band, Visit&& visit) {
  const RowRange rows = overlap({tile.first[1], tile.first[1] + tile.size[1]}, band);
  for (std::size_t row = rows.first; row < rows.last;) {
    const std::size_t end = std::min(dealt.end_of_block(row), rows.last);
    visit(dealt.owner(row), analysis::strip_of(tile, {row, end}));
    row = end;
  }
}

/// A message to each rank: the strips of this rank's parts that lie in the band and in that rank's rows. Forgets tiles
/// that were drawn for the band alone.
std::vector<std::string> pack_band(const Job& job, const std::vector<Contribution>& round, RowRange band) {
  const DealtRows& dealt = job.image.rows;
  std::vector<Tile> drawn(round.size());
  base::parallel_for(round.size(), job.threads, [&](std::size_t i) {
    if (round[i].large.draw) drawn[i] = tile_in(round[i], band);
  });
  std::vector<std::size_t> sizes(dealt.ranks, 0);
  const auto for_all = [&](auto&& visit) {
    for (std::size_t i = 0; i < round.size(); ++i)
      for_each_strip(dealt, round[i].large.draw ? drawn[i] : round[i].tile, band,
                     [&](std::size_t owner, const Strip& strip) { visit(i, owner, strip); });
  };
  for_all([&](std::size_t, std::size_t owner, const Strip& strip) {
    sizes[owner] += sizeof(StripHead) + strip.sum.size_bytes() + strip.weight.size_bytes();
  });
  std::vector<std::string> to(dealt.ranks);
  for (std::size_t r = 0; r < to.size(); ++r) to[r].reserve(sizes[r]);
  for_all([&](std::size_t i, std::size_t owner, const Strip& strip) {
    const StripHead head{i, strip.rows, strip.column, strip.width, strip.weight.size()};
    append(to[owner], &head, sizeof head);
    append(to[owner], strip.sum.data(), strip.sum.size_bytes());
    append(to[owner], strip.weight.data(), strip.weight.size_bytes());
  });
  return to;
}

/// Reads the strips of one sender's message in order.
class StripReader {
 public:
  explicit StripReader(const std::string& text) : left_(text) {}
  /// Adds the strips of the sender's part `part`, which come next if it sent any.
  void add_part(const Job& job, ImageRows& image, std::size_t part) {
    for (StripHead head{}; left_.size() >= sizeof head; left_.remove_prefix(sizeof head + bytes_of(head))) {
      std::memcpy(&head, left_.data(), sizeof head);
      if (head.part != part) return;
      values_.resize(head.values() + head.weights);
      std::memcpy(values_.data(), left_.data() + sizeof head, bytes_of(head));
      const std::span<const double> all(values_);
      analysis::add(job.kind, image,
                    Strip{head.rows, head.column, head.width, all.first(head.values()), all.subspan(head.values())});
    }
  }

 private:
  static std::size_t bytes_of(const StripHead& head) { return (head.values() + head.weights) * sizeof(double); }
  std::string_view left_;
  std::vector<double> values_;
};

/// Numbers of a round that all ranks must know, each the largest of any rank.
struct RoundSizes {
  std::size_t parts = 0;
  std::size_t tiles = 0;  ///< bytes
  std::size_t large = 0;  ///< bytes of a row of all large drawings of a rank
  RowRange rows{};        ///< that large drawings cover
};
RoundSizes sizes_of(const base::Ranks& ranks, const std::vector<Contribution>& round) {
  constexpr std::size_t none = std::numeric_limits<std::size_t>::max();
  std::vector<std::size_t> most{round.size(), 0, 0, 0, 0};
  for (const Contribution& part : round) {
    most[1] += (part.tile.sum.size() + part.tile.weight.size()) * sizeof(double);
    if (!part.large.draw) continue;
    most[2] += row_bytes_of(part.large);
    most[3] = std::max(most[3], none - part.large.rows.first);
    most[4] = std::max(most[4], part.large.rows.last);
  }
  most = base::reduce(ranks, std::move(most), [](std::size_t a, std::size_t b) { return std::max(a, b); });
  return {most[0], most[1], most[2], {most[2] == 0 ? 0 : none - most[3], most[4]}};
}

/// The bands of a round: those of large drawings; the small tiles go with the first.
std::vector<RowRange> bands_of_round(const Job& job, const RoundSizes& sizes) {
  std::vector<RowRange> bands = bands_of(job, sizes.rows, sizes.large);
  if (bands.empty()) bands.push_back({});
  bands.front().first = 0;
  bands.back().last = job.image.rows.rows;
  return bands;
}

/// Sends the contributions of a round to the owners of their rows. Collective.
void exchange(Job& job, std::vector<Contribution> round, const RoundSizes& sizes) {
  const base::Ranks& ranks = job.workers.ranks;
  const std::vector<RowRange> bands = bands_of_round(job, sizes);
  for (const RowRange& band : bands) {
    std::vector<std::string> to;
    base::agree(ranks, [&] { to = pack_band(job, round, band); });
    if (&band == &bands.back()) round.clear();
    const std::vector<std::string> from = base::all_to_all(ranks, std::move(to));
    std::vector<StripReader> readers(from.begin(), from.end());
    for (std::size_t part = 0; part < sizes.parts; ++part)  // by ascending number: one of each rank in turn
      for (StripReader& reader : readers) reader.add_part(job, job.image, part);
  }
}

}  // namespace

Drawing drawing_within(const std::array<std::size_t, 2>& pixels, analysis::Projection kind,
                       const std::function<analysis::Footprint()>& footprint,
                       std::function<analysis::Tile(analysis::RowRange rows)> draw) {
  const std::size_t pixel = sizeof(double) * (kind == analysis::Projection::mean ? 2 : 1);
  Drawing drawing{{0, pixels[1]}, pixels[0] * pixels[1] * pixel, std::move(draw)};
  if (drawing.bytes > small_tile) {
    const analysis::Footprint seen = footprint();
    drawing.rows = {seen.first[1], seen.last[1]};
    drawing.bytes = (seen.last[0] - seen.first[0]) * (seen.last[1] - seen.first[1]) * pixel;
  }
  return drawing;
}

Drawing drawing_of_all(const std::array<std::size_t, 2>& pixels, analysis::Projection kind,
                       std::function<analysis::Tile(analysis::RowRange rows)> draw) {
  return drawing_within(
      pixels, kind,
      [&] {
        return analysis::Footprint{{0, 0}, pixels};
      },
      std::move(draw));
}

ImageRows sum_image(std::size_t parts, const Workers& workers, const analysis::Frame& frame,
                    const std::function<Drawing(std::size_t i)>& read) {
  const base::Ranks& ranks = workers.ranks;
  const auto rank = static_cast<std::size_t>(ranks.rank), size = static_cast<std::size_t>(ranks.size);
  Job job = make_job(frame, workers);
  const std::size_t own = (parts + size - 1 - rank) / size, most_own = (parts + size - 1) / size;
  std::size_t at_once = size == 1 ? parts : static_cast<std::size_t>(job.threads);
  for (std::size_t first = 0; first < most_own;) {
    std::vector<Contribution> round;
    base::agree(ranks, [&] {
      const std::size_t count = std::min(at_once, own - std::min(own, first));
      base::ordered_for(
          count, job.threads, [&](std::size_t i) { return contribution_of(job, read(first + i)); },
          [&](std::size_t i, Contribution part) {
            if (size == 1)
              add_here(job, part);
            else
              round.push_back(std::move(part));
            const std::size_t done = first + i + 1;
            if (workers.progress && !workers.progress(static_cast<std::int64_t>(done), static_cast<std::int64_t>(own)))
              throw base::Error(base::Kind::interrupted, "stopped on request");
          });
    });
    first += at_once;
    if (size == 1) break;
    const RoundSizes sizes = sizes_of(ranks, round);
    exchange(job, std::move(round), sizes);
    // More parts between two exchanges, as long as their tiles are small, so that ranks wait less for one another.
    const auto least = static_cast<std::size_t>(job.threads);
    if (sizes.large == 0 && 2 * sizes.tiles <= job.most_bytes)
      at_once *= 2;
    else if (sizes.large > 0 || sizes.tiles > job.most_bytes)
      at_once = std::max(least, at_once / 2);
  }
  return std::move(job.image);
}

}  // namespace octavo::verbs
