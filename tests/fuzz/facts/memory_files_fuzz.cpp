#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "facts/machine/memory.h"

/// Any bytes as one of the memory files of the kernel: an error or values, and what the kernel counts is never
/// negative.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sparkops::facts;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto memory = parse_meminfo(text))
    for (const auto& [name, bytes] : memory->fields)
      if (bytes < 0) std::abort();
  if (const auto zones = parse_buddyinfo(text))
    for (const BuddyZone& zone : *zones)
      for (const std::int64_t blocks : zone.free_blocks)
        if (blocks < 0) std::abort();
  if (const auto devices = parse_swaps(text))
    for (const SwapDevice& device : *devices)
      if (device.size.value < 0 || device.used.value < 0) std::abort();
  (void)parse_vmstat(text, {});
  (void)parse_pressure(text);
  return 0;
}
