#include "octavo/file/hdf5/hdf5.hpp"

#include <sys/file.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cerrno>
#include <cstring>
#include <limits>
#include <mutex>
#include <type_traits>
#include <utility>

#include "octavo/base/byte_order.hpp"
#include "octavo/file/posix.hpp"

#ifdef OCTAVO_HAVE_HDF5
#include "octavo/file/hdf5/hdf5_library.hpp"
#include "octavo/file/hdf5/hdf5_overlay.hpp"
#endif

/// HDF5 is rarely built for threads, so each use of the library holds one lock of the process (Locked). Values that lie
/// in the file as the machine has them are read past the library and without the lock, at the offset that it has told.
/// Nothing that a file claims is believed before check_size() and its like have looked.
namespace octavo::file::hdf5 {

using base::Error;
using base::Kind;

bool has_signature(const std::filesystem::path& path) noexcept {
  constexpr std::array<char, 8> signature{'\x89', 'H', 'D', 'F', '\r', '\n', '\x1a', '\n'};
  try {
    std::array<char, 8> found{};
    return pread_some(open_read(path), 0, std::as_writable_bytes(std::span(found))) == 8 && found == signature;
  } catch (const std::exception&) {
    return false;
  }
}

std::string to_string(const ItemType& type) {
  const std::string bits = std::to_string(type.bytes * 8), bytes = std::to_string(type.bytes);
  switch (type.kind) {
    case Class::integer: return (type.is_signed ? "int" : "uint") + bits;
    case Class::real: return "float" + bits;
    case Class::text: return "text of " + bytes + " bytes";
    case Class::words: return "text of any length";
    case Class::compound: return "compound of " + bytes + " bytes";
    default: return "a type of " + bytes + " bytes that is neither number, text nor compound";
  }
}

std::string to_string(Other::What what) {
  switch (what) {
    case Other::What::group: return "a group";
    case Other::What::link: return "a link";
    case Other::What::elsewhere: return "a data set whose values lie in other files";
    case Other::What::shapeless: return "a data set without values";
    case Other::What::absent: return "a data set whose values are not all in the file";
    default: return "neither a data set nor a group";
  }
}

std::uint64_t num_items(const Info& info) {
  std::uint64_t product = 1;
  for (std::uint64_t extent : info.shape) product *= extent;
  return product;
}

std::uint64_t items_a_row(const Info& info) {
  std::uint64_t product = 1;
  for (std::size_t i = 1; i < info.shape.size(); ++i) product *= info.shape[i];
  return product;
}

std::string describe(const Info& info) {
  std::string text = "(";
  for (std::size_t i = 0; i < info.shape.size(); ++i) text += (i > 0 ? ", " : "") + std::to_string(info.shape[i]);
  return text + ") of " + to_string(info.type);
}

#ifdef OCTAVO_HAVE_HDF5

// Recursive, because a file that was opened later opens itself inside of calls that hold the lock.
std::recursive_mutex& library() {
  static std::recursive_mutex mutex;
  return mutex;
}

std::string library_message() {
  std::string text;
  // A walk leaves the last description that it meets. The second ends at the innermost call, which knows the reason.
  auto take = [](unsigned, const H5E_error2_t* error, void* out) -> herr_t {
    if (error->desc != nullptr) *static_cast<std::string*>(out) = error->desc;
    return 0;
  };
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, take, &text);
  std::string last = text;
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_DOWNWARD, take, &text);
  return text.empty() ? last : text;
}

Error failure(const std::string& action) {
  const std::string words = library_message();
  return {Kind::corrupt, "cannot " + action + (words.empty() ? "" : ": HDF5 says \"" + words + "\"")};
}

namespace {

std::string place(const File& file, const std::string& name);

}  // namespace

struct File::Impl {
  hid_t opened = -1;
  std::filesystem::path path;
  file::File handle;
  std::uint64_t size = 0;
  Overlay written{};  ///< if we write, the library opens the file through this
  std::atomic<bool> handle_waits{false}, library_waits{false};  ///< to be opened
  /// For contiguous values, which we read without the library.
  const file::File& bytes() {
    if (handle_waits) open_handle();
    return handle;
  }
  hid_t id() {
    if (library_waits) open_library();
    return opened;
  }
  void open_handle();
  void open_library();
  std::uint64_t length() const { return std::max(size, written.end); }
  void require_written() const {
    if (written.failed) throw *written.failed;
  }
  ~Impl() {
    if (opened < 0) return;
    const Locked locked;
    H5Fclose(opened);
  }
};

const std::filesystem::path& File::path() const { return impl_->path; }

void File::close() {
  const Locked locked;
  impl_->handle_waits = impl_->library_waits = false;
  const hid_t id = std::exchange(impl_->opened, -1);
  if (id >= 0 && H5Fclose(id) < 0) throw failure("close the file").at(impl_->path.string());
  impl_->require_written();
}

bool available() noexcept { return true; }

