#include "octavo/formats/flash/lists.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

#include "octavo/base/byte_order.hpp"

namespace octavo::formats::flash {

using base::Error;
using base::Kind;
using file::hdf5::Class;
using file::hdf5::Info;
using file::hdf5::ItemType;
using file::hdf5::Member;
using mesh::Attribute;

namespace {

constexpr std::size_t text_width = 80;
constexpr ItemType text_type{Class::text, text_width};

/// The offsets of name and value in an item of a list. They differ between the four types.
struct ItemLayout {
  std::string type;  ///< first word of the list's name
  Member name, value;
  std::size_t bytes;
};

const std::array<ItemLayout, 4>& layouts() {
  static const std::array<ItemLayout, 4> all{{
      {"integer", {"name", 0, text_type}, {"value", 80, file::hdf5::int32_type}, 84},
      {"real", {"name", 0, text_type}, {"value", 80, file::hdf5::float64_type}, 88},
      {"string", {"name", 80, text_type}, {"value", 0, text_type}, 160},
      {"logical", {"name", 4, text_type}, {"value", 0, file::hdf5::int32_type}, 84},
  }};
  return all;
}

constexpr std::array<std::string_view, 2> list_kinds{" runtime parameters", " scalars"};

/// The members of "sim info", packed in this order after the int32 "file format version".
constexpr std::array<std::pair<const char*, std::size_t>, 10> sim_info_texts{{{"setup call", 400},
                                                                              {"file creation time", 80},
                                                                              {"flash version", 80},
                                                                              {"build date", 80},
                                                                              {"build dir", 80},
                                                                              {"build machine", 80},
                                                                              {"cflags", 400},
                                                                              {"fflags", 400},
                                                                              {"setup time stamp", 80},
                                                                              {"build time stamp", 80}}};

const Member& member(const OpenedFlash& source, const Info& info, const std::string& name) {
  for (const Member& candidate : info.members)
    if (candidate.name == name) return candidate;
  throw error_in(source, info.name, "expected a compound with a member \"" + name + "\", found " + describe(info));
}

std::vector<Attribute> read_values(const OpenedFlash& source, const Info& info, const Member& value) {
  std::vector<Attribute> values;
  if (value.type.kind == Class::text) {
    for (const std::string& text : read_member_text(source.file, info, value)) values.emplace_back(trimmed(text));
  } else if (value.type.kind == Class::real) {
    for (double number : file::hdf5::read_member<double>(source.file, info, value)) values.emplace_back(number);
  } else {
    for (std::int64_t number : file::hdf5::read_member<std::int64_t>(source.file, info, value))
      values.emplace_back(number);
  }
  return values;
}

void read_list(const OpenedFlash& source, const std::string& list, Attributes& attributes) {
  if (!has(source, list)) return;
  const Info& info = set(source, list);
  const auto names = read_member_text(source.file, info, member(source, info, "name"));
  const auto values = read_values(source, info, member(source, info, "value"));
  std::vector<std::string> order;
  for (std::size_t i = 0; i < names.size(); ++i) {
    order.push_back(trimmed(names[i]));
    if (!attributes.emplace(list + "/" + order.back(), values[i]).second)
      throw error_in(source, list, "\"" + order.back() + "\" is in the list twice");
  }
  attributes[list] = order;
}

void read_sim_info(const OpenedFlash& source, Attributes& attributes) {
  if (!has(source, "sim info")) return;
  const Info& info = set(source, "sim info");
  for (const Member& item : info.members) {
    auto values = read_values(source, info, item);
    if (values.size() != 1)
      throw error_in(source, info.name, "expected one item, found " + std::to_string(values.size()));
    attributes["sim info/" + item.name] = std::move(values[0]);
  }
}

void put_text(std::vector<std::byte>& bytes, const std::string& text, std::size_t width) {
  const std::string wide = padded(text, width);
  const auto* first = reinterpret_cast<const std::byte*>(wide.data());
  bytes.insert(bytes.end(), first, first + wide.size());
}

template <class T>
void put_number(std::vector<std::byte>& bytes, T number) {
  bytes.resize(bytes.size() + sizeof(T));
  std::memcpy(bytes.data() + bytes.size() - sizeof(T), &number, sizeof(T));
}

void put_integer(std::vector<std::byte>& bytes, std::int64_t number, const std::string& key) {
  if (number < std::numeric_limits<std::int32_t>::min() || number > std::numeric_limits<std::int32_t>::max())
    throw Error(Kind::unsupported, key + " is " + std::to_string(number) + ", which FLASH's 32 bits do not hold");
  put_number(bytes, static_cast<std::int32_t>(number));
}

void put_value(std::vector<std::byte>& bytes, const Attributes& attributes, const std::string& key,
               const ItemType& type) {
  if (type.kind == Class::text)
    put_text(bytes, text(attributes, key).value_or(""), text_width);
  else if (type.kind == Class::real)
    put_number(bytes, real(attributes, key).value_or(0));
  else
    put_integer(bytes, integer(attributes, key).value_or(0), key);
}

void write_list(const file::hdf5::File& file, const std::string& list, const ItemLayout& layout,
                const Attributes& attributes) {
  const auto found = attributes.find(list);
  if (found == attributes.end()) return;
  const auto* names = std::get_if<std::vector<std::string>>(&found->second);
  if (names == nullptr || names->empty()) return;
  std::vector<std::byte> bytes;
  for (const std::string& name : *names) {
    const bool name_first = layout.name.offset == 0;
    if (name_first) put_text(bytes, name, text_width);
    put_value(bytes, attributes, list + "/" + name, layout.value.type);
    if (!name_first) put_text(bytes, name, text_width);
  }
  const std::array<Member, 2> members{layout.name, layout.value};
  write_compound(file, list, members, layout.bytes, bytes);
}

void write_sim_info(const file::hdf5::File& file, const Attributes& attributes) {
  std::vector<Member> members{{"file format version", 0, file::hdf5::int32_type}};
  std::vector<std::byte> bytes;
  put_integer(bytes, integer(attributes, "sim info/file format version").value_or(9), "file format version");
  for (const auto& [name, width] : sim_info_texts) {
    members.push_back({name, bytes.size(), {Class::text, width}});
    put_text(bytes, text(attributes, std::string("sim info/") + name).value_or(""), width);
  }
  write_compound(file, "sim info", members, bytes.size(), bytes);
}

template <class T>
std::optional<T> value_of(const Attributes& attributes, const std::string& key) {
  const auto found = attributes.find(key);
  if (found == attributes.end()) return {};
  const T* value = std::get_if<T>(&found->second);
  return value == nullptr ? std::optional<T>{} : std::optional<T>{*value};
}

}  // namespace

void read_lists(const OpenedFlash& source, Attributes& attributes) {
  read_sim_info(source, attributes);
  for (const ItemLayout& layout : layouts())
    for (std::string_view kind : list_kinds) read_list(source, layout.type + std::string(kind), attributes);
}

void write_lists(const file::hdf5::File& file, const Attributes& attributes) {
  write_sim_info(file, attributes);
  for (std::string_view kind : list_kinds)
    for (const ItemLayout& layout : layouts()) write_list(file, layout.type + std::string(kind), layout, attributes);
}

std::optional<std::int64_t> integer(const Attributes& attributes, const std::string& key) {
  return value_of<std::int64_t>(attributes, key);
}
std::optional<double> real(const Attributes& attributes, const std::string& key) {
  return value_of<double>(attributes, key);
}
std::optional<std::string> text(const Attributes& attributes, const std::string& key) {
  return value_of<std::string>(attributes, key);
}

void set_value(Attributes& attributes, const std::string& list, const std::string& name, Attribute value) {
  std::vector<std::string> names =
      value_of<std::vector<std::string>>(attributes, list).value_or(std::vector<std::string>{});
  if (std::find(names.begin(), names.end(), name) == names.end()) {
    names.insert(std::lower_bound(names.begin(), names.end(), name), name);
    attributes[list] = names;
  }
  attributes[list + "/" + name] = std::move(value);
}

void set_default(Attributes& attributes, const std::string& list, const std::string& name, Attribute value) {
  if (attributes.count(list + "/" + name) == 0) set_value(attributes, list, name, std::move(value));
}

}  // namespace octavo::formats::flash
