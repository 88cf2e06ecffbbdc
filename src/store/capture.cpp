#include "store/capture.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/timestamp.h"
#include "base/version.h"
#include "facts/machine/capture_files.h"
#include "facts/machine/identity.h"
#include "facts/machine/nvml_json.h"
#include "facts/machine/nvml_session.h"
#include "store/capture_collector.h"
#include "store/capture_libraries.h"
#include "store/capture_live.h"
#include "store/capture_plan.h"
#include "store/capture_processes.h"
#include "store/capture_software.h"
#include "store/json_form.h"

namespace sparkops::store {

namespace {

/// NVML averages power over a second; half of that loses nothing, and 3 s give enough samples to tell a wedge.
constexpr std::chrono::milliseconds k_sample_interval{500};
constexpr const char* k_earlier_counters = "sparkops/vmstat-earlier";
constexpr const char* k_counters = "proc/vmstat";

/// What differs between a live machine and one that was captured before.
struct Times {
  Known<Timestamp> taken;
  Known<Timestamp> earlier;  ///< the first reading of vmstat
};

Json text_or_null(const Known<std::string>& value) {
  return value ? Json(*value) : Json(nullptr);
}

std::string notes_document(const Root& root, const Times& times, const Redactor& redactor,
                           const std::vector<std::string>& left_out) {
  Json notes;
  notes["schema"] = "sparkops.capture-notes/1";
  notes["taken_at"] = times.taken ? Json(to_rfc3339(*times.taken)) : Json(nullptr);
  if (times.earlier) notes["vmstat_earlier_at"] = to_rfc3339(*times.earlier);
  notes["version"] = std::string(version());
  notes["architecture"] = text_or_null(facts::read_identity(root).architecture);
  const auto page_size = facts::read_page_size(root);
  notes["page_size_bytes"] = page_size ? Json(*page_size) : Json(nullptr);
  notes["redacted"] = Json::object();
  for (const auto& [kind, count] : redactor.counts()) notes["redacted"][kind] = count;
  notes["left_out"] = left_out;
  constexpr int k_indent = 2;
  return notes.dump(k_indent, ' ', false, Json::error_handler_t::replace) + "\n";
}

/// Samples of the GPU over `duration`, which passes also where there is no GPU: counters need it to grow.
Known<facts::NvmlRecording> sample_gpu(Seconds duration) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::duration<double>(duration.value);
  const double intervals = std::chrono::duration<double>(duration.value) / k_sample_interval;
  const int samples = 1 + std::max(1, static_cast<int>(intervals));
  auto recording = facts::record_nvml(samples, k_sample_interval);
  std::this_thread::sleep_until(end);
  return recording;
}

void capture_live_parts(Collector& collector, const CaptureOptions& options, Times& times,
                        std::vector<std::string>& left_out) {
  const Root& root = collector.root();
  if (const auto counters = root.read(k_counters)) {
    collector.add_made(k_earlier_counters, *counters);
    times.earlier = as_read(Timestamp::now());
  }
  options.progress("sampling the GPU");
  const auto recording = sample_gpu(options.duration);
  collector.add_file(k_counters, Treatment::plain);
  times.taken = as_read(Timestamp::now());
  collector.add_made("sparkops/nvml.json", collector.redactor().text(facts::raw_to_json(recording)));

  options.progress("reading processes");
  const auto about_processes = capture_processes(collector, pids_that_matter(root, recording));
  left_out.insert(left_out.end(), about_processes.begin(), about_processes.end());
  options.progress("reading the headers of libraries");
  capture_libraries(collector, left_out);
  options.progress("looking for files in the page cache");
  if (auto document = page_cache_document(root, collector.redactor()))
    collector.add_made("sparkops/pagecache.json", std::move(*document));
  else
    left_out.push_back("files in the page cache: " + document.error().message);
  if (auto lines = kernel_lines(collector.redactor()))
    collector.add_made("sparkops/dmesg", std::move(*lines));
  else
    left_out.push_back("kernel log: " + lines.error().message);
}

/// The same parts of a machine that was captured before.
void capture_stored_parts(Collector& collector, Times& times, std::vector<std::string>& left_out) {
  const Root& root = collector.root();
  const facts::CaptureNotes notes = facts::read_capture_notes(root);
  times = {notes.taken, notes.vmstat_earlier};
  for (const char* const path :
       {"sparkops/vmstat-earlier", "proc/vmstat", "sparkops/pagecache.json", "sparkops/nvml.json", "sparkops/dmesg"})
    collector.add_file(path, Treatment::text);
  // Redacted when it was made; as free text its symbols would look like secrets.
  constexpr std::size_t k_largest = std::size_t{128} << 20;
  if (auto libraries = root.read("sparkops/libraries.json", k_largest))
    collector.add_made("sparkops/libraries.json", std::move(*libraries));
  Known<facts::NvmlRecording> recording = unknown("no sparkops/nvml.json");
  if (const auto text = root.read("sparkops/nvml.json"))
    if (auto stored = facts::raw_from_json(*text)) recording = std::move(*stored);
  left_out = capture_processes(collector, pids_that_matter(root, recording));
}

}  // namespace

Capture take_capture(const Root& root, const CaptureOptions& options) {
  Redactor redactor(read_private_names(root));
  Collector collector(root, redactor);
  Capture capture;
  Times times;
  if (root.is_live())
    capture_live_parts(collector, options, times, capture.left_out);
  else
    capture_stored_parts(collector, times, capture.left_out);
  options.progress("reading the machine");
  for (const PlannedPath& planned : planned_paths()) collector.add_matching(planned);
  capture_software(collector, capture.left_out);
  collector.add_made("sparkops/capture.json", notes_document(root, times, redactor, capture.left_out));
  capture.entries = collector.take_entries();
  capture.redacted = redactor.counts();
  return capture;
}

}  // namespace sparkops::store