namespace {

std::string place(const File& file, const std::string& name) {
  return name.empty() ? file.path().string() : file.path().string() + ", data set \"" + name + "\"";
}

/// Runs `work` with the library locked; adds the data set's name to errors. Errors of the disk are kept from the
/// library (hdf5_overlay.cpp), and show here.
template <class Work>
auto at_data_set(const File& file, const std::string& name, Work&& work) {
  const Locked locked;
  try {
    if constexpr (std::is_void_v<decltype(work())>) {
      work();
      file.impl().require_written();
    } else {
      auto result = work();
      file.impl().require_written();
      return result;
    }
  } catch (Error& error) {
    throw std::move(error.at(place(file, name)));
  }
}

ItemType type_of(hid_t type) {
  ItemType found;
  found.bytes = H5Tget_size(type);
  found.big_endian = H5Tget_order(type) == H5T_ORDER_BE;
  switch (H5Tget_class(type)) {
    case H5T_INTEGER:
      found.kind = Class::integer;
      found.is_signed = H5Tget_sign(type) == H5T_SGN_2;
      break;
    case H5T_FLOAT: found.kind = Class::real; break;
    case H5T_STRING: found.kind = H5Tis_variable_str(type) > 0 ? Class::words : Class::text; break;
    case H5T_COMPOUND: found.kind = Class::compound; break;
    default: break;
  }
  return found;
}

std::vector<Member> members_of(hid_t type) {
  std::vector<Member> members;
  const int count = H5Tget_nmembers(type);
  for (int i = 0; i < count; ++i) {
    const auto index = static_cast<unsigned>(i);
    char* name = H5Tget_member_name(type, index);
    if (name == nullptr) throw failure("read the name of a member");
    Member member{name, H5Tget_member_offset(type, index), {}};
    H5free_memory(name);
    const Id item(H5Tget_member_type(type, index), H5Tclose, "read the type of a member");
    member.type = type_of(item());
    members.push_back(std::move(member));
  }
  return members;
}

template <class T>
hid_t native() {
  if constexpr (std::is_same_v<T, double>) return H5T_NATIVE_DOUBLE;
  if constexpr (std::is_same_v<T, float>) return H5T_NATIVE_FLOAT;
  if constexpr (std::is_same_v<T, std::int32_t>) return H5T_NATIVE_INT32;
  if constexpr (std::is_same_v<T, std::int16_t>) return H5T_NATIVE_INT16;
  if constexpr (std::is_same_v<T, std::int8_t>) return H5T_NATIVE_INT8;
  if constexpr (std::is_same_v<T, std::uint8_t>) return H5T_NATIVE_UINT8;
  if constexpr (std::is_same_v<T, std::uint32_t>) return H5T_NATIVE_UINT32;
  if constexpr (std::is_same_v<T, std::uint64_t>) return H5T_NATIVE_UINT64;
  return H5T_NATIVE_INT64;
}

hid_t native(const ItemType& type) {
  if (type.kind == Class::real && type.bytes == 4) return H5T_NATIVE_FLOAT;
  if (type.kind == Class::real && type.bytes == 8) return H5T_NATIVE_DOUBLE;
  if (type.kind == Class::integer) switch (type.bytes) {
      case 1: return type.is_signed ? H5T_NATIVE_INT8 : H5T_NATIVE_UINT8;
      case 2: return type.is_signed ? H5T_NATIVE_INT16 : H5T_NATIVE_UINT16;
      case 4: return type.is_signed ? H5T_NATIVE_INT32 : H5T_NATIVE_UINT32;
      case 8: return type.is_signed ? H5T_NATIVE_INT64 : H5T_NATIVE_UINT64;
      default: break;
    }
  throw Error(Kind::usage, "cannot make a data set of " + to_string(type));
}

bool is_native(hid_t type) {
  const std::array<hid_t, 10> all{H5T_NATIVE_DOUBLE, H5T_NATIVE_FLOAT, H5T_NATIVE_INT8,  H5T_NATIVE_INT16,
                                  H5T_NATIVE_INT32,  H5T_NATIVE_INT64, H5T_NATIVE_UINT8, H5T_NATIVE_UINT16,
                                  H5T_NATIVE_UINT32, H5T_NATIVE_UINT64};
  return std::any_of(all.begin(), all.end(), [&](hid_t native) { return H5Tequal(type, native) > 0; });
}

std::vector<std::uint64_t> shape_of(hid_t space) {
  const int dimensions = H5Sget_simple_extent_ndims(space);
  if (dimensions < 0 || H5Sget_simple_extent_type(space) == H5S_NULL) throw failure("read its shape");
  std::vector<hsize_t> extent(static_cast<std::size_t>(dimensions));
  check(H5Sget_simple_extent_dims(space, extent.data(), nullptr), "read its shape");
  return {extent.begin(), extent.end()};
}

/// Size of all items [bytes]. Throws Error(corrupt) if no file can be that large.
std::uint64_t logical_bytes(const Info& info) {
  constexpr std::uint64_t most = std::uint64_t{1} << 60;
  std::uint64_t bytes = std::max<std::uint64_t>(info.type.bytes, 1);
  for (std::uint64_t extent : info.shape) {
    if (extent != 0 && bytes > most / extent)
      throw Error(Kind::corrupt, "impossible size: " + describe(info) + " is more than 2^60 bytes");
    bytes *= extent;
  }
  return bytes;
}

/// Checks that the values are really in the file: a header of a few bytes may claim any shape.
void check_size(const File& file, hid_t set, const Info& info, H5D_layout_t layout) {
  const std::uint64_t wanted = logical_bytes(info);
  const std::uint64_t stored = H5Dget_storage_size(set);
  const std::uint64_t most_compressed = 1100;  // deflate compresses at most 1032 to 1
  const std::uint64_t most = layout == H5D_CHUNKED ? std::min(stored, file.impl().length()) * most_compressed : stored;
  const haddr_t offset = H5Dget_offset(set);
  const bool outside = layout == H5D_CONTIGUOUS && wanted > 0 && offset != HADDR_UNDEF &&
                       (offset > file.impl().length() || wanted > file.impl().length() - offset);
  if (num_items(info) != 0 && (wanted > most || outside))
    throw Error(Kind::corrupt, "its values are not all in the file: expected " + std::to_string(wanted) +
                                   " bytes for " + describe(info) + ", found " + std::to_string(stored) +
                                   " stored in a file of " + std::to_string(file.impl().length()));
}

std::string missing_filter(hid_t plist) {
  const int count = H5Pget_nfilters(plist);
  for (int i = 0; i < count; ++i) {
    unsigned flags = 0;
    std::size_t values = 0;
    std::array<char, 64> name{};
    const H5Z_filter_t id = H5Pget_filter2(plist, static_cast<unsigned>(i), &flags, &values, nullptr, name.size() - 1,
                                           name.data(), nullptr);
    if (id >= 0 && H5Zfilter_avail(id) <= 0)
      return "filter " + std::to_string(id) + (name[0] == 0 ? "" : std::string(", ") + name.data());
  }
  return {};
}

/// Whether a data set with these creation properties keeps its values in other files.
bool values_elsewhere(hid_t plist) { return H5Pget_layout(plist) == H5D_VIRTUAL || H5Pget_external_count(plist) > 0; }

void add_set(const File& file, const std::string& path, const std::string& name, Contents& contents) {
  const Id set(H5Dopen2(file.impl().id(), path.c_str(), H5P_DEFAULT), H5Dclose, "open it");
  const Id type(H5Dget_type(set()), H5Tclose, "read its type");
  const Id plist(H5Dget_create_plist(set()), H5Pclose, "read its properties");
  const Id space(H5Dget_space(set()), H5Sclose, "read its shape");
  const H5D_layout_t layout = H5Pget_layout(plist());
  if (values_elsewhere(plist())) return contents.others.push_back({name, Other::What::elsewhere, {}});
  if (H5Sget_simple_extent_type(space()) == H5S_NULL)
    return contents.others.push_back({name, Other::What::shapeless, {}});
  Info info{path, shape_of(space()), type_of(type()), {}, {}, {}};
  if (info.type.kind == Class::compound) info.members = members_of(type());
  try {
    check_size(file, set(), info, layout);
  } catch (Error& error) {
    return contents.others.push_back({name, Other::What::absent, std::move(error.at(place(file, path)))});
  }
  const haddr_t offset = H5Dget_offset(set());
  // With an offset read_rows() reads past the library.
  if (layout == H5D_CONTIGUOUS && offset != HADDR_UNDEF && is_native(type())) info.offset = offset;
  info.missing_filter = missing_filter(plist());
  contents.sets.push_back(std::move(info));
}

/// The names in a group: data sets with a hard link, and everything else.
struct MemberNames {
  std::vector<std::string> sets;
  std::vector<Other> others;
};

herr_t take_link(hid_t group, const char* name, const H5L_info_t* link, void* out) {
  MemberNames& names = *static_cast<MemberNames*>(out);
  const auto other = [&](Other::What what) {
    names.others.push_back({name, what, {}});
    return 0;
  };
  if (link->type != H5L_TYPE_HARD) return other(Other::What::link);
  H5O_info_t object;
  if (H5Oget_info_by_name(group, name, &object, H5P_DEFAULT) < 0) return -1;
  if (object.type == H5O_TYPE_GROUP) return other(Other::What::group);
  if (object.type != H5O_TYPE_DATASET) return other(Other::What::other);
  names.sets.emplace_back(name);
  return 0;
}

void check_rows(const Info& info, std::uint64_t first, std::uint64_t rows, std::size_t out) {
  const std::uint64_t all = info.shape.empty() ? 1 : info.shape[0];
  if (first > all || rows > all - first)
    throw Error(Kind::corrupt,
                "ends early: expected rows up to " + std::to_string(first + rows) + ", found " + std::to_string(all));
  if (out != rows * items_a_row(info)) throw Error(Kind::usage, "a buffer that does not fit the rows asked for");
  if (info.type.kind != Class::integer && info.type.kind != Class::real)
    throw Error(Kind::corrupt, "expected numbers, found " + to_string(info.type));
}

/// The data set's space with rows [first, first + rows) selected.
Id select_rows(hid_t set, const Info& info, std::uint64_t first, std::uint64_t rows) {
  Id space(H5Dget_space(set), H5Sclose, "read its shape");
  if (info.shape.empty()) return space;
  std::vector<hsize_t> start(info.shape.size(), 0), count(info.shape.begin(), info.shape.end());
  start[0] = first;
  count[0] = rows;
  check(H5Sselect_hyperslab(space(), H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr), "select rows");
  return space;
}

Id memory_space(std::uint64_t items) {
  const hsize_t extent = items;
  return {H5Screate_simple(1, &extent, nullptr), H5Sclose, "make a space"};
}

Id text_type(std::size_t width) {
  Id type(H5Tcopy(H5T_C_S1), H5Tclose, "make a text type");
  check(H5Tset_size(type(), width), "make a text type");
  return type;
}

/// All items as they lie in the file, without conversion. We avoid HDF5's conversion for two reasons: it cuts the last
/// byte of texts that fill their width, as FLASH's do, and it trusts the offsets of a damaged compound.
std::vector<std::byte> read_raw(const File& file, const Info& info) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(num_items(info)) * info.type.bytes);
  if (bytes.empty()) return bytes;
  const Id set(H5Dopen2(file.impl().id(), info.name.c_str(), H5P_DEFAULT), H5Dclose, "open it");
  const Id type(H5Dget_type(set()), H5Tclose, "read its type");
  check(H5Dread(set(), type(), H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes.data()), "read its values");
  return bytes;
}

