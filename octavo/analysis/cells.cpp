#include "octavo/analysis/cells.hpp"

#include <array>
#include <cstring>

namespace octavo::analysis {
namespace {

void add_geometry(CellArrays& arrays, const mesh::Header& header, const Cells& cells) {
  const mesh::Point3 size = mesh::cell_size(header, cells.level);
  const std::array<std::vector<double>*, 3> centres{&arrays.x, &arrays.y, &arrays.z};
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(header.dim); ++axis)
    for (const mesh::Coordinate& at : cells.positions)
      centres[axis]->push_back(header.lo[axis] + (static_cast<double>(at[axis]) + 0.5) * size[axis]);
  arrays.dx.insert(arrays.dx.end(), cells.positions.size(), size[0]);
  arrays.level.insert(arrays.level.end(), cells.positions.size(), mesh::code_level(header, cells.level));
}

void add_values(mesh::Field& to, const mesh::Field& from, const Cells& cells) {
  const std::size_t width = mesh::size_of(from.info.type);
  std::size_t at = to.bytes.size();
  to.bytes.resize(at + width * cells.values.size());
  for (const std::size_t value : cells.values) {
    std::memcpy(to.bytes.data() + at, from.bytes.data() + value * width, width);
    at += width;
  }
}

}  // namespace

CellArrays cell_arrays(const mesh::Part& part, const mesh::Header& header, const Selection& selection,
                       const std::vector<std::string>& fields) {
  CellArrays arrays;
  std::vector<const mesh::Field*> sources;
  for (const std::string& name : fields) {
    sources.push_back(&cell_field(part, name));
    arrays.fields.push_back({sources.back()->info, {}});
  }
  for_each_selected(part, header, selection, [&](const Cells& cells) {
    add_geometry(arrays, header, cells);
    for (std::size_t f = 0; f < sources.size(); ++f) add_values(arrays.fields[f], *sources[f], cells);
  });
  return arrays;
}

}  // namespace octavo::analysis
