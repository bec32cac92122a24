#include "octavo/verbs/accuracy.hpp"

#include <charconv>
#include <cmath>
#include <cstdlib>

#include "octavo/base/error.hpp"

namespace octavo::verbs {

using base::Error;
using base::Kind;

Accuracy parse_accuracy(const std::string& text) {
  if (text == "lossless") return {};
  const std::size_t colon = text.find(':');
  const std::string name = text.substr(0, colon);
  Accuracy accuracy;
  if (name == "abs") accuracy.kind = Accuracy::Kind::absolute;
  if (name == "range") accuracy.kind = Accuracy::Kind::range_relative;
  if (name == "point") accuracy.kind = Accuracy::Kind::pointwise_relative;
  const std::string number = colon == std::string::npos ? "" : text.substr(colon + 1);
  char* end = nullptr;
  accuracy.value = std::strtod(number.c_str(), &end);
  const bool whole = !number.empty() && end == number.c_str() + number.size();
  if (accuracy.kind == Accuracy::Kind::lossless || !whole || !std::isfinite(accuracy.value) || accuracy.value <= 0)
    throw Error(Kind::usage, "'" + text + "' is no codec: expected lossless, abs:E, range:E or point:E with E > 0")
        .hint("--codec point:2e-3");
  if (accuracy.kind != Accuracy::Kind::absolute && accuracy.value >= 1)
    throw Error(Kind::usage, "'" + text + "': a relative bound of 1 or more keeps nothing").hint("--codec point:2e-3");
  return accuracy;
}

std::string to_string(const Accuracy& accuracy) {
  if (accuracy.kind == Accuracy::Kind::lossless) return "lossless";
  char number[40];
  const char* const end = std::to_chars(number, number + sizeof number, accuracy.value).ptr;
  const char* const name = accuracy.kind == Accuracy::Kind::absolute         ? "abs:"
                           : accuracy.kind == Accuracy::Kind::range_relative ? "range:"
                                                                             : "point:";
  return name + std::string(number, static_cast<std::size_t>(end - number));
}

codec::Bound bound_of(const Accuracy& accuracy, double range) {
  switch (accuracy.kind) {
    case Accuracy::Kind::absolute: return {codec::BoundKind::absolute, accuracy.value};
    case Accuracy::Kind::pointwise_relative: return {codec::BoundKind::pointwise_relative, accuracy.value};
    case Accuracy::Kind::range_relative: {
      const double bound = range * accuracy.value;
      if (std::isfinite(bound) && bound > 0) return {codec::BoundKind::absolute, bound};
      return {};
    }
    case Accuracy::Kind::lossless: break;
  }
  return {};
}

}  // namespace octavo::verbs