/// Cuts `width` bytes from each item, from `offset` on.
std::vector<std::string> cut(const std::vector<std::byte>& bytes, std::size_t item, std::size_t offset,
                             std::size_t width) {
  std::vector<std::string> texts;
  for (std::size_t at = 0; item > 0 && at + item <= bytes.size(); at += item)
    texts.emplace_back(reinterpret_cast<const char*>(bytes.data()) + at + offset, width);
  return texts;
}

template <class T, class From>
T number_as(const std::byte* at, std::endian order) {
  return static_cast<T>(base::load<From>(at, order));
}

/// One number in an item of a compound.
template <class T>
T number_at(const std::byte* at, const ItemType& type) {
  const std::endian order = type.big_endian ? std::endian::big : std::endian::little;
  if (type.kind == Class::real)
    return type.bytes == 4 ? number_as<T, float>(at, order) : number_as<T, double>(at, order);
  if (type.bytes == 4)
    return type.is_signed ? number_as<T, std::int32_t>(at, order) : number_as<T, std::uint32_t>(at, order);
  return number_as<T, std::int64_t>(at, order);
}

void check_member(const Info& info, const Member& member) {
  if (member.offset > info.type.bytes || member.type.bytes > info.type.bytes - member.offset)
    throw Error(Kind::corrupt, "its member \"" + member.name + "\" does not lie in its items of " +
                                   std::to_string(info.type.bytes) + " bytes");
}

void require(bool fits, const ItemType& found, const char* expected) {
  if (!fits) throw Error(Kind::corrupt, std::string("expected ") + expected + ", found " + to_string(found));
}

/// Whether the object and every group on the way to it are in this file. We don't follow links to other places.
bool has_object(const File& file, const std::string& path) {
  if (path.empty() || path == "/") return true;
  for (std::size_t end = path.find('/');; end = path.find('/', end + 1)) {
    const std::string name = path.substr(0, end);
    H5L_info_t link;
    if (H5Lexists(file.impl().id(), name.c_str(), H5P_DEFAULT) <= 0 ||
        H5Lget_info(file.impl().id(), name.c_str(), &link, H5P_DEFAULT) < 0 || link.type != H5L_TYPE_HARD)
      return false;
    if (end == std::string::npos) return H5Oexists_by_name(file.impl().id(), path.c_str(), H5P_DEFAULT) > 0;
  }
}

/// The names in a group; none if there is no such group.
MemberNames names_in(const File& file, const std::string& group) {
  MemberNames names;
  if (!has_object(file, group)) return names;
  const Id id(H5Gopen2(file.impl().id(), group.empty() ? "/" : group.c_str(), H5P_DEFAULT), H5Gclose, "open the group");
  check(H5Literate(id(), H5_INDEX_NAME, H5_ITER_INC, nullptr, take_link, &names), "list its data sets");
  return names;
}

