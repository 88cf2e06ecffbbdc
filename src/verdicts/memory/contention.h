#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/finding.h"
#include "base/known.h"
#include "base/quantities.h"
#include "facts/workload/workload.h"

namespace sparkops::verdicts {

/// A tenant at or above this share of the pool leaves room for nothing beside it.
inline constexpr double k_near_capacity = 0.8;
/// At or below this share a server leaves room for a fine-tune (gotchas.md, G6).
inline constexpr double k_roomy_share = 0.5;
/// Between the two, this much beyond the reserve must be left.
inline constexpr Bytes k_worthwhile_room = gibibytes(16);
/// A process that holds less is no heavy tenant.
inline constexpr Bytes k_light_tenant = gibibytes(4);

/// One that holds a part of the pool or is going to.
struct Tenant {
  enum class Kind { server, trainer, other };
  std::string name;  ///< for a person: "coder (vLLM)", "vLLM (run.sh:3)", "running vLLM (pid 4242)"
  Kind kind = Kind::other;
  bool is_running = false;
  std::vector<std::int64_t> pids;  ///< of a running one: itself and its workers
  std::string group;  ///< of workload tenants: the file that starts it; launches of different files are alternatives
  facts::LaunchOrder order = facts::LaunchOrder::together;
  std::vector<std::string> profiles;
  Known<facts::ServerKind> server;
  facts::ServerCap cap;
  std::optional<double> default_fraction;   ///< knowledge: of the pool, when nobody sets the cap
  std::string default_text, cap_advice;     ///< knowledge
  std::string cap_option;                   ///< knowledge: "--gpu-memory-utilization"; empty when it has none
  Known<std::string> model, number_format;  ///< of a server: as named, and "nvfp4", "bfloat16" …
  Known<Bytes> held;                        ///< by NVML, now
  bool loads_on_demand = false;             ///< Ollama and the like: holds nothing until somebody asks for a model
  std::vector<std::string> blind_limits;    ///< "mem_limit 1g": limits that do not see CUDA memory
};

/// What one tenant may come to hold.
struct Claim {
  Known<Bytes> bytes;    ///< by its cap or its default, and never less than what it holds
  bool bounded = false;  ///< a cap below the pool bounds it
  std::string text;      ///< "0.4 of the pool, 48.7 GiB"
};

/// The claim of a tenant on a pool of this size.
[[nodiscard]] Claim claim_of(const Tenant& tenant, const Known<Bytes>& pool);

struct ContentionInput {
  Known<Bytes> pool;
  Bytes reserve;
  std::vector<Tenant> tenants;
  Known<int> sharing_replicas;  ///< of time slicing or MPS
  /// What a flush of the page cache would leave for a new tenant; unknown where no machine is judged.
  Known<Bytes> available;
  bool huge_pages_rule = false;  ///< available = HugePages_Free × Hugepagesize
};

struct ContentionJudgement {
  Status status = Status::skip;
  std::string headline;
  std::vector<std::size_t> offenders;  ///< indexes of the tenants that the headline is about
};

/// FAIL when tenants that run at the same time claim the whole pool or more between them, or when a server that is to
/// start claims more than is available (what runs already is gone from that figure and not counted again). WARN: one
/// without a cap, one so large that nothing fits beside it, little left, or a GPU shared without isolation. SKIP: a cap
/// whose value could not be read. PASS: every tenant is capped with room beside it.
[[nodiscard]] ContentionJudgement judge_contention(const ContentionInput& input);

}  // namespace sparkops::verdicts
