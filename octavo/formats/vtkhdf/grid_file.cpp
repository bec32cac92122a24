#include "octavo/formats/vtkhdf/grid_file.hpp"

#include <type_traits>

#include "octavo/base/error.hpp"
#include "octavo/formats/vtkhdf/field_type.hpp"

namespace octavo::formats::vtkhdf {

namespace hdf5 = file::hdf5;

GridFile::GridFile(const std::filesystem::path& path, const std::string& type, std::array<std::int64_t, 2> version)
    : path_(path), file_(hdf5::create(path)) {
  hdf5::make_group(file_, root);
  hdf5::write_numbers(file_, root, "Version", version);
  hdf5::write_words(file_, root, "Type", type);
}

void GridFile::attribute(const std::string& object, const std::string& name, std::span<const std::int64_t> values) {
  hdf5::write_numbers(file_, object.empty() ? root : in_root(object), name, values);
}

void GridFile::attribute(const std::string& object, const std::string& name, std::span<const double> values) {
  hdf5::write_attribute_items(file_, object.empty() ? root : in_root(object), name, hdf5::float64_type,
                              std::array<std::uint64_t, 1>{values.size()},
                              std::vector<double>(values.begin(), values.end()));
}

void GridFile::words(const std::string& object, const std::string& name, const std::string& text) {
  hdf5::write_words(file_, in_root(object), name, text);
}

void GridFile::group(const std::string& name) { hdf5::make_group(file_, in_root(name)); }

template <class T>
void GridFile::list(const std::string& name, const std::vector<T>& values, std::uint64_t columns) {
  const hdf5::ItemType type = std::is_same_v<T, double>         ? hdf5::float64_type
                              : std::is_same_v<T, std::uint8_t> ? hdf5::uint8_type
                                                                : hdf5::int64_type;
  std::vector<std::uint64_t> shape{values.size()};
  if (columns != 0) shape = {values.size() / columns, columns};
  hdf5::make(file_, in_root(name), type, shape);
  hdf5::write_rows<T>(file_, in_root(name), 0, shape[0], values);
}
template void GridFile::list(const std::string&, const std::vector<double>&, std::uint64_t);
template void GridFile::list(const std::string&, const std::vector<std::int64_t>&, std::uint64_t);
template void GridFile::list(const std::string&, const std::vector<std::uint8_t>&, std::uint64_t);

void GridFile::later(const std::string& name, const hdf5::ItemType& type, const std::vector<std::uint64_t>& shape) {
  hdf5::make(file_, in_root(name), type, shape);
  later_.push_back(name);
}

std::string GridFile::later(const std::string& group, const mesh::FieldInfo& field, std::uint64_t values) {
  std::vector<std::string>& taken = taken_[group];
  taken.push_back(set_name(field.name, taken));
  const std::string name = group + "/" + taken.back();
  std::vector<std::uint64_t> shape{values};
  if (field.components > 1) shape.push_back(static_cast<std::uint64_t>(field.components));
  later(name, item_type_of(field.type), shape);
  hdf5::write_words(file_, in_root(name), own_name, field.name);
  hdf5::write_words(file_, in_root(name), own_unit, field.unit);
  return name;
}

void GridFile::time(double time) {
  group("FieldData");
  list("FieldData/TimeValue", std::vector<double>{time});
}

std::map<std::string, std::uint64_t> GridFile::close() {
  file_.close();
  std::map<std::string, std::uint64_t> places;
  const hdf5::File file = hdf5::open(path_);
  for (const std::string& name : later_) {
    const std::size_t slash = name.rfind('/');
    const std::string group = slash == std::string::npos ? std::string(root) : in_root(name.substr(0, slash));
    for (const hdf5::Info& info : hdf5::list(file, group))
      if (info.name == in_root(name) && info.offset) places[name] = *info.offset;
  }
  return places;
}

std::vector<std::uint64_t> places_of(const std::map<std::string, std::uint64_t>& places,
                                     const std::vector<std::string>& names) {
  std::vector<std::uint64_t> out;
  for (const std::string& name : names) {
    const auto found = places.find(name);
    out.push_back(found == places.end() ? 0 : found->second);  // a data set without values has no place
  }
  return out;
}

}  // namespace octavo::formats::vtkhdf