/// Values of any shape. read(type in memory, buffer) must fill the buffer.
template <class Read>
std::optional<Items> items_from(hid_t type, hid_t space, const ItemType& item, std::size_t count, Read&& read) {
  // Numbers of other widths (of 3 bytes, say) give nothing, rather than something rounded.
  const bool whole = item.bytes == 1 || item.bytes == 2 || item.bytes == 4 || item.bytes == 8;
  if (item.kind == Class::integer && whole) {
    std::vector<std::int64_t> values(count);
    if (count != 0) read(item.is_signed ? H5T_NATIVE_INT64 : H5T_NATIVE_UINT64, values.data());
    return values;
  }
  if (item.kind == Class::real && whole && item.bytes >= 4) {
    std::vector<double> values(count);
    if (count != 0) read(H5T_NATIVE_DOUBLE, values.data());
    return values;
  }
  if (item.kind == Class::text) {
    std::vector<std::byte> bytes(count * item.bytes);
    if (count != 0) read(type, bytes.data());
    std::vector<std::string> texts = cut(bytes, item.bytes, 0, item.bytes);
    for (std::string& text : texts) text.resize(text.find_last_not_of('\0') + 1);
    return texts;
  }
  if (item.kind != Class::words) return {};
  std::vector<char*> pointers(count, nullptr);
  std::vector<std::string> texts;
  if (count != 0) read(type, pointers.data());
  for (const char* pointer : pointers) texts.emplace_back(pointer == nullptr ? "" : pointer);
  if (count != 0) check(H5Dvlen_reclaim(type, space, H5P_DEFAULT, pointers.data()), "give its texts back");
  return texts;
}

/// The type in a file for values of Items.
Id file_type(const ItemType& type) {
  if (type.kind == Class::text) {
    Id text = text_type(type.bytes);
    check(H5Tset_strpad(text(), H5T_STR_NULLPAD), "make a text type");
    return text;
  }
  if (type.kind != Class::words) return {H5Tcopy(native(type)), H5Tclose, "make a type"};
  Id words(H5Tcopy(H5T_C_S1), H5Tclose, "make a text type");
  check(H5Tset_size(words(), H5T_VARIABLE), "make a text type");
  check(H5Tset_cset(words(), H5T_CSET_UTF8), "make a text type");
  return words;
}

/// Calls write(type in memory, buffer) with the values in the layout of that type.
template <class Write>
void put_items(hid_t type, const ItemType& item, const Items& items, Write&& write) {
  if (const auto* integers = std::get_if<std::vector<std::int64_t>>(&items)) {
    require(item.kind == Class::integer, item, "a type for integers");
    if (!integers->empty()) write(item.is_signed ? H5T_NATIVE_INT64 : H5T_NATIVE_UINT64, integers->data());
    return;
  }
  if (const auto* reals = std::get_if<std::vector<double>>(&items)) {
    require(item.kind == Class::real, item, "a type for reals");
    if (!reals->empty()) write(H5T_NATIVE_DOUBLE, reals->data());
    return;
  }
  const auto& texts = std::get<std::vector<std::string>>(items);
  require(item.kind == Class::text || item.kind == Class::words, item, "a type for texts");
  if (texts.empty()) return;
  std::string all;
  std::vector<const char*> pointers;
  for (const std::string& text : texts) {
    if (item.kind == Class::text && text.size() > item.bytes)
      throw Error(Kind::usage, "a text is longer than " + std::to_string(item.bytes) + " bytes");
    all += text;
    if (item.kind == Class::text) all.append(item.bytes - text.size(), '\0');
    pointers.push_back(text.c_str());
  }
  item.kind == Class::text ? write(type, all.data()) : write(type, pointers.data());
}

std::size_t count_of(std::span<const std::uint64_t> shape) {
  std::size_t count = 1;
  for (const std::uint64_t extent : shape) count *= static_cast<std::size_t>(extent);
  return count;
}

void check_count(const Items& items, std::span<const std::uint64_t> shape) {
  const std::size_t found = std::visit([](const auto& values) { return values.size(); }, items);
  if (found != count_of(shape))
    throw Error(Kind::usage, "values that do not fit their shape: expected " + std::to_string(count_of(shape)) +
                                 ", found " + std::to_string(found));
}

Id space_of(std::span<const std::uint64_t> shape) {
  if (shape.empty()) return {H5Screate(H5S_SCALAR), H5Sclose, "make a space"};
  const std::vector<hsize_t> extent(shape.begin(), shape.end());
  return {H5Screate_simple(static_cast<int>(extent.size()), extent.data(), nullptr), H5Sclose, "make a space"};
}

Id open_object(const File& file, const std::string& name) {
  return {H5Oopen(file.impl().id(), name.empty() ? "/" : name.c_str(), H5P_DEFAULT), H5Oclose, "open it"};
}

herr_t take_attribute(hid_t, const char* name, const H5A_info_t*, void* out) {
  static_cast<std::vector<std::string>*>(out)->emplace_back(name);
  return 0;
}

/// Runs `work` with an attribute if the attribute exists.
template <class Work>
void with_attribute(const File& file, const std::string& object, const std::string& attribute, Work&& work) {
  at_data_set(file, object, [&] {
    if (!has_object(file, object)) return;
    const Id owner(H5Oopen(file.impl().id(), object.c_str(), H5P_DEFAULT), H5Oclose, "open it");
    if (H5Aexists(owner(), attribute.c_str()) <= 0) return;
    const Id id(H5Aopen(owner(), attribute.c_str(), H5P_DEFAULT), H5Aclose, "open its attribute " + attribute);
    const Id space(H5Aget_space(id()), H5Sclose, "read the attribute's shape");
    const Id type(H5Aget_type(id()), H5Tclose, "read the attribute's type");
    const hssize_t count = H5Sget_simple_extent_npoints(space());
    constexpr hssize_t most = 1 << 16;  // limit of attributes in old files
    if (count < 0 || count > most) throw Error(Kind::corrupt, "its attribute " + attribute + " has an odd size");
    work(id(), type(), static_cast<std::size_t>(count));
  });
}

void make_attribute(const File& file, const std::string& object, const std::string& attribute, hid_t type,
                    const Id& space, const void* values) {
  const Id owner(H5Oopen(file.impl().id(), object.c_str(), H5P_DEFAULT), H5Oclose, "open it");
  const std::string what = "its attribute " + attribute;
  const Id id(H5Acreate2(owner(), attribute.c_str(), type, space(), H5P_DEFAULT, H5P_DEFAULT), H5Aclose, what);
  check(H5Awrite(id(), type, values), what);
}

