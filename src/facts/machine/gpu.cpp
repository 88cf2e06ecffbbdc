#include "facts/machine/gpu.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "facts/machine/nvml_interpretation.h"
#include "facts/machine/nvml_json.h"
#include "facts/machine/nvml_session.h"

namespace sparkops::facts {
namespace {

constexpr const char* k_captured_answers = "sparkops/nvml.json";
/// A capture of an hour at 1 Hz is below this.
constexpr std::size_t k_capture_size_cap = std::size_t{64} << 20;
/// Below this a GPU counts as idle: there is nothing that a second sample could show.
constexpr Percent k_busy{30};
/// With the first one five: as many consecutive samples as it takes to call a busy GPU wedged (gotchas.md).
constexpr int k_further_samples = 4;

bool any_is_busy(const Known<GpuInventory>& inventory) {
  return inventory && std::any_of(inventory->gpus.begin(), inventory->gpus.end(), [](const Gpu& gpu) {
           const Known<Percent>& utilization = gpu.latest().utilization;
           return utilization && *utilization >= k_busy;
         });
}

bool hangs(const NvmlRecording& recording) {
  return std::any_of(recording.devices.begin(), recording.devices.end(), [](const NvmlDeviceRecord& device) {
    return !device.samples.empty() && nvml_hung_call(device.samples.back().answers);
  });
}

Known<GpuInventory> read_live(const GpuReadOptions& options) {
  Result<NvmlSession> session = NvmlSession::open();
  if (!session) return unknown(session.error());
  NvmlRecording recording = session->identify(options.deadline);
  append_samples(recording, session->sample(options.deadline));
  Known<GpuInventory> inventory = interpret_nvml(recording);
  if (options.settle.count() <= 0 || !any_is_busy(inventory)) return inventory;
  for (int i = 0; i < k_further_samples && !hangs(recording); ++i) {
    std::this_thread::sleep_for(options.settle / k_further_samples);
    append_samples(recording, session->sample(options.deadline));
  }
  return interpret_nvml(recording);
}

Known<GpuInventory> read_captured(const Root& root) {
  const Result<std::string> text = root.read(k_captured_answers, k_capture_size_cap);
  if (!text) return unknown(text.error());
  const Result<Known<NvmlRecording>> recording = raw_from_json(*text);
  if (!recording) return unknown(std::string(k_captured_answers) + ": " + recording.error().message);
  if (!recording->known()) return recording->as_unknown();
  return interpret_nvml(**recording);
}

}  // namespace

Known<GpuInventory> read_gpus(const Root& root, const GpuReadOptions& options) {
  return root.is_live() ? read_live(options) : read_captured(root);
}

}  // namespace sparkops::facts
