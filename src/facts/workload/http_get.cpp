#include "facts/workload/http_get.h"

#include <dlfcn.h>

#include <memory>

#include "base/text.h"

namespace sparkops::facts {

namespace {

/// The part of libcurl's stable ABI that is used here, declared by hand so that nothing has to be installed to build
/// (numbers: curl/curl.h, unchanged since 7.20 except where noted).
using CurlHandle = void;
using CurlCode = int;
constexpr CurlCode k_ok = 0;
constexpr CurlCode k_write_error = 23;
constexpr CurlCode k_operation_timed_out = 28;
constexpr long k_global_default = 3;
constexpr int k_opt_write_data = 10001;
constexpr int k_opt_url = 10002;
constexpr int k_opt_user_agent = 10018;
constexpr int k_opt_http_header = 10023;
constexpr int k_opt_follow_location = 52;
constexpr int k_opt_verify_peer = 64;
constexpr int k_opt_max_redirects = 68;
constexpr int k_opt_verify_host = 81;
constexpr int k_opt_no_signal = 99;
constexpr int k_opt_timeout_ms = 155;
constexpr int k_opt_redirect_protocols = 182;
constexpr int k_opt_write_function = 20011;
constexpr int k_info_response_code = 0x200002;
constexpr long k_protocol_https = 2;
constexpr long k_match_host_name = 2;
constexpr long k_most_redirects = 3;

struct Curl {
  CurlCode (*global_init)(long) = nullptr;
  CurlHandle* (*easy_init)() = nullptr;
  CurlCode (*easy_setopt)(CurlHandle*, int, ...) = nullptr;
  CurlCode (*easy_perform)(CurlHandle*) = nullptr;
  CurlCode (*easy_getinfo)(CurlHandle*, int, ...) = nullptr;
  void (*easy_cleanup)(CurlHandle*) = nullptr;
  const char* (*easy_strerror)(CurlCode) = nullptr;
  void* (*slist_append)(void*, const char*) = nullptr;
  void (*slist_free_all)(void*) = nullptr;
  std::string problem;  ///< why it cannot be used; empty: it can
};

template <class Function>
void look_up(void* library, const char* name, Function& function, std::string& problem) {
  function = reinterpret_cast<Function>(::dlsym(library, name));
  if (!function && problem.empty()) problem = std::string("libcurl.so.4 has no ") + name;
}

Curl load_curl() {
  Curl curl;
  void* const library = ::dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    const char* const reason = ::dlerror();
    curl.problem = std::string("libcurl.so.4 cannot be loaded (") + (reason ? reason : "no reason given") +
                   "); the package libcurl4 brings it";
    return curl;
  }
  look_up(library, "curl_global_init", curl.global_init, curl.problem);
  look_up(library, "curl_easy_init", curl.easy_init, curl.problem);
  look_up(library, "curl_easy_setopt", curl.easy_setopt, curl.problem);
  look_up(library, "curl_easy_perform", curl.easy_perform, curl.problem);
  look_up(library, "curl_easy_getinfo", curl.easy_getinfo, curl.problem);
  look_up(library, "curl_easy_cleanup", curl.easy_cleanup, curl.problem);
  look_up(library, "curl_easy_strerror", curl.easy_strerror, curl.problem);
  look_up(library, "curl_slist_append", curl.slist_append, curl.problem);
  look_up(library, "curl_slist_free_all", curl.slist_free_all, curl.problem);
  if (curl.problem.empty() && curl.global_init(k_global_default) != k_ok)
    curl.problem = "libcurl.so.4 could not be started";
  return curl;
}

const Curl& curl_library() {
  static const Curl curl = load_curl();
  return curl;
}

/// libcurl's callback: fewer bytes taken than offered ends the transfer.
std::size_t take_body(const char* data, std::size_t size, std::size_t count, void* target) {
  auto& body = *static_cast<std::string*>(target);
  const std::size_t bytes = size * count;
  if (body.size() + bytes > k_largest_body) return 0;
  try {
    body.append(data, bytes);
  } catch (const std::bad_alloc&) {
    return 0;
  }
  return bytes;
}

void set_options(const Curl& curl, CurlHandle* handle, const std::string& url, std::chrono::milliseconds timeout,
                 std::string& body) {
  curl.easy_setopt(handle, k_opt_url, url.c_str());
  curl.easy_setopt(handle, k_opt_timeout_ms, static_cast<long>(timeout.count()));
  curl.easy_setopt(handle, k_opt_no_signal, 1L);
  curl.easy_setopt(handle, k_opt_user_agent, "sparkops");
  curl.easy_setopt(handle, k_opt_verify_peer, 1L);
  curl.easy_setopt(handle, k_opt_verify_host, k_match_host_name);
  curl.easy_setopt(handle, k_opt_follow_location, 1L);
  curl.easy_setopt(handle, k_opt_max_redirects, k_most_redirects);
  curl.easy_setopt(handle, k_opt_redirect_protocols, k_protocol_https);
  curl.easy_setopt(handle, k_opt_write_function, take_body);
  curl.easy_setopt(handle, k_opt_write_data, &body);
}

Error error_of(const Curl& curl, CurlCode code, const std::string& url, std::size_t received) {
  if (code == k_operation_timed_out) return {ErrorKind::timed_out, url + " did not answer in time"};
  if (code == k_write_error && received > 0) return {ErrorKind::too_large, url + " answers with more than is read"};
  return {ErrorKind::input_output, url + ": " + curl.easy_strerror(code)};
}

}  // namespace

Result<HttpAnswer> http_get(const std::string& url, std::chrono::milliseconds timeout) {
  const Curl& curl = curl_library();
  if (!curl.problem.empty()) return failure(ErrorKind::unsupported, curl.problem);
  const std::unique_ptr<CurlHandle, void (*)(CurlHandle*)> handle(curl.easy_init(), curl.easy_cleanup);
  if (!handle) return failure(ErrorKind::unsupported, "libcurl.so.4 gives no handle");
  const std::unique_ptr<void, void (*)(void*)> headers(
      curl.slist_append(nullptr, "Accept: application/vnd.github+json"), curl.slist_free_all);
  HttpAnswer answer;
  set_options(curl, handle.get(), url, timeout, answer.body);
  curl.easy_setopt(handle.get(), k_opt_http_header, headers.get());
  const CurlCode code = curl.easy_perform(handle.get());
  if (code != k_ok) return tl::unexpected(error_of(curl, code, url, answer.body.size()));
  curl.easy_getinfo(handle.get(), k_info_response_code, &answer.status);
  return answer;
}

}  // namespace sparkops::facts
