#include "verdicts/memory/plan.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "base/text.h"
#include "commands/command.h"
#include "commands/output.h"
#include "commands/plan_options.h"
#include "commands/plan_subject.h"
#include "commands/reading.h"
#include "knowledge/tables.h"
#include "views/plan_json.h"
#include "views/plan_text.h"

namespace sparkops::commands {

namespace {

constexpr std::size_t k_anchors_shown = 3;

/// Which machine's pool is judged: this one when it is a GB10 or asked for, else an idle GB10 from knowledge.
struct Pool {
  verdicts::Budget budget;
  std::string of;
};

Result<Pool> pool_of(const Arguments& arguments, const PlanMachine& machine, const knowledge::Tables& tables) {
  const auto reserve = size_option(arguments, "--reserve", verdicts::k_default_reserve);
  if (!reserve) return tl::unexpected(reserve.error());
  if (reserve->value < 0) return failure(ErrorKind::usage, "--reserve: a size that is not negative");
  const std::string platform = arguments.value("--platform");
  if (!platform.empty() && platform != "gb10" && platform != "this")
    return failure(ErrorKind::usage, "--platform: gb10 or this");
  const bool this_machine = platform.empty() ? arguments.has("--root") || machine.is_gb10 : platform == "this";
  if (!this_machine)
    return Pool{verdicts::budget_of_platform(tables.gb10().pool, tables.gb10().last_verified, *reserve),
                tables.gb10().name + ", idle"};
  const auto swap = arguments.has("--with-swap") ? verdicts::CountSwap::yes : verdicts::CountSwap::no;
  return Pool{verdicts::memory_budget(machine.memory.info, *reserve, swap),
              arguments.has("--root") ? machine.root.name() : "this machine"};
}

/// The longest sample decides the peak: an unpacked run is as long as it, at most as long as --sequence cuts it.
/// Estimated tokens may be a third off to both sides.
void apply_lengths(const facts::DatasetSummary& dataset, verdicts::RunOverrides& overrides) {
  constexpr double k_tokenizer_spread = 1.0 / 3;
  const double longest = static_cast<double>(dataset.tokens->longest);
  const bool exact = dataset.tokens.provenance().origin == Origin::read;
  verdicts::Estimate length =
      exact ? verdicts::exactly(longest) : verdicts::about(longest, k_tokenizer_spread, k_tokenizer_spread);
  if (overrides.sequence) {
    const double cut = overrides.sequence->high;
    length = {std::min(length.low, cut), std::min(length.value, cut), std::min(length.high, cut)};
  }
  overrides.sequence = length;
}

std::vector<std::string> dataset_lines(const facts::DatasetSummary& dataset) {
  const facts::LengthSummary& tokens = *dataset.tokens;
  std::vector<std::string> lines{
      fmt::format("{} samples, tokens {}: median {}, 99 % {}, longest {} (line {})", dataset.samples,
                  dataset.tokens.provenance().origin == Origin::read ? "as stored" : "estimated", tokens.median,
                  tokens.p99, tokens.longest, dataset.longest_line)};
  if (dataset.bad_lines > 0)
    lines.push_back(fmt::format("{} bad lines, the first: {}", dataset.bad_lines, dataset.first_bad_line));
  return lines;
}

Result<verdicts::Plan> make_plan(const Arguments& arguments, const knowledge::Tables& tables,
                                 const PlanMachine& machine) {
  const auto overrides = parse_run_overrides(arguments);
  if (!overrides) return tl::unexpected(overrides.error());
  const auto pool = pool_of(arguments, machine, tables);
  if (!pool) return tl::unexpected(pool.error());
  const auto subject = read_plan_subject(arguments, tables);
  if (!subject) return tl::unexpected(subject.error());
  verdicts::RunSources sources = subject->sources();
  sources.overrides = *overrides;
  if (subject->dataset) apply_lengths(*subject->dataset, sources.overrides);
  sources.pool_bytes = pool->budget.total ? static_cast<double>(pool->budget.total->value)
                                          : static_cast<double>(tables.gb10().pool.value);
  const auto run = verdicts::resolve_run(sources);
  if (!run) return tl::unexpected(run.error());
  verdicts::Plan plan;
  plan.run = *run;
  plan.unread = subject->unread;
  if (subject->dataset) plan.dataset = dataset_lines(*subject->dataset);
  plan.budget = pool->budget;
  plan.budget_of = pool->of;
  plan.footprint = verdicts::compute_footprint(plan.run);
  if (!verdicts::is_usable(plan.footprint.system))
    return failure(ErrorKind::usage, "the widths of this model multiply to no size that memory has");
  plan.verdict = verdicts::judge_fit(plan.footprint.system, plan.budget);
  plan.anchors =
      verdicts::nearest_anchors(plan.run, tables.anchors_of(verdicts::to_string(plan.run.method)), k_anchors_shown);
  plan.floor = verdicts::time_floor(plan.run, plan.footprint);
  plan.ladder = verdicts::ladder_gains(plan.run, plan.footprint, plan.budget);
  if (arguments.has("--fit")) plan.search = verdicts::search_fit(plan.run, plan.budget);
  if (arguments.has("--compare")) plan.methods = verdicts::compare_methods(plan.run, plan.budget);
  if (arguments.has("--beside")) {
    const auto tenant = read_tenant(arguments.value("--beside"), machine, tables);
    if (!tenant) return tl::unexpected(tenant.error());
    plan.beside = verdicts::room_beside(plan.footprint, plan.budget, *tenant);
  }
  plan.next_step = verdicts::next_step(plan);
  return plan;
}

ExitCode code_of(verdicts::FitAnswer answer, bool strict) {
  switch (answer) {
    case verdicts::FitAnswer::does_not_fit: return ExitCode::answer_is_no;
    case verdicts::FitAnswer::tight:
    case verdicts::FitAnswer::fits_after_flush: return strict ? ExitCode::answer_is_no : ExitCode::done;
    case verdicts::FitAnswer::fits: return ExitCode::done;
    case verdicts::FitAnswer::unknown: return ExitCode::could_not_find_out;
  }
  return ExitCode::could_not_find_out;
}

ExitCode run_plan_command(const Arguments& arguments) {
  const auto root = root_from(arguments);
  if (!root) return report_error(root.error());
  const knowledge::Tables tables;
  const PlanMachine machine = read_plan_machine(*root, arguments.has("--beside"));
  const auto plan = make_plan(arguments, tables, machine);
  for (const std::string& problem : tables.problems()) fail_with(ExitCode::done, problem);
  if (!plan) return report_error(plan.error());
  views::PlanDetail detail;
  detail.explain = arguments.has("--explain");
  detail.verbose = arguments.has("--verbose");
  const ExitCode output = write_output(
      arguments.has("--json") ? views::plan_json(*plan, root->name())
                              : views::plan_text(*plan, detail, views::style_for_descriptor(STDOUT_FILENO)));
  if (output != ExitCode::done) return output;
  return code_of(plan->verdict.answer, arguments.has("--strict"));
}

std::vector<OptionSpec> plan_options() {
  using enum OptionSpec::Takes;
  std::vector<OptionSpec> options{
      {"--model", "NAME|DIR|FILE", "a known name, a model's directory, a config.json, *.safetensors or *.gguf", value,
       false},
      {"--params", "COUNT", "parameters (8e9, 8B) when nothing else is known; beside --arch: the exact count", value,
       false},
      {"--arch", "WIDTHS", "L=32,h=4096,nh=32,nkv=8,d=128,i=14336,V=128256,tied=no", value, false},
      {"--workload", "FILE|DIR",
       "configuration, compose file, recipe, script or notebook (read, never run); or the command after --", value,
       false},
      {"--dataset", "FILE.jsonl", "lengths of the samples: the longest decides the peak", value, false},
      {"--fit", "", "the largest packing, batch and rank that fit, and a table", nothing, false},
      {"--compare", "", "full fine-tune, bf16 LoRA, QLoRA and NVFP4 LoRA side by side", nothing, false},
      {"--beside", "PID|NAME|CMD", "the largest cap for this tenant that leaves the run its peak", value, false},
      {"--explain", "", "every formula with its numbers", nothing, false},
      {"--platform", "gb10|this", "judge for an idle GB10 or for this machine", value, false},
      {"--reserve", "SIZE", "kept for the system (default 6 GiB)", value, false},
      {"--with-swap", "", "count free swap (a swapped working set is 20 times slower)", nothing, false},
      {"--strict", "", "exit 1 also when it is tight or fits only after a flush", nothing, false},
  };
  for (OptionSpec& option : plan_run_options()) options.push_back(option);
  options.insert(options.end(), {k_root_option, k_json_option, k_verbose_option});
  return options;
}

}  // namespace

CommandSpec plan_command() {
  return {
      .name = "plan",
      .moment = Moment::before,
      .shown_first = true,
      .summary = "Will this run fit the pool, and at what packing and batch",
      .description =
          "Adds up what a training or inference run takes of the one memory pool, phase by phase: load, adapters, "
          "first "
          "step, steady steps, eval, saving. Judges the peak against what this machine has (on anything but a GB10: "
          "against an idle one), and lays published measurements beside it.\n\n"
          "What is not said takes the default that --verbose shows. An estimate has a low and a high bound; the "
          "verdict "
          "follows the bounds: does-not-fit, tight, fits-after-flush, fits.",
      .positional = "[MODEL]",
      .positional_help = "a known name, a model's directory or file",
      .positional_max = 1,
      .takes_command = true,
      .options = plan_options(),
      .examples = {"sparkops plan Qwen3-8B --method lora --packing 4096 --batch 2",
                   "sparkops plan Llama-3.3-70B --method qlora --fit --loader pread",
                   "sparkops plan --params 9e9 --method full --optimizer adamw-8bit --explain",
                   "sparkops plan Qwen3-32B --method inference --framework vllm --server-fraction 0.5 --json"},
      .run = run_plan_command};
}

}  // namespace sparkops::commands
