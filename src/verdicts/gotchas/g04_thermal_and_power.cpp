#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "verdicts/clocks/clock_state.h"
#include "verdicts/gotchas/gotcha.h"

namespace sparkops::verdicts {

namespace {

/// Degrees below its own trip point from which a sensor is worth a warning (gotchas.md, G4).
constexpr double k_close_to_trip = 5;
/// spbm power caps of a wedged box: pl1 20 W, syspl1 30 W; a healthy one has 140 and 231 W (gb10-facts §3.3).
constexpr double k_wedged_cap = 40;
constexpr std::string_view k_package_caps[] = {"spbm pl1", "spbm syspl1"};

struct Judgement {
  std::vector<std::string> failures, warnings;  ///< clauses of the headline
  std::string reading;                          ///< for the headline when neither is there
  bool passed = false;                          ///< a loaded GPU was seen to behave
  std::vector<Fix> fixes;
  Who who = Who::you;
};

std::string shown(const char* format, const Known<double>& value) {
  return value ? fmt::format(fmt::runtime(format), *value) : std::string("unknown");
}

template <class Quantity>
Known<double> number(const Known<Quantity>& quantity) {
  return quantity ? Known<double>(quantity->value, quantity.provenance()) : Known<double>(quantity.as_unknown());
}

/// "62 °C, 88 W, 2418 MHz, 97 % busy"
std::string describe(const facts::GpuSample& sample) {
  return fmt::format("{}, {}, {}, {} busy", shown("{:.0f} °C", number(sample.temperature)),
                     shown("{:.0f} W", number(sample.power)), shown("{:.0f} MHz", number(sample.sm_clock)),
                     shown("{:.0f} %", number(sample.utilization)));
}

Fix remove_power() {
  return {.run = "",
          .instruction =
              "shut down, pull AC from the power brick and the brick from the box for 60 s or more, use the "
              "original supply; a reboot or a clock setting does not help, and if it comes back the unit needs "
              "an exchange",
          .needs_root = false,
          .changes = "power cycle",
          .verify = "sparkops preflight --only G4   (while a job runs)"};
}

Fix cool_down() {
  return {.run = "",
          .instruction =
              "free the air path, lower the room temperature, or cap the clock (sudo nvidia-smi -lgc 300,2200 "
              "costs about 5 %)",
          .needs_root = false,
          .changes = "",
          .verify = "sparkops preflight --only G4   (while the job runs)"};
}

void judge_busy(const ClockAssessment& assessment, const std::string& reading, Judgement& judgement) {
  switch (assessment.state) {
    case ClockState::wedged:
      judgement.failures.push_back("power delivery is wedged: " + reading + ", no limiting reason set");
      judgement.fixes.push_back(remove_power());
      judgement.who = Who::hands_on;
      return;
    case ClockState::thermal_hardware:
      judgement.failures.push_back("hardware thermal slowdown: " + reading);
      judgement.fixes.push_back(cool_down());
      judgement.who = Who::hands_on;
      return;
    case ClockState::thermal_software:
      judgement.warnings.push_back("software thermal slowdown is accumulating: " + reading);
      judgement.fixes.push_back(cool_down());
      return;
    case ClockState::user_locked:
      judgement.warnings.push_back("the clock is probably locked by a user setting: " + reading);
      judgement.fixes.push_back({.run = "sudo nvidia-smi -rgc",
                                 .instruction = "removes a clock lock, unless somebody set it on purpose",
                                 .needs_root = true,
                                 .changes = "GPU clock setting",
                                 .verify = "sparkops preflight --only G4"});
      return;
    case ClockState::unknown:
      judgement.warnings.push_back(fmt::format("low clock under load: {} ({})", reading, assessment.caveat));
      judgement.fixes.push_back({.run = "sparkops preflight --only G4 --settle 5s",
                                 .instruction = "looks longer; when the clock stays low, see explain wedge",
                                 .needs_root = false,
                                 .changes = "",
                                 .verify = ""});
      return;
    case ClockState::waiting:
      judgement.reading =
          "the GPU waits: " + reading + " (a kernel spinning on a peer or a stalled job, no hardware fault)";
      return;
    case ClockState::power_limited:
      judgement.reading = "at the platform's power limit, which is normal: " + reading;
      judgement.passed = true;
      return;
    case ClockState::idle:
      judgement.reading =
          "idle: " + reading + "; an idle GPU cannot show a power-delivery fault, look again while a job runs";
      return;
    case ClockState::busy_normal:
    case ClockState::starved:
      judgement.reading = "normal under load: " + reading;
      judgement.passed = true;
      return;
  }
}

void judge_sensors(const facts::Sensors& sensors, Judgement& judgement, std::vector<Evidence>& evidence) {
  for (const facts::TemperatureSensor& sensor : sensors.temperatures) {
    const Known<Celsius> margin = sensor.margin();
    if (!margin) continue;
    const std::string text = fmt::format("{} at {:.0f} °C, {:.0f} below its own trip point", printable(sensor.name, 80),
                                         sensor.temperature->value, margin->value);
    if (margin->value <= 0)
      judgement.failures.push_back(text);
    else if (margin->value <= k_close_to_trip)
      judgement.warnings.push_back(text);
    if (margin->value <= k_close_to_trip && judgement.fixes.empty()) judgement.fixes.push_back(cool_down());
    evidence.push_back({text, sensor.temperature.provenance()});
  }
  for (const facts::PowerSensor& power : sensors.powers) {
    const bool package_cap =
        std::find(std::begin(k_package_caps), std::end(k_package_caps), power.name) != std::end(k_package_caps);
    if (!package_cap || !power.cap) continue;
    evidence.push_back({fmt::format("{} cap {:.0f} W", power.name, power.cap->value), power.cap.provenance()});
    if (power.cap->value > k_wedged_cap) continue;
    judgement.failures.push_back(
        fmt::format("power delivery is wedged: {} is capped at {:.0f} W", power.name, power.cap->value));
    judgement.fixes.push_back(remove_power());
    judgement.who = Who::hands_on;
  }
  for (const std::string& what : sensors.could_not) evidence.push_back({what, {Origin::read, {}}});
}

void add_gpu_evidence(const facts::Gpu& gpu, const ClockAssessment& assessment, std::vector<Evidence>& evidence) {
  evidence.push_back({fmt::format("GPU state {} over {} sample(s) in {:.1f} s", to_string(assessment.state),
                                  assessment.samples, assessment.window_s),
                      {Origin::derived, {}}});
  evidence.insert(evidence.end(), assessment.evidence.begin(), assessment.evidence.end());
  const facts::GpuSample& sample = gpu.latest();
  if (sample.event_reasons)
    evidence.push_back(
        {fmt::format("event reasons now: 0x{:x} (reads 0 even while capped: weak evidence)", *sample.event_reasons),
         sample.event_reasons.provenance()});
  if (gpu.slowdown_temperature && sample.temperature)
    evidence.push_back(
        {fmt::format("GPU {:.0f} °C, its slowdown threshold {:.0f} °C (information: 86 °C at 96 W is healthy)",
                     sample.temperature->value, gpu.slowdown_temperature->value),
         gpu.slowdown_temperature.provenance()});
}

}  // namespace

Finding check_g04_thermal_and_power(const PreflightFacts& facts) {
  Finding finding;
  finding.id = "G4";
  Judgement judgement;
  std::string gpu_unknown;
  if (const facts::Gpu* const gpu = facts.machine.gpu()) {
    const ClockAssessment assessment = assess_clock_state(gpu->samples);
    add_gpu_evidence(*gpu, assessment, finding.evidence);
    const bool unreadable = assessment.state == ClockState::unknown && !assessment.low_clock;
    if (unreadable)
      gpu_unknown = "GPU " + assessment.caveat;
    else
      judge_busy(assessment, describe(gpu->latest()), judgement);
  } else {
    gpu_unknown = facts.machine.gpus ? "no NVIDIA GPU" : "GPU clock and power: " + facts.machine.gpus.reason();
  }
  if (facts.machine.sensors)
    judge_sensors(*facts.machine.sensors, judgement, finding.evidence);
  else
    finding.evidence.push_back({"thermal zones: unknown (" + facts.machine.sensors.reason() + ")", {Origin::read, {}}});

  finding.fixes = judgement.fixes;
  finding.who = judgement.who;
  if (!judgement.failures.empty() || !judgement.warnings.empty()) {
    finding.status = judgement.failures.empty() ? Status::warn : Status::fail;
    finding.headline = join(judgement.failures.empty() ? judgement.warnings : judgement.failures, "; ");
  } else if (!gpu_unknown.empty()) {
    finding.status = Status::skip;
    finding.headline = gpu_unknown;
  } else {
    finding.status = judgement.passed ? Status::pass : Status::info;
    finding.headline = judgement.reading;
  }
  return finding;
}

}  // namespace sparkops::verdicts
