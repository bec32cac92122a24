#include "octavo/base/error.hpp"

#include <cerrno>
#include <cstring>
#include <utility>

namespace octavo::base {

int exit_code(Kind kind) noexcept {
  switch (kind) {
    case Kind::usage: return 2;
    case Kind::unreadable: return 3;
    case Kind::corrupt: return 3;
    case Kind::unsupported: return 4;
    case Kind::no_space: return 5;
    case Kind::interrupted: return 130;
  }
  return 3;
}

Error::Error(Kind kind, std::string message) : kind_(kind), message_(std::move(message)) { compose(); }

Error& Error::at(std::string place) & {
  places_.push_back(std::move(place));
  compose();
  return *this;
}
Error&& Error::at(std::string place) && { return std::move(at(std::move(place))); }

Error& Error::hint(std::string advice) & {
  if (advice_.empty()) advice_ = std::move(advice);
  compose();
  return *this;
}
Error&& Error::hint(std::string advice) && { return std::move(hint(std::move(advice))); }

void Error::compose() {
  text_ = message_;
  if (!places_.empty()) {
    text_ += "\n  in ";
    // Callers add places innermost first, but people read them outermost first.
    for (std::size_t i = places_.size(); i-- > 0;) {
      text_ += places_[i];
      if (i > 0) text_ += ", ";
    }
  }
  if (!advice_.empty()) text_ += "\n  try: " + advice_;
}

Error system_error(std::string_view action, int errno_value) {
  const bool full = errno_value == ENOSPC || errno_value == EDQUOT || errno_value == ENOMEM || errno_value == EFBIG;
  return Error(full ? Kind::no_space : Kind::unreadable,
               "cannot " + std::string(action) + ": " + std::strerror(errno_value));
}

}  // namespace octavo::base
