#include "octavo/telemac/merge/merge_pieces.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include "octavo/base/at.hpp"
#include "octavo/base/byte_order.hpp"
#include "octavo/base/error.hpp"
#include "octavo/formats/formats.hpp"
#include "octavo/formats/med/med.hpp"
#include "octavo/formats/serafin/boundary.hpp"
#include "octavo/formats/serafin/row.hpp"
#include "octavo/formats/serafin/write.hpp"
#include "octavo/partition/contour.hpp"
#include "octavo/step/new_file.hpp"
#include "octavo/step/open.hpp"
#include "octavo/step/triangle_series.hpp"
#include "octavo/step/write.hpp"
#include "octavo/store/read/triangles.hpp"
#include "octavo/telemac/cut/cut_steps.hpp"
#include "octavo/telemac/cut/med_pieces.hpp"
#include "octavo/telemac/cut/partition_names.hpp"
#include "octavo/telemac/cut/same_mesh.hpp"
#include "octavo/telemac/merge/piece_series.hpp"

namespace octavo::telemac {
namespace {

namespace fs = std::filesystem;
using base::Error;
using base::Kind;

constexpr std::size_t most_open = 512;  // files at a time, of the 1024 that a process may usually have

using base::at;

/// The pieces, and where their points belong.
struct Pieces {
  PieceSet set;
  std::vector<serafin::SerafinSeries> open;  ///< empty for more pieces than may be open
  ItemLists global;                          ///< by piece and local number, of one plane
  serafin::SerafinHeader header;             ///< of the whole
  std::int32_t plane_points = 0;
  std::int64_t steps = 0;

