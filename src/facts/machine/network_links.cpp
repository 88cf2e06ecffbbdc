#include "facts/machine/network_links.h"

#include <ifaddrs.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <set>

#include "base/text.h"

namespace sparkops::facts {

namespace {

constexpr const char* k_interfaces = "sys/class/net";
constexpr const char* k_rdma_devices = "sys/class/infiniband";
constexpr std::size_t k_longest_word = 64;
/// The length of an IP packet is a 16-bit figure.
constexpr std::int64_t k_largest_mtu = 65'535;
/// Far above any Ethernet port.
constexpr std::int64_t k_fastest_mbps = 100'000'000;

Known<std::string> read_word(const Root& root, const std::string& path) {
  const auto text = root.read(path);
  if (!text) return unknown(text.error());
  if (trim(*text).empty()) return unknown(path + ": empty");
  return as_read(printable(trim(*text), k_longest_word));
}

/// A number that is not negative; the kernel writes −1 for a speed it does not know.
Known<std::int64_t> read_count(const Root& root, const std::string& path, std::int64_t largest) {
  const auto text = root.read(path);
  if (!text) return unknown(text.error());
  const auto number = parse_integer(trim(*text));
  if (!number || *number < 0) return unknown(path + ": no number");
  if (*number > largest) return unknown(path + ": " + std::to_string(*number) + " is absurd");
  return as_read(std::int64_t{*number});
}

Known<std::string> name_of_target(const Root& root, const std::string& link) {
  const auto target = root.read_link(link);
  if (!target) return unknown(target.error());
  return as_read(printable(std::string_view(*target).substr(target->rfind('/') + 1), k_longest_word));
}

/// "0000:01:00.0": domain, bus, device and function in hexadecimal. Domains may have more than four digits.
bool is_pci_address(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos || colon < 4 || text.size() != colon + 8) return false;
  if (text[colon + 3] != ':' || text[colon + 6] != '.') return false;
  std::string digits(text);
  std::erase_if(digits, [](char c) { return c == ':' || c == '.'; });
  return digits.find_first_not_of("0123456789abcdefABCDEF") == std::string::npos;
}

Known<std::string> pci_address_of(const Root& root, const std::string& device_link) {
  const Known<std::string> name = name_of_target(root, device_link);
  if (name && !is_pci_address(*name)) return unknown(device_link + ": not a PCI device");
  return name;
}

Known<bool> read_up(const Root& root, const std::string& interface) {
  const Known<std::string> state = read_word(root, interface + "/operstate");
  if (!state) return state.as_unknown();
  if (*state == "up") return as_read(true);
  if (*state == "down" || *state == "lowerlayerdown" || *state == "dormant" || *state == "notpresent")
    return as_read(false);
  return unknown(interface + "/operstate says '" + *state + "'");
}

/// Interfaces with an address, as far as it can be told: `complete` says whether a missing one has none.
struct Addresses {
  std::set<std::string, std::less<>> interfaces;
  bool complete = true;
  std::string reason;  ///< why it is not complete
};

/// The addresses of this machine, asked from the kernel.
Addresses live_addresses() {
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) return {{}, false, system_error("getifaddrs", errno).message};
  const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> owner(list, ::freeifaddrs);
  Addresses addresses;
  for (const ifaddrs* entry = list; entry != nullptr; entry = entry->ifa_next) {
    if (entry->ifa_addr == nullptr) continue;
    bool counts = entry->ifa_addr->sa_family == AF_INET;
    if (entry->ifa_addr->sa_family == AF_INET6) {
      sockaddr_in6 address{};
      std::memcpy(&address, entry->ifa_addr, sizeof address);
      counts = !IN6_IS_ADDR_LINKLOCAL(&address.sin6_addr);
    }
    if (counts) addresses.interfaces.insert(entry->ifa_name);
  }
  return addresses;
}

/// proc/net/route: an interface with a route to its own network has an IPv4 address.
void add_from_routes(const Root& root, Addresses& addresses) {
  const auto text = root.read("proc/net/route");
  if (!text) {
    addresses.complete = false;
    addresses.reason = text.error().message;
    return;
  }
  constexpr std::size_t k_gateway_column = 2;
  for (const std::string_view line : split_lines(*text)) {
    const auto words = split_words(line);
    if (words.size() <= k_gateway_column || words[0] == "Iface") continue;
    if (words[1] != "00000000" && words[k_gateway_column] == "00000000")
      addresses.interfaces.insert(std::string(words[0]));
  }
}

/// proc/net/if_inet6: address, index, prefix length, scope, flags, interface. The address itself is not looked at (a
/// capture has it blanked); scope 20 is link-local.
void add_from_ipv6(const Root& root, Addresses& addresses) {
  const auto text = root.read("proc/net/if_inet6");
  if (!text) {
    // A kernel without IPv6 has no such file.
    if (text.error().kind == ErrorKind::not_found || !addresses.complete) return;
    addresses.complete = false;
    addresses.reason = text.error().message;
    return;
  }
  constexpr std::size_t k_scope_column = 3, k_name_column = 5;
  for (const std::string_view line : split_lines(*text)) {
    const auto words = split_words(line);
    if (words.size() > k_name_column && words[k_scope_column] != "20")
      addresses.interfaces.insert(std::string(words[k_name_column]));
  }
}

