#include <array>
#include <cstring>
#include <span>
#include <utility>

#include "octavo/formats/vtkhdf/field_type.hpp"
#include "octavo/mesh/tree/merge.hpp"
#include "octavo/verbs/export/write_file.hpp"

namespace octavo::verbs {
namespace {

using detail::ExportJob;
using formats::vtkhdf::CellFile;

/// Numbers the corners of cells of a part in the order in which they come: a corner that several cells share has one
/// number. A corner's key is its place in units of the deepest cells.
class Corners {
 public:
  Corners(const mesh::Header& header, int deepest) : header_(header), deepest_(deepest), slots_(1024) {}

  std::int64_t count() const { return count_; }

  /// The numbers of the cells' corners, x fastest. Appends the places of new corners: three coordinates each, 0 along
  /// axes that the data lack.
  void number(const analysis::Cells& cells, std::vector<std::int64_t>& numbers, std::vector<double>& places) {
    const mesh::Point3 size = mesh::cell_size(header_, cells.level);
    const auto dim = static_cast<std::size_t>(header_.dim);
    for (const mesh::Coordinate& at : cells.positions)
      for (std::uint32_t corner = 0; corner < 1U << dim; ++corner) {
        std::array<std::uint64_t, 3> place{0, 0, 0};
        for (std::size_t axis = 0; axis < dim; ++axis) place[axis] = std::uint64_t{at[axis]} + (corner >> axis & 1);
        const std::int64_t number = number_of(place, deepest_ - cells.level);
        numbers.push_back(number);
        if (number + 1 != count_ || !is_new_) continue;
        for (std::size_t axis = 0; axis < 3; ++axis)
          places.push_back(axis < dim ? header_.lo[axis] + static_cast<double>(place[axis]) * size[axis] : 0);
      }
  }

 private:
  struct Slot {
    std::array<std::uint64_t, 3> place{};
    std::int64_t number = -1;
  };

  std::int64_t number_of(std::array<std::uint64_t, 3> place, int finer) {
    for (std::uint64_t& along : place) along <<= finer;
    if (2 * static_cast<std::size_t>(count_) >= slots_.size()) grow();
    Slot& slot = slot_of(slots_, place);
    is_new_ = slot.number < 0;
    if (is_new_) slot = {place, count_++};
    return slot.number;
  }
  static Slot& slot_of(std::vector<Slot>& slots, const std::array<std::uint64_t, 3>& place) {
    std::uint64_t hash = 0;
    for (const std::uint64_t along : place) {
      hash = (hash ^ along) * 0x9E3779B97F4A7C15U;
      hash ^= hash >> 29;
    }
    std::size_t at = hash & (slots.size() - 1);
    while (slots[at].number >= 0 && slots[at].place != place) at = (at + 1) & (slots.size() - 1);
    return slots[at];
  }
  void grow() {
    std::vector<Slot> more(2 * slots_.size());
    for (const Slot& slot : slots_)
      if (slot.number >= 0) slot_of(more, slot.place) = slot;
    slots_ = std::move(more);
  }

  const mesh::Header& header_;
  int deepest_;
  std::vector<Slot> slots_;  ///< a power of two of them
  std::int64_t count_ = 0;
  bool is_new_ = false;  ///< the corner that number_of() was asked for last
};

int deepest_level(const mesh::Part& part) { return mesh::num_levels(mesh::octree_of(part)) - 1; }

/// The selected cells of a part, and the corners that they have.
detail::Counts count_cells(const mesh::Part& part, const ExportJob& job) {
  detail::Counts counts{};
  Corners corners(job.header, deepest_level(part));
  std::vector<std::int64_t> numbers;
  std::vector<double> places;
  analysis::for_each_selected(part, job.header, job.selection, [&](const analysis::Cells& cells) {
    numbers.clear();
    places.clear();
    corners.number(cells, numbers, places);
    counts[0] += std::ssize(cells.positions);
  });
  counts[1] = corners.count();
  return counts;
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

/// Writes the selected cells of a part from a cell and a point of the file on.
void write_part_cells(const mesh::Part& part, const ExportJob& job, bool single, const detail::Counts& begin,
                      const file::File& file, const CellFile& places) {
  std::vector<mesh::Field> changed(job.fields.size());
  std::vector<const mesh::Field*> fields;
  for (std::size_t f = 0; f < job.fields.size(); ++f) {
    const mesh::Field& field = analysis::cell_field(part, job.fields[f].name);
    const bool same = field.info.type == job.fields[f].type;
    if (!same) changed[f] = formats::vtkhdf::as_in_file(field, job.fields[f].type);
    fields.push_back(same ? &field : &changed[f]);
  }
  auto first = static_cast<std::uint64_t>(begin[0]);
  Corners corners(job.header, deepest_level(part));
  analysis::for_each_selected(part, job.header, job.selection, [&](const analysis::Cells& cells) {
    const std::uint64_t count = cells.values.size();
    const auto point = static_cast<std::uint64_t>(begin[1] + corners.count());
    std::vector<std::int64_t> numbers;
    std::vector<double> points;
    corners.number(cells, numbers, points);
    for (std::int64_t& number : numbers) number += begin[1];
    detail::put_reals(file, places.points, point * 3, points, single);
    detail::put_connectivity(file, places, first, std::uint64_t{1} << job.header.dim, numbers);
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
  const detail::PartRanges ranges = detail::number_parts(
      job, [&](std::size_t i) { return count_cells(job.mine.read(static_cast<int>(i), job.condition), job); });
  if (ranges.total[0] == 0) throw detail::nothing_selected(job, "cell is");
  job.report.cells = job.report.leaves = ranges.total[0];
  const auto cells = static_cast<std::uint64_t>(ranges.total[0]), points = static_cast<std::uint64_t>(ranges.total[1]);
  detail::write_file(
      out, options, job,
      [&](const std::filesystem::path& path) {
        return formats::vtkhdf::lay_out_cells(path, job.header, cells, points, job.fields, options.single_precision);
      },
      [&](const file::File& file, const CellFile& places) {
        detail::for_each_part(
            job,
            [&](std::size_t i) {
              const mesh::Part part = job.mine.read(static_cast<int>(i), job.values);
              write_part_cells(part, job, options.single_precision, ranges.first[i], file, places);
              return true;
            },
            [](std::size_t, bool) {});
      });
  return job.report;
}

}  // namespace octavo::verbs
