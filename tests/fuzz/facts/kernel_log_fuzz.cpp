#include <cstdint>
#include <string_view>

#include "facts/machine/kernel_log_text.h"

/// Any bytes as the text of a kernel log, of a file and of the ring buffer.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sparkops::facts;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto no_boot_time = sparkops::unknown("not given");
  for (const LogTimeZone zone : {LogTimeZone::local, LogTimeZone::utc, LogTimeZone::not_known})
    (void)parse_log(text, {}, zone, no_boot_time);
  (void)parse_ring_buffer(text, no_boot_time);
  return 0;
}
