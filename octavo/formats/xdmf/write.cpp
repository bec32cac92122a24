// "XDMF Model and Format", version 3, by the XDMF project.
#include <algorithm>
#include <array>
#include <charconv>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "octavo/base/error.hpp"
#include "octavo/file/hdf5/hdf5.hpp"
#include "octavo/file/posix.hpp"
#include "octavo/file/whole.hpp"
#include "octavo/formats/xdmf/cells.hpp"
#include "octavo/formats/xdmf/contents.hpp"
#include "octavo/formats/xdmf/xdmf.hpp"
#include "octavo/mesh/triangles/cells.hpp"
#include "octavo/mesh/units.hpp"

namespace octavo::formats::xdmf {
namespace {

namespace fs = std::filesystem;
namespace hdf5 = file::hdf5;
using base::Error;
using base::Kind;
using Extents = std::vector<std::uint64_t>;

std::string digits(double value) {
  std::array<char, 32> text{};
  return {text.data(), std::to_chars(text.data(), text.data() + text.size(), value).ptr};
}

/// The text as XML has it.
std::string as_xml(const std::string& text) {
  std::string out;
  for (const char c : text) switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      default: out += c;
    }
  return out;
}

/// The two files.
class XdmfFiles {
 public:
  XdmfFiles(const Series& series, const fs::path& text, const fs::path& heavy, std::string heavy_name)
      : series_(series), text_path_(text), heavy_(hdf5::create(heavy)), heavy_name_(as_xml(heavy_name)) {}
  void put_mesh();
  void put_step(std::int64_t step, const mesh::Dataset& dataset, bool single_precision);
  /// A mesh without steps.
  void put_alone();
  void close();

 private:
  void put_points();
  template <class T>
  void put_set(const std::string& name, const hdf5::ItemType& type, const Extents& shape, std::span<const T> values);
  /// An element DataItem that names a data set.
  std::string item(const std::string& set, const char* type, std::size_t bytes, const Extents& shape) const;
  void open_grid(const std::string& name, const std::string& time);

