#include "octavo/formats/flash/foreign.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "octavo/formats/row/signature.hpp"

namespace octavo::formats::flash {

using base::Error;
using base::Kind;
using file::hdf5::Class;
using file::hdf5::Contents;
using file::hdf5::Info;
using file::hdf5::Items;
using file::hdf5::ItemType;
using file::hdf5::Other;
using Names = std::vector<std::string>;

namespace {

constexpr const char* groups_key = "flash/groups";
constexpr const char* sets_key = "flash/sets";
constexpr const char* of_blocks_key = "flash/sets of blocks";
constexpr const char* attributes_key = "flash/set attributes";

constexpr std::uint64_t most_bytes = std::uint64_t{16} << 20;
/// Larger attributes need a newer version of HDF5's file format than FLASH writes.
constexpr std::uint64_t most_attribute_bytes = 60000;
constexpr int most_deep = 16, most_objects = 10000;

Names names_at(const Attributes& attributes, const std::string& key) {
  const auto found = attributes.find(key);
  const auto* names = found == attributes.end() ? nullptr : std::get_if<Names>(&found->second);
  return names == nullptr ? Names{} : *names;
}

void add_name(Attributes& attributes, const std::string& key, const std::string& name) {
  Names names = names_at(attributes, key);
  names.push_back(name);
  attributes[key] = std::move(names);
}

bool contains(const Names& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool is_utf8(const std::string& text) {
  for (std::size_t i = 0; i < text.size();) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const std::size_t length = byte < 0x80                   ? 1
                               : byte >= 0xC2 && byte < 0xE0 ? 2
                               : byte >= 0xE0 && byte < 0xF0 ? 3
                               : byte >= 0xF0 && byte < 0xF5 ? 4
                                                             : 0;
    if (length == 0 || i + length > text.size() || byte == 0) return false;
    for (std::size_t k = 1; k < length; ++k)
      if ((static_cast<unsigned char>(text[i + k]) & 0xC0) != 0x80) return false;
    i += length;
  }
  return true;
}

// ------------------------------------------------------------------------------------------------- values of one thing

/// Reads "int16" and so on, as to_string() writes them. Throws Error(corrupt) for any other text.
ItemType parse_type(const std::string& text) {
  const auto number_in = [&](std::size_t from) {
    std::size_t number = 0;
    std::from_chars(text.data() + from, text.data() + text.size(), number);
    return number;
  };
  ItemType type;
  if (text.starts_with("int")) type = {Class::integer, number_in(3) / 8, true};
  if (text.starts_with("uint")) type = {Class::integer, number_in(4) / 8, false};
  if (text.starts_with("float")) type = {Class::real, number_in(5) / 8};
  if (text.starts_with("text of ")) type = {Class::text, number_in(8)};
  if (text == to_string(ItemType{Class::words, 0})) return {Class::words, 0};
  constexpr std::size_t widest = 1 << 20;
  if (type.kind == Class::other || type.bytes == 0 || type.bytes > widest || to_string(type) != text)
    throw Error(Kind::corrupt, "\"" + text + "\" is no type of a data set");
  return type;
}

/// An object kept in the attributes. kept_as() returns none if its type, shape or values are missing.
struct KeptObject {
  ItemType type;
  std::vector<std::uint64_t> shape;
  Items items;
};

template <class T>
const T* value_at(const Attributes& attributes, const std::string& key) {
  const auto found = attributes.find(key);
  return found == attributes.end() ? nullptr : std::get_if<T>(&found->second);
}

std::optional<Items> items_at(const Attributes& attributes, const std::string& key) {
  if (const auto* values = value_at<std::vector<std::int64_t>>(attributes, key)) return *values;
  if (const auto* values = value_at<std::vector<double>>(attributes, key)) return *values;
  if (const auto* values = value_at<Names>(attributes, key)) return *values;
  return {};
}

std::optional<KeptObject> kept_as(const Attributes& attributes, const std::string& name) {
  const auto* type = value_at<std::string>(attributes, "flash/type/" + name);
  const auto* shape = value_at<std::vector<std::int64_t>>(attributes, "flash/shape/" + name);
  auto items = items_at(attributes, "flash/values/" + name);
  if (type == nullptr || shape == nullptr || !items) return {};
  return KeptObject{parse_type(*type), {shape->begin(), shape->end()}, std::move(*items)};
}

void keep(const std::string& name, const Info& info, Items items, Attributes& attributes) {
  std::visit([&](auto& values) { attributes["flash/values/" + name] = std::move(values); }, items);
  attributes["flash/shape/" + name] = std::vector<std::int64_t>(info.shape.begin(), info.shape.end());
  attributes["flash/type/" + name] = to_string(info.type);
}

void forget(const std::string& name, Attributes& attributes) {
  for (const char* what : {"flash/values/", "flash/shape/", "flash/type/"}) attributes.erase(what + name);
}

// ------------------------------------------------------------------------------------------------------------- reading

/// Rows in another order.
void reorder(Items& items, const std::vector<std::int64_t>& rows) {
  std::visit(
      [&](auto& values) {
        if (rows.empty()) return;
        const std::size_t width = values.size() / rows.size();
        auto old = std::move(values);
        values.clear();
        for (const std::int64_t row : rows)
          for (std::size_t k = 0; k < width; ++k)
            values.push_back(std::move(old[static_cast<std::size_t>(row) * width + k]));
      },
      items);
}

class ForeignKeeper {
 public:
  ForeignKeeper(const OpenedFlash& source, const OwnSets& own, const std::vector<std::int64_t>& rows,
                Attributes& attributes)
      : source_(source), own_(own), rows_(rows), attributes_(attributes) {}

