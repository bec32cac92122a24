#include <algorithm>
#include <memory>

#include "octavo/base/error.hpp"
#include "octavo/file/hdf5/hdf5.hpp"
#include "octavo/formats/ugrid/netcdf.hpp"

namespace octavo::formats::ugrid {
namespace {

namespace hdf5 = file::hdf5;
using base::Error;
using base::Kind;
using mesh::ScalarType;

std::optional<ScalarType> number_type(const hdf5::ItemType& type) {
  if (type.kind == hdf5::Class::real && type.bytes == 8) return ScalarType::float64;
  if (type.kind == hdf5::Class::real && type.bytes == 4) return ScalarType::float32;
  if (type.kind != hdf5::Class::integer) return {};
  switch (type.bytes) {
    case 1: return type.is_signed ? ScalarType::int8 : ScalarType::uint8;
    case 2: return type.is_signed ? ScalarType::int16 : ScalarType::int32;
    case 4: return type.is_signed ? ScalarType::int32 : ScalarType::uint32;
    case 8: return type.is_signed ? ScalarType::int64 : ScalarType::uint64;
    default: return {};
  }
}

/// Numbers as doubles, or the first text.
std::optional<NetcdfValue> value_of(const hdf5::Items& items) {
  if (const auto* whole = std::get_if<std::vector<std::int64_t>>(&items))
    return std::vector<double>(whole->begin(), whole->end());
  if (const auto* reals = std::get_if<std::vector<double>>(&items)) return *reals;
  const auto& texts = std::get<std::vector<std::string>>(items);
  if (texts.empty()) return {};
  return texts.front();
}

NetcdfAttributes attributes_of(const hdf5::File& file, const std::string& object) {
  constexpr std::uint64_t most = 1 << 16;  // longer ones are lists that describe no mesh
  NetcdfAttributes out;
  for (const hdf5::Info& info : hdf5::list_attributes(file, object)) {
    if (hdf5::num_items(info) > most || info.type.bytes > most) continue;
    const auto items = hdf5::read_attribute_items(file, object, info);
    if (!items) continue;
    if (auto value = value_of(*items)) out[info.name] = std::move(*value);
  }
  return out;
}

Netcdf listed(const hdf5::File& file, const std::vector<hdf5::Info>& sets, const std::vector<hdf5::Other>& others) {
  Netcdf out;
  out.path = file.path();
  out.attributes = attributes_of(file, "");
  for (const hdf5::Info& set : sets)
    out.variables.push_back({set.name, set.shape, number_type(set.type), attributes_of(file, set.name)});
  // A variable that nothing was written to, as that of a topology may be, has attributes alone.
  for (const hdf5::Other& other : others)
    if (other.what == hdf5::Other::What::absent) {
      NetcdfVariable variable{other.name, {}, {}, attributes_of(file, other.name)};
      variable.has_values = false;
      out.variables.push_back(std::move(variable));
    }
  return out;
}

void read_values(const hdf5::File& file, const hdf5::Info& set, std::uint64_t first, std::span<double> out) {
  if (!set.missing_filter.empty())
    throw Error(Kind::unsupported, "values compressed with " + set.missing_filter + ", which this HDF5 library lacks")
        .at("variable " + set.name);
  const std::uint64_t row = hdf5::items_a_row(set);
  hdf5::read_rows<double>(file, set, first, set.shape.empty() ? 1 : row == 0 ? 0 : out.size() / row, out);
}

}  // namespace

Netcdf open_netcdf4(const std::filesystem::path& path) {
  const hdf5::File file = hdf5::open(path);
  const auto contents = std::make_shared<const hdf5::Contents>(hdf5::contents(file));
  Netcdf out = listed(file, contents->sets, contents->others);
  out.read = [file, contents](const NetcdfVariable& variable, std::uint64_t first, std::span<double> values) {
    for (const hdf5::Info& set : contents->sets)
      if (set.name == variable.name) return read_values(file, set, first, values);
    for (const hdf5::Other& other : contents->others)
      if (other.name == variable.name && other.damage) throw *other.damage;
    throw Error(Kind::usage, "no variable " + variable.name).at(file.path().string());
  };
  return out;
}

}  // namespace octavo::formats::ugrid
