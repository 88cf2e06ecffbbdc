#include <cstdint>
#include <string_view>

#include "facts/machine/boot_records.h"

/// Any bytes as var/log/wtmp.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  (void)sparkops::facts::parse_login_records({reinterpret_cast<const char*>(data), size});
  return 0;
}