Id make_set(const File& file, const std::string& name, hid_t type, std::span<const std::uint64_t> shape) {
  const Id space = space_of(shape);
  const Id plist(H5Pcreate(H5P_DATASET_CREATE), H5Pclose, "make a property list");
  // Texts of variable length are stored as references. HDF5 must fill these, or they would point anywhere.
  if (H5Tis_variable_str(type) <= 0) check(H5Pset_fill_time(plist(), H5D_FILL_TIME_NEVER), "switch filling off");
  // The place of values is then known before any is written: other processes write them there without the library.
  check(H5Pset_alloc_time(plist(), H5D_ALLOC_TIME_EARLY), "ask for early allocation");
  // Without times, the same data always give the same bytes.
  check(H5Pset_obj_track_times(plist(), false), "switch times off");
  return {H5Dcreate2(file.impl().id(), name.c_str(), type, space(), H5P_DEFAULT, plist(), H5P_DEFAULT), H5Dclose,
          "make it"};
}

}  // namespace

namespace {

std::shared_ptr<File::Impl> new_impl(const std::filesystem::path& path) {
  auto impl = std::make_shared<File::Impl>();
  impl->path = path;
  return impl;
}

// HDF5 locks files that it reads. If the file system refuses with an error other than ENOSYS, HDF5 fails, so we switch
// its locks off.
Id reading_access(const file::File& bytes) {
  Id access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, "make a property list");
#if H5_VERSION_GE(1, 12, 1) || (H5_VERSION_GE(1, 10, 7) && H5_VERSION_LE(1, 11, 0))
  if (::flock(bytes.descriptor(), LOCK_SH | LOCK_NB) == 0)
    ::flock(bytes.descriptor(), LOCK_UN);
  else if (errno != EWOULDBLOCK)
    check(H5Pset_file_locking(access(), false, true), "switch locks off");
#endif
  return access;
}

}  // namespace

// The library's lock is taken first, by threads that hold it already, too: two locks in either order could wait for
// each other.
void File::Impl::open_handle() {
  const Locked locked;
  if (!handle_waits) return;
  handle = open_read(path);
  size = file::size(handle);
  handle_waits = false;
}

void File::Impl::open_library() {
  const Locked locked;
  if (!library_waits) return;
  const Id access = reading_access(bytes());
  opened = H5Fopen(path.c_str(), H5F_ACC_RDONLY, access());
  if (opened < 0) throw failure("open it as HDF5").at(path.string());
  library_waits = false;
}

File open_later(const std::filesystem::path& path) {
  auto impl = new_impl(path);
  impl->handle_waits = impl->library_waits = true;
  return File(std::move(impl));
}

File open(const std::filesystem::path& path) {
  File file = open_later(path);
  file.impl().id();
  return file;
}

File open_write(const std::filesystem::path& path) {
  auto impl = new_impl(path);
  impl->handle = open_read(path);
  impl->size = file::size(impl->handle);
  impl->written.file = file::open_write(path);
  impl->written.length = impl->written.end = impl->size;
  impl->written.through = true;
  const Locked locked;
  const Id access = overlay_access(impl->written);
  impl->opened = H5Fopen(path.c_str(), H5F_ACC_RDWR, access());
  if (impl->opened < 0) throw failure("open it as HDF5").at(path.string());
  return File(std::move(impl));
}

File create(const std::filesystem::path& path) {
  if (std::filesystem::exists(std::filesystem::symlink_status(path)))
    throw Error(Kind::usage, "exists already").at(path.string());
  auto impl = new_impl(path);
  impl->written.file = file::create(path);
  impl->written.through = true;
  const Locked locked;
  const Id access = overlay_access(impl->written);
  impl->opened = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access());
  if (impl->opened < 0) throw Error(Kind::unreadable, failure("create it").message()).at(path.string());
  impl->require_written();
  return File(std::move(impl));
}

std::vector<Info> list(const File& file) { return list(file, {}); }

std::vector<Info> list(const File& file, const std::string& group) {
  Contents found = contents(file, group);
  for (const Other& other : found.others)
    if (other.damage) throw *other.damage;
  return std::move(found.sets);
}

Contents contents(const File& file, const std::string& group) {
  MemberNames names;
  at_data_set(file, group, [&] { names = names_in(file, group); });
  Contents found;
  found.others = std::move(names.others);
  for (const std::string& name : names.sets) {
    const std::string path = group.empty() ? name : group + "/" + name;
    at_data_set(file, path, [&] { add_set(file, path, name, found); });
  }
  std::sort(found.others.begin(), found.others.end(), [](const Other& a, const Other& b) { return a.name < b.name; });
  return found;
}

void require_self_contained(const std::filesystem::path& path) {
  const File file = open(path);
  std::string found;
  const auto look = [](hid_t root, const char* name, const H5L_info_t* link, void* out) -> herr_t {
    const auto leads_out = [&] {
      if (link->type != H5L_TYPE_HARD) return link->type != H5L_TYPE_SOFT;
      H5O_info_t object;
      if (H5Oget_info_by_name(root, name, &object, H5P_DEFAULT) < 0 || object.type != H5O_TYPE_DATASET) return false;
      const Id set(H5Dopen2(root, name, H5P_DEFAULT), H5Dclose, "open it");
      const Id plist(H5Dget_create_plist(set()), H5Pclose, "read its properties");
      return values_elsewhere(plist());
    };
    try {
      if (!leads_out()) return 0;
    } catch (const Error&) {  // whoever reads the damaged object reports it
      return 0;
    }
    *static_cast<std::string*>(out) = name;
    return 1;
  };
  at_data_set(file, {}, [&] {
    check(H5Lvisit(file.impl().id(), H5_INDEX_NAME, H5_ITER_NATIVE, look, &found), "look for links to other files");
    if (!found.empty())
      throw Error(Kind::unsupported, "\"" + found + "\" leads to another file: files that a file names are not opened");
  });
}

