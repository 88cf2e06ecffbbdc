#include "base/result.h"

#include <cerrno>
#include <cstring>

namespace sparkops {

namespace {

ErrorKind kind_of(int code) {
  switch (code) {
    case ENOENT:
    case ENOTDIR:
    case ESRCH: return ErrorKind::not_found;
    case EACCES:
    case EPERM: return ErrorKind::permission_denied;
    case ELOOP:
    case EXDEV: return ErrorKind::outside_root;
    case EISDIR: return ErrorKind::not_a_regular_file;
    case EFBIG:
    case EOVERFLOW: return ErrorKind::too_large;
    case ENOSYS:
    case EOPNOTSUPP: return ErrorKind::unsupported;
    default: return ErrorKind::input_output;
  }
}

std::string reason_of(int code) {
  switch (code) {
    case ENOENT: return "does not exist";
    case EACCES:
    case EPERM: return "permission denied";
    case ELOOP: return "symlink loop or magic link";
    case EXDEV: return "leads outside the root";
    default: return std::strerror(code);
  }
}

}  // namespace

Error system_error(const std::string& what, int code) {
  return Error{kind_of(code), what + ": " + reason_of(code)};
}

}  // namespace sparkops
