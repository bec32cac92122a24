#include "octavo/formats/ugrid/ugrid.hpp"

#include <algorithm>
#include <array>
#include <memory>

#include "octavo/base/error.hpp"
#include "octavo/file/hdf5/hdf5.hpp"
#include "octavo/formats/row/file_of_one_part.hpp"
#include "octavo/formats/row/range.hpp"
#include "octavo/formats/ugrid/topology.hpp"
#include "octavo/mesh/triangles/cells.hpp"
#include "octavo/mesh/units.hpp"

namespace octavo::formats::ugrid {
namespace {

using base::Error;
using base::Kind;

/// Counts and the box.
void set_mesh(const UgridContents& contents, mesh::Header& header) {
  set_range(read_all(contents.file, contents.x), 0, header);
  set_range(read_all(contents.file, contents.y), 1, header);
  if (contents.solid) {
    set_range(read_all(contents.file, contents.z), 2, header);
    header.attributes[mesh::solids_attribute] = contents.cells;
    return;
  }
  header.dim = 2;
  header.attributes["triangles"] = mesh::num_triangles(contents.cells);
  header.attributes["planes"] = std::int64_t{1};
  header.attributes[mesh::cells_attribute] = contents.cells;
}

mesh::Header header_of(const UgridContents& contents, std::uint64_t step) {
  mesh::Header header;
  header.code = "UGRID";
  header.unit_length = mesh::length_in_cm(contents.x.text("units"));
  header.attributes["mesh"] = contents.topology;
  set_mesh(contents, header);
  if (const auto title = contents.file.attributes.find("title"); title != contents.file.attributes.end())
    if (const auto* text = std::get_if<std::string>(&title->second)) header.attributes["title"] = *text;
  if (!contents.time_origin.empty()) header.attributes["time_origin"] = contents.time_origin;
  if (contents.degrees) header.attributes["degrees"] = std::int64_t{1};
  if (contents.steps > 0) {
    header.time = contents.times[step];
    header.attributes["step"] = static_cast<std::int64_t>(step);
  }
  for (const UgridField& field : contents.fields) header.fields.push_back(field.info);
  return header;
}

mesh::Dataset dataset_of(UgridContents found, std::uint64_t step) {
  const auto contents = std::make_shared<const UgridContents>(std::move(found));
  mesh::Header header = header_of(*contents, step);
  mesh::Dataset dataset =
      mesh::of_one_part("ugrid", contents->file.path.string(), std::move(header),
                        static_cast<std::int64_t>(std::filesystem::file_size(contents->file.path)),
                        contents->solid ? mesh::num_cells(contents->cells) : mesh::num_triangles(contents->cells),
                        static_cast<std::int64_t>(contents->points));
  dataset.notes = contents->notes;
  dataset.read = [contents, step, header = dataset.header](int, const mesh::Request& request) {
    mesh::Part part;
    part.mesh = read_mesh(*contents, request.mesh);
    for (const std::size_t f : mesh::select_fields(header, request.fields))
      part.fields.push_back(read_field(*contents, contents->fields[f], step));
    return part;
  };
  return dataset;
}

}  // namespace

bool recognise(const std::filesystem::path& path) {
  const bool classic = is_classic(path);
  if (!classic && !file::hdf5::has_signature(path)) return false;
  try {
    const Netcdf file = open_netcdf(path);
    return std::any_of(file.variables.begin(), file.variables.end(), is_topology);
  } catch (const Error&) {
    return classic;  // damaged: open() says how
  }
}

mesh::Dataset open(const std::filesystem::path& path, std::optional<std::int64_t> step) {
  UgridContents contents = read_contents(path);
  const std::int64_t number = chosen_step(path, step, static_cast<std::int64_t>(contents.steps));
  mesh::Dataset dataset = dataset_of(std::move(contents), static_cast<std::uint64_t>(number));
  describe_file(dataset, path, step);
  return dataset;
}

FileSteps list_steps(const std::filesystem::path& path) {
  const UgridContents contents = read_contents(path);
  const auto bytes = static_cast<std::int64_t>(std::filesystem::file_size(path));
  return {contents.steps > 0 || contents.fields.empty() ? contents.times : std::vector<double>{0}, bytes};
}

std::span<const Word> common_names() {
  static constexpr std::array<Word, 6> names{{
      {"mesh2d_ucx", "velocity_x"},
      {"mesh2d_ucy", "velocity_y"},
      {"mesh2d_waterdepth", "water_depth"},
      {"mesh2d_s1", "free_surface"},
      {"mesh2d_flowelem_bl", "bottom"},
      {"mesh2d_ucmag", "scalar_velocity"},
  }};
  return names;
}

}  // namespace octavo::formats::ugrid
