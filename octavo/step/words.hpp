#pragma once
#include <cstdint>
#include <set>
#include <string>

#include "octavo/mesh/dataset.hpp"

/// What codes call the same things.
namespace octavo::step {

/// Codes whose words are known.
enum class Code : std::uint8_t { ramses, flash, amrex };
/// "RAMSES", "FLASH", "AMReX" as in Header::code; RAMSES, whose words are Octavo's own, for any other.
Code code_of(const mesh::Header& header);

/// What one code's name of a field is in another: "dens" of FLASH is "density" of the others. Names that are in no
/// table stay.
std::string field_name(const std::string& name, Code from, Code to);
/// The same for an attribute of particles.
std::string particle_name(const std::string& name, Code from, Code to);

/// The step with the names of `other`, where that is of another code and has them: of fields and of attributes of
/// particles, as the tables know them, but for those to keep. Nothing else changes. `said` gets "velx is velocity_x,
/// ...", empty where nothing is renamed.
mesh::Dataset in_words_of(const mesh::Dataset& step, const mesh::Dataset& other, const std::set<std::string>& keep,
                          std::string& said);

}  // namespace octavo::step
