#pragma once

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>

#include "base/root.h"

namespace sparkops::testing {

/// A file tree in a temporary directory that a Root can be opened on; gone with the object.
class Tree {
 public:
  Tree() {
    std::string name = (std::filesystem::temp_directory_path() / "sparkops-tree-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp failed");
    directory_ = name;
  }
  ~Tree() {
    std::error_code ignored;
    std::filesystem::remove_all(directory_, ignored);
  }
  Tree(const Tree&) = delete;
  Tree& operator=(const Tree&) = delete;

  [[nodiscard]] std::string path(std::string_view relative) const {
    return (directory_ / std::filesystem::path(relative)).string();
  }

  void write(std::string_view relative, std::string_view content) const {
    make_parent(relative);
    std::ofstream(path(relative), std::ios::binary).write(content.data(), static_cast<std::streamsize>(content.size()));
  }
  void link(std::string_view relative, const std::string& target) const {
    make_parent(relative);
    std::filesystem::create_symlink(target, path(relative));
  }
  void directory(std::string_view relative) const { std::filesystem::create_directories(path(relative)); }
  void fifo(std::string_view relative) const {
    make_parent(relative);
    if (::mkfifo(path(relative).c_str(), 0600) != 0) throw std::runtime_error("mkfifo failed");
  }
  /// A file of this size that takes no room on the disk.
  void sparse(std::string_view relative, std::int64_t size) const {
    write(relative, "");
    if (::truncate(path(relative).c_str(), size) != 0) throw std::runtime_error("truncate failed");
  }

  [[nodiscard]] Root root() const { return Root::open(directory_.string()).value(); }

 private:
  void make_parent(std::string_view relative) const {
    std::filesystem::create_directories(std::filesystem::path(path(relative)).parent_path());
  }
  std::filesystem::path directory_;
};

/// A published output of a real machine under ../shared, without its comment lines; empty when it is not there.
inline std::string published_output(const std::string& name) {
  std::ifstream file(std::string(SPARKOPS_SOURCE "/../shared/gb10-raw/") + name);
  std::string text;
  for (std::string line; std::getline(file, line);)
    if (!line.starts_with('#')) text += line + "\n";
  return text;
}

/// Ends a test that needs a published output which is not there, saying so.
#define SPARKOPS_PUBLISHED_OUTPUT(variable, name)                           \
  const std::string variable = ::sparkops::testing::published_output(name); \
  if (variable.empty()) GTEST_SKIP() << "../shared/gb10-raw/" << name << " is not there"

}  // namespace sparkops::testing
