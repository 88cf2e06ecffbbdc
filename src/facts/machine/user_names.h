#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "base/known.h"
#include "base/root.h"

namespace sparkops::facts {

/// Names of users by their number, see passwd(5). Users of a directory service are not in that file.
struct UserNames {
  Known<std::map<std::uint32_t, std::string>> names;
  [[nodiscard]] Known<std::string> name_of(std::uint32_t user) const;
};

/// The first entry of a number wins, as in the C library. Lines that are no entries are passed over.
[[nodiscard]] std::map<std::uint32_t, std::string> parse_passwd(std::string_view text);

[[nodiscard]] UserNames read_user_names(const Root& root);

}  // namespace sparkops::facts
