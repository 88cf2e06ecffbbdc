#include "facts/machine/nvml_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>

#include "facts/machine/nvml_interpretation.h"

namespace sparkops::facts {
namespace {

using ::testing::HasSubstr;

/// One answer of every kind.
NvmlRecording everything() {
  const auto answer = [](NvmlValue value) { return NvmlAnswer{NvmlAnswer::Kind::returned, 0, 0, std::move(value)}; };
  NvmlRecording recording{"libnvidia-ml.so.1", {}, {}};
  recording.system = {{"nvmlInit_v2", answer({})},
                      {"nvmlSystemGetDriverVersion", answer(std::string("580.159.03"))},
                      {"nvmlDeviceGetCount_v2", answer(NvmlNumber(std::uint64_t{1}))}};
  NvmlDeviceRecord device;
  device.identity = {{"nvmlDeviceGetMemoryInfo_v2", {NvmlAnswer::Kind::returned, 3, 0, {}}},
                     {"nvmlDeviceGetAddressingMode", {NvmlAnswer::Kind::no_symbol, 0, 0, {}}},
                     {"nvmlDeviceGetPciInfo_v3", answer(NvmlMembers{{"bus_id", std::string("0000000F:01:00.0")},
                                                                    {"domain", NvmlNumber(std::uint64_t{15})}})}};
  NvmlAnswers answers = {{"nvmlDeviceGetMarginTemperature", answer(NvmlNumber(std::int64_t{-3}))},
                         {"nvmlDeviceGetFieldValues(186)", answer(NvmlNumber(12.5))},
                         {"nvmlDeviceGetComputeRunningProcesses_v3",
                          answer(std::vector<NvmlProcessEntry>{{41, k_nvml_not_available}, {42, 1 << 30}})},
                         {"nvmlDeviceGetPowerUsage", {NvmlAnswer::Kind::no_return, 0, 2.5, {}}}};
  device.samples.push_back({1'780'000'000'123, 991.25, std::move(answers)});
  recording.devices.push_back(std::move(device));
  return recording;
}

TEST(NvmlJson, GivesBackWhatItWasGiven) {
  const Result<Known<NvmlRecording>> again = raw_from_json(raw_to_json(as_read(everything())));
  ASSERT_TRUE(again) << again.error().message;
  ASSERT_TRUE(again->known());
  EXPECT_EQ(**again, everything());
}

TEST(NvmlJson, HasReadableKeys) {
  const std::string text = raw_to_json(as_read(everything()));
  for (const char* part :
       {"\"library\": \"libnvidia-ml.so.1\"", "\"code\": 3", "\"missing\": \"symbol\"", "\"hung_s\": 2.5",
        "\"at_ms\": 1780000000123", "\"monotonic_s\": 991.25", "\"used_bytes\": 18446744073709551615"}) {
    EXPECT_THAT(text, HasSubstr(part));
  }
}

TEST(NvmlJson, AMachineWithoutALibraryKeepsItsReason) {
  const Result<Known<NvmlRecording>> again = raw_from_json(raw_to_json(unknown("libnvidia-ml.so.1: not found")));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->reason(), "libnvidia-ml.so.1: not found");
}

TEST(NvmlJson, MistakesNameTheirPlace) {
  const auto message = [](std::string_view text) {
    const auto result = raw_from_json(text);
    return result ? std::string("no error") : result.error().message;
  };
  EXPECT_EQ(message(""), "is not JSON");
  EXPECT_EQ(message("[]"), "is not a JSON object");
  EXPECT_EQ(message("{}"), "/library is not a text");
  EXPECT_EQ(message(R"({"library":"l"})"), "/system is not an object of answers");
  EXPECT_EQ(message(R"({"library":"l","system":{"nvmlInit_v2":{}}})"), "/system/nvmlInit_v2 has no return code");
  EXPECT_EQ(message(R"({"library":"l","system":{"f":{"code":99999999999}}})"), "/system/f has no return code");
  EXPECT_EQ(message(R"({"library":"l","system":{},"devices":[{"identity":{},"samples":[{"at_ms":1}]}]})"),
            "/devices/0/samples/0 has no at_ms and monotonic_s");
  EXPECT_EQ(message(R"({"library":"l","system":{"f":{"code":0,"value":[{"pid":-1,"used_bytes":0}]}},"devices":[]})"),
            "/system/f/value has an entry without pid and used_bytes");
  EXPECT_EQ(message(R"({"library":"l","system":{"f":{"code":0,"value":{"a":[1]}}},"devices":[]})"),
            "/system/f/value/a is neither a number nor a text");
  EXPECT_EQ(message(R"({"library":"l","system":{},"devices":[{"identity":{},"samples":[{"at_ms":1,"monotonic_s":1e999,
                       "answers":{}}]}]})"),
            "is not JSON");
}

