#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "octavo/formats/flash/schema.hpp"
#include "octavo/mesh/dataset.hpp"

namespace octavo::formats::flash {

using Attributes = std::map<std::string, mesh::Attribute>;

/// The lists of scalars and runtime parameters and the "sim info" record, as attributes: "real scalars/time", "string
/// runtime parameters/geometry", "sim info/setup call" (texts trimmed, logicals 0, 1 or -1), and the names of each list
/// in the file's order under the list's name ("real scalars"). A missing list is empty. Throws Error(corrupt) for a
/// list of another shape, and for a name that occurs twice.
void read_lists(const OpenedFlash& source, Attributes& attributes);
/// The inverse. Like FLASH, it writes no empty list.
void write_lists(const file::hdf5::File& file, const Attributes& attributes);

std::optional<std::int64_t> integer(const Attributes& attributes, const std::string& key);
std::optional<double> real(const Attributes& attributes, const std::string& key);
std::optional<std::string> text(const Attributes& attributes, const std::string& key);

/// Sets a value of a list, and puts a new name in its alphabetical place.
void set_value(Attributes& attributes, const std::string& list, const std::string& name, mesh::Attribute value);
/// The same, only if the list does not have the name.
void set_default(Attributes& attributes, const std::string& list, const std::string& name, mesh::Attribute value);

}  // namespace octavo::formats::flash
