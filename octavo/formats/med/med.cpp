#include "octavo/formats/med/med.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>

#include "octavo/base/error.hpp"
#include "octavo/file/hdf5/hdf5.hpp"
#include "octavo/file/posix.hpp"
#include "octavo/formats/row/file_of_one_part.hpp"
#include "octavo/formats/row/range.hpp"
#include "octavo/mesh/announced.hpp"
#include "octavo/mesh/solids/orientation.hpp"
#include "octavo/mesh/triangles/cells.hpp"
#include "octavo/mesh/units.hpp"
#ifdef OCTAVO_HAVE_MED
#include "octavo/formats/med/contents.hpp"
#endif

namespace octavo::formats::med {

using base::Error;
using base::Kind;

MeshPath place_of(const std::filesystem::path& path) {
  std::error_code ignored;
  const std::string text = path.string();
  const std::size_t at = text.rfind('#');
  if (at == std::string::npos || std::filesystem::exists(path, ignored)) return {path, {}};
  return {text.substr(0, at), text.substr(at + 1)};
}

bool recognise(const std::filesystem::path& given) {
  const std::filesystem::path path = place_of(given).file;
  if (!file::hdf5::has_signature(path)) return false;
  try {
    // The names of the root group stand near the beginning.
    const file::File file = file::open_read(path);
    std::string begin(std::size_t{1} << 16, '\0');
    begin.resize(file::pread_some(file, 0, std::as_writable_bytes(std::span(begin))));
    return begin.find("INFOS_GENERALES") != std::string::npos;
  } catch (const Error&) {
    return false;
  }
}

#ifndef OCTAVO_HAVE_MED

namespace {
Error not_built(const std::filesystem::path& path) {
  return Error(Kind::unsupported, "this build has no MED").at(path.string()).hint("build it where libmedc-dev is");
}
}  // namespace
bool available() noexcept { return false; }
mesh::Dataset open(const std::filesystem::path& path, std::optional<std::int64_t>) { throw not_built(path); }
FileSteps list_steps(const std::filesystem::path& path) { throw not_built(path); }
std::vector<std::string> mesh_names(const std::filesystem::path& path) { throw not_built(path); }

#else

namespace {

// ------------------------------------------------------------------ values

/// All x, then all y (and z): as TELEMAC has it.
std::vector<double> coordinates(const MedFile& file, const MedContents& contents) {
  const auto axes = static_cast<std::size_t>(contents.mesh.axes);
  std::vector<double> all(axes * static_cast<std::size_t>(contents.mesh.points));
  file.require(library().MEDmeshNodeCoordinateRd(file.id(), contents.mesh.name.data(), MED_NO_DT, MED_NO_IT,
                                                 MED_NO_INTERLACE, all.data()) >= 0,
               "the coordinates");
  return all;
}

std::vector<med_int> read_numbers(const MedFile& file, const MedContents& contents) {
  std::vector<med_int> numbers(static_cast<std::size_t>(contents.mesh.points));
  file.require(library().MEDmeshGlobalNumberRd(file.id(), contents.mesh.name.data(), MED_NO_DT, MED_NO_IT, MED_NODE,
                                               MED_NONE, numbers.data()) >= 0,
               "the points' global numbers");
  return numbers;
}

/// The points of all elements of a shape, from 0.
std::vector<std::int64_t> read_elements(const MedFile& file, const MedContents& contents, med_geometry_type shape,
                                        std::size_t size) {
  std::vector<med_int> cells(size);
  if (!cells.empty())
    file.require(
        library().MEDmeshElementConnectivityRd(file.id(), contents.mesh.name.data(), MED_NO_DT, MED_NO_IT, MED_CELL,
                                               shape, MED_NODAL, MED_FULL_INTERLACE, cells.data()) >= 0,
        "the connectivity");
  std::vector<std::int64_t> out(cells.begin(), cells.end());
  for (std::int64_t& point : out) --point;
  return out;
}

/// Triangles, then quadrangles, as cells that can be told apart.
void add_cells(const MedFile& file, const MedContents& contents, mesh::Unstructured& mesh) {
  const std::vector<std::int64_t> triangles = std::exchange(mesh.connectivity, {});
  const auto count = static_cast<std::size_t>(std::max<std::int64_t>(0, contents.mesh.quadrangles));
  const std::vector<std::int64_t> quadrangles = read_elements(file, contents, MED_QUAD4, 4 * count);
  std::int64_t cell = 0;
  for (std::size_t i = 0; i < triangles.size(); i += 3)
    mesh::add_cell(std::span(triangles).subspan(i, 3), cell++, mesh);
  for (std::size_t i = 0; i < quadrangles.size(); i += 4)
    mesh::add_cell(std::span(quadrangles).subspan(i, 4), cell++, mesh);
}

mesh::Solids read_solids(const MedFile& file, const MedContents& contents) {
  mesh::Solids mesh;
  const auto points = static_cast<std::ptrdiff_t>(contents.mesh.points);
  const std::vector<double> places = coordinates(file, contents);
  mesh.x.assign(places.begin(), places.begin() + points);
  mesh.y.assign(places.begin() + points, places.begin() + 2 * points);
  mesh.z.assign(places.begin() + 2 * points, places.begin() + 3 * points);
  for (const CellsOfShape& some : contents.mesh.solids) {
    const auto corners = static_cast<std::size_t>(some.corners), count = static_cast<std::size_t>(some.count);
    const std::vector<std::int64_t> all = read_elements(file, contents, some.shape, corners * count);
    mesh.corners.insert(mesh.corners.end(), count, static_cast<std::uint8_t>(corners));
    for (std::size_t first = 0; first < all.size(); first += corners)
      for (const std::uint8_t k : mesh::turned_round(some.corners)) mesh.connectivity.push_back(all[first + k]);
  }
  mesh::validate(mesh);
  mesh::turn_negative_cells(mesh);
  return mesh;
}

mesh::Unstructured read_surface(const MedFile& file, const MedContents& contents) {
  mesh::Unstructured mesh;
  mesh.planes = contents.mesh.planes;
  const auto all = static_cast<std::size_t>(contents.mesh.points);
  const std::size_t points = all / static_cast<std::size_t>(mesh.planes);
  const std::vector<double> places = coordinates(file, contents);
  mesh.x.assign(places.begin(), places.begin() + static_cast<std::ptrdiff_t>(points));
  mesh.y.assign(places.begin() + static_cast<std::ptrdiff_t>(all),
                places.begin() + static_cast<std::ptrdiff_t>(all + points));
  const std::size_t nodes = mesh.planes > 1 ? 6 : 3;
  const std::vector<std::int64_t> cells =
      read_elements(file, contents, contents.mesh.shape, nodes * static_cast<std::size_t>(contents.mesh.elements));
  const std::size_t triangles = cells.size() / nodes / static_cast<std::size_t>(std::max(1, mesh.planes - 1));
  mesh.connectivity.reserve(3 * triangles);
  for (std::size_t t = 0; t < triangles; ++t)
    for (std::size_t k = 0; k < 3; ++k) mesh.connectivity.push_back(cells[t * nodes + k]);
  if (contents.has_cells()) add_cells(file, contents, mesh);
  if (contents.is_piece) {
    const std::vector<med_int> numbers = read_numbers(file, contents);
    for (std::size_t i = 0; i < points; ++i) mesh.global_point.push_back(numbers[i] - 1);
  }
  mesh::validate(mesh);
  return mesh;
}

mesh::Mesh read_mesh(const MedFile& file, const MedContents& contents, bool wanted) {
  if (contents.mesh.solids.empty()) return wanted ? read_surface(file, contents) : mesh::Unstructured{};
  return wanted ? read_solids(file, contents) : mesh::Solids{};
}

/// The values of all cells, shape by shape.
mesh::Field read_cells(const MedFile& file, const MedContents& contents, const MedField& entry, const StepEntry& step) {
  mesh::Field field =
      mesh::make_field(entry.info, static_cast<std::size_t>(contents.mesh.elements + contents.mesh.quadrangles));
  const std::size_t size = mesh::size_of(entry.info.type), components = static_cast<std::size_t>(entry.components);
  auto to = field.bytes.begin();
  for (const auto& [shape, corners, count] : contents.cells()) {
    if (count <= 0) continue;
    const med_int values =
        library().MEDfieldnValue(file.id(), entry.name.data(), step.number, step.iteration, MED_CELL, shape);
    if (values != count)
      throw Error(Kind::corrupt,
                  "expected a value for each of " + std::to_string(count) + " cells, found " + std::to_string(values))
          .at(contents.path.string() + ", field " + entry.info.name + ", step " + std::to_string(step.number));
    const std::size_t one = static_cast<std::size_t>(count) * size;
    std::vector<std::byte> all(one * components);
    file.require(library().MEDfieldValueRd(file.id(), entry.name.data(), step.number, step.iteration, MED_CELL, shape,
                                           MED_NO_INTERLACE, MED_ALL_CONSTITUENT,
                                           reinterpret_cast<unsigned char*>(all.data())) >= 0,
                 "field " + entry.info.name);
    const auto from = all.begin() + static_cast<std::ptrdiff_t>(one * static_cast<std::size_t>(entry.component - 1));
    to = std::copy_n(from, one, to);
  }
  return field;
}

mesh::Field read_field(const MedFile& file, const MedContents& contents, const MedField& entry, const StepEntry& step) {
  if (entry.info.centring == mesh::Centring::cell) return read_cells(file, contents, entry, step);
  mesh::Field field = mesh::make_field(entry.info, static_cast<std::size_t>(contents.mesh.points));
  const med_int values =
      library().MEDfieldnValue(file.id(), entry.name.data(), step.number, step.iteration, MED_NODE, MED_NONE);
  if (values != contents.mesh.points)
    throw Error(Kind::corrupt, "expected a value for each of " + std::to_string(contents.mesh.points) +
                                   " points, found " + std::to_string(values))
        .at(contents.path.string() + ", field " + entry.info.name + ", step " + std::to_string(step.number));
  std::vector<std::byte> all(field.bytes.size() * static_cast<std::size_t>(entry.components));
  file.require(library().MEDfieldValueRd(file.id(), entry.name.data(), step.number, step.iteration, MED_NODE, MED_NONE,
                                         MED_NO_INTERLACE, MED_ALL_CONSTITUENT,
                                         reinterpret_cast<unsigned char*>(all.data())) >= 0,
               "field " + entry.info.name);
  const auto one = static_cast<std::ptrdiff_t>(field.bytes.size());
  std::copy_n(all.begin() + one * (entry.component - 1), one, field.bytes.begin());
  return field;
}

mesh::Field numbers_field(const MedFile& file, const MedContents& contents, const mesh::FieldInfo& info) {
  const std::vector<med_int> numbers = read_numbers(file, contents);
  mesh::Field field = mesh::make_field(info, numbers.size());
  std::copy(numbers.begin(), numbers.end(), field.as<std::int32_t>().begin());
  return field;
}

/// The fields that have values at a step.
std::vector<std::size_t> fields_at(const MedContents& contents, std::size_t step) {
  std::vector<std::size_t> out;
  if (contents.steps.empty()) return out;
  const std::pair key(contents.steps[step].number, contents.steps[step].iteration);
  for (std::size_t f = 0; f < contents.fields.size(); ++f) {
    const auto& steps = contents.fields[f].steps;
    if (std::find(steps.begin(), steps.end(), key) != steps.end()) out.push_back(f);
  }
  return out;
}

mesh::Part read_part(const MedContents& contents, std::size_t step, const mesh::Header& header,
                     const mesh::Request& request) {
  const std::lock_guard held(lock());
  const MedFile file(contents.path);
  mesh::Part part;
  part.mesh = read_mesh(file, contents, request.mesh);
  const std::vector<std::size_t> there = fields_at(contents, step);
  for (const std::size_t f : mesh::select_fields(header, request.fields))
    part.fields.push_back(f < there.size() ? read_field(file, contents, contents.fields[there[f]], contents.steps[step])
                                           : numbers_field(file, contents, header.fields[f]));
  return part;
}

// ------------------------------------------------------------------ the dataset

/// As in SERAFIN, the heights of planes are the first variable, because they change.
void set_box(MedContents& contents, std::size_t step, mesh::Header& header) {
  const std::lock_guard held(lock());
  const MedFile file(contents.path);
  const std::vector<double> places = coordinates(file, contents);
  const auto points = static_cast<std::size_t>(contents.mesh.points);
  const bool solid = !contents.mesh.solids.empty();
  for (std::size_t axis = 0; axis < (solid ? 3U : 2U); ++axis)
    set_range(std::span(places).subspan(axis * points, points), axis, header);
  if (solid) return;
  const bool flat = std::all_of(places.begin() + static_cast<std::ptrdiff_t>(2 * points), places.end(),
                                [](double z) { return z == 0; });
  if (header.dim == 2 && !flat) contents.notes.push_back("the points' heights (z) are left out");
  if (header.dim == 2 || contents.steps.empty()) return;
  const mesh::Field elevation = read_field(file, contents, contents.fields[0], contents.steps[step]);
  const auto heights =
      mesh::visit_values(elevation, [](auto all) { return std::vector<double>(all.begin(), all.end()); });
  set_range(heights, 2, header);
}

/// In files of TELEMAC the comment is SERAFIN's record of 80 characters.
void set_title(const MedContents& contents, mesh::Header& header) {
  const bool by_comment = !contents.comment.empty();
  header.attributes["title"] = by_comment ? contents.title() : contents.mesh.title;
  if (by_comment && !contents.tag().empty()) header.attributes["tag"] = contents.tag();
}

void set_cells(const MedContents& contents, mesh::Header& header) {
  const MeshEntry& mesh = contents.mesh;
  if (!mesh.solids.empty()) {
    std::vector<std::int64_t> counts(solid_shapes.size(), 0);
    for (const CellsOfShape& some : mesh.solids)
      for (std::size_t shape = 0; shape < counts.size(); ++shape)
        if (solid_shapes[shape].first == some.shape) counts[shape] = some.count;
    header.attributes[mesh::solids_attribute] = counts;
    return;
  }
  const std::int64_t layers = std::max(1, mesh.planes - 1);
  header.attributes["triangles"] = mesh.elements / layers + 2 * mesh.quadrangles;
  if (contents.has_cells()) {
    std::vector<std::int64_t> cells{mesh.elements};
    if (mesh.quadrangles > 0) cells.push_back(mesh.quadrangles);
    header.attributes[mesh::cells_attribute] = cells;
  }
  header.attributes["planes"] = std::int64_t{mesh.planes};
}

mesh::Header header_of(MedContents& contents, std::size_t step) {
  mesh::Header header;
  header.code = "MED";
  const bool solid = !contents.mesh.solids.empty();
  header.dim = solid || contents.mesh.planes > 1 ? 3 : 2;
  header.unit_length = mesh::length_in_cm(contents.mesh.unit);
  header.attributes = contents.parameters;
  header.attributes["mesh"] = text_of(contents.mesh.name);
  set_title(contents, header);
  header.attributes["meshes"] = static_cast<std::int64_t>(contents.meshes.size());
  set_cells(contents, header);
  if (!contents.steps.empty()) {
    header.time = contents.steps[step].time;
    header.attributes["step"] = static_cast<std::int64_t>(step);
    for (const std::size_t f : fields_at(contents, step)) header.fields.push_back(contents.fields[f].info);
  } else {
    std::vector<mesh::FieldInfo> waiting;
    for (const MedField& field : contents.fields) waiting.push_back(field.info);
    mesh::announce(header, waiting);
  }
  if (contents.has_numbers) {
    mesh::FieldInfo numbers;
    numbers.name = contents.is_piece ? "GLB" : "IPOBO";
    numbers.type = mesh::ScalarType::int32;
    numbers.centring = mesh::Centring::node;
    header.fields.push_back(numbers);
  }
  set_box(contents, step, header);
  return header;
}

mesh::Dataset dataset_of(MedContents found, std::size_t step) {
  mesh::Header header = header_of(found, step);
  const auto contents = std::make_shared<const MedContents>(std::move(found));
  mesh::Dataset dataset =
      mesh::of_one_part("med", contents->path.string(), std::move(header),
                        static_cast<std::int64_t>(std::filesystem::file_size(contents->path)),
                        contents->mesh.elements + 2 * contents->mesh.quadrangles, contents->mesh.points);
  dataset.notes = contents->notes;
  const std::vector<std::size_t> there = fields_at(*contents, step);
  for (std::size_t f = 0; f < contents->fields.size() && !contents->steps.empty(); ++f)
    if (std::find(there.begin(), there.end(), f) == there.end())
      dataset.notes.push_back("field " + contents->fields[f].info.name + " has no values at step " +
                              std::to_string(step));
  if (contents->meshes.size() > 1)
    dataset.notes.push_back("the file has " + std::to_string(contents->meshes.size()) + " meshes, this is " +
                            text_of(contents->mesh.name) + "; FILE#NAME is another");
  dataset.read = [contents, step, header = dataset.header](int, const mesh::Request& request) {
    return read_part(*contents, step, header, request);
  };
  return dataset;
}

}  // namespace

bool available() noexcept {
  try {
    library();
    return true;
  } catch (...) {
    return false;
  }
}

mesh::Dataset open(const std::filesystem::path& path, std::optional<std::int64_t> step) {
  const MeshPath place = place_of(path);
  MedContents contents = contents_of(place.file, place.mesh);
  const std::int64_t number = chosen_step(path, step, std::ssize(contents.steps));
  mesh::Dataset dataset = dataset_of(std::move(contents), static_cast<std::size_t>(number));
  describe_file(dataset, path, step);
  return dataset;
}

FileSteps list_steps(const std::filesystem::path& path) {
  const MeshPath place = place_of(path);
  FileSteps out;
  for (const StepEntry& step : contents_of(place.file, place.mesh).steps) out.times.push_back(step.time);
  out.bytes = static_cast<std::int64_t>(std::filesystem::file_size(place.file));
  return out;
}

std::vector<std::string> mesh_names(const std::filesystem::path& path) { return mesh_names_of(place_of(path).file); }

#endif

}  // namespace octavo::formats::med
