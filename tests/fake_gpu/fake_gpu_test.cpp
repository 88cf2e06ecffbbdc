// The library itself, through declarations of its own layouts: what a scenario says is what a client reads.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "nvml_types.h"
#include "scenario.h"

namespace {

class Library : public ::testing::Test {
 protected:
  void SetUp() override {
    library_ = dlopen("libnvidia-ml.so.1", RTLD_LAZY);
    ASSERT_NE(library_, nullptr) << dlerror();
  }

  template <class Function>
  Function* find(const char* symbol) {
    auto* const function = reinterpret_cast<Function*>(dlsym(library_, symbol));
    EXPECT_NE(function, nullptr) << symbol;
    return function;
  }

  void use(const std::string& scenario) {
    path_ = std::filesystem::temp_directory_path() /
            ("fake-gpu-" + std::to_string(getpid()) + "-" + std::to_string(++files_) + ".txt");
    std::ofstream(path_) << scenario;
    setenv("FAKE_GPU_SCENARIO", path_.c_str(), 1);
  }

  nvmlDevice_t device() {
    EXPECT_EQ(find<nvmlReturn_t()>("nvmlInit_v2")(), 0);
    nvmlDevice_t handle = nullptr;
    EXPECT_EQ((find<nvmlReturn_t(unsigned, nvmlDevice_t*)>("nvmlDeviceGetHandleByIndex_v2")(0, &handle)), 0);
    return handle;
  }

  nvmlReturn_t number(const char* symbol, nvmlDevice_t handle, unsigned& value) {
    return find<nvmlReturn_t(nvmlDevice_t, unsigned*)>(symbol)(handle, &value);
  }

  void TearDown() override { std::filesystem::remove(path_); }

