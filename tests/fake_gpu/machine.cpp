#include "machine.h"

#include <sys/stat.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <mutex>
#include <sstream>
#include <thread>

#include "scenario.h"

namespace fake_gpu {
namespace {

struct State {
  std::mutex mutex;
  std::string path;
  struct timespec modified = {};
  bool usable = false;
  Scenario scenario;
  double zero_s = 0;  ///< seconds since 1970
  unsigned initialised = 0;
  std::map<std::size_t, std::uint64_t> fault_calls;  ///< how often the fault at this index has struck
};

/// Never destroyed: a thread of the program may be inside a call when it ends.
State& state() {
  static State* const the_state = new State;
  return *the_state;
}

double seconds_since_1970() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

void load(State& s, const std::string& path, const struct timespec& modified) {
  s.path = path;
  s.modified = modified;
  s.fault_calls.clear();
  std::ifstream file(path);
  std::stringstream content;
  content << file.rdbuf();
  std::string error = file ? "" : "cannot be read";
  if (error.empty()) s.scenario = parse_scenario(content.str(), error);
  s.usable = error.empty();
  if (!s.usable) std::fprintf(stderr, "fake GPU: scenario '%s': %s\n", path.c_str(), error.c_str());
  const char* const start = std::getenv("FAKE_GPU_START_S");
  s.zero_s = s.scenario.epoch_s.value_or(seconds_since_1970() - (start == nullptr ? 0 : std::strtod(start, nullptr)));
}

void refresh(State& s) {
  const char* const variable = std::getenv("FAKE_GPU_SCENARIO");
  const std::string path = variable == nullptr ? "" : variable;
  struct stat status = {};
  (void)stat(path.c_str(), &status);
  const bool same =
      path == s.path && status.st_mtim.tv_sec == s.modified.tv_sec && status.st_mtim.tv_nsec == s.modified.tv_nsec;
  if (!same || !s.usable) load(s, path, status.st_mtim);
}

double elapsed(const State& s) {
  return seconds_since_1970() - s.zero_s;
}

bool matches(const std::string& pattern, const std::string& function) {
  if (pattern.empty() || pattern.back() != '*') return pattern == function;
  return function.compare(0, pattern.size() - 1, pattern, 0, pattern.size() - 1) == 0;
}

/// The fault that holds for a function now: the last line that names it, until its calls are used up.
Fault fault_of(State& s, const std::string& function) {
  Fault found;
  std::size_t index = 0;
  for (std::size_t i = 0; i < s.scenario.faults.size(); ++i) {
    const Fault& fault = s.scenario.faults[i];
    if (fault.at_s > elapsed(s) || !matches(fault.function, function)) continue;
    found = fault;
    index = i;
  }
  if (found.kind == Fault::Kind::none || found.calls == 0) return found;
  if (s.fault_calls[index]++ >= found.calls) found.kind = Fault::Kind::none;
  return found;
}

bool gpu_is_lost(const State& s) {
  bool lost = false;
  for (const Presence& presence : s.scenario.presence) {
    if (presence.at_s <= elapsed(s)) lost = presence.lost;
  }
  return lost;
}

}  // namespace

int enter(const char* function, Needs needs, const void* device) {
  State& s = state();
  Fault fault;
  bool lost = false;
  unsigned initialised = 0;
  {
    const std::lock_guard lock(s.mutex);
    refresh(s);
    if (!s.usable) return k_driver_not_loaded;
    fault = fault_of(s, function);
    lost = gpu_is_lost(s);
    initialised = s.initialised;
  }
  if (fault.kind == Fault::Kind::hang) std::this_thread::sleep_for(std::chrono::duration<double>(fault.seconds));
  if (fault.kind == Fault::Kind::fail) return fault.code;
  if (needs != Needs::nothing && initialised == 0) return k_uninitialized;
  if (needs == Needs::device && device != device_handle()) return k_invalid_argument;
  if (needs == Needs::handle && lost) return k_unknown;
  if (needs == Needs::device && lost) return k_gpu_is_lost;
  return k_success;
}

void count_init() {
  const std::lock_guard lock(state().mutex);
  ++state().initialised;
}

void count_shutdown() {
  const std::lock_guard lock(state().mutex);
  if (state().initialised > 0) --state().initialised;
}

std::optional<double> number(const char* name) {
  const std::lock_guard lock(state().mutex);
  return state().scenario.number(name, elapsed(state()));
}

std::optional<std::string> text(const char* name) {
  const std::lock_guard lock(state().mutex);
  return state().scenario.text(name, elapsed(state()));
}

std::vector<RunningProcess> processes() {
  const std::lock_guard lock(state().mutex);
  const double now = elapsed(state());
  std::vector<RunningProcess> list;
  if (state().scenario.number("processes_visible", now).value_or(1) == 0) return list;
  std::map<std::uint32_t, RunningProcess> by_pid;
  for (const ProcessChange& change : state().scenario.processes) {
    if (change.at_s > now) continue;
    if (change.gone) {
      by_pid.erase(change.pid);
    } else {
      by_pid[change.pid] = {change.pid, change.compute, change.graphics, change.bytes};
    }
  }
  for (const auto& [pid, process] : by_pid) list.push_back(process);
  return list;
}

void* device_handle() {
  static int the_device = 0;
  return &the_device;
}

}  // namespace fake_gpu
