#include "octavo/formats/vtkhdf/overlapping_amr.hpp"

#include <string>

#include "octavo/formats/vtkhdf/grid_file.hpp"
#include "octavo/mesh/boxes.hpp"

namespace octavo::formats::vtkhdf {

AmrFile lay_out_boxes(const std::filesystem::path& path, const mesh::Header& header,
                      const std::vector<AmrLevel>& levels, const std::vector<mesh::FieldInfo>& fields) {
  GridFile file(path, "OverlappingAMR", {2, 2});
  file.attribute("", "Origin", header.lo);
  std::vector<std::vector<std::string>> names;
  for (std::size_t level = 0; level < levels.size(); ++level) {
    const std::string group = "Level" + std::to_string(level);
    file.group(group);
    file.attribute(group, "Spacing", levels[level].cell);
    std::vector<std::int64_t> boxes;  // VTK's boxes end with their last cells
    std::uint64_t cells = 0;
    for (const mesh::IndexBox& box : levels[level].boxes) {
      for (std::size_t axis = 0; axis < 3; ++axis) boxes.insert(boxes.end(), {box.lo[axis], box.hi[axis] - 1});
      cells += static_cast<std::uint64_t>(mesh::num_cells(box, 3));
    }
    file.list(group + "/AMRBox", boxes, 6);
    file.group(group + "/CellData");
    names.emplace_back();
    for (const mesh::FieldInfo& field : fields) names.back().push_back(file.later(group + "/CellData", field, cells));
  }
  const auto places = file.close();
  AmrFile out;
  for (const auto& level : names) out.fields.push_back(places_of(places, level));
  return out;
}

}  // namespace octavo::formats::vtkhdf
