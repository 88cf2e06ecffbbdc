#include "facts/workload/playbook_issues.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <thread>

#include "base/file_descriptor.h"
#include "facts/workload/http_get.h"

namespace sparkops::facts {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

/// An HTTP server on the loopback that gives each request the next of its answers and keeps what was asked.
class FakeServer {
 public:
  explicit FakeServer(std::vector<std::string> answers) : answers_(std::move(answers)) {
    ::setenv("NO_PROXY", "127.0.0.1", 1);
    ::setenv("no_proxy", "127.0.0.1", 1);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof(address);
    auto* const generic = reinterpret_cast<sockaddr*>(&address);
    ready_ = ::bind(listener_.get(), generic, length) == 0 && ::listen(listener_.get(), 4) == 0 &&
             ::getsockname(listener_.get(), generic, &length) == 0;
    url_ = "http://127.0.0.1:" + std::to_string(ntohs(address.sin_port));
    thread_ = std::thread([this] { serve(); });
  }
  ~FakeServer() { stop(); }

  bool ready() const { return ready_; }
  const std::string& url() const { return url_; }
  /// What was asked, once all is over.
  std::vector<std::string> requests() {
    stop();
    return requests_;
  }

 private:
  void stop() {
    ::shutdown(listener_.get(), SHUT_RDWR);
    if (thread_.joinable()) thread_.join();
  }
  void serve() {
    for (const auto& answer : answers_) {
      const FileDescriptor connection(::accept(listener_.get(), nullptr, nullptr));
      if (!connection.valid()) return;
      std::string request(4096, '\0');
      const auto count = ::recv(connection.get(), request.data(), request.size(), 0);
      requests_.push_back(request.substr(0, count > 0 ? static_cast<std::size_t>(count) : 0));
      if (answer == "silence") {
        ::recv(connection.get(), request.data(), request.size(), 0);  // until the client gives up
        continue;
      }
      ::send(connection.get(), answer.data(), answer.size(), MSG_NOSIGNAL);
    }
  }

  std::vector<std::string> answers_, requests_;
  FileDescriptor listener_{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  bool ready_ = false;
  std::string url_;
  std::thread thread_;
};

std::string answer(const std::string& body, const std::string& status = "200 OK", const std::string& headers = "") {
  return "HTTP/1.1 " + status + "\r\nContent-Length: " + std::to_string(body.size()) + "\r\nConnection: close\r\n" +
         headers + "\r\n" + body;
}

std::string issues(int first, int count) {
  std::string list;
  for (int i = 0; i < count; ++i)
    list += (i ? "," : "") + ("{\"number\":" + std::to_string(first + i)) + ",\"title\":\"t\",\"html_url\":\"u\"}";
  return "[" + list + "]";
}

class FetchOpenIssues : public testing::Test {
 protected:
  void SetUp() override {
    const auto tried = http_get("http://127.0.0.1:1/", 100ms);
    if (!tried && tried.error().kind == ErrorKind::unsupported) GTEST_SKIP() << tried.error().message;
  }
};

TEST_F(FetchOpenIssues, ReadsNumbersTitlesAndKinds) {
  FakeServer server({answer(R"([{"number":102,"title":"NCCL slow","html_url":"https://example.org/102"},
    {"number":90,"title":"LLaMA-Factory","html_url":"https://example.org/90","pull_request":{"url":"x"}}])")});
  ASSERT_TRUE(server.ready());
  const auto found = fetch_open_issues(5s, server.url());
  ASSERT_TRUE(found) << found.error().message;
  ASSERT_EQ(found->size(), 2U);
  EXPECT_EQ((*found)[0].number, 102);
  EXPECT_EQ((*found)[0].title, "NCCL slow");
  EXPECT_FALSE((*found)[0].is_pull_request);
  EXPECT_TRUE((*found)[1].is_pull_request);
  const auto requests = server.requests();
  ASSERT_EQ(requests.size(), 1U);
  EXPECT_THAT(requests[0], HasSubstr("GET /repos/NVIDIA/dgx-spark-playbooks/issues?state=open&per_page=100&page=1 "));
  EXPECT_THAT(requests[0], HasSubstr("User-Agent: sparkops\r\n"));
  EXPECT_THAT(requests[0], testing::Not(HasSubstr("Authorization")));
}

TEST_F(FetchOpenIssues, GoesOnToTheNextPageOfAFullOne) {
  FakeServer server({answer(issues(1, 100)), answer(issues(101, 3))});
  const auto found = fetch_open_issues(5s, server.url());
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->size(), 103U);
  EXPECT_EQ(found->back().number, 103);
}

TEST_F(FetchOpenIssues, ARefusalSaysThatTheLimitMayBeReached) {
  FakeServer server({answer("{\"message\":\"API rate limit exceeded\"}", "403 Forbidden")});
  const auto found = fetch_open_issues(5s, server.url());
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().kind, ErrorKind::input_output);
  EXPECT_THAT(found.error().message, HasSubstr("answered 403 (the hourly limit"));
}

TEST_F(FetchOpenIssues, SilenceEndsAtTheTimeout) {
  FakeServer server({"silence"});
  const auto started = std::chrono::steady_clock::now();
  const auto found = fetch_open_issues(200ms, server.url());
  EXPECT_LT(std::chrono::steady_clock::now() - started, 3s);
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().kind, ErrorKind::timed_out);
}

TEST_F(FetchOpenIssues, NobodyThereIsAnError) {
  const auto found = fetch_open_issues(2s, "http://127.0.0.1:1");
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().kind, ErrorKind::input_output);
  EXPECT_THAT(found.error().message, HasSubstr("127.0.0.1:1"));
}

TEST_F(FetchOpenIssues, RedirectsAwayFromHttpsAreNotFollowed) {
  FakeServer server({answer("", "302 Found", "Location: http://127.0.0.1:1/\r\n")});
  const auto found = fetch_open_issues(2s, server.url());
  ASSERT_FALSE(found);
  EXPECT_THAT(found.error().message, HasSubstr("rotocol"));
}

TEST_F(FetchOpenIssues, AnEndlessAnswerIsCutOff) {
  FakeServer server({"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" + std::string(k_largest_body + 100'000, ' ')});
  const auto found = fetch_open_issues(5s, server.url());
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().kind, ErrorKind::too_large);
}

TEST(ParseIssues, WhatIsNoListIsMalformed) {
  for (const char* text : {"", "{}", "null", "[1]", "[{}]", "[{\"number\":\"7\"}]", "[{\"number\":1}", "\xff\xfe"}) {
    const auto found = parse_issues(text);
    ASSERT_FALSE(found) << text;
    EXPECT_EQ(found.error().kind, ErrorKind::malformed);
  }
  EXPECT_TRUE(parse_issues("[]")->empty());
}

TEST(ParseIssues, ForeignTextIsMadePrintable) {
  const auto found = parse_issues(R"([{"number":1,"title":"a\u001b[31mb","html_url":7}])");
  ASSERT_TRUE(found);
  EXPECT_EQ((*found)[0].title, "a\\x1b[31mb");
  EXPECT_EQ((*found)[0].url, "");
}

}  // namespace
}  // namespace sparkops::facts
