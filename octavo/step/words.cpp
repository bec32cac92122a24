#include "octavo/step/words.hpp"

#include <algorithm>
#include <array>
#include <map>

namespace octavo::step {
namespace {

using mesh::Field;
using mesh::Particles;

struct Words {
  const char* ramses;
  const char* flash;
  const char* amrex;
};
constexpr std::array<Words, 13> field_words{{{"density", "dens", "density"},
                                             {"pressure", "pres", "pressure"},
                                             {"velocity_x", "velx", "x_velocity"},
                                             {"velocity_y", "vely", "y_velocity"},
                                             {"velocity_z", "velz", "z_velocity"},
                                             {"temperature", "temp", "temperature"},
                                             {"total_energy", "ener", "total_energy"},
                                             {"internal_energy", "eint", "internal_energy"},
                                             {"potential", "gpot", "potential"},
                                             {"metallicity", "metl", "metallicity"},
                                             {"B_x", "magx", "magx"},
                                             {"B_y", "magy", "magy"},
                                             {"B_z", "magz", "magz"}}};
constexpr std::array<Words, 5> particle_words{{{"velocity_x", "velx", "velocity_x"},
                                               {"velocity_y", "vely", "velocity_y"},
                                               {"velocity_z", "velz", "velocity_z"},
                                               {"levelp", "levelp", "levelp"},
                                               {"birth_time", "birth_time", "birth_time"}}};

const char* word(const Words& words, Code code) {
  return code == Code::flash ? words.flash : code == Code::amrex ? words.amrex : words.ramses;
}

template <std::size_t N>
std::string other_word(const std::array<Words, N>& table, const std::string& name, Code from, Code to) {
  for (const Words& words : table)
    if (name == word(words, from)) return word(words, to);
  return name;
}

/// New names by old ones.
using NewNames = std::map<std::string, std::string>;

bool is_among(const std::vector<mesh::FieldInfo>& infos, const std::string& name) {
  return std::any_of(infos.begin(), infos.end(), [&](const mesh::FieldInfo& info) { return info.name == name; });
}

/// Names that only one side has, and that mean what a name of the other does.
template <std::size_t N>
void add_words(const std::array<Words, N>& table, const std::vector<mesh::FieldInfo>& mine,
               const std::vector<mesh::FieldInfo>& others, Code from, Code to, const std::set<std::string>& keep,
               NewNames& names) {
  for (const mesh::FieldInfo& info : mine) {
    const std::string fresh = other_word(table, info.name, from, to);
    if (fresh != info.name && !keep.contains(info.name) && is_among(others, fresh) && !is_among(mine, fresh) &&
        !is_among(others, info.name))
      names[info.name] = fresh;
  }
}

void rename(mesh::FieldInfo& info, const NewNames& names) {
  if (const auto found = names.find(info.name); found != names.end()) info.name = found->second;
}

}  // namespace

Code code_of(const mesh::Header& header) {
  if (header.code == "FLASH") return Code::flash;
  return header.code == "AMReX" ? Code::amrex : Code::ramses;
}

std::string field_name(const std::string& name, Code from, Code to) { return other_word(field_words, name, from, to); }
std::string particle_name(const std::string& name, Code from, Code to) {
  return other_word(particle_words, name, from, to);
}

mesh::Dataset in_words_of(const mesh::Dataset& step, const mesh::Dataset& other, const std::set<std::string>& keep,
                          std::string& said) {
  const Code from = code_of(step.header), to = code_of(other.header);
  NewNames fields, attributes, old;
  if (from == to) return step;
  add_words(field_words, step.header.fields, other.header.fields, from, to, keep, fields);
  for (const mesh::SpeciesInfo& species : step.species)
    for (const mesh::SpeciesInfo& theirs : other.species)
      add_words(particle_words, species.attributes, theirs.attributes, from, to, {}, attributes);
  NewNames all = attributes;
  all.insert(fields.begin(), fields.end());
  for (const auto& [name, fresh] : all) said += (said.empty() ? "" : ", ") + name + " is " + fresh;
  if (said.empty()) return step;
  mesh::Dataset out = step;
  for (mesh::FieldInfo& info : out.header.fields) rename(info, fields);
  for (mesh::SpeciesInfo& species : out.species)
    for (mesh::FieldInfo& info : species.attributes) rename(info, attributes);
  for (const auto& [name, fresh] : fields) old[fresh] = name;
  out.read = [step, fields, attributes, old](int part, mesh::Request request) {
    if (request.fields)
      for (std::string& name : *request.fields)
        if (const auto found = old.find(name); found != old.end()) name = found->second;
    mesh::Part read = step.read(part, request);
    for (Field& field : read.fields) rename(field.info, fields);
    for (Particles& species : read.particles)
      for (Field& field : species.attributes) rename(field.info, attributes);
    return read;
  };
  return out;
}

}  // namespace octavo::step
