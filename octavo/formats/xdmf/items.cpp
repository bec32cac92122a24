// "XDMF Model and Format", versions 2 and 3: DataItem.
#include "octavo/formats/xdmf/items.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <span>
#include <sstream>
#include <type_traits>
#include <utility>

#include "octavo/base/error.hpp"
#include "octavo/file/hdf5/hdf5.hpp"

namespace octavo::formats::xdmf {
namespace {

namespace fs = std::filesystem;
namespace hdf5 = file::hdf5;
using base::Error;
using base::Kind;
using mesh::ScalarType;
using Extents = std::vector<std::uint64_t>;

constexpr std::size_t most_joined = 9;  // a tensor
constexpr int deepest_item = 4;

std::uint64_t product(const Extents& shape) {
  std::uint64_t count = 1;
  for (const std::uint64_t extent : shape) {
    if (extent > 0 && count > (std::uint64_t{1} << 60) / extent)
      throw Error(Kind::corrupt, "more values than any file has");
    count *= extent;
  }
  return count;
}

// ------------------------------------------------------------------ numbers in the text

/// As std::from_chars, but knows "+1", and reads 0 where a real is too small.
template <class T>
std::from_chars_result read_number(const char* at, const char* end, T& value) {
  if (end - at > 1 && *at == '+' && at[1] != '-') ++at;
  std::from_chars_result result = std::from_chars(at, end, value);
  if constexpr (std::is_floating_point_v<T>)
    if (long double wide = 1; result.ec == std::errc::result_out_of_range)
      if (std::from_chars(at, end, wide).ec == std::errc() && std::abs(wide) < 1) {
        value = 0;
        result.ec = std::errc();
      }
  return result;
}

template <class T>
bool is_number(const std::string& text, T& value) {
  const char* const end = text.data() + text.size();
  const auto [next, error] = read_number(text.data(), end, value);
  return error == std::errc() && next == end;
}

template <class T>
std::vector<T> numbers_of_text(const XdmfItem& item) {
  std::vector<T> out;
  const char *at = item.text.data(), *end = at + item.text.size();
  while (true) {
    while (at != end && (std::isspace(static_cast<unsigned char>(*at)) != 0 || *at == ',')) ++at;
    if (at == end) break;
    T value{};
    const auto [next, error] = read_number(at, end, value);
    if (error != std::errc())
      throw Error(Kind::corrupt, "expected a number, found \"" + std::string(at, std::min(at + 20, end)) + "\"");
    out.push_back(value);
    at = next;
  }
  return out;
}

// ------------------------------------------------------------------ values

hdf5::Info find_set(const hdf5::File& file, const std::string& name) {
  const std::size_t slash = name.rfind('/');
  const auto sets = slash == std::string::npos ? hdf5::list(file) : hdf5::list(file, name.substr(0, slash));
  for (const hdf5::Info& set : sets)
    if (set.name == name) return set;
  throw Error(Kind::corrupt, "no data set " + name).at(file.path().string());
}

/// A data set has the shape that its file says: the text may count fewer steps, those of the moment it was written.
Extents shape_of(const XdmfItem& item) {
  if (item.kind != XdmfItemKind::array || item.file.empty()) return item.shape;
  const hdf5::File file = hdf5::open(item.file);
  return find_set(file, item.set).shape;
}

/// The distance of neighbours along each axis, in values.
Extents strides_of(const Extents& shape) {
  Extents strides(shape.size(), 1);
  for (std::size_t axis = shape.size(); axis-- > 1;) strides[axis - 1] = strides[axis] * shape[axis];
  return strides;
}

/// Whether a data set of an HDF5 file has the values, of which any may be read alone.
bool in_data_set(const XdmfItem& item) { return item.kind == XdmfItemKind::array && !item.file.empty(); }

/// Throws Error(corrupt) unless an array takes as many values of another one as the text says. Nothing is read for it.
void require_count(const XdmfItem& item, std::uint64_t found) {
  if (found != num_values(item))
    throw Error(Kind::corrupt,
                "expected " + std::to_string(num_values(item)) + " numbers, found " + std::to_string(found));
}

/// Places along each axis, which they do not leave.
std::vector<hdf5::Stretch> slab_of(const std::vector<std::int64_t>& numbers, const Extents& shape) {
  const std::size_t axes = shape.size();
  if (axes == 0 || numbers.size() != 3 * axes)
    throw Error(Kind::corrupt, "a slab of " + std::to_string(numbers.size()) +
                                   " numbers: expected start, stride and count along each of " + std::to_string(axes) +
                                   " axes");
  std::vector<hdf5::Stretch> slab;
  for (std::size_t axis = 0; axis < axes; ++axis) {
    const std::int64_t start = numbers[axis], stride = numbers[axes + axis], count = numbers[2 * axes + axis];
    const auto extent = static_cast<std::int64_t>(shape[axis]);
    if (start < 0 || stride < 1 || count < 1 || start >= extent || (count - 1) > (extent - 1 - start) / stride)
      throw Error(Kind::corrupt, "a slab of start " + std::to_string(start) + ", stride " + std::to_string(stride) +
                                     " and count " + std::to_string(count) + " along axis " + std::to_string(axis) +
                                     ", which has " + std::to_string(extent) + " values");
    slab.push_back(
        {static_cast<std::uint64_t>(start), static_cast<std::uint64_t>(stride), static_cast<std::uint64_t>(count)});
  }
  return slab;
}

template <class T>
std::vector<T> read_slab(const XdmfItem& item) {
  const Extents shape = shape_of(item.of[1]), strides = strides_of(shape);
  const auto slab = slab_of(read_numbers<std::int64_t>(item.of[0]), shape);
  Extents counts;
  for (const hdf5::Stretch& axis : slab) counts.push_back(axis.count);
  require_count(item, product(counts));
  std::vector<T> out(static_cast<std::size_t>(product(counts)));
  if (in_data_set(item.of[1])) {
    const hdf5::File file = hdf5::open(item.of[1].file);
    hdf5::read_stretches<T>(file, find_set(file, item.of[1].set), slab, std::span(out));
    return out;
  }
  const std::vector<T> all = read_numbers<T>(item.of[1]);
  Extents index(shape.size(), 0);
  for (T& value : out) {
    std::uint64_t at = 0;
    for (std::size_t axis = 0; axis < slab.size(); ++axis)
      at += (slab[axis].start + index[axis] * slab[axis].stride) * strides[axis];
    value = all[static_cast<std::size_t>(at)];
    for (std::size_t axis = slab.size(); axis-- > 0 && ++index[axis] == slab[axis].count;) index[axis] = 0;
  }
  return out;
}

template <class T>
std::vector<T> read_places(const XdmfItem& item) {
  const auto indices = read_numbers<std::int64_t>(item.of[0]);
  const Extents shape = shape_of(item.of[1]), strides = strides_of(shape);
  if (shape.empty() || indices.size() % shape.size() != 0)
    throw Error(Kind::corrupt, std::to_string(indices.size()) + " indices: expected one along each of " +
                                   std::to_string(shape.size()) + " axes for a place");
  require_count(item, indices.size() / shape.size());
  Extents places;
  for (std::size_t i = 0; i < indices.size(); ++i) {
    const std::size_t axis = i % shape.size();
    places.push_back(static_cast<std::uint64_t>(indices[i]));  // a negative one is too large
    if (places[i] >= shape[axis])
      throw Error(Kind::corrupt, "index " + std::to_string(indices[i]) + " along axis " + std::to_string(axis) +
                                     ", which has " + std::to_string(shape[axis]) + " values");
  }
  std::vector<T> out(indices.size() / shape.size());
  if (in_data_set(item.of[1])) {
    const hdf5::File file = hdf5::open(item.of[1].file);
    hdf5::read_places<T>(file, find_set(file, item.of[1].set), places, std::span(out));
    return out;
  }
  const std::vector<T> all = read_numbers<T>(item.of[1]);
  for (std::size_t i = 0; i < out.size(); ++i) {
    std::uint64_t at = 0;
    for (std::size_t axis = 0; axis < shape.size(); ++axis) at += places[i * shape.size() + axis] * strides[axis];
    out[i] = all[static_cast<std::size_t>(at)];
  }
  return out;
}

template <class T>
std::vector<T> read_joined(const XdmfItem& item) {
  const std::uint64_t values = num_values(item);
  std::vector<T> out(static_cast<std::size_t>(values));
  for (std::size_t k = 0; k < item.of.size(); ++k) {
    if (item.of[k].shape.empty()) continue;
    const std::vector<T> one = read_numbers<T>(item.of[k]);
    if (one.size() != values / item.of.size() || values % item.of.size() != 0)
      throw Error(Kind::corrupt, "arrays to join: expected " + std::to_string(values / item.of.size()) +
                                     " values in each, found " + std::to_string(one.size()));
    for (std::size_t i = 0; i < one.size(); ++i) out[i * item.of.size() + k] = one[i];
  }
  return out;
}

template <class T>
std::vector<T> read_array(const XdmfItem& item) {
  if (item.file.empty()) return numbers_of_text<T>(item);
  const hdf5::File file = hdf5::open(item.file);
  const hdf5::Info set = find_set(file, item.set);
  if (hdf5::num_items(set) != product(item.shape))
    throw Error(Kind::corrupt, "data set " + item.set + ": expected " + std::to_string(product(item.shape)) +
                                   " values, found " + hdf5::describe(set))
        .at(item.file.string());
  return hdf5::read_all<T>(file, set);
}

// ------------------------------------------------------------------ elements

ScalarType type_of(const XmlElement& item) {
  const std::string type = lower(either(item, "DataType", "NumberType")), bytes = item.attribute("Precision");
  const bool is_float = type.empty() || type == "float";
  return is_float && bytes != "8" ? ScalarType::float32 : ScalarType::float64;
}

/// Where a data set is: FILE:/SET, in this folder.
void set_place(const std::string& place, const std::string& format, const fs::path& folder, XdmfItem& item) {
  const bool rooted = place.find(":/") != std::string::npos;
  const std::size_t colon = rooted ? place.rfind(":/") : place.rfind(':');
  if (format != "hdf" || colon == std::string::npos)
    throw Error(Kind::unsupported, "an array of Format " + format + ": expected XML, or HDF with FILE:/SET");
  const fs::path file = place.substr(0, colon);
  const bool leaves = std::any_of(file.begin(), file.end(), [](const fs::path& step) { return step == ".."; });
  if (file.is_absolute() || leaves)
    throw Error(Kind::unsupported, "data in another folder: " + file.string())
        .hint("keep both files in one folder, and name the HDF5 file without a path");
  item.file = folder / file;
  item.set = place.substr(colon + (rooted ? 2 : 1));
}

XdmfItem array_of(const XmlElement& element, XdmfText& text, int depth);

std::vector<XdmfItem> arrays_in(const XmlElement& element, XdmfText& text, int depth) {
  if (depth > deepest_item)
    throw Error(Kind::unsupported, "arrays more than " + std::to_string(deepest_item) + " deep");
  const auto elements = text.references.in(element, "DataItem");
  if (elements.size() > most_joined)
    throw Error(Kind::unsupported, std::to_string(elements.size()) + " arrays in one: expected 9 or fewer");
  std::vector<XdmfItem> out;
  for (const XmlElement* one : elements) out.push_back(array_of(*one, text, depth + 1));
  return out;
}

/// JOIN($0, $1, 0*$1): arrays by number; a product with 0 stands for zeros.
void set_joined(const std::string& function, std::vector<XdmfItem> arrays, XdmfItem& item) {
  std::string text = lower(function);
  std::erase_if(text, [](char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; });
  const auto refuse = [&] {
    throw Error(Kind::unsupported, "an array of Function " + function + ": expected JOIN($0, $1 ...)");
  };
  if (!text.starts_with("join(") || !text.ends_with(")")) refuse();
  std::istringstream terms(text.substr(5, text.size() - 6));
  for (std::string term; std::getline(terms, term, ',');) {
    const bool zeros = term.starts_with("0*");
    if (zeros) term.erase(0, 2);
    if (term.size() != 2 || term[0] != '$' || term[1] < '0') refuse();
    const auto number = static_cast<std::size_t>(term[1] - '0');
    if (number >= arrays.size() || item.of.size() == most_joined) refuse();
    item.of.push_back(zeros ? XdmfItem{} : arrays[number]);
  }
  if (item.of.empty()) refuse();
  item.kind = XdmfItemKind::joined;
}

XdmfItem array_of(const XmlElement& element, XdmfText& text, int depth) {
  XdmfItem item;
  std::istringstream extents(element.attribute("Dimensions"));
  for (std::uint64_t extent = 0; extents >> extent;) item.shape.push_back(extent);
  if (item.shape.empty()) throw Error(Kind::corrupt, "an array without Dimensions");
  item.type = type_of(element);
  const std::string kind = lower(element.attribute("ItemType"));
  if (!kind.empty() && kind != "uniform") {
    std::vector<XdmfItem> arrays = arrays_in(element, text, depth);
    if (arrays.empty()) throw Error(Kind::corrupt, "an array of ItemType " + kind + " without arrays in it");
    item.type = arrays.back().type;
    if (kind == "function") {
      set_joined(either(element, "Function", "function"), std::move(arrays), item);
    } else if (kind == "hyperslab" || kind == "coordinates") {
      if (arrays.size() != 2) throw Error(Kind::corrupt, "an array of ItemType " + kind + ": expected two in it");
      item.kind = kind == "hyperslab" ? XdmfItemKind::slab : XdmfItemKind::places;
      item.of = std::move(arrays);
    } else {
      throw Error(Kind::unsupported,
                  "an array of ItemType " + kind + ": expected Uniform, HyperSlab, Coordinates or Function");
    }
    return item;
  }
  const std::string format = lower(element.attribute("Format"));
  if (format.empty() || format == "xml")
    item.text = element.text;
  else
    set_place(trimmed(element.text), format, text.folder, item);
  return item;
}

}  // namespace

bool parse_number(const std::string& text, double& value) { return is_number(text, value); }
bool parse_number(const std::string& text, std::int64_t& value) { return is_number(text, value); }

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

std::string trimmed(const std::string& text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

std::string either(const XmlElement& element, const char* name, const char* other) {
  const std::string found = element.attribute(name);
  return found.empty() ? element.attribute(other) : found;
}

XdmfItem item_of(const XmlElement& holder, XdmfText& text) {
  try {
    std::vector<XdmfItem> arrays = arrays_in(holder, text, 0);
    if (arrays.empty()) throw Error(Kind::unsupported, "no array");
    if (arrays.size() == 1) return std::move(arrays.front());
    if (holder.name != "Geometry")
      throw Error(Kind::unsupported, std::to_string(arrays.size()) + " arrays: expected one");
    XdmfItem item;
    item.kind = XdmfItemKind::joined;
    item.shape = {num_values(arrays.front()), arrays.size()};
    item.type = arrays.front().type;
    item.of = std::move(arrays);
    return item;
  } catch (Error& error) {
    throw std::move(error.at("element " + holder.name));
  }
}

std::uint64_t num_values(const XdmfItem& item) { return product(item.shape); }

template <class T>
std::vector<T> read_numbers(const XdmfItem& item) {
  std::vector<T> values;
  switch (item.kind) {
    case XdmfItemKind::array: values = read_array<T>(item); break;
    case XdmfItemKind::slab: values = read_slab<T>(item); break;
    case XdmfItemKind::places: values = read_places<T>(item); break;
    case XdmfItemKind::joined: values = read_joined<T>(item); break;
  }
  if (values.size() != num_values(item))
    throw Error(Kind::corrupt,
                "expected " + std::to_string(num_values(item)) + " numbers, found " + std::to_string(values.size()));
  return values;
}
template std::vector<double> read_numbers(const XdmfItem&);
template std::vector<std::int64_t> read_numbers(const XdmfItem&);

void add_files(const XdmfItem& item, std::set<fs::path>& to) {
  if (!item.file.empty()) to.insert(item.file);
  for (const XdmfItem& one : item.of) add_files(one, to);
}

}  // namespace octavo::formats::xdmf
