#pragma once
#include "octavo/base/error.hpp"

namespace octavo::base {

/// The exception that is being handled, as an Error, so that others can be told: memory that is short is no_space, what
/// is not ours unreadable.
Error current_error();

}  // namespace octavo::base
