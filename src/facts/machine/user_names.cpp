#include "facts/machine/user_names.h"

#include <limits>

#include "base/text.h"

namespace sparkops::facts {

Known<std::string> UserNames::name_of(std::uint32_t user) const {
  if (user == 0) return as_derived(std::string("root"));
  if (!names) return names.as_unknown();
  const auto found = names->find(user);
  if (found == names->end()) return unknown("etc/passwd has no user " + std::to_string(user));
  return as_read(found->second);
}

std::map<std::uint32_t, std::string> parse_passwd(std::string_view text) {
  constexpr std::size_t k_number_column = 2;
  std::map<std::uint32_t, std::string> names;
  for (const std::string_view line : split_lines(text)) {
    const auto columns = split(line, ':');
    if (columns.size() <= k_number_column || columns[0].empty()) continue;
    const auto number = parse_integer(columns[k_number_column]);
    if (!number || *number < 0 || *number > std::numeric_limits<std::uint32_t>::max()) continue;
    names.emplace(static_cast<std::uint32_t>(*number), printable(columns[0], 64));
  }
  return names;
}

UserNames read_user_names(const Root& root) {
  const auto text = root.read("etc/passwd");
  if (!text) return {unknown(text.error())};
  return {as_read(parse_passwd(*text))};
}

}  // namespace sparkops::facts
