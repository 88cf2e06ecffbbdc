#include "facts/machine/identity.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <optional>

#include "base/text.h"
#include "facts/machine/boot_records.h"
#include "facts/machine/capture_files.h"

namespace sparkops::facts {

namespace {

constexpr std::size_t k_longest_value = 256;

/// The one line a small file holds.
Known<std::string> read_line(const Root& root, const std::string& path) {
  const auto text = root.read(path);
  if (!text) return unknown(text.error());
  const std::string_view line = trim(*text);
  if (line.empty()) return unknown(path + ": empty");
  if (line.size() > k_longest_value || line.find('\n') != std::string_view::npos)
    return unknown(path + ": not the one line it should hold");
  return as_read(printable(line, k_longest_value));
}

std::string_view without_quotes(std::string_view text) {
  const bool quoted = text.size() >= 2 && text.front() == text.back() && (text.front() == '"' || text.front() == '\'');
  return quoted ? text.substr(1, text.size() - 2) : text;
}

/// The last value of KEY="value" in a release file; nothing when the key does not occur or is empty.
std::optional<std::string> last_value_of(std::string_view text, std::string_view key) {
  std::optional<std::string> value;
  for (const std::string_view raw_line : split_lines(text)) {
    const std::string_view line = trim(raw_line);
    if (!line.starts_with(key) || line.size() <= key.size() || line[key.size()] != '=') continue;
    const std::string_view found = without_quotes(trim(line.substr(key.size() + 1)));
    if (!found.empty()) value = printable(found, k_longest_value);
  }
  return value;
}

/// The value of the first of `keys` that a release file has.
Known<std::string> read_release(const Root& root, const std::string& path,
                                std::initializer_list<std::string_view> keys) {
  const auto text = root.read(path);
  if (!text) return unknown(text.error());
  for (const std::string_view key : keys)
    if (auto value = last_value_of(*text, key)) return as_read(std::move(*value));
  return unknown(path + ": names no " + std::string(*keys.begin()));
}

/// What proc/cpuinfo says about the processor's family: arm64 kernels write "CPU implementer", x86 ones a vendor.
Known<std::string> architecture_from_cpuinfo(const Root& root) {
  constexpr std::size_t k_one_processor = 8192;
  const auto start = root.read_start("proc/cpuinfo", k_one_processor);
  if (!start) return unknown(start.error());
  if (contains(start->bytes, "CPU implementer")) return as_derived(std::string("aarch64"));
  if (contains(start->bytes, "GenuineIntel") || contains(start->bytes, "AuthenticAMD"))
    return as_derived(std::string("x86_64"));
  return unknown("proc/cpuinfo: processor not recognised");
}

Known<std::string> read_architecture(const Root& root) {
  if (auto from_kernel = read_line(root, "proc/sys/kernel/arch")) return from_kernel;
  if (root.is_live()) {
    utsname name{};
    if (::uname(&name) == 0) return as_read(std::string(name.machine));
  }
  if (auto noted = read_capture_notes(root).architecture) return noted;
  return architecture_from_cpuinfo(root);
}

/// A number in sysfs form ("0x10de") of one PCI device.
std::optional<std::uint64_t> pci_number(const Root& root, const std::string& device, const char* name) {
  const auto text = root.read("sys/bus/pci/devices/" + device + "/" + name);
  return text ? parse_hexadecimal(trim(*text)) : std::nullopt;
}

Known<std::vector<PciDevice>> read_nvidia_devices(const Root& root) {
  constexpr std::uint64_t k_nvidia = 0x10de;
  constexpr std::uint64_t k_display_class = 0x03;  // VGA, 3D and other display controllers
  const auto entries = root.list("sys/bus/pci/devices");
  if (!entries) return unknown(entries.error());
  std::vector<PciDevice> devices;
  for (const DirectoryEntry& entry : *entries) {
    const auto vendor = pci_number(root, entry.name, "vendor");
    if (!vendor) return unknown("sys/bus/pci/devices/" + printable(entry.name) + "/vendor: cannot be read");
    if (*vendor != k_nvidia) continue;
    const auto device = pci_number(root, entry.name, "device");
    const auto device_class = pci_number(root, entry.name, "class");
    constexpr std::uint64_t k_largest_id = 0xffff;
    if (!device || *device > k_largest_id || !device_class)
      return unknown("sys/bus/pci/devices/" + printable(entry.name) + ": device or class cannot be read");
    if (*device_class >> 16U != k_display_class) continue;
    constexpr std::string_view k_digits = "0123456789abcdef";
    std::string id = "10de:";
    for (const unsigned shift : {12U, 8U, 4U, 0U}) id += k_digits[(*device >> shift) & 0xfU];
    devices.push_back({printable(entry.name), std::move(id)});
  }
  return as_read(std::move(devices));
}

bool is_version(std::string_view word) {
  return word.size() >= 3 && contains(word, ".") && word.front() != '.' && word.back() != '.' &&
         word.find_first_not_of("0123456789.") == std::string_view::npos;
}

void read_driver(const Root& root, Identity& identity) {
  // "NVRM version: NVIDIA UNIX Open Kernel Module for aarch64  580.95.05  Release Build  (…)"
  const auto text = root.read("proc/driver/nvidia/version");
  if (!text) {
    identity.driver_version = read_line(root, "sys/module/nvidia/version");
    if (!identity.driver_version)
      identity.driver_version = unknown("no NVIDIA kernel module is loaded (" + text.error().message + ")");
    identity.driver_is_open = unknown(text.error());
    return;
  }
  identity.driver_version = unknown("proc/driver/nvidia/version: names no version");
  identity.driver_is_open = unknown("proc/driver/nvidia/version: names no kernel module");
  for (const std::string_view line : split_lines(*text)) {
    if (!line.starts_with("NVRM version:")) continue;
    const auto words = split_words(line);
    const auto version = std::find_if(words.begin(), words.end(), is_version);
    if (version != words.end()) identity.driver_version = as_read(std::string(*version));
    if (contains(line, "Kernel Module")) identity.driver_is_open = as_read(contains(line, "Open Kernel Module"));
  }
}

LastBoot read_last_boot(const Root& root, const Known<Timestamp>& boot_time) {
  // A multiple of both record sizes, so that the tail of a longer file begins with a whole record.
  constexpr std::size_t k_both_record_sizes = 9600;
  constexpr std::size_t k_tail = 200 * k_both_record_sizes;
  const auto tail = root.read_end("var/log/wtmp", k_tail);
  if (!tail) return {unknown(tail.error()), unknown(tail.error())};
  const auto records = parse_login_records(tail->bytes);
  if (!records) return {unknown(records.error()), unknown(records.error())};
  return last_boot_of(*records, boot_time);
}

}  // namespace

Known<Timestamp> read_boot_time(const Root& root) {
  // The line of interest follows one line per processor.
  const auto text = root.read("proc/stat");
  if (!text) return unknown(text.error());
  for (const std::string_view line : split_lines(*text)) {
    if (!line.starts_with("btime ")) continue;
    const auto seconds = parse_integer(trim(line.substr(std::string_view("btime ").size())));
    constexpr std::int64_t k_last_plausible = std::int64_t{1} << 40;
    if (!seconds || *seconds <= 0 || *seconds > k_last_plausible) return unknown("proc/stat: btime is no time");
    return as_read(Timestamp{*seconds * 1000});
  }
  return unknown("proc/stat: no btime");
}

Known<long> read_page_size(const Root& root) {
  if (!root.is_live()) return read_capture_notes(root).page_size;
  const long size = ::sysconf(_SC_PAGESIZE);
  if (size <= 0) return unknown("sysconf(_SC_PAGESIZE) failed");
  return as_read(long{size});
}

Identity read_identity(const Root& root) {
  Identity identity;
  identity.architecture = read_architecture(root);
  identity.kernel_release = read_line(root, "proc/sys/kernel/osrelease");
  identity.page_size = read_page_size(root);
  identity.operating_system = read_release(root, "etc/os-release", {"PRETTY_NAME"});
  identity.system_vendor = read_line(root, "sys/class/dmi/id/sys_vendor");
  identity.product_name = read_line(root, "sys/class/dmi/id/product_name");
  identity.product_family = read_line(root, "sys/class/dmi/id/product_family");
  identity.bios_version = read_line(root, "sys/class/dmi/id/bios_version");
  identity.nvidia_devices = read_nvidia_devices(root);
  identity.dgx_release = read_release(root, "etc/dgx-release", {"DGX_OTA_VERSION", "DGX_SWBUILD_VERSION"});
  identity.fastos_release = read_release(root, "etc/fastos-release", {"VERSION"});
  read_driver(root, identity);
  identity.boot_id = read_line(root, "proc/sys/kernel/random/boot_id");
  identity.boot_time = read_boot_time(root);
  const LastBoot last_boot = read_last_boot(root, identity.boot_time);
  identity.last_boot_end = last_boot.end;
  identity.last_boot_end_time = last_boot.last_sign_of_life;
  return identity;
}

}  // namespace sparkops::facts
