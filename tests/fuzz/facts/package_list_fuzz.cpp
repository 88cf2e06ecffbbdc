#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "facts/software/package_list.h"

/// Any bytes as a list of packages: an error, or packages with normal names that say where they stand.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sparkops::facts;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto list = parse_package_list(text, "list");
  if (!list) return 0;
  for (const Distribution& distribution : list->distributions)
    if (distribution.key.empty() || normalized_name(distribution.key) != distribution.key ||
        distribution.metadata.empty())
      std::abort();
  return 0;
}
