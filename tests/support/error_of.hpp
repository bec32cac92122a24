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

/// What it says; "no error" where none is thrown, which is no failure: ranks compare what they were told.
inline std::string message_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const base::Error& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace octavo::testing
