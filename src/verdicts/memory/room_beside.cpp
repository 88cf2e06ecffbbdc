#include <fmt/format.h>

#include <cmath>

#include "verdicts/memory/footprint_constants.h"
#include "verdicts/memory/plan.h"

namespace sparkops::verdicts {

namespace {

/// Two decimals, rounded down: a cap must never be larger than what is there.
std::string fraction(double value) {
  return fmt::format("{:.2f}", std::floor(std::max(0.0, value) * 100) / 100);
}

double start_transient(const Tenant& tenant) {
  if (!tenant.server) return 0;
  if (*tenant.server == facts::ServerKind::sglang) return constants::k_sglang_start;
  if (*tenant.server == facts::ServerKind::vllm) return constants::k_vllm_start_high;
  return 0;
}

/// The cap in the tenant's own words; empty when it has no such option.
std::string setting_for(const Tenant& tenant, double room, double pool) {
  if (!tenant.server || pool <= 0) return "";
  switch (*tenant.server) {
    case facts::ServerKind::vllm: return "--gpu-memory-utilization " + fraction(room / pool);
    case facts::ServerKind::sglang: return "--mem-fraction-static " + fraction(room / pool);
    case facts::ServerKind::tensorrt_llm: return "free_gpu_memory_fraction: " + fraction(room / pool);
    case facts::ServerKind::ollama:
      return fmt::format("OLLAMA_GPU_OVERHEAD={:.0f} OLLAMA_MAX_LOADED_MODELS=1", std::max(0.0, pool - room));
    default: return "";
  }
}

}  // namespace

BesidePlan room_beside(const Footprint& footprint, const Budget& budget, const Tenant& tenant) {
  BesidePlan plan;
  plan.tenant = tenant.name;
  plan.start_transient = as_knowledge(whole_bytes(start_transient(tenant)), "2026-11-30");
  if (!budget.headroom_after_flush || !budget.total) {
    const std::string& why = budget.total ? budget.headroom_after_flush.reason() : budget.total.reason();
    plan.room = unknown(why);
    plan.reason = "the room is not known: " + why;
    return plan;
  }
  // What it holds now it may keep; what it has not taken yet comes out of what a flush leaves.
  const double held = tenant.held ? static_cast<double>(tenant.held->value) : 0;
  const double room = static_cast<double>(budget.headroom_after_flush->value) + held - footprint.system.high;
  plan.room = as_derived(whole_bytes(room));
  if (room <= 0) {
    plan.reason = fmt::format("nothing is left: this run may need up to {}, {} are there",
                              format_size(whole_bytes(footprint.system.high)),
                              format_size(whole_bytes(static_cast<double>(budget.headroom_after_flush->value) + held)));
    return plan;
  }
  const bool starts = !tenant.is_running;
  const double cap = room - (starts ? start_transient(tenant) : 0);
  if (cap <= 0) {
    plan.reason = fmt::format(
        "{} are left, and it takes up to {} on top of its cap while it starts: start it before the "
        "run, or not at all",
        format_size(whole_bytes(room)), format_size(whole_bytes(start_transient(tenant))));
    return plan;
  }
  plan.setting = setting_for(tenant, cap, static_cast<double>(budget.total->value));
  plan.reason = fmt::format(
      "{} are left beside this run's upper bound{}", format_size(whole_bytes(room)),
      starts && start_transient(tenant) > 0
          ? fmt::format(", of which its start may take {}", format_size(whole_bytes(start_transient(tenant))))
          : "");
  if (plan.setting.empty())
    plan.reason += tenant.cap_advice.empty() ? "; it has no cap of its own" : "; " + tenant.cap_advice;
  return plan;
}

std::string next_step(const Plan& plan) {
  const auto first_that_suffices = [&]() -> std::string {
    for (const RungGain& rung : plan.ladder)
      if (rung.suffices && rung.skipped_because.empty() && rung.id != "flush") return rung.change;
    return "";
  };
  switch (plan.verdict.answer) {
    case FitAnswer::fits: return "start it: sparkops run -- CMD";
    case FitAnswer::fits_after_flush: return "give back the page cache first: sparkops flush";
    case FitAnswer::tight: {
      const std::string rung = first_that_suffices();
      if (plan.run.loader == LoaderMode::unknown && plan.footprint.peak().kind == PhaseKind::load)
        return "the load decides: say which loader runs (--loader pread with safetensors 0.8 or later)";
      return "start shorter, packing first" + (rung.empty() ? std::string() : ": " + rung + " fits");
    }
    case FitAnswer::does_not_fit: {
      const std::string rung = first_that_suffices();
      return rung.empty() ? "a smaller model or more boxes: no rung of the ladder suffices" : rung + " fits";
    }
    case FitAnswer::unknown: return "judge it for an idle box: --platform gb10";
  }
  return "";
}

}  // namespace sparkops::verdicts