  std::size_t count() const { return set.places.size(); }
  /// A piece, open: `here` holds it where not all are.
  const serafin::SerafinSeries& series(std::size_t piece, serafin::SerafinSeries& here) const {
    return open.empty() ? here = open_piece(set.places[piece]) : open[piece];
  }
};

void read_numbers(Pieces& pieces, std::int32_t most) {
  pieces.global.first.push_back(0);
  std::size_t total = 0;
  for (const PiecePlace& place : pieces.set.places) total += at(serafin::plane_points(place.header));
  pieces.global.items.reserve(total);
  for (std::size_t p = 0; p < pieces.count(); ++p) {
    serafin::SerafinSeries here;
    const auto numbers = read_global(pieces.series(p, here), most);
    pieces.global.items.insert(pieces.global.items.end(), numbers.begin(), numbers.end());
    pieces.global.first.push_back(static_cast<std::int64_t>(pieces.global.items.size()));
  }
}

void require_all_points(const Pieces& pieces) {
  std::vector<bool> seen(at(pieces.plane_points), false);
  for (const std::int32_t point : pieces.global.items) seen[at(point)] = true;
  const auto missing = std::find(seen.begin(), seen.end(), false);
  if (missing != seen.end())
    throw Error(Kind::corrupt, "pieces are missing, or are of a smaller mesh: expected " +
                                   std::to_string(pieces.plane_points) + " points, found none of number " +
                                   std::to_string(missing - seen.begin() + 1) + " and " +
                                   std::to_string(std::count(seen.begin(), seen.end(), false) - 1) + " others")
        .at(pieces.set.places.front().file.string());
}

std::int64_t elements_of_all(const Pieces& pieces) {
  std::int64_t elements = 0;
  for (const PiecePlace& place : pieces.set.places) elements += serafin::plane_elements(place.header);
  return elements;
}

void find_steps(Pieces& pieces, MergeReport& report) {
  const auto [least, most] = std::minmax_element(pieces.set.steps.begin(), pieces.set.steps.end());
  pieces.steps = *least;
  if (*least != *most)
    report.notes.push_back("pieces have " + std::to_string(*least) + " to " + std::to_string(*most) +
                           " whole steps: merged are the first " + std::to_string(*least));
}

/// The highest number of all is that of points, and no more than all pieces have.
std::int32_t count_points(const Pieces& pieces) {
  if (pieces.global.items.empty())
    throw Error(Kind::corrupt, "pieces without points").at(pieces.set.places.front().file.string());
  const std::int64_t points =
      std::int64_t{*std::max_element(pieces.global.items.begin(), pieces.global.items.end())} + 1;
  if (points > static_cast<std::int64_t>(pieces.global.items.size()))
    throw Error(Kind::corrupt, "pieces are missing: expected " + std::to_string(points) +
                                   " points, as one has that number, found " +
                                   std::to_string(pieces.global.items.size()) + " in all pieces")
        .at(pieces.set.places.front().file.string());
  return static_cast<std::int32_t>(points);
}

/// The number of all planes' points or elements, where SERAFIN can say it.
std::int32_t times(std::int64_t count, std::int32_t planes) {
  if (count * planes > std::numeric_limits<std::int32_t>::max())
    throw Error(Kind::unsupported, "SERAFIN cannot hold " + std::to_string(count * planes) +
                                       " points or elements: expected at most 2147483647");
  return static_cast<std::int32_t>(count) * planes;
}

/// Triangles of all pieces, points from 0, piece after piece.
template <class F>
void each_triangles(const Pieces& pieces, F&& f) {
  for (std::size_t p = 0; p < pieces.count(); ++p) {
    serafin::SerafinSeries here;
    std::vector<std::int32_t> triangles = serafin::read_triangles(pieces.series(p, here));
    const auto global = pieces.global.of(static_cast<std::int32_t>(p));
    for (std::int32_t& point : triangles) point = global[at(point)];
    f(std::span<const std::int32_t>(triangles));
  }
}

/// The mesh's triangles, a batch at a time.
template <class F>
void each_triangles(const serafin::SerafinSeries& mesh, F&& f) {
  constexpr std::int32_t batch = 1 << 14;
  const std::int32_t total = serafin::plane_elements(mesh.header), nodes = mesh.header.nodes;
  std::vector<std::int32_t> some, triangles;
  for (std::int32_t first = 0; first < total; first += batch) {
    some.resize(at(std::min(batch, total - first)) * at(nodes));
    serafin::read_connectivity(mesh, first, some);
    triangles.clear();
    for (std::size_t i = 0; i < some.size(); i += at(nodes))
      for (std::size_t k = 0; k < 3; ++k) triangles.push_back(some[i + k] - 1);
    f(std::span<const std::int32_t>(triangles));
  }
}

/// Places in the pieces are those of the mesh.
void require_places_of(const Pieces& pieces, const serafin::SerafinSeries& mesh, int axis) {
  std::vector<double> expected(at(pieces.plane_points)), there;
  serafin::read_coordinates(mesh, axis, 0, expected);
  for (std::size_t p = 0; p < pieces.count(); ++p) {
    serafin::SerafinSeries here;
    const serafin::SerafinSeries& series = pieces.series(p, here);
    const auto global = pieces.global.of(static_cast<std::int32_t>(p));
    there.resize(global.size());
    serafin::read_coordinates(series, axis, 0, there);
    for (std::size_t i = 0; i < global.size(); ++i)
      require_same_place(global[i], expected[at(global[i])], there[i], axis, mesh, series);
  }
}

/// Names a triangle of the pieces that the mesh does not have.
[[noreturn]] void throw_strange_triangle(const Pieces& pieces, const serafin::SerafinSeries& mesh) {
  std::vector<std::uint64_t> known;
  const auto each_mark = [](std::span<const std::int32_t> triangles, auto&& f) {
    for (std::size_t e = 0; e < triangles.size(); e += 3) f(e, marks_of(triangles.subspan(e, 3)));
  };
  each_triangles(mesh, [&](std::span<const std::int32_t> triangles) {
    each_mark(triangles, [&](std::size_t, std::uint64_t mark) { known.push_back(mark); });
  });
  std::sort(known.begin(), known.end());
  std::size_t piece = 0;
  each_triangles(pieces, [&](std::span<const std::int32_t> triangles) {
    each_mark(triangles, [&](std::size_t e, std::uint64_t mark) {
      if (!std::binary_search(known.begin(), known.end(), mark))
        throw Error(Kind::corrupt, "pieces of another mesh: expected elements of " + mesh.file->path().string() +
                                       ", found element " + std::to_string(e / 3 + 1) + " of the points " +
                                       std::to_string(triangles[e] + 1) + ", " + std::to_string(triangles[e + 1] + 1) +
                                       ", " + std::to_string(triangles[e + 2] + 1) + " of the whole")
            .at(pieces.set.places[piece].file.string() + ", piece " + std::to_string(piece));
    });
    ++piece;
  });
  throw Error(Kind::corrupt, "pieces of another cut: they have an element of the mesh twice, and another not at all")
      .at(pieces.set.places.front().file.string());
}

/// Equal counts do not say that pieces are of the mesh. In memory at a time: coordinates of one axis, and a piece.
void require_mesh_of(const Pieces& pieces, const serafin::SerafinSeries& mesh) {
  std::uint64_t difference = 0;
  each_triangles(mesh, [&](std::span<const std::int32_t> triangles) { difference += marks_of(triangles); });
  each_triangles(pieces, [&](std::span<const std::int32_t> triangles) { difference -= marks_of(triangles); });
  if (difference != 0) throw_strange_triangle(pieces, mesh);
  for (const int axis : {0, 1}) require_places_of(pieces, mesh, axis);
}

Pieces gather_pieces(const std::vector<fs::path>& paths, const std::optional<serafin::SerafinSeries>& mesh,
                     MergeReport& report) {
  Pieces pieces;
  pieces.set = find_pieces(paths);
  if (pieces.count() <= most_open)
    for (const PiecePlace& place : pieces.set.places) pieces.open.push_back(open_piece(place));
  find_steps(pieces, report);
  pieces.header = pieces.set.places.front().header;
  const std::int32_t planes = serafin::planes(pieces.header);
  read_numbers(pieces, mesh ? serafin::plane_points(mesh->header) : std::numeric_limits<std::int32_t>::max());
  pieces.plane_points = mesh ? serafin::plane_points(mesh->header) : count_points(pieces);
  require_all_points(pieces);
  const std::int64_t elements = elements_of_all(pieces);
  if (mesh && elements != serafin::plane_elements(mesh->header))
    throw Error(Kind::corrupt, "pieces of another cut or mesh: expected " +
                                   std::to_string(serafin::plane_elements(mesh->header)) + " elements a plane, found " +
                                   std::to_string(elements))
        .at(pieces.set.places.front().file.string());
  if (mesh) require_mesh_of(pieces, *mesh);
  pieces.header.points = times(pieces.plane_points, planes);
  pieces.header.elements = times(elements, std::max(planes - 1, 1));
  pieces.header.iparam[8] = 0;
  return pieces;
}

/// Writes triangles, or the prisms that stand on them; `each` gives the lowest plane's in batches, once a layer.
template <class Each>
void write_elements(const serafin::Put& put, const serafin::SerafinHeader& header, Each&& each) {
  const std::int32_t planes = serafin::planes(header), points = serafin::plane_points(header);
  std::int64_t first = 0;
  std::vector<std::int32_t> out;
  for (std::int32_t layer = 0; layer < std::max(planes - 1, 1); ++layer)
    each([&](std::span<const std::int32_t> triangles) {
      out.clear();
      for (std::size_t e = 0; e < triangles.size(); e += 3)
        for (std::int32_t up = 0; up < (planes > 1 ? 2 : 1); ++up)
          for (std::size_t k = 0; k < 3; ++k) out.push_back(triangles[e + k] + 1 + (layer + up) * points);
      serafin::write_connectivity(put, header, first, out);
      first += static_cast<std::int64_t>(out.size());
    });
}

/// Values of all points by pieces: `record` holds them with length words, in the pieces' byte order.
struct MergedRecord {
  std::vector<std::byte> bytes, some;
  const Pieces& pieces;
  std::size_t width;

