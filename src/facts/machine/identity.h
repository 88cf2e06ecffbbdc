#pragma once

#include <string>
#include <vector>

#include "base/known.h"
#include "base/root.h"
#include "base/timestamp.h"

namespace sparkops::facts {

/// The PCI id of the GB10's GPU on every variant (vendor:device); DMI names differ between the OEM twins.
inline constexpr const char* k_gb10_pci_id = "10de:2e12";

/// How the boot before this one ended.
enum class BootEnd {
  shutdown,          ///< a shutdown or reboot was written down
  without_shutdown,  ///< the next boot follows with no shutdown in between: power loss, freeze, crash
};

/// One NVIDIA device on the PCI bus.
struct PciDevice {
  std::string address;  ///< as sysfs writes it, e.g. "000f:01:00.0"
  std::string id;       ///< "10de:2e12", lower case
};

/// Which machine this is. Sources: proc/sys/kernel, proc/cpuinfo, sys/class/dmi/id, sys/bus/pci/devices,
/// etc/dgx-release, etc/fastos-release, etc/os-release, proc/driver/nvidia/version, var/log/wtmp.
struct Identity {
  Known<std::string> architecture;      ///< as uname -m: "aarch64", "x86_64"
  Known<std::string> kernel_release;    ///< e.g. "6.17.0-1014-nvidia"
  Known<long> page_size;                ///< bytes
  Known<std::string> operating_system;  ///< PRETTY_NAME of etc/os-release
  Known<std::string> system_vendor;
  Known<std::string> product_name;
  Known<std::string> product_family;
  Known<std::string> bios_version;
  Known<std::vector<PciDevice>> nvidia_devices;  ///< display and 3D controllers of vendor 10de; known and empty: none
  Known<std::string> dgx_release;  ///< the *last* DGX_OTA_VERSION, else DGX_SWBUILD_VERSION ("never updated")
  Known<std::string> fastos_release;
  Known<std::string> driver_version;  ///< of the loaded kernel module
  Known<bool> driver_is_open;         ///< open kernel module (false: proprietary)
  Known<std::string> boot_id;
  Known<Timestamp> boot_time;
  Known<BootEnd> last_boot_end;
  Known<Timestamp> last_boot_end_time;  ///< the last sign of life of the previous boot
};

/// Bytes of a page: sysconf on this machine, sparkops/capture.json of a capture.
[[nodiscard]] Known<long> read_page_size(const Root& root);

/// When this boot began (btime of proc/stat).
[[nodiscard]] Known<Timestamp> read_boot_time(const Root& root);

/// Reads what can be read; each part that cannot is unknown with its reason. Never fails as a whole.
[[nodiscard]] Identity read_identity(const Root& root);

}  // namespace sparkops::facts
