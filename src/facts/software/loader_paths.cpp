#include "facts/software/loader_paths.h"

#include <array>
#include <utility>

#include "base/text.h"
#include "facts/software/loader_resolution.h"

namespace sparkops::facts {

namespace {

constexpr std::size_t k_most_directories = 256;

bool goes_on(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

std::vector<std::string> directories_of(std::string_view list, const Library& library) {
  std::vector<std::string> directories;
  for (const std::string_view part : split(list, ':'))
    if (!part.empty() && directories.size() < k_most_directories)
      directories.push_back(normal_path(expand_loader_path(part, library.path, library.image.machine)));
  return directories;
}

}  // namespace

std::string expand_loader_path(std::string_view path, std::string_view library, ElfMachine machine) {
  const std::size_t slash = library.rfind('/');
  const std::string origin(slash == std::string_view::npos ? "" : library.substr(0, slash));
  const std::string platform = to_string(machine);
  const std::string multiarch = "lib/" + platform + "-linux-gnu";
  const std::array<std::pair<std::string_view, const std::string*>, 3> tokens{
      {{"ORIGIN", &origin}, {"LIB", &multiarch}, {"PLATFORM", &platform}}};
  std::string expanded;
  for (std::size_t i = 0; i < path.size();) {
    bool replaced = false;
    for (const auto& [token, value] : tokens) {
      if (path[i] != '$') break;
      const std::string braced = "{" + std::string(token) + "}";
      const std::string_view rest = path.substr(i + 1);
      const bool plain = rest.starts_with(token) && (rest.size() == token.size() || !goes_on(rest[token.size()]));
      if (!plain && !rest.starts_with(braced)) continue;
      expanded += *value;
      i += 1 + (plain ? token.size() : braced.size());
      replaced = true;
      break;
    }
    if (!replaced) expanded += path[i++];
  }
  return expanded;
}

std::vector<std::string> rpath_directories(const Library& library) {
  if (!library.image.rpath || library.image.runpath) return {};
  return directories_of(*library.image.rpath, library);
}

std::vector<std::string> runpath_directories(const Library& library) {
  return library.image.runpath ? directories_of(*library.image.runpath, library) : std::vector<std::string>{};
}

std::vector<std::string> split_library_path(std::string_view text) {
  std::vector<std::string> directories;
  for (const std::string_view part : split(text, ':'))
    for (const std::string_view directory : split(part, ';'))
      if (!directory.empty() && directories.size() < k_most_directories) directories.push_back(normal_path(directory));
  return directories;
}

const std::vector<std::string>& default_directories(ElfMachine machine) {
  static const std::vector<std::string> k_aarch64{
      "/lib/aarch64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/lib64", "/usr/lib64", "/lib", "/usr/lib"};
  static const std::vector<std::string> k_x86_64{
      "/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/lib64", "/usr/lib64", "/lib", "/usr/lib"};
  static const std::vector<std::string> k_others{"/lib64", "/usr/lib64", "/lib", "/usr/lib"};
  if (machine == ElfMachine::aarch64) return k_aarch64;
  return machine == ElfMachine::x86_64 ? k_x86_64 : k_others;
}

}  // namespace sparkops::facts
