#pragma once
// For verbs/export alone.
#include <filesystem>
#include <functional>

#include "octavo/file/posix.hpp"
#include "octavo/formats/vtkhdf/cell_file.hpp"
#include "octavo/verbs/export/export_job.hpp"

namespace octavo::verbs::detail {

/// Makes a file of cells or particles beside its final name: rank 0 lays it out, `fill` writes to its places on every
/// rank. Then it gets its name. Collective.
void write_file(const std::filesystem::path& out, const ExportOptions& options, ExportJob& job,
                const std::function<formats::vtkhdf::CellFile(const std::filesystem::path&)>& lay_out,
                const std::function<void(const file::File&, const formats::vtkhdf::CellFile&)>& fill);

/// Writes values to a file from a place on, in the type float32 or float64.
void put_reals(const file::File& file, std::uint64_t place, std::uint64_t first, const std::vector<double>& values,
               bool single_precision);
/// Writes the numbers of points of cells with `corners` each, from cell `first` on, and where those of each cell end.
void put_connectivity(const file::File& file, const formats::vtkhdf::CellFile& places, std::uint64_t first,
                      std::uint64_t corners, const std::vector<std::int64_t>& points);

}  // namespace octavo::verbs::detail
