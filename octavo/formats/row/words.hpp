#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "octavo/mesh/dataset.hpp"

/// A code's names for quantities that other codes have, too. They are data that a row of the table of formats points
/// to.
namespace octavo::formats {

/// A name that differs from Octavo's.
struct Word {
  std::string_view own;     ///< the code's: "dens"
  std::string_view common;  ///< Octavo's: "density"
};

struct Words {
  std::string_view code;           ///< Header::code
  std::span<const Word> fields{};  ///< names in no table are the same in every code
  std::span<const Word> also{};  ///< names of its programs that are understood where a user asks for a common one, and
                                 ///< never written; several may stand for one
  std::span<const Word> particle_attributes{};
  /// Attributes of particles with a special meaning. Another code's attribute of the same name gets the prefix "user_".
  std::span<const std::string_view> reserved{};
  std::string_view identity{};               ///< the attribute that identifies a particle; empty: the pair (id, cpu),
                                             ///< ids above 0, each pair once
  bool shared_identities = false;            ///< several particles may have one identity
  std::span<const std::string_view> made{};  ///< attributes of particles that the code's writer makes anew
  bool three_positions = false;              ///< particles have three positions in any dimension
  bool domain_from_zero = false;             ///< the domain's lower corner is 0
  bool energies_per_mass = false;            ///< fields of energies are amounts per mass
  bool gives_source = false;                 ///< codes with keeps_source keep its attributes, for the way back
  bool keeps_source = false;
  std::span<const std::string_view> field_lists{};  ///< attributes that list names of fields
  bool in_cgs = false;                              ///< code units of 1 are cgs units
  /// The number of steps that the run has made, where the number in the output's name counts outputs.
  std::optional<std::int64_t> (*counted_step)(const mesh::Header& header) = nullptr;
  std::string_view output_number{};  ///< with `counted_step`: the attribute that then keeps the output's own number
  /// Writes the number of the step where the code looks for it.
  void (*set_step)(mesh::Header& header, std::int64_t step) = nullptr;
  /// Adds the attributes that every particle of the code has, and brings all into the code's order and types. Notes say
  /// so.
  void (*complete_particles)(mesh::Particles& particles, int dim, std::vector<std::string>& notes) = nullptr;
  /// Attributes that list something of each part, such as bounds. A restart leaves them out: other parts have others.
  std::span<const std::string_view> lists_of_parts{};
};

/// One code's name of a field in another: "dens" of FLASH is "density" of the others.
std::string field_name(const std::string& name, const Words& from, const Words& to);
/// The same for an attribute of particles.
std::string particle_name(const std::string& name, const Words& from, const Words& to);

/// The attribute of that name; nullptr if there is none.
mesh::Field* find_attribute(mesh::Particles& particles, std::string_view name);
/// An attribute's values as integers. Throws Error(unsupported) for a number that is not whole.
std::vector<std::int64_t> integers_of(const mesh::Field& attribute);

/// A header's attribute of that type, if it is there.
template <class T>
std::optional<T> attribute(const mesh::Header& header, const std::string& name) {
  const auto found = header.attributes.find(name);
  const T* value = found == header.attributes.end() ? nullptr : std::get_if<T>(&found->second);
  return value == nullptr ? std::nullopt : std::optional<T>(*value);
}
/// A header's text; empty if there is none.
inline std::string text_attribute(const mesh::Header& header, const std::string& name) {
  return attribute<std::string>(header, name).value_or("");
}

}  // namespace octavo::formats
