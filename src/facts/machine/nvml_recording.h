#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/known.h"

namespace sparkops::facts {

/// What NVML gave back, in NVML's own units: nothing is converted before the answers are interpreted.
using NvmlNumber = std::variant<std::int64_t, std::uint64_t, double>;
using NvmlScalar = std::variant<NvmlNumber, std::string>;
/// The members of a struct by name, e.g. {"total": …, "free": …, "used": …}.
using NvmlMembers = std::map<std::string, NvmlScalar>;

/// One entry of a process list. `used_bytes` is all ones where NVML has no figure.
struct NvmlProcessEntry {
  std::uint32_t pid = 0;
  std::uint64_t used_bytes = 0;
  friend bool operator==(const NvmlProcessEntry&, const NvmlProcessEntry&) = default;
};
inline constexpr std::uint64_t k_nvml_not_available = ~std::uint64_t{0};

using NvmlValue = std::variant<std::monostate, NvmlNumber, std::string, NvmlMembers, std::vector<NvmlProcessEntry>>;

/// The answer to one call. `value` is present only after code 0.
struct NvmlAnswer {
  enum class Kind {
    returned,   ///< `code` says how
    no_symbol,  ///< this library has no such function
    no_return,  ///< the call was still running after `waited_s` seconds
  };
  Kind kind = Kind::returned;
  int code = 0;  ///< nvmlReturn_t
  double waited_s = 0;
  NvmlValue value;
  friend bool operator==(const NvmlAnswer&, const NvmlAnswer&) = default;
};

/// Answers by call: the exact symbol, with its distinguishing argument in parentheses as NVML's header numbers it,
/// e.g. "nvmlDeviceGetPowerUsage", "nvmlDeviceGetClockInfo(1)", "nvmlDeviceGetFieldValues(269)".
using NvmlAnswers = std::map<std::string, NvmlAnswer>;

/// The key of a call in NvmlAnswers.
[[nodiscard]] std::string nvml_call(std::string_view symbol, unsigned argument);

/// What one GPU answered at one moment.
struct NvmlSampleRecord {
  std::int64_t at_ms = 0;  ///< since 1970, UTC
  double monotonic_s = 0;  ///< for differences between samples
  NvmlAnswers answers;
  friend bool operator==(const NvmlSampleRecord&, const NvmlSampleRecord&) = default;
};

/// What one GPU answered. A call that NVML never got is in no map.
struct NvmlDeviceRecord {
  NvmlAnswers identity;
  std::vector<NvmlSampleRecord> samples;  ///< oldest first
  friend bool operator==(const NvmlDeviceRecord&, const NvmlDeviceRecord&) = default;
};

/// Every raw answer of one reading; the content of a capture's sparkops/nvml.json.
struct NvmlRecording {
  std::string library;  ///< the name given to dlopen
  NvmlAnswers system;
  std::vector<NvmlDeviceRecord> devices;
  friend bool operator==(const NvmlRecording&, const NvmlRecording&) = default;
};

/// Return codes with a meaning of their own here (nvml.h, unchanged 450 to 610).
namespace nvml_code {
inline constexpr int k_success = 0;
inline constexpr int k_uninitialized = 1;
inline constexpr int k_not_supported = 3;
inline constexpr int k_insufficient_size = 7;
inline constexpr int k_driver_not_loaded = 9;
inline constexpr int k_gpu_is_lost = 15;
inline constexpr int k_operating_system = 17;
inline constexpr int k_version_mismatch = 18;
inline constexpr int k_gpu_not_found = 28;
inline constexpr int k_unknown = 999;
}  // namespace nvml_code

/// NVML's own words for a return code, e.g. "Not Supported"; "Unknown Error" for codes it has no words for.
[[nodiscard]] std::string nvml_code_text(int code);

/// Why an answer carries no value: "NVML: Not Supported (3)", "NVML call X has not returned for 2.0 s", … Empty for
/// an answer with code 0.
[[nodiscard]] std::string nvml_reason(std::string_view call, const NvmlAnswer& answer);

/// The call that has not returned, when there is one among the answers, in words.
[[nodiscard]] std::optional<std::string> nvml_hung_call(const NvmlAnswers& answers);

}  // namespace sparkops::facts