std::vector<Info> list_attributes(const File& file, const std::string& object) {
  return at_data_set(file, object, [&] {
    std::vector<Info> infos;
    if (!has_object(file, object)) return infos;
    const Id owner = open_object(file, object);
    std::vector<std::string> names;
    check(H5Aiterate2(owner(), H5_INDEX_NAME, H5_ITER_INC, nullptr, take_attribute, &names), "list its attributes");
    for (const std::string& name : names) {
      const Id id(H5Aopen(owner(), name.c_str(), H5P_DEFAULT), H5Aclose, "open its attribute " + name);
      const Id space(H5Aget_space(id()), H5Sclose, "read the attribute's shape");
      const Id type(H5Aget_type(id()), H5Tclose, "read the attribute's type");
      if (H5Sget_simple_extent_type(space()) == H5S_NULL) continue;
      infos.push_back({name, shape_of(space()), type_of(type()), {}, {}, {}});
      logical_bytes(infos.back());
    }
    return infos;
  });
}

std::optional<Items> read_items(const File& file, const Info& info) {
  return at_data_set(file, info.name, [&] {
    const Id set(H5Dopen2(file.impl().id(), info.name.c_str(), H5P_DEFAULT), H5Dclose, "open it");
    const Id type(H5Dget_type(set()), H5Tclose, "read its type");
    const Id space(H5Dget_space(set()), H5Sclose, "read its shape");
    return items_from(type(), space(), info.type, count_of(info.shape), [&](hid_t memory, void* out) {
      check(H5Dread(set(), memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, out), "read its values");
    });
  });
}

std::optional<Items> read_attribute_items(const File& file, const std::string& object, const Info& attribute) {
  return at_data_set(file, object, [&] {
    const Id owner = open_object(file, object);
    const Id id(H5Aopen(owner(), attribute.name.c_str(), H5P_DEFAULT), H5Aclose, "open an attribute");
    const Id type(H5Aget_type(id()), H5Tclose, "read the attribute's type");
    const Id space(H5Aget_space(id()), H5Sclose, "read the attribute's shape");
    return items_from(type(), space(), attribute.type, count_of(attribute.shape), [&](hid_t memory, void* out) {
      check(H5Aread(id(), memory, out), "read its attribute " + attribute.name);
    });
  });
}

template <class T>
void read_rows(const File& file, const Info& info, std::uint64_t first, std::uint64_t rows, std::span<T> out) {
  try {
    check_rows(info, first, rows, out.size());
    if (out.empty()) return;
    const bool real = std::is_floating_point_v<T>;
    const bool same = info.type.bytes == sizeof(T) && (info.type.kind == Class::real) == real &&
                      (real || info.type.is_signed == std::is_signed_v<T>);
    if (info.offset && same) {
      pread_all(file.impl().bytes(), *info.offset + first * items_a_row(info) * sizeof(T), std::as_writable_bytes(out));
      return;
    }
  } catch (Error& error) {
    throw std::move(error.at(place(file, info.name)));
  }
  at_data_set(file, info.name, [&] {
    const Id set(H5Dopen2(file.impl().id(), info.name.c_str(), H5P_DEFAULT), H5Dclose, "open it");
    const Id space = select_rows(set(), info, first, rows);
    const Id memory = memory_space(out.size());
    check(H5Dread(set(), native<T>(), memory(), space(), H5P_DEFAULT, out.data()), "read its values");
  });
}

namespace {

/// Reads what `select` selects of the data set's space.
template <class T, class Select>
void read_selected(const File& file, const Info& info, std::span<T> out, Select&& select) {
  at_data_set(file, info.name, [&] {
    if (info.type.kind != Class::integer && info.type.kind != Class::real)
      throw Error(Kind::corrupt, "expected numbers, found " + to_string(info.type));
    const Id set(H5Dopen2(file.impl().id(), info.name.c_str(), H5P_DEFAULT), H5Dclose, "open it");
    const Id space(H5Dget_space(set()), H5Sclose, "read its shape");
    check(select(space()), "select some of its values");
    const Id memory = memory_space(out.size());
    check(H5Dread(set(), native<T>(), memory(), space(), H5P_DEFAULT, out.data()), "read its values");
  });
}

}  // namespace

template <class T>
void read_stretches(const File& file, const Info& info, std::span<const Stretch> axes, std::span<T> out) {
  std::vector<hsize_t> start, stride, count;
  for (const Stretch& axis : axes) {
    start.push_back(axis.start);
    stride.push_back(axis.stride);
    count.push_back(axis.count);
  }
  read_selected(file, info, out, [&](hid_t space) {
    return H5Sselect_hyperslab(space, H5S_SELECT_SET, start.data(), stride.data(), count.data(), nullptr);
  });
}

template <class T>
void read_places(const File& file, const Info& info, std::span<const std::uint64_t> places, std::span<T> out) {
  const std::vector<hsize_t> indices(places.begin(), places.end());
  if (out.empty()) return;
  read_selected(file, info, out,
                [&](hid_t space) { return H5Sselect_elements(space, H5S_SELECT_SET, out.size(), indices.data()); });
}

template <class T>
std::vector<T> read_member(const File& file, const Info& info, const Member& member) {
  return at_data_set(file, info.name, [&] {
    const bool number =
        member.type.kind == Class::integer || (member.type.kind == Class::real && std::is_floating_point_v<T>);
    require(number && (member.type.bytes == 4 || member.type.bytes == 8), member.type, "a number of 4 or 8 bytes");
    check_member(info, member);
    const std::vector<std::byte> bytes = read_raw(file, info);
    std::vector<T> values;
    for (std::size_t at = 0; at < bytes.size(); at += info.type.bytes)
      values.push_back(number_at<T>(bytes.data() + at + member.offset, member.type));
    return values;
  });
}

std::vector<std::string> read_text(const File& file, const Info& info) {
  return at_data_set(file, info.name, [&] {
    require(info.type.kind == Class::text, info.type, "texts");
    return cut(read_raw(file, info), info.type.bytes, 0, info.type.bytes);
  });
}

std::vector<std::string> read_member_text(const File& file, const Info& info, const Member& member) {
  return at_data_set(file, info.name, [&] {
    require(member.type.kind == Class::text, member.type, "texts");
    check_member(info, member);
    return cut(read_raw(file, info), info.type.bytes, member.offset, member.type.bytes);
  });
}

std::optional<double> read_attribute(const File& file, const std::string& name, const std::string& attribute) {
  return at_data_set(file, name, [&]() -> std::optional<double> {
    const Id set(H5Dopen2(file.impl().id(), name.c_str(), H5P_DEFAULT), H5Dclose, "open it");
    if (H5Aexists(set(), attribute.c_str()) <= 0) return {};
    const Id id(H5Aopen(set(), attribute.c_str(), H5P_DEFAULT), H5Aclose, "open its attribute " + attribute);
    const Id space(H5Aget_space(id()), H5Sclose, "read the attribute's shape");
    if (H5Sget_simple_extent_npoints(space()) != 1) throw Error(Kind::corrupt, attribute + " is not one number");
    double value = 0;
    check(H5Aread(id(), H5T_NATIVE_DOUBLE, &value), "read its attribute " + attribute);
    return value;
  });
}

