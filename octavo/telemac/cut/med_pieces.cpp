#include "octavo/telemac/cut/med_pieces.hpp"

#include <algorithm>
#include <map>

#include "octavo/base/at.hpp"
#include "octavo/base/error.hpp"
#include "octavo/formats/med/med.hpp"
#include "octavo/formats/med/parameters.hpp"
#include "octavo/formats/med/row.hpp"
#include "octavo/formats/row/series.hpp"
#include "octavo/formats/serafin/dataset.hpp"
#include "octavo/formats/serafin/odd_bytes.hpp"
#include "octavo/step/boundary_groups.hpp"

namespace octavo::telemac {
namespace {

namespace fs = std::filesystem;
namespace med = formats::med;
using base::at;
using base::Error;
using base::Kind;

/// Values of a part's points, plane after plane.
template <class Points>
std::vector<double> gather(const std::vector<double>& all, const Points& points, std::size_t plane_points) {
  std::vector<double> out;
  for (std::size_t plane = 0; plane < all.size(); plane += plane_points)
    for (const std::int32_t point : points) out.push_back(all[plane + at(point)]);
  return out;
}

/// Heights at the first step; of a file without steps the number of the plane.
std::vector<double> heights_of(const serafin::SerafinSeries& series) {
  if (serafin::planes(series.header) == 1) return {};
  std::vector<double> z(at(series.header.points));
  if (series.steps > 0 && !series.header.variables.empty())
    serafin::read_values(series, 0, 0, 0, z);
  else
    for (std::size_t i = 0; i < z.size(); ++i) z[i] = static_cast<double>(i / at(serafin::plane_points(series.header)));
  return z;
}

/// Boundary points as TELEMAC looks for them in a piece: cells, in groups by their codes.
void add_boundary(med::MedWriter& writer, const std::string& mesh, const Piece& piece) {
  formats::MeshGroups groups;
  std::map<std::string, std::int32_t> number_of;
  std::vector<std::int32_t> points, families;
  for (const PieceBoundaryPoint& point : piece.boundary) {
    const std::string name = step::group_of(point.condition);
    const auto number = static_cast<std::int32_t>(number_of.size()) + 1;
    if (number_of.emplace(name, number).second) groups.families.push_back({number, "FAM_" + name, {name}});
    points.push_back(point.condition.point - 1);
    families.push_back(number_of[name]);
  }
  writer.add_groups(mesh, groups);
  writer.add_point_cells(mesh, points, families);
}

}  // namespace

MedPieces::MedPieces(const fs::path& path, const serafin::SerafinSeries& series)
    : series_(series),
      path_(path),
      file_(path, true, formats::med::row.name),
      header_(serafin::open(series.file->path()).header),
      writer_(file_.partial(), {formats::serafin::title_record(header_, ""), false}),
      z_(heights_of(series)) {
  formats::med::write_parameters(writer_, header_, serafin::planes(series.header));
  std::vector<std::string> names;
  for (std::size_t v = 0; v < series.header.variables.size(); ++v) names.push_back(formats::unique_name(header_, v));
  writer_.add_order(names);
}

void MedPieces::add(const Piece& piece) {
  const std::string number = std::to_string(piece.part + 1), name = "MESH" + number;
  const std::int32_t plane_points = serafin::plane_points(series_.header);
  mesh::Unstructured mesh{piece.x, piece.y, {}, serafin::planes(series_.header), {}};
  for (const std::int32_t point : piece.connectivity) mesh.connectivity.push_back(point - 1);
  std::vector<std::int32_t> numbers;
  for (std::int32_t plane = 0; plane < mesh.planes; ++plane)
    for (const std::int32_t point : piece.points) numbers.push_back(plane * plane_points + point + 1);
  writer_.add_mesh(name, mesh, gather(z_, piece.points, at(plane_points)), numbers);
  writer_.add_parameter("NPTIR" + number, "Number of interface points", static_cast<std::int32_t>(piece.shared.size()));
  if (mesh.planes == 1 && !piece.boundary.empty()) add_boundary(writer_, name, piece);
  std::vector<std::string> fields;
  for (const serafin::Variable& variable : series_.header.variables)
    fields.push_back(writer_.add_field(name, formats::unique_name(header_, fields.size()), serafin::unit_of(variable)));
  fields_.push_back(std::move(fields));
}

fs::path MedPieces::finish(const ItemLists& points, const base::Progress& progress) {
  std::vector<double> values(at(series_.header.points));
  const std::size_t variables = series_.header.variables.size();
  for (std::int64_t step = 0; step < series_.steps; ++step)
    for (std::size_t v = 0; v < variables; ++v) {
      const auto per_variable = static_cast<std::int64_t>(series_.offsets.step_bytes / variables);
      if (progress &&
          !progress((step * static_cast<std::int64_t>(variables) + static_cast<std::int64_t>(v)) * per_variable,
                    series_.steps * static_cast<std::int64_t>(variables) * per_variable))
        throw Error(Kind::interrupted, "stopped while steps were cut");
      serafin::read_values(series_, step, v, 0, values);
      for (std::size_t part = 0; part < fields_.size(); ++part)
        writer_.put_values(
            fields_[part][v], static_cast<std::int32_t>(step), serafin::read_time(series_, step),
            gather(values, points.of(static_cast<std::int32_t>(part)), at(serafin::plane_points(series_.header))));
    }
  writer_.close();
  file_.finish();
  return path_;
}

}  // namespace octavo::telemac
