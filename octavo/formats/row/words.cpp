#include "octavo/formats/row/words.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "octavo/base/error.hpp"

namespace octavo::formats {
namespace {

std::string other_word(const std::string& name, std::span<const Word> from, std::span<const Word> to) {
  std::string_view common = name;
  const auto known = std::find_if(from.begin(), from.end(), [&](const Word& word) { return word.own == name; });
  if (known != from.end())
    common = known->common;
  else if (std::any_of(from.begin(), from.end(), [&](const Word& word) { return word.common == name; }))
    return name;  // the code has another word for that: its own field of this name is something else
  const auto fresh = std::find_if(to.begin(), to.end(), [&](const Word& word) { return word.common == common; });
  return std::string(fresh == to.end() ? common : fresh->own);
}

std::int64_t whole_number(double value, const std::string& name) {
  if (!(std::abs(value) <= 0x1p53) || value != std::floor(value))
    throw base::Error(base::Kind::unsupported, "an identity that is no whole number: " + std::to_string(value))
        .at("particle attribute " + name);
  return static_cast<std::int64_t>(value);
}

}  // namespace

std::string field_name(const std::string& name, const Words& from, const Words& to) {
  return other_word(name, from.fields, to.fields);
}
std::string particle_name(const std::string& name, const Words& from, const Words& to) {
  return other_word(name, from.particle_attributes, to.particle_attributes);
}

mesh::Field* find_attribute(mesh::Particles& particles, std::string_view name) {
  const auto found = std::find_if(particles.attributes.begin(), particles.attributes.end(),
                                  [&](const mesh::Field& field) { return field.info.name == name; });
  return found == particles.attributes.end() ? nullptr : &*found;
}

std::vector<std::int64_t> integers_of(const mesh::Field& attribute) {
  std::vector<std::int64_t> out;
  mesh::visit_values(attribute, [&]<class T>(std::span<const T> values) {
    for (const T value : values) {
      if constexpr (std::is_floating_point_v<T>)
        out.push_back(whole_number(static_cast<double>(value), attribute.info.name));
      else
        out.push_back(static_cast<std::int64_t>(value));
    }
  });
  return out;
}

}  // namespace octavo::formats
