#pragma once

#include <cstdint>
#include <cstring>
#include <string>

namespace sparkops::testing {

/// The two sizes of glibc's struct utmp (bits/utmp.h): 32-bit times in 384 bytes, 64-bit times in 400.
enum class RecordLayout { with_32_bit_time, with_64_bit_time };

/// One record of wtmp, written field by field so that it does not depend on this build's struct.
inline std::string utmp_record(RecordLayout layout, std::int16_t type, const char* user, std::int64_t seconds) {
  const bool wide = layout == RecordLayout::with_64_bit_time;
  std::string record(wide ? 400 : 384, '\0');
  std::memcpy(record.data(), &type, sizeof type);
  record.replace(8, 1, "~");                    // ut_line
  record.replace(44, std::strlen(user), user);  // ut_user
  record.replace(76, 4, "6.17");                // ut_host: the kernel's release
  const auto narrow_seconds = static_cast<std::int32_t>(seconds);
  if (wide)
    std::memcpy(record.data() + 344, &seconds, sizeof seconds);
  else
    std::memcpy(record.data() + 340, &narrow_seconds, sizeof narrow_seconds);
  return record;
}

}  // namespace sparkops::testing
