#include "octavo/formats/serafin/series.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "octavo/base/byte_order.hpp"
#include "octavo/base/error.hpp"

namespace octavo::formats::serafin {
namespace {

using base::Error;
using base::Kind;

constexpr std::int64_t values_at_once = std::int64_t{1} << 16;  // values in memory while they are converted

constexpr double most_coordinate = 1e30;  // a limit for geometry: its squares are finite

/// Reads a header word after word, each record's lengths checked.
struct HeaderReader {
  const SerafinSeries& series;
  std::uint64_t at = 0;  ///< next record, from the piece's begin

  Error error(const std::string& message) const {
    return Error(Kind::corrupt, message)
        .at(series.file->path().string() + ", byte " + std::to_string(series.begin + at));
  }
  void bytes(std::uint64_t from, std::span<std::byte> out) const {
    if (from + out.size() > series.bytes)
      throw error("the file ends within the header: expected " + std::to_string(from + out.size()) + " bytes, found " +
                  std::to_string(series.bytes));
    file::pread_all(*series.file, series.begin + from, out);
  }
  std::uint32_t word(std::uint64_t from) const {
    std::array<std::byte, 4> raw;
    bytes(from, raw);
    return base::load<std::uint32_t>(raw.data(), series.header.order);
  }
  /// Both length words of the record at `at`.
  void require(std::uint64_t expected, const char* what) const {
    for (const std::uint64_t where : {at, at + 4 + expected})
      if (const std::uint32_t found = word(where); found != expected)
        throw error(std::string("record of ") + what + ": expected a length of " + std::to_string(expected) +
                    (where == at ? " before it" : " after it") + ", found " + std::to_string(found));
  }
  void text(std::span<char> out, const char* what) {
    require(out.size(), what);
    bytes(at + 4, std::as_writable_bytes(out));
    at += out.size() + 8;
  }
  void integers(std::span<std::int32_t> out, const char* what) {
    require(out.size_bytes(), what);
    bytes(at + 4, std::as_writable_bytes(out));
    if (series.header.order != std::endian::native) base::swap_bytes(std::as_writable_bytes(out), 4);
    at += out.size_bytes() + 8;
  }
};

std::endian find_order(const file::File& file, std::uint64_t begin, std::uint64_t bytes) {
  std::array<std::byte, 4> raw{};
  if (bytes < 4)
    throw Error(Kind::corrupt, "expected a SERAFIN file, found " + std::to_string(bytes) + " bytes")
        .at(file.path().string());
  file::pread_all(file, begin, raw);
  for (const std::endian order : {std::endian::big, std::endian::little})
    if (base::load<std::uint32_t>(raw.data(), order) == 80) return order;
  throw Error(Kind::corrupt, "no SERAFIN file: expected a title record of 80 bytes, found a length of " +
                                 std::to_string(base::load<std::uint32_t>(raw.data(), std::endian::big)))
      .at(file.path().string() + ", byte " + std::to_string(begin))
      .hint("octavo info says what the file is");
}

void read_variables(HeaderReader& reader, SerafinHeader& header) {
  std::array<std::int32_t, 2> counts{};
  reader.integers(counts, "the numbers of variables");
  const std::int64_t most = static_cast<std::int64_t>(reader.series.bytes / 40);
  if (counts[0] < 0 || counts[1] < 0 || std::int64_t{counts[0]} + counts[1] > most)
    throw reader.error("numbers of variables: expected 0 to " + std::to_string(most) + ", found " +
                       std::to_string(counts[0]) + " and " + std::to_string(counts[1]));
  header.quadratic = counts[1];
  header.variables.resize(static_cast<std::size_t>(counts[0] + counts[1]));
  for (Variable& variable : header.variables) reader.text(variable.text, "a variable's name");
}

void check_planes(const HeaderReader& reader, const SerafinHeader& header) {
  const std::int32_t count = planes(header);
  const bool prisms = header.nodes == 6;
  if ((count > 1) != prisms)
    throw reader.error("IPARAM(7) says " + std::to_string(header.iparam[6]) + " planes, and elements have " +
                       std::to_string(header.nodes) + " points: expected 6 with planes, 3 or 4 without");
  if (header.points % count != 0 || (prisms && header.elements % (count - 1) != 0))
    throw reader.error(std::to_string(header.points) + " points and " + std::to_string(header.elements) +
                       " elements are no " + std::to_string(count) + " equal planes");
}

void read_sizes(HeaderReader& reader, SerafinHeader& header) {
  std::array<std::int32_t, 4> sizes{};
  reader.integers(sizes, "the mesh's sizes");
  const auto [elements, points, nodes, one] = sizes;
  if (elements < 0 || points < 0 || (nodes != 3 && nodes != 4 && nodes != 6))
    throw reader.error("sizes of the mesh: expected elements, points and 3, 4 or 6 points an element, found " +
                       std::to_string(elements) + ", " + std::to_string(points) + ", " + std::to_string(nodes));
  header.elements = elements;
  header.points = points;
  header.nodes = nodes;
  check_planes(reader, header);
}

/// 4 or 8: the bytes a point in the record of x; 4 for a mesh without points.
void find_precision(HeaderReader& reader, SerafinHeader& header) {
  const auto points = static_cast<std::uint64_t>(header.points);
  reader.at = offsets_of(header).x;
  const std::uint64_t found = reader.word(reader.at);
  if (points > 0 && found == 8 * points)
    header.real_bytes = 8;
  else if (found != 4 * points)
    throw reader.error("record of x: expected a length of " + std::to_string(4 * points) + " or " +
                       std::to_string(8 * points) + ", found " + std::to_string(found));
}

void check_records(HeaderReader& reader, const SerafinHeader& header, const RecordOffsets& offsets) {
  const auto points = static_cast<std::uint64_t>(header.points);
  reader.at = offsets.connectivity;
  reader.require(4 * static_cast<std::uint64_t>(header.elements) * static_cast<std::uint64_t>(header.nodes),
                 "the connectivity (IKLE)");
  reader.at = offsets.numbers;
  reader.require(4 * points, "the points' numbers (IPOBO)");
  reader.at = offsets.x;
  reader.require(header.real_bytes * points, "x");
  reader.at = offsets.y;
  reader.require(header.real_bytes * points, "y");
}

void check_size(const HeaderReader& reader, const SerafinHeader& header) {
  const RecordOffsets least = offsets_of(header);  // with 4 bytes a real
  if (least.steps > reader.series.bytes)
    throw reader.error("a mesh of " + std::to_string(header.elements) + " elements and " +
                       std::to_string(header.points) + " points takes " + std::to_string(least.steps) +
                       " bytes, found " + std::to_string(reader.series.bytes));
}

Error out_of_step(const SerafinSeries& series, std::int64_t step) {
  return Error(Kind::usage, "step " + std::to_string(step) + " is not there: the file has " +
                                std::to_string(series.steps) + ", numbered from 0")
      .at(series.file->path().string());
}

Error wrong_length(const SerafinSeries& series, std::uint64_t where, const std::string& what, std::uint64_t expected,
                   std::uint64_t found) {
  return Error(Kind::corrupt, "record of " + what + ": expected a length of " + std::to_string(expected) + ", found " +
                                  std::to_string(found))
      .at(series.file->path().string() + ", byte " + std::to_string(series.begin + where));
}

/// Both lengths of a record that was read whole, from `at` in the piece.
void require_lengths(const SerafinSeries& series, std::uint64_t at, std::span<const std::byte> record,
                     const std::string& what) {
  const auto expected = static_cast<std::uint32_t>(record.size() - 8);
  for (const std::uint64_t where : {std::uint64_t{0}, std::uint64_t{record.size() - 4}})
    if (const auto found = base::load<std::uint32_t>(record.data() + where, series.header.order); found != expected)
      throw wrong_length(series, at + where, what, expected, found);
}

Error wrong_triangle(const SerafinSeries& series, std::size_t element, const std::array<std::int32_t, 3>& corners) {
  const std::int32_t points = plane_points(series.header);
  const auto text = [](std::int32_t corner) { return std::to_string(corner + 1); };
  return Error(Kind::corrupt, "expected three points of 1 to " + std::to_string(points) +
                                  (planes(series.header) > 1 ? " on the lowest plane" : "") + ", found " +
                                  text(corners[0]) + ", " + text(corners[1]) + ", " + text(corners[2]))
      .at(series.file->path().string() + ", element " + std::to_string(element + 1));
}

/// Both lengths of a record in a step.
void check_record(const SerafinSeries& series, std::uint64_t payload, std::uint64_t length, const std::string& what) {
  std::array<std::byte, 4> raw;
  for (const std::uint64_t where : {payload - 4, payload + length}) {
    file::pread_all(*series.file, series.begin + where, raw);
    if (const auto found = base::load<std::uint32_t>(raw.data(), series.header.order); found != length)
      throw wrong_length(series, where, what, length, found);
  }
}

void read_native(const SerafinSeries& series, std::uint64_t at, std::size_t width, std::span<std::byte> out) {
  file::pread_all(*series.file, series.begin + at, out);
  if (series.header.order != std::endian::native) base::swap_bytes(out, width);
}

/// Reals at a position as doubles, a piece at a time.
void read_reals(const SerafinSeries& series, std::uint64_t at, std::span<double> out) {
  const std::size_t width = series.header.real_bytes;
  if (width == 8) return read_native(series, at, 8, std::as_writable_bytes(out));
  std::vector<float> some(std::min<std::size_t>(out.size(), values_at_once));
  for (std::size_t done = 0; done < out.size(); done += some.size()) {
    const std::span<float> now(some.data(), std::min(some.size(), out.size() - done));
    read_native(series, at + done * 4, 4, std::as_writable_bytes(now));
    std::copy(now.begin(), now.end(), out.begin() + static_cast<std::ptrdiff_t>(done));
  }
}

void require_range(const SerafinSeries& series, std::int64_t first, std::size_t count) {
  if (first < 0 || static_cast<std::uint64_t>(first) + count > static_cast<std::uint64_t>(series.header.points))
    throw Error(Kind::usage, "points " + std::to_string(first) + " to " +
                                 std::to_string(first + static_cast<std::int64_t>(count)) + " of " +
                                 std::to_string(series.header.points))
        .at(series.file->path().string());
}

std::uint64_t checked_values_at(const SerafinSeries& series, std::int64_t step, std::size_t variable,
                                std::int64_t first, std::size_t count) {
  if (step < 0 || step >= series.steps) throw out_of_step(series, step);
  require_range(series, first, count);
  const std::uint64_t at = values_at(series.header, series.offsets, step, variable);
  check_record(series, at, series.header.real_bytes * static_cast<std::uint64_t>(series.header.points),
               name_of(series.header.variables.at(variable)) + ", step " + std::to_string(step));
  return at + static_cast<std::uint64_t>(first) * series.header.real_bytes;
}

}  // namespace

bool looks_like_series(const std::filesystem::path& path) {
  std::error_code failure;
  if (!std::filesystem::is_regular_file(path, failure)) return false;
  try {
    const file::File file = file::open_read(path);
    std::array<std::byte, 104> raw{};
    if (file::pread_some(file, 0, raw) < raw.size()) return false;
    for (const std::endian order : {std::endian::big, std::endian::little})
      if (base::load<std::uint32_t>(raw.data(), order) == 80 && base::load<std::uint32_t>(raw.data() + 84, order) == 80)
        return base::load<std::uint32_t>(raw.data() + 88, order) == 8;
  } catch (const Error&) {
  }
  return false;
}

SerafinSeries open_series(const std::filesystem::path& path) {
  auto file = std::make_shared<const file::File>(file::open_read(path));
  const std::uint64_t bytes = file::size(*file);
  return open_series(std::move(file), 0, bytes);
}

SerafinSeries open_series(std::shared_ptr<const file::File> file, std::uint64_t begin, std::uint64_t bytes) {
  SerafinSeries series;
  series.header.order = find_order(*file, begin, bytes);
  series.file = std::move(file);
  series.begin = begin;
  series.bytes = bytes;
  SerafinHeader& header = series.header;
  HeaderReader reader{series};
  reader.text(header.title, "the title");
  read_variables(reader, header);
  reader.integers(header.iparam, "IPARAM");
  if (header.iparam[9] != 0) reader.integers(header.date.emplace(), "the date");
  read_sizes(reader, header);
  check_size(reader, header);
  find_precision(reader, header);
  series.offsets = offsets_of(header);
  check_records(reader, header, series.offsets);
  const std::uint64_t left = bytes - series.offsets.steps;
  series.steps = static_cast<std::int64_t>(left / series.offsets.step_bytes);
  series.trailing_bytes = left % series.offsets.step_bytes;
  return series;
}

void read_connectivity(const SerafinSeries& series, std::int64_t first, std::span<std::int32_t> out) {
  const std::uint64_t at =
      series.offsets.connectivity + 4 + 4 * static_cast<std::uint64_t>(first * series.header.nodes);
  read_native(series, at, 4, std::as_writable_bytes(out));
  for (std::size_t i = 0; i < out.size(); ++i)
    if (out[i] < 1 || out[i] > series.header.points)
      throw Error(Kind::corrupt, "connectivity: expected points 1 to " + std::to_string(series.header.points) +
                                     ", found " + std::to_string(out[i]))
          .at(series.file->path().string() + ", byte " + std::to_string(series.begin + at + 4 * i) + ", element " +
              std::to_string(first + static_cast<std::int64_t>(i) / series.header.nodes + 1));
}

void read_numbers(const SerafinSeries& series, std::int64_t first, std::span<std::int32_t> out) {
  require_range(series, first, out.size());
  read_native(series, series.offsets.numbers + 4 + 4 * static_cast<std::uint64_t>(first), 4,
              std::as_writable_bytes(out));
}

void read_coordinates(const SerafinSeries& series, int axis, std::int64_t first, std::span<double> out) {
  require_range(series, first, out.size());
  const std::uint64_t at = (axis == 0 ? series.offsets.x : series.offsets.y) + 4 +
                           static_cast<std::uint64_t>(first) * series.header.real_bytes;
  read_reals(series, at, out);
  for (std::size_t i = 0; i < out.size(); ++i)
    if (!(std::abs(out[i]) < most_coordinate))
      throw Error(Kind::corrupt, std::string(axis == 0 ? "x" : "y") + " of point " +
                                     std::to_string(first + static_cast<std::int64_t>(i) + 1) +
                                     ": expected a coordinate below 1e30, found " + std::to_string(out[i]))
          .at(series.file->path().string() + ", byte " +
              std::to_string(series.begin + at + i * series.header.real_bytes));
}

double read_time(const SerafinSeries& series, std::int64_t step) {
  if (step < 0 || step >= series.steps) throw out_of_step(series, step);
  const std::uint64_t at = time_at(series.offsets, step);
  check_record(series, at, series.header.real_bytes, "the time of step " + std::to_string(step));
  double time = 0;
  read_reals(series, at, {&time, 1});
  return time;
}

std::vector<double> read_times(const SerafinSeries& series) {
  std::vector<double> times;
  for (std::int64_t step = 0; step < series.steps; ++step) times.push_back(read_time(series, step));
  return times;
}

void read_values(const SerafinSeries& series, std::int64_t step, std::size_t variable, std::int64_t first,
                 std::span<double> out) {
  read_reals(series, checked_values_at(series, step, variable, first, out.size()), out);
}

void read_raw_values(const SerafinSeries& series, std::int64_t step, std::size_t variable, std::int64_t first,
                     std::span<std::byte> out) {
  const std::size_t width = series.header.real_bytes;
  read_native(series, checked_values_at(series, step, variable, first, out.size() / width), width, out);
}

std::size_t find_variable(const SerafinHeader& header, std::string_view name) {
  std::string names;
  for (std::size_t i = 0; i < header.variables.size(); ++i) {
    if (name_of(header.variables[i]) == name) return i;
    names += (i == 0 ? "" : ", ") + name_of(header.variables[i]);
  }
  throw Error(Kind::usage, "no variable " + std::string(name)).hint("there are: " + names);
}

void read_record(const SerafinSeries& series, std::int64_t step, std::size_t variable, std::span<std::byte> out) {
  if (step < 0 || step >= series.steps) throw out_of_step(series, step);
  const std::uint64_t at = values_at(series.header, series.offsets, step, variable) - 4;
  file::pread_all(*series.file, series.begin + at, out);
  require_lengths(series, at, out, name_of(series.header.variables.at(variable)) + ", step " + std::to_string(step));
}

std::vector<std::int32_t> read_triangles(const SerafinSeries& series) {
  return read_triangles(series, 0, plane_elements(series.header));
}

std::vector<std::int32_t> read_triangles(const SerafinSeries& series, std::int64_t begin, std::int64_t count) {
  const SerafinHeader& header = series.header;
  if (header.nodes == 4)
    throw Error(Kind::unsupported, "a mesh of quadrangles: expected triangles or prisms")
        .at(series.file->path().string());
  const auto points = plane_points(header);
  const auto nodes = static_cast<std::size_t>(header.nodes);
  const auto triangles = static_cast<std::size_t>(count);
  std::vector<std::int32_t> connectivity(3 * triangles), some;
  constexpr std::size_t batch = 1 << 14;
  for (std::size_t first = 0; first < triangles; first += batch) {
    some.resize(std::min(batch, triangles - first) * nodes);
    read_connectivity(series, begin + static_cast<std::int64_t>(first), some);
    for (std::size_t e = 0; e * nodes < some.size(); ++e) {
      const std::int32_t a = some[e * nodes] - 1, b = some[e * nodes + 1] - 1, c = some[e * nodes + 2] - 1;
      if (a >= points || b >= points || c >= points || a == b || b == c || c == a)
        throw wrong_triangle(series, static_cast<std::size_t>(begin) + first + e, {a, b, c});
      std::int32_t* out = connectivity.data() + 3 * (first + e);
      out[0] = a;
      out[1] = b;
      out[2] = c;
    }
  }
  return connectivity;
}

namespace {

constexpr std::int64_t plane_batch = std::int64_t{1} << 14;  // elements or points of a plane in memory

/// Works through the elements or points of a plane: work(first, count).
template <class Work>
void in_batches(std::int64_t count, Work&& work) {
  for (std::int64_t first = 0; first < count; first += plane_batch) work(first, std::min(plane_batch, count - first));
}

Error not_as_below(const SerafinSeries& series, std::int64_t plane, const std::string& what,
                   const std::string& expected, const std::string& found) {
  return Error(Kind::corrupt, what + " is not as on plane 1: expected " + expected + ", found " + found)
      .at(series.file->path().string() + ", plane " + std::to_string(plane + 1));
}

/// Prisms [first, ...) of a layer: from the plane below it to that above, corner over corner.
void check_prisms(const SerafinSeries& series, std::int64_t layer, std::int64_t first,
                  std::span<const std::int32_t> triangles) {
  const std::int64_t points = plane_points(series.header), elements = plane_elements(series.header);
  std::vector<std::int32_t> prisms(2 * triangles.size());
  read_connectivity(series, layer * elements + first, prisms);
  for (std::size_t i = 0; i < prisms.size(); ++i) {
    const std::int64_t above = i % 6 < 3 ? layer : layer + 1;
    const std::int64_t expected = triangles[i / 6 * 3 + i % 3] + above * points + 1;
    if (prisms[i] != expected)
      throw not_as_below(series, above,
                         "corner " + std::to_string(i % 6 + 1) + " of element " +
                             std::to_string(layer * elements + first + static_cast<std::int64_t>(i / 6) + 1),
                         "point " + std::to_string(expected), "point " + std::to_string(prisms[i]));
  }
}

void check_points(const SerafinSeries& series, std::int64_t plane, int axis, std::int64_t first,
                  std::span<const double> lowest) {
  const std::int64_t begin = plane * plane_points(series.header) + first;
  std::vector<double> values(lowest.size());
  read_coordinates(series, axis, begin, values);
  const auto [other, same] = std::mismatch(values.begin(), values.end(), lowest.begin());
  if (other != values.end())
    throw not_as_below(
        series, plane,
        std::string(axis == 0 ? "x" : "y") + " of point " + std::to_string(begin + (other - values.begin()) + 1),
        std::to_string(*same), std::to_string(*other));
}

/// Only one plane of a mesh is kept, so this checks that the others have the same triangles over the same places.
void check_planes(const SerafinSeries& series, const mesh::Unstructured& mesh,
                  std::span<const std::int32_t> triangles) {
  for (std::int64_t layer = 0; layer + 1 < mesh.planes; ++layer)
    in_batches(plane_elements(series.header), [&](std::int64_t first, std::int64_t count) {
      check_prisms(series, layer, first,
                   triangles.subspan(static_cast<std::size_t>(3 * first), static_cast<std::size_t>(3 * count)));
    });
  for (std::int64_t plane = 1; plane < mesh.planes; ++plane)
    for (const int axis : {0, 1})
      in_batches(plane_points(series.header), [&](std::int64_t first, std::int64_t count) {
        check_points(series, plane, axis, first,
                     std::span(axis == 0 ? mesh.x : mesh.y)
                         .subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count)));
      });
}

}  // namespace

mesh::Unstructured read_mesh(const SerafinSeries& series, bool global) {
  const auto points = static_cast<std::size_t>(plane_points(series.header));
  mesh::Unstructured mesh;
  mesh.planes = planes(series.header);
  mesh.x.resize(points);
  mesh.y.resize(points);
  read_coordinates(series, 0, 0, mesh.x);
  read_coordinates(series, 1, 0, mesh.y);
  const auto connectivity = read_triangles(series);
  mesh.connectivity.assign(connectivity.begin(), connectivity.end());
  check_planes(series, mesh, connectivity);
  if (global) {
    std::vector<std::int32_t> numbers(points);
    read_numbers(series, 0, numbers);
    mesh.global_point.resize(points);
    std::transform(numbers.begin(), numbers.end(), mesh.global_point.begin(), [](std::int32_t n) { return n - 1; });
  }
  mesh::validate(mesh);
  return mesh;
}

}  // namespace octavo::formats::serafin
