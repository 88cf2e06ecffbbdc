#pragma once

#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace sparkops {

/// Why something could not be had. The kind decides what a caller may do next; the message is for a person.
enum class ErrorKind {
  not_found,
  permission_denied,
  not_a_regular_file,
  too_large,
  outside_root,  ///< a symlink loop or an escape from the root that is read
  malformed,     ///< the content is not what its format demands
  unsupported,   ///< this kernel, driver or machine has no such thing
  timed_out,
  input_output,
  usage,  ///< the person's own input; ends a command with exit code 2
};

/// An error as a value. `message` is one sentence that names the file or call, the reason and, where there is
/// one, the way out. It carries no trailing full stop, so that it can stand in parentheses.
struct Error {
  ErrorKind kind = ErrorKind::input_output;
  std::string message;
};

template <class T>
using Result = tl::expected<T, Error>;

[[nodiscard]] inline tl::unexpected<Error> failure(ErrorKind kind, std::string message) {
  return tl::unexpected<Error>(Error{kind, std::move(message)});
}

/// The error of a failed system call: `what` names call and place, `code` is errno.
[[nodiscard]] Error system_error(const std::string& what, int code);

}  // namespace sparkops
