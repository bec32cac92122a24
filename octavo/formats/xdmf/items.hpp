#pragma once
#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "octavo/formats/xdmf/references.hpp"
#include "octavo/mesh/dataset.hpp"

/// Arrays as XDMF describes them, its elements DataItem. For formats/xdmf alone.
namespace octavo::formats::xdmf {

/// Where elements stand.
struct XdmfText {
  std::filesystem::path folder;
  References references;
};

enum class XdmfItemKind : std::uint8_t {
  array,   ///< a data set of an HDF5 file, or numbers in the text itself
  slab,    ///< of[1] from a start, by a stride, some times along each axis: of[0] has these three for all axes
  places,  ///< of[1] at the indices that of[0] lists, one an axis
  joined   ///< the first values of all of `of`, then the second ones ...; an empty one has zeros
};

struct XdmfItem {
  XdmfItemKind kind = XdmfItemKind::array;
  std::filesystem::path file;  ///< empty: `text` has the numbers
  std::string set;             ///< "/cells"
  std::string text;
  std::vector<std::uint64_t> shape;  ///< slowest index first
  mesh::ScalarType type = mesh::ScalarType::float64;
  std::vector<XdmfItem> of;
  bool operator==(const XdmfItem&) const = default;
};

/// std::from_chars of a whole text that may begin with "+"; a real that is too small is 0. Returns whether it is one.
bool parse_number(const std::string& text, double& value);
bool parse_number(const std::string& text, std::int64_t& value);

std::string lower(std::string text);
std::string trimmed(const std::string& text);
/// The first attribute of two names that is there: version 2 has other words.
std::string either(const XmlElement& element, const char* name, const char* other);

/// The array of an element; of a geometry's several arrays, as X_Y_Z has, their values joined. Throws
/// Error(unsupported) for files in other folders, and for other formats, functions and references.
XdmfItem item_of(const XmlElement& holder, XdmfText& text);
std::uint64_t num_values(const XdmfItem& item);
/// All values: double, or std::int64_t. Throws Error(corrupt) unless they are as many as num_values().
template <class T>
std::vector<T> read_numbers(const XdmfItem& item);
void add_files(const XdmfItem& item, std::set<std::filesystem::path>& to);

}  // namespace octavo::formats::xdmf
