#pragma once

#include <chrono>
#include <string>

#include "base/result.h"

namespace sparkops::facts {

struct HttpAnswer {
  long status = 0;
  std::string body;
};

/// GET over libcurl.so.4, loaded at the first call. Redirects are followed to https only; certificates are verified;
/// a body over `k_largest_body` is an error. Errors: unsupported, timed_out, too_large, input_output.
inline constexpr std::size_t k_largest_body = std::size_t{8} << 20;
[[nodiscard]] Result<HttpAnswer> http_get(const std::string& url, std::chrono::milliseconds timeout);

}  // namespace sparkops::facts
