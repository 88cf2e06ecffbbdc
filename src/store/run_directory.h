#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/known.h"
#include "base/result.h"
#include "base/timestamp.h"

namespace sparkops::store {

/// run.json: written when a run starts, and again when it ends. A file without `ended_at` belongs to a run that goes
/// on, or whose end nobody could write down (then its boot id tells).
struct RunRecord {
  std::vector<std::string> command;
  std::string working_directory;
  std::string program_version;
  Known<std::string> boot_id;
  std::int64_t supervisor_pid = 0;
  Known<std::int64_t> supervisor_start_ticks;
  std::int64_t utc_offset_s = 0;  ///< of the local times in thermal.csv and samples.csv
  Timestamp started;
  std::string preflight;  ///< the verdict with its reason
  Known<std::string> gpu;
  bool terminal = false;  ///< the job had a terminal of its own

  struct End {
    Timestamp at;
    int exit_code = 0;          ///< what sparkops ended with
    std::optional<int> signal;  ///< the job died by it
    Known<std::int64_t> lowest_available_bytes;
    std::int64_t output_bytes = 0, output_lost_bytes = 0;
    std::vector<std::string> problems;  ///< what could not be recorded, in words
  };
  std::optional<End> end;
};

/// schema "sparkops.run/1" (docs/schema/run.schema.json).
[[nodiscard]] std::string run_json(const RunRecord& record);
/// Errors: malformed. Foreign keys are ignored.
[[nodiscard]] Result<RunRecord> parse_run_json(const std::string& text);

/// A short name for a command: "train" for `python3 -u /home/me/train.py --lr 1e-4`; lower-case letters, digits and
/// "-", at most 32 characters; "run" when nothing is left.
[[nodiscard]] std::string slug_of(const std::vector<std::string>& command);

/// Where runs go: `chosen` (--run-dir), else $SPARKOPS_RUNS, else ./sparkops-runs.
[[nodiscard]] std::string run_root(const std::string& chosen);

/// Creates RUN_ROOT/<date>-<slug>, with a number behind it when the name is taken. Errors name the path.
[[nodiscard]] Result<std::string> create_run_directory(const std::string& root, Timestamp started,
                                                       const std::string& slug);

/// Seconds east of UTC at that time, on this machine.
[[nodiscard]] std::int64_t utc_offset_at(Timestamp time);

}  // namespace sparkops::store