  void keep_group(const std::string& group, const Contents& contents, int deep) {
    keep_attributes(group);
    for (const Info& set : contents.sets) {
      if (!own_.contains(set.name)) keep_set(set);
      keep_attributes(set.name);
    }
    for (const Other& other : contents.others) {
      const std::string path = group.empty() ? other.name : group + "/" + other.name;
      if (other.what != Other::What::group) {
        leave_out(path, to_string(other.what));
      } else if (deep == most_deep || !is_utf8(path)) {
        leave_out(path, "a group");
      } else if (is_one_more(path)) {
        try {
          const Contents inside = file::hdf5::contents(source_.file, path);
          add_name(attributes_, groups_key, path);
          keep_group(path, inside, deep + 1);
        } catch (const Error&) {
          leave_out(path, "a group that cannot be read");
        }
      }
    }
  }

  void note(std::vector<std::string>& notes) const {
    if (left_.empty()) return;
    std::string text;
    constexpr std::size_t most_named = 8;
    for (std::size_t i = 0; i < std::min(left_.size(), most_named); ++i) text += (i == 0 ? "" : "; ") + left_[i];
    if (left_.size() > most_named) text += "; and " + std::to_string(left_.size() - most_named) + " more";
    notes.push_back("not FLASH's, and not kept: " + text);
  }

 private:
  void leave_out(const std::string& name, const std::string& why) { left_.push_back("\"" + name + "\" (" + why + ")"); }

  bool is_one_more(const std::string& name) {
    if (objects_ < most_objects) return ++objects_ > 0;
    leave_out(name, "too many objects");
    return false;
  }

  /// The values, if they are of a kind and size that is kept.
  template <class Read>
  std::optional<Items> take(const std::string& name, const Info& info, std::uint64_t most, Read&& read) {
    const std::uint64_t bytes = num_items(info) * std::max<std::uint64_t>(info.type.bytes, 8);
    if (!is_utf8(name) || !is_one_more(name) || bytes > most || bytes_ + bytes > most_bytes) {
      leave_out(name, describe(info));
      return {};
    }
    std::optional<Items> items;
    try {
      items = read();
    } catch (const Error&) {  // compressed by a filter that is missing here, or damaged
    }
    const auto* texts = items ? std::get_if<Names>(&*items) : nullptr;
    if (!items || (texts != nullptr && !std::all_of(texts->begin(), texts->end(), is_utf8))) {
      leave_out(name, describe(info));
      return {};
    }
    bytes_ += bytes;
    return items;
  }

  void keep_set(const Info& set) {
    auto items = take(set.name, set, most_bytes, [&] { return read_items(source_.file, set); });
    if (!items) return;
    if (!rows_.empty() && !set.shape.empty() && set.shape[0] == rows_.size()) {
      reorder(*items, rows_);
      add_name(attributes_, of_blocks_key, set.name);
    }
    add_name(attributes_, sets_key, set.name);
    keep(set.name, set, std::move(*items), attributes_);
  }

