#include "octavo/telemac/merge/piece_series.hpp"

#include <algorithm>
#include <limits>
#include <memory>
#include <numeric>

#include "octavo/base/at.hpp"
#include "octavo/base/error.hpp"
#include "octavo/formats/formats.hpp"
#include "octavo/formats/med/med.hpp"
#include "octavo/formats/serafin/boundary.hpp"
#include "octavo/formats/serafin/dataset.hpp"
#include "octavo/telemac/cut/same_mesh.hpp"

namespace octavo::telemac {
namespace {

namespace fs = std::filesystem;
namespace med = formats::med;
using base::at;
using base::Error;
using base::Kind;

constexpr const char* ipobo = "IPOBO";

/// The file's numbers of points (record 8 of SERAFIN, MED's global numbers) as numbers in the whole mesh.
void take_numbers(const mesh::Dataset& piece, const std::string& where, mesh::Unstructured& mesh) {
  mesh::Request numbers;
  numbers.fields = {{ipobo}};
  numbers.mesh = false;
  const mesh::Field field = piece.read(0, numbers).fields.at(0);
  const auto all = field.as<std::int32_t>();
  for (std::size_t i = 0; i < mesh.x.size(); ++i) {
    if (all[i] < 1)
      throw Error(Kind::corrupt, "global number of point " + std::to_string(i + 1) + ": expected 1 or more, found " +
                                     std::to_string(all[i]))
          .at(where)
          .hint("a whole file is no piece: it has the boundary's numbers there");
    mesh.global_point.push_back(all[i] - 1);
  }
  mesh::validate(mesh);
}

/// A dataset whose mesh has global numbers.
mesh::Dataset as_piece(mesh::Dataset dataset, const std::string& where) {
  const auto numbered = std::any_of(dataset.header.fields.begin(), dataset.header.fields.end(),
                                    [](const mesh::FieldInfo& info) { return info.name == ipobo; });
  const auto whole = std::make_shared<const mesh::Dataset>(dataset);
  dataset.read = [whole, where, numbered](int part, const mesh::Request& request) {
    mesh::Part read = whole->read(part, request);
    if (!request.mesh) return read;
    auto& mesh = std::get<mesh::Unstructured>(read.mesh);
    if (mesh.global_point.empty() && numbered) take_numbers(*whole, where, mesh);
    return read;
  };
  return dataset;
}

SeriesPiece med_piece(const fs::path& path) {
  const std::string where = path.string();
  return {where, med::list_steps(path).times,
          [path, where](std::optional<std::int64_t> step) { return as_piece(med::open(path, step), where); }};
}

/// The pieces and where their points belong.
struct Whole {
  std::vector<SeriesPiece> pieces;
  std::vector<std::vector<std::int64_t>> global;  ///< by piece: of one plane's points, from 0
  mesh::Unstructured mesh;
  std::vector<std::int32_t> boundary;  ///< numbers along the boundary (IPOBO), of all planes
  std::vector<double> times;           ///< of the steps that all pieces have
};

/// Piece after piece.
void add_piece(Whole& whole, const mesh::Unstructured& piece, const std::string& where, std::vector<char>& seen) {
  if (piece.global_point.empty())
    throw Error(Kind::corrupt, "this is no piece: expected global numbers of its points").at(where);
  const auto highest = *std::max_element(piece.global_point.begin(), piece.global_point.end());
  if (highest >= std::numeric_limits<std::int32_t>::max())
    throw Error(Kind::corrupt, "a global number of " + std::to_string(highest)).at(where);
  if (!whole.global.empty() && piece.planes != whole.mesh.planes)
    throw Error(Kind::corrupt, "pieces of different runs: expected " + std::to_string(whole.mesh.planes) +
                                   " planes, found " + std::to_string(piece.planes))
        .at(where);
  whole.mesh.planes = piece.planes;
  if (at(highest) >= seen.size()) seen.resize(at(highest) + 1, 0);
  whole.mesh.x.resize(seen.size());
  whole.mesh.y.resize(seen.size());
  for (std::size_t i = 0; i < piece.x.size(); ++i) {
    const std::size_t to = at(piece.global_point[i]);
    if (seen[to] != 0 && (whole.mesh.x[to] != piece.x[i] || whole.mesh.y[to] != piece.y[i]))
      throw Error(Kind::corrupt, "pieces of different cuts: point " + std::to_string(to + 1) + " is elsewhere here")
          .at(where);
    seen[to] = 1;
    whole.mesh.x[to] = piece.x[i];
    whole.mesh.y[to] = piece.y[i];
  }
  for (const std::int64_t point : piece.connectivity) whole.mesh.connectivity.push_back(piece.global_point[at(point)]);
  whole.global.push_back(piece.global_point);
}

void gather_meshes(Whole& whole) {
  std::vector<char> seen;
  mesh::Request only;
  only.fields = std::vector<std::string>{};
  for (const SeriesPiece& piece : whole.pieces)
    add_piece(whole, std::get<mesh::Unstructured>(piece.open({}).read(0, only).mesh), piece.where, seen);
  const auto missing = std::find(seen.begin(), seen.end(), char{0});
  if (missing != seen.end())
    throw Error(Kind::corrupt, "pieces are missing: expected " + std::to_string(seen.size()) +
                                   " points, found none of number " + std::to_string(missing - seen.begin() + 1))
        .at(whole.pieces.front().where);
  mesh::validate(whole.mesh);
}

/// Times of the steps that all have; others are left out, with a note.
void find_times(Whole& whole, std::vector<std::string>& notes) {
  std::size_t least = std::numeric_limits<std::size_t>::max(), most = 0;
  for (const SeriesPiece& piece : whole.pieces) {
    least = std::min(least, piece.times.size());
    most = std::max(most, piece.times.size());
  }
  const std::vector<double>& first = whole.pieces.front().times;
  whole.times.assign(first.begin(), first.begin() + static_cast<std::ptrdiff_t>(least));
  for (const SeriesPiece& piece : whole.pieces)
    for (std::size_t step = 0; step < least; ++step)
      if (piece.times[step] != whole.times[step])
        throw Error(Kind::corrupt, "pieces of different runs: step " + std::to_string(step) + ", expected the time " +
                                       std::to_string(whole.times[step]) + ", found " +
                                       std::to_string(piece.times[step]))
            .at(piece.where);
  if (least != most)
    notes.push_back("pieces have " + std::to_string(least) + " to " + std::to_string(most) +
                    " whole steps: merged are the first " + std::to_string(least));
}

std::uint64_t marks_of_all(const mesh::Unstructured& mesh) {
  return marks_of(std::vector<std::int32_t>(mesh.connectivity.begin(), mesh.connectivity.end()));
}

/// Where a file's coordinates begin, as same_place() asks for it.
serafin::SerafinHeader origin_of(const mesh::Header& header) {
  serafin::SerafinHeader origin;
  const auto xy = formats::origin_parameters(header);
  origin.iparam[2] = static_cast<std::int32_t>(xy[0]);
  origin.iparam[3] = static_cast<std::int32_t>(xy[1]);
  return origin;
}

/// Equal counts do not say that pieces are of a mesh.
void require_mesh(const Whole& whole, const formats::Series& geometry) {
  const mesh::Unstructured& mesh = geometry.mesh;
  const auto another = [&](const std::string& what) {
    return Error(Kind::corrupt, "pieces of another mesh: " + what)
        .at(whole.pieces.front().where)
        .at(geometry.first.path);
  };
  if (mesh.x.size() != whole.mesh.x.size() || mesh.connectivity.size() != whole.mesh.connectivity.size())
    throw another("expected " + std::to_string(mesh.x.size()) + " points and " +
                  std::to_string(mesh.connectivity.size() / 3) + " elements, found " +
                  std::to_string(whole.mesh.x.size()) + " and " + std::to_string(whole.mesh.connectivity.size() / 3));
  if (marks_of_all(mesh) != marks_of_all(whole.mesh)) throw another("their elements are not those of the geometry");
  const serafin::SerafinHeader expected = origin_of(geometry.first.header);
  const serafin::SerafinHeader found = origin_of(whole.pieces.front().open({}).header);
  for (const int axis : {0, 1}) {
    const auto &here = axis == 0 ? mesh.x : mesh.y, &there = axis == 0 ? whole.mesh.x : whole.mesh.y;
    for (std::size_t i = 0; i < here.size(); ++i)
      if (!same_place(here[i], there[i], axis, expected, found))
        throw another(std::string(axis == 0 ? "x" : "y") + " of point " + std::to_string(i + 1) + ": expected " +
                      std::to_string(here[i]) + ", found " + std::to_string(there[i]));
  }
}

/// Numbers along the boundary of the points of one plane, from the mesh or boundary file given; empty if none gives
/// them.
std::vector<std::int32_t> given_boundary_numbers(Whole& whole, const MergeOptions& options) {
  std::vector<std::int32_t> numbers;
  if (options.mesh) {
    const formats::Series geometry = step::open_triangles(*options.mesh, std::vector<std::string>{}, "merge");
    require_mesh(whole, geometry);
    whole.mesh.connectivity = geometry.mesh.connectivity;
    numbers = step::stored_boundary_numbers(geometry.first);
    numbers.resize(std::min(numbers.size(), whole.mesh.x.size()));
  }
  const bool known = std::any_of(numbers.begin(), numbers.end(), [](std::int32_t number) { return number != 0; });
  if (known || !options.boundary) return known ? numbers : std::vector<std::int32_t>{};
  numbers.assign(whole.mesh.x.size(), 0);
  std::int32_t number = 0;
  for (const auto& line : serafin::read_boundary(*options.boundary, static_cast<std::int32_t>(numbers.size())))
    numbers[at(line.point - 1)] = ++number;
  return numbers;
}

/// Numbers the boundary points of all planes as TELEMAC-3D does: plane after plane, the lowest first.
void find_boundary_numbers(Whole& whole, const MergeOptions& options, std::vector<std::string>& notes) {
  const std::vector<std::int32_t> plane = given_boundary_numbers(whole, options);
  if (plane.empty()) {
    notes.emplace_back("no numbers of the boundary were given: they were found from the mesh");
    whole.boundary = step::number_boundary(whole.mesh);
    return;
  }
  const auto count =
      static_cast<std::int32_t>(plane.size()) - static_cast<std::int32_t>(std::count(plane.begin(), plane.end(), 0));
  for (int p = 0; p < whole.mesh.planes; ++p)
    for (const std::int32_t number : plane) whole.boundary.push_back(number == 0 ? 0 : number + p * count);
}

/// One field of a step, from all pieces.
mesh::Field gather_field(const Whole& whole, const std::vector<mesh::Dataset>& all, const mesh::FieldInfo& info) {
  const std::size_t points = whole.mesh.x.size(), width = mesh::size_of(info.type);
  mesh::Field field = mesh::make_field(info, points * at(whole.mesh.planes));
  mesh::Request request;
  request.fields = {{info.name}};
  request.mesh = false;
  for (std::size_t p = 0; p < all.size(); ++p) {
    const mesh::Part part = all[p].read(0, request);
    const mesh::Field& some = part.fields.at(0);
    if (some.size() != whole.global[p].size() * at(whole.mesh.planes) || some.info.type != info.type)
      throw Error(Kind::corrupt, "field " + info.name + " is another one").at(whole.pieces[p].where);
    const std::byte* from = some.bytes.data();
    for (std::size_t plane = 0; plane < at(whole.mesh.planes); ++plane)
      for (const std::int64_t point : whole.global[p]) {
        std::copy_n(from, width, field.bytes.data() + (plane * points + at(point)) * width);
        from += width;
      }
  }
  return field;
}

/// The first piece's, without what is the piece's own.
mesh::Header header_of(const Whole& whole, const mesh::Dataset& piece) {
  mesh::Header header = piece.header;
  std::erase_if(header.fields, [](const mesh::FieldInfo& info) { return info.name == "GLB" || info.name == ipobo; });
  std::erase_if(header.attributes, [](const auto& attribute) { return attribute.first.starts_with("NPTIR"); });
  const formats::Format* format = formats::find_format(piece.format);
  if (auto iparam = formats::attribute<std::vector<std::int64_t>>(header, "iparam");
      iparam && format != nullptr && format->pieces_count) {
    const auto plane = whole.boundary.begin() + static_cast<std::ptrdiff_t>(whole.mesh.x.size());
    (*iparam)[7] = std::count_if(whole.boundary.begin(), plane, [](std::int32_t number) { return number != 0; });
    (*iparam)[8] = 0;
    header.attributes["iparam"] = *iparam;
  }
  mesh::FieldInfo numbers;
  numbers.name = ipobo;
  numbers.type = mesh::ScalarType::int32;
  numbers.centring = mesh::Centring::node;
  header.fields.push_back(numbers);
  return header;
}

mesh::Field numbers_field(const Whole& whole, const mesh::FieldInfo& info) {
  mesh::Field field = mesh::make_field(info, whole.boundary.size());
  std::copy(whole.boundary.begin(), whole.boundary.end(), field.as<std::int32_t>().begin());
  return field;
}

/// The whole at a step, as one dataset.
mesh::Dataset dataset_of(const std::shared_ptr<const Whole>& whole, std::optional<std::int64_t> step) {
  auto all = std::make_shared<std::vector<mesh::Dataset>>();
  for (const SeriesPiece& piece : whole->pieces) all->push_back(piece.open(step));
  mesh::Dataset dataset = all->front();
  dataset.header = header_of(*whole, all->front());
  dataset.read = [whole, all, header = dataset.header](int, const mesh::Request& request) {
    mesh::Part part;
    part.mesh = request.mesh ? whole->mesh : mesh::Unstructured{};
    for (const std::size_t f : mesh::select_fields(header, request.fields))
      part.fields.push_back(header.fields[f].name == ipobo ? numbers_field(*whole, header.fields[f])
                                                           : gather_field(*whole, *all, header.fields[f]));
    return part;
  };
  return dataset;
}

}  // namespace

std::vector<SeriesPiece> pieces_of_med(const fs::path& path) {
  std::vector<SeriesPiece> pieces;
  for (const std::string& name : med::mesh_names(path)) pieces.push_back(med_piece(path.string() + "#" + name));
  return pieces;
}

std::vector<SeriesPiece> pieces_of_med_files(const std::vector<fs::path>& paths) {
  std::vector<SeriesPiece> pieces;
  for (const fs::path& path : paths) pieces.push_back(med_piece(path));
  return pieces;
}

std::vector<SeriesPiece> pieces_of_serafin(const PieceSet& set) {
  std::vector<SeriesPiece> pieces;
  for (const PiecePlace& place : set.places) {
    const std::string where = place.file.string() + (place.begin > 0 ? ", byte " + std::to_string(place.begin) : "");
    pieces.push_back({where, serafin::read_times(open_piece(place)), [place, where](std::optional<std::int64_t> step) {
                        return as_piece(serafin::open(open_piece(place), step), where);
                      }});
  }
  return pieces;
}

formats::Series series_of_pieces(std::vector<SeriesPiece> pieces, const MergeOptions& options,
                                 std::vector<std::string>& notes) {
  const auto whole = std::make_shared<Whole>();
  whole->pieces = std::move(pieces);
  find_times(*whole, notes);
  gather_meshes(*whole);
  find_boundary_numbers(*whole, options, notes);
  const std::optional<std::int64_t> last =
      whole->times.empty() ? std::nullopt : std::optional(std::ssize(whole->times) - 1);
  formats::Series series = step::series_of(dataset_of(whole, last), {}, whole->times);
  series.open = [whole](std::size_t step) { return dataset_of(whole, static_cast<std::int64_t>(step)); };
  return series;
}

}  // namespace octavo::telemac
