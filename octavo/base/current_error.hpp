#pragma once
#include "octavo/base/error.hpp"

namespace octavo::base {

/// Returns the exception that is being handled as an Error, so that a caller can pass it on. Lack of memory becomes
/// no_space; exceptions of other libraries become unreadable.
Error current_error();

}  // namespace octavo::base
