#include <cstring>
#include <span>

#include "octavo/formats/vtkhdf/field_type.hpp"
#include "octavo/mesh/tree/merge.hpp"
#include "octavo/verbs/export/write_file.hpp"

namespace octavo::verbs {
namespace {

using detail::ExportJob;
using formats::vtkhdf::CellFile;

/// The corners of cells, x fastest: three coordinates each, 0 along axes that the data lack.
std::vector<double> corners_of(const analysis::Cells& cells, const mesh::Header& header) {
  const mesh::Point3 size = mesh::cell_size(header, cells.level);
  std::vector<double> places;
  places.reserve(cells.positions.size() * 24);
  for (const mesh::Coordinate& at : cells.positions)
    for (std::uint32_t corner = 0; corner < 1U << header.dim; ++corner)
      for (std::size_t axis = 0; axis < 3; ++axis)
        places.push_back(axis < static_cast<std::size_t>(header.dim)
                             ? header.lo[axis] + (at[axis] + (corner >> axis & 1)) * size[axis]
                             : 0);
  return places;
}

std::vector<std::byte> values_of_cells(const mesh::Field& field, const analysis::Cells& cells) {
  const std::size_t width = mesh::size_of(field.info.type);
  std::vector<std::byte> out(cells.values.size() * width);
  std::byte* to = out.data();
  for (const std::size_t value : cells.values) {
    std::memcpy(to, field.bytes.data() + value * width, width);
    to += width;
  }
  return out;
}

/// Writes the selected cells of a part from cell `first` of the file on.
void write_part_cells(const mesh::Part& part, const ExportJob& job, bool single, std::uint64_t first,
                      const file::File& file, const CellFile& places) {
  std::vector<mesh::Field> changed(job.fields.size());
  std::vector<const mesh::Field*> fields;
  for (std::size_t f = 0; f < job.fields.size(); ++f) {
    const mesh::Field& field = analysis::cell_field(part, job.fields[f].name);
    const bool same = field.info.type == job.fields[f].type;
    if (!same) changed[f] = formats::vtkhdf::as_in_file(field, job.fields[f].type);
    fields.push_back(same ? &field : &changed[f]);
  }
  const std::uint64_t corners = std::uint64_t{1} << job.header.dim;
  analysis::for_each_selected(part, job.header, job.selection, [&](const analysis::Cells& cells) {
    const std::uint64_t count = cells.values.size();
    detail::put_reals(file, places.points, first * corners * 3, corners_of(cells, job.header), single);
    detail::put_connectivity(file, places, first, count, corners);
    const std::vector<std::uint8_t> types(count, formats::vtkhdf::axis_aligned_cell(job.header.dim));
    file::pwrite_all(file, places.types + first, std::as_bytes(std::span(types)));
    for (std::size_t f = 0; f < fields.size(); ++f)
      file::pwrite_all(file, places.fields[f] + first * mesh::size_of(job.fields[f].type),
                       values_of_cells(*fields[f], cells));
    first += count;
  });
}

}  // namespace

ExportReport export_cells(const step::SharedStep& step, const std::filesystem::path& out,
                          const ExportOptions& options) {
  ExportJob job = detail::begin_export(step, options);
  const detail::PartRanges ranges = detail::number_parts(job, [&](std::size_t i) {
    const mesh::Part part = job.mine.read(static_cast<int>(i), job.condition);
    return static_cast<std::int64_t>(detail::selected_values(part, job).count());
  });
  if (ranges.total == 0) throw detail::nothing_selected(job, "cell is");
  job.report.cells = job.report.leaves = ranges.total;
  const auto cells = static_cast<std::uint64_t>(ranges.total);
  detail::write_file(
      out, options, job,
      [&](const std::filesystem::path& path) {
        return formats::vtkhdf::lay_out_cells(path, job.header, cells, job.fields, options.single_precision);
      },
      [&](const file::File& file, const CellFile& places) {
        detail::for_each_part(
            job,
            [&](std::size_t i) {
              const mesh::Part part = job.mine.read(static_cast<int>(i), job.values);
              write_part_cells(part, job, options.single_precision, static_cast<std::uint64_t>(ranges.first[i]), file,
                               places);
              return true;
            },
            [](std::size_t, bool) {});
      });
  return job.report;
}

}  // namespace octavo::verbs