  const Series& series_;
  fs::path text_path_;
  hdf5::File heavy_;
  std::string heavy_name_, text_, topology_, geometry_;
};

template <class T>
void XdmfFiles::put_set(const std::string& name, const hdf5::ItemType& type, const Extents& shape,
                        std::span<const T> values) {
  hdf5::make(heavy_, name, type, shape);
  hdf5::write_rows<T>(heavy_, name, 0, shape[0], values);
}

std::string XdmfFiles::item(const std::string& set, const char* type, std::size_t bytes, const Extents& shape) const {
  std::string extents;
  for (const std::uint64_t extent : shape) extents += (extents.empty() ? "" : " ") + std::to_string(extent);
  return "<DataItem DataType=\"" + std::string(type) + "\" Precision=\"" + std::to_string(bytes) + "\" Dimensions=\"" +
         extents + "\" Format=\"HDF\">" + heavy_name_ + ":/" + set + "</DataItem>";
}

void XdmfFiles::put_points() {
  const bool solid = mesh::holds_solids(series_.first.header);
  const std::vector<double>&x = solid ? series_.solids.x : series_.mesh.x,
        &y = solid ? series_.solids.y : series_.mesh.y;
  std::vector<double> rows;
  for (std::size_t i = 0; i < x.size(); ++i) {
    rows.push_back(x[i]);
    rows.push_back(y[i]);
    if (solid) rows.push_back(series_.solids.z[i]);
  }
  const Extents shape{x.size(), solid ? 3U : 2U};
  put_set<double>("points", hdf5::float64_type, shape, rows);
  geometry_ = "<Geometry GeometryType=\"" + std::string(solid ? "XYZ" : "XY") + "\">" +
              item("points", "Float", 8, shape) + "</Geometry>\n";
}

void XdmfFiles::put_mesh() {
  const XdmfCells cells = cells_of(series_);
  Extents shape{cells.numbers.size()};
  if (cells.corners > 0) shape = {cells.cells, cells.corners};
  put_set<std::int64_t>("cells", hdf5::int64_type, shape, cells.numbers);
  topology_ = "<Topology TopologyType=\"" + cells.type + "\" NumberOfElements=\"" + std::to_string(cells.cells) +
              "\">" + item("cells", "Int", 8, shape) + "</Topology>\n";
  put_points();
  text_ = "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<Xdmf Version=\"3.0\">\n<Domain>\n";
  if (const std::string unit = mesh::word_of_length(series_.first.header.unit_length); !unit.empty())
    text_ += "<Information Name=\"LengthUnit\" Value=\"" + unit + "\"/>\n";
  if (series_.times.size() > 1) text_ += "<Grid Name=\"steps\" GridType=\"Collection\" CollectionType=\"Temporal\">\n";
}

void XdmfFiles::open_grid(const std::string& name, const std::string& time) {
  text_ += "<Grid Name=\"" + name + "\" GridType=\"Uniform\">\n" + time + topology_ + geometry_;
}

void XdmfFiles::put_alone() {
  open_grid("mesh", "");
  text_ += "</Grid>\n";
}

void XdmfFiles::put_step(std::int64_t step, const mesh::Dataset& dataset, bool single_precision) {
  const std::string group = std::to_string(step);
  hdf5::make_group(heavy_, group);
  std::string attributes;
  for (std::size_t v = 0; v < series_.variables.size(); ++v) {
    const mesh::FieldInfo& info = series_.variables[v];
    const std::vector<double> values = values_of(series_, dataset, info);
    const bool small = single_precision || info.type == mesh::ScalarType::float32;
    const std::string set = group + "/" + std::to_string(v);
    put_set<double>(set, small ? hdf5::float32_type : hdf5::float64_type, {values.size()}, values);
    const bool in_cells = mesh::in_cells(series_.first.header, info);
    attributes += "<Attribute Name=\"" + as_xml(info.name) + "\" AttributeType=\"Scalar\" Center=\"" +
                  (in_cells ? "Cell" : "Node") + "\">";
    if (!info.unit.empty()) attributes += "<Information Name=\"Unit\" Value=\"" + as_xml(info.unit) + "\"/>";
    attributes += item(set, "Float", small ? 4 : 8, {values.size()}) + "</Attribute>\n";
  }
  // Some readers of a single grid know no times; one that is not there is 0.
  const bool timeless = series_.times.size() == 1 && dataset.header.time == 0;
  open_grid("step " + group, timeless ? "" : "<Time Value=\"" + digits(dataset.header.time) + "\"/>\n");
  text_ += attributes + "</Grid>\n";
}

void XdmfFiles::close() {
  heavy_.close();
  if (series_.times.size() > 1) text_ += "</Grid>\n";
  text_ += "</Domain>\n</Xdmf>\n";
  file::File text = file::open_write(text_path_);
  file::resize(text, 0);
  file::pwrite_all(text, 0, std::as_bytes(std::span(text_)));
  text.close();
}

/// Throws Error(usage) if the series is read from that file, or from one that names it.
void require_not_read(const fs::path& heavy, const mesh::Dataset& input) {
  std::set<fs::path> files{input.path};
  if (input.format == "xdmf") files.merge(read_contents(input.path).named);
  for (const fs::path& file : files) {
    std::error_code ignored;
    if (fs::equivalent(file, heavy, ignored))
      throw Error(Kind::usage, "the output's arrays would replace the input's")
          .at(heavy.string())
          .hint("give the output another name");
  }
}

/// Whether the text that stands at `out`, if one does, has these arrays.
bool is_of(const fs::path& heavy, const fs::path& out) {
  std::error_code ignored;
  try {
    for (const fs::path& named : read_contents(out).named)
      if (fs::equivalent(named, heavy, ignored)) return true;
  } catch (const Error&) {
  }
  return false;
}

/// NAME.h5 until it is whole.
class HeavyFile {
 public:
  HeavyFile(const fs::path& out, const mesh::Dataset& input, bool overwrite) : path_(out), overwrite_(overwrite) {
    path_.replace_extension(".h5");
    require_not_read(path_, input);
    if (!overwrite && fs::exists(fs::symlink_status(path_)))
      throw Error(Kind::usage, "the output exists already").at(path_.string()).hint("-f replaces it");
    if (fs::exists(path_) && !fs::is_empty(path_) && !is_of(path_, out))
      throw Error(Kind::usage, "-f replaces the arrays that the output names, and it does not name these")
          .at(path_.string())
          .hint("give the output another name, or remove them yourself");
    partial_ = path_.string() + ".partial";
    require_not_read(partial_, input);
    fs::remove(partial_);
  }
  ~HeavyFile() {
    std::error_code ignored;
    fs::remove(partial_, ignored);
  }
  HeavyFile(const HeavyFile&) = delete;
  HeavyFile& operator=(const HeavyFile&) = delete;
  const fs::path& partial() const { return partial_; }
  std::string name() const { return path_.filename().string(); }
  /// Returns its size [bytes].
  std::int64_t publish() const {
    file::sync_all(partial_);
    if (overwrite_)
      file::rename(partial_, path_);
    else
      file::rename_new(partial_, path_);
    return static_cast<std::int64_t>(fs::file_size(path_));
  }

 private:
  fs::path path_, partial_;
  bool overwrite_;
};

}  // namespace

std::int64_t write(const Series& series, const fs::path& path, const WriteRequest& request) {
  if (series.mesh.planes > 1)
    throw Error(Kind::unsupported, "XDMF files of one plane are written, not of " + std::to_string(series.mesh.planes))
        .hint("--to vtkhdf, med or serafin holds planes");
  const HeavyFile heavy(request.out, series.first, request.overwrite);
  XdmfFiles files(series, path, heavy.partial(), heavy.name());
  files.put_mesh();
  if (series.times.empty()) files.put_alone();
  for_each_step(series, request.progress, [&](std::int64_t step, const mesh::Dataset& dataset) {
    files.put_step(step, dataset, request.single_precision);
  });
  files.close();
  return heavy.publish();
}

}  // namespace octavo::formats::xdmf
