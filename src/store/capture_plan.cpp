#include "store/capture_plan.h"

#include <array>

namespace sparkops::store {

namespace {

using enum Treatment;

constexpr auto k_paths = std::to_array<PlannedPath>({
    // Memory
    {"proc/meminfo", plain},
    {"proc/buddyinfo", plain},
    {"proc/swaps", text},
    {"proc/pressure/memory", plain},
    {"proc/pressure/io", plain},
    {"proc/pressure/cpu", plain},
    {"proc/sys/vm/min_free_kbytes", plain},
    {"proc/sys/vm/swappiness", plain},
    {"proc/sys/vm/overcommit_memory", plain},
    {"proc/sys/vm/overcommit_ratio", plain},
    {"sys/kernel/mm/transparent_hugepage/enabled", plain},
    // The system as a whole
    {"proc/loadavg", plain},
    {"proc/uptime", plain},
    {"proc/cpuinfo", processors},
    {"proc/stat", statistics},
    {"proc/version", text},
    {"proc/cmdline", text},
    {"proc/mounts", mounts},
    {"proc/1/mounts", mounts},
    {"proc/self/ns/pid", magic_link},
    {"proc/sys/kernel/osrelease", plain},
    {"proc/sys/kernel/ostype", plain},
    {"proc/sys/kernel/arch", plain},
    {"proc/sys/kernel/random/boot_id", text},
    {"proc/driver/nvidia/version", plain},
    {"sys/module/nvidia/version", plain},
    {"sys/module/nvidia_uvm/version", plain},
    {"sys/module/mlx5_core/version", plain},
    {"sys/module/spbm/version", plain},
    {"sys/class/dmi/id/sys_vendor", plain},
    {"sys/class/dmi/id/product_name", plain},
    {"sys/class/dmi/id/product_version", plain},
    {"sys/class/dmi/id/product_family", plain},
    {"sys/class/dmi/id/board_vendor", plain},
    {"sys/class/dmi/id/board_name", plain},
    {"sys/class/dmi/id/bios_vendor", plain},
    {"sys/class/dmi/id/bios_version", plain},
    {"sys/class/dmi/id/bios_date", plain},
    {"sys/class/dmi/id/chassis_type", plain},
    {"etc/dgx-release", assignments},
    {"etc/fastos-release", assignments},
    {"etc/os-release", assignments},
    {"etc/nvidia/cx7-hotplug-enabled", text},
    {".dockerenv", text},
    {"run/.containerenv", assignments},
    {"var/log/wtmp", logins},
    // Devices
    {"sys/bus/pci/devices/*/vendor", plain},
    {"sys/bus/pci/devices/*/device", plain},
    {"sys/bus/pci/devices/*/class", plain},
    {"sys/bus/pci/devices/*/revision", plain},
    {"sys/bus/pci/devices/*/current_link_speed", plain},
    {"sys/bus/pci/devices/*/current_link_width", plain},
    {"sys/bus/pci/devices/*/driver", link},
    {"sys/class/thermal/thermal_zone*/type", plain},
    {"sys/class/thermal/thermal_zone*/temp", plain},
    {"sys/class/thermal/thermal_zone*/mode", plain},
    {"sys/class/thermal/thermal_zone*/policy", plain},
    {"sys/class/thermal/thermal_zone*/trip_point_*_type", plain},
    {"sys/class/thermal/thermal_zone*/trip_point_*_temp", plain},
    {"sys/class/hwmon/hwmon*/name", plain},
    {"sys/class/hwmon/hwmon*/device", link},
    {"sys/class/hwmon/hwmon*/temp*_*", plain},
    {"sys/class/hwmon/hwmon*/power*_*", plain},
    {"sys/class/hwmon/hwmon*/prochot", plain},
    {"sys/class/hwmon/hwmon*/pl_level", plain},
    // Links between boxes
    {"sys/class/net/*/operstate", plain},
    {"sys/class/net/*/speed", plain},
    {"sys/class/net/*/mtu", plain},
    {"sys/class/net/*/type", plain},
    {"sys/class/net/*/carrier", plain},
    {"sys/class/net/*/device", link},
    {"sys/class/net/*/device/driver", link},
    {"sys/class/infiniband/*/device", link},
    {"sys/class/infiniband/*/ports/*/state", plain},
    {"sys/class/infiniband/*/ports/*/phys_state", plain},
    {"sys/class/infiniband/*/ports/*/rate", plain},
    {"sys/class/infiniband/*/ports/*/link_layer", plain},
    {"proc/net/route", routes},
    {"proc/net/if_inet6", ipv6},
});

}  // namespace

std::span<const PlannedPath> planned_paths() {
  return k_paths;
}

}  // namespace sparkops::store
