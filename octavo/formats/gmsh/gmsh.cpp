#include "octavo/formats/gmsh/gmsh.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <memory>
#include <string>
#include <utility>

#include "octavo/base/error.hpp"
#include "octavo/file/posix.hpp"
#include "octavo/formats/gmsh/reader.hpp"
#include "octavo/mesh/triangles/cells.hpp"

namespace octavo::formats::gmsh {
namespace {

using base::Error;
using base::Kind;

constexpr std::string_view first_line = "$MeshFormat";

struct Contents {
  mesh::Unstructured mesh;
  std::vector<double> bottom;       ///< heights of the points; none: all are 0
  std::vector<std::int64_t> cells;  ///< by corners
  std::vector<std::string> notes;
};

/// The places of tags among the points.
class Places {
 public:
  explicit Places(const Surface& surface) {
    for (std::size_t i = 0; i < surface.tags.size(); ++i) sorted_.emplace_back(surface.tags[i], i);
    std::sort(sorted_.begin(), sorted_.end());
    for (std::size_t i = 1; i < sorted_.size(); ++i)
      if (sorted_[i].first == sorted_[i - 1].first)
        throw Error(Kind::corrupt, "two points have the number " + std::to_string(sorted_[i].first));
  }
  std::size_t of(std::int64_t tag, std::size_t cell) const {
    const auto found = std::lower_bound(sorted_.begin(), sorted_.end(), std::pair(tag, std::size_t{0}));
    if (found == sorted_.end() || found->first != tag)
      throw Error(Kind::corrupt, "no point has the number " + std::to_string(tag)).at("cell " + std::to_string(cell));
    return found->second;
  }

 private:
  std::vector<std::pair<std::int64_t, std::size_t>> sorted_;  // tag, place
};

/// The points that cells have, in the file's order.
Contents contents_of(const Surface& surface) {
  constexpr std::int64_t unused = -1;
  const Places places(surface);
  std::vector<std::int64_t> number(surface.tags.size(), unused);
  for (std::size_t c = 0; c < surface.cells.size(); ++c)
    for (const std::int64_t tag : surface.cells[c])
      if (tag != -1) number[places.of(tag, c)] = 0;
  Contents out;
  out.notes = surface.notes;
  bool flat = true;
  for (std::size_t i = 0; i < number.size(); ++i) {
    if (number[i] == unused) continue;
    const auto& [x, y, z] = surface.places[i];
    if (!std::isfinite(x) || !std::isfinite(y))
      throw Error(Kind::corrupt, "a point without a place").at("point " + std::to_string(surface.tags[i]));
    number[i] = std::ssize(out.mesh.x);
    out.mesh.x.push_back(x);
    out.mesh.y.push_back(y);
    out.bottom.push_back(z);
    flat = flat && z == 0;
  }
  if (flat) out.bottom.clear();
  for (std::size_t c = 0; c < surface.cells.size(); ++c) {
    std::vector<std::int64_t> corners;
    for (const std::int64_t tag : surface.cells[c])
      if (tag != -1) corners.push_back(number[places.of(tag, c)]);
    mesh::add_cell(corners, static_cast<std::int64_t>(c), out.mesh);
    mesh::count_cell(corners.size(), out.cells);
  }
  const std::size_t left = number.size() - out.mesh.x.size();
  if (left > 0) out.notes.push_back(std::to_string(left) + " points that no cell has are left out");
  return out;
}

mesh::Header header_of(const Contents& contents) {
  mesh::Header header;
  header.code = "Gmsh";
  header.dim = 2;
  header.unit_length = 100;  // metres, as every format of triangles here
  header.attributes["triangles"] = mesh::num_triangles(contents.cells);
  header.attributes["planes"] = std::int64_t{1};
  header.attributes[mesh::cells_attribute] = contents.cells;
  for (std::size_t axis = 0; axis < 2; ++axis) {
    const std::vector<double>& all = axis == 0 ? contents.mesh.x : contents.mesh.y;
    const auto [least, most] = std::minmax_element(all.begin(), all.end());
    header.lo[axis] = *least;
    header.hi[axis] = *most > *least ? *most : *least + 1;
  }
  if (!contents.bottom.empty())
    header.fields.push_back({"BOTTOM", "M", mesh::ScalarType::float64, mesh::Centring::node, 1, 0});
  return header;
}

std::string digits(double value) {
  std::array<char, 32> text{};
  return {text.data(), std::to_chars(text.data(), text.data() + text.size(), value).ptr};
}

/// Text that goes to a file in pieces.
class Text {
 public:
  explicit Text(const std::filesystem::path& path) : file_(file::open_write(path)) { file::resize(file_, 0); }
  void line(const std::string& text) {
    waiting_ += text;
    waiting_ += '\n';
    if (waiting_.size() > (1 << 20)) flush();
  }
  void close() {
    flush();
    file_.close();
  }

