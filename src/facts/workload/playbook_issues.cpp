#include "facts/workload/playbook_issues.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/text.h"
#include "facts/workload/http_get.h"

namespace sparkops::facts {

namespace {

constexpr int k_page_size = 100;
constexpr int k_most_pages = 3;
constexpr long k_http_ok = 200;
constexpr long k_http_forbidden = 403;
constexpr long k_http_too_many_requests = 429;
constexpr std::size_t k_longest_title = 200;

std::string text_of(const nlohmann::json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? printable(found->get<std::string>(), k_longest_title)
                                                     : std::string();
}

Error refusal(const std::string& url, long status) {
  const bool limited = status == k_http_forbidden || status == k_http_too_many_requests;
  return {ErrorKind::input_output,
          fmt::format("{} answered {}{}", url, status,
                      limited ? " (the hourly limit of calls without a token may be reached)" : "")};
}

}  // namespace

Result<std::vector<Issue>> parse_issues(std::string_view json) {
  const auto document = nlohmann::json::parse(json, nullptr, false);
  if (!document.is_array()) return failure(ErrorKind::malformed, "the answer is no list of issues");
  std::vector<Issue> issues;
  for (const auto& entry : document) {
    if (!entry.is_object() || !entry.contains("number") || !entry["number"].is_number_integer())
      return failure(ErrorKind::malformed, "an issue in the answer has no number");
    issues.push_back({entry["number"].get<std::int64_t>(), text_of(entry, "title"), text_of(entry, "html_url"),
                      entry.contains("pull_request")});
  }
  return issues;
}

Result<std::vector<Issue>> fetch_open_issues(std::chrono::milliseconds timeout, std::string_view api) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + timeout;
  std::vector<Issue> issues;
  for (int page = 1; page <= k_most_pages; ++page) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now());
    if (left.count() <= 0) return failure(ErrorKind::timed_out, std::string(api) + " did not answer in time");
    const auto url = fmt::format("{}/repos/NVIDIA/dgx-spark-playbooks/issues?state=open&per_page={}&page={}", api,
                                 k_page_size, page);
    const auto answer = http_get(url, left);
    if (!answer) return tl::unexpected(answer.error());
    if (answer->status != k_http_ok) return tl::unexpected(refusal(url, answer->status));
    auto found = parse_issues(answer->body);
    if (!found) return failure(found.error().kind, url + ": " + found.error().message);
    issues.insert(issues.end(), found->begin(), found->end());
    if (found->size() < k_page_size) break;
  }
  return issues;
}

}  // namespace sparkops::facts
