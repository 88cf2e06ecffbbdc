#include "verdicts/memory/pool.h"

#include <gtest/gtest.h>

namespace sparkops::verdicts {
namespace {

/// 121 GiB in all, every part of it known.
facts::MemoryInfo memory_info() {
  facts::MemoryInfo info;
  info.total = as_read(gibibytes(121));
  info.free = as_read(gibibytes(40));
  info.cached = as_read(gibibytes(30));
  info.buffers = as_read(gibibytes(1));
  info.swap_cached = as_read(gibibytes(1));
  info.shared = as_read(gibibytes(4));
  info.anonymous = as_read(gibibytes(20));
  info.slab_reclaimable = as_read(gibibytes(1));
  info.slab_unreclaimable = as_read(gibibytes(1));
  info.page_tables = as_read(gibibytes(1));
  info.kernel_stack = as_read(Bytes{0});
  info.huge_pages_total = as_read(std::int64_t{0});
  return info;
}

facts::Machine machine_with(const facts::MemoryInfo& info) {
  facts::Memory memory;
  memory.info = info;
  facts::Machine machine;
  machine.memory = as_read(memory);
  machine.gpus = as_read(facts::GpuInventory{});
  return machine;
}

TEST(PoolAttribution, SharedMemoryIsNoPageCacheThatAFlushGivesBack) {
  const PoolAttribution pool = attribute_pool(machine_with(memory_info()));
  EXPECT_EQ(*pool.page_cache, gibibytes(28));
  EXPECT_EQ(*pool.shared, gibibytes(4));
  EXPECT_EQ(*pool.unexplained, gibibytes(81 - 28 - 4 - 20 - 3));
}

TEST(PoolAttribution, WithoutSharedMemoryOrSwapCachedThePageCacheIsUnknown) {
  facts::MemoryInfo without_shared = memory_info();
  without_shared.shared = unknown("Shmem is not in meminfo");
  EXPECT_EQ(attribute_pool(machine_with(without_shared)).page_cache.reason(), "Shmem is not in meminfo");
  EXPECT_FALSE(attribute_pool(machine_with(without_shared)).unexplained);

  facts::MemoryInfo without_swap_cached = memory_info();
  without_swap_cached.swap_cached = unknown("SwapCached is not in meminfo");
  EXPECT_EQ(attribute_pool(machine_with(without_swap_cached)).page_cache.reason(), "SwapCached is not in meminfo");
}

}  // namespace
}  // namespace sparkops::verdicts
