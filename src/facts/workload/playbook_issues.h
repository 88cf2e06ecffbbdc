#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace sparkops::facts {

/// An open issue or pull request of the playbook repository.
struct Issue {
  std::int64_t number = 0;
  std::string title;
  std::string url;
  bool is_pull_request = false;
};

/// Where GitHub's API answers; tests put a server of their own here.
inline constexpr std::string_view k_github_api = "https://api.github.com";

/// Asks GitHub for the open issues of NVIDIA's playbook repository, newest first: no token, certificates verified,
/// `timeout` for all of it. The only use of the network in a preflight, and only when asked for. libcurl is loaded at
/// the first call. Errors: unsupported (no libcurl.so.4), timed_out, input_output (no connection, refused, limit of
/// anonymous calls reached), malformed.
[[nodiscard]] Result<std::vector<Issue>> fetch_open_issues(std::chrono::milliseconds timeout,
                                                           std::string_view api = k_github_api);

/// The issues in one page of the API's answer. Errors: malformed.
[[nodiscard]] Result<std::vector<Issue>> parse_issues(std::string_view json);

}  // namespace sparkops::facts
