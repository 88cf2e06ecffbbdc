#include "facts/machine/nvml_json.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

namespace sparkops::facts {
namespace {

/// What is read is foreign: nlohmann's ordered_json copies nested values while it parses, by recursion, and a deep
/// document would end the program. It is for writing only.
using Json = nlohmann::json;
using OrderedJson = nlohmann::ordered_json;

/// More than any machine has; a document beyond them is refused.
constexpr std::size_t k_max_devices = 64;
constexpr std::size_t k_max_samples = 1'000'000;
constexpr std::size_t k_max_answers = 1000;
constexpr std::size_t k_max_processes = 1U << 16;

OrderedJson number_to_json(const NvmlNumber& number) {
  return std::visit([](auto value) { return OrderedJson(value); }, number);
}

OrderedJson value_to_json(const NvmlValue& value) {
  if (const auto* const number = std::get_if<NvmlNumber>(&value)) return number_to_json(*number);
  if (const auto* const text = std::get_if<std::string>(&value)) return *text;
  if (const auto* const members = std::get_if<NvmlMembers>(&value)) {
    OrderedJson object = OrderedJson::object();
    for (const auto& [name, member] : *members) {
      const auto* const number = std::get_if<NvmlNumber>(&member);
      object[name] = number == nullptr ? OrderedJson(std::get<std::string>(member)) : number_to_json(*number);
    }
    return object;
  }
  OrderedJson list = OrderedJson::array();
  for (const NvmlProcessEntry& entry : std::get<std::vector<NvmlProcessEntry>>(value)) {
    list.push_back({{"pid", entry.pid}, {"used_bytes", entry.used_bytes}});
  }
  return list;
}

OrderedJson answer_to_json(const NvmlAnswer& answer) {
  if (answer.kind == NvmlAnswer::Kind::no_symbol) return {{"missing", "symbol"}};
  if (answer.kind == NvmlAnswer::Kind::no_return) return {{"hung_s", answer.waited_s}};
  OrderedJson object = {{"code", answer.code}};
  if (!std::holds_alternative<std::monostate>(answer.value)) object["value"] = value_to_json(answer.value);
  return object;
}

OrderedJson answers_to_json(const NvmlAnswers& answers) {
  OrderedJson object = OrderedJson::object();
  for (const auto& [call, answer] : answers) object[call] = answer_to_json(answer);
  return object;
}

OrderedJson device_to_json(const NvmlDeviceRecord& device) {
  OrderedJson samples = OrderedJson::array();
  for (const NvmlSampleRecord& sample : device.samples) {
    samples.push_back(
        {{"at_ms", sample.at_ms}, {"monotonic_s", sample.monotonic_s}, {"answers", answers_to_json(sample.answers)}});
  }
  return {{"identity", answers_to_json(device.identity)}, {"samples", std::move(samples)}};
}

/// Where in the document something is wrong.
tl::unexpected<Error> wrong(const std::string& place, const std::string& what) {
  return failure(ErrorKind::malformed, fmt::format("{} {}", place, what));
}

std::optional<NvmlNumber> number_from_json(const Json& json) {
  if (json.is_number_unsigned()) return NvmlNumber(json.get<std::uint64_t>());
  if (json.is_number_integer()) return NvmlNumber(json.get<std::int64_t>());
  if (json.is_number_float()) return NvmlNumber(json.get<double>());
  return std::nullopt;
}

template <class Integer>
std::optional<Integer> integer_from_json(const Json& json, const char* name) {
  const auto found = json.find(name);
  if (found == json.end() || !found->is_number_integer()) return std::nullopt;
  if (found->is_number_unsigned()) {
    const auto value = found->get<std::uint64_t>();
    if (value > static_cast<std::uint64_t>(std::numeric_limits<Integer>::max())) return std::nullopt;
    return static_cast<Integer>(value);
  }
  const auto value = found->get<std::int64_t>();
  if constexpr (std::is_unsigned_v<Integer>) {
    return std::nullopt;  // whatever is not negative is stored as unsigned
  } else {
    if (value < std::numeric_limits<Integer>::min()) return std::nullopt;
    return static_cast<Integer>(value);
  }
}

std::optional<double> real_from_json(const Json& json, const char* name) {
  const auto found = json.find(name);
  if (found == json.end() || !found->is_number()) return std::nullopt;
  const auto value = found->get<double>();
  return std::isfinite(value) ? std::optional(value) : std::nullopt;
}

Result<NvmlValue> members_from_json(const Json& json, const std::string& place) {
  NvmlMembers members;
  for (const auto& [name, member] : json.items()) {
    if (member.is_string()) {
      members[name] = member.get<std::string>();
    } else if (const auto number = number_from_json(member)) {
      members[name] = *number;
    } else {
      return wrong(place + "/value/" + name, "is neither a number nor a text");
    }
  }
  return members;
}

Result<NvmlValue> processes_from_json(const Json& json, const std::string& place) {
  if (json.size() > k_max_processes) return failure(ErrorKind::too_large, place + "/value has too many processes");
  std::vector<NvmlProcessEntry> list;
  for (const Json& entry : json) {
    const auto pid = integer_from_json<std::uint32_t>(entry, "pid");
    const auto used = integer_from_json<std::uint64_t>(entry, "used_bytes");
    if (!pid || !used) return wrong(place + "/value", "has an entry without pid and used_bytes");
    list.push_back({*pid, *used});
  }
  return list;
}

Result<NvmlValue> value_from_json(const Json& json, const std::string& place) {
  if (json.is_null()) return NvmlValue();
  if (json.is_string()) return NvmlValue(json.get<std::string>());
  if (const auto number = number_from_json(json)) return NvmlValue(*number);
  if (json.is_object()) return members_from_json(json, place);
  if (json.is_array()) return processes_from_json(json, place);
  return wrong(place + "/value", "is neither a number, a text, an object nor a list");
}

Result<NvmlAnswer> answer_from_json(const Json& json, const std::string& place) {
  NvmlAnswer answer;
  if (json.is_object() && json.contains("missing")) {
    answer.kind = NvmlAnswer::Kind::no_symbol;
    return answer;
  }
  if (json.is_object() && json.contains("hung_s")) {
    const auto waited = real_from_json(json, "hung_s");
    if (!waited) return wrong(place + "/hung_s", "is not a number");
    answer.kind = NvmlAnswer::Kind::no_return;
    answer.waited_s = *waited;
    return answer;
  }
  const auto code = json.is_object() ? integer_from_json<int>(json, "code") : std::nullopt;
  if (!code) return wrong(place, "has no return code");
  answer.code = *code;
  if (*code != nvml_code::k_success || !json.contains("value")) return answer;
  Result<NvmlValue> value = value_from_json(json["value"], place);
  if (!value) return tl::unexpected<Error>(value.error());
  answer.value = std::move(*value);
  return answer;
}

Result<NvmlAnswers> answers_from_json(const Json& parent, const char* name, const std::string& place) {
  const auto found = parent.find(name);
  const std::string inner = place + "/" + name;
  if (found == parent.end() || !found->is_object()) return wrong(inner, "is not an object of answers");
  if (found->size() > k_max_answers) return failure(ErrorKind::too_large, inner + " has too many answers");
  NvmlAnswers answers;
  for (const auto& [call, json] : found->items()) {
    Result<NvmlAnswer> answer = answer_from_json(json, inner + "/" + call);
    if (!answer) return tl::unexpected<Error>(answer.error());
    answers[call] = std::move(*answer);
  }
  return answers;
}

Result<NvmlSampleRecord> sample_from_json(const Json& json, const std::string& place) {
  if (!json.is_object()) return wrong(place, "is not an object");
  const auto at = integer_from_json<std::int64_t>(json, "at_ms");
  const auto monotonic = real_from_json(json, "monotonic_s");
  if (!at || !monotonic) return wrong(place, "has no at_ms and monotonic_s");
  Result<NvmlAnswers> answers = answers_from_json(json, "answers", place);
  if (!answers) return tl::unexpected<Error>(answers.error());
  return NvmlSampleRecord{*at, *monotonic, std::move(*answers)};
}

Result<NvmlDeviceRecord> device_from_json(const Json& json, const std::string& place) {
  if (!json.is_object()) return wrong(place, "is not an object");
  Result<NvmlAnswers> identity = answers_from_json(json, "identity", place);
  if (!identity) return tl::unexpected<Error>(identity.error());
  NvmlDeviceRecord device{std::move(*identity), {}};
  const auto samples = json.find("samples");
  if (samples == json.end() || !samples->is_array()) return wrong(place + "/samples", "is not a list");
  if (samples->size() > k_max_samples) return failure(ErrorKind::too_large, place + "/samples is too long");
  for (const Json& entry : *samples) {
    Result<NvmlSampleRecord> sample =
        sample_from_json(entry, fmt::format("{}/samples/{}", place, device.samples.size()));
    if (!sample) return tl::unexpected<Error>(sample.error());
    device.samples.push_back(std::move(*sample));
  }
  return device;
}

Result<Known<NvmlRecording>> recording_from_json(const Json& json) {
  const auto reason = json.find("unknown");
  if (reason != json.end() && reason->is_string()) return Known<NvmlRecording>(unknown(reason->get<std::string>()));
  NvmlRecording recording;
  const auto library = json.find("library");
  if (library == json.end() || !library->is_string()) return wrong("/library", "is not a text");
  recording.library = library->get<std::string>();
  Result<NvmlAnswers> system = answers_from_json(json, "system", "");
  if (!system) return tl::unexpected<Error>(system.error());
  recording.system = std::move(*system);
  const auto devices = json.find("devices");
  if (devices == json.end() || !devices->is_array()) return wrong("/devices", "is not a list");
  if (devices->size() > k_max_devices) return failure(ErrorKind::too_large, "/devices is too long");
  for (const Json& entry : *devices) {
    Result<NvmlDeviceRecord> device = device_from_json(entry, fmt::format("/devices/{}", recording.devices.size()));
    if (!device) return tl::unexpected<Error>(device.error());
    recording.devices.push_back(std::move(*device));
  }
  return as_read(std::move(recording));
}

}  // namespace

std::string raw_to_json(const Known<NvmlRecording>& recording) {
  constexpr int k_indent = 1;
  OrderedJson json;
  if (!recording) {
    json["unknown"] = recording.reason();
  } else {
    json["library"] = recording->library;
    json["system"] = answers_to_json(recording->system);
    json["devices"] = OrderedJson::array();
    for (const NvmlDeviceRecord& device : recording->devices) json["devices"].push_back(device_to_json(device));
  }
  return json.dump(k_indent, ' ', false, OrderedJson::error_handler_t::replace) + "\n";
}

Result<Known<NvmlRecording>> raw_from_json(std::string_view text) {
  const Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded()) return failure(ErrorKind::malformed, "is not JSON");
  if (!json.is_object()) return failure(ErrorKind::malformed, "is not a JSON object");
  return recording_from_json(json);
}

}  // namespace sparkops::facts