  explicit MergedRecord(const Pieces& all)
      : bytes(all.header.real_bytes * at(all.header.points) + 8), pieces(all), width(all.header.real_bytes) {
    const auto payload = static_cast<std::int32_t>(bytes.size() - 8);
    for (const std::size_t where : {std::size_t{0}, bytes.size() - 4})
      base::store(bytes.data() + where, payload, pieces.header.order);
  }
  /// Puts values of a piece in their places; `visit(to, from, point)` before each copy.
  template <std::size_t width, class Visit>
  void scatter(std::size_t piece, Visit&& visit) {
    const auto global = pieces.global.of(static_cast<std::int32_t>(piece));
    const std::byte* from = some.data() + 4;
    for (std::int32_t plane = 0; plane < serafin::planes(pieces.header); ++plane) {
      std::byte* base = bytes.data() + 4 + at(plane) * at(pieces.plane_points) * width;
      for (const std::int32_t point : global) {
        visit(base + at(point) * width, from, point);
        std::memcpy(base + at(point) * width, from, width);
        from += width;
      }
    }
  }
  template <class Visit>
  void scatter(std::size_t piece, Visit&& visit) {
    width == 8 ? scatter<8>(piece, visit) : scatter<4>(piece, visit);
  }
};

/// One axis of the coordinates. A point that two pieces put at different places is of different cuts.
void gather_coordinates(MergedRecord& record, int axis) {
  const Pieces& pieces = record.pieces;
  std::vector<bool> seen(at(pieces.plane_points), false);
  for (std::size_t p = 0; p < pieces.count(); ++p) {
    serafin::SerafinSeries here;
    const serafin::SerafinSeries& series = pieces.series(p, here);
    record.some.resize(record.width * at(series.header.points) + 8);
    file::pread_all(*series.file, series.begin + (axis == 0 ? series.offsets.x : series.offsets.y), record.some);
    record.scatter(p, [&](const std::byte* there, const std::byte* value, std::int32_t point) {
      if (seen[at(point)] && std::memcmp(there, value, record.width) != 0)
        throw Error(Kind::corrupt,
                    "pieces of different cuts: point " + std::to_string(point + 1) + " is elsewhere in another piece")
            .at(pieces.set.places[p].file.string() + ", piece " + std::to_string(p));
    });
    for (const std::int32_t point : pieces.global.of(static_cast<std::int32_t>(p))) seen[at(point)] = true;
  }
}

void require_time(const Pieces& pieces, std::size_t piece, std::int64_t step, double found, double expected) {
  if (std::memcmp(&found, &expected, sizeof found) != 0)
    throw Error(Kind::corrupt, "pieces of different runs: step " + std::to_string(step) + ", expected the time " +
                                   std::to_string(expected) + ", found " + std::to_string(found))
        .at(pieces.set.places[piece].file.string() + ", piece " + std::to_string(piece));
}

void write_times(const serafin::Put& put, const Pieces& pieces) {
  std::vector<double> times;
  for (std::size_t p = 0; p < pieces.count(); ++p) {
    serafin::SerafinSeries here;
    const serafin::SerafinSeries& series = pieces.series(p, here);
    for (std::int64_t step = 0; step < pieces.steps; ++step) {
      const double time = serafin::read_time(series, step);
      if (p == 0) times.push_back(time);
      require_time(pieces, p, step, time, times[at(step)]);
    }
  }
  for (std::int64_t step = 0; step < pieces.steps; ++step)
    serafin::write_time(put, pieces.header, step, times[at(step)]);
}

void write_steps(const serafin::Put& put, MergedRecord& record, const base::Progress& progress) {
  const Pieces& pieces = record.pieces;
  const serafin::RecordOffsets offsets = serafin::offsets_of(pieces.header);
  const auto total =
      static_cast<std::int64_t>(offsets.steps) + pieces.steps * static_cast<std::int64_t>(offsets.step_bytes);
  for (std::int64_t step = 0; step < pieces.steps; ++step)
    for (std::size_t v = 0; v < pieces.header.variables.size(); ++v) {
      const std::uint64_t offset = serafin::values_at(pieces.header, offsets, step, v) - 4;
      if (progress && !progress(static_cast<std::int64_t>(offset), total))
        throw Error(Kind::interrupted, "stopped while steps were merged");
      for (std::size_t p = 0; p < pieces.count(); ++p) {
        serafin::SerafinSeries here;
        const serafin::SerafinSeries& series = pieces.series(p, here);
        record.some.resize(record.width * at(series.header.points) + 8);
        serafin::read_record(series, step, v, record.some);
        record.scatter(p, [](const std::byte*, const std::byte*, std::int32_t) {});
      }
      put(offset, record.bytes);
    }
}

/// The triangles of one plane, for its boundary.
struct WholeMesh {
  std::vector<std::int32_t> connectivity;  ///< shape (elements, 3), points from 0
  std::vector<double> x, y;                ///< of all points
};

WholeMesh mesh_of(const serafin::SerafinSeries& series) {
  WholeMesh mesh{serafin::read_triangles(series), {}, {}};
  mesh.x.resize(at(serafin::plane_points(series.header)));
  mesh.y.resize(mesh.x.size());
  serafin::read_coordinates(series, 0, 0, mesh.x);
  serafin::read_coordinates(series, 1, 0, mesh.y);
  return mesh;
}

WholeMesh mesh_of(const Pieces& pieces) {
  WholeMesh mesh;
  each_triangles(pieces, [&](std::span<const std::int32_t> triangles) {
    mesh.connectivity.insert(mesh.connectivity.end(), triangles.begin(), triangles.end());
  });
  mesh.x.resize(at(pieces.plane_points));
  mesh.y.resize(mesh.x.size());
  for (std::size_t p = 0; p < pieces.count(); ++p) {
    serafin::SerafinSeries here;
    const serafin::SerafinSeries& series = pieces.series(p, here);
    const auto global = pieces.global.of(static_cast<std::int32_t>(p));
    std::vector<double> values(global.size());
    for (const int axis : {0, 1}) {
      serafin::read_coordinates(series, axis, 0, values);
      for (std::size_t i = 0; i < global.size(); ++i) (axis == 0 ? mesh.x : mesh.y)[at(global[i])] = values[i];
    }
  }
  return mesh;
}

/// Numbers along the boundary, from 1; 0 inside.
std::vector<std::int32_t> find_boundary_numbers(const Pieces& pieces, const std::optional<serafin::SerafinSeries>& mesh,
                                                const MergeOptions& options, MergeReport& report) {
  std::vector<std::int32_t> numbers(at(pieces.plane_points), 0);
  if (mesh) serafin::read_numbers(*mesh, 0, numbers);
  const auto zero = [](std::int32_t number) { return number == 0; };
  if (!std::all_of(numbers.begin(), numbers.end(), zero)) return numbers;
  if (options.boundary) {
    const auto lines = serafin::read_boundary(*options.boundary, pieces.plane_points);
    for (std::size_t k = 0; k < lines.size(); ++k) numbers[at(lines[k].point - 1)] = static_cast<std::int32_t>(k + 1);
    return numbers;
  }
  report.notes.push_back("no numbers of the boundary were given: they were found from the mesh");
  const WholeMesh whole = mesh ? mesh_of(*mesh) : mesh_of(pieces);
  const auto found = partition::find_boundary(whole.connectivity, whole.x, whole.y);
  for (std::size_t k = 0; k < found.size(); ++k) numbers[at(found[k])] = static_cast<std::int32_t>(k + 1);
  return numbers;
}

/// As TELEMAC-3D numbers them: those of a plane follow those of the one below.
void write_boundary_numbers(const serafin::Put& put, const serafin::SerafinHeader& header,
                            std::vector<std::int32_t> numbers) {
  for (std::int32_t plane = 0; plane < serafin::planes(header); ++plane) {
    serafin::write_numbers(put, header, std::int64_t{plane} * static_cast<std::int64_t>(numbers.size()), numbers);
    for (std::int32_t& number : numbers)
      if (number != 0) number += header.iparam[7];
  }
}

std::vector<fs::path> inputs_of(std::vector<fs::path> files, const MergeOptions& options) {
  for (const auto* path : {&options.mesh, &options.boundary})
    if (*path) files.push_back(**path);
  return files;
}

std::vector<fs::path> inputs_of(const PieceSet& set, const MergeOptions& options) {
  std::vector<fs::path> inputs;
  for (const PiecePlace& place : set.places)
    if (inputs.empty() || inputs.back() != place.file) inputs.push_back(place.file);
  const std::string concat = inputs.front().string();
  if (concat.ends_with("-CONCAT")) inputs.push_back(index_path(concat.substr(0, concat.size() - 7)));
  return inputs_of(std::move(inputs), options);
}

/// Whether it is a format with groups, as MED: the mesh and the groups of a result are then in memory.
bool has_groups(const formats::Format* format) { return format != nullptr && format->read_groups != nullptr; }

/// The format that a whole result is written in, by the ending of its name: one with groups, else SERAFIN.
formats::WriteRequest request_of(const fs::path& out, const MergeOptions& options) {
  const formats::Format* format = formats::format_by_ending(out);
  formats::WriteRequest request;
  request.to = has_groups(format) ? format->name : serafin::row.name;
  request.overwrite = options.overwrite;
  request.progress = options.progress;
  if (has_groups(format)) request.boundary = options.boundary;
  return request;
}

/// A store has the whole mesh, its order and its boundary.
MergeReport merge_store(const fs::path& path, const fs::path& out, const MergeOptions& options) {
  const formats::WriteRequest request = request_of(out, options);
  formats::Series series = step::open_triangles(path, {}, std::string(formats::format_named(request.to).title));
  const auto parts = formats::attribute<std::int64_t>(series.first.header, store::cut_attribute).value_or(1);
  const formats::WriteReport made = step::write(std::move(series), out, request);
  return {parts, made.elements, made.points, made.steps, made.bytes, made.notes};
}

/// Pieces in MED: the file whose meshes they are, or the file of each; none where they are not in MED.
std::vector<fs::path> med_files(const std::vector<fs::path>& paths) {
  if (paths.size() == 1 && (paths[0].string().ends_with("-CONCAT") || fs::exists(concat_path(paths[0])))) return {};
  if (const fs::path one = paths[0].string() + ".med"; paths.size() == 1 && has_groups(formats::format_there(one)))
    return {one};
  const std::vector<fs::path> files = piece_files(paths);
  return has_groups(formats::format_there(files[0])) ? files : std::vector<fs::path>{};
}

/// From or into MED: the mesh is in memory, and one variable of one step.
MergeReport merge_series(std::vector<SeriesPiece> pieces, const fs::path& out, const MergeOptions& options) {
  MergeReport report;
  report.parts = std::ssize(pieces);
  formats::Series series = series_of_pieces(std::move(pieces), options, report.notes);
  formats::WriteRequest request = request_of(out, options);
  const formats::Format* of_mesh = options.mesh ? formats::format_there(*options.mesh) : nullptr;
  series.groups = has_groups(of_mesh) ? of_mesh->read_groups(*options.mesh) : formats::MeshGroups{};
  const formats::WriteReport made = step::write(std::move(series), out, request);
  report.elements = made.elements;
  report.points = made.points;
  report.steps = made.steps;
  report.bytes = made.bytes;
  report.notes.insert(report.notes.end(), made.notes.begin(), made.notes.end());
  return report;
}

std::vector<fs::path> outputs_of(const fs::path& prefix, std::int32_t parts, PieceLayout layout) {
  if (layout == PieceLayout::med) return {prefix.string() + ".med"};
  if (parts > 1 && layout == PieceLayout::concat) return {concat_path(prefix), index_path(prefix)};
  std::vector<fs::path> outs;
  for (std::int32_t part = 0; part < parts; ++part) outs.push_back(piece_path(prefix, parts, part));
  return outs;
}

}  // namespace

MergeReport merge_pieces(const std::vector<fs::path>& paths, const fs::path& out, const MergeOptions& options) {
  require_inputs_stay({out}, paths);
  if (paths.size() == 1)
    for (const fs::path& path : {paths[0], fs::path(paths[0].string() + ".octavo")})
      if (store::recognise(path)) return merge_store(path, out, options);
  if (const std::vector<fs::path> files = med_files(paths); !files.empty()) {
    require_inputs_stay({out}, inputs_of(files, options));
    return merge_series(files.size() == 1 ? pieces_of_med(files[0]) : pieces_of_med_files(files), out, options);
  }
  if (has_groups(formats::format_by_ending(out)) ||
      (options.mesh && has_groups(formats::format_there(*options.mesh)))) {
    const PieceSet set = find_pieces(paths);
    require_inputs_stay({out}, inputs_of(set, options));
    return merge_series(pieces_of_serafin(set), out, options);
  }
  MergeReport report;
  std::optional<serafin::SerafinSeries> mesh;
  if (options.mesh) mesh = serafin::open_series(*options.mesh);
  Pieces pieces = gather_pieces(paths, mesh, report);
  require_inputs_stay({out}, inputs_of(pieces.set, options));
  auto numbers = find_boundary_numbers(pieces, mesh, options, report);
  serafin::SerafinHeader& header = pieces.header;
  header.iparam[7] = static_cast<std::int32_t>(
      std::count_if(numbers.begin(), numbers.end(), [](std::int32_t number) { return number != 0; }));
  const std::vector<std::byte> head = serafin::encode_header(header);  // before a file is made: it may not fit
  step::NewFile file(out, options.overwrite, serafin::row.name);
  const serafin::Put put = [&](std::uint64_t offset, std::span<const std::byte> bytes) { file.put(offset, bytes); };
  put(0, head);
  write_elements(put, header, [&](auto&& f) { mesh ? each_triangles(*mesh, f) : each_triangles(pieces, f); });
  write_boundary_numbers(put, header, std::move(numbers));
  MergedRecord record(pieces);
  const serafin::RecordOffsets offsets = serafin::offsets_of(header);
  for (const int axis : {0, 1}) {
    gather_coordinates(record, axis);
    put(axis == 0 ? offsets.x : offsets.y, record.bytes);
  }
  write_times(put, pieces);
  write_steps(put, record, options.progress);
  file.finish();
  report.parts = static_cast<std::int64_t>(pieces.count());
  report.elements = header.elements;
  report.points = header.points;
  report.steps = pieces.steps;
  report.bytes = static_cast<std::int64_t>(piece_bytes(header, pieces.steps));
  return report;
}

SplitReport split_by_pieces(const fs::path& path, const std::vector<fs::path>& paths, const fs::path& prefix,
                            const SplitOptions& options) {
  if (options.layout == PieceLayout::octavo)
    throw Error(Kind::unsupported, "a result is not split into the parts of a store")
        .hint("octavo partition --layout octavo --also cuts it so");
  require_folder(prefix);
  const serafin::SerafinSeries series = serafin::open_series(path);
  MergeReport notes;
  const Pieces pieces = gather_pieces(paths, series, notes);
  std::vector<fs::path> inputs = inputs_of(pieces.set, {});
  inputs.push_back(path);
  const auto outs = outputs_of(prefix, static_cast<std::int32_t>(pieces.count()), options.layout);
  require_inputs_stay(outs, inputs);
  if (!options.overwrite)
    for (const fs::path& out : outs) require_piece(out);
  const std::int32_t points = serafin::plane_points(series.header);
  std::vector<double> x(at(points)), y(at(points));
  serafin::read_coordinates(series, 0, 0, x);
  serafin::read_coordinates(series, 1, 0, y);
  const auto parts = static_cast<std::int32_t>(pieces.count());
  step::NewFiles files;
  PieceWriter writer(files, prefix, parts, options.layout, IndexKind::bytes);
  std::vector<PiecePlace> places;
  std::optional<MedPieces> med;
  if (options.layout == PieceLayout::med) med.emplace(prefix.string() + ".med", series);
  for (std::int32_t part = 0; part < parts; ++part) {
    serafin::SerafinSeries here;
    const serafin::SerafinSeries& like = pieces.series(at(part), here);
    Piece piece;
    piece.part = part;
    const auto mine = pieces.global.of(part);
    piece.points.assign(mine.begin(), mine.end());
    piece.connectivity = serafin::read_triangles(like);
    for (std::int32_t& point : piece.connectivity) ++point;
    for (const std::int32_t point : mine) {
      piece.x.push_back(x[at(point)]);
      piece.y.push_back(y[at(point)]);
    }
    piece.boundary_points = like.header.iparam[7];
    piece.shared.resize(at(std::max(like.header.iparam[8], 0)));
    if (med)
      med->add(piece);
    else
      places.push_back(place_piece(series, series.header, writer, piece));
  }
  if (med) return {parts, points, series.steps, {med->finish(pieces.global, options.progress)}};
  cut_steps(series, writer, places, pieces.global, options.progress);
  SplitReport report{parts, points, series.steps, writer.finish()};
  files.publish();
  return report;
}

}  // namespace octavo::telemac
