#include "octavo/formats/flash/variables.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <optional>
#include <set>

namespace octavo::formats::flash {

using base::Error;
using base::Kind;
using file::hdf5::Class;
using file::hdf5::Info;
using mesh::Centring;

namespace {

std::vector<std::uint64_t> block_shape(const TreeFrame& frame, std::int64_t blocks, std::size_t face_axis) {
  std::vector<std::uint64_t> shape{static_cast<std::uint64_t>(blocks)};
  for (std::size_t axis = 3; axis-- > 0;)
    shape.push_back(static_cast<std::uint64_t>(frame.block[axis]) + (axis == face_axis ? 1 : 0));
  return shape;
}

constexpr std::array<std::pair<mesh::ScalarType, file::hdf5::ItemType>, 9> types{
    {{mesh::ScalarType::float64, file::hdf5::float64_type},
     {mesh::ScalarType::float32, file::hdf5::float32_type},
     {mesh::ScalarType::int64, file::hdf5::int64_type},
     {mesh::ScalarType::int32, file::hdf5::int32_type},
     {mesh::ScalarType::int16, {Class::integer, 2}},
     {mesh::ScalarType::int8, {Class::integer, 1}},
     {mesh::ScalarType::uint64, {Class::integer, 8, false}},
     {mesh::ScalarType::uint32, {Class::integer, 4, false}},
     {mesh::ScalarType::uint8, file::hdf5::uint8_type}}};

/// The type of the values in the data set, if a field can have it.
std::optional<mesh::ScalarType> type_of(const file::hdf5::ItemType& found) {
  for (const auto& [ours, item] : types)
    if (found.kind == item.kind && found.bytes == item.bytes &&
        (found.kind == Class::real || found.is_signed == item.is_signed))
      return ours;
  return {};
}

/// The centring of a data set by its shape: cells, faces, or none that we know.
std::optional<Centring> centring_of(const Info& info, const TreeFrame& frame, std::int64_t blocks) {
  if (!type_of(info.type)) return {};
  if (info.shape == block_shape(frame, blocks, 3)) return Centring::cell;
  if (info.type.kind != Class::real) return {};
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(frame.dim); ++axis)
    if (info.shape == block_shape(frame, blocks, axis)) return static_cast<Centring>(1 + axis);
  return {};
}

/// FLASH computes in cgs: its code units are cm, g and s. Only variables that FLASH's own units define are listed.
std::string unit_of(std::string_view name) {
  if (name == "dens") return "code_mass/code_length**3";
  if (name == "pres") return "code_mass/code_length/code_time**2";
  if (name == "temp") return "K";
  if (name == "velx" || name == "vely" || name == "velz") return "code_length/code_time";
  if (name == "ener" || name == "eint" || name == "gpot") return "code_length**2/code_time**2";
  return {};
}

void add(const Info& info, Centring centring, const std::string& name, std::vector<FlashVariable>& variables) {
  if (centring == Centring::cell) {
    variables.push_back({{name, unit_of(name), *type_of(info.type), centring, 1, 0}, info.name, false});
    return;
  }
  for (bool right : {false, true})
    variables.push_back(
        {{name + (right ? "_right" : "_left"), "", *type_of(info.type), centring, 1, 0}, info.name, right});
}

/// Short names are stored with trailing blanks, like the names of data sets. Other programs may have cut the blanks.
const Info& set_of(const OpenedFlash& source, const std::string& stored) {
  const bool link = std::any_of(source.others.begin(), source.others.end(),
                                [&](const file::hdf5::Other& other) { return other.name == stored; });
  return link || has(source, stored) ? set(source, stored) : set(source, trimmed(stored));
}

void check_distinct(const OpenedFlash& source, const std::vector<FlashVariable>& variables) {
  std::set<std::string> names;
  for (const FlashVariable& variable : variables)
    if (!names.insert(variable.info.name).second)
      throw error_in(source, variable.set, "two variables have the name \"" + variable.info.name + "\"");
}

/// The cells of a block, and the place in the data set's block where each row along x begins.
template <class T>
void copy_block(const T* from, const FlashVariable& variable, const TreeFrame& frame, T* to) {
  const auto nx = static_cast<std::size_t>(frame.block[0]), ny = static_cast<std::size_t>(frame.block[1]),
             nz = static_cast<std::size_t>(frame.block[2]);
  const auto axis = static_cast<std::size_t>(variable.info.centring) - 1;  // cells: no axis
  const std::size_t wide = nx + (axis == 0 ? 1 : 0), deep = ny + (axis == 1 ? 1 : 0);
  const std::size_t shift = !variable.right ? 0 : axis == 0 ? 1 : axis == 1 ? wide : wide * deep;
  for (std::size_t k = 0; k < nz; ++k)
    for (std::size_t j = 0; j < ny; ++j)
      std::memcpy(to + (k * ny + j) * nx, from + (k * deep + j) * wide + shift, nx * sizeof(T));
}

template <class T>
void read_values(const OpenedFlash& source, const FlashVariable& variable, const TreeFrame& frame,
                 const std::vector<std::int64_t>& rows, std::span<T> out) {
  const Info& info = set(source, variable.set);
  const std::size_t width = values_a_block(variable, frame);
  const auto block = static_cast<std::size_t>(frame.block[0] * frame.block[1] * frame.block[2]);
  const std::size_t most = std::max<std::size_t>(1, (std::size_t{1} << 22) / (width * sizeof(T)));  // blocks at once
  std::vector<std::size_t> order(rows.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return rows[a] < rows[b]; });
  std::vector<T> values;
  for (std::size_t first = 0; first < order.size();) {
    std::size_t count = 1;
    while (count < most && first + count < order.size() &&
           rows[order[first + count]] == rows[order[first]] + static_cast<std::int64_t>(count))
      ++count;
    values.resize(count * width);
    file::hdf5::read_rows<T>(source.file, info, static_cast<std::uint64_t>(rows[order[first]]), count, values);
    for (std::size_t i = 0; i < count; ++i)
      copy_block(values.data() + i * width, variable, frame, out.data() + order[first + i] * block);
    first += count;
  }
}

}  // namespace

