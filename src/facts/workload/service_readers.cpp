#include "facts/workload/service_readers.h"

#include <algorithm>

#include "base/text.h"
#include "facts/workload/config_readers.h"
#include "facts/workload/parallelism.h"

namespace sparkops::facts {

namespace {

std::string place(const std::string& file, const ConfigValue& value) {
  return value.line > 0 ? file + ":" + std::to_string(value.line) : file;
}

/// A command as a text or as a list of words.
std::vector<std::string> command_words(const ConfigValue* value, const ShellVariables& variables) {
  if (value == nullptr) return {};
  if (value->kind == ConfigValue::Kind::scalar) return split_command(interpolate(value->scalar, variables));
  std::vector<std::string> words;
  for (const ConfigValue& item : value->items) words.push_back(interpolate(item.text(), variables));
  if (words.size() == 1 && words.front().find(' ') != std::string::npos) return split_command(words.front());
  return words;
}

/// `environment` as a map, or as a list of NAME=value.
void append_environment(const ConfigValue* value, const std::string& file, const ShellVariables& variables,
                        std::vector<Setting>& environment) {
  if (value == nullptr) return;
  for (const ConfigMember& member : value->members)
    environment.push_back({member.key, interpolate(member.value.text(), variables), place(file, member.value)});
  for (const ConfigValue& item : value->items) {
    const std::string text = interpolate(item.text(), variables);
    const std::size_t equals = text.find('=');
    if (equals != std::string::npos)
      environment.push_back({text.substr(0, equals), text.substr(equals + 1), place(file, item)});
  }
}

void append_texts(const ConfigValue* value, std::vector<std::string>& texts) {
  if (value == nullptr) return;
  if (value->kind == ConfigValue::Kind::scalar) texts.push_back(value->scalar);
  for (const ConfigValue& item : value->items) {
    const ConfigValue* const path = item.find("path");  // the long form of env_file
    texts.push_back(path != nullptr ? path->text() : item.text());
  }
}

void append_limit(const ConfigValue* value, const std::string& name, const std::string& file,
                  std::vector<Setting>& limits) {
  if (value != nullptr && value->kind == ConfigValue::Kind::scalar)
    limits.push_back({name, value->scalar, place(file, *value)});
}

const ConfigValue* find_path(const ConfigValue& value, std::initializer_list<std::string_view> path) {
  const ConfigValue* at = &value;
  for (const std::string_view key : path) {
    at = at->find(key);
    if (at == nullptr) return nullptr;
  }
  return at;
}

/// Copies of a service beyond these change no verdict.
constexpr std::int64_t k_max_replicas = 8;

std::int64_t replicas_of(const ConfigValue& service) {
  const ConfigValue* replicas = find_path(service, {"deploy", "replicas"});
  if (replicas == nullptr) replicas = service.find("scale");
  const auto number = replicas == nullptr ? std::nullopt : parse_integer(replicas->text());
  return std::clamp<std::int64_t>(number.value_or(1), 0, k_max_replicas);
}

void append_service(const ConfigMember& service, const std::string& file, const ShellVariables& variables,
                    const ConfigLookup& lookup, std::vector<Launch>& launches) {
  const ConfigValue& body = service.value;
  PlainCommand command;
  command.words = command_words(body.find("entrypoint"), variables);
  const std::vector<std::string> arguments = command_words(body.find("command"), variables);
  command.words.insert(command.words.end(), arguments.begin(), arguments.end());
  command.image = unknown("service " + service.key + " names no image");
  if (const ConfigValue* const image = body.find("image"); image != nullptr)
    command.image = as_read(interpolate(image->text(), variables));
  append_texts(body.find("env_file"), command.environment_files);
  append_environment(body.find("environment"), file, variables, command.environment);
  append_limit(body.find("mem_limit"), "mem_limit", file, command.container_limits);
  append_limit(find_path(body, {"deploy", "resources", "limits", "memory"}), "deploy.resources.limits.memory", file,
               command.container_limits);
  std::vector<std::string> profiles;
  append_texts(body.find("profiles"), profiles);
  for (std::int64_t copy = 0; copy < replicas_of(body); ++copy) {
    for (Launch& launch : read_launches(command, {service.key, place(file, body), lookup})) {
      launch.profiles = profiles;
      launches.push_back(std::move(launch));
    }
  }
}

/// Calls `visit` for every map at or below `value`.
template <class Visit>
void for_each_map(const ConfigValue& value, const Visit& visit) {
  if (value.kind == ConfigValue::Kind::map) visit(value);
  for (const ConfigValue& item : value.items) for_each_map(item, visit);
  for (const ConfigMember& member : value.members) for_each_map(member.value, visit);
}

void append_container(const ConfigValue& container, const std::string& file, const ConfigLookup& lookup,
                      std::vector<Launch>& launches) {
  PlainCommand command;
  command.words = command_words(container.find("command"), {});
  const std::vector<std::string> arguments = command_words(container.find("args"), {});
  command.words.insert(command.words.end(), arguments.begin(), arguments.end());
  const ConfigValue* const name = container.find("name");
  const ConfigValue* const image = container.find("image");
  command.image = unknown("the container names no image");
  if (image != nullptr) command.image = as_read(image->text());
  if (const ConfigValue* const variables = container.find("env"); variables != nullptr) {
    for (const ConfigValue& variable : variables->items) {
      const ConfigValue* const key = variable.find("name");
      const ConfigValue* const text = variable.find("value");
      if (key != nullptr && text != nullptr)
        command.environment.push_back({key->text(), text->text(), place(file, variable)});
    }
  }
  append_limit(find_path(container, {"resources", "limits", "memory"}), "resources.limits.memory", file,
               command.container_limits);
  for (Launch& launch : read_launches(command, {name == nullptr ? "" : name->text(), place(file, container), lookup}))
    launches.push_back(std::move(launch));
}

/// Nodes of a PyTorchJob or MPIJob: the replicas of all its roles.
Known<int> job_nodes(const ConfigValue& document) {
  std::int64_t nodes = 0;
  for (const std::string_view key : {"pytorchReplicaSpecs", "mpiReplicaSpecs"}) {
    const ConfigValue* const roles = find_path(document, {"spec", key});
    if (roles == nullptr) continue;
    for (const ConfigMember& role : roles->members) {
      const ConfigValue* const replicas = role.value.find("replicas");
      if (key == "mpiReplicaSpecs" && role.key == "Launcher") continue;
      const std::int64_t count = replicas == nullptr ? 1 : parse_integer(replicas->text()).value_or(1);
      nodes += std::clamp<std::int64_t>(count, 0, 1'000);
    }
  }
  if (nodes == 0) return unknown("the object lists no replicas by role");
  return as_derived(static_cast<int>(nodes));
}

void take_larger(Known<int>& into, int number) {
  if (!into || *into < number) into = as_read(number);
}

void find_sharing(const ConfigValue& document, int depth, Known<int>& replicas) {
  for_each_map(document, [&](const ConfigValue& map) {
    const ConfigValue* const sharing = map.find("sharing");
    if (sharing == nullptr) return;
    for (const std::string_view kind : {"timeSlicing", "mps"}) {
      const ConfigValue* const resources = find_path(*sharing, {kind, "resources"});
      if (resources == nullptr) continue;
      for (const ConfigValue& resource : resources->items)
        if (const ConfigValue* const count = resource.find("replicas"); count != nullptr)
          if (const auto number = parse_integer(count->text()); number && *number > 0 && *number < 100'000)
            take_larger(replicas, static_cast<int>(*number));
    }
  });
  if (depth == 0) return;
  // Documents inside texts: the data of a ConfigMap, the config.map of Helm values.
  std::vector<Setting> texts;
  append_settings(document, "", texts);
  for (const Setting& text : texts) {
    if (!contains(text.value, "sharing")) continue;
    if (const auto inner = parse_yaml(text.value))
      for (const ConfigValue& value : *inner)
        if (value.kind == ConfigValue::Kind::map) find_sharing(value, depth - 1, replicas);
  }
}

}  // namespace

bool is_compose(const ConfigValue& document) {
  const ConfigValue* const services = document.find("services");
  if (services == nullptr || services->kind != ConfigValue::Kind::map) return false;
  return std::any_of(services->members.begin(), services->members.end(),
                     [](const ConfigMember& service) { return service.value.kind == ConfigValue::Kind::map; });
}

std::vector<std::string> misshapen_services(const ConfigValue& document) {
  const ConfigValue* const services = document.find("services");
  if (services == nullptr || is_kubernetes(document)) return {};
  const auto at = [](const ConfigValue& value) {
    return value.line > 0 ? "line " + std::to_string(value.line) + ": " : std::string();
  };
  if (services->kind != ConfigValue::Kind::map) return {at(*services) + "services is no map of services"};
  std::vector<std::string> reasons;
  for (const ConfigMember& service : services->members)
    if (service.value.kind != ConfigValue::Kind::map)
      reasons.push_back(at(service.value) + "service " + service.key + " is no map");
  return reasons;
}

std::vector<Launch> read_compose(const ConfigValue& document, const std::string& file, const ShellVariables& variables,
                                 const ConfigLookup& lookup) {
  std::vector<Launch> launches;
  for (const ConfigMember& service : document.find("services")->members)
    append_service(service, file, variables, lookup, launches);
  return launches;
}

bool is_kubernetes(const ConfigValue& document) {
  return document.find("apiVersion") != nullptr && document.find("kind") != nullptr;
}

std::vector<Launch> read_kubernetes(const ConfigValue& document, const std::string& file, const ConfigLookup& lookup) {
  std::vector<Launch> launches;
  for_each_map(document, [&](const ConfigValue& map) {
    const ConfigValue* const containers = map.find("containers");
    if (containers == nullptr) return;
    for (const ConfigValue& container : containers->items) append_container(container, file, lookup, launches);
  });
  const Known<int> nodes = job_nodes(document);
  for (Launch& launch : launches)
    if (nodes && (!launch.parallelism.nodes || *launch.parallelism.nodes < *nodes)) launch.parallelism.nodes = nodes;
  return launches;
}

Known<int> read_gpu_sharing(const ConfigValue& document) {
  constexpr int k_nested_documents = 2;
  Known<int> replicas = unknown("no sharing of the GPU is configured");
  find_sharing(document, k_nested_documents, replicas);
  return replicas;
}

}  // namespace sparkops::facts
