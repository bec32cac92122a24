#pragma once
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace octavo::base {

/// The kind of an error, for a caller to act on. It decides the command's exit code.
enum class Kind {
  usage,        ///< the request itself is wrong: unknown field, contradictory options   (exit 2)
  unreadable,   ///< the operating system refused: missing file, permission, read error  (exit 3)
  corrupt,      ///< the bytes are not what the format demands                           (exit 3)
  unsupported,  ///< valid, but not something this version or build can do               (exit 4)
  no_space,     ///< would exceed, or has exceeded, memory or disk                       (exit 5)
  interrupted,  ///< the user asked to stop                                              (exit 130)
};

/// The command's exit code for an error of this kind.
int exit_code(Kind kind) noexcept;

/// The only exception type of the library. It says what happened, where, and what to do about it.
///
///     throw Error(Kind::corrupt, "record ends early: expected 4096 bytes, found 120")
///         .at("amr_00080.out00017, byte 20480")
///         .hint("octavo verify output_00080 lists all damage");
///
/// `what()` gives all three, one line each.
class Error : public std::exception {
 public:
  Error(Kind kind, std::string message);

  /// Adds a place, innermost first. Call it again on the way up to name the enclosing file or part.
  Error& at(std::string place) &;
  Error&& at(std::string place) &&;
  /// Says what the user can do. If it is called again, the first (innermost) hint stays.
  Error& hint(std::string advice) &;
  Error&& hint(std::string advice) &&;

  Kind kind() const noexcept { return kind_; }
  const std::string& message() const noexcept { return message_; }
  const std::vector<std::string>& places() const noexcept { return places_; }
  const std::string& advice() const noexcept { return advice_; }
  const char* what() const noexcept override { return text_.c_str(); }

 private:
  void compose();
  Kind kind_;
  std::string message_;
  std::vector<std::string> places_;
  std::string advice_;
  std::string text_;
};

/// The error for a failed system call: kind from `errno_value` (ENOSPC, EDQUOT, ENOMEM, EFBIG -> no_space,
/// otherwise unreadable), message "cannot <action>: <strerror>".
Error system_error(std::string_view action, int errno_value);

}  // namespace octavo::base
