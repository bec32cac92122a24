#include "octavo/formats/vtkhdf/write.hpp"

#include <algorithm>
#include <array>

#include "octavo/formats/vtkhdf/names.hpp"
#include "octavo/mesh/triangles/cells.hpp"

namespace octavo::formats::vtkhdf {

/// As VTK has them.
struct VtkCells {
  std::vector<std::int64_t> points, offsets;  ///< one offset more than cells
  std::vector<std::uint8_t> types;
};

namespace {

namespace hdf5 = file::hdf5;
using Shape = std::array<std::uint64_t, 1>;

template <class T>
void write_list(const hdf5::File& file, const std::string& name, const hdf5::ItemType& type,
                const std::vector<T>& values) {
  hdf5::make(file, name, type, Shape{values.size()});
  hdf5::write_rows<T>(file, name, 0, values.size(), values);
}

const hdf5::ItemType& type_of(const mesh::FieldInfo& info) {
  switch (info.type) {
    case mesh::ScalarType::float32: return hdf5::float32_type;
    case mesh::ScalarType::int32: return hdf5::int32_type;
    case mesh::ScalarType::int64: return hdf5::int64_type;
    default: return hdf5::float64_type;
  }
}

bool fit_floats(const std::vector<double>& values) {
  return std::all_of(values.begin(), values.end(),
                     [](double v) { return static_cast<double>(static_cast<float>(v)) == v; });
}

/// Triangles, or the wedges on them: the lower face, counter-clockwise seen from above, then the upper one, as VTK's
/// parametric coordinates have them (its volumes are negative the other way round, whatever its page on cells says).
VtkCells cells_of(const mesh::Unstructured& mesh) {
  VtkCells cells;
  const std::size_t corners = mesh.planes > 1 ? 6 : 3;
  if (mesh.planes == 1) cells.points = mesh.connectivity;
  const auto points = static_cast<std::int64_t>(mesh.x.size());
  if (mesh.planes > 1) cells.points.reserve(mesh.connectivity.size() * 2 * static_cast<std::size_t>(mesh.planes - 1));
  for (std::int64_t layer = 0; layer + 1 < mesh.planes; ++layer)
    for (std::size_t t = 0; t < mesh.connectivity.size(); t += 3)
      for (const std::int64_t plane : {layer, layer + 1})
        for (std::size_t k = 0; k < 3; ++k) cells.points.push_back(mesh.connectivity[t + k] + plane * points);
  const std::size_t count = cells.points.size() / corners;
  cells.types.assign(count, mesh.planes > 1 ? wedge : triangle);
  for (std::size_t c = 0; c <= count; ++c) cells.offsets.push_back(static_cast<std::int64_t>(c * corners));
  return cells;
}

VtkCells polygons_of(const mesh::Unstructured& mesh) {
  VtkCells cells;
  const std::vector<std::int64_t> first = mesh::first_triangles(mesh.connectivity);
  cells.offsets.push_back(0);
  for (std::size_t c = 0; c + 1 < first.size(); ++c) {
    const std::vector<std::int64_t> corners = mesh::corners_of(mesh.connectivity, first[c], first[c + 1]);
    cells.points.insert(cells.points.end(), corners.begin(), corners.end());
    cells.offsets.push_back(std::ssize(cells.points));
    cells.types.push_back(corners.size() == 3 ? triangle : corners.size() == 4 ? quadrangle : polygon);
  }
  return cells;
}

/// Their corners stand as VTK has them.
VtkCells solids_of(const mesh::Solids& mesh) {
  VtkCells cells{mesh.connectivity, {0}, {}};
  for (const std::uint8_t corners : mesh.corners) {
    cells.offsets.push_back(cells.offsets.back() + corners);
    cells.types.push_back(corners == 4 ? tetrahedron : corners == 5 ? pyramid : corners == 6 ? wedge : hexahedron);
  }
  return cells;
}

}  // namespace

std::string set_name(std::string name, std::span<const std::string> taken) {
  std::replace(name.begin(), name.end(), '/', '_');
  if (name.empty() || name == "." || name == "IPOBO") name += '_';
  while (std::find(taken.begin(), taken.end(), name) != taken.end()) name += '_';
  return name;
}

VtkhdfWriter::VtkhdfWriter(const std::filesystem::path& path, const mesh::Unstructured& mesh,
                           std::span<const std::int32_t> numbers, SeriesInfo series)
    : file_(hdf5::create(path)),
      series_(std::move(series)),
      x_(mesh.x),
      y_(mesh.y),
      points_(mesh.x.size() * static_cast<std::size_t>(mesh.planes)),
      planes_(mesh.planes) {
  // In 3-D the points move up and down, so each step has its own.
  make_points(fit_floats(x_) && fit_floats(y_), planes_ > 1 ? std::max<std::uint64_t>(series_.times.size(), 1) : 1);
  if (planes_ == 1) put_heights(0, std::vector<double>(points_, 0));
  write_cells(series_.cells.empty() ? cells_of(mesh) : polygons_of(mesh));
  make_fields(numbers);
  if (!series_.times.empty()) make_steps(!numbers.empty());
  write_attributes();
}

VtkhdfWriter::VtkhdfWriter(const std::filesystem::path& path, const mesh::Solids& mesh, SeriesInfo series)
    : file_(hdf5::create(path)), series_(std::move(series)), points_(mesh.x.size()), solids_(true) {
  make_points(fit_floats(mesh.x) && fit_floats(mesh.y) && fit_floats(mesh.z), 1);
  put_points(0, mesh.x, mesh.y, mesh.z);
  write_cells(solids_of(mesh));
  make_fields({});
  if (!series_.times.empty()) make_steps(false);
  write_attributes();
}

void VtkhdfWriter::make_points(bool single, std::uint64_t copies) {
  hdf5::make_group(file_, root);
  hdf5::write_numbers(file_, root, "Version", std::array<std::int64_t, 2>{2, 0});
  hdf5::write_words(file_, root, "Type", "UnstructuredGrid");
  hdf5::make(file_, in_root("Points"), single ? hdf5::float32_type : hdf5::float64_type,
             std::array<std::uint64_t, 2>{copies * points_, 3});
}

bool VtkhdfWriter::in_cells(const mesh::FieldInfo& info) const {
  return (solids_ || !series_.cells.empty()) && info.centring == mesh::Centring::cell;
}

bool VtkhdfWriter::any_in_cells() const {
  return std::any_of(series_.fields.begin(), series_.fields.end(), [&](const auto& info) { return in_cells(info); });
}

std::string VtkhdfWriter::group_of(const mesh::FieldInfo& info) const {
  return in_cells(info) ? "CellData" : "PointData";
}

void VtkhdfWriter::make_fields(std::span<const std::int32_t> numbers) {
  hdf5::make_group(file_, in_root("PointData"));
  if (any_in_cells()) hdf5::make_group(file_, in_root("CellData"));
  if (!numbers.empty())
    write_list(file_, in_root("PointData/IPOBO"), hdf5::int32_type, std::vector(numbers.begin(), numbers.end()));
  for (const mesh::FieldInfo& info : series_.fields) {
    names_.push_back(set_name(info.name, names_));
    const std::string name = in_root(group_of(info) + "/" + names_.back());
    hdf5::make(file_, name, type_of(info), Shape{series_.times.size() * (in_cells(info) ? cells_ : points_)});
    hdf5::write_words(file_, name, own_name, info.name);
    hdf5::write_words(file_, name, own_unit, info.unit);
    hdf5::write_numbers(file_, name, own_place,
                        std::array<std::int64_t, 1>{static_cast<std::int64_t>(names_.size()) - 1});
  }
}

void VtkhdfWriter::write_cells(const VtkCells& cells) {
  cells_ = cells.types.size();
  const auto one = [&](const char* name, std::size_t value) {
    write_list<std::int64_t>(file_, in_root(name), hdf5::int64_type, {static_cast<std::int64_t>(value)});
  };
  one("NumberOfPoints", points_);
  one("NumberOfCells", cells_);
  one("NumberOfConnectivityIds", cells.points.size());
  write_list(file_, in_root("Connectivity"), hdf5::int64_type, cells.points);
  write_list(file_, in_root("Offsets"), hdf5::int64_type, cells.offsets);
  write_list(file_, in_root("Types"), hdf5::uint8_type, cells.types);
}

void VtkhdfWriter::make_steps(bool numbers) {
  const std::string steps = in_root("Steps");
  const auto count = static_cast<std::int64_t>(series_.times.size());
  hdf5::make_group(file_, steps);
  hdf5::make_group(file_, steps + "/PointDataOffsets");
  if (any_in_cells()) hdf5::make_group(file_, steps + "/CellDataOffsets");
  hdf5::write_numbers(file_, steps, "NSteps", std::array<std::int64_t, 1>{count});
  write_list(file_, steps + "/Values", hdf5::float64_type, series_.times);
  const std::vector<std::int64_t> zeros(series_.times.size(), 0), ones(series_.times.size(), 1);
  const auto starts_of = [&](std::uint64_t places) {
    std::vector<std::int64_t> starts(series_.times.size());
    for (std::size_t s = 0; s < starts.size(); ++s) starts[s] = static_cast<std::int64_t>(s * places);
    return starts;
  };
  write_list(file_, steps + "/NumberOfParts", hdf5::int64_type, ones);
  write_list(file_, steps + "/PartOffsets", hdf5::int64_type, zeros);
  write_list(file_, steps + "/PointOffsets", hdf5::int64_type, planes_ > 1 ? starts_of(points_) : zeros);
  // All steps have the same cells. One column a kind of cells; an unstructured grid has one.
  for (const char* name : {"/CellOffsets", "/ConnectivityIdOffsets"}) {
    hdf5::make(file_, steps + name, hdf5::int64_type, std::array<std::uint64_t, 2>{zeros.size(), 1});
    hdf5::write_rows<std::int64_t>(file_, steps + name, 0, zeros.size(), zeros);
  }
  for (std::size_t f = 0; f < names_.size(); ++f) {
    const mesh::FieldInfo& info = series_.fields[f];
    write_list(file_, steps + "/" + group_of(info) + "Offsets/" + names_[f], hdf5::int64_type,
               starts_of(in_cells(info) ? cells_ : points_));
  }
  if (numbers) write_list(file_, steps + "/PointDataOffsets/IPOBO", hdf5::int64_type, zeros);
}

void VtkhdfWriter::write_attributes() {
  hdf5::make_group(file_, own);
  hdf5::write_numbers(file_, own, "planes", std::array<std::int64_t, 1>{planes_});
  if (!series_.length_unit.empty()) hdf5::write_words(file_, own, own_length, series_.length_unit);
  const auto value = [&]<class T>(const char* name, T) -> const T* {
    const auto found = series_.attributes.find(name);
    return found == series_.attributes.end() ? nullptr : std::get_if<T>(&found->second);
  };
  for (const char* name : kept_texts)
    if (const auto* text = value(name, std::string())) hdf5::write_words(file_, own, name, *text);
  for (const char* name : kept_numbers)
    if (const auto* number = value(name, std::int64_t{})) hdf5::write_numbers(file_, own, name, std::span(number, 1));
  if (!series_.cells.empty()) hdf5::write_numbers(file_, own, mesh::cells_attribute, series_.cells);
  for (const char* name : kept_lists)
    if (const auto* list = value(name, std::vector<std::int64_t>())) hdf5::write_numbers(file_, own, name, *list);
}

void VtkhdfWriter::put_values(std::int64_t step, std::size_t field, std::span<const double> values) {
  put(step, field, values);
}

void VtkhdfWriter::put_values(std::int64_t step, std::size_t field, std::span<const std::int64_t> values) {
  put(step, field, values);
}

template <class T>
void VtkhdfWriter::put(std::int64_t step, std::size_t field, std::span<const T> values) {
  const mesh::FieldInfo& info = series_.fields.at(field);
  const std::uint64_t places = in_cells(info) ? cells_ : points_;
  hdf5::write_rows<T>(file_, in_root(group_of(info) + "/" + names_.at(field)),
                      static_cast<std::uint64_t>(step) * places, places, values);
}

void VtkhdfWriter::put_heights(std::int64_t step, std::span<const double> z) { put_points(step, x_, y_, z); }

void VtkhdfWriter::put_points(std::int64_t step, std::span<const double> x, std::span<const double> y,
                              std::span<const double> z) {
  std::vector<double> places;
  places.reserve(3 * points_);
  for (std::size_t i = 0; i < points_; ++i)  // x and y are the same in all planes
    for (const double value : {x[i % x.size()], y[i % y.size()], z[i]}) places.push_back(value);
  hdf5::write_rows<double>(file_, in_root("Points"), static_cast<std::uint64_t>(step) * points_, points_, places);
}

void VtkhdfWriter::close() { file_.close(); }

}  // namespace octavo::formats::vtkhdf
