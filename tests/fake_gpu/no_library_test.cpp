// A machine without NVIDIA's library: nothing on the library path.
#include <gtest/gtest.h>

#include <chrono>

#include "base/root.h"
#include "facts/machine/gpu.h"
#include "facts/machine/nvml_session.h"

namespace sparkops::facts {
namespace {

TEST(NoLibrary, IsUnknownAtOnce) {
  if (const Result<NvmlSession> session = NvmlSession::open()) GTEST_SKIP() << "this machine has an NVML library";
  auto best = std::chrono::steady_clock::duration::max();
  for (int attempt = 0; attempt < 5; ++attempt) {
    const auto before = std::chrono::steady_clock::now();
    const Known<GpuInventory> inventory = read_gpus(Root::live());
    best = std::min(best, std::chrono::steady_clock::now() - before);
    ASSERT_FALSE(inventory);
    EXPECT_EQ(inventory.reason(),
              "libnvidia-ml.so.1: not found (no NVIDIA driver installed, or a container started without --gpus all)");
  }
  EXPECT_LT(best, std::chrono::milliseconds(1));
  EXPECT_FALSE(record_nvml(1, std::chrono::milliseconds(0)));
}

}  // namespace
}  // namespace sparkops::facts
