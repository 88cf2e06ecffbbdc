#include "verdicts/software/repair.h"

#include "base/text.h"

namespace sparkops::verdicts {

namespace {

/// What stands before "install" or "uninstall".
std::string package_tool(const facts::Software& software, std::vector<std::string>& words) {
  const facts::PythonEnvironment* const environment = software.environment();
  if (software.declared || environment == nullptr || environment->interpreter.empty()) {
    words = {"pip"};
    return "pip";
  }
  if (environment->find("pip") != nullptr || environment->kind == facts::EnvironmentKind::system) {
    words = {environment->interpreter, "-m", "pip"};
    return "pip";
  }
  words = {"uv", "pip"};
  return "uv";
}

std::string inside(const facts::Software& software, const std::vector<std::string>& words) {
  const std::string command = shell_quoted(words);
  return software.entered_by.empty() ? command : software.entered_by + " " + command;
}

}  // namespace

std::string install_command(const facts::Software& software, const std::vector<std::string>& requirements,
                            WithDependencies dependencies, const std::string& index) {
  std::vector<std::string> words;
  const std::string tool = package_tool(software, words);
  words.emplace_back("install");
  if (tool == "uv") words.insert(words.end(), {"--python", software.environment()->interpreter});
  if (dependencies == WithDependencies::no) words.emplace_back("--no-deps");
  words.insert(words.end(), requirements.begin(), requirements.end());
  if (!index.empty()) words.insert(words.end(), {"--index-url", index});
  return inside(software, words);
}

std::string uninstall_command(const facts::Software& software, const std::vector<std::string>& packages) {
  std::vector<std::string> words;
  const std::string tool = package_tool(software, words);
  words.emplace_back("uninstall");
  if (tool == "uv")
    words.insert(words.end(), {"--python", software.environment()->interpreter});
  else
    words.emplace_back("-y");
  words.insert(words.end(), packages.begin(), packages.end());
  return inside(software, words);
}

std::string caution(const facts::Software& software) {
  const facts::PythonEnvironment* const environment = software.environment();
  if (environment == nullptr || !environment->externally_managed.value_or(false)) return "";
  return "; this Python is the system's own and refuses pip: make an environment first (sparkops setup)";
}

}  // namespace sparkops::verdicts
