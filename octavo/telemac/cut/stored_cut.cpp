#include "octavo/telemac/cut/stored_cut.hpp"

#include <algorithm>
#include <limits>

#include "octavo/base/error.hpp"
#include "octavo/step/open.hpp"
#include "octavo/store/read/triangles.hpp"

namespace octavo::telemac {

using base::Error;
using base::Kind;

store::BoundaryArrays stored_boundary(const std::vector<serafin::BoundaryPoint>& lines) {
  store::BoundaryArrays arrays;
  for (const serafin::BoundaryPoint& line : lines) {
    arrays.point.push_back(line.point - 1);
    arrays.codes.insert(arrays.codes.end(), {line.depth, line.u, line.v, line.tracer});
    arrays.values.insert(arrays.values.end(), line.values.begin(), line.values.end());
    arrays.values.insert(arrays.values.end(), line.tracer_values.begin(), line.tracer_values.end());
    arrays.colour.push_back(line.colour);
  }
  return arrays;
}

std::vector<serafin::BoundaryPoint> boundary_lines(const store::BoundaryArrays& boundary) {
  std::vector<serafin::BoundaryPoint> lines(boundary.point.size());
  for (std::size_t k = 0; k < lines.size(); ++k) {
    serafin::BoundaryPoint& line = lines[k];
    const std::int32_t* codes = &boundary.codes[4 * k];
    const double* values = &boundary.values[7 * k];
    line.depth = codes[0], line.u = codes[1], line.v = codes[2], line.tracer = codes[3];
    std::copy_n(values, 4, line.values.begin());
    std::copy_n(values + 4, 3, line.tracer_values.begin());
    line.point = boundary.point[k] + 1;
    line.colour = boundary.colour[k];
  }
  return lines;
}

PartitionOptions with_stored_cut(const std::filesystem::path& path, PartitionOptions options) {
  const auto none = [&](const std::string& what) {
    return Error(Kind::usage, "without a number of parts the mesh is to be a store that was cut: " + what)
        .at(path.string())
        .hint("--parts P, or a store that octavo partition --layout octavo made");
  };
  if (!store::recognise(path)) throw none("it is no store");
  const std::vector<store::StepInfo> there = step::steps_of_flow(path, {});
  if (there.empty()) throw none("it has no complete step");
  const store::StepInfo& last = there.back();
  const mesh::Dataset dataset = step::open(path, {last.flow, last.step});
  const auto found = dataset.header.attributes.find(store::cut_attribute);
  const auto* parts = found == dataset.header.attributes.end() ? nullptr : std::get_if<std::int64_t>(&found->second);
  if (parts == nullptr || *parts < 1 || *parts > std::numeric_limits<std::int32_t>::max())
    throw none("its mesh has no cut");
  store::StoredMesh mesh = store::stored_mesh(path, last.flow, last.step);
  options.parts = static_cast<std::int32_t>(*parts);
  options.part_of = std::move(mesh.part_of);
  if (!options.boundary && !options.conditions && !mesh.boundary.point.empty())
    options.conditions = boundary_lines(mesh.boundary);
  return options;
}

}  // namespace octavo::telemac
