#pragma once
#include <optional>
#include <utility>

#include "octavo/base/error.hpp"

namespace octavo::base {

/// Returns the exception that is being handled as an Error, so that a caller can pass it on. Lack of memory becomes
/// no_space; exceptions of other libraries become unreadable.
Error current_error();

/// Does `work` unless `failure` holds an error already, and keeps the error that it throws: an exchange between ranks
/// goes on after a failure, or the other ranks would wait.
template <class Work>
void unless_failed(std::optional<Error>& failure, Work&& work) {
  if (failure) return;
  try {
    std::forward<Work>(work)();
  } catch (...) {
    failure = current_error();
  }
}

}  // namespace octavo::base
