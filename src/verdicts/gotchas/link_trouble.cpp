#include "verdicts/gotchas/link_trouble.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "base/text.h"

namespace sparkops::verdicts {

namespace {

using facts::NetworkLink;
using facts::NetworkLinks;
using facts::Setting;

/// Variables that choose the interface of a collective library, and the options of mpirun that set them.
constexpr std::array<std::string_view, 7> k_interface_variables = {
    "NCCL_SOCKET_IFNAME", "GLOO_SOCKET_IFNAME",          "TP_SOCKET_IFNAME",           "UCX_NET_DEVICES",
    "MN_IF_NAME",         "OMPI_MCA_btl_tcp_if_include", "OMPI_MCA_oob_tcp_if_include"};

/// Names that no ConnectX port of a GB10 has: Wi-Fi, container bridges, loopback.
constexpr std::array<std::string_view, 5> k_foreign_prefixes = {"wl", "docker", "br-", "veth", "lo"};

Fix set_to(const std::string& instruction) {
  Fix fix;
  fix.instruction = instruction;
  fix.verify = "NCCL_DEBUG=INFO prints NET/IB with both HCAs";
  return fix;
}

Evidence read_from(const Setting& setting) {
  return {fmt::format("{}={} ({})", setting.key, printable(setting.value, 120), setting.where), {Origin::read, {}}};
}

bool is_on(std::string_view value) {
  const std::string text = to_lower(trim(value));
  return text == "1" || text == "true" || text == "yes" || text == "on";
}

/// The first interface of a list that is not meant for collectives. "^name" excludes, "=name" is exact.
std::optional<std::string> wrong_interface(std::string_view value, const std::string& management) {
  if (trim(value).starts_with('^')) return std::nullopt;
  for (std::string_view entry : split(value, ',')) {
    entry = trim(entry);
    if (entry.starts_with('=')) entry.remove_prefix(1);
    entry = entry.substr(0, entry.find(':'));
    if (entry.empty()) continue;
    if (entry == management) return std::string(entry);
    const bool foreign = std::any_of(k_foreign_prefixes.begin(), k_foreign_prefixes.end(),
                                     [entry](std::string_view prefix) { return entry.starts_with(prefix); });
    if (foreign) return std::string(entry);
  }
  return std::nullopt;
}

/// Whether a list of RDMA devices names one of the two rails of a port only. A prefix such as "roce" or "mlx5" names
/// them all.
bool names_one_rail(std::string_view value) {
  value = trim(value);
  if (value.empty() || value.starts_with('^')) return false;
  if (value.starts_with('=')) value.remove_prefix(1);
  const std::vector<std::string_view> devices = split(value, ',');
  if (devices.size() != 1) return false;
  const std::string_view device = trim(devices.front()).substr(0, trim(devices.front()).find(':'));
  const bool numbered = !device.empty() && device.back() >= '0' && device.back() <= '9';
  return numbered && device != "mlx5";
}

bool is_connectx(const NetworkLink& link) {
  return link.driver && *link.driver == "mlx5_core";
}

/// The ConnectX interfaces that are up, the twin of PCI domain 0000 first.
std::vector<const NetworkLink*> ports_up(const NetworkLinks* links) {
  std::vector<const NetworkLink*> ports;
  if (links == nullptr) return ports;
  for (const NetworkLink& link : links->links)
    if (is_connectx(link) && link.up.value_or(false)) ports.push_back(&link);
  std::stable_sort(ports.begin(), ports.end(), [](const NetworkLink* a, const NetworkLink* b) {
    return a->pci_address.value_or("") < b->pci_address.value_or("");
  });
  return ports;
}

/// "export NAME=…" with the interface that is up on this machine, or with a placeholder.
std::string export_interface(const std::string& name, const NetworkLinks* links) {
  const std::vector<const NetworkLink*> up = ports_up(links);
  if (!up.empty()) return fmt::format("export {}={} (the ConnectX port that is up)", name, up.front()->name);
  return fmt::format(
      "export {}=PORT, where PORT is the ConnectX interface that `ibdev2netdev` shows as Up on each box "
      "(which one that is cannot be seen from here)",
      name);
}

/// The same with the RDMA devices of both twins.
std::string export_devices(const NetworkLinks* links) {
  constexpr std::string_view k_gain = "13.9 against 20.6 GB/s were measured";
  std::vector<std::string> devices;
  for (const NetworkLink* const link : ports_up(links))
    if (link->rdma_device) devices.push_back(*link->rdma_device);
  if (devices.size() >= 2)
    return fmt::format("export NCCL_IB_HCA={} (both twins of the port that is up; {})", join(devices, ","), k_gain);
  return fmt::format(
      "export NCCL_IB_HCA=DEVICE,TWIN, the two devices that `ibdev2netdev` shows as Up (which ones those are cannot be "
      "seen from here; {})",
      k_gain);
}

/// One name of a list: "=name" is exact, ":1" the port of a device.
struct NamedPort {
  std::string_view name;
  bool exact = false;
};

std::vector<NamedPort> named_ports(std::string_view value) {
  std::vector<NamedPort> ports;
  value = trim(value);
  if (value.starts_with('^')) return ports;
  const bool exact = value.starts_with('=');
  if (exact) value.remove_prefix(1);
  for (std::string_view entry : split(value, ',')) {
    entry = trim(entry);
    entry = entry.substr(0, entry.find(':'));
    // Subnets, "all" and what a shell would still expand name no port.
    const bool is_name = !entry.empty() && entry != "all" && entry.find_first_of("/${*") == std::string_view::npos;
    if (is_name) ports.push_back({entry, exact});
  }
  return ports;
}

bool has_interface(const NetworkLinks& links, NamedPort port, bool prefixes_match) {
  const bool exact = port.exact || !prefixes_match;
  return port.name == "lo" || std::any_of(links.links.begin(), links.links.end(), [&](const NetworkLink& link) {
           return exact ? link.name == port.name : link.name.starts_with(port.name);
         });
}

/// Whether the device may exist: true also where the device of a port could not be read.
bool may_have_device(const NetworkLinks& links, NamedPort port) {
  return std::any_of(links.links.begin(), links.links.end(), [&](const NetworkLink& link) {
    if (!link.rdma_device) return is_connectx(link);
    return port.exact ? *link.rdma_device == port.name : link.rdma_device->starts_with(port.name);
  });
}

/// A name that this machine does not have. NCCL takes its names as beginnings, the others do not.
std::optional<LinkTrouble> absent_name(const Setting& setting, const NetworkLinks* links) {
  if (links == nullptr || links->links.empty()) return std::nullopt;
  const bool names_devices = setting.key == "NCCL_IB_HCA";
  for (const NamedPort port : named_ports(setting.value)) {
    const bool may_be_device = names_devices || setting.key == "UCX_NET_DEVICES";
    if (may_be_device && may_have_device(*links, port)) continue;
    if (!names_devices && has_interface(*links, port, setting.key.starts_with("NCCL_"))) continue;
    return LinkTrouble{
        fmt::format("{} names {}, which does not exist on this box", setting.key, printable(port.name, 40)),
        set_to(names_devices ? export_devices(links) : export_interface(setting.key, links)), read_from(setting)};
  }
  return std::nullopt;
}

bool is_named(const NetworkLink& link, NamedPort port) {
  const std::string device = link.rdma_device.value_or("");
  return port.exact ? link.name == port.name || device == port.name
                    : link.name.starts_with(port.name) || device.starts_with(port.name);
}

/// A list whose every name means a ConnectX port that is down, while another one is up.
std::optional<LinkTrouble> down_name(const Setting& setting, const NetworkLinks* links) {
  if (ports_up(links).empty()) return std::nullopt;
  std::vector<std::string> down;
  for (const NamedPort port : named_ports(setting.value)) {
    const bool is_down = std::any_of(links->links.begin(), links->links.end(), [&](const NetworkLink& link) {
      return is_named(link, port) && is_connectx(link) && link.up && !*link.up;
    });
    const bool other = std::any_of(links->links.begin(), links->links.end(), [&](const NetworkLink& link) {
      return is_named(link, port) && (!is_connectx(link) || link.up.value_or(true));
    });
    if (!is_down || other) return std::nullopt;
    down.push_back(printable(port.name, 40));
  }
  if (down.empty()) return std::nullopt;
  const bool devices = setting.key == "NCCL_IB_HCA";
  return LinkTrouble{fmt::format("{} names {}, a port that is down", setting.key, join(down, ",")),
                     set_to(devices ? export_devices(links) : export_interface(setting.key, links)),
                     read_from(setting)};
}

bool chooses_interface(const std::string& key) {
  return std::find(k_interface_variables.begin(), k_interface_variables.end(), key) != k_interface_variables.end();
}

std::optional<LinkTrouble> interface_trouble(const Setting& setting, const std::string& management,
                                             const NetworkLinks* links) {
  if (!chooses_interface(setting.key)) return std::nullopt;
  if (auto absent = absent_name(setting, links)) return absent;
  if (auto down = down_name(setting, links)) return down;
  const auto wrong = wrong_interface(setting.value, management);
  if (!wrong) return std::nullopt;
  const std::string what =
      *wrong == management ? "the 10 GbE management port" : "no port of the link between the boxes";
  return LinkTrouble{fmt::format("{} uses {}, {}", setting.key, *wrong, what),
                     set_to(export_interface(setting.key, links)), read_from(setting)};
}

std::optional<LinkTrouble> rdma_trouble(const Setting& setting, const NetworkLinks* links) {
  if (setting.key == "NCCL_IB_DISABLE" && is_on(setting.value))
    return LinkTrouble{"NCCL_IB_DISABLE switches RDMA off", set_to("unset NCCL_IB_DISABLE"), read_from(setting)};
  if (setting.key == "NCCL_NET" && to_lower(trim(setting.value)) == "socket")
    return LinkTrouble{"NCCL_NET=Socket keeps NCCL off RDMA", set_to("unset NCCL_NET"), read_from(setting)};
  if (setting.key == "NCCL_IB_HCA") {
    if (auto absent = absent_name(setting, links)) return absent;
    if (auto down = down_name(setting, links)) return down;
    if (names_one_rail(setting.value))
      return LinkTrouble{fmt::format("NCCL_IB_HCA={} names one of the two rails", printable(setting.value, 60)),
                         set_to(export_devices(links)), read_from(setting)};
  }
  if (setting.key == "NCCL_IB_GID_INDEX" && !trim(setting.value).empty())
    return LinkTrouble{fmt::format("NCCL_IB_GID_INDEX is pinned to {}, and the index drifts between boots and boxes",
                                   printable(setting.value, 20)),
                       set_to("unset NCCL_IB_GID_INDEX"), read_from(setting)};
  return std::nullopt;
}

LinkTrouble of_machine(std::string clause, std::string run, std::string instruction, bool needs_root) {
  Fix fix;
  fix.run = std::move(run);
  fix.instruction = std::move(instruction);
  fix.needs_root = needs_root;
  fix.verify = "sparkops preflight --only G10";
  Evidence evidence{clause, {Origin::read, {}}};
  return {std::move(clause), std::move(fix), std::move(evidence)};
}

void judge_twins(const NetworkLink& a, const NetworkLink& b, std::vector<LinkTrouble>& troubles) {
  const bool a_up = a.up.value_or(false);
  const bool b_up = b.up.value_or(false);
  if (!a_up && !b_up) return;
  if (a.up && b.up && a_up != b_up) {
    const NetworkLink& down = a_up ? b : a;
    troubles.push_back(of_machine(
        fmt::format("{} is down while its twin {} is up: half the link is unused", down.name, a_up ? a.name : b.name),
        fmt::format("sudo ip link set {} up", down.name), "brings the second rail up", true));
    return;
  }
  if (a.mtu && b.mtu && *a.mtu != *b.mtu) {
    const NetworkLink& small = *a.mtu < *b.mtu ? a : b;
    const std::int64_t large = std::max(*a.mtu, *b.mtu);
    troubles.push_back(of_machine(
        fmt::format("{} has MTU {}, its twin {} has {}", small.name, *small.mtu, &small == &a ? b.name : a.name, large),
        fmt::format("sudo ip link set {} mtu {}", small.name, large),
        "sets both twins alike, on both boxes; 17.9 instead of 23.9 GB/s were measured with one twin at 1500", true));
  }
  if (a.has_address && b.has_address && *a.has_address != *b.has_address) {
    const NetworkLink& bare = *a.has_address ? b : a;
    troubles.push_back(
        of_machine(fmt::format("{} has no address, its twin has one: half the link is unused", bare.name), "",
                   fmt::format("give {} an address of its own subnet", bare.name), true));
  }
}

}  // namespace

std::vector<LinkTrouble> link_trouble_of_settings(const std::vector<Setting>& settings,
                                                  const std::string& management_interface, const NetworkLinks* links) {
  std::vector<LinkTrouble> troubles;
  for (const Setting& setting : settings) {
    std::optional<LinkTrouble> trouble = interface_trouble(setting, management_interface, links);
    if (!trouble) trouble = rdma_trouble(setting, links);
    if (!trouble) continue;
    const auto same = [&](const LinkTrouble& known) { return known.clause == trouble->clause; };
    if (std::none_of(troubles.begin(), troubles.end(), same)) troubles.push_back(std::move(*trouble));
  }
  return troubles;
}

std::vector<LinkTrouble> link_trouble_of_machine(const facts::NetworkLinks& links) {
  std::vector<LinkTrouble> troubles;
  const auto ports = std::count_if(links.links.begin(), links.links.end(), is_connectx);
  const bool any_up = std::any_of(links.links.begin(), links.links.end(),
                                  [](const NetworkLink& link) { return is_connectx(link) && link.up.value_or(false); });
  const bool gating = links.hotplug_power_gating.value_or(false);
  // Where the interfaces could not be listed nothing is known, not even that there is none.
  if (links.links.empty() && !links.could_not.empty()) return troubles;
  if (ports == 0) {
    troubles.push_back(of_machine(
        gating ? "no ConnectX port is visible (power gating: it vanishes without a cable)"
               : "no ConnectX port is visible",
        "", "plug the cable in, then reboot: a port that appears at run time stays at about 13 Gb/s", false));
    return troubles;
  }
  if (!any_up) {
    const auto unread = std::find_if(links.links.begin(), links.links.end(),
                                     [](const NetworkLink& link) { return is_connectx(link) && !link.up; });
    troubles.push_back(of_machine(unread == links.links.end()
                                      ? std::string("no ConnectX port is up")
                                      : "no ConnectX port is known to be up (" + unread->up.reason() + ")",
                                  "", "check the cable: the same cage on both boxes", false));
  }
  for (const auto& [first, second] : links.twins)
    if (first < links.links.size() && second < links.links.size())
      judge_twins(links.links[first], links.links[second], troubles);
  // Boxes ship with the gating on: it is trouble only for a port that was attached at run time, so not for one that is
  // up.
  if (gating && !any_up)
    troubles.push_back(of_machine("hot-plug power gating is on: a port attached at run time stays at about 13 Gb/s",
                                  "sudo mv /etc/nvidia/cx7-hotplug-enabled /etc/nvidia/cx7-hotplug-disabled",
                                  "then boot with the cable in; `ib_write_bw` tells the real rate", true));
  return troubles;
}

std::vector<std::string> link_gaps_of_machine(const NetworkLinks& links) {
  std::vector<std::string> gaps = links.could_not;
  const auto note = [&gaps](const NetworkLink& link, const char* what, const auto& fact) {
    if (!fact) gaps.push_back(fmt::format("{}: {} unknown ({})", link.name, what, fact.reason()));
  };
  for (const NetworkLink& link : links.links) {
    if (!is_connectx(link) || !link.up.value_or(true)) continue;
    note(link, "state", link.up);
    note(link, "MTU", link.mtu);
    note(link, "speed", link.speed_mbps);
    note(link, "RDMA state", link.rdma_state);
    note(link, "RDMA rate", link.rdma_rate);
  }
  return gaps;
}

}  // namespace sparkops::verdicts
