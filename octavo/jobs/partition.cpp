#include "octavo/jobs/partition.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <numeric>
#include <utility>

#include "octavo/base/byte_order.hpp"
#include "octavo/base/error.hpp"
#include "octavo/file/posix.hpp"
#include "octavo/formats/serafin/boundary.hpp"
#include "octavo/formats/serafin/liquid.hpp"
#include "octavo/formats/serafin/series.hpp"
#include "octavo/formats/serafin/write.hpp"
#include "octavo/partition/contour.hpp"

namespace octavo::jobs {
namespace {

namespace fs = std::filesystem;
namespace serafin = formats::serafin;
using base::Error;
using base::Kind;

constexpr std::size_t most_sharers = 9;  // of a point, other than the part itself: columns of a PAR line

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

/// Lists by part, in the order that they were counted in.
struct Buckets {
  std::vector<std::int64_t> first;
  std::vector<std::int32_t> items;
  std::span<const std::int32_t> of(std::int32_t part) const {
    return std::span(items).subspan(at(first[at(part)]), at(first[at(part) + 1] - first[at(part)]));
  }
};

/// `each(f)` calls f(part, item) for all, the same twice.
template <class Each>
Buckets fill_buckets(std::int32_t parts, Each&& each) {
  Buckets buckets;
  buckets.first.assign(at(parts) + 1, 0);
  each([&](std::int32_t part, std::int32_t) { ++buckets.first[at(part) + 1]; });
  std::partial_sum(buckets.first.begin(), buckets.first.end(), buckets.first.begin());
  buckets.items.resize(at(buckets.first.back()));
  std::vector<std::int64_t> next(buckets.first.begin(), buckets.first.end() - 1);
  each([&](std::int32_t part, std::int32_t item) { buckets.items[at(next[at(part)]++)] = item; });
  return buckets;
}

/// The mesh of one plane, and how it is cut.
struct CutMesh {
  std::int32_t parts = 1;
  std::int32_t points = 0;
  std::vector<std::int32_t> connectivity;  ///< points from 0
  std::vector<double> x, y;
  std::vector<std::int32_t> rank;  ///< on the boundary, from 1; 0 inside
  partition::PartVector part_of;
  partition::PartLists lists;
  partition::SharedPoints shared;
  std::vector<partition::HaloElement> halo;
  Buckets shared_of, halo_of;  ///< by part: positions in shared.points, in halo
};

struct Boundary {
  std::vector<serafin::BoundaryPoint> points;
  partition::Contour contour;
  std::vector<std::int32_t> liquid;
  Buckets of;  ///< by part: positions in points
};

/// One part's share of the mesh.
struct Piece {
  std::vector<std::int32_t> points;        ///< global numbers from 0, by local number
  std::vector<std::int32_t> connectivity;  ///< local, from 1
  std::int32_t boundary_points = 0;
};

/// Where a part's share of an input lies.
struct Place {
  fs::path file;
  std::uint64_t begin = 0;
  serafin::Header header;
};

void read_plane(const serafin::Series& series, CutMesh& mesh) {
  mesh::Unstructured read = serafin::read_mesh(series);
  mesh.points = static_cast<std::int32_t>(read.x.size());
  mesh.connectivity.assign(read.connectivity.begin(), read.connectivity.end());
  mesh.x = std::move(read.x);
  mesh.y = std::move(read.y);
}

partition::PartVector cut(const CutMesh& mesh, const PartitionOptions& options) {
  if (options.part_of) return *options.part_of;
  switch (options.method) {
    case partition::Method::metis: return partition::cut_metis(mesh.connectivity, mesh.points, options.parts);
    case partition::Method::scotch: return partition::cut_scotch(mesh.connectivity, mesh.points, options.parts);
    default: return partition::cut_hilbert(mesh.connectivity, mesh.x, mesh.y, options.parts);
  }
}

void check_part_vector(const CutMesh& mesh, std::int32_t parts) {
  if (3 * mesh.part_of.size() != mesh.connectivity.size())
    throw Error(Kind::usage, "the part vector has " + std::to_string(mesh.part_of.size()) + " entries, the mesh " +
                                 std::to_string(mesh.connectivity.size() / 3) + " elements");
  for (const std::int32_t part : mesh.part_of)
    if (part < 0 || part >= parts)
      throw Error(Kind::usage, "the part vector names part " + std::to_string(part) + " of " + std::to_string(parts));
}

void find_neighbours(CutMesh& mesh) {
  mesh.lists = partition::list_parts(mesh.part_of, mesh.parts);
  mesh.shared = partition::find_shared(mesh.connectivity, mesh.points, mesh.part_of);
  mesh.halo = partition::find_halo(mesh.connectivity, mesh.part_of, mesh.shared);
  mesh.shared_of = fill_buckets(mesh.parts, [&](auto&& f) {
    for (std::size_t i = 0; i < mesh.shared.points.size(); ++i)
      for (std::int64_t k = mesh.shared.first[i]; k < mesh.shared.first[i + 1]; ++k)
        f(mesh.shared.parts[at(k)], static_cast<std::int32_t>(i));
  });
  mesh.halo_of = fill_buckets(mesh.parts, [&](auto&& f) {
    for (std::size_t i = 0; i < mesh.halo.size(); ++i)
      f(mesh.part_of[at(mesh.halo[i].element)], static_cast<std::int32_t>(i));
  });
}

/// Ranks on the boundary: those of the boundary file, which the mesh's own numbers must not contradict; else those.
void find_ranks(const serafin::Series& series, const Boundary* boundary, CutMesh& mesh, PartitionReport& report) {
  std::vector<std::int32_t> own(at(mesh.points));
  serafin::read_numbers(series, 0, own);
  const auto numbered = static_cast<std::size_t>(
      std::count_if(own.begin(), own.end(), [](std::int32_t number) { return number != 0; }));
  if (numbered == 0) report.notes.push_back("IPOBO is zero everywhere: the boundary was found from the mesh");
  if (boundary == nullptr) {
    mesh.rank = std::move(own);
    if (numbered > 0) return;
    const auto found = partition::find_boundary(mesh.connectivity, mesh.x, mesh.y);
    for (std::size_t k = 0; k < found.size(); ++k) mesh.rank[at(found[k])] = static_cast<std::int32_t>(k + 1);
    return;
  }
  mesh.rank.assign(at(mesh.points), 0);
  for (std::size_t k = 0; k < boundary->points.size(); ++k)
    mesh.rank[at(boundary->points[k].point - 1)] = static_cast<std::int32_t>(k + 1);
  if (numbered == 0) return;
  for (std::size_t i = 0; i < own.size(); ++i)
    if ((own[i] != 0) != (mesh.rank[i] != 0))
      throw Error(Kind::corrupt, "point " + std::to_string(i + 1) + " is on the boundary by " +
                                     (own[i] != 0 ? "IPOBO" : "the boundary file") + " only: " +
                                     std::to_string(numbered) + " points by IPOBO, " +
                                     std::to_string(boundary->points.size()) + " lines in the boundary file")
          .at(series.file->path().string());
}

Boundary read_boundary(const fs::path& path, const CutMesh& mesh) {
  Boundary boundary;
  boundary.points = serafin::read_boundary(path, mesh.points);
  std::vector<std::int32_t> points;
  std::vector<double> x, y;
  for (const serafin::BoundaryPoint& p : boundary.points) {
    points.push_back(p.point - 1);
    x.push_back(mesh.x[at(p.point - 1)]);
    y.push_back(mesh.y[at(p.point - 1)]);
  }
  try {
    boundary.contour = partition::trace_contour(mesh.connectivity, mesh.points, points);
    boundary.liquid = serafin::number_liquid(boundary.points, boundary.contour.next, x, y);
  } catch (Error& error) {
    error.at(path.string());
    throw;
  }
  return boundary;
}

/// The parts that have a point: those of its elements.
template <class F>
void each_part(const CutMesh& mesh, std::int32_t point, std::int32_t element, F&& f) {
  const auto& points = mesh.shared.points;
  const auto found = std::lower_bound(points.begin(), points.end(), point);
  if (found == points.end() || *found != point) return f(mesh.part_of[at(element)]);
  const std::size_t i = static_cast<std::size_t>(found - points.begin());
  for (std::int64_t k = mesh.shared.first[i]; k < mesh.shared.first[i + 1]; ++k) f(mesh.shared.parts[at(k)]);
}

void share_boundary(const CutMesh& mesh, Boundary& boundary) {
  boundary.of = fill_buckets(mesh.parts, [&](auto&& f) {
    for (std::size_t k = 0; k < boundary.points.size(); ++k)
      each_part(mesh, boundary.points[k].point - 1, boundary.contour.element[k],
                [&](std::int32_t part) { f(part, static_cast<std::int32_t>(k)); });
  });
}

/// Numbers points by first appearance in the part's elements. `local` is zero for all points before and after.
Piece number_piece(const CutMesh& mesh, std::int32_t part, std::vector<std::int32_t>& local) {
  Piece piece;
  for (const std::int32_t element : partition::elements_of(mesh.lists, part))
    for (std::size_t k = 0; k < 3; ++k) {
      const std::int32_t point = mesh.connectivity[3 * at(element) + k];
      if (local[at(point)] == 0) {
        piece.points.push_back(point);
        local[at(point)] = static_cast<std::int32_t>(piece.points.size());
        if (mesh.rank[at(point)] != 0) ++piece.boundary_points;
      }
      piece.connectivity.push_back(local[at(point)]);
    }
  return piece;
}

void forget(const Piece& piece, std::vector<std::int32_t>& local) {
  for (const std::int32_t point : piece.points) local[at(point)] = 0;
}

/// "NAMEnnnnn-iiiii", or NAME for one part.
fs::path piece_file(const fs::path& prefix, const std::string& name, std::int32_t parts, std::int32_t part) {
  std::array<char, 32> suffix{};
  if (parts > 1) std::snprintf(suffix.data(), suffix.size(), "%05d-%05d", parts - 1, part);
  return prefix.string() + name + suffix.data();
}

/// A new file in the place of what was there.
file::File replace(const fs::path& path) {
  file::File file = file::open_write(path);
  file::resize(file, 0);
  return file;
}

void write_text(const fs::path& path, std::string_view text) {
  file::File file = replace(path);
  file::pwrite_all(file, 0, std::as_bytes(std::span(text)));
  file.close();
}

/// The pieces of one input, one after another: in one file with an index, or each in its own.
struct PieceFiles {
  fs::path prefix;
  std::string name;
  std::int32_t parts;
  bool concat;
  file::File file{};
  std::uint64_t end = 0;
  std::vector<fs::path> made{};

