#include "octavo/mesh/specific.hpp"

#include <algorithm>
#include <array>
#include <initializer_list>

#include "octavo/base/error.hpp"

namespace octavo::mesh {
namespace {

using base::Error;
using base::Kind;

bool is_weighable(const FieldInfo& field) {
  return field.centring == Centring::cell && field.components == 1 && field.ghost == 0 && !is_integer(field.type);
}

bool has(const Header& header, const std::string& name) {
  return std::any_of(header.fields.begin(), header.fields.end(),
                     [&](const FieldInfo& field) { return field.name == name && is_weighable(field); });
}

std::string first_of(const Header& header, std::initializer_list<const char*> names) {
  for (const char* name : names)
    if (has(header, name)) return name;
  return {};
}

std::optional<std::size_t> position(const std::vector<FieldInfo>& fields, const std::string& name) {
  for (std::size_t f = 0; f < fields.size(); ++f)
    if (fields[f].name == name && is_weighable(fields[f])) return f;
  return {};
}

std::vector<std::size_t> positions(const std::vector<FieldInfo>& fields, const std::vector<std::string>& names) {
  std::vector<std::size_t> all;
  for (const std::string& name : names)
    if (const auto at = position(fields, name)) all.push_back(*at);
  return all;
}

/// Types of FLASH's own variables: "TYPE: PER_MASS" in its Config files.
void add_energies(const Header& header, Specific& specific) {
  specific.internal = first_of(header, {"eint", "internal_energy"});
  specific.total = first_of(header, {"ener", "total_energy"});
  if (!specific.internal.empty()) specific.pressure = first_of(header, {"pres", "pressure"});
  for (const char* name : {"entr", "eion", "eele", "erad"})
    if (has(header, name)) specific.others.emplace_back(name);
}

}  // namespace

Specific specific_of(const Header& header, const std::vector<std::string>& more, bool energies) {
  Specific specific;
  specific.density = density_field(header);
  if (!specific.density.empty() && !has(header, specific.density)) specific.density.clear();
  if (!more.empty() && specific.density.empty())
    throw Error(Kind::usage, "fields can be weighted by density only where the step has one").at("field " + more[0]);
  select_fields(header, more);
  if (specific.density.empty()) return specific;
  constexpr std::array<const char*, 3> flash{"velx", "vely", "velz"}, amrex{"x_velocity", "y_velocity", "z_velocity"},
      own{"velocity_x", "velocity_y", "velocity_z"};
  for (std::size_t axis = 0; axis < 3; ++axis)
    if (std::string name = first_of(header, {flash[axis], amrex[axis], own[axis]}); !name.empty())
      specific.velocity.push_back(std::move(name));
  if (energies) add_energies(header, specific);
  const auto known = per_mass(specific);
  for (const std::string& name : more) {
    if (!has(header, name))
      throw Error(Kind::usage, "only a real field of cells can be weighted by density").at("field " + name);
    if (std::find(known.begin(), known.end(), name) == known.end()) specific.others.push_back(name);
    if (name == specific.pressure) specific.pressure.clear();
  }
  return specific;
}

std::vector<std::string> per_mass(const Specific& specific) {
  std::vector<std::string> names = specific.velocity;
  for (const std::string* name : {&specific.internal, &specific.total})
    if (!name->empty()) names.push_back(*name);
  names.insert(names.end(), specific.others.begin(), specific.others.end());
  return names;
}

SpecificAt find_specific(const std::vector<FieldInfo>& fields, const Specific& specific) {
  SpecificAt at;
  at.density = position(fields, specific.density);
  if (!at.density) return at;
  at.velocity = positions(fields, specific.velocity);
  at.others = positions(fields, specific.others);
  at.internal = position(fields, specific.internal);
  at.total = position(fields, specific.total);
  if (at.internal) at.pressure = position(fields, specific.pressure);
  return at;
}

std::vector<std::size_t> with_specific(const std::vector<FieldInfo>& fields, const Specific& specific,
                                       const std::vector<std::size_t>& asked) {
  const SpecificAt at = find_specific(fields, specific);
  if (!at.density) return asked;
  std::vector<std::size_t> coupled = at.velocity;
  for (const auto& one : {at.internal, at.total, at.pressure})
    if (one) coupled.push_back(*one);
  const auto any_of = [&](const std::vector<std::size_t>& some) {
    return std::any_of(some.begin(), some.end(),
                       [&](std::size_t f) { return std::find(asked.begin(), asked.end(), f) != asked.end(); });
  };
  std::vector<std::size_t> all = asked;
  if (any_of(coupled)) all.insert(all.end(), coupled.begin(), coupled.end());
  if (any_of(coupled) || any_of(at.others)) all.push_back(*at.density);
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

}  // namespace octavo::mesh
