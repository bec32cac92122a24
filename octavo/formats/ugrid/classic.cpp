// The header of a classic NetCDF file: "NetCDF Classic Format Specification" and CDF-5's, by Unidata and PnetCDF.
#include <algorithm>
#include <array>
#include <bit>
#include <memory>

#include "octavo/base/byte_order.hpp"
#include "octavo/base/error.hpp"
#include "octavo/file/posix.hpp"
#include "octavo/formats/ugrid/netcdf.hpp"

namespace octavo::formats::ugrid {
namespace {

using base::Error;
using base::Kind;
using mesh::ScalarType;

constexpr std::uint32_t dimensions_tag = 10, variables_tag = 11, attributes_tag = 12;
constexpr std::uint32_t text_type = 2;

/// NetCDF's numbers of types.
std::optional<ScalarType> number_type(std::uint32_t type) {
  switch (type) {
    case 1: return ScalarType::int8;
    case 3: return ScalarType::int16;
    case 4: return ScalarType::int32;
    case 5: return ScalarType::float32;
    case 6: return ScalarType::float64;
    case 7: return ScalarType::uint8;
    case 8: return ScalarType::int32;  // unsigned, of two bytes: widened
    case 9: return ScalarType::uint32;
    case 10: return ScalarType::int64;
    case 11: return ScalarType::uint64;
    default: return {};
  }
}

std::size_t bytes_of(std::uint32_t type) {
  constexpr std::array<std::size_t, 12> bytes{0, 1, 1, 2, 4, 4, 8, 1, 2, 4, 8, 8};
  return type < bytes.size() ? bytes[type] : 0;
}

template <class T>
double load_as(const std::byte* at) {
  return static_cast<double>(base::load<T>(at, std::endian::big));
}

double number_at(const std::byte* at, std::uint32_t type) {
  switch (type) {
    case 1: return load_as<std::int8_t>(at);
    case 3: return load_as<std::int16_t>(at);
    case 4: return load_as<std::int32_t>(at);
    case 5: return load_as<float>(at);
    case 6: return load_as<double>(at);
    case 8: return load_as<std::uint16_t>(at);
    case 9: return load_as<std::uint32_t>(at);
    case 10: return load_as<std::int64_t>(at);
    case 11: return load_as<std::uint64_t>(at);
    default: return load_as<std::uint8_t>(at);
  }
}

/// Reads the header from its first byte on, and never past the end of the file.
class ClassicHeader {
 public:
  explicit ClassicHeader(const file::File& file) : file_(file), length_(file::size(file)) {
    std::array<std::byte, 4> magic{};
    take(magic);
    version_ = std::to_integer<int>(magic[3]);
  }
  int version() const { return version_; }
  std::uint64_t length() const { return length_; }
  std::uint64_t at() const { return at_; }
  [[noreturn]] void refuse(const std::string& what) const {
    throw Error(Kind::corrupt, what).at("byte " + std::to_string(at_));
  }
  std::uint32_t word() {
    std::array<std::byte, 4> bytes{};
    take(bytes);
    return base::load<std::uint32_t>(bytes.data(), std::endian::big);
  }
  std::uint64_t long_word() {
    std::array<std::byte, 8> bytes{};
    take(bytes);
    return base::load<std::uint64_t>(bytes.data(), std::endian::big);
  }
  std::uint64_t count() { return version_ == 5 ? long_word() : word(); }
  std::uint64_t offset() { return version_ == 1 ? word() : long_word(); }
  /// The number of things in a list that take `least` bytes each in the file.
  std::uint64_t list(std::uint32_t tag, std::uint64_t least, const std::string& what) {
    const std::uint32_t found = word();
    const std::uint64_t items = count();
    if (found == 0 && items == 0) return 0;
    if (found != tag)
      refuse("a list of " + what + ": expected the tag " + std::to_string(tag) + ", found " + std::to_string(found));
    if (items > (length_ - at_) / least) refuse(std::to_string(items) + " " + what + " do not fit the file");
    return items;
  }
  std::vector<std::byte> bytes(std::uint64_t size) {
    const std::uint64_t padding = (4 - size % 4) % 4;
    if (size > length_ - at_) refuse(std::to_string(size) + " bytes are not in the file");
    std::vector<std::byte> out(static_cast<std::size_t>(size));
    take(out);
    at_ = std::min(length_, at_ + padding);
    return out;
  }
  std::string name() {
    const std::vector<std::byte> all = bytes(count());
    return {reinterpret_cast<const char*>(all.data()), all.size()};
  }

