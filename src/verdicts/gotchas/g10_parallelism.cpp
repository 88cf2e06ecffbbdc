#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/text.h"
#include "facts/workload/parallelism.h"
#include "verdicts/gotchas/gotcha.h"
#include "verdicts/gotchas/link_trouble.h"
#include "verdicts/gotchas/workload_reading.h"

namespace sparkops::verdicts {

namespace {

using facts::is_unreadable;
using facts::LaunchRole;
using facts::Parallelism;

constexpr std::string_view k_id = "G10";

/// What one program does over the boxes.
struct Unit {
  enum class Purpose { training, inference, unknown };
  std::string name;
  Purpose purpose = Purpose::unknown;
  int tensor = 1;
  Known<int> nodes;  ///< as given, or derived: a Spark has one GPU
  Parallelism parallelism;
  std::vector<facts::Setting> settings;  ///< where link settings may stand
  bool is_launch = false;                ///< else: settings of a file that no launch names
  [[nodiscard]] bool crosses() const { return nodes.value_or(1) > 1; }
};

/// The last part of a path, to be shown.
std::string last_name(std::string_view path) {
  while (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
  const std::size_t slash = path.rfind('/');
  return printable(slash == std::string_view::npos ? path : path.substr(slash + 1), 120);
}

/// GPUs of one box: a Spark has one; on another machine as many as were found.
int gpus_per_node(const PreflightFacts& facts) {
  if (facts.judged == JudgedPlatform::gb10 || !facts.machine.gpus) return 1;
  return std::max<int>(1, static_cast<int>(facts.machine.gpus->gpus.size()));
}

/// Nodes as given; else those that the world needs when every box has `gpus` GPUs.
Known<int> nodes_of(const Parallelism& own, const Parallelism& whole, int tensor, int gpus) {
  if (own.nodes) return own.nodes;
  if (whole.nodes && *whole.nodes > 1) return whole.nodes;
  int world = tensor;
  for (const Known<int>* const size : {&own.pipeline, &own.data, &own.context, &own.world_size})
    world = std::max(world, size->value_or(1));
  if (world > gpus) return as_derived((world + gpus - 1) / gpus);
  if (is_unreadable(own.nodes)) return own.nodes;
  if (whole.nodes || is_unreadable(whole.nodes)) return whole.nodes;
  return as_default(1);
}

Unit unit_of(const std::string& name, Unit::Purpose purpose, const Parallelism& own, const Parallelism& whole,
             int gpus) {
  Unit unit;
  unit.name = name;
  unit.purpose = purpose;
  unit.parallelism = own;
  unit.tensor = own.tensor.value_or(1);
  unit.nodes = nodes_of(own, whole, unit.tensor, gpus);
  return unit;
}

bool is_above_one(const Known<int>& size) {
  return size.value_or(1) > 1;
}

/// Whether a figure or a flag tells how the work is divided. A tensor parallel size of 1 tells it too.
bool names_its_kind(const Parallelism& parallelism) {
  return !parallelism.data_parallel_kinds.empty() || parallelism.tensor || is_above_one(parallelism.pipeline) ||
         is_above_one(parallelism.data) || is_above_one(parallelism.context) || is_above_one(parallelism.expert);
}

/// A size that was given and could not be read, where the answer hangs on it.
std::optional<std::string> unreadable_size(const Unit& unit) {
  const bool is_said_to_be_one_box =
      unit.nodes && !unit.crosses() && unit.nodes.provenance().origin != Origin::default_value;
  if (is_said_to_be_one_box) return std::nullopt;
  const Parallelism& given = unit.parallelism;
  for (const Known<int>* const size : {&given.tensor, &given.tensor_of_generation})
    if (is_unreadable(*size)) return size->reason();
  if (unit.crosses()) return std::nullopt;
  for (const Known<int>* const size : {&unit.nodes, &given.pipeline, &given.data, &given.context, &given.world_size})
    if (is_unreadable(*size)) return size->reason();
  return std::nullopt;
}

/// A trainer that generates with an inference engine over several boxes is inference in that part.
void add_generation(const Unit& trainer, const Parallelism& whole, int gpus, std::vector<Unit>& units) {
  if (trainer.parallelism.tensor_of_generation.value_or(1) < 2) return;
  Parallelism generation;
  generation.tensor = trainer.parallelism.tensor_of_generation;
  generation.nodes = trainer.parallelism.nodes;
  Unit unit = unit_of(trainer.name + " (generation)", Unit::Purpose::inference, generation, whole, gpus);
  unit.settings = trainer.settings;
  units.push_back(std::move(unit));
}

std::vector<Unit> units_of(const facts::Workload& workload, int gpus) {
  std::vector<Unit> units;
  for (const facts::Launch& launch : workload.launches) {
    const Unit::Purpose purpose = launch.role == LaunchRole::trainer  ? Unit::Purpose::training
                                  : launch.role == LaunchRole::server ? Unit::Purpose::inference
                                                                      : Unit::Purpose::unknown;
    if (purpose == Unit::Purpose::unknown && launch.parallelism.evidence.empty()) continue;
    Unit unit = unit_of(printable(launch.name, 80), purpose, launch.parallelism, workload.parallelism, gpus);
    unit.settings = launch.environment;
    unit.settings.insert(unit.settings.end(), workload.settings.begin(), workload.settings.end());
    unit.is_launch = true;
    if (!names_its_kind(unit.parallelism))
      unit.parallelism.data_parallel_kinds = workload.parallelism.data_parallel_kinds;
    add_generation(unit, workload.parallelism, gpus, units);
    units.push_back(std::move(unit));
  }
  if (workload.settings.empty()) return units;
  const Parallelism& loose = workload.parallelism;
  // Loose settings beside launches: only what no launch already answers for.
  int largest = 0;
  for (const Unit& unit : units) largest = std::max(largest, unit.tensor);
  if (!units.empty() && largest >= loose.tensor.value_or(1) && !is_unreadable(loose.tensor)) return units;
  const Unit::Purpose purpose = workload.trains.value_or(false) ? Unit::Purpose::training : Unit::Purpose::unknown;
  Unit unit = unit_of(last_name(workload.name), purpose, loose, loose, gpus);
  unit.settings = workload.settings;
  add_generation(unit, loose, gpus, units);
  units.push_back(std::move(unit));
  return units;
}

std::string over_nodes(const Unit& unit) {
  if (!unit.nodes) return "over boxes whose number is set elsewhere";
  std::string text = fmt::format("over {} boxes", *unit.nodes);
  if (unit.nodes.provenance().origin == Origin::derived) text += " (a Spark has one GPU)";
  return text;
}

std::vector<LinkTrouble> link_trouble(const PreflightFacts& facts, const Unit& unit) {
  const bool visible = facts.judged == JudgedPlatform::this_machine && facts.machine.network_links;
  const facts::NetworkLinks* const links = visible ? &*facts.machine.network_links : nullptr;
  std::vector<LinkTrouble> troubles =
      link_trouble_of_settings(unit.settings, facts.knowledge.gb10().management_interface, links);
  if (links != nullptr)
    for (LinkTrouble& trouble : link_trouble_of_machine(*links)) troubles.push_back(std::move(trouble));
  return troubles;
}

/// Why the link of this machine may not be called in order.
std::optional<std::string> link_not_judged(const PreflightFacts& facts) {
  if (facts.judged != JudgedPlatform::this_machine) return std::nullopt;
  if (!facts.machine.network_links) return facts.machine.network_links.reason();
  const std::vector<std::string> gaps = link_gaps_of_machine(*facts.machine.network_links);
  if (gaps.empty()) return std::nullopt;
  constexpr std::size_t k_shown = 3;
  const std::vector<std::string> first(gaps.begin(),
                                       gaps.begin() + static_cast<std::ptrdiff_t>(std::min(gaps.size(), k_shown)));
  return join(first, "; ");
}

std::string clauses(const std::vector<LinkTrouble>& troubles) {
  std::vector<std::string> texts;
  for (const LinkTrouble& trouble : troubles) texts.push_back(trouble.clause);
  return join(texts, "; ");
}

void add_troubles(const std::vector<LinkTrouble>& troubles, Finding& finding) {
  for (const LinkTrouble& trouble : troubles) {
    finding.fixes.push_back(trouble.fix);
    finding.evidence.push_back(trouble.evidence);
  }
}

Finding verdict(Status status, std::string headline) {
  Finding finding;
  finding.id = k_id;
  finding.status = status;
  finding.headline = std::move(headline);
  finding.where = Where::workload;
  return finding;
}

/// Tensor parallelism in training sends activations over the link twice a layer, forward and backward.
Finding tensor_training(const Unit& unit) {
  Finding finding =
      verdict(Status::fail, fmt::format("{} trains with tensor parallel size {} {}: every layer waits for "
                                        "the link between the boxes",
                                        unit.name, unit.tensor, over_nodes(unit)));
  Fix fix;
  fix.instruction =
      "set the tensor parallel size to 1 and use FSDP, ZeRO or DDP over the boxes (pipeline parallelism "
      "works too); tensor parallelism stays inside one box";
  fix.verify = "sparkops preflight --only G10";
  finding.fixes.push_back(std::move(fix));
  finding.evidence.push_back(
      {"no public report shows tensor-parallel training over two Sparks working at a useful "
       "speed; DDP was measured at 1.9 to 2.05 times one box, pipeline at 1.8 to 1.96",
       {Origin::knowledge, "2026-11-30"}});
  return finding;
}

Finding tensor_inference(const PreflightFacts& facts, const Unit& unit) {
  const std::vector<LinkTrouble> troubles = link_trouble(facts, unit);
  const std::string what =
      unit.purpose == Unit::Purpose::inference
          ? fmt::format("{} serves with tensor parallel size {} {}", unit.name, unit.tensor, over_nodes(unit))
          : fmt::format("{}: tensor parallel size {} {}", unit.name, unit.tensor, over_nodes(unit));
  Finding finding;
  if (!troubles.empty()) {
    finding = verdict(Status::warn, what + ", and the link is in trouble: " + clauses(troubles));
  } else if (unit.purpose == Unit::Purpose::unknown) {
    finding = verdict(Status::warn, what +
                                        ", and nothing says whether it trains: common for inference, for training "
                                        "the link is too thin");
  } else if (const auto unjudged = link_not_judged(facts)) {
    finding = skipped(k_id, what + "; link not judged: " + *unjudged);
  } else {
    const bool visible = facts.judged == JudgedPlatform::this_machine;
    finding = verdict(Status::pass, what + (visible ? " over a link in order" : "; the link is not visible from here") +
                                        ": common practice, two all-reduces for each layer and token cross it");
  }
  add_troubles(troubles, finding);
  finding.evidence.push_back(
      {"two boxes were measured at 1.14 to 2.1 times one for tensor-parallel decoding; a slow box "
       "drags both, and a model that fits one box gains 1.3 to 1.5",
       {Origin::knowledge, facts.knowledge.gb10().last_verified}});
  return finding;
}

std::string kind_of(const Unit& unit) {
  std::vector<std::string> kinds = unit.parallelism.data_parallel_kinds;
  if (unit.parallelism.pipeline.value_or(1) > 1) kinds.push_back("pipeline");
  return kinds.empty() ? "without tensor parallelism" : join(kinds, ", ");
}

/// Data and pipeline parallelism pass over a link in order: trouble costs time there too.
Finding other_over_nodes(const PreflightFacts& facts, const Unit& unit) {
  const std::vector<LinkTrouble> troubles = link_trouble(facts, unit);
  const std::string what = fmt::format("{} runs {} {}", unit.name, kind_of(unit), over_nodes(unit));
  Finding finding = troubles.empty() ? verdict(Status::pass, what + ": what the link is good for")
                                     : verdict(Status::warn, what + ", slower than need be: " + clauses(troubles));
  if (const auto unjudged = link_not_judged(facts); unjudged && troubles.empty())
    finding.headline += " (link not judged: " + *unjudged + ")";
  add_troubles(troubles, finding);
  return finding;
}

/// Nothing that was read tells how the work is divided over the boxes: the script itself is not read.
Finding kind_unknown(const PreflightFacts& facts, const Unit& unit) {
  const std::string boxes =
      unit.nodes ? fmt::format("{} boxes", *unit.nodes) : std::string("boxes whose number is set elsewhere");
  const std::string why =
      unit.is_launch
          ? fmt::format("{}; the kind of parallelism is not on the command line, and {} is not read by this version",
                        boxes, unit.name)
          : fmt::format("{}; {} does not name the kind of parallelism", boxes, unit.name);
  const std::vector<LinkTrouble> troubles = link_trouble(facts, unit);
  Finding finding = troubles.empty()
                        ? skipped(k_id, why)
                        : verdict(Status::warn, why + "; and the link is in trouble: " + clauses(troubles));
  finding.where = Where::workload;
  add_troubles(troubles, finding);
  Fix fix;
  fix.instruction = fmt::format(
      "look in {} for parallelize_module, ColwiseParallel, a device mesh with \"tp\", or a tensor parallel size above "
      "1: tensor parallel training must stay on one box; DDP, FSDP, ZeRO and pipeline may cross the link",
      unit.name);
  finding.fixes.push_back(std::move(fix));
  return finding;
}

Finding one_node(const Unit& unit, int gpus) {
  Finding finding = verdict(Status::pass, unit.name + ": one box, nothing crosses the link");
  if (unit.tensor > gpus)
    finding.headline += fmt::format(" (but tensor parallel size {} needs {} GPUs in that box, a Spark has one)",
                                    unit.tensor, unit.tensor);
  return finding;
}

/// The sizes as they are written.
Finding add_sizes(const Unit& unit, Finding finding) {
  for (const facts::Setting& setting : unit.parallelism.evidence)
    finding.evidence.push_back(
        {fmt::format("{} = {} ({})", setting.key, printable(setting.value, 80), setting.where), {Origin::read, {}}});
  return finding;
}

Finding judge(const PreflightFacts& facts, const Unit& unit, int gpus) {
  const bool may_cross = !unit.nodes || unit.crosses();
  const std::optional<std::string> unreadable = unreadable_size(unit);
  if (unreadable && is_unreadable(unit.parallelism.tensor)) return add_sizes(unit, skipped(k_id, *unreadable));
  Finding finding;
  if (!may_cross)
    finding = one_node(unit, gpus);
  else if (unit.tensor > 1)
    finding = unit.purpose == Unit::Purpose::training ? tensor_training(unit) : tensor_inference(facts, unit);
  else if (unit.purpose != Unit::Purpose::inference && !names_its_kind(unit.parallelism))
    finding = kind_unknown(facts, unit);
  else
    finding = other_over_nodes(facts, unit);
  const bool hangs_on_it = finding.status == Status::pass || finding.status == Status::skip;
  if (unreadable && hangs_on_it) finding = skipped(k_id, *unreadable);
  return add_sizes(unit, std::move(finding));
}

/// A command that is not known, or one whose files were not found.
Finding nothing_to_judge(const facts::Workload& workload) {
  const auto unknown_one = unknown_program(workload);
  if (!unknown_one) return not_applicable(k_id, "the workload starts nothing that runs on GPUs");
  if (workload.files.empty() && !workload.not_understood.empty())
    return skipped(k_id, printable(workload.not_understood.front(), 200));
  return not_applicable(k_id, *unknown_one + ": nothing in it names several boxes");
}

int badness(Status status) {
  switch (status) {
    case Status::fail: return 4;
    case Status::warn: return 3;
    case Status::skip: return 2;
    case Status::pass: return 1;
    case Status::info: return 0;
  }
  return 0;
}

}  // namespace

Finding check_g10_parallelism(const PreflightFacts& facts) {
  if (facts.workload == nullptr) return not_applicable(k_id, "no workload was named");
  const int gpus = gpus_per_node(facts);
  std::optional<Finding> worst;
  for (const Unit& unit : units_of(*facts.workload, gpus)) {
    Finding finding = judge(facts, unit, gpus);
    // Of equally bad ones the one that crosses boxes says more than the one that does not.
    const bool worse = !worst || badness(finding.status) > badness(worst->status) ||
                       (finding.status == worst->status && unit.crosses() && contains(worst->headline, "one box"));
    if (worse) worst = std::move(finding);
  }
  Finding finding = worst ? *worst : nothing_to_judge(*facts.workload);
  for (Evidence& evidence : reading_evidence(*facts.workload)) finding.evidence.push_back(std::move(evidence));
  return finding;
}

}  // namespace sparkops::verdicts