TEST(NvmlJson, EnormousDocumentsAreRefused) {
  std::string many = R"({"library":"l","system":{},"devices":[)";
  for (int i = 0; i < 100; ++i) many += std::string(i == 0 ? "" : ",") + R"({"identity":{},"samples":[]})";
  const auto devices = raw_from_json(many + "]}");
  ASSERT_FALSE(devices);
  EXPECT_EQ(devices.error().kind, ErrorKind::too_large);
  const auto deep = raw_from_json(std::string(1'000'000, '['));
  ASSERT_FALSE(deep);
  EXPECT_EQ(deep.error().kind, ErrorKind::malformed);
  const std::string closed = std::string(100'000, '[') + std::string(100'000, ']');
  EXPECT_FALSE(raw_from_json(R"({"library":"l","system":{"f":{"code":0,"value":)" + closed + "}},\"devices\":[]}"));
}

/// Whatever a damaged capture says, reading it ends, and what it says is interpreted without harm.
void read_and_interpret(const std::string& text) {
  const Result<Known<NvmlRecording>> recording = raw_from_json(text);
  if (!recording) {
    RC_ASSERT(!recording.error().message.empty());
    return;
  }
  if (!recording->known()) return;
  const Known<GpuInventory> inventory = interpret_nvml(**recording);
  if (!inventory) {
    RC_ASSERT(!inventory.reason().empty());
    return;
  }
  for (const Gpu& gpu : inventory->gpus) RC_ASSERT(!gpu.samples.empty());
}

RC_GTEST_PROP(NvmlJson, RandomBytesAreAnError, (const std::string& bytes)) {
  read_and_interpret(bytes);
}

RC_GTEST_PROP(NvmlJson, DamagedDocumentsAreHarmless, ()) {
  std::string text = raw_to_json(as_read(everything()));
  const auto edits = *rc::gen::inRange(1, 5);
  for (int i = 0; i < edits; ++i) {
    const auto at = *rc::gen::inRange<std::size_t>(0, text.size());
    switch (*rc::gen::inRange(0, 3)) {
      case 0: text.resize(at); break;
      case 1: text[at] = *rc::gen::element('{', '}', '[', ']', '"', '-', '9', ',', ':', 'n', '\0', '\xff', 'e'); break;
      default: text.erase(at, *rc::gen::inRange<std::size_t>(1, 40));
    }
    if (text.empty()) break;
  }
  read_and_interpret(text);
}

RC_GTEST_PROP(NvmlJson, AnyValuesSurvive, (std::uint64_t number, std::int64_t negative, int code, double waited)) {
  RC_PRE(code != 0);
  NvmlRecording recording = everything();
  recording.system["a"] = {NvmlAnswer::Kind::returned, 0, 0, NvmlNumber(number)};
  recording.system["b"] = {NvmlAnswer::Kind::returned, code, 0, {}};
  recording.system["d"] = {NvmlAnswer::Kind::no_return, 0, waited, {}};
  if (negative < 0) recording.system["c"] = {NvmlAnswer::Kind::returned, 0, 0, NvmlNumber(negative)};
  const auto again = raw_from_json(raw_to_json(as_read(recording)));
  RC_ASSERT(again.has_value());
  RC_ASSERT(**again == recording);
}

}  // namespace
}  // namespace sparkops::facts