Addresses read_addresses(const Root& root) {
  if (root.is_live()) return live_addresses();
  Addresses addresses;
  add_from_routes(root, addresses);
  add_from_ipv6(root, addresses);
  return addresses;
}

Known<bool> has_address(const Addresses& addresses, const NetworkLink& link, bool is_live) {
  if (addresses.interfaces.find(link.name) != addresses.interfaces.end())
    return is_live ? as_read(true) : as_derived(true);
  if (!addresses.complete) return unknown(addresses.reason);
  if (is_live) return as_read(false);
  // Routes of an interface that is down are gone, its address need not be.
  if (!link.up || !*link.up) return unknown("the interface is not up, so it has no routes to tell by");
  return as_derived(false);
}

NetworkLink read_link(const Root& root, const std::string& name) {
  const std::string interface = std::string(k_interfaces) + "/" + name;
  NetworkLink link;
  link.name = printable(name, k_longest_word);
  link.driver = name_of_target(root, interface + "/device/driver");
  link.pci_address = pci_address_of(root, interface + "/device");
  link.up = read_up(root, interface);
  link.mtu = read_count(root, interface + "/mtu", k_largest_mtu);
  if (link.mtu && *link.mtu == 0) link.mtu = unknown(interface + "/mtu: 0 is absurd");
  link.speed_mbps = link.up && !*link.up ? Known<std::int64_t>(unknown("the link is down"))
                                         : read_count(root, interface + "/speed", k_fastest_mbps);
  link.rdma_device = link.rdma_state = link.rdma_rate = unknown("no RDMA device on this PCI function");
  return link;
}

void read_rdma(const Root& root, NetworkLinks& result) {
  const auto devices = root.list(k_rdma_devices);
  if (!devices) {
    // Without the class nothing in the kernel speaks RDMA.
    if (devices.error().kind != ErrorKind::not_found) result.could_not.push_back(devices.error().message);
    return;
  }
  for (const DirectoryEntry& device : *devices) {
    const std::string path = std::string(k_rdma_devices) + "/" + device.name;
    const Known<std::string> address = pci_address_of(root, path + "/device");
    if (!address) continue;
    for (NetworkLink& link : result.links) {
      if (!link.pci_address || *link.pci_address != *address) continue;
      link.rdma_device = as_read(printable(device.name, k_longest_word));
      link.rdma_state = read_word(root, path + "/ports/1/state");
      link.rdma_rate = read_word(root, path + "/ports/1/rate");
    }
  }
}

/// The part of a ConnectX address behind its domain, when it lies in `domain`.
std::optional<std::string_view> function_in_domain(const NetworkLink& link, std::string_view domain) {
  if (!link.pci_address || !link.driver || *link.driver != "mlx5_core") return std::nullopt;
  const std::string_view address = *link.pci_address;
  if (address.substr(0, address.find(':')) != domain) return std::nullopt;
  return address.substr(address.find(':'));
}

void find_twins(NetworkLinks& result) {
  for (std::size_t first = 0; first < result.links.size(); ++first) {
    const auto function = function_in_domain(result.links[first], "0000");
    if (!function) continue;
    for (std::size_t second = 0; second < result.links.size(); ++second) {
      if (function_in_domain(result.links[second], "0002") != function) continue;
      result.twins.emplace_back(first, second);
      break;
    }
  }
}

/// The flag file of DGX OS: with it, a NIC without a cable is switched off and leaves the PCI bus.
Known<bool> read_hotplug(const Root& root) {
  constexpr const char* k_path = "etc/nvidia/cx7-hotplug-enabled";
  const auto text = root.read(k_path);
  if (!text && text.error().kind == ErrorKind::not_found) return as_derived(false);
  if (!text) return unknown(text.error());
  const std::string value = to_lower(trim(*text));
  return as_read(value != "0" && value != "no" && value != "false");
}

}  // namespace

NetworkLinks read_network_links(const Root& root) {
  NetworkLinks result;
  result.hotplug_power_gating = read_hotplug(root);
  const auto interfaces = root.list(k_interfaces);
  if (!interfaces) {
    result.could_not.push_back(interfaces.error().message);
    return result;
  }
  const Addresses addresses = read_addresses(root);
  for (const DirectoryEntry& interface : *interfaces) {
    // Besides interfaces the directory may hold files of the bonding driver.
    if (interface.name == "lo" || interface.kind == FileKind::regular) continue;
    NetworkLink link = read_link(root, interface.name);
    link.has_address = has_address(addresses, link, root.is_live());
    result.links.push_back(std::move(link));
  }
  read_rdma(root, result);
  find_twins(result);
  return result;
}

}  // namespace sparkops::facts
