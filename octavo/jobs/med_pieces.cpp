#include "octavo/jobs/med_pieces.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <memory>

#include "octavo/base/error.hpp"
#include "octavo/formats/med/med.hpp"
#include "octavo/formats/serafin/dataset.hpp"
#include "octavo/jobs/boundary_groups.hpp"
#include "octavo/jobs/med_header.hpp"
#include "octavo/jobs/same_mesh.hpp"
#include "octavo/jobs/to_serafin.hpp"
#include "octavo/jobs/triangle_series.hpp"

namespace octavo::jobs {
namespace {

namespace fs = std::filesystem;
namespace med = formats::med;
namespace serafin = formats::serafin;
using base::Error;
using base::Kind;

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

/// Values of a part's points, plane after plane.
template <class Points>
std::vector<double> gather(const std::vector<double>& all, const Points& points, std::size_t plane_points) {
  std::vector<double> out;
  for (std::size_t plane = 0; plane < all.size(); plane += plane_points)
    for (const std::int32_t point : points) out.push_back(all[plane + at(point)]);
  return out;
}

/// Heights at the first step; of a file without steps the number of the plane.
std::vector<double> heights_of(const serafin::Series& series) {
  if (serafin::planes(series.header) == 1) return {};
  std::vector<double> z(at(series.header.points));
  if (series.steps > 0 && !series.header.variables.empty())
    serafin::read_values(series, 0, 0, 0, z);
  else
    for (std::size_t i = 0; i < z.size(); ++i) z[i] = static_cast<double>(i / at(serafin::plane_points(series.header)));
  return z;
}

/// Boundary points as TELEMAC looks for them in a piece: cells, in groups by their codes.
void add_boundary(med::Writer& writer, const std::string& mesh, const Piece& piece) {
  med::Groups groups;
  std::map<std::string, std::int32_t> number_of;
  std::vector<std::int32_t> points, families;
  for (const PieceBoundaryPoint& point : piece.boundary) {
    const std::string name = group_of(point.condition);
    const auto number = static_cast<std::int32_t>(number_of.size()) + 1;
    if (number_of.emplace(name, number).second) groups.families.push_back({number, "FAM_" + name, {name}});
    points.push_back(point.condition.point - 1);
    families.push_back(number_of[name]);
  }
  writer.add_groups(mesh, groups);
  writer.add_point_cells(mesh, points, families);
}

}  // namespace

MedPieces::MedPieces(const fs::path& path, const serafin::Series& series)
    : series_(series),
      path_(path),
      file_(path, true),
      header_(serafin::open(series.file->path()).header),
      writer_(file_.partial(), {title_record(header_, ""), false}),
      z_(heights_of(series)) {
  write_med_parameters(writer_, header_, serafin::planes(series.header));
  std::vector<std::string> names;
  for (std::size_t v = 0; v < series.header.variables.size(); ++v) names.push_back(unique_name(header_, v));
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
    fields.push_back(writer_.add_field(name, unique_name(header_, fields.size()), serafin::unit_of(variable)));
  fields_.push_back(std::move(fields));
}

fs::path MedPieces::finish(const Buckets& points, const base::Progress& progress) {
  std::vector<double> values(at(series_.header.points));
  const std::size_t variables = series_.header.variables.size();
  for (std::int64_t step = 0; step < series_.steps; ++step)
    for (std::size_t v = 0; v < variables; ++v) {
      const auto per_variable = static_cast<std::int64_t>(series_.layout.step_bytes / variables);
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

// ------------------------------------------------------------------ merging

namespace {

/// The pieces of a file, and where their points belong.
struct Pieces {
  fs::path path;
  std::vector<std::string> names;
  std::vector<std::vector<std::int64_t>> global;   ///< by piece: of one plane's points, from 0
  mesh::Unstructured mesh;                         ///< the whole
  std::optional<std::vector<std::int32_t>> ranks;  ///< of all planes, where the whole geometry is given
  mesh::Dataset open(std::size_t piece, std::optional<std::int64_t> step) const {
    const fs::path one = path.string() + "#" + names[piece];
    return step ? med::open_step(one, *step) : med::open(one);
  }
};

/// Piece after piece.
void add_piece(Pieces& pieces, const mesh::Unstructured& mesh, const std::string& name, std::vector<char>& seen) {
  if (mesh.global_point.empty())
    throw Error(Kind::corrupt, "mesh " + name + " is no piece: expected global numbers and the parameter NPTIR")
        .at(pieces.path.string());
  const auto highest = *std::max_element(mesh.global_point.begin(), mesh.global_point.end());
  if (highest >= std::numeric_limits<std::int32_t>::max())
    throw Error(Kind::corrupt, "a global number of " + std::to_string(highest)).at(pieces.path.string());
  mesh::Unstructured& whole = pieces.mesh;
  whole.planes = mesh.planes;  // NPLAN is the file's
  if (at(highest) >= seen.size()) seen.resize(at(highest) + 1, 0);
  whole.x.resize(seen.size());
  whole.y.resize(seen.size());
  for (std::size_t i = 0; i < mesh.x.size(); ++i) {
    const std::size_t to = at(mesh.global_point[i]);
    if (seen[to] != 0 && (whole.x[to] != mesh.x[i] || whole.y[to] != mesh.y[i]))
      throw Error(Kind::corrupt,
                  "pieces of different cuts: point " + std::to_string(to + 1) + " is elsewhere in " + name)
          .at(pieces.path.string());
    seen[to] = 1;
    whole.x[to] = mesh.x[i];
    whole.y[to] = mesh.y[i];
  }
  for (const std::int64_t point : mesh.connectivity) whole.connectivity.push_back(mesh.global_point[at(point)]);
  pieces.global.push_back(mesh.global_point);
}

std::uint64_t marks_of_all(const mesh::Unstructured& mesh) {
  std::vector<std::int32_t> triangles;
  for (const std::int64_t point : mesh.connectivity) triangles.push_back(static_cast<std::int32_t>(point));
  return marks_of(triangles);
}

void require_same_mesh(const Pieces& pieces, const mesh::Unstructured& mesh, const serafin::Series& from) {
  if (marks_of_all(mesh) != marks_of_all(pieces.mesh))
    throw Error(Kind::corrupt, "pieces of another mesh: their elements are not those of " + from.file->path().string())
        .at(pieces.path.string());
  const auto require = [&](const std::vector<double>& expected, const std::vector<double>& there, int axis) {
    for (std::size_t i = 0; i < expected.size(); ++i)
      if (!same_place(expected[i], there[i], axis, from.header, from.header))
        throw Error(Kind::corrupt, std::string("pieces of another mesh: ") + (axis == 0 ? "x" : "y") + " of point " +
                                       std::to_string(i + 1) + ": expected " + std::to_string(expected[i]) +
                                       ", found " + std::to_string(there[i]))
            .at(pieces.path.string());
  };
  require(mesh.x, pieces.mesh.x, 0);
  require(mesh.y, pieces.mesh.y, 1);
}

void take_geometry(Pieces& pieces, const fs::path& path) {
  const serafin::Series series = serafin::open_series(path);
  mesh::Unstructured mesh = serafin::read_mesh(series);
  if (mesh.x.size() != pieces.mesh.x.size() || mesh.connectivity.size() != pieces.mesh.connectivity.size())
    throw Error(Kind::corrupt, "pieces of another mesh: expected " + std::to_string(mesh.x.size()) + " points and " +
                                   std::to_string(mesh.connectivity.size() / 3) + " elements, found " +
                                   std::to_string(pieces.mesh.x.size()) + " and " +
                                   std::to_string(pieces.mesh.connectivity.size() / 3))
        .at(pieces.path.string());
  require_same_mesh(pieces, mesh, series);
  pieces.mesh.connectivity = std::move(mesh.connectivity);
  std::vector<std::int32_t> ranks(mesh.x.size());
  serafin::read_numbers(series, 0, ranks);
  const auto boundary =
      static_cast<std::int32_t>(std::count_if(ranks.begin(), ranks.end(), [](std::int32_t r) { return r != 0; }));
  pieces.ranks.emplace();
  for (int plane = 0; plane < pieces.mesh.planes; ++plane)
    for (const std::int32_t rank : ranks) pieces.ranks->push_back(rank == 0 ? 0 : rank + plane * boundary);
}

std::shared_ptr<const Pieces> pieces_of(const fs::path& path, const MergeOptions& options) {
  auto pieces = std::make_shared<Pieces>();
  pieces->path = path;
  pieces->names = med::mesh_names(path);
  std::vector<char> seen;
  mesh::Request only;
  only.fields = std::vector<std::string>{};
  for (std::size_t p = 0; p < pieces->names.size(); ++p) {
    const mesh::Part part = pieces->open(p, {}).read(0, only);
    add_piece(*pieces, std::get<mesh::Unstructured>(part.mesh), pieces->names[p], seen);
  }
  const auto missing = std::find(seen.begin(), seen.end(), char{0});
  if (missing != seen.end())
    throw Error(Kind::corrupt, "pieces are missing: expected " + std::to_string(seen.size()) +
                                   " points, found none of number " + std::to_string(missing - seen.begin() + 1))
        .at(path.string());
  mesh::validate(pieces->mesh);
  if (options.mesh) take_geometry(*pieces, *options.mesh);
  return pieces;
}

/// All pieces, open at a step.
std::vector<mesh::Dataset> open_all(const Pieces& pieces, std::optional<std::int64_t> step) {
  std::vector<mesh::Dataset> all;
  for (std::size_t p = 0; p < pieces.names.size(); ++p) {
    all.push_back(pieces.open(p, step));
    const double expected = all.front().header.time, found = all.back().header.time;
    if (found != expected)
      throw Error(Kind::corrupt, "pieces of different runs: expected the time " + std::to_string(expected) +
                                     ", found " + std::to_string(found))
          .at(pieces.path.string() + ", mesh " + pieces.names[p]);
  }
  return all;
}

mesh::Field gather_field(const Pieces& pieces, const std::vector<mesh::Dataset>& all, const mesh::FieldInfo& info) {
  const std::size_t points = pieces.mesh.x.size(), width = mesh::size_of(info.type);
  mesh::Field field = mesh::make_field(info, points * at(pieces.mesh.planes));
  mesh::Request request;
  request.fields = {{info.name}};
  request.mesh = false;
  for (std::size_t p = 0; p < all.size(); ++p) {
    const mesh::Part part = all[p].read(0, request);
    const mesh::Field& some = part.fields.at(0);
    if (some.size() != pieces.global[p].size() * at(pieces.mesh.planes) || some.info.type != info.type)
      throw Error(Kind::corrupt, "field " + info.name + " is another one")
          .at(pieces.path.string() + ", mesh " + pieces.names[p]);
    const std::byte* from = some.bytes.data();
    for (std::size_t plane = 0; plane < at(pieces.mesh.planes); ++plane)
      for (const std::int64_t point : pieces.global[p]) {
        std::copy_n(from, width, field.bytes.data() + (plane * points + at(point)) * width);
        from += width;
      }
  }
  return field;
}

mesh::Field ranks_field(const Pieces& pieces, const mesh::FieldInfo& info) {
  mesh::Field field = mesh::make_field(info, pieces.ranks->size());
  std::copy(pieces.ranks->begin(), pieces.ranks->end(), field.as<std::int32_t>().begin());
  return field;
}

/// The whole, at a step, as one dataset.
mesh::Dataset whole_of(const std::shared_ptr<const Pieces>& pieces, std::optional<std::int64_t> step) {
  const auto all = std::make_shared<const std::vector<mesh::Dataset>>(open_all(*pieces, step));
  mesh::Dataset whole = all->front();
  std::erase_if(whole.header.fields, [](const mesh::FieldInfo& info) { return info.name == "GLB"; });
  if (pieces->ranks) {
    mesh::FieldInfo info;
    info.name = "IPOBO";
    info.type = mesh::ScalarType::int32;
    info.centring = mesh::Centring::node;
    whole.header.fields.push_back(info);
  }
  whole.read = [pieces, all, header = whole.header](int, const mesh::Request& request) {
    mesh::Part part;
    part.mesh = request.mesh ? pieces->mesh : mesh::Unstructured{};
    for (const std::size_t f : mesh::select_fields(header, request.fields))
      part.fields.push_back(header.fields[f].type == mesh::ScalarType::int32
                                ? ranks_field(*pieces, header.fields[f])
                                : gather_field(*pieces, *all, header.fields[f]));
    return part;
  };
  return whole;
}

}  // namespace

MergeReport merge_med_pieces(const fs::path& path, const fs::path& out, const MergeOptions& options) {
  const auto pieces = pieces_of(path, options);
  TriangleSeries series = series_of(whole_of(pieces, {}), {}, steps(path.string() + "#" + pieces->names[0]));
  series.open = [pieces](const store::StepInfo& step) { return whole_of(pieces, step.step); };
  const ToSerafinReport written = to_serafin(series, out, {{}, {}, options.overwrite, options.progress});
  return {static_cast<std::int64_t>(pieces->names.size()),
          written.elements,
          written.points,
          written.steps,
          written.bytes,
          written.notes};
}

}  // namespace octavo::jobs
