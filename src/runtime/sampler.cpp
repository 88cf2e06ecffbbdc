#include "runtime/sampler.h"

#include <algorithm>

#include "facts/machine/container.h"
#include "facts/machine/memory.h"
#include "facts/machine/nvml_interpretation.h"
#include "facts/machine/nvml_session.h"

namespace sparkops::runtime {

namespace {

using facts::GpuSample;
using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;
using store::Reading;

/// A machine without a library will have none in a moment; a driver may be loaded later.
constexpr std::chrono::seconds k_look_again{30};
/// Starting NVML can take a second where nothing keeps the driver loaded. Only the first look waits that long.
constexpr milliseconds k_first_look_patience{3000};
constexpr double k_ns_per_us = 1000;
constexpr double k_ms_per_s = 1000;

double monotonic_ms() {
  return std::chrono::duration<double, std::milli>(Clock::now().time_since_epoch()).count();
}

template <class Tag, class Number>
std::optional<double> number(const Known<Quantity<Tag, Number>>& value) {
  return value ? std::optional(static_cast<double>(value->value)) : std::nullopt;
}

template <class Number>
std::optional<double> plain_number(const Known<Number>& value) {
  return value ? std::optional(static_cast<double>(*value)) : std::nullopt;
}

std::optional<double> microseconds(const Known<std::int64_t>& nanoseconds) {
  return nanoseconds ? std::optional(static_cast<double>(*nanoseconds) / k_ns_per_us) : std::nullopt;
}

/// The sum over all processes; unknown when one of them is, and where the list cannot be complete.
std::optional<double> process_bytes(const Known<std::vector<facts::GpuProcess>>& processes, bool in_container) {
  if (!processes || (in_container && processes->empty())) return std::nullopt;
  double sum = 0;
  for (const facts::GpuProcess& process : *processes) {
    if (!process.used_memory) return std::nullopt;
    sum += static_cast<double>(process.used_memory->value);
  }
  return sum;
}

void fill_gpu(store::Sample& sample, const GpuSample& gpu, bool in_container) {
  sample[Reading::gpu_temperature] = number(gpu.temperature);
  sample[Reading::gpu_power] = number(gpu.power);
  sample[Reading::power_instant] = number(gpu.power_instant);
  sample[Reading::sm_clock] = number(gpu.sm_clock);
  sample[Reading::graphics_clock] = number(gpu.graphics_clock);
  sample[Reading::memory_clock] = number(gpu.memory_clock);
  sample[Reading::gpu_utilization] = number(gpu.utilization);
  sample[Reading::performance_state] = plain_number(gpu.performance_state);
  sample[Reading::event_reasons] = plain_number(gpu.event_reasons);
  sample[Reading::temperature_margin] = number(gpu.temperature_margin);
  sample[Reading::sw_power_cap] = microseconds(gpu.counters.sw_power_cap_ns);
  sample[Reading::sw_thermal] = microseconds(gpu.counters.sw_thermal_slowdown_ns);
  sample[Reading::hw_thermal] = microseconds(gpu.counters.hw_thermal_slowdown_ns);
  sample[Reading::hw_power_brake] = microseconds(gpu.counters.hw_power_brake_ns);
  sample[Reading::sync_boost] = microseconds(gpu.counters.sync_boost_ns);
  sample[Reading::gpu_process_bytes] = process_bytes(gpu.processes, in_container);
}

}  // namespace

/// Keeps the driver's session; the first GPU is the one that is sampled (a Spark has one).
class Sampler::GpuReader {
 public:
  explicit GpuReader(milliseconds patience) : patience_(patience) {}

  [[nodiscard]] Known<GpuSample> take() {
    if (!ready()) return name_.as_unknown();
    const auto records = session_->sample(patience_);
    if (records.empty()) {
      name_ = unknown("the driver names no GPU any more");
      return name_.as_unknown();
    }
    if (const auto hung = facts::nvml_hung_call(records[0].answers)) return unknown(*hung);
    GpuSample sample = facts::interpret_nvml_sample(records[0], driver_version_);
    if (!sample.temperature && !sample.power && !sample.sm_clock && !sample.utilization)
      return unknown(sample.temperature.reason());
    newest_ms_ = sample.monotonic_s * k_ms_per_s;
    return as_read(std::move(sample));
  }

  [[nodiscard]] std::optional<double> age_ms() const {
    return newest_ms_ ? std::optional(std::max(0.0, monotonic_ms() - *newest_ms_)) : std::nullopt;
  }
  [[nodiscard]] const Known<std::string>& name() const { return name_; }

 private:
  /// Whether there is a GPU to ask; looks for one when none was there, but not at every sample.
  [[nodiscard]] bool ready() {
    if (name_) return true;
    const auto now = Clock::now();
    if (looked_ && now < *looked_ + k_look_again) return false;
    const milliseconds patience = looked_ ? patience_ : k_first_look_patience;
    looked_ = now;
    if (!session_) {
      auto opened = facts::NvmlSession::open();
      if (!opened) {
        name_ = unknown(opened.error());
        return false;
      }
      session_.emplace(std::move(*opened));
    }
    const auto inventory = facts::interpret_nvml(session_->identify(patience));
    if (!inventory) {
      name_ = inventory.as_unknown();
    } else if (inventory->gpus.empty()) {
      name_ = unknown("the driver names no GPU");
    } else {
      name_ = as_read(inventory->gpus[0].name);
      driver_version_ = inventory->driver_version.value_or("");
    }
    return name_.known();
  }

  milliseconds patience_;
  std::optional<facts::NvmlSession> session_;
  std::optional<Clock::time_point> looked_;
  Known<std::string> name_ = unknown("not looked for yet");
  std::string driver_version_;
  std::optional<double> newest_ms_;
};

Sampler::Sampler(const Options& options)
    : reader_(std::make_unique<GpuReader>(options.gpu_patience)),
      in_container_(facts::read_container(root_).inside.value_or(false)) {}
Sampler::Sampler() : Sampler(Options{}) {}
Sampler::~Sampler() = default;

void Sampler::take_memory(store::Sample& sample) const {
  if (const auto text = root_.read("proc/meminfo")) {
    if (const auto memory = facts::parse_meminfo(*text)) {
      sample[Reading::memory_available] = number(memory->available);
      sample[Reading::memory_free] = number(memory->free);
      sample[Reading::memory_cached] = number(memory->cached);
      if (memory->swap_total && memory->swap_free)
        sample[Reading::swap_used] = static_cast<double>((*memory->swap_total - *memory->swap_free).value);
    }
  }
  if (const auto text = root_.read("proc/pressure/memory")) {
    if (const auto pressure = facts::parse_pressure(*text)) {
      sample[Reading::pressure_some] = pressure->some.average_10s;
      if (pressure->full) sample[Reading::pressure_full] = pressure->full->average_10s;
    }
  }
}

store::Sample Sampler::take() {
  store::Sample sample;
  sample.taken = Timestamp::now();
  take_memory(sample);
  gpu_ = reader_->take();
  gpu_name_ = reader_->name();
  if (gpu_) fill_gpu(sample, *gpu_, in_container_);
  sample[Reading::nvml_age] = reader_->age_ms();
  return sample;
}

}  // namespace sparkops::runtime
