#pragma once

#include <string>
#include <string_view>

#include "facts/software/package_list.h"

namespace sparkops::facts {

/// The formats that go line by line. Takes whatever bytes there are.
[[nodiscard]] PackageList parse_package_lines(std::string_view text, const std::string& name);

/// One package into the list; the one that is there already where it is the same. `version` may be empty: unknown. Null
/// when the list is full (5000).
Distribution* add_declared(PackageList& list, std::string_view package, std::string_view version,
                           const std::string& place);

/// One place that was not understood.
void add_not_understood(PackageList& list, const std::string& place, const std::string& reason);

}  // namespace sparkops::facts