 private:
  void take(std::span<std::byte> out) {
    if (out.size() > length_ - at_) refuse("the file ends in its header");
    file::pread_all(file_, at_, out);
    at_ += out.size();
  }
  const file::File& file_;
  std::uint64_t length_ = 0, at_ = 0;
  int version_ = 0;
};

NetcdfAttributes read_attributes(ClassicHeader& header) {
  NetcdfAttributes out;
  const std::uint64_t many = header.list(attributes_tag, 12, "attributes");
  for (std::uint64_t i = 0; i < many; ++i) {
    const std::string name = header.name();
    const std::uint32_t type = header.word();
    const std::uint64_t items = header.count();
    const std::size_t width = bytes_of(type);
    if (width == 0) header.refuse("attribute " + name + " has the type " + std::to_string(type) + ": expected 1 to 11");
    if (items > header.length()) header.refuse("attribute " + name + " does not fit the file");
    const std::vector<std::byte> all = header.bytes(items * width);
    if (type == text_type) {
      std::string words(reinterpret_cast<const char*>(all.data()), all.size());
      words.resize(words.find_last_not_of('\0') + 1);
      out[name] = words;
      continue;
    }
    std::vector<double> numbers;
    for (std::size_t at = 0; at < all.size(); at += width) numbers.push_back(number_at(&all[at], type));
    out[name] = numbers;
  }
  return out;
}

struct Dimension {
  std::string name;
  std::uint64_t length = 0;  ///< 0: unlimited
};

/// Where the values of a variable are.
struct Stored {
  std::uint32_t type = 0;
  bool record = false;      ///< its first dimension is the unlimited one
  std::uint64_t begin = 0;  ///< first byte
  std::uint64_t items = 0;  ///< of a record, or of all
};

struct Layout {
  Netcdf listed;
  std::vector<Stored> stored;  ///< by variable
  std::uint64_t records = 0, record_bytes = 0;
};

std::vector<Dimension> read_dimensions(ClassicHeader& header) {
  std::vector<Dimension> out(header.list(dimensions_tag, 8, "dimensions"));
  for (Dimension& dimension : out) {
    dimension.name = header.name();
    dimension.length = header.count();
  }
  return out;
}

void read_variable(ClassicHeader& header, const std::vector<Dimension>& dimensions, Layout& layout) {
  NetcdfVariable variable;
  Stored stored;
  variable.name = header.name();
  const std::uint64_t axes = header.count();
  if (axes > 1024) header.refuse("variable " + variable.name + " of " + std::to_string(axes) + " dimensions");
  stored.items = 1;
  for (std::uint64_t axis = 0; axis < axes; ++axis) {
    const std::uint64_t id = header.count();
    if (id >= dimensions.size()) header.refuse("variable " + variable.name + " has no dimension " + std::to_string(id));
    const Dimension& dimension = dimensions[static_cast<std::size_t>(id)];
    variable.dimensions.push_back(dimension.name);
    variable.shape.push_back(dimension.length);
    if (dimension.length == 0 && axis == 0) {
      stored.record = true;
      continue;
    }
    if (dimension.length != 0 && stored.items > (std::uint64_t{1} << 60) / dimension.length)
      header.refuse("variable " + variable.name + " is larger than any file");
    stored.items *= dimension.length;
  }
  variable.attributes = read_attributes(header);
  stored.type = header.word();
  if (bytes_of(stored.type) == 0)
    header.refuse("variable " + variable.name + " has the type " + std::to_string(stored.type) + ": expected 1 to 11");
  header.count();  // its size, which follows from the shape; too small where it passes 32 bits
  stored.begin = header.offset();
  variable.type = number_type(stored.type);
  layout.listed.variables.push_back(std::move(variable));
  layout.stored.push_back(stored);
}

/// Bytes of a record of one variable, with its padding.
std::uint64_t padded(std::uint64_t bytes) { return (bytes + 3) / 4 * 4; }

/// Finds the records, and checks that all values are in the file.
void place_values(std::uint64_t length, std::uint64_t records, bool streamed, Layout& layout) {
  std::uint64_t first = length;
  std::size_t with_records = 0, only = 0;
  for (std::size_t v = 0; v < layout.stored.size(); ++v) {
    const Stored& stored = layout.stored[v];
    if (!stored.record) continue;
    only = v;
    ++with_records;
    layout.record_bytes += padded(stored.items * bytes_of(stored.type));
    first = std::min(first, stored.begin);
  }
  // The records of a single variable have no padding.
  if (with_records == 1) layout.record_bytes = layout.stored[only].items * bytes_of(layout.stored[only].type);
  layout.records = records;
  if (streamed) layout.records = layout.record_bytes == 0 ? 0 : (length - first) / layout.record_bytes;
  for (std::size_t v = 0; v < layout.stored.size(); ++v) {
    const Stored& stored = layout.stored[v];
    NetcdfVariable& variable = layout.listed.variables[v];
    const std::uint64_t bytes = stored.items * bytes_of(stored.type);
    if (stored.record) variable.shape[0] = layout.records;
    std::uint64_t wanted = bytes;
    if (stored.record) {
      const std::uint64_t steps = layout.records == 0 ? 0 : layout.records - 1;
      if (layout.record_bytes != 0 && steps > (std::uint64_t{1} << 62) / layout.record_bytes)
        throw Error(Kind::corrupt, std::to_string(layout.records) + " records do not fit the file");
      wanted = layout.records == 0 ? 0 : steps * layout.record_bytes + bytes;
    }
    variable.has_values = wanted <= length && stored.begin <= length - wanted;
  }
}

[[noreturn]] void refuse_missing(const Layout& layout, const NetcdfVariable& variable) {
  throw Error(Kind::corrupt, "its values are not all in the file")
      .at("variable " + variable.name)
      .at(layout.listed.path.string());
}

/// Row by row, in blocks of memory that stay small.
void read_values(const file::File& file, const Layout& layout, const NetcdfVariable& variable, std::uint64_t first,
                 std::span<double> out) {
  const auto v = static_cast<std::size_t>(&variable - layout.listed.variables.data());
  const Stored& stored = layout.stored.at(v);
  if (!variable.has_values || !variable.type) refuse_missing(layout, variable);
  const std::size_t width = bytes_of(stored.type);
  const std::uint64_t row = stored.record            ? stored.items
                            : variable.shape.empty() ? 1
                            : variable.shape[0] == 0 ? 0
                                                     : stored.items / variable.shape[0];
  if (row == 0 || out.empty()) return;
  constexpr std::size_t block = 65536;
  std::vector<std::byte> bytes(std::min(block, out.size()) * width);
  for (std::size_t done = 0; done < out.size();) {
    const std::uint64_t record = first + done / row, inside = done % row;
    const std::uint64_t here = stored.record ? row - inside : out.size() - done;
    const std::size_t some = static_cast<std::size_t>(std::min<std::uint64_t>({block, here, out.size() - done}));
    const std::uint64_t at = stored.record ? stored.begin + record * layout.record_bytes + inside * width
                                           : stored.begin + (first * row + done) * width;
    const std::span part(bytes.data(), some * width);
    file::pread_all(file, at, part);
    for (std::size_t i = 0; i < some; ++i) out[done + i] = number_at(&part[i * width], stored.type);
    done += some;
  }
}

Layout read_layout(const file::File& file) {
  ClassicHeader header(file);
  Layout layout;
  layout.listed.path = file.path();
  const bool wide = header.version() == 5;
  const std::uint64_t records = header.count();
  const bool streamed = records == (wide ? ~std::uint64_t{0} : std::uint64_t{0xFFFFFFFF});
  const std::vector<Dimension> dimensions = read_dimensions(header);
  layout.listed.attributes = read_attributes(header);
  const std::uint64_t many = header.list(variables_tag, 28, "variables");
  for (std::uint64_t v = 0; v < many; ++v) read_variable(header, dimensions, layout);
  place_values(header.length(), records, streamed, layout);
  return layout;
}

}  // namespace

bool is_classic(const std::filesystem::path& path) noexcept {
  try {
    std::array<std::byte, 4> magic{};
    if (file::pread_some(file::open_read(path), 0, magic) != magic.size()) return false;
    const int version = std::to_integer<int>(magic[3]);
    return magic[0] == std::byte{'C'} && magic[1] == std::byte{'D'} && magic[2] == std::byte{'F'} &&
           (version == 1 || version == 2 || version == 5);
  } catch (const Error&) {
    return false;
  }
}

Netcdf open_classic(const std::filesystem::path& path) {
  try {
    const auto file = std::make_shared<const file::File>(file::open_read(path));
    const auto layout = std::make_shared<const Layout>(read_layout(*file));
    Netcdf out = layout->listed;
    out.read = [file, layout](const NetcdfVariable& variable, std::uint64_t first, std::span<double> values) {
      const NetcdfVariable* own = layout->listed.find(variable.name);
      if (own == nullptr) throw Error(Kind::usage, "no variable " + variable.name).at(layout->listed.path.string());
      read_values(*file, *layout, *own, first, values);
    };
    return out;
  } catch (Error& error) {
    throw std::move(error.at(path.string()));
  }
}

}  // namespace octavo::formats::ugrid
