#pragma once

#include <string>
#include <vector>

#include "facts/machine/machine.h"
#include "verdicts/clocks/clock_state.h"
#include "verdicts/memory/budget.h"
#include "verdicts/memory/pool.h"
#include "verdicts/platform.h"

namespace sparkops::verdicts {

/// One process that holds the pool.
struct Holder {
  std::int64_t pid = 0;
  std::string name;
  std::string container;  ///< empty: none known
  Known<Bytes> gpu_memory;
  Known<Bytes> host_memory;  ///< anonymous resident memory; contains no CUDA memory on GB10
};

/// The box at a glance.
struct BoxStatus {
  PlatformJudgement platform;
  Known<Budget> budget;
  PoolAttribution pool;
  Known<ClockAssessment> gpu;      ///< unknown: no GPU, or NVML did not answer
  Known<facts::GpuSample> sample;  ///< the newest one
  std::vector<Holder> holders;     ///< largest first
  std::string holders_unknown;     ///< why nobody could be looked for; empty when the process table was read
  Known<std::string> job;          ///< the command line of a running trainer or server
  std::string next_command;        ///< the next sensible thing to type
  std::string next_reason;
};

[[nodiscard]] BoxStatus summarize(const facts::Machine& machine);

}  // namespace sparkops::verdicts
