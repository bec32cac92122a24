#pragma once
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "octavo/base/error.hpp"

namespace octavo::testing {

/// The Error that `work` throws; none is a failure of the test.
inline base::Error error_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const base::Error& error) {
    return error;
  }
  ADD_FAILURE() << "nothing was thrown";
  return {base::Kind::usage, ""};
}

inline base::Kind kind_of(const std::function<void()>& work) { return error_of(work).kind(); }

/// The message of the error that is thrown, or "no error". That is no failure: ranks compare their messages.
inline std::string message_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const base::Error& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace octavo::testing
