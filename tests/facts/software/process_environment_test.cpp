#include "facts/software/process_environment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../machine/tree.h"

namespace sparkops::facts {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::Tree;

std::string with_nuls(std::string text) {
  for (char& c : text)
    if (c == '|') c = '\0';
  return text;
}

std::string python_of(const Tree& tree, const SoftwareVariables& variables = {}) {
  const auto request = request_of_process(tree.root(), tree.root(), 7, variables);
  return request ? request->python : "error: " + request.error().message;
}

TEST(ProcessEnvironment, IsThatOfTheCallNotOfWhatItsLinksLeadTo) {
  const Tree tree;
  tree.link("proc/7/exe", "/usr/bin/python3.12");
  tree.link("proc/7/cwd", "/home/u");
  tree.write("proc/7/cmdline", with_nuls("/home/u/env/bin/python3|train.py|"));
  EXPECT_EQ(python_of(tree), "/home/u/env/bin/python3");
  tree.write("proc/7/cmdline", with_nuls("env/bin/python3|train.py|"));
  EXPECT_EQ(python_of(tree), "/home/u/env/bin/python3");
  tree.write("proc/7/cmdline", with_nuls("python3|train.py|"));
  EXPECT_EQ(python_of(tree), "/usr/bin/python3.12") << "nothing tells where it was found";
  tree.link("home/u/env/bin/python3", "/usr/bin/python3");
  EXPECT_EQ(python_of(tree, {{{"PATH", "relative:/nowhere:/home/u/env/bin"}}, "PID 7"}), "/home/u/env/bin/python3");
}

TEST(ProcessEnvironment, OfARenamedProcessIsThatOfItsVariables) {
  const Tree tree;
  tree.link("proc/7/exe", "/usr/bin/python3.12");
  tree.write("proc/7/cmdline", with_nuls("VLLM::EngineCore|"));
  EXPECT_EQ(python_of(tree, {{{"VIRTUAL_ENV", "/srv/env"}}, "PID 7"}), "/srv/env/bin/python3");
  EXPECT_EQ(python_of(tree), "/usr/bin/python3.12");
  const Tree shell;
  shell.link("proc/7/exe", "/usr/bin/bash");
  shell.write("proc/7/cmdline", with_nuls("bash|"));
  EXPECT_EQ(python_of(shell), "") << "whatever Python its environment leads to";
}

TEST(ProcessEnvironment, OfNoProcessIsAnError) {
  const Tree tree;
  tree.directory("proc");
  EXPECT_EQ(request_of_process(tree.root(), tree.root(), 7, {}).error().kind, ErrorKind::not_found);
}

constexpr const char* k_id = "4f1d4f1d4f1d4f1d4f1d4f1d4f1d4f1d4f1d4f1d4f1d4f1d4f1d4f1d4f1d4f1d";

TEST(ContainerProcess, IsFoundByIdAndByName) {
  const Tree tree;
  const std::string cgroup = std::string("0::/system.slice/docker-") + k_id + ".scope\n";
  tree.write("proc/20/cgroup", cgroup);
  tree.write("proc/20/cmdline", with_nuls("/bin/bash|"));
  tree.write("proc/21/cgroup", cgroup);
  tree.write("proc/21/cmdline", with_nuls("/usr/bin/python3|/usr/local/bin/vllm|serve|"));
  tree.write("proc/22/cgroup", "0::/user.slice\n");
  EXPECT_EQ(find_container_process(tree.root(), "4f1d4f1d").value(), 21) << "the one that runs Python";
  EXPECT_EQ(find_container_process(tree.root(), "serving").error().kind, ErrorKind::not_found);
  tree.write(std::string("var/lib/docker/containers/") + k_id + "/config.v2.json",
             std::string("{\"ID\": \"") + k_id + "\", \"Name\": \"/serving\"}");
  EXPECT_EQ(find_container_process(tree.root(), "serving").value(), 21);
}

TEST(ContainerNames, AreReadFromTheFilesOfBothEngines) {
  EXPECT_THAT(parse_container_names(R"([{"id": "aa", "names": ["x", "y"]}, {"id": "bb", "names": ["z"]}])", "y"),
              ElementsAre("aa"));
  EXPECT_THAT(parse_container_names(R"({"ID": "cc", "Name": "/y"})", "y"), ElementsAre("cc"));
  for (const std::string& text :
       std::vector<std::string>{"", "{", "[1, null]", R"([{"names": "y"}])", R"({"Name": "/y"})"})
    EXPECT_THAT(parse_container_names(text, "y"), IsEmpty()) << text;
}

}  // namespace
}  // namespace sparkops::facts
