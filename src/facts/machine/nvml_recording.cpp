#include "facts/machine/nvml_recording.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace sparkops::facts {
namespace {

struct CodeText {
  int code;
  const char* text;
};

/// As nvmlErrorString of 550.163.01 answers.
constexpr std::array k_code_texts = {
    CodeText{0, "Success"},
    CodeText{1, "Uninitialized"},
    CodeText{2, "Invalid Argument"},
    CodeText{3, "Not Supported"},
    CodeText{4, "Insufficient Permissions"},
    CodeText{5, "Already Initialized"},
    CodeText{6, "Not Found"},
    CodeText{7, "Insufficient Size"},
    CodeText{8, "Insufficient External Power"},
    CodeText{9, "Driver Not Loaded"},
    CodeText{10, "Timeout"},
    CodeText{11, "Interrupt Request Issue"},
    CodeText{12, "NVML Shared Library Not Found"},
    CodeText{13, "Function Not Found"},
    CodeText{14, "Corrupted infoROM"},
    CodeText{15, "GPU is lost"},
    CodeText{16, "GPU requires reset"},
    CodeText{17, "GPU access blocked by the operating system"},
    CodeText{18, "Driver/library version mismatch"},
    CodeText{19, "In use by another client"},
    CodeText{20, "Insufficient Memory"},
    CodeText{21, "No data"},
    CodeText{22, "vGPU ECC not supported"},
    CodeText{23, "Insufficient Resources"},
    CodeText{24, "Invalid Frequency"},
    CodeText{25, "Argument version mismatch"},
    CodeText{26, "Requested functionality has been deprecated"},
    CodeText{27, "System is not in ready state"},
    CodeText{28, "No supported GPUs were found"},
    CodeText{29, "Resource not in correct state to perform requested operation"},
};

}  // namespace

std::string nvml_call(std::string_view symbol, unsigned argument) {
  return fmt::format("{}({})", symbol, argument);
}

std::string nvml_code_text(int code) {
  const auto* const found = std::find_if(k_code_texts.begin(), k_code_texts.end(),
                                         [code](const CodeText& candidate) { return candidate.code == code; });
  return found == k_code_texts.end() ? "Unknown Error" : found->text;
}

std::string nvml_reason(std::string_view call, const NvmlAnswer& answer) {
  switch (answer.kind) {
    case NvmlAnswer::Kind::no_symbol: return fmt::format("the NVML library of this driver has no {}", call);
    case NvmlAnswer::Kind::no_return:
      return fmt::format("NVML call {} has not returned for {:.1f} s", call, answer.waited_s);
    case NvmlAnswer::Kind::returned: break;
  }
  if (answer.code == nvml_code::k_success) return {};
  return fmt::format("NVML: {} ({})", nvml_code_text(answer.code), answer.code);
}

std::optional<std::string> nvml_hung_call(const NvmlAnswers& answers) {
  for (const auto& [call, answer] : answers) {
    if (answer.kind == NvmlAnswer::Kind::no_return) return nvml_reason(call, answer);
  }
  return std::nullopt;
}

}  // namespace sparkops::facts
