#include "octavo/formats/ugrid/netcdf.hpp"

namespace octavo::formats::ugrid {

std::string NetcdfVariable::text(const std::string& attribute) const {
  const auto found = attributes.find(attribute);
  const auto* words = found == attributes.end() ? nullptr : std::get_if<std::string>(&found->second);
  return words == nullptr ? std::string() : *words;
}

std::optional<double> NetcdfVariable::number(const std::string& attribute) const {
  const auto found = attributes.find(attribute);
  const auto* numbers = found == attributes.end() ? nullptr : std::get_if<std::vector<double>>(&found->second);
  if (numbers == nullptr || numbers->size() != 1) return {};
  return numbers->front();
}

const NetcdfVariable* Netcdf::find(const std::string& name) const {
  for (const NetcdfVariable& variable : variables)
    if (variable.name == name) return &variable;
  return nullptr;
}

std::uint64_t num_values(const NetcdfVariable& variable) {
  std::uint64_t count = 1;
  for (const std::uint64_t extent : variable.shape) count *= extent;
  return count;
}

std::vector<double> read_all(const Netcdf& file, const NetcdfVariable& variable) {
  std::vector<double> values(static_cast<std::size_t>(num_values(variable)));
  file.read(variable, 0, values);
  return values;
}

}  // namespace octavo::formats::ugrid