std::vector<FlashVariable> find_variables(const OpenedFlash& source, const TreeFrame& frame, std::int64_t blocks,
                                          std::vector<std::string>& unknown_names) {
  std::vector<FlashVariable> variables;
  std::set<std::string> listed;
  if (has(source, "unknown names"))
    for (const std::string& stored : read_text(source.file, set(source, "unknown names"))) {
      const Info& info = set_of(source, stored);
      if (centring_of(info, frame, blocks) != Centring::cell)
        set(source, info.name, block_shape(frame, blocks, 3), Class::real);
      if (!listed.insert(info.name).second)
        throw error_in(source, "unknown names", "\"" + stored + "\" is there twice");
      unknown_names.push_back(trimmed(stored));
      add(info, Centring::cell, unknown_names.back(), variables);
    }
  for (const auto& [name, info] : source.sets)
    if (listed.count(name) == 0)
      if (const auto centring = centring_of(info, frame, blocks)) add(info, *centring, trimmed(name), variables);
  check_distinct(source, variables);
  return variables;
}

file::hdf5::ItemType item_type(mesh::ScalarType type) {
  for (const auto& [ours, item] : types)
    if (ours == type) return item;
  throw Error(Kind::unsupported, "FLASH files hold no values of " + std::string(mesh::name_of(type)));
}

std::size_t values_a_block(const FlashVariable& variable, const TreeFrame& frame) {
  std::size_t values = 1;
  for (std::size_t axis = 0; axis < 3; ++axis)
    values *= static_cast<std::size_t>(frame.block[axis]) +
              (static_cast<std::size_t>(variable.info.centring) == axis + 1 ? 1 : 0);
  return values;
}

mesh::Field read_variable(const OpenedFlash& source, const FlashVariable& variable, const TreeFrame& frame,
                          const std::vector<std::int64_t>& rows) {
  const auto block = static_cast<std::size_t>(frame.block[0] * frame.block[1] * frame.block[2]);
  mesh::Field field = mesh::make_field(variable.info, rows.size() * block);
  mesh::visit_values(
      field, [&]<class T>(std::span<const T>) { read_values<T>(source, variable, frame, rows, field.as<T>()); });
  return field;
}

}  // namespace octavo::formats::flash