std::optional<std::vector<std::int64_t>> read_numbers(const File& file, const std::string& object,
                                                      const std::string& attribute) {
  std::optional<std::vector<std::int64_t>> found;
  with_attribute(file, object, attribute, [&](hid_t id, hid_t type, std::size_t count) {
    require(type_of(type).kind == Class::integer, type_of(type), "whole numbers");
    found.emplace(count);
    check(H5Aread(id, H5T_NATIVE_INT64, found->data()), "read its attribute " + attribute);
  });
  return found;
}

std::optional<std::vector<double>> read_reals(const File& file, const std::string& object,
                                              const std::string& attribute) {
  std::optional<std::vector<double>> found;
  with_attribute(file, object, attribute, [&](hid_t id, hid_t type, std::size_t count) {
    const ItemType item = type_of(type);
    require(item.kind == Class::integer || item.kind == Class::real, item, "numbers");
    found.emplace(count);
    check(H5Aread(id, H5T_NATIVE_DOUBLE, found->data()), "read its attribute " + attribute);
  });
  return found;
}

std::optional<std::string> read_words(const File& file, const std::string& object, const std::string& attribute) {
  std::optional<std::string> found;
  with_attribute(file, object, attribute, [&](hid_t id, hid_t type, std::size_t count) {
    constexpr std::size_t most = 1 << 16;
    const ItemType item = type_of(type);
    require(item.kind == Class::text && count == 1 && item.bytes < most, item, "one text of fixed width");
    found.emplace(item.bytes, '\0');
    check(H5Aread(id, type, found->data()), "read its attribute " + attribute);
    found->resize(found->find_last_not_of('\0') + 1);
  });
  return found;
}