  /// We leave out the attributes that FLASH gives its variables, as the writer makes them anew.
  bool is_own(const std::string& object, const std::string& attribute) const {
    if (object.empty() && attribute == signature_attribute) return true;
    const auto set = source_.sets.find(object);
    return own_.contains(object) && set != source_.sets.end() && set->second.type.kind == Class::real &&
           (attribute == "minimum" || attribute == "maximum");
  }

  void keep_attributes(const std::string& object) {
    for (const Info& attribute : list_attributes(source_.file, object)) {
      if (is_own(object, attribute.name)) continue;
      const std::string name = object + "@" + attribute.name;
      auto items = take(name, attribute, most_attribute_bytes,
                        [&] { return read_attribute_items(source_.file, object, attribute); });
      if (!items) continue;
      // An @ ends the object's name.
      if (std::count(name.begin(), name.end(), '@') != 1) {
        leave_out(name, describe(attribute));
        continue;
      }
      add_name(attributes_, attributes_key, name);
      keep(name, attribute, std::move(*items), attributes_);
    }
  }

  const OpenedFlash& source_;
  const OwnSets& own_;
  const std::vector<std::int64_t>& rows_;
  Attributes& attributes_;
  std::vector<std::string> left_;
  std::uint64_t bytes_ = 0;
  int objects_ = 0;
};

}  // namespace

void keep_foreign(const OpenedFlash& source, const OwnSets& own, const std::vector<std::int64_t>& rows,
                  Attributes& attributes, std::vector<std::string>& notes) {
  ForeignKeeper keeper(source, own, rows, attributes);
  Contents root;
  for (const auto& [name, info] : source.sets) root.sets.push_back(info);
  root.others = source.others;
  keeper.keep_group({}, root, 0);
  keeper.note(notes);
}

void write_foreign(const file::hdf5::File& file, std::size_t blocks, const Attributes& attributes) {
  std::set<std::string> there{""};
  for (const Info& set : file::hdf5::list(file)) there.insert(set.name);
  for (const std::string& group : names_at(attributes, groups_key))
    if (there.insert(group).second) file::hdf5::make_group(file, group);
  const Names of_blocks = names_at(attributes, of_blocks_key);
  for (const std::string& name : names_at(attributes, sets_key)) {
    const auto kept = kept_as(attributes, name);
    const std::size_t slash = name.rfind('/');
    if (slash != std::string::npos && !there.contains(name.substr(0, slash))) continue;
    if (!kept || (contains(of_blocks, name) && (kept->shape.empty() || kept->shape[0] != blocks))) continue;
    if (there.insert(name).second) write_items(file, name, kept->type, kept->shape, kept->items);
  }
  for (const std::string& name : names_at(attributes, attributes_key)) {
    const std::size_t at = name.find('@');
    const auto kept = kept_as(attributes, name);
    if (at == std::string::npos || !kept || !there.contains(name.substr(0, at))) continue;
    const std::string object = name.substr(0, at), attribute = name.substr(at + 1);
    const auto known = list_attributes(file, object);
    if (std::none_of(known.begin(), known.end(), [&](const Info& info) { return info.name == attribute; }))
      write_attribute_items(file, object, attribute, kept->type, kept->shape, kept->items);
  }
}

std::string forget_blocks(Attributes& attributes) {
  for (const char* name : {"processor number", "root order", "localnp", "gid", "gsurr_blks", "bflags", "coordinates",
                           "block size", "bounding box"})
    attributes.erase(std::string("flash/") + name);
  const Names of_blocks = names_at(attributes, of_blocks_key);
  Names others = names_at(attributes, sets_key);
  for (const std::string& name : of_blocks) {
    forget(name, attributes);
    std::erase(others, name);
  }
  attributes.erase(of_blocks_key);
  attributes.erase(sets_key);
  if (!others.empty()) attributes[sets_key] = std::move(others);
  std::string left;
  for (const std::string& name : of_blocks) left += (left.empty() ? "" : ", ") + name;
  return left.empty() ? left : "the blocks are others: left out are the data sets with a row a block, " + left;
}

std::string foreign_names(const Attributes& attributes) {
  std::string text;
  for (const char* key : {groups_key, sets_key, attributes_key})
    for (const std::string& name : names_at(attributes, key)) text += (text.empty() ? "" : ", ") + name;
  return text;
}

}  // namespace octavo::formats::flash
