#pragma once
#include <functional>
#include <string>

/// Errors as text, on their way to other ranks.
namespace octavo::base {

/// Runs `work`. Returns the error that it throws as text for other ranks; empty: it throws nothing.
std::string error_text_of(const std::function<void()>& work);
/// Throws the error again. `rank` is where it was thrown; negative: the error does not say so.
[[noreturn]] void throw_error_text(const std::string& text, int rank);

}  // namespace octavo::base