  void* library_ = nullptr;
  std::filesystem::path path_;
  static int files_;
};
int Library::files_ = 0;

/// Seconds since 1970 such that the scenario is `seconds` old now.
std::string epoch_ago(double seconds) {
  const double now = std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  return "epoch " + std::to_string(now - seconds) + "\n";
}

TEST_F(Library, BeforeInitOnlyTheNvmlVersionAnswers) {
  use("profile gb10\ndriver 580.159.03\n");
  char text[96] = {};
  unsigned count = 0;
  EXPECT_EQ(find<nvmlReturn_t(char*, unsigned)>("nvmlSystemGetNVMLVersion")(text, sizeof(text)), 0);
  EXPECT_STREQ(text, "13.580.159.03");
  EXPECT_EQ(find<nvmlReturn_t(unsigned*)>("nvmlDeviceGetCount_v2")(&count), 1);
  EXPECT_EQ(find<nvmlReturn_t(char*, unsigned)>("nvmlSystemGetDriverVersion")(text, sizeof(text)), 1);
}

TEST_F(Library, ShortBuffersAndNullsAreRefused) {
  use("profile gb10\ndriver 580.159.03\n");
  const nvmlDevice_t handle = device();
  char text[4] = {};
  const auto name = find<nvmlReturn_t(nvmlDevice_t, char*, unsigned)>("nvmlDeviceGetName");
  EXPECT_EQ(name(handle, text, sizeof(text)), 7);
  EXPECT_EQ(name(handle, nullptr, 96), 2);
  unsigned value = 0;
  EXPECT_EQ(number("nvmlDeviceGetPowerUsage", nullptr, value), 2);
}

TEST_F(Library, ValuesStepRampAndGrow) {
  use(epoch_ago(30) +
      "profile gb10\ndriver 580.159.03\npower_mw 1000\ntemperature 40\nenergy_mj 500 per_second 100\n"
      "at 20\npower_mw 9000\nat 60\ntemperature ~100\n");
  const nvmlDevice_t handle = device();
  unsigned value = 0;
  ASSERT_EQ(number("nvmlDeviceGetPowerUsage", handle, value), 0);
  EXPECT_EQ(value, 9000U);
  unsigned temperature = 0;
  ASSERT_EQ(
      (find<nvmlReturn_t(nvmlDevice_t, unsigned, unsigned*)>("nvmlDeviceGetTemperature")(handle, 0, &temperature)), 0);
  EXPECT_NEAR(temperature, 70, 1);
  unsigned long long energy = 0;
  ASSERT_EQ(
      (find<nvmlReturn_t(nvmlDevice_t, unsigned long long*)>("nvmlDeviceGetTotalEnergyConsumption")(handle, &energy)),
      0);
  EXPECT_NEAR(static_cast<double>(energy), 3500, 50);
}

TEST_F(Library, AScenarioCanBeEnteredLate) {
  setenv("FAKE_GPU_START_S", "90", 1);
  use("profile gb10\ndriver 580.159.03\nat 80\npower_mw 5\n");
  unsigned value = 0;
  ASSERT_EQ(number("nvmlDeviceGetPowerUsage", device(), value), 0);
  unsetenv("FAKE_GPU_START_S");
  EXPECT_EQ(value, 5U);
}

TEST_F(Library, Gb10RefusesMemoryAndDiscreteTellsIt) {
  use("profile gb10\ndriver 580.159.03\n");
  nvmlMemory_t memory = {};
  const auto plain = find<nvmlReturn_t(nvmlDevice_t, nvmlMemory_t*)>("nvmlDeviceGetMemoryInfo");
  EXPECT_EQ(plain(device(), &memory), 3);
  use("profile discrete\ndriver 580.159.03\n");
  EXPECT_EQ(plain(device(), &memory), 0);
  EXPECT_EQ(memory.total, 21474836480ULL);
}

TEST_F(Library, WrongVersionWordsAreRefused) {
  use("profile discrete\ndriver 580.159.03\n");
  const nvmlDevice_t handle = device();
  nvmlMemory_v2_t memory = {};
  const auto call = find<nvmlReturn_t(nvmlDevice_t, nvmlMemory_v2_t*)>("nvmlDeviceGetMemoryInfo_v2");
  memory.version = 2;
  EXPECT_EQ(call(handle, &memory), 25);
  memory.version = 0x02000028;
  EXPECT_EQ(call(handle, &memory), 0);
  EXPECT_EQ(memory.reserved, 469762048ULL);
}

TEST_F(Library, EachGenerationHasItsCountersWhereItsHeaderHasThem) {
  for (const auto& [driver, field, wrong] :
       {std::tuple{"580.76.05", 251U, 269U}, {"580.95.05", 269U, 251U}, {"610.43.03", 269U, 251U}}) {
    use("profile gb10\ndriver " + std::string(driver) + "\nsw_thermal_ns 7700000000\n");
    const nvmlDevice_t handle = device();
    nvmlFieldValue_t values[2] = {};
    values[0].fieldId = field;
    values[1].fieldId = wrong;
    ASSERT_EQ((find<nvmlReturn_t(nvmlDevice_t, int, nvmlFieldValue_t*)>("nvmlDeviceGetFieldValues")(handle, 2, values)),
              0);
    EXPECT_EQ(values[0].nvmlReturn, 0) << driver;
    EXPECT_EQ(values[0].value.ullVal, 7700000000ULL) << driver;
    EXPECT_NE(values[1].value.ullVal, 7700000000ULL) << driver;
  }
}

TEST_F(Library, ProcessListsHaveBothLayoutsAndAskForRoom) {
  use("profile gb10\ndriver 580.159.03\nprocess 11 C 1000\nprocess 12 C+G unavailable\nprocess 13 G 3000\n");
  const nvmlDevice_t handle = device();
  const auto v3 =
      find<nvmlReturn_t(nvmlDevice_t, unsigned*, nvmlProcessInfo_v2_t*)>("nvmlDeviceGetComputeRunningProcesses_v3");
  unsigned count = 0;
  EXPECT_EQ(v3(handle, &count, nullptr), 7);
  EXPECT_EQ(count, 2U);
  std::vector<nvmlProcessInfo_v2_t> wide(count);
  ASSERT_EQ(v3(handle, &count, wide.data()), 0);
  EXPECT_EQ(wide[1].pid, 12U);
  EXPECT_EQ(wide[1].usedGpuMemory, ~0ULL);
  std::vector<nvmlProcessInfo_v1_t> narrow(4);
  count = 4;
  ASSERT_EQ((find<nvmlReturn_t(nvmlDevice_t, unsigned*, nvmlProcessInfo_v1_t*)>(
                "nvmlDeviceGetGraphicsRunningProcesses")(handle, &count, narrow.data())),
            0);
  EXPECT_EQ(count, 2U);
  EXPECT_EQ(narrow[1].pid, 13U);
  EXPECT_EQ(narrow[1].usedGpuMemory, 3000ULL);
}

TEST_F(Library, FaultsAreCountedAndEnd) {
  use("profile gb10\ndriver 580.159.03\nfail nvmlDeviceGetPowerUsage 17 for 2 calls\n");
  const nvmlDevice_t handle = device();
  unsigned value = 0;
  EXPECT_EQ(number("nvmlDeviceGetPowerUsage", handle, value), 17);
  EXPECT_EQ(number("nvmlDeviceGetPowerUsage", handle, value), 17);
  EXPECT_EQ(number("nvmlDeviceGetPowerUsage", handle, value), 0);
  EXPECT_EQ(value, 4310U);
}

TEST_F(Library, AHangTakesItsTimeAndThenAnswers) {
  use("profile gb10\ndriver 580.159.03\nhang nvmlDeviceGetPowerUsage 0.05\n");
  const nvmlDevice_t handle = device();
  unsigned value = 0;
  const auto before = std::chrono::steady_clock::now();
  EXPECT_EQ(number("nvmlDeviceGetPowerUsage", handle, value), 0);
  EXPECT_GE(std::chrono::steady_clock::now() - before, std::chrono::milliseconds(50));
}

TEST_F(Library, ALostGpuAnswers15ItsHandle999AndComesBack) {
  use(epoch_ago(10) + "profile gb10\ndriver 580.159.03\nat 5\nlose\n");
  ASSERT_EQ(find<nvmlReturn_t()>("nvmlInit_v2")(), 0);
  nvmlDevice_t handle = nullptr;
  const auto by_index = find<nvmlReturn_t(unsigned, nvmlDevice_t*)>("nvmlDeviceGetHandleByIndex_v2");
  EXPECT_EQ(by_index(0, &handle), 999);
  use(epoch_ago(30) + "profile gb10\ndriver 580.159.03\nat 5\nlose\nat 20\nrestore\n");
  ASSERT_EQ(by_index(0, &handle), 0);
  use(epoch_ago(10) + "profile gb10\ndriver 580.159.03\nat 5\nlose\n");
  unsigned value = 0;
  EXPECT_EQ(number("nvmlDeviceGetPowerUsage", handle, value), 15);
}

TEST_F(Library, AScenarioWithAMistakeIsADriverThatIsNotLoaded) {
  use("profile gb10\ntemprature 40\n");
  EXPECT_EQ(find<nvmlReturn_t()>("nvmlInit_v2")(), 9);
}

TEST(Scenarios, AllOfThemParse) {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(SPARKOPS_SOURCE "/tests/fake_gpu/scenarios")) {
    std::ifstream file(entry.path());
    const std::string text((std::istreambuf_iterator<char>(file)), {});
    std::string error;
    const fake_gpu::Scenario scenario = fake_gpu::parse_scenario(text, error);
    EXPECT_EQ(error, "") << entry.path();
    EXPECT_TRUE(scenario.text("driver_version", 0).has_value()) << entry.path();
    ++count;
  }
  EXPECT_GE(count, 12);
}

TEST(Scenarios, MistakesAreNamedByLine) {
  for (const char* text : {"profile gb11", "driver 1.2.3", "at x", "at 5\nat 4", "fail nvmlInit", "hang f x",
                           "process 1 X 5", "temperature", "temperature 5 6", "power_mw nan", "lose now"}) {
    std::string error;
    (void)fake_gpu::parse_scenario(text, error);
    EXPECT_NE(error.find("line "), std::string::npos) << text;
  }
}

}  // namespace
