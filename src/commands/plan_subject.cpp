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

/// A relative path in a configuration means the directory of the run; where nothing lies there it is a name.
std::string model_name(const Arguments& arguments, const facts::WorkloadConfig& workload) {
  if (arguments.has("--model")) return arguments.value("--model");
  if (!arguments.positionals.empty()) return arguments.positionals.front();
  for (const facts::TrainingConfig& training : workload.trainings)
    if (training.model) return *training.model;
  for (const facts::ServerConfig& server : workload.servers)
    if (server.model) return *server.model;
  return "";
}

/// What nobody here understood, one line each: never guessed, never silent.
void list_unread(PlanSubject& subject) {
  constexpr std::size_t k_most = 20;
  std::vector<std::string> lines = subject.workload.not_understood;
  const auto add = [&](const std::vector<facts::Setting>& settings) {
    for (const facts::Setting& setting : settings)
      lines.push_back(setting.where + ": " + setting.key + " = " + setting.value);
  };
  for (const facts::TrainingConfig& training : subject.workload.trainings) {
    add(training.unknown_keys);
    lines.insert(lines.end(), training.not_read.begin(), training.not_read.end());
  }
  for (const facts::ServerConfig& server : subject.workload.servers) add(server.unknown_keys);
  const std::size_t all = lines.size();
  if (all > k_most) {
    lines.resize(k_most);
    lines.push_back("and " + std::to_string(all - k_most) + " more");
  }
  subject.unread = std::move(lines);
}

Result<void> read_plan_workload(const Arguments& arguments, PlanSubject& subject) {
  if (arguments.has("--workload") && !arguments.command.empty())
    return failure(ErrorKind::usage, "--workload and -- CMD both name the work: give one of them");
  if (arguments.has("--workload")) {
    auto workload = facts::read_workload_config(arguments.value("--workload"));
    if (!workload) return failure(ErrorKind::usage, "--workload: " + workload.error().message);
    subject.workload = std::move(*workload);
  } else if (!arguments.command.empty()) {
    subject.workload = facts::read_command_config(arguments.command);
  } else {
    return {};
  }
  if (subject.workload.trainings.empty() && subject.workload.servers.empty())
    return failure(ErrorKind::usage,
                   "no trainer and no server was found in the work that was named: say it with options "
                   "(sparkops plan --help)");
  list_unread(subject);
  return {};
}

/// The longest sample decides the peak; a shorter --sequence cuts it.
Result<void> read_lengths(const Arguments& arguments, PlanSubject& subject) {
  if (!arguments.has("--dataset")) return {};
  auto summary = facts::read_dataset(Root::live(), arguments.value("--dataset"));
  if (!summary) return failure(ErrorKind::usage, "--dataset: " + summary.error().message);
  if (!summary->tokens)
    return failure(ErrorKind::usage,
                   "--dataset: the lengths of its samples are unknown (" + summary->tokens.reason() + ")");
  subject.dataset = std::move(*summary);
  return {};
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
  if (const auto read = read_plan_workload(arguments, subject); !read) return tl::unexpected(read.error());
  if (const auto read = read_lengths(arguments, subject); !read) return tl::unexpected(read.error());
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
  if (shape->parameters <= 0)
    return failure(ErrorKind::usage,
                   printable(subject.model->name, 120) +
                       ": holds no weights that could be counted; sparkops inspect shows what it has");
  subject.shape = *shape;
  return subject;
}

Known<verdicts::Footprint> footprint_of_work(const Arguments& arguments, const knowledge::Tables& tables,
                                             double pool_bytes) {
  Arguments work;
  work.command = arguments.command;
  if (arguments.has("--workload")) work.options["--workload"] = arguments.values("--workload");
  const auto subject = read_plan_subject(work, tables);
  if (!subject) return unknown(subject.error());
  const std::size_t programs = subject->workload.trainings.size() + subject->workload.servers.size();
  if (programs > 1)
    return unknown("the work starts " + std::to_string(programs) + " programs; sparkops plan judges one");
  verdicts::RunSources sources = subject->sources();
  sources.pool_bytes = pool_bytes;
  const auto run = verdicts::resolve_run(sources);
  if (!run) return unknown(run.error());
  verdicts::Footprint footprint = verdicts::compute_footprint(*run);
  if (!verdicts::is_usable(footprint.system)) return unknown("the widths of its model multiply to no size of memory");
  return as_derived(std::move(footprint));
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
