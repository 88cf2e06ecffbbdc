#include "facts/machine/container.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/text.h"

namespace sparkops::facts {

namespace {

constexpr std::size_t k_environment_cap = std::size_t{1} << 20;
constexpr std::size_t k_longest_value = 200;

using Variables = std::vector<std::pair<std::string_view, std::string_view>>;

Variables parse_environment(std::string_view block) {
  Variables variables;
  for (const std::string_view entry : split(block, '\0')) {
    const std::size_t equals = entry.find('=');
    if (equals == std::string_view::npos || equals == 0) continue;
    variables.emplace_back(entry.substr(0, equals), entry.substr(equals + 1));
  }
  return variables;
}

Known<std::string> value_of(const Variables& variables, std::string_view name) {
  const auto found = std::find_if(variables.begin(), variables.end(), [&](const auto& v) { return v.first == name; });
  if (found == variables.end() || found->second.empty())
    return unknown(std::string(name) + " is not in the environment");
  return as_read(printable(found->second, k_longest_value));
}

void found_sign(Container& container, std::string sign, std::string runtime) {
  container.signs.push_back(std::move(sign));
  container.inside = as_read(true);
  if (!container.runtime && !runtime.empty()) container.runtime = as_read(std::move(runtime));
}

/// run/.containerenv of podman: lines KEY="value".
void read_containerenv(const Root& root, Container& container) {
  if (!root.exists("run/.containerenv")) return;
  found_sign(container, "/run/.containerenv exists", "podman");
  const auto text = root.read("run/.containerenv");
  if (!text) return;
  for (const std::string_view line : split_lines(*text)) {
    if (!line.starts_with("image=\"") || !line.ends_with('"')) continue;
    const std::string_view image = line.substr(std::string_view("image=\"").size());
    if (image.size() > 1) container.image = as_read(printable(image.substr(0, image.size() - 1), k_longest_value));
  }
}

/// Lines "ID:CONTROLLERS:PATH" of printable text: what any kernel writes.
bool is_cgroup_file(std::string_view text) {
  const auto lines = split_lines(text);
  return !lines.empty() && std::all_of(lines.begin(), lines.end(), [](std::string_view line) {
    const auto parts = split(line, ':');
    return parts.size() >= 3 && parse_integer(parts[0]).has_value() && parts[2].starts_with('/') &&
           printable(line) == line;
  });
}

/// Why the cgroup of PID 1 says nothing; empty when it was read.
std::string read_cgroup(const Root& root, Container& container) {
  const auto text = root.read("proc/1/cgroup");
  if (!text) return text.error().message;
  if (!is_cgroup_file(*text)) return "proc/1/cgroup: not what a kernel writes";
  // The most telling one first: a pod of Kubernetes also shows containerd.
  constexpr std::array<std::string_view, 5> k_runtimes{"kubepods", "libpod", "docker", "containerd", "lxc"};
  for (const std::string_view runtime : k_runtimes) {
    if (!contains(*text, runtime)) continue;
    const std::string name = runtime == "libpod" ? "podman" : std::string(runtime);
    found_sign(container, "cgroup of PID 1: " + std::string(runtime), name);
    break;
  }
  return "";
}

/// An overlay as the root of the mount table. Live media mount one too, so only one that lies in the store of a
/// container runtime is proof.
void read_mounts(const Root& root, Container& container) {
  auto text = root.read("proc/1/mounts");
  if (!text) text = root.read("proc/mounts");
  if (!text) return;
  constexpr std::size_t k_options_column = 3;
  for (const std::string_view line : split_lines(*text)) {
    const auto words = split_words(line);
    if (words.size() <= k_options_column || words[1] != "/" || words[2] != "overlay") continue;
    const std::string_view options = words[k_options_column];
    constexpr std::array<std::pair<std::string_view, std::string_view>, 3> k_stores{
        {{"docker", "docker"}, {"containerd", "containerd"}, {"containers/storage", "podman"}}};
    for (const auto& [store, runtime] : k_stores)
      if (contains(options, store))
        return found_sign(container, "the root is an overlay in the store of " + std::string(runtime),
                          std::string(runtime));
    container.signs.emplace_back("the root is an overlay (containers have one, live media too)");
    return;
  }
}

/// The environment of PID 1: `container=` of systemd, podman and LXC, and the variables of NVIDIA's images.
void read_first_environment(const Variables& variables, Container& container) {
  if (const auto runtime = value_of(variables, "container"))
    found_sign(container, "environment of PID 1: container=" + *runtime, *runtime);
  for (const std::string_view name : {"NVIDIA_BUILD_ID", "NVIDIA_PRODUCT_NAME"})
    if (value_of(variables, name))
      return found_sign(container, "environment of PID 1: " + std::string(name) + " of an NVIDIA image", "");
}

/// What the environment says about an image of NVIDIA's catalogue (NGC).
void read_image(const Variables& variables, Container& container) {
  container.cuda_version = value_of(variables, "CUDA_VERSION");
  container.ngc_product = value_of(variables, "NVIDIA_PRODUCT_NAME");
  container.ngc_version = unknown("no NVIDIA_…_VERSION is in the environment");
  if (!container.ngc_product) return;
  // NVIDIA_PYTORCH_VERSION for the product PyTorch, NVIDIA_TRITON_SERVER_VERSION for Triton Server.
  std::string product;
  for (const char c : to_lower(*container.ngc_product))
    if (c != ' ' && c != '_' && c != '-') product += c;
  for (const auto& [name, value] : variables) {
    constexpr std::string_view k_prefix = "NVIDIA_", k_suffix = "_VERSION";
    if (!name.starts_with(k_prefix) || !name.ends_with(k_suffix) || name.size() <= k_prefix.size() + k_suffix.size())
      continue;
    std::string of = to_lower(name.substr(k_prefix.size(), name.size() - k_prefix.size() - k_suffix.size()));
    std::erase(of, '_');
    if (of == product && !value.empty()) container.ngc_version = as_read(printable(value, k_longest_value));
  }
  std::string image = "NVIDIA " + *container.ngc_product;
  if (container.ngc_version) image += " " + *container.ngc_version;
  if (const auto build = value_of(variables, "NVIDIA_BUILD_ID")) image += " (build " + *build + ")";
  container.image = as_derived(std::move(image));
}

/// What speaks for a bare host. Never proof: a container may share every one of these with its host.
std::string signs_of_a_host(const Root& root) {
  std::vector<std::string> signs;
  const auto name = root.read("proc/1/comm");
  if (name && (trim(*name) == "systemd" || trim(*name) == "init"))
    signs.push_back("PID 1 is " + std::string(trim(*name)));
  // The number the kernel gives the first PID namespace (include/linux/proc_ns.h).
  constexpr std::string_view k_first_pid_namespace = "pid:[4026531836]";
  const auto pid_namespace = root.read_link("proc/self/ns/pid");
  if (pid_namespace && *pid_namespace == k_first_pid_namespace)
    signs.emplace_back("processes are seen from the host's PID namespace");
  return signs.empty() ? "" : "; " + join(signs, ", ");
}

}  // namespace

Container read_container(const Root& root) {
  Container container;
  container.runtime = unknown("no container marker names one");
  container.image = unknown("neither the environment nor /run/.containerenv names an image");
  container.cuda_version = container.ngc_product = container.ngc_version =
      unknown("not looked for outside a container");
  container.inside = unknown("");

  if (root.exists(".dockerenv")) found_sign(container, "/.dockerenv exists", "docker");
  read_containerenv(root, container);
  const std::string cgroup_unread = read_cgroup(root, container);
  read_mounts(root, container);
  const auto first = root.read("proc/1/environ", k_environment_cap);
  if (first) read_first_environment(parse_environment(*first), container);

  if (!container.inside) {
    container.inside = unknown("no container marker found" + signs_of_a_host(root) +
                               (cgroup_unread.empty() ? "" : "; " + cgroup_unread) +
                               (first ? "" : "; the environment of PID 1 could not be read"));
    return container;
  }
  // PID 1 of another user keeps its environment to itself; this program's own came from the same image.
  const auto own = first ? first : root.read("proc/self/environ", k_environment_cap);
  if (own)
    read_image(parse_environment(*own), container);
  else
    container.cuda_version = container.ngc_product = container.ngc_version = unknown(own.error());
  return container;
}

}  // namespace sparkops::facts
