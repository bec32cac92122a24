#pragma once
// For formats/med alone, in builds that have MED's header.
#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

#include "octavo/formats/med/library.hpp"

namespace octavo::formats::med {

using Name = std::array<char, MED_NAME_SIZE + 1>;
using ShortName = std::array<char, MED_SNAME_SIZE + 1>;
using Comment = std::array<char, MED_COMMENT_SIZE + 1>;

/// An open MED file; every use holds the lock.
class MedFile {
 public:
  explicit MedFile(const std::filesystem::path& path);
  ~MedFile() { library().MEDfileClose(id_); }
  MedFile(const MedFile&) = delete;
  MedFile& operator=(const MedFile&) = delete;
  med_idt id() const { return id_; }
  const std::filesystem::path& path() const { return path_; }
  /// Throws Error(corrupt) that names the file unless `good`.
  void require(bool good, const std::string& what) const;
  /// Throws Error(corrupt) for a count that the file has no room for: every entity takes a byte at least.
  void require_room(std::int64_t count, const std::string& what) const;

 private:
  void require_version() const;
  std::filesystem::path path_;
  std::int64_t bytes_;
  med_idt id_;
};

/// Text of a field of characters: up to its NUL, without trailing blanks, as UTF-8.
std::string text_of(const char* characters, std::size_t size);
template <std::size_t N>
std::string text_of(const std::array<char, N>& characters) {
  return text_of(characters.data(), N - 1);
}
/// A name for libmedC: Latin-1, cut at N - 1 characters.
template <std::size_t N>
std::array<char, N> characters_of(std::string_view latin1) {
  std::array<char, N> out{};
  latin1.substr(0, N - 1).copy(out.data(), N - 1);
  return out;
}

/// Solids and their corners, in the order of mesh::solids_attribute. In MED their corners stand as
/// mesh::turned_round() gives them.
inline constexpr std::array<std::pair<med_geometry_type, int>, 4> solid_shapes{
    {{MED_TETRA4, 4}, {MED_PYRA5, 5}, {MED_PENTA6, 6}, {MED_HEXA8, 8}}};

/// The number of entities of a kind in a mesh; zero or less means none.
std::int64_t entities(med_idt file, const Name& mesh, med_entity_type entity, med_geometry_type shape,
                      med_data_type data);

}  // namespace octavo::formats::med
