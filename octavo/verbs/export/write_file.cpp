#include "octavo/verbs/export/write_file.hpp"

#include <span>

#include "octavo/base/pack.hpp"
#include "octavo/base/rank_exchange.hpp"
#include "octavo/step/target.hpp"

namespace octavo::verbs::detail {

using formats::vtkhdf::CellFile;

void write_file(const std::filesystem::path& out, const ExportOptions& options, ExportJob& job,
                const std::function<CellFile(const std::filesystem::path&)>& lay_out,
                const std::function<void(const file::File&, const CellFile&)>& fill) {
  step::write_beside(
      options.ranks, [&] { return step::prepare_native_target(out, options.overwrite); },
      [&](const std::filesystem::path& path) {
        CellFile places;
        base::agree(options.ranks, [&] {
          if (options.ranks.rank == 0) places = lay_out(path);
        });
        const auto rest = base::from_first(options.ranks, std::vector<std::uint64_t>{places.points, places.connectivity,
                                                                                     places.offsets, places.types});
        places = {rest[0], rest[1], rest[2], rest[3], base::from_first(options.ranks, places.fields)};
        // Errors of one rank must be those of all before the next collective call; and the file has this name only
        // until rank 0 is done.
        file::File file;
        base::agree(options.ranks, [&] { file = file::open_write(path); });
        fill(file, places);
        if (options.ranks.rank == 0) job.report.bytes = static_cast<std::int64_t>(file::size(file));
      });
}

void put_reals(const file::File& file, std::uint64_t place, std::uint64_t first, const std::vector<double>& values,
               bool single_precision) {
  if (single_precision) {
    const std::vector<float> narrow(values.begin(), values.end());
    file::pwrite_all(file, place + first * sizeof(float), std::as_bytes(std::span(narrow)));
  } else {
    file::pwrite_all(file, place + first * sizeof(double), std::as_bytes(std::span(values)));
  }
}

void put_connectivity(const file::File& file, const CellFile& places, std::uint64_t first, std::uint64_t corners,
                      const std::vector<std::int64_t>& points) {
  file::pwrite_all(file, places.connectivity + first * corners * 8, std::as_bytes(std::span(points)));
  std::vector<std::int64_t> ends(points.size() / corners);  // the first offset of the file is 0, as its bytes are
  for (std::uint64_t i = 0; i < ends.size(); ++i) ends[i] = static_cast<std::int64_t>((first + i + 1) * corners);
  file::pwrite_all(file, places.offsets + (first + 1) * 8, std::as_bytes(std::span(ends)));
}

}  // namespace octavo::verbs::detail
