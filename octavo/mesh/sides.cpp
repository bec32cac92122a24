#include "octavo/mesh/sides.hpp"

namespace octavo::mesh {
namespace {

std::string without(const std::string& name, std::size_t at, std::size_t length) {
  return std::string(name).erase(at, length);
}

std::optional<Side> side_of_face(const std::string& name, std::size_t axis) {
  const unsigned bit = 1U << axis;
  if (const auto at = name.find("_left"); at != name.npos) return Side{without(name, at, 5), bit, 0};
  if (const auto at = name.find("_right"); at != name.npos) return Side{without(name, at, 6), bit, bit};
  return {};
}

std::optional<Side> side_of_node(const std::string& name, int dim) {
  constexpr std::string_view word = "_corner_";
  const unsigned corners = 1U << dim;
  if (name.size() <= word.size() || name.substr(name.size() - 1 - word.size(), word.size()) != word) return {};
  const char digit = name.back();
  if (digit < '0' || static_cast<unsigned>(digit - '0') >= corners) return {};
  return Side{name.substr(0, name.size() - 1 - word.size()), corners - 1, static_cast<unsigned>(digit - '0')};
}

}  // namespace

std::optional<Side> side_of(const FieldInfo& info, int dim) {
  if (is_face(info.centring)) {
    auto side = side_of_face(info.name, face_axis(info.centring));
    // Along an axis that there is not, all cells stand beside each other.
    if (side && face_axis(info.centring) >= static_cast<std::size_t>(dim)) side->axes = side->high = 0;
    return side;
  }
  if (info.centring == Centring::node) return side_of_node(info.name, dim);
  return Side{info.name, 0, 0};
}

std::string name_of_side(const std::string& base, Centring centring, unsigned high) {
  if (centring == Centring::node) return base + "_corner_" + std::to_string(high);
  return base + (high != 0 ? "_right" : "_left");
}

}  // namespace octavo::mesh
