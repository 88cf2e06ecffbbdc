#include "verdicts/gotchas/link_trouble.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "base/text.h"

namespace sparkops::verdicts {

namespace {

using facts::NetworkLink;
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

std::optional<LinkTrouble> interface_trouble(const Setting& setting, const std::string& management) {
  const std::string key = setting.key;
  if (std::find(k_interface_variables.begin(), k_interface_variables.end(), key) == k_interface_variables.end())
    return std::nullopt;
  const auto wrong = wrong_interface(setting.value, management);
  if (!wrong) return std::nullopt;
  const std::string what =
      *wrong == management ? "the 10 GbE management port" : "no port of the link between the boxes";
  return LinkTrouble{fmt::format("{} uses {}, {}", key, *wrong, what),
                     set_to(fmt::format("export {}=enp1s0f0np0 (the ConnectX port that `ibdev2netdev` shows as Up on "
                                        "each box)",
                                        key)),
                     read_from(setting)};
}

std::optional<LinkTrouble> rdma_trouble(const Setting& setting) {
  if (setting.key == "NCCL_IB_DISABLE" && is_on(setting.value))
    return LinkTrouble{"NCCL_IB_DISABLE switches RDMA off", set_to("unset NCCL_IB_DISABLE"), read_from(setting)};
  if (setting.key == "NCCL_NET" && to_lower(trim(setting.value)) == "socket")
    return LinkTrouble{"NCCL_NET=Socket keeps NCCL off RDMA", set_to("unset NCCL_NET"), read_from(setting)};
  if (setting.key == "NCCL_IB_HCA" && names_one_rail(setting.value))
    return LinkTrouble{
        fmt::format("NCCL_IB_HCA={} names one of the two rails", printable(setting.value, 60)),
        set_to("export NCCL_IB_HCA=rocep1s0f0,roceP2p1s0f0 (both twins of the port that is Up; 13.9 against 20.6 GB/s "
               "were measured)"),
        read_from(setting)};
  if (setting.key == "NCCL_IB_GID_INDEX" && !trim(setting.value).empty())
    return LinkTrouble{fmt::format("NCCL_IB_GID_INDEX is pinned to {}, and the index drifts between boots and boxes",
                                   printable(setting.value, 20)),
                       set_to("unset NCCL_IB_GID_INDEX"), read_from(setting)};
  return std::nullopt;
}

bool is_connectx(const NetworkLink& link) {
  return link.driver && *link.driver == "mlx5_core";
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
                                                  const std::string& management_interface) {
  std::vector<LinkTrouble> troubles;
  for (const Setting& setting : settings) {
    std::optional<LinkTrouble> trouble = interface_trouble(setting, management_interface);
    if (!trouble) trouble = rdma_trouble(setting);
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
  if (ports == 0) {
    troubles.push_back(of_machine(
        gating ? "no ConnectX port is visible (power gating: it vanishes without a cable)"
               : "no ConnectX port is visible",
        "", "plug the cable in, then reboot: a port that appears at run time stays at about 13 Gb/s", false));
    return troubles;
  }
  if (!any_up)
    troubles.push_back(of_machine("no ConnectX port is up", "", "check the cable: the same cage on both boxes", false));
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

}  // namespace sparkops::verdicts
