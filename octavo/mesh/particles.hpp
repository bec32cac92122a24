#pragma once
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "octavo/mesh/field.hpp"

namespace octavo::mesh {

/// The particles of one species on one part. Every attribute is a Field of centring `particle` and `count` values, in
/// the same order. Positions are the attributes position_x, position_y, position_z [code length].
struct Particles {
  std::string species;  ///< "particles" where the code has one list for all
  std::int64_t count = 0;
  std::vector<Field> attributes;
  bool operator==(const Particles&) const = default;
};

/// The description of a species, known without reading it.
struct SpeciesInfo {
  std::string name;
  std::int64_t count = 0;  ///< of all parts
  std::vector<FieldInfo> attributes;
  bool operator==(const SpeciesInfo&) const = default;
};

/// An attribute of these values, `components` of them a particle, without a unit.
template <class T>
Field attribute_of(const std::string& name, const std::vector<T>& values, int components = 1) {
  FieldInfo info;
  info.name = name;
  info.type = scalar_type_of<T>();
  info.centring = Centring::particle;
  info.components = components;
  Field field = make_field(info, values.size());
  std::copy(values.begin(), values.end(), field.as<T>().begin());
  return field;
}

/// Puts particles after others of the same species and attributes.
void append(Particles& to, const Particles& from);

/// A particle's identity: the rank it was born on and a number unique there, packed as AMReX does it: the sign and 39
/// bits of the id above 24 bits of the rank. Throws Error(unsupported) where either does not fit.
std::uint64_t pack_identity(std::int64_t id, std::int32_t rank);
struct Identity {
  std::int64_t id;
  std::int32_t rank;
};
Identity unpack_identity(std::uint64_t packed) noexcept;

}  // namespace octavo::mesh
