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

/// Data sets in the root group of an HDF5 file, over the serial C library. HDF5 appears in hdf5*.cpp only: a build
/// without it has the same functions, and opening or creating a file throws Error(unsupported).
///
/// All functions may be called from several threads: calls into HDF5 stand behind one lock, and values of contiguous
/// data sets are read around it. Errors are Error(corrupt) or, where the operating system refused, Error(unreadable),
/// at the file and data set, with HDF5's own words.
namespace octavo::file::hdf5 {

/// Whether this build can read HDF5.
bool available() noexcept;
/// Whether the file begins with HDF5's signature. False where it cannot be read.
bool has_signature(const std::filesystem::path& path) noexcept;

/// `words`: texts of any length; their bytes are not in the items.
enum class Class : std::uint8_t { integer, real, text, words, compound, other };

/// The type of one item, or of one member of it.
struct ItemType {
  Class kind = Class::other;
  std::size_t bytes = 0;  ///< in the file
  bool is_signed = true;  ///< integers
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

/// A data set as the file describes it. Its size is checked against the file's: contiguous values lie in the
/// file, compressed ones have at most 1100 times the stored size.
struct Info {
  std::string name;
  std::vector<std::uint64_t> shape;  ///< slowest index first
  ItemType type;
  std::vector<Member> members;          ///< of a compound
  std::optional<std::uint64_t> offset;  ///< of contiguous values in native order [file bytes]
  std::string missing_filter;           ///< a filter on its chunks that this HDF5 library lacks; empty: none
};
/// Product of the shape, or of all but its first entry.
std::uint64_t num_items(const Info& info);
std::uint64_t items_a_row(const Info& info);
/// "(181, 8, 8, 1) of float64".
std::string describe(const Info& info);

/// An open file; closed by the destructor, silently: call close() where a failure must be heard.
class File {
 public:
  File() = default;
  struct Impl;
  explicit File(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
  const Impl& impl() const { return *impl_; }
  const std::filesystem::path& path() const;
  void close();

 private:
  std::shared_ptr<Impl> impl_;
};

File open(const std::filesystem::path& path);
/// To write more into it.
File open_write(const std::filesystem::path& path);
/// A new file that must not exist yet, else Error(usage). Superblock version 0, as the oldest readers take.
File create(const std::filesystem::path& path);

/// The data sets of the root group, by name. Leaves out everything that is not a data set of this file.
std::vector<Info> list(const File& file);

/// Those of a group, "GROUP/NAME" each; none where there is no such group.
std::vector<Info> list(const File& file, const std::string& group);

/// A name in a group that list() leaves out.
struct Other {
  enum class What : std::uint8_t {
    group,
    link,       ///< soft or external: never followed, so that a file cannot make us read another one
    elsewhere,  ///< a data set whose values lie in other files (external storage, virtual): never read
    shapeless,  ///< a data set that can hold no values
    absent,     ///< a data set whose values are not all in the file: damage, or never written
    other       ///< a named type, or a kind of object of a later HDF5
  };
  std::string name;
  What what = What::other;
  std::optional<base::Error> damage{};  ///< for `absent`: the error that list() throws
};
/// "a group", "a link" ...
std::string to_string(Other::What what);
/// The members of the root group, or of `group` ("GROUP/NAME"), sorted by name: the data sets that list() gives, and
/// all others. (If a data set's values are absent, list() throws Error(corrupt) instead.)
struct Contents {
  std::vector<Info> sets;
  std::vector<Other> others;
};
Contents contents(const File& file, const std::string& group = {});

/// Call it before a library that follows links opens the file. Throws Error(unsupported) that names the first external
/// link, or data set with values in other files, at any depth.
void require_self_contained(const std::filesystem::path& path);

/// The attributes of an object, by name; "" is the file itself. Those that can hold no values are left out.
std::vector<Info> list_attributes(const File& file, const std::string& object);

/// Values of any shape, as integers (of 64 bits, those without a sign bit for bit), reals or texts.
using Items = std::variant<std::vector<std::int64_t>, std::vector<double>, std::vector<std::string>>;
/// Nothing for types that are none of these: compounds, integers not of 1, 2, 4 or 8 bytes, reals not of 4 or 8.
std::optional<Items> read_items(const File& file, const Info& info);
std::optional<Items> read_attribute_items(const File& file, const std::string& object, const Info& attribute);

/// Items of rows [first, first + rows), converted to T (double, float, or an integer of 1 to 8 bytes). `out` must have
/// that size. Error(corrupt) for rows that are not there and items that are not numbers.
template <class T>
void read_rows(const File& file, const Info& info, std::uint64_t first, std::uint64_t rows, std::span<T> out);
template <class T>
std::vector<T> read_all(const File& file, const Info& info) {
  std::vector<T> values(static_cast<std::size_t>(num_items(info)));
  read_rows<T>(file, info, 0, info.shape.empty() ? 1 : info.shape[0], values);
  return values;
}
/// One member of every item of a compound.
template <class T>
std::vector<T> read_member(const File& file, const Info& info, const Member& member);
/// Fixed-width texts with their padding: every item, or one member of every item.
std::vector<std::string> read_text(const File& file, const Info& info);
std::vector<std::string> read_member_text(const File& file, const Info& info, const Member& member);
/// A number attached to a data set, if it is there.
std::optional<double> read_attribute(const File& file, const std::string& name, const std::string& attribute);

/// Whole numbers attached to a group or data set, or to the file ("/"); nothing where it has no such attribute, or no
/// such object.
std::optional<std::vector<std::int64_t>> read_numbers(const File& file, const std::string& object,
                                                      const std::string& attribute);
/// The same of numbers of any type, as doubles.
std::optional<std::vector<double>> read_reals(const File& file, const std::string& object,
                                              const std::string& attribute);
/// A text of fixed width attached so, without trailing NULs.
std::optional<std::string> read_words(const File& file, const std::string& object, const std::string& attribute);

// ------------------------------------------------------------------------------------------------ writing

/// Names of data sets may have groups in front, "GROUP/NAME", that were made before.
void make_group(const File& file, const std::string& name);
void write_numbers(const File& file, const std::string& object, const std::string& attribute,
                   std::span<const std::int64_t> values);
void write_words(const File& file, const std::string& object, const std::string& attribute, const std::string& text);

/// Makes a contiguous data set without fill values. Number types only (integers of 1 byte without a sign, of 4 or 8,
/// reals of 4 or 8).
void make(const File& file, const std::string& name, const ItemType& type, std::span<const std::uint64_t> shape);
template <class T>
void write_rows(const File& file, const std::string& name, std::uint64_t first, std::uint64_t rows,
                std::span<const T> values);
/// Makes and writes fixed-width texts; each must have `width` bytes.
void write_text(const File& file, const std::string& name, std::size_t width, std::span<const std::string> texts,
                std::span<const std::uint64_t> shape);
/// Makes and writes a one-dimensional list of compound items of `item_bytes` bytes, given as they lie in memory.
void write_compound(const File& file, const std::string& name, std::span<const Member> members, std::size_t item_bytes,
                    std::span<const std::byte> items);
/// Makes and writes a data set or attribute of any shape (none: one item) and of a type that read_items reads; texts of
/// fixed width are padded with NULs, and Error(usage) where they are longer.
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