void make_group(const File& file, const std::string& name) {
  at_data_set(file, name, [&] {
    const Id group(H5Gcreate2(file.impl().id(), name.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose,
                   "make the group");
  });
}

void write_numbers(const File& file, const std::string& object, const std::string& attribute,
                   std::span<const std::int64_t> values) {
  at_data_set(file, object, [&] {
    make_attribute(file, object, attribute, H5T_NATIVE_INT64, memory_space(values.size()), values.data());
  });
}

void write_words(const File& file, const std::string& object, const std::string& attribute, const std::string& text) {
  at_data_set(file, object, [&] {
    const Id type = text_type(std::max<std::size_t>(text.size(), 1));
    check(H5Tset_strpad(type(), H5T_STR_NULLPAD), "make a text type");
    const Id space(H5Screate(H5S_SCALAR), H5Sclose, "make a space");
    make_attribute(file, object, attribute, type(), space, text.c_str());
  });
}

void make(const File& file, const std::string& name, const ItemType& type, std::span<const std::uint64_t> shape) {
  at_data_set(file, name, [&] { make_set(file, name, native(type), shape); });
}

template <class T>
void write_rows(const File& file, const std::string& name, std::uint64_t first, std::uint64_t rows,
                std::span<const T> values) {
  if (values.empty()) return;
  at_data_set(file, name, [&] {
    const Id set(H5Dopen2(file.impl().id(), name.c_str(), H5P_DEFAULT), H5Dclose, "open it");
    const Id extent(H5Dget_space(set()), H5Sclose, "read its shape");
    const Info info{name, shape_of(extent()), float64_type, {}, {}, {}};
    check_rows(info, first, rows, values.size());
    const Id space = select_rows(set(), info, first, rows);
    const Id memory = memory_space(values.size());
    check(H5Dwrite(set(), native<T>(), memory(), space(), H5P_DEFAULT, values.data()), "write its values");
  });
}

void write_text(const File& file, const std::string& name, std::size_t width, std::span<const std::string> texts,
                std::span<const std::uint64_t> shape) {
  at_data_set(file, name, [&] {
    std::string all;
    for (const std::string& text : texts) {
      if (text.size() != width) throw Error(Kind::usage, "a text of another width");
      all += text;
    }
    const Id type = text_type(width);
    const Id set = make_set(file, name, type(), shape);
    if (!all.empty()) check(H5Dwrite(set(), type(), H5S_ALL, H5S_ALL, H5P_DEFAULT, all.data()), "write its texts");
  });
}

void write_compound(const File& file, const std::string& name, std::span<const Member> members, std::size_t item_bytes,
                    std::span<const std::byte> items) {
  at_data_set(file, name, [&] {
    const Id type(H5Tcreate(H5T_COMPOUND, item_bytes), H5Tclose, "make a type");
    for (const Member& member : members) {
      const bool text = member.type.kind == Class::text;
      const Id item = text ? text_type(member.type.bytes) : Id(H5Tcopy(native(member.type)), H5Tclose, "make a type");
      check(H5Tinsert(type(), member.name.c_str(), member.offset, item()), "make a type");
    }
    const std::array<std::uint64_t, 1> shape{items.size() / item_bytes};
    const Id set = make_set(file, name, type(), shape);
    if (!items.empty()) check(H5Dwrite(set(), type(), H5S_ALL, H5S_ALL, H5P_DEFAULT, items.data()), "write its items");
  });
}

void write_items(const File& file, const std::string& name, const ItemType& type, std::span<const std::uint64_t> shape,
                 const Items& items) {
  at_data_set(file, name, [&] {
    check_count(items, shape);
    const Id of_file = file_type(type);
    const Id set = make_set(file, name, of_file(), shape);
    put_items(of_file(), type, items, [&](hid_t memory, const void* values) {
      check(H5Dwrite(set(), memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, values), "write its values");
    });
  });
}

void write_attribute_items(const File& file, const std::string& object, const std::string& name, const ItemType& type,
                           std::span<const std::uint64_t> shape, const Items& items) {
  at_data_set(file, object, [&] {
    check_count(items, shape);
    const Id of_file = file_type(type), owner = open_object(file, object), space = space_of(shape);
    const std::string what = "make its attribute " + name;
    const Id id(H5Acreate2(owner(), name.c_str(), of_file(), space(), H5P_DEFAULT, H5P_DEFAULT), H5Aclose, what);
    put_items(of_file(), type, items,
              [&](hid_t memory, const void* values) { check(H5Awrite(id(), memory, values), what); });
  });
}

void write_attribute(const File& file, const std::string& name, const std::string& attribute, const ItemType& type,
                     double value) {
  at_data_set(file, name, [&] {
    const Id set(H5Dopen2(file.impl().id(), name.c_str(), H5P_DEFAULT), H5Dclose, "open it");
    const hsize_t one = 1;
    const Id space(H5Screate_simple(1, &one, nullptr), H5Sclose, "make a space");
    const Id id(H5Acreate2(set(), attribute.c_str(), native(type), space(), H5P_DEFAULT, H5P_DEFAULT), H5Aclose,
                "make its attribute " + attribute);
    check(H5Awrite(id(), H5T_NATIVE_DOUBLE, &value), "write its attribute " + attribute);
  });
}

#else

struct File::Impl {
  std::filesystem::path path;
};

namespace {
Error missing() { return {Kind::unsupported, "this build has no HDF5"}; }
}  // namespace

bool available() noexcept { return false; }
const std::filesystem::path& File::path() const { return impl_->path; }
void File::close() {}
File open(const std::filesystem::path& path) { throw missing().at(path.string()); }
File open_later(const std::filesystem::path& path) { throw missing().at(path.string()); }
File open_write(const std::filesystem::path& path) { throw missing().at(path.string()); }
File create(const std::filesystem::path& path) { throw missing().at(path.string()); }
std::vector<Info> list(const File&) { throw missing(); }
std::vector<Info> list(const File&, const std::string&) { throw missing(); }
Contents contents(const File&, const std::string&) { throw missing(); }
std::vector<Info> list_attributes(const File&, const std::string&) { throw missing(); }
std::optional<Items> read_items(const File&, const Info&) { throw missing(); }
void require_self_contained(const std::filesystem::path& path) { throw missing().at(path.string()); }
std::optional<Items> read_attribute_items(const File&, const std::string&, const Info&) { throw missing(); }
void write_items(const File&, const std::string&, const ItemType&, std::span<const std::uint64_t>, const Items&) {
  throw missing();
}
void write_attribute_items(const File&, const std::string&, const std::string&, const ItemType&,
                           std::span<const std::uint64_t>, const Items&) {
  throw missing();
}
std::optional<std::vector<std::int64_t>> read_numbers(const File&, const std::string&, const std::string&) {
  throw missing();
}
std::optional<std::vector<double>> read_reals(const File&, const std::string&, const std::string&) { throw missing(); }
std::optional<std::string> read_words(const File&, const std::string&, const std::string&) { throw missing(); }
void make_group(const File&, const std::string&) { throw missing(); }
void write_numbers(const File&, const std::string&, const std::string&, std::span<const std::int64_t>) {
  throw missing();
}
void write_words(const File&, const std::string&, const std::string&, const std::string&) { throw missing(); }
template <class T>
void read_rows(const File&, const Info&, std::uint64_t, std::uint64_t, std::span<T>) {
  throw missing();
}
template <class T>
void read_stretches(const File&, const Info&, std::span<const Stretch>, std::span<T>) {
  throw missing();
}
template <class T>
void read_places(const File&, const Info&, std::span<const std::uint64_t>, std::span<T>) {
  throw missing();
}
template <class T>
std::vector<T> read_member(const File&, const Info&, const Member&) {
  throw missing();
}
std::vector<std::string> read_text(const File&, const Info&) { throw missing(); }
std::vector<std::string> read_member_text(const File&, const Info&, const Member&) { throw missing(); }
std::optional<double> read_attribute(const File&, const std::string&, const std::string&) { throw missing(); }
void make(const File&, const std::string&, const ItemType&, std::span<const std::uint64_t>) { throw missing(); }
template <class T>
void write_rows(const File&, const std::string&, std::uint64_t, std::uint64_t, std::span<const T>) {
  throw missing();
}
void write_text(const File&, const std::string&, std::size_t, std::span<const std::string>,
                std::span<const std::uint64_t>) {
  throw missing();
}
void write_compound(const File&, const std::string&, std::span<const Member>, std::size_t, std::span<const std::byte>) {
  throw missing();
}
void write_attribute(const File&, const std::string&, const std::string&, const ItemType&, double) { throw missing(); }

#endif

template void read_rows(const File&, const Info&, std::uint64_t, std::uint64_t, std::span<double>);
template void read_rows(const File&, const Info&, std::uint64_t, std::uint64_t, std::span<float>);
template void read_rows(const File&, const Info&, std::uint64_t, std::uint64_t, std::span<std::int32_t>);
template void read_rows(const File&, const Info&, std::uint64_t, std::uint64_t, std::span<std::int64_t>);
template void read_rows(const File&, const Info&, std::uint64_t, std::uint64_t, std::span<std::int16_t>);
template void read_rows(const File&, const Info&, std::uint64_t, std::uint64_t, std::span<std::int8_t>);
template void read_rows(const File&, const Info&, std::uint64_t, std::uint64_t, std::span<std::uint8_t>);
template void read_rows(const File&, const Info&, std::uint64_t, std::uint64_t, std::span<std::uint32_t>);
template void read_rows(const File&, const Info&, std::uint64_t, std::uint64_t, std::span<std::uint64_t>);
template void read_stretches(const File&, const Info&, std::span<const Stretch>, std::span<double>);
template void read_stretches(const File&, const Info&, std::span<const Stretch>, std::span<std::int64_t>);
template void read_places(const File&, const Info&, std::span<const std::uint64_t>, std::span<double>);
template void read_places(const File&, const Info&, std::span<const std::uint64_t>, std::span<std::int64_t>);
template std::vector<double> read_member(const File&, const Info&, const Member&);
template std::vector<std::int64_t> read_member(const File&, const Info&, const Member&);
template void write_rows(const File&, const std::string&, std::uint64_t, std::uint64_t, std::span<const double>);
template void write_rows(const File&, const std::string&, std::uint64_t, std::uint64_t, std::span<const float>);
template void write_rows(const File&, const std::string&, std::uint64_t, std::uint64_t, std::span<const std::int32_t>);
template void write_rows(const File&, const std::string&, std::uint64_t, std::uint64_t, std::span<const std::int64_t>);
template void write_rows(const File&, const std::string&, std::uint64_t, std::uint64_t, std::span<const std::uint8_t>);

}  // namespace octavo::file::hdf5
