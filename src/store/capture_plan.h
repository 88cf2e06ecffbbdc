#pragma once

#include <span>
#include <string_view>

namespace sparkops::store {

/// How the content of a captured file is made fit to be given away.
enum class Treatment {
  plain,            ///< numbers and names of hardware: nothing in it is about a person
  text,             ///< free text: redacted
  assignments,      ///< KEY=value lines
  command_line,     ///< words that end in NUL
  first_word,       ///< of a command line
  environment,      ///< variables that end in NUL
  processors,       ///< proc/cpuinfo, without serial numbers
  statistics,       ///< proc/stat, without the long lines of interrupt counts
  mounts,           ///< the mounts that readers look at, without those of users
  routes,           ///< proc/net/route
  ipv6,             ///< proc/net/if_inet6
  logins,           ///< var/log/wtmp: boots, and of logins only that and when there was one
  package_headers,  ///< METADATA or PKG-INFO: name, version, requirements; nobody's name and address
  link,             ///< a symlink and the directory it leads to
  magic_link,       ///< a symlink that is not followed
};

/// Files of the machine. A '*' stands for any part of one component.
struct PlannedPath {
  std::string_view pattern;
  Treatment treatment;
};

/// What the readers in facts/machine read, except processes (capture_processes.h), installed packages
/// (capture_software.h), libraries (capture_libraries.h) and what no file holds (capture_live.h).
[[nodiscard]] std::span<const PlannedPath> planned_paths();

}  // namespace sparkops::store
