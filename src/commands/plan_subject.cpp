#include "commands/plan_subject.h"

#include "base/text.h"
#include "commands/plan_options.h"
#include "facts/workload/architecture_text.h"
#include "verdicts/memory/known_model.h"
#include "verdicts/memory/tenants.h"
#include "verdicts/platform.h"

namespace sparkops::commands {

namespace {

bool names_a_path(const std::string& text) {
  return text.starts_with('/') || text.starts_with('.') || text.starts_with('~') || text.ends_with(".json") ||
         text.ends_with(".safetensors") || text.ends_with(".gguf");
}

/// Files and the cache first: what lies on this machine is exact. A name that lies nowhere may be known.
Result<facts::Model> model_by_name(const std::string& name, const knowledge::Tables& tables) {
  auto found = facts::find_model(name);
  if (found) return found;
  const bool missing = found.error().kind == ErrorKind::not_found;
  if (names_a_path(name) || !missing) return failure(ErrorKind::usage, "--model: " + found.error().message);
  auto known = verdicts::known_model(tables, name);
  if (!known) return failure(ErrorKind::usage, "--model: " + known.error().message);
  return known;
}

Result<facts::Model> model_by_widths(const Arguments& arguments) {
  const auto architecture = facts::parse_architecture(arguments.value("--arch"));
  if (!architecture) return tl::unexpected(architecture.error());
  facts::Model model;
  model.name = "--arch";
  model.architecture = as_read(facts::Architecture(*architecture));
  model.parameters = unknown("counted from the widths");
  if (arguments.has("--params")) {
    const auto count = parse_parameter_count(arguments.value("--params"));
    if (!count) return tl::unexpected(count.error());
    model.parameters = as_read(static_cast<std::int64_t>(*count));
  }
  return model;
}

std::string model_name(const Arguments& arguments, const facts::WorkloadConfig& workload) {
  if (arguments.has("--model")) return arguments.value("--model");
  if (!arguments.positionals.empty()) return arguments.positionals.front();
  for (const facts::TrainingConfig& training : workload.trainings)
    if (training.model) return *training.model;
  for (const facts::ServerConfig& server : workload.servers)
    if (server.model) return *server.model;
  return "";
}

}  // namespace

PlanMachine read_plan_machine(const Root& root, bool with_tenants) {
  PlanMachine machine{.root = root, .machine = {}, .memory = {}, .is_gb10 = false};
  if (with_tenants) {
    machine.machine = facts::read_machine(root);
  } else {
    machine.machine.identity = as_read(facts::read_identity(root));
    machine.machine.memory = as_read(facts::read_memory(root));
  }
  if (machine.machine.memory) machine.memory = *machine.machine.memory;
  machine.is_gb10 = verdicts::judge_platform(machine.machine).is_gb10 == verdicts::IsGb10::yes;
  return machine;
}

verdicts::RunSources PlanSubject::sources() const {
  verdicts::RunSources sources;
  sources.model = shape;
  if (model) sources.read_model = &*model;
  if (!workload.trainings.empty()) sources.training = &workload.trainings.front();
  if (!workload.servers.empty()) sources.server = &workload.servers.front();
  return sources;
}

Result<PlanSubject> read_plan_subject(const Arguments& arguments, const knowledge::Tables& tables) {
  PlanSubject subject;
  const std::string name = model_name(arguments, subject.workload);
  if (!name.empty() && arguments.has("--arch"))
    return failure(ErrorKind::usage, "--model and --arch both name the model: give one of them");
  if (!name.empty()) {
    auto model = model_by_name(name, tables);
    if (!model) return tl::unexpected(model.error());
    subject.model = std::move(*model);
  } else if (arguments.has("--arch")) {
    auto model = model_by_widths(arguments);
    if (!model) return tl::unexpected(model.error());
    subject.model = std::move(*model);
  } else if (arguments.has("--params")) {
    const auto count = parse_parameter_count(arguments.value("--params"));
    if (!count) return tl::unexpected(count.error());
    subject.shape = verdicts::shape_of_parameters(*count);
    return subject;
  } else {
    return failure(ErrorKind::usage,
                   "no model was named: sparkops plan NAME|DIR|FILE, or --params 8e9 (sparkops plan --help)");
  }
  auto shape = verdicts::shape_of_model(*subject.model);
  if (!shape) return failure(ErrorKind::usage, printable(subject.model->name, 120) + ": " + shape.reason());
  subject.shape = *shape;
  return subject;
}

Result<verdicts::Tenant> read_tenant(const std::string& text, const PlanMachine& machine,
                                     const knowledge::Tables& tables) {
  const verdicts::RunningTenants running = verdicts::tenants_of_machine(machine.machine, tables);
  const std::string wanted = trim(text).empty() ? "?" : std::string(trim(text));
  for (const verdicts::Tenant& tenant : running.tenants)
    if (contains(tenant.name, "pid " + wanted + ")") ||
        (wanted.size() > 2 && contains_ignoring_case(tenant.name, wanted)))
      return tenant;
  std::vector<std::string> words;
  for (const std::string_view word : split_words(text)) words.emplace_back(word);
  if (!words.empty() && !parse_integer(words.front())) {
    const facts::Workload workload = facts::read_command(words);
    const std::vector<verdicts::Tenant> tenants = verdicts::tenants_of_workload(workload, tables);
    if (!tenants.empty()) return tenants.front();
  }
  std::vector<std::string> names;
  for (const verdicts::Tenant& tenant : running.tenants) names.push_back(tenant.name);
  return failure(ErrorKind::usage,
                 "--beside: '" + printable(text, 80) + "' is nobody who holds the GPU here" +
                     (names.empty() ? std::string(" (nobody does)") : " (" + join(names, ", ") + " do)") +
                     " and no server's command");
}

}  // namespace sparkops::commands
