#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/known.h"
#include "base/quantities.h"
#include "base/timestamp.h"
#include "facts/machine/processes.h"

/// The formats of the files in proc/PID, see proc(5). All take whatever bytes there are.
namespace sparkops::facts {

/// Words ended by NUL; trailing empty words (titles leave them) are dropped.
[[nodiscard]] std::vector<std::string_view> parse_command_line(std::string_view text);

/// NAME=VALUE ended by NUL; entries without '=' are dropped.
[[nodiscard]] EnvironmentVariables parse_environment(std::string_view text);

/// What of proc/PID/stat is used.
struct ProcessStat {
  std::string state;
  std::int64_t parent = 0;
  std::int64_t start_ticks = 0;  ///< after boot, in 1/100 s
};
[[nodiscard]] std::optional<ProcessStat> parse_process_stat(std::string_view text);

/// What of proc/PID/status is used. Kernel threads and zombies have no memory lines.
struct ProcessStatus {
  std::string name;                    ///< as in proc/PID/comm, printable
  std::string state;                   ///< "R", "S", "D", "Z" …; empty when there is none
  std::optional<std::int64_t> parent;  ///< PPid
  std::optional<std::uint32_t> owner;  ///< the effective user id
  std::optional<Bytes> resident, anonymous, file_backed, shared, swapped;
};
[[nodiscard]] ProcessStatus parse_process_status(std::string_view text);

/// The path in the unified hierarchy; of the memory controller where the unified one holds nothing (hybrid systems).
[[nodiscard]] std::optional<std::string> parse_process_cgroup(std::string_view text);

/// The id or name of the container that a cgroup path belongs to (docker, containerd, cri-o, podman, kubernetes, lxc,
/// systemd-nspawn); nothing when the path shows none.
[[nodiscard]] std::optional<std::string> container_of_cgroup(std::string_view path);

/// Seconds since 1970 of the last boot, from proc/stat.
[[nodiscard]] std::optional<std::int64_t> parse_boot_time(std::string_view text);

}  // namespace sparkops::facts
