#include "octavo/formats/serafin/dataset.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "octavo/base/error.hpp"
#include "octavo/base/pack.hpp"
#include "octavo/formats/serafin/odd_bytes.hpp"
#include "octavo/formats/serafin/series.hpp"
#include "octavo/mesh/announced.hpp"
#include "octavo/mesh/pack.hpp"

namespace octavo::formats::serafin {

template <class Way>
void both(Way& way, SerafinHeader& header) {
  both(way, header.order, header.real_bytes, header.title, header.variables, header.quadratic, header.iparam);
  both(way, header.date, header.elements, header.points, header.nodes);
}

/// Without the file.
template <class Way>
void both(Way& way, SerafinSeries& series) {
  both(way, series.begin, series.bytes, series.header, series.offsets, series.steps, series.trailing_bytes);
}

namespace {

using base::Error;
using base::Kind;

constexpr const char* numbers_field = "IPOBO";

std::vector<mesh::FieldInfo> variables_of(const SerafinSeries& series) {
  std::vector<mesh::FieldInfo> fields;
  const auto type = series.header.real_bytes == 8 ? mesh::ScalarType::float64 : mesh::ScalarType::float32;
  for (std::size_t v = 0; v < series.header.variables.size(); ++v) {
    mesh::FieldInfo info;
    info.name = name_of(series.header.variables[v]);
    const auto same = [&](const mesh::FieldInfo& other) { return other.name == info.name; };
    if (std::any_of(fields.begin(), fields.end(), same)) info.name += "#" + std::to_string(v + 1);
    info.unit = unit_of(series.header.variables[v]);
    info.type = type;
    info.centring = mesh::Centring::node;
    fields.push_back(info);
  }
  return fields;
}

mesh::FieldInfo numbers_info() {
  mesh::FieldInfo numbers;
  numbers.name = numbers_field;
  numbers.type = mesh::ScalarType::int32;
  numbers.centring = mesh::Centring::node;
  return numbers;
}

void set_range(std::span<const double> values, double& lo, double& hi) {
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  if (least == values.end()) return;
  lo = *least;
  // A domain needs an extent, even if all points have one place.
  hi = *most > *least ? *most : *least + 1;
}

void set_box(const SerafinSeries& series, std::int64_t step, mesh::Header& header) {
  std::vector<double> values(static_cast<std::size_t>(plane_points(series.header)));
  for (int axis = 0; axis < 2; ++axis) {
    read_coordinates(series, axis, 0, values);
    set_range(values, header.lo[static_cast<std::size_t>(axis)], header.hi[static_cast<std::size_t>(axis)]);
  }
  if (header.dim == 2 || step < 0 || series.header.variables.empty()) return;
  // In 3-D the first variable is the elevation of the points.
  values.resize(static_cast<std::size_t>(series.header.points));
  read_values(series, step, 0, 0, values);
  set_range(values, header.lo[2], header.hi[2]);
}

void set_attributes(const SerafinSeries& series, std::int64_t step, std::map<std::string, mesh::Attribute>& to) {
  std::vector<std::string> names;
  for (const mesh::FieldInfo& info : variables_of(series)) names.push_back(info.name);
  keep_odd_bytes(series.header, names, to);
  const SerafinHeader& header = series.header;
  const std::string_view title(header.title.data(), header.title.size());
  to["triangles"] = static_cast<std::int64_t>(plane_elements(header));
  to["planes"] = static_cast<std::int64_t>(planes(header));
  to["title"] = text_of(title.substr(0, 72));
  to["tag"] = tag_of(title.substr(72));
  if (step >= 0) to["step"] = step;
  to["iparam"] = std::vector<std::int64_t>(header.iparam.begin(), header.iparam.end());
  if (header.date) to["date"] = std::vector<std::int64_t>(header.date->begin(), header.date->end());
  to["byte_order"] = std::string(header.order == std::endian::big ? "big" : "little");
  to["real_bytes"] = static_cast<std::int64_t>(header.real_bytes);
  if (header.quadratic != 0) to["quadratic"] = static_cast<std::int64_t>(header.quadratic);
}

mesh::Header header_of(const SerafinSeries& series, std::int64_t step) {
  mesh::Header header;
  header.code = "TELEMAC";
  header.dim = planes(series.header) > 1 ? 3 : 2;
  header.time = step >= 0 ? read_time(series, step) : 0;
  header.unit_length = 100;  // metres
  if (series.steps > 0)
    header.fields = variables_of(series);
  else
    mesh::announce(header, variables_of(series));
  header.fields.push_back(numbers_info());
  set_box(series, step, header);
  set_attributes(series, step, header.attributes);
  return header;
}

mesh::Field read_field(const SerafinSeries& series, std::int64_t step, std::size_t f, const mesh::FieldInfo& info) {
  const auto points = static_cast<std::size_t>(series.header.points);
  mesh::Field field = mesh::make_field(info, points);
  if (info.type == mesh::ScalarType::int32)
    read_numbers(series, 0, field.as<std::int32_t>());
  else
    read_raw_values(series, step, f, 0, field.bytes);
  return field;
}

mesh::Part read_part(const SerafinSeries& series, std::int64_t step, const mesh::Header& header,
                     const mesh::Request& request) {
  mesh::Part part;
  part.mesh = request.mesh ? read_mesh(series) : mesh::Unstructured{};
  for (const std::size_t f : mesh::select_fields(header, request.fields))
    part.fields.push_back(read_field(series, step, f, header.fields[f]));
  return part;
}

// The mesh counts with the first step.
std::int64_t bytes_of_step(const SerafinSeries& series, std::int64_t step) {
  return static_cast<std::int64_t>((step <= 0 ? series.offsets.steps : 0) +
                                   (step >= 0 ? series.offsets.step_bytes : 0));
}

/// One step of a file. Another process than the one that opened it opens the file when it reads from it.
struct SerafinStep {
  std::string path;
  SerafinSeries series;
  std::int64_t number = 0;
  mesh::Header header;
  std::mutex opening{};
};
template <class Way>
void both(Way& way, SerafinStep& step) {
  using base::both;
  both(way, step.path, step.series, step.number, step.header);
}

const SerafinSeries& opened(SerafinStep& step) {
  const std::lock_guard lock(step.opening);
  if (!step.series.file) step.series.file = std::make_shared<const file::File>(file::open_read(step.path));
  return step.series;
}

mesh::Dataset dataset_of(const std::shared_ptr<SerafinStep>& step) {
  const SerafinSeries& series = step->series;
  mesh::Dataset dataset = mesh::of_one_part("serafin", step->path, step->header, bytes_of_step(series, step->number),
                                            series.header.elements, series.header.points);
  if (step->number < 0) dataset.notes.push_back("the file has no whole step: the mesh alone is shown");
  if (series.trailing_bytes > 1)  // one newline at the end is common
    dataset.notes.push_back(std::to_string(series.trailing_bytes) +
                            " bytes after the last whole step: a step cut short, which is passed over");
  dataset.read = [step](int part, const mesh::Request& request) {
    if (part != 0) throw Error(Kind::usage, "part " + std::to_string(part) + " is not there: a SERAFIN file is one");
    return read_part(opened(*step), step->number, step->header, request);
  };
  dataset.describe = [step] {
    base::Put put;
    both(put, *step);
    return std::string(reinterpret_cast<const char*>(put.bytes.data()), put.bytes.size());
  };
  return dataset;
}

}  // namespace

bool recognise(const std::filesystem::path& path) { return looks_like_series(path); }

mesh::Dataset open(const std::filesystem::path& path, std::optional<std::int64_t> step) {
  return open(open_series(path), step);
}

mesh::Dataset open(const SerafinSeries& series, std::optional<std::int64_t> step) {
  if (step) read_time(series, *step);  // says which are there
  const auto opened = std::make_shared<SerafinStep>();
  opened->path = series.file->path().string();
  opened->series = series;
  opened->number = step.value_or(series.steps - 1);
  opened->header = header_of(series, opened->number);
  return dataset_of(opened);
}

mesh::Dataset understand(const std::string& description) {
  const auto step = std::make_shared<SerafinStep>();
  base::Get get{std::as_bytes(std::span(description))};
  both(get, *step);
  return dataset_of(step);
}

FileSteps list_steps(const std::filesystem::path& path) {
  const SerafinSeries series = open_series(path);
  return {read_times(series), bytes_of_step(series, series.steps - 1)};
}

std::span<const Word> common_names() {
  static constexpr std::array<Word, 43> names{{
      {"VELOCITY U", "velocity_x"},
      {"VITESSE U", "velocity_x"},
      {"VELOCITY V", "velocity_y"},
      {"VITESSE V", "velocity_y"},
      {"VELOCITY W", "velocity_z"},
      {"VITESSE W", "velocity_z"},
      {"WATER DEPTH", "water_depth"},
      {"HAUTEUR D'EAU", "water_depth"},
      {"FREE SURFACE", "free_surface"},
      {"SURFACE LIBRE", "free_surface"},
      {"BOTTOM", "bottom"},
      {"FOND", "bottom"},
      {"ELEVATION Z", "elevation"},
      {"COTE Z", "elevation"},
      {"CELERITY", "celerity"},
      {"CELERITE", "celerity"},
      {"FROUDE NUMBER", "froude_number"},
      {"FROUDE", "froude_number"},
      {"SCALAR FLOWRATE", "discharge"},
      {"DEBIT SCALAIRE", "discharge"},
      {"FLOWRATE ALONG X", "discharge_x"},
      {"DEBIT SUIVANT X", "discharge_x"},
      {"FLOWRATE ALONG Y", "discharge_y"},
      {"DEBIT SUIVANT Y", "discharge_y"},
      {"SCALAR VELOCITY", "scalar_velocity"},
      {"VITESSE SCALAIRE", "scalar_velocity"},
      {"BOTTOM FRICTION", "bottom_friction"},
      {"FROTTEMENT", "bottom_friction"},
      {"VISCOSITY", "viscosity"},
      {"VISCOSITE TURB.", "viscosity"},
      {"WIND ALONG X", "wind_x"},
      {"VENT X", "wind_x"},
      {"WIND ALONG Y", "wind_y"},
      {"VENT Y", "wind_y"},
      {"AIR PRESSURE", "air_pressure"},
      {"PRESSION ATMOS.", "air_pressure"},
      {"TRACER", "tracer"},
      {"TRACEUR", "tracer"},
      {"TEMPERATURE", "temperature"},
      {"SALINITY", "salinity"},
      {"SALINITE", "salinity"},
      {"TURBULENT ENERG.", "turbulent_energy"},
      {"ENERGIE TURBUL.", "turbulent_energy"},
  }};
  return names;
}

}  // namespace octavo::formats::serafin
