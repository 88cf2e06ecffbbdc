#pragma once

#include <string_view>
#include <vector>

#include "base/known.h"
#include "base/timestamp.h"
#include "facts/machine/identity.h"

namespace sparkops::facts {

/// One record of wtmp that concerns the life of the machine.
struct LoginRecord {
  enum class Kind { boot, shutdown, other };
  Kind kind = Kind::other;
  Timestamp time;
};

/// The records of a wtmp file, oldest first. glibc writes 384 bytes a record with 32-bit times (x86-64) or 400 bytes
/// with 64-bit times (aarch64); which one it is, is recognised from the content. Errors: malformed.
[[nodiscard]] Result<std::vector<LoginRecord>> parse_login_records(std::string_view bytes);

struct LastBoot {
  Known<BootEnd> end;
  Known<Timestamp> last_sign_of_life;
};

/// How the boot before the one that began at `boot_time` ended. Unknown when the records do not reach back to it, or
/// do not know of the current boot (some systems no longer write them).
[[nodiscard]] LastBoot last_boot_of(const std::vector<LoginRecord>& records, const Known<Timestamp>& boot_time);

}  // namespace sparkops::facts