 private:
  void flush() {
    file::pwrite_all(file_, at_, std::as_bytes(std::span(waiting_)));
    at_ += waiting_.size();
    waiting_.clear();
  }
  file::File file_;
  std::uint64_t at_ = 0;
  std::string waiting_;
};

bool is_bottom(const mesh::FieldInfo& info) { return info.name == "BOTTOM" || info.name == "FOND"; }

/// Heights of the points: the bottom at the last step, else 0.
std::vector<double> heights_of(const Series& series, std::vector<std::string>& notes) {
  std::vector<double> heights(series.mesh.x.size(), 0);
  std::string left;
  for (const mesh::FieldInfo& info : series.variables) {
    if (series.times.empty()) continue;
    if (is_bottom(info))
      heights = values_of(series, series.open(series.times.size() - 1), info.name);
    else
      left += (left.empty() ? "" : ", ") + info.name;
  }
  if (!left.empty()) notes.push_back("a mesh of Gmsh has no values: left out are " + left);
  return heights;
}

}  // namespace

bool recognise(const std::filesystem::path& path) {
  try {
    std::string begin(first_line.size(), '\0');
    const auto bytes = std::as_writable_bytes(std::span(begin));
    return file::pread_some(file::open_read(path), 0, bytes) == begin.size() && begin == first_line;
  } catch (const Error&) {
    return false;
  }
}

mesh::Dataset open(const std::filesystem::path& path, std::optional<std::int64_t> step) {
  if (step && *step != 0)
    throw Error(Kind::usage, "step " + std::to_string(*step) + " is not there: a mesh of Gmsh has no steps")
        .at(path.string());
  std::shared_ptr<const Contents> contents;
  try {
    contents = std::make_shared<const Contents>(contents_of(read_surface(path)));
    if (contents->cells.empty()) throw Error(Kind::unsupported, "no surface: expected triangles and quadrangles");
  } catch (Error& error) {
    if (std::find(error.places().begin(), error.places().end(), path.string()) != error.places().end()) throw;
    throw std::move(error.at(path.string()));
  }
  mesh::Dataset dataset = mesh::of_one_part("gmsh", path.string(), header_of(*contents),
                                            static_cast<std::int64_t>(std::filesystem::file_size(path)),
                                            mesh::num_triangles(contents->cells), std::ssize(contents->mesh.x));
  dataset.notes = contents->notes;
  dataset.read = [contents, header = dataset.header](int, const mesh::Request& request) {
    mesh::Part part;
    part.mesh = request.mesh ? contents->mesh : mesh::Unstructured{};
    for (const std::size_t f : mesh::select_fields(header, request.fields)) {
      part.fields.push_back(mesh::make_field(header.fields[f], contents->bottom.size()));
      std::copy(contents->bottom.begin(), contents->bottom.end(), part.fields.back().as<double>().begin());
    }
    return part;
  };
  return dataset;
}

FileSteps list_steps(const std::filesystem::path& path) {
  const mesh::Dataset dataset = open(path, {});
  return {dataset.header.fields.empty() ? std::vector<double>{} : std::vector<double>{0}, dataset.bytes};
}

void write(const Series& series, const std::filesystem::path& path, WriteReport& report) {
  if (series.mesh.planes > 1)
    throw Error(Kind::unsupported,
                "files of Gmsh are written of one plane, not of " + std::to_string(series.mesh.planes));
  const std::vector<double> z = heights_of(series, report.notes);
  Text text(path);
  for (const char* line : {"$MeshFormat", "2.2 0 8", "$EndMeshFormat", "$Nodes"}) text.line(line);
  text.line(std::to_string(z.size()));
  for (std::size_t i = 0; i < z.size(); ++i)
    text.line(std::to_string(i + 1) + " " + digits(series.mesh.x[i]) + " " + digits(series.mesh.y[i]) + " " +
              digits(z[i]));
  text.line("$EndNodes");
  text.line("$Elements");
  const auto cells = static_cast<std::int64_t>(series.mesh.connectivity.size() / 3);
  std::vector<std::int64_t> first;
  if (mesh::cells_by_corners(series.first.header).empty())
    for (std::int64_t t = 0; t <= cells; ++t) first.push_back(t);
  else
    first = mesh::first_triangles(series.mesh.connectivity);
  text.line(std::to_string(first.size() - 1));
  for (std::size_t c = 0; c + 1 < first.size(); ++c) {
    const std::vector<std::int64_t> corners = mesh::corners_of(series.mesh.connectivity, first[c], first[c + 1]);
    if (corners.size() > 4)
      throw Error(Kind::unsupported,
                  "Gmsh has triangles and quadrangles, not cells of " + std::to_string(corners.size()) + " corners")
          .at("cell " + std::to_string(c));
    std::string line = std::to_string(c + 1) + (corners.size() == 3 ? " 2" : " 3") + " 2 1 1";
    for (const std::int64_t point : corners) line += " " + std::to_string(point + 1);
    text.line(line);
  }
  text.line("$EndElements");
  text.close();
}

}  // namespace octavo::formats::gmsh