  fs::path whole(const char* what) const { return prefix.string() + name + what; }
  fs::path next(std::int32_t part) {
    const fs::path path = concat ? whole("-CONCAT") : piece_file(prefix, name, parts, part);
    if (!concat || part == 0) {
      file = replace(path);
      made.push_back(path);
      end = 0;
    }
    return path;
  }
  void append(std::span<const std::byte> bytes) {
    file::pwrite_all(file, end, bytes);
    end += bytes.size();
  }
  void index(std::span<const std::byte> bytes) {
    if (!concat) return;
    write_text(whole("-INDEX"), {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    made.push_back(whole("-INDEX"));
  }
};

template <class T>
void put_big_endian(std::vector<std::byte>& bytes, T value) {
  bytes.resize(bytes.size() + sizeof(T));
  base::store(bytes.data() + bytes.size() - sizeof(T), value, std::endian::big);
}

serafin::Header piece_header(serafin::Header header, const Piece& piece, std::size_t interface_points) {
  const std::int32_t planes = serafin::planes(header);
  header.order = std::endian::big;
  const std::string_view tag = header.real_bytes == 8 ? "SERAFIND" : "SERAFIN ";
  std::copy(tag.begin(), tag.end(), header.title.begin() + 72);
  header.iparam[7] = piece.boundary_points;
  header.iparam[8] = static_cast<std::int32_t>(interface_points);
  header.points = planes * static_cast<std::int32_t>(piece.points.size());
  header.elements = static_cast<std::int32_t>(piece.connectivity.size() / 3) * std::max(planes - 1, 1);
  return header;
}

/// Prisms between the planes, lower triangle first; triangles in 2-D.
void write_piece_connectivity(const serafin::Put& put, const serafin::Header& header, const Piece& piece) {
  const std::int32_t planes = serafin::planes(header), points = serafin::plane_points(header);
  if (planes == 1) return serafin::write_connectivity(put, header, 0, piece.connectivity);
  std::vector<std::int32_t> prisms;
  for (std::int32_t plane = 0; plane + 1 < planes; ++plane) {
    prisms.clear();
    for (std::size_t e = 0; e < piece.connectivity.size(); e += 3)
      for (std::int32_t up = 0; up < 2; ++up)
        for (std::size_t k = 0; k < 3; ++k) prisms.push_back(piece.connectivity[e + k] + (plane + up) * points);
    serafin::write_connectivity(put, header, static_cast<std::int64_t>(at(plane) * prisms.size()), prisms);
  }
}

/// Global numbers and coordinates, plane by plane: those of the lowest one, as the columns stand upright.
void write_piece_points(const serafin::Put& put, const serafin::Header& header, const CutMesh& mesh,
                        const Piece& piece) {
  std::vector<std::int32_t> numbers(piece.points.size());
  std::vector<double> x(piece.points.size()), y(piece.points.size());
  for (std::int32_t plane = 0; plane < serafin::planes(header); ++plane) {
    for (std::size_t i = 0; i < piece.points.size(); ++i) {
      numbers[i] = piece.points[i] + 1 + plane * mesh.points;
      x[i] = mesh.x[at(piece.points[i])];
      y[i] = mesh.y[at(piece.points[i])];
    }
    const auto first = static_cast<std::int64_t>(at(plane) * piece.points.size());
    serafin::write_numbers(put, header, first, numbers);
    serafin::write_coordinates(put, header, 0, first, x);
    serafin::write_coordinates(put, header, 1, first, y);
  }
}

/// A piece without its steps, as bytes.
std::vector<std::byte> encode_piece(const serafin::Header& header, const CutMesh& mesh, const Piece& piece) {
  std::vector<std::byte> bytes(at(static_cast<std::int64_t>(serafin::layout_of(header).steps)));
  const serafin::Put put = [&](std::uint64_t offset, std::span<const std::byte> some) {
    std::copy(some.begin(), some.end(), bytes.begin() + static_cast<std::ptrdiff_t>(offset));
  };
  serafin::write_header(put, header);
  write_piece_connectivity(put, header, piece);
  write_piece_points(put, header, mesh, piece);
  return bytes;
}

/// Bytes of a piece with its steps.
std::uint64_t piece_bytes(const serafin::Header& header, std::int64_t steps) {
  const serafin::Layout layout = serafin::layout_of(header);
  return layout.steps + static_cast<std::uint64_t>(steps) * layout.step_bytes;
}

/// Lays a piece of an input down, its steps still to come.
Place place_piece(PieceFiles& files, std::int32_t part, const serafin::Series& series, const CutMesh& mesh,
                  const Piece& piece, std::vector<std::byte>& index) {
  Place place{files.next(part), files.end, piece_header(series.header, piece, mesh.shared_of.of(part).size())};
  files.append(encode_piece(place.header, mesh, piece));
  files.end = place.begin + piece_bytes(place.header, series.steps);
  put_big_endian(index, static_cast<std::int64_t>(place.begin + 1));
  put_big_endian(index, static_cast<std::int64_t>(files.end + 1));
  return place;
}

std::string boundary_text(const Boundary& boundary, std::int32_t part, std::span<const std::int32_t> local) {
  std::string text;
  for (const std::int32_t k : boundary.of.of(part)) {
    serafin::BoundaryPoint point = boundary.points[at(k)];
    point.point = local[at(point.point - 1)];
    text += serafin::boundary_line(point);
  }
  return text;
}

/// Where a boundary line leaves the part at a point: the point over there, with its place.
std::string leaving(const CutMesh& mesh, const Boundary& boundary, std::int32_t part, std::int32_t k) {
  const partition::Contour& contour = boundary.contour;
  std::int64_t segment = 0;
  std::int32_t over = -1;
  const std::int32_t next = contour.next[at(k)], previous = contour.previous[at(k)];
  if (mesh.part_of[at(contour.element[at(k)])] != part) {
    over = next;
    segment = boundary.points[at(next)].point;
  }
  if (mesh.part_of[at(contour.element[at(previous)])] != part) {
    segment = over == -1 ? -std::int64_t{boundary.points[at(previous)].point} : -9999;
    over = previous;
  }
  const std::size_t point = over == -1 ? 0 : at(boundary.points[at(over)].point - 1);
  const double x = over == -1 ? 0 : mesh.x[point], y = over == -1 ? 0 : mesh.y[point];
  return serafin::list_directed(segment) + serafin::list_directed(static_cast<float>(x)) +
         serafin::list_directed(static_cast<float>(y));
}

void add_number(std::string& text, const char* format, std::int64_t number) {
  std::array<char, 32> digits{};
  std::snprintf(digits.data(), digits.size(), format, static_cast<long long>(number));
  text += digits.data();
}

void add_shared(std::string& text, const CutMesh& mesh, std::int32_t part, std::span<const std::int32_t> local) {
  for (const std::int32_t i : mesh.shared_of.of(part)) {
    const std::int32_t point = mesh.shared.points[at(i)];
    add_number(text, "%7lld ", local[at(point)]);
    std::size_t others = 0;
    for (std::int64_t k = mesh.shared.first[at(i)]; k < mesh.shared.first[at(i) + 1]; ++k)
      if (mesh.shared.parts[at(k)] != part) {
        if (++others > most_sharers)
          throw Error(Kind::unsupported, "point " + std::to_string(point + 1) + " is shared by more than " +
                                             std::to_string(most_sharers + 1) + " parts, which the PAR file cannot say")
              .hint("take fewer parts, or another method");
        add_number(text, "%7lld ", mesh.shared.parts[at(k)]);
      }
    for (; others < most_sharers; ++others) add_number(text, "%7lld ", -1);
    text += '\n';
  }
}

void add_halo(std::string& text, const CutMesh& mesh, std::int32_t part) {
  const auto number_in = [&](std::int32_t in, std::int32_t element) {
    const auto elements = partition::elements_of(mesh.lists, in);
    return std::lower_bound(elements.begin(), elements.end(), element) - elements.begin() + 1;
  };
  for (const std::int32_t i : mesh.halo_of.of(part)) {
    const partition::HaloElement& halo = mesh.halo[at(i)];
    add_number(text, "%9lld ", number_in(part, halo.element));
    for (const std::int32_t behind : halo.behind)
      add_number(text, "%9lld ", behind == -1 ? -1 : mesh.part_of[at(behind)]);
    for (const std::int32_t behind : halo.behind)
      add_number(text, "%9lld ", behind == -1 ? -1 : number_in(mesh.part_of[at(behind)], behind));
    text += '\n';
  }
}

std::string parallel_text(const CutMesh& mesh, const Boundary& boundary, std::int32_t part,
                          std::span<const std::int32_t> local) {
  std::string text;
  const auto line = [&](std::int64_t number) { text += serafin::list_directed(number) + '\n'; };
  line(static_cast<std::int64_t>(boundary.of.of(part).size()));
  for (const std::int32_t k : boundary.of.of(part))
    text += serafin::list_directed(std::int64_t{k} + 1) +
            serafin::list_directed(std::int64_t{local[at(boundary.points[at(k)].point - 1)]}) +
            leaving(mesh, boundary, part, k) + serafin::list_directed(std::int64_t{boundary.liquid[at(k)]}) + '\n';
  line(static_cast<std::int64_t>(mesh.shared_of.of(part).size()));
  add_shared(text, mesh, part, local);
  add_number(text, "%9lld\n", static_cast<std::int64_t>(mesh.halo_of.of(part).size()));
  add_halo(text, mesh, part);
  return text;
}

/// Texts of all parts and which lines are whose.
struct TextPieces {
  PieceFiles files;
  std::int32_t lines = 0;
  std::vector<std::pair<std::int32_t, std::int32_t>> ranges{};

  void add(std::int32_t part, std::string_view text) {
    files.next(part);
    files.append(std::as_bytes(std::span(text)));
    const auto count = static_cast<std::int32_t>(std::count(text.begin(), text.end(), '\n'));
    ranges.emplace_back(lines + 1, lines + count + 1);
    lines += count;
  }
};

/// Big-endian pairs for CLI, a text of first lines for PAR.
void index_boundary(TextPieces& pieces) {
  std::vector<std::byte> bytes;
  for (const auto& range : pieces.ranges) {
    put_big_endian(bytes, range.first);
    put_big_endian(bytes, range.second);
  }
  pieces.files.index(bytes);
}
void index_parallel(TextPieces& pieces) {
  std::string text;
  for (const auto& range : pieces.ranges) text += serafin::list_directed(std::int64_t{range.first}) + '\n';
  pieces.files.index(std::as_bytes(std::span(text)));
}

/// All steps of an input, one variable at a time.
void cut_steps(const serafin::Series& series, const std::vector<Place>& places, const Buckets& points,
               std::int32_t plane_points, const base::Progress& progress) {
  std::vector<double> values(at(series.header.points)), some;
  const auto total = series.steps * static_cast<std::int64_t>(series.header.variables.size());
  for (std::int64_t step = 0; step < series.steps; ++step) {
    const double time = serafin::read_time(series, step);
    for (std::size_t v = 0; v < series.header.variables.size(); ++v) {
      if (progress && !progress(step * static_cast<std::int64_t>(series.header.variables.size()) +
                                    static_cast<std::int64_t>(v), total))
        throw Error(Kind::interrupted, "stopped while steps were cut");
      serafin::read_values(series, step, v, 0, values);
      for (std::size_t part = 0; part < places.size(); ++part) {
        const auto mine = points.of(static_cast<std::int32_t>(part));
        some.clear();
        for (std::int32_t plane = 0; plane < serafin::planes(series.header); ++plane)
          for (const std::int32_t point : mine) some.push_back(values[at(plane) * at(plane_points) + at(point)]);
        const Place& place = places[part];
        const file::File file = file::open_write(place.file);
        const serafin::Put put = [&](std::uint64_t offset, std::span<const std::byte> bytes) {
          file::pwrite_all(file, place.begin + offset, bytes);
        };
        if (v == 0) serafin::write_time(put, place.header, step, time);
        serafin::write_values(put, place.header, step, v, 0, some);
      }
    }
  }
}

struct Input {
  serafin::Series series;
  PieceFiles files;
  std::vector<std::byte> index{};
  std::vector<Place> places{};
};

Input input_of(const fs::path& path, const std::string& name, const fs::path& prefix, const CutMesh& mesh,
               PieceLayout layout) {
  Input input{serafin::open_series(path), {prefix, name, mesh.parts, layout == PieceLayout::concat && mesh.parts > 1}};
  if (serafin::plane_points(input.series.header) != mesh.points)
    throw Error(Kind::corrupt, "a result on another mesh: expected " + std::to_string(mesh.points) +
                                   " points a plane, found " +
                                   std::to_string(serafin::plane_points(input.series.header)))
        .at(path.string());
  return input;
}

void collect(PartitionReport& report, const PieceFiles& files) {
  report.files.insert(report.files.end(), files.made.begin(), files.made.end());
}

}  // namespace

PartitionReport partition_serafin(const fs::path& path, const fs::path& prefix, const PartitionOptions& options) {
  PartitionReport report;
  CutMesh mesh;
  mesh.parts = options.parts;
  const serafin::Series series = serafin::open_series(path);
  read_plane(series, mesh);
  partition::check_parts(options.parts, static_cast<std::int64_t>(mesh.connectivity.size() / 3));
  std::optional<Boundary> boundary;
  if (options.boundary) boundary = read_boundary(*options.boundary, mesh);
  find_ranks(series, boundary ? &*boundary : nullptr, mesh, report);
  mesh.part_of = cut(mesh, options);
  check_part_vector(mesh, options.parts);
  find_neighbours(mesh);
  if (boundary) share_boundary(mesh, *boundary);
  report.elements = static_cast<std::int64_t>(mesh.part_of.size());
  report.points = mesh.points;
  report.quality = partition::quality_of(mesh.lists, mesh.part_of, mesh.shared, mesh.halo);

  const bool concat = options.layout == PieceLayout::concat && mesh.parts > 1;
  const bool parallel = boundary && serafin::planes(series.header) == 1;
  std::vector<Input> inputs;
  inputs.push_back(input_of(path, "GEO", prefix, mesh, options.layout));
  for (const fs::path& also : options.also)
    inputs.push_back(input_of(also, also.stem().string(), prefix, mesh, options.layout));
  TextPieces conditions{{prefix, "CLI", mesh.parts, concat}}, neighbours{{prefix, "PAR", mesh.parts, concat}};
  Buckets points;  // of all parts, for their steps
  points.first.push_back(0);
  std::vector<std::int32_t> local(at(mesh.points), 0);
  for (std::int32_t part = 0; part < mesh.parts; ++part) {
    const Piece piece = number_piece(mesh, part, local);
    for (Input& input : inputs)
      input.places.push_back(place_piece(input.files, part, input.series, mesh, piece, input.index));
    if (boundary) conditions.add(part, boundary_text(*boundary, part, local));
    if (parallel) neighbours.add(part, parallel_text(mesh, *boundary, part, local));
    points.items.insert(points.items.end(), piece.points.begin(), piece.points.end());
    points.first.push_back(static_cast<std::int64_t>(points.items.size()));
    forget(piece, local);
  }
  for (Input& input : inputs) {
    cut_steps(input.series, input.places, points, mesh.points, options.progress);
    input.files.index(input.index);
    collect(report, input.files);
  }
  index_boundary(conditions);
  index_parallel(neighbours);
  collect(report, conditions.files);
  collect(report, neighbours.files);
  return report;
}

}  // namespace octavo::jobs
