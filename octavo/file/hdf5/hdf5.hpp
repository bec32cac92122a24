#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "octavo/base/error.hpp"

/// Data sets in an HDF5 file, over the serial C library. Only hdf5*.cpp call HDF5. A build without HDF5 has the same
/// functions, but opening or creating a file throws Error(unsupported).
///
/// All functions may be called from several threads. One lock protects all calls into HDF5; values of contiguous data
/// sets are read without it. Errors are Error(corrupt) or, if the operating system refused, Error(unreadable); they
/// name the file and data set and quote HDF5's own message.
namespace octavo::file::hdf5 {

/// Whether this build can read HDF5.
bool available() noexcept;
/// Whether the file begins with HDF5's signature. False if it cannot be read.
bool has_signature(const std::filesystem::path& path) noexcept;

/// `words` are texts of variable length; their bytes are not in the items.
enum class Class : std::uint8_t { integer, real, text, words, compound, other };

/// The type of one item, or of one member of it.
struct ItemType {
  Class kind = Class::other;
  std::size_t bytes = 0;  ///< in the file
  bool is_signed = true;  ///< for integers
  bool big_endian = false;
  bool operator==(const ItemType&) const = default;
};
std::string to_string(const ItemType& type);

struct Member {
  std::string name;
  std::size_t offset = 0;  ///< in the item [bytes]
  ItemType type;
  bool operator==(const Member&) const = default;
};

/// A data set as the file describes it. Its size has been checked against the file's: contiguous values lie in the
/// file, and compressed ones have at most 1100 times the stored size.
struct Info {
  std::string name;
  std::vector<std::uint64_t> shape;  ///< slowest index first
  ItemType type;
  std::vector<Member> members;          ///< of a compound
  std::optional<std::uint64_t> offset;  ///< of contiguous values in native byte order [file bytes]
  std::string missing_filter;           ///< a filter on its chunks that this HDF5 library lacks; empty: none
};
/// The product of the shape. items_a_row() is the product without the first entry.
std::uint64_t num_items(const Info& info);
std::uint64_t items_a_row(const Info& info);
/// "(181, 8, 8, 1) of float64".
std::string describe(const Info& info);

/// An open file. The destructor closes it without reporting failures: call close() if you need to know.
class File {
 public:
  File() = default;
  struct Impl;
  explicit File(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
  Impl& impl() const { return *impl_; }
  const std::filesystem::path& path() const;
  void close();

 private:
  std::shared_ptr<Impl> impl_;
};

File open(const std::filesystem::path& path);
/// The same, but the file is opened when something is read from it: by this room alone for values that are contiguous,
/// else by HDF5, too.
File open_later(const std::filesystem::path& path);
/// Opens a file to write more into it.
File open_write(const std::filesystem::path& path);
/// Makes a new file; throws Error(usage) if it exists. The file has superblock version 0, which the oldest readers
/// understand.
File create(const std::filesystem::path& path);

/// The data sets of the root group, sorted by name. Everything that is not a data set of this file is left out.
std::vector<Info> list(const File& file);

/// The data sets of a group, named "GROUP/NAME"; none if there is no such group.
std::vector<Info> list(const File& file, const std::string& group);

/// A name in a group that list() leaves out.
struct Other {
  enum class What : std::uint8_t {
    group,
    link,       ///< soft or external: we never follow it, so a file cannot make us read another one
    elsewhere,  ///< a data set with its values in other files (external storage, virtual): we never read it
    shapeless,  ///< a data set that can hold no values
    absent,     ///< a data set whose values are not all in the file: damaged, or never written
    other       ///< a named type, or an object of a kind that a later HDF5 added
  };
  std::string name;
  What what = What::other;
  std::optional<base::Error> damage{};  ///< for `absent`: the error that list() throws
};
/// "a group", "a link" ...
std::string to_string(Other::What what);
/// The members of the root group, or of `group` ("GROUP/NAME"), sorted by name: the data sets that list() gives, and
/// all others. If a data set's values are absent, it is among the others; list() throws Error(corrupt) instead.
struct Contents {
  std::vector<Info> sets;
  std::vector<Other> others;
};
Contents contents(const File& file, const std::string& group = {});

/// Call it before a library that follows links opens the file. Throws Error(unsupported) that names an external link,
/// or a data set with values in other files, at any depth.
void require_self_contained(const std::filesystem::path& path);

/// The attributes of an object, by name; the object "" is the file itself. Attributes that can hold no values are left
/// out.
std::vector<Info> list_attributes(const File& file, const std::string& object);

/// Values of any shape as integers, reals or texts. Integers have 64 bits; unsigned ones keep their bits.
using Items = std::variant<std::vector<std::int64_t>, std::vector<double>, std::vector<std::string>>;
/// Returns nothing for compounds, integers not of 1, 2, 4 or 8 bytes, and reals not of 4 or 8 bytes.
std::optional<Items> read_items(const File& file, const Info& info);
std::optional<Items> read_attribute_items(const File& file, const std::string& object, const Info& attribute);

/// Reads the items of rows [first, first + rows), converted to T (double, float, or an integer of 1 to 8 bytes). `out`
/// must have the size of these rows. Throws Error(corrupt) if rows are missing or items are not numbers.
template <class T>
void read_rows(const File& file, const Info& info, std::uint64_t first, std::uint64_t rows, std::span<T> out);
template <class T>
std::vector<T> read_all(const File& file, const Info& info) {
  std::vector<T> values(static_cast<std::size_t>(num_items(info)));
  read_rows<T>(file, info, 0, info.shape.empty() ? 1 : info.shape[0], values);
  return values;
}
/// Some places along an axis: start, start + stride ...
struct Stretch {
  std::uint64_t start = 0, stride = 1, count = 1;
};
/// Reads the items at these places along each axis, the last axis fastest, converted to T (double or std::int64_t). No
/// others take memory. `out` must have the size of their number.
template <class T>
void read_stretches(const File& file, const Info& info, std::span<const Stretch> axes, std::span<T> out);
/// The same of single items: `places` has an index along each axis of each.
template <class T>
void read_places(const File& file, const Info& info, std::span<const std::uint64_t> places, std::span<T> out);
/// Reads one member of every item of a compound.
template <class T>
std::vector<T> read_member(const File& file, const Info& info, const Member& member);
/// Reads fixed-width texts with their padding: every item, or one member of every item.
std::vector<std::string> read_text(const File& file, const Info& info);
std::vector<std::string> read_member_text(const File& file, const Info& info, const Member& member);
/// The number attached to a data set; nothing if there is none.
std::optional<double> read_attribute(const File& file, const std::string& name, const std::string& attribute);

/// The integers attached to a group, a data set or the file ("/"); nothing if the object or its attribute is missing.
std::optional<std::vector<std::int64_t>> read_numbers(const File& file, const std::string& object,
                                                      const std::string& attribute);
/// The same for numbers of any type, as doubles.
std::optional<std::vector<double>> read_reals(const File& file, const std::string& object,
                                              const std::string& attribute);
/// The same for a text of fixed width, without trailing NULs.
std::optional<std::string> read_words(const File& file, const std::string& object, const std::string& attribute);

// ------------------------------------------------------------------------------------------------ writing

/// Names of data sets may begin with groups, "GROUP/NAME", that exist already.
void make_group(const File& file, const std::string& name);
void write_numbers(const File& file, const std::string& object, const std::string& attribute,
                   std::span<const std::int64_t> values);
void write_words(const File& file, const std::string& object, const std::string& attribute, const std::string& text);

/// Makes a contiguous data set without fill values. Types: unsigned integers of 1 byte, integers of 4 or 8, reals of 4
/// or 8.
void make(const File& file, const std::string& name, const ItemType& type, std::span<const std::uint64_t> shape);
template <class T>
void write_rows(const File& file, const std::string& name, std::uint64_t first, std::uint64_t rows,
                std::span<const T> values);
/// Makes a data set of fixed-width texts and writes it; each text must have `width` bytes.
void write_text(const File& file, const std::string& name, std::size_t width, std::span<const std::string> texts,
                std::span<const std::uint64_t> shape);
/// Makes a one-dimensional data set of compound items and writes it. Items have `item_bytes` bytes, laid out as in
/// memory.
void write_compound(const File& file, const std::string& name, std::span<const Member> members, std::size_t item_bytes,
                    std::span<const std::byte> items);
/// Makes a data set or attribute of any shape (empty: one item) and writes it. The type must be one that read_items
/// reads. Texts of fixed width are padded with NULs; a text that is longer throws Error(usage).
void write_items(const File& file, const std::string& name, const ItemType& type, std::span<const std::uint64_t> shape,
                 const Items& items);
void write_attribute_items(const File& file, const std::string& object, const std::string& name, const ItemType& type,
                           std::span<const std::uint64_t> shape, const Items& items);
/// Attaches an array of one number to a data set.
void write_attribute(const File& file, const std::string& name, const std::string& attribute, const ItemType& type,
                     double value);

inline constexpr ItemType uint8_type{Class::integer, 1, false};
inline constexpr ItemType int32_type{Class::integer, 4};
inline constexpr ItemType int64_type{Class::integer, 8};
inline constexpr ItemType float64_type{Class::real, 8};
inline constexpr ItemType float32_type{Class::real, 4};

}  // namespace octavo::file::hdf5
